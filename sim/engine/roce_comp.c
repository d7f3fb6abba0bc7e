// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completer: what ACKs, NAKs, READ responses and timers mean for the work that was sent. Owns
 * qp->comp and the order of completions. Sends nothing itself: it tells the requester where to
 * go on (go-back-N).
 *
 * An acknowledgement is placed by its PSN, una <= psn < max_psn; anything else is stale, a copy,
 * or a ghost, and is ignored (IBTA 9.7.6.1).
 */
#include "sim/engine/roce_engine.h"

#include <string.h>

/* IBTA table 45, in units of 10 us. */
static const uint32_t rnr_delay[32] = {
	65536, 1,    2,	   3,	 4,    6,     8,     12,    16,	   24,	  32,
	48,    64,   96,   128,	 192,  256,   384,   512,   768,   1024,  1536,
	2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
};

/* ------------------------------------------------------------------- timers */

static void ack_timeout(struct roce_timer *timer);
static void rnr_over(struct roce_timer *timer);

void roce_comp_init(struct roce_qp *qp)
{
	qp->comp = (struct roce_comp){
		.ack_timer.fire = ack_timeout,
		.rnr_timer.fire = rnr_over,
	};
}

void roce_comp_stop(struct roce_qp *qp)
{
	roce_timer_cancel(&qp->nic->timers, &qp->comp.ack_timer);
	roce_timer_cancel(&qp->nic->timers, &qp->comp.rnr_timer);
}

/*
 * 4.096 us * 2^timeout (IBTA 9.7.6.1.3); 0 is no timeout. Longer each time that nothing came of
 * it: a peer that is only slow must not be given the same work again and again.
 */
static void arm(struct roce_qp *qp)
{
	struct roce_nic *nic = qp->nic;

	if (qp->attr.timeout)
		roce_timer_arm(&nic->timers, &qp->comp.ack_timer,
			       nic->now + (4096ull << qp->attr.timeout << qp->comp.backoff));
}

void roce_comp_asked(struct roce_qp *qp)
{
	if (!roce_timer_armed(&qp->comp.ack_timer))
		arm(qp);
}

/* Is an answer due? Packets that asked for none may stay unanswered as long as they like. */
static bool answer_due(const struct roce_qp *qp)
{
	uint32_t asked = roce_psn_distance(qp->comp.una, qp->req.asked);

	return asked && asked <= roce_psn_distance(qp->comp.una, qp->req.max_psn);
}

/*
 * Go-back-N sends the whole window again for one lost packet, so losses make it small, as TCP's
 * (RFC 5681). It begins full: nothing is lost where nothing is wrong.
 */
static void close_window(struct roce_qp *qp, bool silence)
{
	struct roce_req *req = &qp->req;
	uint32_t half = req->window / 2;

	req->safe = half > ROCE_WINDOW_LEAST ? half : ROCE_WINDOW_LEAST;
	/* One request asks whether anyone is there; all of them would only delay the answer. */
	req->window = silence ? 1 : req->safe;
}

static void open_window(struct roce_qp *qp)
{
	struct roce_req *req = &qp->req;
	uint32_t full = roce_req_full_window(qp);

	req->window += req->window < req->safe ? req->window : ROCE_WINDOW_STEP;
	if (req->window > full)
		req->window = full;
}

/* The oldest request got on: the retry counts begin anew (IBTA 9.9.2). */
static void progress(struct roce_qp *qp)
{
	qp->comp.retries = qp->attr.retry_cnt;
	qp->comp.rnr_retries = qp->attr.rnr_retry;
	qp->comp.implied = false;
	qp->comp.backoff = 0;
	open_window(qp);
	/* What we waited with was taken after all. */
	roce_timer_cancel(&qp->nic->timers, &qp->comp.rnr_timer);
	if (answer_due(qp))
		arm(qp);
	else
		roce_timer_cancel(&qp->nic->timers, &qp->comp.ack_timer);
	roce_qp_wake(qp);
}

/* --------------------------------------------------------------- completing */

void roce_comp_check_drained(struct roce_qp *qp)
{
	if (qp->state != ROCE_QPS_SQD || !qp->comp.draining)
		return;
	if (roce_queue_count(&qp->sq) && roce_qp_sqe(qp, qp->sq.tail)->state != ROCE_SQE_POSTED)
		return;
	qp->comp.draining = false;
	if (qp->attr.en_sqd_async_notify)
		roce_qp_event(qp, ROCE_EVENT_SQ_DRAINED);
}

