/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Link to QEMU's stream backend: a listening UNIX socket, one peer at a time.
 * Owns the socket's state; framing is fabric_stream_codec.c.
 *
 * To the peer: frames are collected and written together once the fabric's run is over. A peer
 * that does not read pauses the port. From the peer: reading stops while the switch has no room.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sim/fabric/fabric_link.h"
#include "sim/fabric/fabric_stream_codec.h"

/* What the kernel may hold for a peer besides our backlog. A slow guest's frames should wait in
 * the switch, where they hold up their senders, and not time out behind a megabyte of others. */
#define SOCKET_BUFFER (1 << 16)
/* Backlog at which the port is paused and goes on. A run may add a frame after the pause. */
#define TX_HIGH (STREAM_TX_SIZE - STREAM_HEAD - FABRIC_FRAME_MAX)
#define TX_LOW	(STREAM_TX_SIZE / 4)

struct stream_link {
	struct fabric_link link;
	char *path;
	int listen_fd;
	int fd; /* -1: no peer */
	struct sim_fd *listen_watch;
	struct sim_fd *watch;
	struct sim_task *flush; /* writes, after the callbacks that run now */
	unsigned int events;	/* what `watch` waits for */
	struct stream_decoder rx;
	struct stream_encoder tx;
};

static void stream_watch(struct stream_link *stream, unsigned int events)
{
	if (stream->fd < 0 || events == stream->events)
		return;
	stream->events = events;
	sim_fd_change(stream->watch, events);
}

/* Hangs up, and listens for the next peer. */
static void stream_hang_up(struct stream_link *stream)
{
	sim_fd_remove(stream->watch);
	close(stream->fd);
	stream->watch = NULL;
	stream->fd = -1;
	stream->events = 0;
	stream_decoder_reset(&stream->rx);
	stream->tx.begin = 0;
	stream->tx.end = 0;
	if (stream->link.port)
		fabric_port_pause(stream->link.port, sim_loop_now(stream->link.loop), false);
	sim_fd_change(stream->listen_watch, SIM_LOOP_READ);
}

/* ---- to the peer ---- */

static void stream_write(struct stream_link *stream)
{
	struct stream_encoder *tx = &stream->tx;
	uint64_t now = sim_loop_now(stream->link.loop);
	size_t before = stream_encoder_waiting(tx);
	ssize_t n;

	while (stream_encoder_waiting(tx)) {
		n = send(stream->fd, tx->buffer + tx->begin, stream_encoder_waiting(tx),
			 MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n >= 0) {
			tx->begin += (size_t)n;
		} else if (errno == EAGAIN) {
			break;
		} else if (errno != EINTR) {
			stream_hang_up(stream);
			return;
		}
	}
	if (!stream_encoder_waiting(tx)) {
		tx->begin = 0;
		tx->end = 0;
	}
	if (stream_encoder_waiting(tx) <= TX_LOW)
		fabric_port_pause(stream->link.port, now, false);
	else if (before > TX_HIGH && stream_encoder_waiting(tx) < before)
		fabric_port_pause(stream->link.port, now, true);
	stream_watch(stream, (stream->events & SIM_LOOP_READ) |
				     (stream_encoder_waiting(tx) ? SIM_LOOP_WRITE : 0));
}

static void stream_flush(void *ctx, uint64_t now)
{
	struct stream_link *stream = ctx;

	(void)now;
	if (stream->fd >= 0)
		stream_write(stream);
}

static void stream_rx(void *ctx, uint64_t now, const void *frame, size_t length)
{
	struct stream_link *stream = ctx;

	if (stream->fd < 0) {
		stream->link.counters.drop_no_peer++;
		return;
	}
	stream_encoder_put(&stream->tx, frame, length);
	if (stream_encoder_waiting(&stream->tx) > TX_HIGH)
		fabric_port_pause(stream->link.port, now, true);
	/* With WRITE watched the socket was full a moment ago: it calls when it is not. */
	if (!(stream->events & SIM_LOOP_WRITE))
		sim_task_set(stream->flush, 0);
}

/* ---- from the peer ---- */

