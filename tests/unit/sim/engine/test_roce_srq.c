/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Shared receive queues: who gets which receive, the limit event, and the end of a QP on one. */
#include "tests/lib/t.h"
#include "tests/unit/sim/engine/roce_raw.h"

#include <errno.h>
#include <string.h>

enum { SRQN = 3, DEPTH = 8, MTU = 1024 };

static void start(struct raw *r)
{
	raw_defaults(r, ROCE_QPT_RC);
	raw_open(r);
	T_EQ(roce_srq_create(r->dut.nic, SRQN, NODE_PD, DEPTH, r, &r->srq), 0);
	raw_connect(r);
}

static void receives_are_taken_in_order(void)
{
	struct roce_recv_wr wr = {.num_sge = 0};
	struct raw r;
	uint32_t i;

	start(&r);
	T_TRUE(roce_srq_find(r.dut.nic, SRQN) == r.srq);
	T_TRUE(roce_srq_context(r.srq) == &r);
	raw_request(&r, ROCE_OP_RC_SEND_ONLY, RAW_RQ_PSN, NULL, 8);
	raw_expect_ack(&r, "empty", RAW_RQ_PSN, RAW_RNR | 12);
	for (i = 0; i < DEPTH; i++)
		raw_post_recv(&r, i, 0, 64);
	T_EQ(roce_srq_post(r.srq, r.dut.now, &wr), -ENOMEM);
	for (i = 0; i < DEPTH; i++) {
		raw_request(&r, ROCE_OP_RC_SEND_ONLY, RAW_RQ_PSN + i, NULL, 8);
		raw_expect_ack(&r, "SEND", RAW_RQ_PSN + i, RAW_ACK);
		raw_expect_wc(&r, "SEND", i, ROCE_WC_SUCCESS);
	}
	T_EQ(roce_post_recv(r.qp, r.dut.now, &wr), -EINVAL);
	T_EQ(roce_srq_destroy(r.srq), -EBUSY);
	roce_qp_destroy(r.qp);
	T_EQ(roce_srq_destroy(r.srq), 0);
	raw_stop(&r);
}

/* Two QPs in the middle of messages: each keeps its own receive. */
static void messages_of_two_qps_do_not_mix(void)
{
	uint8_t mine[2 * MTU], others[2 * MTU];
	struct roce_qp_attr attr;
	struct roce_qp *other;
	const struct node_wc *wc;
	struct roce_pkt pkt;
	struct raw r;

	start(&r);
	other = node_qp(&r.dut, RAW_QPN + 1, ROCE_QPT_RC, r.srq);
	node_attr(&attr, RAW_PEER, NODE_GID_IP4, 0x99);
	attr.rq_psn = RAW_RQ_PSN;
	node_connect(&r.dut, other, &attr, ROCE_QPT_RC, ROCE_QPS_RTS);
	memset(mine, 0x11, sizeof(mine));
	memset(others, 0x22, sizeof(others));
	raw_post_recv(&r, 1, 0, 4096);
	raw_post_recv(&r, 2, 4096, 4096);
	raw_request(&r, ROCE_OP_RC_SEND_FIRST, RAW_RQ_PSN, mine, MTU);
	raw_pkt(&r, &pkt, ROCE_OP_RC_SEND_FIRST, RAW_RQ_PSN);
	pkt.dqpn = RAW_QPN + 1;
	raw_send(&r, &pkt, others, MTU);
	raw_pkt(&r, &pkt, ROCE_OP_RC_SEND_LAST, RAW_RQ_PSN + 1);
	pkt.dqpn = RAW_QPN + 1;
	pkt.ack_req = false;
	raw_send(&r, &pkt, others, MTU);
	wc = node_take_wc(&r.dut);
	T_TRUE(wc && wc->wc.wr_id == 2 && wc->wc.qp == other);
	raw_request(&r, ROCE_OP_RC_SEND_LAST, RAW_RQ_PSN + 1, mine, MTU);
	raw_expect_wc(&r, "mine", 1, ROCE_WC_SUCCESS);
	T_BYTES(r.mr->bytes, mine, 2 * MTU);
	T_BYTES(r.mr->bytes + 4096, others, 2 * MTU);
	raw_stop(&r);
}

