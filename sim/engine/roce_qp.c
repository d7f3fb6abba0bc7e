// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Queue pairs: making, states, posting, and the end of work: completion and flush. Owns the QP's
 * life; knows nothing of packets.
 *
 *	RESET -> INIT -> RTR -> RTS <-> SQD         from any state to RESET and ERR
 *	                 receives  |
 *	                          SQE -> RTS        UC, UD: the send side alone failed
 *
 * Work ends in the order in which it was posted, whatever ends it: a WR that fails waits until
 * all before it are done, then takes the QP with it, and what is behind it is flushed.
 */
#include "sim/engine/roce_engine.h"

#include <errno.h>
#include <string.h>

/* ACK, RNR and pacing; room for them is reserved, so that arming one cannot fail. */
enum { QP_TIMERS = 3 };

/* A CQ or SRQ cannot be destroyed under a QP. */
static void use_queues(struct roce_qp *qp, bool use)
{
	uint32_t change = use ? 1 : UINT32_MAX;

	qp->send_cq->users += change;
	qp->recv_cq->users += change;
	if (qp->srq)
		qp->srq->users += change;
}

int roce_qp_create(struct roce_nic *nic, const struct roce_qp_init *init, struct roce_qp **out)
{
	struct roce_qp *qp;
	int ret = -ENOMEM;

	if (!init->send_cq || !init->recv_cq || init->type > ROCE_QPT_GSI)
		return -EINVAL;
	qp = roce_alloc(&nic->memory, sizeof(*qp));
	if (!qp)
		return -ENOMEM;
	qp->nic = nic;
	qp->context = init->context;
	qp->qpn = init->qpn;
	qp->pdn = init->pdn;
	qp->type = init->type;
	qp->sq_sig_all = init->sq_sig_all;
	qp->send_cq = init->send_cq;
	qp->recv_cq = init->recv_cq;
	qp->srq = init->srq;
	roce_queue_init(&qp->sq, &nic->memory, sizeof(struct roce_sqe), init->max_send_wr);
	roce_queue_init(&qp->rq, &nic->memory, sizeof(struct roce_wqe),
			init->srq ? 0 : init->max_recv_wr);
	if (init->srq) {
		qp->resp.srq_sge =
			roce_alloc(&nic->memory, ROCE_MAX_SGE * sizeof(*qp->resp.srq_sge));
		if (!qp->resp.srq_sge)
			goto undo_alloc;
	}
	ret = roce_timers_reserve(&nic->timers, QP_TIMERS);
	if (ret)
		goto undo_alloc;
	ret = roce_table_insert(&nic->qps, init->qpn, qp);
	if (ret)
		goto undo_timers;
	roce_comp_init(qp);
	roce_cc_init(qp);
	use_queues(qp, true);
	*out = qp;
	return 0;

undo_timers:
	roce_timers_release(&nic->timers, QP_TIMERS);
undo_alloc:
	roce_free(&nic->memory, qp->resp.srq_sge);
	roce_free(&nic->memory, qp);
	return ret;
}

static void run_remove(struct roce_qp *qp)
{
	if (!qp->run.next)
		return;
	qp->run.prev->next = qp->run.next;
	qp->run.next->prev = qp->run.prev;
	qp->run.next = qp->run.prev = NULL;
}

/* The class's part of a fast registration ends with the WR, also if that was never begun. */
static void free_reg(struct roce_qp *qp, const struct roce_sqe *sqe)
{
	struct roce_nic *nic = qp->nic;

	if ((sqe->opcode == ROCE_WR_REG_MR || sqe->opcode == ROCE_WR_BIND_MW) && sqe->reg &&
	    nic->env->reg_free)
		nic->env->reg_free(nic->ctx, sqe->reg);
}

/* As after creation. No completions, no events. */
static void qp_reset(struct roce_qp *qp)
{
	uint32_t i;

	run_remove(qp);
	roce_comp_stop(qp);
	roce_timer_cancel(&qp->nic->timers, &qp->cc.pace_timer);
	for (i = qp->sq.tail; i != qp->sq.head; i++)
		free_reg(qp, roce_qp_sqe(qp, i));
	roce_queue_clear(&qp->sq);
	roce_queue_clear(&qp->rq);
	roce_reply_finish(qp);
	roce_free(&qp->nic->memory, qp->resp.res);
	qp->resp = (struct roce_resp){.srq_sge = qp->resp.srq_sge};
	qp->req = (struct roce_req){0};
	roce_comp_init(qp);
	roce_cc_init(qp);
	qp->attr = (struct roce_qp_attr){0};
	qp->last_wqe_told = false;
	qp->state = ROCE_QPS_RESET;
}

