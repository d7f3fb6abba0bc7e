/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * erdma, user half: address handles. Owns the number that a UD WQE names.
 *
 * The NIC has the address vector under a number that the kernel gives it, so user
 * space can send datagrams only if the kernel makes AHs for it and tells the
 * number. The driver of Linux 7.3 does neither for user space: it has no
 * create_user_ah, and libibverbs' call ends in EOPNOTSUPP. The answer below is
 * what a driver that does would append, as the other drivers with such numbers do.
 */
#include "providers/erdma/erdma_user.h"

#include <errno.h>
#include <stdlib.h>

#define AHN_NONE UINT32_MAX

struct erdma_uresp_create_ah {
	__u32 ahn;
};
#define _STRUCT_erdma_uresp_create_ah \
	struct {                      \
		__u32 ahn;            \
	}
DECLARE_DRV_CMD(erdma_create_ah_cmd, IB_USER_VERBS_CMD_CREATE_AH, empty, erdma_uresp_create_ah);

struct ibv_ah *an_erdma_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct erdma_create_ah_cmd_resp resp = {.ahn = AHN_NONE};
	struct erdma_ah *ah;
	int err;

	/* A RoCE address is a GID: without a GRH there is none. */
	if (!attr->is_global) {
		errno = EINVAL;
		return NULL;
	}
	ah = calloc(1, sizeof(*ah));
	if (!ah)
		return NULL;
	err = ibv_cmd_create_ah(pd, &ah->ah, attr, &resp.ibv_resp, sizeof(resp));
	if (err)
		goto undo_alloc;
	/* Made, but of no use: any number would be somebody else's address. */
	if (resp.ahn == AHN_NONE) {
		ibv_cmd_destroy_ah(&ah->ah);
		err = EOPNOTSUPP;
		goto undo_alloc;
	}
	ah->ahn = resp.ahn;
	return &ah->ah;

undo_alloc:
	free(ah);
	errno = err;
	return NULL;
}

int an_erdma_destroy_ah(struct ibv_ah *ah)
{
	int err = ibv_cmd_destroy_ah(ah);

	if (!err)
		free(to_erdma_ah(ah));
	return err;
}
