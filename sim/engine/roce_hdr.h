/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Fields of the headers that follow Ethernet: where each bit is, and nothing else. One descriptor
 * a field, one reader and one writer for all; knows nothing of packets or frames.
 *
 * All are big endian. A field is a word of 32 bits, counted from the header's begin, and a bit
 * range in it. Byte order and widths are thus stated once, here.
 */
#ifndef ANYNIC_SIM_ENGINE_ROCE_HDR_H
#define ANYNIC_SIM_ENGINE_ROCE_HDR_H

#include <stdint.h>
#include <string.h>

struct roce_field {
	uint8_t word;
	uint8_t high;
	uint8_t low;
};
#define ROCE_FIELD(word, high, low) ((struct roce_field){(word), (high), (low)})

/* BTH (IBTA 9.2). Word 1 bits 29:24 and word 2 bits 30:24 are reserved: sent as zero, ignored. */
#define ROCE_BTH_OPCODE	   ROCE_FIELD(0, 31, 24)
#define ROCE_BTH_SOLICITED ROCE_FIELD(0, 23, 23)
#define ROCE_BTH_MIG_REQ   ROCE_FIELD(0, 22, 22)
#define ROCE_BTH_PAD	   ROCE_FIELD(0, 21, 20)
#define ROCE_BTH_TVER	   ROCE_FIELD(0, 19, 16)
#define ROCE_BTH_PKEY	   ROCE_FIELD(0, 15, 0)
#define ROCE_BTH_FECN	   ROCE_FIELD(1, 31, 31)
#define ROCE_BTH_BECN	   ROCE_FIELD(1, 30, 30)
#define ROCE_BTH_DQPN	   ROCE_FIELD(1, 23, 0)
#define ROCE_BTH_ACK_REQ   ROCE_FIELD(2, 31, 31)
#define ROCE_BTH_PSN	   ROCE_FIELD(2, 23, 0)

/* DETH (IBTA 9.3.3). Word 1 bits 31:24 are reserved. */
#define ROCE_DETH_QKEY	 ROCE_FIELD(0, 31, 0)
#define ROCE_DETH_SRC_QP ROCE_FIELD(1, 23, 0)

/* RETH (IBTA 9.3.4). The address is words 0 and 1. */
#define ROCE_RETH_RKEY	     ROCE_FIELD(2, 31, 0)
#define ROCE_RETH_DMA_LENGTH ROCE_FIELD(3, 31, 0)

/* AtomicETH (IBTA 9.3.5). Address: words 0 and 1; the operands begin at these words. */
#define ROCE_ATOMIC_RKEY ROCE_FIELD(2, 31, 0)
enum { ROCE_ATOMIC_SWAP_ADD_WORD = 3, ROCE_ATOMIC_COMPARE_WORD = 5 };

/* AETH (IBTA 9.3.6). */
#define ROCE_AETH_SYNDROME ROCE_FIELD(0, 31, 24)
#define ROCE_AETH_MSN	   ROCE_FIELD(0, 23, 0)

/* ImmDt (IBTA 9.3.8), IETH (9.3.9): one word. AtomicAckETH (9.3.7): words 0 and 1. */
#define ROCE_IMM_DATA  ROCE_FIELD(0, 31, 0)
#define ROCE_IETH_RKEY ROCE_FIELD(0, 31, 0)

/* Ethernet tag (802.1Q), read as a word from the tag's type on. */
#define ROCE_VLAN_TPID ROCE_FIELD(0, 31, 16)
#define ROCE_VLAN_PCP  ROCE_FIELD(0, 15, 13)
#define ROCE_VLAN_VID  ROCE_FIELD(0, 11, 0)

