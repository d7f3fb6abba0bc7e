/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The invariant CRC, against packets that others made and against each bit of them. */
#include "sim/engine/roce_icrc.h"
#include "sim/engine/roce_opcode.h"
#include "tests/golden/roce_packets.h"
#include "tests/lib/t.h"

#include <string.h>

static const struct {
	const char *name;
	const char *hex;
	enum roce_net net;
	size_t bth; /* where the BTH begins */
} packets[] = {
	{"CNP, captured", GOLDEN_CNP_IP4, ROCE_NET_V2_IPV4, 28},
	{"UC SEND ONLY, with UDP checksum", GOLDEN_UC_SEND_ONLY_IP4, ROCE_NET_V2_IPV4, 28},
	{"WRITE ONLY", GOLDEN_WRITE_ONLY_IP4, ROCE_NET_V2_IPV4, 28},
	{"SEND ONLY, IPv4", GOLDEN_SEND_ONLY_IP4, ROCE_NET_V2_IPV4, 28},
	{"SEND ONLY, IPv6", GOLDEN_SEND_ONLY_IP6, ROCE_NET_V2_IPV6, 48},
	{"SEND ONLY, v1", GOLDEN_SEND_ONLY_V1, ROCE_NET_V1, 40},
};
enum { PACKETS = sizeof(packets) / sizeof(packets[0]) };

static bool is_right(const uint8_t *packet, size_t bytes, enum roce_net net, size_t bth)
{
	uint32_t crc = roce_icrc_begin(net, packet);

	crc = roce_icrc_end(crc, packet + bth, bytes - bth - ROCE_ICRC_BYTES);
	return crc == roce_icrc_load(packet + bytes - ROCE_ICRC_BYTES);
}

static void packets_of_others_verify(void)
{
	uint8_t packet[256];
	size_t i, bytes;

	for (i = 0; i < PACKETS; i++) {
		bytes = t_hex(packets[i].hex, packet, sizeof(packet));
		T_TRUE_ROW(packets[i].name,
			   is_right(packet, bytes, packets[i].net, packets[i].bth));
	}
}

/* Bits of a byte that routers may change (A16, A17.5.1), by offset from the network header. */
static uint8_t variant_bits(enum roce_net net, size_t bth, size_t offset)
{
	if (offset == bth + 4)
		return 0xff; /* FECN, BECN, reserved */
	if (net != ROCE_NET_V1 && (offset == bth - 2 || offset == bth - 1))
		return 0xff; /* UDP checksum */
	if (net == ROCE_NET_V2_IPV4)
		return offset == 1 || offset == 8 || offset == 10 || offset == 11 ? 0xff : 0;
	if (offset == 0)
		return 0x0f; /* upper half of the traffic class */
	return (offset >= 1 && offset <= 3) || offset == 7 ? 0xff : 0;
}

static void every_other_bit_counts(void)
{
	uint8_t packet[256];
	size_t i, bytes, bit;
	bool want;

	for (i = 0; i < PACKETS; i++) {
		bytes = t_hex(packets[i].hex, packet, sizeof(packet));
		for (bit = 0; bit < 8 * bytes; bit++) {
			packet[bit / 8] ^= (uint8_t)(1 << bit % 8);
			want = variant_bits(packets[i].net, packets[i].bth, bit / 8) >> bit % 8 & 1;
			if (is_right(packet, bytes, packets[i].net, packets[i].bth) != want)
				t_check(0, __FILE__, __LINE__, "%s: byte %zu bit %zu",
					packets[i].name, bit / 8, bit % 8);
			packet[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
	}
}

static void stored_least_significant_byte_first(void)
{
	static const uint8_t want[4] = {0x20, 0x17, 0x3e, 0xce};
	uint8_t got[4];

	roce_icrc_store(got, 0xce3e1720);
	T_BYTES(got, want, 4);
	T_EQ(roce_icrc_load(got), 0xce3e1720);
}

T_MAIN("roce_icrc", T_CASE(packets_of_others_verify), T_CASE(every_other_bit_counts),
       T_CASE(stored_least_significant_byte_first), )
