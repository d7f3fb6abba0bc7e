/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Reading of frames: what others made, every field; and what is wrong, each for its reason. */
#include "sim/engine/roce_frame.h"
#include "tests/golden/roce_packets.h"
#include "tests/lib/t.h"
#include "tests/unit/sim/engine/roce_sample.h"

#include <stdlib.h>
#include <string.h>

/* Parses a copy that ends where its memory ends, so that reading further is an error. */
static enum roce_drop parse(const uint8_t *frame, size_t bytes, struct roce_pkt *pkt)
{
	uint8_t *copy = malloc(bytes + !bytes);
	enum roce_drop drop;
	bool ok;

	memcpy(copy, frame, bytes);
	ok = roce_frame_parse(copy, bytes, pkt, &drop);
	T_EQ(ok, drop == ROCE_DROP_NONE);
	free(copy);
	return drop;
}

static enum roce_drop drop_of(const uint8_t *frame, size_t bytes)
{
	struct roce_pkt pkt;

	return parse(frame, bytes, &pkt);
}

static void captured_cnp(void)
{
	uint8_t frame[256];
	size_t bytes = sample_frame_of_hex(GOLDEN_CNP_IP4, frame);
	struct roce_pkt pkt;

	T_EQ(parse(frame, bytes, &pkt), ROCE_DROP_NONE);
	T_EQ(pkt.op->code, 0x81);
	T_TRUE(pkt.becn && !pkt.fecn && !pkt.ack_req && !pkt.solicited && !pkt.mig_req);
	T_EQ(pkt.pkey, 0xffff);
	T_EQ(pkt.dqpn, 0x118);
	T_EQ(pkt.psn, 0);
	T_EQ(pkt.payload_length, 0);
	T_EQ(pkt.path.net, ROCE_NET_V2_IPV4);
	T_EQ(pkt.path.traffic_class, 0xc2);
	T_EQ(pkt.path.hop_limit, 64);
	T_EQ(pkt.path.udp_sport, 0);
	T_EQ(pkt.path.vlan, ROCE_NO_VLAN);
}

static void published_uc_send(void)
{
	static const uint8_t want[18] = "F0\x81\x8b\xe2\x89"
					"5\xd9\x0e\x9a\x95PT\x01\xbe\x88^P";
	static const uint8_t gid[16] = {[10] = 0xff, 0xff, 192, 168, 0, 7};
	uint8_t frame[256];
	size_t bytes = sample_frame_of_hex(GOLDEN_UC_SEND_ONLY_IP4, frame);
	struct roce_pkt pkt;
	enum roce_drop drop;

	T_NEED(roce_frame_parse(frame, bytes, &pkt, &drop));
	T_EQ(pkt.op->code, 0x24);
	T_TRUE(pkt.mig_req && !pkt.ack_req);
	T_EQ(pkt.pad, 2);
	T_EQ(pkt.dqpn, 211);
	T_EQ(pkt.psn, 13571856);
	T_EQ(pkt.payload_length, 18);
	T_BYTES(pkt.payload, want, 18);
	T_EQ(pkt.path.traffic_class, 1);
	T_EQ(pkt.path.udp_sport, 49152);
	T_BYTES(pkt.path.sgid, gid, 16);
	T_BYTES(pkt.path.dgid, gid, 16);
}

static void published_write(void)
{
	uint8_t frame[256];
	size_t bytes = sample_frame_of_hex(GOLDEN_WRITE_ONLY_IP4, frame);
	struct roce_pkt pkt;
	enum roce_drop drop;

	T_NEED(roce_frame_parse(frame, bytes, &pkt, &drop));
	T_EQ(pkt.op->code, 0x0a);
	T_TRUE(pkt.solicited && pkt.ack_req);
	T_EQ(pkt.pkey, 0);
	T_EQ(pkt.dqpn, 2);
	T_EQ(pkt.va, 0x7f7e91000000);
	T_EQ(pkt.rkey, 0x01709a33);
	T_EQ(pkt.dma_length, 128);
	T_EQ(pkt.payload_length, 128);
	T_EQ(pkt.payload[127], 0xff);
}

