// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requester: takes work requests in order, cuts them into request packets, and holds back what
 * fences, windows and READ limits hold back. Owns qp->req. Knows nothing of what the responses
 * say: the completer tells it by roce_req_restart() where to go on.
 */
#include "sim/engine/roce_engine.h"

#include <errno.h>

#define RC_UC		  (1 << ROCE_QPT_RC | 1 << ROCE_QPT_UC)
#define DATAGRAM	  (1 << ROCE_QPT_UD | 1 << ROCE_QPT_GSI)
#define RC		  (1 << ROCE_QPT_RC)
#define KINDS		  (ROCE_WRK_LOCAL + 1)
#define MESSAGE(op, tail) ROCE_WRK_MESSAGE, ROCE_KIND_##op, ROCE_TAIL_##tail
#define OTHER(kind)	  ROCE_WRK_##kind, ROCE_KIND_COUNT, ROCE_TAIL_NONE

#define ROW(name, types, ...) [ROCE_WR_##name] = {#name, types, __VA_ARGS__}

/* Which operation is there on which transport service (IBTA 9.4). */
const struct roce_wr_info roce_wr_info[ROCE_WR_OPCODE_COUNT] = {
	ROW(SEND, RC_UC | DATAGRAM, MESSAGE(SEND, NONE)),
	ROW(SEND_IMM, RC_UC | DATAGRAM, MESSAGE(SEND, IMM)),
	ROW(SEND_INV, RC, MESSAGE(SEND, INV)),
	ROW(WRITE, RC_UC, MESSAGE(WRITE, NONE)),
	ROW(WRITE_IMM, RC_UC, MESSAGE(WRITE, IMM)),
	ROW(READ, RC, OTHER(READ)),
	ROW(READ_INV, RC, OTHER(READ)),
	ROW(CMP_SWAP, RC, OTHER(ATOMIC)),
	ROW(FETCH_ADD, RC, OTHER(ATOMIC)),
	ROW(LOCAL_INV, RC_UC, OTHER(LOCAL)),
	ROW(REG_MR, RC_UC, OTHER(LOCAL)),
	ROW(BIND_MW, RC_UC, OTHER(LOCAL)),
	ROW(NOP, RC_UC | DATAGRAM, OTHER(LOCAL)),
	ROW(INVALID, RC_UC | DATAGRAM, OTHER(LOCAL)),
};

uint32_t roce_req_full_window(const struct roce_qp *qp)
{
	uint32_t packets = ROCE_WINDOW_BYTES / roce_qp_mtu(qp);

	return packets < ROCE_WINDOW_PACKETS ? packets : ROCE_WINDOW_PACKETS;
}

void roce_req_set_psn(struct roce_qp *qp, uint32_t psn)
{
	qp->req.psn = qp->req.max_psn = qp->req.asked = qp->comp.una = psn;
	qp->req.window = qp->req.safe = roce_req_full_window(qp);
}

/* una always falls into the oldest entry, or nothing is on its way. */
void roce_req_restart(struct roce_qp *qp)
{
	struct roce_req *req = &qp->req;

	req->psn = qp->comp.una;
	req->cur = qp->sq.tail;
	req->rd_atomic = 0;
	req->read_psns = 0;
	req->cursor = (struct roce_cursor){0};
}

/* The requester stops here; the completer ends the WR once all before it are done. */
enum roce_step roce_req_fail(struct roce_qp *qp, struct roce_sqe *sqe, enum roce_wc_status status)
{
	sqe->state = ROCE_SQE_FAILED;
	sqe->status = (uint8_t)status;
	roce_comp_retire(qp);
	return ROCE_STEP_IDLE;
}

/* A list that could not be mapped is either not ours to touch or not there. */
enum roce_wc_status roce_map_status(int error)
{
	return error == -EMSGSIZE ? ROCE_WC_LOC_LEN_ERR : ROCE_WC_LOC_PROT_ERR;
}

/* ---------------------------------------------------------------- beginning */

/* READs and atomics that the responder has no place for wait (IBTA 9.4.4). */
static bool held_back(const struct roce_qp *qp, const struct roce_sqe *sqe)
{
	if (sqe->flags & ROCE_WR_FENCE && qp->req.rd_atomic)
		return true;
	if (sqe->opcode == ROCE_WR_LOCAL_INV)
		/* What came before may have to be sent again, and read from the region. */
		return qp->req.cur != qp->sq.tail;
	return roce_sqe_wants_response(sqe) && qp->req.rd_atomic >= qp->attr.max_rd_atomic;
}

