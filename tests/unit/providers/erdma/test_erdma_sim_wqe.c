/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Every opcode through two NICs, and WQEs that make no sense. The CQEs are compared byte by
 * byte with rows that were written down by hand after the driver's poll functions:
 *
 *	owner<<31 opcode<<16 queue<<8 status | index | QPN | immediate or key | length | 0 0 | UD
 */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/t.h"
#include "tests/unit/providers/erdma/erdma_guest.h"

struct world {
	struct guest_pair p;
	struct guest_end a, b;
};

static bool world_make(struct world *w)
{
	return T_TRUE(guest_pair(&w->p)) && T_TRUE(guest_connect(&w->p, &w->a, &w->b));
}

static void world_end(struct world *w)
{
	guest_pair_stop(&w->p);
}

static void expect_cqe(const char *row, struct guest_cq *cq, const char *hex)
{
	struct erdma_cqe cqe;
	uint8_t want[sizeof(cqe)] = {0};

	if (!t_check(guest_wait(cq, &cqe), __FILE__, __LINE__, "%s: no completion", row))
		return;
	T_EQ_ROW(row, t_hex(hex, want, sizeof(want)), sizeof(want));
	T_BYTES_ROW(row, &cqe, want, sizeof(want));
}

static void expect_none(const char *row, struct guest_cq *cq)
{
	struct erdma_cqe cqe;

	guest_run(cq->g, 1000000);
	T_TRUE_ROW(row, !guest_peek(cq, &cqe));
}

static uint64_t sqe_hdr(enum erdma_opcode op, unsigned int sgl)
{
	return nic_prep(ERDMA_SQE_OPCODE, (unsigned int)op) | nic_prep(ERDMA_SQE_SGL, sgl) |
	       nic_prep(ERDMA_SQE_SIGNALED, 1);
}

struct write_wqe {
	struct erdma_sqe_write w;
	struct erdma_sge sge[6];
};

struct send_wqe {
	struct erdma_sqe_send s;
	struct erdma_sge sge[7];
};

static struct erdma_sge sge_of(const struct guest_end *end, uint64_t offset, uint32_t length)
{
	return (struct erdma_sge){.addr = htole64(end->buffer + offset),
				  .length = htole32(length),
				  .key = htole32(end->key)};
}

static struct write_wqe write_to(const struct world *w, uint32_t length)
{
	return (struct write_wqe){
		.w = {.head.hdr = htole64(sqe_hdr(ERDMA_OP_WRITE, 1)),
		      .length = htole32(length),
		      .rkey = htole32(w->b.key),
		      .remote_low = htole32((uint32_t)w->b.buffer),
		      .remote_high = htole32((uint32_t)(w->b.buffer >> 32))},
		.sge = {sge_of(&w->a, 0, length)},
	};
}

static struct send_wqe send_of(const struct world *w, uint32_t length)
{
	return (struct send_wqe){
		.s = {.head.hdr = htole64(sqe_hdr(ERDMA_OP_SEND, 1)), .length = htole32(length)},
		.sge = {sge_of(&w->a, 0, length)},
	};
}

static void fill(struct guest *g, uint64_t addr, uint8_t seed, size_t length)
{
	uint8_t *bytes = guest_at(g, addr);
	size_t i;

	for (i = 0; i < length; i++)
		bytes[i] = (uint8_t)(seed + i * 7 + (i >> 8));
}

static void expect_data(const struct world *w, const char *row, uint32_t length)
{
	T_BYTES_ROW(row, guest_at(w->b.qp.g, w->b.buffer), guest_at(w->a.qp.g, w->a.buffer),
		    length);
}

static void write_moves_data(void)
{
	static const uint32_t lengths[] = {1, 1023, 1024, 1025, 4096, 65536, 0};
	struct write_wqe wqe;
	struct world w;
	size_t i;
	char hex[65];

	T_NEED(world_make(&w));
	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		fill(&w.p.a, w.a.buffer, (uint8_t)i, 65536);
		wqe = write_to(&w, lengths[i]);
		guest_post(&w.a.qp, &wqe, 2);
		/* Index grows by the two blocks of each WQE. */
		snprintf(hex, sizeof(hex), "80000000%08x0000000200000000%08x%024d",
			 (unsigned int)(2 * i), lengths[i], 0);
		expect_cqe("write", &w.a.cq, hex);
		expect_data(&w, "write", lengths[i]);
	}
	expect_none("write tells the responder nothing", &w.b.cq);
	world_end(&w);
}

