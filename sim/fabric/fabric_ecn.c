/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Explicit congestion notification (RFC 3168): when to mark, after RED, and
 * how, in IPv4 and IPv6 headers. Packets that are not ECN-capable pass as
 * they are; only a full buffer drops.
 */
#include "sim/fabric/fabric_switch.h"

#define ETHERTYPE_IPV4 0x0800
#define ETHERTYPE_IPV6 0x86dd
#define ECN_MASK       3u
#define ECN_CE	       3u

/* Chance 0 up to kmin, rising to pmax at kmax, 1 above. */
bool ecn_should_mark(const struct fabric_config *config, uint64_t *random, uint64_t queue_bytes)
{
	uint64_t above, span;

	if (!config->ecn_kmin_bytes || queue_bytes <= config->ecn_kmin_bytes)
		return false;
	if (queue_bytes > config->ecn_kmax_bytes)
		return true;
	above = queue_bytes - config->ecn_kmin_bytes;
	span = config->ecn_kmax_bytes - config->ecn_kmin_bytes;
	return random_below(random, 1000000) < above * config->ecn_pmax_percent * 10000 / span;
}

/* Updates the header checksum for one changed 16-bit word (RFC 1624, equation 3). */
static void checksum_update(uint8_t *checksum, uint16_t from, uint16_t to)
{
	uint32_t sum = (uint16_t) ~(checksum[0] << 8 | checksum[1]);

	sum += (uint16_t)~from + (uint32_t)to;
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~sum;
	checksum[0] = (uint8_t)(sum >> 8);
	checksum[1] = (uint8_t)sum;
}

/* ECT(0) or ECT(1). */
static bool is_markable(unsigned int traffic_class)
{
	return (traffic_class & ECN_MASK) && (traffic_class & ECN_MASK) != ECN_CE;
}

static bool ipv4_mark(uint8_t *ip)
{
	uint16_t from = (uint16_t)(ip[0] << 8 | ip[1]);

	if (ip[0] >> 4 != 4 || !is_markable(ip[1]))
		return false;
	ip[1] |= ECN_CE;
	checksum_update(ip + 10, from, (uint16_t)(from | ECN_CE));
	return true;
}

/* The traffic class lies across the first two bytes: ECN is 5:4 of the second. */
static bool ipv6_mark(uint8_t *ip)
{
	if (ip[0] >> 4 != 6 || !is_markable(ip[1] >> 4))
		return false;
	ip[1] |= ECN_CE << 4;
	return true;
}

bool ecn_mark(uint8_t *frame, size_t length)
{
	struct frame_l3 l3;

	if (!frame_find_l3(frame, length, &l3))
		return false;
	if (l3.type == ETHERTYPE_IPV4 && length >= l3.offset + 20)
		return ipv4_mark(frame + l3.offset);
	if (l3.type == ETHERTYPE_IPV6 && length >= l3.offset + 40)
		return ipv6_mark(frame + l3.offset);
	return false;
}
