/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * erdma's extended send interface, ibv_wr_*: the same WQEs as ibv_post_send, batches
 * that are posted whole or not at all, and field case P1. Authority: ibv_wr_post(3).
 */
#include <errno.h>
#include <string.h>

#include "tests/unit/userlib/fixture.h"

#define RING_BYTES (FIXTURE_DEPTH * ERDMA_SQE_BLOCKS_MAX * ERDMA_SQ_BLOCK_BYTES)
#define RC_OPS                                                                                  \
	(IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_SEND | \
	 IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ |                              \
	 IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD |              \
	 IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_SEND_WITH_INV)

static char payload[128];

/* A QP of the fixture with the extended interface on top. */
static struct ibv_qp_ex *make_ex(struct fixture *f, enum ibv_qp_type type, uint64_t ops)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = f->cq,
		.recv_cq = f->cq,
		.cap = {.max_send_wr = FIXTURE_DEPTH, .max_recv_wr = 1, .max_send_sge = 1},
		.qp_type = type,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = f->pd,
		.send_ops_flags = ops,
	};
	struct ibv_qp *qp = ibv_create_qp_ex(f->context, &attr);

	if (qp && nk_to_rts(qp, type)) {
		ibv_destroy_qp(qp);
		return NULL;
	}
	return qp ? ibv_qp_to_qp_ex(qp) : NULL;
}

static void start(struct ibv_qp_ex *qp)
{
	qp->wr_id = 1;
	qp->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_start(qp);
}

/* One request of each kind, by both interfaces; the rings must come out alike. */
static const struct both_row {
	const char *name;
	enum ibv_wr_opcode opcode;
	int num_sge;
	bool is_inline;
} both_rows[] = {
	{"write", IBV_WR_RDMA_WRITE, 1, false},
	{"write, 6 pieces", IBV_WR_RDMA_WRITE, 6, false},
	{"write, inline", IBV_WR_RDMA_WRITE, 2, true},
	{"write_imm", IBV_WR_RDMA_WRITE_WITH_IMM, 3, false},
	{"write_imm, inline", IBV_WR_RDMA_WRITE_WITH_IMM, 1, true},
	{"send", IBV_WR_SEND, 2, false},
	{"send, nothing", IBV_WR_SEND, 0, false},
	{"send, inline", IBV_WR_SEND, 3, true},
	{"send_imm", IBV_WR_SEND_WITH_IMM, 1, false},
	{"send_inv", IBV_WR_SEND_WITH_INV, 1, false},
	{"send_inv, inline", IBV_WR_SEND_WITH_INV, 1, true},
	{"read", IBV_WR_RDMA_READ, 1, false},
	{"cmp_swap", IBV_WR_ATOMIC_CMP_AND_SWP, 1, false},
	{"fetch_add", IBV_WR_ATOMIC_FETCH_AND_ADD, 1, false},
	{"local_inv", IBV_WR_LOCAL_INV, 0, false},
};

static void ask(struct ibv_qp_ex *qp, enum ibv_wr_opcode opcode)
{
	switch (opcode) {
	case IBV_WR_RDMA_WRITE:
		ibv_wr_rdma_write(qp, 0xb100, 0x7f0011223344);
		break;
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		ibv_wr_rdma_write_imm(qp, 0xb100, 0x7f0011223344, htobe32(0xcafe0001));
		break;
	case IBV_WR_SEND:
		ibv_wr_send(qp);
		break;
	case IBV_WR_SEND_WITH_IMM:
		ibv_wr_send_imm(qp, htobe32(0xcafe0001));
		break;
	case IBV_WR_SEND_WITH_INV:
		ibv_wr_send_inv(qp, 0x45600);
		break;
	case IBV_WR_RDMA_READ:
		ibv_wr_rdma_read(qp, 0xb100, 0x7f0011223344);
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		ibv_wr_atomic_cmp_swp(qp, 0xb100, 0x7f0011223344, 0x1112, 0x1314);
		break;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		ibv_wr_atomic_fetch_add(qp, 0xb100, 0x7f0011223344, 0x1112);
		break;
	case IBV_WR_LOCAL_INV:
		ibv_wr_local_inv(qp, 0x45600);
		break;
	default:
		break;
	}
}

