/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Posting on erdma by ibv_post_send and ibv_post_recv: what is refused and how, a
 * full queue, chains, and indexes that wrap. Owns the rows. Authority: the man pages
 * ibv_post_send(3), ibv_post_recv(3).
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "tests/golden/erdma_queue.h"
#include "tests/unit/userlib/fixture.h"

#define CANARY 0xa5

static char payload[256];

struct bad_row {
	const char *name;
	enum ibv_wr_opcode opcode;
	unsigned int flags;
	int num_sge;
	uint32_t length[7];
	int want;
};

/* P1: inline gather lists that others let overrun the WQE, or send as 0 bytes. */
#define I IBV_SEND_INLINE
static const struct bad_row rc_rows[] = {
	{"7 SGEs", IBV_WR_RDMA_WRITE, 0, 7, {1, 1, 1, 1, 1, 1, 1}, EINVAL},
	{"7 SGEs, send", IBV_WR_SEND, 0, 7, {1, 1, 1, 1, 1, 1, 1}, EINVAL},
	{"negative SGE count", IBV_WR_SEND, 0, -1, {1}, EINVAL},
	{"inline 97", IBV_WR_SEND, I, 1, {97}, EINVAL},
	{"inline 97, write", IBV_WR_RDMA_WRITE, I, 1, {97}, EINVAL},
	{"inline 97, send_inv", IBV_WR_SEND_WITH_INV, I, 1, {97}, EINVAL},
	{"inline 3 x 40", IBV_WR_SEND, I, 3, {40, 40, 40}, EINVAL},
	{"inline 3 x 40, write", IBV_WR_RDMA_WRITE, I, 3, {40, 40, 40}, EINVAL},
	{"inline, sum wraps to 16", IBV_WR_SEND, I, 2, {0x80000010, 0x80000000}, EINVAL},
	{"inline, wraps, write", IBV_WR_RDMA_WRITE, I, 2, {0x80000010, 0x80000000}, EINVAL},
	{"length of 4 GiB", IBV_WR_SEND, 0, 2, {0x80000000, 0x80000000}, EINVAL},
	{"inline READ", IBV_WR_RDMA_READ, I, 1, {8}, EINVAL},
	{"inline compare and swap", IBV_WR_ATOMIC_CMP_AND_SWP, I, 1, {8}, EINVAL},
	{"inline fetch and add", IBV_WR_ATOMIC_FETCH_AND_ADD, I, 1, {8}, EINVAL},
	{"inline local invalidate", IBV_WR_LOCAL_INV, I, 0, {0}, EINVAL},
	{"READ to no piece", IBV_WR_RDMA_READ, 0, 0, {0}, EINVAL},
	{"READ to 2 pieces", IBV_WR_RDMA_READ, 0, 2, {8, 8}, EINVAL},
	{"atomic to no piece", IBV_WR_ATOMIC_CMP_AND_SWP, 0, 0, {0}, EINVAL},
	{"atomic to 2 pieces", IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 2, {8, 8}, EINVAL},
	{"memory window", IBV_WR_BIND_MW, 0, 0, {0}, EOPNOTSUPP},
	{"TSO", IBV_WR_TSO, 0, 1, {8}, EINVAL},
	{"opcode 255", (enum ibv_wr_opcode)255, 0, 1, {8}, EINVAL},
	{"opcode -1", (enum ibv_wr_opcode) - 1, 0, 1, {8}, EINVAL},
	{"checksum flag", IBV_WR_SEND, IBV_SEND_IP_CSUM, 1, {8}, EINVAL},
	{"unknown flag", IBV_WR_SEND, 1u << 31, 1, {8}, EINVAL},
};