static void write_imm_tells_the_responder(void)
{
	struct write_wqe wqe;
	struct world w;

	T_NEED(world_make(&w));
	fill(&w.p.a, w.a.buffer, 3, 100);
	guest_recv(&w.b.qp, 0, 0, 0);
	wqe = write_to(&w, 100);
	wqe.w.head.hdr = htole64(sqe_hdr(ERDMA_OP_WRITE_IMM, 1));
	wqe.w.immediate = htobe32(0x01020304);
	guest_post(&w.a.qp, &wqe, 2);
	/* Big endian all over but for the immediate, which is little endian. */
	expect_cqe("receiver", &w.b.cq,
		   "8005010000000000000000030403020100000064000000000000000000000000");
	expect_cqe("sender", &w.a.cq,
		   "8009000000000000000000020000000000000064000000000000000000000000");
	expect_data(&w, "write_imm", 100);
	world_end(&w);
}

static void send_fills_receives_in_order(void)
{
	struct send_wqe wqe;
	struct world w;

	T_NEED(world_make(&w));
	fill(&w.p.a, w.a.buffer, 9, 5000);
	guest_recv(&w.b.qp, w.b.buffer, 5000, w.b.key);
	guest_recv(&w.b.qp, w.b.buffer + 8192, 100, w.b.key);
	guest_recv(&w.b.qp, 0, 0, 0);

	wqe = send_of(&w, 5000);
	guest_post(&w.a.qp, &wqe, 1);
	wqe = send_of(&w, 64);
	wqe.s.head.hdr = htole64(sqe_hdr(ERDMA_OP_SEND_IMM, 1));
	wqe.s.immediate = htobe32(0xdeadbeef);
	guest_post(&w.a.qp, &wqe, 1);
	wqe = send_of(&w, 0);
	wqe.s.head.hdr = htole64(sqe_hdr(ERDMA_OP_SEND, 0));
	guest_post(&w.a.qp, &wqe, 1);

	expect_cqe("receive", &w.b.cq,
		   "8004010000000000000000030000000000001388000000000000000000000000");
	expect_cqe("receive with immediate", &w.b.cq,
		   "800c01000000000100000003efbeadde00000040000000000000000000000000");
	expect_cqe("receive of nothing", &w.b.cq,
		   "8004010000000002000000030000000000000000000000000000000000000000");
	expect_cqe("send", &w.a.cq,
		   "8002000000000000000000020000000000001388000000000000000000000000");
	expect_cqe("send with immediate", &w.a.cq,
		   "8003000000000001000000020000000000000040000000000000000000000000");
	expect_cqe("send of nothing", &w.a.cq,
		   "8002000000000002000000020000000000000000000000000000000000000000");
	expect_data(&w, "send", 5000);
	T_BYTES(guest_at(&w.p.b, w.b.buffer + 8192), guest_at(&w.p.a, w.a.buffer), 64);
	world_end(&w);
}

static void sge_lists_and_inline(void)
{
	static const struct {
		const char *name;
		unsigned int count, length;
	} rows[] = {{"2 SGEs", 2, 10}, {"3 SGEs", 3, 1500}, {"6 SGEs", 6, 7}};
	uint8_t want[16384];
	struct send_wqe wqe;
	struct erdma_cqe cqe;
	struct world w;
	size_t i, k;

	T_NEED(world_make(&w));
	fill(&w.p.a, w.a.buffer, 1, 65536);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		guest_recv(&w.b.qp, w.b.buffer, 65536, w.b.key);
		memset(&wqe, 0, sizeof(wqe));
		wqe.s.head.hdr = htole64(sqe_hdr(ERDMA_OP_SEND, rows[i].count));
		for (k = 0; k < rows[i].count; k++) {
			wqe.sge[k] = sge_of(&w.a, 5000 * k + 3, rows[i].length);
			memcpy(want + k * rows[i].length,
			       guest_at(&w.p.a, w.a.buffer + 5000 * k + 3), rows[i].length);
		}
		guest_post(&w.a.qp, &wqe, (16 + rows[i].count * 16 + 31) / 32);
		T_TRUE_ROW(rows[i].name, guest_wait(&w.b.cq, &cqe));
		T_EQ_ROW(rows[i].name, be32toh(cqe.length), rows[i].count * rows[i].length);
		T_BYTES_ROW(rows[i].name, guest_at(&w.p.b, w.b.buffer), want,
			    rows[i].count * rows[i].length);
	}
	/* The longest inline data: 96 bytes behind 16. */
	guest_recv(&w.b.qp, w.b.buffer, 65536, w.b.key);
	memset(&wqe, 0, sizeof(wqe));
	for (i = 0; i < ERDMA_INLINE_MAX; i++)
		((uint8_t *)wqe.sge)[i] = (uint8_t)(200 - i);
	memcpy(want, wqe.sge, ERDMA_INLINE_MAX);
	wqe.s.head.hdr =
		htole64(sqe_hdr(ERDMA_OP_SEND, ERDMA_INLINE_MAX) | nic_prep(ERDMA_SQE_INLINE, 1));
	guest_post(&w.a.qp, &wqe, 4);
	T_TRUE(guest_wait(&w.b.cq, &cqe));
	T_EQ(be32toh(cqe.length), ERDMA_INLINE_MAX);
	T_BYTES(guest_at(&w.p.b, w.b.buffer), want, ERDMA_INLINE_MAX);
	world_end(&w);
}

