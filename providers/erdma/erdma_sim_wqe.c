// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * erdma simulator: work requests. Owns the reading of SQEs and RQEs and what
 * the engine is told to do for each. Knows nothing of doorbells or CQEs.
 *
 * A WQE that says nonsense is not dropped: it takes its turn, completes with an error and
 * stops the QP, as the work before it must complete first.
 */
#include "providers/erdma/erdma_sim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SQE_BYTES_MAX (ERDMA_SQE_BLOCKS_MAX * ERDMA_SQ_BLOCK_BYTES)
#define QPN_MASK      0xffffff

/* A WQE copied out of the ring, and what comes of it. */
struct sqe {
	_Alignas(8) uint8_t bytes[SQE_BYTES_MAX];
	uint64_t hdr;
	size_t length;
	unsigned int blocks;
	struct roce_send_wr wr;
	struct roce_sge sge[ERDMA_SEND_SGE_MAX];
};

struct kind {
	bool legal;
	enum roce_wr_opcode opcode;
	uint8_t size; /* of the fixed part */
	int (*decode)(struct erdma_qp *qp, struct sqe *sqe);
};

/* SGEs or inline data behind the fixed part of the WQE. */
static int decode_payload(struct sqe *sqe, size_t offset)
{
	const struct erdma_sge *sge = (const void *)(sqe->bytes + offset);
	uint32_t count = nic_pick(sqe->hdr, ERDMA_SQE_SGL), i;
	struct roce_send_wr *wr = &sqe->wr;

	if (nic_pick(sqe->hdr, ERDMA_SQE_INLINE)) {
		if (count > ERDMA_INLINE_MAX || offset + count > sqe->length)
			return -EINVAL;
		wr->flags |= ROCE_WR_INLINE;
		wr->inline_data = sqe->bytes + offset;
		wr->inline_length = count;
		return 0;
	}
	if (count > ERDMA_SEND_SGE_MAX || offset + count * sizeof(*sge) > sqe->length)
		return -EINVAL;
	for (i = 0; i < count; i++)
		sqe->sge[i] = (struct roce_sge){.addr = nic_from_le64(sge[i].addr),
						.length = nic_from_le32(sge[i].length),
						.lkey = nic_from_le32(sge[i].key)};
	wr->sge = sqe->sge;
	wr->num_sge = count;
	return 0;
}

static void one_sge(struct sqe *sqe, uint64_t addr, uint32_t length, uint32_t lkey)
{
	sqe->sge[0] = (struct roce_sge){.addr = addr, .length = length, .lkey = lkey};
	sqe->wr.sge = sqe->sge;
	sqe->wr.num_sge = 1;
}

static uint64_t join(__le32 high, __le32 low)
{
	return (uint64_t)nic_from_le32(high) << 32 | nic_from_le32(low);
}

static int decode_write(struct erdma_qp *qp, struct sqe *sqe)
{
	const struct erdma_sqe_write *w = (const void *)sqe->bytes;

	(void)qp;
	sqe->wr.imm = nic_from_be32(w->immediate);
	sqe->wr.rkey = nic_from_le32(w->rkey);
	sqe->wr.remote_addr = join(w->remote_high, w->remote_low);
	return decode_payload(sqe, sizeof(*w));
}

static int decode_read(struct erdma_qp *qp, struct sqe *sqe)
{
	const struct erdma_sqe_read *r = (const void *)sqe->bytes;

	(void)qp;
	one_sge(sqe, join(r->local_high, r->local_low), nic_from_le32(r->length),
		nic_from_le32(r->lkey));
	sqe->wr.remote_addr = nic_from_le64(r->remote.addr);
	sqe->wr.rkey = nic_from_le32(r->remote.key);
	if (sqe->wr.opcode == ROCE_WR_READ_INV)
		sqe->wr.inv_key = nic_from_le32(r->invalidate);
	return 0;
}

static int decode_send(struct erdma_qp *qp, struct sqe *sqe)
{
	const struct erdma_sqe_send *s = (const void *)sqe->bytes;

	(void)qp;
	if (sqe->wr.opcode == ROCE_WR_SEND_INV)
		sqe->wr.inv_key = nic_from_le32(s->invalidate);
	else
		sqe->wr.imm = nic_from_be32(s->immediate);
	return decode_payload(sqe, sizeof(*s));
}

