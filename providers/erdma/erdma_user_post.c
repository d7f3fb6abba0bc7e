/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * erdma, user half: posting of work requests. Owns the producer indexes of both
 * rings. Knows nothing of what is in a WQE: erdma_user_sqe.c builds it.
 */
#include "providers/erdma/erdma_user.h"

#include <errno.h>
#include <string.h>

static inline void *block_at(const struct erdma_sq *sq, unsigned int index)
{
	return sq->ring + ((index & sq->mask) << ERDMA_SQ_BLOCK_SHIFT);
}

/* Copies a WQE that was built aside, block by block: it may go round the end. */
static void store_blocks(struct erdma_sq *sq, uint16_t pi, const void *wqe, unsigned int blocks)
{
	unsigned int i;

	for (i = 0; i < blocks; i++)
		memcpy(block_at(sq, pi + i), (const char *)wqe + i * ERDMA_SQ_BLOCK_BYTES,
		       ERDMA_SQ_BLOCK_BYTES);
}

static inline void set_head(void *wqe, uint64_t head)
{
	((struct erdma_sqe *)wqe)->hdr = nic_to_le64(head);
}

static inline unsigned int blocks_of(uint64_t head)
{
	return nic_pick(head, ERDMA_SQE_BLOCKS) + 1;
}

/*
 * The rare case: near the ring's end, nearly full, or in a state that forbids it.
 * How many blocks the request needs shows when it is built, so it is built aside.
 */
static __attribute__((noinline)) int push_aside(struct erdma_qp *qp, const struct ibv_send_wr *wr,
						const struct erdma_sqe_rule *rule, uint32_t bits,
						uint16_t *pi)
{
	uint64_t wqe[ERDMA_SQE_BLOCKS_MAX * ERDMA_SQ_BLOCK_BYTES / sizeof(uint64_t)] = {0};
	struct erdma_sq *sq = &qp->sq;
	unsigned int blocks;
	uint64_t head;

	if (!sq->room)
		return erdma_post_error(qp->state);
	head = rule->build(sq, wr, wqe);
	if (!head)
		return rule->error;
	blocks = blocks_of(head);
	if (erdma_sq_used(sq, *pi) + blocks > sq->room)
		return ENOMEM;
	sq->wr_id[*pi & sq->mask] = wr->wr_id;
	set_head(wqe, head | bits | (uint16_t)(*pi + blocks));
	store_blocks(sq, *pi, wqe, blocks);
	*pi = (uint16_t)(*pi + blocks);
	return 0;
}

static inline int push(struct erdma_qp *qp, const struct ibv_send_wr *wr, uint16_t *pi)
{
	struct erdma_sq *sq = &qp->sq;
	const struct erdma_sqe_rule *rule;
	unsigned int place = *pi & sq->mask;
	uint32_t bits;
	uint64_t head;
	void *wqe;

	if (unlikely((unsigned int)wr->opcode >= ERDMA_SQE_RULES ||
		     wr->send_flags >= sizeof(erdma_sqe_flags) / sizeof(erdma_sqe_flags[0])))
		return EINVAL;
	rule = &sq->rules[wr->opcode];
	bits = rule->opcode | erdma_sqe_flags[wr->send_flags];
	if (unlikely(erdma_sq_used(sq, *pi) + ERDMA_SQE_BLOCKS_MAX > sq->room ||
		     place + ERDMA_SQE_BLOCKS_MAX > sq->mask + 1u))
		return push_aside(qp, wr, rule, bits, pi);

	wqe = block_at(sq, place);
	head = rule->build(sq, wr, wqe);
	if (unlikely(!head))
		return rule->error;
	sq->wr_id[place] = wr->wr_id;
	*pi = (uint16_t)(*pi + blocks_of(head));
	set_head(wqe, head | bits | *pi);
	return 0;
}

/* For the extended interface: puts one WQE into the ring, and leaves the bell alone. */
int erdma_push(struct erdma_qp *qp, const struct ibv_send_wr *wr, uint16_t *pi)
{
	return push(qp, wr, pi);
}

int an_erdma_post_send(struct ibv_qp *ibv_qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	struct erdma_qp *qp = to_erdma_qp(ibv_qp);
	struct erdma_sq *sq = &qp->sq;
	uint16_t pi;
	int err = 0;

	anynic_lock(&sq->lock);
	pi = sq->pi;
	for (; wr; wr = wr->next) {
		err = push(qp, wr, &pi);
		if (unlikely(err)) {
			*bad_wr = wr;
			break;
		}
	}
	/* One bell for all that went in, also for those before a bad one. */
	if (likely(pi != sq->pi)) {
		sq->pi = pi;
		erdma_sq_ring(sq, pi);
	}
	anynic_unlock(&sq->lock);
	return err;
}

static int recv_error(const struct erdma_qp *qp, const struct ibv_recv_wr *wr)
{
	if (!qp->rq.room)
		return erdma_post_error(qp->state);
	return (unsigned int)wr->num_sge > qp->rq.max_sge ? EINVAL : ENOMEM;
}

int an_erdma_post_recv(struct ibv_qp *ibv_qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct erdma_qp *qp = to_erdma_qp(ibv_qp);
	struct erdma_rq *rq = &qp->rq;
	int err = 0;

	anynic_lock(&rq->lock);
	for (; wr; wr = wr->next) {
		uint16_t used = (uint16_t)(rq->pi - __atomic_load_n(&rq->ci, __ATOMIC_RELAXED));
		unsigned int place = rq->pi & rq->mask;
		struct erdma_rqe *rqe = &rq->ring[place];
		uint64_t head;

		if (unlikely(used >= rq->room || (unsigned int)wr->num_sge > rq->max_sge)) {
			err = recv_error(qp, wr);
			*bad_wr = wr;
			break;
		}
		rq->wr_id[place] = wr->wr_id;
		rq->pi++;
		head = nic_prep(ERDMA_RQ_DB_QPN, rq->qpn) | nic_prep(ERDMA_RQ_DB_PI, rq->pi);
		if (likely(wr->num_sge)) {
			rqe->addr = nic_to_le64(wr->sg_list->addr);
			*(__le64 *)&rqe->length = nic_to_le64(wr->sg_list->length |
							      (uint64_t)wr->sg_list->lkey << 32);
		} else {
			rqe->length = 0;
		}
		/* The entry's first 8 bytes are the doorbell: the NIC wants one for each. */
		*(__le64 *)rqe = nic_to_le64(head);
		erdma_ring(rq->db, rq->record, head);
	}
	anynic_unlock(&rq->lock);
	return err;
}
