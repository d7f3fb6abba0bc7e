/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The completer: ACKs, NAKs, READ responses and what is made of those that do not fit. */
#include "tests/lib/t.h"
#include "tests/unit/sim/engine/roce_raw.h"

#include <stdio.h>
#include <string.h>

enum { MTU = 1024 };

static uint8_t pattern[6 * MTU];

static void start(struct raw *r)
{
	size_t i;

	for (i = 0; i < sizeof(pattern); i++)
		pattern[i] = (uint8_t)(i * 11 + i / 256);
	raw_defaults(r, ROCE_QPT_RC);
	raw_start(r);
}

/* The i-th of `packets` responses, with its part of the pattern. */
static void respond(struct raw *r, uint32_t psn, uint32_t i, uint32_t packets, uint32_t length)
{
	enum roce_opcode code = ROCE_OP_RC_READ_RESPONSE_MIDDLE;

	if (packets == 1)
		code = ROCE_OP_RC_READ_RESPONSE_ONLY;
	else if (i == 0)
		code = ROCE_OP_RC_READ_RESPONSE_FIRST;
	else if (i == packets - 1)
		code = ROCE_OP_RC_READ_RESPONSE_LAST;
	raw_read_response(r, code, psn + i, pattern + i * MTU,
			  i == packets - 1 ? length - i * MTU : MTU);
}

/* -------------------------------------------------------------------- ACKs */

static void one_ack_stands_for_all_before(void)
{
	struct raw r;
	uint64_t i;

	start(&r);
	for (i = 0; i < 5; i++)
		raw_post(&r, i, i % 2 ? ROCE_WR_WRITE : ROCE_WR_SEND, 0, 3 * MTU);
	raw_forget(&r);
	raw_ack(&r, RAW_SQ_PSN + 1, RAW_ACK);
	raw_expect_no_wc(&r, "in the middle of the first");
	raw_ack(&r, RAW_SQ_PSN + 3 * 3, RAW_ACK);
	for (i = 0; i < 3; i++)
		raw_expect_wc(&r, "three are done", i, ROCE_WC_SUCCESS);
	raw_expect_no_wc(&r, "the fourth has begun");
	raw_ack(&r, RAW_SQ_PSN + 14, RAW_ACK);
	raw_expect_wc(&r, "fourth", 3, ROCE_WC_SUCCESS);
	raw_expect_wc(&r, "fifth", 4, ROCE_WC_SUCCESS);
	T_EQ(roce_nic_next(r.dut.nic), UINT64_MAX);
	raw_expect_silence(&r, "all done");
	raw_stop(&r);
}

static void acks_that_say_nothing_new_are_ignored(void)
{
	static const struct {
		const char *name;
		int32_t psn; /* from that of the last packet sent */
		uint8_t syndrome;
	} rows[] = {
		{"not sent yet", 1, RAW_ACK},
		{"far ahead", 1000, RAW_ACK},
		{"acknowledged before", -1, RAW_ACK},
		{"long ago", -1000, RAW_ACK},
		{"NAK of what is acknowledged", -1, RAW_NAK_SEQUENCE},
		{"fatal NAK of what is acknowledged", -1, RAW_NAK_ACCESS},
		{"NAK of what was not sent", 2, RAW_NAK_ACCESS},
		{"RNR NAK of what is acknowledged", -1, RAW_RNR | 12},
		{"RNR NAK of what was not sent", 2, RAW_RNR | 12},
		{"reserved kind", 0, 0x5f},
	};
	struct raw r;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		start(&r);
		raw_post(&r, 1, ROCE_WR_SEND, 0, 8);
		raw_post(&r, 2, ROCE_WR_SEND, 0, 8);
		raw_forget(&r);
		raw_ack(&r, RAW_SQ_PSN, RAW_ACK);
		raw_expect_wc(&r, rows[i].name, 1, ROCE_WC_SUCCESS);
		raw_ack(&r, (uint32_t)(RAW_SQ_PSN + 1 + rows[i].psn), rows[i].syndrome);
		raw_expect_no_wc(&r, rows[i].name);
		T_EQ_ROW(rows[i].name, roce_qp_state(r.qp), ROCE_QPS_RTS);
		raw_forget(&r);
		raw_ack(&r, RAW_SQ_PSN + 1, RAW_ACK);
		raw_expect_wc(&r, rows[i].name, 2, ROCE_WC_SUCCESS);
		raw_stop(&r);
	}
}