static int decode_ud(struct erdma_qp *qp, struct sqe *sqe)
{
	const struct erdma_sqe_ud *u = (const void *)sqe->bytes;
	const struct erdma_ah *ah = erdma_ah_find(qp->nic, nic_from_le32(u->ahn));

	if (!ah || ah->pdn != qp->pdn)
		return -EINVAL;
	sqe->wr.imm = nic_from_be32(u->immediate);
	sqe->wr.ud.av = ah->av;
	sqe->wr.ud.dest_qpn = nic_from_le32(u->qpn) & QPN_MASK;
	sqe->wr.ud.qkey = nic_from_le32(u->qkey);
	return decode_payload(sqe, sizeof(*u));
}

static int decode_atomic(struct erdma_qp *qp, struct sqe *sqe)
{
	const struct erdma_sqe_atomic *a = (const void *)sqe->bytes;
	uint64_t operand = nic_from_le64(a->operand);

	(void)qp;
	/* The length is the 8 bytes of an atomic, whatever the SGE says. */
	one_sge(sqe, nic_from_le64(a->local.addr), sizeof(uint64_t), nic_from_le32(a->local.key));
	sqe->wr.remote_addr = nic_from_le64(a->remote.addr);
	sqe->wr.rkey = nic_from_le32(a->remote.key);
	if (sqe->wr.opcode == ROCE_WR_CMP_SWAP) {
		sqe->wr.compare_add = nic_from_le64(a->compare);
		sqe->wr.swap = operand;
	} else {
		sqe->wr.compare_add = operand;
	}
	return 0;
}

static int decode_local_inv(struct erdma_qp *qp, struct sqe *sqe)
{
	const struct erdma_sqe_reg_mr *r = (const void *)sqe->bytes;

	(void)qp;
	sqe->wr.inv_key = nic_from_le32(r->key);
	return 0;
}

static int decode_reg_mr(struct erdma_qp *qp, struct sqe *sqe)
{
	const struct erdma_sqe_reg_mr *r = (const void *)sqe->bytes;
	const __le64 *pages = (const void *)(sqe->bytes + sizeof(*r));
	struct erdma_fast_reg *reg;
	uint32_t i;

	(void)qp;
	reg = calloc(1, sizeof(*reg));
	if (!reg)
		return -EINVAL;
	reg->key = nic_from_le32(r->key);
	reg->va = nic_from_le64(r->va);
	reg->length = nic_from_le32(r->length);
	reg->access = nic_get(r, ERDMA_SQE_MR_ACCESS);
	reg->count = nic_get(r, ERDMA_SQE_MR_COUNT);
	reg->indirect = nic_get(r, ERDMA_SQE_MR_INDIRECT) != 0;
	if (!reg->indirect && (reg->count > ERDMA_MTT_INLINE ||
			       sizeof(*r) + reg->count * sizeof(pages[0]) > sqe->length)) {
		free(reg);
		return -EINVAL;
	}
	for (i = 0; !reg->indirect && i < reg->count; i++)
		reg->pages[i] = nic_from_le64(pages[i]);
	sqe->wr.reg = reg;
	sqe->wr.inv_key = reg->key;
	return 0;
}

