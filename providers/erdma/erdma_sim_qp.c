// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * erdma simulator: queue pairs. Owns their life and state, the attributes that
 * the interface does not carry, and when WQEs are fetched. Knows nothing of
 * what is in a WQE.
 *
 * A doorbell says how far a ring is filled. WQEs are fetched at once up to a budget and up to
 * what the engine may hold; the rest follows in later turns and as work completes:
 *
 *	         fetched          pi
 *	ring: | posted . | waiting . |        deferred: in nic->work, taken round robin
 */
#include "providers/erdma/erdma_sim.h"

#include <errno.h>
#include <stdlib.h>

/*
 * MODIFY_QP has no timers, retry counts, READ limits or access rights, so they are the NIC's.
 * Timeout 14 is 67 ms: ample for a peer in a virtual machine that has to wait for a processor.
 * Seven retries make the chance that 1 % loss ends a connection nil. A receiver that is not
 * ready asks for a short pause (0.16 ms), and a sender tries for ever: erdma is a NIC for
 * data centres, where a slow receiver is no reason to break a connection. Four outstanding
 * READs keep the wire busy, and a slow responder is not drowned when all are asked for again; as
 * a responder we take as many as the driver says it has (128).
 */
static const struct roce_qp_attr fixed_attr = {
	.access = ROCE_ACCESS_LOCAL_WRITE | ROCE_ACCESS_REMOTE_WRITE | ROCE_ACCESS_REMOTE_READ |
		  ROCE_ACCESS_REMOTE_ATOMIC,
	.pkey_index = 0,
	.timeout = 14,
	.retry_cnt = 7,
	.rnr_retry = ROCE_RNR_RETRY_INFINITE,
	.max_rd_atomic = 4,
	.max_dest_rd_atomic = 128,
	.min_rnr_timer = 8,
};

/* What a transition needs on top of what the request says (IBTA table 100). */
static const struct {
	enum roce_qp_state from, to;
	uint32_t rc;
	uint32_t ud;
} transitions[] = {
	{ROCE_QPS_RESET, ROCE_QPS_INIT, ROCE_QP_PKEY_INDEX | ROCE_QP_ACCESS, ROCE_QP_PKEY_INDEX},
	{ROCE_QPS_INIT, ROCE_QPS_RTR,
	 ROCE_QP_PATH_MTU | ROCE_QP_MAX_DEST_RD_ATOMIC | ROCE_QP_MIN_RNR_TIMER, 0},
	{ROCE_QPS_RTR, ROCE_QPS_RTS,
	 ROCE_QP_TIMEOUT | ROCE_QP_RETRY_CNT | ROCE_QP_RNR_RETRY | ROCE_QP_MAX_RD_ATOMIC, 0},
};

/* Bits of the request and of the engine. */
static const struct {
	uint32_t request;
	uint32_t engine;
} attributes[] = {
	{ERDMA_MODIFY_STATE, ROCE_QP_STATE},   {ERDMA_MODIFY_QKEY, ROCE_QP_QKEY},
	{ERDMA_MODIFY_AV, ROCE_QP_AV},	       {ERDMA_MODIFY_SQ_PSN, ROCE_QP_SQ_PSN},
	{ERDMA_MODIFY_RQ_PSN, ROCE_QP_RQ_PSN}, {ERDMA_MODIFY_DQPN, ROCE_QP_DEST_QPN},
};

struct erdma_qp *erdma_qp_find(struct erdma_nic *nic, uint32_t qpn)
{
	struct roce_qp *qp = roce_qp_find(nic->engine, qpn);

	return qp ? roce_qp_context(qp) : NULL;
}

