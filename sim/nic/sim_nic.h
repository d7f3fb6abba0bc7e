/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A simulated NIC: one device of a class on one port of the switch. Knows the
 * device seam and the fabric, neither a vendor format nor sockets.
 */
#ifndef ANYNIC_SIM_NIC_SIM_NIC_H
#define ANYNIC_SIM_NIC_SIM_NIC_H

#include "sim/device/sim_dev.h"
#include "sim/fabric/fabric.h"

struct sim_nic;

struct sim_nic_setup {
	struct sim_loop *loop;
	struct fabric *fabric;
	const struct sim_class *class;
	struct sim_nic_config config;
	/* The function's Ethernet half is another device (a companion virtio-net): RoCE frames go
	 * to the class, all others to the link that sim_nic_add_host() names. */
	bool split;
	void (*log)(void *ctx, const char *line); /* NULL: stderr */
	void *log_ctx;
};

/* Makes switch port and device, both called config.name. No guest can reach it yet. */
int sim_nic_create(const struct sim_nic_setup *setup, struct sim_nic **nic);
/* Takes NULL. A link that was added is the caller's to close, afterwards. */
void sim_nic_destroy(struct sim_nic *nic);

/* Joins the companion's link to a split port. -EINVAL: not split; -EBUSY: has one. */
int sim_nic_add_host(struct sim_nic *nic, struct fabric_link *link);

struct sim_dev *sim_nic_dev(const struct sim_nic *nic);

#endif
