/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * bench-ops DRIVER: each data-path operation, many times, on the no-kernel harness,
 * for callgrind to count. Owns the list of operations; knows no provider. Prints
 * "name times" for each dump that it makes callgrind write, "name refused" for an
 * operation that the provider does not have. tests/bench/bench-instructions runs it.
 *
 * Only the call itself is counted. What surrounds it (completing what was posted,
 * so that the ring never fills) runs with collection off.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <valgrind/callgrind.h>

#include "tests/bench/nokernel.h"

#define TIMES 256
#define DEPTH 64
#define BATCH 16

struct bench {
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_sge sges[ERDMA_SEND_SGE_MAX];
	struct ibv_wc wc[BATCH];
	uint16_t sq_index, rq_index; /* where the next WQE starts */
};

static char payload[ERDMA_INLINE_MAX];

/* Completes and polls everything that was posted to the SQ since the last time. */
static void drain_sends(struct bench *b)
{
	struct nk_qp *qp = nk_find_qp(b->qp);
	uint16_t pi = nk_sq_pi(qp);

	while (b->sq_index != pi) {
		const struct erdma_sqe *sqe =
			(const void *)(qp->ring + (size_t)(b->sq_index & (qp->sq_blocks - 1)) *
							  ERDMA_SQ_BLOCK_BYTES);

		nk_complete(nk_find_cq(b->cq),
			    &(struct nk_completion){.qpn = qp->qpn,
						    .opcode = nic_get(sqe, ERDMA_SQE_OPCODE),
						    .index = b->sq_index});
		b->sq_index = (uint16_t)nic_get(sqe, ERDMA_SQE_END);
		ibv_poll_cq(b->cq, 1, b->wc);
	}
}

static void complete_recv(struct bench *b)
{
	nk_complete(nk_find_cq(b->cq), &(struct nk_completion){.qpn = b->qp->qp_num,
							       .queue = ERDMA_CQE_QUEUE_RQ,
							       .opcode = ERDMA_OP_RECV,
							       .index = b->rq_index++,
							       .length = 64});
}

/* Runs statement with collection on. */
#define COUNTED(statement)                \
	do {                              \
		CALLGRIND_TOGGLE_COLLECT; \
		statement;                \
		CALLGRIND_TOGGLE_COLLECT; \
	} while (0)

static void report(const char *name, bool refused)
{
	CALLGRIND_DUMP_STATS_AT(name);
	CALLGRIND_ZERO_STATS;
	if (refused)
		printf("%s refused\n", name);
	else
		printf("%s %d\n", name, TIMES);
}

struct send_row {
	const char *name;
	enum ibv_wr_opcode opcode;
	int num_sge;
	uint32_t length; /* of each piece */
	unsigned int flags;
};

