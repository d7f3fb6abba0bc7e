/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * RoCE frames: Ethernet, VLAN, IPv4, IPv6 or GRH, UDP, BTH and extension headers, ICRC. Owns the
 * reading and writing of frames; knows nothing of QPs, memory or time, and keeps no state.
 *
 * A frame begins at the Ethernet destination address and ends before the FCS:
 *
 *	[Ethernet 14][VLAN 4] [IPv4 20 | IPv6 40][UDP 8] [BTH 12][headers] payload pad ICRC  v2
 *	[Ethernet 14][VLAN 4] [GRH 40]                   [BTH 12][headers] payload pad ICRC  v1
 *
 * To receive: roce_frame_parse(). To send:
 *
 *	roce_template_init(&t, &path);             once for a path
 *	size = roce_frame_size(&t, pkt.op, pkt.payload_length);
 *	frame = ... room for size bytes ...
 *	payload = roce_frame_build(&t, &pkt, frame);
 *	... copy pkt.payload_length bytes to payload ...
 *	roce_frame_finish(&t, &pkt, frame);        pad, ICRC, Ethernet padding
 */
#ifndef ANYNIC_SIM_ENGINE_ROCE_FRAME_H
#define ANYNIC_SIM_ENGINE_ROCE_FRAME_H

#include "sim/engine/roce.h"
#include "sim/engine/roce_opcode.h"

enum {
	ROCE_UDP_PORT = 4791,
	ROCE_NO_VLAN = 0xffff,
	ROCE_GRH_BYTES = 40,
	/* Largest size of everything before the payload, and after it (pad and ICRC). */
	ROCE_MAX_HEAD_BYTES = 14 + 4 + 40 + 8 + ROCE_BTH_BYTES + ROCE_MAX_HEADERS_BYTES,
	ROCE_MAX_TAIL_BYTES = 3 + ROCE_ICRC_BYTES,
	/* Ethernet's least frame, without the FCS. */
	ROCE_MIN_FRAME_BYTES = 60,
};

/*
 * Why a packet is dropped. Each has a counter drop_<name in lower case> in struct roce_counters.
 * Those up to PAD are what roce_frame_parse() says; the rest is for those who know QPs.
 */
#define ROCE_DROPS(X)               \
	X(RUNT, runt)               \
	X(NOT_ROCE, not_roce)       \
	X(IP_HEADER, ip_header)     \
	X(IP_CHECKSUM, ip_checksum) \
	X(IP_FRAGMENT, ip_fragment) \
	X(UDP_LENGTH, udp_length)   \
	X(LENGTH, length)           \
	X(BTH_VERSION, bth_version) \
	X(ICRC, icrc)               \
	X(OPCODE, opcode)           \
	X(PAD, pad)                 \
	X(DMAC, dmac)               \
	X(DGID, dgid)               \
	X(VLAN, vlan)               \
	X(QPN, qpn)                 \
	X(QP_STATE, qp_state)       \
	X(QP_TYPE, qp_type)         \
	X(PKEY, pkey)               \
	X(QKEY, qkey)               \
	X(SGID, sgid)               \
	X(NO_RECV, no_recv)         \
	X(PSN, psn)                 \
	X(MTU, mtu)

enum roce_drop {
	ROCE_DROP_NONE,
#define X(name, counter) ROCE_DROP_##name,
	ROCE_DROPS(X)
#undef X
		ROCE_DROP_COUNT
};

/* "icrc"; "none" for ROCE_DROP_NONE. */
const char *roce_drop_name(enum roce_drop drop);
/* Adds one to the counter of the reason; ROCE_DROP_NONE counts nothing. */
void roce_drop_count(struct roce_counters *counters, enum roce_drop drop);

/* Everything below the BTH. IPv4 addresses are IPv4-mapped GIDs. */
struct roce_path {
	uint8_t smac[6];
	uint8_t dmac[6];
	uint16_t vlan; /* VLAN id, ROCE_NO_VLAN: untagged */
	uint8_t pcp;   /* VLAN priority */
	enum roce_net net;
	uint8_t sgid[16];
	uint8_t dgid[16];
	uint8_t traffic_class; /* DSCP << 2 | ECN */
	uint8_t hop_limit;
	uint32_t flow_label; /* 20 bits; not IPv4 */
	uint16_t udp_sport;  /* not v1 */
};

/* The lower two bits of traffic_class (RFC 3168). */
enum roce_ecn { ROCE_ECN_NOT_ECT, ROCE_ECN_ECT1, ROCE_ECN_ECT0, ROCE_ECN_CE, ROCE_ECN_MASK = 3 };

