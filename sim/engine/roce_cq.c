// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Completion queues: arming and overrun. Entries are the class's; here is only who gets told. */
#include "sim/engine/roce_engine.h"

#include <errno.h>

int roce_cq_create(struct roce_nic *nic, uint32_t cqn, void *context, struct roce_cq **out)
{
	struct roce_cq *cq = roce_alloc(&nic->memory, sizeof(*cq));
	int ret;

	if (!cq)
		return -ENOMEM;
	cq->nic = nic;
	cq->cqn = cqn;
	cq->context = context;
	ret = roce_table_insert(&nic->cqs, cqn, cq);
	if (ret)
		goto undo_alloc;
	*out = cq;
	return 0;

undo_alloc:
	roce_free(&nic->memory, cq);
	return ret;
}

int roce_cq_destroy(struct roce_cq *cq)
{
	struct roce_nic *nic = cq->nic;

	if (cq->users)
		return -EBUSY;
	roce_table_remove(&nic->cqs, cq->cqn);
	roce_free(&nic->memory, cq);
	return 0;
}

struct roce_cq *roce_cq_find(const struct roce_nic *nic, uint32_t cqn)
{
	return roce_table_find(&nic->cqs, cqn);
}

void *roce_cq_context(const struct roce_cq *cq)
{
	return cq->context;
}

uint32_t roce_cq_number(const struct roce_cq *cq)
{
	return cq->cqn;
}

void roce_cq_arm(struct roce_cq *cq, bool solicited_only)
{
	/* Asking for less does not take back having asked for all (IBTA 11.4.2.2). */
	if (cq->armed != ROCE_CQ_ARMED)
		cq->armed = solicited_only ? ROCE_CQ_ARMED_SOLICITED : ROCE_CQ_ARMED;
}

void roce_cq_disarm(struct roce_cq *cq)
{
	cq->armed = ROCE_CQ_IDLE;
}

/* Failures count as solicited: nobody waits for them in vain. */
static bool satisfies(const struct roce_cq *cq, const struct roce_wc *wc)
{
	switch (cq->armed) {
	case ROCE_CQ_ARMED:
		return true;
	case ROCE_CQ_ARMED_SOLICITED:
		return wc->solicited || wc->status != ROCE_WC_SUCCESS;
	case ROCE_CQ_IDLE:
		break;
	}
	return false;
}

int roce_cq_complete(struct roce_cq *cq, const struct roce_wc *wc)
{
	struct roce_nic *nic = cq->nic;

	/* After an overrun what is missing would be anyone's guess. */
	if (cq->failed)
		return -ENOSPC;
	if (nic->env->complete(nic->ctx, cq, wc) != 0) {
		cq->failed = true;
		nic->env->event(nic->ctx, ROCE_EVENT_CQ_ERR, NULL, cq, NULL);
		return -ENOSPC;
	}
	/* Bookkeeping of unsignaled work leaves nothing in the CQ to be told of. */
	if ((wc->opcode != ROCE_WC_SEND || wc->signaled) && satisfies(cq, wc)) {
		cq->armed = ROCE_CQ_IDLE;
		nic->env->cq_event(nic->ctx, cq);
	}
	return 0;
}
