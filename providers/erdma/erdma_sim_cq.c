// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * erdma simulator: completion queues. Owns CQEs, the CQ doorbell and when a CQ
 * asks for an event. Knows nothing of WQEs beyond what a completion repeats.
 *
 * Consuming CQEs rings no doorbell, so the NIC learns the consumer index only when the guest
 * arms: as on the real one, a guest that polls has to size its CQ. An index that is more than
 * a ring behind shows that CQEs were overwritten; then the CQ is in error for good.
 */
#include "providers/erdma/erdma_sim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define INDEX_MASK nic_max(ERDMA_CQ_DB_CI)

/*
 * Completion statuses, as the verbs status that the driver makes of ours comes nearest. Where
 * several of ours mean the same to it, the vendor error tells them apart.
 */
static const uint8_t send_status[ROCE_WC_STATUS_COUNT] = {
	[ROCE_WC_SUCCESS] = ERDMA_STATUS_SUCCESS,
	[ROCE_WC_LOC_LEN_ERR] = ERDMA_STATUS_SEND_FORMAT,
	[ROCE_WC_LOC_QP_OP_ERR] = ERDMA_STATUS_SEND_FORMAT,
	[ROCE_WC_LOC_PROT_ERR] = ERDMA_STATUS_SEND_KEY,
	[ROCE_WC_WR_FLUSH_ERR] = ERDMA_STATUS_FLUSH,
	[ROCE_WC_MW_BIND_ERR] = ERDMA_STATUS_SEND_FORMAT,
	[ROCE_WC_BAD_RESP_ERR] = ERDMA_STATUS_GENERAL,
	[ROCE_WC_LOC_ACCESS_ERR] = ERDMA_STATUS_SEND_RIGHTS,
	[ROCE_WC_REM_INV_REQ_ERR] = ERDMA_STATUS_GENERAL,
	[ROCE_WC_REM_ACCESS_ERR] = ERDMA_STATUS_RECV_RIGHTS,
	[ROCE_WC_REM_OP_ERR] = ERDMA_STATUS_GENERAL,
	[ROCE_WC_RETRY_EXC_ERR] = ERDMA_STATUS_RETRY_EXCEEDED,
	[ROCE_WC_RNR_RETRY_EXC_ERR] = ERDMA_STATUS_RETRY_EXCEEDED,
	[ROCE_WC_REM_ABORT_ERR] = ERDMA_STATUS_GENERAL,
	[ROCE_WC_FATAL_ERR] = ERDMA_STATUS_GENERAL,
	[ROCE_WC_GENERAL_ERR] = ERDMA_STATUS_GENERAL,
};

static const uint8_t recv_status[ROCE_WC_STATUS_COUNT] = {
	[ROCE_WC_SUCCESS] = ERDMA_STATUS_SUCCESS,
	[ROCE_WC_LOC_LEN_ERR] = ERDMA_STATUS_RECV_ADDRESS,
	[ROCE_WC_LOC_QP_OP_ERR] = ERDMA_STATUS_RECV_FORMAT,
	[ROCE_WC_LOC_PROT_ERR] = ERDMA_STATUS_RECV_KEY,
	[ROCE_WC_WR_FLUSH_ERR] = ERDMA_STATUS_FLUSH,
	[ROCE_WC_MW_BIND_ERR] = ERDMA_STATUS_GENERAL,
	[ROCE_WC_BAD_RESP_ERR] = ERDMA_STATUS_GENERAL,
	[ROCE_WC_LOC_ACCESS_ERR] = ERDMA_STATUS_RECV_RIGHTS,
	[ROCE_WC_REM_INV_REQ_ERR] = ERDMA_STATUS_RECV_KEY,
	[ROCE_WC_REM_ACCESS_ERR] = ERDMA_STATUS_RECV_RIGHTS,
	[ROCE_WC_REM_OP_ERR] = ERDMA_STATUS_GENERAL,
	[ROCE_WC_RETRY_EXC_ERR] = ERDMA_STATUS_RETRY_EXCEEDED,
	[ROCE_WC_RNR_RETRY_EXC_ERR] = ERDMA_STATUS_RETRY_EXCEEDED,
	[ROCE_WC_REM_ABORT_ERR] = ERDMA_STATUS_GENERAL,
	[ROCE_WC_FATAL_ERR] = ERDMA_STATUS_GENERAL,
	[ROCE_WC_GENERAL_ERR] = ERDMA_STATUS_GENERAL,
};

