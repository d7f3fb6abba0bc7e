/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * QP state transitions: every pair of states for every type, what each needs and refuses. The
 * expectation is written as a picture, one letter a cell, not in the form of the code's rows.
 */
#include "tests/unit/sim/engine/roce_node.h"

#include "tests/lib/t.h"

#include <errno.h>
#include <stdio.h>

enum { STATES = ROCE_QPS_ERR + 1, TYPES = ROCE_QPT_GSI + 1 };

static const char *const names[STATES] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};

/*
 * From a row's state to RESET INIT RTR RTS SQD SQE ERR: '.' never, 'x' all types, 'u' all but RC
 * (IBTA 10.3.1, figure 124; libibverbs' ibv_modify_qp(3)).
 */
static const char *const picture[STATES] = {
	[ROCE_QPS_RESET] = "xx....x", [ROCE_QPS_INIT] = "xxx...x", [ROCE_QPS_RTR] = "x..x..x",
	[ROCE_QPS_RTS] = "x..xx.x",   [ROCE_QPS_SQD] = "x..xx.x",  [ROCE_QPS_SQE] = "x..u..x",
	[ROCE_QPS_ERR] = "x.....x",
};

/* What a transition must carry (ibv_modify_qp(3)). */
static uint32_t required(enum roce_qp_type type, enum roce_qp_state from, enum roce_qp_state to)
{
	bool rc = type == ROCE_QPT_RC, connected = rc || type == ROCE_QPT_UC;
	uint32_t mask = 0;

	if (from == ROCE_QPS_RESET && to == ROCE_QPS_INIT)
		mask = ROCE_QP_PKEY_INDEX | (connected ? ROCE_QP_ACCESS : ROCE_QP_QKEY);
	if (from == ROCE_QPS_INIT && to == ROCE_QPS_RTR && connected)
		mask = ROCE_QP_AV | ROCE_QP_PATH_MTU | ROCE_QP_DEST_QPN | ROCE_QP_RQ_PSN |
		       (rc ? ROCE_QP_MAX_DEST_RD_ATOMIC | ROCE_QP_MIN_RNR_TIMER : 0);
	if (from == ROCE_QPS_RTR && to == ROCE_QPS_RTS)
		mask = ROCE_QP_SQ_PSN | (rc ? ROCE_QP_TIMEOUT | ROCE_QP_RETRY_CNT |
							 ROCE_QP_RNR_RETRY | ROCE_QP_MAX_RD_ATOMIC
					    : 0);
	return mask;
}

struct fixture {
	struct node node;
	struct roce_qp_attr attr;
	struct roce_qp *qp;
};

/* A failed send puts a QP that has SQE into it. */
static void into_sqe(struct fixture *f)
{
	struct roce_sge sge = {0, 1, 0xbad00};
	struct roce_send_wr wr = {.opcode = ROCE_WR_SEND, .sge = &sge, .num_sge = 1};

	wr.ud.av = f->attr.av;
	T_EQ(roce_post_send(f->qp, f->node.now, &wr), 0);
	node_run(&f->node);
	T_EQ(roce_qp_state(f->qp), ROCE_QPS_SQE);
}

static void start(struct fixture *f, enum roce_qp_type type, enum roce_qp_state state)
{
	node_defaults(&f->node, 1);
	node_start(&f->node);
	f->qp = node_qp(&f->node, 17, type, NULL);
	node_attr(&f->attr, 2, NODE_GID_IP4, 18);
	if (state == ROCE_QPS_RESET)
		return;
	if (state == ROCE_QPS_INIT || state == ROCE_QPS_RTR) {
		node_connect(&f->node, f->qp, &f->attr, type, state);
		return;
	}
	node_connect(&f->node, f->qp, &f->attr, type, ROCE_QPS_RTS);
	if (state == ROCE_QPS_SQE)
		into_sqe(f);
	else if (state != ROCE_QPS_RTS)
		T_EQ(node_modify(&f->node, f->qp, state), 0);
}

