/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Two NICs on a wire: each operation once, at each size that matters, whole and with packets
 * lost. What is looked at is the outcome only: bytes and completions.
 */
#include "tests/unit/sim/engine/roce_node.h"

#include "tests/lib/t.h"

#include <stdlib.h>
#include <string.h>

enum { REGION = 300000, KEY_A = 0x100, KEY_B = 0x200, MTU = 1024, ALL_RIGHTS = 0xf };

struct pair {
	struct node node[2];
	struct roce_qp *qp[2];
	struct node_region *mr[2];
	unsigned int lose; /* one frame in so many, 0 = none */
	uint32_t random;
};

static void pair_start(struct pair *p, enum roce_qp_type type)
{
	static const uint32_t psns[2] = {0xfffff0, 0x7fffff};
	struct roce_qp_attr attr;
	unsigned int i;

	memset(p, 0, sizeof(*p));
	for (i = 0; i < 2; i++) {
		node_defaults(&p->node[i], i + 1);
		node_start(&p->node[i]);
		p->qp[i] = node_qp(&p->node[i], 10 + i, type, NULL);
		p->mr[i] = node_mr(&p->node[i], i ? KEY_B : KEY_A, ALL_RIGHTS, REGION);
		node_attr(&attr, 2 - i, NODE_GID_IP4, 11 - i);
		attr.sq_psn = psns[i];
		attr.rq_psn = psns[!i];
		node_connect(&p->node[i], p->qp[i], &attr, type, ROCE_QPS_RTS);
	}
}

static void pair_stop(struct pair *p)
{
	node_stop(&p->node[0]);
	node_stop(&p->node[1]);
}

/* Not every so manieth: a retry would meet the same fate as often as its round is that long. */
static bool lost(struct pair *p)
{
	p->random = p->random * 1664525 + 1013904223;
	return p->lose && (p->random >> 16) % p->lose == 0;
}

/* Carries frames until both are silent; lost ones are what timers are for. */
static void pair_run(struct pair *p)
{
	unsigned int idle = 0, i;

	while (idle < 60) {
		bool moved = false;

		for (i = 0; i < 2; i++) {
			struct node_frame *frame;

			node_run(&p->node[i]);
			while ((frame = node_take_frame(&p->node[i]))) {
				moved = true;
				if (!lost(p))
					node_input(&p->node[!i], frame->bytes, frame->length);
				free(frame);
			}
		}
		idle = moved ? 0 : idle + 1;
		if (!moved)
			for (i = 0; i < 2; i++)
				node_advance(&p->node[i], 10 * 1000 * 1000);
	}
}

struct row {
	const char *name;
	enum roce_wr_opcode opcode;
	uint32_t length;
	bool receive; /* it takes a receive WR */
	enum roce_wc_opcode wc;
};

static const struct row rows[] = {
	{"send 1", ROCE_WR_SEND, 1, true, ROCE_WC_RECV},
	{"send 0", ROCE_WR_SEND, 0, true, ROCE_WC_RECV},
	{"send mtu", ROCE_WR_SEND, MTU, true, ROCE_WC_RECV},
	{"send mtu+1", ROCE_WR_SEND, MTU + 1, true, ROCE_WC_RECV},
	{"send long", ROCE_WR_SEND, 100001, true, ROCE_WC_RECV},
	{"send imm", ROCE_WR_SEND_IMM, 5000, true, ROCE_WC_RECV_IMM},
	{"write 0", ROCE_WR_WRITE, 0, false, 0},
	{"write 8", ROCE_WR_WRITE, 8, false, 0},
	{"write long", ROCE_WR_WRITE, 140000, false, 0},
	{"write imm", ROCE_WR_WRITE_IMM, 3000, true, ROCE_WC_RECV_WRITE_IMM},
	{"write imm 0", ROCE_WR_WRITE_IMM, 0, true, ROCE_WC_RECV_WRITE_IMM},
	{"read 0", ROCE_WR_READ, 0, false, 0},
	{"read 8", ROCE_WR_READ, 8, false, 0},
	{"read long", ROCE_WR_READ, 140000, false, 0},
};