static enum roce_wc_status do_local(struct roce_qp *qp, const struct roce_sqe *sqe)
{
	switch ((enum roce_wr_opcode)sqe->opcode) {
	case ROCE_WR_LOCAL_INV:
		if (roce_mr_invalidate(qp->nic, sqe->imm, qp->pdn) == 0)
			return ROCE_WC_SUCCESS;
		return ROCE_WC_LOC_QP_OP_ERR;
	case ROCE_WR_REG_MR:
	case ROCE_WR_BIND_MW:
		if (roce_mr_register(qp, sqe->imm, sqe->reg) == 0)
			return ROCE_WC_SUCCESS;
		return ROCE_WC_MW_BIND_ERR;
	case ROCE_WR_NOP:
		return ROCE_WC_SUCCESS;
	default:
		return ROCE_WC_LOC_QP_OP_ERR;
	}
}

static enum roce_step run_local(struct roce_qp *qp, struct roce_sqe *sqe)
{
	enum roce_wc_status status = do_local(qp, sqe);

	if (status != ROCE_WC_SUCCESS)
		return roce_req_fail(qp, sqe, status);
	sqe->state = ROCE_SQE_DONE;
	sqe->first_psn = qp->req.psn;
	qp->req.cur++;
	roce_comp_retire(qp);
	return ROCE_STEP_SENT;
}

/* Finds out how long the message is, in bytes and packets. False: it cannot be sent. */
static bool measure(struct roce_qp *qp, struct roce_sqe *sqe, enum roce_wc_status *status)
{
	uint64_t total = sqe->wqe.length;
	uint32_t limit = 1u << ROCE_MAX_MESSAGE_LOG;

	if (!(sqe->flags & ROCE_WR_INLINE))
		total = roce_sge_total(roce_queue_units(&qp->sq, &sqe->wqe), sqe->wqe.num_sge);
	*status = ROCE_WC_LOC_LEN_ERR;
	if (roce_wr_info[sqe->opcode].kind == ROCE_WRK_ATOMIC) {
		if (total < sizeof(uint64_t))
			return false;
		total = sizeof(uint64_t);
	}
	if (total > limit)
		return false;
	sqe->wqe.length = (uint32_t)total;
	sqe->packets = total ? (uint32_t)((total - 1) / roce_qp_mtu(qp)) + 1 : 1;
	*status = ROCE_WC_LOC_QP_OP_ERR;
	return !roce_sqe_wants_response(sqe) || qp->attr.max_rd_atomic > 0;
}

/* ------------------------------------------------------------------ sending */

/* Requests that are not answered; a READ is one, however long its answer. */
static uint32_t on_their_way(const struct roce_qp *qp)
{
	const struct roce_req *req = &qp->req;

	return roce_psn_distance(qp->comp.una, req->psn) - req->read_psns + req->rd_atomic;
}

static bool window_open(const struct roce_qp *qp, const struct roce_sqe *sqe)
{
	uint32_t sent = roce_psn_distance(qp->comp.una, qp->req.psn);

	if (qp->type != ROCE_QPT_RC)
		return true;
	/* The responder tells new from old within half the PSN space (IBTA 9.7.2). */
	if (sent && sqe->state == ROCE_SQE_POSTED && sent + sqe->packets > ROCE_PSN_HALF)
		return false;
	return on_their_way(qp) < qp->req.window;
}

/*
 * At the end of a message, and a few times a window: if the ACK for one part is lost, that for
 * the next lets us go on, and what we then send shows the responder the gap.
 */
static bool want_ack(const struct roce_qp *qp, bool ends)
{
	const struct roce_req *req = &qp->req;
	uint32_t every = req->window / 4;

	if (every > ROCE_ACK_REQ_EVERY)
		every = ROCE_ACK_REQ_EVERY;
	return ends || req->ask_ack || req->since_ack_req + 1 >= every;
}

