/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Translation: data is sent from regions and rings whose pages lie scattered in guest memory,
 * through every level of tables, and compared with what was written page by page.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "tests/lib/t.h"
#include "tests/unit/providers/erdma/erdma_guest.h"

enum { PAGES = 24, PAGE = 4096, REGION = 50 };
#define VA 0x7f0000000000ull

struct world {
	struct guest_pair p;
	struct guest_end a, b;
	uint64_t pages[PAGES]; /* bus addresses, in no order */
};

static bool world_make(struct world *w)
{
	uint64_t base;
	int i;

	if (!T_TRUE(guest_pair(&w->p)) || !T_TRUE(guest_connect(&w->p, &w->a, &w->b)))
		return false;
	base = guest_alloc(&w->p.a, PAGES * PAGE, PAGE);
	for (i = 0; i < PAGES; i++)
		w->pages[i] = base + (uint64_t)(i * 7 % PAGES) * PAGE;
	return true;
}

static void world_end(struct world *w)
{
	guest_pair_stop(&w->p);
}

/* Byte at offset of the buffer that begins `first` bytes into page 0. */
static uint8_t pattern(uint64_t offset)
{
	return (uint8_t)(offset * 11 + (offset >> 9));
}

static void write_pattern(struct world *w, uint64_t first, uint64_t length)
{
	uint64_t i, at;

	for (i = 0; i < length; i++) {
		at = first + i;
		*(uint8_t *)guest_at(&w->p.a, w->pages[at / PAGE] + at % PAGE) = pattern(i);
	}
}

/* A table of the pages, `skew` bytes off a page boundary, behind `lead` others. */
static uint64_t page_table(struct world *w, uint64_t skew, unsigned int lead)
{
	uint64_t at = guest_alloc(&w->p.a, 2 * PAGE, PAGE) + skew;
	uint64_t *table = guest_at(&w->p.a, at);
	unsigned int i;

	for (i = 0; i < PAGES; i++)
		table[lead + i] = htole64(w->pages[i]);
	return at;
}

/* A page-sized table with one entry. */
static uint64_t one_entry(struct world *w, unsigned int index, uint64_t value)
{
	uint64_t at = guest_alloc(&w->p.a, PAGE, PAGE), *table = guest_at(&w->p.a, at);

	table[index] = htole64(value);
	return at;
}

static struct erdma_cmd_reg_mr region(uint64_t va, uint64_t length, unsigned int level,
				      uint64_t count, uint64_t top)
{
	return (struct erdma_cmd_reg_mr){
		.key = htole32(nic_prep(ERDMA_REG_MR_VALID, 1) |
			       nic_prep(ERDMA_REG_MR_VERSION, level > 1) |
			       nic_prep(ERDMA_REG_MR_INDEX, REGION)),
		.cfg = htole32(nic_prep(ERDMA_REG_MR_PDN, GUEST_PD) |
			       nic_prep(ERDMA_REG_MR_ACCESS, 31)),
		.va = htole64(va),
		.length = htole32((uint32_t)length),
		.length_high = level > 1 ? htole32((uint32_t)(length >> 32)) : 0,
		.mtt = htole32(nic_prep(ERDMA_REG_MR_PAGE, 12) |
			       nic_prep(ERDMA_REG_MR_LEVEL, level) |
			       nic_prep(ERDMA_REG_MR_COUNT, count)),
		.top = htole64(top),
	};
}