static int check_params(struct erdma_nic *nic, const struct erdma_qp_params *params)
{
	int err;

	if (params->qpn == 0 || params->qpn >= erdma_max_qp(nic) ||
	    params->sq_log > ERDMA_RING_LOG_MAX || params->rq_log > ERDMA_RING_LOG_MAX)
		return -EINVAL;
	if (roce_qp_find(nic->engine, params->qpn))
		return -EEXIST;
	err = erdma_mtt_check_memory(nic, &params->sq);
	if (!err)
		err = erdma_mtt_check_memory(nic, &params->rq);
	return err;
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static struct erdma_qp *qp_new(struct erdma_nic *nic, const struct erdma_qp_params *params)
{
	struct erdma_qp *qp = calloc(1, sizeof(*qp));

	if (!qp)
		return NULL;
	qp->nic = nic;
	qp->qpn = params->qpn;
	qp->pdn = params->pdn;
	qp->type = !params->ud ? ROCE_QPT_RC : params->qpn == 1 ? ROCE_QPT_GSI : ROCE_QPT_UD;
	qp->db_set = params->db_set;
	qp->sq.mtt = params->sq;
	qp->sq.depth = 1u << params->sq_log;
	qp->rq.mtt = params->rq;
	qp->rq.depth = 1u << params->rq_log;
	qp->send_window = least(qp->sq.depth, ERDMA_SEND_WINDOW);
	qp->recv_window = least(qp->rq.depth, ERDMA_RECV_WINDOW);
	return qp;
}

int erdma_qp_create(struct erdma_nic *nic, const struct erdma_qp_params *params)
{
	struct roce_qp_init init = {
		.qpn = params->qpn,
		.pdn = params->pdn,
		.send_cq = roce_cq_find(nic->engine, params->send_cqn),
		.recv_cq = roce_cq_find(nic->engine, params->recv_cqn),
	};
	struct erdma_qp *qp;
	int err;

	err = check_params(nic, params);
	if (err)
		return err;
	if (!init.send_cq || !init.recv_cq)
		return -ENOENT;
	qp = qp_new(nic, params);
	if (!qp)
		return -ENOMEM;
	init.type = qp->type;
	init.max_send_wr = qp->send_window;
	init.max_recv_wr = qp->recv_window;
	init.context = qp;
	err = roce_qp_create(nic->engine, &init, &qp->qp);
	if (err) {
		free(qp);
		return err;
	}
	TAILQ_INSERT_TAIL(&nic->qps, qp, all);
	return 0;
}

static void release(struct erdma_nic *nic, struct erdma_qp *qp)
{
	if (qp->queued)
		TAILQ_REMOVE(&nic->work, qp, work);
	TAILQ_REMOVE(&nic->qps, qp, all);
	free(qp);
}

int erdma_qp_destroy(struct erdma_nic *nic, uint32_t qpn)
{
	struct erdma_qp *qp = erdma_qp_find(nic, qpn);

	if (!qp)
		return -ENOENT;
	roce_qp_destroy(qp->qp);
	release(nic, qp);
	return 0;
}

void erdma_qp_free_all(struct erdma_nic *nic)
{
	struct erdma_qp *qp;

	while ((qp = TAILQ_FIRST(&nic->qps)))
		release(nic, qp);
}

static uint32_t engine_mask(const struct erdma_qp *qp, const struct erdma_qp_change *change)
{
	enum roce_qp_state from = roce_qp_state(qp->qp);
	uint32_t mask = 0;
	size_t i;

	for (i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++)
		if (change->mask & attributes[i].request)
			mask |= attributes[i].engine;
	for (i = 0; i < sizeof(transitions) / sizeof(transitions[0]); i++)
		if (mask & ROCE_QP_STATE && transitions[i].from == from &&
		    transitions[i].to == change->state)
			mask |= qp->type == ROCE_QPT_RC ? transitions[i].rc : transitions[i].ud;
	return mask;
}

int erdma_qp_modify(struct erdma_nic *nic, uint32_t qpn, const struct erdma_qp_change *change)
{
	struct erdma_qp *qp = erdma_qp_find(nic, qpn);
	struct roce_qp_attr attr = fixed_attr;
	int err;

	if (!qp)
		return -ENOENT;
	attr.state = change->state;
	attr.dest_qpn = change->dest_qpn;
	attr.qkey = change->qkey;
	attr.rq_psn = change->rq_psn;
	attr.sq_psn = change->sq_psn;
	attr.av = change->av;
	attr.path_mtu = nic->path_mtu;
	err = roce_qp_modify(qp->qp, sim_roce_now(nic->roce), &attr, engine_mask(qp, change));
	if (err)
		return err;
	if (change->mask & ERDMA_MODIFY_STATE && change->state == ROCE_QPS_RESET) {
		qp->sq.pi = qp->sq.fetched = 0;
		qp->rq.pi = qp->rq.fetched = 0;
		qp->broken = false;
	}
	/* What waits in the rings may be taken now, or has to be flushed. */
	erdma_qp_defer(qp);
	sim_roce_kick(nic->roce);
	return 0;
}

static bool may_send(const struct erdma_qp *qp)
{
	switch (roce_qp_state(qp->qp)) {
	case ROCE_QPS_RTS:
	case ROCE_QPS_SQD:
	case ROCE_QPS_SQE:
	case ROCE_QPS_ERR:
		return true;
	case ROCE_QPS_RESET:
	case ROCE_QPS_INIT:
	case ROCE_QPS_RTR:
		break;
	}
	return false;
}

/* The guest's rings are not there: nothing can be completed properly any more. */
static void break_qp(struct erdma_qp *qp)
{
	struct roce_qp_attr attr = {.state = ROCE_QPS_ERR};
	struct erdma_nic *nic = qp->nic;

	sim_log(nic->dev, "QP %u: its rings are not in guest memory", qp->qpn);
	qp->broken = true;
	erdma_eq_push_async(nic, ERDMA_EVENT_QP_FATAL, qp->qpn);
	roce_qp_modify(qp->qp, sim_roce_now(nic->roce), &attr, ROCE_QP_STATE);
}

/* Fetches up to budget WQEs of one ring; true if it stopped for the budget alone. */
static bool fetch(struct erdma_qp *qp, const struct erdma_ring *ring, int (*one)(struct erdma_qp *),
		  unsigned int *budget)
{
	int err;

	while (!qp->broken && ring->fetched != ring->pi) {
		if (!*budget)
			return true;
		--*budget;
		err = one(qp);
		if (err == -EAGAIN)
			return false;
		if (err)
			break_qp(qp);
	}
	return false;
}

static bool fetch_sends(struct erdma_qp *qp, unsigned int *budget)
{
	return may_send(qp) && fetch(qp, &qp->sq, erdma_wqe_send, budget);
}

static bool fetch_receives(struct erdma_qp *qp, unsigned int *budget)
{
	return roce_qp_state(qp->qp) != ROCE_QPS_RESET &&
	       fetch(qp, &qp->rq, erdma_wqe_recv, budget);
}

int erdma_qp_sq_advance(struct erdma_qp *qp, uint16_t pi)
{
	unsigned int budget = ERDMA_FETCH_BUDGET;

	if ((uint16_t)(pi - qp->sq.fetched) > qp->sq.depth)
		return -EINVAL;
	qp->sq.pi = pi;
	if (fetch_sends(qp, &budget))
		erdma_qp_defer(qp);
	sim_roce_kick(qp->nic->roce);
	return 0;
}

int erdma_qp_rq_advance(struct erdma_qp *qp, uint16_t pi)
{
	unsigned int budget = ERDMA_FETCH_BUDGET;

	if ((uint16_t)(pi - qp->rq.fetched) > qp->rq.depth)
		return -EINVAL;
	qp->rq.pi = pi;
	if (fetch_receives(qp, &budget))
		erdma_qp_defer(qp);
	/* In ERR a receive is flushed at once, and a receiver that was not ready is now. */
	sim_roce_kick(qp->nic->roce);
	return 0;
}

void erdma_qp_defer(struct erdma_qp *qp)
{
	if (qp->queued)
		return;
	qp->queued = true;
	TAILQ_INSERT_TAIL(&qp->nic->work, qp, work);
	erdma_nic_defer(qp->nic);
}

bool erdma_qp_run(struct erdma_nic *nic)
{
	unsigned int total = ERDMA_TURN_BUDGET, budget, before;
	struct erdma_qp *qp;
	bool more;

	while (total && (qp = TAILQ_FIRST(&nic->work))) {
		TAILQ_REMOVE(&nic->work, qp, work);
		qp->queued = false;
		before = budget = least(total, ERDMA_FETCH_BUDGET);
		more = fetch_receives(qp, &budget);
		more |= fetch_sends(qp, &budget);
		/* A QP that had nothing to fetch costs a little too. */
		total -= before == budget ? 1 : before - budget;
		if (more)
			erdma_qp_defer(qp);
	}
	sim_roce_kick(nic->roce);
	return !TAILQ_EMPTY(&nic->work);
}
