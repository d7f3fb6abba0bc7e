/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What counts as RoCE: headers tagged or not, fragments, extension headers, short frames. */
#include "sim/fabric/fabric_switch.h"
#include "tests/lib/t.h"

#include <stdlib.h>
#include <string.h>

#define ETH "020000000001020000000002"
/* version/IHL, TOS, length, id, flags+offset, TTL, protocol, checksum, addresses; UDP ports. */
#define IPV4                               \
	"45000030000040004011000000000000" \
	"00000000"
#define IPV6                               \
	"6000000000101140"                 \
	"fd090000000000000000000000000001" \
	"fd090000000000000000000000000002"
#define UDP "c00012b700100000"

static const struct {
	const char *name, *hex;
	int roce;
} rows[] = {
	{"v1",
	 ETH "8915"
	     "60",
	 1},
	{"v1, nothing behind", ETH "8915", 1},
	{"v1 tagged",
	 ETH "81000064"
	     "8915",
	 1},
	{"IPv4", ETH "0800" IPV4 UDP, 1},
	{"IPv4 tagged",
	 ETH "81000064"
	     "0800" IPV4 UDP,
	 1},
	{"IPv4 priority tag",
	 ETH "8100e000"
	     "0800" IPV4 UDP,
	 1},
	{"IPv4 tagged twice",
	 ETH "88a80001"
	     "81000064"
	     "0800" IPV4 UDP,
	 1},
	{"IPv4 tagged three times",
	 ETH "81000001"
	     "81000002"
	     "81000003"
	     "0800" IPV4 UDP,
	 0},
	{"IPv4 with options",
	 ETH "0800"
	     "46000034000040004011000000000000"
	     "00000000"
	     "01010101" UDP,
	 1},
	{"IPv4, ports alone", ETH "0800" IPV4 "c00012b7", 1},
	{"IPv4, source port only", ETH "0800" IPV4 "12b7", 0},
	{"IPv4, 4791 as source", ETH "0800" IPV4 "12b7c00000100000", 0},
	{"IPv4, port 4790", ETH "0800" IPV4 "c00012b600100000", 0},
	{"IPv4 TCP",
	 ETH "0800"
	     "45000030000040004006000000000000"
	     "00000000" UDP,
	 0},
	{"IPv4 first fragment",
	 ETH "0800"
	     "45000030000020004011000000000000"
	     "00000000" UDP,
	 1},
	{"IPv4 later fragment",
	 ETH "0800"
	     "45000030000020014011000000000000"
	     "00000000" UDP,
	 0},
	{"IPv4 last fragment",
	 ETH "0800"
	     "45000030000001004011000000000000"
	     "00000000" UDP,
	 0},
	{"IPv4 version 6",
	 ETH "0800"
	     "65000030000040004011000000000000"
	     "00000000" UDP,
	 0},
	{"IPv4 header of 4 words",
	 ETH "0800"
	     "44000030000040004011000000000000"
	     "00000000" UDP,
	 0},
	{"IPv4 header past the end",
	 ETH "0800"
	     "4f000030000040004011000000000000"
	     "00000000" UDP,
	 0},
	{"IPv4 cut in its header",
	 ETH "0800"
	     "4500003000004000401100000000000000",
	 0},
	{"IPv6", ETH "86dd" IPV6 UDP, 1},
	{"IPv6 tagged",
	 ETH "81000064"
	     "86dd" IPV6 UDP,
	 1},
	{"IPv6, another port", ETH "86dd" IPV6 "c00012b500100000", 0},
	{"IPv6 TCP",
	 ETH "86dd"
	     "6000000000100640"
	     "fd090000000000000000000000000001"
	     "fd090000000000000000000000000002" UDP,
	 0},
	{"IPv6 with hop-by-hop",
	 ETH "86dd"
	     "6000000000180040"
	     "fd090000000000000000000000000001"
	     "fd090000000000000000000000000002"
	     "1100000000000000" UDP,
	 0},
	{"IPv6 version 4",
	 ETH "86dd"
	     "4000000000101140"
	     "fd090000000000000000000000000001"
	     "fd090000000000000000000000000002" UDP,
	 0},
	{"IPv6 cut in its header",
	 ETH "86dd"
	     "6000000000101140"
	     "fd09",
	 0},
	{"IPv6 without UDP", ETH "86dd" IPV6, 0},
	{"ARP",
	 ETH "0806"
	     "0001080006040001",
	 0},
	{"802.3 length", ETH "0040" IPV4 UDP, 0},
	{"tag cut", ETH "810000", 0},
	{"tag, no type", ETH "81000064", 0},
	{"addresses only", ETH, 0},
	{"one byte", "02", 0},
	{"nothing", "", 0},
};

static void is_roce(void)
{
	uint8_t frame[256];
	size_t i, length;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		length = t_hex(rows[i].hex, frame, sizeof(frame));
		T_EQ_ROW(rows[i].name, length, strlen(rows[i].hex) / 2);
		T_EQ_ROW(rows[i].name, fabric_frame_is_roce(frame, length), rows[i].roce);
	}
}

/* A cut frame is never read past its end: exact allocations, for valgrind and the sanitizer. */
static void every_prefix(void)
{
	uint8_t frame[256];
	size_t i, length, cut;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		length = t_hex(rows[i].hex, frame, sizeof(frame));
		for (cut = 0; cut <= length; cut++) {
			uint8_t *copy = malloc(cut ? cut : 1);

			memcpy(copy, frame, cut);
			fabric_frame_is_roce(copy, cut);
			free(copy);
		}
	}
}

static void finds_l3(void)
{
	static const struct {
		const char *name, *hex;
		int ok;
		size_t offset;
		uint16_t type;
	} l3_rows[] = {
		{"plain", ETH "0800", 1, 14, 0x0800},
		{"one tag", ETH "8100006486dd", 1, 18, 0x86dd},
		{"two tags", ETH "88a80001810000648915", 1, 22, 0x8915},
		{"short", "0200", 0, 0, 0},
	};
	struct frame_l3 l3;
	uint8_t frame[64];
	size_t i, length;

	for (i = 0; i < sizeof(l3_rows) / sizeof(l3_rows[0]); i++) {
		length = t_hex(l3_rows[i].hex, frame, sizeof(frame));
		T_EQ_ROW(l3_rows[i].name, frame_find_l3(frame, length, &l3), l3_rows[i].ok);
		if (!l3_rows[i].ok)
			continue;
		T_EQ_ROW(l3_rows[i].name, l3.offset, l3_rows[i].offset);
		T_EQ_ROW(l3_rows[i].name, l3.type, l3_rows[i].type);
	}
}

T_MAIN("fabric_parse", T_CASE(is_roce), T_CASE(every_prefix), T_CASE(finds_l3), )
