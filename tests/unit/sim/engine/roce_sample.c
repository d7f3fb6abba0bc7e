/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Packets and frames for wire tests. Shares no code with the engine's wire but its interface. */
#include "tests/unit/sim/engine/roce_sample.h"

#include "tests/lib/t.h"

#include <string.h>

#define MACS \
	.smac = {0x02, 0x11, 0x22, 0x33, 0x44, 0x55}, .dmac = {0x02, 0xaa, 0xbb, 0xcc, 0xdd, 0xee}
#define IP6_GIDS                                                                             \
	.sgid = {0xfd, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},                   \
	.dgid = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0xaa, 0xbb, 0xff, 0xfe, 0xcc, 0xdd, 0xee}, \
	.flow_label = 0xabcde
#define IP4_GIDS                                                         \
	.sgid = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 1, 2, 3}, \
	.dgid = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 168, 200, 250}

const struct sample_path sample_paths[] = {
	{"v1", {MACS, IP6_GIDS, .net = ROCE_NET_V1, .vlan = ROCE_NO_VLAN, .hop_limit = 1}},
	{"v1 vlan",
	 {MACS, IP6_GIDS, .net = ROCE_NET_V1, .vlan = 4094, .pcp = 7, .traffic_class = 0xff}},
	{"ip4",
	 {MACS, IP4_GIDS, .net = ROCE_NET_V2_IPV4, .vlan = ROCE_NO_VLAN, .traffic_class = 0x6a,
	  .hop_limit = 64, .udp_sport = 0xc123}},
	{"ip4 vlan",
	 {MACS, IP4_GIDS, .net = ROCE_NET_V2_IPV4, .vlan = 1, .pcp = 3, .hop_limit = 255,
	  .udp_sport = 0xffff}},
	{"ip6",
	 {MACS, IP6_GIDS, .net = ROCE_NET_V2_IPV6, .vlan = ROCE_NO_VLAN, .traffic_class = 0x6a,
	  .hop_limit = 64, .udp_sport = 0xc000}},
	{"ip6 vlan",
	 {MACS, IP6_GIDS, .net = ROCE_NET_V2_IPV6, .vlan = 0xabc, .pcp = 5, .hop_limit = 2,
	  .udp_sport = 1}},
};
const size_t sample_path_count = sizeof(sample_paths) / sizeof(sample_paths[0]);

void sample_pkt(struct roce_pkt *pkt, const struct roce_op *op, uint32_t payload_length)
{
	memset(pkt, 0, sizeof(*pkt));
	pkt->op = op;
	pkt->solicited = roce_op_ends(op);
	pkt->ack_req = roce_op_is_request(op);
	pkt->becn = op->kind == ROCE_KIND_CNP;
	pkt->pkey = 0x8123;
	pkt->dqpn = 0xabcdef;
	pkt->psn = 0xfedcba;
	pkt->payload_length = payload_length;
	if (roce_op_has(op, ROCE_HDR_RETH) || roce_op_has(op, ROCE_HDR_ATOMIC_ETH)) {
		pkt->va = 0x0102030405060708;
		pkt->rkey = 0x11121314;
	}
	if (roce_op_has(op, ROCE_HDR_RETH))
		pkt->dma_length = 0x81828384;
	if (roce_op_has(op, ROCE_HDR_ATOMIC_ETH)) {
		pkt->swap_add = 0x2122232425262728;
		pkt->compare = 0x3132333435363738;
	}
	if (roce_op_has(op, ROCE_HDR_AETH)) {
		pkt->syndrome = 0x1f;
		pkt->msn = 0x414243;
	}
	if (roce_op_has(op, ROCE_HDR_ATOMIC_ACK_ETH))
		pkt->original = 0x5152535455565758;
	if (roce_op_has(op, ROCE_HDR_IMM))
		pkt->imm = 0x61626364;
	if (roce_op_has(op, ROCE_HDR_IETH))
		pkt->inv_key = 0x71727374;
	if (roce_op_has(op, ROCE_HDR_DETH)) {
		pkt->qkey = 0x80010000;
		pkt->src_qp = 0x919293;
	}
}

size_t sample_frame(const struct roce_path *path, const struct roce_pkt *pkt, uint8_t seed,
		    uint8_t *frame)
{
	struct roce_template t;
	uint8_t *payload;
	uint32_t i;

	roce_template_init(&t, path);
	payload = roce_frame_build(&t, pkt, frame);
	for (i = 0; i < pkt->payload_length; i++)
		payload[i] = (uint8_t)(seed + i);
	roce_frame_finish(&t, pkt, frame);
	return roce_frame_size(&t, pkt->op, pkt->payload_length);
}

size_t sample_frame_of_hex(const char *hex, uint8_t *frame)
{
	static const uint8_t addresses[12] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2};
	size_t bytes = t_hex(hex, frame + 14, SAMPLE_FRAME_BYTES - 14);
	uint16_t type = 0x0800;

	if (frame[14] >> 4 == 6)
		type = frame[14 + 6] == 27 ? 0x8915 : 0x86dd;
	memcpy(frame, addresses, sizeof(addresses));
	frame[12] = (uint8_t)(type >> 8);
	frame[13] = (uint8_t)type;
	return 14 + bytes;
}