static void fill_bth(const struct roce_qp *qp, struct roce_pkt *pkt)
{
	pkt->pkey = 0xffff;
	pkt->mig_req = true; /* as all that have no path migration say (IBTA 17.2.8) */
	pkt->dqpn = qp->attr.dest_qpn;
	pkt->psn = qp->req.psn;
}

const uint8_t *roce_req_inline(const struct roce_qp *qp, const struct roce_sqe *sqe,
			       uint32_t offset)
{
	if (!(sqe->flags & ROCE_WR_INLINE) || sqe->wqe.length == 0)
		return NULL;
	return (const uint8_t *)roce_queue_units(&qp->sq, &sqe->wqe) + offset;
}

int roce_req_map(struct roce_qp *qp, const struct roce_sqe *sqe, uint32_t offset, uint32_t length)
{
	struct roce_list list = {
		.sge = roce_queue_units(&qp->sq, &sqe->wqe),
		.num_sge = sqe->wqe.num_sge,
		.pdn = qp->pdn,
	};

	qp->nic->span.count = 0;
	if (sqe->flags & ROCE_WR_INLINE)
		return 0;
	/* The cursor is of the entry at cur only: entry 0 of another one begins at 0. */
	if (offset == 0)
		qp->req.cursor = (struct roce_cursor){0};
	roce_list_seek(&list, &qp->req.cursor, offset);
	return roce_list_map(qp->nic, &list, &qp->req.cursor, length);
}

static int build_message(struct roce_qp *qp, const struct roce_sqe *sqe, struct roce_pkt *pkt)
{
	const struct roce_wr_info *info = &roce_wr_info[sqe->opcode];
	uint32_t at = roce_psn_distance(sqe->first_psn, qp->req.psn);
	uint32_t offset = at * roce_qp_mtu(qp);
	uint32_t left = sqe->wqe.length - offset;
	bool last = at + 1 == sqe->packets;
	enum roce_op_position position =
		at == 0 ? (last ? ROCE_POSITION_ONLY : ROCE_POSITION_FIRST)
			: (last ? ROCE_POSITION_LAST : ROCE_POSITION_MIDDLE);

	pkt->op = roce_op_pick(roce_qp_service(qp), info->op, position, info->tail);
	pkt->payload_length = last ? left : roce_qp_mtu(qp);
	if (last) {
		pkt->solicited = sqe->flags & ROCE_WR_SOLICITED;
		pkt->imm = sqe->imm;
		pkt->inv_key = sqe->imm;
	}
	if (info->op == ROCE_KIND_WRITE && at == 0) {
		pkt->va = sqe->remote_addr;
		pkt->rkey = sqe->rkey;
		pkt->dma_length = sqe->wqe.length;
	}
	pkt->ack_req = qp->type == ROCE_QPT_RC && want_ack(qp, last);
	return roce_req_map(qp, sqe, offset, pkt->payload_length);
}

/* From the middle on when part of the response is there already (IBTA 9.7.5.1). */
static int build_read(struct roce_qp *qp, const struct roce_sqe *sqe, struct roce_pkt *pkt)
{
	uint32_t at = roce_psn_distance(sqe->first_psn, qp->req.psn);
	uint32_t offset = at * roce_qp_mtu(qp);

	pkt->op = roce_op_find(ROCE_OP_RC_READ_REQUEST);
	pkt->va = sqe->remote_addr + offset;
	pkt->rkey = sqe->rkey;
	pkt->dma_length = sqe->wqe.length - offset;
	pkt->ack_req = true;
	return 0;
}

static int build_atomic(struct roce_qp *qp, const struct roce_sqe *sqe, struct roce_pkt *pkt)
{
	bool cas = sqe->opcode == ROCE_WR_CMP_SWAP;

	(void)qp;
	pkt->op = roce_op_find(cas ? ROCE_OP_RC_CMP_SWAP : ROCE_OP_RC_FETCH_ADD);
	pkt->va = sqe->remote_addr;
	pkt->rkey = sqe->rkey;
	pkt->swap_add = cas ? sqe->swap : sqe->compare_add;
	pkt->compare = cas ? sqe->compare_add : 0;
	pkt->ack_req = true;
	return 0;
}

typedef int (*build_fn)(struct roce_qp *, const struct roce_sqe *, struct roce_pkt *);

