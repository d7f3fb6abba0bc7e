// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Responses of an RC responder: ACKs, NAKs, READ responses and atomic results, in the order of
 * their PSNs, and again where the requester asks again. Owns the responder resources and their
 * order; what is right or wrong about a request was decided before (roce_resp.c).
 *
 *	        out                head
 *	 | answered | to be answered |      resources, a ring; those before `out` are kept
 *	             ACKs go after their resource
 *
 * ACKs are merged where many wait: a later one says what those before it said (IBTA 9.7.5.1).
 */
#include "sim/engine/roce_engine.h"

static struct roce_res *res_at(const struct roce_qp *qp, uint32_t counter)
{
	return &qp->resp.res[counter & (qp->resp.places - 1)];
}

void roce_reply_clear(struct roce_qp *qp)
{
	struct roce_resp *resp = &qp->resp;

	resp->acks.count = 0;
	resp->head = resp->out = 0;
	resp->kept = resp->unanswered = 0;
	qp->cc.cnp_pending = false;
}

struct roce_res *roce_reply_new(struct roce_qp *qp)
{
	struct roce_resp *resp = &qp->resp;
	struct roce_res *res;

	resp->unanswered++;
	if (resp->kept < resp->size)
		resp->kept++;
	res = res_at(qp, resp->head++);
	*res = (struct roce_res){.pending = true};
	roce_qp_wake(qp);
	return res;
}

struct roce_res *roce_reply_find(struct roce_qp *qp, uint32_t psn)
{
	uint32_t i;

	for (i = qp->resp.head; i != qp->resp.head - qp->resp.kept; i--) {
		struct roce_res *res = res_at(qp, i - 1);

		if (roce_psn_distance(res->first_psn, psn) < res->packets)
			return res;
	}
	return NULL;
}

void roce_reply_replay(struct roce_qp *qp, struct roce_res *res, uint32_t psn)
{
	struct roce_resp *resp = &qp->resp;
	uint32_t at = roce_psn_distance(res->first_psn, psn);
	uint32_t i;

	/* Not begun yet, or not as far as that: it will come anyway. */
	if (res->pending && res->next <= at && !res->replay)
		return;
	if (!res->pending)
		res->replay = true;
	res->pending = true;
	res->start = res->next = at;
	for (i = resp->head - 1; res_at(qp, i) != res; i--)
		;
	if ((int32_t)(i - resp->out) < 0) {
		/* An ACK that waits is for something later than what is now sent before it. */
		if (resp->acks.count)
			res_at(qp, resp->out - 1)->acks = resp->acks;
		resp->acks.count = 0;
		resp->out = i;
	}
	roce_qp_wake(qp);
}

/* Where an acknowledgement for psn has its turn: after the last response before it. */
static struct roce_acks *acks_place(struct roce_qp *qp, uint32_t psn)
{
	struct roce_resp *resp = &qp->resp;
	uint32_t i;

	for (i = resp->head; i != resp->out; i--) {
		struct roce_res *res = res_at(qp, i - 1);

		if (roce_psn_distance(res->first_psn, psn) < ROCE_PSN_HALF)
			return &res->acks;
	}
	return &resp->acks;
}

static bool is_ack(uint8_t syndrome)
{
	return roce_aeth_kind(syndrome) == ROCE_AETH_KIND_ACK;
}

/* The first PSN that the acknowledgement does not acknowledge. */
static uint32_t covers(uint8_t syndrome, uint32_t psn)
{
	return roce_psn_add(psn, is_ack(syndrome));
}

/* `merge`: the port is full, so that each packet less counts. */
static void acks_push(struct roce_acks *acks, const struct roce_ack *ack, bool merge)
{
	struct roce_ack *last = acks->count ? &acks->ring[acks->count - 1] : NULL;

	if (!last || (!merge && is_ack(last->syndrome) && acks->count < ROCE_WAITING_ACKS))
		last = &acks->ring[acks->count++];
	*last = *ack;
}

static void acks_pop(struct roce_acks *acks)
{
	uint32_t i;

	acks->count--;
	for (i = 0; i < acks->count; i++)
		acks->ring[i] = acks->ring[i + 1];
}

