// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Cases of lab-verbs that move data and look at every byte: each opcode at the sizes where
 * packets begin and end, and much at once. Knows verbs only.
 */
#include "tests/lab/verbs/verbs_end.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define IMM_BASE 0x01020300u

static const uint32_t sizes[] = {0,    1,    3,	   63,	 64,	65,    1023,   1024,
				 1025, 4095, 4096, 4097, 12293, 65539, 1048577};

static const struct op_row {
	const char *name;
	enum ibv_wr_opcode opcode;
	enum ibv_wc_opcode sent;
	enum ibv_wc_opcode received;
	bool takes_recv;
	bool to_recv; /* the data goes where the receive says */
	bool immediate;
} ops[] = {
	{"SEND", IBV_WR_SEND, IBV_WC_SEND, IBV_WC_RECV, true, true, false},
	{"SEND_WITH_IMM", IBV_WR_SEND_WITH_IMM, IBV_WC_SEND, IBV_WC_RECV, true, true, true},
	{"WRITE", IBV_WR_RDMA_WRITE, IBV_WC_RDMA_WRITE, IBV_WC_RECV, false, false, false},
	{"WRITE_WITH_IMM", IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WC_RDMA_WRITE, IBV_WC_RECV_RDMA_WITH_IMM,
	 true, false, true},
};

static int push_client(struct end *end, const struct op_row *op, uint32_t len, uint32_t seed)
{
	struct ibv_send_wr wr = {
		.wr_id = seed,
		.opcode = op->opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.imm_data = htobe32(IMM_BASE + seed),
		.wr.rdma = {.remote_addr = end->peer.addr + END_HALF + END_GUARD,
			    .rkey = end->peer.rkey},
	};
	struct ibv_wc wc;
	int err;

	/* Inline where it fits, and an odd one with every flag. */
	if (len <= END_INLINE)
		wr.send_flags |= IBV_SEND_INLINE;
	if (len & 1)
		wr.send_flags |= IBV_SEND_FENCE | IBV_SEND_SOLICITED;
	end_fill(end->out, len, seed);
	err = end_sync(end);
	if (!err)
		err = end_post(end, &wr, end->out, len);
	if (!err)
		err = end_expect(end, op->sent, &wc);
	if (!err && wc.wr_id != seed)
		err = end_failed(EBADMSG, "wr_id %" PRIu64 ", not %u", wc.wr_id, seed);
	return err ? err : end_sync(end);
}

static int check_recv(struct end *end, const struct op_row *op, uint32_t len, uint32_t seed)
{
	struct ibv_wc wc;
	int err = end_expect(end, op->received, &wc);

	if (err)
		return err;
	if (wc.wr_id != seed || wc.byte_len != len)
		return end_failed(EBADMSG, "wr_id %" PRIu64 " of %u bytes", wc.wr_id, wc.byte_len);
	if (op->immediate &&
	    (!(wc.wc_flags & IBV_WC_WITH_IMM) || be32toh(wc.imm_data) != IMM_BASE + seed))
		return end_failed(EBADMSG, "immediate data 0x%x", be32toh(wc.imm_data));
	return 0;
}

static int push_server(struct end *end, const struct op_row *op, uint32_t len, uint32_t seed)
{
	unsigned char *at = end->in + END_GUARD;
	int err = 0;

	end_guard(at, len);
	if (op->takes_recv)
		err = end_post_recv(end, seed, op->to_recv ? at : end->out, len ? len : 64);
	if (!err)
		err = end_sync(end);
	if (!err && op->takes_recv)
		err = check_recv(end, op, len, seed);
	if (!err)
		err = end_sync(end);
	if (!err)
		err = end_verify(at, len, seed, op->name);
	return err ? err : end_guarded(at, len, op->name);
}

static int pull(struct end *end, uint32_t len, uint32_t seed)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_READ,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = {.remote_addr = end->peer.addr, .rkey = end->peer.rkey},
	};
	unsigned char *at = end->in + END_GUARD;
	struct ibv_wc wc;
	int err;

	if (!end->client) {
		end_fill(end->out, len, seed);
		err = end_sync(end);
		return err ? err : end_sync(end);
	}
	end_guard(at, len);
	err = end_sync(end);
	if (!err)
		err = end_post(end, &wr, at, len);
	if (!err)
		err = end_expect(end, IBV_WC_RDMA_READ, &wc);
	if (!err)
		err = end_verify(at, len, seed, "READ");
	if (!err)
		err = end_guarded(at, len, "READ");
	return err ? err : end_sync(end);
}

/* Each row finds `before`, must bring it back, and leaves `after`. */
static const struct atomic_row {
	enum ibv_wr_opcode opcode;
	enum ibv_wc_opcode done;
	uint64_t before, compare_add, swap, after;
} atomics[] = {
	{IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WC_COMP_SWAP, 0x1122334455667788, 0x1122334455667788,
	 0x8877665544332211, 0x8877665544332211},
	{IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WC_COMP_SWAP, 0x1122334455667788, 0x1122334455667789,
	 0x8877665544332211, 0x1122334455667788},
	{IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WC_FETCH_ADD, 0x00000000ffffffff, 1, 0,
	 0x0000000100000000},
	{IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WC_FETCH_ADD, 0xffffffffffffffff, 2, 0, 1},
};

