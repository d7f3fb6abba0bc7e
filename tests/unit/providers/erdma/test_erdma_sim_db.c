/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Doorbell pages: who gets which, who may ring from where, and what kind a doorbell is. */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/lib/t.h"
#include "tests/unit/providers/erdma/erdma_guest.h"

enum { SETS = (0x400000 - 0x80000) / 4096 / 3 };

struct world {
	struct sim_loop *loop;
	struct guest g;
};

static bool world_make(struct world *w, const char *personality)
{
	if (sim_loop_create(true, &w->loop))
		return false;
	guest_start(&w->g, w->loop, 1, personality);
	return guest_probe(&w->g);
}

static void world_end(struct world *w)
{
	guest_stop(&w->g);
	sim_loop_destroy(w->loop);
}

struct pages {
	uint32_t sq, rq, cq;
};

static int alloc_pages(struct guest *g, struct pages *pages)
{
	struct erdma_cmd_db req = {.cfg = htole32(7)};
	int status = guest_command(g, ERDMA_COMMAND_ALLOC_DB, &req, sizeof(req));

	/* As the driver takes the answer apart. */
	pages->sq = g->resp0 & 0xffff;
	pages->cq = g->resp0 >> 32 & 0xffff;
	pages->rq = (uint32_t)(g->resp0 >> 48);
	return status;
}

static int free_pages(struct guest *g, const struct pages *pages)
{
	struct erdma_cmd_db req = {.cfg = htole32(7),
				   .sq_page = htole16((uint16_t)pages->sq),
				   .rq_page = htole16((uint16_t)pages->rq),
				   .cq_page = htole16((uint16_t)pages->cq)};

	return guest_command(g, ERDMA_COMMAND_FREE_DB, &req, sizeof(req));
}

static void allocation(void)
{
	struct pages pages[SETS + 1], wrong;
	struct world w;
	unsigned int i;

	T_NEED(world_make(&w, NULL));
	for (i = 0; i < SETS; i++) {
		T_EQ(alloc_pages(&w.g, &pages[i]), 0);
		T_TRUE(pages[i].sq >= 0x80 && pages[i].cq < 0x400);
		T_TRUE(!i || pages[i].sq > pages[i - 1].cq);
	}
	T_EQ(alloc_pages(&w.g, &pages[SETS]), ENOSPC);
	wrong = pages[0];
	wrong.cq++;
	T_EQ(free_pages(&w.g, &wrong), EINVAL);
	wrong = (struct pages){pages[0].rq, pages[0].cq, pages[1].sq};
	T_EQ(free_pages(&w.g, &wrong), EINVAL);
	wrong = (struct pages){0, 1, 2};
	T_EQ(free_pages(&w.g, &wrong), EINVAL);
	wrong = (struct pages){0xffff, 0xffff, 0xffff};
	T_EQ(free_pages(&w.g, &wrong), EINVAL);
	T_EQ(free_pages(&w.g, &pages[7]), 0);
	T_EQ(free_pages(&w.g, &pages[7]), EINVAL);
	T_EQ(alloc_pages(&w.g, &pages[SETS]), 0);
	T_EQ(pages[SETS].sq, pages[7].sq);
	world_end(&w);
}

static void no_pages_without_extend_db(void)
{
	struct pages pages;
	struct world w;

	T_NEED(world_make(&w, "shared-db"));
	T_EQ(alloc_pages(&w.g, &pages), ENOSPC);
	/* BAR 0 ends there. */
	T_TRUE(sim_local_reg_write(w.g.dev, 0, 0x7fff8, 8, 0) == 0);
	T_TRUE(sim_local_reg_write(w.g.dev, 0, 0x80000, 8, 0) != 0);
	world_end(&w);
}

/* A QP and a CQ with pages of a context; the QP in ERR, so that each WQE shows as a CQE. */
struct user {
	struct pages pages;
	struct guest_cq cq;
	struct guest_qp qp;
};

