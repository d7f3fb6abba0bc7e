/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The switch: learning, flooding, ageing, buffers, pauses, faults as a whole. */
#include "tests/unit/sim/fabric/fabric_rig.h"
#include "tests/lib/t.h"

#include <string.h>

#define SECOND 1000000000ull

static const struct fabric_port_counters *counters(struct rig *rig, unsigned int port)
{
	return fabric_port_counters(rig->port[port].port);
}

static void unknown_floods_then_learns(void)
{
	struct rig *rig = rig_create(NULL, 3);

	T_TRUE(rig_send(rig, 0, 1, RIG_OTHER, 60, 7));
	T_EQ(rig->port[1].count, 0); /* sending only queues */
	T_EQ(rig->wakes, 1);
	rig_run(rig, 0);
	T_EQ(rig->port[0].count, 0);
	T_EQ(rig->port[1].count, 1);
	T_EQ(rig->port[2].count, 1);
	T_EQ(rig->port[1].log[0].tag, 7);
	/* One buffer for all. */
	T_TRUE(rig->port[1].log[0].address == rig->port[2].log[0].address);
	T_EQ(counters(rig, 0)->flooded, 1);

	/* The answer goes to the sender alone, and teaches where port 1 is. */
	T_TRUE(rig_send(rig, 1, 0, RIG_OTHER, 60, 8));
	T_TRUE(rig_send(rig, 0, 1, RIG_OTHER, 60, 9));
	rig_run(rig, 0);
	T_EQ(rig->port[0].count, 1);
	T_EQ(rig->port[1].count, 2);
	T_EQ(rig->port[2].count, 1);
	T_EQ(counters(rig, 0)->rx_frames, 2);
	T_EQ(counters(rig, 0)->rx_bytes, 120);
	T_EQ(counters(rig, 1)->tx_frames, 2);
	T_EQ(counters(rig, 1)->tx_bytes, 120);
	rig_destroy(rig);
}

static void broadcast_and_multicast_flood(void)
{
	static const uint64_t dst[] = {0xffffffffffffull, 0x01005e000001ull, 0x3333ff000001ull};
	struct rig *rig = rig_create(NULL, 3);
	unsigned int i;

	rig_teach(rig);
	for (i = 0; i < 3; i++) {
		T_TRUE(rig_send_to(rig, 1, dst[i], RIG_OTHER, 60, i));
		rig_run(rig, 0);
		T_EQ(rig->port[0].count, i + 1);
		T_EQ(rig->port[1].count, 0);
		T_EQ(rig->port[2].count, i + 1);
	}
	rig_destroy(rig);
}

static void addresses_move_and_age(void)
{
	struct rig *rig = rig_create(NULL, 3);
	uint8_t *frame;

	rig_teach(rig);
	/* Port 2 speaks as port 1: the address has moved. */
	frame = fabric_alloc(rig->port[2].port, 60);
	T_NEED(frame);
	rig_build(frame, 60, RIG_OTHER, rig_mac(0), rig_mac(1));
	fabric_send(rig->port[2].port, rig->now, frame, 60);
	T_TRUE(rig_send(rig, 0, 1, RIG_OTHER, 60, 0));
	rig_run(rig, 0);
	T_EQ(rig->port[1].count, 0);
	T_EQ(rig->port[2].count, 1);

	rig_run(rig, 299 * SECOND);
	T_TRUE(rig_send(rig, 0, 1, RIG_OTHER, 60, 0));
	rig_run(rig, 299 * SECOND);
	T_EQ(rig->port[1].count, 0);
	T_EQ(rig->port[2].count, 2);
	rig_run(rig, 301 * SECOND);
	T_TRUE(rig_send(rig, 0, 1, RIG_OTHER, 60, 0));
	rig_run(rig, 301 * SECOND);
	T_EQ(rig->port[1].count, 1); /* flooded again */
	T_EQ(rig->port[2].count, 3);
	rig_destroy(rig);
}