static void psns_wrap(void)
{
	struct raw r;

	raw_defaults(&r, ROCE_QPT_RC);
	r.attr.sq_psn = 0xfffffe;
	raw_start(&r);
	raw_post(&r, 1, ROCE_WR_SEND, 0, MTU);
	raw_post(&r, 2, ROCE_WR_SEND, 0, 3 * MTU);
	raw_expect(&r, "first", ROCE_OP_RC_SEND_ONLY, 0xfffffe);
	raw_expect(&r, "second", ROCE_OP_RC_SEND_FIRST, 0xffffff);
	raw_expect(&r, "second", ROCE_OP_RC_SEND_MIDDLE, 0);
	raw_expect(&r, "second", ROCE_OP_RC_SEND_LAST, 1);
	raw_ack(&r, 0, RAW_NAK_SEQUENCE);
	raw_expect_wc(&r, "first", 1, ROCE_WC_SUCCESS);
	raw_expect(&r, "again", ROCE_OP_RC_SEND_MIDDLE, 0);
	raw_expect(&r, "again", ROCE_OP_RC_SEND_LAST, 1);
	raw_ack(&r, 1, RAW_ACK);
	raw_expect_wc(&r, "second", 2, ROCE_WC_SUCCESS);
	raw_stop(&r);
}

/* -------------------------------------------------------------------- NAKs */

static void sequence_nak_sends_again_from_there(void)
{
	struct raw r;
	uint32_t i;

	start(&r);
	raw_post(&r, 1, ROCE_WR_SEND, 0, MTU);
	raw_post(&r, 2, ROCE_WR_SEND, 0, 4 * MTU);
	raw_post(&r, 3, ROCE_WR_WRITE, 0, MTU);
	raw_forget(&r);
	raw_ack(&r, RAW_SQ_PSN + 3, RAW_NAK_SEQUENCE);
	raw_expect_wc(&r, "before it", 1, ROCE_WC_SUCCESS);
	raw_expect(&r, "again", ROCE_OP_RC_SEND_MIDDLE, RAW_SQ_PSN + 3);
	T_BYTES(r.pkt.payload, r.mr->bytes + 2 * MTU, MTU);
	raw_expect(&r, "again", ROCE_OP_RC_SEND_LAST, RAW_SQ_PSN + 4);
	raw_expect(&r, "again", ROCE_OP_RC_WRITE_ONLY, RAW_SQ_PSN + 5);
	raw_expect_silence(&r, "all");
	T_EQ(roce_nic_counters(r.dut.nic)->packet_seq_err, 1);
	T_EQ(roce_nic_counters(r.dut.nic)->retransmitted, 3);
	/* Not for ever: retry_cnt is spent where nothing moves on. */
	for (i = 0; i < 20 && roce_qp_state(r.qp) == ROCE_QPS_RTS; i++)
		raw_ack(&r, RAW_SQ_PSN + 3, RAW_NAK_SEQUENCE);
	raw_expect_wc(&r, "given up", 2, ROCE_WC_RETRY_EXC_ERR);
	T_TRUE(i == 7 || i == 8);
	raw_expect_wc(&r, "flushed", 3, ROCE_WC_WR_FLUSH_ERR);
	raw_stop(&r);
}

