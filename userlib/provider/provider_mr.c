/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Memory regions of an in-tree driver without extra arguments. Owns the verbs_mr.
 * Marks against fork are libibverbs' own: it makes them around these calls, and
 * none at all on a kernel that copies pinned pages on fork.
 */
#include "userlib/provider/provider.h"

#include <stdlib.h>

struct ibv_mr *anynic_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
			     int access)
{
	struct ib_uverbs_reg_mr_resp resp = {0};
	struct ibv_reg_mr cmd = {0};
	struct verbs_mr *mr;

	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return NULL;
	/* Sets errno. */
	if (ibv_cmd_reg_mr(pd, addr, length, iova, access, mr, &cmd, sizeof(cmd), &resp,
			   sizeof(resp))) {
		free(mr);
		return NULL;
	}
	return &mr->ibv_mr;
}

int anynic_dereg_mr(struct verbs_mr *mr)
{
	int err = ibv_cmd_dereg_mr(mr);

	if (!err)
		free(mr);
	return err;
}
