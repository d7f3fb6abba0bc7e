/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * erdma, user half: queue pairs, the control path. Owns their memory, their place
 * among the QPNs and what a state means for posting. Posts nothing.
 */
#include "providers/erdma/erdma_user.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

DECLARE_DRV_CMD(erdma_create_qp_cmd, IB_USER_VERBS_CMD_CREATE_QP, erdma_ureq_create_qp,
		erdma_uresp_create_qp);

/* IBTA 10.3.1: what posting to a queue in that state returns; 0 is allowed. */
static const struct {
	int send, recv;
} post_errors[] = {
	[IBV_QPS_RESET] = {EINVAL, EINVAL},
	[IBV_QPS_INIT] = {EINVAL, 0},
	[IBV_QPS_RTR] = {EINVAL, 0},
	[IBV_QPS_RTS] = {0, 0},
	[IBV_QPS_SQD] = {0, 0},
	[IBV_QPS_SQE] = {EIO, 0},
	[IBV_QPS_ERR] = {EIO, EIO},
};

int erdma_post_error(enum ibv_qp_state state)
{
	return post_errors[state].send ? post_errors[state].send : EINVAL;
}

int erdma_recv_error(enum ibv_qp_state state)
{
	return post_errors[state].recv ? post_errors[state].recv : EINVAL;
}

static uint32_t power_of_two(uint32_t number)
{
	return number <= 1 ? 1 : 1u << (32 - __builtin_clz(number - 1));
}

/* Lets the hot path through, or not: with no room it asks erdma_post_error(). */
static void set_state(struct erdma_qp *qp, enum ibv_qp_state state)
{
	qp->state = state;
	qp->sq.room = post_errors[state].send ? 0 : qp->sq.mask + 1;
	qp->sq.left = 0;
	qp->rq.room = post_errors[state].recv ? 0 : qp->rq.mask + 1;
}

static int store_qp(struct erdma_context *context, struct erdma_qp *qp)
{
	uint32_t qpn = qp->rq.qpn;
	struct erdma_qp_leaf **leaf;
	int err = 0;

	if (qpn >> ERDMA_QPN_LEAF_BITS >= ERDMA_QPN_LEAVES)
		return -EIO;
	leaf = &context->leaves[qpn >> ERDMA_QPN_LEAF_BITS];
	pthread_mutex_lock(&context->qp_mutex);
	if (!*leaf)
		__atomic_store_n(leaf, calloc(1, sizeof(**leaf)), __ATOMIC_RELEASE);
	if (*leaf)
		(*leaf)->qp[qpn & (ERDMA_QPN_LEAF_SIZE - 1)] = qp;
	else
		err = -ENOMEM;
	pthread_mutex_unlock(&context->qp_mutex);
	return err;
}

static int command_create(struct erdma_context *context, struct erdma_qp *qp,
			  struct ibv_qp_init_attr_ex *attr, struct erdma_uresp_create_qp *answer)
{
	struct erdma_create_qp_cmd_resp resp = {0};
	struct erdma_create_qp_cmd cmd = {0};
	int err;

	cmd.db_record_va = (uintptr_t)qp->records;
	cmd.qbuf_va = (uintptr_t)qp->buffer.addr;
	cmd.qbuf_len = (uint32_t)qp->buffer.length;
	err = ibv_cmd_create_qp_ex(&context->base.verbs.context, &qp->base.verbs, attr,
				   &cmd.ibv_cmd, sizeof(cmd), &resp.ibv_resp, sizeof(resp));
	*answer = resp.drv_payload;
	return -err;
}

/*
 * One buffer: the SQ, from the next page on the RQ. The driver wants the SQ's
 * depth to be a power of two and at least 4 blocks for each request, and computes
 * both depths the same way from the same numbers.
 */
static int queues_init(struct erdma_context *context, struct erdma_qp *qp,
		       const struct ibv_qp_cap *cap)
{
	size_t sq_bytes = (size_t)power_of_two(cap->max_send_wr * ERDMA_SQE_BLOCKS_MAX)
			  << ERDMA_SQ_BLOCK_SHIFT;
	size_t rq_bytes = (size_t)power_of_two(cap->max_recv_wr) << ERDMA_RQE_SHIFT;
	int err;

	sq_bytes = (sq_bytes + ERDMA_PAGE_SIZE - 1) & ~(size_t)(ERDMA_PAGE_SIZE - 1);
	err = anynic_buffer_init(&qp->buffer, sq_bytes + rq_bytes);
	if (err)
		return err;
	qp->records = anynic_records_get(&context->records);
	if (!qp->records) {
		anynic_buffer_fini(&qp->buffer);
		return -ENOMEM;
	}
	return 0;
}

static void queues_fini(struct erdma_context *context, struct erdma_qp *qp)
{
	free(qp->sq.wr_id);
	free(qp->rq.wr_id);
	anynic_records_put(&context->records, qp->records);
	anynic_buffer_fini(&qp->buffer);
}

