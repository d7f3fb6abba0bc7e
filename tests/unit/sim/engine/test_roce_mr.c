/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Keys that change: fast registration, local and remote invalidation, in the order of posting. */
#include "tests/lib/t.h"
#include "tests/unit/sim/engine/roce_raw.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FAST = 0xa05, NEW_KEY = 0xa06 };

static void start(struct raw *r)
{
	raw_defaults(r, ROCE_QPT_RC);
	raw_start(r);
}

static void post_register(struct raw *r, uint64_t wr_id, uint32_t key, uint64_t iova,
			  uint64_t length)
{
	struct node_reg *reg = malloc(sizeof(*reg));
	struct roce_send_wr wr = {.wr_id = wr_id,
				  .opcode = ROCE_WR_REG_MR,
				  .flags = ROCE_WR_SIGNALED,
				  .inv_key = key,
				  .rkey = key,
				  .reg = reg};

	*reg = (struct node_reg){key, 0xf, iova, length};
	T_EQ(roce_post_send(r->qp, r->dut.now, &wr), 0);
	node_run(&r->dut);
}

static void post_invalidate(struct raw *r, uint64_t wr_id, uint32_t key)
{
	struct roce_send_wr wr = {.wr_id = wr_id,
				  .opcode = ROCE_WR_LOCAL_INV,
				  .flags = ROCE_WR_SIGNALED,
				  .inv_key = key};

	T_EQ(roce_post_send(r->qp, r->dut.now, &wr), 0);
	node_run(&r->dut);
}

/* A WRITE of the peer of 8 bytes; returns whether it was done. */
static bool peer_writes(struct raw *r, uint32_t psn, uint32_t key, uint64_t va)
{
	struct roce_pkt pkt;

	raw_pkt(r, &pkt, ROCE_OP_RC_WRITE_ONLY, psn);
	pkt.va = va;
	pkt.rkey = key;
	pkt.dma_length = 8;
	raw_send(r, &pkt, "abcdefgh", 8);
	return raw_expect(r, "answer", ROCE_OP_RC_ACK, psn)->syndrome == RAW_ACK;
}

static void registered_key_works(void)
{
	struct node_region *fast;
	struct raw r;

	start(&r);
	fast = node_fast_mr(&r.dut, FAST, false, 4096);
	post_register(&r, 1, NEW_KEY, 0x5000, 100);
	T_EQ(raw_expect_wc(&r, "REG_MR", 1, ROCE_WC_SUCCESS)->wr_opcode, ROCE_WR_REG_MR);
	T_EQ(r.dut.reg_freed, 1);
	T_EQ(roce_mr_attr(fast->mr)->key, NEW_KEY);
	T_TRUE(roce_mr_find(r.dut.nic, FAST) == fast->mr);
	T_TRUE(peer_writes(&r, RAW_RQ_PSN, NEW_KEY, 0x5000 + 92));
	T_BYTES(fast->bytes + 92, "abcdefgh", 8);
	post_invalidate(&r, 2, NEW_KEY);
	raw_expect_wc(&r, "LOCAL_INV", 2, ROCE_WC_SUCCESS);
	T_TRUE(!peer_writes(&r, RAW_RQ_PSN + 1, NEW_KEY, 0x5000));
	raw_stop(&r);
}

static void new_bounds_and_new_key_byte_hold(void)
{
	static const struct {
		const char *name;
		uint32_t key;
		uint64_t va;
	} rows[] = {
		{"old key byte", FAST, 0x5000},
		{"past the new end", NEW_KEY, 0x5000 + 93},
		{"old address", NEW_KEY, 0x900000000 + ((uint64_t)FAST << 24)},
	};
	struct raw r;
	size_t i;

	for (i = 0; i < 3; i++) {
		start(&r);
		node_fast_mr(&r.dut, FAST, false, 4096);
		post_register(&r, 1, NEW_KEY, 0x5000, 100);
		T_TRUE_ROW(rows[i].name, !peer_writes(&r, RAW_RQ_PSN, rows[i].key, rows[i].va));
		raw_stop(&r);
	}
}

/* Local work takes its turn: a SEND posted after REG_MR may use the new key at once. */
static void work_behind_it_may_use_the_key(void)
{
	struct roce_sge sge = {0x5000, 50, NEW_KEY};
	struct roce_send_wr wr = {.wr_id = 2,
				  .opcode = ROCE_WR_SEND,
				  .flags = ROCE_WR_SIGNALED,
				  .sge = &sge,
				  .num_sge = 1};
	struct node_region *fast;
	struct raw r;

	start(&r);
	fast = node_fast_mr(&r.dut, FAST, false, 4096);
	post_register(&r, 1, NEW_KEY, 0x5000, 100);
	T_EQ(roce_post_send(r.qp, r.dut.now, &wr), 0);
	node_run(&r.dut);
	raw_expect(&r, "SEND", ROCE_OP_RC_SEND_ONLY, RAW_SQ_PSN);
	T_BYTES(r.pkt.payload, fast->bytes, 50);
	raw_expect_wc(&r, "REG_MR", 1, ROCE_WC_SUCCESS);
	raw_ack(&r, RAW_SQ_PSN, RAW_ACK);
	raw_expect_wc(&r, "SEND", 2, ROCE_WC_SUCCESS);
	raw_stop(&r);
}

