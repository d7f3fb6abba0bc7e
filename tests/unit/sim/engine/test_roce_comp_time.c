/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the requester does about time: ACK timeout, RNR NAK timer and the two retry counts. */
#include "tests/lib/t.h"
#include "tests/unit/sim/engine/roce_raw.h"

#include <stdio.h>

enum { US = 1000, MS = 1000000 };

/* IBTA table 45, in units of 10 us. */
static const uint32_t rnr_table[32] = {
	65536, 1,    2,	   3,	 4,    6,     8,     12,    16,	   24,	  32,
	48,    64,   96,   128,	 192,  256,   384,   512,   768,   1024,  1536,
	2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
};

static uint64_t rnr_time(uint32_t timer)
{
	return 10ull * US * rnr_table[timer];
}

/* Runs until a packet is sent, `limit` at most; returns the time waited, or UINT64_MAX. */
static uint64_t wait_for_packet(struct raw *r, uint64_t limit)
{
	uint64_t begin = r->dut.now, at;

	while (!r->dut.frames && roce_nic_next(r->dut.nic) <= begin + limit) {
		at = roce_nic_next(r->dut.nic);
		node_advance(&r->dut, at > r->dut.now ? at - r->dut.now : 1);
	}
	return r->dut.frames ? r->dut.frames->at - begin : UINT64_MAX;
}

/* ------------------------------------------------------------- ACK timeout */

/* At least the time, at most four times of it (IBTA 9.7.6.1.3). */
static void timeout_is_what_was_asked_for(void)
{
	uint32_t timeout;
	uint64_t want, got;
	struct raw r;
	char row[32];

	for (timeout = 1; timeout < 32; timeout++) {
		raw_defaults(&r, ROCE_QPT_RC);
		r.attr.timeout = (uint8_t)timeout;
		raw_start(&r);
		raw_post(&r, 1, ROCE_WR_SEND, 0, 8);
		raw_forget(&r);
		snprintf(row, sizeof(row), "timeout %u", timeout);
		want = 4096ull << timeout;
		got = wait_for_packet(&r, 5 * want);
		T_TRUE_ROW(row, got >= want && got <= 4 * want);
		raw_expect(&r, row, ROCE_OP_RC_SEND_ONLY, RAW_SQ_PSN);
		T_EQ(roce_nic_counters(r.dut.nic)->local_ack_timeout_err, 1);
		raw_stop(&r);
	}
}

static void timeout_0_is_none(void)
{
	struct raw r;

	raw_defaults(&r, ROCE_QPT_RC);
	r.attr.timeout = 0;
	raw_start(&r);
	raw_post(&r, 1, ROCE_WR_SEND, 0, 8);
	raw_forget(&r);
	T_EQ(roce_nic_next(r.dut.nic), UINT64_MAX);
	node_advance(&r.dut, 1000000ull * MS);
	raw_expect_silence(&r, "none");
	raw_ack(&r, RAW_SQ_PSN, RAW_ACK);
	raw_expect_wc(&r, "late", 1, ROCE_WC_SUCCESS);
	raw_stop(&r);
}

static void retries_are_counted(void)
{
	struct raw r;
	uint32_t retry_cnt, sent;
	char row[32];

	for (retry_cnt = 0; retry_cnt < 8; retry_cnt++) {
		raw_defaults(&r, ROCE_QPT_RC);
		r.attr.retry_cnt = (uint8_t)retry_cnt;
		raw_start(&r);
		raw_post(&r, 1, ROCE_WR_SEND, 0, 8);
		raw_post(&r, 2, ROCE_WR_SEND, 0, 8);
		node_advance(&r.dut, 100000ull * MS);
		sent = raw_forget(&r);
		snprintf(row, sizeof(row), "retry_cnt %u", retry_cnt);
		/* Both at first, then the first alone, until the peer says something. */
		T_EQ_ROW(row, sent, 2 + retry_cnt);
		raw_expect_wc(&r, row, 1, ROCE_WC_RETRY_EXC_ERR);
		raw_expect_wc(&r, row, 2, ROCE_WC_WR_FLUSH_ERR);
		T_EQ_ROW(row, roce_nic_counters(r.dut.nic)->retry_exceeded, 1);
		T_EQ_ROW(row, roce_nic_next(r.dut.nic), UINT64_MAX);
		raw_stop(&r);
	}
}