/* What is delivered is 5 bytes: neither pad nor ICRC counts. */
static void payload_is_without_pad_and_icrc(void)
{
	static const char *const packets[] = {GOLDEN_SEND_ONLY_IP4, GOLDEN_SEND_ONLY_IP6,
					      GOLDEN_SEND_ONLY_V1};
	static const enum roce_net nets[] = {ROCE_NET_V2_IPV4, ROCE_NET_V2_IPV6, ROCE_NET_V1};
	uint8_t frame[256];
	struct roce_pkt pkt;
	enum roce_drop drop;
	size_t i, bytes;

	for (i = 0; i < 3; i++) {
		bytes = sample_frame_of_hex(packets[i], frame);
		T_NEED(roce_frame_parse(frame, bytes, &pkt, &drop));
		T_EQ(pkt.path.net, nets[i]);
		T_EQ(pkt.psn, 0xffffff);
		T_EQ(pkt.payload_length, 5);
		T_BYTES(pkt.payload, "hello", 5);
	}
}

/* Switches add bytes to short frames; they are no part of the packet. */
static void ethernet_padding_is_ignored(void)
{
	uint8_t frame[512];
	size_t i, bytes;
	struct roce_pkt pkt;

	for (i = 0; i < sample_path_count; i++) {
		sample_pkt(&pkt, roce_op_find(ROCE_OP_RC_SEND_ONLY), 0);
		bytes = sample_frame(&sample_paths[i].path, &pkt, 0, frame);
		memset(frame + bytes, 0xa5, 100);
		T_EQ_ROW(sample_paths[i].name, drop_of(frame, bytes + 100), ROCE_DROP_NONE);
	}
}

/* A tag with id 0 says a priority and no VLAN. */
static void priority_tag_is_no_vlan(void)
{
	struct roce_path path = sample_paths[3].path;
	uint8_t frame[256];
	struct roce_pkt pkt;
	size_t bytes;

	sample_pkt(&pkt, roce_op_find(ROCE_OP_RC_SEND_ONLY), 8);
	path.vlan = 0;
	bytes = sample_frame(&path, &pkt, 0, frame);
	T_EQ(parse(frame, bytes, &pkt), ROCE_DROP_NONE);
	T_EQ(pkt.path.vlan, ROCE_NO_VLAN);
	T_EQ(pkt.path.pcp, 3);
}

/* No beginning of a frame passes for a frame, and none is read past its end. */
static void cut_frames_are_dropped(void)
{
	uint8_t frame[SAMPLE_FRAME_BYTES];
	struct roce_pkt pkt;
	size_t i, bytes, cut;
	unsigned int code;

	for (i = 0; i < sample_path_count; i++)
		for (code = 0; code < 256; code++) {
			if (!roce_op_find((uint8_t)code))
				continue;
			sample_pkt(&pkt, roce_op_find((uint8_t)code), 0);
			bytes = sample_frame(&sample_paths[i].path, &pkt, 0, frame);
			bytes = sample_bth(frame) + pkt.op->length + ROCE_ICRC_BYTES;
			for (cut = 0; cut < bytes; cut++)
				if (drop_of(frame, cut) == ROCE_DROP_NONE)
					t_check(0, __FILE__, __LINE__, "%s %s cut at %zu",
						sample_paths[i].name, pkt.op->name, cut);
		}
}

/*
 * Every bit of a frame turned over, with the IPv4 checksum put right again: only what is not
 * protected by the ICRC may pass, and then what was sent arrives.
 */