static void reads_and_atomics(void)
{
	struct erdma_sqe_atomic atomic[1];
	struct erdma_sqe_read read[2];
	struct world w;
	uint64_t value;

	T_NEED(world_make(&w));
	fill(&w.p.b, w.b.buffer, 77, 65536);
	memset(read, 0, sizeof(read));
	read[0].head.hdr = htole64(sqe_hdr(ERDMA_OP_READ, 0));
	read[0].length = htole32(3000);
	read[0].lkey = htole32(w.a.key);
	read[0].local_low = htole32((uint32_t)w.a.buffer);
	read[0].local_high = htole32((uint32_t)(w.a.buffer >> 32));
	read[0].remote = sge_of(&w.b, 0, 3000);
	guest_post(&w.a.qp, read, 2);
	expect_cqe("read", &w.a.cq,
		   "8001000000000000000000020000000000000bb8000000000000000000000000");
	expect_data(&w, "read", 3000);

	value = 40;
	memcpy(guest_at(&w.p.b, w.b.buffer), &value, sizeof(value));
	atomic[0] = (struct erdma_sqe_atomic){.head.hdr = htole64(sqe_hdr(ERDMA_OP_FETCH_ADD, 0)),
					      .operand = htole64(2),
					      .remote = sge_of(&w.b, 0, 0),
					      .local = sge_of(&w.a, 0, 8)};
	guest_post(&w.a.qp, atomic, 2);
	expect_cqe("fetch and add", &w.a.cq,
		   "8012000000000002000000020000000000000008000000000000000000000000");
	memcpy(&value, guest_at(&w.p.a, w.a.buffer), sizeof(value));
	T_EQ(value, 40);
	memcpy(&value, guest_at(&w.p.b, w.b.buffer), sizeof(value));
	T_EQ(value, 42);

	atomic[0] = (struct erdma_sqe_atomic){.head.hdr = htole64(sqe_hdr(ERDMA_OP_CMP_SWAP, 0)),
					      .operand = htole64(1000),
					      .compare = htole64(42),
					      .remote = sge_of(&w.b, 0, 0),
					      .local = sge_of(&w.a, 0, 8)};
	guest_post(&w.a.qp, atomic, 2);
	expect_cqe("compare and swap", &w.a.cq,
		   "8011000000000004000000020000000000000008000000000000000000000000");
	memcpy(&value, guest_at(&w.p.b, w.b.buffer), sizeof(value));
	T_EQ(value, 1000);
	world_end(&w);
}

/* Not signaled: no CQE for success, one for an error. */
static void unsignaled(void)
{
	struct write_wqe wqe;
	struct world w;
	int i;

	T_NEED(world_make(&w));
	/* More than the ring holds at once: room comes back with no CQE at all. */
	for (i = 0; i < 200; i++) {
		wqe = write_to(&w, 64);
		wqe.w.head.hdr &= ~htole64(nic_prep(ERDMA_SQE_SIGNALED, 1));
		guest_post(&w.a.qp, &wqe, 2);
		guest_run(&w.p.a, 1000000);
	}
	expect_none("unsignaled", &w.a.cq);
	wqe = write_to(&w, 64);
	wqe.w.head.hdr &= ~htole64(nic_prep(ERDMA_SQE_SIGNALED, 1));
	wqe.w.rkey = htole32(w.b.key + 1);
	guest_post(&w.a.qp, &wqe, 2);
	expect_cqe("remote access", &w.a.cq,
		   "8000000500000190000000020000000000000000000000000000000000000000");
	T_EQ(guest_qp_state(&w.a.qp), ERDMA_QPS_ERR);
	T_EQ(guest_qp_state(&w.b.qp), ERDMA_QPS_ERR);
	world_end(&w);
}