enum { OFFSET_A = 64, OFFSET_B = 150000 };

static void post(struct pair *p, const struct row *row)
{
	struct roce_sge sge[2] = {
		{p->mr[0]->iova + OFFSET_A, row->length / 3, KEY_A},
		{p->mr[0]->iova + OFFSET_A + row->length / 3, row->length - row->length / 3, KEY_A},
	};
	struct roce_sge rsge = {p->mr[1]->iova + OFFSET_B, row->length, KEY_B};
	struct roce_recv_wr recv = {.wr_id = 7, .sge = &rsge, .num_sge = 1};
	struct roce_send_wr wr = {
		.wr_id = 3,
		.opcode = row->opcode,
		.flags = ROCE_WR_SIGNALED,
		.imm = 0x12345678,
		.remote_addr = p->mr[1]->iova + OFFSET_B,
		.rkey = KEY_B,
		.sge = sge,
		.num_sge = 2,
	};

	if (row->receive)
		T_EQ_ROW(row->name, roce_post_recv(p->qp[1], p->node[1].now, &recv), 0);
	T_EQ_ROW(row->name, roce_post_send(p->qp[0], p->node[0].now, &wr), 0);
}

static void check(struct pair *p, const struct row *row)
{
	bool read = row->opcode == ROCE_WR_READ;
	const struct node_wc *wc = node_take_wc(&p->node[0]);

	if (!T_TRUE_ROW(row->name, wc != NULL))
		return;
	T_EQ_ROW(row->name, wc->wc.status, ROCE_WC_SUCCESS);
	T_EQ_ROW(row->name, wc->wc.wr_id, 3);
	T_TRUE_ROW(row->name, !node_take_wc(&p->node[0]));
	if (row->length)
		T_BYTES_ROW(row->name, p->mr[read ? 0 : 1]->bytes + (read ? OFFSET_A : OFFSET_B),
			    p->mr[read ? 1 : 0]->bytes + (read ? OFFSET_B : OFFSET_A), row->length);
	wc = node_take_wc(&p->node[1]);
	T_EQ_ROW(row->name, wc != NULL, row->receive);
	if (!wc)
		return;
	T_EQ_ROW(row->name, wc->wc.status, ROCE_WC_SUCCESS);
	T_EQ_ROW(row->name, wc->wc.opcode, row->wc);
	T_EQ_ROW(row->name, wc->wc.byte_len, row->length);
	if (row->wc != ROCE_WC_RECV)
		T_EQ_ROW(row->name, wc->wc.imm, 0x12345678);
}

static void each_operation(enum roce_qp_type type, unsigned int lose)
{
	struct pair p;
	size_t i;

	pair_start(&p, type);
	p.lose = lose;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (type == ROCE_QPT_UC && rows[i].opcode == ROCE_WR_READ)
			continue;
		memset(p.mr[rows[i].opcode == ROCE_WR_READ ? 0 : 1]->bytes, 0xee, REGION / 2);
		post(&p, &rows[i]);
		pair_run(&p);
		check(&p, &rows[i]);
	}
	T_EQ(roce_qp_state(p.qp[0]), ROCE_QPS_RTS);
	T_EQ(roce_qp_state(p.qp[1]), ROCE_QPS_RTS);
	pair_stop(&p);
}

static void rc_each_operation(void)
{
	each_operation(ROCE_QPT_RC, 0);
}

static void rc_each_operation_with_loss(void)
{
	each_operation(ROCE_QPT_RC, 7);
	each_operation(ROCE_QPT_RC, 29);
}

static void uc_each_operation(void)
{
	each_operation(ROCE_QPT_UC, 0);
}

