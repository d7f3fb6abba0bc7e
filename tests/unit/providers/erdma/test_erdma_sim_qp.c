/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Queue pairs: states as the driver sets them, flush, reflush, doorbells, budgets. */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/lib/t.h"
#include "tests/unit/providers/erdma/erdma_guest.h"

#define STATE	 ERDMA_MODIFY_STATE
#define RTR_MASK (STATE | ERDMA_MODIFY_AV | ERDMA_MODIFY_RQ_PSN | ERDMA_MODIFY_DQPN)
#define RTS_MASK (STATE | ERDMA_MODIFY_SQ_PSN)
/* First word of a flushed CQE of either queue. */
#define FLUSH_SEND "8002000f"
#define FLUSH_RECV "8004010f"

struct world {
	struct guest_pair p;
	struct guest_end a, b;
};

static bool world_make(struct world *w)
{
	return T_TRUE(guest_pair(&w->p)) && T_TRUE(guest_connect(&w->p, &w->a, &w->b));
}

static void world_end(struct world *w)
{
	guest_pair_stop(&w->p);
}

static void transitions(void)
{
	static const struct {
		const char *name;
		bool ud;
		struct {
			enum erdma_qp_state state;
			uint32_t mask;
			int status;
		} steps[5];
	} rows[] = {
		{"RC to RTS",
		 false,
		 {{ERDMA_QPS_INIT, STATE, 0},
		  {ERDMA_QPS_RTR, RTR_MASK, 0},
		  {ERDMA_QPS_RTS, RTS_MASK, 0},
		  {ERDMA_QPS_SQD, STATE, 0},
		  {ERDMA_QPS_RTS, STATE, 0}}},
		{"UD as ib_mad has it",
		 true,
		 {{ERDMA_QPS_INIT, 3, 0},
		  {ERDMA_QPS_RTR, 1, 0},
		  {ERDMA_QPS_RTS, 9, 0},
		  {ERDMA_QPS_RTS, 3, 0}}},
		{"INIT twice", false, {{ERDMA_QPS_INIT, STATE, 0}, {ERDMA_QPS_INIT, STATE, 0}}},
		{"straight to RTS", false, {{ERDMA_QPS_RTS, RTS_MASK, EINVAL}}},
		{"RTR without an address",
		 false,
		 {{ERDMA_QPS_INIT, STATE, 0},
		  {ERDMA_QPS_RTR, STATE | ERDMA_MODIFY_RQ_PSN | ERDMA_MODIFY_DQPN, EINVAL}}},
		{"RTS without a PSN",
		 false,
		 {{ERDMA_QPS_INIT, STATE, 0},
		  {ERDMA_QPS_RTR, RTR_MASK, 0},
		  {ERDMA_QPS_RTS, STATE, EINVAL}}},
		{"ERR and back",
		 false,
		 {{ERDMA_QPS_ERR, STATE, 0},
		  {ERDMA_QPS_INIT, STATE, EINVAL},
		  {ERDMA_QPS_RESET, STATE, 0},
		  {ERDMA_QPS_INIT, STATE, 0}}},
		{"state 7", false, {{7, STATE, EINVAL}}},
		{"state 255", false, {{255, STATE, EINVAL}}},
	};
	struct guest_cq cq;
	struct guest_pair p;
	struct guest_qp qp;
	size_t i, k;

	T_NEED(guest_pair(&p));
	T_EQ(guest_create_cq(&p.a, &cq, 2, 4), 0);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct erdma_cmd_qpn destroy = {.qpn = htole32(2)};
		int state = ERDMA_QPS_RESET;

		T_EQ(guest_create_qp(&p.a, &qp, 2, 2, rows[i].ud), 0);
		for (k = 0; k < 5 && rows[i].steps[k].mask; k++) {
			T_EQ_ROW(rows[i].name,
				 guest_modify(&qp, rows[i].steps[k].state, rows[i].steps[k].mask, 3,
					      2),
				 rows[i].steps[k].status);
			if (!rows[i].steps[k].status)
				state = (int)rows[i].steps[k].state;
			T_EQ_ROW(rows[i].name, guest_qp_state(&qp), state);
		}
		T_EQ(guest_command(&p.a, ERDMA_COMMAND_DESTROY_QP, &destroy, sizeof(destroy)), 0);
	}
	guest_pair_stop(&p);
}

static void query_bytes(void)
{
	struct world w;

	T_NEED(world_make(&w));
	/* State 3, both PSNs 0x100. */
	T_EQ(guest_qp_state(&w.a.qp), 3);
	T_EQ(w.p.a.resp0, 0x0003000100000100);
	T_EQ(w.p.a.resp1, 0);
	world_end(&w);
}

static void send_of_nothing(struct guest_qp *qp)
{
	uint64_t sqe[4] = {0};

	sqe[0] = htole64(nic_prep(ERDMA_SQE_OPCODE, ERDMA_OP_SEND) |
			 nic_prep(ERDMA_SQE_SIGNALED, 1));
	guest_put(qp, sqe, 1);
}

