/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Ports come and go: plain ones, and split ones with an RDMA and an Ethernet
 * end. Owns their life times; the way of frames is elsewhere.
 */
#include "sim/fabric/fabric_switch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int switch_port_create(struct fabric *fabric, const char *name, bool split,
		       struct switch_port **out)
{
	struct switch_port **ports, *port;

	ports = reallocarray(fabric->ports, fabric->port_count + 1, sizeof(*ports));
	if (!ports)
		return -ENOMEM;
	fabric->ports = ports;
	port = calloc(1, sizeof(*port));
	if (!port)
		return -ENOMEM;
	port->name = strdup(name);
	if (!port->name) {
		free(port);
		return -ENOMEM;
	}
	port->fabric = fabric;
	port->is_split = split;
	if (fabric->capture)
		port->interface = pcapng_interface(fabric->capture, name);
	ports[fabric->port_count++] = port;
	*out = port;
	return 0;
}

int switch_end_create(struct switch_port *port, enum switch_end which,
		      const struct fabric_port_ops *ops, void *ctx)
{
	struct fabric_port *end;

	if (port->end[which])
		return -EBUSY;
	end = calloc(1, sizeof(*end));
	if (!end)
		return -ENOMEM;
	end->fabric = port->fabric;
	end->port = port;
	end->ops = ops;
	end->ctx = ctx;
	end->next_all = port->fabric->all_ends;
	port->fabric->all_ends = end;
	port->end[which] = end;
	return 0;
}

/* What it sent may still be queued for others: only its own queue goes now. */
static void end_remove(struct fabric_port *end)
{
	if (!end)
		return;
	end->removed = true;
	while (end->queue.count)
		frame_put(egress_pop(&end->queue));
	egress_fini(&end->queue);
}

static void drop_held(struct hold *hold)
{
	while (hold->count)
		frame_put(hold->slot[--hold->count].frame);
}

void switch_port_destroy(struct switch_port *port)
{
	struct fabric *fabric = port->fabric;
	uint32_t i = 0, which;

	while (fabric->ports[i] != port)
		i++;
	fabric->port_count--;
	for (; i < fabric->port_count; i++)
		fabric->ports[i] = fabric->ports[i + 1];
	mac_forget_port(&fabric->macs, port);
	drop_held(&port->hold);
	for (which = 0; which < SWITCH_ENDS; which++)
		end_remove(port->end[which]);
	free(port->name);
	free(port);
}

/* ---- plain ports ---- */

int fabric_port_add(struct fabric *fabric, const char *name, const struct fabric_port_ops *ops,
		    void *ctx, struct fabric_port **out)
{
	struct switch_port *port;
	int err;

	err = switch_port_create(fabric, name, false, &port);
	if (err)
		return err;
	err = switch_end_create(port, SWITCH_END_HOST, ops, ctx);
	if (err) {
		switch_port_destroy(port);
		return err;
	}
	*out = port->end[SWITCH_END_HOST];
	return 0;
}

void fabric_port_remove(struct fabric_port *port)
{
	if (port)
		switch_port_destroy(port->port);
}

void fabric_port_set_hairpin(struct fabric_port *port, bool on)
{
	port->hairpin = on;
}

const struct fabric_port_counters *fabric_port_counters(const struct fabric_port *port)
{
	return &port->port->counters;
}

const char *fabric_port_name(const struct fabric_port *port)
{
	return port->port->name;
}

void fabric_for_each_port(struct fabric *fabric,
			  void (*each)(void *ctx, const char *name,
				       const struct fabric_port_counters *counters),
			  void *ctx)
{
	uint32_t i;

	for (i = 0; i < fabric->port_count; i++)
		each(ctx, fabric->ports[i]->name, &fabric->ports[i]->counters);
}

/* ---- split ports: a split is its switch port ---- */

static struct switch_port *port_of(struct fabric_split *split)
{
	return (struct switch_port *)split;
}

int fabric_split_add(struct fabric *fabric, const char *name, struct fabric_split **split)
{
	struct switch_port *port;
	int err;

	err = switch_port_create(fabric, name, true, &port);
	if (!err)
		*split = (struct fabric_split *)port;
	return err;
}

void fabric_split_remove(struct fabric_split *split)
{
	if (split)
		switch_port_destroy(port_of(split));
}

static struct fabric_port *split_end(struct fabric_split *split, enum switch_end which,
				     const struct fabric_port_ops *ops, void *ctx)
{
	struct switch_port *port = port_of(split);

	return switch_end_create(port, which, ops, ctx) ? NULL : port->end[which];
}

struct fabric_port *fabric_split_roce(struct fabric_split *split, const struct fabric_port_ops *ops,
				      void *ctx)
{
	return split_end(split, SWITCH_END_ROCE, ops, ctx);
}

struct fabric_port *fabric_split_host(struct fabric_split *split, const struct fabric_port_ops *ops,
				      void *ctx)
{
	return split_end(split, SWITCH_END_HOST, ops, ctx);
}
