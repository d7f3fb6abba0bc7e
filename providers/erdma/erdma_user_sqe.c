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
const uint32_t erdma_sqe_flags[ERDMA_SQE_FLAGS] = {
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

/* BLOCKS and SGL of a header, for count SGEs that start "at" bytes into the WQE. */
#define SGE_BITS(at, count)                                                                  \
	(nic_prep(ERDMA_SQE_BLOCKS,                                                          \
		  ((at) + (count) * sizeof(struct erdma_sge) - 1) >> ERDMA_SQ_BLOCK_SHIFT) | \
	 nic_prep(ERDMA_SQE_SGL, count))
#define SGE_BITS_ROW(at)                                                            \
	{                                                                           \
		SGE_BITS(at, 0), SGE_BITS(at, 1), SGE_BITS(at, 2), SGE_BITS(at, 3), \
			SGE_BITS(at, 4), SGE_BITS(at, 5), SGE_BITS(at, 6)           \
	}
static const uint64_t sge_bits[][ERDMA_SEND_SGE_MAX + 1] = {
	[DATA_IN_BLOCK / 16] = SGE_BITS_ROW(DATA_IN_BLOCK),
	[DATA_AFTER_BLOCK / 16] = SGE_BITS_ROW(DATA_AFTER_BLOCK),
};

/* The sum does not wrap: it has 64 bits, and each piece 32. */
static inline uint64_t length_of(const struct ibv_send_wr *wr)
{
	const struct ibv_sge *sge = wr->sg_list, *end = sge + wr->num_sge;
	uint64_t length = 0;

	for (; sge < end; sge++)
		length += sge->length;
	return length;
}

static inline bool sges_fit(const struct erdma_sq *sq, const struct ibv_send_wr *wr,
			    uint64_t *length)
{
	if (unlikely((uint32_t)wr->num_sge > sq->max_sge))
		return false;
	*length = length_of(wr);
	return likely(*length <= sq->max_length);
}

/*
 * SGEs from wqe + at. The last one may leave the second half of its block over;
 * the driver's own code puts the QPN at that half's end, and so does this one.
 */
static inline uint64_t put_sges(const struct erdma_sq *sq, const struct ibv_send_wr *wr, char *wqe,
				size_t at)
{
	/* In registers: as far as the compiler knows, a store may change what wr points to. */
	const struct ibv_sge *sge = wr->sg_list, *end = sge + wr->num_sge;
	size_t count = (size_t)wr->num_sge;
	char *to = wqe + at;

	for (; sge < end; sge++, to += sizeof(struct erdma_sge))
		put_sge(to, sge);
	if (count && (at + count * sizeof(struct erdma_sge)) % ERDMA_SQ_BLOCK_BYTES)
		*(__le64 *)(to + 8) = nic_to_le64(sq->qpn_bits);
	return sq->base | sge_bits[at / 16][count];
}
_Static_assert(nic_mask(ERDMA_SQE_QPN) >> 32 == 0xfffff, "qpn_bits is the QPN as a second word");

/* Inline pieces may be any number: nothing but their bytes gets into the WQE. */
static inline bool bytes_fit(const struct erdma_sq *sq, const struct ibv_send_wr *wr,
			     uint64_t *length)
{
	*length = wr->num_sge > 0 ? length_of(wr) : 0;
	return likely(*length <= sq->max_inline);
}

static inline uint64_t put_bytes(const struct erdma_sq *sq, const struct ibv_send_wr *wr, char *wqe,
				 size_t at, uint64_t length)
{
	const struct ibv_sge *sge = wr->sg_list, *end = sge + wr->num_sge;
	char *to = wqe + at;

	for (; sge < end; sge++) {
		memcpy(to, (const void *)(uintptr_t)sge->addr, sge->length);
		to += sge->length;
	}
	return sq->base | nic_prep(ERDMA_SQE_SGL, length) |
	       nic_prep(ERDMA_SQE_BLOCKS, (at + length - 1) >> ERDMA_SQ_BLOCK_SHIFT);
}

static inline void put_write(const struct ibv_send_wr *wr, struct erdma_sqe_write *sqe,
			     uint64_t length)
{
	put_immediate(&sqe->immediate, wr->imm_data, (uint32_t)length);
	put_pair(&sqe->rkey, wr->wr.rdma.rkey, (uint32_t)wr->wr.rdma.remote_addr);
	put_pair(&sqe->remote_high, (uint32_t)(wr->wr.rdma.remote_addr >> 32), 0);
}

static inline void put_send(const struct ibv_send_wr *wr, struct erdma_sqe_send *sqe,
			    uint64_t length)
{
	put_immediate(&sqe->immediate, wr->imm_data, (uint32_t)length);
}

static inline void put_send_inv(const struct ibv_send_wr *wr, struct erdma_sqe_send *sqe,
				uint64_t length)
{
	put_pair(&sqe->invalidate, wr->invalidate_rkey, (uint32_t)length);
}

/* With SGEs, and with inline data: what they share is above. */
#define BUILD_BOTH(name, at)                                                                  \
	static uint64_t build_##name(const struct erdma_sq *sq, const struct ibv_send_wr *wr, \
				     void *wqe)                                               \
	{                                                                                     \
		uint64_t length;                                                              \
                                                                                              \
		if (!sges_fit(sq, wr, &length))                                               \
			return 0;                                                             \
		put_##name(wr, wqe, length);                                                  \
		return put_sges(sq, wr, wqe, at);                                             \
	}                                                                                     \
	static uint64_t build_##name##_inline(const struct erdma_sq *sq,                      \
					      const struct ibv_send_wr *wr, void *wqe)        \
	{                                                                                     \
		uint64_t length;                                                              \
                                                                                              \
		if (!bytes_fit(sq, wr, &length))                                              \
			return 0;                                                             \
		put_##name(wr, wqe, length);                                                  \
		return put_bytes(sq, wr, wqe, at, length);                                    \
	}