/* IPv4 (RFC 791). Flags: bit 15 reserved, 14 do not fragment, 13 more fragments. */
#define ROCE_IP4_VERSION       ROCE_FIELD(0, 31, 28)
#define ROCE_IP4_IHL	       ROCE_FIELD(0, 27, 24)
#define ROCE_IP4_TOS	       ROCE_FIELD(0, 23, 16)
#define ROCE_IP4_TOTAL_LENGTH  ROCE_FIELD(0, 15, 0)
#define ROCE_IP4_DONT_FRAGMENT ROCE_FIELD(1, 14, 14)
#define ROCE_IP4_MORE_OFFSET   ROCE_FIELD(1, 13, 0) /* more fragments, fragment offset */
#define ROCE_IP4_TTL	       ROCE_FIELD(2, 31, 24)
#define ROCE_IP4_PROTOCOL      ROCE_FIELD(2, 23, 16)
#define ROCE_IP4_CHECKSUM      ROCE_FIELD(2, 15, 0)

/* IPv6 (RFC 8200) and GRH (IBTA 8.3), which differ in the next header's value alone. */
#define ROCE_IP6_VERSION	ROCE_FIELD(0, 31, 28)
#define ROCE_IP6_TRAFFIC_CLASS	ROCE_FIELD(0, 27, 20)
#define ROCE_IP6_FLOW_LABEL	ROCE_FIELD(0, 19, 0)
#define ROCE_IP6_PAYLOAD_LENGTH ROCE_FIELD(1, 31, 16)
#define ROCE_IP6_NEXT_HEADER	ROCE_FIELD(1, 15, 8)
#define ROCE_IP6_HOP_LIMIT	ROCE_FIELD(1, 7, 0)

/* UDP (RFC 768). */
#define ROCE_UDP_SPORT	  ROCE_FIELD(0, 31, 16)
#define ROCE_UDP_DPORT	  ROCE_FIELD(0, 15, 0)
#define ROCE_UDP_LENGTH	  ROCE_FIELD(1, 31, 16)
#define ROCE_UDP_CHECKSUM ROCE_FIELD(1, 15, 0)

enum {
	ROCE_ETH_BYTES = 14,
	ROCE_VLAN_BYTES = 4,
	ROCE_IP4_BYTES = 20,
	ROCE_IP6_BYTES = 40,
	ROCE_UDP_BYTES = 8,
	ROCE_IP4_SOURCE = 12, /* byte offsets of the addresses */
	ROCE_IP4_DESTINATION = 16,
	ROCE_IP6_SOURCE = 8,
	ROCE_IP6_DESTINATION = 24,
};

enum {
	ROCE_ETHERTYPE_IP4 = 0x0800,
	ROCE_ETHERTYPE_VLAN = 0x8100,
	ROCE_ETHERTYPE_IP6 = 0x86dd,
	ROCE_ETHERTYPE_V1 = 0x8915, /* A16 */
};

enum {
	ROCE_NEXT_UDP = 17,
	ROCE_NEXT_IBA = 27, /* GRH: the BTH follows (IBTA 8.3) */
	ROCE_NEXT_FRAGMENT = 44,
};

static inline uint16_t roce_load16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static inline void roce_store16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static inline uint32_t roce_load32(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static inline void roce_store32(uint8_t *at, uint32_t value)
{
	roce_store16(at, value >> 16);
	roce_store16(at + 2, value);
}

static inline uint64_t roce_load64(const uint8_t *at)
{
	return (uint64_t)roce_load32(at) << 32 | roce_load32(at + 4);
}

static inline void roce_store64(uint8_t *at, uint64_t value)
{
	roce_store32(at, (uint32_t)(value >> 32));
	roce_store32(at + 4, (uint32_t)value);
}

static inline uint32_t roce_field_mask(struct roce_field field)
{
	return UINT32_MAX >> (31 - field.high + field.low);
}

/* The field's value in a header. */
static inline uint32_t roce_get(const uint8_t *header, struct roce_field field)
{
	return roce_load32(header + 4 * field.word) >> field.low & roce_field_mask(field);
}

/* The value, cut to the field's width, at its place in the word. */
static inline uint32_t roce_prep(struct roce_field field, uint32_t value)
{
	return (value & roce_field_mask(field)) << field.low;
}

#endif
