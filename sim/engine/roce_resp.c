// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Responder of RC and UC: checks a request in the order of IBTA 9.7.4.1, does what it asks, and
 * says what is to be answered. Owns qp->resp but for the responses (roce_reply.c).
 *
 * Each state is a function that returns the next one; an error state is a row that says what
 * becomes of the message, the receive WR and the QP.
 */
#include "sim/engine/roce_engine.h"

#include <errno.h>
#include <string.h>

/* Checks and steps, in order. The first three: 9.7.4.1.1 to 9.7.4.1.3. */
#define STEPS(X)                                                                    \
	X(PSN, check_psn)	    /* expected, ahead, or old */                   \
	X(SEQUENCE, check_sequence) /* goes on with, or after, the packet before */ \
	X(SUPPORT, check_support)   /* the QP allows the operation */               \
	X(LENGTH, check_length)	    /* against MTU and place in the message */      \
	X(RESOURCE, check_resource) /* a receive WR, a responder resource */        \
	X(RIGHTS, check_rights)	    /* R_Key, bounds */                             \
	X(EXECUTE, execute)                                                         \
	X(FINISH, finish)                                                           \
	X(DUPLICATE, duplicate)

/* Errors (9.9.3): name, NAK, status of the receive WR in use, event if there is none. */
#define ERRORS(X)                                             \
	X(INVALID, NAK_INVALID, REM_INV_REQ_ERR, QP_REQ_ERR)  \
	X(ACCESS, NAK_ACCESS, REM_ACCESS_ERR, QP_ACCESS_ERR)  \
	X(OPERATION, NAK_OPERATION, REM_OP_ERR, QP_FATAL)     \
	X(LOCAL_LENGTH, NAK_INVALID, LOC_LEN_ERR, QP_REQ_ERR) \
	X(LOCAL_PROTECTION, NAK_OPERATION, LOC_PROT_ERR, QP_ACCESS_ERR)

enum rsp {
#define X(name, function) RSP_##name,
	STEPS(X)
#undef X
#define X(name, ...) RSP_##name,
		ERRORS(X)
#undef X
			RSP_SEQUENCE_NAK,
	RSP_RNR_NAK,
	RSP_DROP,
	RSP_DONE,
};

typedef enum rsp (*rsp_fn)(struct roce_qp *qp, const struct roce_pkt *pkt);

/* ------------------------------------------------------------------- checks */

/* UC: a gap ends the message; the next one may begin with any PSN (IBTA 9.8.2). */
static enum rsp check_psn_uc(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	struct roce_resp *resp = &qp->resp;

	if (pkt->psn != resp->epsn) {
		qp->nic->counters.out_of_sequence++;
		resp->message = ROCE_MSG_NONE;
		resp->dropping = true;
	}
	if (roce_op_starts(pkt->op)) {
		resp->dropping = false;
		resp->message = ROCE_MSG_NONE;
	}
	resp->epsn = roce_psn_add(pkt->psn, 1);
	if (resp->dropping)
		roce_drop_count(&qp->nic->counters, ROCE_DROP_PSN);
	return resp->dropping ? RSP_DONE : RSP_SEQUENCE;
}

static enum rsp check_psn(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	uint32_t ahead = roce_psn_distance(qp->resp.epsn, pkt->psn);

	if (qp->type == ROCE_QPT_UC)
		return check_psn_uc(qp, pkt);
	if (ahead >= ROCE_PSN_HALF)
		return RSP_DUPLICATE;
	return ahead ? RSP_SEQUENCE_NAK : RSP_SEQUENCE;
}

static enum roce_resp_message message_of(const struct roce_op *op)
{
	switch (op->kind) {
	case ROCE_KIND_SEND:
		return ROCE_MSG_SEND;
	case ROCE_KIND_WRITE:
		return ROCE_MSG_WRITE;
	default:
		return ROCE_MSG_NONE;
	}
}

static enum rsp check_sequence(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	/* It is the expected packet: the gap, if there was one, is closed. */
	qp->resp.nak_sent = false;
	if (roce_op_starts(pkt->op))
		return qp->resp.message == ROCE_MSG_NONE ? RSP_SUPPORT : RSP_INVALID;
	return qp->resp.message == message_of(pkt->op) ? RSP_SUPPORT : RSP_INVALID;
}