static const build_fn builders[KINDS] = {
	[ROCE_WRK_MESSAGE] = build_message,
	[ROCE_WRK_READ] = build_read,
	[ROCE_WRK_ATOMIC] = build_atomic,
};

/* The packet at psn is out: where to go on. */
static void advance(struct roce_qp *qp, struct roce_sqe *sqe, const struct roce_pkt *pkt)
{
	struct roce_req *req = &qp->req;
	uint32_t left = roce_psn_distance(req->psn, roce_sqe_end(sqe));
	uint32_t taken = roce_sqe_wants_response(sqe) ? left : 1;
	uint32_t ahead = roce_psn_distance(req->psn, req->max_psn);

	if (ahead)
		qp->nic->counters.retransmitted++;
	if (roce_sqe_wants_response(sqe)) {
		req->rd_atomic++;
		req->read_psns += taken;
	}
	req->psn = roce_psn_add(req->psn, taken);
	if (ahead < taken)
		req->max_psn = req->psn;
	if (taken == left)
		req->cur++;
	req->since_ack_req++;
	req->ask_ack = false;
	if (pkt->ack_req) {
		req->since_ack_req = 0;
		req->asked = req->psn;
		roce_comp_asked(qp);
	}
}

static enum roce_step send_packet(struct roce_qp *qp, struct roce_sqe *sqe)
{
	struct roce_pkt pkt = {0};
	int ret;

	fill_bth(qp, &pkt);
	ret = builders[roce_wr_info[sqe->opcode].kind](qp, sqe, &pkt);
	if (ret)
		return roce_req_fail(qp, sqe, roce_map_status(ret));
	if (!roce_nic_send(
		    qp->nic, &qp->req.template, &pkt,
		    roce_req_inline(qp, sqe,
				    roce_psn_distance(sqe->first_psn, pkt.psn) * roce_qp_mtu(qp))))
		return ROCE_STEP_STALL;
	roce_cc_sent(qp, roce_frame_size(&qp->req.template, pkt.op, pkt.payload_length));
	advance(qp, sqe, &pkt);
	if (qp->type == ROCE_QPT_UC && roce_op_ends(pkt.op)) {
		/* Nobody answers: sent is done (IBTA 9.8.3). */
		qp->comp.una = qp->req.psn;
		roce_qp_complete_send(qp, ROCE_WC_SUCCESS);
		roce_comp_check_drained(qp);
	}
	return ROCE_STEP_SENT;
}

/* New work is begun in RTS only; what was begun is also finished in SQD (IBTA 10.3.1.5). */
static bool may_work(const struct roce_qp *qp, const struct roce_sqe *sqe)
{
	if (sqe->state == ROCE_SQE_FAILED || roce_timer_armed(&qp->comp.rnr_timer))
		return false;
	return qp->state == ROCE_QPS_RTS ||
	       (qp->state == ROCE_QPS_SQD && sqe->state != ROCE_SQE_POSTED);
}

enum roce_step roce_req_step(struct roce_qp *qp)
{
	enum roce_wc_status status;
	struct roce_sqe *sqe;

	if (qp->req.cur == qp->sq.head)
		return ROCE_STEP_IDLE;
	sqe = roce_qp_sqe(qp, qp->req.cur);
	if (!may_work(qp, sqe))
		return ROCE_STEP_IDLE;
	if (sqe->state == ROCE_SQE_DONE) {
		/* Passed again on the way back: local operations are done once. */
		qp->req.cur++;
		return ROCE_STEP_SENT;
	}
	if (held_back(qp, sqe) && sqe->state == ROCE_SQE_POSTED)
		return ROCE_STEP_IDLE;
	if (roce_wr_info[sqe->opcode].kind == ROCE_WRK_LOCAL)
		return run_local(qp, sqe);
	if (sqe->state == ROCE_SQE_POSTED && !measure(qp, sqe, &status))
		return roce_req_fail(qp, sqe, status);
	if (!window_open(qp, sqe) || !roce_cc_may_send(qp))
		return ROCE_STEP_IDLE;
	if (roce_qp_service(qp) == ROCE_SERVICE_UD)
		return roce_ud_step(qp, sqe);
	if (sqe->state == ROCE_SQE_POSTED) {
		sqe->state = ROCE_SQE_SENT;
		sqe->first_psn = qp->req.psn;
	}
	return send_packet(qp, sqe);
}
