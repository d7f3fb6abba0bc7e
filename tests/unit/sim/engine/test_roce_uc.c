/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Unreliable connections: nothing is answered, and a message with a hole is no message. */
#include "tests/lib/t.h"
#include "tests/unit/sim/engine/roce_raw.h"

#include <string.h>

enum { MTU = 1024 };

static uint8_t pattern[4 * MTU];

static void start(struct raw *r)
{
	size_t i;

	for (i = 0; i < sizeof(pattern); i++)
		pattern[i] = (uint8_t)(i * 5 + i / 256);
	raw_defaults(r, ROCE_QPT_UC);
	raw_start(r);
}

static void sends_are_done_when_they_left(void)
{
	struct raw r;

	start(&r);
	raw_post(&r, 1, ROCE_WR_SEND, 0, 2 * MTU + 1);
	raw_expect(&r, "first", ROCE_OP_UC_SEND_FIRST, RAW_SQ_PSN);
	raw_expect(&r, "middle", ROCE_OP_UC_SEND_MIDDLE, RAW_SQ_PSN + 1);
	T_EQ(raw_expect(&r, "last", ROCE_OP_UC_SEND_LAST, RAW_SQ_PSN + 2)->payload_length, 1);
	raw_expect_wc(&r, "SEND", 1, ROCE_WC_SUCCESS);
	raw_post(&r, 2, ROCE_WR_WRITE_IMM, 0, MTU);
	raw_expect(&r, "only", ROCE_OP_UC_WRITE_ONLY_IMM, RAW_SQ_PSN + 3);
	T_EQ(r.pkt.dma_length, MTU);
	raw_expect_wc(&r, "WRITE", 2, ROCE_WC_SUCCESS);
	T_EQ(roce_nic_next(r.dut.nic), UINT64_MAX);
	raw_stop(&r);
}

static void messages_arrive(void)
{
	struct raw r;

	start(&r);
	raw_post_recv(&r, 1, 0, 4 * MTU);
	raw_request(&r, ROCE_OP_UC_SEND_FIRST, RAW_RQ_PSN, pattern, MTU);
	raw_request(&r, ROCE_OP_UC_SEND_LAST, RAW_RQ_PSN + 1, pattern + MTU, 99);
	T_EQ(raw_expect_wc(&r, "SEND", 1, ROCE_WC_SUCCESS)->byte_len, MTU + 99);
	T_BYTES(r.mr->bytes, pattern, MTU + 99);
	raw_expect_silence(&r, "never an answer");
	raw_stop(&r);
}

/* Each way of losing packets; then a whole message gets through into the same receive. */
static void holes_lose_the_message_only(void)
{
	static const struct {
		const char *name;
		uint32_t count;
		struct {
			enum roce_opcode code;
			uint32_t psn;
			uint32_t length;
		} sent[4];
	} rows[] = {
		{"middle lost", 2, {{ROCE_OP_UC_SEND_FIRST, 0, MTU}, {ROCE_OP_UC_SEND_LAST, 2, 8}}},
		{"first lost", 2, {{ROCE_OP_UC_SEND_MIDDLE, 1, MTU}, {ROCE_OP_UC_SEND_LAST, 2, 8}}},
		{"last lost", 1, {{ROCE_OP_UC_SEND_FIRST, 0, MTU}}},
		{"last and first lost",
		 3,
		 {{ROCE_OP_UC_SEND_FIRST, 0, MTU},
		  {ROCE_OP_UC_SEND_MIDDLE, 4, MTU},
		  {ROCE_OP_UC_SEND_LAST, 5, 8}}},
		{"WRITE without its first",
		 2,
		 {{ROCE_OP_UC_WRITE_MIDDLE, 1, MTU}, {ROCE_OP_UC_WRITE_LAST_IMM, 2, 8}}},
	};
	struct raw r;
	size_t i;
	uint32_t k;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		start(&r);
		raw_post_recv(&r, 1, 0, 4 * MTU);
		for (k = 0; k < rows[i].count; k++)
			raw_request(&r, rows[i].sent[k].code, RAW_RQ_PSN + rows[i].sent[k].psn,
				    NULL, rows[i].sent[k].length);
		raw_expect_no_wc(&r, rows[i].name);
		T_EQ_ROW(rows[i].name, roce_qp_state(r.qp), ROCE_QPS_RTS);
		raw_request(&r, ROCE_OP_UC_SEND_FIRST, RAW_RQ_PSN + 10, pattern, MTU);
		raw_request(&r, ROCE_OP_UC_SEND_LAST, RAW_RQ_PSN + 11, pattern + MTU, 1);
		T_EQ_ROW(rows[i].name,
			 raw_expect_wc(&r, rows[i].name, 1, ROCE_WC_SUCCESS)->byte_len, MTU + 1);
		T_BYTES_ROW(rows[i].name, r.mr->bytes, pattern, MTU + 1);
		raw_expect_silence(&r, rows[i].name);
		raw_stop(&r);
	}
}

