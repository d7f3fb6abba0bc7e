/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * libibverbs' provider ABI, whichever it is: the private headers, and one shape
 * for each function whose arguments changed between the ABIs. Owns every
 * conditional on the ABI; nothing else in the tree has one. Knows no class.
 *
 * A new ABI: add its release to scripts/rdma-core-source, its number to the list
 * in userlib/CMakeLists.txt, and here whatever no longer compiles.
 */
#ifndef ANYNIC_COMPAT_IBVERBS_PABI_H
#define ANYNIC_COMPAT_IBVERBS_PABI_H

#include <infiniband/driver.h>
#include <infiniband/kern-abi.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <util/compiler.h>
#include <util/mmio.h>
#include <util/udma_barrier.h>

#if IBVERBS_PABI_VERSION != 34 && IBVERBS_PABI_VERSION != 65
#error "this provider ABI is not known here yet"
#endif

static inline int pabi_get_context(struct verbs_context *context, struct ibv_get_context *cmd,
				   size_t cmd_size, struct ib_uverbs_get_context_resp *resp,
				   size_t resp_size)
{
#if IBVERBS_PABI_VERSION >= 65
	/* The list of file descriptors to pass in: none. */
	return ibv_cmd_get_context(context, cmd, cmd_size, NULL, resp, resp_size);
#else
	return ibv_cmd_get_context(context, cmd, cmd_size, resp, resp_size);
#endif
}

/*
 * Says that the extended send interface is there. ABI 34 spans releases in which
 * struct ibv_qp_ex lacked its last member (44), or its last two (34 to 43), so that
 * what follows it, this flag, lies elsewhere for their libibverbs. It is set at each
 * of the places; for a newer one those are the members that were added, which nobody
 * may call on a QP that was not made for them.
 */
static inline void pabi_set_qp_ex(struct verbs_qp *qp)
{
#if IBVERBS_PABI_VERSION == 34
	*(uint32_t *)&qp->qp_ex.wr_atomic_write = VERBS_QP_EX;
	*(uint32_t *)&qp->qp_ex.wr_flush = VERBS_QP_EX;
#endif
	qp->comp_mask |= VERBS_QP_EX;
}

#endif
