/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Protection domains, parent domains, thread domains and memory regions; and what
 * the provider does not have, which must be refused and not pretended.
 */
#include <errno.h>

#include "tests/unit/userlib/fixture.h"

static void parent_domains(void)
{
	struct ibv_parent_domain_init_attr attr = {0};
	struct ibv_td_init_attr td_attr = {0};
	struct ibv_qp_cap cap = {.max_send_wr = 1, .max_recv_wr = 1};
	struct ibv_pd *domain;
	struct fixture f;
	struct ibv_qp *qp;
	struct ibv_td *td;

	T_NEED(fixture_open(&f, IBV_QPT_RC));
	td = ibv_alloc_td(f.context, &td_attr);
	T_NEED(td);
	attr.pd = f.pd;
	attr.td = td;
	domain = ibv_alloc_parent_domain(f.context, &attr);
	T_NEED(domain);
	qp = nk_make_qp(domain, f.cq, IBV_QPT_RC, &cap, 0);
	T_NEED(qp);
	T_EQ(ibv_dealloc_td(td), EBUSY);
	T_EQ(ibv_dealloc_pd(f.pd), EBUSY);
	T_EQ(ibv_destroy_qp(qp), 0);
	/* Of a PD only. */
	attr.pd = domain;
	T_TRUE(!ibv_alloc_parent_domain(f.context, &attr));
	T_EQ(errno, EINVAL);
	attr.pd = NULL;
	T_TRUE(!ibv_alloc_parent_domain(f.context, &attr));
	T_EQ(errno, EINVAL);
	attr.pd = f.pd;
	attr.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS;
	T_TRUE(!ibv_alloc_parent_domain(f.context, &attr));
	T_EQ(errno, EOPNOTSUPP);
	td_attr.comp_mask = 1;
	T_TRUE(!ibv_alloc_td(f.context, &td_attr));
	T_EQ(errno, EOPNOTSUPP);
	T_EQ(ibv_dealloc_pd(domain), 0);
	T_EQ(ibv_dealloc_td(td), 0);
	fixture_close(&f);
}

static void memory_regions(void)
{
	static char memory[8192];
	struct fixture f;
	struct ibv_mr *mr;

	T_NEED(fixture_open(&f, IBV_QPT_RC));
	mr = ibv_reg_mr(f.pd, memory + 5, 4000, IBV_ACCESS_LOCAL_WRITE);
	T_NEED(mr);
	T_TRUE(mr->lkey != 0);
	T_EQ(ibv_dereg_mr(mr), 0);
	T_TRUE(!ibv_reg_mr(f.pd, memory, 0, IBV_ACCESS_LOCAL_WRITE));
	T_EQ(errno, EINVAL);
	fixture_close(&f);
}

/* The driver has none of these. */
static void absent_verbs(void)
{
	struct ibv_srq_init_attr srq = {.attr = {.max_wr = 1, .max_sge = 1}};
	static char memory[4096];
	struct fixture f;
	struct ibv_mr *mr;

	T_NEED(fixture_open(&f, IBV_QPT_RC));
	errno = 0;
	T_TRUE(!ibv_reg_dmabuf_mr(f.pd, 0, 4096, 0, 0, IBV_ACCESS_LOCAL_WRITE));
	T_EQ(errno, EOPNOTSUPP);
	errno = 0;
	T_TRUE(!ibv_alloc_mw(f.pd, IBV_MW_TYPE_1));
	T_EQ(errno, EOPNOTSUPP);
	errno = 0;
	T_TRUE(!ibv_create_srq(f.pd, &srq));
	T_EQ(errno, EOPNOTSUPP);
	mr = ibv_reg_mr(f.pd, memory, sizeof(memory), 0);
	T_NEED(mr);
	T_TRUE(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 0) != 0);
	T_EQ(ibv_dereg_mr(mr), 0);
	fixture_close(&f);
}

T_MAIN("provider_pd", T_CASE(parent_domains), T_CASE(memory_regions), T_CASE(absent_verbs), )
