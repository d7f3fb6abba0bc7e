/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* States of a QP: which may follow which, draining, flushing, resetting. */
#include "tests/lib/t.h"
#include "tests/unit/sim/engine/roce_raw.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define STATES (ROCE_QPS_ERR + 1)

static const char *const names[STATES] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};

/* What a transition needs of an RC QP (IBTA table 101), beside the state. */
static uint32_t needs(enum roce_qp_state from, enum roce_qp_state to)
{
	if (from == ROCE_QPS_RESET && to == ROCE_QPS_INIT)
		return ROCE_QP_PKEY_INDEX | ROCE_QP_ACCESS;
	if (from == ROCE_QPS_INIT && to == ROCE_QPS_RTR)
		return ROCE_QP_AV | ROCE_QP_PATH_MTU | ROCE_QP_DEST_QPN | ROCE_QP_RQ_PSN |
		       ROCE_QP_MAX_DEST_RD_ATOMIC | ROCE_QP_MIN_RNR_TIMER;
	if (from == ROCE_QPS_RTR && to == ROCE_QPS_RTS)
		return ROCE_QP_TIMEOUT | ROCE_QP_RETRY_CNT | ROCE_QP_RNR_RETRY | ROCE_QP_SQ_PSN |
		       ROCE_QP_MAX_RD_ATOMIC;
	return 0;
}

static int move(struct raw *r, enum roce_qp_state to, uint32_t mask)
{
	struct roce_qp_attr attr = r->attr;
	int err;

	attr.state = to;
	err = roce_qp_modify(r->qp, r->dut.now, &attr, mask | ROCE_QP_STATE);
	node_run(&r->dut);
	return err;
}

/* A QP in RESET, taken to `state` the usual way. */
static void open_in(struct raw *r, enum roce_qp_type type, enum roce_qp_state state)
{
	raw_defaults(r, type);
	raw_open(r);
	r->qp = node_qp(&r->dut, RAW_QPN, type, NULL);
	if (state == ROCE_QPS_RESET)
		return;
	if (state <= ROCE_QPS_RTS)
		node_connect(&r->dut, r->qp, &r->attr, type, state);
	else
		node_connect(&r->dut, r->qp, &r->attr, type, ROCE_QPS_RTS);
	if (state == ROCE_QPS_SQD || state == ROCE_QPS_ERR)
		T_EQ(move(r, state, 0), 0);
}

/* IBTA figure 123: rows from, columns to, RESET INIT RTR RTS SQD SQE ERR. */
static void transitions_are_those_of_the_specification(void)
{
	static const char *const allowed[STATES] = {
		[ROCE_QPS_RESET] = "11....1", [ROCE_QPS_INIT] = "111...1",
		[ROCE_QPS_RTR] = "1..1..1",   [ROCE_QPS_RTS] = "1..11.1",
		[ROCE_QPS_SQD] = "1..11.1",   [ROCE_QPS_ERR] = "1.....1",
	};
	unsigned int from, to;
	struct raw r;
	char row[32];
	int want;

	for (from = 0; from < STATES; from++)
		for (to = 0; allowed[from] && to < STATES; to++) {
			open_in(&r, ROCE_QPT_RC, from);
			snprintf(row, sizeof(row), "%s to %s", names[from], names[to]);
			want = allowed[from][to] == '1' ? 0 : -EINVAL;
			T_EQ_ROW(row, move(&r, to, needs(from, to)), want);
			T_EQ_ROW(row, roce_qp_state(r.qp), want ? from : to);
			raw_stop(&r);
		}
}

