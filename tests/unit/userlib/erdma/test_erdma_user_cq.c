/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * erdma's completion queues: what a CQE means, owner bits over laps, entries that
 * make no sense, events, and what a destroyed QP leaves behind. The CQEs are
 * written here, in the NIC's place.
 */
#include <errno.h>
#include <string.h>

#include "tests/golden/erdma_queue.h"
#include "tests/unit/userlib/fixture.h"

static void post_sends(struct ibv_qp *qp, int count, uint64_t first_id)
{
	struct ibv_send_wr wr, *bad;
	struct ibv_sge sge;
	int i;

	wr = fixture_send(IBV_WR_SEND, &sge);
	for (i = 0; i < count; i++) {
		wr.wr_id = first_id + (uint64_t)i;
		T_EQ(ibv_post_send(qp, &wr, &bad), 0);
	}
}

static void post_recvs(struct ibv_qp *qp, int count, uint64_t first_id)
{
	struct ibv_recv_wr wr = {.num_sge = 0}, *bad;
	int i;

	for (i = 0; i < count; i++) {
		wr.wr_id = first_id + (uint64_t)i;
		T_EQ(ibv_post_recv(qp, &wr, &bad), 0);
	}
}

/* Kernel erdma_cq.c map_cqe_status, and wc_mapping_table for the opcodes. */
static void statuses_and_opcodes(void)
{
	static const struct {
		const char *name;
		uint32_t opcode, status;
		int want_opcode, want_status;
		uint32_t want_vendor;
	} rows[] = {
		{"write", 0, 0, IBV_WC_RDMA_WRITE, IBV_WC_SUCCESS, 0},
		{"read", 1, 0, IBV_WC_RDMA_READ, IBV_WC_SUCCESS, 0},
		{"send", 2, 0, IBV_WC_SEND, IBV_WC_SUCCESS, 0},
		{"send_imm", 3, 0, IBV_WC_SEND, IBV_WC_SUCCESS, 0},
		{"write_imm", 9, 0, IBV_WC_RDMA_WRITE, IBV_WC_SUCCESS, 0},
		{"send_inv", 13, 0, IBV_WC_SEND, IBV_WC_SUCCESS, 0},
		{"local_inv", 15, 0, IBV_WC_LOCAL_INV, IBV_WC_SUCCESS, 0},
		{"read_inv", 16, 0, IBV_WC_RDMA_READ, IBV_WC_SUCCESS, 0},
		{"cmp_swap", 17, 0, IBV_WC_COMP_SWAP, IBV_WC_SUCCESS, 0},
		{"fetch_add", 18, 0, IBV_WC_FETCH_ADD, IBV_WC_SUCCESS, 0},
		{"status 1", 2, 1, IBV_WC_SEND, IBV_WC_GENERAL_ERR, 0},
		{"status 2", 2, 2, IBV_WC_SEND, IBV_WC_GENERAL_ERR, 1},
		{"status 3", 2, 3, IBV_WC_SEND, IBV_WC_REM_ACCESS_ERR, 2},
		{"status 4", 2, 4, IBV_WC_SEND, IBV_WC_REM_ACCESS_ERR, 3},
		{"status 5", 2, 5, IBV_WC_SEND, IBV_WC_REM_ACCESS_ERR, 4},
		{"status 6", 2, 6, IBV_WC_SEND, IBV_WC_REM_ACCESS_ERR, 5},
		{"status 7", 2, 7, IBV_WC_SEND, IBV_WC_REM_ACCESS_ERR, 6},
		{"status 8", 2, 8, IBV_WC_SEND, IBV_WC_LOC_QP_OP_ERR, 0x20},
		{"status 9", 2, 9, IBV_WC_SEND, IBV_WC_GENERAL_ERR, 0x21},
		{"status 10", 2, 10, IBV_WC_SEND, IBV_WC_LOC_ACCESS_ERR, 0x30},
		{"status 11", 2, 11, IBV_WC_SEND, IBV_WC_LOC_ACCESS_ERR, 0x31},
		{"status 12", 2, 12, IBV_WC_SEND, IBV_WC_LOC_ACCESS_ERR, 0x32},
		{"status 13", 2, 13, IBV_WC_SEND, IBV_WC_LOC_ACCESS_ERR, 0x33},
		{"status 14", 2, 14, IBV_WC_SEND, IBV_WC_LOC_ACCESS_ERR, 0x34},
		{"status 15", 2, 15, IBV_WC_SEND, IBV_WC_WR_FLUSH_ERR, 0},
		{"status 16", 2, 16, IBV_WC_SEND, IBV_WC_RETRY_EXC_ERR, 0},
		{"status 17, unknown", 2, 17, IBV_WC_SEND, IBV_WC_GENERAL_ERR, 0},
		{"status 255, unknown", 2, 255, IBV_WC_SEND, IBV_WC_GENERAL_ERR, 0},
		{"opcode 255, unknown", 255, 1, 0, IBV_WC_GENERAL_ERR, 0},
	};
	struct fixture f;
	struct ibv_wc wc;
	size_t i;

	T_NEED(fixture_open(&f, IBV_QPT_RC));
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		post_sends(f.qp, 1, 1000 + i);
		nk_complete(f.nk_cq, &(struct nk_completion){.qpn = f.qp->qp_num,
							     .opcode = rows[i].opcode,
							     .status = rows[i].status,
							     .length = (uint32_t)i,
							     .index = (uint32_t)i});
		T_EQ_ROW(rows[i].name, ibv_poll_cq(f.cq, 1, &wc), 1);
		T_EQ_ROW(rows[i].name, wc.wr_id, 1000 + i);
		T_EQ_ROW(rows[i].name, wc.opcode, rows[i].want_opcode);
		T_EQ_ROW(rows[i].name, wc.status, rows[i].want_status);
		T_EQ_ROW(rows[i].name, wc.vendor_err, rows[i].want_vendor);
		T_EQ_ROW(rows[i].name, wc.byte_len, i);
		T_EQ_ROW(rows[i].name, wc.qp_num, f.qp->qp_num);
		T_EQ_ROW(rows[i].name, wc.wc_flags, 0);
	}
	fixture_close(&f);
}