static void post_plain(struct ibv_qp *qp, const struct both_row *row, struct ibv_sge *sges)
{
	struct ibv_send_wr wr = {
		.wr_id = 1,
		.sg_list = sges,
		.num_sge = row->num_sge,
		.opcode = row->opcode,
		.send_flags = IBV_SEND_SIGNALED | (row->is_inline ? IBV_SEND_INLINE : 0),
	};
	struct ibv_send_wr *bad;

	if (row->opcode == IBV_WR_SEND_WITH_INV || row->opcode == IBV_WR_LOCAL_INV)
		wr.invalidate_rkey = 0x45600;
	else if (row->opcode == IBV_WR_RDMA_WRITE_WITH_IMM || row->opcode == IBV_WR_SEND_WITH_IMM)
		wr.imm_data = htobe32(0xcafe0001);
	if (row->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	    row->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.rkey = 0xb100;
		wr.wr.atomic.remote_addr = 0x7f0011223344;
		wr.wr.atomic.compare_add = 0x1112;
		wr.wr.atomic.swap = 0x1314;
	} else {
		wr.wr.rdma.rkey = 0xb100;
		wr.wr.rdma.remote_addr = 0x7f0011223344;
	}
	T_EQ_ROW(row->name, ibv_post_send(qp, &wr, &bad), 0);
}

static void post_extended(struct ibv_qp_ex *qp, const struct both_row *row, struct ibv_sge *sges)
{
	struct ibv_data_buf buffers[6];
	int i;

	start(qp);
	ask(qp, row->opcode);
	for (i = 0; i < row->num_sge; i++)
		buffers[i] = (struct ibv_data_buf){(void *)(uintptr_t)sges[i].addr, sges[i].length};
	if (row->is_inline)
		ibv_wr_set_inline_data_list(qp, (size_t)row->num_sge, buffers);
	else if (row->num_sge == 1)
		ibv_wr_set_sge(qp, sges[0].lkey, sges[0].addr, sges[0].length);
	else if (row->num_sge)
		ibv_wr_set_sge_list(qp, (size_t)row->num_sge, sges);
	T_EQ_ROW(row->name, ibv_wr_complete(qp), 0);
}

static void same_bytes_as_post_send(void)
{
	struct ibv_sge sges[6];
	struct fixture f;
	struct ibv_qp_ex *ex;
	struct nk_qp *ex_nk;
	size_t i, j;

	T_NEED(fixture_open(&f, IBV_QPT_RC));
	for (j = 0; j < 6; j++)
		sges[j] = (struct ibv_sge){(uintptr_t)payload + j, (uint32_t)(8 + j),
					   (uint32_t)(0x100 + j)};
	for (i = 0; i < sizeof(both_rows) / sizeof(both_rows[0]); i++) {
		/* New QPs, so that both start at the same place. */
		struct ibv_qp_cap cap = f.cap;
		struct ibv_qp *plain = nk_make_qp(f.pd, f.cq, IBV_QPT_RC, &cap, 0);
		struct nk_qp *plain_nk;

		T_NEED(plain);
		plain_nk = nk_find_qp(plain);
		ex = make_ex(&f, IBV_QPT_RC, RC_OPS);
		T_NEED(ex);
		ex_nk = nk_find_qp(&ex->qp_base);
		post_plain(plain, &both_rows[i], sges);
		post_extended(ex, &both_rows[i], sges);
		T_EQ_ROW(both_rows[i].name, nk_sq_pi(ex_nk), nk_sq_pi(plain_nk));
		/* All but the QPNs, which are in the headers and may fill a half block. */
		nic_set((struct erdma_sqe *)ex_nk->ring, ERDMA_SQE_QPN, plain->qp_num);
		for (j = 60; j < RING_BYTES; j += 32)
			if (*(uint32_t *)(ex_nk->ring + j) == ex->qp_base.qp_num)
				*(uint32_t *)(ex_nk->ring + j) = plain->qp_num;
		T_BYTES_ROW(both_rows[i].name, ex_nk->ring, plain_nk->ring, RING_BYTES);
		T_EQ(ibv_destroy_qp(plain), 0);
		T_EQ(ibv_destroy_qp(&ex->qp_base), 0);
	}
	fixture_close(&f);
}