static const struct bad_row ud_rows[] = {
	{"no address handle", IBV_WR_SEND, 0, 1, {8}, EINVAL},
	{"no address handle, inline", IBV_WR_SEND_WITH_IMM, I, 1, {8}, EINVAL},
	{"write", IBV_WR_RDMA_WRITE, 0, 1, {8}, EINVAL},
	{"write with immediate", IBV_WR_RDMA_WRITE_WITH_IMM, 0, 1, {8}, EINVAL},
	{"READ", IBV_WR_RDMA_READ, 0, 1, {8}, EINVAL},
	{"atomic", IBV_WR_ATOMIC_CMP_AND_SWP, 0, 1, {8}, EINVAL},
	{"send with invalidate", IBV_WR_SEND_WITH_INV, 0, 1, {8}, EINVAL},
	{"local invalidate", IBV_WR_LOCAL_INV, 0, 0, {0}, EINVAL},
};

static void fill(const struct bad_row *row, struct ibv_send_wr *wr, struct ibv_sge *sges)
{
	int i;

	for (i = 0; i < 7; i++)
		sges[i] = (struct ibv_sge){(uintptr_t)payload, row->length[i], 0x100};
	*wr = (struct ibv_send_wr){
		.wr_id = 9,
		.sg_list = sges,
		.num_sge = row->num_sge,
		.opcode = row->opcode,
		.send_flags = row->flags,
	};
}

static bool is_canary(const struct nk_qp *qp)
{
	size_t i;

	for (i = 0; i < qp->sq_blocks * ERDMA_SQ_BLOCK_BYTES; i++)
		if ((uint8_t)qp->ring[i] != CANARY)
			return false;
	return true;
}

/* Each row at a place where the WQE is built in the ring, and at one where it is not. */
static void check_refusals(struct fixture *f, const struct bad_row *rows, size_t count)
{
	struct ibv_send_wr wr, good, *bad;
	struct ibv_sge sges[7], sge;
	uint16_t pi;
	size_t i;

	for (i = 0; i < count; i++) {
		memset(f->nk_qp->ring, CANARY, f->nk_qp->sq_blocks * ERDMA_SQ_BLOCK_BYTES);
		fill(&rows[i], &wr, sges);
		pi = nk_sq_pi(f->nk_qp);
		bad = NULL;
		T_EQ_ROW(rows[i].name, ibv_post_send(f->qp, &wr, &bad), rows[i].want);
		T_TRUE_ROW(rows[i].name, bad == &wr);
		T_EQ_ROW(rows[i].name, nk_sq_pi(f->nk_qp), pi);
		T_TRUE_ROW(rows[i].name, is_canary(f->nk_qp));
		/* The earlier one of a chain stands, and the later one is not looked at. */
		good = fixture_send(IBV_WR_SEND, &sge);
		if (f->qp->qp_type == IBV_QPT_UD)
			continue;
		good.next = &wr;
		wr.next = &good;
		T_EQ_ROW(rows[i].name, ibv_post_send(f->qp, &good, &bad), rows[i].want);
		T_TRUE_ROW(rows[i].name, bad == &wr);
		T_EQ_ROW(rows[i].name, (uint16_t)(nk_sq_pi(f->nk_qp) - pi), 1);
		fixture_complete_sends(f, pi);
		T_EQ_ROW(rows[i].name, ibv_poll_cq(f->cq, 1, &(struct ibv_wc){0}), 1);
	}
}

static void rc_refusals(void)
{
	struct fixture f;

	T_NEED(fixture_open(&f, IBV_QPT_RC));
	check_refusals(&f, rc_rows, sizeof(rc_rows) / sizeof(rc_rows[0]));
	fixture_close(&f);
}

static void ud_refusals(void)
{
	struct fixture f;

	T_NEED(fixture_open(&f, IBV_QPT_UD));
	check_refusals(&f, ud_rows, sizeof(ud_rows) / sizeof(ud_rows[0]));
	fixture_close(&f);
}

