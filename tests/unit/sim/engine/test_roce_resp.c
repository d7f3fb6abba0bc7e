/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The responder, seen by a peer that sends what it likes: order, checks, NAKs, MSN, receives. */
#include "tests/lib/t.h"
#include "tests/unit/sim/engine/roce_raw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MTU = 1024 };

static uint8_t pattern[4 * MTU];

static void fill_pattern(void)
{
	size_t i;

	for (i = 0; i < sizeof(pattern); i++)
		pattern[i] = (uint8_t)(i * 13 + i / 256);
}

static void start(struct raw *r)
{
	fill_pattern();
	raw_defaults(r, ROCE_QPT_RC);
	raw_start(r);
}

/* ------------------------------------------------------------- receiving */

static void send_lands_in_the_receive(void)
{
	struct raw r;
	const struct roce_wc *wc;

	start(&r);
	raw_post_recv(&r, 41, 100, 3 * MTU);
	raw_request(&r, ROCE_OP_RC_SEND_FIRST, RAW_RQ_PSN, pattern, MTU);
	raw_request(&r, ROCE_OP_RC_SEND_MIDDLE, RAW_RQ_PSN + 1, pattern + MTU, MTU);
	raw_expect_no_wc(&r, "in the middle");
	raw_request(&r, ROCE_OP_RC_SEND_LAST, RAW_RQ_PSN + 2, pattern + 2 * MTU, 7);
	raw_expect_ack(&r, "last", RAW_RQ_PSN + 2, RAW_ACK);
	raw_expect_silence(&r, "one ACK");
	wc = raw_expect_wc(&r, "whole", 41, ROCE_WC_SUCCESS);
	T_EQ(wc->opcode, ROCE_WC_RECV);
	T_EQ(wc->byte_len, 2 * MTU + 7);
	T_TRUE(!wc->solicited && !wc->grh);
	T_BYTES(r.mr->bytes + 100, pattern, 2 * MTU + 7);
	raw_stop(&r);
}

static void send_kinds_complete_as_what_they_are(void)
{
	static const struct {
		const char *name;
		enum roce_opcode code;
		bool solicited;
		enum roce_wc_opcode want;
	} rows[] = {
		{"SEND", ROCE_OP_RC_SEND_ONLY, 0, ROCE_WC_RECV},
		{"SEND solicited", ROCE_OP_RC_SEND_ONLY, 1, ROCE_WC_RECV},
		{"SEND with immediate", ROCE_OP_RC_SEND_ONLY_IMM, 1, ROCE_WC_RECV_IMM},
		{"WRITE with immediate", ROCE_OP_RC_WRITE_ONLY_IMM, 0, ROCE_WC_RECV_WRITE_IMM},
	};
	const struct roce_wc *wc;
	struct roce_pkt pkt;
	struct raw r;
	uint32_t i;

	start(&r);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		raw_post_recv(&r, i, 0, 64);
		raw_pkt(&r, &pkt, rows[i].code, RAW_RQ_PSN + i);
		pkt.solicited = rows[i].solicited;
		pkt.imm = 0xa1b2c3d4;
		pkt.va = r.mr->iova + 1000;
		pkt.rkey = RAW_KEY;
		pkt.dma_length = 10;
		raw_send(&r, &pkt, pattern, 10);
		raw_expect_ack(&r, rows[i].name, RAW_RQ_PSN + i, RAW_ACK);
		wc = raw_expect_wc(&r, rows[i].name, i, ROCE_WC_SUCCESS);
		T_EQ_ROW(rows[i].name, wc->opcode, rows[i].want);
		T_EQ_ROW(rows[i].name, wc->solicited, rows[i].solicited);
		T_EQ_ROW(rows[i].name, wc->byte_len, 10);
		if (rows[i].want != ROCE_WC_RECV)
			T_EQ_ROW(rows[i].name, wc->imm, 0xa1b2c3d4);
	}
	T_BYTES(r.mr->bytes + 1000, pattern, 10);
	raw_stop(&r);
}