static const struct kind rc_kinds[ERDMA_OP_COUNT] = {
	[ERDMA_OP_WRITE] = {true, ROCE_WR_WRITE, sizeof(struct erdma_sqe_write), decode_write},
	[ERDMA_OP_READ] = {true, ROCE_WR_READ, sizeof(struct erdma_sqe_read), decode_read},
	[ERDMA_OP_SEND] = {true, ROCE_WR_SEND, sizeof(struct erdma_sqe_send), decode_send},
	[ERDMA_OP_SEND_IMM] = {true, ROCE_WR_SEND_IMM, sizeof(struct erdma_sqe_send), decode_send},
	[ERDMA_OP_WRITE_IMM] = {true, ROCE_WR_WRITE_IMM, sizeof(struct erdma_sqe_write),
				decode_write},
	[ERDMA_OP_SEND_INV] = {true, ROCE_WR_SEND_INV, sizeof(struct erdma_sqe_send), decode_send},
	[ERDMA_OP_REG_MR] = {true, ROCE_WR_REG_MR, sizeof(struct erdma_sqe_reg_mr), decode_reg_mr},
	[ERDMA_OP_LOCAL_INV] = {true, ROCE_WR_LOCAL_INV, sizeof(struct erdma_sqe_reg_mr),
				decode_local_inv},
	[ERDMA_OP_READ_INV] = {true, ROCE_WR_READ_INV, sizeof(struct erdma_sqe_read), decode_read},
	[ERDMA_OP_CMP_SWAP] = {true, ROCE_WR_CMP_SWAP, sizeof(struct erdma_sqe_atomic),
			       decode_atomic},
	[ERDMA_OP_FETCH_ADD] = {true, ROCE_WR_FETCH_ADD, sizeof(struct erdma_sqe_atomic),
				decode_atomic},
};

static const struct kind ud_kinds[ERDMA_OP_COUNT] = {
	[ERDMA_OP_SEND] = {true, ROCE_WR_SEND, sizeof(struct erdma_sqe_ud), decode_ud},
	[ERDMA_OP_SEND_IMM] = {true, ROCE_WR_SEND_IMM, sizeof(struct erdma_sqe_ud), decode_ud},
};

/* Copies count entries of 32 bytes from index on; the ring may wrap between any two. */
static int ring_read(struct erdma_nic *nic, const struct erdma_ring *ring, uint16_t index,
		     unsigned int count, void *data)
{
	uint32_t slot = index & (ring->depth - 1), first = ring->depth - slot;
	size_t bytes;
	int err;

	if (first > count)
		first = count;
	bytes = (size_t)first << ERDMA_SQ_BLOCK_SHIFT;
	err = erdma_mtt_read(nic, &ring->mtt, (uint64_t)slot << ERDMA_SQ_BLOCK_SHIFT, data, bytes);
	if (err || first == count)
		return err;
	return erdma_mtt_read(nic, &ring->mtt, 0, (char *)data + bytes,
			      (size_t)(count - first) << ERDMA_SQ_BLOCK_SHIFT);
}

static void trace(struct erdma_nic *nic, const struct sqe *sqe)
{
	static const char digits[] = "0123456789abcdef";
	char line[2 * SQE_BYTES_MAX + 2], *out = line;
	size_t i;

	if (!nic->wqe_trace)
		return;
	for (i = 0; i < sqe->length; i++) {
		*out++ = digits[sqe->bytes[i] >> 4];
		*out++ = digits[sqe->bytes[i] & 15];
	}
	*out++ = '\n';
	fwrite(line, 1, (size_t)(out - line), nic->wqe_trace);
}

/*
 * Reads the WQE at ring->fetched. The number of blocks is the guest's word: it must end where
 * its own header says, and not beyond what the doorbell said. Where it does not, nothing tells
 * where the next one starts, so all up to the doorbell is taken for this one.
 */
static int sqe_read(struct erdma_qp *qp, struct sqe *sqe)
{
	struct erdma_ring *sq = &qp->sq;
	uint16_t waiting = (uint16_t)(sq->pi - sq->fetched), end;
	int err;

	err = ring_read(qp->nic, sq, sq->fetched, 1, sqe->bytes);
	if (err)
		return err;
	memcpy(&sqe->hdr, sqe->bytes, sizeof(sqe->hdr));
	sqe->hdr = nic_from_le64((__le64)sqe->hdr);
	sqe->blocks = nic_pick(sqe->hdr, ERDMA_SQE_BLOCKS) + 1;
	end = (uint16_t)(sq->fetched + sqe->blocks);
	if (sqe->blocks > ERDMA_SQE_BLOCKS_MAX || sqe->blocks > waiting ||
	    end != nic_pick(sqe->hdr, ERDMA_SQE_END)) {
		sqe->blocks = waiting;
		sqe->length = 0;
		return 0;
	}
	sqe->length = (size_t)sqe->blocks << ERDMA_SQ_BLOCK_SHIFT;
	if (sqe->blocks > 1)
		err = ring_read(qp->nic, sq, (uint16_t)(sq->fetched + 1), sqe->blocks - 1,
				sqe->bytes + ERDMA_SQ_BLOCK_BYTES);
	return err;
}