/* WRITEs `length` bytes at va of the region to b and compares with the pattern from `from`. */
static void expect_pattern(const char *row, struct world *w, uint64_t va, uint32_t length,
			   uint64_t from)
{
	struct {
		struct erdma_sqe_write w;
		struct erdma_sge sge[2];
	} wqe = {
		.w = {.head.hdr =
			      htole64(nic_prep(ERDMA_SQE_OPCODE, ERDMA_OP_WRITE) |
				      nic_prep(ERDMA_SQE_SGL, 1) | nic_prep(ERDMA_SQE_SIGNALED, 1)),
		      .rkey = htole32(w->b.key),
		      .remote_low = htole32((uint32_t)w->b.buffer),
		      .remote_high = htole32((uint32_t)(w->b.buffer >> 32))},
		.sge = {{.addr = htole64(va),
			 .length = htole32(length),
			 .key = htole32(REGION << 8)}},
	};
	const uint8_t *got = guest_at(&w->p.b, w->b.buffer);
	struct erdma_cqe cqe;
	uint32_t i;

	memset(guest_at(&w->p.b, w->b.buffer), 0, length);
	guest_post(&w->a.qp, &wqe, 2);
	if (!T_TRUE_ROW(row, guest_wait(&w->a.cq, &cqe)))
		return;
	T_EQ_ROW(row, be32toh(cqe.hdr) & 0xff, 0);
	for (i = 0; i < length; i++)
		if (got[i] != pattern(from + i))
			break;
	T_EQ_ROW(row, i, length);
}

static void levels_0_and_1(void)
{
	static const struct {
		const char *name;
		unsigned int level, pages;
		uint64_t skew, first, length;
	} rows[] = {
		{"a page in the request", 0, 1, 0, 0, 4096},
		{"part of a page", 0, 1, 0, 100, 200},
		{"four pages in the request", 0, 4, 0, 4095, 3 * 4096},
		{"one page by a table", 1, 1, 8, 3, 4000},
		{"table at a page", 1, 24, 0, 0, 24 * 4096},
		{"table off a page", 1, 24, 40, 123, 24 * 4096 - 123},
		{"table across pages", 1, 20, 4000, 4000, 16 * 4096},
	};
	struct world w;
	size_t i, k;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct erdma_cmd_reg_mr req;

		T_NEED(world_make(&w));
		req = region(VA + rows[i].first, rows[i].length, rows[i].level, rows[i].pages, 0);
		req.pages[0] = htole64(page_table(&w, rows[i].skew, 0));
		for (k = 0; rows[i].level == 0 && k < rows[i].pages; k++)
			req.pages[k] = htole64(w.pages[k]);
		T_EQ_ROW(rows[i].name,
			 guest_command(&w.p.a, ERDMA_COMMAND_REG_MR, &req, sizeof(req)), 0);
		write_pattern(&w, rows[i].first, rows[i].length);
		expect_pattern(rows[i].name, &w, VA + rows[i].first,
			       rows[i].length > 65536 ? 65536 : (uint32_t)rows[i].length, 0);
		if (rows[i].length > 65536)
			expect_pattern(rows[i].name, &w, VA + rows[i].first + rows[i].length - 5000,
				       5000, rows[i].length - 5000);
		world_end(&w);
	}
}

/* Two tables of 512 behind a top one; the pages sit across their border. */
static void level_2(void)
{
	uint64_t top, *table, second = 0x200 * PAGE;
	struct erdma_cmd_reg_mr req;
	struct world w;

	T_NEED(world_make(&w));
	top = one_entry(&w, 1, page_table(&w, 0, 0));
	table = guest_at(&w.p.a, top);
	table[0] = htole64(one_entry(&w, 0, w.pages[0]));
	req = region(VA, second + PAGES * PAGE, 2, 512 + PAGES, top);
	T_EQ(guest_command(&w.p.a, ERDMA_COMMAND_REG_MR, &req, sizeof(req)), 0);
	write_pattern(&w, 0, PAGES * PAGE);
	expect_pattern("second table", &w, VA + second, 65536, 0);
	expect_pattern("unaligned", &w, VA + second + 4001, 9000, 4001);
	expect_pattern("first table", &w, VA, 4096, 0);
	world_end(&w);
}

