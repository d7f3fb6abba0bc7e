/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A NIC under test, with an environment of memory, logs and a list of frames. Time stands still
 * but for what the test says. Knows roce.h only, nothing of the engine's inside.
 *
 *	node_defaults(&n, 1);  n.config.ecn = true;  node_start(&n);
 *	...
 *	node_stop(&n);         checks that all memory came back and no env rule was broken
 *
 * Node i has MAC 02:00:00:00:00:0i and the GIDs 0: ::ffff:10.0.0.i, v2; 1: fd00::i, v2;
 * 2: fd00::i, v1; 3: ::ffff:10.5.0.i, v2, in VLAN 5.
 */
#ifndef ANYNIC_TESTS_UNIT_SIM_ENGINE_ROCE_NODE_H
#define ANYNIC_TESTS_UNIT_SIM_ENGINE_ROCE_NODE_H

#include "sim/engine/roce.h"

enum node_gid { NODE_GID_IP4, NODE_GID_IP6, NODE_GID_V1, NODE_GID_VLAN, NODE_GIDS };
enum { NODE_PD = 7, NODE_EVENTS = 64, NODE_VLAN = 5 };

/* Memory behind a region, handed out in pieces of at most `piece` bytes. */
struct node_region {
	struct node_region *next;
	uint8_t *bytes;
	size_t length;
	size_t piece;
	bool unmapped; /* mr_map fails */
	uint64_t iova;
	uint32_t key;
	struct roce_mr *mr;
};

struct node_frame {
	struct node_frame *next;
	uint64_t at;
	size_t length;
	uint8_t bytes[];
};

struct node_wc {
	struct roce_wc wc;
	struct roce_cq *cq;
	uint64_t at;
};

struct node_event {
	enum roce_event event;
	struct roce_qp *qp;
	struct roce_cq *cq;
	struct roce_srq *srq;
};

struct node {
	struct roce_nic_config config;
	struct roce_nic *nic;
	unsigned int index;
	uint64_t now;

	struct node_frame *frames, **frames_end;
	size_t room; /* frames that tx_alloc still gives */
	bool stalled;

	struct node_wc *wc;
	size_t wc_count, wc_room, wc_read;
	int complete_result; /* of env->complete */

	struct node_event events[NODE_EVENTS];
	size_t event_count;
	struct roce_cq *cq_fired[NODE_EVENTS];
	size_t cq_fired_count;

	struct node_region *regions;
	int reg_mr_result;
	unsigned int reg_freed;

	long allocations;
	size_t allocated;      /* bytes */
	bool out_of_memory;    /* env->alloc fails */
	unsigned int breaches; /* of the rules in roce.h */
	unsigned int sends;    /* frames allocated and not sent */
};

/* What a REG_MR work request's `reg` points to here. */
struct node_reg {
	uint32_t key;
	uint32_t access;
	uint64_t iova;
	uint64_t length;
};

void node_defaults(struct node *n, unsigned int index);
void node_start(struct node *n);
void node_stop(struct node *n);

void node_mac(unsigned int index, uint8_t mac[6]);
void node_gid(unsigned int index, enum node_gid gid, uint8_t bytes[16]);
enum roce_net node_net(enum node_gid gid);

/* A region of `length` bytes, filled with a pattern from the key. iova is not page aligned. */
struct node_region *node_mr(struct node *n, uint32_t key, uint32_t access, size_t length);
/* The same for fast registration; valid or only allocated. */
struct node_region *node_fast_mr(struct node *n, uint32_t key, bool valid, size_t length);

/* A QP with CQs of its own (numbers 2 * qpn and 2 * qpn + 1) in RESET. */
struct roce_qp *node_qp(struct node *n, uint32_t qpn, enum roce_qp_type type, struct roce_srq *srq);

/* Attributes for a connection with the peer's QP; the test may change some before the next call. */
void node_attr(struct roce_qp_attr *attr, unsigned int peer, enum node_gid gid, uint32_t dest_qpn);
/* Through INIT and RTR to `state`, with the attributes that the QP type needs for it. */
void node_connect(struct node *n, struct roce_qp *qp, const struct roce_qp_attr *attr,
		  enum roce_qp_type type, enum roce_qp_state state);
int node_modify(struct node *n, struct roce_qp *qp, enum roce_qp_state state);

/* Runs until there is nothing to do now. */
void node_run(struct node *n);
/* Moves time on, stopping at each timer. */
void node_advance(struct node *n, uint64_t ns);
void node_input(struct node *n, const void *frame, size_t length);
/* Lets `frames` more frames out, and says so. */
void node_make_room(struct node *n, size_t frames);

/* The oldest frame not taken yet, or NULL; free() it. */
struct node_frame *node_take_frame(struct node *n);
/* The oldest completion not taken yet, or NULL. */
const struct node_wc *node_take_wc(struct node *n);
size_t node_count_events(const struct node *n, enum roce_event event);

#endif