/* Completions keep the order of posting, also of local work behind work on its way. */
static void local_work_completes_in_its_turn(void)
{
	struct raw r;

	start(&r);
	node_fast_mr(&r.dut, FAST, false, 4096);
	raw_post(&r, 1, ROCE_WR_SEND, 0, 8);
	post_register(&r, 2, NEW_KEY, 0x5000, 100);
	raw_post(&r, 3, ROCE_WR_NOP, 0, 0);
	raw_post(&r, 4, ROCE_WR_SEND, 0, 8);
	raw_expect_no_wc(&r, "the first is on its way");
	raw_ack(&r, RAW_SQ_PSN, RAW_ACK);
	raw_expect_wc(&r, "SEND", 1, ROCE_WC_SUCCESS);
	raw_expect_wc(&r, "REG_MR", 2, ROCE_WC_SUCCESS);
	raw_expect_wc(&r, "NOP", 3, ROCE_WC_SUCCESS);
	raw_expect_no_wc(&r, "the last");
	raw_ack(&r, RAW_SQ_PSN + 1, RAW_ACK);
	raw_expect_wc(&r, "SEND", 4, ROCE_WC_SUCCESS);
	raw_stop(&r);
}

/* Work before it may have to be sent again, from the region that is to be invalidated. */
static void local_invalidate_waits_for_what_is_before_it(void)
{
	struct roce_sge sge;
	struct roce_send_wr wr = {.wr_id = 1,
				  .opcode = ROCE_WR_SEND,
				  .flags = ROCE_WR_SIGNALED,
				  .sge = &sge,
				  .num_sge = 1};
	struct node_region *fast;
	struct raw r;

	start(&r);
	fast = node_fast_mr(&r.dut, FAST, true, 4096);
	sge = (struct roce_sge){fast->iova, 50, FAST};
	T_EQ(roce_post_send(r.qp, r.dut.now, &wr), 0);
	post_invalidate(&r, 2, FAST);
	raw_post(&r, 3, ROCE_WR_SEND, 0, 8);
	raw_forget(&r);
	node_advance(&r.dut, 100000000);
	raw_expect(&r, "again", ROCE_OP_RC_SEND_ONLY, RAW_SQ_PSN);
	T_BYTES(r.pkt.payload, fast->bytes, 50);
	T_TRUE(roce_mr_attr(fast->mr)->valid);
	raw_forget(&r);
	raw_ack(&r, RAW_SQ_PSN, RAW_ACK);
	raw_expect_wc(&r, "SEND", 1, ROCE_WC_SUCCESS);
	raw_expect_wc(&r, "LOCAL_INV", 2, ROCE_WC_SUCCESS);
	T_TRUE(!roce_mr_attr(fast->mr)->valid);
	raw_ack(&r, RAW_SQ_PSN + 1, RAW_ACK);
	raw_expect_wc(&r, "next", 3, ROCE_WC_SUCCESS);
	raw_stop(&r);
}

static void failing_registrations(void)
{
	static const struct {
		const char *name;
		uint32_t key;
		bool valid;
		int result;
	} rows[] = {
		{"class refuses", NEW_KEY, false, -EINVAL},
		{"still valid", NEW_KEY, true, 0},
		{"unknown", 0xbeef00, false, 0},
		{"not for fast registration", RAW_KEY, false, 0},
	};
	const struct node_wc *wc;
	struct raw r;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		start(&r);
		node_fast_mr(&r.dut, FAST, rows[i].valid, 4096);
		r.dut.reg_mr_result = rows[i].result;
		post_register(&r, 1, rows[i].key, 0x5000, 100);
		wc = node_take_wc(&r.dut);
		if (T_TRUE_ROW(rows[i].name, wc != NULL))
			T_EQ_ROW(rows[i].name, wc->wc.status, ROCE_WC_MW_BIND_ERR);
		T_EQ_ROW(rows[i].name, roce_qp_state(r.qp), ROCE_QPS_ERR);
		T_EQ_ROW(rows[i].name, r.dut.reg_freed, 1);
		T_TRUE_ROW(rows[i].name, roce_mr_attr(r.mr->mr)->key == RAW_KEY);
		raw_stop(&r);
	}
}

