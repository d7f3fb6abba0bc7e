/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Protection domains, thread domains and parent domains. Owns the promise that one
 * thread uses an object, which classes ask for to leave out locks. Knows no class.
 */
#include "userlib/provider/provider.h"

#include <errno.h>
#include <stdlib.h>

struct anynic_td {
	struct ibv_td td;
	unsigned int uses; /* parent domains */
};

static struct anynic_pd *to_anynic_pd(struct ibv_pd *pd)
{
	return container_of(pd, struct anynic_pd, pd);
}

struct ibv_pd *anynic_alloc_pd(struct ibv_context *context)
{
	struct ib_uverbs_alloc_pd_resp resp = {0};
	struct ibv_alloc_pd cmd = {0};
	struct anynic_pd *pd;

	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;
	/* Sets errno. */
	if (ibv_cmd_alloc_pd(context, &pd->pd, &cmd, sizeof(cmd), &resp, sizeof(resp))) {
		free(pd);
		return NULL;
	}
	return &pd->pd;
}

int anynic_dealloc_pd(struct ibv_pd *ibv_pd)
{
	struct anynic_pd *pd = to_anynic_pd(ibv_pd);
	int err = 0;

	if (__atomic_load_n(&pd->uses, __ATOMIC_RELAXED))
		return EBUSY;
	if (pd->contained) {
		__atomic_sub_fetch(&pd->contained->uses, 1, __ATOMIC_RELAXED);
		if (pd->td)
			__atomic_sub_fetch(&pd->td->uses, 1, __ATOMIC_RELAXED);
	} else {
		err = ibv_cmd_dealloc_pd(ibv_pd);
	}
	if (!err)
		free(pd);
	return err;
}

struct ibv_td *anynic_alloc_td(struct ibv_context *context, struct ibv_td_init_attr *attr)
{
	struct anynic_td *td;

	if (attr->comp_mask) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	td = calloc(1, sizeof(*td));
	if (!td)
		return NULL;
	td->td.context = context;
	return &td->td;
}

int anynic_dealloc_td(struct ibv_td *ibv_td)
{
	struct anynic_td *td = container_of(ibv_td, struct anynic_td, td);

	if (__atomic_load_n(&td->uses, __ATOMIC_RELAXED))
		return EBUSY;
	free(td);
	return 0;
}

struct ibv_pd *anynic_alloc_parent_domain(struct ibv_context *context,
					  struct ibv_parent_domain_init_attr *attr)
{
	struct anynic_pd *domain;

	if (ibv_check_alloc_parent_domain(attr))
		return NULL;
	if (to_anynic_pd(attr->pd)->contained) {
		errno = EINVAL; /* of a PD only, not of another parent domain */
		return NULL;
	}
	/* No allocators of the application's own: they would be asked for ring memory. */
	if (attr->comp_mask) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	domain = calloc(1, sizeof(*domain));
	if (!domain)
		return NULL;
	ibv_initialize_parent_domain(&domain->pd, attr->pd);
	domain->pd.context = context;
	domain->contained = to_anynic_pd(attr->pd);
	__atomic_add_fetch(&domain->contained->uses, 1, __ATOMIC_RELAXED);
	if (attr->td) {
		domain->td = container_of(attr->td, struct anynic_td, td);
		__atomic_add_fetch(&domain->td->uses, 1, __ATOMIC_RELAXED);
	}
	return &domain->pd;
}

bool anynic_pd_is_single_threaded(struct ibv_pd *pd)
{
	return to_anynic_pd(pd)->td || to_anynic_context(pd->context)->single_threaded;
}
