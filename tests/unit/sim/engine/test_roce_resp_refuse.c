/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the responder must not do: each violation, its NAK, and what is left of the QP. */
#include "tests/lib/t.h"
#include "tests/unit/sim/engine/roce_raw.h"

#include <string.h>

enum { MTU = 1024 };

static uint8_t pattern[MTU];

static void start(struct raw *r)
{
	size_t i;

	for (i = 0; i < sizeof(pattern); i++)
		pattern[i] = (uint8_t)(i * 13 + i / 256);
	raw_defaults(r, ROCE_QPT_RC);
	raw_start(r);
}

struct violation {
	const char *name;
	uint8_t syndrome; /* of the NAK */
	/* What is sent; the last packet has PSN RAW_RQ_PSN + the returned number. */
	uint32_t (*send)(struct raw *r);
};

static uint32_t middle_without_first(struct raw *r)
{
	raw_request(r, ROCE_OP_RC_SEND_MIDDLE, RAW_RQ_PSN, NULL, MTU);
	return 0;
}

static uint32_t last_without_first(struct raw *r)
{
	raw_request(r, ROCE_OP_RC_WRITE_LAST, RAW_RQ_PSN, NULL, 8);
	return 0;
}

static uint32_t first_after_first(struct raw *r)
{
	raw_request(r, ROCE_OP_RC_SEND_FIRST, RAW_RQ_PSN, NULL, MTU);
	raw_request(r, ROCE_OP_RC_SEND_FIRST, RAW_RQ_PSN + 1, NULL, MTU);
	return 1;
}

static uint32_t write_after_send_first(struct raw *r)
{
	raw_request(r, ROCE_OP_RC_SEND_FIRST, RAW_RQ_PSN, NULL, MTU);
	raw_request(r, ROCE_OP_RC_WRITE_LAST, RAW_RQ_PSN + 1, NULL, 8);
	return 1;
}

static uint32_t send_inside_write(struct raw *r)
{
	raw_write(r, ROCE_OP_RC_WRITE_FIRST, RAW_RQ_PSN, 0, MTU + 8, MTU);
	raw_request(r, ROCE_OP_RC_SEND_ONLY, RAW_RQ_PSN + 1, NULL, 8);
	return 1;
}

static uint32_t read_inside_send(struct raw *r)
{
	raw_request(r, ROCE_OP_RC_SEND_FIRST, RAW_RQ_PSN, NULL, MTU);
	raw_read(r, RAW_RQ_PSN + 1, 0, 8);
	return 1;
}

static uint32_t atomic_inside_write(struct raw *r)
{
	raw_write(r, ROCE_OP_RC_WRITE_FIRST, RAW_RQ_PSN, 0, MTU + 8, MTU);
	raw_atomic(r, ROCE_OP_RC_CMP_SWAP, RAW_RQ_PSN + 1, 1, 2);
	return 1;
}

static uint32_t only_above_path_mtu(struct raw *r)
{
	raw_request(r, ROCE_OP_RC_SEND_ONLY, RAW_RQ_PSN, NULL, MTU + 1);
	return 0;
}

static uint32_t first_below_path_mtu(struct raw *r)
{
	raw_request(r, ROCE_OP_RC_SEND_FIRST, RAW_RQ_PSN, NULL, MTU - 1);
	return 0;
}

static uint32_t middle_below_path_mtu(struct raw *r)
{
	raw_request(r, ROCE_OP_RC_SEND_FIRST, RAW_RQ_PSN, NULL, MTU);
	raw_request(r, ROCE_OP_RC_SEND_MIDDLE, RAW_RQ_PSN + 1, NULL, 8);
	return 1;
}

static uint32_t last_of_nothing(struct raw *r)
{
	raw_request(r, ROCE_OP_RC_SEND_FIRST, RAW_RQ_PSN, NULL, MTU);
	raw_request(r, ROCE_OP_RC_SEND_LAST, RAW_RQ_PSN + 1, NULL, 0);
	return 1;
}

static uint32_t write_shorter_than_announced(struct raw *r)
{
	raw_write(r, ROCE_OP_RC_WRITE_ONLY, RAW_RQ_PSN, 0, 100, 99);
	return 0;
}