static const struct send_row send_rows[] = {
	{"post_send write", IBV_WR_RDMA_WRITE, 1, 64, IBV_SEND_SIGNALED},
	{"post_send write unsignaled", IBV_WR_RDMA_WRITE, 1, 64, 0},
	{"post_send write 6 sge", IBV_WR_RDMA_WRITE, 6, 64, IBV_SEND_SIGNALED},
	{"post_send write inline 8", IBV_WR_RDMA_WRITE, 1, 8, IBV_SEND_SIGNALED | IBV_SEND_INLINE},
	{"post_send write inline 96", IBV_WR_RDMA_WRITE, 1, 96,
	 IBV_SEND_SIGNALED | IBV_SEND_INLINE},
	{"post_send write inline 4x16", IBV_WR_RDMA_WRITE, 4, 16,
	 IBV_SEND_SIGNALED | IBV_SEND_INLINE},
	{"post_send write_imm", IBV_WR_RDMA_WRITE_WITH_IMM, 1, 64, IBV_SEND_SIGNALED},
	{"post_send write_imm inline 64", IBV_WR_RDMA_WRITE_WITH_IMM, 1, 64,
	 IBV_SEND_SIGNALED | IBV_SEND_INLINE},
	{"post_send send", IBV_WR_SEND, 1, 64, IBV_SEND_SIGNALED},
	{"post_send send 6 sge", IBV_WR_SEND, 6, 64, IBV_SEND_SIGNALED},
	{"post_send send inline 8", IBV_WR_SEND, 1, 8, IBV_SEND_SIGNALED | IBV_SEND_INLINE},
	{"post_send send inline 96", IBV_WR_SEND, 1, 96, IBV_SEND_SIGNALED | IBV_SEND_INLINE},
	{"post_send send_imm", IBV_WR_SEND_WITH_IMM, 1, 64, IBV_SEND_SIGNALED},
	{"post_send send_imm inline 64", IBV_WR_SEND_WITH_IMM, 1, 64,
	 IBV_SEND_SIGNALED | IBV_SEND_INLINE},
	{"post_send send_inv", IBV_WR_SEND_WITH_INV, 1, 64, IBV_SEND_SIGNALED},
	{"post_send send_inv inline 64", IBV_WR_SEND_WITH_INV, 1, 64,
	 IBV_SEND_SIGNALED | IBV_SEND_INLINE},
	{"post_send read", IBV_WR_RDMA_READ, 1, 64, IBV_SEND_SIGNALED},
	{"post_send cmp_swap", IBV_WR_ATOMIC_CMP_AND_SWP, 1, 8, IBV_SEND_SIGNALED},
	{"post_send fetch_add", IBV_WR_ATOMIC_FETCH_AND_ADD, 1, 8, IBV_SEND_SIGNALED},
	{"post_send local_inv", IBV_WR_LOCAL_INV, 0, 0, IBV_SEND_SIGNALED},
};

static void fill_request(struct ibv_send_wr *wr, const struct send_row *row, struct ibv_sge *sges)
{
	bool is_atomic = row->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
			 row->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
	int i;

	*wr = (struct ibv_send_wr){
		.wr_id = 1,
		.sg_list = sges,
		.num_sge = row->num_sge,
		.opcode = row->opcode,
		.send_flags = row->flags,
	};
	for (i = 0; i < row->num_sge; i++)
		sges[i] = (struct ibv_sge){(uintptr_t)payload, row->length, 0x100};
	if (is_atomic) {
		wr->wr.atomic.remote_addr = 0x1000;
		wr->wr.atomic.rkey = 0x200;
	} else {
		wr->wr.rdma.remote_addr = 0x1000;
		wr->wr.rdma.rkey = 0x200;
	}
}

static void bench_send(struct bench *b, const struct send_row *row)
{
	struct ibv_send_wr wr, *bad;
	int i, err = 0;

	fill_request(&wr, row, b->sges);
	for (i = 0; i < TIMES && !err; i++) {
		COUNTED(err = ibv_post_send(b->qp, &wr, &bad));
		if (!err)
			drain_sends(b);
	}
	report(row->name, err);
}

/* Eight requests in one call: what a chain costs beyond its doorbell. */
static void bench_chain(struct bench *b)
{
	struct ibv_send_wr wr[8], *bad;
	int i, j, err = 0;

	for (j = 0; j < 8; j++) {
		fill_request(&wr[j], &send_rows[0], b->sges);
		wr[j].next = j < 7 ? &wr[j + 1] : NULL;
	}
	for (i = 0; i < TIMES && !err; i++) {
		COUNTED(err = ibv_post_send(b->qp, wr, &bad));
		drain_sends(b);
	}
	report("post_send 8 writes in a chain", err);
}

static void bench_recv(struct bench *b)
{
	struct ibv_sge sge = {(uintptr_t)payload, sizeof(payload), 0x100};
	struct ibv_recv_wr wr = {.wr_id = 2, .sg_list = &sge, .num_sge = 1}, *bad;
	int i, err = 0;

	for (i = 0; i < TIMES && !err; i++) {
		COUNTED(err = ibv_post_recv(b->qp, &wr, &bad));
		complete_recv(b);
		ibv_poll_cq(b->cq, 1, b->wc);
	}
	report("post_recv", err);
}