/* What each does is wrong after a good request: none of the batch may be posted. */
static void inline_too_long(struct ibv_qp_ex *qp)
{
	struct ibv_data_buf pieces[3] = {{payload, 40}, {payload, 40}, {payload, 40}};

	ibv_wr_send(qp);
	ibv_wr_set_inline_data_list(qp, 3, pieces);
}

static void inline_sum_wraps(struct ibv_qp_ex *qp)
{
	struct ibv_data_buf pieces[2] = {{payload, 0x80000010}, {payload, 0x80000000}};

	ibv_wr_rdma_write(qp, 1, 1);
	ibv_wr_set_inline_data_list(qp, 2, pieces);
}

static void inline_length_of_all_ones(struct ibv_qp_ex *qp)
{
	struct ibv_data_buf pieces[2] = {{payload, 1}, {payload, SIZE_MAX}};

	ibv_wr_send(qp);
	ibv_wr_set_inline_data_list(qp, 2, pieces);
}

static void inline_97(struct ibv_qp_ex *qp)
{
	ibv_wr_send(qp);
	ibv_wr_set_inline_data(qp, payload, 97);
}

static void inline_read(struct ibv_qp_ex *qp)
{
	ibv_wr_rdma_read(qp, 1, 1);
	ibv_wr_set_inline_data(qp, payload, 8);
}

static void inline_atomic(struct ibv_qp_ex *qp)
{
	ibv_wr_atomic_fetch_add(qp, 1, 1, 1);
	ibv_wr_set_inline_data(qp, payload, 8);
}

static void seven_pieces(struct ibv_qp_ex *qp)
{
	struct ibv_sge sges[7] = {{0}};

	ibv_wr_send(qp);
	ibv_wr_set_sge_list(qp, 7, sges);
}

static void read_without_a_piece(struct ibv_qp_ex *qp)
{
	ibv_wr_rdma_read(qp, 1, 1);
}

static void bad_flags(struct ibv_qp_ex *qp)
{
	qp->wr_flags = IBV_SEND_IP_CSUM;
	ibv_wr_send(qp);
}

static const struct {
	const char *name;
	void (*build)(struct ibv_qp_ex *qp);
} bad_rows[] = {
	{"3 x 40 inline", inline_too_long},
	{"inline sum wraps", inline_sum_wraps},
	{"inline length of all ones", inline_length_of_all_ones},
	{"97 inline", inline_97},
	{"inline READ", inline_read},
	{"inline atomic", inline_atomic},
	{"7 pieces", seven_pieces},
	{"READ without a piece", read_without_a_piece},
	{"checksum flag", bad_flags},
};

static void bad_batch_posts_nothing(void)
{
	struct ibv_qp_ex *qp;
	struct nk_qp *nk_qp;
	struct fixture f;
	size_t i;

	T_NEED(fixture_open(&f, IBV_QPT_RC));
	qp = make_ex(&f, IBV_QPT_RC, RC_OPS);
	T_NEED(qp);
	nk_qp = nk_find_qp(&qp->qp_base);
	for (i = 0; i < sizeof(bad_rows) / sizeof(bad_rows[0]); i++) {
		uint16_t pi = nk_sq_pi(nk_qp);

		start(qp);
		ibv_wr_send(qp);
		ibv_wr_set_sge(qp, 1, 1, 1);
		bad_rows[i].build(qp);
		qp->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_send(qp); /* a good one after it does not help */
		T_EQ_ROW(bad_rows[i].name, ibv_wr_complete(qp), EINVAL);
		T_EQ_ROW(bad_rows[i].name, nk_sq_pi(nk_qp), pi);
	}
	/* The whole ring is still there to use. */
	start(qp);
	for (i = 0; i < FIXTURE_DEPTH; i++) {
		ibv_wr_send(qp);
		ibv_wr_set_inline_data(qp, payload, 96);
	}
	T_EQ(ibv_wr_complete(qp), 0);
	T_EQ(nk_sq_pi(nk_qp), 16);
	T_EQ(ibv_destroy_qp(&qp->qp_base), 0);
	fixture_close(&f);
}