static uint32_t write_longer_than_announced(struct raw *r)
{
	raw_write(r, ROCE_OP_RC_WRITE_FIRST, RAW_RQ_PSN, 0, MTU + 8, MTU);
	raw_request(r, ROCE_OP_RC_WRITE_LAST, RAW_RQ_PSN + 1, NULL, 9);
	return 1;
}

/* There must be something left for the packets to come. */
static uint32_t write_first_of_all(struct raw *r)
{
	raw_write(r, ROCE_OP_RC_WRITE_FIRST, RAW_RQ_PSN, 0, MTU, MTU);
	return 0;
}

static uint32_t write_first_of_less(struct raw *r)
{
	raw_write(r, ROCE_OP_RC_WRITE_FIRST, RAW_RQ_PSN, RAW_MR_BYTES - 8, 8, MTU);
	return 0;
}

static uint32_t write_middle_of_less(struct raw *r)
{
	raw_write(r, ROCE_OP_RC_WRITE_FIRST, RAW_RQ_PSN, 0, MTU + 8, MTU);
	raw_request(r, ROCE_OP_RC_WRITE_MIDDLE, RAW_RQ_PSN + 1, NULL, MTU);
	return 1;
}

static uint32_t write_above_2_gib(struct raw *r)
{
	raw_write(r, ROCE_OP_RC_WRITE_FIRST, RAW_RQ_PSN, 0, 0x80000001, MTU);
	return 0;
}

static uint32_t read_above_2_gib(struct raw *r)
{
	raw_read(r, RAW_RQ_PSN, 0, 0x80000001);
	return 0;
}

static uint32_t atomic_unaligned(struct raw *r)
{
	struct roce_pkt pkt;

	raw_pkt(r, &pkt, ROCE_OP_RC_FETCH_ADD, RAW_RQ_PSN);
	pkt.va = r->mr->iova + 4;
	pkt.rkey = RAW_KEY;
	raw_send(r, &pkt, NULL, 0);
	return 0;
}

static uint32_t write_with_unknown_key(struct raw *r)
{
	struct roce_pkt pkt;

	raw_pkt(r, &pkt, ROCE_OP_RC_WRITE_ONLY, RAW_RQ_PSN);
	pkt.va = r->mr->iova;
	pkt.rkey = 0x77700;
	pkt.dma_length = 8;
	raw_send(r, &pkt, NULL, 8);
	return 0;
}

static uint32_t write_with_other_key_byte(struct raw *r)
{
	struct roce_pkt pkt;

	raw_pkt(r, &pkt, ROCE_OP_RC_WRITE_ONLY, RAW_RQ_PSN);
	pkt.va = r->mr->iova;
	pkt.rkey = RAW_KEY ^ 3;
	pkt.dma_length = 8;
	raw_send(r, &pkt, NULL, 8);
	return 0;
}

static uint32_t write_past_the_end(struct raw *r)
{
	raw_write(r, ROCE_OP_RC_WRITE_ONLY, RAW_RQ_PSN, RAW_MR_BYTES - 7, 8, 8);
	return 0;
}

static uint32_t write_before_the_start(struct raw *r)
{
	raw_write(r, ROCE_OP_RC_WRITE_ONLY, RAW_RQ_PSN, (uint64_t)-1, 8, 8);
	return 0;
}

static uint32_t read_wraps_the_address(struct raw *r)
{
	raw_read(r, RAW_RQ_PSN, -(r->mr->iova) - 4, 8);
	return 0;
}

/* The first packet already says that the message does not fit (IBTA 9.6.2.1). */
static uint32_t write_first_past_the_end(struct raw *r)
{
	raw_write(r, ROCE_OP_RC_WRITE_FIRST, RAW_RQ_PSN, RAW_MR_BYTES - 2 * MTU, 3 * MTU, MTU);
	return 0;
}

static uint32_t read_past_the_end(struct raw *r)
{
	raw_read(r, RAW_RQ_PSN, RAW_MR_BYTES - 4, 5);
	return 0;
}

static uint32_t atomic_past_the_end(struct raw *r)
{
	struct roce_pkt pkt;

	raw_pkt(r, &pkt, ROCE_OP_RC_FETCH_ADD, RAW_RQ_PSN);
	pkt.va = r->mr->iova + RAW_MR_BYTES;
	pkt.rkey = RAW_KEY;
	raw_send(r, &pkt, NULL, 0);
	return 0;
}

