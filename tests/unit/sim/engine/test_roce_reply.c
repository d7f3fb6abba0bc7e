/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* READ responses and atomics: their packets, and what a duplicate request gets. */
#include "tests/lib/t.h"
#include "tests/unit/sim/engine/roce_raw.h"

#include <stdio.h>
#include <string.h>

enum { MTU = 1024 };

static void start(struct raw *r)
{
	raw_defaults(r, ROCE_QPT_RC);
	raw_start(r);
}

/* Takes the responses of a READ of `length` bytes from PSN on, and compares them with memory. */
static void expect_read(struct raw *r, const char *row, uint32_t psn, uint64_t offset,
			uint32_t length)
{
	uint32_t packets = length ? (length + MTU - 1) / MTU : 1, i, want;
	enum roce_opcode code;
	const struct roce_pkt *pkt;

	for (i = 0; i < packets; i++) {
		code = ROCE_OP_RC_READ_RESPONSE_MIDDLE;
		if (packets == 1)
			code = ROCE_OP_RC_READ_RESPONSE_ONLY;
		else if (i == 0)
			code = ROCE_OP_RC_READ_RESPONSE_FIRST;
		else if (i == packets - 1)
			code = ROCE_OP_RC_READ_RESPONSE_LAST;
		pkt = raw_expect(r, row, code, psn + i);
		want = i == packets - 1 ? length - i * MTU : MTU;
		T_EQ_ROW(row, pkt->payload_length, want);
		T_TRUE_ROW(row, !pkt->ack_req);
		if (roce_op_has(pkt->op, ROCE_HDR_AETH))
			T_EQ_ROW(row, pkt->syndrome & 0x60, 0);
		if (pkt->payload && pkt->payload_length == want)
			T_BYTES_ROW(row, pkt->payload, r->mr->bytes + offset + i * MTU, want);
	}
}

static void reads_of_all_lengths(void)
{
	static const uint32_t lengths[] = {0,	1,	 3,	  4,	       MTU - 1,
					   MTU, MTU + 1, 2 * MTU, 2 * MTU + 1, 5 * MTU + 77};
	uint32_t psn = RAW_RQ_PSN;
	struct raw r;
	char row[32];
	size_t i;

	start(&r);
	r.mr->piece = 1000;
	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		snprintf(row, sizeof(row), "READ of %u", lengths[i]);
		raw_read(&r, psn, 5 + i, lengths[i]);
		expect_read(&r, row, psn, 5 + i, lengths[i]);
		raw_expect_silence(&r, row);
		psn += lengths[i] ? (lengths[i] + MTU - 1) / MTU : 1;
	}
	raw_stop(&r);
}

static void read_at_the_very_end_of_a_region(void)
{
	struct raw r;

	start(&r);
	raw_read(&r, RAW_RQ_PSN, RAW_MR_BYTES - MTU - 1, MTU + 1);
	expect_read(&r, "end", RAW_RQ_PSN, RAW_MR_BYTES - MTU - 1, MTU + 1);
	raw_stop(&r);
}

/* The next request's PSN is behind those of all responses. */
static void read_takes_the_psns_of_its_responses(void)
{
	struct raw r;

	raw_defaults(&r, ROCE_QPT_RC);
	r.attr.rq_psn = 0xfffffe;
	raw_start(&r);
	raw_read(&r, 0xfffffe, 0, 3 * MTU);
	expect_read(&r, "over the wrap", 0xfffffe, 0, 3 * MTU);
	raw_write(&r, ROCE_OP_RC_WRITE_ONLY, 2, 0, 4, 4);
	raw_expect_ack(&r, "ahead", 1, RAW_NAK_SEQUENCE);
	raw_write(&r, ROCE_OP_RC_WRITE_ONLY, 1, 0, 4, 4);
	raw_expect_ack(&r, "next", 1, RAW_ACK);
	raw_stop(&r);
}