/* Each missing attribute, and each that does not belong there, refuses the whole. */
static void attributes_are_all_or_nothing(void)
{
	unsigned int from, to;
	struct roce_qp_attr before, after;
	uint32_t bit, mask;
	struct raw r;
	char row[48];

	for (from = ROCE_QPS_RESET; from < ROCE_QPS_RTS; from++)
		for (bit = ROCE_QP_ACCESS; bit <= ROCE_QP_DEST_QPN; bit <<= 1) {
			to = from + 1;
			if (!(needs(from, to) & bit))
				continue;
			open_in(&r, ROCE_QPT_RC, from);
			snprintf(row, sizeof(row), "%s to %s without 0x%x", names[from], names[to],
				 bit);
			roce_qp_query(r.qp, &before);
			mask = needs(from, to) & ~bit;
			T_EQ_ROW(row, move(&r, to, mask), -EINVAL);
			roce_qp_query(r.qp, &after);
			T_BYTES_ROW(row, &after, &before, sizeof(before));
			raw_stop(&r);
		}
	open_in(&r, ROCE_QPT_RC, ROCE_QPS_RTS);
	T_EQ(move(&r, ROCE_QPS_RTS, ROCE_QP_SQ_PSN), -EINVAL);
	T_EQ(move(&r, ROCE_QPS_RTS, ROCE_QP_DEST_QPN), -EINVAL);
	T_EQ(move(&r, ROCE_QPS_RTS, ROCE_QP_ACCESS), 0);
	raw_stop(&r);
}

static void values_out_of_range_are_refused(void)
{
	static const struct {
		const char *name;
		struct roce_qp_attr attr;
	} rows[] = {
		{"path MTU 0", {.path_mtu = 0}},
		{"path MTU 1000", {.path_mtu = 1000}},
		{"path MTU 128", {.path_mtu = 128}},
		{"path MTU 8192", {.path_mtu = 8192}},
		{"path MTU above the port's", {.path_mtu = 4096}},
		{"PSN of 25 bits", {.path_mtu = 256, .rq_psn = 0x1000000}},
		{"QP number of 25 bits", {.path_mtu = 256, .dest_qpn = 0x1000000}},
		{"RNR timer 32", {.path_mtu = 256, .min_rnr_timer = 32}},
		{"GID index without GID", {.path_mtu = 256, .av.sgid_index = 9}},
		{"GID index past the table", {.path_mtu = 256, .av.sgid_index = 200}},
	};
	struct roce_qp_attr attr, before, after;
	struct raw r;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		raw_defaults(&r, ROCE_QPT_RC);
		r.dut.config.mtu = 2048;
		raw_open(&r);
		r.qp = node_qp(&r.dut, RAW_QPN, ROCE_QPT_RC, NULL);
		node_connect(&r.dut, r.qp, &r.attr, ROCE_QPT_RC, ROCE_QPS_INIT);
		roce_qp_query(r.qp, &before);
		attr = rows[i].attr;
		attr.state = ROCE_QPS_RTR;
		memcpy(attr.av.dgid, r.attr.av.dgid, 16);
		T_EQ_ROW(rows[i].name,
			 roce_qp_modify(r.qp, r.dut.now, &attr,
					ROCE_QP_STATE | needs(ROCE_QPS_INIT, ROCE_QPS_RTR)),
			 -EINVAL);
		roce_qp_query(r.qp, &after);
		T_BYTES_ROW(rows[i].name, &after, &before, sizeof(before));
		raw_stop(&r);
	}
}

static void query_tells_what_was_set(void)
{
	struct roce_qp_attr attr;
	struct raw r;

	raw_defaults(&r, ROCE_QPT_RC);
	raw_start(&r);
	roce_qp_query(r.qp, &attr);
	T_EQ(attr.state, ROCE_QPS_RTS);
	T_EQ(attr.access, r.attr.access);
	T_EQ(attr.path_mtu, 1024);
	T_EQ(attr.timeout, 14);
	T_EQ(attr.retry_cnt, 7);
	T_EQ(attr.rnr_retry, 7);
	T_EQ(attr.max_rd_atomic, 4);
	T_EQ(attr.max_dest_rd_atomic, 4);
	T_EQ(attr.min_rnr_timer, 12);
	T_EQ(attr.dest_qpn, RAW_PEER_QPN);
	T_EQ(attr.rq_psn, RAW_RQ_PSN);
	T_EQ(attr.sq_psn, RAW_SQ_PSN);
	T_BYTES(attr.av.dgid, r.attr.av.dgid, 16);
	T_TRUE(!attr.sq_draining);
	/* PSNs are those of now. */
	raw_post(&r, 1, ROCE_WR_SEND, 0, 3000);
	raw_write(&r, ROCE_OP_RC_WRITE_ONLY, RAW_RQ_PSN, 0, 8, 8);
	roce_qp_query(r.qp, &attr);
	T_EQ(attr.rq_psn, RAW_RQ_PSN + 1);
	T_EQ(attr.sq_psn, RAW_SQ_PSN + 3);
	raw_stop(&r);
}