/* Once, when fewer than the limit are left; then it must be set again (IBTA 10.2.9.1). */
static void limit_is_told_once(void)
{
	struct raw r;
	uint32_t i;

	start(&r);
	for (i = 0; i < 6; i++)
		raw_post_recv(&r, i, 0, 64);
	T_EQ(roce_srq_set_limit(r.srq, 4), 0);
	T_EQ(roce_srq_set_limit(r.srq, DEPTH + 1), -EINVAL);
	for (i = 0; i < 2; i++)
		raw_request(&r, ROCE_OP_RC_SEND_ONLY, RAW_RQ_PSN + i, NULL, 8);
	T_EQ(r.dut.event_count, 0);
	raw_request(&r, ROCE_OP_RC_SEND_ONLY, RAW_RQ_PSN + 2, NULL, 8);
	T_EQ(node_count_events(&r.dut, ROCE_EVENT_SRQ_LIMIT), 1);
	T_TRUE(r.dut.events[0].srq == r.srq);
	raw_request(&r, ROCE_OP_RC_SEND_ONLY, RAW_RQ_PSN + 3, NULL, 8);
	T_EQ(r.dut.event_count, 1);
	T_EQ(roce_srq_set_limit(r.srq, 2), 0);
	raw_request(&r, ROCE_OP_RC_SEND_ONLY, RAW_RQ_PSN + 4, NULL, 8);
	T_EQ(r.dut.event_count, 2);
	T_EQ(roce_srq_set_limit(r.srq, 0), 0);
	raw_request(&r, ROCE_OP_RC_SEND_ONLY, RAW_RQ_PSN + 5, NULL, 8);
	T_EQ(r.dut.event_count, 2);
	raw_stop(&r);
}

/* The QP's own receive comes back; those still in the SRQ are for the others (IBTA 10.2.9.4). */
static void end_of_a_qp(void)
{
	struct raw r;

	start(&r);
	raw_post_recv(&r, 1, 0, 4096);
	raw_post_recv(&r, 2, 0, 4096);
	raw_request(&r, ROCE_OP_RC_SEND_FIRST, RAW_RQ_PSN, NULL, MTU);
	T_EQ(node_modify(&r.dut, r.qp, ROCE_QPS_ERR), 0);
	raw_expect_wc(&r, "begun", 1, ROCE_WC_WR_FLUSH_ERR);
	raw_expect_no_wc(&r, "not begun");
	T_EQ(node_count_events(&r.dut, ROCE_EVENT_QP_LAST_WQE), 1);
	T_EQ(r.dut.event_count, 1);
	T_EQ(node_modify(&r.dut, r.qp, ROCE_QPS_RESET), 0);
	node_connect(&r.dut, r.qp, &r.attr, ROCE_QPT_RC, ROCE_QPS_RTS);
	raw_request(&r, ROCE_OP_RC_SEND_ONLY, RAW_RQ_PSN, NULL, 8);
	raw_expect_wc(&r, "second", 2, ROCE_WC_SUCCESS);
	raw_stop(&r);
}

/* A receive of another domain than the SRQ's memory: the QP fails, the SRQ lives. */
static void bad_receive_ends_the_qp_only(void)
{
	struct roce_sge sge = {0x1000, 64, 0xbad00};
	struct roce_recv_wr wr = {.wr_id = 1, .sge = &sge, .num_sge = 1};
	struct raw r;

	start(&r);
	T_EQ(roce_srq_post(r.srq, r.dut.now, &wr), 0);
	raw_post_recv(&r, 2, 0, 64);
	raw_request(&r, ROCE_OP_RC_SEND_ONLY, RAW_RQ_PSN, NULL, 8);
	raw_expect_ack(&r, "NAK", RAW_RQ_PSN, RAW_NAK_OPERATION);
	raw_expect_wc(&r, "bad", 1, ROCE_WC_LOC_PROT_ERR);
	raw_expect_no_wc(&r, "good");
	T_EQ(roce_qp_state(r.qp), ROCE_QPS_ERR);
	T_EQ(node_count_events(&r.dut, ROCE_EVENT_SRQ_ERR), 0);
	raw_stop(&r);
}

T_MAIN("roce_srq", T_CASE(receives_are_taken_in_order), T_CASE(messages_of_two_qps_do_not_mix),
       T_CASE(limit_is_told_once), T_CASE(end_of_a_qp), T_CASE(bad_receive_ends_the_qp_only), )
