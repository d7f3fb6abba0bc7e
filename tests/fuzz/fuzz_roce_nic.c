/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Fuzzes the transport: the input is a script of packets to an RC, a UC and a UD QP, of work
 * posted, of time passing and states changing. Whatever comes, no memory outside a region is
 * asked for, every frame sent is well-formed, no work completes more often than it was posted,
 * and all memory comes back.
 */
#include "sim/engine/roce_frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MEMORY = 16384, KEY = 0x101, FAST_KEY = 0x201, PD = 1, QPS = 3, PSN = 0xfffff8 };

struct fuzz {
	const uint8_t *data;
	size_t size;
	struct roce_nic *nic;
	uint64_t now;
	long allocations;
	unsigned int room;
	struct roce_cq *cq;
	struct roce_qp *qps[QPS];
	uint64_t posted, completed;
	uint8_t memory[MEMORY];
	uint8_t frame[8192];
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
	if (!condition)
		abort();
}

/* Bytes of the script; zero when it is over. */
static uint32_t take(struct fuzz *f, unsigned int bytes)
{
	uint32_t value = 0;

	while (bytes-- && f->size) {
		value = value << 8 | *f->data++;
		f->size--;
	}
	return value;
}

static void *env_alloc(void *ctx, size_t size)
{
	struct fuzz *f = ctx;

	f->allocations++;
	return calloc(1, size);
}

static void env_free(void *ctx, void *memory)
{
	struct fuzz *f = ctx;

	f->allocations -= memory != NULL;
	free(memory);
}

static void *env_tx_alloc(void *ctx, size_t length)
{
	struct fuzz *f = ctx;

	require(length <= sizeof(f->frame));
	if (!f->room)
		return NULL;
	f->room--;
	return f->frame;
}

static void env_tx_send(void *ctx, void *buffer, size_t length)
{
	struct roce_pkt pkt;
	enum roce_drop drop;

	(void)ctx;
	require(roce_frame_parse(buffer, length, &pkt, &drop));
}

/* Two pieces where it crosses the middle. */
static int env_mr_map(void *ctx, const struct roce_mr_attr *mr, uint64_t offset, size_t length,
		      bool write, struct iovec *iov, int max)
{
	struct fuzz *f = ctx;
	size_t half = MEMORY / 2;

	(void)mr;
	(void)write;
	require(length && max > 0 && offset <= MEMORY && length <= MEMORY - offset);
	if (offset >= half || offset + length <= half || max < 2) {
		iov[0] = (struct iovec){f->memory + offset, length};
		return 1;
	}
	iov[0] = (struct iovec){f->memory + offset, half - offset};
	iov[1] = (struct iovec){f->memory + half, length - (half - offset)};
	return 2;
}

static int env_complete(void *ctx, struct roce_cq *cq, const struct roce_wc *wc)
{
	struct fuzz *f = ctx;

	require(cq == f->cq && wc->status < ROCE_WC_STATUS_COUNT);
	f->completed++;
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
	require(!qp + !cq + !srq == 2);
}

static int env_reg_mr(void *ctx, struct roce_qp *qp, void *reg, struct roce_mr_attr *attr)
{
	(void)ctx;
	(void)qp;
	(void)reg;
	attr->key = FAST_KEY;
	attr->access = 0xf;
	attr->iova = 0;
	attr->length = MEMORY;
	return 0;
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
	.reg_mr = env_reg_mr,
};

static const uint8_t macs[2][6] = {{2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2}};
static const uint8_t gids[2][16] = {{[10] = 0xff, 0xff, 10, 0, 0, 1},
				    {[10] = 0xff, 0xff, 10, 0, 0, 2}};