/* What the QP must have been given for an operation (IBTA 11.2.5.2, remote access). */
static const uint32_t needed[ROCE_KIND_COUNT] = {
	[ROCE_KIND_WRITE] = ROCE_ACCESS_REMOTE_WRITE,
	[ROCE_KIND_READ_REQUEST] = ROCE_ACCESS_REMOTE_READ,
	[ROCE_KIND_CMP_SWAP] = ROCE_ACCESS_REMOTE_ATOMIC,
	[ROCE_KIND_FETCH_ADD] = ROCE_ACCESS_REMOTE_ATOMIC,
};

static enum rsp check_support(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	uint32_t access = needed[pkt->op->kind];

	return (qp->attr.access & access) == access ? RSP_LENGTH : RSP_INVALID;
}

static bool write_length_fits(const struct roce_qp *qp, const struct roce_pkt *pkt)
{
	bool starts = roce_op_starts(pkt->op);
	uint32_t left = starts ? pkt->dma_length : qp->resp.write.remaining;

	if (left > 1u << ROCE_MAX_MESSAGE_LOG)
		return false;
	return roce_op_ends(pkt->op) ? pkt->payload_length == left : pkt->payload_length < left;
}

static enum rsp check_length(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	uint32_t mtu = qp->attr.path_mtu;

	switch (pkt->op->kind) {
	case ROCE_KIND_CMP_SWAP:
	case ROCE_KIND_FETCH_ADD:
		return pkt->va % sizeof(uint64_t) == 0 ? RSP_RESOURCE : RSP_INVALID;
	case ROCE_KIND_READ_REQUEST:
		return pkt->dma_length <= 1u << ROCE_MAX_MESSAGE_LOG ? RSP_RESOURCE : RSP_INVALID;
	case ROCE_KIND_WRITE:
		if (!write_length_fits(qp, pkt))
			return RSP_INVALID;
		break;
	default:
		break;
	}
	if (pkt->payload_length > mtu)
		return RSP_INVALID;
	/* Only the last packet of a message may be short, and only a whole message empty. */
	if (!roce_op_ends(pkt->op) && pkt->payload_length != mtu)
		return RSP_INVALID;
	if (pkt->op->position == ROCE_POSITION_LAST && pkt->payload_length == 0)
		return RSP_INVALID;
	return RSP_RESOURCE;
}

/* Does the packet use up a receive WR? */
static bool uses_rqe(const struct roce_op *op)
{
	return op->kind == ROCE_KIND_SEND || roce_op_has(op, ROCE_HDR_IMM);
}

static bool wants_response(enum roce_op_kind kind)
{
	return kind == ROCE_KIND_READ_REQUEST || kind == ROCE_KIND_CMP_SWAP ||
	       kind == ROCE_KIND_FETCH_ADD;
}

static enum rsp check_resource(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	struct roce_resp *resp = &qp->resp;
	enum roce_op_kind kind = pkt->op->kind;

	if (wants_response(kind))
		return resp->unanswered < resp->size ? RSP_RIGHTS : RSP_INVALID;
	if (!uses_rqe(pkt->op))
		return RSP_RIGHTS;
	if (!roce_rq_take(qp))
		return RSP_RNR_NAK;
	if (kind == ROCE_KIND_SEND && roce_op_starts(pkt->op)) {
		resp->received = 0;
		resp->cursor = (struct roce_cursor){0};
	}
	return RSP_RIGHTS;
}

static bool granted(struct roce_qp *qp, const struct roce_pkt *pkt, uint64_t length)
{
	struct roce_want want = {
		.key = pkt->rkey,
		.pdn = qp->pdn,
		.access = needed[pkt->op->kind],
		.va = pkt->va,
		.length = length,
	};

	qp->resp.write.mr = roce_mr_check(qp->nic, &want);
	qp->resp.write.epoch = qp->nic->mr_epoch;
	return qp->resp.write.mr;
}

/* The region may have been taken back between two packets of a message. */
static bool still_granted(struct roce_qp *qp)
{
	struct roce_resp *resp = &qp->resp;
	struct roce_want want = {
		.key = resp->write.rkey,
		.pdn = qp->pdn,
		.access = ROCE_ACCESS_REMOTE_WRITE,
		.va = resp->write.va,
		.length = resp->write.remaining,
	};

	if (resp->write.epoch == qp->nic->mr_epoch)
		return true;
	resp->write.mr = roce_mr_check(qp->nic, &want);
	resp->write.epoch = qp->nic->mr_epoch;
	return resp->write.mr;
}

