/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Link to a TAP device of the host, which is made if it does not exist. */
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "sim/fabric/fabric_link.h"

static int tap_write(struct packet_link *packet, const void *frame, size_t length)
{
	return write(packet->fd, frame, length) >= 0 ? 0 : -errno;
}

static int tap_attach(const char *ifname, int *out)
{
	struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
	int fd, err;

	if (!*ifname || strlen(ifname) >= sizeof(request.ifr_name))
		return -EINVAL;
	strcpy(request.ifr_name, ifname);
	fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (ioctl(fd, TUNSETIFF, &request)) {
		err = -errno;
		close(fd);
		return err;
	}
	*out = fd;
	return 0;
}

int fabric_tap_open(struct sim_loop *loop, const char *ifname, struct fabric_link **link)
{
	struct packet_link *packet = calloc(1, sizeof(*packet));
	int err;

	if (!packet)
		return -ENOMEM;
	packet->write = tap_write;
	err = tap_attach(ifname, &packet->fd);
	if (err)
		goto undo_packet;
	err = packet_link_start(packet, loop);
	if (err)
		goto undo_fd;
	packet->link.counters.peers = 1;
	*link = &packet->link;
	return 0;

undo_fd:
	close(packet->fd);
undo_packet:
	free(packet);
	return err;
}