bool roce_comp_retire(struct roce_qp *qp)
{
	while (roce_queue_count(&qp->sq)) {
		const struct roce_sqe *sqe = roce_qp_sqe(qp, qp->sq.tail);

		if (sqe->state == ROCE_SQE_FAILED) {
			roce_qp_fail_send(qp, sqe->status);
			return false;
		}
		if (sqe->state != ROCE_SQE_DONE)
			break;
		if (!roce_qp_complete_send(qp, ROCE_WC_SUCCESS))
			return false;
	}
	roce_comp_check_drained(qp);
	return true;
}

/* What acknowledging everything before a PSN came to. */
enum reach {
	REACHED,
	MISSING, /* a READ or atomic before it has had no response: implied NAK */
	ENDED,	 /* the QP is in ERR */
};

/* The oldest WR is done. */
static bool finish(struct roce_qp *qp, struct roce_sqe *sqe)
{
	bool invalidate = sqe->opcode == ROCE_WR_READ_INV;

	qp->comp.una = roce_sqe_end(sqe);
	if (invalidate && roce_mr_invalidate(qp->nic, sqe->imm, qp->pdn) != 0) {
		roce_qp_fail_send(qp, ROCE_WC_LOC_PROT_ERR);
		return false;
	}
	return roce_qp_complete_send(qp, ROCE_WC_SUCCESS) && roce_comp_retire(qp);
}

/* Requests before psn, which is in [una, max_psn], are acknowledged (coalesced, IBTA 9.7.5.1). */
static enum reach reach(struct roce_qp *qp, uint32_t psn)
{
	struct roce_comp *comp = &qp->comp;
	uint32_t before = comp->una;

	while (comp->una != psn) {
		struct roce_sqe *sqe = roce_qp_sqe(qp, qp->sq.tail);
		uint32_t left = roce_psn_distance(comp->una, roce_sqe_end(sqe));

		if (roce_sqe_wants_response(sqe))
			break;
		if (left > roce_psn_distance(comp->una, psn))
			comp->una = psn;
		else if (!finish(qp, sqe))
			return ENDED;
	}
	if (comp->una != before)
		progress(qp);
	return comp->una == psn ? REACHED : MISSING;
}

/* The requester need not send again what is acknowledged by now. */
static void skip_acknowledged(struct roce_qp *qp)
{
	uint32_t behind = roce_psn_distance(qp->req.psn, qp->req.max_psn);

	if (behind > roce_psn_distance(qp->comp.una, qp->req.max_psn))
		roce_req_restart(qp);
}

/* ----------------------------------------------------------------- retrying */

static void send_again(struct roce_qp *qp)
{
	qp->req.ask_ack = true;
	roce_req_restart(qp);
	roce_qp_wake(qp);
}

/* Goes back to una, if that may be tried once more (IBTA 9.9.2). */
static void retry(struct roce_qp *qp)
{
	roce_timer_cancel(&qp->nic->timers, &qp->comp.ack_timer);
	if (qp->comp.retries == 0) {
		qp->nic->counters.retry_exceeded++;
		roce_qp_fail_send(qp, ROCE_WC_RETRY_EXC_ERR);
		return;
	}
	qp->comp.retries--;
	send_again(qp);
}

static struct roce_qp *qp_of_ack_timer(struct roce_timer *timer)
{
	return (struct roce_qp *)((char *)timer - offsetof(struct roce_qp, comp.ack_timer));
}

static void ack_timeout(struct roce_timer *timer)
{
	struct roce_qp *qp = qp_of_ack_timer(timer);

	qp->nic->counters.local_ack_timeout_err++;
	qp->comp.implied = false;
	if (qp->comp.backoff < ROCE_MAX_BACKOFF)
		qp->comp.backoff++;
	close_window(qp, true);
	retry(qp);
}

static void rnr_over(struct roce_timer *timer)
{
	struct roce_qp *qp =
		(struct roce_qp *)((char *)timer - offsetof(struct roce_qp, comp.rnr_timer));

	roce_qp_wake(qp);
}

/*
 * A response is for a later request, so that to the READ or atomic at una was lost (IBTA
 * 9.7.5.1). Told once: what comes in behind it says the same of the same request.
 */