static void ud_send_and_receive(void)
{
	static const uint8_t v4_header[] = {0x45};
	struct {
		struct erdma_sqe_ud u;
		struct erdma_sge sge[2];
	} wqe = {0};
	struct erdma_cmd_create_ah ah = {.pdn = htole32(GUEST_PD), .ahn = htole32(9)};
	struct guest_pair p;
	struct guest_end a, b;

	T_NEED(guest_pair(&p));
	T_NEED(guest_make_end(&p.a, &a, 1, true) && guest_make_end(&p.b, &b, 1, true));
	T_NEED(guest_bring_up(&a.qp, 0, 0) && guest_bring_up(&b.qp, 0, 0));
	guest_set_av(&ah.av, 2);
	ah.av.sl = 3;
	T_EQ(guest_command(&p.a, ERDMA_COMMAND_CREATE_AH, &ah, sizeof(ah)), 0);
	guest_recv(&b.qp, b.buffer, 1024, b.key);
	fill(&p.a, a.buffer, 5, 256);
	wqe.u.head.hdr = htole64(sqe_hdr(ERDMA_OP_SEND, 1));
	wqe.u.length = htole32(256);
	wqe.u.qkey = htole32(GUEST_QKEY);
	wqe.u.qpn = htole32(1);
	wqe.u.ahn = htole32(9);
	wqe.sge[0] = sge_of(&a, 0, 256);
	guest_post(&a.qp, &wqe, 2);
	expect_cqe("UD send", &a.cq,
		   "8002000000000000000000010000000000000100000000000000000000000000");
	/* 40 bytes of header count: 0x128. Source QPN 1, IPv4; the SL is not on an untagged wire. */
	expect_cqe("UD receive", &b.cq,
		   "8004010000000000000000010000000000000128000000000000000000000001");
	T_BYTES(guest_at(&p.b, b.buffer + 40), guest_at(&p.a, a.buffer), 256);
	T_BYTES(guest_at(&p.b, b.buffer + 20), v4_header, sizeof(v4_header));
	guest_pair_stop(&p);
}

/* Each row spoils one thing of a good WRITE: a local error, then everything is flushed. */
static void spoil_blocks(struct write_wqe *wqe, struct world *w)
{
	(void)w;
	wqe->w.head.hdr |= htole64(nic_prep(ERDMA_SQE_BLOCKS, 7));
}

static void spoil_end(struct write_wqe *wqe, struct world *w)
{
	(void)w;
	wqe->w.head.hdr ^= htole64(nic_prep(ERDMA_SQE_END, 0x8000));
}

static void spoil_qpn(struct write_wqe *wqe, struct world *w)
{
	(void)w;
	wqe->w.head.hdr ^= htole64(nic_prep(ERDMA_SQE_QPN, 0x10000));
}

static void spoil_sgl(struct write_wqe *wqe, struct world *w)
{
	(void)w;
	wqe->w.head.hdr |= htole64(nic_prep(ERDMA_SQE_SGL, 7));
}

static void spoil_sgl_room(struct write_wqe *wqe, struct world *w)
{
	(void)w;
	wqe->w.head.hdr ^= htole64(nic_prep(ERDMA_SQE_SGL, 1 ^ 3));
}

static void spoil_inline(struct write_wqe *wqe, struct world *w)
{
	(void)w;
	wqe->w.head.hdr |= htole64(nic_prep(ERDMA_SQE_INLINE, 1));
	wqe->w.head.hdr ^= htole64(nic_prep(ERDMA_SQE_SGL, 1 ^ 33));
}

static void spoil_opcode_rq(struct write_wqe *wqe, struct world *w)
{
	(void)w;
	wqe->w.head.hdr |= htole64(nic_prep(ERDMA_SQE_OPCODE, ERDMA_OP_RECV));
}

static void spoil_opcode_high(struct write_wqe *wqe, struct world *w)
{
	(void)w;
	wqe->w.head.hdr |= htole64(nic_prep(ERDMA_SQE_OPCODE, 31));
}

static void spoil_lkey(struct write_wqe *wqe, struct world *w)
{
	wqe->sge[0].key = htole32(w->a.key + 1);
}

static void spoil_bounds(struct write_wqe *wqe, struct world *w)
{
	wqe->sge[0].addr = htole64(w->a.buffer + 65536 - 63);
}