static uint32_t send_longer_than_the_receive(struct raw *r)
{
	raw_request(r, ROCE_OP_RC_SEND_FIRST, RAW_RQ_PSN, NULL, MTU);
	raw_request(r, ROCE_OP_RC_SEND_MIDDLE, RAW_RQ_PSN + 1, NULL, MTU);
	raw_request(r, ROCE_OP_RC_SEND_LAST, RAW_RQ_PSN + 2, NULL, 1);
	return 2;
}

static uint32_t write_not_mapped(struct raw *r)
{
	r->mr->unmapped = true;
	raw_write(r, ROCE_OP_RC_WRITE_ONLY, RAW_RQ_PSN, 0, 8, 8);
	return 0;
}

static const struct violation violations[] = {
	{"middle without first", RAW_NAK_INVALID, middle_without_first},
	{"last without first", RAW_NAK_INVALID, last_without_first},
	{"first after first", RAW_NAK_INVALID, first_after_first},
	{"WRITE last in a SEND", RAW_NAK_INVALID, write_after_send_first},
	{"SEND in a WRITE", RAW_NAK_INVALID, send_inside_write},
	{"READ in a SEND", RAW_NAK_INVALID, read_inside_send},
	{"atomic in a WRITE", RAW_NAK_INVALID, atomic_inside_write},
	{"only above the path MTU", RAW_NAK_INVALID, only_above_path_mtu},
	{"first below the path MTU", RAW_NAK_INVALID, first_below_path_mtu},
	{"middle below the path MTU", RAW_NAK_INVALID, middle_below_path_mtu},
	{"last of nothing", RAW_NAK_INVALID, last_of_nothing},
	{"WRITE shorter than its DMA length", RAW_NAK_INVALID, write_shorter_than_announced},
	{"WRITE longer than its DMA length", RAW_NAK_INVALID, write_longer_than_announced},
	{"WRITE first with all of it", RAW_NAK_INVALID, write_first_of_all},
	{"WRITE first with more than all", RAW_NAK_INVALID, write_first_of_less},
	{"WRITE middle with more than the rest", RAW_NAK_INVALID, write_middle_of_less},
	{"WRITE above 2 GiB", RAW_NAK_INVALID, write_above_2_gib},
	{"READ above 2 GiB", RAW_NAK_INVALID, read_above_2_gib},
	{"atomic not aligned", RAW_NAK_INVALID, atomic_unaligned},
	{"WRITE to an unknown key", RAW_NAK_ACCESS, write_with_unknown_key},
	{"WRITE with another key byte", RAW_NAK_ACCESS, write_with_other_key_byte},
	{"WRITE past the end", RAW_NAK_ACCESS, write_past_the_end},
	{"WRITE before the start", RAW_NAK_ACCESS, write_before_the_start},
	{"READ around the address space", RAW_NAK_ACCESS, read_wraps_the_address},
	{"WRITE first of one that is too long", RAW_NAK_ACCESS, write_first_past_the_end},
	{"READ past the end", RAW_NAK_ACCESS, read_past_the_end},
	{"atomic past the end", RAW_NAK_ACCESS, atomic_past_the_end},
	{"SEND longer than the receive", RAW_NAK_INVALID, send_longer_than_the_receive},
};

