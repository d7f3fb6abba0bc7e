/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Stream links: both directions, hostile and slow peers, peers that come and go. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sim/fabric/fabric_stream_codec.h"
#include "tests/lib/t.h"
#include "tests/unit/sim/fabric/link_peer.h"

#define BROADCAST 0xffffffffffffull

static struct link_rig *create(void)
{
	struct link_rig *rig = link_rig_create();

	if (!T_TRUE(!fabric_stream_listen(rig->loop, rig->path, &rig->link)))
		abort();
	link_rig_join(rig);
	return rig;
}

static const struct fabric_link_counters *counters(struct link_rig *rig)
{
	return fabric_link_counters(rig->link);
}

static void both_directions(void)
{
	struct link_rig *rig = create();
	int fd = stream_connect(rig);
	uint8_t frame[FABRIC_FRAME_MAX], got[FABRIC_FRAME_MAX];
	static const size_t lengths[] = {14, 60, 1514, FABRIC_FRAME_MAX};
	size_t i;

	T_NEED(fd >= 0);
	link_rig_settle(rig);
	for (i = 0; i < 4; i++) {
		rig_build(frame, lengths[i], RIG_OTHER, BROADCAST, rig_mac(1));
		stream_put(fd, frame, lengths[i]);
	}
	link_rig_settle(rig);
	T_EQ(rig->rig->port[0].count, 4);
	for (i = 0; i < 4; i++)
		T_EQ(rig->rig->port[0].log[i].length, lengths[i]);
	for (i = 0; i < 4; i++)
		T_TRUE(rig_send(rig->rig, 0, 1, RIG_OTHER, lengths[i], 0x1234));
	link_rig_settle(rig);
	for (i = 0; i < 4; i++) {
		T_EQ(stream_get(fd, got, sizeof(got)), lengths[i]);
		rig_build(frame, lengths[i], RIG_OTHER, rig_mac(1), rig_mac(0));
		T_BYTES(got, frame, lengths[i] - 4);
	}
	T_EQ(stream_get(fd, got, sizeof(got)), -EAGAIN);
	T_EQ(counters(rig)->peers, 1);
	close(fd);
	link_rig_destroy(rig);
}

static void byte_by_byte(void)
{
	struct link_rig *rig = create();
	int fd = stream_connect(rig);
	uint8_t stream[4 + 60] = {0, 0, 0, 60};
	unsigned int i;

	T_NEED(fd >= 0);
	rig_build(stream + 4, 60, RIG_OTHER, BROADCAST, rig_mac(1));
	for (i = 0; i < sizeof(stream); i++) {
		T_EQ(rig->rig->port[0].count, 0);
		T_EQ(send(fd, stream + i, 1, 0), 1);
		link_rig_settle(rig);
	}
	T_EQ(rig->rig->port[0].count, 1);
	close(fd);
	link_rig_destroy(rig);
}

/* Each peer is cut off, and the next one served. */
static void hostile_lengths(void)
{
	static const uint8_t heads[][4] = {
		{0xff, 0xff, 0xff, 0xff}, {0x80, 0, 0, 0}, {0, 1, 0x10, 1}, {60, 0, 0, 0}};
	struct link_rig *rig = create();
	uint8_t frame[60], got[64];
	size_t i;
	int fd;

	rig_build(frame, sizeof(frame), RIG_OTHER, BROADCAST, rig_mac(1));
	for (i = 0; i < 4; i++) {
		fd = stream_connect(rig);
		T_NEED(fd >= 0);
		stream_put(fd, frame, sizeof(frame));
		T_EQ(send(fd, heads[i], 4, 0), 4);
		link_rig_settle(rig);
		T_EQ(stream_get(fd, got, sizeof(got)), -EPIPE);
		T_EQ(rig->rig->port[0].count, i + 1);
		T_EQ(counters(rig)->protocol_errors, i + 1);
		close(fd);
	}
	link_rig_destroy(rig);
}

