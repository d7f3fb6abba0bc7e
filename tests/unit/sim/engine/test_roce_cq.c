/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Completion queues: who is told of which completion, and overrun. */
#include "sim/engine/roce_engine.h"
#include "tests/unit/sim/engine/roce_node.h"

#include "tests/lib/t.h"

#include <errno.h>

enum arm { NOT, ALL, SOLICITED, SOLICITED_THEN_ALL, ALL_THEN_SOLICITED, ALL_THEN_NOT };

/* IBTA 11.4.2.2. */
static const struct {
	const char *name;
	enum arm arm;
	struct roce_wc wc;
	bool fires;
} rows[] = {
	{"not armed", NOT, {.signaled = true}, false},
	{"any, send", ALL, {.signaled = true}, true},
	{"any, receive", ALL, {.opcode = ROCE_WC_RECV}, true},
	{"any, bookkeeping", ALL, {.signaled = false}, false},
	{"solicited, plain receive", SOLICITED, {.opcode = ROCE_WC_RECV}, false},
	{"solicited, send", SOLICITED, {.signaled = true}, false},
	{"solicited, solicited", SOLICITED, {.opcode = ROCE_WC_RECV, .solicited = true}, true},
	{"solicited, failed send",
	 SOLICITED,
	 {.status = ROCE_WC_RETRY_EXC_ERR, .signaled = true},
	 true},
	{"more wins, first", ALL_THEN_SOLICITED, {.signaled = true}, true},
	{"more wins, last", SOLICITED_THEN_ALL, {.signaled = true}, true},
	{"disarmed", ALL_THEN_NOT, {.signaled = true}, false},
};

static void arm(struct roce_cq *cq, enum arm how)
{
	if (how == SOLICITED || how == SOLICITED_THEN_ALL)
		roce_cq_arm(cq, true);
	if (how == ALL || how == SOLICITED_THEN_ALL || how == ALL_THEN_SOLICITED ||
	    how == ALL_THEN_NOT)
		roce_cq_arm(cq, false);
	if (how == ALL_THEN_SOLICITED)
		roce_cq_arm(cq, true);
	if (how == ALL_THEN_NOT)
		roce_cq_disarm(cq);
}

static void fires_once_when_armed(void)
{
	struct roce_cq *cq;
	struct node n;
	size_t i;

	node_defaults(&n, 1);
	node_start(&n);
	T_EQ(roce_cq_create(n.nic, 5, &n, &cq), 0);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		roce_cq_disarm(cq);
		n.cq_fired_count = 0;
		arm(cq, rows[i].arm);
		T_EQ_ROW(rows[i].name, roce_cq_complete(cq, &rows[i].wc), 0);
		T_EQ_ROW(rows[i].name, n.cq_fired_count, rows[i].fires);
		if (rows[i].fires) {
			T_EQ_ROW(rows[i].name, roce_cq_complete(cq, &rows[i].wc), 0);
			T_EQ_ROW(rows[i].name, n.cq_fired_count, 1);
		}
	}
	node_stop(&n);
}

static void overrun_is_final(void)
{
	struct roce_wc wc = {.signaled = true};
	struct roce_cq *cq;
	struct node n;

	node_defaults(&n, 1);
	node_start(&n);
	T_EQ(roce_cq_create(n.nic, 5, &n, &cq), 0);
	n.complete_result = -ENOSPC;
	T_EQ(roce_cq_complete(cq, &wc), -ENOSPC);
	n.complete_result = 0;
	T_EQ(roce_cq_complete(cq, &wc), -ENOSPC);
	T_EQ(node_count_events(&n, ROCE_EVENT_CQ_ERR), 1);
	T_EQ(n.wc_count, 0);
	node_stop(&n);
}

static void is_kept_while_used(void)
{
	struct roce_qp *qp;
	struct node n;

	node_defaults(&n, 1);
	node_start(&n);
	qp = node_qp(&n, 3, ROCE_QPT_RC, NULL);
	T_EQ(roce_cq_destroy(roce_cq_find(n.nic, 6)), -EBUSY);
	T_EQ(roce_cq_destroy(roce_cq_find(n.nic, 7)), -EBUSY);
	roce_qp_destroy(qp);
	T_EQ(roce_cq_number(roce_cq_find(n.nic, 6)), 6);
	T_EQ(roce_cq_destroy(roce_cq_find(n.nic, 6)), 0);
	T_TRUE(!roce_cq_find(n.nic, 6));
	node_stop(&n);
}

T_MAIN("roce_cq", T_CASE(fires_once_when_armed), T_CASE(overrun_is_final),
       T_CASE(is_kept_while_used))