BUILD_BOTH(write, DATA_AFTER_BLOCK)
BUILD_BOTH(send, DATA_IN_BLOCK)
BUILD_BOTH(send_inv, DATA_IN_BLOCK)

/* IBTA 10.2.5: a Q_Key with the high bit set stands for the QP's own. */
static inline void put_ud(const struct erdma_sq *sq, const struct ibv_send_wr *wr,
			  struct erdma_sqe_ud *sqe, uint64_t length)
{
	uint32_t qkey = wr->wr.ud.remote_qkey;

	put_immediate(&sqe->immediate, wr->imm_data, (uint32_t)length);
	put_pair(&sqe->qkey, qkey & 0x80000000 ? sq->qkey : qkey, wr->wr.ud.remote_qpn);
	put_pair(&sqe->ahn, to_erdma_ah(wr->wr.ud.ah)->ahn, 0);
}

static uint64_t build_ud(const struct erdma_sq *sq, const struct ibv_send_wr *wr, void *wqe)
{
	uint64_t length;

	if (unlikely(!wr->wr.ud.ah) || !sges_fit(sq, wr, &length))
		return 0;
	put_ud(sq, wr, wqe, length);
	return put_sges(sq, wr, wqe, DATA_AFTER_BLOCK);
}

static uint64_t build_ud_inline(const struct erdma_sq *sq, const struct ibv_send_wr *wr, void *wqe)
{
	uint64_t length;

	if (unlikely(!wr->wr.ud.ah) || !bytes_fit(sq, wr, &length))
		return 0;
	put_ud(sq, wr, wqe, length);
	return put_bytes(sq, wr, wqe, DATA_AFTER_BLOCK, length);
}