static void too_long_frames_are_left_out(void)
{
	struct link_rig *rig = create();
	int fd = stream_connect(rig);
	static uint8_t frame[20000];

	T_NEED(fd >= 0);
	rig_build(frame, sizeof(frame), RIG_OTHER, BROADCAST, rig_mac(1));
	stream_put(fd, frame, sizeof(frame));
	stream_put(fd, frame, 100);
	stream_put(fd, frame, 0);
	stream_put(fd, frame, 13);
	stream_put(fd, frame, 101);
	link_rig_settle(rig);
	T_EQ(rig->rig->port[0].count, 2);
	T_EQ(rig->rig->port[0].log[1].length, 101);
	T_EQ(counters(rig)->drop_oversize, 1);
	T_EQ(fabric_port_counters(rig->rig->port[1].port)->drop_runt, 2);
	close(fd);
	link_rig_destroy(rig);
}

static void peers_come_and_go(void)
{
	struct link_rig *rig = create();
	uint8_t frame[60], got[64];
	int first, second;

	T_TRUE(rig_send_to(rig->rig, 0, BROADCAST, RIG_OTHER, 60, 0));
	link_rig_settle(rig);
	T_EQ(counters(rig)->drop_no_peer, 1);
	first = stream_connect(rig);
	second = stream_connect(rig);
	T_NEED(first >= 0 && second >= 0);
	link_rig_settle(rig);
	T_EQ(counters(rig)->peers, 1); /* the other one waits */
	rig_build(frame, sizeof(frame), RIG_OTHER, BROADCAST, rig_mac(1));
	/* Half a frame must not reach the next peer's stream. */
	T_EQ(send(first, "\0\0\0\100abc", 7, 0), 7);
	T_TRUE(rig_send_to(rig->rig, 0, BROADCAST, RIG_OTHER, 60, 0));
	link_rig_settle(rig);
	T_EQ(stream_get(first, got, sizeof(got)), 60);
	T_EQ(stream_get(second, got, sizeof(got)), -EAGAIN);
	close(first);
	link_rig_settle(rig);
	T_EQ(counters(rig)->peers, 2);
	stream_put(second, frame, sizeof(frame));
	T_TRUE(rig_send_to(rig->rig, 0, BROADCAST, RIG_OTHER, 61, 0));
	link_rig_settle(rig);
	T_EQ(rig->rig->port[0].count, 1);
	T_EQ(stream_get(second, got, sizeof(got)), 61);
	close(second);
	link_rig_destroy(rig);
}

/* Nothing is lost: the peer's slowness stops the sender, which is told when it may go on. */
static void slow_peer_holds_up_the_sender(void)
{
	struct link_rig *rig = create();
	unsigned int sent = 0, got = 0, stops = 0, rooms = 0;
	static uint8_t frame[FABRIC_FRAME_MAX];
	int fd = stream_connect(rig), n;
	uint32_t tag;

	T_NEED(fd >= 0);
	link_rig_settle(rig);
	rig_build(frame, 60, RIG_OTHER, BROADCAST, rig_mac(1));
	stream_put(fd, frame, 60);
	link_rig_settle(rig);
	while (got < 3000) {
		while (sent < 3000 && rig_send(rig->rig, 0, 1, RIG_OTHER, 4000, sent))
			sent++;
		if (sent < 3000 && rig->rig->port[0].rooms == rooms)
			stops++;
		rooms = rig->rig->port[0].rooms;
		link_rig_settle(rig);
		n = stream_get(fd, frame, sizeof(frame));
		if (n == -EAGAIN)
			continue;
		T_NEED(n == 4000);
		memcpy(&tag, frame + 4000 - 4, 4);
		T_NEED(tag == got);
		got++;
	}
	T_TRUE(stops > 0 && rooms > 0);
	T_EQ(fabric_port_counters(rig->rig->port[1].port)->drop_buffer, 0);
	T_EQ(fabric_port_counters(rig->rig->port[1].port)->drop_stalled, 0);
	close(fd);
	link_rig_destroy(rig);
}