static void poll_one_recv(struct fixture *f, const char *golden, struct ibv_wc *wc)
{
	struct erdma_cqe cqe;

	t_hex(golden, &cqe, sizeof(cqe));
	post_recvs(f->qp, 1, 7);
	memset(wc, 0xff, sizeof(*wc));
	/* The golden entry itself, with our QPN, index and lap. */
	nk_complete(f->nk_cq, &(struct nk_completion){
				      .qpn = f->qp->qp_num,
				      .queue = nic_get(&cqe, ERDMA_CQE_QUEUE),
				      .opcode = nic_get(&cqe, ERDMA_CQE_OPCODE),
				      .index = (uint32_t)nk_rq_pi(f->nk_qp) - 1,
				      .length = nic_from_be32(cqe.length),
				      .word = (uint32_t)cqe.immediate,
				      .ud = nic_from_be32(cqe.ud),
			      });
	T_EQ(ibv_poll_cq(f->cq, 1, wc), 1);
	T_EQ(wc->wr_id, 7);
	T_EQ(wc->status, IBV_WC_SUCCESS);
}

static void receives_with_data(void)
{
	struct fixture f;
	struct ibv_wc wc;

	T_NEED(fixture_open(&f, IBV_QPT_RC));
	poll_one_recv(&f, GOLDEN_CQE_IMM_BYTES, &wc);
	T_EQ(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	T_EQ(wc.wc_flags, IBV_WC_WITH_IMM);
	T_EQ(be32toh(wc.imm_data), 0x11223344);
	T_EQ(wc.byte_len, 0x1000);
	poll_one_recv(&f, GOLDEN_CQE_INV_BYTES, &wc);
	T_EQ(wc.opcode, IBV_WC_RECV);
	T_EQ(wc.wc_flags, IBV_WC_WITH_INV);
	T_EQ(wc.invalidated_rkey, 0x45600);
	fixture_close(&f);
}

/* W9's part of the provider: GRH flag, source QP and SL, whatever was in wc before. */
static void receives_of_datagrams(void)
{
	struct fixture f;
	struct ibv_wc wc;

	T_NEED(fixture_open(&f, IBV_QPT_UD));
	poll_one_recv(&f, GOLDEN_CQE_UD_BYTES, &wc);
	T_EQ(wc.opcode, IBV_WC_RECV);
	T_EQ(wc.wc_flags, IBV_WC_GRH);
	T_EQ(wc.src_qp, 0xabc);
	T_EQ(wc.sl, 5);
	T_EQ(wc.byte_len, 104);
	T_EQ(wc.pkey_index, 0);
	T_EQ(wc.slid, 0);
	fixture_close(&f);
}

/* Each number of entries, over several laps of the 64-entry ring. */
static void owner_bits_over_laps(void)
{
	struct ibv_wc wc[8];
	struct fixture f;
	uint32_t index = 0;
	int lap, i, count;

	T_NEED(fixture_open(&f, IBV_QPT_RC));
	for (lap = 0; lap < 200; lap++) {
		count = lap % 5;
		post_sends(f.qp, count, (uint64_t)lap * 10);
		for (i = 0; i < count; i++)
			nk_complete(f.nk_cq, &(struct nk_completion){.qpn = f.qp->qp_num,
								     .opcode = ERDMA_OP_SEND,
								     .index = index++});
		T_EQ(ibv_poll_cq(f.cq, 8, wc), count);
		for (i = 0; i < count; i++)
			T_EQ(wc[i].wr_id, lap * 10 + i);
		T_EQ(ibv_poll_cq(f.cq, 8, wc), 0);
	}
	fixture_close(&f);
}

/* An entry that stands for nothing is taken and dropped; the next one counts. */
static void senseless_entries_are_dropped(void)
{
	static const struct {
		const char *name;
		struct nk_completion completion;
	} rows[] = {
		{"QPN of nobody", {.qpn = 55, .opcode = ERDMA_OP_SEND}},
		{"QPN without a leaf", {.qpn = 0xff000, .opcode = ERDMA_OP_SEND}},
		{"QPN of 32 bits", {.qpn = 0xffffffff, .opcode = ERDMA_OP_SEND}},
		{"index not posted", {.qpn = 0, .index = 9, .opcode = ERDMA_OP_SEND}},
		{"index done before", {.qpn = 0, .index = 0, .opcode = ERDMA_OP_SEND}},
	};
	struct fixture f;
	struct ibv_wc wc;
	size_t i;

	T_NEED(fixture_open(&f, IBV_QPT_RC));
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct nk_completion completion = rows[i].completion;

		post_sends(f.qp, 1, 77);
		if (!completion.qpn)
			completion.qpn = f.qp->qp_num;
		if (i) /* the first round makes index 0 one that was done before */
			nk_complete(f.nk_cq, &completion);
		nk_complete(f.nk_cq, &(struct nk_completion){.qpn = f.qp->qp_num,
							     .opcode = ERDMA_OP_SEND,
							     .index = (uint32_t)i});
		T_EQ_ROW(rows[i].name, ibv_poll_cq(f.cq, 1, &wc), 1);
		T_EQ_ROW(rows[i].name, wc.wr_id, 77);
		T_EQ_ROW(rows[i].name, ibv_poll_cq(f.cq, 1, &wc), 0);
	}
	fixture_close(&f);
}