static void atomic(struct pair *p, enum roce_wr_opcode opcode, uint64_t compare_add, uint64_t swap)
{
	struct roce_sge sge = {p->mr[0]->iova, 8, KEY_A};
	struct roce_send_wr wr = {
		.opcode = opcode,
		.flags = ROCE_WR_SIGNALED,
		.remote_addr = p->mr[1]->iova,
		.rkey = KEY_B,
		.compare_add = compare_add,
		.swap = swap,
		.sge = &sge,
		.num_sge = 1,
	};

	T_EQ(roce_post_send(p->qp[0], p->node[0].now, &wr), 0);
	pair_run(p);
	T_NEED(p->node[0].wc_count > 0);
	T_EQ(p->node[0].wc[p->node[0].wc_count - 1].wc.status, ROCE_WC_SUCCESS);
}

static void rc_atomics(void)
{
	uint64_t *target, *result;
	struct pair p;

	pair_start(&p, ROCE_QPT_RC);
	target = (uint64_t *)p.mr[1]->bytes;
	result = (uint64_t *)p.mr[0]->bytes;
	p.lose = 3;
	*target = 100;
	atomic(&p, ROCE_WR_FETCH_ADD, 5, 0);
	T_EQ(*target, 105);
	T_EQ(*result, 100);
	atomic(&p, ROCE_WR_CMP_SWAP, 105, 9);
	T_EQ(*target, 9);
	T_EQ(*result, 105);
	atomic(&p, ROCE_WR_CMP_SWAP, 105, 1);
	T_EQ(*target, 9);
	T_EQ(*result, 9);
	pair_stop(&p);
}

/* Many at once, of all kinds, so that windows, limits and coalescing come into play. */
static void rc_mixed_queue(void)
{
	static const unsigned int losses[] = {0, 9, 17, 101};
	struct pair p;
	size_t i, j;

	for (j = 0; j < sizeof(losses) / sizeof(losses[0]); j++) {
		pair_start(&p, ROCE_QPT_RC);
		p.lose = losses[j];
		for (i = 0; i < 100; i++)
			post(&p, &rows[i % (sizeof(rows) / sizeof(rows[0]))]);
		pair_run(&p);
		T_EQ(p.node[0].wc_count, 100);
		for (i = 0; i < p.node[0].wc_count; i++)
			T_EQ(p.node[0].wc[i].wc.status, ROCE_WC_SUCCESS);
		for (i = 0; i < p.node[1].wc_count; i++)
			T_EQ(p.node[1].wc[i].wc.status, ROCE_WC_SUCCESS);
		pair_stop(&p);
	}
}

static void ud_datagram(void)
{
	struct roce_qp_attr attr;
	struct pair p;
	struct roce_sge sge, rsge;
	struct roce_recv_wr recv = {.sge = &rsge, .num_sge = 1};
	struct roce_send_wr wr = {
		.opcode = ROCE_WR_SEND, .flags = ROCE_WR_SIGNALED, .sge = &sge, .num_sge = 1};

	pair_start(&p, ROCE_QPT_UD);
	sge = (struct roce_sge){p.mr[0]->iova, 5, KEY_A};
	rsge = (struct roce_sge){p.mr[1]->iova + 1000, 100, KEY_B};
	node_attr(&attr, 2, NODE_GID_IP4, 11);
	wr.ud.av = attr.av;
	wr.ud.dest_qpn = 11;
	wr.ud.qkey = attr.qkey;
	T_EQ(roce_post_recv(p.qp[1], p.node[1].now, &recv), 0);
	T_EQ(roce_post_send(p.qp[0], p.node[0].now, &wr), 0);
	pair_run(&p);
	T_NEED(p.node[0].wc_count == 1 && p.node[1].wc_count == 1);
	T_EQ(p.node[1].wc[0].wc.byte_len, 45);
	T_EQ(p.node[1].wc[0].wc.src_qp, 10);
	T_BYTES(p.mr[1]->bytes + 1040, p.mr[0]->bytes, 5);
	pair_stop(&p);
}

T_MAIN("roce_smoke", T_CASE(rc_each_operation), T_CASE(rc_each_operation_with_loss),
       T_CASE(rc_atomics), T_CASE(rc_mixed_queue), T_CASE(uc_each_operation), T_CASE(ud_datagram))
