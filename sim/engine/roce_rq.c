// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Receive work requests: posting, the one that a QP is filling, their completion and flush. The
 * same for a QP's own queue and a shared one; knows nothing of what is received.
 *
 * A message takes its WR with the first packet and completes it with the last. From the QP's own
 * queue it stays at the tail meanwhile; out of a shared queue it is copied, since others go on
 * taking from there.
 */
#include "sim/engine/roce_engine.h"

#include <errno.h>
#include <string.h>

int roce_rq_push(struct roce_queue *queue, const struct roce_recv_wr *wr)
{
	struct roce_wqe *wqe;

	if (wr->num_sge > ROCE_MAX_SGE)
		return -EINVAL;
	wqe = roce_queue_push(queue, wr->num_sge);
	if (!wqe)
		return -ENOMEM;
	wqe->wr_id = wr->wr_id;
	wqe->num_sge = wr->num_sge;
	if (wr->num_sge)
		memcpy(roce_queue_units(queue, wqe), wr->sge, wr->num_sge * sizeof(*wr->sge));
	return 0;
}

bool roce_rq_take(struct roce_qp *qp)
{
	struct roce_resp *resp = &qp->resp;

	if (resp->has_rqe)
		return true;
	if (qp->srq) {
		if (!roce_srq_take(qp->srq, &resp->rqe, resp->srq_sge))
			return false;
	} else {
		if (roce_queue_count(&qp->rq) == 0)
			return false;
		resp->rqe = *(struct roce_wqe *)roce_queue_at(&qp->rq, qp->rq.tail);
	}
	resp->has_rqe = true;
	return true;
}

struct roce_list roce_rq_list(const struct roce_qp *qp)
{
	const struct roce_wqe *wqe;

	if (qp->srq)
		return (struct roce_list){qp->resp.srq_sge, qp->resp.rqe.num_sge, qp->srq->pdn,
					  ROCE_ACCESS_LOCAL_WRITE};
	/* Not from the copy: its units may have moved since, when the queue grew. */
	wqe = roce_queue_at(&qp->rq, qp->rq.tail);
	return (struct roce_list){roce_queue_units(&qp->rq, wqe), wqe->num_sge, qp->pdn,
				  ROCE_ACCESS_LOCAL_WRITE};
}

int roce_rq_complete(struct roce_qp *qp, struct roce_wc *wc)
{
	struct roce_counters *counters = &qp->nic->counters;

	wc->wr_id = qp->resp.rqe.wr_id;
	wc->qp = qp;
	qp->resp.has_rqe = false;
	if (!qp->srq)
		roce_queue_pop(&qp->rq);
	if (wc->status == ROCE_WC_WR_FLUSH_ERR)
		counters->resp_cqe_flush++;
	else if (wc->status != ROCE_WC_SUCCESS)
		counters->resp_cqe_error++;
	return roce_cq_complete(qp->recv_cq, wc);
}

void roce_rq_flush(struct roce_qp *qp)
{
	/* With an SRQ only what this QP has taken; the rest is for others. */
	while (qp->resp.has_rqe || (!qp->srq && roce_rq_take(qp))) {
		struct roce_wc wc = {
			.status = ROCE_WC_WR_FLUSH_ERR,
			.opcode = ROCE_WC_RECV,
			.vlan = ROCE_NO_VLAN,
		};

		roce_rq_complete(qp, &wc);
	}
}