/* A storm of source addresses must not grow the table or lose an address that is in use. */
static void address_storm(void)
{
	struct rig *rig = rig_create(NULL, 3);
	unsigned int i;
	uint8_t *frame;

	rig_teach(rig);
	for (i = 0; i < 100000; i++) {
		rig->now++;
		frame = fabric_alloc(rig->port[2].port, 60);
		T_NEED(frame);
		rig_build(frame, 60, RIG_OTHER, 0x020000000000ull + i, 0x020000000000ull + i);
		fabric_send(rig->port[2].port, rig->now, frame, 60);
		if (i % 100 == 0)
			T_NEED(rig_send(rig, 1, 1, RIG_OTHER, 60, 0));
	}
	T_TRUE(rig_send(rig, 0, 1, RIG_OTHER, 60, 0));
	rig_run(rig, rig->now);
	T_EQ(rig->port[1].count, 1);
	T_EQ(rig->port[2].count, 0);
	T_EQ(counters(rig, 2)->filtered, 100000);
	rig_destroy(rig);
}

static void bad_frames_are_counted(void)
{
	struct rig *rig = rig_create(NULL, 2);
	struct fabric_port *port = rig->port[0].port;
	uint8_t *frame;

	frame = fabric_alloc(port, 64);
	memset(frame, 0, 64);
	fabric_send(port, 0, frame, 13);
	frame = fabric_alloc(port, 64);
	memset(frame, 0, 64);
	fabric_send(port, 0, frame, 9235);
	frame = fabric_alloc(port, 64);
	rig_build(frame, 64, RIG_OTHER, rig_mac(1), 0x010000000000ull);
	fabric_send(port, 0, frame, 64);
	T_TRUE(!fabric_alloc(port, FABRIC_FRAME_MAX + 1));
	rig_run(rig, 0);
	T_EQ(rig->port[1].count, 0);
	T_EQ(counters(rig, 0)->drop_runt, 1);
	T_EQ(counters(rig, 0)->drop_oversize, 2);
	T_EQ(counters(rig, 0)->drop_source, 1);
	T_EQ(counters(rig, 0)->rx_frames, 0);
	rig_destroy(rig);
}

static void longest_frame_passes(void)
{
	struct rig *rig = rig_create(NULL, 2);

	rig_teach(rig);
	T_TRUE(rig_send(rig, 0, 1, RIG_OTHER, FABRIC_FRAME_MAX, 5));
	T_TRUE(rig_send(rig, 0, 1, RIG_OTHER, FABRIC_FRAME_MIN, 0));
	rig_run(rig, 0);
	T_EQ(rig->port[1].count, 2);
	T_EQ(rig->port[1].log[0].length, FABRIC_FRAME_MAX);
	T_EQ(rig->port[1].log[0].tag, 5);
	T_EQ(rig->port[1].log[1].length, FABRIC_FRAME_MIN);
	rig_destroy(rig);
}

static void hairpin_only_where_asked(void)
{
	struct rig *rig = rig_create(NULL, 2);

	rig_teach(rig);
	T_TRUE(rig_send(rig, 0, 0, RIG_ROCE_IPV4, 100, 1));
	rig_run(rig, 0);
	T_EQ(rig->port[0].count, 0);
	T_EQ(counters(rig, 0)->filtered, 1);
	fabric_port_set_hairpin(rig->port[0].port, true);
	T_TRUE(rig_send(rig, 0, 0, RIG_ROCE_IPV4, 100, 2));
	rig_run(rig, 0);
	T_EQ(rig->port[0].count, 1);
	T_EQ(rig->port[0].log[0].tag, 2);
	T_EQ(rig->port[1].count, 0);
	rig_destroy(rig);
}

