/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The smallest class with an engine. Knows no back end, no fabric. */
#include "tests/unit/sim/nic/toy_nic.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct toy_nic *toy_last;

/* ---- what the engine calls ---- */

static int toy_mr_map(void *ctx, const struct roce_mr_attr *mr, uint64_t offset, size_t length,
		      bool write, struct iovec *iov, int max)
{
	struct toy_nic *nic = ctx;

	(void)mr;
	(void)write;
	if (max < 1)
		return -EFAULT;
	iov[0] = (struct iovec){nic->memory + offset, length};
	return 1;
}

static int toy_complete(void *ctx, struct roce_cq *cq, const struct roce_wc *wc)
{
	struct toy_nic *nic = ctx;

	(void)cq;
	nic->done++;
	nic->failed += wc->status != ROCE_WC_SUCCESS;
	return 0;
}

static void toy_cq_event(void *ctx, struct roce_cq *cq)
{
	(void)ctx;
	(void)cq;
}

static void toy_event(void *ctx, enum roce_event event, struct roce_qp *qp, struct roce_cq *cq,
		      struct roce_srq *srq)
{
	(void)ctx;
	(void)event;
	(void)qp;
	(void)cq;
	(void)srq;
}

static int toy_reg_mr(void *ctx, struct roce_qp *qp, void *reg, struct roce_mr_attr *attr)
{
	(void)ctx;
	(void)qp;
	(void)reg;
	(void)attr;
	return -EINVAL;
}

static const struct roce_env toy_env = {
	.mr_map = toy_mr_map,
	.complete = toy_complete,
	.cq_event = toy_cq_event,
	.event = toy_event,
	.reg_mr = toy_reg_mr,
};

/* ---- objects ---- */

static void gid_of(const uint8_t mac[6], uint8_t gid[16])
{
	static const uint8_t prefix[16] = {[10] = 0xff, 0xff, 10, 9, 0, 0};

	memcpy(gid, prefix, 16);
	gid[15] = mac[5];
}

static int make_objects(struct toy_nic *nic)
{
	struct roce_mr_attr attr = {
		.key = TOY_KEY, .access = 0xf, .length = TOY_MEMORY, .valid = true};
	struct roce_qp_init init = {
		.qpn = TOY_QPN, .type = ROCE_QPT_RC, .max_send_wr = 512, .max_recv_wr = 1};
	struct roce_mr *mr;
	uint8_t gid[16];
	int err;

	gid_of(nic->config.mac, gid);
	err = roce_gid_set(sim_roce_nic(nic->roce), 0, gid, ROCE_NET_V2_IPV4, 0xffff);
	if (!err)
		err = roce_cq_create(sim_roce_nic(nic->roce), 1, NULL, &nic->cq);
	init.send_cq = init.recv_cq = nic->cq;
	if (!err)
		err = roce_qp_create(sim_roce_nic(nic->roce), &init, &nic->qp);
	if (!err)
		err = roce_mr_create(sim_roce_nic(nic->roce), &attr, &mr);
	return err;
}

int toy_connect(struct toy_nic *nic, const uint8_t mac[6])
{
	static const struct {
		enum roce_qp_state state;
		uint32_t mask;
	} steps[] = {
		{ROCE_QPS_INIT, ROCE_QP_PKEY_INDEX | ROCE_QP_ACCESS},
		{ROCE_QPS_RTR, ROCE_QP_AV | ROCE_QP_PATH_MTU | ROCE_QP_DEST_QPN | ROCE_QP_RQ_PSN |
				       ROCE_QP_MAX_DEST_RD_ATOMIC | ROCE_QP_MIN_RNR_TIMER},
		{ROCE_QPS_RTS, ROCE_QP_TIMEOUT | ROCE_QP_RETRY_CNT | ROCE_QP_RNR_RETRY |
				       ROCE_QP_SQ_PSN | ROCE_QP_MAX_RD_ATOMIC},
	};
	struct roce_qp_attr attr = {
		.access = 0xf,
		.path_mtu = sim_roce_path_mtu(nic->config.mtu),
		.timeout = 10,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1,
		.max_dest_rd_atomic = 1,
		.dest_qpn = TOY_QPN,
		.av = {.hop_limit = 64},
	};
	int err = 0;
	size_t i;

	memcpy(attr.av.dmac, mac, 6);
	gid_of(mac, attr.av.dgid);
	for (i = 0; !err && i < sizeof(steps) / sizeof(steps[0]); i++) {
		attr.state = steps[i].state;
		err = roce_qp_modify(nic->qp, sim_roce_now(nic->roce), &attr,
				     steps[i].mask | ROCE_QP_STATE);
	}
	return err;
}