static int connect_qp(struct fuzz *f, struct roce_qp *qp, enum roce_qp_type type)
{
	static const uint32_t masks[][3] = {
		[ROCE_QPT_RC] = {ROCE_QP_PKEY_INDEX | ROCE_QP_ACCESS,
				 ROCE_QP_AV | ROCE_QP_PATH_MTU | ROCE_QP_DEST_QPN | ROCE_QP_RQ_PSN |
					 ROCE_QP_MAX_DEST_RD_ATOMIC | ROCE_QP_MIN_RNR_TIMER,
				 ROCE_QP_TIMEOUT | ROCE_QP_RETRY_CNT | ROCE_QP_RNR_RETRY |
					 ROCE_QP_SQ_PSN | ROCE_QP_MAX_RD_ATOMIC},
		[ROCE_QPT_UC] = {ROCE_QP_PKEY_INDEX | ROCE_QP_ACCESS,
				 ROCE_QP_AV | ROCE_QP_PATH_MTU | ROCE_QP_DEST_QPN | ROCE_QP_RQ_PSN,
				 ROCE_QP_SQ_PSN},
		[ROCE_QPT_UD] = {ROCE_QP_PKEY_INDEX | ROCE_QP_QKEY, 0, ROCE_QP_SQ_PSN},
	};
	struct roce_qp_attr attr = {.access = 0xf,
				    .qkey = 1,
				    .path_mtu = 256,
				    .timeout = 10,
				    .retry_cnt = 3,
				    .rnr_retry = 7,
				    .rq_psn = PSN,
				    .sq_psn = PSN,
				    .max_rd_atomic = 2,
				    .max_dest_rd_atomic = 2,
				    .min_rnr_timer = 1,
				    .dest_qpn = 9};
	unsigned int i;
	int err = 0;

	memcpy(attr.av.dmac, macs[1], 6);
	memcpy(attr.av.dgid, gids[1], 16);
	for (i = 0; i < 3; i++) {
		attr.state = ROCE_QPS_INIT + i;
		err |= roce_qp_modify(qp, f->now, &attr, ROCE_QP_STATE | masks[type][i]);
	}
	return err;
}

static void create_mr(struct fuzz *f, uint32_t key, bool fast_reg)
{
	struct roce_mr_attr attr = {.key = key,
				    .pdn = PD,
				    .access = 0xf,
				    .length = MEMORY,
				    .valid = true,
				    .fast_reg = fast_reg};
	struct roce_mr *mr;

	require(roce_mr_create(f->nic, &attr, &mr) == 0);
}

static void open_nic(struct fuzz *f)
{
	struct roce_nic_config config = {.mtu = 1024,
					 .max_qp = 8,
					 .max_cq = 8,
					 .max_srq = 8,
					 .max_mr = 8,
					 .max_gid = 2,
					 .ecn = true,
					 .link_bps = 1000000000,
					 .ack_every = 3,
					 .report_unsignaled = true,
					 .env = &env,
					 .env_ctx = f};
	struct roce_qp_init init = {.pdn = PD, .max_send_wr = 16, .max_recv_wr = 16};
	unsigned int i;

	memcpy(config.mac, macs[0], 6);
	require(roce_nic_create(&config, &f->nic) == 0);
	require(roce_gid_set(f->nic, 0, gids[0], ROCE_NET_V2_IPV4, 0xffff) == 0);
	require(roce_cq_create(f->nic, 1, NULL, &f->cq) == 0);
	create_mr(f, KEY, false);
	create_mr(f, FAST_KEY, true);
	init.send_cq = init.recv_cq = f->cq;
	for (i = 0; i < QPS; i++) {
		init.qpn = 2 + i;
		init.type = ROCE_QPT_RC + i;
		require(roce_qp_create(f->nic, &init, &f->qps[i]) == 0);
		require(connect_qp(f, f->qps[i], init.type) == 0);
	}
}

static uint32_t some_key(struct fuzz *f)
{
	static const uint32_t keys[] = {KEY, KEY, FAST_KEY, 0x999};

	return keys[take(f, 1) % 4];
}

