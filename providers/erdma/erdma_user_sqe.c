/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * erdma, user half: work queue entries. Owns one builder for each shape, and the
 * tables that say which opcode has which shape on which type of QP. Knows nothing
 * of rings, doorbells and locks: a builder gets 128 contiguous bytes.
 *
 * A builder checks first and writes afterwards, so that a refused request leaves
 * the ring as it was. Words are composed in registers and stored once.
 */
#include "providers/erdma/erdma_user.h"

#include <errno.h>
#include <string.h>

/* WQE offsets at which data, SGEs or inline bytes, starts. */
#define DATA_IN_BLOCK	 16 /* RC send: in the other half of the first block */
#define DATA_AFTER_BLOCK 32

/* By send_flags: FENCE 1, SIGNALED 2, SOLICITED 4, INLINE 8. */
#define FLAG_BITS(flags)                                                    \
	(nic_prep(ERDMA_SQE_FENCE, ((flags)&IBV_SEND_FENCE) != 0) |         \
	 nic_prep(ERDMA_SQE_SIGNALED, ((flags)&IBV_SEND_SIGNALED) != 0) |   \
	 nic_prep(ERDMA_SQE_SOLICITED, ((flags)&IBV_SEND_SOLICITED) != 0) | \
	 nic_prep(ERDMA_SQE_INLINE, ((flags)&IBV_SEND_INLINE) != 0))
const uint32_t erdma_sqe_flags[IBV_SEND_INLINE << 1] = {
	FLAG_BITS(0),  FLAG_BITS(1),  FLAG_BITS(2),  FLAG_BITS(3),  FLAG_BITS(4),  FLAG_BITS(5),
	FLAG_BITS(6),  FLAG_BITS(7),  FLAG_BITS(8),  FLAG_BITS(9),  FLAG_BITS(10), FLAG_BITS(11),
	FLAG_BITS(12), FLAG_BITS(13), FLAG_BITS(14), FLAG_BITS(15),
};

/* Two 32-bit little-endian words that follow each other, stored as one. */
static inline void put_pair(void *to, uint32_t first, uint32_t second)
{
	*(__le64 *)to = nic_to_le64(first | (uint64_t)second << 32);
}

/* As above, but the first word goes as it is: an immediate is in network order. */
static inline void put_immediate(void *to, uint32_t immediate, uint32_t length)
{
	put_pair(to, nic_from_le32((__le32)immediate), length);
}

static inline void put_sge(void *to, const struct ibv_sge *sge)
{
	struct erdma_sge *out = to;

	out->addr = nic_to_le64(sge->addr);
	put_pair(&out->length, sge->length, sge->lkey);
}

/*
 * Blocks and SGE count as they stand in a header, for "bytes" bytes of data that
 * start "at" bytes into the WQE.
 */
static inline uint64_t data_bits(size_t at, size_t bytes, size_t sgl)
{
	return nic_prep(ERDMA_SQE_BLOCKS, (at + bytes - 1) >> ERDMA_SQ_BLOCK_SHIFT) |
	       nic_prep(ERDMA_SQE_SGL, sgl);
}

/*
 * SGEs from wqe + at. The last one may leave the second half of its block over;
 * the driver's own code puts the QPN at that half's end, and so does this one.
 */
static inline uint64_t put_sges(const struct erdma_sq *sq, char *wqe, size_t at,
				const struct ibv_sge *sges, size_t count)
{
	size_t i, end = at + count * sizeof(struct erdma_sge);

	for (i = 0; i < count; i++)
		put_sge(wqe + at + i * sizeof(struct erdma_sge), &sges[i]);
	if (end > ERDMA_SQ_BLOCK_BYTES && end % ERDMA_SQ_BLOCK_BYTES)
		put_pair(wqe + end + 8, 0, nic_pick(sq->base, ERDMA_SQE_QPN));
	return data_bits(at, count * sizeof(struct erdma_sge), count);
}

/* The sum does not wrap: it has 64 bits, and each piece 32. */
static inline uint64_t length_of(const struct ibv_send_wr *wr)
{
	uint64_t length = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++)
		length += wr->sg_list[i].length;
	return length;
}

/*
 * Data of a send or a write: is it within the limits? Inline pieces may be any
 * number, since nothing but their bytes gets into the WQE.
 */
