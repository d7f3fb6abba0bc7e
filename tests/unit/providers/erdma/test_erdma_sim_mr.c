/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Regions: keys, rights, the local key, and fast registration with its invalidations. */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "tests/lib/t.h"
#include "tests/unit/providers/erdma/erdma_guest.h"

enum { PAGE = 4096, FAST = 60, CAPACITY = 16 };

struct world {
	struct guest_pair p;
	struct guest_end a, b;
	uint64_t pages; /* of guest b, CAPACITY of them */
	uint64_t array; /* of their addresses */
};

static bool world_make(struct world *w)
{
	struct erdma_cmd_reg_mr req = {
		.key = htole32(nic_prep(ERDMA_REG_MR_INDEX, FAST)),
		.cfg = htole32(nic_prep(ERDMA_REG_MR_PDN, GUEST_PD) |
			       nic_prep(ERDMA_REG_MR_TYPE, ERDMA_MR_TYPE_FAST_REG)),
		/* Leftovers: a fast registration has no address or length yet. */
		.va = UINT64_MAX,
		.length = UINT32_MAX,
		.mtt = htole32(nic_prep(ERDMA_REG_MR_PAGE, 12) | nic_prep(ERDMA_REG_MR_LEVEL, 1) |
			       nic_prep(ERDMA_REG_MR_COUNT, CAPACITY)),
	};
	uint64_t *entries;
	int i;

	if (!T_TRUE(guest_pair(&w->p)) || !T_TRUE(guest_connect(&w->p, &w->a, &w->b)))
		return false;
	w->pages = guest_alloc(&w->p.b, CAPACITY * PAGE, PAGE);
	w->array = guest_alloc(&w->p.b, CAPACITY * 8, 8);
	entries = guest_at(&w->p.b, w->array);
	for (i = 0; i < CAPACITY; i++)
		entries[i] = htole64(w->pages + (uint64_t)(CAPACITY - 1 - i) * PAGE);
	req.pages[0] = htole64(w->array);
	return T_EQ(guest_command(&w->p.b, ERDMA_COMMAND_REG_MR, &req, sizeof(req)), 0);
}

static void world_end(struct world *w)
{
	guest_pair_stop(&w->p);
}

static int status_of(struct guest_cq *cq)
{
	struct erdma_cqe cqe;

	return guest_wait(cq, &cqe) ? (int)nic_get(&cqe, ERDMA_CQE_STATUS) : -1;
}

struct fast_wqe {
	struct erdma_sqe_reg_mr r;
	__le64 pages[ERDMA_MTT_INLINE];
};

/* REG_MR of `count` pages at va; indirect ones come from the array of the region. */
static int fast_reg(struct world *w, uint32_t key, uint64_t va, uint32_t length, uint32_t count,
		    bool indirect)
{
	struct fast_wqe wqe = {
		.r = {.head.hdr = htole64(nic_prep(ERDMA_SQE_OPCODE, ERDMA_OP_REG_MR) |
					  nic_prep(ERDMA_SQE_SIGNALED, 1)),
		      .va = htole64(va),
		      .length = htole32(length),
		      .key = htole32(key),
		      .attributes = htole32(nic_prep(ERDMA_SQE_MR_COUNT, count) |
					    nic_prep(ERDMA_SQE_MR_INDIRECT, indirect) |
					    nic_prep(ERDMA_SQE_MR_ACCESS, 31))},
	};
	uint32_t i;

	for (i = 0; i < count && i < ERDMA_MTT_INLINE; i++)
		wqe.pages[i] = htole64(w->pages + (uint64_t)i * 2 * PAGE);
	guest_post(&w->b.qp, &wqe, indirect ? 1 : 2);
	return status_of(&w->b.cq);
}

static int local_inv(struct world *w, uint32_t key)
{
	struct erdma_sqe_reg_mr wqe = {
		.head.hdr = htole64(nic_prep(ERDMA_SQE_OPCODE, ERDMA_OP_LOCAL_INV) |
				    nic_prep(ERDMA_SQE_SIGNALED, 1)),
		.key = htole32(key),
	};

	guest_post(&w->b.qp, &wqe, 1);
	return status_of(&w->b.cq);
}

/* a WRITEs its buffer to va of b. */
static int write_to(struct world *w, uint32_t key, uint64_t va, uint32_t length)
{
	struct {
		struct erdma_sqe_write w;
		struct erdma_sge sge[2];
	} wqe = {
		.w = {.head.hdr =
			      htole64(nic_prep(ERDMA_SQE_OPCODE, ERDMA_OP_WRITE) |
				      nic_prep(ERDMA_SQE_SGL, 1) | nic_prep(ERDMA_SQE_SIGNALED, 1)),
		      .rkey = htole32(key),
		      .remote_low = htole32((uint32_t)va),
		      .remote_high = htole32((uint32_t)(va >> 32))},
		.sge = {{htole64(w->a.buffer), htole32(length), htole32(w->a.key)}},
	};

	guest_post(&w->a.qp, &wqe, 2);
	return status_of(&w->a.cq);
}

