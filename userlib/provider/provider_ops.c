/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The two ops tables of the core. Owns which call goes where; the functions are in
 * the files that provider.h names. No data path here: a class brings it.
 */
#include "userlib/provider/provider.h"

/* The same for every NIC on its in-tree driver. A class may replace any of it. */
const struct verbs_context_ops anynic_base_ops = {
	.alloc_parent_domain = anynic_alloc_parent_domain,
	.alloc_pd = anynic_alloc_pd,
	.alloc_td = anynic_alloc_td,
	.dealloc_pd = anynic_dealloc_pd,
	.dealloc_td = anynic_dealloc_td,
	.dereg_mr = anynic_dereg_mr,
	.reg_mr = anynic_reg_mr,
};

/* Above the class: limits, clamps and checks that hold whatever the class does. */
const struct verbs_context_ops anynic_checked_ops = {
	.create_qp = anynic_create_qp,
	.create_qp_ex = anynic_create_qp_ex,
	.free_context = anynic_free_context,
	.modify_qp = anynic_modify_qp,
	.query_device_ex = anynic_query_device_ex,
	.query_port = anynic_query_port,
};