/* What moves on has all its retries again. */
static void progress_restores_the_retries(void)
{
	struct raw r;
	uint32_t i;

	raw_defaults(&r, ROCE_QPT_RC);
	r.attr.retry_cnt = 1;
	raw_start(&r);
	raw_post(&r, 1, ROCE_WR_SEND, 0, 20 * 1024);
	for (i = 0; i < 19; i++) {
		raw_forget(&r);
		T_TRUE(wait_for_packet(&r, 1000ull * MS) != UINT64_MAX);
		raw_ack(&r, RAW_SQ_PSN + i, RAW_ACK);
		T_EQ(roce_qp_state(r.qp), ROCE_QPS_RTS);
	}
	raw_ack(&r, RAW_SQ_PSN + 19, RAW_ACK);
	raw_expect_wc(&r, "through", 1, ROCE_WC_SUCCESS);
	raw_stop(&r);
}

/* An answer starts the time again: no early retransmission while ACKs come. */
static void acks_hold_the_timer_off(void)
{
	struct raw r;
	uint32_t i;

	raw_defaults(&r, ROCE_QPT_RC);
	raw_start(&r);
	raw_post(&r, 1, ROCE_WR_SEND, 0, 10 * 1024);
	raw_forget(&r);
	for (i = 0; i < 9; i++) {
		node_advance(&r.dut, 60 * MS);
		raw_ack(&r, RAW_SQ_PSN + i, RAW_ACK);
	}
	raw_expect_silence(&r, "67 ms are never over");
	raw_stop(&r);
}

/* --------------------------------------------------------------------- RNR */

/* Case: each value of the table; not earlier, and not much later (IBTA 9.7.5.2.8). */
static void rnr_timer_is_waited_for(void)
{
	uint32_t timer;
	uint64_t got;
	struct raw r;
	char row[32];

	for (timer = 0; timer < 32; timer++) {
		raw_defaults(&r, ROCE_QPT_RC);
		r.attr.retry_cnt = 3;
		raw_start(&r);
		raw_post(&r, 1, ROCE_WR_SEND, 0, 8);
		raw_post(&r, 2, ROCE_WR_WRITE, 0, 8);
		raw_forget(&r);
		snprintf(row, sizeof(row), "timer %u", timer);
		raw_ack(&r, RAW_SQ_PSN, (uint8_t)(RAW_RNR | timer));
		got = wait_for_packet(&r, 3000ull * MS);
		T_TRUE_ROW(row, got >= rnr_time(timer) && got <= 2 * rnr_time(timer));
		raw_expect(&r, row, ROCE_OP_RC_SEND_ONLY, RAW_SQ_PSN);
		raw_expect(&r, row, ROCE_OP_RC_WRITE_ONLY, RAW_SQ_PSN + 1);
		T_EQ_ROW(row, roce_nic_counters(r.dut.nic)->local_ack_timeout_err, 0);
		raw_stop(&r);
	}
}

/* The RNR wait is not one for an ACK: it spends nothing of retry_cnt, however often it comes. */
static void rnr_spends_no_retries(void)
{
	struct raw r;
	uint32_t i;

	raw_defaults(&r, ROCE_QPT_RC);
	r.attr.retry_cnt = 1;
	r.attr.rnr_retry = ROCE_RNR_RETRY_INFINITE;
	raw_start(&r);
	raw_post(&r, 1, ROCE_WR_SEND, 0, 8);
	for (i = 0; i < 50; i++) {
		raw_expect(&r, "again", ROCE_OP_RC_SEND_ONLY, RAW_SQ_PSN);
		raw_expect_silence(&r, "once");
		raw_ack(&r, RAW_SQ_PSN, RAW_RNR | 0);
		T_TRUE(wait_for_packet(&r, 1000ull * MS) >= rnr_time(0));
	}
	raw_ack(&r, RAW_SQ_PSN, RAW_ACK);
	raw_expect_wc(&r, "in the end", 1, ROCE_WC_SUCCESS);
	T_EQ(roce_nic_counters(r.dut.nic)->rnr_nak_rx, 50);
	raw_stop(&r);
}