void roce_reply_ack(struct roce_qp *qp, uint8_t syndrome, uint32_t psn)
{
	struct roce_ack ack = {syndrome, psn, qp->resp.msn};
	struct roce_acks *acks = acks_place(qp, psn);
	const struct roce_ack *last = acks->count ? &acks->ring[acks->count - 1] : NULL;

	qp->resp.unacked = 0;
	roce_qp_wake(qp);
	if (last && is_ack(syndrome)) {
		uint32_t more =
			roce_psn_distance(covers(last->syndrome, last->psn), covers(syndrome, psn));

		/* For a duplicate, while one that says more waits already. */
		if (more == 0 || more >= ROCE_PSN_HALF)
			return;
		/* What the NAK asks for has come by itself, but not what is behind it. */
		if (last->syndrome == ROCE_AETH_NAK_SEQUENCE) {
			ack.syndrome = ROCE_AETH_NAK_SEQUENCE;
			ack.psn = qp->resp.epsn;
		}
	}
	acks_push(acks, &ack, qp->nic->tx_blocked);
}

/*
 * For a SEND or WRITE that was done before: all that was done is acknowledged (C9-105), but not
 * across a READ or atomic, whose answer may be what is missing.
 */
void roce_reply_ack_again(struct roce_qp *qp, uint32_t psn)
{
	struct roce_resp *resp = &qp->resp;
	uint32_t latest = roce_psn_add(resp->epsn, ROCE_PSN_MASK);

	if (!resp->kept ||
	    roce_psn_distance(res_at(qp, resp->head - 1)->first_psn, psn) < ROCE_PSN_HALF)
		psn = latest;
	roce_reply_ack(qp, ROCE_AETH_ACK, psn);
}

/* ------------------------------------------------------------------ sending */

static void answered(struct roce_qp *qp, struct roce_res *res)
{
	res->pending = false;
	if (!res->replay)
		qp->resp.unanswered--;
}

static void fill_bth(struct roce_pkt *pkt, uint32_t dqpn, uint32_t psn, uint32_t msn)
{
	pkt->pkey = 0xffff;
	pkt->mig_req = true;
	pkt->dqpn = dqpn;
	pkt->psn = psn;
	pkt->syndrome = ROCE_AETH_ACK;
	pkt->msn = msn;
}

static void count_ack(struct roce_counters *counters, uint8_t syndrome)
{
	if (is_ack(syndrome))
		counters->tx_acks++;
	else if (roce_aeth_kind(syndrome) == ROCE_AETH_KIND_RNR_NAK)
		counters->rnr_nak_tx++;
	else
		counters->tx_naks++;
}

static enum roce_step emit_ack(struct roce_nic *nic, struct roce_template *template, uint32_t dqpn,
			       const struct roce_ack *ack)
{
	struct roce_pkt pkt = {.op = roce_op_find(ROCE_OP_RC_ACK)};

	fill_bth(&pkt, dqpn, ack->psn, ack->msn);
	pkt.syndrome = ack->syndrome;
	if (!roce_nic_send(nic, template, &pkt, NULL))
		return ROCE_STEP_STALL;
	count_ack(&nic->counters, ack->syndrome);
	return ROCE_STEP_SENT;
}

/* The first of them. */
static enum roce_step send_ack(struct roce_qp *qp, struct roce_acks *acks)
{
	enum roce_step done = emit_ack(qp->nic, &qp->resp.template, qp->attr.dest_qpn, acks->ring);

	if (done == ROCE_STEP_SENT)
		acks_pop(acks);
	return done;
}

/* Outlives the QP; of too many the oldest is given up. */
static void keep_late(struct roce_qp *qp, const struct roce_ack *ack)
{
	struct roce_late *late = &qp->nic->late;

	if (late->head - late->tail == ROCE_LATE_ACKS)
		late->tail++;
	late->ring[late->head++ % ROCE_LATE_ACKS] = (struct roce_late_ack){
		.template = qp->resp.template,
		.dqpn = qp->attr.dest_qpn,
		.ack = *ack,
	};
}

void roce_reply_late(struct roce_nic *nic)
{
	while (nic->late.tail != nic->late.head) {
		struct roce_late_ack *late = &nic->late.ring[nic->late.tail % ROCE_LATE_ACKS];

		if (emit_ack(nic, &late->template, late->dqpn, &late->ack) == ROCE_STEP_STALL)
			return;
		nic->late.tail++;
	}
}