/* P1 (c), (d), (f): whole, whatever the key, and free to be overwritten at once. */
static void inline_gather_is_whole(void)
{
	static const struct {
		const char *name;
		int num_sge;
		uint32_t length[4];
		uint32_t want;
	} rows[] = {
		{"4 x 16", 4, {16, 16, 16, 16}, 64},
		{"0 between two", 3, {10, 0, 20}, 30},
		{"nothing", 0, {0}, 0},
		{"0 alone", 1, {0}, 0},
		{"96", 1, {96}, 96},
	};
	struct ibv_sge sges[4];
	struct ibv_send_wr wr, *bad;
	struct fixture f;
	uint32_t at = 0;
	size_t i;
	int j;

	T_NEED(fixture_open(&f, IBV_QPT_RC));
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *from = payload;
		const struct erdma_sqe_write *sqe;

		wr = fixture_send(IBV_WR_RDMA_WRITE, sges);
		wr.send_flags |= IBV_SEND_INLINE;
		wr.num_sge = rows[i].num_sge;
		for (j = 0; j < (int)sizeof(payload); j++)
			payload[j] = (char)(j + 1);
		for (j = 0; j < rows[i].num_sge; j++) {
			sges[j] = (struct ibv_sge){(uintptr_t)from, rows[i].length[j], 0xdeadbeef};
			from += rows[i].length[j];
		}
		/* At the start of the ring, so that the data is in one piece to look at. */
		at = fixture_complete_sends(&f, at);
		while (ibv_poll_cq(f.cq, 1, &(struct ibv_wc){0}))
			;
		T_EQ(ibv_post_send(f.qp, &wr, &bad), 0);
		memset(payload, 0, sizeof(payload));
		sqe = (const void *)(f.nk_qp->ring + (at % 16) * ERDMA_SQ_BLOCK_BYTES);
		T_EQ_ROW(rows[i].name, nic_from_le32(sqe->length), rows[i].want);
		T_EQ_ROW(rows[i].name, nic_get(&sqe->head, ERDMA_SQE_SGL), rows[i].want);
		for (j = 0; j < (int)rows[i].want; j++)
			T_EQ_ROW(rows[i].name,
				 f.nk_qp->ring[(at * 32 + 32 + (unsigned int)j) % 512], j + 1);
	}
	fixture_close(&f);
}

static void states_that_forbid_posting(void)
{
	static const struct {
		const char *name;
		enum ibv_qp_state state;
		int send, recv;
	} rows[] = {
		{"RESET", IBV_QPS_RESET, EINVAL, EINVAL},
		{"INIT", IBV_QPS_INIT, EINVAL, 0},
		{"RTR", IBV_QPS_RTR, EINVAL, 0},
		{"RTS", IBV_QPS_RTS, 0, 0},
		{"SQD", IBV_QPS_SQD, 0, 0},
		{"SQE", IBV_QPS_SQE, EIO, 0},
		{"ERR", IBV_QPS_ERR, EIO, EIO},
	};
	struct ibv_recv_wr recv = {.num_sge = 0}, *bad_recv;
	struct ibv_send_wr send, *bad_send;
	struct ibv_sge sge;
	struct fixture f;
	size_t i;

	T_NEED(fixture_open(&f, IBV_QPT_RC));
	send = fixture_send(IBV_WR_SEND, &sge);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ibv_qp_attr attr = {.qp_state = rows[i].state};

		T_EQ(ibv_modify_qp(f.qp, &attr, IBV_QP_STATE), 0);
		T_EQ_ROW(rows[i].name, ibv_post_send(f.qp, &send, &bad_send), rows[i].send);
		T_EQ_ROW(rows[i].name, ibv_post_recv(f.qp, &recv, &bad_recv), rows[i].recv);
		if (rows[i].recv)
			continue;
		nk_complete(f.nk_cq, &(struct nk_completion){.qpn = f.qp->qp_num,
							     .queue = ERDMA_CQE_QUEUE_RQ,
							     .opcode = ERDMA_OP_RECV});
		ibv_poll_cq(f.cq, 1, &(struct ibv_wc){0});
	}
	fixture_close(&f);
}