static void fill(struct world *w, uint8_t seed)
{
	uint8_t *bytes = guest_at(&w->p.a, w->a.buffer);
	int i;

	for (i = 0; i < 65536; i++)
		bytes[i] = (uint8_t)(seed + i + (i >> 8));
}

static void inline_pages(void)
{
	const uint32_t key = FAST << 8 | 1;
	struct world w;

	T_NEED(world_make(&w));
	fill(&w, 1);
	/* Three pages, begun 100 bytes in; every other page of b's. */
	T_EQ(fast_reg(&w, key, 0x1000064, 3 * PAGE - 100, 3, false), ERDMA_STATUS_SUCCESS);
	T_EQ(write_to(&w, key, 0x1000064, 3 * PAGE - 100), ERDMA_STATUS_SUCCESS);
	T_BYTES(guest_at(&w.p.b, w.pages + 100), guest_at(&w.p.a, w.a.buffer), PAGE - 100);
	T_BYTES(guest_at(&w.p.b, w.pages + 2 * PAGE), guest_at(&w.p.a, w.a.buffer + PAGE - 100),
		PAGE);
	T_BYTES(guest_at(&w.p.b, w.pages + 4 * PAGE), guest_at(&w.p.a, w.a.buffer + 2 * PAGE - 100),
		PAGE);
	/* Invalidated, the old key is worth nothing; registered again, the new one is. */
	T_EQ(local_inv(&w, key), ERDMA_STATUS_SUCCESS);
	T_EQ(fast_reg(&w, key + 1, 0, PAGE, 1, false), ERDMA_STATUS_SUCCESS);
	T_EQ(write_to(&w, key + 1, 0, 100), ERDMA_STATUS_SUCCESS);
	T_EQ(write_to(&w, key, 0x1000064, 100), ERDMA_STATUS_RECV_RIGHTS);
	world_end(&w);
}

static void indirect_pages(void)
{
	const uint32_t key = FAST << 8 | 7;
	struct world w;
	int i;

	T_NEED(world_make(&w));
	fill(&w, 9);
	T_EQ(fast_reg(&w, key, 0xabc000, CAPACITY * PAGE, CAPACITY, true), ERDMA_STATUS_SUCCESS);
	T_EQ(write_to(&w, key, 0xabc000, CAPACITY * PAGE), ERDMA_STATUS_SUCCESS);
	for (i = 0; i < CAPACITY; i++)
		T_BYTES(guest_at(&w.p.b, w.pages + (uint64_t)(CAPACITY - 1 - i) * PAGE),
			guest_at(&w.p.a, w.a.buffer + (uint64_t)i * PAGE), PAGE);
	world_end(&w);
}

static void send_with_invalidate(void)
{
	const uint32_t key = FAST << 8 | 3;
	struct {
		struct erdma_sqe_send s;
		struct erdma_sge sge;
	} wqe = {.s = {.head.hdr = htole64(nic_prep(ERDMA_SQE_OPCODE, ERDMA_OP_SEND_INV) |
					   nic_prep(ERDMA_SQE_SIGNALED, 1)),
		       .invalidate = htole32(key)}};
	struct erdma_cqe cqe;
	uint8_t want[32];
	struct world w;

	T_NEED(world_make(&w));
	T_EQ(fast_reg(&w, key, 0, PAGE, 1, false), ERDMA_STATUS_SUCCESS);
	guest_recv(&w.b.qp, 0, 0, 0);
	guest_post(&w.a.qp, &wqe, 1);
	T_EQ(status_of(&w.a.cq), ERDMA_STATUS_SUCCESS);
	T_TRUE(guest_wait(&w.b.cq, &cqe));
	/* The key is big endian here, unlike an immediate: 60 << 8 | 3. */
	t_hex("80060100000000000000000300003c0300000000000000000000000000000000", want, 32);
	T_BYTES(&cqe, want, 32);
	T_EQ(write_to(&w, key, 0, 10), ERDMA_STATUS_RECV_RIGHTS);
	world_end(&w);
}