/* Passes on the frames that have come. False: no room in the switch, or the peer is gone. */
static bool stream_deliver(struct stream_link *stream)
{
	uint64_t now = sim_loop_now(stream->link.loop);
	const void *frame;
	size_t length;
	void *buffer;

	for (;;) {
		switch (stream_decoder_next(&stream->rx, &frame, &length)) {
		case STREAM_MORE:
			return true;
		case STREAM_OVERSIZE:
			stream->link.counters.drop_oversize++;
			break;
		case STREAM_HOSTILE:
			stream->link.counters.protocol_errors++;
			stream_hang_up(stream);
			return false;
		case STREAM_FRAME:
			buffer = fabric_alloc(stream->link.port, length);
			if (!buffer)
				return false;
			memcpy(buffer, frame, length);
			fabric_send(stream->link.port, now, buffer, length);
			stream_decoder_consume(&stream->rx, length);
			break;
		}
	}
}

/* One read an event, so that a busy peer does not keep the others waiting. */
static void stream_read(struct stream_link *stream)
{
	size_t room;
	void *at = stream_decoder_room(&stream->rx, &room);
	ssize_t n = recv(stream->fd, at, room, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		stream_hang_up(stream);
		return;
	}
	stream_decoder_filled(&stream->rx, (size_t)n);
	if (!stream_deliver(stream))
		stream_watch(stream, stream->events & ~SIM_LOOP_READ);
}

static void stream_tx_room(void *ctx)
{
	struct stream_link *stream = ctx;

	if (stream->fd >= 0 && stream_deliver(stream))
		stream_watch(stream, stream->events | SIM_LOOP_READ);
}

static void stream_ready(void *ctx, unsigned int events)
{
	struct stream_link *stream = ctx;

	if (events & SIM_LOOP_WRITE)
		stream_write(stream);
	if ((events & SIM_LOOP_READ) && stream->fd >= 0)
		stream_read(stream);
}

static void stream_accept(void *ctx, unsigned int events)
{
	struct stream_link *stream = ctx;
	int fd = accept4(stream->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	int size = SOCKET_BUFFER;

	(void)events;
	if (fd < 0)
		return;
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)); /* only a wish */
	if (sim_fd_add(stream->link.loop, fd, SIM_LOOP_READ, stream_ready, stream,
		       &stream->watch)) {
		close(fd);
		return;
	}
	stream->fd = fd;
	stream->events = SIM_LOOP_READ;
	stream->link.counters.peers++;
	/* The next one waits in the listen queue. */
	sim_fd_change(stream->listen_watch, 0);
}

/* ---- open and close ---- */

static const struct fabric_port_ops stream_ops = {
	.rx = stream_rx,
	.tx_room = stream_tx_room,
};

static void stream_start(struct fabric_link *link)
{
	struct stream_link *stream = (struct stream_link *)link;

	if (stream->fd < 0)
		sim_fd_change(stream->listen_watch, SIM_LOOP_READ);
}

static void stream_close(struct fabric_link *link)
{
	struct stream_link *stream = (struct stream_link *)link;

	if (stream->fd >= 0) {
		sim_fd_remove(stream->watch);
		close(stream->fd);
	}
	if (stream->flush)
		sim_task_remove(stream->flush);
	if (stream->listen_watch)
		sim_fd_remove(stream->listen_watch);
	if (stream->listen_fd >= 0) {
		close(stream->listen_fd);
		unlink(stream->path);
	}
	free(stream->path);
	free(stream);
}

int fabric_stream_listen(struct sim_loop *loop, const char *path, struct fabric_link **link)
{
	struct stream_link *stream = malloc(sizeof(*stream));
	int err = -ENOMEM;

	if (!stream)
		return -ENOMEM;
	memset(stream, 0, offsetof(struct stream_link, rx));
	stream_decoder_reset(&stream->rx);
	stream->tx.begin = 0;
	stream->tx.end = 0;
	stream->fd = -1;
	stream->listen_fd = -1;
	stream->link.ops = &stream_ops;
	stream->link.close = stream_close;
	stream->link.start = stream_start;
	stream->link.loop = loop;
	stream->path = strdup(path);
	if (!stream->path)
		goto undo_stream;
	err = link_bind(SOCK_STREAM, path, &stream->listen_fd);
	if (err)
		goto undo_stream;
	err = listen(stream->listen_fd, 8) ? -errno : 0;
	if (err)
		goto undo_stream;
	err = sim_task_add(loop, stream_flush, stream, &stream->flush);
	if (err)
		goto undo_stream;
	err = sim_fd_add(loop, stream->listen_fd, 0, stream_accept, stream, &stream->listen_watch);
	if (err)
		goto undo_stream;
	*link = &stream->link;
	return 0;

undo_stream:
	stream_close(&stream->link);
	return err;
}
