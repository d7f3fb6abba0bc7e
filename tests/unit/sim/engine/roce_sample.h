/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Packets and frames for wire tests: sample values for every field, and a second, slow
 * implementation of checksum and ICRC that shares nothing with the engine's.
 */
#ifndef ANYNIC_TESTS_UNIT_SIM_ENGINE_ROCE_SAMPLE_H
#define ANYNIC_TESTS_UNIT_SIM_ENGINE_ROCE_SAMPLE_H

#include "sim/engine/roce_frame.h"

enum { SAMPLE_FRAME_BYTES = 9216 };

struct sample_path {
	const char *name;
	struct roce_path path;
};

/* v1, IPv4, IPv6, each with and without VLAN. */
extern const struct sample_path sample_paths[];
extern const size_t sample_path_count;

/* A packet with a different value in each field that the opcode carries, the rest zero. */
void sample_pkt(struct roce_pkt *pkt, const struct roce_op *op, uint32_t payload_length);

/* Builds pkt with a payload of bytes seed, seed + 1, ... Returns the frame's size. */
size_t sample_frame(const struct roce_path *path, const struct roce_pkt *pkt, uint8_t seed,
		    uint8_t *frame);

/* Puts an Ethernet header before a packet given as hex digits. Returns the frame's size. */
size_t sample_frame_of_hex(const char *hex, uint8_t *frame);

/* Checks that parsing gave what was built; row names the failing case. */
void sample_check(const char *row, const struct roce_pkt *got, const struct roce_pkt *want,
		  const struct roce_path *path);

/* Offset of the network header, and of the BTH, of a well-formed frame. */
size_t sample_l3(const uint8_t *frame);
size_t sample_bth(const uint8_t *frame);

/* Sets IPv4 checksum and ICRC right again after a change; the lengths must be right. */
void sample_fix_checksum(uint8_t *frame);
void sample_fix_icrc(uint8_t *frame);

#endif