/* A QP that failed by itself is found out by a query. */
static void query_notices_an_error(void)
{
	struct ibv_qp_init_attr init;
	struct ibv_send_wr wr, *bad;
	struct ibv_qp_attr attr;
	struct ibv_sge sge;
	struct fixture f;

	T_NEED(fixture_open(&f, IBV_QPT_RC));
	wr = fixture_send(IBV_WR_SEND, &sge);
	f.nk_qp->state = IBV_QPS_ERR;
	T_EQ(ibv_post_send(f.qp, &wr, &bad), 0);
	T_EQ(ibv_query_qp(f.qp, &attr, IBV_QP_STATE, &init), 0);
	T_EQ(ibv_post_send(f.qp, &wr, &bad), EIO);
	T_EQ(attr.cap.max_send_wr, FIXTURE_DEPTH);
	T_EQ(attr.cap.max_inline_data, ERDMA_INLINE_MAX);
	T_EQ(init.cap.max_send_sge, ERDMA_SEND_SGE_MAX);
	fixture_close(&f);
}

/* 16 blocks: 4 requests of 4, or 16 of 1, and not one block more. */
static void full_send_queue(void)
{
	static const struct {
		const char *name;
		uint32_t inline_bytes;
		int fit;
	} rows[] = {{"4 blocks each", 96, 4}, {"1 block each", 16, 16}, {"3 blocks", 70, 5}};
	struct ibv_send_wr wr, *bad;
	struct ibv_sge sge;
	struct fixture f;
	size_t i;
	int j;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		T_NEED(fixture_open(&f, IBV_QPT_RC));
		wr = fixture_send(IBV_WR_SEND, &sge);
		wr.send_flags |= IBV_SEND_INLINE;
		sge = (struct ibv_sge){(uintptr_t)payload, rows[i].inline_bytes, 0};
		for (j = 0; j < rows[i].fit; j++)
			T_EQ_ROW(rows[i].name, ibv_post_send(f.qp, &wr, &bad), 0);
		bad = NULL;
		T_EQ_ROW(rows[i].name, ibv_post_send(f.qp, &wr, &bad), ENOMEM);
		T_TRUE_ROW(rows[i].name, bad == &wr);
		/* A completion makes room; unsignaled ones before it come along. */
		nk_complete(f.nk_cq, &(struct nk_completion){.qpn = f.qp->qp_num, .index = 0});
		T_EQ(ibv_poll_cq(f.cq, 1, &(struct ibv_wc){0}), 1);
		T_EQ_ROW(rows[i].name, ibv_post_send(f.qp, &wr, &bad), 0);
		T_EQ_ROW(rows[i].name, ibv_post_send(f.qp, &wr, &bad), ENOMEM);
		fixture_close(&f);
	}
}

/* One doorbell for a chain, with the QPN and the index after its last WQE. */
static void chain_rings_once(void)
{
	struct ibv_send_wr wr[3], *bad;
	struct ibv_sge sge;
	struct fixture f;
	uint64_t bell;
	int i;

	T_NEED(fixture_open(&f, IBV_QPT_RC));
	for (i = 0; i < 3; i++) {
		wr[i] = fixture_send(IBV_WR_RDMA_WRITE, &sge);
		wr[i].next = i < 2 ? &wr[i + 1] : NULL;
	}
	T_EQ(ibv_post_send(f.qp, wr, &bad), 0);
	memcpy(&bell, nk.sq_page + f.qp->qp_num % 32 * 128, sizeof(bell));
	T_EQ(bell, (uint64_t)f.qp->qp_num << 32 | 6);
	T_EQ(f.nk_qp->records[0], bell);
	fixture_close(&f);
}