/* Each ends the connection: the NAK, the QP in ERR, receives flushed in order, memory untouched. */
static void violations_are_refused(void)
{
	const struct node_wc *wc;
	uint8_t before[RAW_MR_BYTES];
	struct raw r;
	size_t i;
	uint32_t last;

	for (i = 0; i < sizeof(violations) / sizeof(violations[0]); i++) {
		const char *name = violations[i].name;

		start(&r);
		raw_post_recv(&r, 1, 4096, 2 * MTU);
		raw_post_recv(&r, 2, 4096, 2 * MTU);
		memcpy(before, r.mr->bytes, sizeof(before));
		memset(before, 0, MTU);
		memset(before + 4096, 0, 2 * MTU);
		last = violations[i].send(&r);
		raw_expect_ack(&r, name, RAW_RQ_PSN + last, violations[i].syndrome);
		raw_expect_silence(&r, name);
		T_EQ_ROW(name, roce_qp_state(r.qp), ROCE_QPS_ERR);
		wc = node_take_wc(&r.dut);
		if (T_TRUE_ROW(name, wc != NULL)) {
			T_EQ_ROW(name, wc->wc.wr_id, 1);
			T_TRUE_ROW(name, wc->wc.status != ROCE_WC_SUCCESS);
		}
		raw_expect_wc(&r, name, 2, ROCE_WC_WR_FLUSH_ERR);
		raw_expect_no_wc(&r, name);
		memset(r.mr->bytes, 0, MTU);
		memset(r.mr->bytes + 4096, 0, 2 * MTU);
		T_BYTES_ROW(name, r.mr->bytes, before, sizeof(before));
		raw_request(&r, ROCE_OP_RC_SEND_ONLY, RAW_RQ_PSN + last, NULL, 1);
		raw_expect_silence(&r, name);
		raw_stop(&r);
	}
}

static void too_long_send_says_so(void)
{
	struct raw r;

	start(&r);
	raw_post_recv(&r, 1, 0, 100);
	raw_request(&r, ROCE_OP_RC_SEND_ONLY, RAW_RQ_PSN, NULL, 101);
	raw_expect_ack(&r, "NAK", RAW_RQ_PSN, RAW_NAK_INVALID);
	raw_expect_wc(&r, "length", 1, ROCE_WC_LOC_LEN_ERR);
	raw_stop(&r);
}

/* The receive is at fault, not the request (IBTA 9.9.3: remote operational error). */
static void bad_receive_is_an_operational_error(void)
{
	static const struct {
		const char *name;
		uint64_t offset;
		uint32_t key;
		bool unmapped;
	} rows[] = {
		{"unknown key", 0, 0x999900, false},
		{"out of bounds", RAW_MR_BYTES - 4, RAW_KEY, false},
		{"not mapped", 0, RAW_KEY, true},
		{"read-only", 0, 0x601, false},
	};
	struct roce_sge sge = {.length = 64};
	struct roce_recv_wr wr = {.wr_id = 9, .sge = &sge, .num_sge = 1};
	const struct node_wc *wc;
	struct node_region *read_only;
	struct raw r;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		start(&r);
		read_only = node_mr(&r.dut, 0x601, 0, 4096);
		sge.lkey = rows[i].key;
		sge.addr = (sge.lkey == 0x601 ? read_only : r.mr)->iova + rows[i].offset;
		r.mr->unmapped = rows[i].unmapped;
		T_EQ(roce_post_recv(r.qp, r.dut.now, &wr), 0);
		raw_request(&r, ROCE_OP_RC_SEND_ONLY, RAW_RQ_PSN, NULL, 64);
		raw_expect_ack(&r, rows[i].name, RAW_RQ_PSN, RAW_NAK_OPERATION);
		wc = node_take_wc(&r.dut);
		if (T_TRUE_ROW(rows[i].name, wc != NULL))
			T_TRUE_ROW(rows[i].name, wc->wc.status == ROCE_WC_LOC_PROT_ERR ||
							 wc->wc.status == ROCE_WC_LOC_ACCESS_ERR);
		T_EQ_ROW(rows[i].name, roce_qp_state(r.qp), ROCE_QPS_ERR);
		raw_stop(&r);
	}
}

static void write_to_memory_that_is_gone(void)
{
	const struct roce_pkt *nak;
	struct raw r;

	start(&r);
	write_not_mapped(&r);
	nak = raw_expect(&r, "NAK", ROCE_OP_RC_ACK, RAW_RQ_PSN);
	T_TRUE(nak->syndrome == RAW_NAK_ACCESS || nak->syndrome == RAW_NAK_OPERATION);
	T_EQ(roce_qp_state(r.qp), ROCE_QPS_ERR);
	raw_stop(&r);
}