static void full_queue_posts_nothing(void)
{
	struct ibv_qp_ex *qp;
	struct fixture f;
	int i;

	T_NEED(fixture_open(&f, IBV_QPT_RC));
	qp = make_ex(&f, IBV_QPT_RC, RC_OPS);
	T_NEED(qp);
	start(qp);
	for (i = 0; i < 17; i++)
		ibv_wr_send(qp);
	T_EQ(ibv_wr_complete(qp), ENOMEM);
	T_EQ(nk_sq_pi(nk_find_qp(&qp->qp_base)), 0);
	start(qp);
	for (i = 0; i < 16; i++)
		ibv_wr_send(qp);
	T_EQ(ibv_wr_complete(qp), 0);
	T_EQ(nk_sq_pi(nk_find_qp(&qp->qp_base)), 16);
	T_EQ(ibv_destroy_qp(&qp->qp_base), 0);
	fixture_close(&f);
}

static void abort_posts_nothing(void)
{
	struct ibv_qp_ex *qp;
	struct fixture f;
	int i;

	T_NEED(fixture_open(&f, IBV_QPT_RC));
	qp = make_ex(&f, IBV_QPT_RC, RC_OPS);
	T_NEED(qp);
	/* More often than the ring is deep: an aborted batch takes no room. */
	for (i = 0; i < 20; i++) {
		start(qp);
		ibv_wr_send(qp);
		ibv_wr_rdma_read(qp, 1, 1);
		ibv_wr_set_sge(qp, 1, 1, 1);
		ibv_wr_abort(qp);
	}
	T_EQ(nk_sq_pi(nk_find_qp(&qp->qp_base)), 0);
	/* And an empty batch rings nothing. */
	start(qp);
	T_EQ(ibv_wr_complete(qp), 0);
	T_EQ(nk_sq_pi(nk_find_qp(&qp->qp_base)), 0);
	T_EQ(ibv_destroy_qp(&qp->qp_base), 0);
	fixture_close(&f);
}

/* A batch that went round the ring's end and was dropped: the next WQE goes round too. */
static void dropped_batch_gives_its_place_back(void)
{
	static const char zero[64];
	struct ibv_qp_ex *qp;
	struct nk_qp *nk_qp;
	struct fixture f;
	uint32_t at = 0;
	int i;

	T_NEED(fixture_open(&f, IBV_QPT_RC));
	qp = make_ex(&f, IBV_QPT_RC, RC_OPS);
	T_NEED(qp);
	nk_qp = f.nk_qp = nk_find_qp(&qp->qp_base);
	for (i = 0; i < 15; i++) {
		start(qp);
		ibv_wr_send(qp);
		T_EQ(ibv_wr_complete(qp), 0);
		at = fixture_complete_sends(&f, at);
		T_EQ(ibv_poll_cq(f.cq, 1, &(struct ibv_wc){0}), 1);
	}
	start(qp);
	ibv_wr_rdma_read(qp, 1, 1);
	ibv_wr_set_sge(qp, 1, 1, 1);
	ibv_wr_send(qp);
	ibv_wr_send(qp);
	ibv_wr_abort(qp);
	memset(nk_qp->ring, 0, RING_BYTES + sizeof(zero));
	start(qp);
	ibv_wr_rdma_read(qp, 0xb100, 0x1122);
	ibv_wr_set_sge(qp, 1, 1, 1);
	T_EQ(ibv_wr_complete(qp), 0);
	T_EQ(nk_sq_pi(nk_qp), 17);
	T_EQ(nic_from_le64(((struct erdma_sge *)nk_qp->ring)->addr), 0x1122);
	T_BYTES(nk_qp->ring + RING_BYTES, zero, sizeof(zero));
	T_EQ(ibv_destroy_qp(&qp->qp_base), 0);
	fixture_close(&f);
}

