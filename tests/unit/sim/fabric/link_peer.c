/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The far side of a link, for tests of links. */
#include "tests/unit/sim/fabric/link_peer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct link_rig *link_rig_create(void)
{
	struct link_rig *rig = calloc(1, sizeof(*rig));

	if (!rig || sim_loop_create(true, &rig->loop))
		abort();
	strcpy(rig->dir, "/tmp/anynic-link-XXXXXX");
	if (!mkdtemp(rig->dir))
		abort();
	snprintf(rig->path, sizeof(rig->path), "%s/switch", rig->dir);
	snprintf(rig->peer, sizeof(rig->peer), "%s/peer", rig->dir);
	rig->rig = rig_create(NULL, 1);
	if (fabric_attach_loop(rig->rig->fabric, rig->loop))
		abort();
	return rig;
}

void link_rig_join(struct link_rig *rig)
{
	struct rig_port *port = &rig->rig->port[1];

	if (fabric_port_add(rig->rig->fabric, "link", fabric_link_ops(rig->link), rig->link,
			    &port->port))
		abort();
	fabric_link_set_port(rig->link, port->port);
}

void link_rig_destroy(struct link_rig *rig)
{
	if (rig->rig->port[1].port)
		fabric_port_remove(rig->rig->port[1].port);
	fabric_link_close(rig->link);
	rig_destroy(rig->rig);
	sim_loop_destroy(rig->loop);
	unlink(rig->peer);
	rmdir(rig->dir);
	free(rig);
}

void link_rig_settle(struct link_rig *rig)
{
	unsigned int i;

	for (i = 0; i < 20; i++)
		sim_loop_advance(rig->loop, 1);
	rig->rig->now = sim_loop_now(rig->loop);
}

/* The frame at `fd` as far as it has come, its head included. */
static struct partial {
	size_t have;
	uint8_t bytes[4 + FABRIC_FRAME_MAX];
} partials[64];

int stream_connect(const struct link_rig *rig)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strcpy(address.sun_path, rig->path);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address))) {
		close(fd);
		fd = -errno;
	}
	if (fd >= (int)(sizeof(partials) / sizeof(partials[0])))
		abort();
	if (fd >= 0)
		partials[fd].have = 0;
	return fd;
}

void stream_put(int fd, const void *frame, size_t length)
{
	uint8_t head[4] = {0, (uint8_t)(length >> 16), (uint8_t)(length >> 8), (uint8_t)length};

	if (send(fd, head, 4, MSG_NOSIGNAL) != 4 ||
	    send(fd, frame, length, MSG_NOSIGNAL) != (ssize_t)length)
		abort();
}

/* As much of the frame as there is: waiting for the rest would stop the switch, and leaving it in
 * the socket would keep that full. */
int stream_get(int fd, void *frame, size_t room)
{
	struct partial *partial = &partials[fd];
	const uint8_t *head = partial->bytes;
	size_t want = 4;
	ssize_t n;

	for (;;) {
		if (partial->have >= 4)
			want = 4 + ((size_t)head[1] << 16 | (size_t)head[2] << 8 | head[3]);
		if (want > sizeof(partial->bytes) || want > room + 4 || head[0])
			return -EMSGSIZE;
		if (partial->have == want)
			break;
		n = recv(fd, partial->bytes + partial->have, want - partial->have, MSG_DONTWAIT);
		if (n <= 0)
			return n ? -errno : -EPIPE;
		partial->have += (size_t)n;
	}
	memcpy(frame, head + 4, want - 4);
	partial->have = 0;
	return (int)want - 4;
}
