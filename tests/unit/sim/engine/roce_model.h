/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What a reliable connection promises, as a program that has no packets: the reference against
 * which two engines on a bad wire are compared.
 *
 * A flow is one direction of a connection. Its work is posted at random and done in the model at
 * once, in the order of posting; what the engines make of it later must come to the same: each
 * completion once, in order, with the right contents; each receive once; and in the end every
 * byte of every region.
 *
 * Regions of a flow:       at the requester               at the responder
 *	source   what is sent, never changed     target   WRITE, READ, atomics
 *	sink     results of READs and atomics    receive  buffers of receives
 *
 * A READ may happen again when its responses are lost, and then sees what was written since. So
 * that there is one right result, what READs look at is written once at most and before; what is
 * written over and over is not read until the end.
 */
#ifndef ANYNIC_TESTS_UNIT_SIM_ENGINE_ROCE_MODEL_H
#define ANYNIC_TESTS_UNIT_SIM_ENGINE_ROCE_MODEL_H

#include "tests/unit/sim/engine/roce_pair.h"

enum {
	MODEL_FLOWS = 6,
	MODEL_OPS = 96,
	MODEL_SGES = 6,
	MODEL_BYTES = 192 * 1024, /* of each region */
	MODEL_WORDS = 8,	  /* for atomics, at the start of the target */
	MODEL_ONCE = 64,	  /* then what is written once; all other offsets follow */
	MODEL_OVER = 8 * 1024, /* bytes at the end of the target that are written over and over */
	MODEL_FAST = 8,	       /* regions that the peer may invalidate */
};

/* A region and what should be in it. */
struct model_region {
	struct node_region *real;
	uint8_t *want;
	uint32_t used; /* bytes given out */
};

struct model_op {
	enum roce_wr_opcode opcode;
	uint64_t wr_id;
	uint32_t length;
	uint32_t imm; /* or the key to invalidate */
	uint32_t source, target;
	bool signaled, solicited;
	bool receives; /* takes a receive of the peer */
	struct roce_sge sge[MODEL_SGES];
	uint32_t num_sge;
	uint32_t sink_bytes; /* READ, atomics: what must be found where sge says */
	uint8_t *result;
};

struct model_recv {
	uint64_t wr_id;
	struct roce_sge sge[MODEL_SGES];
	uint32_t num_sge;
	uint32_t room;
};

struct model_flow {
	struct pair *pair;
	unsigned int from; /* node of the requester */
	struct roce_qp *qp, *peer_qp;
	uint32_t mtu;
	struct model_region source, sink, target, receive;
	struct model_op ops[MODEL_OPS];
	uint32_t posted, completed; /* ops */
	struct model_recv recvs[MODEL_OPS];
	uint32_t recvs_posted, recvs_needed, recvs_done;
	uint32_t next_receiver; /* op that the next receive completion is of */
	struct node_region *fast[MODEL_FAST];
	uint32_t fast_used;
	uint32_t read_end; /* target bytes below are all written or never will be */
	bool broken;	   /* the test broke the connection: work may fail from here on */
	bool send_failed, recv_failed;
};

void model_flow_init(struct model_flow *f, struct pair *p, unsigned int from, uint32_t number);
void model_flow_fini(struct model_flow *f);

/* Posts one random piece of work, if there is room; a receive for a piece of work. */
void model_post(struct model_flow *f);
void model_post_recv(struct model_flow *f);

/* Looks at all completions so far of both nodes. */
void model_check_completions(struct model_flow *flows, uint32_t count);
/* All work is done: every completion came, every byte is as it should be. */
void model_check_end(struct model_flow *f);
/* Both QPs are in ERR: what was done was done first, and all the rest was flushed, in order. */
void model_check_broken_end(struct model_flow *f);

#endif
