/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A topology come to life: one switch, its NICs, the sockets of guests. Knows
 * the run folder's file names; no signals, no command line.
 */
#ifndef ANYNIC_SIM_MAIN_SIM_WORLD_H
#define ANYNIC_SIM_MAIN_SIM_WORLD_H

#include "sim/device/sim_loop.h"
#include "sim/main/sim_program.h"
#include "sim/main/topology.h"

struct sim_world;

struct sim_world_setup {
	struct sim_loop *loop;
	const struct topology *topology; /* must outlive the world */
	const struct sim_class_table *classes;
	const char *run_dir;
	void (*log)(void *ctx, const char *line);
	void *log_ctx;
};

/* 0, or -errno and a line in `error`. -EINVAL: the topology; the rest: run time. */
int sim_world_create(const struct sim_world_setup *setup, struct sim_world **world,
		     char error[TOPOLOGY_ERROR_MAX]);
/* Takes NULL. */
void sim_world_destroy(struct sim_world *world);

/* Writes stats.json in the run folder, whole or not at all. */
int sim_world_write_stats(struct sim_world *world);
/* Brings the capture file up to date. */
int sim_world_flush(struct sim_world *world);

#endif
