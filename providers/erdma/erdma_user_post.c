/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * erdma, user half: posting of work requests. Owns the producer indexes of both
 * rings. Knows nothing of what is in a WQE: erdma_user_sqe.c builds it.
 */
#include "providers/erdma/erdma_user.h"

#include <errno.h>
#include <string.h>

static inline void *block_at(const struct erdma_sq *sq, uint32_t index)
{
	return sq->ring + ((size_t)(index & sq->mask) << ERDMA_SQ_BLOCK_SHIFT);
}

/* Blocks in use. ci moves under the CQ's lock, not under this one: acquire, so that what is
 * written into a freed place comes after the poller has read it. */
static inline uint32_t used(const struct erdma_sq *sq, uint32_t pi)
{
	return (uint16_t)(pi - __atomic_load_n(&sq->ci, __ATOMIC_ACQUIRE));
}

/* Finds out anew what follows pi in one piece. False: not enough for every WQE. */
static __attribute__((noinline)) bool look_for_room(struct erdma_sq *sq, uint32_t pi)
{
	uint32_t taken = used(sq, pi), free = sq->room > taken ? sq->room - taken : 0;
	uint32_t to_end = sq->mask + 1 - (pi & sq->mask);

	sq->left = free < to_end ? free : to_end;
	return sq->left >= ERDMA_SQE_BLOCKS_MAX;
}

static inline void set_head(void *wqe, uint64_t head)
{
	((struct erdma_sqe *)wqe)->hdr = nic_to_le64(head);
}

static inline uint32_t blocks_of(uint64_t head)
{
	return nic_pick(head, ERDMA_SQE_BLOCKS) + 1;
}

/*
 * The rare case: near the ring's end, nearly full, or in a state that forbids it.
 * How many blocks the request needs shows when it is built, so it is built aside,
 * and copied block by block, maybe round the end.
 */
static __attribute__((noinline)) int push_aside(struct erdma_qp *qp, const struct ibv_send_wr *wr,
						uint32_t pi)
{
	char wqe[ERDMA_SQE_BLOCKS_MAX * ERDMA_SQ_BLOCK_BYTES] __attribute__((aligned(8))) = {0};
	struct erdma_sq *sq = &qp->sq;
	const struct erdma_sqe_rule *rule = &sq->rules[ERDMA_SQE_RULE(wr)];
	uint32_t blocks, end, i;
	uint64_t head;

	if (!sq->room)
		return -erdma_post_error(qp->state);
	head = rule->build(sq, wr, wqe);
	if (!head)
		return -rule->error;
	blocks = blocks_of(head);
	if (used(sq, pi) + blocks > sq->room)
		return -ENOMEM;
	end = (uint16_t)(pi + blocks);
	set_head(wqe, head | rule->opcode | erdma_sqe_flags[wr->send_flags] | end);
	for (i = 0; i < blocks; i++)
		memcpy(block_at(sq, pi + i), wqe + i * ERDMA_SQ_BLOCK_BYTES, ERDMA_SQ_BLOCK_BYTES);
	sq->wr_id[pi & sq->mask] = wr->wr_id;
	return (int)end;
}

/* One WQE at pi. Returns the index after it, or -errno with the ring as it was. */
static inline int push(struct erdma_qp *qp, const struct ibv_send_wr *wr, uint32_t pi)
{
	struct erdma_sq *sq = &qp->sq;
	const struct erdma_sqe_rule *rule;
	uint32_t blocks;
	uint64_t head;
	void *wqe;

	if (unlikely((uint32_t)wr->opcode >= ERDMA_SQE_OPCODES ||
		     wr->send_flags >= ERDMA_SQE_FLAGS))
		return -EINVAL;
	if (unlikely(sq->left < ERDMA_SQE_BLOCKS_MAX) && !look_for_room(sq, pi))
		return push_aside(qp, wr, pi);
	rule = &sq->rules[ERDMA_SQE_RULE(wr)];
	wqe = block_at(sq, pi);
	head = rule->build(sq, wr, wqe);
	if (unlikely(!head))
		return -rule->error;
	sq->wr_id[pi & sq->mask] = wr->wr_id;
	blocks = blocks_of(head);
	sq->left -= blocks;
	pi = (uint16_t)(pi + blocks);
	set_head(wqe, head | rule->opcode | erdma_sqe_flags[wr->send_flags] | pi);
	return (int)pi;
}

/* For the extended interface: puts one WQE into the ring, and leaves the bell alone. */
int erdma_push(struct erdma_qp *qp, const struct ibv_send_wr *wr, uint32_t pi)
{
	return push(qp, wr, pi);
}

int an_erdma_post_send(struct ibv_qp *ibv_qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	struct erdma_qp *qp = to_erdma_qp(ibv_qp);
	struct erdma_sq *sq = &qp->sq;
	int pi, next, err = 0;

	anynic_lock(&sq->lock);
	pi = (int)sq->pi;
	for (; wr; wr = wr->next) {
		next = push(qp, wr, (uint32_t)pi);
		if (unlikely(next < 0)) {
			err = -next;
			*bad_wr = wr;
			break;
		}
		pi = next;
	}
	/* One bell for all that went in, also for those before a bad one. */
	if (likely(pi != (int)sq->pi)) {
		sq->pi = (uint32_t)pi;
		erdma_sq_ring(sq, sq->pi);
	}
	anynic_unlock(&sq->lock);
	return err;
}

static int recv_error(const struct erdma_qp *qp, const struct ibv_recv_wr *wr)
{
	if (!qp->rq.room)
		return erdma_recv_error(qp->state);
	return (uint32_t)wr->num_sge > qp->rq.max_sge ? EINVAL : ENOMEM;
}

static inline void fill_rqe(struct erdma_rqe *rqe, const struct ibv_recv_wr *wr, uint64_t head)
{
	if (likely(wr->num_sge)) {
		rqe->addr = nic_to_le64(wr->sg_list->addr);
		*(__le64 *)&rqe->length =
			nic_to_le64(wr->sg_list->length | (uint64_t)wr->sg_list->lkey << 32);
	} else {
		rqe->length = 0;
	}
	*(__le64 *)rqe = nic_to_le64(head);
}

int an_erdma_post_recv(struct ibv_qp *ibv_qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct erdma_qp *qp = to_erdma_qp(ibv_qp);
	struct erdma_rq *rq = &qp->rq;
	int err = 0;

	anynic_lock(&rq->lock);
	for (; wr; wr = wr->next) {
		uint32_t pi = rq->pi, place = pi & rq->mask;
		uint64_t head;

		if (unlikely((uint16_t)(pi - __atomic_load_n(&rq->ci, __ATOMIC_ACQUIRE)) >=
				     rq->room ||
			     (uint32_t)wr->num_sge > rq->max_sge)) {
			err = recv_error(qp, wr);
			*bad_wr = wr;
			break;
		}
		rq->wr_id[place] = wr->wr_id;
		pi = (uint16_t)(pi + 1);
		rq->pi = pi;
		/* The entry's first 8 bytes are the doorbell: the NIC wants one for each. */
		head = rq->qpn_bits | nic_prep(ERDMA_RQ_DB_PI, pi);
		fill_rqe(&rq->ring[place], wr, head);
		erdma_ring(rq->db, rq->record, head);
	}
	anynic_unlock(&rq->lock);
	return err;
}