static void expect_flush(struct guest_cq *cq, const char *head, unsigned int index)
{
	uint8_t want[sizeof(struct erdma_cqe)];
	struct erdma_cqe cqe;
	char hex[80];

	snprintf(hex, sizeof(hex), "%s%08x00000002%040d", head, index, 0);
	if (!T_TRUE(guest_wait(cq, &cqe)))
		return;
	t_hex(hex, want, sizeof(want));
	T_BYTES(&cqe, want, sizeof(want));
}

static void flush_on_error(void)
{
	struct erdma_cmd_reflush req = {.qpn = htole32(2)};
	unsigned int i, send = 0, recv = 0;
	struct erdma_cqe cqe;
	struct world w;

	T_NEED(world_make(&w));
	for (i = 0; i < 3; i++)
		guest_recv(&w.a.qp, w.a.buffer, 100, w.a.key);
	/* No receives at b: sends are on their way for ever. */
	send_of_nothing(&w.a.qp);
	send_of_nothing(&w.a.qp);
	guest_ring_sq(&w.a.qp);
	guest_run(&w.p.a, 5000000);
	T_EQ(guest_modify(&w.a.qp, ERDMA_QPS_ERR, STATE, 0, 0), 0);
	/* Posted in ERR: by doorbell, and by the command that the driver sends after it. */
	send_of_nothing(&w.a.qp);
	guest_ring_sq(&w.a.qp);
	guest_recv(&w.a.qp, 0, 0, 0);
	send_of_nothing(&w.a.qp);
	req.sq_pi = htole32(w.a.qp.sq_pi);
	req.rq_pi = htole32(w.a.qp.rq_pi);
	T_EQ(guest_command(&w.p.a, ERDMA_COMMAND_REFLUSH, &req, sizeof(req)), 0);
	req.sq_pi = htole32(w.a.qp.sq_pi + 65u);
	T_EQ(guest_command(&w.p.a, ERDMA_COMMAND_REFLUSH, &req, sizeof(req)), EINVAL);
	guest_run(&w.p.a, 1000000);
	/* Each once, in order within its queue. */
	while (guest_peek(&w.a.cq, &cqe)) {
		if (nic_get(&cqe, ERDMA_CQE_QUEUE) == ERDMA_CQE_QUEUE_SQ)
			expect_flush(&w.a.cq, FLUSH_SEND, send++);
		else
			expect_flush(&w.a.cq, FLUSH_RECV, recv++);
	}
	T_EQ(send, 4);
	T_EQ(recv, 4);
	world_end(&w);
}

/* Rung before the QP may work: taken when it may. */
static void early_doorbells(void)
{
	struct erdma_cqe cqe;
	struct guest_pair p;
	struct guest_end a, b;

	T_NEED(guest_pair(&p));
	T_NEED(guest_make_end(&p.a, &a, 2, false) && guest_make_end(&p.b, &b, 3, false));
	send_of_nothing(&a.qp);
	guest_ring_sq(&a.qp);
	guest_recv(&b.qp, 0, 0, 0);
	T_NEED(guest_bring_up(&b.qp, 2, 1) && guest_bring_up(&a.qp, 3, 2));
	T_TRUE(guest_wait(&a.cq, &cqe));
	T_TRUE(guest_wait(&b.cq, &cqe));
	guest_pair_stop(&p);
}

/* After RESET both sides begin at 0 again. */
static void reset_and_again(void)
{
	struct erdma_cqe cqe;
	struct world w;
	int i;

	T_NEED(world_make(&w));
	for (i = 0; i < 3; i++) {
		guest_recv(&w.b.qp, 0, 0, 0);
		send_of_nothing(&w.a.qp);
		guest_ring_sq(&w.a.qp);
		T_TRUE(guest_wait(&w.a.cq, &cqe));
		T_EQ(be32toh(cqe.hdr) & 0xff, 0);
		T_TRUE(guest_wait(&w.b.cq, &cqe));
		T_EQ(guest_modify(&w.a.qp, ERDMA_QPS_RESET, STATE, 0, 0), 0);
		T_EQ(guest_modify(&w.b.qp, ERDMA_QPS_RESET, STATE, 0, 0), 0);
		w.a.qp.sq_pi = w.b.qp.rq_pi = 0;
		T_NEED(guest_bring_up(&w.a.qp, 3, 2) && guest_bring_up(&w.b.qp, 2, 1));
	}
	world_end(&w);
}