/* Case: a requester that lost responses asks from the first missing one on. */
static void duplicate_reads(void)
{
	static const struct {
		const char *name;
		uint32_t skip; /* packets of the READ of 4 packets and 100 bytes */
	} rows[] = {
		{"whole", 0},
		{"from the third on", 2},
		{"the last", 4},
	};
	const uint32_t length = 4 * MTU + 100;
	uint32_t part;
	struct raw r;
	size_t i;

	start(&r);
	raw_read(&r, RAW_RQ_PSN, 64, length);
	expect_read(&r, "first time", RAW_RQ_PSN, 64, length);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		part = length - rows[i].skip * MTU;
		raw_read(&r, RAW_RQ_PSN + rows[i].skip, 64 + rows[i].skip * MTU, part);
		expect_read(&r, rows[i].name, RAW_RQ_PSN + rows[i].skip, 64 + rows[i].skip * MTU,
			    part);
		raw_expect_silence(&r, rows[i].name);
	}
	/* And the QP goes on where it was. */
	raw_write(&r, ROCE_OP_RC_WRITE_ONLY, RAW_RQ_PSN + 5, 0, 4, 4);
	raw_expect_ack(&r, "next", RAW_RQ_PSN + 5, RAW_ACK);
	raw_stop(&r);
}

/* What was never asked for is not given out in the disguise of a duplicate. */
static void false_duplicate_reads_are_ignored(void)
{
	static const struct {
		const char *name;
		uint32_t psn; /* from RAW_RQ_PSN */
		uint64_t offset;
		uint32_t length, key;
	} rows[] = {
		{"other address", 0, 8192, 2 * MTU, RAW_KEY},
		{"longer than it was", 0, 64, 4 * MTU, RAW_KEY},
		{"other key", 0, 64, 2 * MTU, 0xb01},
		{"before the READ", (uint32_t)-1, 64, 2 * MTU, RAW_KEY},
		{"address of another packet", 1, 64, MTU, RAW_KEY},
	};
	struct node_region *other;
	struct roce_pkt pkt;
	struct raw r;
	size_t i;

	start(&r);
	other = node_mr(&r.dut, 0xb01, ROCE_ACCESS_REMOTE_READ, 16384);
	raw_read(&r, RAW_RQ_PSN, 64, 2 * MTU);
	raw_forget(&r);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		raw_pkt(&r, &pkt, ROCE_OP_RC_READ_REQUEST, RAW_RQ_PSN + rows[i].psn);
		pkt.va = (rows[i].key == RAW_KEY ? r.mr : other)->iova + rows[i].offset;
		pkt.rkey = rows[i].key;
		pkt.dma_length = rows[i].length;
		raw_send(&r, &pkt, NULL, 0);
		raw_expect_silence(&r, rows[i].name);
		T_EQ_ROW(rows[i].name, roce_qp_state(r.qp), ROCE_QPS_RTS);
	}
	raw_stop(&r);
}

/* A duplicate of a READ whose region is gone by now gives nothing and ends nothing. */
static void duplicate_read_of_a_gone_region(void)
{
	struct raw r;

	start(&r);
	raw_read(&r, RAW_RQ_PSN, 0, 8);
	raw_forget(&r);
	roce_mr_destroy(r.mr->mr);
	raw_read(&r, RAW_RQ_PSN, 0, 8);
	T_TRUE(!raw_forget(&r) || r.pkt.payload_length == 0);
	T_EQ(roce_qp_state(r.qp), ROCE_QPS_RTS);
	raw_stop(&r);
}

static uint64_t word(const struct raw *r)
{
	uint64_t value;

	memcpy(&value, r->mr->bytes, 8);
	return value;
}

static void set_word(struct raw *r, uint64_t value)
{
	memcpy(r->mr->bytes, &value, 8);
}

static void atomics_do_what_they_say(void)
{
	static const struct {
		const char *name;
		enum roce_opcode code;
		uint64_t before, swap_add, compare, after;
	} rows[] = {
		{"add", ROCE_OP_RC_FETCH_ADD, 5, 3, 0, 8},
		{"add 0", ROCE_OP_RC_FETCH_ADD, 5, 0, 0, 5},
		{"add wraps", ROCE_OP_RC_FETCH_ADD, UINT64_MAX, 2, 0, 1},
		{"add carries over 32 bits", ROCE_OP_RC_FETCH_ADD, 0xffffffff, 1, 0, 1ull << 32},
		{"equal", ROCE_OP_RC_CMP_SWAP, 0x1122334455667788, 9, 0x1122334455667788, 9},
		{"not equal", ROCE_OP_RC_CMP_SWAP, 0x1122334455667788, 9, 0x1122334455667789,
		 0x1122334455667788},
		{"upper half differs", ROCE_OP_RC_CMP_SWAP, 1ull << 32 | 7, 9, 7, 1ull << 32 | 7},
	};
	const struct roce_pkt *ack;
	struct raw r;
	uint32_t i;

	start(&r);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		set_word(&r, rows[i].before);
		raw_atomic(&r, rows[i].code, RAW_RQ_PSN + i, rows[i].swap_add, rows[i].compare);
		ack = raw_expect(&r, rows[i].name, ROCE_OP_RC_ATOMIC_ACK, RAW_RQ_PSN + i);
		T_EQ_ROW(rows[i].name, ack->original, rows[i].before);
		T_EQ_ROW(rows[i].name, ack->msn, i + 1);
		T_EQ_ROW(rows[i].name, ack->syndrome & 0x60, 0);
		T_EQ_ROW(rows[i].name, word(&r), rows[i].after);
	}
	raw_stop(&r);
}

