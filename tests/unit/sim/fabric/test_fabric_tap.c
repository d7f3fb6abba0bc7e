/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* TAP links, on a real device of this host: a packet socket is the far side. Needs root. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/lib/t.h"
#include "tests/unit/sim/fabric/link_peer.h"

#define BROADCAST 0xffffffffffffull
#define PROTOCOL  0x88b5 /* of RIG_OTHER */

static char ifname[16];

/* A packet socket on the device, which is set up. */
static int packet_open(void)
{
	struct sockaddr_ll address = {.sll_family = AF_PACKET, .sll_protocol = htons(PROTOCOL)};
	struct ifreq request = {0};
	int fd = socket(AF_PACKET, SOCK_RAW, htons(PROTOCOL));

	strcpy(request.ifr_name, ifname);
	if (fd < 0 || ioctl(fd, SIOCGIFFLAGS, &request))
		return -1;
	request.ifr_flags |= IFF_UP;
	if (ioctl(fd, SIOCSIFFLAGS, &request) || ioctl(fd, SIOCGIFINDEX, &request))
		return -1;
	address.sll_ifindex = request.ifr_ifindex;
	return bind(fd, (struct sockaddr *)&address, sizeof(address)) ? -1 : fd;
}

/* The host sends frames of its own there (neighbour discovery): look for ours. */
static unsigned int count_length(const struct rig_port *port, uint32_t length)
{
	unsigned int i, count = 0;

	for (i = 0; i < port->count && i < RIG_LOG; i++)
		count += port->log[i].length == length;
	return count;
}

static void both_directions(void)
{
	struct link_rig *rig = link_rig_create();
	uint8_t frame[512];
	unsigned int i;
	ssize_t n = -1;
	int fd;

	T_NEED(!fabric_tap_open(rig->loop, ifname, &rig->link));
	link_rig_join(rig);
	fd = packet_open();
	T_NEED(fd >= 0);
	rig_build(frame, 333, RIG_OTHER, BROADCAST, rig_mac(1));
	T_EQ(send(fd, frame, 333, 0), 333);
	link_rig_settle(rig);
	T_EQ(count_length(&rig->rig->port[0], 333), 1);
	T_TRUE(rig_send_to(rig->rig, 0, BROADCAST, RIG_OTHER, 222, 0));
	link_rig_settle(rig);
	for (i = 0; i < 10 && n != 222; i++)
		n = recv(fd, frame, sizeof(frame), MSG_DONTWAIT);
	T_EQ(n, 222);
	close(fd);
	link_rig_destroy(rig);
}

static const struct t_case cases[] = {T_CASE(both_directions)};

int main(void)
{
	struct fabric_link *link;
	struct sim_loop *loop;
	int err;

	snprintf(ifname, sizeof(ifname), "ant%u", (unsigned int)getpid() % 1000000);
	if (sim_loop_create(true, &loop))
		return 1;
	err = fabric_tap_open(loop, ifname, &link);
	if (!err)
		fabric_link_close(link);
	sim_loop_destroy(loop);
	if (err == -EPERM || err == -EACCES || err == -ENOENT || err == -ENODEV)
		t_skip("TAP devices cannot be made here");
	return t_run("fabric_tap", cases, 1);
}