/* A WRITE that is sent again from its middle has no RETH there. */
static void write_goes_on_in_its_middle(void)
{
	struct raw r;

	start(&r);
	raw_post(&r, 1, ROCE_WR_WRITE_IMM, 0, 3 * MTU);
	raw_forget(&r);
	raw_ack(&r, RAW_SQ_PSN + 1, RAW_NAK_SEQUENCE);
	raw_expect(&r, "middle", ROCE_OP_RC_WRITE_MIDDLE, RAW_SQ_PSN + 1);
	raw_expect(&r, "last", ROCE_OP_RC_WRITE_LAST_IMM, RAW_SQ_PSN + 2);
	raw_ack(&r, RAW_SQ_PSN, RAW_NAK_SEQUENCE);
	raw_forget(&r);
	raw_ack(&r, RAW_SQ_PSN + 2, RAW_ACK);
	raw_expect_wc(&r, "done", 1, ROCE_WC_SUCCESS);
	raw_stop(&r);
}

static void fatal_naks(void)
{
	static const struct {
		const char *name;
		uint8_t syndrome;
		enum roce_wc_status want;
	} rows[] = {
		{"invalid request", RAW_NAK_INVALID, ROCE_WC_REM_INV_REQ_ERR},
		{"remote access", RAW_NAK_ACCESS, ROCE_WC_REM_ACCESS_ERR},
		{"remote operation", RAW_NAK_OPERATION, ROCE_WC_REM_OP_ERR},
	};
	struct raw r;
	size_t i;

	for (i = 0; i < 3; i++) {
		start(&r);
		raw_post_recv(&r, 90, 0, 8);
		raw_post(&r, 1, ROCE_WR_SEND, 0, MTU);
		raw_post(&r, 2, ROCE_WR_WRITE, 0, 2 * MTU);
		raw_post(&r, 3, ROCE_WR_READ, 0, 8);
		raw_forget(&r);
		raw_ack(&r, RAW_SQ_PSN + 1, rows[i].syndrome);
		raw_expect_wc(&r, rows[i].name, 1, ROCE_WC_SUCCESS);
		raw_expect_wc(&r, rows[i].name, 2, rows[i].want);
		raw_expect_wc(&r, rows[i].name, 3, ROCE_WC_WR_FLUSH_ERR);
		raw_expect_wc(&r, rows[i].name, 90, ROCE_WC_WR_FLUSH_ERR);
		T_EQ_ROW(rows[i].name, roce_qp_state(r.qp), ROCE_QPS_ERR);
		T_EQ_ROW(rows[i].name, roce_nic_next(r.dut.nic), UINT64_MAX);
		raw_ack(&r, RAW_SQ_PSN + 3, RAW_ACK);
		raw_expect_no_wc(&r, rows[i].name);
		raw_stop(&r);
	}
}

/* ------------------------------------------------------- READs and atomics */

static void read_lands_in_its_list(void)
{
	struct roce_sge sge[3];
	struct roce_send_wr wr = {.wr_id = 5,
				  .opcode = ROCE_WR_READ,
				  .flags = ROCE_WR_SIGNALED,
				  .sge = sge,
				  .num_sge = 3};
	struct raw r;
	uint32_t i;

	start(&r);
	r.mr->piece = 33;
	sge[0] = (struct roce_sge){r.mr->iova + 1, 7, RAW_KEY};
	sge[1] = (struct roce_sge){r.mr->iova + 100, 2000, RAW_KEY};
	sge[2] = (struct roce_sge){r.mr->iova + 4000, 93, RAW_KEY};
	T_EQ(roce_post_send(r.qp, r.dut.now, &wr), 0);
	node_run(&r.dut);
	raw_expect(&r, "READ", ROCE_OP_RC_READ_REQUEST, RAW_SQ_PSN);
	for (i = 0; i < 3; i++)
		respond(&r, RAW_SQ_PSN, i, 3, 2100);
	T_EQ(raw_expect_wc(&r, "READ", 5, ROCE_WC_SUCCESS)->byte_len, 2100);
	T_BYTES(r.mr->bytes + 1, pattern, 7);
	T_BYTES(r.mr->bytes + 100, pattern + 7, 2000);
	T_BYTES(r.mr->bytes + 4000, pattern + 2007, 93);
	raw_stop(&r);
}