/* Past 65536 blocks, with WQEs of 1 to 4 blocks at every place of the ring. */
static void indexes_wrap(void)
{
	struct ibv_send_wr wr, *bad;
	struct ibv_sge sge;
	struct fixture f;
	struct ibv_wc wc;
	uint32_t at = 0, i;

	T_NEED(fixture_open(&f, IBV_QPT_RC));
	wr = fixture_send(IBV_WR_SEND, &sge);
	wr.send_flags |= IBV_SEND_INLINE;
	for (i = 0; i < 60000; i++) {
		sge = (struct ibv_sge){(uintptr_t)payload, i * 7 % 97, 0};
		wr.wr_id = i;
		if (!T_EQ(ibv_post_send(f.qp, &wr, &bad), 0))
			break;
		at = fixture_complete_sends(&f, at);
		if (!T_EQ(ibv_poll_cq(f.cq, 1, &wc), 1) || !T_EQ(wc.wr_id, i))
			break;
	}
	fixture_close(&f);
}

static void recv_refusals(void)
{
	struct ibv_sge sges[2] = {{0x1000, 8, 0x100}, {0x2000, 8, 0x100}};
	struct ibv_recv_wr wr = {.wr_id = 3, .sg_list = sges, .num_sge = 2}, *bad = NULL;
	struct fixture f;
	int i;

	T_NEED(fixture_open(&f, IBV_QPT_RC));
	T_EQ(ibv_post_recv(f.qp, &wr, &bad), EINVAL);
	T_TRUE(bad == &wr);
	wr.num_sge = -1;
	T_EQ(ibv_post_recv(f.qp, &wr, &bad), EINVAL);
	wr.num_sge = 1;
	for (i = 0; i < FIXTURE_DEPTH; i++)
		T_EQ(ibv_post_recv(f.qp, &wr, &bad), 0);
	bad = NULL;
	T_EQ(ibv_post_recv(f.qp, &wr, &bad), ENOMEM);
	T_TRUE(bad == &wr);
	T_EQ(nk_rq_pi(f.nk_qp), FIXTURE_DEPTH);
	nk_complete(f.nk_cq, &(struct nk_completion){.qpn = f.qp->qp_num,
						     .queue = ERDMA_CQE_QUEUE_RQ,
						     .opcode = ERDMA_OP_RECV});
	T_EQ(ibv_poll_cq(f.cq, 1, &(struct ibv_wc){0}), 1);
	T_EQ(ibv_post_recv(f.qp, &wr, &bad), 0);
	fixture_close(&f);
}

/* The golden row has QPN 0x1234 and index 0x0102. */
static void recv_as_the_kernel_writes_it(void)
{
	uint8_t want[sizeof(struct erdma_rqe)];
	struct erdma_rqe *golden = (void *)want;
	struct ibv_sge sge = {0x7f0012345678, 0x800, 0x300};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;
	struct fixture f;
	uint64_t bell;

	T_NEED(fixture_open(&f, IBV_QPT_RC));
	t_hex(GOLDEN_RQE_BYTES, want, sizeof(want));
	golden->qpn = nic_to_le32(f.qp->qp_num);
	golden->index = nic_to_le16(1);
	T_EQ(ibv_post_recv(f.qp, &wr, &bad), 0);
	T_BYTES(f.nk_qp->ring + f.nk_qp->rq_offset, want, sizeof(want));
	memcpy(&bell, nk.rq_page + f.qp->qp_num % 128 * 32, sizeof(bell));
	T_BYTES(&bell, want, sizeof(bell));
	T_EQ(f.nk_qp->records[1], bell);
	fixture_close(&f);
}

/* RESET starts anew: empty rings, nothing left in the CQ, records cleared. */
static void reset_forgets_everything(void)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
	struct ibv_send_wr wr, *bad;
	struct ibv_sge sge;
	struct fixture f;
	struct ibv_wc wc;

	T_NEED(fixture_open(&f, IBV_QPT_RC));
	wr = fixture_send(IBV_WR_SEND, &sge);
	T_EQ(ibv_post_send(f.qp, &wr, &bad), 0);
	fixture_complete_sends(&f, 0);
	T_EQ(ibv_modify_qp(f.qp, &attr, IBV_QP_STATE), 0);
	T_EQ(ibv_poll_cq(f.cq, 1, &wc), 0);
	T_EQ(f.nk_qp->records[0], 0);
	T_EQ(nk_to_rts(f.qp, IBV_QPT_RC), 0);
	T_EQ(ibv_post_send(f.qp, &wr, &bad), 0);
	T_EQ(nk_sq_pi(f.nk_qp), 1);
	fixture_close(&f);
}

