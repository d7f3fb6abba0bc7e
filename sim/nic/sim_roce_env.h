/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Attaches the transport engine to a device: the half of `struct roce_env`
 * that is the same for every class (memory, frames, log) and the order in
 * which engine and fabric take turns. Knows the device seam and the engine's
 * interface, no vendor format.
 *
 * A class needs these lines:
 *
 *	static const struct roce_env acme_env = {
 *		.mr_map = acme_mr_map, .complete = acme_complete,
 *		.cq_event = acme_cq_event, .event = acme_event, .reg_mr = acme_reg_mr,
 *	};
 *
 *	create:    struct roce_nic_config c = {
 *			   .mtu = sim_roce_path_mtu(config->mtu), .max_qp = 1024, ...
 *			   .env = &acme_env, .env_ctx = nic };
 *		   memcpy(c.mac, config->mac, 6);
 *		   err = sim_roce_create(dev, &c, &nic->roce);
 *	destroy:   sim_roce_destroy(nic->roce);
 *	reset:     sim_roce_reset(nic->roce);
 *	rx_frame:  sim_roce_rx_frame(nic->roce, frame, length);
 *	tx_room:   sim_roce_tx_room(nic->roce);
 *	timer:     sim_roce_timer(nic->roce, now);
 *	doorbell:  roce_post_send(qp, sim_roce_now(nic->roce), &wr); ...
 *		   sim_roce_kick(nic->roce);
 *	counters:  sim_roce_counters(nic->roce, emit, ctx);
 */
#ifndef ANYNIC_SIM_NIC_SIM_ROCE_ENV_H
#define ANYNIC_SIM_NIC_SIM_ROCE_ENV_H

#include <stddef.h>
#include <stdint.h>

#include "sim/device/sim_dev.h"
#include "sim/engine/roce.h"

struct sim_roce;

/*
 * Makes the engine of `dev`. `config->env` holds the class's own calls, which get
 * `config->env_ctx`: mr_map, complete, cq_event, event, reg_mr, and reg_free if it needs one.
 * tx_alloc, tx_send and log are ours and ignored; alloc and free are ours where NULL. The
 * structure that env points to must outlive the engine; config itself is copied.
 * From now on the device's one timer is the engine's: see sim_roce_own_timer().
 */
int sim_roce_create(struct sim_dev *dev, const struct roce_nic_config *config,
		    struct sim_roce **roce);
/* Takes NULL. Destroys the engine and every object in it, with no completions. */
void sim_roce_destroy(struct sim_roce *roce);
/* All objects destroyed, timers off (roce_nic_reset). */
void sim_roce_reset(struct sim_roce *roce);

/* The engine, for roce_qp_create() and all the rest. */
struct roce_nic *sim_roce_nic(const struct sim_roce *roce);
/* The `now` for engine calls. */
uint64_t sim_roce_now(const struct sim_roce *roce);

/*
 * Call after any engine call that may have made work (post, modify, destroy): the engine runs
 * as soon as the running callback has returned, in batches, until it has nothing to do, and
 * again when a timer of its is due. Cheap when repeated: ring a doorbell for 100 WQEs, kick
 * once or 100 times. May be called from inside the env calls.
 */
void sim_roce_kick(struct sim_roce *roce);

/* Hand struct sim_class' calls of the same name to these. */
void sim_roce_rx_frame(struct sim_roce *roce, const void *frame, size_t length);
void sim_roce_tx_room(struct sim_roce *roce);
void sim_roce_timer(struct sim_roce *roce, uint64_t now);

/*
 * A second deadline for the class's own use, since the engine has taken the device's timer:
 * `expired` is called once when it is reached (0: soon; UINT64_MAX: take it back).
 */
void sim_roce_own_timer(struct sim_roce *roce, uint64_t deadline,
			void (*expired)(void *env_ctx, uint64_t now));

/* One call of emit for each of ROCE_COUNTERS. */
void sim_roce_counters(const struct sim_roce *roce,
		       void (*emit)(void *ctx, const char *name, uint64_t value), void *ctx);

/*
 * The largest RoCE path MTU (256 to 4096) whose packets fit a netdev MTU: all headers of the
 * longest kind count, as the kernel's iboe_get_mtu() has it. 256 where not even that fits.
 */
uint32_t sim_roce_path_mtu(uint32_t netdev_mtu);

#endif
