/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Opening and closing links: paths, stale sockets, names. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lib/t.h"
#include "tests/unit/sim/fabric/link_peer.h"

/* Longer than a socket address holds. */
#define LONG_PATH                                                                              \
	"/tmp/"                                                                                \
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" \
	"aaaaaaaaaaaaaaaaaaaaaaaaaa"

static void bad_paths(void)
{
	struct link_rig *rig = link_rig_create();
	struct fabric_link *link;

	T_EQ(fabric_stream_listen(rig->loop, LONG_PATH, &link), -ENAMETOOLONG);
	T_EQ(fabric_stream_listen(rig->loop, "/nonexistent/x", &link), -ENOENT);
	T_EQ(fabric_dgram_open(rig->loop, LONG_PATH, "x", &link), -ENAMETOOLONG);
	T_EQ(fabric_dgram_open(rig->loop, rig->path, LONG_PATH, &link), -ENAMETOOLONG);
	T_EQ(fabric_dgram_open(rig->loop, "/nonexistent/x", "x", &link), -ENOENT);
	T_EQ(fabric_tap_open(rig->loop, "", &link), -EINVAL);
	T_EQ(fabric_tap_open(rig->loop, "a-name-too-long-", &link), -EINVAL);
	link_rig_destroy(rig);
}

/* What a killed process left is replaced; a socket in use and any other file are not. */
static void only_stale_sockets_are_replaced(void)
{
	struct link_rig *rig = link_rig_create();
	struct fabric_link *first, *second;
	char moved[64];
	struct stat st;
	int fd;

	T_EQ(fabric_stream_listen(rig->loop, rig->path, &first), 0);
	T_EQ(fabric_stream_listen(rig->loop, rig->path, &second), -EADDRINUSE);
	/* As after a kill: the name stays, the socket is gone. */
	snprintf(moved, sizeof(moved), "%s/moved", rig->dir);
	T_EQ(link(rig->path, moved), 0);
	fabric_link_close(first);
	T_EQ(rename(moved, rig->path), 0);
	T_EQ(fabric_stream_listen(rig->loop, rig->path, &second), 0);
	fabric_link_close(second);
	T_EQ(stat(rig->path, &st), -1); /* removed at the end */

	fd = open(rig->path, O_CREAT | O_WRONLY, 0600);
	T_TRUE(fd >= 0);
	close(fd);
	T_EQ(fabric_stream_listen(rig->loop, rig->path, &first), -EEXIST);
	T_EQ(fabric_dgram_open(rig->loop, rig->path, rig->peer, &first), -EEXIST);
	T_EQ(unlink(rig->path), 0);

	T_EQ(fabric_dgram_open(rig->loop, rig->path, rig->peer, &first), 0);
	T_EQ(fabric_dgram_open(rig->loop, rig->path, rig->peer, &second), -EADDRINUSE);
	fabric_link_close(first);
	fabric_link_close(NULL);
	link_rig_destroy(rig);
}

/* Before the link has a port, peers can connect and what they send waits. */
static void frames_wait_for_the_port(void)
{
	struct link_rig *rig = link_rig_create();
	uint8_t frame[60];
	int fd;

	T_EQ(fabric_stream_listen(rig->loop, rig->path, &rig->link), 0);
	fd = stream_connect(rig);
	T_NEED(fd >= 0);
	rig_build(frame, sizeof(frame), RIG_OTHER, 0xffffffffffffull, rig_mac(1));
	stream_put(fd, frame, sizeof(frame));
	link_rig_settle(rig);
	T_EQ(rig->rig->port[0].count, 0);
	link_rig_join(rig);
	link_rig_settle(rig);
	T_EQ(rig->rig->port[0].count, 1);
	close(fd);
	link_rig_destroy(rig);
}

T_MAIN("fabric_link", T_CASE(bad_paths), T_CASE(only_stale_sockets_are_replaced),
       T_CASE(frames_wait_for_the_port), )