static int modify(struct fixture *f, enum roce_qp_state to, uint32_t mask)
{
	f->attr.state = to;
	return roce_qp_modify(f->qp, f->node.now, &f->attr, mask | ROCE_QP_STATE);
}

static bool allowed(enum roce_qp_type type, enum roce_qp_state from, enum roce_qp_state to)
{
	char cell = picture[from][to];

	return cell == 'x' || (cell == 'u' && type != ROCE_QPT_RC);
}

static void one_pair(enum roce_qp_type type, enum roce_qp_state from, enum roce_qp_state to)
{
	uint32_t mask = required(type, from, to), bit;
	struct fixture f;
	char row[64];

	snprintf(row, sizeof(row), "type %d, %s to %s", type, names[from], names[to]);
	start(&f, type, from);
	for (bit = 1; bit <= ROCE_QP_RATE_LIMIT; bit <<= 1)
		if (mask & bit) {
			T_EQ_ROW(row, modify(&f, to, mask & ~bit), -EINVAL);
			T_EQ_ROW(row, roce_qp_state(f.qp), from);
		}
	if (mask)
		T_EQ_ROW(row, modify(&f, to, mask | ROCE_QP_EN_SQD_ASYNC_NOTIFY), -EINVAL);
	T_EQ_ROW(row, modify(&f, to, mask), allowed(type, from, to) ? 0 : -EINVAL);
	T_EQ_ROW(row, roce_qp_state(f.qp), allowed(type, from, to) ? to : from);
	node_stop(&f.node);
}

static void every_pair_of_states(void)
{
	unsigned int type, from, to;

	for (type = 0; type < TYPES; type++)
		for (from = 0; from < STATES; from++)
			for (to = 0; to < STATES; to++)
				if (from != ROCE_QPS_SQE || type != ROCE_QPT_RC)
					one_pair(type, from, to);
}

static const struct bad {
	const char *name;
	enum roce_qp_state from, to;
	uint32_t mask; /* beside what is required */
	struct roce_qp_attr attr;
} bad_rows[] = {
	{"P_Key index 1", ROCE_QPS_RESET, ROCE_QPS_INIT, ROCE_QP_PKEY_INDEX, {.pkey_index = 1}},
	{"MTU 1000", ROCE_QPS_INIT, ROCE_QPS_RTR, ROCE_QP_PATH_MTU, {.path_mtu = 1000}},
	{"MTU 128", ROCE_QPS_INIT, ROCE_QPS_RTR, ROCE_QP_PATH_MTU, {.path_mtu = 128}},
	{"MTU 0", ROCE_QPS_INIT, ROCE_QPS_RTR, ROCE_QP_PATH_MTU, {.path_mtu = 0}},
	{"MTU 8192", ROCE_QPS_INIT, ROCE_QPS_RTR, ROCE_QP_PATH_MTU, {.path_mtu = 8192}},
	{"QPN of 25 bits", ROCE_QPS_INIT, ROCE_QPS_RTR, ROCE_QP_DEST_QPN, {.dest_qpn = 1 << 24}},
	{"PSN of 25 bits", ROCE_QPS_INIT, ROCE_QPS_RTR, ROCE_QP_RQ_PSN, {.rq_psn = 1 << 24}},
	{"RNR timer 32", ROCE_QPS_INIT, ROCE_QPS_RTR, ROCE_QP_MIN_RNR_TIMER, {.min_rnr_timer = 32}},
	{"GID not set", ROCE_QPS_INIT, ROCE_QPS_RTR, ROCE_QP_AV, {.av.sgid_index = NODE_GIDS}},
	{"GID outside", ROCE_QPS_INIT, ROCE_QPS_RTR, ROCE_QP_AV, {.av.sgid_index = 255}},
	{"timeout 32", ROCE_QPS_RTR, ROCE_QPS_RTS, ROCE_QP_TIMEOUT, {.timeout = 32}},
	{"retries 8", ROCE_QPS_RTR, ROCE_QPS_RTS, ROCE_QP_RETRY_CNT, {.retry_cnt = 8}},
	{"RNR retries 8", ROCE_QPS_RTR, ROCE_QPS_RTS, ROCE_QP_RNR_RETRY, {.rnr_retry = 8}},
	{"SQ PSN of 25 bits", ROCE_QPS_RTR, ROCE_QPS_RTS, ROCE_QP_SQ_PSN, {.sq_psn = 1 << 24}},
	{"no such state", ROCE_QPS_RTS, ROCE_QPS_ERR + 1, 0, {0}},
};