void roce_qp_destroy(struct roce_qp *qp)
{
	struct roce_nic *nic = qp->nic;

	qp_reset(qp);
	use_queues(qp, false);
	roce_table_remove(&nic->qps, qp->qpn);
	roce_timers_release(&nic->timers, QP_TIMERS);
	roce_queue_fini(&qp->sq);
	roce_queue_fini(&qp->rq);
	roce_free(&nic->memory, qp->resp.srq_sge);
	roce_free(&nic->memory, qp);
}

struct roce_qp *roce_qp_find(const struct roce_nic *nic, uint32_t qpn)
{
	return roce_table_find(&nic->qps, qpn);
}

void *roce_qp_context(const struct roce_qp *qp)
{
	return qp->context;
}

uint32_t roce_qp_number(const struct roce_qp *qp)
{
	return qp->qpn;
}

enum roce_qp_state roce_qp_state(const struct roce_qp *qp)
{
	return qp->state;
}

uint32_t roce_qp_mtu(const struct roce_qp *qp)
{
	return qp->attr.path_mtu ? qp->attr.path_mtu : qp->nic->config.mtu;
}

/* To the end of the list: who has just had a turn waits for all others. */
void roce_qp_wake(struct roce_qp *qp)
{
	struct roce_link *list = &qp->nic->run;

	if (qp->run.next)
		return;
	qp->run.next = list;
	qp->run.prev = list->prev;
	list->prev->next = &qp->run;
	list->prev = &qp->run;
}

void roce_qp_event(struct roce_qp *qp, enum roce_event event)
{
	qp->nic->env->event(qp->nic->ctx, event, qp, NULL, NULL);
}

/* ------------------------------------------------------- completing, flushing */

static void count_send(struct roce_qp *qp, enum roce_wc_status status)
{
	if (status == ROCE_WC_WR_FLUSH_ERR)
		qp->nic->counters.req_cqe_flush++;
	else if (status != ROCE_WC_SUCCESS)
		qp->nic->counters.req_cqe_error++;
}

/* Returns 0, or -ENOSPC where the CQ has no room. */
static int report_send(struct roce_qp *qp, const struct roce_sqe *sqe, enum roce_wc_status status)
{
	struct roce_wc wc = {
		.wr_id = sqe->wqe.wr_id,
		.qp = qp,
		.status = status,
		.opcode = ROCE_WC_SEND,
		.wr_opcode = sqe->opcode,
		.byte_len = sqe->wqe.length,
		.vlan = ROCE_NO_VLAN,
		.signaled = qp->sq_sig_all || sqe->flags & ROCE_WR_SIGNALED ||
			    status != ROCE_WC_SUCCESS,
	};

	count_send(qp, status);
	if (!wc.signaled && !qp->nic->config.report_unsignaled)
		return 0;
	return roce_cq_complete(qp->send_cq, &wc);
}

/* The oldest send WR leaves the queue. */
static int retire_send(struct roce_qp *qp, enum roce_wc_status status)
{
	struct roce_sqe sqe = *roce_qp_sqe(qp, qp->sq.tail);
	int ret;

	/* The place is free before the class hears of it: it may count on that. */
	roce_queue_pop(&qp->sq);
	ret = report_send(qp, &sqe, status);
	free_reg(qp, &sqe);
	return ret;
}

bool roce_qp_complete_send(struct roce_qp *qp, enum roce_wc_status status)
{
	if (roce_sqe_wants_response(roce_qp_sqe(qp, qp->sq.tail)))
		qp->req.rd_atomic--;
	if (retire_send(qp, status) == 0)
		return true;
	roce_qp_enter_error(qp, false);
	return false;
}

/* Signaled or not, all are told of (IBTA 10.3.1.7). */
static void flush_send(struct roce_qp *qp)
{
	while (roce_queue_count(&qp->sq))
		retire_send(qp, ROCE_WC_WR_FLUSH_ERR);
	qp->req.cur = qp->sq.head;
	qp->req.rd_atomic = 0;
	qp->req.read_psns = 0;
}

/* No more receive WRs will be taken from the SRQ (IBTA 10.3.1.7, 11.6.3). */
static void tell_last_wqe(struct roce_qp *qp)
{
	if (!qp->srq || qp->last_wqe_told)
		return;
	qp->last_wqe_told = true;
	roce_qp_event(qp, ROCE_EVENT_QP_LAST_WQE);
}

void roce_qp_enter_error(struct roce_qp *qp, bool closing)
{
	if (qp->state == ROCE_QPS_ERR || qp->state == ROCE_QPS_RESET)
		return;
	/* First of all: what is called from here must find the QP closed. */
	qp->state = ROCE_QPS_ERR;
	roce_comp_stop(qp);
	if (!closing)
		roce_reply_finish(qp);
	flush_send(qp);
	roce_rq_flush(qp);
	tell_last_wqe(qp);
}

