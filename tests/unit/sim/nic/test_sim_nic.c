/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* NICs on the switch: two that talk, one that talks to itself, the companion's half. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sim/device/sim_loop.h"
#include "sim/nic/sim_nic.h"
#include "tests/lib/t.h"
#include "tests/unit/sim/nic/toy_nic.h"

#define MSEC 1000000ull

struct world {
	struct sim_loop *loop;
	struct fabric *fabric;
	struct sim_nic *nic[2];
	struct toy_nic *toy[2];
};

static const uint8_t macs[2][6] = {{0x52, 0x54, 0, 0, 0, 1}, {0x52, 0x54, 0, 0, 0, 2}};

static void world_start(struct world *w, const struct fabric_config *config, bool split)
{
	static const struct fabric_config plain;
	struct sim_nic_setup setup = {.class = &toy_class, .split = split};
	unsigned int i;

	memset(w, 0, sizeof(*w));
	T_EQ(sim_loop_create(true, &w->loop), 0);
	T_EQ(fabric_create(config ? config : &plain, &w->fabric), 0);
	T_EQ(fabric_attach_loop(w->fabric, w->loop), 0);
	setup.loop = w->loop;
	setup.fabric = w->fabric;
	for (i = 0; i < 2; i++) {
		setup.config = (struct sim_nic_config){.name = i ? "nic1" : "nic0", .mtu = 4200};
		memcpy(setup.config.mac, macs[i], 6);
		T_EQ(sim_nic_create(&setup, &w->nic[i]), 0);
		w->toy[i] = toy_last;
		memset(toy_last->memory, i + 1, TOY_MEMORY);
	}
}

static void world_remove_nics(struct world *w)
{
	sim_nic_destroy(w->nic[0]);
	sim_nic_destroy(w->nic[1]);
	w->nic[0] = w->nic[1] = NULL;
}

static void world_stop(struct world *w)
{
	world_remove_nics(w);
	fabric_destroy(w->fabric);
	sim_loop_destroy(w->loop);
}

static void ring(struct world *w, unsigned int i, uint64_t count)
{
	struct sim_dev *dev = sim_nic_dev(w->nic[i]);

	sim_local_enable(dev);
	T_EQ(sim_local_reg_write(dev, 0, TOY_REG_DOORBELL, 4, count), 0);
}

static bool all_bytes_are(const struct toy_nic *toy, uint8_t value)
{
	unsigned int i;

	for (i = 0; i < TOY_MEMORY; i++)
		if (toy->memory[i] != value)
			return false;
	return true;
}

static void two_nics_talk(void)
{
	static const bool splits[] = {false, true};
	struct world w;
	size_t i;

	for (i = 0; i < 2; i++) {
		world_start(&w, NULL, splits[i]);
		T_EQ(toy_connect(w.toy[0], macs[1]), 0);
		T_EQ(toy_connect(w.toy[1], macs[0]), 0);
		ring(&w, 0, 100);
		T_EQ(w.toy[0]->done, 0); /* nothing happens inside the doorbell */
		sim_loop_advance(w.loop, 0);
		T_EQ(w.toy[0]->done, 100);
		T_EQ(w.toy[0]->failed, 0);
		T_TRUE(all_bytes_are(w.toy[1], 1));
		world_stop(&w);
	}
}

/* Both ends behind one port: the switch turns the frames round. */
static void a_nic_talks_to_itself(void)
{
	static const bool splits[] = {false, true};
	struct world w;
	size_t i;

	for (i = 0; i < 2; i++) {
		world_start(&w, NULL, splits[i]);
		T_EQ(toy_connect(w.toy[0], macs[0]), 0);
		ring(&w, 0, 3);
		sim_loop_advance(w.loop, MSEC);
		T_EQ(w.toy[0]->done, 3);
		T_EQ(w.toy[0]->failed, 0);
		world_stop(&w);
	}
}

/* 6.5 MB over a slow line with faults: timers, room and retransmission all play their part. */
static void a_bad_line(void)
{
	static const struct fabric_config config = {.rate_bps = 10000000000ull,
						    .delay_ns = 20000,
						    .loss_ppm = 2000,
						    .reorder_ppm = 2000,
						    .duplicate_ppm = 2000,
						    .corrupt_ppm = 2000};
	struct world w;
	unsigned int i;

	world_start(&w, &config, true);
	T_EQ(toy_connect(w.toy[0], macs[1]), 0);
	T_EQ(toy_connect(w.toy[1], macs[0]), 0);
	ring(&w, 0, 100);
	for (i = 0; i < 10000 && w.toy[0]->done < 100; i++)
		sim_loop_advance(w.loop, MSEC);
	T_EQ(w.toy[0]->done, 100);
	T_EQ(w.toy[0]->failed, 0);
	T_TRUE(all_bytes_are(w.toy[1], 1));
	world_stop(&w);
}

/* More than the switch takes at once: the engine waits for room and goes on. */
static void many_messages_both_ways(void)
{
	struct world w;

	world_start(&w, NULL, true);
	T_EQ(toy_connect(w.toy[0], macs[1]), 0);
	T_EQ(toy_connect(w.toy[1], macs[0]), 0);
	ring(&w, 0, 500);
	ring(&w, 1, 500);
	sim_loop_advance(w.loop, MSEC);
	T_EQ(w.toy[0]->done, 500);
	T_EQ(w.toy[1]->done, 500);
	T_EQ(w.toy[0]->failed + w.toy[1]->failed, 0);
	world_stop(&w);
}

/* ---- the companion ---- */

static const char *socket_path(char path[64], unsigned int i)
{
	snprintf(path, 64, "/tmp/anynic-test-nic-%d-%u.eth", (int)getpid(), i);
	return path;
}

static void host_halves(void)
{
	struct fabric_link *link, *other;
	char path[2][64];
	struct world w;

	world_start(&w, NULL, true);
	T_EQ(fabric_stream_listen(w.loop, socket_path(path[0], 0), &link), 0);
	T_EQ(fabric_stream_listen(w.loop, socket_path(path[1], 1), &other), 0);
	T_EQ(sim_nic_add_host(w.nic[0], link), 0);
	T_EQ(sim_nic_add_host(w.nic[0], other), -EBUSY);
	world_remove_nics(&w);
	fabric_link_close(link);
	fabric_link_close(other);
	world_stop(&w);
}

static void no_host_on_a_plain_port(void)
{
	struct fabric_link *link;
	char path[64];
	struct world w;

	world_start(&w, NULL, false);
	T_EQ(fabric_stream_listen(w.loop, socket_path(path, 0), &link), 0);
	T_EQ(sim_nic_add_host(w.nic[0], link), -EINVAL);
	fabric_link_close(link);
	world_stop(&w);
}

static void refusals_leave_nothing(void)
{
	struct sim_nic_setup setup = {
		.class = &toy_class,
		.config = {.name = "nic2", .personality = "large", .mtu = 1500},
	};
	struct sim_nic *nic;
	struct world w;

	world_start(&w, NULL, true);
	setup.loop = w.loop;
	setup.fabric = w.fabric;
	T_EQ(sim_nic_create(&setup, &nic), -EINVAL);
	setup.split = true;
	T_EQ(sim_nic_create(&setup, &nic), -EINVAL);
	sim_nic_destroy(NULL);
	world_stop(&w);
}

T_MAIN("sim_nic", T_CASE(two_nics_talk), T_CASE(a_nic_talks_to_itself), T_CASE(a_bad_line),
       T_CASE(many_messages_both_ways), T_CASE(host_halves), T_CASE(no_host_on_a_plain_port),
       T_CASE(refusals_leave_nothing), )
