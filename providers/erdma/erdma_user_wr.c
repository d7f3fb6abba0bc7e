/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * erdma, user half: the extended send interface, ibv_wr_start .. ibv_wr_complete.
 * Owns the request that is being built, and the promise that a batch is posted as
 * a whole or not at all. Knows no WQE format.
 *
 * The SQ's lock is held from start to complete or abort, as ibv_wr_post(3) allows.
 */
#include "providers/erdma/erdma_user.h"

#include <errno.h>
#include <string.h>

static struct erdma_qp *to_qp(struct ibv_qp_ex *qp_ex)
{
	return to_erdma_qp(&qp_ex->qp_base);
}

static void note_error(struct erdma_wr *wr, int err)
{
	if (!wr->err)
		wr->err = err;
}

/* The request is complete once the next one starts, or the batch ends. */
static void finish(struct erdma_qp *qp)
{
	struct erdma_wr *wr = &qp->wr;
	int pi;

	if (wr->open && !wr->err) {
		pi = erdma_push(qp, &wr->request, wr->pi);
		if (pi >= 0)
			wr->pi = (uint32_t)pi;
		else
			wr->err = -pi;
	}
	wr->open = false;
}

static struct ibv_send_wr *begin(struct ibv_qp_ex *qp_ex, enum ibv_wr_opcode opcode)
{
	struct erdma_qp *qp = to_qp(qp_ex);
	struct ibv_send_wr *request = &qp->wr.request;

	finish(qp);
	qp->wr.open = true;
	request->wr_id = qp_ex->wr_id;
	request->opcode = opcode;
	/* Inline is what the data says, not what the flags say. */
	request->send_flags = qp_ex->wr_flags & ~(unsigned int)IBV_SEND_INLINE;
	request->num_sge = 0;
	request->imm_data = 0;
	return request;
}

static void wr_start(struct ibv_qp_ex *qp_ex)
{
	struct erdma_qp *qp = to_qp(qp_ex);

	anynic_lock(&qp->sq.lock);
	qp->wr.pi = qp->sq.pi;
	qp->wr.open = false;
	qp->wr.err = 0;
}

/* What was written beyond the producer index nobody looks at, but its room was taken. */
static void drop_batch(struct erdma_sq *sq)
{
	sq->left = 0;
}

static int wr_complete(struct ibv_qp_ex *qp_ex)
{
	struct erdma_qp *qp = to_qp(qp_ex);
	int err;

	finish(qp);
	err = qp->wr.err;
	if (!err && qp->wr.pi != qp->sq.pi) {
		qp->sq.pi = qp->wr.pi;
		erdma_sq_ring(&qp->sq, qp->sq.pi);
	}
	if (err)
		drop_batch(&qp->sq);
	anynic_unlock(&qp->sq.lock);
	return err;
}

static void wr_abort(struct ibv_qp_ex *qp_ex)
{
	struct erdma_qp *qp = to_qp(qp_ex);

	drop_batch(&qp->sq);
	anynic_unlock(&qp->sq.lock);
}

/* ---- what to do ---- */

static void wr_send(struct ibv_qp_ex *qp)
{
	begin(qp, IBV_WR_SEND);
}

static void wr_send_imm(struct ibv_qp_ex *qp, __be32 imm_data)
{
	begin(qp, IBV_WR_SEND_WITH_IMM)->imm_data = imm_data;
}

static void wr_send_inv(struct ibv_qp_ex *qp, uint32_t rkey)
{
	begin(qp, IBV_WR_SEND_WITH_INV)->invalidate_rkey = rkey;
}

static void set_remote(struct ibv_send_wr *request, uint32_t rkey, uint64_t addr)
{
	request->wr.rdma.rkey = rkey;
	request->wr.rdma.remote_addr = addr;
}

static void wr_rdma_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr)
{
	set_remote(begin(qp, IBV_WR_RDMA_WRITE), rkey, addr);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, __be32 imm_data)
{
	struct ibv_send_wr *request = begin(qp, IBV_WR_RDMA_WRITE_WITH_IMM);

	set_remote(request, rkey, addr);
	request->imm_data = imm_data;
}

static void wr_rdma_read(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr)
{
	set_remote(begin(qp, IBV_WR_RDMA_READ), rkey, addr);
}

static void set_atomic(struct ibv_send_wr *request, uint32_t rkey, uint64_t addr,
		       uint64_t compare_add, uint64_t swap)
{
	request->wr.atomic.rkey = rkey;
	request->wr.atomic.remote_addr = addr;
	request->wr.atomic.compare_add = compare_add;
	request->wr.atomic.swap = swap;
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, uint64_t compare,
			      uint64_t swap)
{
	set_atomic(begin(qp, IBV_WR_ATOMIC_CMP_AND_SWP), rkey, addr, compare, swap);
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, uint64_t add)
{
	set_atomic(begin(qp, IBV_WR_ATOMIC_FETCH_AND_ADD), rkey, addr, add, 0);
}

