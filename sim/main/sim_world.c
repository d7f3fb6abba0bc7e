/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Makes switch, NICs and links of a topology. Statistics are in sim_stats.c. */
#include "sim/main/sim_world_state.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int fail(const struct sim_world *world, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int fail(const struct sim_world *world, int err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(world->error, TOPOLOGY_ERROR_MAX, format, args);
	va_end(args);
	return err;
}

/* A file of the run folder. */
static int run_path(const struct sim_world *world, char path[SIM_PATH_MAX], const char *name,
		    const char *suffix)
{
	int length = snprintf(path, SIM_PATH_MAX, "%s/%s%s", world->setup.run_dir, name, suffix);

	if (length >= 0 && length < SIM_PATH_MAX)
		return 0;
	return fail(world, -ENAMETOOLONG, "%s: path of the run folder is too long",
		    world->setup.run_dir);
}

/* ---- switch ---- */

/* Wall clock at time 0 of the loop, so that time stamps in a capture are dates. */
static uint64_t epoch_of(const struct sim_loop *loop)
{
	struct timespec wall;

	clock_gettime(CLOCK_REALTIME, &wall);
	return (uint64_t)wall.tv_sec * 1000000000ull + (uint64_t)wall.tv_nsec - sim_loop_now(loop);
}

static int create_fabric(struct sim_world *world)
{
	const struct topology_switch *sw = &world->setup.topology->fabric;
	struct fabric_config config = {
		.seed = sw->seed,
		.rate_bps = sw->rate_mbps * 1000000ull,
		.buffer_bytes = sw->buffer_kib << 10,
		.delay_ns = sw->delay_us * 1000ull,
		.loss_ppm = sw->loss_ppm,
		.corrupt_ppm = sw->corrupt_ppm,
		.duplicate_ppm = sw->duplicate_ppm,
		.reorder_ppm = sw->reorder_ppm,
		.faults_on_all = sw->faults_on == TOPOLOGY_FAULTS_ON_ALL,
		.ecn_kmin_bytes = sw->ecn_kmin_kib << 10,
		.ecn_kmax_bytes = sw->ecn_kmax_kib << 10,
		.ecn_pmax_percent = sw->ecn_pmax_percent,
		.capture_epoch_ns = epoch_of(world->setup.loop),
	};
	char path[SIM_PATH_MAX];
	int err = 0;

	if (sw->capture) {
		err = run_path(world, path, sw->capture, "");
		config.capture = path;
	}
	if (err)
		return err;
	err = fabric_create(&config, &world->fabric);
	if (err)
		return fail(world, err, "switch%s%s: %s", sw->capture ? ", capture file " : "",
			    sw->capture ? path : "", strerror(-err));
	err = fabric_attach_loop(world->fabric, world->setup.loop);
	if (err)
		return fail(world, err, "switch: %s", strerror(-err));
	return 0;
}

/* ---- sockets of guests ---- */

/* The socket DIR/<name>.eth for a guest's virtio-net. */
static int listen_eth(struct sim_world *world, const char *name, struct fabric_link **link)
{
	char path[SIM_PATH_MAX];
	int err = run_path(world, path, name, ".eth");

	if (err)
		return err;
	err = fabric_stream_listen(world->setup.loop, path, link);
	return err ? fail(world, err, "%s: %s", path, strerror(-err)) : 0;
}

static int create_port(struct sim_world *world, unsigned int i)
{
	const char *name = world->setup.topology->ports[i].name;
	struct world_port *port = &world->ports[i];
	int err;

	port->name = name;
	err = listen_eth(world, name, &port->link);
	if (err)
		return err;
	err = fabric_port_add(world->fabric, name, fabric_link_ops(port->link), port->link,
			      &port->port);
	if (err)
		return fail(world, err, "port %s: %s", name, strerror(-err));
	fabric_link_set_port(port->link, port->port);
	return 0;
}

/* ---- NICs ---- */

static const struct sim_class *find_class(struct sim_world *world, unsigned int i)
{
	const struct sim_class_table *classes = world->setup.classes;
	const char *name = world->setup.topology->nics[i].class;
	char known[256] = "";
	size_t c, used;

	for (c = 0; c < classes->count; c++) {
		if (!strcmp(classes->rows[c].class->name, name))
			return classes->rows[c].class;
		used = strlen(known);
		snprintf(known + used, sizeof(known) - used, "%s%s", used ? ", " : "",
			 classes->rows[c].class->name);
	}
	fail(world, -EINVAL, "nics[%u].class: unknown class \"%s\"; known: %s", i, name, known);
	return NULL;
}