/* Two QPs' entries, mixed, over the end of the ring; one QP goes. */
static void destroyed_qp_leaves_nothing(void)
{
	static const char *const patterns[] = {"a", "b", "ab", "ba", "aab", "abba", "bbaa", "abab"};
	struct ibv_qp_cap cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_recv_sge = 1};
	struct fixture f;
	struct ibv_wc wc[8];
	uint32_t a_index = 0;
	size_t i, round;

	T_NEED(fixture_open(&f, IBV_QPT_RC));
	for (round = 0; round < 12 * 8; round++) {
		const char *pattern = patterns[round % 8], *p;
		struct ibv_qp *b = nk_make_qp(f.pd, f.cq, IBV_QPT_RC, &cap, 0);
		uint32_t b_index = 0, want = 0;

		T_NEED(b);
		for (p = pattern; *p; p++) {
			bool is_a = *p == 'a';

			/* Receives of b: nothing but the QPN tells whose they are. */
			if (is_a)
				post_sends(f.qp, 1, 100 + want++);
			else
				post_recvs(b, 1, 999);
			nk_complete(f.nk_cq,
				    &(struct nk_completion){
					    .qpn = is_a ? f.qp->qp_num : b->qp_num,
					    .queue = is_a ? ERDMA_CQE_QUEUE_SQ : ERDMA_CQE_QUEUE_RQ,
					    .opcode = is_a ? ERDMA_OP_SEND : ERDMA_OP_RECV,
					    .index = is_a ? a_index++ : b_index++});
		}
		T_EQ(ibv_destroy_qp(b), 0);
		/* The number is given away again, and nothing of the old one's may turn up. */
		b = nk_make_qp(f.pd, f.cq, IBV_QPT_RC, &cap, 0);
		T_NEED(b);
		T_EQ_ROW(pattern, ibv_poll_cq(f.cq, 8, wc), want);
		for (i = 0; i < want; i++)
			T_EQ_ROW(pattern, wc[i].wr_id, 100 + i);
		T_EQ(ibv_destroy_qp(b), 0);
	}
	fixture_close(&f);
}