/* Only a WRITE with immediate takes a receive, and only its last packet. */
static void write_takes_no_receive(void)
{
	struct roce_pkt pkt;
	struct raw r;

	start(&r);
	raw_write(&r, ROCE_OP_RC_WRITE_FIRST, RAW_RQ_PSN, 0, MTU + 9, MTU);
	raw_request(&r, ROCE_OP_RC_WRITE_LAST, RAW_RQ_PSN + 1, pattern, 9);
	raw_expect_ack(&r, "plain", RAW_RQ_PSN + 1, RAW_ACK);
	T_BYTES(r.mr->bytes + MTU, pattern, 9);
	raw_write(&r, ROCE_OP_RC_WRITE_FIRST, RAW_RQ_PSN + 2, 0, MTU + 4, MTU);
	raw_expect_silence(&r, "first needs none");
	raw_pkt(&r, &pkt, ROCE_OP_RC_WRITE_LAST_IMM, RAW_RQ_PSN + 3);
	raw_send(&r, &pkt, pattern, 4);
	raw_expect_ack(&r, "last has none", RAW_RQ_PSN + 3, RAW_RNR | 12);
	raw_post_recv(&r, 5, 0, 0);
	raw_send(&r, &pkt, pattern, 4);
	raw_expect_ack(&r, "now it has", RAW_RQ_PSN + 3, RAW_ACK);
	T_EQ(raw_expect_wc(&r, "imm", 5, ROCE_WC_SUCCESS)->byte_len, MTU + 4);
	raw_stop(&r);
}

static void nothing_may_be_sent_at_all(void)
{
	struct roce_pkt pkt;
	struct raw r;

	start(&r);
	raw_post_recv(&r, 1, 0, 0);
	raw_request(&r, ROCE_OP_RC_SEND_ONLY, RAW_RQ_PSN, NULL, 0);
	raw_expect_ack(&r, "SEND of 0", RAW_RQ_PSN, RAW_ACK);
	T_EQ(raw_expect_wc(&r, "SEND of 0", 1, ROCE_WC_SUCCESS)->byte_len, 0);
	/* The key of an empty RDMA operation is not looked at (IBTA 9.6.2.1). */
	raw_pkt(&r, &pkt, ROCE_OP_RC_WRITE_ONLY, RAW_RQ_PSN + 1);
	pkt.rkey = 0xdead;
	raw_send(&r, &pkt, NULL, 0);
	raw_expect_ack(&r, "WRITE of 0", RAW_RQ_PSN + 1, RAW_ACK);
	raw_pkt(&r, &pkt, ROCE_OP_RC_READ_REQUEST, RAW_RQ_PSN + 2);
	pkt.rkey = 0xdead;
	raw_send(&r, &pkt, NULL, 0);
	T_EQ(raw_expect(&r, "READ of 0", ROCE_OP_RC_READ_RESPONSE_ONLY, RAW_RQ_PSN + 2)
		     ->payload_length,
	     0);
	T_EQ(roce_qp_state(r.qp), ROCE_QPS_RTS);
	raw_stop(&r);
}

/* A receive's elements are filled one after the other; empty ones are passed over. */
static void receive_is_scattered(void)
{
	struct roce_sge sge[4];
	struct roce_recv_wr wr = {.wr_id = 3, .sge = sge, .num_sge = 4};
	struct raw r;

	start(&r);
	r.mr->piece = 16;
	sge[0] = (struct roce_sge){r.mr->iova + 1, 3, RAW_KEY};
	sge[1] = (struct roce_sge){r.mr->iova + 10, 0, RAW_KEY};
	sge[2] = (struct roce_sge){r.mr->iova + 500, 1100, RAW_KEY};
	sge[3] = (struct roce_sge){r.mr->iova + 200, 100, RAW_KEY};
	T_EQ(roce_post_recv(r.qp, r.dut.now, &wr), 0);
	raw_request(&r, ROCE_OP_RC_SEND_FIRST, RAW_RQ_PSN, pattern, MTU);
	raw_request(&r, ROCE_OP_RC_SEND_LAST, RAW_RQ_PSN + 1, pattern + MTU, 120);
	raw_expect_wc(&r, "whole", 3, ROCE_WC_SUCCESS);
	T_BYTES(r.mr->bytes + 1, pattern, 3);
	T_BYTES(r.mr->bytes + 500, pattern + 3, 1100);
	T_BYTES(r.mr->bytes + 200, pattern + 1103, MTU + 120 - 1103);
	raw_stop(&r);
}

