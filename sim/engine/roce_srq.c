// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Shared receive queues (IBTA 10.2.9): posting, taking, the limit. Knows nothing of who takes. */
#include "sim/engine/roce_engine.h"

#include <errno.h>
#include <string.h>

int roce_srq_create(struct roce_nic *nic, uint32_t srqn, uint32_t pdn, uint32_t max_wr,
		    void *context, struct roce_srq **out)
{
	struct roce_srq *srq = roce_alloc(&nic->memory, sizeof(*srq));
	int ret;

	if (!srq)
		return -ENOMEM;
	srq->nic = nic;
	srq->srqn = srqn;
	srq->pdn = pdn;
	srq->context = context;
	roce_queue_init(&srq->queue, &nic->memory, sizeof(struct roce_wqe), max_wr);
	ret = roce_table_insert(&nic->srqs, srqn, srq);
	if (ret)
		goto undo_alloc;
	*out = srq;
	return 0;

undo_alloc:
	roce_free(&nic->memory, srq);
	return ret;
}

int roce_srq_destroy(struct roce_srq *srq)
{
	struct roce_nic *nic = srq->nic;

	if (srq->users)
		return -EBUSY;
	roce_table_remove(&nic->srqs, srq->srqn);
	roce_queue_fini(&srq->queue);
	roce_free(&nic->memory, srq);
	return 0;
}

struct roce_srq *roce_srq_find(const struct roce_nic *nic, uint32_t srqn)
{
	return roce_table_find(&nic->srqs, srqn);
}

void *roce_srq_context(const struct roce_srq *srq)
{
	return srq->context;
}

int roce_srq_post(struct roce_srq *srq, uint64_t now, const struct roce_recv_wr *wr)
{
	roce_nic_tick(srq->nic, now);
	return roce_rq_push(&srq->queue, wr);
}

int roce_srq_set_limit(struct roce_srq *srq, uint32_t limit)
{
	if (limit > srq->queue.max)
		return -EINVAL;
	srq->limit = limit;
	return 0;
}

bool roce_srq_take(struct roce_srq *srq, struct roce_wqe *wqe, struct roce_sge *sge)
{
	struct roce_nic *nic = srq->nic;
	const struct roce_wqe *oldest;

	if (roce_queue_count(&srq->queue) == 0)
		return false;
	/* Copied: the place in the ring is free from now on. */
	oldest = roce_queue_at(&srq->queue, srq->queue.tail);
	*wqe = *oldest;
	if (oldest->num_sge)
		memcpy(sge, roce_queue_units(&srq->queue, oldest), oldest->num_sge * sizeof(*sge));
	roce_queue_pop(&srq->queue);
	/* Once: the consumer arms it again after it has posted more. */
	if (srq->limit && roce_queue_count(&srq->queue) < srq->limit) {
		srq->limit = 0;
		nic->env->event(nic->ctx, ROCE_EVENT_SRQ_LIMIT, NULL, NULL, srq);
	}
	return true;
}
