/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Case: a receiver that is not ready, from end to end. Others retried too early and gave up, or
 * waited so long (timer 0 is the longest) that no work got done and no error was seen.
 */
#include "tests/lib/t.h"
#include "tests/unit/sim/engine/roce_pair.h"

#include <stdio.h>

enum { MS = 1000000, KEY = 0x501, READY_AT = 700 };

static struct roce_qp *connect_end(struct pair *p, unsigned int i, uint32_t timer, uint32_t retry)
{
	struct roce_qp *qp = node_qp(&p->node[i], 5 + i, ROCE_QPT_RC, NULL);
	struct roce_qp_attr attr;

	node_attr(&attr, 2 - i, NODE_GID_IP4, 6 - i);
	attr.timeout = 14;
	attr.retry_cnt = 3;
	attr.min_rnr_timer = (uint8_t)timer;
	attr.rnr_retry = (uint8_t)retry;
	node_connect(&p->node[i], qp, &attr, ROCE_QPT_RC, ROCE_QPS_RTS);
	return qp;
}

/* One SEND; the receive is posted 700 ms later. */
static void send_early(struct pair *p, struct node_region *mr[2], struct roce_qp *qp[2])
{
	struct roce_sge sge = {mr[0]->iova, 100, KEY};
	struct roce_send_wr wr = {.wr_id = 1,
				  .opcode = ROCE_WR_SEND,
				  .flags = ROCE_WR_SIGNALED,
				  .sge = &sge,
				  .num_sge = 1};
	struct roce_recv_wr receive = {.wr_id = 2, .sge = &sge, .num_sge = 1};

	T_EQ(roce_post_send(qp[0], p->now, &wr), 0);
	pair_run(p, READY_AT * MS);
	p->now = p->node[0].now = p->node[1].now = 1000000 + READY_AT * MS;
	sge.addr = mr[1]->iova + 64;
	T_EQ(roce_post_recv(qp[1], p->now, &receive), 0);
	pair_run(p, 3000ull * MS);
}

static void receiver_becomes_ready(void)
{
	static const struct {
		uint32_t timer, retry;
		enum roce_wc_status want;
		uint32_t naks;	/* at least */
		uint32_t at[2]; /* ms in which the send completes */
	} rows[] = {
		{0, 7, ROCE_WC_SUCCESS, 2, {1310, 2630}},
		{1, 7, ROCE_WC_SUCCESS, 10000, {700, 701}},
		{12, 7, ROCE_WC_SUCCESS, 500, {700, 702}},
		{31, 7, ROCE_WC_SUCCESS, 2, {982, 1970}},
		{0, 0, ROCE_WC_RNR_RETRY_EXC_ERR, 1, {0, 1}},
		{31, 0, ROCE_WC_RNR_RETRY_EXC_ERR, 1, {0, 1}},
		{12, 1, ROCE_WC_RNR_RETRY_EXC_ERR, 2, {0, 2}},
		{31, 1, ROCE_WC_RNR_RETRY_EXC_ERR, 2, {491, 983}},
		{31, 2, ROCE_WC_SUCCESS, 2, {982, 1970}},
	};
	struct node_region *mr[2];
	struct roce_qp *qp[2];
	const struct node_wc *wc;
	struct pair p;
	uint64_t took;
	size_t i, n;
	char row[32];

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		pair_init(&p, 1);
		pair_start(&p);
		for (n = 0; n < 2; n++) {
			mr[n] = node_mr(&p.node[n], KEY, ROCE_ACCESS_LOCAL_WRITE, 4096);
			qp[n] = connect_end(&p, (unsigned int)n, rows[i].timer, rows[i].retry);
		}
		send_early(&p, mr, qp);
		snprintf(row, sizeof(row), "timer %u, retry %u", rows[i].timer, rows[i].retry);
		wc = node_take_wc(&p.node[0]);
		if (T_TRUE_ROW(row, wc != NULL)) {
			T_EQ_ROW(row, wc->wc.status, rows[i].want);
			took = (wc->at - 1000000) / MS;
			T_TRUE_ROW(row, took >= rows[i].at[0] && took <= rows[i].at[1]);
		}
		T_TRUE_ROW(row, roce_nic_counters(p.node[0].nic)->rnr_nak_rx >= rows[i].naks);
		T_EQ_ROW(row, roce_nic_counters(p.node[0].nic)->local_ack_timeout_err, 0);
		T_EQ_ROW(row, p.node[1].wc_count, rows[i].want == ROCE_WC_SUCCESS);
		if (rows[i].want == ROCE_WC_SUCCESS)
			T_BYTES_ROW(row, mr[1]->bytes + 64, mr[0]->bytes, 100);
		pair_stop(&p);
	}
}

T_MAIN("roce_rnr", T_CASE(receiver_becomes_ready), )
