/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Between the files of the provider's core. Owns their shared declarations; a
 * class includes anynic_user.h and not this.
 */
#ifndef ANYNIC_USERLIB_PROVIDER_PROVIDER_H
#define ANYNIC_USERLIB_PROVIDER_PROVIDER_H

#include "userlib/provider/anynic_user.h"

/*
 * Three layers, set in this order: what the core does for every class, the class,
 * and on top the calls that the core has to see before the class.
 */
extern const struct verbs_context_ops anynic_base_ops;
extern const struct verbs_context_ops anynic_checked_ops;

/*
 * provider_clamp.c. Reads what this device is clamped to. This function is the
 * seam for a later source of clamps, such as a cluster's agreed baseline.
 */
int anynic_clamps_read(const char *device, struct anynic_limits *clamps);

/* out is the lower of both, limit by limit: a clamp never raises anything. */
void anynic_limits_meet(const struct anynic_limits *limits, const struct anynic_limits *clamps,
			struct anynic_limits *out);

/* provider.c */
void anynic_free_context(struct ibv_context *context);

/* provider_pd.c */
struct ibv_pd *anynic_alloc_pd(struct ibv_context *context);
int anynic_dealloc_pd(struct ibv_pd *pd);
struct ibv_td *anynic_alloc_td(struct ibv_context *context, struct ibv_td_init_attr *attr);
int anynic_dealloc_td(struct ibv_td *td);
struct ibv_pd *anynic_alloc_parent_domain(struct ibv_context *context,
					  struct ibv_parent_domain_init_attr *attr);

/* provider_mr.c */
struct ibv_mr *anynic_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
			     int access);
int anynic_dereg_mr(struct verbs_mr *mr);

/* provider_query.c */
int anynic_query_device_ex(struct ibv_context *context,
			   const struct ibv_query_device_ex_input *input,
			   struct ibv_device_attr_ex *attr, size_t attr_size);
int anynic_query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr);

/* provider_qp.c */
struct ibv_qp *anynic_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
struct ibv_qp *anynic_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);
int anynic_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);

#endif