static void bench_poll_empty(struct bench *b)
{
	int i, got = 0;

	for (i = 0; i < TIMES; i++)
		COUNTED(got |= ibv_poll_cq(b->cq, BATCH, b->wc));
	report("poll_cq empty", got);
}

/* Posts count requests and has them done, so that as many CQEs wait. */
static void prepare(struct bench *b, int count, bool sends)
{
	struct ibv_sge sge = {(uintptr_t)payload, sizeof(payload), 0x100};
	struct ibv_recv_wr recv = {.sg_list = &sge, .num_sge = 1}, *bad_recv;
	struct ibv_send_wr send, *bad_send;
	int i;

	fill_request(&send, &send_rows[0], b->sges);
	for (i = 0; i < count; i++) {
		if (sends) {
			ibv_post_send(b->qp, &send, &bad_send);
			nk_complete(nk_find_cq(b->cq),
				    &(struct nk_completion){.qpn = b->qp->qp_num,
							    .opcode = ERDMA_OP_WRITE,
							    .index = b->sq_index});
			b->sq_index = (uint16_t)(b->sq_index + 2);
		} else {
			ibv_post_recv(b->qp, &recv, &bad_recv);
			complete_recv(b);
		}
	}
}

static void bench_poll(struct bench *b, const char *name, int count, bool sends)
{
	int i, got = 0, bad = 0;

	for (i = 0; i < TIMES; i++) {
		prepare(b, count, sends);
		COUNTED(got = ibv_poll_cq(b->cq, count, b->wc));
		bad |= got != count;
	}
	report(name, bad);
}

static void bench_arm(struct bench *b)
{
	int i, err = 0;

	for (i = 0; i < TIMES; i++)
		COUNTED(err |= ibv_req_notify_cq(b->cq, 0));
	report("req_notify_cq", err);
}

/* What counting itself costs; the script takes it off. */
static void bench_nothing(void)
{
	int i;

	for (i = 0; i < TIMES; i++)
		COUNTED((void)0);
	report("nothing", false);
}

int main(int argc, char **argv)
{
	struct ibv_qp_cap cap = {
		.max_send_wr = DEPTH,
		.max_recv_wr = DEPTH,
		.max_send_sge = ERDMA_SEND_SGE_MAX,
		.max_recv_sge = 1,
		.max_inline_data = ERDMA_INLINE_MAX,
	};
	struct ibv_context *context;
	struct bench b = {0};
	struct ibv_pd *pd;
	size_t i;

	if (argc != 2) {
		fprintf(stderr, "usage: bench-ops DRIVER\n");
		return 2;
	}
	nk_start(argv[1], 1500);
	context = nk_open();
	pd = context ? ibv_alloc_pd(context) : NULL;
	b.cq = pd ? ibv_create_cq(context, 256, NULL, NULL, 0) : NULL;
	b.qp = b.cq ? nk_make_qp(pd, b.cq, IBV_QPT_RC, &cap, 0) : NULL;
	if (!b.qp) {
		fprintf(stderr, "bench-ops: %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	CALLGRIND_ZERO_STATS;
	bench_nothing();
	for (i = 0; i < sizeof(send_rows) / sizeof(send_rows[0]); i++)
		bench_send(&b, &send_rows[i]);
	bench_chain(&b);
	bench_recv(&b);
	bench_poll_empty(&b);
	bench_poll(&b, "poll_cq one send", 1, true);
	bench_poll(&b, "poll_cq one receive", 1, false);
	bench_poll(&b, "poll_cq batch of 16 sends", BATCH, true);
	bench_poll(&b, "poll_cq batch of 16 receives", BATCH, false);
	bench_arm(&b);
	ibv_destroy_qp(b.qp);
	ibv_destroy_cq(b.cq);
	ibv_dealloc_pd(pd);
	ibv_close_device(context);
	return 0;
}
