/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * One end of an RC connection, for the cases of lab-verbs: device, buffer, queues, and a
 * TCP connection to the other end by which both keep in step. Knows no case.
 */
#ifndef ANYNIC_TESTS_LAB_VERBS_END_H
#define ANYNIC_TESTS_LAB_VERBS_END_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define END_DEPTH 64
/* As much as is asked for, though a NIC may give more: so all post the same work. */
#define END_INLINE 64u
/* The buffer: what this end sends comes from the first half, what it gets goes to the second. */
#define END_HALF (2u << 20)
/* Around what is written, to see a byte that is one too far. */
#define END_GUARD 64u

struct end_options {
	const char *device;
	int gid_index;
	const char *peer; /* NULL: the server */
	uint16_t port;
	bool alone; /* the QP is connected to itself */
};

/* What the other end has to know, as it goes over TCP between machines of one kind. */
struct end_facts {
	union ibv_gid gid;
	uint64_t addr;
	uint32_t rkey;
	uint32_t qpn;
	uint32_t psn;
	uint32_t mtu;
};

struct end {
	struct end_options opt;
	bool client;
	int sock;
	struct ibv_context *context;
	struct ibv_port_attr port;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	unsigned char *out; /* first half of the buffer */
	unsigned char *in;  /* second half */
	struct end_facts self;
	struct end_facts peer;
};

/* Attributes that cases vary; 0 is a sane default. */
struct end_qp {
	enum ibv_mtu mtu; /* 0: the smaller active one */
	uint8_t rnr_retry;
	uint8_t min_rnr_timer;
};

/* All print what failed and return -errno. */
int end_open(struct end *end, const struct end_options *opt);
void end_close(struct end *end);
/* Both ends make a QP and connect it; the one there was is destroyed. */
int end_connect(struct end *end, const struct end_qp *qp);
/* -errno as it is, with nothing printed. */
int end_to_rtr(struct end *end, const struct end_qp *qp);
/* A QP in any state goes back to INIT. */
int end_reset_to_init(struct end *end);
/* Both ends reach this point before one goes on. */
int end_sync(struct end *end);

int end_post_recv(struct end *end, uint64_t wr_id, void *buf, uint32_t len);
/* One SGE of the local buffer; none if len is 0. flags are ibv_send_flags. */
int end_post(struct end *end, struct ibv_send_wr *wr, void *buf, uint32_t len);
/* Waits for one completion, whatever its status. */
int end_wait(struct end *end, struct ibv_wc *wc);
/* The same, and it must be a success of this opcode. */
int end_expect(struct end *end, enum ibv_wc_opcode opcode, struct ibv_wc *wc);

/* A pattern that depends on every bit of seed, so that no two messages look alike. */
void end_fill(unsigned char *buf, size_t len, uint32_t seed);
int end_verify(const unsigned char *buf, size_t len, uint32_t seed, const char *what);
/* The guard on both sides of buf is untouched. */
void end_guard(unsigned char *buf, size_t len);
int end_guarded(const unsigned char *buf, size_t len, const char *what);

/* Prints to stderr as printf() does, and returns -err. */
__attribute__((format(printf, 2, 3))) int end_failed(int err, const char *format, ...);

/* A case: 0, or -errno after it has said why. */
int verbs_opcodes(struct end *end);
int verbs_bulk(struct end *end);
int verbs_rnr(struct end *end);
int verbs_rnr_limit(struct end *end);
int verbs_solicited(struct end *end);
int verbs_errors(struct end *end);
int verbs_errors_local(struct end *end);
int verbs_refused(struct end *end);
int verbs_fork(struct end *end);
int verbs_mtu(struct end *end);

#endif