/* ----------------------------------------------------------------- order */

static void early_packet_gets_one_nak(void)
{
	struct raw r;

	start(&r);
	raw_post_recv(&r, 1, 0, 64);
	raw_post_recv(&r, 2, 64, 64);
	raw_request(&r, ROCE_OP_RC_SEND_ONLY, RAW_RQ_PSN + 1, pattern, 8);
	raw_expect_ack(&r, "gap", RAW_RQ_PSN, RAW_NAK_SEQUENCE);
	raw_request(&r, ROCE_OP_RC_SEND_ONLY, RAW_RQ_PSN + 2, pattern, 8);
	raw_request(&r, ROCE_OP_RC_SEND_ONLY, RAW_RQ_PSN + 3, pattern, 8);
	raw_expect_silence(&r, "one NAK is enough");
	raw_request(&r, ROCE_OP_RC_SEND_ONLY, RAW_RQ_PSN, pattern, 8);
	raw_expect_ack(&r, "the missing one", RAW_RQ_PSN, RAW_ACK);
	raw_request(&r, ROCE_OP_RC_SEND_ONLY, RAW_RQ_PSN + 2, pattern, 8);
	raw_expect_ack(&r, "another gap", RAW_RQ_PSN + 1, RAW_NAK_SEQUENCE);
	raw_request(&r, ROCE_OP_RC_SEND_ONLY, RAW_RQ_PSN + 1, pattern + 8, 8);
	raw_expect_ack(&r, "and filled", RAW_RQ_PSN + 1, RAW_ACK);
	raw_expect_wc(&r, "first", 1, ROCE_WC_SUCCESS);
	raw_expect_wc(&r, "second", 2, ROCE_WC_SUCCESS);
	raw_expect_no_wc(&r, "no third");
	T_BYTES(r.mr->bytes + 64, pattern + 8, 8);
	T_EQ(roce_nic_counters(r.dut.nic)->out_of_sequence, 4);
	raw_stop(&r);
}

/* Half of the numbers are behind and half ahead (IBTA 9.7.2). */
static void psn_space_is_a_ring(void)
{
	static const struct {
		const char *name;
		uint32_t expected, psn;
		bool ahead;
	} rows[] = {
		{"just behind", 5, 4, false},
		{"behind over the wrap", 0, 0xffffff, false},
		{"far behind", 0x800000, 1, false},
		{"just ahead", 0xffffff, 0, true},
		{"far ahead", 0, 0x7fffff, true},
		{"far ahead over the wrap", 0xfffffe, 0x7ffffd, true},
		{"the farthest behind", 0, 0x800000, false},
	};
	struct raw r;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		raw_defaults(&r, ROCE_QPT_RC);
		r.attr.rq_psn = rows[i].expected;
		raw_start(&r);
		raw_post_recv(&r, 1, 0, 64);
		raw_request(&r, ROCE_OP_RC_SEND_ONLY, rows[i].psn, NULL, 8);
		raw_expect_no_wc(&r, rows[i].name);
		T_EQ_ROW(rows[i].name, roce_nic_counters(r.dut.nic)->out_of_sequence,
			 rows[i].ahead);
		T_EQ_ROW(rows[i].name, roce_nic_counters(r.dut.nic)->duplicate_request,
			 !rows[i].ahead);
		raw_forget(&r);
		raw_request(&r, ROCE_OP_RC_SEND_ONLY, rows[i].expected, NULL, 8);
		raw_expect_ack(&r, rows[i].name, rows[i].expected, RAW_ACK);
		raw_stop(&r);
	}
}

