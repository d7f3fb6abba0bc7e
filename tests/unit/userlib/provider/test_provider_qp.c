/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Creating and changing QPs: limits (field case C3), path MTU (C1), refusals, and
 * failures of the kernel half way. Owns the rows. Authority: ibv_create_qp(3), caps
 * returned are at least those requested; ibv_modify_qp(3), nothing changes on error.
 */
#include <errno.h>
#include <rdma/ib_user_verbs.h>
#include <string.h>

#include "tests/unit/userlib/fixture.h"

static unsigned int qps_in_use(void)
{
	unsigned int count = 0, i;

	for (i = 0; i < NK_QPS; i++)
		count += nk.qp[i].used;
	return count;
}

/* C3: at least what was asked, or EINVAL; no QP is left behind by probing. */
static void inline_size_discovery(void)
{
	static const uint32_t asked[] = {0, 1, 16, 95, 96, 97, 101, 102, 220, 256, UINT32_MAX};
	static const enum ibv_qp_type types[] = {IBV_QPT_RC, IBV_QPT_UD};
	struct fixture f;
	unsigned int before;
	size_t i, type;

	T_NEED(fixture_open(&f, IBV_QPT_RC));
	before = qps_in_use();
	for (type = 0; type < 2; type++)
		for (i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
			struct ibv_qp_cap cap = {
				.max_send_wr = 1, .max_recv_wr = 1, .max_inline_data = asked[i]};
			struct ibv_qp *qp = nk_make_qp(f.pd, f.cq, types[type], &cap, 0);

			T_EQ(qp != NULL, asked[i] <= 96);
			if (qp) {
				T_TRUE(cap.max_inline_data >= asked[i]);
				T_EQ(ibv_destroy_qp(qp), 0);
			} else {
				T_EQ(errno, EINVAL);
			}
			T_EQ(qps_in_use(), before);
		}
	fixture_close(&f);
}

static void refusals(void)
{
	static const struct {
		const char *name;
		enum ibv_qp_type type;
		struct ibv_qp_cap cap;
		int want;
	} rows[] = {
		{"no sends", IBV_QPT_RC, {0, 1, 1, 1, 0}, EINVAL},
		{"no receives", IBV_QPT_RC, {1, 0, 1, 1, 0}, EINVAL},
		{"8193 sends", IBV_QPT_RC, {8193, 1, 1, 1, 0}, EINVAL},
		{"sends overflow", IBV_QPT_RC, {UINT32_MAX, 1, 1, 1, 0}, EINVAL},
		{"blocks overflow", IBV_QPT_RC, {0x40000001, 1, 1, 1, 0}, EINVAL},
		{"receives overflow", IBV_QPT_RC, {1, UINT32_MAX, 1, 1, 0}, EINVAL},
		{"more receives than the device has", IBV_QPT_RC, {1, 8193, 1, 1, 0}, EINVAL},
		{"7 send pieces", IBV_QPT_RC, {1, 1, 7, 1, 0}, EINVAL},
		{"2 receive pieces", IBV_QPT_RC, {1, 1, 1, 2, 0}, EINVAL},
		{"UC", IBV_QPT_UC, {1, 1, 1, 1, 0}, EOPNOTSUPP},
		{"raw packets", IBV_QPT_RAW_PACKET, {1, 1, 1, 1, 0}, EOPNOTSUPP},
	};
	struct fixture f;
	size_t i;

	T_NEED(fixture_open(&f, IBV_QPT_RC));
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ibv_qp_init_attr attr = {
			.send_cq = f.cq,
			.recv_cq = f.cq,
			.cap = rows[i].cap,
			.qp_type = rows[i].type,
		};

		errno = 0;
		T_TRUE_ROW(rows[i].name, !ibv_create_qp(f.pd, &attr));
		T_EQ_ROW(rows[i].name, errno, rows[i].want);
	}
	T_EQ(qps_in_use(), 1);
	fixture_close(&f);
}