static void duplicate_atomic_is_answered_from_memory_of_it(void)
{
	struct raw r;
	uint32_t i;

	start(&r);
	set_word(&r, 100);
	for (i = 0; i < 4; i++)
		raw_atomic(&r, ROCE_OP_RC_FETCH_ADD, RAW_RQ_PSN + i, 1, 0);
	raw_forget(&r);
	T_EQ(word(&r), 104);
	/* All four resources are replayed, in any order and as often as asked. */
	for (i = 0; i < 12; i++) {
		raw_atomic(&r, ROCE_OP_RC_FETCH_ADD, RAW_RQ_PSN + 3 - i % 4, 1, 0);
		T_EQ(raw_expect(&r, "replay", ROCE_OP_RC_ATOMIC_ACK, RAW_RQ_PSN + 3 - i % 4)
			     ->original,
		     100 + 3 - i % 4);
	}
	T_EQ(word(&r), 104);
	raw_stop(&r);
}

/* One that is forgotten is not done again, whatever comes back. */
static void forgotten_atomic_is_not_done_again(void)
{
	struct raw r;
	uint32_t i;

	start(&r);
	set_word(&r, 0);
	for (i = 0; i < 9; i++)
		raw_atomic(&r, ROCE_OP_RC_FETCH_ADD, RAW_RQ_PSN + i, 1, 0);
	raw_forget(&r);
	raw_atomic(&r, ROCE_OP_RC_FETCH_ADD, RAW_RQ_PSN, 1, 0);
	raw_expect_silence(&r, "forgotten");
	raw_atomic(&r, ROCE_OP_RC_CMP_SWAP, RAW_RQ_PSN + 1, 77, 9);
	raw_expect_silence(&r, "forgotten");
	T_EQ(word(&r), 9);
	T_EQ(roce_qp_state(r.qp), ROCE_QPS_RTS);
	raw_stop(&r);
}

/* More at once than was agreed on is an invalid request. */
static void too_many_outstanding(void)
{
	struct raw r;
	uint32_t i;

	raw_defaults(&r, ROCE_QPT_RC);
	r.attr.max_dest_rd_atomic = 2;
	raw_start(&r);
	r.dut.room = 0;
	for (i = 0; i < 2; i++)
		raw_read(&r, RAW_RQ_PSN + i, 0, 8);
	T_EQ(roce_qp_state(r.qp), ROCE_QPS_RTS);
	raw_read(&r, RAW_RQ_PSN + 2, 0, 8);
	node_make_room(&r.dut, 100);
	raw_expect(&r, "first", ROCE_OP_RC_READ_RESPONSE_ONLY, RAW_RQ_PSN);
	raw_expect(&r, "second", ROCE_OP_RC_READ_RESPONSE_ONLY, RAW_RQ_PSN + 1);
	raw_expect_ack(&r, "third", RAW_RQ_PSN + 2, RAW_NAK_INVALID);
	T_EQ(roce_qp_state(r.qp), ROCE_QPS_ERR);
	raw_stop(&r);
}

static void none_agreed_on(void)
{
	struct raw r;

	raw_defaults(&r, ROCE_QPT_RC);
	r.attr.max_dest_rd_atomic = 0;
	raw_start(&r);
	raw_read(&r, RAW_RQ_PSN, 0, 8);
	raw_expect_ack(&r, "READ", RAW_RQ_PSN, RAW_NAK_INVALID);
	raw_stop(&r);
}