static void messages_cross_the_wrap(void)
{
	struct raw r;

	fill_pattern();
	raw_defaults(&r, ROCE_QPT_RC);
	r.attr.rq_psn = 0xfffffe;
	raw_start(&r);
	raw_post_recv(&r, 1, 0, 4 * MTU);
	raw_request(&r, ROCE_OP_RC_SEND_FIRST, 0xfffffe, pattern, MTU);
	raw_request(&r, ROCE_OP_RC_SEND_MIDDLE, 0xffffff, pattern + MTU, MTU);
	raw_request(&r, ROCE_OP_RC_SEND_MIDDLE, 0, pattern + 2 * MTU, MTU);
	raw_request(&r, ROCE_OP_RC_SEND_LAST, 1, pattern + 3 * MTU, MTU);
	raw_expect_ack(&r, "last", 1, RAW_ACK);
	raw_expect_wc(&r, "whole", 1, ROCE_WC_SUCCESS);
	T_BYTES(r.mr->bytes, pattern, 4 * MTU);
	raw_stop(&r);
}

/* Case: a duplicate is answered, and done only once. */
static void duplicate_is_acknowledged_not_done(void)
{
	const struct roce_pkt *ack;
	struct raw r;

	start(&r);
	raw_post_recv(&r, 1, 0, 64);
	raw_post_recv(&r, 2, 64, 64);
	raw_request(&r, ROCE_OP_RC_SEND_ONLY, RAW_RQ_PSN, pattern, 8);
	raw_expect_ack(&r, "first time", RAW_RQ_PSN, RAW_ACK);
	raw_expect_wc(&r, "first time", 1, ROCE_WC_SUCCESS);
	memset(r.mr->bytes, 0, 8);
	raw_request(&r, ROCE_OP_RC_SEND_ONLY, RAW_RQ_PSN, pattern, 8);
	ack = raw_expect_ack(&r, "again", RAW_RQ_PSN, RAW_ACK);
	T_EQ(ack->msn, 1);
	raw_expect_no_wc(&r, "again");
	T_EQ(r.mr->bytes[0], 0);
	raw_write(&r, ROCE_OP_RC_WRITE_ONLY, RAW_RQ_PSN + 1, 256, 8, 8);
	raw_forget(&r);
	memset(r.mr->bytes + 256, 0x77, 8);
	raw_write(&r, ROCE_OP_RC_WRITE_ONLY, RAW_RQ_PSN + 1, 256, 8, 8);
	raw_expect_ack(&r, "WRITE again", RAW_RQ_PSN + 1, RAW_ACK);
	T_EQ(r.mr->bytes[256], 0x77);
	raw_stop(&r);
}

/* ------------------------------------------------------------------- MSN */

/* Case: MSN counts messages, not packets and not completions (IBTA C9-147). */
static void msn_of(uint32_t packet, uint32_t want, struct raw *r, struct roce_pkt *pkt,
		   uint32_t length)
{
	char row[32];

	snprintf(row, sizeof(row), "packet %u", packet);
	raw_send(r, pkt, NULL, length);
	T_EQ_ROW(row, raw_expect_ack(r, row, pkt->psn, RAW_ACK)->msn, want);
}

