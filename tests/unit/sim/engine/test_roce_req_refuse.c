/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Work that cannot be done: what posting refuses, and what fails in its turn. */
#include "tests/lib/t.h"
#include "tests/unit/sim/engine/roce_raw.h"

#include <errno.h>

enum { MTU = 1024 };
static const uint64_t remote_addr = 0x123456789000;

static void start(struct raw *r)
{
	raw_defaults(r, ROCE_QPT_RC);
	raw_start(r);
}

/* ---------------------------------------------------------------- refusals */

static void posting_refuses(void)
{
	enum { RC = 1 << ROCE_QPT_RC, UC = 1 << ROCE_QPT_UC, UD = 1 << ROCE_QPT_UD };
	static const struct {
		const char *name;
		enum roce_wr_opcode opcode;
		int legal; /* on these types (IBTA table 36) */
	} rows[] = {
		{"SEND", ROCE_WR_SEND, RC | UC | UD},
		{"SEND_IMM", ROCE_WR_SEND_IMM, RC | UC | UD},
		{"SEND_INV", ROCE_WR_SEND_INV, RC},
		{"WRITE", ROCE_WR_WRITE, RC | UC},
		{"WRITE_IMM", ROCE_WR_WRITE_IMM, RC | UC},
		{"READ", ROCE_WR_READ, RC},
		{"CMP_SWAP", ROCE_WR_CMP_SWAP, RC},
		{"FETCH_ADD", ROCE_WR_FETCH_ADD, RC},
		{"no opcode", ROCE_WR_OPCODE_COUNT, 0},
	};
	static const enum roce_qp_type types[] = {ROCE_QPT_RC, ROCE_QPT_UC, ROCE_QPT_UD};
	struct roce_send_wr wr = {.num_sge = 0};
	struct raw r;
	size_t i, t;
	int want;

	for (t = 0; t < 3; t++) {
		raw_defaults(&r, types[t]);
		raw_start(&r);
		for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			struct roce_sge sge = {r.mr->iova, 8, RAW_KEY};

			wr = (struct roce_send_wr){.opcode = rows[i].opcode,
						   .sge = &sge,
						   .num_sge = 1,
						   .ud.av = r.attr.av,
						   .ud.dest_qpn = 9};
			want = rows[i].legal & 1 << types[t] ? 0 : -EINVAL;
			T_EQ_ROW(rows[i].name, roce_post_send(r.qp, r.dut.now, &wr), want);
		}
		raw_stop(&r);
	}
}

static void posting_refuses_in_a_wrong_state(void)
{
	static const struct {
		const char *name;
		enum roce_qp_state state;
		int send, receive;
	} rows[] = {
		{"RESET", ROCE_QPS_RESET, -EINVAL, -EINVAL},
		{"INIT", ROCE_QPS_INIT, -EINVAL, 0},
		{"RTR", ROCE_QPS_RTR, -EINVAL, 0},
		{"RTS", ROCE_QPS_RTS, 0, 0},
	};
	struct roce_send_wr send = {.opcode = ROCE_WR_SEND};
	struct roce_recv_wr receive = {.num_sge = 0};
	struct raw r;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		raw_defaults(&r, ROCE_QPT_RC);
		raw_open(&r);
		r.qp = node_qp(&r.dut, RAW_QPN, r.type, NULL);
		if (rows[i].state != ROCE_QPS_RESET)
			node_connect(&r.dut, r.qp, &r.attr, r.type, rows[i].state);
		T_EQ_ROW(rows[i].name, roce_post_send(r.qp, r.dut.now, &send), rows[i].send);
		T_EQ_ROW(rows[i].name, roce_post_recv(r.qp, r.dut.now, &receive), rows[i].receive);
		raw_stop(&r);
	}
}