/* The row's one bad value, all others good. */
static void spoil(struct roce_qp_attr *attr, const struct bad *row)
{
#define SPOIL(bit, field)              \
	if (row->mask & ROCE_QP_##bit) \
	attr->field = row->attr.field
	SPOIL(PKEY_INDEX, pkey_index);
	SPOIL(PATH_MTU, path_mtu);
	SPOIL(DEST_QPN, dest_qpn);
	SPOIL(RQ_PSN, rq_psn);
	SPOIL(SQ_PSN, sq_psn);
	SPOIL(MIN_RNR_TIMER, min_rnr_timer);
	SPOIL(AV, av.sgid_index);
	SPOIL(TIMEOUT, timeout);
	SPOIL(RETRY_CNT, retry_cnt);
	SPOIL(RNR_RETRY, rnr_retry);
#undef SPOIL
}

static void bad_values_change_nothing(void)
{
	struct roce_qp_attr before, after;
	struct fixture f;
	size_t i;

	for (i = 0; i < sizeof(bad_rows) / sizeof(bad_rows[0]); i++) {
		const struct bad *row = &bad_rows[i];

		start(&f, ROCE_QPT_RC, row->from);
		roce_qp_query(f.qp, &before);
		spoil(&f.attr, row);
		T_EQ_ROW(row->name, modify(&f, row->to, required(ROCE_QPT_RC, row->from, row->to)),
			 -EINVAL);
		roce_qp_query(f.qp, &after);
		T_BYTES_ROW(row->name, &after, &before, sizeof(after));
		node_stop(&f.node);
	}
}

/* A port of 1024 bytes takes no connection of 2048 (field case C1). */
static void path_mtu_is_at_most_the_ports(void)
{
	static const struct {
		const char *name;
		uint32_t port, path;
		int result;
	} rows[] = {
		{"equal", 1024, 1024, 0},
		{"smaller", 4096, 256, 0},
		{"larger", 1024, 2048, -EINVAL},
		{"largest", 2048, 4096, -EINVAL},
	};
	uint32_t mask = required(ROCE_QPT_RC, ROCE_QPS_INIT, ROCE_QPS_RTR);
	struct fixture f;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		start(&f, ROCE_QPT_RC, ROCE_QPS_INIT);
		roce_nic_set_mtu(f.node.nic, rows[i].port);
		f.attr.path_mtu = rows[i].path;
		T_EQ_ROW(rows[i].name, modify(&f, ROCE_QPS_RTR, mask), rows[i].result);
		node_stop(&f.node);
	}
}

/* Without ROCE_QP_STATE the attributes alone are changed, as far as the state allows. */
static void attributes_without_a_state(void)
{
	struct roce_qp_attr attr = {.access = ROCE_ACCESS_REMOTE_READ, .min_rnr_timer = 5}, got;
	struct fixture f;

	start(&f, ROCE_QPT_RC, ROCE_QPS_RTS);
	T_EQ(roce_qp_modify(f.qp, 0, &attr, ROCE_QP_ACCESS | ROCE_QP_MIN_RNR_TIMER), 0);
	roce_qp_query(f.qp, &got);
	T_EQ(got.access, ROCE_ACCESS_REMOTE_READ);
	T_EQ(got.min_rnr_timer, 5);
	T_EQ(got.state, ROCE_QPS_RTS);
	T_EQ(roce_qp_modify(f.qp, 0, &attr, ROCE_QP_AV), -EINVAL);
	node_stop(&f.node);
}

T_MAIN("roce_qp_modify", T_CASE(every_pair_of_states), T_CASE(bad_values_change_nothing),
       T_CASE(path_mtu_is_at_most_the_ports), T_CASE(attributes_without_a_state))
