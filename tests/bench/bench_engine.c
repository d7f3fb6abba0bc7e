/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * How fast is the transport engine by itself? Two NICs in one thread, frames handed over in
 * memory, no fabric, no virtual machine. Prints packets a second (requests and responses) and
 * payload; not a test: nothing depends on the figures.
 *
 *	bench_engine [SECONDS]
 */
#include "sim/engine/roce.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	FRAME_ROOM = 8192,
	WIRE_FRAMES = 512, /* between the two: more are refused until there is room again */
	REGION = 1 << 20,
	DEPTH = 64,
	MTU = 1024,
	PD = 1,
	KEY = 0x100,
};

struct frame {
	size_t length;
	uint8_t bytes[FRAME_ROOM];
};

struct node {
	struct roce_nic *nic;
	struct roce_cq *cq;
	struct roce_qp *qp;
	uint8_t *memory;
	struct frame *wire; /* ring of frames sent */
	unsigned int head, tail;
	bool stalled;
	unsigned long sent, received; /* completions */
};

static void *env_alloc(void *ctx, size_t size)
{
	(void)ctx;
	return calloc(1, size);
}

static void env_free(void *ctx, void *memory)
{
	(void)ctx;
	free(memory);
}

static void *env_tx_alloc(void *ctx, size_t length)
{
	struct node *n = ctx;

	(void)length;
	n->stalled = n->head - n->tail == WIRE_FRAMES;
	return n->stalled ? NULL : n->wire[n->head % WIRE_FRAMES].bytes;
}

static void env_tx_send(void *ctx, void *buffer, size_t length)
{
	struct node *n = ctx;

	(void)buffer;
	n->wire[n->head++ % WIRE_FRAMES].length = length;
}

static int env_mr_map(void *ctx, const struct roce_mr_attr *mr, uint64_t offset, size_t length,
		      bool write, struct iovec *iov, int max)
{
	struct node *n = ctx;

	(void)mr;
	(void)write;
	(void)max;
	*iov = (struct iovec){n->memory + offset, length};
	return 1;
}

static int env_complete(void *ctx, struct roce_cq *cq, const struct roce_wc *wc)
{
	struct node *n = ctx;

	(void)cq;
	if (wc->status != ROCE_WC_SUCCESS) {
		fprintf(stderr, "bench_engine: a completion has status %d\n", wc->status);
		exit(1);
	}
	if (wc->opcode == ROCE_WC_SEND)
		n->sent++;
	else
		n->received++;
	return 0;
}

static void env_cq_event(void *ctx, struct roce_cq *cq)
{
	(void)ctx;
	(void)cq;
}

static void env_event(void *ctx, enum roce_event event, struct roce_qp *qp, struct roce_cq *cq,
		      struct roce_srq *srq)
{
	(void)ctx;
	(void)event;
	(void)qp;
	(void)cq;
	(void)srq;
}

static const struct roce_env env = {
	.alloc = env_alloc,
	.free = env_free,
	.tx_alloc = env_tx_alloc,
	.tx_send = env_tx_send,
	.mr_map = env_mr_map,
	.complete = env_complete,
	.cq_event = env_cq_event,
	.event = env_event,
};

static uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void must(int err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "bench_engine: %s: %s\n", what, strerror(-err));
	exit(1);
}

static void make_objects(struct node *n)
{
	struct roce_mr_attr mr_attr = {
		.key = KEY, .pdn = PD, .access = 0xf, .length = REGION, .valid = true};
	struct roce_qp_init init = {
		.qpn = 5, .pdn = PD, .max_send_wr = DEPTH, .max_recv_wr = 2 * DEPTH};
	struct roce_mr *mr;

	must(roce_cq_create(n->nic, 1, NULL, &n->cq), "create CQ");
	init.send_cq = init.recv_cq = n->cq;
	must(roce_qp_create(n->nic, &init, &n->qp), "create QP");
	must(roce_mr_create(n->nic, &mr_attr, &mr), "create MR");
}

static void connect_to(struct node *n, unsigned int peer)
{
	struct roce_qp_attr attr = {
		.state = ROCE_QPS_INIT,
		.access = 0xf,
		.path_mtu = MTU,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 16,
		.max_dest_rd_atomic = 16,
		.min_rnr_timer = 1,
		.dest_qpn = 5,
		.av = {.dmac = {2, 0, 0, 0, 0, (uint8_t)peer},
		       .dgid = {[10] = 0xff, 0xff, 10, 0, 0, (uint8_t)peer}},
	};

	must(roce_qp_modify(n->qp, 0, &attr, ROCE_QP_STATE | ROCE_QP_PKEY_INDEX | ROCE_QP_ACCESS),
	     "modify to INIT");
	attr.state = ROCE_QPS_RTR;
	must(roce_qp_modify(n->qp, 0, &attr,
			    ROCE_QP_STATE | ROCE_QP_AV | ROCE_QP_PATH_MTU | ROCE_QP_DEST_QPN |
				    ROCE_QP_RQ_PSN | ROCE_QP_MAX_DEST_RD_ATOMIC |
				    ROCE_QP_MIN_RNR_TIMER),
	     "modify to RTR");
	attr.state = ROCE_QPS_RTS;
	must(roce_qp_modify(n->qp, 0, &attr,
			    ROCE_QP_STATE | ROCE_QP_TIMEOUT | ROCE_QP_RETRY_CNT |
				    ROCE_QP_RNR_RETRY | ROCE_QP_SQ_PSN | ROCE_QP_MAX_RD_ATOMIC),
	     "modify to RTS");
}

