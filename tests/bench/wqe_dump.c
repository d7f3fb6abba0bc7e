/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * wqe-dump DRIVER: posts a table of work requests on the no-kernel harness, and
 * prints what is in the ring after each: "row: hex of up to 4 blocks", "row:
 * refused", or "row: stray" if a byte outside the WQE changed. Owns the table;
 * knows no provider. Two providers agree when they print the same.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/nokernel.h"

#define DEPTH	    4 /* requests; 16 blocks, so that WQEs wrap in each way */
#define RING_BYTES  (DEPTH * ERDMA_SQE_BLOCKS_MAX * ERDMA_SQ_BLOCK_BYTES)
#define RING_BLOCKS (DEPTH * ERDMA_SQE_BLOCKS_MAX)

static const struct opcode_row {
	const char *name;
	enum ibv_wr_opcode opcode;
	bool takes_data; /* any number of SGEs, or inline data */
} opcodes[] = {
	{"write", IBV_WR_RDMA_WRITE, true},
	{"write_imm", IBV_WR_RDMA_WRITE_WITH_IMM, true},
	{"send", IBV_WR_SEND, true},
	{"send_imm", IBV_WR_SEND_WITH_IMM, true},
	{"read", IBV_WR_RDMA_READ, false},
	{"cmp_swap", IBV_WR_ATOMIC_CMP_AND_SWP, false},
	{"fetch_add", IBV_WR_ATOMIC_FETCH_AND_ADD, false},
	/* Last: where it is refused, all rows before stand at the same places still. */
	{"send_inv", IBV_WR_SEND_WITH_INV, true},
};

/* Inline: the pieces' lengths, up to the end of the row. */
static const uint32_t inline_rows[][7] = {
	{1},	  {15},	      {16},    {17},	{31},		{32},
	{33},	  {47},	      {48},    {49},	{64},		{79},
	{80},	  {81},	      {95},    {96},	{16, 16},	{1, 1, 1, 1, 1, 1},
	{40, 40}, {13, 5, 7}, {95, 1}, {1, 95}, {31, 2, 30, 3}, {16, 16, 16, 16, 16, 16},
};
#define INLINE_ROWS (sizeof(inline_rows) / sizeof(inline_rows[0]))

struct dump {
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	uint16_t index; /* where the next WQE starts */
	char *payload;
};

static void print_blocks(const struct nk_qp *qp, uint16_t index, unsigned int blocks)
{
	unsigned int i, j;

	for (i = 0; i < blocks; i++) {
		const char *block =
			qp->ring + (size_t)((index + i) % RING_BLOCKS) * ERDMA_SQ_BLOCK_BYTES;

		for (j = 0; j < ERDMA_SQ_BLOCK_BYTES; j++)
			printf("%02x", (unsigned char)block[j]);
	}
}

static bool is_clean(const struct nk_qp *qp, uint16_t from, unsigned int blocks)
{
	static const char zero[ERDMA_SQ_BLOCK_BYTES];
	unsigned int i;

	for (i = 0; i < blocks; i++)
		if (memcmp(qp->ring + (size_t)((from + i) % RING_BLOCKS) * ERDMA_SQ_BLOCK_BYTES,
			   zero, sizeof(zero)) != 0)
			return false;
	return true;
}

static void post(struct dump *d, const char *row, struct ibv_send_wr *wr)
{
	struct nk_qp *qp = nk_find_qp(d->qp);
	struct ibv_send_wr *bad;
	struct ibv_wc wc;
	unsigned int blocks;
	uint16_t pi;

	memset(qp->ring, 0, RING_BYTES);
	printf("%s at %u: ", row, d->index % RING_BLOCKS);
	if (ibv_post_send(d->qp, wr, &bad)) {
		puts(is_clean(qp, 0, RING_BLOCKS) ? "refused" : "refused, stray");
		return;
	}
	pi = nk_sq_pi(qp);
	blocks = (uint16_t)(pi - d->index);
	print_blocks(qp, d->index, blocks);
	puts(is_clean(qp, pi, RING_BLOCKS - blocks) ? "" : " stray");
	nk_complete(nk_find_cq(d->cq), &(struct nk_completion){.qpn = qp->qpn, .index = d->index});
	d->index = pi;
	if (ibv_poll_cq(d->cq, 1, &wc) != 1 || wc.wr_id != wr->wr_id)
		printf("%s: lost its completion\n", row);
}

static void fill_remote(struct ibv_send_wr *wr)
{
	switch (wr->opcode) {
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		wr->wr.atomic.remote_addr = 0x7fee12345678;
		wr->wr.atomic.rkey = 0xa1b2c300;
		wr->wr.atomic.compare_add = 0x0102030405060708;
		wr->wr.atomic.swap = 0x1112131415161718;
		break;
	case IBV_WR_SEND_WITH_INV:
		wr->invalidate_rkey = 0x00d4e500;
		break;
	default:
		wr->imm_data = 0x44332211;
		wr->wr.rdma.remote_addr = 0x7fee12345678;
		wr->wr.rdma.rkey = 0xa1b2c300;
	}
}

