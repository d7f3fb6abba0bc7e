/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Joins a device to a port of the switch, plain or split. Moves frames without looking at them. */
#include "sim/nic/sim_nic.h"

#include <errno.h>
#include <stdlib.h>

#include "sim/device/sim_loop.h"

struct sim_nic {
	struct sim_loop *loop;
	struct sim_dev *dev;
	struct fabric_split *split; /* or NULL */
	struct fabric_port *port;   /* the device's end */
	struct fabric_port *host;   /* the companion's end, or NULL */
};

/* ---- device -> switch ---- */

static void *nic_tx_alloc(void *ctx, size_t length)
{
	struct sim_nic *nic = ctx;

	return fabric_alloc(nic->port, length);
}

static void nic_tx_send(void *ctx, void *buffer, size_t length)
{
	struct sim_nic *nic = ctx;

	fabric_send(nic->port, sim_loop_now(nic->loop), buffer, length);
}

static const struct sim_port_ops device_ops = {
	.tx_alloc = nic_tx_alloc,
	.tx_send = nic_tx_send,
};

/* ---- switch -> device ---- */

static void nic_rx(void *ctx, uint64_t now, const void *frame, size_t length)
{
	struct sim_nic *nic = ctx;

	(void)now;
	sim_dev_rx_frame(nic->dev, frame, length);
}

static void nic_tx_room(void *ctx)
{
	struct sim_nic *nic = ctx;

	sim_dev_tx_room(nic->dev);
}

static const struct fabric_port_ops port_ops = {
	.rx = nic_rx,
	.tx_room = nic_tx_room,
};

/* ---- life ---- */

static int add_port(struct sim_nic *nic, const struct sim_nic_setup *setup)
{
	int err;

	if (!setup->split)
		return fabric_port_add(setup->fabric, setup->config.name, &port_ops, nic,
				       &nic->port);
	err = fabric_split_add(setup->fabric, setup->config.name, &nic->split);
	if (err)
		return err;
	nic->port = fabric_split_roce(nic->split, &port_ops, nic);
	if (nic->port)
		return 0;
	fabric_split_remove(nic->split);
	return -ENOMEM;
}

static void remove_port(struct sim_nic *nic)
{
	if (nic->split)
		fabric_split_remove(nic->split);
	else
		fabric_port_remove(nic->port);
}

int sim_nic_create(const struct sim_nic_setup *setup, struct sim_nic **out)
{
	struct sim_nic *nic = calloc(1, sizeof(*nic));
	struct sim_dev_config dev = {
		.class = setup->class,
		.nic = setup->config,
		.loop = setup->loop,
		.port = &device_ops,
		.port_ctx = nic,
		.log = setup->log,
		.log_ctx = setup->log_ctx,
	};
	int err;

	if (!nic)
		return -ENOMEM;
	nic->loop = setup->loop;
	err = add_port(nic, setup);
	if (err)
		goto undo_nic;
	/* QPs of one NIC talk to each other through its port, as on hardware. */
	fabric_port_set_hairpin(nic->port, true);
	err = sim_dev_create(&dev, &nic->dev);
	if (err)
		goto undo_port;
	*out = nic;
	return 0;

undo_port:
	remove_port(nic);
undo_nic:
	free(nic);
	return err;
}

void sim_nic_destroy(struct sim_nic *nic)
{
	if (!nic)
		return;
	sim_dev_destroy(nic->dev);
	remove_port(nic);
	free(nic);
}

int sim_nic_add_host(struct sim_nic *nic, struct fabric_link *link)
{
	if (!nic->split)
		return -EINVAL;
	if (nic->host)
		return -EBUSY;
	nic->host = fabric_split_host(nic->split, fabric_link_ops(link), link);
	if (!nic->host)
		return -ENOMEM;
	fabric_link_set_port(link, nic->host);
	return 0;
}

struct sim_dev *sim_nic_dev(const struct sim_nic *nic)
{
	return nic->dev;
}