static bool is_ring(uint32_t entries, size_t offset, size_t bytes, const struct erdma_qp *qp)
{
	return entries && !(entries & (entries - 1)) && entries <= 1u << 15 &&
	       offset + (size_t)entries * bytes <= qp->buffer.length;
}

/* Takes over what the kernel says, having checked that it lies within the buffer. */
static int rings_init(struct erdma_context *context, struct erdma_qp *qp,
		      const struct ibv_qp_init_attr_ex *attr,
		      const struct erdma_uresp_create_qp *answer)
{
	bool single = anynic_pd_is_single_threaded(attr->pd);
	struct erdma_sq *sq = &qp->sq;
	struct erdma_rq *rq = &qp->rq;
	uint32_t qpn = answer->qp_id;

	if (!is_ring(answer->num_sqe, 0, ERDMA_SQ_BLOCK_BYTES, qp) ||
	    !is_ring(answer->num_rqe, answer->rq_offset, ERDMA_RQE_BYTES, qp) ||
	    answer->rq_offset < answer->num_sqe * ERDMA_SQ_BLOCK_BYTES)
		return -EIO;
	sq->wr_id = calloc(answer->num_sqe, sizeof(*sq->wr_id));
	rq->wr_id = calloc(answer->num_rqe, sizeof(*rq->wr_id));
	if (!sq->wr_id || !rq->wr_id)
		return -ENOMEM;

	anynic_lock_init(&sq->lock, single);
	anynic_lock_init(&rq->lock, single);
	sq->ring = qp->buffer.addr;
	sq->mask = answer->num_sqe - 1;
	sq->record = qp->records;
	sq->db = (char *)context->sq_page + qpn % ERDMA_DB_SQ_SLOTS * ERDMA_DB_SQ_SLOT_BYTES;
	sq->qpn_bits = nic_prep(ERDMA_SQE_QPN, qpn);
	sq->base = sq->qpn_bits | nic_prep(ERDMA_SQE_SIGNALED, attr->sq_sig_all != 0);
	sq->rules = qp->is_ud ? erdma_ud_rules : erdma_rc_rules;
	sq->max_sge = attr->cap.max_send_sge;
	sq->max_inline = attr->cap.max_inline_data;
	sq->max_length = context->base.limits.max_msg_sz;

	rq->ring = (void *)((char *)qp->buffer.addr + answer->rq_offset);
	rq->mask = answer->num_rqe - 1;
	rq->record = sq->record + 1;
	rq->db = (char *)context->rq_page + qpn % ERDMA_DB_RQ_SLOTS * ERDMA_DB_RQ_SLOT_BYTES;
	rq->qpn = qpn;
	rq->qpn_bits = nic_prep(ERDMA_RQ_DB_QPN, qpn);
	rq->max_sge = attr->cap.max_recv_sge;
	set_state(qp, IBV_QPS_RESET);
	return 0;
}

/* More than was asked for where it costs nothing: a WQE has the space in any case. */
static void grant(struct ibv_qp_cap *cap, const struct anynic_limits *limits)
{
	cap->max_send_sge = limits->max_send_sge;
	cap->max_recv_sge = limits->max_recv_sge;
	cap->max_inline_data = limits->max_inline_data;
}

static int qp_init(struct erdma_context *context, struct erdma_qp *qp,
		   struct ibv_qp_init_attr_ex *attr)
{
	struct erdma_uresp_create_qp answer;
	struct ibv_qp_cap granted = attr->cap;
	int err;

	grant(&granted, &context->base.limits);
	err = queues_init(context, qp, &attr->cap);
	if (err)
		return err;
	err = command_create(context, qp, attr, &answer);
	if (err)
		goto undo_queues;
	/* The kernel repeats the request; what is granted is ours to say. */
	attr->cap.max_send_sge = granted.max_send_sge;
	attr->cap.max_recv_sge = granted.max_recv_sge;
	attr->cap.max_inline_data = granted.max_inline_data;
	err = rings_init(context, qp, attr, &answer);
	if (!err && attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
		err = erdma_wr_init(qp, attr->send_ops_flags);
	if (!err)
		err = store_qp(context, qp);
	if (err)
		goto undo_command;
	return 0;

undo_command:
	ibv_cmd_destroy_qp(&qp->base.verbs.qp);
undo_queues:
	queues_fini(context, qp);
	return err;
}

struct ibv_qp *an_erdma_create_qp(struct anynic_context *anynic, struct ibv_qp_init_attr_ex *attr)
{
	struct erdma_context *context = container_of(anynic, struct erdma_context, base);
	struct erdma_qp *qp = NULL;
	int err;