/* Just beyond 1 GiB: page 262144 is in the second table of the second table. */
static void level_3(void)
{
	uint64_t top, *table, giga = 1ull << 30;
	struct erdma_cmd_reg_mr req;
	struct world w;

	T_NEED(world_make(&w));
	top = one_entry(&w, 1, one_entry(&w, 0, page_table(&w, 0, 0)));
	table = guest_at(&w.p.a, top);
	table[0] = htole64(one_entry(&w, 0, one_entry(&w, 0, w.pages[0])));
	req = region(VA, giga + PAGES * PAGE, 3, 262144 + PAGES, top);
	T_EQ(guest_command(&w.p.a, ERDMA_COMMAND_REG_MR, &req, sizeof(req)), 0);
	write_pattern(&w, 0, PAGES * PAGE);
	expect_pattern("beyond 1 GiB", &w, VA + giga + 77, 65000, 77);
	world_end(&w);
}

/* Tables of 64 KiB, as a host with such pages has them. */
static void large_tables(void)
{
	uint64_t top, second = 8192ull * PAGE;
	struct erdma_cmd_reg_mr req;
	struct world w;

	T_NEED(world_make(&w));
	top = guest_alloc(&w.p.a, 65536, 65536);
	((uint64_t *)guest_at(&w.p.a, top))[0] = htole64(one_entry(&w, 0, w.pages[0]));
	((uint64_t *)guest_at(&w.p.a, top))[1] = htole64(page_table(&w, 0, 0));
	req = region(VA, second + PAGES * PAGE, 2, 8192 + PAGES, top);
	req.mtt |= htole32(nic_prep(ERDMA_REG_MR_MTT_PAGE, 4));
	T_EQ(guest_command(&w.p.a, ERDMA_COMMAND_REG_MR, &req, sizeof(req)), 0);
	write_pattern(&w, 0, PAGES * PAGE);
	expect_pattern("64 KiB", &w, VA + second, 65536, 0);
	world_end(&w);
}

/* A table entry that leads nowhere: found when used, a local error for the QP. */
static void pages_that_are_not(void)
{
	struct {
		struct erdma_sqe_send s;
		struct erdma_sge sge;
	} wqe = {
		.s.head.hdr = htole64(nic_prep(ERDMA_SQE_OPCODE, ERDMA_OP_SEND) |
				      nic_prep(ERDMA_SQE_SGL, 1)),
		.sge = {htole64(VA + 4000), htole32(200), htole32(REGION << 8)},
	};
	uint8_t want[32];
	struct erdma_cmd_reg_mr req;
	struct erdma_cqe cqe;
	struct world w;
	uint64_t at;

	T_NEED(world_make(&w));
	at = page_table(&w, 0, 0);
	((uint64_t *)guest_at(&w.p.a, at))[1] = htole64(0xdead00000000);
	req = region(VA, 3 * PAGE, 1, 3, at);
	T_EQ(guest_command(&w.p.a, ERDMA_COMMAND_REG_MR, &req, sizeof(req)), 0);
	write_pattern(&w, 0, PAGE);
	expect_pattern("before", &w, VA, 4096, 0);
	guest_post(&w.a.qp, &wqe, 1);
	T_TRUE(guest_wait(&w.a.cq, &cqe));
	t_hex("8002000a00000002000000020000000000000000000000000000000000000000", want, 32);
	T_BYTES(&cqe, want, 32);
	world_end(&w);
}