/* ibv_wr_set_inline_data(3): the buffer may be used again right after the call. */
static void inline_data_is_copied_at_once(void)
{
	struct ibv_qp_ex *qp;
	struct fixture f;
	char buffer[32];

	T_NEED(fixture_open(&f, IBV_QPT_RC));
	qp = make_ex(&f, IBV_QPT_RC, RC_OPS);
	T_NEED(qp);
	memset(buffer, 0x11, sizeof(buffer));
	start(qp);
	ibv_wr_rdma_write(qp, 1, 1);
	ibv_wr_set_inline_data(qp, buffer, sizeof(buffer));
	memset(buffer, 0x22, sizeof(buffer));
	T_EQ(ibv_wr_complete(qp), 0);
	memset(buffer, 0x11, sizeof(buffer));
	T_BYTES(nk_find_qp(&qp->qp_base)->ring + 32, buffer, sizeof(buffer));
	T_EQ(ibv_destroy_qp(&qp->qp_base), 0);
	fixture_close(&f);
}

/* The address may be set before the data or after it. */
static void ud_batch(void)
{
	struct ibv_ah_attr attr = {.is_global = 1, .port_num = 1};
	const struct erdma_sqe_ud *sqe;
	struct ibv_qp_ex *qp;
	struct fixture f;
	struct ibv_ah *ah;

	T_NEED(fixture_open(&f, IBV_QPT_UD));
	nk.makes_ahs = true;
	ah = ibv_create_ah(f.pd, &attr);
	qp = make_ex(&f, IBV_QPT_UD, IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM);
	T_NEED(ah && qp);
	start(qp);
	ibv_wr_send(qp);
	ibv_wr_set_ud_addr(qp, ah, 0x155, 0x1234);
	ibv_wr_set_inline_data(qp, payload, 8);
	ibv_wr_send_imm(qp, htobe32(7));
	ibv_wr_set_sge(qp, 0x100, 0x1000, 20);
	ibv_wr_set_ud_addr(qp, ah, 0x156, 0x1234);
	T_EQ(ibv_wr_complete(qp), 0);
	sqe = (const void *)nk_find_qp(&qp->qp_base)->ring;
	T_EQ(nic_from_le32(sqe[0].qpn), 0x155);
	T_EQ(nic_get(&sqe[0].head, ERDMA_SQE_INLINE), 1);
	T_EQ(nic_from_le32(sqe[2].qpn), 0x156);
	T_EQ(nic_from_le32(sqe[2].length), 20);
	T_EQ(nic_from_le32(sqe[2].ahn), ah->handle);
	T_EQ(ibv_destroy_ah(ah), 0);
	nk.makes_ahs = false;
	T_EQ(ibv_destroy_qp(&qp->qp_base), 0);
	fixture_close(&f);
}

static void unsupported_operations_are_refused(void)
{
	static const struct {
		const char *name;
		enum ibv_qp_type type;
		uint64_t ops;
	} rows[] = {
		{"RC with TSO", IBV_QPT_RC, IBV_QP_EX_WITH_TSO},
		{"RC with memory windows", IBV_QPT_RC, IBV_QP_EX_WITH_BIND_MW},
		{"UD with write", IBV_QPT_UD, IBV_QP_EX_WITH_RDMA_WRITE},
		{"unknown", IBV_QPT_RC, 1ull << 63},
	};
	struct fixture f;
	size_t i;

	T_NEED(fixture_open(&f, IBV_QPT_RC));
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		errno = 0;
		T_TRUE_ROW(rows[i].name, !make_ex(&f, rows[i].type, rows[i].ops));
		T_EQ_ROW(rows[i].name, errno, EOPNOTSUPP);
	}
	fixture_close(&f);
}

T_MAIN("erdma_user_wr", T_CASE(same_bytes_as_post_send), T_CASE(bad_batch_posts_nothing),
       T_CASE(full_queue_posts_nothing), T_CASE(abort_posts_nothing),
       T_CASE(dropped_batch_gives_its_place_back), T_CASE(inline_data_is_copied_at_once),
       T_CASE(ud_batch), T_CASE(unsupported_operations_are_refused), )