/* One local piece, as for atomics; the driver's kernel code refuses anything else too. */
static uint64_t build_read(const struct erdma_sq *sq, const struct ibv_send_wr *wr, void *wqe)
{
	struct erdma_sqe_read *sqe = wqe;
	const struct ibv_sge *sge = wr->sg_list;

	if (unlikely(wr->num_sge != 1 || sge->length > sq->max_length))
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

	if (unlikely(wr->num_sge != 1))
		return 0;
	sqe->operand = nic_to_le64(wr->wr.atomic.swap);
	sqe->compare = nic_to_le64(wr->wr.atomic.compare_add);
	return put_atomic(sq, wr, sqe);
}

static uint64_t build_fetch_add(const struct erdma_sq *sq, const struct ibv_send_wr *wr, void *wqe)
{
	struct erdma_sqe_atomic *sqe = wqe;

	if (unlikely(wr->num_sge != 1))
		return 0;
	sqe->operand = nic_to_le64(wr->wr.atomic.compare_add);
	return put_atomic(sq, wr, sqe);
}

static uint64_t build_local_inv(const struct erdma_sq *sq, const struct ibv_send_wr *wr, void *wqe)
{
	struct erdma_sqe_reg_mr *sqe = wqe;

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

/* A pair of rules: without inline data, and with. */
#define RULE(build, op)                                                  \
	{                                                                \
		build, nic_prep(ERDMA_SQE_OPCODE, ERDMA_OP_##op), EINVAL \
	}
#define REFUSE(error)            \
	{                        \
		refuse, 0, error \
	}
#define AT(op, plain, with_inline) [op * 2] = plain, [op * 2 + 1] = with_inline
/* May carry inline data: IBTA and ibv_post_send(3) allow it for sends and writes only. */
#define DATA(op, build, name)  AT(op, RULE(build, name), RULE(build##_inline, name))
#define PLAIN(op, build, name) AT(op, RULE(build, name), REFUSE(EINVAL))
/* The NIC does it, but not on this type of QP; or the NIC does not do it at all. */
#define ILLEGAL(op) AT(op, REFUSE(EINVAL), REFUSE(EINVAL))
#define LACKS(op)   AT(op, REFUSE(EOPNOTSUPP), REFUSE(EOPNOTSUPP))

const struct erdma_sqe_rule erdma_rc_rules[ERDMA_SQE_OPCODES * 2] = {
	DATA(IBV_WR_RDMA_WRITE, build_write, WRITE),
	DATA(IBV_WR_RDMA_WRITE_WITH_IMM, build_write, WRITE_IMM),
	DATA(IBV_WR_SEND, build_send, SEND),
	DATA(IBV_WR_SEND_WITH_IMM, build_send, SEND_IMM),
	PLAIN(IBV_WR_RDMA_READ, build_read, READ),
	PLAIN(IBV_WR_ATOMIC_CMP_AND_SWP, build_cmp_swap, CMP_SWAP),
	PLAIN(IBV_WR_ATOMIC_FETCH_AND_ADD, build_fetch_add, FETCH_ADD),
	PLAIN(IBV_WR_LOCAL_INV, build_local_inv, LOCAL_INV),
	LACKS(IBV_WR_BIND_MW),
	DATA(IBV_WR_SEND_WITH_INV, build_send_inv, SEND_INV),
};

const struct erdma_sqe_rule erdma_ud_rules[ERDMA_SQE_OPCODES * 2] = {
	ILLEGAL(IBV_WR_RDMA_WRITE),
	ILLEGAL(IBV_WR_RDMA_WRITE_WITH_IMM),
	DATA(IBV_WR_SEND, build_ud, SEND),
	DATA(IBV_WR_SEND_WITH_IMM, build_ud, SEND_IMM),
	ILLEGAL(IBV_WR_RDMA_READ),
	ILLEGAL(IBV_WR_ATOMIC_CMP_AND_SWP),
	ILLEGAL(IBV_WR_ATOMIC_FETCH_AND_ADD),
	ILLEGAL(IBV_WR_LOCAL_INV),
	LACKS(IBV_WR_BIND_MW),
	ILLEGAL(IBV_WR_SEND_WITH_INV),
};