static void msn_counts_messages(void)
{
	struct roce_pkt pkt;
	struct raw r;

	start(&r);
	raw_post_recv(&r, 1, 0, 64);
	raw_post_recv(&r, 2, 0, 64);
	raw_pkt(&r, &pkt, ROCE_OP_RC_WRITE_FIRST, RAW_RQ_PSN);
	pkt.ack_req = true;
	pkt.va = r.mr->iova;
	pkt.rkey = RAW_KEY;
	pkt.dma_length = 2 * MTU + 1;
	msn_of(1, 0, &r, &pkt, MTU);
	raw_pkt(&r, &pkt, ROCE_OP_RC_WRITE_MIDDLE, RAW_RQ_PSN + 1);
	pkt.ack_req = true;
	msn_of(2, 0, &r, &pkt, MTU);
	raw_pkt(&r, &pkt, ROCE_OP_RC_WRITE_LAST, RAW_RQ_PSN + 2);
	msn_of(3, 1, &r, &pkt, 1);
	raw_pkt(&r, &pkt, ROCE_OP_RC_SEND_ONLY, RAW_RQ_PSN + 3);
	msn_of(4, 2, &r, &pkt, 4);
	msn_of(5, 2, &r, &pkt, 4);
	raw_pkt(&r, &pkt, ROCE_OP_RC_WRITE_FIRST, RAW_RQ_PSN + 4);
	pkt.ack_req = true;
	pkt.va = r.mr->iova;
	pkt.rkey = RAW_KEY;
	pkt.dma_length = MTU + 1;
	msn_of(6, 2, &r, &pkt, MTU);
	raw_pkt(&r, &pkt, ROCE_OP_RC_WRITE_LAST_IMM, RAW_RQ_PSN + 5);
	msn_of(7, 3, &r, &pkt, 1);
	raw_read(&r, RAW_RQ_PSN + 6, 0, 8);
	T_EQ(raw_expect(&r, "READ", ROCE_OP_RC_READ_RESPONSE_ONLY, RAW_RQ_PSN + 6)->msn, 4);
	raw_atomic(&r, ROCE_OP_RC_FETCH_ADD, RAW_RQ_PSN + 7, 1, 0);
	raw_forget(&r);
	raw_stop(&r);
}

/* 2^24 messages take seconds, or minutes under valgrind: only in long runs. */
static void msn_wraps(void)
{
	struct roce_pkt pkt;
	uint32_t i;
	struct raw r;
	uint8_t frame[128];
	struct roce_template t;

	if (!getenv("ANYNIC_SOAK"))
		return;
	start(&r);
	roce_template_init(&t, &r.path);
	raw_pkt(&r, &pkt, ROCE_OP_RC_WRITE_ONLY, RAW_RQ_PSN);
	pkt.ack_req = false;
	for (i = 0; i < 0xffffff; i++) {
		pkt.psn = (RAW_RQ_PSN + i) & 0xffffff;
		roce_frame_build(&t, &pkt, frame);
		roce_frame_finish(&t, &pkt, frame);
		roce_nic_input(r.dut.nic, r.dut.now, frame, roce_frame_size(&t, pkt.op, 0));
	}
	node_run(&r.dut);
	raw_forget(&r);
	raw_post_recv(&r, 1, 0, 8);
	raw_request(&r, ROCE_OP_RC_SEND_ONLY, RAW_RQ_PSN + i, NULL, 8);
	T_EQ(raw_expect_ack(&r, "wrapped", RAW_RQ_PSN + i, RAW_ACK)->msn, 0);
	raw_stop(&r);
}

/* ------------------------------------------------------------- RNR, events */

static void rnr_nak_tells_the_time_and_waits(void)
{
	struct raw r;
	uint32_t timer;

	for (timer = 0; timer < 32; timer++) {
		fill_pattern();
		raw_defaults(&r, ROCE_QPT_RC);
		r.attr.min_rnr_timer = (uint8_t)timer;
		raw_start(&r);
		raw_request(&r, ROCE_OP_RC_SEND_ONLY, RAW_RQ_PSN, pattern, 8);
		raw_expect_ack(&r, "not ready", RAW_RQ_PSN, (uint8_t)(RAW_RNR | timer));
		raw_request(&r, ROCE_OP_RC_SEND_ONLY, RAW_RQ_PSN + 1, pattern, 8);
		raw_expect_silence(&r, "the next is ahead now");
		raw_post_recv(&r, 4, 0, 64);
		raw_request(&r, ROCE_OP_RC_SEND_ONLY, RAW_RQ_PSN, pattern, 8);
		raw_expect_ack(&r, "ready", RAW_RQ_PSN, RAW_ACK);
		raw_expect_wc(&r, "once", 4, ROCE_WC_SUCCESS);
		raw_expect_no_wc(&r, "once");
		T_EQ(roce_nic_counters(r.dut.nic)->rnr_nak_tx, 1);
		raw_stop(&r);
	}
}