/*
 * A receiver that is not ready refuses what follows by sequence NAKs; a slow one's come when all
 * was sent again. They send again once more, but use up nothing.
 */
static void late_sequence_naks_of_a_receiver_not_ready(void)
{
	struct raw r;
	uint32_t i;

	raw_defaults(&r, ROCE_QPT_RC);
	r.attr.retry_cnt = 1;
	r.attr.rnr_retry = ROCE_RNR_RETRY_INFINITE;
	raw_start(&r);
	raw_post(&r, 1, ROCE_WR_SEND, 0, 8);
	raw_post(&r, 2, ROCE_WR_SEND, 0, 8);
	for (i = 0; i < 50; i++) {
		raw_forget(&r);
		raw_ack(&r, RAW_SQ_PSN, RAW_RNR | 1);
		T_TRUE(wait_for_packet(&r, 10 * MS) != UINT64_MAX);
		raw_ack(&r, RAW_SQ_PSN, RAW_NAK_SEQUENCE);
		raw_expect_no_wc(&r, "not ready");
	}
	raw_ack(&r, RAW_SQ_PSN + 1, RAW_ACK);
	raw_expect_wc(&r, "first", 1, ROCE_WC_SUCCESS);
	raw_expect_wc(&r, "second", 2, ROCE_WC_SUCCESS);
	raw_stop(&r);
}

static void rnr_retries_are_counted(void)
{
	struct raw r;
	uint32_t rnr_retry, i;
	char row[32];

	for (rnr_retry = 0; rnr_retry < 7; rnr_retry++) {
		raw_defaults(&r, ROCE_QPT_RC);
		r.attr.rnr_retry = (uint8_t)rnr_retry;
		raw_start(&r);
		raw_post(&r, 1, ROCE_WR_SEND, 0, 8);
		raw_post(&r, 2, ROCE_WR_SEND, 0, 8);
		snprintf(row, sizeof(row), "rnr_retry %u", rnr_retry);
		for (i = 0; i <= rnr_retry; i++) {
			raw_expect_no_wc(&r, row);
			raw_forget(&r);
			raw_ack(&r, RAW_SQ_PSN, RAW_RNR | 1);
			wait_for_packet(&r, 10 * MS);
		}
		raw_expect_silence(&r, row);
		raw_expect_wc(&r, row, 1, ROCE_WC_RNR_RETRY_EXC_ERR);
		raw_expect_wc(&r, row, 2, ROCE_WC_WR_FLUSH_ERR);
		T_EQ_ROW(row, roce_nic_counters(r.dut.nic)->rnr_retry_exceeded, 1);
		raw_stop(&r);
	}
}

/* Nothing is sent during the wait, whatever is posted or arrives. */
static void rnr_wait_is_quiet(void)
{
	struct raw r;

	raw_defaults(&r, ROCE_QPT_RC);
	raw_start(&r);
	raw_post(&r, 1, ROCE_WR_SEND, 0, 8);
	raw_post(&r, 2, ROCE_WR_SEND, 0, 8);
	raw_forget(&r);
	raw_ack(&r, RAW_SQ_PSN, RAW_RNR | 20);
	raw_post(&r, 3, ROCE_WR_WRITE, 0, 8);
	raw_ack(&r, RAW_SQ_PSN - 1, RAW_ACK);
	raw_ack(&r, RAW_SQ_PSN, RAW_NAK_SEQUENCE);
	node_advance(&r.dut, rnr_time(20) - US);
	raw_expect_silence(&r, "waits");
	T_TRUE(wait_for_packet(&r, 10 * MS) != UINT64_MAX);
	raw_expect(&r, "first", ROCE_OP_RC_SEND_ONLY, RAW_SQ_PSN);
	raw_expect(&r, "second", ROCE_OP_RC_SEND_ONLY, RAW_SQ_PSN + 1);
	raw_expect(&r, "third", ROCE_OP_RC_WRITE_ONLY, RAW_SQ_PSN + 2);
	raw_stop(&r);
}