/* What the QP does not allow is an invalid request; what the region does not, an access error. */
static void rights_are_checked_twice(void)
{
	enum {
		READ = ROCE_ACCESS_REMOTE_READ,
		WRITE = ROCE_ACCESS_REMOTE_WRITE,
		ATOMIC = ROCE_ACCESS_REMOTE_ATOMIC,
		LOCAL = ROCE_ACCESS_LOCAL_WRITE,
		ALL = READ | WRITE | ATOMIC | LOCAL
	};
	static const struct {
		const char *name;
		uint32_t qp, mr;
		enum roce_opcode code;
		uint8_t want; /* 0: done */
	} rows[] = {
		{"WRITE allowed", WRITE, WRITE | LOCAL, ROCE_OP_RC_WRITE_ONLY, 0},
		{"WRITE, not by QP", READ | ATOMIC, ALL, ROCE_OP_RC_WRITE_ONLY, RAW_NAK_INVALID},
		{"WRITE, not by region", ALL, READ | LOCAL, ROCE_OP_RC_WRITE_ONLY, RAW_NAK_ACCESS},
		{"READ allowed", READ, READ, ROCE_OP_RC_READ_REQUEST, 0},
		{"READ, not by QP", WRITE | ATOMIC, ALL, ROCE_OP_RC_READ_REQUEST, RAW_NAK_INVALID},
		{"READ, not by region", ALL, WRITE | LOCAL, ROCE_OP_RC_READ_REQUEST,
		 RAW_NAK_ACCESS},
		{"atomic allowed", ATOMIC, ATOMIC | LOCAL, ROCE_OP_RC_CMP_SWAP, 0},
		{"atomic, not by QP", READ | WRITE, ALL, ROCE_OP_RC_CMP_SWAP, RAW_NAK_INVALID},
		{"atomic, not by region", ALL, READ | WRITE | LOCAL, ROCE_OP_RC_CMP_SWAP,
		 RAW_NAK_ACCESS},
	};
	struct roce_pkt pkt;
	struct node_region *mr;
	struct raw r;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		raw_defaults(&r, ROCE_QPT_RC);
		r.attr.access = rows[i].qp;
		raw_start(&r);
		mr = node_mr(&r.dut, 0x701, rows[i].mr, 4096);
		raw_pkt(&r, &pkt, rows[i].code, RAW_RQ_PSN);
		pkt.va = mr->iova;
		pkt.rkey = 0x701;
		pkt.dma_length = 8;
		raw_send(&r, &pkt, NULL, rows[i].code == ROCE_OP_RC_WRITE_ONLY ? 8 : 0);
		if (rows[i].want)
			raw_expect_ack(&r, rows[i].name, RAW_RQ_PSN, rows[i].want);
		else
			T_EQ_ROW(rows[i].name, roce_qp_state(r.qp), ROCE_QPS_RTS);
		raw_forget(&r);
		raw_stop(&r);
	}
}

static void region_of_another_domain_is_refused(void)
{
	struct roce_mr_attr attr = {
		.key = 0x801, .pdn = NODE_PD + 1, .access = 0xf, .length = 64, .valid = true};
	struct roce_pkt pkt;
	struct roce_mr *mr;
	struct raw r;

	start(&r);
	attr.context = r.mr;
	T_EQ(roce_mr_create(r.dut.nic, &attr, &mr), 0);
	raw_pkt(&r, &pkt, ROCE_OP_RC_READ_REQUEST, RAW_RQ_PSN);
	pkt.rkey = 0x801;
	pkt.dma_length = 8;
	raw_send(&r, &pkt, NULL, 0);
	raw_expect_ack(&r, "other PD", RAW_RQ_PSN, RAW_NAK_ACCESS);
	raw_stop(&r);
}

/* A region destroyed in the middle of a WRITE stops it, and is not written to. */
static void region_may_go_during_a_write(void)
{
	struct node_region *mr;
	uint8_t before[4096];
	struct roce_pkt pkt;
	struct raw r;

	start(&r);
	mr = node_mr(&r.dut, 0x901, 0xf, 4096);
	raw_pkt(&r, &pkt, ROCE_OP_RC_WRITE_FIRST, RAW_RQ_PSN);
	pkt.va = mr->iova;
	pkt.rkey = 0x901;
	pkt.dma_length = 2 * MTU;
	raw_send(&r, &pkt, NULL, MTU);
	memcpy(before, mr->bytes, sizeof(before));
	roce_mr_destroy(mr->mr);
	raw_request(&r, ROCE_OP_RC_WRITE_LAST, RAW_RQ_PSN + 1, pattern, MTU);
	raw_expect_ack(&r, "gone", RAW_RQ_PSN + 1, RAW_NAK_ACCESS);
	T_BYTES(mr->bytes, before, sizeof(before));
	raw_stop(&r);
}