static bool user_make(struct guest *g, struct user *u, uint32_t number)
{
	struct erdma_cmd_create_cq cq = guest_cq_request(g, number, 6);
	struct erdma_cmd_create_qp qp = guest_qp_request(g, number, number);

	if (alloc_pages(g, &u->pages))
		return false;
	cq.cfg |= htole32(nic_prep(ERDMA_CREATE_CQ_EXTEND_DB, 1));
	cq.db = htole32(u->pages.cq);
	qp.sq_cq |= htole32(nic_prep(ERDMA_CREATE_QP_EXTEND_DB, 1));
	qp.db = htole32(u->pages.sq << 16 | u->pages.rq);
	u->cq = (struct guest_cq){.g = g,
				  .cqn = number,
				  .depth = 64,
				  .ring = (uint64_t)le32toh(cq.addr_high) << 32 |
					  le32toh(cq.addr_low)};
	u->qp = (struct guest_qp){.g = g,
				  .qpn = number,
				  .sq = le64toh(qp.sq_addr),
				  .rq = le64toh(qp.rq_addr),
				  .sq_depth = 64,
				  .rq_depth = 64};
	/* The driver maps the two pages the wrong way round; slots as liberdma computes them. */
	u->cq.db = ((uint64_t)u->pages.rq << 12) + (number & 511) * 8;
	u->qp.rq_db = ((uint64_t)u->pages.cq << 12) + (number & 127) * 32;
	u->qp.sq_db = ((uint64_t)u->pages.sq << 12) + (number & 31) * 128;
	return !guest_command(g, ERDMA_COMMAND_CREATE_CQ, &cq, sizeof(cq)) &&
	       !guest_command(g, ERDMA_COMMAND_CREATE_QP, &qp, sizeof(qp)) &&
	       !guest_modify(&u->qp, ERDMA_QPS_ERR, ERDMA_MODIFY_STATE, 0, 0);
}

static bool rings_sq(struct user *u)
{
	uint64_t sqe[4] = {0};
	struct erdma_cqe cqe;

	sqe[0] = htole64(nic_prep(ERDMA_SQE_OPCODE, ERDMA_OP_SEND));
	guest_post(&u->qp, sqe, 1);
	guest_run(u->qp.g, 1000);
	if (!guest_peek(&u->cq, &cqe)) {
		u->qp.sq_pi--;
		return false;
	}
	u->cq.ci++;
	return nic_get(&cqe, ERDMA_CQE_QUEUE) == ERDMA_CQE_QUEUE_SQ;
}

static bool rings_rq(struct user *u)
{
	struct erdma_cqe cqe;

	guest_recv(&u->qp, 0, 0, 0);
	guest_run(u->qp.g, 1000);
	if (!guest_peek(&u->cq, &cqe)) {
		u->qp.rq_pi--;
		return false;
	}
	u->cq.ci++;
	return nic_get(&cqe, ERDMA_CQE_QUEUE) == ERDMA_CQE_QUEUE_RQ;
}

static bool rings_cq(struct user *u)
{
	int cqn;

	u->cq.ci--;
	guest_arm(&u->cq, false);
	u->cq.ci++;
	cqn = guest_event(u->cq.g, 1);
	guest_arm_eq(u->cq.g, 1);
	if (cqn < 0)
		return false;
	u->cq.events++;
	return cqn == (int)u->cq.cqn;
}

