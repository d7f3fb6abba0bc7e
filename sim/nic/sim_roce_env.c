/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The engine on a device: memory, frames, log, and whose turn it is. Knows
 * the device seam and the engine's interface, no vendor format.
 *
 * The engine never runs inside a doorbell or a received frame: those only set the device's timer
 * to "soon". So all doorbells and frames of a loop turn are worked off in one batch, and nothing
 * recurses: doorbell -> engine -> fabric -> the other NIC's engine -> its acknowledgement.
 */
#include "sim/nic/sim_roce_env.h"

#include <errno.h>
#include <stdlib.h>

/* Packets of one NIC before fabric and sockets have their turn. */
#define RUN_BUDGET 64
#define NEVER	   UINT64_MAX

struct sim_roce {
	struct sim_dev *dev;
	struct roce_nic *nic;
	struct roce_env env;
	const struct roce_env *class_env;
	void *class_ctx;
	bool kicked;  /* there is work now, and the timer says so */
	bool running; /* inside sim_roce_timer, which sets the timer at its end */
	uint64_t own_deadline;
	void (*own_expired)(void *env_ctx, uint64_t now);
};

/* ---- what the engine calls ---- */

static void *env_alloc(void *ctx, size_t size)
{
	struct sim_roce *roce = ctx;

	if (roce->class_env->alloc)
		return roce->class_env->alloc(roce->class_ctx, size);
	return calloc(1, size);
}

static void env_free(void *ctx, void *memory)
{
	struct sim_roce *roce = ctx;

	if (roce->class_env->free)
		roce->class_env->free(roce->class_ctx, memory);
	else
		free(memory);
}

static void *env_tx_alloc(void *ctx, size_t length)
{
	struct sim_roce *roce = ctx;

	return sim_dev_tx_alloc(roce->dev, length);
}

static void env_tx_send(void *ctx, void *buffer, size_t length)
{
	struct sim_roce *roce = ctx;

	sim_dev_tx_send(roce->dev, buffer, length);
}

static int env_mr_map(void *ctx, const struct roce_mr_attr *mr, uint64_t offset, size_t length,
		      bool write, struct iovec *iov, int max)
{
	struct sim_roce *roce = ctx;

	return roce->class_env->mr_map(roce->class_ctx, mr, offset, length, write, iov, max);
}

static int env_complete(void *ctx, struct roce_cq *cq, const struct roce_wc *wc)
{
	struct sim_roce *roce = ctx;

	return roce->class_env->complete(roce->class_ctx, cq, wc);
}

static void env_cq_event(void *ctx, struct roce_cq *cq)
{
	struct sim_roce *roce = ctx;

	roce->class_env->cq_event(roce->class_ctx, cq);
}

static void env_event(void *ctx, enum roce_event event, struct roce_qp *qp, struct roce_cq *cq,
		      struct roce_srq *srq)
{
	struct sim_roce *roce = ctx;

	roce->class_env->event(roce->class_ctx, event, qp, cq, srq);
}

static int env_reg_mr(void *ctx, struct roce_qp *qp, void *reg, struct roce_mr_attr *attr)
{
	struct sim_roce *roce = ctx;

	return roce->class_env->reg_mr(roce->class_ctx, qp, reg, attr);
}

static void env_reg_free(void *ctx, void *reg)
{
	struct sim_roce *roce = ctx;

	if (roce->class_env->reg_free)
		roce->class_env->reg_free(roce->class_ctx, reg);
}

static void env_log(void *ctx, const char *line)
{
	struct sim_roce *roce = ctx;

	sim_log(roce->dev, "%s", line);
}

static const struct roce_env engine_env = {
	.alloc = env_alloc,
	.free = env_free,
	.tx_alloc = env_tx_alloc,
	.tx_send = env_tx_send,
	.mr_map = env_mr_map,
	.complete = env_complete,
	.cq_event = env_cq_event,
	.event = env_event,
	.reg_mr = env_reg_mr,
	.reg_free = env_reg_free,
	.log = env_log,
};

