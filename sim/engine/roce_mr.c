// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory regions: who may touch which bytes, and where these are. Owns the checks (IBTA 10.6.3,
 * 9.7.4.1) and the walk over SGE lists; knows nothing of translation, which is the class's.
 */
#include "sim/engine/roce_engine.h"

#include <errno.h>
#include <string.h>

enum { KEY_SHIFT = 8 };

int roce_mr_create(struct roce_nic *nic, const struct roce_mr_attr *attr, struct roce_mr **out)
{
	struct roce_mr *mr = roce_alloc(&nic->memory, sizeof(*mr));
	int ret;

	if (!mr)
		return -ENOMEM;
	mr->nic = nic;
	mr->attr = *attr;
	ret = roce_table_insert(&nic->mrs, attr->key >> KEY_SHIFT, mr);
	if (ret)
		goto undo_alloc;
	*out = mr;
	return 0;

undo_alloc:
	roce_free(&nic->memory, mr);
	return ret;
}

void roce_mr_destroy(struct roce_mr *mr)
{
	struct roce_nic *nic = mr->nic;

	/* Whoever holds a pointer to it looks the key up again. */
	nic->mr_epoch++;
	roce_table_remove(&nic->mrs, mr->attr.key >> KEY_SHIFT);
	roce_free(&nic->memory, mr);
}

struct roce_mr *roce_mr_find(const struct roce_nic *nic, uint32_t key)
{
	return roce_table_find(&nic->mrs, key >> KEY_SHIFT);
}

const struct roce_mr_attr *roce_mr_attr(const struct roce_mr *mr)
{
	return &mr->attr;
}

/* No sum here can wrap: a peer chooses va and length. */
static bool in_bounds(const struct roce_mr_attr *attr, uint64_t va, uint64_t length)
{
	uint64_t offset = va - attr->iova;

	if (attr->any_length)
		return length == 0 || va + (length - 1) >= va;
	return va >= attr->iova && offset <= attr->length && length <= attr->length - offset;
}

struct roce_mr *roce_mr_check(const struct roce_nic *nic, const struct roce_want *want)
{
	struct roce_mr *mr = roce_mr_find(nic, want->key);

	if (!mr || mr->attr.key != want->key || !mr->attr.valid)
		return NULL;
	if (!mr->attr.any_pd && mr->attr.pdn != want->pdn)
		return NULL;
	if ((mr->attr.access & want->access) != want->access)
		return NULL;
	return in_bounds(&mr->attr, want->va, want->length) ? mr : NULL;
}

/* What the class says is believed only as far as it adds up: too few bytes is not mapped. */
static int span_add(struct roce_nic *nic, const struct roce_mr *mr, uint64_t va, uint32_t length,
		    bool write)
{
	struct roce_span *span = &nic->span;
	struct iovec *iov = span->iov + span->count;
	size_t mapped = 0;
	int count, i;

	count = nic->env->mr_map(nic->ctx, &mr->attr, va - mr->attr.iova, length, write, iov,
				 ROCE_SPAN_IOV - span->count);
	if (count < 0)
		return -EFAULT;
	for (i = 0; i < count; i++)
		mapped += iov[i].iov_len;
	if (mapped != length)
		return -EFAULT;
	span->count += count;
	return 0;
}

int roce_mr_map(struct roce_nic *nic, const struct roce_mr *mr, uint64_t va, uint32_t length,
		bool write)
{
	return length ? span_add(nic, mr, va, length, write) : 0;
}

/* The region that SEND_INV, READ_INV or LOCAL_INV names, if it may be invalidated. */
int roce_mr_invalidate(struct roce_nic *nic, uint32_t key, uint32_t pdn)
{
	struct roce_mr *mr = roce_mr_find(nic, key);

	if (!mr || mr->attr.key != key || !mr->attr.fast_reg)
		return -EACCES;
	if (!mr->attr.any_pd && mr->attr.pdn != pdn)
		return -EACCES;
	mr->attr.valid = false;
	nic->mr_epoch++;
	return 0;
}

int roce_mr_register(struct roce_qp *qp, uint32_t key, void *reg)
{
	struct roce_nic *nic = qp->nic;
	struct roce_mr *mr = roce_mr_find(nic, key);
	struct roce_mr_attr attr;
	int ret;

	if (!mr || !mr->attr.fast_reg || mr->attr.valid || mr->attr.pdn != qp->pdn)
		return -EACCES;
	attr = mr->attr;
	ret = nic->env->reg_mr ? nic->env->reg_mr(nic->ctx, qp, reg, &attr) : -EOPNOTSUPP;
	if (ret)
		return ret;
	/* What the table and the PD check rest on stays. */
	if (attr.key >> KEY_SHIFT != mr->attr.key >> KEY_SHIFT)
		return -EINVAL;
	mr->attr.key = attr.key;
	mr->attr.access = attr.access;
	mr->attr.iova = attr.iova;
	mr->attr.length = attr.length;
	mr->attr.context = attr.context;
	mr->attr.valid = true;
	nic->mr_epoch++;
	return 0;
}

uint64_t roce_sge_total(const struct roce_sge *sge, uint32_t num_sge)
{
	uint64_t total = 0;
	uint32_t i;

	for (i = 0; i < num_sge; i++)
		total += sge[i].length;
	return total;
}

void roce_list_seek(const struct roce_list *list, struct roce_cursor *cursor, uint32_t offset)
{
	uint32_t left = offset;

	/* The next packet, as a rule; else something is sent again. */
	if (cursor->offset == offset)
		return;
	*cursor = (struct roce_cursor){.offset = offset};
	while (cursor->sge < list->num_sge && left >= list->sge[cursor->sge].length)
		left -= list->sge[cursor->sge++].length;
	cursor->sge_offset = left;
}

int roce_list_map(struct roce_nic *nic, const struct roce_list *list, struct roce_cursor *cursor,
		  uint32_t length)
{
	uint32_t left = length;

	while (left) {
		const struct roce_sge *sge;
		uint32_t room, piece;
		struct roce_mr *mr;

		if (cursor->sge >= list->num_sge)
			return -EMSGSIZE;
		sge = list->sge + cursor->sge;
		room = sge->length - cursor->sge_offset;
		piece = room < left ? room : left;
		if (piece) {
			struct roce_want want = {
				.key = sge->lkey,
				.pdn = list->pdn,
				.access = list->access,
				.va = sge->addr + cursor->sge_offset,
				.length = piece,
			};

			mr = roce_mr_check(nic, &want);
			if (!mr)
				return -EACCES;
			if (span_add(nic, mr, want.va, piece, list->access != 0))
				return -EFAULT;
		}
		cursor->sge_offset += piece;
		cursor->offset += piece;
		left -= piece;
		if (cursor->sge_offset == sge->length) {
			cursor->sge++;
			cursor->sge_offset = 0;
		}
	}
	return 0;
}

void roce_span_gather(const struct roce_span *span, uint8_t *to)
{
	int i;

	for (i = 0; i < span->count; i++) {
		memcpy(to, span->iov[i].iov_base, span->iov[i].iov_len);
		to += span->iov[i].iov_len;
	}
}

void roce_span_scatter(const struct roce_span *span, const uint8_t *from)
{
	int i;

	for (i = 0; i < span->count; i++) {
		memcpy(span->iov[i].iov_base, from, span->iov[i].iov_len);
		from += span->iov[i].iov_len;
	}
}