static void atomic_result_lands(void)
{
	uint64_t value;
	struct raw r;

	start(&r);
	raw_post(&r, 1, ROCE_WR_FETCH_ADD, 24, 8);
	raw_forget(&r);
	raw_atomic_ack(&r, RAW_SQ_PSN, 0x0102030405060708);
	raw_expect_wc(&r, "atomic", 1, ROCE_WC_SUCCESS);
	memcpy(&value, r.mr->bytes + 24, 8);
	T_EQ(value, 0x0102030405060708);
	/* The same answer again changes nothing. */
	memset(r.mr->bytes + 24, 0, 8);
	raw_atomic_ack(&r, RAW_SQ_PSN, 0x0102030405060708);
	T_EQ(r.mr->bytes[24], 0);
	raw_expect_no_wc(&r, "again");
	raw_stop(&r);
}

/* Case: an ACK that jumps over a READ is a NAK for the READ (IBTA 9.7.5.1.1, implied NAK). */
static void ack_over_an_unanswered_read(void)
{
	struct raw r;

	start(&r);
	raw_post(&r, 40, ROCE_WR_WRITE, 0, 8);
	raw_post(&r, 41, ROCE_WR_READ, 64, 8);
	raw_post(&r, 42, ROCE_WR_WRITE, 0, 8);
	raw_forget(&r);
	raw_ack(&r, RAW_SQ_PSN + 2, RAW_ACK);
	raw_expect_wc(&r, "WRITE before", 40, ROCE_WC_SUCCESS);
	raw_expect_no_wc(&r, "READ and WRITE after");
	raw_expect(&r, "again", ROCE_OP_RC_READ_REQUEST, RAW_SQ_PSN + 1);
	raw_expect(&r, "again", ROCE_OP_RC_WRITE_ONLY, RAW_SQ_PSN + 2);
	T_EQ(roce_nic_counters(r.dut.nic)->implied_nak_seq_err, 1);
	respond(&r, RAW_SQ_PSN + 1, 0, 1, 8);
	raw_expect_wc(&r, "READ", 41, ROCE_WC_SUCCESS);
	raw_ack(&r, RAW_SQ_PSN + 2, RAW_ACK);
	raw_expect_wc(&r, "WRITE after", 42, ROCE_WC_SUCCESS);
	T_BYTES(r.mr->bytes + 64, pattern, 8);
	raw_expect_no_wc(&r, "once each");
	raw_stop(&r);
}

/* Its second part: a READ of four loses the third response, and goes on exactly there. */
static void read_goes_on_at_the_lost_response(void)
{
	const uint32_t length = 4 * MTU - 5;
	struct raw r;

	start(&r);
	raw_post(&r, 9, ROCE_WR_READ, 100, length);
	raw_forget(&r);
	respond(&r, RAW_SQ_PSN, 0, 4, length);
	respond(&r, RAW_SQ_PSN, 1, 4, length);
	respond(&r, RAW_SQ_PSN, 3, 4, length);
	raw_expect_no_wc(&r, "with a hole");
	raw_expect(&r, "rest", ROCE_OP_RC_READ_REQUEST, RAW_SQ_PSN + 2);
	T_EQ(r.pkt.va, 0x123456789000 + 2 * MTU);
	T_EQ(r.pkt.dma_length, length - 2 * MTU);
	raw_expect_silence(&r, "once");
	raw_read_response(&r, ROCE_OP_RC_READ_RESPONSE_FIRST, RAW_SQ_PSN + 2, pattern + 2 * MTU,
			  MTU);
	raw_read_response(&r, ROCE_OP_RC_READ_RESPONSE_LAST, RAW_SQ_PSN + 3, pattern + 3 * MTU,
			  length - 3 * MTU);
	T_EQ(raw_expect_wc(&r, "whole", 9, ROCE_WC_SUCCESS)->byte_len, length);
	raw_expect_no_wc(&r, "once");
	T_BYTES(r.mr->bytes + 100, pattern, length);
	T_EQ(roce_nic_counters(r.dut.nic)->implied_nak_seq_err, 1);
	raw_stop(&r);
}