/* ---- life ---- */

int sim_roce_create(struct sim_dev *dev, const struct roce_nic_config *config,
		    struct sim_roce **out)
{
	const struct roce_env *env = config->env;
	struct roce_nic_config nic = *config;
	struct sim_roce *roce;
	int err;

	if (!env->mr_map || !env->complete || !env->cq_event || !env->event || !env->reg_mr)
		return -EINVAL;
	roce = calloc(1, sizeof(*roce));
	if (!roce)
		return -ENOMEM;
	roce->dev = dev;
	roce->class_env = env;
	roce->class_ctx = config->env_ctx;
	roce->own_deadline = NEVER;
	nic.env = &engine_env;
	nic.env_ctx = roce;
	err = roce_nic_create(&nic, &roce->nic);
	if (err) {
		free(roce);
		return err;
	}
	*out = roce;
	return 0;
}

void sim_roce_destroy(struct sim_roce *roce)
{
	if (!roce)
		return;
	sim_dev_timer(roce->dev, NEVER);
	roce_nic_destroy(roce->nic);
	free(roce);
}

struct roce_nic *sim_roce_nic(const struct sim_roce *roce)
{
	return roce->nic;
}

uint64_t sim_roce_now(const struct sim_roce *roce)
{
	return sim_dev_now(roce->dev);
}

/* ---- turns ---- */

static void set_timer(struct sim_roce *roce)
{
	uint64_t deadline = roce->kicked ? 0 : roce_nic_next(roce->nic);

	if (roce->own_deadline < deadline)
		deadline = roce->own_deadline;
	sim_dev_timer(roce->dev, deadline);
}

void sim_roce_kick(struct sim_roce *roce)
{
	if (roce->kicked)
		return;
	roce->kicked = true;
	if (!roce->running)
		sim_dev_timer(roce->dev, 0);
}

void sim_roce_timer(struct sim_roce *roce, uint64_t now)
{
	roce->running = true;
	roce->kicked = false;
	if (roce->own_deadline <= now) {
		roce->own_deadline = NEVER;
		roce->own_expired(roce->class_ctx, now);
	}
	if (roce_nic_run(roce->nic, now, RUN_BUDGET))
		roce->kicked = true;
	roce->running = false;
	set_timer(roce);
}

void sim_roce_own_timer(struct sim_roce *roce, uint64_t deadline,
			void (*expired)(void *env_ctx, uint64_t now))
{
	roce->own_deadline = deadline;
	roce->own_expired = expired;
	if (!roce->running)
		set_timer(roce);
}

void sim_roce_reset(struct sim_roce *roce)
{
	roce_nic_reset(roce->nic);
	roce->own_deadline = NEVER;
	roce->kicked = false;
	if (!roce->running)
		set_timer(roce);
}

void sim_roce_rx_frame(struct sim_roce *roce, const void *frame, size_t length)
{
	roce_nic_input(roce->nic, sim_dev_now(roce->dev), frame, length);
	sim_roce_kick(roce);
}

void sim_roce_tx_room(struct sim_roce *roce)
{
	roce_nic_tx_room(roce->nic);
	sim_roce_kick(roce);
}

/* ---- facts and figures ---- */

void sim_roce_counters(const struct sim_roce *roce,
		       void (*emit)(void *ctx, const char *name, uint64_t value), void *ctx)
{
	const struct roce_counters *counters = roce_nic_counters(roce->nic);

#define X(name) emit(ctx, #name, counters->name);
	ROCE_COUNTERS(X)
#undef X
}

/* IPv6 header (as long as a GRH), UDP, BTH, XRC extension, atomic header, ICRC. */
#define HEADERS_MAX (40 + 8 + 12 + 4 + 28 + 4)

uint32_t sim_roce_path_mtu(uint32_t netdev_mtu)
{
	uint32_t mtu = 4096;

	while (mtu > 256 && mtu + HEADERS_MAX > netdev_mtu)
		mtu /= 2;
	return mtu;
}