static struct ibv_send_wr request(const struct opcode_row *op, struct ibv_sge *sges, int num_sge,
				  unsigned int flags)
{
	static uint64_t wr_id;
	struct ibv_send_wr wr = {
		.wr_id = ++wr_id,
		.sg_list = sges,
		.num_sge = num_sge,
		.opcode = op->opcode,
		.send_flags = flags,
	};

	fill_remote(&wr);
	return wr;
}

static void dump_sges(struct dump *d, const struct opcode_row *op, unsigned int flags)
{
	int from = op->takes_data ? 0 : 1, to = op->takes_data ? ERDMA_SEND_SGE_MAX : 1, i, j;
	struct ibv_sge sges[ERDMA_SEND_SGE_MAX];
	struct ibv_send_wr wr;
	char row[64];

	for (i = from; i <= to; i++) {
		for (j = 0; j < i; j++)
			sges[j] = (struct ibv_sge){0x7f0000001000 + (uint64_t)j * 0x10000,
						   op->takes_data ? 100u + (unsigned int)j : 8,
						   0x100u * (unsigned int)(j + 1)};
		wr = request(op, sges, i, flags);
		snprintf(row, sizeof(row), "%s sge %d flags %u", op->name, i, flags);
		post(d, row, &wr);
	}
}

static void dump_inline(struct dump *d, const struct opcode_row *op, unsigned int flags)
{
	struct ibv_sge sges[7];
	struct ibv_send_wr wr;
	char row[64];
	size_t i;
	int count;

	for (i = 0; op->takes_data && i < INLINE_ROWS; i++) {
		char *from = d->payload;

		for (count = 0; inline_rows[i][count]; count++) {
			sges[count] = (struct ibv_sge){(uintptr_t)from, inline_rows[i][count], 0};
			from += inline_rows[i][count];
		}
		wr = request(op, sges, count, flags | IBV_SEND_INLINE);
		snprintf(row, sizeof(row), "%s inline row %zu flags %u", op->name, i, flags);
		post(d, row, &wr);
	}
}

/* Every flag at wherever the ring is, then every place in the ring with one flag. */
static void dump_all(struct dump *d)
{
	struct ibv_sge sge = {0x1000, 8, 0x100};
	unsigned int flags, place;
	struct ibv_send_wr wr;
	size_t i;

	for (i = 0; i < sizeof(opcodes) / sizeof(opcodes[0]); i++) {
		for (flags = 0; flags < IBV_SEND_INLINE; flags++) {
			dump_sges(d, &opcodes[i], flags);
			dump_inline(d, &opcodes[i], flags);
		}
		for (place = 0; place < RING_BLOCKS; place++) {
			dump_sges(d, &opcodes[i], IBV_SEND_SIGNALED);
			dump_inline(d, &opcodes[i], IBV_SEND_SIGNALED);
			/* One block, so that the next round starts at another place. */
			wr = request(&opcodes[2], &sge, 1, 0);
			post(d, "step", &wr);
		}
	}
}

int main(int argc, char **argv)
{
	struct ibv_qp_cap cap = {
		.max_send_wr = DEPTH,
		.max_recv_wr = DEPTH,
		.max_send_sge = ERDMA_SEND_SGE_MAX,
		.max_recv_sge = 1,
		.max_inline_data = ERDMA_INLINE_MAX,
	};
	struct ibv_context *context;
	char payload[ERDMA_INLINE_MAX];
	struct dump d = {.payload = payload};
	struct ibv_pd *pd;
	size_t i;

	if (argc < 2 || argc > 3) {
		fprintf(stderr, "usage: wqe-dump DRIVER [sq_sig_all]\n");
		return 2;
	}
	for (i = 0; i < sizeof(payload); i++)
		payload[i] = (char)(i * 7 + 1);
	nk_start(argv[1], 1500);
	context = nk_open();
	pd = context ? ibv_alloc_pd(context) : NULL;
	d.cq = pd ? ibv_create_cq(context, 64, NULL, NULL, 0) : NULL;
	d.qp = d.cq ? nk_make_qp(pd, d.cq, IBV_QPT_RC, &cap, argc == 3) : NULL;
	if (!d.qp) {
		fprintf(stderr, "wqe-dump: %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	dump_all(&d);
	ibv_destroy_qp(d.qp);
	ibv_destroy_cq(d.cq);
	ibv_dealloc_pd(pd);
	ibv_close_device(context);
	return 0;
}