/* An operation of no bytes names no memory: its R_Key is not looked at (IBTA 9.7.4.1). */
static enum rsp check_rights(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	struct roce_resp *resp = &qp->resp;

	switch (pkt->op->kind) {
	case ROCE_KIND_CMP_SWAP:
	case ROCE_KIND_FETCH_ADD:
		return granted(qp, pkt, sizeof(uint64_t)) ? RSP_EXECUTE : RSP_ACCESS;
	case ROCE_KIND_READ_REQUEST:
		if (pkt->dma_length && !granted(qp, pkt, pkt->dma_length))
			return RSP_ACCESS;
		return RSP_EXECUTE;
	case ROCE_KIND_WRITE:
		break;
	default:
		return RSP_EXECUTE;
	}
	if (!roce_op_starts(pkt->op))
		return still_granted(qp) ? RSP_EXECUTE : RSP_ACCESS;
	resp->write.va = pkt->va;
	resp->write.rkey = pkt->rkey;
	resp->write.length = resp->write.remaining = pkt->dma_length;
	if (pkt->dma_length && !granted(qp, pkt, pkt->dma_length))
		return RSP_ACCESS;
	return RSP_EXECUTE;
}

/* ------------------------------------------------------------------ execution */

static enum rsp execute_send(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	struct roce_list list = roce_rq_list(qp);
	int ret;

	qp->nic->span.count = 0;
	ret = roce_list_map(qp->nic, &list, &qp->resp.cursor, pkt->payload_length);
	if (ret)
		return ret == -EMSGSIZE ? RSP_LOCAL_LENGTH : RSP_LOCAL_PROTECTION;
	roce_span_scatter(&qp->nic->span, pkt->payload);
	qp->resp.received += pkt->payload_length;
	return RSP_FINISH;
}

static enum rsp execute_write(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	struct roce_resp *resp = &qp->resp;
	uint32_t length = pkt->payload_length;

	if (length) {
		qp->nic->span.count = 0;
		if (roce_mr_map(qp->nic, resp->write.mr, resp->write.va, length, true) != 0)
			return RSP_OPERATION;
		roce_span_scatter(&qp->nic->span, pkt->payload);
		resp->write.va += length;
		resp->write.remaining -= length;
	}
	return RSP_FINISH;
}

/* Begun here, answered in turn by roce_reply_step(). */
static enum rsp execute_read(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	uint32_t mtu = qp->attr.path_mtu;
	struct roce_res *res = roce_reply_new(qp);

	res->first_psn = pkt->psn;
	res->packets = pkt->dma_length ? (pkt->dma_length - 1) / mtu + 1 : 1;
	res->va = pkt->va;
	res->rkey = pkt->rkey;
	res->length = pkt->dma_length;
	return RSP_FINISH;
}

/* Atomic also against the guest's processors (IBTA 9.4.5). */
static uint64_t do_atomic(uint64_t *at, const struct roce_pkt *pkt)
{
	uint64_t original = pkt->compare;

	if (pkt->op->kind == ROCE_KIND_FETCH_ADD)
		return __atomic_fetch_add(at, pkt->swap_add, __ATOMIC_SEQ_CST);
	__atomic_compare_exchange_n(at, &original, pkt->swap_add, false, __ATOMIC_SEQ_CST,
				    __ATOMIC_SEQ_CST);
	return original;
}

static enum rsp execute_atomic(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	struct roce_span *span = &qp->nic->span;
	struct roce_res *res;

	span->count = 0;
	if (roce_mr_map(qp->nic, qp->resp.write.mr, pkt->va, sizeof(uint64_t), true) != 0)
		return RSP_OPERATION;
	if (span->count != 1 || (uintptr_t)span->iov[0].iov_base % sizeof(uint64_t))
		return RSP_OPERATION;
	res = roce_reply_new(qp);
	res->atomic = true;
	res->first_psn = pkt->psn;
	res->packets = 1;
	res->original = do_atomic(span->iov[0].iov_base, pkt);
	return RSP_FINISH;
}