static void solicited_events(void)
{
	static const struct {
		const char *name;
		bool only_solicited, solicited, fires;
	} rows[] = {
		{"any, plain", 0, 0, 1},
		{"any, solicited", 0, 1, 1},
		{"solicited, plain", 1, 0, 0},
		{"solicited, solicited", 1, 1, 1},
	};
	struct roce_pkt pkt;
	struct raw r;
	size_t i;

	for (i = 0; i < 4; i++) {
		start(&r);
		raw_post_recv(&r, 1, 0, 64);
		raw_post_recv(&r, 2, 0, 64);
		roce_cq_arm(roce_cq_find(r.dut.nic, 2 * RAW_QPN + 1), rows[i].only_solicited);
		raw_pkt(&r, &pkt, ROCE_OP_RC_SEND_ONLY, RAW_RQ_PSN);
		pkt.solicited = rows[i].solicited;
		raw_send(&r, &pkt, NULL, 8);
		T_EQ_ROW(rows[i].name, r.dut.cq_fired_count, rows[i].fires);
		/* Fired once is disarmed. */
		pkt.psn++;
		raw_send(&r, &pkt, NULL, 8);
		T_EQ_ROW(rows[i].name, r.dut.cq_fired_count, rows[i].fires);
		raw_stop(&r);
	}
}

/* A failed completion is an event even for who waits for solicited ones (IBTA 11.4.2.2). */
static void failure_is_solicited(void)
{
	struct raw r;

	start(&r);
	raw_post_recv(&r, 1, 0, 64);
	roce_cq_arm(roce_cq_find(r.dut.nic, 2 * RAW_QPN + 1), true);
	raw_request(&r, ROCE_OP_RC_SEND_ONLY, RAW_RQ_PSN, NULL, 65);
	T_EQ(r.dut.cq_fired_count, 1);
	raw_stop(&r);
}

static void first_packet_in_rtr_is_an_event(void)
{
	struct raw r;

	raw_defaults(&r, ROCE_QPT_RC);
	raw_open(&r);
	r.qp = node_qp(&r.dut, RAW_QPN, r.type, NULL);
	node_connect(&r.dut, r.qp, &r.attr, r.type, ROCE_QPS_RTR);
	raw_post_recv(&r, 1, 0, 64);
	raw_request(&r, ROCE_OP_RC_SEND_ONLY, RAW_RQ_PSN, NULL, 8);
	raw_expect_ack(&r, "in RTR", RAW_RQ_PSN, RAW_ACK);
	raw_expect_wc(&r, "in RTR", 1, ROCE_WC_SUCCESS);
	T_EQ(node_count_events(&r.dut, ROCE_EVENT_COMM_EST), 1);
	raw_write(&r, ROCE_OP_RC_WRITE_ONLY, RAW_RQ_PSN + 1, 0, 4, 4);
	T_EQ(node_count_events(&r.dut, ROCE_EVENT_COMM_EST), 1);
	raw_stop(&r);
}

/* ------------------------------------------------------------- acknowledging */

static void packets_that_ask_are_answered(void)
{
	struct roce_pkt pkt;
	struct raw r;

	start(&r);
	raw_pkt(&r, &pkt, ROCE_OP_RC_WRITE_ONLY, RAW_RQ_PSN);
	pkt.ack_req = false;
	raw_send(&r, &pkt, NULL, 0);
	raw_expect_silence(&r, "not asked");
	pkt.psn++;
	pkt.ack_req = true;
	raw_send(&r, &pkt, NULL, 0);
	T_EQ(raw_expect_ack(&r, "asked", RAW_RQ_PSN + 1, RAW_ACK)->msn, 2);
	raw_expect_silence(&r, "one for both");
	raw_stop(&r);
}