/* ------------------------------------------------------------------- flush */

static void error_state_flushes_in_order(void)
{
	struct raw r;
	uint64_t i;

	raw_defaults(&r, ROCE_QPT_RC);
	raw_start(&r);
	for (i = 0; i < 3; i++)
		raw_post_recv(&r, 100 + i, 0, 8);
	for (i = 0; i < 5; i++)
		raw_post(&r, i, i == 2 ? ROCE_WR_READ : ROCE_WR_WRITE, 0, 8);
	raw_ack(&r, RAW_SQ_PSN, RAW_ACK);
	raw_expect_wc(&r, "done", 0, ROCE_WC_SUCCESS);
	T_EQ(node_modify(&r.dut, r.qp, ROCE_QPS_ERR), 0);
	for (i = 1; i < 5; i++)
		T_EQ(raw_expect_wc(&r, "send", i, ROCE_WC_WR_FLUSH_ERR)->opcode, ROCE_WC_SEND);
	for (i = 0; i < 3; i++)
		T_TRUE(raw_expect_wc(&r, "receive", 100 + i, ROCE_WC_WR_FLUSH_ERR)->opcode !=
		       ROCE_WC_SEND);
	/* What is posted now is flushed at once. */
	raw_post(&r, 9, ROCE_WR_SEND, 0, 8);
	raw_expect_wc(&r, "late send", 9, ROCE_WC_WR_FLUSH_ERR);
	raw_post_recv(&r, 109, 0, 8);
	raw_expect_wc(&r, "late receive", 109, ROCE_WC_WR_FLUSH_ERR);
	T_EQ(roce_nic_next(r.dut.nic), UINT64_MAX);
	raw_forget(&r);
	raw_ack(&r, RAW_SQ_PSN + 4, RAW_ACK);
	raw_write(&r, ROCE_OP_RC_WRITE_ONLY, RAW_RQ_PSN, 0, 8, 8);
	raw_expect_silence(&r, "dead");
	T_EQ(roce_nic_counters(r.dut.nic)->drop_qp_state, 2);
	T_EQ(roce_nic_counters(r.dut.nic)->req_cqe_flush, 5);
	T_EQ(roce_nic_counters(r.dut.nic)->resp_cqe_flush, 4);
	raw_stop(&r);
}

/* RESET forgets without a word; a new connection starts clean. */
static void reset_forgets(void)
{
	struct raw r;

	raw_defaults(&r, ROCE_QPT_RC);
	raw_start(&r);
	raw_post_recv(&r, 1, 0, 4096);
	raw_post(&r, 2, ROCE_WR_SEND, 0, 3000);
	raw_request(&r, ROCE_OP_RC_SEND_FIRST, RAW_RQ_PSN, NULL, 1024);
	raw_forget(&r);
	T_EQ(node_modify(&r.dut, r.qp, ROCE_QPS_RESET), 0);
	raw_expect_no_wc(&r, "no completion");
	T_EQ(roce_nic_next(r.dut.nic), UINT64_MAX);
	T_EQ(roce_qp_send_outstanding(r.qp), 0);
	T_EQ(roce_qp_recv_outstanding(r.qp), 0);
	node_connect(&r.dut, r.qp, &r.attr, ROCE_QPT_RC, ROCE_QPS_RTS);
	raw_post_recv(&r, 3, 0, 64);
	raw_request(&r, ROCE_OP_RC_SEND_ONLY, RAW_RQ_PSN, NULL, 8);
	T_EQ(raw_expect_ack(&r, "again", RAW_RQ_PSN, RAW_ACK)->msn, 1);
	raw_expect_wc(&r, "again", 3, ROCE_WC_SUCCESS);
	raw_post(&r, 4, ROCE_WR_SEND, 0, 8);
	raw_expect(&r, "again", ROCE_OP_RC_SEND_ONLY, RAW_SQ_PSN);
	raw_stop(&r);
}

