/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Links over a file descriptor that keeps packets apart, one a read or write:
 * what datagram sockets and TAP devices have in common.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "sim/fabric/fabric_link.h"

/* Frames taken in one event, so that a busy peer does not keep the others waiting. */
#define RX_BATCH 64

static void packet_watch(struct packet_link *packet)
{
	unsigned int events = packet->waiting ? SIM_LOOP_WRITE : 0;

	if (packet->link.port && !packet->rx_stopped)
		events |= SIM_LOOP_READ;
	sim_fd_change(packet->watch, events);
}

static void packet_rx(void *ctx, uint64_t now, const void *frame, size_t length)
{
	struct packet_link *packet = ctx;
	int err = packet->write(packet, frame, length);

	if (err == -EAGAIN && !packet->waiting) {
		memcpy(packet->frame, frame, length);
		packet->waiting = length;
		fabric_port_pause(packet->link.port, now, true);
		packet_watch(packet);
	} else if (err) {
		packet->link.counters.drop_no_peer++;
	}
}

static void packet_write_waiting(struct packet_link *packet)
{
	int err = packet->write(packet, packet->frame, packet->waiting);

	if (err == -EAGAIN)
		return;
	if (err)
		packet->link.counters.drop_no_peer++;
	packet->waiting = 0;
	fabric_port_pause(packet->link.port, sim_loop_now(packet->link.loop), false);
	packet_watch(packet);
}

/* Straight into a buffer of the switch. The byte behind it tells whether there was more. */
static ssize_t packet_read(struct packet_link *packet, void *buffer)
{
	uint8_t more;
	struct iovec iov[2] = {{buffer, FABRIC_FRAME_MAX}, {&more, 1}};

	return readv(packet->fd, iov, 2);
}

static void packet_read_batch(struct packet_link *packet)
{
	uint64_t now = sim_loop_now(packet->link.loop);
	unsigned int i;
	void *buffer;
	ssize_t n;

	for (i = 0; i < RX_BATCH; i++) {
		buffer = fabric_alloc(packet->link.port, FABRIC_FRAME_MAX);
		if (!buffer) {
			packet->rx_stopped = true;
			packet_watch(packet);
			return;
		}
		n = packet_read(packet, buffer);
		if (n >= 0 && n <= FABRIC_FRAME_MAX) {
			fabric_send(packet->link.port, now, buffer, (size_t)n);
			continue;
		}
		fabric_free(packet->link.port, buffer);
		if (n < 0)
			return;
		packet->link.counters.drop_oversize++;
	}
}

static void packet_ready(void *ctx, unsigned int events)
{
	struct packet_link *packet = ctx;

	if ((events & SIM_LOOP_WRITE) && packet->waiting)
		packet_write_waiting(packet);
	if (events & SIM_LOOP_READ)
		packet_read_batch(packet);
}

static void packet_tx_room(void *ctx)
{
	struct packet_link *packet = ctx;

	packet->rx_stopped = false;
	packet_watch(packet);
}

static void packet_start(struct fabric_link *link)
{
	packet_watch((struct packet_link *)link);
}

static void packet_close(struct fabric_link *link)
{
	struct packet_link *packet = (struct packet_link *)link;

	if (packet->watch)
		sim_fd_remove(packet->watch);
	if (packet->fd >= 0)
		close(packet->fd);
	if (packet->path)
		unlink(packet->path);
	free(packet->path);
	free(packet->peer);
	free(packet);
}

static const struct fabric_port_ops packet_ops = {
	.rx = packet_rx,
	.tx_room = packet_tx_room,
};

int packet_link_start(struct packet_link *packet, struct sim_loop *loop)
{
	packet->link.ops = &packet_ops;
	packet->link.close = packet_close;
	packet->link.start = packet_start;
	packet->link.loop = loop;
	return sim_fd_add(loop, packet->fd, 0, packet_ready, packet, &packet->watch);
}