static inline bool data_fits(const struct erdma_sq *sq, const struct ibv_send_wr *wr,
			     uint64_t length)
{
	if (wr->send_flags & IBV_SEND_INLINE)
		return length <= sq->max_inline;
	return (unsigned int)wr->num_sge <= sq->max_sge && length <= sq->max_length;
}

static inline uint64_t put_data(const struct erdma_sq *sq, const struct ibv_send_wr *wr, char *wqe,
				size_t at, uint64_t length)
{
	char *to = wqe + at;
	int i;

	if (!(wr->send_flags & IBV_SEND_INLINE))
		return sq->base | put_sges(sq, wqe, at, wr->sg_list, (size_t)wr->num_sge);
	for (i = 0; i < wr->num_sge; i++) {
		memcpy(to, (const void *)(uintptr_t)wr->sg_list[i].addr, wr->sg_list[i].length);
		to += wr->sg_list[i].length;
	}
	return sq->base | data_bits(at, length, length);
}

static uint64_t build_write(const struct erdma_sq *sq, const struct ibv_send_wr *wr, void *wqe)
{
	struct erdma_sqe_write *sqe = wqe;
	uint64_t length = length_of(wr);

	if (unlikely(!data_fits(sq, wr, length)))
		return 0;
	put_immediate(&sqe->immediate, wr->imm_data, (uint32_t)length);
	put_pair(&sqe->rkey, wr->wr.rdma.rkey, (uint32_t)wr->wr.rdma.remote_addr);
	put_pair(&sqe->remote_high, (uint32_t)(wr->wr.rdma.remote_addr >> 32), 0);
	return put_data(sq, wr, wqe, DATA_AFTER_BLOCK, length);
}

static uint64_t build_send(const struct erdma_sq *sq, const struct ibv_send_wr *wr, void *wqe)
{
	struct erdma_sqe_send *sqe = wqe;
	uint64_t length = length_of(wr);

	if (unlikely(!data_fits(sq, wr, length)))
		return 0;
	put_immediate(&sqe->immediate, wr->imm_data, (uint32_t)length);
	return put_data(sq, wr, wqe, DATA_IN_BLOCK, length);
}

static uint64_t build_send_inv(const struct erdma_sq *sq, const struct ibv_send_wr *wr, void *wqe)
{
	struct erdma_sqe_send *sqe = wqe;
	uint64_t length = length_of(wr);

	if (unlikely(!data_fits(sq, wr, length)))
		return 0;
	put_pair(&sqe->invalidate, wr->invalidate_rkey, (uint32_t)length);
	return put_data(sq, wr, wqe, DATA_IN_BLOCK, length);
}

/* IBTA 10.2.5: a Q_Key with the high bit set stands for the QP's own. */
static uint64_t build_ud(const struct erdma_sq *sq, const struct ibv_send_wr *wr, void *wqe)
{
	struct erdma_sqe_ud *sqe = wqe;
	uint64_t length = length_of(wr);
	uint32_t qkey = wr->wr.ud.remote_qkey;

	if (unlikely(!wr->wr.ud.ah || !data_fits(sq, wr, length)))
		return 0;
	put_immediate(&sqe->immediate, wr->imm_data, (uint32_t)length);
	put_pair(&sqe->qkey, qkey & 0x80000000 ? sq->qkey : qkey, wr->wr.ud.remote_qpn);
	put_pair(&sqe->ahn, to_erdma_ah(wr->wr.ud.ah)->ahn, 0);
	return put_data(sq, wr, wqe, DATA_AFTER_BLOCK, length);
}

/* READs and atomics have one local piece; nothing of theirs can be inline. */
static inline bool has_one_piece(const struct ibv_send_wr *wr)
{
	return wr->num_sge == 1 && !(wr->send_flags & IBV_SEND_INLINE);
}

static uint64_t build_read(const struct erdma_sq *sq, const struct ibv_send_wr *wr, void *wqe)
{
	struct erdma_sqe_read *sqe = wqe;
	const struct ibv_sge *sge = wr->sg_list;

	if (unlikely(!has_one_piece(wr) || sge->length > sq->max_length))
		return 0;
	put_pair(&sqe->invalidate, 0, sge->length);
	put_pair(&sqe->lkey, sge->lkey, (uint32_t)sge->addr);
	put_pair(&sqe->local_high, (uint32_t)(sge->addr >> 32), 0);
	sqe->remote.addr = nic_to_le64(wr->wr.rdma.remote_addr);
	put_pair(&sqe->remote.length, sge->length, wr->wr.rdma.rkey);
	return sq->base | nic_prep(ERDMA_SQE_BLOCKS, 1);
}