static void one_wrong_bit_is_never_delivered(void)
{
	uint8_t frame[256];
	struct roce_pkt pkt;
	size_t i, bytes, bit, l3, bth;
	enum roce_drop drop;

	for (i = 0; i < sample_path_count; i++) {
		sample_pkt(&pkt, roce_op_find(ROCE_OP_RC_WRITE_ONLY), 5);
		bytes = sample_frame(&sample_paths[i].path, &pkt, 7, frame);
		l3 = sample_l3(frame);
		bth = sample_bth(frame);
		for (bit = 8 * l3; bit < 8 * bytes; bit++) {
			frame[bit / 8] ^= (uint8_t)(1 << bit % 8);
			if (sample_paths[i].path.net == ROCE_NET_V2_IPV4)
				sample_fix_checksum(frame);
			drop = drop_of(frame, bytes);
			if (drop == ROCE_DROP_NONE && bit / 8 != bth + 4 && bit / 8 >= bth)
				t_check(0, __FILE__, __LINE__, "%s: byte %zu bit %zu passed",
					sample_paths[i].name, bit / 8, bit % 8);
			frame[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
	}
}

enum fix { FIX_NONE, FIX_CHECKSUM = 1, FIX_ICRC = 2, FIX_BOTH = 3 };

/*
 * A good frame, then one change: `xor` at an offset from the network header (from the BTH, where
 * marked), then what a correct sender would have computed over it. `bytes` cuts or lengthens it.
 */
struct mutation {
	const char *name;
	size_t path; /* of sample_paths */
	enum roce_opcode code;
	uint32_t payload;
	bool from_bth;
	size_t offset;
	uint8_t xor ;
	enum fix fix;
	enum roce_drop want;
};

static const struct mutation mutations[] = {
	{"IPv4 as it was", 2, ROCE_OP_RC_SEND_ONLY, 5, 0, 0, 0, FIX_NONE, ROCE_DROP_NONE},
	{"IPv4 version", 2, ROCE_OP_RC_SEND_ONLY, 5, 0, 0, 0x20, FIX_CHECKSUM, ROCE_DROP_IP_HEADER},
	{"IPv4 header too short", 2, ROCE_OP_RC_SEND_ONLY, 5, 0, 0, 0x01, FIX_CHECKSUM,
	 ROCE_DROP_IP_HEADER},
	{"IPv4 with options", 2, ROCE_OP_RC_SEND_ONLY, 5, 0, 0, 0x03, FIX_CHECKSUM,
	 ROCE_DROP_IP_HEADER},
	{"IPv4 total length too long", 2, ROCE_OP_RC_SEND_ONLY, 5, 0, 2, 0x80, FIX_CHECKSUM,
	 ROCE_DROP_IP_HEADER},
	{"IPv4 total length 0x14 (no UDP)", 2, ROCE_OP_RC_SEND_ONLY, 5, 0, 3, 0x34 ^ 0x14,
	 FIX_CHECKSUM, ROCE_DROP_UDP_LENGTH},
	{"IPv4 total length below the header", 2, ROCE_OP_RC_SEND_ONLY, 5, 0, 3, 0x34 ^ 0x13,
	 FIX_CHECKSUM, ROCE_DROP_IP_HEADER},
	{"IPv4 checksum", 2, ROCE_OP_RC_SEND_ONLY, 5, 0, 10, 0x01, FIX_NONE, ROCE_DROP_IP_CHECKSUM},
	{"IPv4 more fragments", 2, ROCE_OP_RC_SEND_ONLY, 5, 0, 6, 0x20, FIX_BOTH,
	 ROCE_DROP_IP_FRAGMENT},
	{"IPv4 fragment offset", 2, ROCE_OP_RC_SEND_ONLY, 5, 0, 7, 0x01, FIX_BOTH,
	 ROCE_DROP_IP_FRAGMENT},
	{"IPv4 may be fragmented", 2, ROCE_OP_RC_SEND_ONLY, 5, 0, 6, 0x40, FIX_BOTH,
	 ROCE_DROP_NONE},
	{"IPv4 TCP", 2, ROCE_OP_RC_SEND_ONLY, 5, 0, 9, 17 ^ 6, FIX_BOTH, ROCE_DROP_NOT_ROCE},
	{"IPv4 TTL", 2, ROCE_OP_RC_SEND_ONLY, 5, 0, 8, 64 ^ 61, FIX_CHECKSUM, ROCE_DROP_NONE},
	{"IPv4 ECN CE", 2, ROCE_OP_RC_SEND_ONLY, 5, 0, 1, 1, FIX_CHECKSUM, ROCE_DROP_NONE},
	{"IPv4 identification", 2, ROCE_OP_RC_SEND_ONLY, 5, 0, 4, 1, FIX_CHECKSUM, ROCE_DROP_ICRC},
	{"UDP other port", 2, ROCE_OP_RC_SEND_ONLY, 5, 0, 23, 1, FIX_ICRC, ROCE_DROP_NOT_ROCE},
	{"UDP longer than IP", 2, ROCE_OP_RC_SEND_ONLY, 5, 0, 25, 0x04, FIX_ICRC,
	 ROCE_DROP_UDP_LENGTH},
	{"UDP shorter than IP", 2, ROCE_OP_RC_SEND_ONLY, 5, 0, 25, 0x20, FIX_ICRC,
	 ROCE_DROP_UDP_LENGTH},
	{"UDP checksum", 2, ROCE_OP_RC_SEND_ONLY, 5, 0, 26, 0x5a, FIX_NONE, ROCE_DROP_NONE},
	{"UDP source port", 2, ROCE_OP_RC_SEND_ONLY, 5, 0, 21, 0x01, FIX_NONE, ROCE_DROP_ICRC},
	{"IPv6 as it was", 4, ROCE_OP_RC_SEND_ONLY, 5, 0, 0, 0, FIX_NONE, ROCE_DROP_NONE},
	{"IPv6 version", 4, ROCE_OP_RC_SEND_ONLY, 5, 0, 0, 0x20, FIX_NONE, ROCE_DROP_IP_HEADER},
	{"IPv6 payload length", 4, ROCE_OP_RC_SEND_ONLY, 5, 0, 4, 0x80, FIX_NONE,
	 ROCE_DROP_IP_HEADER},
	{"IPv6 payload length 0", 4, ROCE_OP_RC_SEND_ONLY, 5, 0, 5, 0x20, FIX_NONE,
	 ROCE_DROP_UDP_LENGTH},
	{"IPv6 fragment header", 4, ROCE_OP_RC_SEND_ONLY, 5, 0, 6, 17 ^ 44, FIX_ICRC,
	 ROCE_DROP_IP_FRAGMENT},
	{"IPv6 hop-by-hop header", 4, ROCE_OP_RC_SEND_ONLY, 5, 0, 6, 17, FIX_ICRC,
	 ROCE_DROP_NOT_ROCE},
	{"IPv6 flow label", 4, ROCE_OP_RC_SEND_ONLY, 5, 0, 3, 0xff, FIX_NONE, ROCE_DROP_NONE},
	{"IPv6 address", 4, ROCE_OP_RC_SEND_ONLY, 5, 0, 8, 0x01, FIX_NONE, ROCE_DROP_ICRC},
	{"v1 as it was", 0, ROCE_OP_RC_SEND_ONLY, 5, 0, 0, 0, FIX_NONE, ROCE_DROP_NONE},
	{"GRH version", 0, ROCE_OP_RC_SEND_ONLY, 5, 0, 0, 0x10, FIX_ICRC, ROCE_DROP_IP_HEADER},
	{"GRH next header UDP", 0, ROCE_OP_RC_SEND_ONLY, 5, 0, 6, 27 ^ 17, FIX_ICRC,
	 ROCE_DROP_NOT_ROCE},
	{"GRH payload too long", 0, ROCE_OP_RC_SEND_ONLY, 5, 0, 4, 0x01, FIX_NONE,
	 ROCE_DROP_IP_HEADER},
	{"GRH payload below BTH and ICRC", 0, ROCE_OP_RC_SEND_ONLY, 5, 0, 5, 24 ^ 12, FIX_NONE,
	 ROCE_DROP_LENGTH},
	{"GRH payload no whole words", 0, ROCE_OP_RC_SEND_ONLY, 5, 0, 5, 24 ^ 22, FIX_NONE,
	 ROCE_DROP_LENGTH},
	{"ICRC", 2, ROCE_OP_RC_SEND_ONLY, 8, 1, 20, 0x01, FIX_NONE, ROCE_DROP_ICRC},
	{"DQPN", 2, ROCE_OP_RC_SEND_ONLY, 5, 1, 7, 0x80, FIX_NONE, ROCE_DROP_ICRC},
	{"PSN", 2, ROCE_OP_RC_SEND_ONLY, 5, 1, 11, 0x01, FIX_NONE, ROCE_DROP_ICRC},
	{"P_Key", 2, ROCE_OP_RC_SEND_ONLY, 5, 1, 2, 0x80, FIX_NONE, ROCE_DROP_ICRC},
	{"pad byte", 2, ROCE_OP_RC_SEND_ONLY, 5, 1, 19, 0x01, FIX_NONE, ROCE_DROP_ICRC},
	{"FECN", 2, ROCE_OP_RC_SEND_ONLY, 5, 1, 4, 0x80, FIX_NONE, ROCE_DROP_NONE},
	{"BECN", 2, ROCE_OP_RC_SEND_ONLY, 5, 1, 4, 0x40, FIX_NONE, ROCE_DROP_NONE},
	{"BTH version", 2, ROCE_OP_RC_SEND_ONLY, 5, 1, 1, 0x01, FIX_ICRC, ROCE_DROP_BTH_VERSION},
	{"unknown opcode", 2, ROCE_OP_RC_SEND_ONLY, 5, 1, 0, 0x1c, FIX_ICRC, ROCE_DROP_OPCODE},
	{"reserved opcode 0x15", 2, ROCE_OP_RC_SEND_ONLY, 5, 1, 0, 0x04 ^ 0x15, FIX_ICRC,
	 ROCE_DROP_OPCODE},
	{"RD opcode", 2, ROCE_OP_RC_SEND_ONLY, 5, 1, 0, 0x40, FIX_ICRC, ROCE_DROP_OPCODE},
	{"manufacturer's opcode", 2, ROCE_OP_RC_SEND_ONLY, 5, 1, 0, 0xc4, FIX_ICRC,
	 ROCE_DROP_OPCODE},
	{"no room for the RETH", 2, ROCE_OP_RC_SEND_ONLY, 12, 1, 0, 0x04 ^ 0x0a, FIX_ICRC,
	 ROCE_DROP_LENGTH},
	{"no room for the AtomicETH", 2, ROCE_OP_RC_SEND_ONLY, 24, 1, 0, 0x04 ^ 0x13, FIX_ICRC,
	 ROCE_DROP_LENGTH},
	{"room for the AtomicETH", 2, ROCE_OP_RC_SEND_ONLY, 28, 1, 0, 0x04 ^ 0x13, FIX_ICRC,
	 ROCE_DROP_NONE},
	{"payload in a READ request", 2, ROCE_OP_RC_WRITE_ONLY, 4, 1, 0, 0x0a ^ 0x0c, FIX_ICRC,
	 ROCE_DROP_LENGTH},
	{"payload in an ACK", 2, ROCE_OP_RC_SEND_ONLY, 8, 1, 0, 0x04 ^ 0x11, FIX_ICRC,
	 ROCE_DROP_LENGTH},
	{"short CNP", 2, ROCE_OP_RC_SEND_ONLY, 12, 1, 0, 0x04 ^ 0x81, FIX_ICRC, ROCE_DROP_LENGTH},
	{"pad without payload", 2, ROCE_OP_RC_SEND_ONLY, 0, 1, 1, 0x10, FIX_ICRC, ROCE_DROP_PAD},
	{"pad in a READ request", 2, ROCE_OP_RC_READ_REQUEST, 0, 1, 1, 0x30, FIX_ICRC,
	 ROCE_DROP_PAD},
	{"all but one byte pad", 2, ROCE_OP_RC_SEND_ONLY, 4, 1, 1, 0x30, FIX_ICRC, ROCE_DROP_NONE},
	{"reserved bits of BTH", 2, ROCE_OP_RC_SEND_ONLY, 4, 1, 8, 0x7f, FIX_ICRC, ROCE_DROP_NONE},
};

static void each_fault_has_its_reason(void)
{
	const struct mutation *m;
	uint8_t frame[SAMPLE_FRAME_BYTES];
	struct roce_pkt pkt;
	size_t i, bytes, base;

	for (i = 0; i < sizeof(mutations) / sizeof(mutations[0]); i++) {
		m = &mutations[i];
		sample_pkt(&pkt, roce_op_find((uint8_t)m->code), m->payload);
		bytes = sample_frame(&sample_paths[m->path].path, &pkt, 1, frame);
		base = m->from_bth ? sample_bth(frame) : sample_l3(frame);
		frame[base + m->offset] ^= m->xor ;
		if (m->fix & FIX_CHECKSUM)
			sample_fix_checksum(frame);
		if (m->fix & FIX_ICRC)
			sample_fix_icrc(frame);
		T_EQ_ROW(m->name, drop_of(frame, bytes), m->want);
	}
}

static void other_traffic_is_not_roce(void)
{
	static const struct {
		const char *name;
		const char *hex; /* from the Ethernet type on */
		enum roce_drop want;
	} rows[] = {
		{"ARP",
		 "0806"
		 "0001080006040001",
		 ROCE_DROP_NOT_ROCE},
		{"ARP in a VLAN",
		 "8100000a"
		 "0806"
		 "0001080006040001",
		 ROCE_DROP_NOT_ROCE},
		{"two tags",
		 "8100000a"
		 "8100000b"
		 "08004500",
		 ROCE_DROP_NOT_ROCE},
		{"length field",
		 "0026"
		 "424203",
		 ROCE_DROP_NOT_ROCE},
		{"tag cut", "8100000a08", ROCE_DROP_RUNT},
		{"type cut", "08", ROCE_DROP_RUNT},
		{"IPv4 header cut",
		 "0800"
		 "450000140000000040110000",
		 ROCE_DROP_RUNT},
		{"IPv6 header cut",
		 "86dd"
		 "600000000000114000000000",
		 ROCE_DROP_RUNT},
		{"IGMP with router alert",
		 "0800"
		 "46c00020000040000102420c0a000001e0000016"
		 "940400002200f9010000",
		 ROCE_DROP_NOT_ROCE},
	};
	uint8_t frame[256] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2};
	size_t i, bytes;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bytes = t_hex(rows[i].hex, frame + 12, sizeof(frame) - 12);
		T_EQ_ROW(rows[i].name, drop_of(frame, 12 + bytes), rows[i].want);
	}
	T_EQ(drop_of(frame, 0), ROCE_DROP_RUNT);
	T_EQ(drop_of(frame, 13), ROCE_DROP_RUNT);
}

T_MAIN("roce_frame_parse", T_CASE(captured_cnp), T_CASE(published_uc_send), T_CASE(published_write),
       T_CASE(payload_is_without_pad_and_icrc), T_CASE(ethernet_padding_is_ignored),
       T_CASE(priority_tag_is_no_vlan), T_CASE(cut_frames_are_dropped),
       T_CASE(one_wrong_bit_is_never_delivered), T_CASE(each_fault_has_its_reason),
       T_CASE(other_traffic_is_not_roce), )