static void every_so_many_packets_are_answered(void)
{
	struct roce_pkt pkt;
	struct raw r;
	uint32_t i;

	raw_defaults(&r, ROCE_QPT_RC);
	r.dut.config.ack_every = 4;
	raw_start(&r);
	raw_pkt(&r, &pkt, ROCE_OP_RC_WRITE_ONLY, RAW_RQ_PSN);
	pkt.ack_req = false;
	for (i = 1; i <= 12; i++, pkt.psn++) {
		raw_send(&r, &pkt, NULL, 0);
		if (i % 4)
			raw_expect_silence(&r, "between");
		else
			raw_expect_ack(&r, "fourth", pkt.psn, RAW_ACK);
	}
	raw_stop(&r);
}

/*
 * The program that finds its last message there may end the connection at once. Its peer must
 * not be left without an answer, to retry for nothing and fail.
 */
static void last_message_is_acknowledged_whatever_follows(void)
{
	static const char *const ends[] = {"ERR", "RESET", "destroy"};
	struct roce_qp_attr attr = {0};
	struct roce_template t;
	struct roce_pkt pkt;
	uint8_t frame[128];
	struct raw r;
	size_t i;

	for (i = 0; i < 3; i++) {
		start(&r);
		raw_post_recv(&r, 1, 0, 64);
		raw_pkt(&r, &pkt, ROCE_OP_RC_SEND_ONLY, RAW_RQ_PSN);
		roce_template_init(&t, &r.path);
		roce_frame_build(&t, &pkt, frame);
		roce_frame_finish(&t, &pkt, frame);
		roce_nic_input(r.dut.nic, r.dut.now, frame, roce_frame_size(&t, pkt.op, 0));
		raw_expect_wc(&r, ends[i], 1, ROCE_WC_SUCCESS);
		attr.state = i == 0 ? ROCE_QPS_ERR : ROCE_QPS_RESET;
		if (i < 2)
			T_EQ(roce_qp_modify(r.qp, r.dut.now, &attr, ROCE_QP_STATE), 0);
		else
			roce_qp_destroy(r.qp);
		node_run(&r.dut);
		raw_expect_ack(&r, ends[i], RAW_RQ_PSN, RAW_ACK);
		raw_expect_silence(&r, ends[i]);
		raw_stop(&r);
	}
}

/* Where the port is full, the newest ACK stands for all before it. */
static void acks_wait_for_room(void)
{
	struct raw r;
	uint32_t i;

	start(&r);
	r.dut.room = 0;
	for (i = 0; i < 5; i++)
		raw_write(&r, ROCE_OP_RC_WRITE_ONLY, RAW_RQ_PSN + i, 0, 4, 4);
	raw_expect_silence(&r, "full");
	node_make_room(&r.dut, 8);
	T_EQ(raw_expect_ack(&r, "room", RAW_RQ_PSN + 4, RAW_ACK)->msn, 5);
	raw_stop(&r);
}

T_MAIN("roce_resp", T_CASE(send_lands_in_the_receive), T_CASE(send_kinds_complete_as_what_they_are),
       T_CASE(write_takes_no_receive), T_CASE(nothing_may_be_sent_at_all),
       T_CASE(receive_is_scattered), T_CASE(early_packet_gets_one_nak), T_CASE(psn_space_is_a_ring),
       T_CASE(messages_cross_the_wrap), T_CASE(duplicate_is_acknowledged_not_done),
       T_CASE(msn_counts_messages), T_CASE(msn_wraps), T_CASE(rnr_nak_tells_the_time_and_waits),
       T_CASE(solicited_events), T_CASE(failure_is_solicited),
       T_CASE(first_packet_in_rtr_is_an_event), T_CASE(packets_that_ask_are_answered),
       T_CASE(every_so_many_packets_are_answered),
       T_CASE(last_message_is_acknowledged_whatever_follows), T_CASE(acks_wait_for_room), )
