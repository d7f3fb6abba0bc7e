/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Link to QEMU's dgram backend: a bound UNIX datagram socket, one frame a
 * datagram. The peer may come late, go and come again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "sim/fabric/fabric_link.h"

/* Only a connected socket tells when the peer's queue has room again. */
static int dgram_connect(struct packet_link *packet)
{
	struct sockaddr_un address;
	int err = link_address(packet->peer, &address);

	if (err)
		return err;
	if (connect(packet->fd, (const struct sockaddr *)&address, sizeof(address)))
		return -errno;
	packet->connected = true;
	packet->link.counters.peers++;
	return 0;
}

static int dgram_send(struct packet_link *packet, const void *frame, size_t length)
{
	if (send(packet->fd, frame, length, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
		return 0;
	return -errno;
}

/* A peer that was started again is another socket behind the same path: connects once more. */
static int dgram_write(struct packet_link *packet, const void *frame, size_t length)
{
	int err = -ENOTCONN;

	if (packet->connected)
		err = dgram_send(packet, frame, length);
	if (!err || err == -EAGAIN)
		return err;
	packet->connected = false;
	err = dgram_connect(packet);
	return err ? -ENOTCONN : dgram_send(packet, frame, length);
}

int fabric_dgram_open(struct sim_loop *loop, const char *path, const char *peer,
		      struct fabric_link **link)
{
	struct packet_link *packet = calloc(1, sizeof(*packet));
	struct sockaddr_un address;
	int err;

	if (!packet)
		return -ENOMEM;
	packet->fd = -1;
	packet->write = dgram_write;
	err = link_address(peer, &address);
	if (err)
		goto undo_packet;
	err = -ENOMEM;
	packet->peer = strdup(peer);
	if (!packet->peer)
		goto undo_packet;
	err = link_bind(SOCK_DGRAM, path, &packet->fd);
	if (err)
		goto undo_peer;
	err = -ENOMEM;
	packet->path = strdup(path);
	if (!packet->path)
		goto undo_bind;
	err = packet_link_start(packet, loop);
	if (err)
		goto undo_path;
	*link = &packet->link;
	return 0;

undo_path:
	free(packet->path);
undo_bind:
	close(packet->fd);
	unlink(path);
undo_peer:
	free(packet->peer);
undo_packet:
	free(packet);
	return err;
}