static void refused_registrations(void)
{
	static const struct {
		const char *name;
		uint32_t key;
		uint64_t va;
		uint32_t length, count;
		bool indirect;
	} rows[] = {
		{"region that is not", 99 << 8, 0, PAGE, 1, false},
		{"no fast registration", 3 << 8, 0, PAGE, 1, false},
		{"the local key", 65536 << 8, 0, PAGE, 1, false},
		{"no pages", FAST << 8, 0, PAGE, 0, false},
		{"five inline pages", FAST << 8, 0, PAGE, 5, false},
		{"more bytes than pages", FAST << 8, 1, PAGE, 1, false},
		{"more pages than room", FAST << 8, 0, PAGE, CAPACITY + 1, true},
		{"2^20 - 1 pages", FAST << 8, 0, PAGE, 0xfffff, true},
		{"4 GiB - 1", FAST << 8, 0, UINT32_MAX, CAPACITY, true},
		{"no bytes", FAST << 8, 0, 0, 1, false},
	};
	struct world w;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		T_NEED(world_make(&w));
		T_EQ_ROW(rows[i].name,
			 fast_reg(&w, rows[i].key, rows[i].va, rows[i].length, rows[i].count,
				  rows[i].indirect),
			 ERDMA_STATUS_SEND_FORMAT);
		T_EQ_ROW(rows[i].name, guest_qp_state(&w.b.qp), ERDMA_QPS_ERR);
		world_end(&w);
	}
}

static void twice_valid(void)
{
	struct world w;

	T_NEED(world_make(&w));
	T_EQ(fast_reg(&w, FAST << 8, 0, PAGE, 1, false), ERDMA_STATUS_SUCCESS);
	T_EQ(fast_reg(&w, FAST << 8 | 1, 0, PAGE, 1, false), ERDMA_STATUS_SEND_FORMAT);
	world_end(&w);
}

/* The kernel's own work goes by the reserved key: all memory, from this side only. */
static void local_key(void)
{
	const uint32_t key = 65536 << 8;
	struct world w;

	T_NEED(world_make(&w));
	fill(&w, 4);
	w.a.key = key;
	T_EQ(write_to(&w, w.b.key, w.b.buffer, 5000), ERDMA_STATUS_SUCCESS);
	T_BYTES(guest_at(&w.p.b, w.b.buffer), guest_at(&w.p.a, w.a.buffer), 5000);
	T_EQ(write_to(&w, key, w.b.buffer, 10), ERDMA_STATUS_RECV_RIGHTS);
	world_end(&w);
}

static void dma_region(void)
{
	struct erdma_cmd_reg_mr req = {
		.key = htole32(nic_prep(ERDMA_REG_MR_INDEX, 70)),
		.cfg = htole32(nic_prep(ERDMA_REG_MR_PDN, GUEST_PD) |
			       nic_prep(ERDMA_REG_MR_TYPE, ERDMA_MR_TYPE_DMA) |
			       nic_prep(ERDMA_REG_MR_ACCESS, 31)),
		/* What the driver computes from nothing. */
		.mtt = htole32(UINT32_MAX),
	};
	struct world w;

	T_NEED(world_make(&w));
	fill(&w, 4);
	T_EQ(guest_command(&w.p.b, ERDMA_COMMAND_REG_MR, &req, sizeof(req)), 0);
	T_EQ(write_to(&w, 70 << 8, w.pages + 1, 30000), ERDMA_STATUS_SUCCESS);
	T_BYTES(guest_at(&w.p.b, w.pages + 1), guest_at(&w.p.a, w.a.buffer), 30000);
	/* Beyond memory the address is good and the bytes are not there: no NAK of the key's. */
	T_TRUE(write_to(&w, 70 << 8, GUEST_BASE + GUEST_MEMORY, 10) != ERDMA_STATUS_SUCCESS);
	world_end(&w);
}

/* Rights: one region a right, tried with a WRITE. */
static void rights(void)
{
	static const struct {
		const char *name;
		uint32_t access;
		int status;
	} rows[] = {
		{"all", 31, ERDMA_STATUS_SUCCESS},
		{"remote and local write", 20, ERDMA_STATUS_SUCCESS},
		{"local only", 6, ERDMA_STATUS_RECV_RIGHTS},
		{"remote read", 14, ERDMA_STATUS_RECV_RIGHTS},
		{"remote atomic", 7, ERDMA_STATUS_RECV_RIGHTS},
		{"none", 0, ERDMA_STATUS_RECV_RIGHTS},
	};
	struct world w;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct erdma_cmd_reg_mr req;

		T_NEED(world_make(&w));
		req = guest_mr_request(80, w.pages, 2 * PAGE);
		req.cfg = htole32(nic_prep(ERDMA_REG_MR_PDN, GUEST_PD) |
				  nic_prep(ERDMA_REG_MR_ACCESS, rows[i].access));
		T_EQ(guest_command(&w.p.b, ERDMA_COMMAND_REG_MR, &req, sizeof(req)), 0);
		T_EQ_ROW(rows[i].name, write_to(&w, 80 << 8, w.pages + 50, 100), rows[i].status);
		world_end(&w);
	}
}

T_MAIN("erdma_sim_mr", T_CASE(inline_pages), T_CASE(indirect_pages), T_CASE(send_with_invalidate),
       T_CASE(refused_registrations), T_CASE(twice_valid), T_CASE(local_key), T_CASE(dma_region),
       T_CASE(rights))
