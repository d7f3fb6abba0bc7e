/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The far side of a link, as QEMU would be, around a switch with one recording
 * port and the link: sockets in a folder of its own, on a virtual clock.
 */
#ifndef ANYNIC_TESTS_UNIT_SIM_FABRIC_LINK_PEER_H
#define ANYNIC_TESTS_UNIT_SIM_FABRIC_LINK_PEER_H

#include "sim/device/sim_loop.h"
#include "tests/unit/sim/fabric/fabric_rig.h"

/* The rig's port 0 records; port 1 is the link's and has no log. */
struct link_rig {
	struct rig *rig;
	struct sim_loop *loop;
	struct fabric_link *link;
	char dir[32];
	char path[48]; /* of the switch's socket */
	char peer[48]; /* of ours */
};

/* Everything but the link. */
struct link_rig *link_rig_create(void);
/* Makes port 1 for the link. */
void link_rig_join(struct link_rig *rig);
void link_rig_destroy(struct link_rig *rig);
/* Lets sockets and switch settle, without letting much time pass. */
void link_rig_settle(struct link_rig *rig);

/* A socket connected to the link's stream socket, blocking; or a negative value. */
int stream_connect(const struct link_rig *rig);
/* Sends a frame from port 1's side with its length before it. */
void stream_put(int fd, const void *frame, size_t length);
/* Receives one frame without waiting. Returns its length, -EAGAIN, or -EPIPE at the end. */
int stream_get(int fd, void *frame, size_t room);

#endif