static void own_pages_only(void)
{
	struct user a, b, kernel;
	struct guest_end end;
	struct world w;
	uint64_t good;

	T_NEED(world_make(&w, NULL));
	T_NEED(user_make(&w.g, &a, 5) && user_make(&w.g, &b, 6));
	T_TRUE(rings_sq(&a) && rings_rq(&a) && rings_cq(&a));
	T_TRUE(rings_sq(&b) && rings_rq(&b) && rings_cq(&b));
	/* From the other context's pages, and from those of the kernel. */
	good = a.qp.sq_db;
	a.qp.sq_db = b.qp.sq_db;
	T_TRUE(!rings_sq(&a));
	a.qp.sq_db = ERDMA_DB_SQ_KERNEL;
	T_TRUE(!rings_sq(&a));
	a.qp.sq_db = good;
	T_TRUE(rings_sq(&a));
	good = a.qp.rq_db;
	a.qp.rq_db = b.qp.rq_db;
	T_TRUE(!rings_rq(&a));
	a.qp.rq_db = ERDMA_DB_RQ_KERNEL;
	T_TRUE(!rings_rq(&a));
	/* Either of the two pages is good for an RQ: a driver may map them as they are named. */
	a.qp.rq_db = (uint64_t)a.pages.rq << 12;
	T_TRUE(rings_rq(&a));
	a.qp.rq_db = good;
	good = a.cq.db;
	a.cq.db = b.cq.db;
	T_TRUE(!rings_cq(&a));
	a.cq.db = ERDMA_DB_CQ_KERNEL;
	T_TRUE(!rings_cq(&a));
	a.cq.db = (uint64_t)a.pages.cq << 12;
	T_TRUE(rings_cq(&a));
	/* A queue of the kernel's cannot be rung from a page of a user's. */
	T_NEED(guest_make_end(&w.g, &end, 7, false));
	T_EQ(guest_modify(&end.qp, ERDMA_QPS_ERR, ERDMA_MODIFY_STATE, 0, 0), 0);
	kernel = (struct user){.cq = end.cq, .qp = end.qp};
	T_TRUE(rings_sq(&kernel) && rings_rq(&kernel) && rings_cq(&kernel));
	kernel.qp.sq_db = a.qp.sq_db;
	kernel.qp.rq_db = a.qp.rq_db;
	T_TRUE(!rings_sq(&kernel) && !rings_rq(&kernel));
	world_end(&w);
}

/* Pages of two contexts in one QP. */
static void mixed_pages(void)
{
	struct erdma_cmd_create_qp req;
	struct pages a, b;
	struct user u;
	struct world w;

	T_NEED(world_make(&w, NULL));
	T_NEED(user_make(&w.g, &u, 5));
	T_EQ(alloc_pages(&w.g, &a), 0);
	T_EQ(alloc_pages(&w.g, &b), 0);
	req = guest_qp_request(&w.g, 9, 5);
	req.sq_cq |= htole32(nic_prep(ERDMA_CREATE_QP_EXTEND_DB, 1));
	req.db = htole32(a.sq << 16 | b.rq);
	T_EQ(guest_command(&w.g, ERDMA_COMMAND_CREATE_QP, &req, sizeof(req)), EINVAL);
	req.db = htole32(a.sq << 16 | a.rq);
	T_EQ(guest_command(&w.g, ERDMA_COMMAND_CREATE_QP, &req, sizeof(req)), 0);
	world_end(&w);
}

/* liberdma leaves garbage in a field of the RQE that the doorbell repeats: bit 31 among it. */
static void rq_doorbell_that_looks_like_a_cq_one(void)
{
	static const uint16_t garbage[] = {0x8000, 0xffff, 0xc123, 0x7fff};
	struct erdma_rqe *ring;
	struct user u;
	struct world w;
	size_t i;

	T_NEED(world_make(&w, NULL));
	T_NEED(user_make(&w.g, &u, 5));
	T_TRUE(rings_sq(&u));
	ring = guest_at(&w.g, u.qp.rq);
	for (i = 0; i < sizeof(garbage) / sizeof(garbage[0]); i++) {
		ring[i].rsvd0 = htole16(garbage[i]);
		T_TRUE(rings_rq(&u));
		/* The same number as the QP's, right beside it: still a CQ doorbell. */
		T_TRUE(rings_cq(&u));
	}
	world_end(&w);
}

static void nonsense(void)
{
	static const uint64_t values[] = {0,
					  UINT64_MAX,
					  5ull << 32,
					  5ull << 32 | 0x80000001,
					  0x8000000000000000,
					  0x00000005ffffffff};
	struct user u;
	struct world w;
	uint64_t offset;
	size_t i;

	T_NEED(world_make(&w, NULL));
	T_NEED(user_make(&w.g, &u, 5));
	for (offset = 0x1000; offset < 0x400000; offset += 0x7f8)
		for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
			guest_write64(&w.g, offset, values[i]);
			guest_write32(&w.g, offset, (uint32_t)values[i]);
		}
	guest_run(&w.g, 1000000);
	T_TRUE(guest_counter(&w.g, "bad_doorbells") > 0);
	world_end(&w);
}

T_MAIN("erdma_sim_db", T_CASE(allocation), T_CASE(no_pages_without_extend_db),
       T_CASE(own_pages_only), T_CASE(mixed_pages), T_CASE(rq_doorbell_that_looks_like_a_cq_one),
       T_CASE(nonsense))