/*
 * A packet in host byte order, as parsed or as to be built. Which of the extension header fields
 * count is said by op->headers; the others are zero after parsing. Pointers point into the frame.
 */
struct roce_pkt {
	const struct roce_op *op;
	/* BTH (IBTA 9.2) */
	bool solicited;
	bool mig_req;
	bool fecn;
	bool becn;
	bool ack_req;
	uint8_t pad;  /* parsed only: building derives it from payload_length */
	uint8_t tver; /* parsed only: 0 */
	uint16_t pkey;
	uint32_t dqpn;
	uint32_t psn;
	/* RETH and AtomicETH share va and rkey: no packet has both */
	uint64_t va;
	uint32_t rkey;
	uint32_t dma_length; /* RETH */
	uint64_t swap_add;   /* AtomicETH */
	uint64_t compare;    /* AtomicETH */
	uint8_t syndrome;    /* AETH */
	uint32_t msn;	     /* AETH */
	uint64_t original;   /* AtomicAckETH */
	uint32_t imm;	     /* ImmDt */
	uint32_t inv_key;    /* IETH */
	uint32_t qkey;	     /* DETH */
	uint32_t src_qp;     /* DETH */

	uint32_t payload_length; /* without pad */
	/* The rest is set by parsing and not read by building. */
	const uint8_t *payload;
	const uint8_t *net_header; /* IPv4 (20 bytes), IPv6 or GRH (40 bytes) */
	struct roce_path path;
};

/*
 * Reads a frame. Returns true and fills pkt, or returns false and says why. Every length is
 * checked against the bytes that are there; bytes after the IP datagram (Ethernet padding) are
 * ignored. The ICRC is checked before anything that it protects is looked at.
 */
bool roce_frame_parse(const void *frame, size_t length, struct roce_pkt *pkt, enum roce_drop *drop);

/*
 * The 40 bytes before the payload of a UD receive: the GRH or IPv6 header, or 20 zero bytes and
 * the IPv4 header (A17.4.5.2, which leaves the first 20 open: zero cannot mislead a reader that
 * looks for an IP version there).
 */
void roce_frame_grh(const struct roce_pkt *pkt, uint8_t grh[ROCE_GRH_BYTES]);

/*
 * Headers of a path, ready to be copied, with what can be computed before the length is known.
 * Opaque but for its size; not const to the builder, since it remembers the last length's CRC.
 */
struct roce_template {
	uint8_t head[14 + 4 + 40 + 8]; /* Ethernet ... UDP; lengths and IPv4 checksum zero */
	uint8_t head_bytes;
	uint8_t l3; /* offset of the network header */
	enum roce_net net;
	uint32_t ip_sum;    /* IPv4: header words summed, without the length */
	uint32_t crc_bytes; /* length for which crc holds: bytes from the BTH to the ICRC's end */
	uint32_t crc;	    /* CRC state up to the BTH */
};

void roce_template_init(struct roce_template *t, const struct roce_path *path);
/* Replaces DSCP and ECN. */
void roce_template_set_traffic_class(struct roce_template *t, uint8_t traffic_class);

/* Bytes of the finished frame; at least ROCE_MIN_FRAME_BYTES. */
size_t roce_frame_size(const struct roce_template *t, const struct roce_op *op,
		       uint32_t payload_length);
/*
 * Writes every header. Returns where the payload goes. Fields wider than their place on the wire
 * are cut. payload_length must be at most 65535 - ROCE_MAX_HEAD_BYTES - ROCE_MAX_TAIL_BYTES and
 * zero where the opcode carries none.
 */
uint8_t *roce_frame_build(struct roce_template *t, const struct roce_pkt *pkt, void *frame);
/* After the payload is in place. pkt as given to roce_frame_build(). */
void roce_frame_finish(struct roce_template *t, const struct roce_pkt *pkt, void *frame);

/* Fills pkt as the CNP that answers a packet marked CE (A17.9.3): BECN set, PSN 0. */
void roce_frame_cnp(struct roce_pkt *pkt, uint32_t dqpn, uint16_t pkey);

/*
 * UDP source port for a flow (A17.9.4: constant for a QP, spread over flows): from the flow label,
 * or, where that is 0, from the two QP numbers. Always in 0xc000..0xffff.
 */
uint16_t roce_udp_sport(uint32_t flow_label, uint32_t local_qpn, uint32_t remote_qpn);

#endif