void roce_qp_fail_send(struct roce_qp *qp, enum roce_wc_status status)
{
	bool full = retire_send(qp, status) != 0;

	/* Only the send side of UC and UD stops (IBTA 10.3.1.6); RC is over. */
	if (qp->type == ROCE_QPT_RC || full || qp->state != ROCE_QPS_RTS) {
		roce_qp_enter_error(qp, false);
		return;
	}
	qp->state = ROCE_QPS_SQE;
	flush_send(qp);
}

/* ------------------------------------------------------------------- modify */

/* Responder resources. What was to be answered or kept is forgotten. */
static int make_resources(struct roce_qp *qp, uint32_t count)
{
	struct roce_res *res = NULL;
	uint32_t places = 1;

	if (count == qp->resp.size)
		return 0;
	/* New ones while the oldest kept is being answered again do not reach round to it. */
	while (places <= 2 * count)
		places *= 2;
	if (count) {
		res = roce_alloc(&qp->nic->memory, places * sizeof(*res));
		if (!res)
			return -ENOMEM;
	}
	roce_reply_clear(qp);
	roce_free(&qp->nic->memory, qp->resp.res);
	qp->resp.res = res;
	qp->resp.places = places;
	qp->resp.size = count;
	return 0;
}

/* The headers below the BTH are the same in each packet: made once, copied from then on. */
static void apply_path(struct roce_qp *qp)
{
	if (!roce_nic_path(qp->nic, &qp->attr.av, qp->qpn, qp->attr.dest_qpn, &qp->path))
		return;
	roce_template_init(&qp->req.template, &qp->path);
	roce_template_init(&qp->resp.template, &qp->path);
}

