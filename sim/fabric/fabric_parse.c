/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * As much of a frame as a switch looks at: VLAN tags, ethertype, and whether
 * it is RoCE. Pure functions over hostile bytes.
 */
#include "sim/fabric/fabric_switch.h"

#define ETHERTYPE_IPV4	0x0800
#define ETHERTYPE_IPV6	0x86dd
#define ETHERTYPE_ROCE	0x8915
#define ETHERTYPE_VLAN	0x8100
#define ETHERTYPE_QINQ	0x88a8
#define IP_PROTOCOL_UDP 17
#define UDP_PORT_ROCE	4791

static uint16_t load_be16(const uint8_t *bytes)
{
	return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

/* At most two tags: a customer's within a provider's (802.1ad). */
bool frame_find_l3(const uint8_t *frame, size_t length, struct frame_l3 *l3)
{
	unsigned int tags;

	l3->offset = FABRIC_FRAME_MIN;
	if (length < l3->offset)
		return false;
	l3->type = load_be16(frame + 12);
	for (tags = 0; tags < 2; tags++) {
		if (l3->type != ETHERTYPE_VLAN && l3->type != ETHERTYPE_QINQ)
			break;
		if (length < l3->offset + 4)
			return false;
		l3->type = load_be16(frame + l3->offset + 2);
		l3->offset += 4;
	}
	return true;
}

static bool udp_is_roce(const uint8_t *udp, size_t length)
{
	return length >= 4 && load_be16(udp + 2) == UDP_PORT_ROCE;
}

/* Only a packet's first fragment has ports. RoCE is never fragmented (IBTA annex A17), but refusing
 * it is the receiver's business. */
static bool ipv4_is_roce(const uint8_t *ip, size_t length)
{
	size_t header;

	if (length < 20 || ip[0] >> 4 != 4 || ip[9] != IP_PROTOCOL_UDP)
		return false;
	if (load_be16(ip + 6) & 0x1fff)
		return false;
	header = (size_t)(ip[0] & 15) * 4;
	if (header < 20 || header > length)
		return false;
	return udp_is_roce(ip + header, length - header);
}

/* No extension header stands before the UDP header of RoCE. */
static bool ipv6_is_roce(const uint8_t *ip, size_t length)
{
	if (length < 40 || ip[0] >> 4 != 6 || ip[6] != IP_PROTOCOL_UDP)
		return false;
	return udp_is_roce(ip + 40, length - 40);
}

bool fabric_frame_is_roce(const void *frame, size_t length)
{
	const uint8_t *bytes = frame;
	struct frame_l3 l3;

	if (!frame_find_l3(bytes, length, &l3))
		return false;
	switch (l3.type) {
	case ETHERTYPE_ROCE:
		return true;
	case ETHERTYPE_IPV4:
		return ipv4_is_roce(bytes + l3.offset, length - l3.offset);
	case ETHERTYPE_IPV6:
		return ipv6_is_roce(bytes + l3.offset, length - l3.offset);
	default:
		return false;
	}
}