/* Whatever PSN a FIRST or ONLY has begins a message (IBTA 9.8.2.2.2); no other packet does. */
static void duplicate_of_a_middle_is_a_hole(void)
{
	struct raw r;

	start(&r);
	raw_post_recv(&r, 1, 0, 4 * MTU);
	raw_request(&r, ROCE_OP_UC_SEND_FIRST, RAW_RQ_PSN, pattern, MTU);
	raw_request(&r, ROCE_OP_UC_SEND_MIDDLE, RAW_RQ_PSN + 1, pattern, MTU);
	raw_request(&r, ROCE_OP_UC_SEND_MIDDLE, RAW_RQ_PSN + 1, pattern, MTU);
	raw_request(&r, ROCE_OP_UC_SEND_LAST, RAW_RQ_PSN + 2, pattern, 8);
	raw_expect_no_wc(&r, "lost");
	raw_request(&r, ROCE_OP_UC_SEND_ONLY, RAW_RQ_PSN - 100, pattern, 8);
	T_EQ(raw_expect_wc(&r, "next", 1, ROCE_WC_SUCCESS)->byte_len, 8);
	raw_stop(&r);
}

/* No receive: the message is lost, and nobody is told (IBTA 9.8.2.2). */
static void no_receive_loses_the_message(void)
{
	struct raw r;

	start(&r);
	raw_request(&r, ROCE_OP_UC_SEND_FIRST, RAW_RQ_PSN, pattern, MTU);
	raw_post_recv(&r, 1, 0, 4 * MTU);
	raw_request(&r, ROCE_OP_UC_SEND_LAST, RAW_RQ_PSN + 1, pattern, 8);
	raw_expect_no_wc(&r, "lost");
	raw_expect_silence(&r, "no RNR NAK");
	raw_request(&r, ROCE_OP_UC_SEND_ONLY, RAW_RQ_PSN + 2, pattern, 8);
	raw_expect_wc(&r, "next", 1, ROCE_WC_SUCCESS);
	raw_stop(&r);
}

static void write_needs_its_key(void)
{
	struct roce_pkt pkt;
	struct raw r;

	start(&r);
	raw_write(&r, ROCE_OP_UC_WRITE_ONLY, RAW_RQ_PSN, 100, 8, 8);
	T_EQ(r.mr->bytes[100], 0);
	memset(r.mr->bytes, 0x33, 8);
	raw_pkt(&r, &pkt, ROCE_OP_UC_WRITE_ONLY, RAW_RQ_PSN + 1);
	pkt.va = r.mr->iova;
	pkt.rkey = RAW_KEY ^ 1;
	pkt.dma_length = 8;
	raw_send(&r, &pkt, NULL, 8);
	T_EQ(r.mr->bytes[0], 0x33);
	raw_expect_silence(&r, "no NAK");
	raw_stop(&r);
}

T_MAIN("roce_uc", T_CASE(sends_are_done_when_they_left), T_CASE(messages_arrive),
       T_CASE(holes_lose_the_message_only), T_CASE(duplicate_of_a_middle_is_a_hole),
       T_CASE(no_receive_loses_the_message), T_CASE(write_needs_its_key), )