static void apply_numbers(struct roce_qp_attr *to, const struct roce_qp_attr *from, uint32_t mask)
{
#define TAKE(bit, field)          \
	if (mask & ROCE_QP_##bit) \
	to->field = from->field
	TAKE(ACCESS, access);
	TAKE(PKEY_INDEX, pkey_index);
	TAKE(QKEY, qkey);
	TAKE(AV, av);
	TAKE(PATH_MTU, path_mtu);
	TAKE(TIMEOUT, timeout);
	TAKE(RETRY_CNT, retry_cnt);
	TAKE(RNR_RETRY, rnr_retry);
	TAKE(RQ_PSN, rq_psn);
	TAKE(SQ_PSN, sq_psn);
	TAKE(MAX_RD_ATOMIC, max_rd_atomic);
	TAKE(MAX_DEST_RD_ATOMIC, max_dest_rd_atomic);
	TAKE(MIN_RNR_TIMER, min_rnr_timer);
	TAKE(DEST_QPN, dest_qpn);
	TAKE(EN_SQD_ASYNC_NOTIFY, en_sqd_async_notify);
	TAKE(RATE_LIMIT, rate_limit_bps);
#undef TAKE
}

static void apply_state(struct roce_qp *qp, enum roce_qp_state to)
{
	enum roce_qp_state from = qp->state;

	qp->state = to;
	if (to == from)
		return;
	if (to == ROCE_QPS_SQD) {
		qp->comp.draining = true;
		roce_comp_check_drained(qp);
	} else if (to == ROCE_QPS_RTS) {
		qp->comp.draining = false;
		roce_qp_wake(qp);
	}
}

int roce_qp_modify(struct roce_qp *qp, uint64_t now, const struct roce_qp_attr *attr, uint32_t mask)
{
	enum roce_qp_state to = mask & ROCE_QP_STATE ? attr->state : qp->state;
	int ret = roce_qp_modify_check(qp, attr, mask);

	roce_nic_tick(qp->nic, now);
	if (ret)
		return ret;
	if (to == ROCE_QPS_RESET) {
		qp_reset(qp);
		return 0;
	}
	if (to == ROCE_QPS_ERR) {
		roce_qp_enter_error(qp, false);
		qp->state = ROCE_QPS_ERR;
		return 0;
	}
	/* The only step that can fail comes before anything is changed. */
	if (mask & ROCE_QP_MAX_DEST_RD_ATOMIC) {
		ret = make_resources(qp, attr->max_dest_rd_atomic);
		if (ret)
			return ret;
	}
	apply_numbers(&qp->attr, attr, mask);
	if (mask & ROCE_QP_RQ_PSN)
		qp->resp.epsn = attr->rq_psn;
	if (mask & ROCE_QP_SQ_PSN)
		roce_req_set_psn(qp, attr->sq_psn);
	if (mask & ROCE_QP_AV)
		apply_path(qp);
	if (mask & (ROCE_QP_RETRY_CNT | ROCE_QP_RNR_RETRY)) {
		qp->comp.retries = qp->attr.retry_cnt;
		qp->comp.rnr_retries = qp->attr.rnr_retry;
	}
	apply_state(qp, to);
	return 0;
}

void roce_qp_query(const struct roce_qp *qp, struct roce_qp_attr *attr)
{
	*attr = qp->attr;
	attr->state = qp->state;
	attr->sq_psn = qp->req.max_psn;
	attr->rq_psn = qp->resp.epsn;
	attr->sq_draining = qp->state == ROCE_QPS_SQD && qp->comp.draining;
}

/* ------------------------------------------------------------------ posting */

static bool send_allowed(const struct roce_qp *qp, const struct roce_send_wr *wr)
{
	const struct roce_wr_info *info;

	if (qp->state < ROCE_QPS_RTS || wr->opcode >= ROCE_WR_OPCODE_COUNT)
		return false;
	info = &roce_wr_info[wr->opcode];
	if (!(info->types & 1u << qp->type))
		return false;
	if (wr->flags & ROCE_WR_INLINE)
		return info->kind == ROCE_WRK_MESSAGE && wr->inline_length <= ROCE_MAX_INLINE;
	return wr->num_sge <= ROCE_MAX_SGE;
}

static void fill_operands(struct roce_sqe *sqe, const struct roce_send_wr *wr, bool datagram)
{
	if (datagram) {
		sqe->ud.av = wr->ud.av;
		sqe->ud.dest_qpn = wr->ud.dest_qpn & ROCE_ID_MAX;
		sqe->ud.qkey = wr->ud.qkey;
		return;
	}
	if (roce_wr_info[wr->opcode].kind == ROCE_WRK_LOCAL) {
		sqe->reg = wr->reg;
		return;
	}
	sqe->remote_addr = wr->remote_addr;
	sqe->rkey = wr->rkey;
	sqe->compare_add = wr->compare_add;
	sqe->swap = wr->swap;
}

static void fill_sqe(struct roce_qp *qp, struct roce_sqe *sqe, const struct roce_send_wr *wr)
{
	sqe->wqe.wr_id = wr->wr_id;
	sqe->opcode = (uint8_t)wr->opcode;
	sqe->flags = (uint8_t)wr->flags;
	sqe->state = ROCE_SQE_POSTED;
	sqe->status = ROCE_WC_SUCCESS;
	sqe->packets = 0;
	sqe->imm = wr->imm;
	if (wr->flags & ROCE_WR_INLINE) {
		sqe->wqe.num_sge = 0;
		sqe->wqe.length = wr->inline_length;
		if (wr->inline_length)
			memcpy(roce_queue_units(&qp->sq, &sqe->wqe), wr->inline_data,
			       wr->inline_length);
	} else {
		sqe->wqe.num_sge = wr->num_sge;
		sqe->wqe.length = 0;
		if (wr->num_sge)
			memcpy(roce_queue_units(&qp->sq, &sqe->wqe), wr->sge,
			       wr->num_sge * sizeof(*wr->sge));
	}
	fill_operands(sqe, wr, roce_qp_service(qp) == ROCE_SERVICE_UD);
}

int roce_post_send(struct roce_qp *qp, uint64_t now, const struct roce_send_wr *wr)
{
	uint32_t units = wr->flags & ROCE_WR_INLINE
				 ? (wr->inline_length + (uint32_t)sizeof(struct roce_sge) - 1) /
					   (uint32_t)sizeof(struct roce_sge)
				 : wr->num_sge;
	struct roce_sqe *sqe;

	roce_nic_tick(qp->nic, now);
	if (!send_allowed(qp, wr))
		return -EINVAL;
	sqe = (struct roce_sqe *)roce_queue_push(&qp->sq, units);
	if (!sqe)
		return -ENOMEM;
	fill_sqe(qp, sqe, wr);
	/* Queued first, so that a flush is told of in the same way whenever it happens. */
	if (qp->state == ROCE_QPS_ERR || qp->state == ROCE_QPS_SQE)
		flush_send(qp);
	else
		roce_qp_wake(qp);
	return 0;
}

int roce_post_recv(struct roce_qp *qp, uint64_t now, const struct roce_recv_wr *wr)
{
	int ret;

	roce_nic_tick(qp->nic, now);
	if (qp->state == ROCE_QPS_RESET || qp->srq)
		return -EINVAL;
	ret = roce_rq_push(&qp->rq, wr);
	if (ret)
		return ret;
	if (qp->state == ROCE_QPS_ERR)
		roce_rq_flush(qp);
	return 0;
}

uint32_t roce_qp_send_outstanding(const struct roce_qp *qp)
{
	return roce_queue_count(&qp->sq);
}

uint32_t roce_qp_recv_outstanding(const struct roce_qp *qp)
{
	return roce_queue_count(&qp->rq);
}
