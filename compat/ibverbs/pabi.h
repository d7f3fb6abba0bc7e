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

#endif
