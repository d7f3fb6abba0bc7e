/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The requester: what packets a work request becomes, and what waits for what. */
#include "tests/lib/t.h"
#include "tests/unit/sim/engine/roce_raw.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MTU = 1024, REMOTE = 0x7777 };
static const uint64_t remote_addr = 0x123456789000;

static void start(struct raw *r)
{
	raw_defaults(r, ROCE_QPT_RC);
	raw_start(r);
}

static enum roce_op_position position_of(uint32_t i, uint32_t packets)
{
	if (packets == 1)
		return ROCE_POSITION_ONLY;
	if (i == 0)
		return ROCE_POSITION_FIRST;
	return i == packets - 1 ? ROCE_POSITION_LAST : ROCE_POSITION_MIDDLE;
}

struct message {
	const char *name;
	enum roce_wr_opcode opcode;
	enum roce_op_kind kind;
	enum roce_op_tail tail;
};

static const struct message messages[] = {
	{"SEND", ROCE_WR_SEND, ROCE_KIND_SEND, ROCE_TAIL_NONE},
	{"SEND_IMM", ROCE_WR_SEND_IMM, ROCE_KIND_SEND, ROCE_TAIL_IMM},
	{"SEND_INV", ROCE_WR_SEND_INV, ROCE_KIND_SEND, ROCE_TAIL_INV},
	{"WRITE", ROCE_WR_WRITE, ROCE_KIND_WRITE, ROCE_TAIL_NONE},
	{"WRITE_IMM", ROCE_WR_WRITE_IMM, ROCE_KIND_WRITE, ROCE_TAIL_IMM},
};

static void check_packet(const struct roce_pkt *pkt, const struct message *m, bool last,
			 uint32_t length, const char *row)
{
	if (roce_op_has(pkt->op, ROCE_HDR_RETH)) {
		T_EQ_ROW(row, pkt->va, remote_addr);
		T_EQ_ROW(row, pkt->rkey, REMOTE);
		T_EQ_ROW(row, pkt->dma_length, length);
	}
	T_EQ_ROW(row, pkt->solicited, last);
	T_TRUE_ROW(row, pkt->ack_req || !last);
	T_EQ_ROW(row, pkt->pkey & 0x7fff, 0x7fff);
	if (last && m->tail == ROCE_TAIL_IMM)
		T_EQ_ROW(row, pkt->imm, 0xa5b6c7d8);
	if (last && m->tail == ROCE_TAIL_INV)
		T_EQ_ROW(row, pkt->inv_key, 0xa5b6c7d8);
}

/* Posts one message and checks every packet that it becomes. */
static void send_message(struct raw *r, const struct message *m, uint32_t psn, uint32_t length)
{
	struct roce_sge sge = {r->mr->iova + 3, length, RAW_KEY};
	struct roce_send_wr wr = {.wr_id = length,
				  .opcode = m->opcode,
				  .flags = ROCE_WR_SIGNALED | ROCE_WR_SOLICITED,
				  .imm = 0xa5b6c7d8,
				  .remote_addr = remote_addr,
				  .rkey = REMOTE,
				  .sge = &sge,
				  .num_sge = 1};
	uint32_t mtu = r->attr.path_mtu, packets = length ? (length + mtu - 1) / mtu : 1, i, want;
	const struct roce_pkt *pkt;
	const struct roce_op *op;
	char row[64];

	T_EQ(roce_post_send(r->qp, r->dut.now, &wr), 0);
	node_run(&r->dut);
	for (i = 0; i < packets; i++) {
		snprintf(row, sizeof(row), "%s of %u, packet %u", m->name, length, i);
		op = roce_op_pick(ROCE_SERVICE_RC, m->kind, position_of(i, packets), m->tail);
		pkt = raw_expect(r, row, op->code, psn + i);
		want = i == packets - 1 ? length - i * mtu : mtu;
		T_EQ_ROW(row, pkt->payload_length, want);
		if (pkt->payload && pkt->payload_length == want)
			T_BYTES_ROW(row, pkt->payload, r->mr->bytes + 3 + i * mtu, want);
		check_packet(pkt, m, i == packets - 1, length, row);
	}
	raw_expect_silence(r, m->name);
	raw_expect_no_wc(r, m->name);
	raw_ack(r, psn + packets - 1, RAW_ACK);
	raw_expect_wc(r, m->name, length, ROCE_WC_SUCCESS);
}