static void post_write(struct toy_nic *nic)
{
	struct roce_sge sge = {.length = TOY_MEMORY, .lkey = TOY_KEY};
	struct roce_send_wr wr = {
		.opcode = ROCE_WR_WRITE,
		.flags = ROCE_WR_SIGNALED,
		.rkey = TOY_KEY,
		.sge = &sge,
		.num_sge = 1,
	};

	if (roce_post_send(nic->qp, sim_roce_now(nic->roce), &wr))
		nic->failed++;
	sim_roce_kick(nic->roce);
}

/* ---- the class ---- */

static int toy_describe(const struct sim_nic_config *config, struct sim_pci_config *pci)
{
	if (config->personality)
		return -EINVAL;
	pci->vendor_id = 0x1af5;
	pci->device_id = 0x0071;
	pci->bars[0].size = 4096;
	return 0;
}

static int toy_create(struct sim_dev *dev, const struct sim_nic_config *config, void **out)
{
	struct toy_nic *nic = calloc(1, sizeof(*nic));
	struct roce_nic_config engine = {
		.mtu = sim_roce_path_mtu(config->mtu),
		.max_qp = 16,
		.max_cq = 16,
		.max_srq = 1,
		.max_mr = 16,
		.max_gid = 4,
		.seed = config->seed,
		.env = &toy_env,
		.env_ctx = nic,
	};
	int err;

	if (!nic)
		return -ENOMEM;
	nic->dev = dev;
	nic->config = *config;
	memcpy(engine.mac, config->mac, 6);
	err = sim_roce_create(dev, &engine, &nic->roce);
	if (!err)
		err = make_objects(nic);
	if (err) {
		sim_roce_destroy(nic->roce);
		free(nic);
		return err;
	}
	toy_last = nic;
	*out = nic;
	return 0;
}

static void toy_destroy(void *ctx)
{
	struct toy_nic *nic = ctx;

	sim_roce_destroy(nic->roce);
	free(nic);
}

static void toy_reset(void *ctx)
{
	struct toy_nic *nic = ctx;

	nic->resets++;
	sim_roce_reset(nic->roce);
}

static uint64_t toy_reg_read(void *ctx, unsigned int bar, uint64_t offset, unsigned int size)
{
	struct toy_nic *nic = ctx;

	(void)bar;
	(void)size;
	return offset == TOY_REG_DONE ? nic->done : 0;
}

static void toy_reg_write(void *ctx, unsigned int bar, uint64_t offset, unsigned int size,
			  uint64_t value)
{
	struct toy_nic *nic = ctx;

	(void)bar;
	(void)size;
	if (offset == TOY_REG_DOORBELL)
		while (value--)
			post_write(nic);
}

static void toy_rx_frame(void *ctx, const void *frame, size_t length)
{
	struct toy_nic *nic = ctx;

	sim_roce_rx_frame(nic->roce, frame, length);
}

static void toy_tx_room(void *ctx)
{
	struct toy_nic *nic = ctx;

	sim_roce_tx_room(nic->roce);
}

static void toy_timer(void *ctx, uint64_t now)
{
	struct toy_nic *nic = ctx;

	sim_roce_timer(nic->roce, now);
}

static void toy_counters(void *ctx, void (*emit)(void *emit_ctx, const char *name, uint64_t value),
			 void *emit_ctx)
{
	struct toy_nic *nic = ctx;

	sim_roce_counters(nic->roce, emit, emit_ctx);
}

const struct sim_class toy_class = {
	.name = "toy",
	.describe = toy_describe,
	.create = toy_create,
	.destroy = toy_destroy,
	.reset = toy_reset,
	.reg_read = toy_reg_read,
	.reg_write = toy_reg_write,
	.rx_frame = toy_rx_frame,
	.tx_room = toy_tx_room,
	.timer = toy_timer,
	.counters = toy_counters,
};