static void implied_nak(struct roce_qp *qp)
{
	if (qp->comp.implied)
		return;
	qp->comp.implied = true;
	qp->nic->counters.implied_nak_seq_err++;
	retry(qp);
}

/* -------------------------------------------------------------------- input */

/* Every response acknowledges all before it. False: it says no more, for now or for ever. */
static bool reach_or_retry(struct roce_qp *qp, uint32_t psn)
{
	enum reach reached = reach(qp, psn);

	if (reached == MISSING)
		implied_nak(qp);
	return reached == REACHED;
}

static void recv_ack(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	reach_or_retry(qp, roce_psn_add(pkt->psn, 1));
}

static void recv_rnr_nak(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	struct roce_comp *comp = &qp->comp;
	struct roce_nic *nic = qp->nic;

	nic->counters.rnr_nak_rx++;
	/* One wait at a time: a copy of the NAK costs no retry. */
	if (roce_timer_armed(&comp->rnr_timer))
		return;
	if (comp->rnr_retries == 0) {
		nic->counters.rnr_retry_exceeded++;
		roce_qp_fail_send(qp, ROCE_WC_RNR_RETRY_EXC_ERR);
		return;
	}
	if (comp->rnr_retries != ROCE_RNR_RETRY_INFINITE)
		comp->rnr_retries--;
	/*
	 * The request got there in order: what was tried again for other reasons was worth it. A slow
	 * peer's sequence NAKs, for what followed this request before, come after the next sending.
	 */
	comp->retries = qp->attr.retry_cnt;
	send_again(qp);
	roce_timer_cancel(&nic->timers, &comp->ack_timer);
	roce_timer_arm(&nic->timers, &comp->rnr_timer,
		       nic->now + 10000ull * rnr_delay[roce_aeth_value(pkt->syndrome)]);
}

/* Codes from 4 on are reserved or not of RC: such a packet says nothing. */
static const enum roce_wc_status nak_status[] = {
	[ROCE_AETH_NAK_INVALID & 31] = ROCE_WC_REM_INV_REQ_ERR,
	[ROCE_AETH_NAK_ACCESS & 31] = ROCE_WC_REM_ACCESS_ERR,
	[ROCE_AETH_NAK_OPERATION & 31] = ROCE_WC_REM_OP_ERR,
};

static void recv_nak(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	unsigned int code = roce_aeth_value(pkt->syndrome);
	bool rnr = roce_aeth_kind(pkt->syndrome) == ROCE_AETH_KIND_RNR_NAK;

	if (!rnr && code >= sizeof(nak_status) / sizeof(nak_status[0]))
		return;
	qp->nic->counters.rx_naks++;
	if (!reach_or_retry(qp, pkt->psn))
		return;
	if (rnr) {
		recv_rnr_nak(qp, pkt);
	} else if (code == 0) {
		qp->nic->counters.packet_seq_err++;
		if (qp->comp.una == qp->req.max_psn || roce_timer_armed(&qp->comp.rnr_timer))
			return;
		close_window(qp, false);
		retry(qp);
	} else {
		roce_qp_fail_send(qp, nak_status[code]);
	}
}

/* Stores the response's bytes; false: the WR failed, and the QP with it. */
static bool store(struct roce_qp *qp, const struct roce_sqe *sqe, uint32_t offset, const void *data,
		  uint32_t length)
{
	struct roce_nic *nic = qp->nic;
	struct roce_list list = {
		.sge = roce_queue_units(&qp->sq, &sqe->wqe),
		.num_sge = sqe->wqe.num_sge,
		.pdn = qp->pdn,
		.access = ROCE_ACCESS_LOCAL_WRITE,
	};

	nic->span.count = 0;
	if (offset == 0)
		qp->comp.cursor = (struct roce_cursor){0};
	roce_list_seek(&list, &qp->comp.cursor, offset);
	if (roce_list_map(nic, &list, &qp->comp.cursor, length) != 0) {
		roce_qp_fail_send(qp, ROCE_WC_LOC_PROT_ERR);
		return false;
	}
	roce_span_scatter(&nic->span, data);
	return true;
}

/*
 * FIRST and MIDDLE say "there is more", LAST and ONLY "there is not"; which of the two is not
 * held against the responder: after a retry from the middle both rounds' packets may come in.
 */