/* Responses and ACKs go out in the order of the requests, also when the port was full. */
static void answers_keep_the_order(void)
{
	struct raw r;

	start(&r);
	set_word(&r, 7);
	r.dut.room = 1;
	raw_write(&r, ROCE_OP_RC_WRITE_ONLY, RAW_RQ_PSN, 512, 4, 4);
	raw_read(&r, RAW_RQ_PSN + 1, 512, 2 * MTU);
	raw_write(&r, ROCE_OP_RC_WRITE_ONLY, RAW_RQ_PSN + 3, 4096, 4, 4);
	raw_atomic(&r, ROCE_OP_RC_FETCH_ADD, RAW_RQ_PSN + 4, 1, 0);
	raw_write(&r, ROCE_OP_RC_WRITE_ONLY, RAW_RQ_PSN + 5, 8192, 4, 4);
	raw_expect_ack(&r, "first WRITE", RAW_RQ_PSN, RAW_ACK);
	node_make_room(&r.dut, 1);
	node_make_room(&r.dut, 100);
	expect_read(&r, "READ", RAW_RQ_PSN + 1, 512, 2 * MTU);
	T_EQ(raw_expect_ack(&r, "second WRITE", RAW_RQ_PSN + 3, RAW_ACK)->msn, 3);
	T_EQ(raw_expect(&r, "atomic", ROCE_OP_RC_ATOMIC_ACK, RAW_RQ_PSN + 4)->msn, 4);
	T_EQ(raw_expect_ack(&r, "third WRITE", RAW_RQ_PSN + 5, RAW_ACK)->msn, 5);
	raw_expect_silence(&r, "all");
	raw_stop(&r);
}

/* A gap behind a READ that is still being answered: the NAK must not overtake the responses. */
static void nak_waits_for_the_responses_before_it(void)
{
	struct raw r;

	start(&r);
	r.dut.room = 1;
	raw_read(&r, RAW_RQ_PSN, 0, 3 * MTU);
	raw_write(&r, ROCE_OP_RC_WRITE_ONLY, RAW_RQ_PSN + 4, 0, 4, 4);
	node_make_room(&r.dut, 100);
	expect_read(&r, "READ", RAW_RQ_PSN, 0, 3 * MTU);
	raw_expect_ack(&r, "gap", RAW_RQ_PSN + 3, RAW_NAK_SEQUENCE);
	raw_stop(&r);
}

/* A READ after a WRITE sees it; a WRITE after a READ comes too late for its responses' PSNs. */
static void read_sees_the_write_before_it(void)
{
	uint8_t bytes[64];
	struct roce_pkt pkt;
	struct raw r;

	start(&r);
	memset(bytes, 0xc3, sizeof(bytes));
	raw_pkt(&r, &pkt, ROCE_OP_RC_WRITE_ONLY, RAW_RQ_PSN);
	pkt.va = r.mr->iova + 100;
	pkt.rkey = RAW_KEY;
	pkt.dma_length = sizeof(bytes);
	raw_send(&r, &pkt, bytes, sizeof(bytes));
	raw_read(&r, RAW_RQ_PSN + 1, 100, sizeof(bytes));
	raw_expect_ack(&r, "WRITE", RAW_RQ_PSN, RAW_ACK);
	raw_expect(&r, "READ", ROCE_OP_RC_READ_RESPONSE_ONLY, RAW_RQ_PSN + 1);
	T_BYTES(r.pkt.payload, bytes, sizeof(bytes));
	raw_stop(&r);
}

/* Of a READ that meets unmapped memory halfway, nothing wrong is told. */
static void read_of_memory_that_is_gone(void)
{
	const struct roce_pkt *nak;
	struct raw r;

	start(&r);
	r.mr->unmapped = true;
	raw_read(&r, RAW_RQ_PSN, 0, 8);
	nak = raw_expect(&r, "NAK", ROCE_OP_RC_ACK, RAW_RQ_PSN);
	T_TRUE(nak->syndrome == RAW_NAK_OPERATION || nak->syndrome == RAW_NAK_ACCESS);
	T_EQ(roce_qp_state(r.qp), ROCE_QPS_ERR);
	raw_stop(&r);
}

/* ------------------------------------------- what waits when the port is full */

static void write_at(struct raw *r, uint32_t psn)
{
	raw_write(r, ROCE_OP_RC_WRITE_ONLY, RAW_RQ_PSN + psn, 4096, 4, 4);
}

static void duplicate_read_comes_before_a_later_ack(void)
{
	struct raw r;

	start(&r);
	raw_read(&r, RAW_RQ_PSN, 0, 8);
	raw_forget(&r);
	r.dut.room = 0;
	write_at(&r, 1);
	raw_read(&r, RAW_RQ_PSN, 0, 8);
	node_make_room(&r.dut, 100);
	expect_read(&r, "READ", RAW_RQ_PSN, 0, 8);
	raw_expect_ack(&r, "WRITE", RAW_RQ_PSN + 1, RAW_ACK);
	raw_expect_silence(&r, "once each");
	raw_stop(&r);
}