static void queues_are_as_long_as_asked_for(void)
{
	struct roce_send_wr send = {.opcode = ROCE_WR_SEND};
	struct roce_recv_wr receive = {.num_sge = 0};
	struct roce_sge sge[ROCE_MAX_SGE + 1] = {{0, 0, 0}};
	struct raw r;
	int i;

	start(&r);
	for (i = 0; i < 256; i++)
		T_EQ(roce_post_send(r.qp, r.dut.now, &send), 0);
	T_EQ(roce_post_send(r.qp, r.dut.now, &send), -ENOMEM);
	T_EQ(roce_qp_send_outstanding(r.qp), 256);
	for (i = 0; i < 256; i++)
		T_EQ(roce_post_recv(r.qp, r.dut.now, &receive), 0);
	T_EQ(roce_post_recv(r.qp, r.dut.now, &receive), -ENOMEM);
	T_EQ(roce_qp_recv_outstanding(r.qp), 256);
	node_run(&r.dut);
	raw_ack(&r, RAW_SQ_PSN, RAW_ACK);
	T_EQ(roce_qp_send_outstanding(r.qp), 255);
	send.sge = receive.sge = sge;
	send.num_sge = receive.num_sge = ROCE_MAX_SGE + 1;
	T_EQ(roce_post_send(r.qp, r.dut.now, &send), -EINVAL);
	raw_request(&r, ROCE_OP_RC_SEND_ONLY, RAW_RQ_PSN, NULL, 0);
	T_EQ(roce_post_recv(r.qp, r.dut.now, &receive), -EINVAL);
	send.num_sge = ROCE_MAX_SGE;
	T_EQ(roce_post_send(r.qp, r.dut.now, &send), 0);
	raw_stop(&r);
}

/* --------------------------------------------------------- local failures */

struct local_fault {
	const char *name;
	enum roce_wr_opcode opcode;
	uint32_t key; /* 0: RAW_KEY */
	uint64_t offset;
	uint32_t length;
	bool unmapped;
};

static const struct local_fault local_faults[] = {
	{"unknown key", ROCE_WR_SEND, 0xbad00, 0, 8, false},
	{"other key byte", ROCE_WR_WRITE, RAW_KEY ^ 1, 0, 8, false},
	{"past the end", ROCE_WR_SEND, 0, RAW_MR_BYTES - 7, 8, false},
	{"before the start", ROCE_WR_SEND, 0, (uint64_t)-1, 8, false},
	{"around the address space", ROCE_WR_SEND, 0x701, (uint64_t)-4, 8, false},
	{"not mapped", ROCE_WR_WRITE, 0, 0, 8, true},
	{"READ into read-only memory", ROCE_WR_READ, 0x601, 0, 8, false},
	{"atomic into read-only memory", ROCE_WR_FETCH_ADD, 0x601, 0, 8, false},
	{"second packet past the end", ROCE_WR_SEND, 0, RAW_MR_BYTES - MTU - 8, 2 * MTU, false},
	{"other domain", ROCE_WR_SEND, 0x701, 0, 8, false},
};

static uint64_t address_of(const struct raw *r, const struct local_fault *f)
{
	const struct node_region *region;

	for (region = r->dut.regions; region; region = region->next)
		if (region->key == f->key)
			return region->iova + f->offset;
	return f->key == 0x701 ? f->offset : r->mr->iova + f->offset;
}

/* Where the peer's answer goes may be found wrong only when it comes. */
static void answer(struct raw *r, enum roce_wr_opcode opcode, uint32_t psn)
{
	if (opcode == ROCE_WR_READ)
		raw_read_response(r, ROCE_OP_RC_READ_RESPONSE_ONLY, psn, NULL, 8);
	if (opcode == ROCE_WR_FETCH_ADD)
		raw_atomic_ack(r, psn, 0);
}

/* In its turn: what was posted before is done, what was posted after is flushed. */
static void local_faults_fail_in_their_turn(void)
{
	struct roce_mr_attr attr = {
		.key = 0x701, .pdn = 1, .access = 0xf, .length = 64, .valid = true};
	struct roce_mr *mr;
	const struct local_fault *f;
	const struct node_wc *wc;
	struct roce_sge sge;
	struct roce_send_wr wr = {.wr_id = 2, .sge = &sge, .num_sge = 1};
	struct raw r;
	size_t i;

	for (i = 0; i < sizeof(local_faults) / sizeof(local_faults[0]); i++) {
		f = &local_faults[i];
		start(&r);
		node_mr(&r.dut, 0x601, ROCE_ACCESS_REMOTE_READ, 4096);
		attr.context = r.mr;
		T_EQ(roce_mr_create(r.dut.nic, &attr, &mr), 0);
		raw_post(&r, 1, ROCE_WR_SEND, 0, 8);
		r.mr->unmapped = f->unmapped;
		sge = (struct roce_sge){address_of(&r, f), f->length, f->key ? f->key : RAW_KEY};
		wr.opcode = f->opcode;
		T_EQ_ROW(f->name, roce_post_send(r.qp, r.dut.now, &wr), 0);
		raw_post(&r, 3, ROCE_WR_SEND, 0, 0);
		raw_expect(&r, f->name, ROCE_OP_RC_SEND_ONLY, RAW_SQ_PSN);
		raw_ack(&r, RAW_SQ_PSN, RAW_ACK);
		raw_expect_wc(&r, f->name, 1, ROCE_WC_SUCCESS);
		answer(&r, f->opcode, RAW_SQ_PSN + 1);
		node_advance(&r.dut, 1000000);
		wc = node_take_wc(&r.dut);
		if (T_TRUE_ROW(f->name, wc != NULL)) {
			T_EQ_ROW(f->name, wc->wc.wr_id, 2);
			T_TRUE_ROW(f->name, wc->wc.status == ROCE_WC_LOC_PROT_ERR ||
						    wc->wc.status == ROCE_WC_LOC_ACCESS_ERR);
			T_TRUE_ROW(f->name, wc->wc.signaled);
		}
		raw_expect_wc(&r, f->name, 3, ROCE_WC_WR_FLUSH_ERR);
		T_EQ_ROW(f->name, roce_qp_state(r.qp), ROCE_QPS_ERR);
		raw_stop(&r);
	}
}

