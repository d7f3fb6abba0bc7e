/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Put in front of a stock provider's source: lets that of the newest release build
 * for provider ABI 34, which this system's libibverbs has. Owns the one call that
 * has another argument since.
 */
#ifndef ANYNIC_TESTS_BENCH_STOCK_ABI_H
#define ANYNIC_TESTS_BENCH_STOCK_ABI_H

#include <infiniband/driver.h>

#define ibv_cmd_get_context(context, cmd, cmd_size, fds, resp, resp_size) \
	(ibv_cmd_get_context)(context, cmd, cmd_size, resp, resp_size)

#endif