static void read_whose_last_response_is_lost(void)
{
	struct raw r;

	start(&r);
	raw_post(&r, 9, ROCE_WR_READ, 0, 3 * MTU);
	raw_forget(&r);
	respond(&r, RAW_SQ_PSN, 0, 3, 3 * MTU);
	respond(&r, RAW_SQ_PSN, 1, 3, 3 * MTU);
	node_advance(&r.dut, 4 * (4096ull << 14));
	raw_expect(&r, "rest", ROCE_OP_RC_READ_REQUEST, RAW_SQ_PSN + 2);
	T_EQ(r.pkt.dma_length, MTU);
	raw_forget(&r);
	raw_read_response(&r, ROCE_OP_RC_READ_RESPONSE_ONLY, RAW_SQ_PSN + 2, pattern + 2 * MTU,
			  MTU);
	raw_expect_wc(&r, "whole", 9, ROCE_WC_SUCCESS);
	T_BYTES(r.mr->bytes, pattern, 3 * MTU);
	raw_stop(&r);
}

/* A late duplicate of a response must not be taken for one of the READ behind it. */
static void responses_of_the_past_are_ignored(void)
{
	struct raw r;

	start(&r);
	raw_post(&r, 1, ROCE_WR_READ, 0, 2 * MTU);
	raw_post(&r, 2, ROCE_WR_READ, 4096, 8);
	raw_forget(&r);
	respond(&r, RAW_SQ_PSN, 0, 2, 2 * MTU);
	respond(&r, RAW_SQ_PSN, 1, 2, 2 * MTU);
	raw_expect_wc(&r, "first", 1, ROCE_WC_SUCCESS);
	memset(r.mr->bytes, 0x99, 2 * MTU);
	respond(&r, RAW_SQ_PSN, 0, 2, 2 * MTU);
	respond(&r, RAW_SQ_PSN, 1, 2, 2 * MTU);
	raw_expect_no_wc(&r, "again");
	T_EQ(r.mr->bytes[0], 0x99);
	T_EQ(r.mr->bytes[2 * MTU - 1], 0x99);
	respond(&r, RAW_SQ_PSN + 2, 0, 1, 8);
	raw_expect_wc(&r, "second", 2, ROCE_WC_SUCCESS);
	raw_stop(&r);
}

/* A peer that answers a READ with what it cannot be. */
static void wrong_responses_are_not_believed(void)
{
	static const struct {
		const char *name;
		enum roce_opcode code;
		uint32_t length; /* of the answer */
		uint32_t read;	 /* of the READ */
	} rows[] = {
		/* the first answer and its length, length of the READ */
		{"ONLY for more than a packet", ROCE_OP_RC_READ_RESPONSE_ONLY, MTU, 2 * MTU + 8},
		{"LAST at the beginning", ROCE_OP_RC_READ_RESPONSE_LAST, 8, 2 * MTU + 8},
		{"FIRST too short", ROCE_OP_RC_READ_RESPONSE_FIRST, MTU - 1, 2 * MTU + 8},
		{"FIRST too long", ROCE_OP_RC_READ_RESPONSE_FIRST, MTU + 1, 2 * MTU + 8},
		{"ONLY too short", ROCE_OP_RC_READ_RESPONSE_ONLY, 7, 8},
		{"ONLY too long", ROCE_OP_RC_READ_RESPONSE_ONLY, 9, 8},
		{"ONLY empty", ROCE_OP_RC_READ_RESPONSE_ONLY, 0, 8},
		{"FIRST of one", ROCE_OP_RC_READ_RESPONSE_FIRST, MTU, MTU},
		{"atomic's answer", ROCE_OP_RC_ATOMIC_ACK, 0, 2 * MTU + 8},
	};
	uint8_t before[RAW_MR_BYTES];
	const struct node_wc *wc;
	struct raw r;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		start(&r);
		raw_post(&r, 1, ROCE_WR_READ, 0, rows[i].read);
		raw_forget(&r);
		memcpy(before, r.mr->bytes, sizeof(before));
		raw_read_response(&r, rows[i].code, RAW_SQ_PSN, NULL, rows[i].length);
		wc = node_take_wc(&r.dut);
		T_TRUE_ROW(rows[i].name, !wc || wc->wc.status == ROCE_WC_BAD_RESP_ERR ||
						 wc->wc.status == ROCE_WC_LOC_LEN_ERR);
		T_TRUE_ROW(rows[i].name, wc || roce_qp_state(r.qp) == ROCE_QPS_RTS);
		T_BYTES_ROW(rows[i].name, r.mr->bytes, before, sizeof(before));
		raw_forget(&r);
		raw_stop(&r);
	}
}

