/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What rdma-core's private headers expect from its own build: they include this
 * as <config.h>. Owns those answers and nothing else. ANYNIC_PABI, the provider
 * ABI, comes from the build, once for each provider that is made.
 */
#ifndef ANYNIC_COMPAT_IBVERBS_CONFIG_H
#define ANYNIC_COMPAT_IBVERBS_CONFIG_H

#define IBVERBS_PABI_VERSION ANYNIC_PABI

#define HAVE_STATEMENT_EXPR		  1
#define HAVE_BUILTIN_TYPES_COMPATIBLE_P	  1
#define HAVE_TYPEOF			  1
#define HAVE_ISBLANK			  1
#define HAVE_BUILTIN_CLZ		  1
#define HAVE_BUILTIN_CLZL		  1
#define HAVE_FUNC_ATTRIBUTE_ALWAYS_INLINE 1
#define HAVE_WORKING_IF_H		  1

#define SIZEOF_LONG __SIZEOF_LONG__

/* Both ways into the kernel, ioctl first: libibverbs chooses at run time. */
#define VERBS_IOCTL_ONLY 0
#define VERBS_WRITE_ONLY 0

#endif