/* ------------------------------------------------------------ invalidation */

static void send_with_invalidate(void)
{
	struct node_region *fast;
	const struct roce_wc *wc;
	struct roce_pkt pkt;
	struct raw r;

	start(&r);
	fast = node_fast_mr(&r.dut, 0xa05, true, 4096);
	raw_post_recv(&r, 1, 0, 64);
	raw_pkt(&r, &pkt, ROCE_OP_RC_SEND_ONLY_INV, RAW_RQ_PSN);
	pkt.inv_key = 0xa05;
	raw_send(&r, &pkt, pattern, 5);
	raw_expect_ack(&r, "ACK", RAW_RQ_PSN, RAW_ACK);
	wc = raw_expect_wc(&r, "receive", 1, ROCE_WC_SUCCESS);
	T_EQ(wc->opcode, ROCE_WC_RECV_INV);
	T_EQ(wc->inv_key, 0xa05);
	T_EQ(wc->byte_len, 5);
	T_TRUE(!roce_mr_attr(fast->mr)->valid);
	raw_pkt(&r, &pkt, ROCE_OP_RC_READ_REQUEST, RAW_RQ_PSN + 1);
	pkt.va = fast->iova;
	pkt.rkey = 0xa05;
	pkt.dma_length = 8;
	raw_send(&r, &pkt, NULL, 0);
	raw_expect_ack(&r, "invalid now", RAW_RQ_PSN + 1, RAW_NAK_ACCESS);
	raw_stop(&r);
}

static void what_may_not_be_invalidated(void)
{
	static const struct {
		const char *name;
		uint32_t key;
	} rows[] = {
		{"unknown", 0xbb00},
		{"not for fast registration", RAW_KEY},
		{"other key byte", 0xa06},
		{"already invalid", 0xc01},
	};
	const struct node_wc *wc;
	struct node_region *fast;
	struct roce_pkt pkt;
	struct raw r;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		start(&r);
		fast = node_fast_mr(&r.dut, 0xa05, true, 4096);
		raw_post_recv(&r, 1, 0, 64);
		raw_pkt(&r, &pkt, ROCE_OP_RC_SEND_ONLY_INV, RAW_RQ_PSN);
		pkt.inv_key = rows[i].key;
		raw_send(&r, &pkt, pattern, 5);
		T_EQ_ROW(rows[i].name, roce_qp_state(r.qp), ROCE_QPS_ERR);
		wc = node_take_wc(&r.dut);
		T_TRUE_ROW(rows[i].name, wc && wc->wc.status != ROCE_WC_SUCCESS);
		T_TRUE_ROW(rows[i].name, roce_mr_attr(fast->mr)->valid);
		T_TRUE_ROW(rows[i].name, roce_mr_attr(r.mr->mr)->valid);
		raw_forget(&r);
		raw_stop(&r);
	}
}

static void violations_are_events(void)
{
	struct raw r;

	start(&r);
	write_past_the_end(&r);
	T_EQ(node_count_events(&r.dut, ROCE_EVENT_QP_ACCESS_ERR), 1);
	T_EQ(r.dut.event_count, 1);
	T_TRUE(r.dut.events[0].qp == r.qp);
	raw_stop(&r);
	start(&r);
	middle_without_first(&r);
	T_EQ(node_count_events(&r.dut, ROCE_EVENT_QP_REQ_ERR), 1);
	T_EQ(r.dut.event_count, 1);
	raw_stop(&r);
}

T_MAIN("roce_resp_refuse", T_CASE(violations_are_refused), T_CASE(too_long_send_says_so),
       T_CASE(bad_receive_is_an_operational_error), T_CASE(write_to_memory_that_is_gone),
       T_CASE(rights_are_checked_twice), T_CASE(region_of_another_domain_is_refused),
       T_CASE(region_may_go_during_a_write), T_CASE(send_with_invalidate),
       T_CASE(what_may_not_be_invalidated), T_CASE(violations_are_events), )