#define THREADS	     4
#define THREAD_DEPTH 256

/* valgrind runs one thread at a time, and slowly. */
static uint64_t thread_posts;
static pthread_barrier_t start_line;

struct poster {
	struct fixture *f;
	uint64_t first_id;
	pthread_t thread;
};

static void *post_many(void *argument)
{
	const struct poster *poster = argument;
	struct ibv_send_wr wr, *bad;
	struct ibv_sge sge;
	uint64_t i;

	wr = fixture_send(IBV_WR_RDMA_WRITE, &sge);
	pthread_barrier_wait(&start_line);
	for (i = 0; i < thread_posts;) {
		wr.wr_id = poster->first_id + i;
		if (ibv_post_send(poster->f->qp, &wr, &bad) == 0)
			i++;
		else
			sched_yield();
	}
	return NULL;
}

/* Each request completes once, and each thread's in the order in which it posted them. */
static void threads_share_a_queue(void)
{
	struct poster posters[THREADS];
	uint64_t next[THREADS] = {0};
	unsigned int i;
	uint64_t done = 0;
	struct ibv_wc wc[8];
	struct fixture f;
	uint32_t at = 0;
	int got, j;

	T_NEED(fixture_open(&f, IBV_QPT_RC));
	/* Deep, so that the threads get in each other's way and not to its end. */
	T_EQ(ibv_destroy_qp(f.qp), 0);
	T_EQ(ibv_destroy_cq(f.cq), 0);
	f.cap.max_send_wr = THREAD_DEPTH;
	f.cq = ibv_create_cq(f.context, 4 * THREAD_DEPTH, NULL, NULL, 0);
	T_NEED(f.cq);
	f.qp = nk_make_qp(f.pd, f.cq, IBV_QPT_RC, &f.cap, 0);
	T_NEED(f.qp);
	f.nk_qp = nk_find_qp(f.qp);
	f.nk_cq = nk_find_cq(f.cq);
	thread_posts = getenv("ANYNIC_VALGRIND") ? 2000 : 500000;
	pthread_barrier_init(&start_line, NULL, THREADS);
	for (i = 0; i < THREADS; i++) {
		posters[i] = (struct poster){.f = &f, .first_id = i * thread_posts};
		T_EQ(pthread_create(&posters[i].thread, NULL, post_many, &posters[i]), 0);
	}
	while (done < THREADS * thread_posts) {
		at = fixture_complete_sends(&f, at);
		got = ibv_poll_cq(f.cq, 8, wc);
		if (!got)
			sched_yield();
		for (j = 0; j < got; j++) {
			i = (unsigned int)(wc[j].wr_id / thread_posts);
			if (i >= THREADS || wc[j].wr_id % thread_posts != next[i]++)
				T_TRUE(!"out of order");
		}
		done += (uint64_t)got;
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(posters[i].thread, NULL);
	pthread_barrier_destroy(&start_line);
	fixture_close(&f);
}

T_MAIN("erdma_user_post", T_CASE(rc_refusals), T_CASE(ud_refusals), T_CASE(inline_gather_is_whole),
       T_CASE(states_that_forbid_posting), T_CASE(query_notices_an_error), T_CASE(full_send_queue),
       T_CASE(chain_rings_once), T_CASE(indexes_wrap), T_CASE(recv_refusals),
       T_CASE(recv_as_the_kernel_writes_it), T_CASE(reset_forgets_everything),
       T_CASE(threads_share_a_queue), )