/* 1 Gb/s: (1476 + 24) * 8 ns = 12 us a frame, and 50 us of delay. */
static void rate_and_delay(void)
{
	static const struct fabric_config config = {.rate_bps = 1000000000, .delay_ns = 50000};
	struct rig *rig = rig_create(&config, 2);
	unsigned int i;

	rig_teach(rig);
	rig_run(rig, SECOND);
	rig->port[1].count = 0;
	for (i = 0; i < 100; i++)
		T_TRUE(rig_send(rig, 0, 1, RIG_OTHER, 1476, i));
	rig_run(rig, 2 * SECOND);
	T_EQ(rig->port[1].count, 100);
	for (i = 0; i < 100; i++) {
		T_EQ(rig->port[1].log[i].tag, i);
		T_EQ(rig->port[1].log[i].time, SECOND + 50000 + 12000 * (i + 1));
	}
	rig_destroy(rig);
}

static void full_buffer_drops_the_tail(void)
{
	static const struct fabric_config config = {.rate_bps = 1000000000, .buffer_bytes = 10000};
	struct rig *rig = rig_create(&config, 3);
	unsigned int i;

	rig_teach(rig);
	rig_run(rig, SECOND);
	rig->port[1].count = 0;
	for (i = 0; i < 20; i++)
		T_TRUE(rig_send(rig, 0, 1, RIG_OTHER, 976, i));
	/* The backlog counts what is on the line: 24 bytes more a frame. */
	T_EQ(counters(rig, 1)->drop_buffer, 10);
	/* Another port's queue is its own. */
	T_TRUE(rig_send(rig, 0, 2, RIG_OTHER, 976, 0));
	T_EQ(counters(rig, 2)->drop_buffer, 0);
	/* 8 us a frame: after 8 us there is room for one. */
	rig_run(rig, SECOND + 8000);
	T_EQ(rig->port[1].count, 1);
	T_TRUE(rig_send(rig, 0, 1, RIG_OTHER, 976, 100));
	T_TRUE(rig_send(rig, 0, 1, RIG_OTHER, 976, 101));
	T_EQ(counters(rig, 1)->drop_buffer, 11);
	rig_run(rig, 2 * SECOND);
	T_EQ(rig->port[1].count, 11);
	T_EQ(rig->port[1].log[9].tag, 9);
	T_EQ(rig->port[1].log[10].tag, 100);
	rig_destroy(rig);
}

static void sender_is_stopped_and_told(void)
{
	struct rig *rig = rig_create(NULL, 2);
	unsigned int sent = 0;

	rig_teach(rig);
	while (rig_send(rig, 0, 1, RIG_OTHER, 4096, sent))
		T_NEED(++sent < 1000);
	T_TRUE(sent >= 32); /* enough for a batch */
	T_EQ(rig->port[0].rooms, 0);
	rig_run(rig, 0);
	T_EQ(rig->port[0].rooms, 1);
	T_EQ(rig->port[1].count, sent); /* unlimited: none is lost */
	T_TRUE(rig_send(rig, 0, 1, RIG_OTHER, 4096, sent));
	rig_destroy(rig);
}

static void unsent_buffers_count(void)
{
	struct rig *rig = rig_create(NULL, 2);
	void *buffer[1000];
	unsigned int i, count = 0;

	while ((buffer[count] = fabric_alloc(rig->port[0].port, 4096)))
		T_NEED(++count < 1000);
	for (i = 0; i < count; i++)
		fabric_free(rig->port[0].port, buffer[i]);
	T_EQ(rig->wakes, 1);
	rig_run(rig, 0);
	T_EQ(rig->port[0].rooms, 1);
	/* Got and never given back: the fabric's end takes it. */
	T_TRUE(fabric_alloc(rig->port[0].port, 9000));
	rig_destroy(rig);
}

