/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What a world consists of: for sim_world.c and sim_stats.c alone. */
#ifndef ANYNIC_SIM_MAIN_SIM_WORLD_STATE_H
#define ANYNIC_SIM_MAIN_SIM_WORLD_STATE_H

#include "sim/fabric/fabric.h"
#include "sim/main/sim_world.h"
#include "sim/nic/sim_nic.h"

#define SIM_PATH_MAX 512

struct world_nic {
	const char *name;
	struct sim_nic *nic;
	char wqe_trace[SIM_PATH_MAX]; /* the NIC keeps the pointer */
	struct fabric_link *host;
};

struct world_port {
	const char *name;
	struct fabric_port *port;
	struct fabric_link *link;
};

struct sim_world {
	struct sim_world_setup setup;
	struct fabric *fabric;
	struct world_nic *nics;	  /* as many as the topology has */
	struct world_port *ports; /* as many as the topology has */
	uint64_t started;
	char *error; /* while it is being made */
};

#endif