static void doorbells_too_far(void)
{
	struct erdma_cqe cqe;
	struct world w;
	uint64_t bad;

	T_NEED(world_make(&w));
	bad = guest_counter(&w.p.a, "bad_doorbells");
	w.a.qp.sq_pi = 65;
	guest_ring_sq(&w.a.qp);
	w.a.qp.sq_pi = 0xffff;
	guest_ring_sq(&w.a.qp);
	w.a.qp.sq_pi = 0;
	guest_write64(&w.p.a, ERDMA_DB_RQ_KERNEL, 2ull << 32 | 65);
	guest_write64(&w.p.a, ERDMA_DB_RQ_KERNEL, 77ull << 32 | 1);
	T_EQ(guest_counter(&w.p.a, "bad_doorbells"), bad + 4);
	/* It goes on as if nothing had been. */
	guest_recv(&w.b.qp, 0, 0, 0);
	send_of_nothing(&w.a.qp);
	guest_ring_sq(&w.a.qp);
	T_TRUE(guest_wait(&w.a.cq, &cqe));
	T_EQ(be32toh(cqe.hdr), 0x80020000);
	world_end(&w);
}

/* A ring much larger than what the engine holds, filled at once. */
static void large_ring(void)
{
	struct erdma_cmd_create_qp req;
	struct guest_pair p;
	struct guest_end b;
	struct guest_cq cq;
	struct guest_qp qp = {0};
	struct erdma_cqe cqe;
	uint32_t i;

	T_NEED(guest_pair(&p));
	T_NEED(guest_make_end(&p.b, &b, 3, false));
	T_EQ(guest_create_cq(&p.a, &cq, 2, 14), 0);
	req = guest_qp_request(&p.a, 2, 2);
	req.sq_size =
		htole32(nic_prep(ERDMA_CREATE_QP_SQ_LOG, 13) | nic_prep(ERDMA_CREATE_QP_QPN, 2));
	qp = (struct guest_qp){.g = &p.a, .qpn = 2, .sq_depth = 8192, .sq_db = ERDMA_DB_SQ_KERNEL};
	qp.sq = guest_alloc(&p.a, 8192 * 32, 4096);
	req.sq_addr = htole64(qp.sq);
	T_EQ(guest_command(&p.a, ERDMA_COMMAND_CREATE_QP, &req, sizeof(req)), 0);
	T_NEED(guest_bring_up(&qp, 3, 2) && guest_bring_up(&b.qp, 2, 1));
	for (i = 0; i < 4096; i++) {
		/* WRITEs of nothing, each two blocks. */
		uint64_t sqe[8] = {0};

		sqe[0] = htole64(nic_prep(ERDMA_SQE_OPCODE, ERDMA_OP_WRITE) |
				 nic_prep(ERDMA_SQE_SIGNALED, 1));
		guest_put(&qp, sqe, 2);
	}
	guest_ring_sq(&qp);
	/* The doorbell itself took but a part. */
	T_TRUE(guest_counter(&p.a, "send_wqes") < 200);
	for (i = 0; i < 4096; i++) {
		if (!T_TRUE(guest_wait(&cq, &cqe)))
			break;
		T_EQ(be32toh(cqe.hdr), 0x80000000);
		T_EQ(be32toh(cqe.wqe_index), 2 * i);
	}
	guest_pair_stop(&p);
}

static void rings_vanish(void)
{
	struct world w;

	T_NEED(world_make(&w));
	guest_recv(&w.b.qp, 0, 0, 0);
	send_of_nothing(&w.a.qp);
	sim_local_remove_memory(w.p.a.dev, GUEST_BASE, GUEST_MEMORY);
	guest_ring_sq(&w.a.qp);
	sim_local_add_memory(w.p.a.dev, GUEST_BASE, w.p.a.memory, GUEST_MEMORY, true);
	T_EQ(guest_qp_state(&w.a.qp), ERDMA_QPS_ERR);
	guest_ring_sq(&w.a.qp);
	guest_recv(&w.a.qp, 0, 0, 0);
	/* RESET mends it. */
	T_EQ(guest_modify(&w.a.qp, ERDMA_QPS_RESET, STATE, 0, 0), 0);
	T_EQ(guest_qp_state(&w.a.qp), ERDMA_QPS_RESET);
	world_end(&w);
}

static void retries_run_out(void)
{
	struct world w;
	uint8_t want[32];
	struct erdma_cqe cqe;
	int i;

	T_NEED(world_make(&w));
	w.p.a.lose = 1000000;
	send_of_nothing(&w.a.qp);
	guest_ring_sq(&w.a.qp);
	for (i = 0; i < 5 && !guest_wait(&w.a.cq, &cqe); i++)
		;
	t_hex("8002001000000000000000020000000000000000000000000000000000000000", want, 32);
	T_BYTES(&cqe, want, 32);
	T_EQ(guest_qp_state(&w.a.qp), ERDMA_QPS_ERR);
	world_end(&w);
}

T_MAIN("erdma_sim_qp", T_CASE(transitions), T_CASE(query_bytes), T_CASE(flush_on_error),
       T_CASE(early_doorbells), T_CASE(reset_and_again), T_CASE(doorbells_too_far),
       T_CASE(large_ring), T_CASE(rings_vanish), T_CASE(retries_run_out))