/* One that never reads holds up the others for a moment only, and gets new frames afterwards. */
static void dead_peer_is_given_up(void)
{
	struct link_rig *rig = create();
	static uint8_t frame[FABRIC_FRAME_MAX];
	int fd = stream_connect(rig), n, got = 0;
	unsigned int i, idle;

	T_NEED(fd >= 0);
	link_rig_settle(rig);
	for (i = 0; i < 1000; i++) {
		while (rig_send_to(rig->rig, 0, BROADCAST, RIG_OTHER, 9000, i))
			;
		sim_loop_advance(rig->loop, 1000000);
		rig->rig->now = sim_loop_now(rig->loop);
	}
	T_TRUE(fabric_port_counters(rig->rig->port[1].port)->drop_stalled > 1000);
	T_TRUE(rig_send_to(rig->rig, 0, BROADCAST, RIG_OTHER, 9000, 0));
	/* Once may be in the middle of a frame. */
	for (idle = 0; idle < 2; idle = n == -EAGAIN ? idle + 1 : 0) {
		n = stream_get(fd, frame, sizeof(frame));
		got += n == 9000;
		link_rig_settle(rig);
	}
	T_TRUE(got > 0);
	T_TRUE(rig_send_to(rig->rig, 0, BROADCAST, RIG_OTHER, 60, 0));
	link_rig_settle(rig);
	T_EQ(stream_get(fd, frame, sizeof(frame)), 60);
	close(fd);
	link_rig_destroy(rig);
}

/* The switch has no room: what the peer sent waits, in order. */
static void full_switch_stops_reading(void)
{
	struct link_rig *rig = create();
	static uint8_t frame[9000];
	int fd = stream_connect(rig);
	uint32_t sent = 0;
	unsigned int i;

	T_NEED(fd >= 0);
	link_rig_settle(rig);
	fabric_port_pause(rig->rig->port[0].port, rig->rig->now, true);
	rig_build(frame, sizeof(frame), RIG_OTHER, BROADCAST, rig_mac(1));
	for (i = 0; i < 100; i++) {
		struct pollfd writable = {fd, POLLOUT, 0};

		/* Room for all of it: half a frame would spoil the test. */
		if (poll(&writable, 1, 0) != 1)
			break;
		memcpy(frame + sizeof(frame) - 4, &sent, 4);
		stream_put(fd, frame, sizeof(frame));
		sent++;
		link_rig_settle(rig);
	}
	T_TRUE(sent > 28);
	T_EQ(rig->rig->port[0].count, 0);
	fabric_port_pause(rig->rig->port[0].port, rig->rig->now, false);
	link_rig_settle(rig);
	T_EQ(rig->rig->port[0].count, sent);
	for (i = 0; i < sent; i++)
		T_EQ(rig->rig->port[0].log[i].tag, i);
	close(fd);
	link_rig_destroy(rig);
}

/* Frames of a batch go out in one write. */
static void batches_are_written_together(void)
{
	struct link_rig *rig = create();
	int fd = stream_connect(rig);
	uint8_t bytes[4096];
	unsigned int i;

	T_NEED(fd >= 0);
	link_rig_settle(rig);
	for (i = 0; i < 10; i++)
		T_TRUE(rig_send_to(rig->rig, 0, BROADCAST, RIG_OTHER, 60, i));
	link_rig_settle(rig);
	T_EQ(recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT), 640);
	close(fd);
	link_rig_destroy(rig);
}

T_MAIN("fabric_stream", T_CASE(both_directions), T_CASE(byte_by_byte), T_CASE(hostile_lengths),
       T_CASE(too_long_frames_are_left_out), T_CASE(peers_come_and_go),
       T_CASE(slow_peer_holds_up_the_sender), T_CASE(dead_peer_is_given_up),
       T_CASE(full_switch_stops_reading), T_CASE(batches_are_written_together), )