static void pause_holds_and_goes_on(void)
{
	struct rig *rig = rig_create(NULL, 3);
	unsigned int i;

	rig_teach(rig);
	fabric_port_pause(rig->port[1].port, 0, true);
	for (i = 0; i < 3; i++)
		T_TRUE(rig_send(rig, 0, 1, RIG_OTHER, 100, i));
	T_TRUE(rig_send(rig, 0, 2, RIG_OTHER, 100, 9));
	rig_run(rig, SECOND / 10);
	T_EQ(rig->port[1].count, 0);
	T_EQ(rig->port[2].count, 1); /* the others do not wait */
	rig->wakes = 0;
	fabric_port_pause(rig->port[1].port, rig->now, false);
	T_EQ(rig->wakes, 1);
	rig_run(rig, rig->now);
	T_EQ(rig->port[1].count, 3);
	rig_destroy(rig);
}

static void paused_too_long_drops(void)
{
	struct rig *rig = rig_create(NULL, 2);

	rig_teach(rig);
	T_TRUE(rig_send(rig, 0, 1, RIG_OTHER, 100, 0));
	fabric_port_pause(rig->port[1].port, 0, true);
	rig_run(rig, SECOND / 10);
	fabric_port_pause(rig->port[1].port, rig->now, true); /* progress */
	rig_run(rig, SECOND / 4);
	T_EQ(counters(rig, 1)->drop_stalled, 0);
	rig_run(rig, SECOND / 2);
	T_EQ(counters(rig, 1)->drop_stalled, 1);
	T_TRUE(rig_send(rig, 0, 1, RIG_OTHER, 100, 1));
	rig_run(rig, rig->now);
	T_EQ(counters(rig, 1)->drop_stalled, 2);
	fabric_port_pause(rig->port[1].port, rig->now, false);
	T_TRUE(rig_send(rig, 0, 1, RIG_OTHER, 100, 2));
	rig_run(rig, rig->now);
	T_EQ(rig->port[1].count, 1);
	T_EQ(rig->port[1].log[0].tag, 2);
	rig_destroy(rig);
}

/* A paused port has a real queue, also at unlimited rate. */
static void paused_port_has_a_buffer(void)
{
	static const struct fabric_config config = {.buffer_bytes = 1000};
	struct rig *rig = rig_create(&config, 2);
	unsigned int i;

	rig_teach(rig);
	fabric_port_pause(rig->port[1].port, 0, true);
	for (i = 0; i < 15; i++)
		T_TRUE(rig_send(rig, 0, 1, RIG_OTHER, 100, i));
	T_EQ(counters(rig, 1)->drop_buffer, 5);
	fabric_port_pause(rig->port[1].port, 0, false);
	rig_run(rig, 0);
	T_EQ(rig->port[1].count, 10);
	rig_destroy(rig);
}

static struct rig *answering;
static unsigned int depth, deepest;

static void answer_back(struct rig_port *port, uint64_t now, const void *frame, size_t length)
{
	unsigned int self = (unsigned int)(port - answering->port);

	(void)now;
	(void)frame;
	(void)length;
	depth++;
	deepest = depth > deepest ? depth : deepest;
	if (port->count < 1000)
		rig_send(answering, self, !self, RIG_OTHER, 64, port->count);
	depth--;
}

static void answers_do_not_recurse(void)
{
	struct rig *rig = rig_create(NULL, 2);

	rig_teach(rig);
	answering = rig;
	deepest = 0;
	rig->port[0].answer = answer_back;
	rig->port[1].answer = answer_back;
	T_TRUE(rig_send(rig, 0, 1, RIG_OTHER, 64, 0));
	/* The whole ping-pong in one run, within its budget. */
	T_TRUE(fabric_run(rig->fabric, 0, 100));
	T_EQ(rig->port[0].count + rig->port[1].count, 100);
	T_TRUE(!fabric_run(rig->fabric, 0, 10000));
	T_EQ(rig->port[1].count, 1000);
	T_EQ(deepest, 1);
	rig_destroy(rig);
}