/* Kernel erdma_cq.c notify_cq(); the record has the same 8 bytes. */
static void arming(void)
{
	struct ibv_cq *keeper;
	struct fixture f;
	uint64_t bell;
	int i;

	T_NEED(fixture_open(&f, IBV_QPT_RC));
	/* Before: not armed, and a count that the first arming is not taken for. */
	T_EQ(*f.nk_cq->record, 0xffull << 56 | (uint64_t)f.nk_cq->cqn << 32 | 3u << 28);
	post_sends(f.qp, 1, 1);
	nk_complete(f.nk_cq, &(struct nk_completion){.qpn = f.qp->qp_num});
	T_EQ(ibv_poll_cq(f.cq, 1, &(struct ibv_wc){0}), 1);
	for (i = 0; i < 300; i++) {
		T_EQ(ibv_req_notify_cq(f.cq, i & 1), 0);
		memcpy(&bell, nk.cq_page + f.nk_cq->cqn * 8, sizeof(bell));
		T_EQ(bell, (uint64_t)(i & 0xff) << 56 | (uint64_t)f.nk_cq->cqn << 32 | 1u << 31 |
				   (uint64_t)(i & 1) << 30 | 1);
		T_EQ(*f.nk_cq->record, bell);
	}
	fixture_close(&f);
	/* Records are used again, and start at zero. One CQ more keeps their page. */
	T_NEED(fixture_open(&f, IBV_QPT_RC));
	keeper = ibv_create_cq(f.context, 64, NULL, NULL, 0);
	T_NEED(keeper);
	T_EQ(ibv_destroy_qp(f.qp), 0);
	T_EQ(ibv_req_notify_cq(f.cq, 0), 0);
	T_EQ(ibv_destroy_cq(f.cq), 0);
	f.cq = keeper;
	f.qp = nk_make_qp(f.pd, f.cq, IBV_QPT_RC, &f.cap, 0);
	T_NEED(f.qp);
	T_EQ(nk_find_qp(f.qp)->records[0], 0);
	T_EQ(nk_find_qp(f.qp)->records[1], 0);
	fixture_close(&f);
}

/* The event's count reaches the next doorbell, modulo 4. */
static void events_are_counted(void)
{
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq, *got;
	struct fixture f;
	uint64_t bell;
	void *context;
	int i;

	T_NEED(fixture_open(&f, IBV_QPT_RC));
	channel = ibv_create_comp_channel(f.context);
	T_NEED(channel);
	cq = ibv_create_cq(f.context, 8, &f, channel, 1);
	T_NEED(cq);
	for (i = 0; i < 6; i++) {
		T_EQ(ibv_req_notify_cq(cq, 0), 0);
		memcpy(&bell, nk.cq_page + nk_find_cq(cq)->cqn * 8, sizeof(bell));
		T_EQ(bell >> 28 & 3, i & 3);
		nk_event(channel, cq);
		T_EQ(ibv_get_cq_event(channel, &got, &context), 0);
		T_TRUE(got == cq && context == &f);
		ibv_ack_cq_events(cq, 1);
	}
	T_EQ(ibv_destroy_cq(cq), 0);
	T_EQ(ibv_destroy_comp_channel(channel), 0);
	fixture_close(&f);
}