static int atomic_client(struct end *end, const struct atomic_row *row)
{
	struct ibv_send_wr wr = {
		.opcode = row->opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.atomic = {.remote_addr = end->peer.addr + END_HALF,
			      .compare_add = row->compare_add,
			      .swap = row->swap,
			      .rkey = end->peer.rkey},
	};
	uint64_t got = 0;
	struct ibv_wc wc;
	int err = end_sync(end);

	if (!err)
		err = end_post(end, &wr, end->in, sizeof(got));
	if (!err)
		err = end_expect(end, row->done, &wc);
	if (!err)
		err = end_sync(end);
	if (err)
		return err;
	memcpy(&got, end->in, sizeof(got));
	if (got != row->before)
		return end_failed(EBADMSG, "atomic brought 0x%" PRIx64, got);
	return 0;
}

static int atomic_server(struct end *end, const struct atomic_row *row)
{
	uint64_t value = row->before;
	int err;

	memcpy(end->in, &value, sizeof(value));
	err = end_sync(end);
	if (!err)
		err = end_sync(end);
	memcpy(&value, end->in, sizeof(value));
	if (!err && value != row->after)
		err = end_failed(EBADMSG, "atomic left 0x%" PRIx64, value);
	return err;
}

int verbs_opcodes(struct end *end)
{
	int (*const push)(struct end *, const struct op_row *, uint32_t, uint32_t) =
		end->client ? push_client : push_server;
	int (*const atomic)(struct end *, const struct atomic_row *) =
		end->client ? atomic_client : atomic_server;
	uint32_t seed = 1;
	size_t i, j;
	int err = end_connect(end, &(struct end_qp){.rnr_retry = 7});

	for (i = 0; !err && i < sizeof(ops) / sizeof(ops[0]); i++)
		for (j = 0; !err && j < sizeof(sizes) / sizeof(sizes[0]); j++)
			err = push(end, &ops[i], sizes[j], seed++);
	for (j = 0; !err && j < sizeof(sizes) / sizeof(sizes[0]); j++)
		err = pull(end, sizes[j], seed++);
	for (i = 0; !err && i < sizeof(atomics) / sizeof(atomics[0]); i++)
		err = atomic(end, &atomics[i]);
	return err;
}

#define BULK_ROUNDS 6
#define BULK_BLOCKS 16u
#define BULK_BLOCK  65536u
#define BULK_SENDS  48u
#define BULK_SEND   4097u

static int bulk_rdma(struct end *end, enum ibv_wr_opcode opcode, unsigned char *local)
{
	enum ibv_wc_opcode done = opcode == IBV_WR_RDMA_READ ? IBV_WC_RDMA_READ : IBV_WC_RDMA_WRITE;
	struct ibv_wc wc;
	uint32_t i;
	int err = 0;

	for (i = 0; !err && i < BULK_BLOCKS; i++) {
		struct ibv_send_wr wr = {
			.wr_id = i,
			.opcode = opcode,
			.send_flags = IBV_SEND_SIGNALED,
			.wr.rdma = {.remote_addr = end->peer.addr + END_HALF + i * BULK_BLOCK,
				    .rkey = end->peer.rkey},
		};

		err = end_post(end, &wr, local + (size_t)i * BULK_BLOCK, BULK_BLOCK);
	}
	for (i = 0; !err && i < BULK_BLOCKS; i++) {
		err = end_expect(end, done, &wc);
		if (!err && wc.wr_id != i)
			err = end_failed(EBADMSG, "completion %" PRIu64 " in place of %u", wc.wr_id,
					 i);
	}
	return err;
}

/* Written, looked at there, read back, looked at here. */
static int bulk_round(struct end *end, uint32_t seed)
{
	const size_t all = (size_t)BULK_BLOCKS * BULK_BLOCK;
	int err = 0;

	if (end->client) {
		end_fill(end->out, all, seed);
		err = bulk_rdma(end, IBV_WR_RDMA_WRITE, end->out);
	}
	if (!err)
		err = end_sync(end);
	if (!err && !end->client)
		err = end_verify(end->in, all, seed, "bulk WRITE");
	if (!err && end->client) {
		memset(end->in, 0, all);
		err = bulk_rdma(end, IBV_WR_RDMA_READ, end->in);
	}
	if (!err && end->client)
		err = end_verify(end->in, all, seed, "bulk READ");
	return err ? err : end_sync(end);
}

static int bulk_sends(struct end *end, uint32_t seed)
{
	unsigned char *buf = end->client ? end->out : end->in;
	struct ibv_wc wc;
	uint32_t i;
	int err = 0;

	for (i = 0; !err && i < BULK_SENDS; i++) {
		unsigned char *at = buf + (size_t)i * BULK_SEND;

		if (end->client)
			end_fill(at, BULK_SEND, seed + i);
		else
			err = end_post_recv(end, i, at, BULK_SEND);
	}
	if (!err)
		err = end_sync(end);
	for (i = 0; !err && end->client && i < BULK_SENDS; i++) {
		struct ibv_send_wr wr = {
			.wr_id = i, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};

		err = end_post(end, &wr, buf + (size_t)i * BULK_SEND, BULK_SEND);
	}
	for (i = 0; !err && i < BULK_SENDS; i++) {
		err = end_expect(end, end->client ? IBV_WC_SEND : IBV_WC_RECV, &wc);
		if (!err && wc.wr_id != i)
			err = end_failed(EBADMSG, "message %" PRIu64 " in place of %u", wc.wr_id,
					 i);
		if (!err && !end->client)
			err = end_verify(buf + (size_t)i * BULK_SEND, BULK_SEND, seed + i, "SEND");
	}
	return err ? err : end_sync(end);
}

int verbs_bulk(struct end *end)
{
	uint32_t round;
	int err = end_connect(end, &(struct end_qp){.rnr_retry = 7});

	for (round = 0; !err && round < BULK_ROUNDS; round++) {
		err = bulk_round(end, 1000 + round);
		if (!err)
			err = bulk_sends(end, 2000 + 100 * round);
	}
	return err;
}