static bool read_fits(const struct roce_qp *qp, const struct roce_pkt *pkt, uint32_t left)
{
	uint32_t mtu = qp->attr.path_mtu;

	return left > mtu ? !roce_op_ends(pkt->op) && pkt->payload_length == mtu
			  : roce_op_ends(pkt->op) && pkt->payload_length == left;
}

static void recv_read(struct roce_qp *qp, struct roce_sqe *sqe, const struct roce_pkt *pkt)
{
	uint32_t at = roce_psn_distance(sqe->first_psn, pkt->psn);
	uint32_t offset = at * qp->attr.path_mtu;

	if (roce_wr_info[sqe->opcode].kind != ROCE_WRK_READ ||
	    !read_fits(qp, pkt, sqe->wqe.length - offset)) {
		roce_qp_fail_send(qp, ROCE_WC_BAD_RESP_ERR);
		return;
	}
	if (!store(qp, sqe, offset, pkt->payload, pkt->payload_length))
		return;
	if (at + 1 == sqe->packets) {
		if (!finish(qp, sqe))
			return;
	} else {
		qp->comp.una = roce_psn_add(pkt->psn, 1);
	}
	if (qp->req.read_psns)
		qp->req.read_psns--;
	progress(qp);
}

static void recv_atomic(struct roce_qp *qp, struct roce_sqe *sqe, const struct roce_pkt *pkt)
{
	uint64_t original = pkt->original;

	if (roce_wr_info[sqe->opcode].kind != ROCE_WRK_ATOMIC) {
		roce_qp_fail_send(qp, ROCE_WC_BAD_RESP_ERR);
		return;
	}
	if (!store(qp, sqe, 0, &original, sizeof(original)) || !finish(qp, sqe))
		return;
	if (qp->req.read_psns)
		qp->req.read_psns--;
	progress(qp);
}

static void recv_response(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	struct roce_sqe *sqe;

	/* A READ or atomic response acknowledges all before it, too (IBTA 9.7.5.1). */
	if (!reach_or_retry(qp, pkt->psn))
		return;
	sqe = roce_qp_sqe(qp, qp->sq.tail);
	if (pkt->op->kind == ROCE_KIND_READ_RESPONSE)
		recv_read(qp, sqe, pkt);
	else
		recv_atomic(qp, sqe, pkt);
}

/* Is it about something that was sent and not acknowledged? */
static bool in_window(const struct roce_qp *qp, const struct roce_pkt *pkt)
{
	uint32_t at = roce_psn_distance(qp->comp.una, pkt->psn);
	uint32_t sent = roce_psn_distance(qp->comp.una, qp->req.max_psn);

	if (at < sent)
		return true;
	/* A sequence NAK for the next PSN of all is an ACK of what was sent. */
	return at == sent && sent && pkt->op->kind == ROCE_KIND_ACK &&
	       pkt->syndrome == ROCE_AETH_NAK_SEQUENCE;
}

/* Already acknowledged, as far as can be told: an answer to something sent again. */
static bool is_behind(const struct roce_qp *qp, const struct roce_pkt *pkt)
{
	return roce_psn_distance(pkt->psn, qp->comp.una) <= ROCE_PSN_HALF;
}

/* The peer is at work, be it on what we do not need any more: the timer measures silence. */
static void hear(struct roce_qp *qp)
{
	if (roce_timer_armed(&qp->comp.ack_timer))
		arm(qp);
}

void roce_comp_input(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	struct roce_counters *counters = &qp->nic->counters;
	bool has_aeth = roce_op_has(pkt->op, ROCE_HDR_AETH);
	unsigned int kind = roce_aeth_kind(pkt->syndrome);

	if (!in_window(qp, pkt)) {
		if (is_behind(qp, pkt))
			hear(qp);
		return;
	}
	hear(qp);
	if (pkt->op->kind == ROCE_KIND_ACK) {
		if (kind == ROCE_AETH_KIND_ACK) {
			counters->rx_acks++;
			recv_ack(qp, pkt);
		} else if (kind == ROCE_AETH_KIND_NAK || kind == ROCE_AETH_KIND_RNR_NAK) {
			recv_nak(qp, pkt);
		}
	} else if (!has_aeth || kind == ROCE_AETH_KIND_ACK) {
		recv_response(qp, pkt);
	}
	if (qp->state != ROCE_QPS_ERR)
		skip_acknowledged(qp);
}