/* Opcode that a receive's CQE shows. */
static const uint8_t recv_opcode[] = {
	[ROCE_WC_SEND] = ERDMA_OP_RECV, /* not a receive: never looked up */
	[ROCE_WC_RECV] = ERDMA_OP_RECV,
	[ROCE_WC_RECV_IMM] = ERDMA_OP_RECV_SEND_IMM,
	[ROCE_WC_RECV_INV] = ERDMA_OP_RECV_SEND_INV,
	[ROCE_WC_RECV_WRITE_IMM] = ERDMA_OP_RECV_WRITE_IMM,
};

struct erdma_cq *erdma_cq_find(struct erdma_nic *nic, uint32_t cqn)
{
	struct roce_cq *cq = roce_cq_find(nic->engine, cqn);

	return cq ? roce_cq_context(cq) : NULL;
}

int erdma_cq_create(struct erdma_nic *nic, const struct erdma_cq_params *params)
{
	struct erdma_cq *cq;
	int err;

	if (params->log > nic->personality->cqe_log || params->eqn == 0 ||
	    params->eqn >= ERDMA_MSIX_VECTORS || !nic->eqs[params->eqn].active)
		return -EINVAL;
	if (params->cqn == 0 || params->cqn >= 2 * erdma_max_qp(nic))
		return -EINVAL;
	if (roce_cq_find(nic->engine, params->cqn))
		return -EEXIST;
	err = erdma_mtt_check_memory(nic, &params->ring);
	if (err)
		return err;
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return -ENOMEM;
	cq->cqn = params->cqn;
	cq->depth = 1u << params->log;
	cq->eqn = params->eqn;
	cq->db_set = params->db_set;
	cq->ring = params->ring;
	err = roce_cq_create(nic->engine, params->cqn, cq, &cq->cq);
	if (err) {
		free(cq);
		return err;
	}
	TAILQ_INSERT_TAIL(&nic->cqs, cq, all);
	return 0;
}

static void release(struct erdma_nic *nic, struct erdma_cq *cq)
{
	if (cq->waiting)
		TAILQ_REMOVE(&nic->eqs[cq->eqn].waiting, cq, wait);
	TAILQ_REMOVE(&nic->cqs, cq, all);
	free(cq);
}

int erdma_cq_destroy(struct erdma_nic *nic, uint32_t cqn)
{
	struct erdma_cq *cq = erdma_cq_find(nic, cqn);
	int err;

	if (!cq)
		return -ENOENT;
	err = roce_cq_destroy(cq->cq);
	if (err)
		return err;
	release(nic, cq);
	return 0;
}

void erdma_cq_free_all(struct erdma_nic *nic)
{
	struct erdma_cq *cq;

	while ((cq = TAILQ_FIRST(&nic->cqs)))
		release(nic, cq);
}

static void answer(struct erdma_nic *nic, struct erdma_cq *cq)
{
	cq->arm.answered = true;
	cq->arm.answered_count = cq->arm.count;
	erdma_eq_push_cq(nic, &nic->eqs[cq->eqn], cq);
}

void erdma_cq_event(void *ctx, struct roce_cq *cq)
{
	answer(ctx, roce_cq_context(cq));
}

void erdma_cq_doorbell(struct erdma_nic *nic, struct erdma_cq *cq, uint64_t value)
{
	bool solicited = nic_pick(value, ERDMA_CQ_DB_SOLICITED);
	uint32_t ci = nic_pick(value, ERDMA_CQ_DB_CI);
	uint32_t unread = (cq->pi - ci) & INDEX_MASK;

	if (!nic_pick(value, ERDMA_CQ_DB_ARM))
		return;
	if (unread > cq->depth) {
		if (!cq->overrun)
			erdma_eq_push_async(nic, ERDMA_EVENT_CQ_ERROR, cq->cqn);
		cq->overrun = true;
		return;
	}
	cq->arm.count = (uint8_t)nic_pick(value, ERDMA_CQ_DB_EVENTS);
	if (cq->arm.answered && cq->arm.count == cq->arm.answered_count)
		return;
	/* What came since the guest looked last counts: it may not look again. */
	if (solicited)
		unread = (cq->notable_pi - ci) & INDEX_MASK;
	if (unread && unread <= cq->depth) {
		roce_cq_disarm(cq->cq);
		answer(nic, cq);
		return;
	}
	roce_cq_arm(cq->cq, solicited);
}

