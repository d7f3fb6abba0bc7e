/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * One QP under test whose peer is the test itself: it sends packets field by field and looks at
 * each packet that comes back. So both ends cannot share one misunderstanding.
 *
 *	raw_defaults(&r, ROCE_QPT_RC);  r.attr.retry_cnt = 3;  raw_start(&r);
 *	raw_request(&r, ROCE_OP_RC_SEND_ONLY, RAW_RQ_PSN, "hello", 5);
 *	raw_expect(&r, "ack", ROCE_OP_RC_ACK, RAW_RQ_PSN);
 *	raw_stop(&r);
 */
#ifndef ANYNIC_TESTS_UNIT_SIM_ENGINE_ROCE_RAW_H
#define ANYNIC_TESTS_UNIT_SIM_ENGINE_ROCE_RAW_H

#include "sim/engine/roce_frame.h"
#include "tests/unit/sim/engine/roce_node.h"

enum {
	RAW_DUT = 1, /* node indexes */
	RAW_PEER = 2,
	RAW_QPN = 0x11,
	RAW_PEER_QPN = 0x22,
	RAW_RQ_PSN = 0x1000, /* the first that the QP under test expects */
	RAW_SQ_PSN = 0x2000, /* the first that it sends */
	RAW_KEY = 0x501,     /* of the region `mr` */
	RAW_MR_BYTES = 65536,
	RAW_ACK = 0x1f, /* syndromes (IBTA 9.7.5.1.1): ACK without credit count */
	RAW_RNR = 0x20,
	RAW_NAK_SEQUENCE = 0x60,
	RAW_NAK_INVALID = 0x61,
	RAW_NAK_ACCESS = 0x62,
	RAW_NAK_OPERATION = 0x63,
};

struct raw {
	struct node dut;
	enum roce_qp_type type;
	enum node_gid gid;
	struct roce_qp_attr attr;
	struct roce_srq *srq; /* created by the test between raw_open() and raw_connect() */
	struct roce_qp *qp;
	struct node_region *mr; /* with all rights */
	struct roce_path path;	/* to the QP under test */
	struct node_frame *frame;
	struct roce_pkt pkt; /* the last one taken, its payload in `frame` */
};

void raw_defaults(struct raw *r, enum roce_qp_type type);
/* NIC and region; then the QP, connected up to RTS; or both in one. */
void raw_open(struct raw *r);
void raw_connect(struct raw *r);
void raw_start(struct raw *r);
void raw_stop(struct raw *r);

/* Begins a packet to the QP under test. */
void raw_pkt(struct raw *r, struct roce_pkt *pkt, enum roce_opcode code, uint32_t psn);
/* Sends it with a payload (NULL: of zeros). */
void raw_send(struct raw *r, const struct roce_pkt *pkt, const void *payload, uint32_t length);

/* Requests with AckReq where they end a message. */
void raw_request(struct raw *r, enum roce_opcode code, uint32_t psn, const void *payload,
		 uint32_t length);
/* A WRITE of `dma_length` bytes in all to the region at an offset; its first or only packet. */
void raw_write(struct raw *r, enum roce_opcode code, uint32_t psn, uint64_t offset,
	       uint32_t dma_length, uint32_t length);
void raw_read(struct raw *r, uint32_t psn, uint64_t offset, uint32_t length);
void raw_atomic(struct raw *r, enum roce_opcode code, uint32_t psn, uint64_t swap_add,
		uint64_t compare);

/* Responses. */
void raw_ack(struct raw *r, uint32_t psn, uint8_t syndrome);
void raw_read_response(struct raw *r, enum roce_opcode code, uint32_t psn, const void *payload,
		       uint32_t length);
void raw_atomic_ack(struct raw *r, uint32_t psn, uint64_t original);

/* The next packet of the QP under test: must be there and be this one. Never NULL. */
const struct roce_pkt *raw_expect(struct raw *r, const char *row, enum roce_opcode code,
				  uint32_t psn);
/* The same for an ACK packet of a syndrome. */
const struct roce_pkt *raw_expect_ack(struct raw *r, const char *row, uint32_t psn,
				      uint8_t syndrome);
/* Nothing more was sent. */
void raw_expect_silence(struct raw *r, const char *row);
/* Forgets what was sent; returns how many packets. */
unsigned int raw_forget(struct raw *r);

/* Posts a signaled send WR of one SGE: bytes at an offset of the region. */
void raw_post(struct raw *r, uint64_t wr_id, enum roce_wr_opcode opcode, uint32_t offset,
	      uint32_t length);
void raw_post_recv(struct raw *r, uint64_t wr_id, uint32_t offset, uint32_t length);

/* The next completion: must be there, of this WR, with this status. Never NULL. */
const struct roce_wc *raw_expect_wc(struct raw *r, const char *row, uint64_t wr_id,
				    enum roce_wc_status status);
void raw_expect_no_wc(struct raw *r, const char *row);

#endif