/* The data of a READ may have gone away since the request was checked. */
static enum roce_step read_failed(struct roce_qp *qp, struct roce_res *res, uint32_t psn)
{
	res->pending = false;
	if (res->replay)
		return ROCE_STEP_SENT;
	/* Nothing that comes after it is answered. */
	for (; qp->resp.out != qp->resp.head; qp->resp.out++) {
		res_at(qp, qp->resp.out)->pending = false;
		res_at(qp, qp->resp.out)->acks.count = 0;
	}
	roce_resp_read_failed(qp, psn);
	return ROCE_STEP_SENT;
}

static enum roce_op_position read_position(const struct roce_res *res)
{
	bool first = res->next == res->start;
	bool last = res->next + 1 == res->packets;

	if (first)
		return last ? ROCE_POSITION_ONLY : ROCE_POSITION_FIRST;
	return last ? ROCE_POSITION_LAST : ROCE_POSITION_MIDDLE;
}

static bool map_read(struct roce_qp *qp, const struct roce_res *res, uint32_t offset,
		     uint32_t length)
{
	struct roce_want want = {
		.key = res->rkey,
		.pdn = qp->pdn,
		.access = ROCE_ACCESS_REMOTE_READ,
		.va = res->va + offset,
		.length = length,
	};
	struct roce_mr *mr;

	qp->nic->span.count = 0;
	if (length == 0)
		return true;
	mr = roce_mr_check(qp->nic, &want);
	return mr && roce_mr_map(qp->nic, mr, want.va, length, false) == 0;
}

static enum roce_step send_read_response(struct roce_qp *qp, struct roce_res *res)
{
	uint32_t mtu = qp->attr.path_mtu;
	uint32_t offset = res->next * mtu;
	bool last = res->next + 1 == res->packets;
	uint32_t psn = roce_psn_add(res->first_psn, res->next);
	struct roce_pkt pkt = {
		.op = roce_op_pick(ROCE_SERVICE_RC, ROCE_KIND_READ_RESPONSE, read_position(res),
				   ROCE_TAIL_NONE),
		.payload_length = last ? res->length - offset : mtu,
	};

	if (!roce_cc_may_send(qp))
		return ROCE_STEP_IDLE;
	if (!map_read(qp, res, offset, pkt.payload_length))
		return read_failed(qp, res, psn);
	fill_bth(&pkt, qp->attr.dest_qpn, psn, res->msn);
	if (!roce_nic_send(qp->nic, &qp->resp.template, &pkt, NULL))
		return ROCE_STEP_STALL;
	roce_cc_sent(qp, roce_frame_size(&qp->resp.template, pkt.op, pkt.payload_length));
	res->next++;
	if (last)
		answered(qp, res);
	return ROCE_STEP_SENT;
}

static enum roce_step send_atomic_ack(struct roce_qp *qp, struct roce_res *res)
{
	struct roce_pkt pkt = {
		.op = roce_op_find(ROCE_OP_RC_ATOMIC_ACK),
		.original = res->original,
	};

	fill_bth(&pkt, qp->attr.dest_qpn, res->first_psn, res->msn);
	if (!roce_nic_send(qp->nic, &qp->resp.template, &pkt, NULL))
		return ROCE_STEP_STALL;
	answered(qp, res);
	return ROCE_STEP_SENT;
}

/* The acknowledgements that are next, if no response stands before them. */
static struct roce_acks *next_acks(struct roce_qp *qp)
{
	struct roce_resp *resp = &qp->resp;

	if (resp->acks.count)
		return &resp->acks;
	for (; resp->out != resp->head; resp->out++) {
		struct roce_res *res = res_at(qp, resp->out);

		if (res->pending)
			break;
		if (res->acks.count)
			return &res->acks;
	}
	return NULL;
}

void roce_reply_finish(struct roce_qp *qp)
{
	struct roce_acks *acks;

	while ((acks = next_acks(qp))) {
		if (send_ack(qp, acks) == ROCE_STEP_STALL) {
			/* The last one says all. */
			keep_late(qp, &acks->ring[acks->count - 1]);
			acks->count = 0;
		}
	}
	roce_reply_clear(qp);
}

enum roce_step roce_reply_step(struct roce_qp *qp)
{
	struct roce_acks *acks;
	struct roce_res *res;

	if (qp->cc.cnp_pending)
		return roce_cc_step(qp);
	acks = next_acks(qp);
	if (acks)
		return send_ack(qp, acks);
	if (qp->resp.out == qp->resp.head)
		return ROCE_STEP_IDLE;
	res = res_at(qp, qp->resp.out);
	return res->atomic ? send_atomic_ack(qp, res) : send_read_response(qp, res);
}