/* A well-formed packet whose fields are mostly near what is expected. */
static void script_packet(struct fuzz *f)
{
	struct roce_path path = {.vlan = ROCE_NO_VLAN, .net = ROCE_NET_V2_IPV4, .hop_limit = 1};
	struct roce_pkt pkt = {.op = roce_op_find((uint8_t)take(f, 1)), .pkey = 0xffff};
	uint8_t flags = (uint8_t)take(f, 1);
	struct roce_template t;
	uint8_t frame[2048];

	if (!pkt.op)
		return;
	memcpy(path.smac, macs[1], 6);
	memcpy(path.dmac, macs[0], 6);
	memcpy(path.sgid, gids[1], 16);
	memcpy(path.dgid, gids[0], 16);
	path.traffic_class = flags & 3;
	pkt.ack_req = flags & 4;
	pkt.solicited = flags & 8;
	pkt.dqpn = 2 + (pkt.op->service == ROCE_SERVICE_CNP ? 0 : pkt.op->service);
	pkt.psn = PSN + take(f, 1);
	pkt.va = take(f, 2);
	pkt.rkey = pkt.inv_key = some_key(f);
	pkt.dma_length = take(f, 2);
	pkt.syndrome = (uint8_t)take(f, 1);
	pkt.qkey = flags & 16 ? 2 : 1;
	pkt.payload_length = take(f, 2) % 1200;
	if (flags & 32)
		pkt.payload_length = 256;
	if (!roce_op_has_payload(pkt.op))
		pkt.payload_length = 0;
	roce_template_init(&t, &path);
	memset(roce_frame_build(&t, &pkt, frame), flags, pkt.payload_length);
	roce_frame_finish(&t, &pkt, frame);
	roce_nic_input(f->nic, f->now, frame, roce_frame_size(&t, pkt.op, pkt.payload_length));
}

static void script_frame(struct fuzz *f)
{
	size_t length = take(f, 1);

	length = length < f->size ? length : f->size;
	roce_nic_input(f->nic, f->now, f->data, length);
	f->data += length;
	f->size -= length;
}

static void script_send(struct fuzz *f)
{
	struct roce_sge sge[2] = {{take(f, 2), take(f, 2), some_key(f)}, {0, 3, KEY}};
	struct roce_send_wr wr = {.opcode = take(f, 1) % (ROCE_WR_OPCODE_COUNT + 1),
				  .flags = take(f, 1) & 15,
				  .inv_key = FAST_KEY,
				  .remote_addr = 0x1000,
				  .rkey = FAST_KEY,
				  .sge = sge,
				  .num_sge = take(f, 1) % 3,
				  .inline_data = f->memory,
				  .inline_length = take(f, 1) * 5,
				  .ud = {.dest_qpn = 7, .qkey = 1}};

	memcpy(wr.ud.av.dgid, gids[1], 16);
	f->posted += roce_post_send(f->qps[take(f, 1) % QPS], f->now, &wr) == 0;
}

static void script_recv(struct fuzz *f)
{
	struct roce_sge sge = {take(f, 2), take(f, 2), some_key(f)};
	struct roce_recv_wr wr = {.sge = &sge, .num_sge = 1};

	f->posted += roce_post_recv(f->qps[take(f, 1) % QPS], f->now, &wr) == 0;
}

static void script_run(struct fuzz *f)
{
	f->now += 1ull << take(f, 1) % 32;
	while (roce_nic_run(f->nic, f->now, 64) && f->room)
		;
}

static void script_room(struct fuzz *f)
{
	f->room = take(f, 1);
	roce_nic_tx_room(f->nic);
}

static void script_state(struct fuzz *f)
{
	unsigned int i = take(f, 1) % QPS;
	struct roce_qp_attr attr = {.state = take(f, 1) % (ROCE_QPS_ERR + 2)};
	uint32_t lost;

	lost = roce_qp_send_outstanding(f->qps[i]) + roce_qp_recv_outstanding(f->qps[i]);
	if (roce_qp_modify(f->qps[i], f->now, &attr, ROCE_QP_STATE) == 0 &&
	    attr.state == ROCE_QPS_RESET) {
		f->completed += lost;
		connect_qp(f, f->qps[i], ROCE_QPT_RC + i);
	}
}

static void script_region(struct fuzz *f)
{
	struct roce_mr *mr = roce_mr_find(f->nic, KEY);

	if (mr)
		roce_mr_destroy(mr);
	else
		create_mr(f, KEY, false);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const steps[])(struct fuzz * f) = {
		script_packet, script_packet, script_packet, script_send,
		script_send,   script_recv,   script_recv,   script_run,
		script_room,   script_state,  script_frame,  script_region,
	};
	struct fuzz *f = calloc(1, sizeof(*f));

	f->data = data;
	f->size = size;
	f->room = 1000;
	f->now = 1;
	open_nic(f);
	while (f->size) {
		steps[take(f, 1) % (sizeof(steps) / sizeof(steps[0]))](f);
		require(f->completed <= f->posted);
	}
	script_run(f);
	roce_nic_destroy(f->nic);
	require(f->allocations == 0);
	free(f);
	return 0;
}