static inline uint64_t put_atomic(const struct erdma_sq *sq, const struct ibv_send_wr *wr,
				  struct erdma_sqe_atomic *sqe)
{
	sqe->remote.addr = nic_to_le64(wr->wr.atomic.remote_addr);
	put_pair(&sqe->remote.length, 0, wr->wr.atomic.rkey);
	put_sge(&sqe->local, wr->sg_list);
	return sq->base | nic_prep(ERDMA_SQE_BLOCKS, 1);
}

static uint64_t build_cmp_swap(const struct erdma_sq *sq, const struct ibv_send_wr *wr, void *wqe)
{
	struct erdma_sqe_atomic *sqe = wqe;

	if (unlikely(!has_one_piece(wr)))
		return 0;
	sqe->operand = nic_to_le64(wr->wr.atomic.swap);
	sqe->compare = nic_to_le64(wr->wr.atomic.compare_add);
	return put_atomic(sq, wr, sqe);
}

static uint64_t build_fetch_add(const struct erdma_sq *sq, const struct ibv_send_wr *wr, void *wqe)
{
	struct erdma_sqe_atomic *sqe = wqe;

	if (unlikely(!has_one_piece(wr)))
		return 0;
	sqe->operand = nic_to_le64(wr->wr.atomic.compare_add);
	return put_atomic(sq, wr, sqe);
}

static uint64_t build_local_inv(const struct erdma_sq *sq, const struct ibv_send_wr *wr, void *wqe)
{
	struct erdma_sqe_reg_mr *sqe = wqe;

	if (unlikely(wr->send_flags & IBV_SEND_INLINE))
		return 0;
	sqe->key = nic_to_le32(wr->invalidate_rkey);
	return sq->base;
}

static uint64_t refuse(const struct erdma_sq *sq, const struct ibv_send_wr *wr, void *wqe)
{
	(void)sq;
	(void)wr;
	(void)wqe;
	return 0;
}

#define RULE(build, op)                                                  \
	{                                                                \
		build, nic_prep(ERDMA_SQE_OPCODE, ERDMA_OP_##op), EINVAL \
	}
/* The NIC does not do it at all. */
#define LACKS                         \
	{                             \
		refuse, 0, EOPNOTSUPP \
	}
/* It does, but not on this type of QP. */
#define ILLEGAL                   \
	{                         \
		refuse, 0, EINVAL \
	}

const struct erdma_sqe_rule erdma_rc_rules[ERDMA_SQE_RULES] = {
	[IBV_WR_RDMA_WRITE] = RULE(build_write, WRITE),
	[IBV_WR_RDMA_WRITE_WITH_IMM] = RULE(build_write, WRITE_IMM),
	[IBV_WR_SEND] = RULE(build_send, SEND),
	[IBV_WR_SEND_WITH_IMM] = RULE(build_send, SEND_IMM),
	[IBV_WR_RDMA_READ] = RULE(build_read, READ),
	[IBV_WR_ATOMIC_CMP_AND_SWP] = RULE(build_cmp_swap, CMP_SWAP),
	[IBV_WR_ATOMIC_FETCH_AND_ADD] = RULE(build_fetch_add, FETCH_ADD),
	[IBV_WR_LOCAL_INV] = RULE(build_local_inv, LOCAL_INV),
	[IBV_WR_BIND_MW] = LACKS,
	[IBV_WR_SEND_WITH_INV] = RULE(build_send_inv, SEND_INV),
};

const struct erdma_sqe_rule erdma_ud_rules[ERDMA_SQE_RULES] = {
	[IBV_WR_RDMA_WRITE] = ILLEGAL,
	[IBV_WR_RDMA_WRITE_WITH_IMM] = ILLEGAL,
	[IBV_WR_SEND] = RULE(build_ud, SEND),
	[IBV_WR_SEND_WITH_IMM] = RULE(build_ud, SEND_IMM),
	[IBV_WR_RDMA_READ] = ILLEGAL,
	[IBV_WR_ATOMIC_CMP_AND_SWP] = ILLEGAL,
	[IBV_WR_ATOMIC_FETCH_AND_ADD] = ILLEGAL,
	[IBV_WR_LOCAL_INV] = ILLEGAL,
	[IBV_WR_BIND_MW] = LACKS,
	[IBV_WR_SEND_WITH_INV] = ILLEGAL,
};
