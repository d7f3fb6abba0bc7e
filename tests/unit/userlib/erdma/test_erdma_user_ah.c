/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * erdma's address handles: on a driver that makes none for user space, which is what
 * Linux 7.3 has, and on one that tells the NIC's number.
 */
#include <errno.h>

#include "tests/unit/userlib/fixture.h"

static void refused_as_the_driver_does(void)
{
	struct ibv_ah_attr attr = {.is_global = 1, .port_num = 1};
	struct fixture f;

	T_NEED(fixture_open(&f, IBV_QPT_UD));
	errno = 0;
	T_TRUE(!ibv_create_ah(f.pd, &attr));
	T_EQ(errno, EOPNOTSUPP);
	nk.makes_ahs = true;
	nk.hides_ahns = true;
	errno = 0;
	T_TRUE(!ibv_create_ah(f.pd, &attr));
	T_EQ(errno, EOPNOTSUPP);
	nk.hides_ahns = false;
	attr.is_global = 0;
	T_TRUE(!ibv_create_ah(f.pd, &attr));
	T_EQ(errno, EINVAL);
	nk.makes_ahs = false;
	fixture_close(&f);
}

static void made_with_the_nics_number(void)
{
	struct ibv_ah_attr attr = {.is_global = 1, .port_num = 1};
	struct ibv_ah *first, *second;
	struct fixture f;

	T_NEED(fixture_open(&f, IBV_QPT_UD));
	nk.makes_ahs = true;
	first = ibv_create_ah(f.pd, &attr);
	second = ibv_create_ah(f.pd, &attr);
	T_NEED(first && second);
	T_TRUE(first->handle != second->handle);
	T_EQ(ibv_destroy_ah(first), 0);
	T_EQ(ibv_destroy_ah(second), 0);
	nk.makes_ahs = false;
	fixture_close(&f);
}

T_MAIN("erdma_user_ah", T_CASE(refused_as_the_driver_does), T_CASE(made_with_the_nics_number), )
