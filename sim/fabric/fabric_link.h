/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the kinds of link share: the common head of each kind's state, and
 * sockets. Nothing outside sim/fabric includes this.
 */
#ifndef ANYNIC_SIM_FABRIC_FABRIC_LINK_H
#define ANYNIC_SIM_FABRIC_FABRIC_LINK_H

#include "sim/device/sim_loop.h"
#include "sim/fabric/fabric.h"

/* First member of each kind's state. */
struct fabric_link {
	const struct fabric_port_ops *ops;
	void (*close)(struct fabric_link *link);
	/* A port is there: frames may be taken from the peer. */
	void (*start)(struct fabric_link *link);
	struct sim_loop *loop;
	struct fabric_port *port;
	struct fabric_link_counters counters;
};

/* A non-blocking UNIX socket of `type`, bound to path. A socket left there by a process that is
 * gone is replaced; any other file is -EEXIST. */
int link_bind(int type, const char *path, int *fd);
/* -ENAMETOOLONG: does not fit a socket address. */
struct sockaddr_un;
int link_address(const char *path, struct sockaddr_un *address);

/* ---- links to something that keeps packets apart: a datagram socket or a TAP device ---- */

struct packet_link {
	struct fabric_link link;
	int fd;
	struct sim_fd *watch;
	bool rx_stopped; /* the switch has no room */
	/* Sends one packet: 0, -EAGAIN or another error. */
	int (*write)(struct packet_link *link, const void *frame, size_t length);
	char *path; /* our own socket, to be removed; or NULL */
	char *peer;
	bool connected;
	size_t waiting; /* length of the one frame that the peer did not take yet */
	uint8_t frame[FABRIC_FRAME_MAX];
};

/* Takes over fd, and frees `link` on close. */
int packet_link_start(struct packet_link *link, struct sim_loop *loop);

#endif