static void node_start(struct node *n, unsigned int index)
{
	const uint8_t gid[16] = {[10] = 0xff, 0xff, 10, 0, 0, (uint8_t)index};
	struct roce_nic_config config = {
		.mac = {2, 0, 0, 0, 0, (uint8_t)index},
		.mtu = 4096,
		.max_qp = 16,
		.max_cq = 16,
		.max_mr = 16,
		.max_gid = 1,
		.env = &env,
		.env_ctx = n,
	};

	*n = (struct node){.memory = calloc(1, REGION),
			   .wire = calloc(WIRE_FRAMES, sizeof(*n->wire))};
	must(roce_nic_create(&config, &n->nic), "create NIC");
	must(roce_gid_set(n->nic, 0, gid, ROCE_NET_V2_IPV4, 0xffff), "set GID");
	make_objects(n);
	connect_to(n, 3 - index);
}

static void node_stop(struct node *n)
{
	roce_nic_destroy(n->nic);
	free(n->memory);
	free(n->wire);
}

static void carry(struct node *from, struct node *to, uint64_t now)
{
	while (from->tail != from->head) {
		const struct frame *frame = &from->wire[from->tail++ % WIRE_FRAMES];

		roce_nic_input(to->nic, now, frame->bytes, frame->length);
	}
	if (from->stalled)
		roce_nic_tx_room(from->nic);
	from->stalled = false;
}

struct load {
	const char *name;
	enum roce_wr_opcode opcode;
	uint32_t length;
	bool receive;
};

static void refill(struct node *n, const struct load *load, uint64_t now)
{
	struct roce_sge sge = {0, load->length, KEY};
	struct roce_send_wr send = {.opcode = load->opcode,
				    .flags = ROCE_WR_SIGNALED,
				    .rkey = KEY,
				    .sge = &sge,
				    .num_sge = 1};
	struct roce_recv_wr recv = {.sge = &sge, .num_sge = 1};

	while (load->receive && roce_qp_recv_outstanding(n[1].qp) < 2 * DEPTH)
		must(roce_post_recv(n[1].qp, now, &recv), "post receive");
	while (roce_qp_send_outstanding(n[0].qp) < DEPTH)
		must(roce_post_send(n[0].qp, now, &send), "post send");
}

static void bench(const struct load *load, double seconds)
{
	uint64_t start = clock_ns(), now = start, end = start + (uint64_t)(seconds * 1e9);
	struct node n[2];
	unsigned int turn, i;
	double packets, took;

	node_start(&n[0], 1);
	node_start(&n[1], 2);
	while (now < end) {
		for (turn = 0; turn < 64; turn++) {
			refill(n, load, now - start);
			for (i = 0; i < 2; i++) {
				roce_nic_run(n[i].nic, now - start, 256);
				carry(&n[i], &n[!i], now - start);
			}
		}
		now = clock_ns();
	}
	took = (double)(now - start) / 1e9;
	packets = (double)(roce_nic_counters(n[0].nic)->tx_packets +
			   roce_nic_counters(n[1].nic)->tx_packets);
	printf("%-14s %7.3f M packets/s %7.3f M messages/s %8.2f Gb/s\n", load->name,
	       packets / took / 1e6, (double)n[0].sent / took / 1e6,
	       (double)n[0].sent * load->length * 8 / took / 1e9);
	node_stop(&n[0]);
	node_stop(&n[1]);
}

int main(int argc, char **argv)
{
	static const struct load loads[] = {
		{"write 64 KiB", ROCE_WR_WRITE, 65536, false},
		{"read 64 KiB", ROCE_WR_READ, 65536, false},
		{"send 64 KiB", ROCE_WR_SEND, 65536, true},
		{"write 8 B", ROCE_WR_WRITE, 8, false},
		{"send 8 B", ROCE_WR_SEND, 8, true},
		{"read 8 B", ROCE_WR_READ, 8, false},
	};
	double seconds = argc > 1 ? atof(argv[1]) : 1;
	size_t i;

	for (i = 0; i < sizeof(loads) / sizeof(loads[0]); i++)
		bench(&loads[i], seconds);
	return 0;
}