static void destroy_in_the_middle(void)
{
	struct raw r;

	raw_defaults(&r, ROCE_QPT_RC);
	raw_start(&r);
	raw_post_recv(&r, 1, 0, 8);
	raw_post(&r, 2, ROCE_WR_SEND, 0, 3000);
	r.dut.room = 0;
	raw_read(&r, RAW_RQ_PSN, 0, 8000);
	T_EQ(roce_cq_destroy(roce_cq_find(r.dut.nic, 2 * RAW_QPN)), -EBUSY);
	roce_qp_destroy(r.qp);
	raw_expect_no_wc(&r, "no completion");
	T_EQ(roce_cq_destroy(roce_cq_find(r.dut.nic, 2 * RAW_QPN)), 0);
	node_make_room(&r.dut, 100);
	raw_forget(&r);
	T_EQ(roce_nic_next(r.dut.nic), UINT64_MAX);
	T_TRUE(roce_qp_find(r.dut.nic, RAW_QPN) == NULL);
	raw_ack(&r, RAW_SQ_PSN, RAW_ACK);
	T_EQ(roce_nic_counters(r.dut.nic)->drop_qpn, 1);
	raw_stop(&r);
}

/* --------------------------------------------------------------------- SQD */

/* What has begun is finished, what has not waits; then the event, once (IBTA 10.3.1.5). */
static void draining(void)
{
	struct roce_qp_attr attr = {.state = ROCE_QPS_SQD, .en_sqd_async_notify = true};
	struct raw r;

	raw_defaults(&r, ROCE_QPT_RC);
	raw_start(&r);
	raw_post_recv(&r, 100, 0, 8);
	raw_post(&r, 1, ROCE_WR_SEND, 0, 8);
	raw_post(&r, 2, ROCE_WR_READ, 0, 8);
	raw_forget(&r);
	T_EQ(roce_qp_modify(r.qp, r.dut.now, &attr, ROCE_QP_STATE | ROCE_QP_EN_SQD_ASYNC_NOTIFY),
	     0);
	raw_post(&r, 3, ROCE_WR_WRITE, 0, 8);
	raw_expect_silence(&r, "not begun");
	roce_qp_query(r.qp, &attr);
	T_TRUE(attr.sq_draining);
	T_EQ(r.dut.event_count, 0);
	raw_ack(&r, RAW_SQ_PSN, RAW_ACK);
	raw_expect_wc(&r, "first", 1, ROCE_WC_SUCCESS);
	T_EQ(r.dut.event_count, 0);
	/* The receive side goes on. */
	raw_request(&r, ROCE_OP_RC_SEND_ONLY, RAW_RQ_PSN, NULL, 8);
	raw_expect_ack(&r, "responder", RAW_RQ_PSN, RAW_ACK);
	raw_expect_wc(&r, "responder", 100, ROCE_WC_SUCCESS);
	raw_read_response(&r, ROCE_OP_RC_READ_RESPONSE_ONLY, RAW_SQ_PSN + 1, NULL, 8);
	raw_expect_wc(&r, "second", 2, ROCE_WC_SUCCESS);
	T_EQ(node_count_events(&r.dut, ROCE_EVENT_SQ_DRAINED), 1);
	roce_qp_query(r.qp, &attr);
	T_TRUE(!attr.sq_draining);
	raw_expect_silence(&r, "drained");
	T_EQ(node_modify(&r.dut, r.qp, ROCE_QPS_RTS), 0);
	raw_expect(&r, "goes on", ROCE_OP_RC_WRITE_ONLY, RAW_SQ_PSN + 2);
	raw_ack(&r, RAW_SQ_PSN + 2, RAW_ACK);
	raw_expect_wc(&r, "third", 3, ROCE_WC_SUCCESS);
	T_EQ(r.dut.event_count, 1);
	raw_stop(&r);
}