static void duplicate_of_a_read_still_to_be_answered(void)
{
	struct raw r;

	start(&r);
	r.dut.room = 1;
	raw_read(&r, RAW_RQ_PSN, 0, 4 * MTU);
	raw_read(&r, RAW_RQ_PSN, 0, 4 * MTU);
	raw_read(&r, RAW_RQ_PSN + 2, 2 * MTU, 2 * MTU);
	node_make_room(&r.dut, 100);
	/* The first went out before it was asked for again; the rest comes, and ends. */
	T_TRUE(raw_forget(&r) <= 5);
	write_at(&r, 4);
	raw_expect_ack(&r, "next", RAW_RQ_PSN + 4, RAW_ACK);
	raw_stop(&r);
	start(&r);
	r.dut.room = 0;
	raw_read(&r, RAW_RQ_PSN, 0, 3 * MTU);
	raw_read(&r, RAW_RQ_PSN, 0, 3 * MTU);
	raw_read(&r, RAW_RQ_PSN + 2, 2 * MTU, MTU);
	node_make_room(&r.dut, 100);
	expect_read(&r, "not begun", RAW_RQ_PSN, 0, 3 * MTU);
	raw_expect_silence(&r, "once");
	raw_stop(&r);
}

/* An ACK that waits is not replaced by one that says less. */
static void duplicate_write_takes_nothing_back(void)
{
	struct raw r;

	start(&r);
	r.dut.room = 0;
	write_at(&r, 0);
	write_at(&r, 1);
	raw_read(&r, RAW_RQ_PSN + 2, 0, 8);
	write_at(&r, 0);
	node_make_room(&r.dut, 100);
	raw_expect_ack(&r, "both WRITEs", RAW_RQ_PSN + 1, RAW_ACK);
	expect_read(&r, "READ", RAW_RQ_PSN + 2, 0, 8);
	raw_expect_silence(&r, "all");
	raw_stop(&r);
}

/* What the NAK asked for comes by itself, but what came before it was dropped: NAK for that. */
static void waiting_nak_moves_on(void)
{
	struct raw r;

	start(&r);
	r.dut.room = 0;
	write_at(&r, 1);
	write_at(&r, 0);
	node_make_room(&r.dut, 100);
	raw_expect_ack(&r, "dropped one", RAW_RQ_PSN + 1, RAW_NAK_SEQUENCE);
	write_at(&r, 1);
	raw_expect_ack(&r, "again", RAW_RQ_PSN + 1, RAW_ACK);
	raw_stop(&r);
}

/* An ACK across a READ would say that its responses were lost. */
static void duplicate_write_is_not_acknowledged_across_a_read(void)
{
	struct raw r;

	start(&r);
	write_at(&r, 0);
	raw_read(&r, RAW_RQ_PSN + 1, 0, 8);
	write_at(&r, 2);
	raw_forget(&r);
	write_at(&r, 0);
	raw_expect_ack(&r, "before the READ", RAW_RQ_PSN, RAW_ACK);
	write_at(&r, 2);
	raw_expect_ack(&r, "behind it", RAW_RQ_PSN + 2, RAW_ACK);
	raw_stop(&r);
}

T_MAIN("roce_reply", T_CASE(reads_of_all_lengths), T_CASE(read_at_the_very_end_of_a_region),
       T_CASE(read_takes_the_psns_of_its_responses), T_CASE(duplicate_reads),
       T_CASE(false_duplicate_reads_are_ignored), T_CASE(duplicate_read_of_a_gone_region),
       T_CASE(atomics_do_what_they_say), T_CASE(duplicate_atomic_is_answered_from_memory_of_it),
       T_CASE(forgotten_atomic_is_not_done_again), T_CASE(too_many_outstanding),
       T_CASE(none_agreed_on), T_CASE(answers_keep_the_order),
       T_CASE(nak_waits_for_the_responses_before_it), T_CASE(read_sees_the_write_before_it),
       T_CASE(read_of_memory_that_is_gone), T_CASE(duplicate_read_comes_before_a_later_ack),
       T_CASE(duplicate_of_a_read_still_to_be_answered), T_CASE(duplicate_write_takes_nothing_back),
       T_CASE(waiting_nak_moves_on), T_CASE(duplicate_write_is_not_acknowledged_across_a_read), )