static const rsp_fn executors[ROCE_KIND_COUNT] = {
	[ROCE_KIND_SEND] = execute_send,	 [ROCE_KIND_WRITE] = execute_write,
	[ROCE_KIND_READ_REQUEST] = execute_read, [ROCE_KIND_CMP_SWAP] = execute_atomic,
	[ROCE_KIND_FETCH_ADD] = execute_atomic,
};

static enum rsp execute(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	enum rsp next = executors[pkt->op->kind](qp, pkt);

	/* Invalidated before the receive completes: who sees the completion may count on it. */
	if (next == RSP_FINISH && roce_op_has(pkt->op, ROCE_HDR_IETH) &&
	    roce_mr_invalidate(qp->nic, pkt->inv_key, qp->pdn) != 0)
		return RSP_ACCESS;
	return next;
}

static enum roce_wc_opcode recv_opcode(const struct roce_op *op)
{
	if (op->kind == ROCE_KIND_WRITE)
		return ROCE_WC_RECV_WRITE_IMM;
	if (roce_op_has(op, ROCE_HDR_IMM))
		return ROCE_WC_RECV_IMM;
	return roce_op_has(op, ROCE_HDR_IETH) ? ROCE_WC_RECV_INV : ROCE_WC_RECV;
}

static int complete_receive(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	struct roce_wc wc = {
		.status = ROCE_WC_SUCCESS,
		.opcode = recv_opcode(pkt->op),
		.byte_len = pkt->op->kind == ROCE_KIND_WRITE ? qp->resp.write.length
							     : qp->resp.received,
		.imm = pkt->imm,
		.inv_key = pkt->inv_key,
		.src_qp = qp->attr.dest_qpn,
		.vlan = ROCE_NO_VLAN,
		.solicited = pkt->solicited,
	};

	return roce_rq_complete(qp, &wc);
}

/* An answer is due where it is asked for, and now and then (IBTA 9.7.5.1). */
static void acknowledge(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	uint32_t every = qp->nic->config.ack_every;

	if (pkt->ack_req || (every && ++qp->resp.unacked >= every))
		roce_reply_ack(qp, ROCE_AETH_ACK, pkt->psn);
}

static enum rsp finish(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	struct roce_resp *resp = &qp->resp;
	bool ends = roce_op_ends(pkt->op);
	bool rc = qp->type == ROCE_QPT_RC;

	resp->message = ends ? ROCE_MSG_NONE : message_of(pkt->op);
	/* Counts messages, not packets (C9-147). */
	if (ends && rc)
		resp->msn = roce_psn_add(resp->msn, 1);
	if (wants_response(pkt->op->kind)) {
		struct roce_res *res = roce_reply_find(qp, pkt->psn);

		resp->epsn = roce_psn_add(pkt->psn, res->packets);
		res->msn = resp->msn;
		return RSP_DONE;
	}
	if (rc) {
		resp->epsn = roce_psn_add(pkt->psn, 1);
		acknowledge(qp, pkt);
	}
	if (ends && uses_rqe(pkt->op) && complete_receive(qp, pkt) != 0)
		roce_qp_enter_error(qp, false);
	return RSP_DONE;
}

/* ---------------------------------------------------------------- duplicates */

/* The part that is asked for again must be a part of what was asked for then. */
static bool is_part_of(const struct roce_qp *qp, const struct roce_res *res,
		       const struct roce_pkt *pkt)
{
	uint32_t at = roce_psn_distance(res->first_psn, pkt->psn);
	uint32_t offset = at * qp->attr.path_mtu;

	if (res->atomic)
		return pkt->op->kind != ROCE_KIND_READ_REQUEST;
	return pkt->op->kind == ROCE_KIND_READ_REQUEST && pkt->rkey == res->rkey &&
	       pkt->va == res->va + offset && pkt->dma_length == res->length - offset;
}

/*
 * Done before (IBTA 9.7.5.1): SEND and WRITE are acknowledged again, and not done again; a READ is
 * done again; an atomic's result is given again. What we no longer know of is not answered.
 */