/* Rings as a process has them: scattered pages, an offset into the first, a table of them. */
static void scattered_rings(void)
{
	struct erdma_cmd_create_cq cq_req;
	struct erdma_cmd_create_qp qp_req;
	static const int order[] = {2, 0, 1};
	uint64_t sqe[4] = {0}, big[3], table, *entries;
	struct erdma_cqe cqe;
	struct guest_qp qp;
	struct world w;
	uint32_t i, at;

	T_NEED(world_make(&w));
	/* CQ of 256 entries, 2 pages, by a table. SQ of 512 blocks, 4 pages, in 8 KiB units. */
	cq_req = guest_cq_request(&w.p.a, 9, 8);
	table = guest_alloc(&w.p.a, 64, 8) + 8;
	entries = guest_at(&w.p.a, table);
	entries[0] = htole64(w.pages[3]);
	entries[1] = htole64(w.pages[1]);
	cq_req.addr_low = htole32((uint32_t)table);
	cq_req.addr_high = htole32((uint32_t)(table >> 32));
	cq_req.size = htole32(nic_prep(ERDMA_CREATE_CQ_LOG, 8) | nic_prep(ERDMA_CREATE_CQ_CQN, 9));
	cq_req.cfg =
		htole32(nic_prep(ERDMA_CREATE_CQ_PAGES, 2) | nic_prep(ERDMA_CREATE_CQ_LEVEL, 1) |
			nic_prep(ERDMA_CREATE_CQ_EQN, GUEST_EQN));
	T_EQ(guest_command(&w.p.a, ERDMA_COMMAND_CREATE_CQ, &cq_req, sizeof(cq_req)), 0);
	qp_req = guest_qp_request(&w.p.a, 9, 9);
	qp_req.sq_size =
		htole32(nic_prep(ERDMA_CREATE_QP_SQ_LOG, 9) | nic_prep(ERDMA_CREATE_QP_QPN, 9));
	qp_req.sq_cq =
		htole32(nic_prep(ERDMA_CREATE_QP_SQ_PAGE, 1) | nic_prep(ERDMA_CREATE_QP_SQ_CQN, 9));
	qp_req.sq_mtt = htole32(nic_prep(ERDMA_CREATE_QP_SQ_PAGES, 3) |
				nic_prep(ERDMA_CREATE_QP_SQ_OFFSET, 1));
	qp = (struct guest_qp){.g = &w.p.a, .qpn = 9, .sq_depth = 512, .sq_db = ERDMA_DB_SQ_KERNEL};
	for (i = 0; i < 3; i++)
		big[i] = guest_alloc(&w.p.a, 8192, 16384);
	qp_req.sq_addr = htole64(big[2]);
	qp_req.sq_pages[0] = htole64(big[0]);
	qp_req.sq_pages[1] = htole64(big[1]);
	T_EQ(guest_command(&w.p.a, ERDMA_COMMAND_CREATE_QP, &qp_req, sizeof(qp_req)), 0);
	T_EQ(guest_modify(&qp, ERDMA_QPS_ERR, ERDMA_MODIFY_STATE, 0, 0), 0);
	/* In ERR each is flushed, so the CQE says that its WQE was found. */
	for (i = 0; i < 600; i++) {
		uint64_t block = (i % 512) * 32 + PAGE;

		sqe[0] = htole64(nic_prep(ERDMA_SQE_OPCODE, ERDMA_OP_SEND_IMM) |
				 nic_prep(ERDMA_SQE_QPN, 9) |
				 nic_prep(ERDMA_SQE_END, (uint16_t)(i + 1)));
		memcpy(guest_at(&w.p.a, big[order[block / 8192]] + block % 8192), sqe, 32);
		qp.sq_pi++;
		guest_ring_sq(&qp);
		guest_run(&w.p.a, 1000);
		at = i % 256 * 32;
		memcpy(&cqe, guest_at(&w.p.a, w.pages[at < PAGE ? 3 : 1] + at % PAGE), 32);
		if (!T_EQ(be32toh(cqe.wqe_index), i) ||
		    !T_EQ(be32toh(cqe.hdr) & 0x7fffffff, 0x0003000f))
			break;
	}
	world_end(&w);
}

T_MAIN("erdma_sim_mtt", T_CASE(levels_0_and_1), T_CASE(level_2), T_CASE(level_3),
       T_CASE(large_tables), T_CASE(pages_that_are_not), T_CASE(scattered_rings))