static void failing_invalidations(void)
{
	static const uint32_t keys[] = {0xbeef00, RAW_KEY, FAST ^ 1};
	const struct node_wc *wc;
	struct raw r;
	size_t i;

	for (i = 0; i < 3; i++) {
		start(&r);
		node_fast_mr(&r.dut, FAST, true, 4096);
		post_invalidate(&r, 1, keys[i]);
		wc = node_take_wc(&r.dut);
		T_TRUE(wc && wc->wc.status != ROCE_WC_SUCCESS);
		T_TRUE(roce_mr_attr(r.mr->mr)->valid);
		raw_stop(&r);
	}
}

/* What `reg` points to is given back however the work ends. */
static void registration_is_freed_when_flushed(void)
{
	struct raw r;

	start(&r);
	node_fast_mr(&r.dut, FAST, false, 4096);
	raw_post(&r, 1, ROCE_WR_READ, 0, 8);
	r.dut.room = 0;
	raw_post(&r, 2, ROCE_WR_SEND, 0, 8);
	post_register(&r, 3, NEW_KEY, 0x5000, 100);
	post_register(&r, 4, NEW_KEY, 0x5000, 100);
	T_EQ(node_modify(&r.dut, r.qp, ROCE_QPS_ERR), 0);
	T_EQ(r.dut.reg_freed, 2);
	post_register(&r, 5, NEW_KEY, 0x5000, 100);
	T_EQ(r.dut.reg_freed, 3);
	raw_stop(&r);
	start(&r);
	r.dut.room = 0;
	raw_post(&r, 1, ROCE_WR_SEND, 0, 8);
	post_register(&r, 2, NEW_KEY, 0x5000, 100);
	roce_qp_destroy(r.qp);
	T_EQ(r.dut.reg_freed, 1);
	raw_stop(&r);
}

static void read_with_invalidate(void)
{
	struct node_region *fast;
	struct roce_sge sge;
	struct roce_send_wr wr = {.wr_id = 1,
				  .opcode = ROCE_WR_READ_INV,
				  .flags = ROCE_WR_SIGNALED,
				  .inv_key = FAST,
				  .sge = &sge,
				  .num_sge = 1};
	struct raw r;

	start(&r);
	fast = node_fast_mr(&r.dut, FAST, true, 4096);
	sge = (struct roce_sge){fast->iova, 8, FAST};
	T_EQ(roce_post_send(r.qp, r.dut.now, &wr), 0);
	node_run(&r.dut);
	raw_expect(&r, "READ", ROCE_OP_RC_READ_REQUEST, RAW_SQ_PSN);
	T_TRUE(roce_mr_attr(fast->mr)->valid);
	raw_read_response(&r, ROCE_OP_RC_READ_RESPONSE_ONLY, RAW_SQ_PSN, "abcdefgh", 8);
	raw_expect_wc(&r, "READ", 1, ROCE_WC_SUCCESS);
	T_BYTES(fast->bytes, "abcdefgh", 8);
	T_TRUE(!roce_mr_attr(fast->mr)->valid);
	raw_stop(&r);
}

static void reserved_key_reaches_everything(void)
{
	struct roce_mr_attr attr = {
		.key = 0xd01, .any_pd = true, .access = 0xf, .any_length = true, .valid = true};
	struct roce_sge sge = {0x40, 8, 0xd01};
	struct roce_send_wr wr = {.opcode = ROCE_WR_SEND, .sge = &sge, .num_sge = 1};
	struct roce_mr *mr;
	struct raw r;

	start(&r);
	attr.context = r.mr;
	T_EQ(roce_mr_create(r.dut.nic, &attr, &mr), 0);
	T_EQ(roce_mr_create(r.dut.nic, &attr, &mr), -EEXIST);
	T_EQ(roce_post_send(r.qp, r.dut.now, &wr), 0);
	node_run(&r.dut);
	raw_expect(&r, "SEND", ROCE_OP_RC_SEND_ONLY, RAW_SQ_PSN);
	T_BYTES(r.pkt.payload, r.mr->bytes + 0x40, 8);
	raw_stop(&r);
}

T_MAIN("roce_mr", T_CASE(registered_key_works), T_CASE(new_bounds_and_new_key_byte_hold),
       T_CASE(work_behind_it_may_use_the_key), T_CASE(local_work_completes_in_its_turn),
       T_CASE(local_invalidate_waits_for_what_is_before_it), T_CASE(failing_registrations),
       T_CASE(failing_invalidations), T_CASE(registration_is_freed_when_flushed),
       T_CASE(read_with_invalidate), T_CASE(reserved_key_reaches_everything), )