static void nic_setup(const struct sim_world *world, unsigned int i, struct sim_nic_setup *setup)
{
	const struct topology_switch *sw = &world->setup.topology->fabric;
	const struct topology_nic *nic = &world->setup.topology->nics[i];

	*setup = (struct sim_nic_setup){
		.loop = world->setup.loop,
		.fabric = world->fabric,
		.split = true,
		.log = world->setup.log,
		.log_ctx = world->setup.log_ctx,
		.config =
			{
				.name = nic->name,
				.personality = nic->personality,
				.mtu = sw->mtu,
				.rate_bps = sw->rate_mbps * 1000000ull,
				/* Different for each NIC, the same in each run. */
				.seed = sw->seed * TOPOLOGY_NICS_MAX + i,
				.ecn = sw->ecn_kmin_kib > 0,
			},
	};
	memcpy(setup->config.mac, nic->mac, sizeof(nic->mac));
}

/* The sockets DIR/<name>.vfio for the RDMA function and DIR/<name>.eth for its companion. */
static int listen_nic(struct sim_world *world, struct world_nic *nic)
{
	char path[SIM_PATH_MAX];
	int err = run_path(world, path, nic->name, ".vfio");

	if (err)
		return err;
	err = sim_vfu_listen(sim_nic_dev(nic->nic), path);
	if (err)
		return fail(world, err, "%s: %s", path, strerror(-err));
	err = listen_eth(world, nic->name, &nic->host);
	if (err)
		return err;
	err = sim_nic_add_host(nic->nic, nic->host);
	return err ? fail(world, err, "nic %s: %s", nic->name, strerror(-err)) : 0;
}

static int create_nic(struct sim_world *world, unsigned int i)
{
	const struct topology_nic *topology = &world->setup.topology->nics[i];
	struct world_nic *nic = &world->nics[i];
	struct sim_nic_setup setup;
	int err = 0;

	nic->name = topology->name;
	nic_setup(world, i, &setup);
	setup.class = find_class(world, i);
	if (!setup.class)
		return -EINVAL;
	if (topology->wqe_trace) {
		err = run_path(world, nic->wqe_trace, topology->wqe_trace, "");
		setup.config.wqe_trace = nic->wqe_trace;
	}
	if (err)
		return err;
	err = sim_nic_create(&setup, &nic->nic);
	if (err == -EINVAL)
		return fail(world, err, "nics[%u]: class \"%s\" has no personality \"%s\"", i,
			    topology->class,
			    topology->personality ? topology->personality : "default");
	if (err)
		return fail(world, err, "nic %s: %s", nic->name, strerror(-err));
	return listen_nic(world, nic);
}

/* ---- the whole ---- */

static int create_parts(struct sim_world *world)
{
	const struct topology *topology = world->setup.topology;
	int err = create_fabric(world);
	uint32_t i;

	for (i = 0; !err && i < topology->nics_count; i++)
		err = create_nic(world, i);
	for (i = 0; !err && i < topology->ports_count; i++)
		err = create_port(world, i);
	return err;
}

int sim_world_create(const struct sim_world_setup *setup, struct sim_world **out,
		     char error[TOPOLOGY_ERROR_MAX])
{
	struct sim_world *world = calloc(1, sizeof(*world));
	int err = -ENOMEM;

	snprintf(error, TOPOLOGY_ERROR_MAX, "%s", strerror(ENOMEM));
	if (!world)
		return err;
	world->setup = *setup;
	world->error = error;
	world->started = sim_loop_now(setup->loop);
	world->nics = calloc(setup->topology->nics_count + 1, sizeof(*world->nics));
	world->ports = calloc(setup->topology->ports_count + 1, sizeof(*world->ports));
	if (world->nics && world->ports)
		err = create_parts(world);
	world->error = NULL;
	if (err)
		sim_world_destroy(world);
	else
		*out = world;
	return err;
}

void sim_world_destroy(struct sim_world *world)
{
	const struct topology *topology;
	uint32_t i;

	if (!world)
		return;
	topology = world->setup.topology;
	for (i = 0; world->ports && i < topology->ports_count; i++) {
		fabric_port_remove(world->ports[i].port);
		fabric_link_close(world->ports[i].link);
	}
	for (i = 0; world->nics && i < topology->nics_count; i++) {
		sim_nic_destroy(world->nics[i].nic);
		fabric_link_close(world->nics[i].host);
	}
	fabric_destroy(world->fabric);
	free(world->ports);
	free(world->nics);
	free(world);
}

int sim_world_flush(struct sim_world *world)
{
	return fabric_flush(world->fabric);
}