static void wr_local_inv(struct ibv_qp_ex *qp, uint32_t rkey)
{
	begin(qp, IBV_WR_LOCAL_INV)->invalidate_rkey = rkey;
}

/* ---- on what ---- */

static void wr_set_ud_addr(struct ibv_qp_ex *qp, struct ibv_ah *ah, uint32_t remote_qpn,
			   uint32_t remote_qkey)
{
	struct ibv_send_wr *request = &to_qp(qp)->wr.request;

	request->wr.ud.ah = ah;
	request->wr.ud.remote_qpn = remote_qpn;
	request->wr.ud.remote_qkey = remote_qkey;
}

static void wr_set_sge_list(struct ibv_qp_ex *qp, size_t count, const struct ibv_sge *sges)
{
	struct erdma_wr *wr = &to_qp(qp)->wr;

	if (count > to_qp(qp)->sq.max_sge) {
		note_error(wr, EINVAL);
		return;
	}
	memcpy(wr->sges, sges, count * sizeof(*sges));
	wr->request.num_sge = (int)count;
}

static void wr_set_sge(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr, uint32_t length)
{
	const struct ibv_sge sge = {.addr = addr, .length = length, .lkey = lkey};

	wr_set_sge_list(qp, 1, &sge);
}

/* The length is looked at before each copy and never summed up: it cannot wrap. */
static void wr_set_inline_data_list(struct ibv_qp_ex *qp, size_t count,
				    const struct ibv_data_buf *buffers)
{
	struct erdma_wr *wr = &to_qp(qp)->wr;
	size_t room = to_qp(qp)->sq.max_inline, length = 0, i;

	for (i = 0; i < count; i++) {
		if (buffers[i].length > room - length) {
			note_error(wr, EINVAL);
			return;
		}
		memcpy(wr->data + length, buffers[i].addr, buffers[i].length);
		length += buffers[i].length;
	}
	wr->sges[0].addr = (uintptr_t)wr->data;
	wr->sges[0].length = (uint32_t)length;
	wr->request.num_sge = 1;
	wr->request.send_flags |= IBV_SEND_INLINE;
}

static void wr_set_inline_data(struct ibv_qp_ex *qp, void *addr, size_t length)
{
	const struct ibv_data_buf buffer = {.addr = addr, .length = length};

	wr_set_inline_data_list(qp, 1, &buffer);
}

#define UD_OPS (IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM)
#define RC_OPS                                                                     \
	(UD_OPS | IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | \
	 IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |            \
	 IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_LOCAL_INV |          \
	 IBV_QP_EX_WITH_SEND_WITH_INV)

/*
 * Every function is there, whichever were asked for: one that the type of QP does
 * not allow leads to the same refusal as in ibv_post_send.
 */
int erdma_wr_init(struct erdma_qp *qp, uint64_t send_ops)
{
	struct ibv_qp_ex *qp_ex = &qp->base.verbs.qp_ex;

	if (send_ops & ~(uint64_t)(qp->is_ud ? UD_OPS : RC_OPS))
		return -EOPNOTSUPP;
	qp->wr.request.sg_list = qp->wr.sges;
	pabi_set_qp_ex(&qp->base.verbs);
	qp_ex->wr_abort = wr_abort;
	qp_ex->wr_atomic_cmp_swp = wr_atomic_cmp_swp;
	qp_ex->wr_atomic_fetch_add = wr_atomic_fetch_add;
	qp_ex->wr_complete = wr_complete;
	qp_ex->wr_local_inv = wr_local_inv;
	qp_ex->wr_rdma_read = wr_rdma_read;
	qp_ex->wr_rdma_write = wr_rdma_write;
	qp_ex->wr_rdma_write_imm = wr_rdma_write_imm;
	qp_ex->wr_send = wr_send;
	qp_ex->wr_send_imm = wr_send_imm;
	qp_ex->wr_send_inv = wr_send_inv;
	qp_ex->wr_set_inline_data = wr_set_inline_data;
	qp_ex->wr_set_inline_data_list = wr_set_inline_data_list;
	qp_ex->wr_set_sge = wr_set_sge;
	qp_ex->wr_set_sge_list = wr_set_sge_list;
	qp_ex->wr_set_ud_addr = wr_set_ud_addr;
	qp_ex->wr_start = wr_start;
	return 0;
}
