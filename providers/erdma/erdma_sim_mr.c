// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * erdma simulator: memory regions. Owns keys' translation and fast registration.
 * Rights, bounds and protection domains are the engine's.
 */
#include "providers/erdma/erdma_sim.h"

#include <errno.h>
#include <stdlib.h>

static const struct {
	uint32_t erdma;
	uint32_t engine;
} rights[] = {
	{ERDMA_ACCESS_REMOTE_ATOMIC, ROCE_ACCESS_REMOTE_ATOMIC},
	{ERDMA_ACCESS_LOCAL_WRITE, ROCE_ACCESS_LOCAL_WRITE},
	{ERDMA_ACCESS_REMOTE_READ, ROCE_ACCESS_REMOTE_READ},
	{ERDMA_ACCESS_REMOTE_WRITE, ROCE_ACCESS_REMOTE_WRITE},
};

/* All of the bus address space, untranslated. */
static const struct erdma_mtt identity = {
	.count = 1, .length = UINT64_MAX, .page_shift = ERDMA_PAGE_SHIFT, .contiguous = true};

uint32_t erdma_mr_access(uint32_t access)
{
	uint32_t engine = 0;
	size_t i;

	for (i = 0; i < sizeof(rights) / sizeof(rights[0]); i++)
		if (access & rights[i].erdma)
			engine |= rights[i].engine;
	return engine;
}

/* The first index that is no region's: no key of the driver's can be equal to it. */
uint32_t erdma_mr_local_key(const struct erdma_nic *nic)
{
	return 2 * erdma_max_qp(nic) << 8;
}

static int add(struct erdma_nic *nic, const struct erdma_mr *template, struct roce_mr_attr *attr)
{
	struct erdma_mr *mr;
	int err;

	if (roce_mr_find(nic->engine, attr->key))
		return -EEXIST;
	mr = malloc(sizeof(*mr));
	if (!mr)
		return -ENOMEM;
	*mr = *template;
	attr->context = mr;
	err = roce_mr_create(nic->engine, attr, &mr->mr);
	if (err) {
		free(mr);
		return err;
	}
	TAILQ_INSERT_TAIL(&nic->mrs, mr, all);
	return 0;
}

int erdma_mr_create_local(struct erdma_nic *nic)
{
	struct roce_mr_attr attr = {
		.key = erdma_mr_local_key(nic),
		.any_pd = true,
		.access = ROCE_ACCESS_LOCAL_WRITE,
		.any_length = true,
		.valid = true,
	};
	struct erdma_mr mr = {.mtt = identity};

	return add(nic, &mr, &attr);
}

int erdma_mr_create(struct erdma_nic *nic, const struct erdma_mr_params *params)
{
	struct roce_mr_attr attr = {
		.key = params->key,
		.pdn = params->pdn,
		.access = erdma_mr_access(params->access),
		.iova = params->va,
		.length = params->length,
		.valid = params->valid,
	};
	struct erdma_mr mr = {.mtt = params->mtt};
	int err = 0;

	if (params->key >> 8 >= 2 * erdma_max_qp(nic))
		return -EINVAL;
	switch (params->type) {
	case ERDMA_MR_TYPE_NORMAL:
		if (!params->length || params->length > 1ull << nic->personality->mr_log)
			return -EINVAL;
		err = erdma_mtt_check(nic, &mr.mtt);
		break;
	case ERDMA_MR_TYPE_FAST_REG:
		attr.fast_reg = true;
		attr.valid = false;
		attr.length = 0;
		mr.capacity = params->mtt.count;
		mr.array = params->mtt.pages[0];
		/* There is no buffer yet, but there is room for its pages. */
		mr.mtt.length = params->mtt.count << ERDMA_PAGE_SHIFT;
		if (mr.mtt.level != 1)
			return -EINVAL;
		err = erdma_mtt_check(nic, &mr.mtt);
		break;
	case ERDMA_MR_TYPE_DMA:
		attr.any_length = true;
		attr.valid = true;
		mr.mtt = identity;
		break;
	}
	if (err)
		return err;
	return add(nic, &mr, &attr);
}

static void release(struct erdma_nic *nic, struct erdma_mr *mr)
{
	TAILQ_REMOVE(&nic->mrs, mr, all);
	free(mr);
}

int erdma_mr_destroy(struct erdma_nic *nic, uint32_t key)
{
	struct roce_mr *mr = roce_mr_find(nic->engine, key);
	struct erdma_mr *own;

	if (!mr || key >> 8 >= 2 * erdma_max_qp(nic))
		return -ENOENT;
	own = roce_mr_attr(mr)->context;
	roce_mr_destroy(mr);
	release(nic, own);
	return 0;
}

void erdma_mr_free_all(struct erdma_nic *nic)
{
	struct erdma_mr *mr;

	while ((mr = TAILQ_FIRST(&nic->mrs)))
		release(nic, mr);
}

int erdma_mr_map(void *ctx, const struct roce_mr_attr *attr, uint64_t offset, size_t length,
		 bool write, struct iovec *iov, int max)
{
	const struct erdma_mr *mr = attr->context;

	return erdma_mtt_map(ctx, &mr->mtt, offset, length, write, iov, max);
}

int erdma_mr_fast_reg(void *ctx, struct roce_qp *qp, void *reg, struct roce_mr_attr *attr)
{
	const struct erdma_fast_reg *want = reg;
	struct erdma_mr *mr = attr->context;
	struct erdma_mtt mtt;
	unsigned int i;
	int err;

	(void)qp;
	if (want->count > (want->indirect ? mr->capacity : ERDMA_MTT_INLINE))
		return -EINVAL;
	mtt = (struct erdma_mtt){
		.level = want->indirect,
		.page_shift = mr->mtt.page_shift,
		.count = want->count,
		.offset = want->va & ((1ull << mr->mtt.page_shift) - 1),
		.length = want->length,
	};
	for (i = 0; i < ERDMA_MTT_INLINE; i++)
		mtt.pages[i] = want->indirect ? mr->array : want->pages[i];
	err = erdma_mtt_check(ctx, &mtt);
	if (err)
		return err;
	mr->mtt = mtt;
	attr->key = want->key;
	attr->access = erdma_mr_access(want->access);
	attr->iova = want->va;
	attr->length = want->length;
	return 0;
}

void erdma_mr_fast_reg_free(void *ctx, void *reg)
{
	(void)ctx;
	free(reg);
}