static void malformed_wqes(void)
{
	static const struct {
		const char *name;
		void (*spoil)(struct write_wqe *wqe, struct world *w);
		const char *hex; /* first word of the CQE */
	} rows[] = {
		{"too many blocks", spoil_blocks, "80000008"},
		{"end elsewhere", spoil_end, "80000008"},
		{"another QP's", spoil_qpn, "80000008"},
		{"too many SGEs", spoil_sgl, "80000008"},
		{"SGEs beyond the WQE", spoil_sgl_room, "80000008"},
		{"inline beyond the WQE", spoil_inline, "80000008"},
		{"opcode of receives", spoil_opcode_rq, "80040008"},
		{"unknown opcode", spoil_opcode_high, "80020008"},
		{"local key", spoil_lkey, "8000000a"},
		{"local bounds", spoil_bounds, "8000000a"},
	};
	struct write_wqe good, bad;
	char hex[65];
	struct world w;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		T_NEED(world_make(&w));
		/* Good, spoiled, good: done, failed, flushed. */
		good = write_to(&w, 64);
		guest_put(&w.a.qp, &good, 2);
		bad = write_to(&w, 64);
		guest_put(&w.a.qp, &bad, 2);
		rows[i].spoil(&bad, &w);
		memcpy(guest_at(&w.p.a, w.a.qp.sq + 64), &bad, 64);
		guest_ring_sq(&w.a.qp);
		expect_cqe(rows[i].name, &w.a.cq,
			   "8000000000000000000000020000000000000040000000000000000000000000");
		snprintf(hex, sizeof(hex), "%s0000000200000002%040d", rows[i].hex, 0);
		expect_cqe(rows[i].name, &w.a.cq, hex);
		T_EQ_ROW(rows[i].name, guest_qp_state(&w.a.qp), ERDMA_QPS_ERR);
		good = write_to(&w, 64);
		guest_post(&w.a.qp, &good, 2);
		expect_cqe(rows[i].name, &w.a.cq,
			   "8000000f00000004000000020000000000000000000000000000000000000000");
		world_end(&w);
	}
}

static void ring_wraps(void)
{
	uint8_t want[ERDMA_INLINE_MAX];
	struct write_wqe wqe;
	struct erdma_cqe cqe;
	struct world w;
	int i, k;

	T_NEED(world_make(&w));
	/* 64 blocks, 4 + 3 a round: inline data crosses the end of the ring at many places. */
	for (i = 0; i < 100; i++) {
		wqe = write_to(&w, 0);
		for (k = 0; k < ERDMA_INLINE_MAX; k++)
			((uint8_t *)wqe.sge)[k] = want[k] = (uint8_t)(i + k);
		wqe.w.head.hdr = htole64(sqe_hdr(ERDMA_OP_WRITE, i & 1 ? 64 : 96) |
					 nic_prep(ERDMA_SQE_INLINE, 1));
		guest_post(&w.a.qp, &wqe, i & 1 ? 3 : 4);
		T_NEED(guest_wait(&w.a.cq, &cqe));
		T_EQ(be32toh(cqe.hdr) & 0xff, 0);
		T_BYTES(guest_at(&w.p.b, w.b.buffer), want, i & 1 ? 64 : 96);
	}
	world_end(&w);
}

static void trace_is_hex_lines(void)
{
	char path[] = "/tmp/erdma_wqe_XXXXXX", line[512];
	struct write_wqe wqe;
	struct world w;
	FILE *file;
	int fd;

	fd = mkstemp(path);
	T_NEED(fd >= 0);
	close(fd);
	setenv("ERDMA_TEST_TRACE", path, 1);
	T_NEED(world_make(&w));
	unsetenv("ERDMA_TEST_TRACE");
	wqe = write_to(&w, 64);
	wqe.w.rkey = htole32(0x11223344);
	guest_post(&w.a.qp, &wqe, 2);
	world_end(&w);
	file = fopen(path, "r");
	T_NEED(file);
	T_TRUE(fgets(line, sizeof(line), file));
	T_EQ(strlen(line), 2 * 64 + 1);
	/* Header: end 2, signaled; QPN 2, 2 blocks, 1 SGE. Then immediate, length, rkey. */
	T_EQ(strncmp(line,
		     "0200400002001001"
		     "0000000040000000"
		     "44332211",
		     40),
	     0);
	T_TRUE(!fgets(line, sizeof(line), file));
	fclose(file);
	unlink(path);
}

T_MAIN("erdma_sim_wqe", T_CASE(write_moves_data), T_CASE(write_imm_tells_the_responder),
       T_CASE(send_fills_receives_in_order), T_CASE(sge_lists_and_inline),
       T_CASE(reads_and_atomics), T_CASE(unsignaled), T_CASE(ud_send_and_receive),
       T_CASE(malformed_wqes), T_CASE(ring_wraps), T_CASE(trace_is_hex_lines))