static int sqe_decode(struct erdma_qp *qp, struct sqe *sqe)
{
	const struct kind *kinds = qp->type == ROCE_QPT_RC ? rc_kinds : ud_kinds;
	uint32_t opcode = nic_pick(sqe->hdr, ERDMA_SQE_OPCODE);

	if (!sqe->length || opcode >= ERDMA_OP_COUNT || !kinds[opcode].legal ||
	    sqe->length < kinds[opcode].size || nic_pick(sqe->hdr, ERDMA_SQE_QPN) != qp->qpn)
		return -EINVAL;
	if (nic_pick(sqe->hdr, ERDMA_SQE_SIGNALED))
		sqe->wr.flags |= ROCE_WR_SIGNALED;
	if (nic_pick(sqe->hdr, ERDMA_SQE_SOLICITED))
		sqe->wr.flags |= ROCE_WR_SOLICITED;
	if (nic_pick(sqe->hdr, ERDMA_SQE_FENCE))
		sqe->wr.flags |= ROCE_WR_FENCE;
	sqe->wr.opcode = kinds[opcode].opcode;
	return kinds[opcode].decode(qp, sqe);
}

/* In place of a WQE that makes no sense. Drivers look the opcode up, so it is one they know. */
static int post_invalid(struct erdma_qp *qp, const struct sqe *sqe)
{
	uint32_t opcode = nic_pick(sqe->hdr, ERDMA_SQE_OPCODE);
	const struct roce_send_wr wr = {
		.wr_id = erdma_wr_id(qp->sq.fetched,
				     opcode < ERDMA_OP_COUNT ? opcode : ERDMA_OP_SEND),
		.opcode = ROCE_WR_INVALID,
		.flags = ROCE_WR_SIGNALED,
	};

	qp->nic->counters.invalid_wqes++;
	return roce_post_send(qp->qp, sim_roce_now(qp->nic->roce), &wr);
}

int erdma_wqe_send(struct erdma_qp *qp)
{
	struct sqe sqe;
	int err;

	if (roce_qp_send_outstanding(qp->qp) >= qp->send_window)
		return -EAGAIN;
	err = sqe_read(qp, &sqe);
	if (err)
		return err;
	trace(qp->nic, &sqe);
	memset(&sqe.wr, 0, sizeof(sqe.wr));
	err = sqe_decode(qp, &sqe);
	if (!err) {
		sqe.wr.wr_id = erdma_wr_id(qp->sq.fetched, nic_pick(sqe.hdr, ERDMA_SQE_OPCODE));
		err = roce_post_send(qp->qp, sim_roce_now(qp->nic->roce), &sqe.wr);
		if (err)
			free(sqe.wr.reg);
	}
	if (err == -ENOMEM)
		return -EAGAIN;
	if (err)
		err = post_invalid(qp, &sqe);
	if (err)
		return -EAGAIN;
	qp->sq.fetched = (uint16_t)(qp->sq.fetched + sqe.blocks);
	qp->nic->counters.send_wqes++;
	return 0;
}

int erdma_wqe_recv(struct erdma_qp *qp)
{
	struct roce_recv_wr wr = {.wr_id = erdma_wr_id(qp->rq.fetched, ERDMA_OP_RECV)};
	struct roce_sge sge;
	struct erdma_rqe rqe;
	int err;

	if (roce_qp_recv_outstanding(qp->qp) >= qp->recv_window)
		return -EAGAIN;
	err = ring_read(qp->nic, &qp->rq, qp->rq.fetched, 1, &rqe);
	if (err)
		return err;
	sge.addr = nic_from_le64(rqe.addr);
	sge.length = nic_from_le32(rqe.length);
	sge.lkey = nic_from_le32(rqe.key);
	/* Without a buffer the key is left over from an older entry. */
	if (sge.length) {
		wr.sge = &sge;
		wr.num_sge = 1;
	}
	if (roce_post_recv(qp->qp, sim_roce_now(qp->nic->roce), &wr))
		return -EAGAIN;
	qp->rq.fetched++;
	qp->nic->counters.recv_wqes++;
	return 0;
}