/* ACK, RNR NAK and READ response in answer to what they cannot answer. */
static void answers_of_the_wrong_kind(void)
{
	const struct node_wc *wc;
	struct raw r;

	start(&r);
	raw_post(&r, 1, ROCE_WR_SEND, 0, 8);
	raw_forget(&r);
	raw_read_response(&r, ROCE_OP_RC_READ_RESPONSE_ONLY, RAW_SQ_PSN, NULL, 8);
	wc = node_take_wc(&r.dut);
	T_TRUE(!wc || wc->wc.status == ROCE_WC_BAD_RESP_ERR);
	raw_stop(&r);
	start(&r);
	raw_post(&r, 1, ROCE_WR_FETCH_ADD, 0, 8);
	raw_forget(&r);
	raw_ack(&r, RAW_SQ_PSN, RAW_ACK); /* an implied NAK at most */
	raw_expect_no_wc(&r, "atomic");
	raw_forget(&r);
	raw_atomic_ack(&r, RAW_SQ_PSN, 1);
	raw_expect_wc(&r, "atomic", 1, ROCE_WC_SUCCESS);
	raw_stop(&r);
}

/* Answers with a NAK in their AETH are NAKs. */
static void nak_of_a_read(void)
{
	struct raw r;

	start(&r);
	raw_post(&r, 1, ROCE_WR_WRITE, 0, 8);
	raw_post(&r, 2, ROCE_WR_READ, 0, 2 * MTU);
	raw_post(&r, 3, ROCE_WR_SEND, 0, 8);
	raw_forget(&r);
	respond(&r, RAW_SQ_PSN + 1, 0, 2, 2 * MTU);
	raw_expect_wc(&r, "a response acknowledges what was before", 1, ROCE_WC_SUCCESS);
	raw_ack(&r, RAW_SQ_PSN + 2, RAW_NAK_OPERATION);
	raw_expect_wc(&r, "READ", 2, ROCE_WC_REM_OP_ERR);
	raw_expect_wc(&r, "SEND", 3, ROCE_WC_WR_FLUSH_ERR);
	raw_stop(&r);
}

static void read_into_memory_that_went_away(void)
{
	const struct node_wc *wc;
	struct raw r;

	start(&r);
	raw_post(&r, 1, ROCE_WR_READ, 0, 2 * MTU);
	raw_forget(&r);
	respond(&r, RAW_SQ_PSN, 0, 2, 2 * MTU);
	roce_mr_destroy(r.mr->mr);
	respond(&r, RAW_SQ_PSN, 1, 2, 2 * MTU);
	wc = node_take_wc(&r.dut);
	T_TRUE(wc && wc->wc.status == ROCE_WC_LOC_PROT_ERR);
	T_EQ(roce_qp_state(r.qp), ROCE_QPS_ERR);
	raw_stop(&r);
}

T_MAIN("roce_comp", T_CASE(one_ack_stands_for_all_before),
       T_CASE(acks_that_say_nothing_new_are_ignored), T_CASE(psns_wrap),
       T_CASE(sequence_nak_sends_again_from_there), T_CASE(write_goes_on_in_its_middle),
       T_CASE(fatal_naks), T_CASE(read_lands_in_its_list), T_CASE(atomic_result_lands),
       T_CASE(ack_over_an_unanswered_read), T_CASE(read_goes_on_at_the_lost_response),
       T_CASE(read_whose_last_response_is_lost), T_CASE(responses_of_the_past_are_ignored),
       T_CASE(wrong_responses_are_not_believed), T_CASE(answers_of_the_wrong_kind),
       T_CASE(nak_of_a_read), T_CASE(read_into_memory_that_went_away), )
