/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The topology file: what guests, simulated NICs, extra ports and switch
 * there are. Reads and checks it; makes nothing of it. The same files are read
 * by scripts/lab, which starts the guests.
 *
 * Numbers that are left out, or 0 where 0 makes no sense, have their default after loading.
 */
#ifndef ANYNIC_SIM_MAIN_TOPOLOGY_H
#define ANYNIC_SIM_MAIN_TOPOLOGY_H

#include <stddef.h>
#include <stdint.h>

#define TOPOLOGY_GUESTS_MAX 32
#define TOPOLOGY_NICS_MAX   64
#define TOPOLOGY_PORTS_MAX  64
#define TOPOLOGY_FILE_MAX   (1u << 20)
#define TOPOLOGY_ERROR_MAX  640

struct topology_guest {
	char *name;
	char *kernel;	 /* key of the lab root's kernels, or NULL */
	uint32_t memory; /* MiB */
	uint32_t cpus;
	char **modules;
	uint32_t modules_count;
	char *rxe; /* netdev that gets a software RDMA device, or NULL */
};

struct topology_nic {
	char *name;
	char *class;
	char *personality; /* or NULL */
	char *mac_text;
	char *guest;
	char *wqe_trace; /* file name within the run folder, or NULL */
	uint8_t mac[6];
};

struct topology_port {
	char *name;
	char *guest;
	char *mac_text;
	uint8_t mac[6];
};

enum topology_faults_on { TOPOLOGY_FAULTS_ON_ROCE, TOPOLOGY_FAULTS_ON_ALL };

struct topology_switch {
	uint64_t seed;
	uint32_t mtu;
	uint32_t rate_mbps;
	uint32_t buffer_kib;
	uint32_t delay_us;
	uint32_t loss_ppm;
	uint32_t corrupt_ppm;
	uint32_t duplicate_ppm;
	uint32_t reorder_ppm;
	uint32_t ecn_kmin_kib;
	uint32_t ecn_kmax_kib;
	uint32_t ecn_pmax_percent;
	enum topology_faults_on faults_on;
	char *capture; /* file name within the run folder, or NULL */
};

struct topology {
	struct topology_guest *guests;
	uint32_t guests_count;
	struct topology_nic *nics;
	uint32_t nics_count;
	struct topology_port *ports;
	uint32_t ports_count;
	struct topology_switch fabric;
};

/*
 * 0, or -errno and one line in `error`: file, line where known, key, what is wrong, what is
 * allowed. -EINVAL: the content; others: reading the file.
 */
int topology_load(const char *path, struct topology **topology, char error[TOPOLOGY_ERROR_MAX]);
/* The same of a text in memory; `name` stands for the file in messages. */
int topology_parse(const char *name, const void *text, size_t length, struct topology **topology,
		   char error[TOPOLOGY_ERROR_MAX]);
/* Takes NULL. */
void topology_free(struct topology *topology);

#endif
