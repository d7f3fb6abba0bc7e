// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* erdma simulator: commands on memory regions. Each takes its request apart for erdma_sim_mr.c. */
#include "providers/erdma/erdma_sim.h"

#include <errno.h>

/* Version 1 of the request has room for lengths and counts beyond 32 and 20 bits. */
#define VERSION_LARGE 1

static uint32_t join_key(uint32_t index, uint32_t key)
{
	return index << 8 | key;
}

/* Level 0 has the pages in the request, a DMA region none, and the others the top table. */
static void decode_mtt(const struct erdma_cmd_reg_mr *req, struct erdma_mtt *mtt)
{
	unsigned int i, entries;

	mtt->level = (uint8_t)nic_get(req, ERDMA_REG_MR_LEVEL);
	mtt->page_shift = (uint8_t)nic_get(req, ERDMA_REG_MR_PAGE);
	mtt->table_shift = (uint8_t)(ERDMA_PAGE_SHIFT + nic_get(req, ERDMA_REG_MR_MTT_PAGE));
	mtt->count = nic_get(req, ERDMA_REG_MR_COUNT);
	if (nic_get(req, ERDMA_REG_MR_VERSION) == VERSION_LARGE)
		mtt->count |= (uint64_t)nic_from_le32(req->count_high) << 20;
	entries = mtt->level ? 1 : ERDMA_MTT_INLINE;
	for (i = 0; i < entries; i++)
		mtt->pages[i] = nic_from_le64(req->pages[i]);
}

int erdma_command_REG_MR(struct erdma_nic *nic, const void *request, struct erdma_answer *answer)
{
	const struct erdma_cmd_reg_mr *req = request;
	uint32_t version = nic_get(req, ERDMA_REG_MR_VERSION);
	uint32_t type = nic_get(req, ERDMA_REG_MR_TYPE);
	struct erdma_mr_params params = {
		.key = join_key(nic_get(req, ERDMA_REG_MR_INDEX), nic_get(req, ERDMA_REG_MR_KEY)),
		.pdn = nic_get(req, ERDMA_REG_MR_PDN),
		.access = nic_get(req, ERDMA_REG_MR_ACCESS),
		.type = type,
		.valid = nic_get(req, ERDMA_REG_MR_VALID),
	};

	(void)answer;
	if (version > VERSION_LARGE || type > ERDMA_MR_TYPE_DMA)
		return -EINVAL;
	decode_mtt(req, &params.mtt);
	if (type == ERDMA_MR_TYPE_NORMAL) {
		/* For the other types these fields hold leftovers. */
		params.va = nic_from_le64(req->va);
		params.length = nic_from_le32(req->length);
		if (version == VERSION_LARGE)
			params.length |= (uint64_t)nic_from_le32(req->length_high) << 32;
		params.mtt.offset = params.va & ((1ull << params.mtt.page_shift) - 1);
		params.mtt.length = params.length;
	}
	return erdma_mr_create(nic, &params);
}

int erdma_command_DEREG_MR(struct erdma_nic *nic, const void *request, struct erdma_answer *answer)
{
	const struct erdma_cmd_dereg_mr *req = request;

	(void)answer;
	return erdma_mr_destroy(nic, join_key(nic_get(req, ERDMA_DEREG_MR_INDEX),
					      nic_get(req, ERDMA_DEREG_MR_KEY)));
}