static void check_path(const char *row, const struct roce_path *got, const struct roce_path *want)
{
	T_BYTES_ROW(row, got->smac, want->smac, 6);
	T_BYTES_ROW(row, got->dmac, want->dmac, 6);
	T_BYTES_ROW(row, got->sgid, want->sgid, 16);
	T_BYTES_ROW(row, got->dgid, want->dgid, 16);
	T_EQ_ROW(row, got->vlan, want->vlan);
	T_EQ_ROW(row, got->pcp, want->pcp);
	T_EQ_ROW(row, got->net, want->net);
	T_EQ_ROW(row, got->traffic_class, want->traffic_class);
	T_EQ_ROW(row, got->hop_limit, want->hop_limit);
	T_EQ_ROW(row, got->flow_label, want->flow_label);
	T_EQ_ROW(row, got->udp_sport, want->udp_sport);
}

static void check_bth(const char *row, const struct roce_pkt *got, const struct roce_pkt *want)
{
	T_TRUE_ROW(row, got->op == want->op);
	T_EQ_ROW(row, got->solicited, want->solicited);
	T_EQ_ROW(row, got->mig_req, want->mig_req);
	T_EQ_ROW(row, got->fecn, want->fecn);
	T_EQ_ROW(row, got->becn, want->becn);
	T_EQ_ROW(row, got->ack_req, want->ack_req);
	T_EQ_ROW(row, got->pad, (4 - want->payload_length % 4) % 4);
	T_EQ_ROW(row, got->pkey, want->pkey);
	T_EQ_ROW(row, got->dqpn, want->dqpn);
	T_EQ_ROW(row, got->psn, want->psn);
}

void sample_check(const char *row, const struct roce_pkt *got, const struct roce_pkt *want,
		  const struct roce_path *path)
{
	check_path(row, &got->path, path);
	check_bth(row, got, want);
	T_EQ_ROW(row, got->va, want->va);
	T_EQ_ROW(row, got->rkey, want->rkey);
	T_EQ_ROW(row, got->dma_length, want->dma_length);
	T_EQ_ROW(row, got->swap_add, want->swap_add);
	T_EQ_ROW(row, got->compare, want->compare);
	T_EQ_ROW(row, got->syndrome, want->syndrome);
	T_EQ_ROW(row, got->msn, want->msn);
	T_EQ_ROW(row, got->original, want->original);
	T_EQ_ROW(row, got->imm, want->imm);
	T_EQ_ROW(row, got->inv_key, want->inv_key);
	T_EQ_ROW(row, got->qkey, want->qkey);
	T_EQ_ROW(row, got->src_qp, want->src_qp);
	T_EQ_ROW(row, got->payload_length, want->payload_length);
}

static uint32_t be16(const uint8_t *at)
{
	return (uint32_t)(at[0] << 8 | at[1]);
}

size_t sample_l3(const uint8_t *frame)
{
	return be16(frame + 12) == 0x8100 ? 18 : 14;
}

static uint32_t ethertype(const uint8_t *frame)
{
	return be16(frame + sample_l3(frame) - 2);
}

size_t sample_bth(const uint8_t *frame)
{
	size_t l3 = sample_l3(frame);

	if (ethertype(frame) == 0x0800)
		return l3 + 28;
	return l3 + (ethertype(frame) == 0x8915 ? 40 : 48);
}

void sample_fix_checksum(uint8_t *frame)
{
	uint8_t *header = frame + sample_l3(frame);
	uint32_t sum = 0;
	int i;

	header[10] = header[11] = 0;
	for (i = 0; i < 20; i += 2)
		sum += be16(header + i);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	header[10] = (uint8_t)(~sum >> 8);
	header[11] = (uint8_t)~sum;
}

/* CRC-32, bit by bit. */
static uint32_t slow_crc(uint32_t crc, const uint8_t *bytes, size_t count)
{
	size_t i;
	int bit;

	for (i = 0; i < count; i++) {
		crc ^= bytes[i];
		for (bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
	}
	return crc;
}

void sample_fix_icrc(uint8_t *frame)
{
	uint8_t copy[8 + SAMPLE_FRAME_BYTES], *header = copy + 8;
	size_t l3 = sample_l3(frame), bth = sample_bth(frame) - l3, bytes, i;
	uint32_t crc;

	bytes = frame[l3] >> 4 == 4 ? be16(frame + l3 + 2) : 40 + be16(frame + l3 + 4);
	memset(copy, 0xff, 8);
	memcpy(header, frame + l3, bytes);
	if (header[0] >> 4 == 4) {
		header[1] = header[8] = header[10] = header[11] = 0xff;
	} else {
		header[0] |= 0xf;
		header[1] = header[2] = header[3] = header[7] = 0xff;
	}
	if (ethertype(frame) != 0x8915)
		header[bth - 2] = header[bth - 1] = 0xff;
	header[bth + 4] = 0xff;
	crc = ~slow_crc(~0u, copy, 8 + bytes - 4);
	for (i = 0; i < 4; i++)
		frame[l3 + bytes - 4 + i] = (uint8_t)(crc >> 8 * i);
}