static void messages_of_all_lengths(void)
{
	static const uint32_t mtus[] = {256, 512, 1024, 2048, 4096};
	uint32_t psn, n, length;
	struct raw r;
	size_t i, m;

	for (m = 0; m < 5; m++) {
		raw_defaults(&r, ROCE_QPT_RC);
		r.attr.path_mtu = mtus[m];
		r.attr.sq_psn = psn = 0xfffff0;
		raw_start(&r);
		r.mr->piece = 1111;
		for (i = 0; i < sizeof(messages) / sizeof(messages[0]); i++)
			for (n = 0; n < 9; n++) {
				length = (uint32_t[]){0,
						      1,
						      4,
						      mtus[m] - 1,
						      mtus[m],
						      mtus[m] + 1,
						      2 * mtus[m],
						      3 * mtus[m] + 2,
						      7 * mtus[m] - 1}[n];
				send_message(&r, &messages[i], psn, length);
				psn += length ? (length + mtus[m] - 1) / mtus[m] : 1;
			}
		raw_stop(&r);
	}
}

static void lists_are_gathered(void)
{
	struct roce_sge sge[5];
	struct roce_send_wr wr = {.opcode = ROCE_WR_SEND, .sge = sge, .num_sge = 5};
	uint8_t want[2 * MTU];
	struct raw r;

	start(&r);
	r.mr->piece = 100;
	sge[0] = (struct roce_sge){r.mr->iova, 0, 0xbad00}; /* empty: its key counts nothing */
	sge[1] = (struct roce_sge){r.mr->iova + 5000, 1, RAW_KEY};
	sge[2] = (struct roce_sge){r.mr->iova + 100, MTU, RAW_KEY};
	sge[3] = (struct roce_sge){r.mr->iova + 3000, 2, RAW_KEY};
	sge[4] = (struct roce_sge){r.mr->iova + 7, 555, RAW_KEY};
	want[0] = r.mr->bytes[5000];
	memcpy(want + 1, r.mr->bytes + 100, MTU);
	memcpy(want + 1 + MTU, r.mr->bytes + 3000, 2);
	memcpy(want + 3 + MTU, r.mr->bytes + 7, 555);
	T_EQ(roce_post_send(r.qp, r.dut.now, &wr), 0);
	memset(sge, 0xff, sizeof(sge)); /* posting copied it */
	node_run(&r.dut);
	raw_expect(&r, "first", ROCE_OP_RC_SEND_FIRST, RAW_SQ_PSN);
	T_BYTES(r.pkt.payload, want, MTU);
	raw_expect(&r, "last", ROCE_OP_RC_SEND_LAST, RAW_SQ_PSN + 1);
	T_EQ(r.pkt.payload_length, 558);
	T_BYTES(r.pkt.payload, want + MTU, 558);
	raw_stop(&r);
}

static void inline_data_is_copied_at_once(void)
{
	uint8_t data[ROCE_MAX_INLINE], want[ROCE_MAX_INLINE];
	struct roce_send_wr wr = {.opcode = ROCE_WR_WRITE,
				  .flags = ROCE_WR_INLINE,
				  .inline_data = data,
				  .inline_length = ROCE_MAX_INLINE};
	struct raw r;

	raw_defaults(&r, ROCE_QPT_RC);
	r.attr.path_mtu = 512;
	raw_start(&r);
	memset(data, 0x3c, sizeof(data));
	memset(want, 0x3c, sizeof(want));
	T_EQ(roce_post_send(r.qp, r.dut.now, &wr), 0);
	memset(data, 0, sizeof(data));
	node_run(&r.dut);
	T_EQ(raw_expect(&r, "first", ROCE_OP_RC_WRITE_FIRST, RAW_SQ_PSN)->dma_length, 1024);
	T_BYTES(r.pkt.payload, want, 512);
	raw_expect(&r, "last", ROCE_OP_RC_WRITE_LAST, RAW_SQ_PSN + 1);
	T_BYTES(r.pkt.payload, want, 512);
	wr.inline_length = ROCE_MAX_INLINE + 1;
	T_EQ(roce_post_send(r.qp, r.dut.now, &wr), -EINVAL);
	wr.inline_length = 0;
	T_EQ(roce_post_send(r.qp, r.dut.now, &wr), 0);
	node_run(&r.dut);
	T_EQ(raw_expect(&r, "empty", ROCE_OP_RC_WRITE_ONLY, RAW_SQ_PSN + 2)->payload_length, 0);
	raw_stop(&r);
}