static void extensions_are_refused(void)
{
	struct ibv_qp_init_attr_ex attr = {
		.cap = {1, 1, 1, 1, 0},
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS,
	};
	struct ibv_srq *srq = (struct ibv_srq *)&attr; /* only looked at for being there */
	struct fixture f;

	T_NEED(fixture_open(&f, IBV_QPT_RC));
	attr.pd = f.pd;
	attr.send_cq = attr.recv_cq = f.cq;
	T_TRUE(!ibv_create_qp_ex(f.context, &attr));
	T_EQ(errno, EOPNOTSUPP);
	attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.srq = srq;
	T_TRUE(!ibv_create_qp_ex(f.context, &attr));
	T_EQ(errno, EOPNOTSUPP);
	attr.srq = NULL;
	attr.recv_cq = NULL;
	T_TRUE(!ibv_create_qp_ex(f.context, &attr));
	T_EQ(errno, EINVAL);
	fixture_close(&f);
}

/* C1: refused before anything reaches the kernel, for this QP and no other. */
static void path_mtu_above_the_ports(void)
{
	struct ibv_qp_cap cap = {.max_send_wr = 1, .max_recv_wr = 1};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_4096,
		.ah_attr = {.is_global = 1, .port_num = 1},
	};
	int mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		   IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	struct fixture f;
	struct ibv_qp *qp;

	T_NEED(fixture_open(&f, IBV_QPT_RC));
	qp = nk_make_qp(f.pd, f.cq, IBV_QPT_RC, &cap, 0);
	T_NEED(qp);
	T_EQ(ibv_modify_qp(qp, &(struct ibv_qp_attr){.qp_state = IBV_QPS_RESET}, IBV_QP_STATE), 0);
	T_EQ(ibv_modify_qp(qp, &init,
			   IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
	     0);
	T_EQ(ibv_modify_qp(qp, &attr, mask), EINVAL);
	T_EQ(nk_find_qp(qp)->state, IBV_QPS_INIT);
	T_EQ(qp->state, IBV_QPS_INIT);
	attr.path_mtu = (enum ibv_mtu)0;
	T_EQ(ibv_modify_qp(qp, &attr, mask), EINVAL);
	attr.path_mtu = IBV_MTU_1024;
	T_EQ(ibv_modify_qp(qp, &attr, mask), 0);
	/* Nothing was remembered of the refused one, or of the port's other value. */
	nk.active_mtu = IBV_MTU_4096;
	nk_set_netdev_mtu(9000);
	attr.path_mtu = IBV_MTU_4096;
	T_EQ(ibv_modify_qp(qp, &attr, mask), 0);
	T_EQ(ibv_destroy_qp(qp), 0);
	fixture_close(&f);
	nk.active_mtu = IBV_MTU_1024;
	nk_set_netdev_mtu(1500);
}

/* Whatever step the kernel fails at: its errno, and nothing left behind. */
static void kernel_failures(void)
{
	struct fixture f;
	struct ibv_qp_cap cap = {.max_send_wr = 1, .max_recv_wr = 1};

	T_NEED(fixture_open(&f, IBV_QPT_RC));
	nk.fail_command = IB_USER_VERBS_CMD_CREATE_QP;
	nk.fail_errno = ENOSPC;
	errno = 0;
	T_TRUE(!nk_make_qp(f.pd, f.cq, IBV_QPT_RC, &cap, 0));
	T_EQ(errno, ENOSPC);
	nk.fail_command = IB_USER_VERBS_CMD_CREATE_CQ;
	nk.fail_errno = ENOMEM;
	T_TRUE(!ibv_create_cq(f.context, 8, NULL, NULL, 0));
	T_EQ(errno, ENOMEM);
	nk.fail_command = IB_USER_VERBS_CMD_MODIFY_QP;
	nk.fail_errno = EIO;
	T_EQ(ibv_modify_qp(f.qp, &(struct ibv_qp_attr){.qp_state = IBV_QPS_ERR}, IBV_QP_STATE),
	     EIO);
	nk.fail_command = IB_USER_VERBS_CMD_DESTROY_QP;
	nk.fail_errno = EBUSY;
	T_EQ(ibv_destroy_qp(f.qp), EBUSY);
	nk.fail_command = IB_USER_VERBS_CMD_DESTROY_CQ;
	nk.fail_errno = EBUSY;
	T_EQ(ibv_destroy_cq(f.cq), EBUSY);
	nk.fail_command = IB_USER_VERBS_CMD_GET_CONTEXT;
	nk.fail_errno = EPERM;
	T_TRUE(!nk_open());
	T_EQ(errno, EPERM);
	fixture_close(&f);
}

T_MAIN("provider_qp", T_CASE(inline_size_discovery), T_CASE(refusals),
       T_CASE(extensions_are_refused), T_CASE(path_mtu_above_the_ports), T_CASE(kernel_failures), )