static void ports_share_a_run_evenly(void)
{
	struct rig *rig = rig_create(NULL, 4);
	unsigned int i;

	rig_teach(rig);
	for (i = 0; i < 200; i++) {
		T_NEED(rig_send(rig, 0, 1, RIG_OTHER, 64, i));
		T_NEED(rig_send(rig, 0, 2, RIG_OTHER, 64, i));
		T_NEED(rig_send(rig, 0, 3, RIG_OTHER, 64, i));
	}
	T_TRUE(fabric_run(rig->fabric, 0, 96));
	for (i = 1; i < 4; i++)
		T_EQ(rig->port[i].count, 32);
	rig_destroy(rig);
}

static void ports_leave(void)
{
	struct rig *rig = rig_create(NULL, 3);

	rig_teach(rig);
	/* On their way to it and from it. */
	T_TRUE(rig_send(rig, 0, 1, RIG_OTHER, 64, 1));
	T_TRUE(rig_send(rig, 1, 2, RIG_OTHER, 64, 2));
	fabric_port_remove(rig->port[1].port);
	rig->port[1].port = NULL;
	rig_run(rig, 0);
	T_EQ(rig->port[1].count, 0);
	T_EQ(rig->port[2].count, 1);
	/* Forgotten, so flooded to who is left. */
	T_TRUE(rig_send(rig, 0, 1, RIG_OTHER, 64, 3));
	rig_run(rig, 0);
	T_EQ(rig->port[2].count, 2);
	rig_destroy(rig);
}

static void bad_configs(void)
{
	static const struct {
		const char *name;
		struct fabric_config config;
		int err;
	} rows[] = {
		{"loss", {.loss_ppm = 1000001}, -22},
		{"corrupt", {.corrupt_ppm = 1000001}, -22},
		{"duplicate", {.duplicate_ppm = 1000001}, -22},
		{"reorder", {.reorder_ppm = 1000001}, -22},
		{"buffer", {.buffer_bytes = 0x40000001}, -22},
		{"pmax", {.ecn_pmax_percent = 101}, -22},
		{"kmin above kmax", {.ecn_kmin_bytes = 2, .ecn_kmax_bytes = 1}, -22},
		{"capture", {.capture = "/nonexistent/file"}, -2},
		{"all at their limits",
		 {.loss_ppm = 1000000, .buffer_bytes = 1 << 30, .ecn_pmax_percent = 100},
		 0},
	};
	struct fabric *fabric;
	size_t i;
	int err;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		err = fabric_create(&rows[i].config, &fabric);
		T_EQ_ROW(rows[i].name, err, rows[i].err);
		if (!err)
			fabric_destroy(fabric);
	}
}

static void seen(void *ctx, const char *name, const struct fabric_port_counters *counts)
{
	char *text = ctx;

	strcat(text, name);
	strcat(text, counts->rx_frames ? "+" : "-");
}

static void walks_all_ports(void)
{
	struct rig *rig = rig_create(NULL, 3);
	char text[64] = "";

	T_TRUE(rig_send(rig, 1, 0, RIG_OTHER, 64, 0));
	fabric_for_each_port(rig->fabric, seen, text);
	T_TRUE(!strcmp(text, "p0-p1+p2-"));
	rig_destroy(rig);
}

T_MAIN("fabric", T_CASE(unknown_floods_then_learns), T_CASE(broadcast_and_multicast_flood),
       T_CASE(addresses_move_and_age), T_CASE(address_storm), T_CASE(bad_frames_are_counted),
       T_CASE(longest_frame_passes), T_CASE(hairpin_only_where_asked), T_CASE(rate_and_delay),
       T_CASE(full_buffer_drops_the_tail), T_CASE(sender_is_stopped_and_told),
       T_CASE(unsent_buffers_count), T_CASE(pause_holds_and_goes_on), T_CASE(paused_too_long_drops),
       T_CASE(paused_port_has_a_buffer), T_CASE(answers_do_not_recurse),
       T_CASE(ports_share_a_run_evenly), T_CASE(ports_leave), T_CASE(bad_configs),
       T_CASE(walks_all_ports), )