/* A READ has as many PSNs as responses will come. */
static void reads_and_atomics(void)
{
	struct roce_sge sge;
	struct roce_send_wr wr = {.opcode = ROCE_WR_CMP_SWAP,
				  .remote_addr = remote_addr,
				  .rkey = REMOTE,
				  .compare_add = 0x1111222233334444,
				  .swap = 0x5555666677778888,
				  .sge = &sge,
				  .num_sge = 1};
	struct raw r;

	start(&r);
	raw_post(&r, 1, ROCE_WR_READ, 0, 3 * MTU + 1);
	raw_expect(&r, "READ", ROCE_OP_RC_READ_REQUEST, RAW_SQ_PSN);
	T_EQ(r.pkt.va, remote_addr);
	T_EQ(r.pkt.rkey, REMOTE);
	T_EQ(r.pkt.dma_length, 3 * MTU + 1);
	raw_post(&r, 2, ROCE_WR_READ, 0, 0);
	T_EQ(raw_expect(&r, "READ of 0", ROCE_OP_RC_READ_REQUEST, RAW_SQ_PSN + 4)->dma_length, 0);
	sge = (struct roce_sge){r.mr->iova + 64, 8, RAW_KEY};
	T_EQ(roce_post_send(r.qp, r.dut.now, &wr), 0);
	node_run(&r.dut);
	raw_expect(&r, "CMP_SWAP", ROCE_OP_RC_CMP_SWAP, RAW_SQ_PSN + 5);
	T_EQ(r.pkt.va, remote_addr);
	T_EQ(r.pkt.rkey, REMOTE);
	T_EQ(r.pkt.compare, 0x1111222233334444);
	T_EQ(r.pkt.swap_add, 0x5555666677778888);
	wr.opcode = ROCE_WR_FETCH_ADD;
	T_EQ(roce_post_send(r.qp, r.dut.now, &wr), 0);
	node_run(&r.dut);
	raw_expect(&r, "FETCH_ADD", ROCE_OP_RC_FETCH_ADD, RAW_SQ_PSN + 6);
	T_EQ(r.pkt.swap_add, 0x1111222233334444);
	raw_stop(&r);
}

/* No more READs and atomics on their way than agreed; what is behind one that waits, waits too. */
static void outstanding_reads_are_limited(void)
{
	struct raw r;
	uint32_t i;

	raw_defaults(&r, ROCE_QPT_RC);
	r.attr.max_rd_atomic = 2;
	raw_start(&r);
	for (i = 0; i < 4; i++)
		raw_post(&r, i, ROCE_WR_READ, i * 8, 8);
	raw_post(&r, 4, ROCE_WR_WRITE, 0, 8);
	raw_expect(&r, "first", ROCE_OP_RC_READ_REQUEST, RAW_SQ_PSN);
	raw_expect(&r, "second", ROCE_OP_RC_READ_REQUEST, RAW_SQ_PSN + 1);
	raw_expect_silence(&r, "limit");
	raw_read_response(&r, ROCE_OP_RC_READ_RESPONSE_ONLY, RAW_SQ_PSN, NULL, 8);
	raw_expect_wc(&r, "first", 0, ROCE_WC_SUCCESS);
	raw_expect(&r, "third", ROCE_OP_RC_READ_REQUEST, RAW_SQ_PSN + 2);
	raw_expect_silence(&r, "limit again");
	raw_read_response(&r, ROCE_OP_RC_READ_RESPONSE_ONLY, RAW_SQ_PSN + 1, NULL, 8);
	raw_expect(&r, "fourth", ROCE_OP_RC_READ_REQUEST, RAW_SQ_PSN + 3);
	raw_expect(&r, "WRITE", ROCE_OP_RC_WRITE_ONLY, RAW_SQ_PSN + 4);
	raw_stop(&r);
}

