/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * stats.json: every counter of switch ports, NICs and links, by name.
 *
 *	{"uptime_ns": 1, "ports": {"nic0": {"rx_frames": 1, ...}},
 *	 "nics": {"nic0": {...}}, "links": {"nic0": {"peers": 1, ...}}}
 */
#include "sim/main/sim_world_state.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <unistd.h>

static void put(json_t *object, const char *name, uint64_t value)
{
	json_object_set_new(object, name, json_integer((json_int_t)value));
}

static void emit_counter(void *ctx, const char *name, uint64_t value)
{
	put(ctx, name, value);
}

static void add_port(void *ctx, const char *name, const struct fabric_port_counters *counters)
{
	json_t *object = json_object();

#define X(member) put(object, #member, counters->member);
	FABRIC_PORT_COUNTERS(X)
#undef X
	json_object_set_new(ctx, name, object);
}

static void add_link(json_t *links, const char *name, const struct fabric_link *link)
{
	const struct fabric_link_counters *counters = fabric_link_counters(link);
	json_t *object = json_object();

#define X(member) put(object, #member, counters->member);
	FABRIC_LINK_COUNTERS(X)
#undef X
	json_object_set_new(links, name, object);
}

static void add_nic(json_t *nics, const struct world_nic *nic)
{
	json_t *object = json_object();

	sim_dev_counters(sim_nic_dev(nic->nic), emit_counter, object);
	json_object_set_new(nics, nic->name, object);
}

/* jansson takes NULL for an object everywhere: lack of memory shows when it is written. */
static json_t *collect(struct sim_world *world)
{
	const struct topology *topology = world->setup.topology;
	json_t *stats = json_object(), *ports = json_object();
	json_t *nics = json_object(), *links = json_object();
	uint32_t i;

	fabric_for_each_port(world->fabric, add_port, ports);
	for (i = 0; i < topology->nics_count; i++) {
		add_nic(nics, &world->nics[i]);
		add_link(links, world->nics[i].name, world->nics[i].host);
	}
	for (i = 0; i < topology->ports_count; i++)
		add_link(links, world->ports[i].name, world->ports[i].link);
	put(stats, "uptime_ns", sim_loop_now(world->setup.loop) - world->started);
	json_object_set_new(stats, "ports", ports);
	json_object_set_new(stats, "nics", nics);
	json_object_set_new(stats, "links", links);
	return stats;
}

/* Readers see the old file or the new one, never a part. */
int sim_world_write_stats(struct sim_world *world)
{
	char path[SIM_PATH_MAX + 16], temporary[SIM_PATH_MAX + 16];
	json_t *stats = collect(world);
	int err = 0;

	snprintf(path, sizeof(path), "%s/stats.json", world->setup.run_dir);
	snprintf(temporary, sizeof(temporary), "%s/.stats.json", world->setup.run_dir);
	if (json_dump_file(stats, temporary, JSON_INDENT(1)))
		err = errno ? -errno : -EIO;
	json_decref(stats);
	if (err)
		unlink(temporary);
	else if (rename(temporary, path))
		err = -errno;
	return err;
}
