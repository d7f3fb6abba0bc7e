/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The invariant CRC. Owns the masks; the CRC itself is libdeflate's. */
#include "sim/engine/roce_icrc.h"

#include "sim/engine/roce_hdr.h"
#include "sim/engine/roce_opcode.h"

#include <libdeflate.h>

/* CRC-32 of eight bytes 0xff. */
#define CRC_OF_LOCAL_HEADER 0x2144df1cu

static void set_ones(uint8_t *header, struct roce_field field)
{
	uint8_t *word = header + 4 * field.word;

	roce_store32(word, roce_load32(word) | roce_prep(field, UINT32_MAX));
}

static void mask_ip4(uint8_t *header)
{
	set_ones(header, ROCE_IP4_TOS);
	set_ones(header, ROCE_IP4_TTL);
	set_ones(header, ROCE_IP4_CHECKSUM);
	set_ones(header + ROCE_IP4_BYTES, ROCE_UDP_CHECKSUM);
}

static void mask_ip6_fields(uint8_t *header)
{
	set_ones(header, ROCE_IP6_TRAFFIC_CLASS);
	set_ones(header, ROCE_IP6_FLOW_LABEL);
	set_ones(header, ROCE_IP6_HOP_LIMIT);
}

static void mask_ip6(uint8_t *header)
{
	mask_ip6_fields(header);
	set_ones(header + ROCE_IP6_BYTES, ROCE_UDP_CHECKSUM);
}

static void mask_grh(uint8_t *header)
{
	mask_ip6_fields(header);
}

static const struct {
	size_t bytes;
	void (*mask)(uint8_t *header);
} nets[] = {
	[ROCE_NET_V1] = {ROCE_IP6_BYTES, mask_grh},
	[ROCE_NET_V2_IPV4] = {ROCE_IP4_BYTES + ROCE_UDP_BYTES, mask_ip4},
	[ROCE_NET_V2_IPV6] = {ROCE_IP6_BYTES + ROCE_UDP_BYTES, mask_ip6},
};

uint32_t roce_icrc_begin(enum roce_net net, const uint8_t *net_header)
{
	uint8_t masked[ROCE_IP6_BYTES + ROCE_UDP_BYTES];

	memcpy(masked, net_header, nets[net].bytes);
	nets[net].mask(masked);
	return libdeflate_crc32(CRC_OF_LOCAL_HEADER, masked, nets[net].bytes);
}

/* FECN, BECN and the six bits after them are one byte, and all variant (A17.5.1). */
uint32_t roce_icrc_end(uint32_t begin, const uint8_t *bth, size_t bytes)
{
	uint8_t masked[ROCE_BTH_BYTES];
	uint32_t crc;

	memcpy(masked, bth, sizeof(masked));
	masked[4] = 0xff;
	crc = libdeflate_crc32(begin, masked, sizeof(masked));
	return libdeflate_crc32(crc, bth + sizeof(masked), bytes - sizeof(masked));
}

uint32_t roce_icrc_load(const uint8_t *at)
{
	return __builtin_bswap32(roce_load32(at));
}

void roce_icrc_store(uint8_t *at, uint32_t crc)
{
	roce_store32(at, __builtin_bswap32(crc));
}