static void extended_polling(void)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 8,
		.wc_flags = IBV_WC_STANDARD_FLAGS,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED,
	};
	struct ibv_poll_cq_attr poll = {0};
	struct ibv_qp_cap cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_recv_sge = 1};
	struct ibv_cq_ex *cq;
	struct ibv_qp *qp;
	struct fixture f;
	struct nk_cq *nk_cq;

	T_NEED(fixture_open(&f, IBV_QPT_RC));
	cq = ibv_create_cq_ex(f.context, &attr);
	T_NEED(cq);
	nk_cq = nk_find_cq(ibv_cq_ex_to_cq(cq));
	qp = nk_make_qp(f.pd, ibv_cq_ex_to_cq(cq), IBV_QPT_RC, &cap, 0);
	T_NEED(qp);
	T_EQ(ibv_start_poll(cq, &poll), ENOENT);
	post_recvs(qp, 1, 31);
	post_sends(qp, 1, 32);
	nk_complete(nk_cq, &(struct nk_completion){.qpn = qp->qp_num,
						   .queue = ERDMA_CQE_QUEUE_RQ,
						   .opcode = ERDMA_OP_RECV_SEND_IMM,
						   .length = 12,
						   .word = 5});
	nk_complete(nk_cq, &(struct nk_completion){.qpn = qp->qp_num,
						   .opcode = ERDMA_OP_SEND,
						   .status = ERDMA_STATUS_RETRY_EXCEEDED});
	T_EQ(ibv_start_poll(cq, &poll), 0);
	T_EQ(cq->wr_id, 31);
	T_EQ(cq->status, IBV_WC_SUCCESS);
	T_EQ(ibv_wc_read_opcode(cq), IBV_WC_RECV);
	T_EQ(ibv_wc_read_byte_len(cq), 12);
	T_EQ(ibv_wc_read_wc_flags(cq), IBV_WC_WITH_IMM);
	T_EQ(be32toh(ibv_wc_read_imm_data(cq)), 5);
	T_EQ(ibv_wc_read_qp_num(cq), qp->qp_num);
	T_EQ(ibv_next_poll(cq), 0);
	T_EQ(cq->wr_id, 32);
	T_EQ(cq->status, IBV_WC_RETRY_EXC_ERR);
	T_EQ(ibv_wc_read_vendor_err(cq), 0);
	T_EQ(ibv_next_poll(cq), ENOENT);
	ibv_end_poll(cq);
	T_EQ(ibv_start_poll(cq, &poll), ENOENT);
	poll.comp_mask = 1;
	T_EQ(ibv_start_poll(cq, &poll), EINVAL);
	T_EQ(ibv_destroy_qp(qp), 0);
	T_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
	fixture_close(&f);
}

static void creation_is_refused(void)
{
	static const struct {
		const char *name;
		int cqe, vector, want;
	} rows[] = {
		{"no entries", 0, 0, EINVAL},
		{"negative", -1, 0, EINVAL},
		{"more than 23 bits", (1 << 23) + 1, 0, EINVAL},
		{"more than the device has", (1 << 20) + 1, 0, EINVAL},
		{"no such vector", 8, 2, EINVAL},
	};
	struct ibv_cq_init_attr_ex attr = {.cqe = 8,
					   .wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP};
	struct fixture f;
	size_t i;

	T_NEED(fixture_open(&f, IBV_QPT_RC));
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		errno = 0;
		T_TRUE_ROW(rows[i].name,
			   !ibv_create_cq(f.context, rows[i].cqe, NULL, NULL, rows[i].vector));
		T_EQ_ROW(rows[i].name, errno, rows[i].want);
	}
	errno = 0;
	T_TRUE(!ibv_create_cq_ex(f.context, &attr));
	T_EQ(errno, EOPNOTSUPP);
	T_TRUE(ibv_resize_cq(f.cq, 128) != 0); /* the driver cannot */
	fixture_close(&f);
}

T_MAIN("erdma_user_cq", T_CASE(statuses_and_opcodes), T_CASE(receives_with_data),
       T_CASE(receives_of_datagrams), T_CASE(owner_bits_over_laps),
       T_CASE(senseless_entries_are_dropped), T_CASE(destroyed_qp_leaves_nothing), T_CASE(arming),
       T_CASE(events_are_counted), T_CASE(extended_polling), T_CASE(creation_is_refused), )