/* CQE header without the owner bit. */
static uint32_t header(const struct roce_wc *wc, bool is_send)
{
	unsigned int opcode, status;

	if (is_send) {
		opcode = erdma_wr_id_opcode(wc->wr_id);
		status = send_status[wc->status];
	} else {
		opcode = recv_opcode[wc->opcode];
		status = recv_status[wc->status];
	}
	return nic_prep(ERDMA_CQE_OPCODE, opcode) | nic_prep(ERDMA_CQE_STATUS, status) |
	       nic_prep(ERDMA_CQE_QUEUE, is_send ? ERDMA_CQE_QUEUE_SQ : ERDMA_CQE_QUEUE_RQ);
}

static void fill(struct erdma_cqe *cqe, const struct erdma_qp *qp, const struct roce_wc *wc)
{
	bool is_send = wc->opcode == ROCE_WC_SEND;

	memset(cqe, 0, sizeof(*cqe));
	cqe->hdr = nic_to_be32(header(wc, is_send));
	cqe->wqe_index = nic_to_be32(erdma_wr_id_index(wc->wr_id));
	cqe->qpn = nic_to_be32(qp->qpn);
	if (wc->status != ROCE_WC_SUCCESS)
		return;
	cqe->length = nic_to_be32(wc->byte_len);
	if (is_send)
		return;
	if (wc->opcode == ROCE_WC_RECV_IMM || wc->opcode == ROCE_WC_RECV_WRITE_IMM)
		cqe->immediate = nic_to_le32(wc->imm);
	else if (wc->opcode == ROCE_WC_RECV_INV)
		cqe->invalidated = nic_to_be32(wc->inv_key);
	if (qp->type != ROCE_QPT_RC)
		cqe->ud = nic_to_be32(nic_prep(ERDMA_CQE_UD_V6, wc->net == ROCE_NET_V2_IPV6) |
				      nic_prep(ERDMA_CQE_UD_SL, wc->sl) |
				      nic_prep(ERDMA_CQE_UD_QPN, wc->src_qp));
}

/* The word with the owner bit goes last: it makes the entry valid. */
static int write_cqe(struct erdma_nic *nic, struct erdma_cq *cq, struct erdma_cqe *cqe)
{
	uint64_t offset = (uint64_t)(cq->pi & (cq->depth - 1)) << ERDMA_CQE_SHIFT;
	const size_t head = sizeof(cqe->hdr), rest = sizeof(*cqe) - head;
	char *host = erdma_mtt_at(nic, &cq->ring, offset, sizeof(*cqe), true);
	int err;

	cqe->hdr |= nic_to_be32(nic_prep(ERDMA_CQE_OWNER, !(cq->pi & cq->depth)));
	if (host && (uintptr_t)host % sizeof(uint64_t) == 0) {
		memcpy(host + head, (char *)cqe + head, rest);
		__atomic_store_n((__be32 *)host, cqe->hdr, __ATOMIC_RELEASE);
		return 0;
	}
	err = erdma_mtt_write(nic, &cq->ring, offset + head, (char *)cqe + head, rest);
	if (!err)
		err = erdma_mtt_write(nic, &cq->ring, offset, cqe, head);
	return err;
}

int erdma_cq_complete(void *ctx, struct roce_cq *rcq, const struct roce_wc *wc)
{
	struct erdma_qp *qp = roce_qp_context(wc->qp);
	bool is_send = wc->opcode == ROCE_WC_SEND, failed = wc->status != ROCE_WC_SUCCESS;
	struct erdma_cq *cq = roce_cq_context(rcq);
	struct erdma_nic *nic = ctx;
	struct erdma_cqe cqe;

	/* The engine has room for one more WQE of this queue. */
	if (is_send ? qp->sq.pi != qp->sq.fetched : qp->rq.pi != qp->rq.fetched)
		erdma_qp_defer(qp);
	if (is_send && !wc->signaled && !failed)
		return 0;
	if (cq->overrun)
		return -ENOSPC;
	fill(&cqe, qp, wc);
	if (write_cqe(nic, cq, &cqe)) {
		sim_log(nic->dev, "CQ %u: its ring is not in guest memory", cq->cqn);
		cq->overrun = true;
		return -ENOSPC;
	}
	cq->pi++;
	if (wc->solicited || failed)
		cq->notable_pi = cq->pi;
	nic->counters.cqes++;
	return 0;
}