static enum rsp duplicate(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	enum roce_op_kind kind = pkt->op->kind;
	struct roce_res *res;

	qp->nic->counters.duplicate_request++;
	if (kind == ROCE_KIND_SEND || kind == ROCE_KIND_WRITE) {
		roce_reply_ack_again(qp, pkt->psn);
		return RSP_DONE;
	}
	res = roce_reply_find(qp, pkt->psn);
	if (!res || !is_part_of(qp, res, pkt))
		return RSP_DROP;
	roce_reply_replay(qp, res, pkt->psn);
	return RSP_DONE;
}

/* -------------------------------------------------------------------- errors */

struct error_row {
	uint8_t syndrome;
	enum roce_wc_status status;
	enum roce_event event;
};

static const struct error_row errors[] = {
#define X(name, syndrome, status, event) \
	[RSP_##name] = {ROCE_AETH_##syndrome, ROCE_WC_##status, ROCE_EVENT_##event},
	ERRORS(X)
#undef X
};

/* RC: NAK, and the QP is over (IBTA 9.9.3, class C). */
static void fail(struct roce_qp *qp, const struct error_row *row, uint32_t psn)
{
	roce_reply_ack(qp, row->syndrome, psn);
	if (qp->resp.has_rqe) {
		struct roce_wc wc = {
			.status = row->status,
			.opcode = ROCE_WC_RECV,
			.vlan = ROCE_NO_VLAN,
		};

		roce_rq_complete(qp, &wc);
	} else {
		roce_qp_event(qp, row->event);
	}
	roce_qp_enter_error(qp, true);
}

void roce_resp_read_failed(struct roce_qp *qp, uint32_t psn)
{
	fail(qp, &errors[RSP_ACCESS], psn);
}

/* UC: what is wrong with the packet drops the message; what is wrong here ends the QP. */
static void fail_uc(struct roce_qp *qp, enum rsp state)
{
	struct roce_wc wc = {
		.status = errors[state].status,
		.opcode = ROCE_WC_RECV,
		.vlan = ROCE_NO_VLAN,
	};

	if (state != RSP_LOCAL_LENGTH && state != RSP_LOCAL_PROTECTION) {
		qp->resp.message = ROCE_MSG_NONE;
		qp->resp.dropping = true;
		return;
	}
	roce_rq_complete(qp, &wc);
	roce_qp_enter_error(qp, false);
}

static void nak_sequence(struct roce_qp *qp)
{
	qp->nic->counters.out_of_sequence++;
	/* Once for a gap (IBTA 9.7.5.2). */
	if (qp->resp.nak_sent)
		return;
	qp->resp.nak_sent = true;
	roce_reply_ack(qp, ROCE_AETH_NAK_SEQUENCE, qp->resp.epsn);
}

static void nak_rnr(struct roce_qp *qp)
{
	if (qp->type == ROCE_QPT_UC) {
		roce_drop_count(&qp->nic->counters, ROCE_DROP_NO_RECV);
		qp->resp.message = ROCE_MSG_NONE;
		qp->resp.dropping = true;
		return;
	}
	qp->resp.nak_sent = true;
	roce_reply_ack(qp, (uint8_t)(ROCE_AETH_RNR_NAK | qp->attr.min_rnr_timer), qp->resp.epsn);
}

static void settle(struct roce_qp *qp, enum rsp state)
{
	switch (state) {
	case RSP_DONE:
		break;
	case RSP_DROP:
		roce_drop_count(&qp->nic->counters, ROCE_DROP_PSN);
		break;
	case RSP_SEQUENCE_NAK:
		nak_sequence(qp);
		break;
	case RSP_RNR_NAK:
		nak_rnr(qp);
		break;
	default:
		if (qp->type == ROCE_QPT_UC)
			fail_uc(qp, state);
		else
			fail(qp, &errors[state], qp->resp.epsn);
	}
}

static const rsp_fn steps[] = {
#define X(name, function) [RSP_##name] = function,
	STEPS(X)
#undef X
};

void roce_resp_input(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	enum rsp state = RSP_PSN;

	/* The first packet proves the peer's readiness to one who waits for it (IBTA 11.6.3). */
	if (qp->state == ROCE_QPS_RTR && !qp->resp.established) {
		qp->resp.established = true;
		roce_qp_event(qp, ROCE_EVENT_COMM_EST);
	}
	while (state < sizeof(steps) / sizeof(steps[0]))
		state = steps[state](qp, pkt);
	settle(qp, state);
}