/* The network doubles packets; a copy of a NAK is no second NAK. */
static void copies_of_naks_during_the_wait_cost_nothing(void)
{
	struct raw r;

	raw_defaults(&r, ROCE_QPT_RC);
	r.attr.rnr_retry = 1;
	r.attr.retry_cnt = 0;
	raw_start(&r);
	raw_post(&r, 1, ROCE_WR_SEND, 0, 8);
	raw_forget(&r);
	raw_ack(&r, RAW_SQ_PSN, RAW_RNR | 12);
	raw_ack(&r, RAW_SQ_PSN, RAW_RNR | 12);
	raw_ack(&r, RAW_SQ_PSN, RAW_NAK_SEQUENCE);
	raw_expect_no_wc(&r, "still waiting");
	T_TRUE(wait_for_packet(&r, 10 * MS) != UINT64_MAX);
	raw_ack(&r, RAW_SQ_PSN, RAW_ACK);
	raw_expect_wc(&r, "done", 1, ROCE_WC_SUCCESS);
	raw_stop(&r);
}

/* What is sent again asks to be acknowledged at once: the end may be far, and be lost again. */
static void what_is_sent_again_asks_for_an_ack(void)
{
	struct raw r;

	raw_defaults(&r, ROCE_QPT_RC);
	raw_start(&r);
	raw_post(&r, 1, ROCE_WR_SEND, 0, 20 * 1024);
	T_TRUE(!raw_expect(&r, "first time", ROCE_OP_RC_SEND_FIRST, RAW_SQ_PSN)->ack_req);
	raw_forget(&r);
	T_TRUE(wait_for_packet(&r, 1000ull * MS) != UINT64_MAX);
	T_TRUE(raw_expect(&r, "again", ROCE_OP_RC_SEND_FIRST, RAW_SQ_PSN)->ack_req);
	raw_stop(&r);
}

/* In the middle of a message: what was before it is acknowledged, and it goes on there. */
static void rnr_acknowledges_what_was_before(void)
{
	struct raw r;

	raw_defaults(&r, ROCE_QPT_RC);
	raw_start(&r);
	raw_post(&r, 1, ROCE_WR_SEND, 0, 8);
	raw_post(&r, 2, ROCE_WR_WRITE_IMM, 0, 2048);
	raw_forget(&r);
	raw_ack(&r, RAW_SQ_PSN + 2, RAW_RNR | 1);
	raw_expect_wc(&r, "before", 1, ROCE_WC_SUCCESS);
	raw_expect_no_wc(&r, "not the WRITE");
	T_TRUE(wait_for_packet(&r, MS) != UINT64_MAX);
	raw_expect(&r, "last", ROCE_OP_RC_WRITE_LAST_IMM, RAW_SQ_PSN + 2);
	raw_ack(&r, RAW_SQ_PSN + 2, RAW_ACK);
	raw_expect_wc(&r, "WRITE", 2, ROCE_WC_SUCCESS);
	raw_stop(&r);
}

T_MAIN("roce_comp_time", T_CASE(timeout_is_what_was_asked_for), T_CASE(timeout_0_is_none),
       T_CASE(retries_are_counted), T_CASE(progress_restores_the_retries),
       T_CASE(acks_hold_the_timer_off), T_CASE(rnr_timer_is_waited_for),
       T_CASE(rnr_spends_no_retries), T_CASE(late_sequence_naks_of_a_receiver_not_ready),
       T_CASE(rnr_retries_are_counted), T_CASE(rnr_wait_is_quiet),
       T_CASE(copies_of_naks_during_the_wait_cost_nothing),
       T_CASE(what_is_sent_again_asks_for_an_ack), T_CASE(rnr_acknowledges_what_was_before), )