static void what_a_class_cannot_decode_fails_in_its_turn(void)
{
	struct roce_send_wr wr = {.wr_id = 2, .opcode = ROCE_WR_INVALID};
	struct raw r;

	start(&r);
	raw_post(&r, 1, ROCE_WR_SEND, 0, 8);
	T_EQ(roce_post_send(r.qp, r.dut.now, &wr), 0);
	raw_post(&r, 3, ROCE_WR_SEND, 0, 8);
	raw_expect_no_wc(&r, "not before the first");
	raw_ack(&r, RAW_SQ_PSN, RAW_ACK);
	raw_expect_wc(&r, "before", 1, ROCE_WC_SUCCESS);
	raw_expect_wc(&r, "itself", 2, ROCE_WC_LOC_QP_OP_ERR);
	raw_expect_wc(&r, "after", 3, ROCE_WC_WR_FLUSH_ERR);
	raw_stop(&r);
}

/* Local lengths that cannot be: refused at once, or failed in their turn. */
static void impossible_lengths(void)
{
	static const struct {
		const char *name;
		enum roce_wr_opcode opcode;
		uint32_t length, count;
	} rows[] = {
		{"atomic of 4", ROCE_WR_FETCH_ADD, 4, 1},
		{"atomic of 0", ROCE_WR_CMP_SWAP, 0, 0},
		{"SEND above 2 GiB", ROCE_WR_SEND, 0x80000001, 1},
		{"SEND whose sum wraps", ROCE_WR_SEND, 0x80000000, 2},
		{"READ above 2 GiB", ROCE_WR_READ, 0x80000001, 1},
	};
	struct roce_mr_attr attr = {
		.key = 0xd01, .pdn = NODE_PD, .access = 0xf, .any_length = true, .valid = true};
	struct roce_sge sge[2];
	struct roce_send_wr wr = {.wr_id = 1, .sge = sge, .remote_addr = remote_addr};
	const struct node_wc *wc;
	struct roce_mr *mr;
	struct raw r;
	size_t i;
	int err;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		start(&r);
		attr.context = r.mr;
		T_EQ(roce_mr_create(r.dut.nic, &attr, &mr), 0);
		sge[0] = sge[1] = (struct roce_sge){0, rows[i].length, 0xd01};
		wr.opcode = rows[i].opcode;
		wr.num_sge = rows[i].count;
		err = roce_post_send(r.qp, r.dut.now, &wr);
		T_TRUE_ROW(rows[i].name, err == 0 || err == -EINVAL);
		node_run(&r.dut);
		raw_expect_silence(&r, rows[i].name);
		wc = node_take_wc(&r.dut);
		if (!err && T_TRUE_ROW(rows[i].name, wc != NULL))
			T_TRUE_ROW(rows[i].name, wc->wc.status == ROCE_WC_LOC_LEN_ERR ||
							 wc->wc.status == ROCE_WC_LOC_QP_OP_ERR ||
							 wc->wc.status == ROCE_WC_LOC_PROT_ERR);
		raw_stop(&r);
	}
}

T_MAIN("roce_req_refuse", T_CASE(posting_refuses), T_CASE(posting_refuses_in_a_wrong_state),
       T_CASE(queues_are_as_long_as_asked_for), T_CASE(local_faults_fail_in_their_turn),
       T_CASE(what_a_class_cannot_decode_fails_in_its_turn), T_CASE(impossible_lengths), )