static void draining_nothing_is_done_at_once(void)
{
	struct roce_qp_attr attr = {.state = ROCE_QPS_SQD, .en_sqd_async_notify = true};
	struct raw r;

	raw_defaults(&r, ROCE_QPT_RC);
	raw_start(&r);
	T_EQ(roce_qp_modify(r.qp, r.dut.now, &attr, ROCE_QP_STATE | ROCE_QP_EN_SQD_ASYNC_NOTIFY),
	     0);
	node_run(&r.dut);
	T_EQ(node_count_events(&r.dut, ROCE_EVENT_SQ_DRAINED), 1);
	raw_stop(&r);
	/* And nobody who did not ask is told. */
	raw_defaults(&r, ROCE_QPT_RC);
	raw_start(&r);
	T_EQ(node_modify(&r.dut, r.qp, ROCE_QPS_SQD), 0);
	T_EQ(r.dut.event_count, 0);
	raw_stop(&r);
}

/* Lost packets are sent again while draining. */
static void draining_retries(void)
{
	struct raw r;

	raw_defaults(&r, ROCE_QPT_RC);
	raw_start(&r);
	raw_post(&r, 1, ROCE_WR_SEND, 0, 3000);
	raw_forget(&r);
	T_EQ(node_modify(&r.dut, r.qp, ROCE_QPS_SQD), 0);
	raw_ack(&r, RAW_SQ_PSN + 1, RAW_NAK_SEQUENCE);
	raw_expect(&r, "again", ROCE_OP_RC_SEND_MIDDLE, RAW_SQ_PSN + 1);
	raw_expect(&r, "again", ROCE_OP_RC_SEND_LAST, RAW_SQ_PSN + 2);
	node_advance(&r.dut, 100000000);
	T_TRUE(raw_forget(&r) > 0);
	raw_ack(&r, RAW_SQ_PSN + 2, RAW_ACK);
	raw_expect_wc(&r, "done", 1, ROCE_WC_SUCCESS);
	raw_stop(&r);
}

/* --------------------------------------------------------------- full CQs */

static void full_cq_ends_the_qp(void)
{
	struct raw r;

	raw_defaults(&r, ROCE_QPT_RC);
	raw_start(&r);
	raw_post(&r, 1, ROCE_WR_SEND, 0, 8);
	raw_post(&r, 2, ROCE_WR_SEND, 0, 8);
	raw_forget(&r);
	r.dut.complete_result = -ENOSPC;
	raw_ack(&r, RAW_SQ_PSN + 1, RAW_ACK);
	T_EQ(node_count_events(&r.dut, ROCE_EVENT_CQ_ERR), 1);
	T_EQ(roce_qp_state(r.qp), ROCE_QPS_ERR);
	T_EQ(roce_qp_send_outstanding(r.qp), 0);
	raw_stop(&r);
}

static void memory_may_run_out(void)
{
	struct roce_qp_init init = {.qpn = 99, .max_send_wr = 16, .max_recv_wr = 16};
	struct roce_qp *qp;
	struct raw r;

	raw_defaults(&r, ROCE_QPT_RC);
	raw_start(&r);
	init.send_cq = init.recv_cq = roce_cq_find(r.dut.nic, 2 * RAW_QPN);
	r.dut.out_of_memory = true;
	T_EQ(roce_qp_create(r.dut.nic, &init, &qp), -ENOMEM);
	r.dut.out_of_memory = false;
	T_TRUE(roce_qp_find(r.dut.nic, 99) == NULL);
	T_EQ(roce_qp_create(r.dut.nic, &init, &qp), 0);
	T_EQ(roce_qp_create(r.dut.nic, &init, &qp), -EEXIST);
	raw_stop(&r);
}

T_MAIN("roce_qp", T_CASE(transitions_are_those_of_the_specification),
       T_CASE(attributes_are_all_or_nothing), T_CASE(values_out_of_range_are_refused),
       T_CASE(query_tells_what_was_set), T_CASE(error_state_flushes_in_order),
       T_CASE(reset_forgets), T_CASE(destroy_in_the_middle), T_CASE(draining),
       T_CASE(draining_nothing_is_done_at_once), T_CASE(draining_retries),
       T_CASE(full_cq_ends_the_qp), T_CASE(memory_may_run_out), )