static void fence_waits_for_reads(void)
{
	struct roce_send_wr wr = {
		.wr_id = 2, .opcode = ROCE_WR_SEND, .flags = ROCE_WR_SIGNALED | ROCE_WR_FENCE};
	struct raw r;

	start(&r);
	raw_post(&r, 1, ROCE_WR_READ, 0, 8);
	raw_forget(&r);
	T_EQ(roce_post_send(r.qp, r.dut.now, &wr), 0);
	node_run(&r.dut);
	raw_expect_silence(&r, "fenced");
	raw_read_response(&r, ROCE_OP_RC_READ_RESPONSE_ONLY, RAW_SQ_PSN, NULL, 8);
	raw_expect(&r, "READ done", ROCE_OP_RC_SEND_ONLY, RAW_SQ_PSN + 1);
	/* A WRITE on its way is no reason to wait. */
	raw_ack(&r, RAW_SQ_PSN + 1, RAW_ACK);
	raw_post(&r, 3, ROCE_WR_WRITE, 0, 8);
	T_EQ(roce_post_send(r.qp, r.dut.now, &wr), 0);
	node_run(&r.dut);
	T_EQ(raw_forget(&r), 2);
	raw_stop(&r);
}

static void unsignaled_work_is_silent(void)
{
	struct roce_send_wr wr = {.wr_id = 1, .opcode = ROCE_WR_SEND};
	struct raw r;

	start(&r);
	T_EQ(roce_post_send(r.qp, r.dut.now, &wr), 0);
	node_run(&r.dut);
	raw_post(&r, 2, ROCE_WR_SEND, 0, 1);
	raw_ack(&r, RAW_SQ_PSN + 1, RAW_ACK);
	T_TRUE(raw_expect_wc(&r, "signaled", 2, ROCE_WC_SUCCESS)->signaled);
	raw_expect_no_wc(&r, "unsignaled");
	raw_stop(&r);
	raw_defaults(&r, ROCE_QPT_RC);
	r.dut.config.report_unsignaled = true;
	raw_start(&r);
	T_EQ(roce_post_send(r.qp, r.dut.now, &wr), 0);
	node_run(&r.dut);
	raw_ack(&r, RAW_SQ_PSN, RAW_ACK);
	T_TRUE(!raw_expect_wc(&r, "reported", 1, ROCE_WC_SUCCESS)->signaled);
	raw_stop(&r);
}

static void completions_tell_what_was_done(void)
{
	static const struct {
		const char *name;
		enum roce_wr_opcode opcode;
		uint32_t length;
	} rows[] = {
		{"SEND", ROCE_WR_SEND, 5},	     {"WRITE", ROCE_WR_WRITE, 6},
		{"WRITE_IMM", ROCE_WR_WRITE_IMM, 7}, {"READ", ROCE_WR_READ, 9},
		{"CMP_SWAP", ROCE_WR_CMP_SWAP, 8},   {"FETCH_ADD", ROCE_WR_FETCH_ADD, 8},
	};
	const struct roce_wc *wc;
	struct raw r;
	uint32_t i;

	start(&r);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		raw_post(&r, 70 + i, rows[i].opcode, 0, rows[i].length);
		if (rows[i].opcode == ROCE_WR_READ)
			raw_read_response(&r, ROCE_OP_RC_READ_RESPONSE_ONLY, RAW_SQ_PSN + i, NULL,
					  rows[i].length);
		else if (rows[i].opcode >= ROCE_WR_CMP_SWAP)
			raw_atomic_ack(&r, RAW_SQ_PSN + i, 1);
		else
			raw_ack(&r, RAW_SQ_PSN + i, RAW_ACK);
		wc = raw_expect_wc(&r, rows[i].name, 70 + i, ROCE_WC_SUCCESS);
		T_EQ_ROW(rows[i].name, wc->opcode, ROCE_WC_SEND);
		T_EQ_ROW(rows[i].name, wc->wr_opcode, rows[i].opcode);
		if (rows[i].opcode == ROCE_WR_READ || rows[i].length == 8)
			T_EQ_ROW(rows[i].name, wc->byte_len, rows[i].length);
	}
	raw_stop(&r);
}

