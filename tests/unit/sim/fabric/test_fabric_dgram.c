/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Datagram links: both directions, a peer that is late, slow, or started again. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/lib/t.h"
#include "tests/unit/sim/fabric/link_peer.h"

#define BROADCAST 0xffffffffffffull

static struct link_rig *create(void)
{
	struct link_rig *rig = link_rig_create();

	if (!T_TRUE(!fabric_dgram_open(rig->loop, rig->path, rig->peer, &rig->link)))
		abort();
	link_rig_join(rig);
	return rig;
}

/* Our socket, bound as QEMU's local.path; sends go to the switch's. */
static int peer_open(const struct link_rig *rig)
{
	struct sockaddr_un ours = {.sun_family = AF_UNIX}, theirs = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

	strcpy(ours.sun_path, rig->peer);
	strcpy(theirs.sun_path, rig->path);
	unlink(rig->peer);
	if (bind(fd, (struct sockaddr *)&ours, sizeof(ours)) ||
	    connect(fd, (struct sockaddr *)&theirs, sizeof(theirs)))
		abort();
	return fd;
}

static void both_directions(void)
{
	struct link_rig *rig = create();
	int fd = peer_open(rig);
	static const size_t lengths[] = {14, 60, 1514, FABRIC_FRAME_MAX};
	uint8_t frame[FABRIC_FRAME_MAX];
	size_t i;

	for (i = 0; i < 4; i++) {
		rig_build(frame, lengths[i], RIG_OTHER, BROADCAST, rig_mac(1));
		T_EQ(send(fd, frame, lengths[i], 0), lengths[i]);
		T_TRUE(rig_send_to(rig->rig, 0, BROADCAST, RIG_OTHER, lengths[i], 0));
	}
	link_rig_settle(rig);
	T_EQ(rig->rig->port[0].count, 4);
	for (i = 0; i < 4; i++) {
		T_EQ(rig->rig->port[0].log[i].length, lengths[i]);
		T_EQ(recv(fd, frame, sizeof(frame), MSG_DONTWAIT), lengths[i]);
	}
	close(fd);
	link_rig_destroy(rig);
}

static void bad_datagrams(void)
{
	struct link_rig *rig = create();
	static uint8_t frame[FABRIC_FRAME_MAX + 1];
	int fd = peer_open(rig);

	rig_build(frame, sizeof(frame), RIG_OTHER, BROADCAST, rig_mac(1));
	T_EQ(send(fd, frame, 0, 0), 0);
	T_EQ(send(fd, frame, 13, 0), 13);
	T_EQ(send(fd, frame, sizeof(frame), 0), sizeof(frame));
	T_EQ(send(fd, frame, 60, 0), 60);
	link_rig_settle(rig);
	T_EQ(rig->rig->port[0].count, 1);
	T_EQ(fabric_link_counters(rig->link)->drop_oversize, 1);
	T_EQ(fabric_port_counters(rig->rig->port[1].port)->drop_runt, 2);
	close(fd);
	link_rig_destroy(rig);
}

static void peer_is_late_and_starts_again(void)
{
	struct link_rig *rig = create();
	uint8_t frame[100];
	int fd, round;

	for (round = 0; round < 2; round++) {
		T_TRUE(rig_send_to(rig->rig, 0, BROADCAST, RIG_OTHER, 60, 0));
		link_rig_settle(rig);
		T_EQ(fabric_link_counters(rig->link)->drop_no_peer, round + 1);
		fd = peer_open(rig);
		T_TRUE(rig_send_to(rig->rig, 0, BROADCAST, RIG_OTHER, 61, 0));
		link_rig_settle(rig);
		T_EQ(recv(fd, frame, sizeof(frame), MSG_DONTWAIT), 61);
		close(fd);
	}
	T_EQ(fabric_link_counters(rig->link)->peers, 2);
	link_rig_destroy(rig);
}

/* A datagram socket's queue is short (10 by default): the rest waits in the switch. */
static void slow_peer_loses_nothing(void)
{
	struct link_rig *rig = create();
	int fd = peer_open(rig);
	uint32_t sent = 0, got = 0, tag;
	uint8_t frame[100];

	while (got < 500) {
		while (sent < 500 && rig_send_to(rig->rig, 0, BROADCAST, RIG_OTHER, 60, sent))
			sent++;
		link_rig_settle(rig);
		if (recv(fd, frame, sizeof(frame), MSG_DONTWAIT) < 0)
			continue;
		memcpy(&tag, frame + 56, 4);
		T_NEED(tag == got);
		got++;
	}
	T_EQ(fabric_link_counters(rig->link)->drop_no_peer, 0);
	close(fd);
	link_rig_destroy(rig);
}

static void full_switch_stops_reading(void)
{
	struct link_rig *rig = create();
	int fd = peer_open(rig);
	static uint8_t frame[9000];
	uint32_t sent = 0;

	fabric_port_pause(rig->rig->port[0].port, rig->rig->now, true);
	rig_build(frame, sizeof(frame), RIG_OTHER, BROADCAST, rig_mac(1));
	while (sent < 200) {
		memcpy(frame + sizeof(frame) - 4, &sent, 4);
		if (send(fd, frame, sizeof(frame), MSG_DONTWAIT) < 0)
			break;
		sent++;
		link_rig_settle(rig);
	}
	T_TRUE(sent > 25 && sent < 200);
	fabric_port_pause(rig->rig->port[0].port, rig->rig->now, false);
	link_rig_settle(rig);
	T_EQ(rig->rig->port[0].count, sent);
	T_EQ(rig->rig->port[0].log[sent - 1].tag, sent - 1);
	close(fd);
	link_rig_destroy(rig);
}

T_MAIN("fabric_dgram", T_CASE(both_directions), T_CASE(bad_datagrams),
       T_CASE(peer_is_late_and_starts_again), T_CASE(slow_peer_loses_nothing),
       T_CASE(full_switch_stops_reading), )