	/* SRQs are refused before, and UC the NIC does not have. */
	if (attr->qp_type != IBV_QPT_RC && attr->qp_type != IBV_QPT_UD) {
		err = -EOPNOTSUPP;
		goto refused;
	}
	/* The driver takes no queue of depth 0. */
	if (!attr->cap.max_send_wr || !attr->cap.max_recv_wr) {
		anynic_refused(&anynic->verbs.context,
			       "create_qp: max_send_wr %u, max_recv_wr %u: none may be 0 (NIC)\n",
			       attr->cap.max_send_wr, attr->cap.max_recv_wr);
		err = -EINVAL;
		goto refused;
	}
	err = -ENOMEM;
	qp = calloc(1, sizeof(*qp));
	if (!qp)
		goto refused;
	qp->is_ud = attr->qp_type == IBV_QPT_UD;
	qp->send_cq = to_erdma_cq(attr->send_cq);
	qp->recv_cq = to_erdma_cq(attr->recv_cq);
	err = qp_init(context, qp, attr);
	if (err)
		goto refused;
	return &qp->base.verbs.qp;

refused:
	free(qp);
	errno = -err;
	return NULL;
}

static void forget_completions(struct erdma_qp *qp)
{
	erdma_cq_forget(qp->recv_cq, qp);
	if (qp->send_cq != qp->recv_cq)
		erdma_cq_forget(qp->send_cq, qp);
}

/* RESET starts both queues anew, and takes what is left of the old ones with it. */
static void reset_queues(struct erdma_qp *qp)
{
	forget_completions(qp);
	qp->sq.pi = qp->sq.ci = 0;
	qp->rq.pi = qp->rq.ci = 0;
	*qp->sq.record = 0;
	*qp->rq.record = 0;
}

int an_erdma_modify_qp(struct ibv_qp *ibv_qp, struct ibv_qp_attr *attr, int mask)
{
	struct erdma_qp *qp = to_erdma_qp(ibv_qp);
	struct ibv_modify_qp cmd = {0};
	int err;

	/* Held over the command: no post slips in between two states. */
	anynic_lock(&qp->sq.lock);
	anynic_lock(&qp->rq.lock);
	err = ibv_cmd_modify_qp(ibv_qp, attr, mask, &cmd, sizeof(cmd));
	if (!err && mask & IBV_QP_QKEY)
		qp->sq.qkey = attr->qkey;
	if (!err && mask & IBV_QP_STATE) {
		if (attr->qp_state == IBV_QPS_RESET)
			reset_queues(qp);
		set_state(qp, attr->qp_state);
	}
	anynic_unlock(&qp->rq.lock);
	anynic_unlock(&qp->sq.lock);
	return -err;
}

int an_erdma_query_qp(struct ibv_qp *ibv_qp, struct ibv_qp_attr *attr, int mask,
		      struct ibv_qp_init_attr *init)
{
	struct erdma_qp *qp = to_erdma_qp(ibv_qp);
	struct ibv_query_qp cmd = {0};
	int err;

	err = ibv_cmd_query_qp(ibv_qp, attr, mask, init, &cmd, sizeof(cmd));
	if (err)
		return err;
	/* The driver counts blocks and knows nothing of what was granted above it. */
	attr->cap.max_send_wr = (qp->sq.mask + 1) / ERDMA_SQE_BLOCKS_MAX;
	attr->cap.max_recv_wr = qp->rq.mask + 1;
	attr->cap.max_send_sge = qp->sq.max_sge;
	attr->cap.max_recv_sge = qp->rq.max_sge;
	attr->cap.max_inline_data = qp->sq.max_inline;
	init->cap = attr->cap;
	/* The driver does not give back the Q_Key, and who answers a datagram asks for it here. */
	if (ibv_qp->qp_type == IBV_QPT_UD)
		attr->qkey = qp->sq.qkey;
	/* A QP may have failed without this process having done anything. */
	if (mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_ERR) {
		anynic_lock(&qp->sq.lock);
		anynic_lock(&qp->rq.lock);
		set_state(qp, IBV_QPS_ERR);
		anynic_unlock(&qp->rq.lock);
		anynic_unlock(&qp->sq.lock);
	}
	return 0;
}

int an_erdma_destroy_qp(struct ibv_qp *ibv_qp)
{
	struct erdma_context *context = to_erdma_context(ibv_qp->context);
	struct erdma_qp *qp = to_erdma_qp(ibv_qp);
	uint32_t qpn = qp->rq.qpn;
	int err;

	/* Over the command too: else a new QP of this number could be stored before. */
	pthread_mutex_lock(&context->qp_mutex);
	err = ibv_cmd_destroy_qp(ibv_qp);
	if (!err) {
		context->leaves[qpn >> ERDMA_QPN_LEAF_BITS]->qp[qpn & (ERDMA_QPN_LEAF_SIZE - 1)] =
			NULL;
		forget_completions(qp);
	}
	pthread_mutex_unlock(&context->qp_mutex);
	if (err)
		return err;
	queues_fini(context, qp);
	free(qp);
	return 0;
}