/* ---------------------------------------------------------- port and pace */

static void full_port_only_delays(void)
{
	struct raw r;
	uint32_t i;

	start(&r);
	r.dut.room = 2;
	raw_post(&r, 1, ROCE_WR_SEND, 0, 5 * MTU);
	T_EQ(raw_forget(&r), 2);
	node_make_room(&r.dut, 1);
	T_EQ(raw_expect(&r, "one more", ROCE_OP_RC_SEND_MIDDLE, RAW_SQ_PSN + 2)->payload_length,
	     MTU);
	raw_expect_silence(&r, "full again");
	node_make_room(&r.dut, 10);
	for (i = 3; i < 5; i++)
		raw_expect(&r, "rest", i == 4 ? ROCE_OP_RC_SEND_LAST : ROCE_OP_RC_SEND_MIDDLE,
			   RAW_SQ_PSN + i);
	raw_ack(&r, RAW_SQ_PSN + 4, RAW_ACK);
	raw_expect_wc(&r, "whole", 1, ROCE_WC_SUCCESS);
	raw_stop(&r);
}

/* Go-back-N sends all that is not acknowledged again: it must not be without bounds. */
static void unanswered_packets_are_bounded(void)
{
	unsigned int sent, i;
	struct raw r;

	start(&r);
	for (i = 0; i < 40; i++)
		raw_post(&r, i, ROCE_WR_SEND, 0, 60 * MTU);
	sent = raw_forget(&r);
	T_TRUE(sent >= 32 && sent <= 1024);
	for (i = 1; i <= 100; i++) {
		raw_ack(&r, RAW_SQ_PSN + i * 24 - 1, RAW_ACK);
		sent += raw_forget(&r);
	}
	T_EQ(sent, 40 * 60);
	for (i = 0; i < 40; i++)
		raw_expect_wc(&r, "all", i, ROCE_WC_SUCCESS);
	raw_stop(&r);
}

/* A QP with much to send does not keep others of its port waiting. */
static void port_is_shared(void)
{
	struct roce_qp_attr attr;
	struct roce_qp *other;
	struct roce_send_wr wr = {.opcode = ROCE_WR_SEND};
	struct node_frame *frame;
	unsigned int before = 0;
	struct roce_pkt pkt;
	enum roce_drop drop;
	struct raw r;

	start(&r);
	other = node_qp(&r.dut, RAW_QPN + 1, ROCE_QPT_RC, NULL);
	node_attr(&attr, RAW_PEER, NODE_GID_IP4, 0x99);
	node_connect(&r.dut, other, &attr, ROCE_QPT_RC, ROCE_QPS_RTS);
	r.dut.room = 0;
	raw_post(&r, 1, ROCE_WR_SEND, 0, 60 * MTU);
	T_EQ(roce_post_send(other, r.dut.now, &wr), 0);
	node_make_room(&r.dut, 1000);
	while ((frame = node_take_frame(&r.dut))) {
		T_TRUE(roce_frame_parse(frame->bytes, frame->length, &pkt, &drop));
		if (pkt.dqpn == 0x99)
			break;
		before++;
		free(frame);
	}
	T_TRUE(frame != NULL);
	T_TRUE(before <= 32);
	free(frame);
	while ((frame = node_take_frame(&r.dut)))
		free(frame);
	raw_stop(&r);
}

T_MAIN("roce_req", T_CASE(messages_of_all_lengths), T_CASE(lists_are_gathered),
       T_CASE(inline_data_is_copied_at_once), T_CASE(reads_and_atomics),
       T_CASE(outstanding_reads_are_limited), T_CASE(fence_waits_for_reads),
       T_CASE(unsignaled_work_is_silent), T_CASE(completions_tell_what_was_done),
       T_CASE(full_port_only_delays), T_CASE(unanswered_packets_are_bounded),
       T_CASE(port_is_shared), )
