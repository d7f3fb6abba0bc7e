/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Writing of frames. A path's headers are made once and copied; a packet costs that copy, two
 * lengths, the BTH and its extension headers, and one CRC over what follows the network headers.
 * Knows nothing of QPs.
 */
#include "sim/engine/roce_frame.h"
#include "sim/engine/roce_hdr.h"
#include "sim/engine/roce_icrc.h"

/* Folds carries into 16 bits (RFC 1071). */
static uint32_t fold(uint32_t sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16);
}

static void sum_ip4(struct roce_template *t)
{
	const uint8_t *header = t->head + t->l3;
	int i;

	t->ip_sum = 0;
	for (i = 0; i < ROCE_IP4_BYTES; i += 2)
		t->ip_sum += roce_load16(header + i);
}

/* Each of these writes a header at `at` and returns where the next one goes. */

/* Not fragmented, so the identification may stay 0 (RFC 6864). */
static uint8_t *write_ip4(uint8_t *at, const struct roce_path *path)
{
	roce_store32(at, roce_prep(ROCE_IP4_VERSION, 4) |
				 roce_prep(ROCE_IP4_IHL, ROCE_IP4_BYTES / 4) |
				 roce_prep(ROCE_IP4_TOS, path->traffic_class));
	roce_store32(at + 4, roce_prep(ROCE_IP4_DONT_FRAGMENT, 1));
	roce_store32(at + 8, roce_prep(ROCE_IP4_TTL, path->hop_limit) |
				     roce_prep(ROCE_IP4_PROTOCOL, ROCE_NEXT_UDP));
	memcpy(at + ROCE_IP4_SOURCE, path->sgid + 12, 4);
	memcpy(at + ROCE_IP4_DESTINATION, path->dgid + 12, 4);
	return at + ROCE_IP4_BYTES;
}

static uint8_t *write_ip6(uint8_t *at, const struct roce_path *path)
{
	uint32_t next = path->net == ROCE_NET_V1 ? ROCE_NEXT_IBA : ROCE_NEXT_UDP;

	roce_store32(at, roce_prep(ROCE_IP6_VERSION, 6) |
				 roce_prep(ROCE_IP6_TRAFFIC_CLASS, path->traffic_class) |
				 roce_prep(ROCE_IP6_FLOW_LABEL, path->flow_label));
	roce_store32(at + 4, roce_prep(ROCE_IP6_NEXT_HEADER, next) |
				     roce_prep(ROCE_IP6_HOP_LIMIT, path->hop_limit));
	memcpy(at + ROCE_IP6_SOURCE, path->sgid, 16);
	memcpy(at + ROCE_IP6_DESTINATION, path->dgid, 16);
	return at + ROCE_IP6_BYTES;
}

/* The checksum stays 0: the ICRC protects more (A17.3.1). */
static uint8_t *write_udp(uint8_t *at, const struct roce_path *path)
{
	roce_store32(at, roce_prep(ROCE_UDP_SPORT, path->udp_sport) |
				 roce_prep(ROCE_UDP_DPORT, ROCE_UDP_PORT));
	return at + ROCE_UDP_BYTES;
}

static uint8_t *write_vlan(uint8_t *at, const struct roce_path *path)
{
	if (path->vlan == ROCE_NO_VLAN)
		return at;
	roce_store32(at, roce_prep(ROCE_VLAN_TPID, ROCE_ETHERTYPE_VLAN) |
				 roce_prep(ROCE_VLAN_PCP, path->pcp) |
				 roce_prep(ROCE_VLAN_VID, path->vlan));
	return at + ROCE_VLAN_BYTES;
}

static const struct {
	uint16_t ethertype;
	uint8_t *(*write)(uint8_t *at, const struct roce_path *path);
	bool udp;
} nets[] = {
	[ROCE_NET_V1] = {ROCE_ETHERTYPE_V1, write_ip6, false},
	[ROCE_NET_V2_IPV4] = {ROCE_ETHERTYPE_IP4, write_ip4, true},
	[ROCE_NET_V2_IPV6] = {ROCE_ETHERTYPE_IP6, write_ip6, true},
};

void roce_template_init(struct roce_template *t, const struct roce_path *path)
{
	uint8_t *at = t->head;

	memset(t, 0, sizeof(*t));
	t->net = path->net;
	memcpy(at, path->dmac, 6);
	memcpy(at + 6, path->smac, 6);
	at = write_vlan(at + 12, path);
	roce_store16(at, nets[path->net].ethertype);
	t->l3 = (uint8_t)(at + 2 - t->head);
	at = nets[path->net].write(at + 2, path);
	if (nets[path->net].udp)
		at = write_udp(at, path);
	t->head_bytes = (uint8_t)(at - t->head);
	if (t->net == ROCE_NET_V2_IPV4)
		sum_ip4(t);
}

void roce_template_set_traffic_class(struct roce_template *t, uint8_t traffic_class)
{
	uint8_t *header = t->head + t->l3;
	struct roce_field field =
		t->net == ROCE_NET_V2_IPV4 ? ROCE_IP4_TOS : ROCE_IP6_TRAFFIC_CLASS;
	uint32_t other = roce_load32(header) & ~roce_prep(field, UINT32_MAX);

	roce_store32(header, other | roce_prep(field, traffic_class));
	if (t->net == ROCE_NET_V2_IPV4)
		sum_ip4(t);
}

static uint32_t pad_of(uint32_t payload_length)
{
	return -payload_length & 3;
}

/* From the BTH to the end of the ICRC. */
static uint32_t transport_bytes(const struct roce_op *op, uint32_t payload_length)
{
	return op->length + payload_length + pad_of(payload_length) + ROCE_ICRC_BYTES;
}

size_t roce_frame_size(const struct roce_template *t, const struct roce_op *op,
		       uint32_t payload_length)
{
	size_t size = t->head_bytes + transport_bytes(op, payload_length);

	return size < ROCE_MIN_FRAME_BYTES ? ROCE_MIN_FRAME_BYTES : size;
}

/* Puts in what depends on the length. */
static void write_lengths(const struct roce_template *t, uint8_t *frame, uint32_t bytes)
{
	uint8_t *header = frame + t->l3;
	uint32_t total = bytes + t->head_bytes - t->l3;

	if (t->net == ROCE_NET_V2_IPV4) {
		roce_store16(header + 2, total);
		roce_store16(header + 10, ~fold(t->ip_sum + total));
		roce_store16(header + ROCE_IP4_BYTES + 4, total - ROCE_IP4_BYTES);
		return;
	}
	roce_store16(header + 4, total - ROCE_IP6_BYTES);
	if (t->net == ROCE_NET_V2_IPV6)
		roce_store16(header + ROCE_IP6_BYTES + 4, total - ROCE_IP6_BYTES);
}

static void write_bth(uint8_t *bth, const struct roce_pkt *pkt)
{
	roce_store32(bth, roce_prep(ROCE_BTH_OPCODE, pkt->op->code) |
				  roce_prep(ROCE_BTH_SOLICITED, pkt->solicited) |
				  roce_prep(ROCE_BTH_MIG_REQ, pkt->mig_req) |
				  roce_prep(ROCE_BTH_PAD, pad_of(pkt->payload_length)) |
				  roce_prep(ROCE_BTH_PKEY, pkt->pkey));
	roce_store32(bth + 4, roce_prep(ROCE_BTH_FECN, pkt->fecn) |
				      roce_prep(ROCE_BTH_BECN, pkt->becn) |
				      roce_prep(ROCE_BTH_DQPN, pkt->dqpn));
	roce_store32(bth + 8,
		     roce_prep(ROCE_BTH_ACK_REQ, pkt->ack_req) | roce_prep(ROCE_BTH_PSN, pkt->psn));
}

static void write_deth(uint8_t *header, const struct roce_pkt *pkt)
{
	roce_store32(header, pkt->qkey);
	roce_store32(header + 4, roce_prep(ROCE_DETH_SRC_QP, pkt->src_qp));
}

static void write_reth(uint8_t *header, const struct roce_pkt *pkt)
{
	roce_store64(header, pkt->va);
	roce_store32(header + 8, pkt->rkey);
	roce_store32(header + 12, pkt->dma_length);
}

static void write_atomic_eth(uint8_t *header, const struct roce_pkt *pkt)
{
	roce_store64(header, pkt->va);
	roce_store32(header + 8, pkt->rkey);
	roce_store64(header + 4 * ROCE_ATOMIC_SWAP_ADD_WORD, pkt->swap_add);
	roce_store64(header + 4 * ROCE_ATOMIC_COMPARE_WORD, pkt->compare);
}

static void write_aeth(uint8_t *header, const struct roce_pkt *pkt)
{
	roce_store32(header, roce_prep(ROCE_AETH_SYNDROME, pkt->syndrome) |
				     roce_prep(ROCE_AETH_MSN, pkt->msn));
}

static void write_atomic_ack_eth(uint8_t *header, const struct roce_pkt *pkt)
{
	roce_store64(header, pkt->original);
}

static void write_imm(uint8_t *header, const struct roce_pkt *pkt)
{
	roce_store32(header, pkt->imm);
}

static void write_ieth(uint8_t *header, const struct roce_pkt *pkt)
{
	roce_store32(header, pkt->inv_key);
}

static void write_resv(uint8_t *header, const struct roce_pkt *pkt)
{
	(void)pkt;
	memset(header, 0, roce_header_bytes[ROCE_HDR_RESV]);
}

static void (*const writers[ROCE_HDR_COUNT])(uint8_t *header, const struct roce_pkt *pkt) = {
	[ROCE_HDR_DETH] = write_deth,
	[ROCE_HDR_RETH] = write_reth,
	[ROCE_HDR_ATOMIC_ETH] = write_atomic_eth,
	[ROCE_HDR_AETH] = write_aeth,
	[ROCE_HDR_ATOMIC_ACK_ETH] = write_atomic_ack_eth,
	[ROCE_HDR_IMM] = write_imm,
	[ROCE_HDR_IETH] = write_ieth,
	[ROCE_HDR_RESV] = write_resv,
};

uint8_t *roce_frame_build(struct roce_template *t, const struct roce_pkt *pkt, void *frame)
{
	uint8_t *at = frame;
	unsigned int set;
	int i;

	memcpy(at, t->head, t->head_bytes);
	write_lengths(t, at, transport_bytes(pkt->op, pkt->payload_length));
	at += t->head_bytes;
	write_bth(at, pkt);
	at += ROCE_BTH_BYTES;
	for (set = pkt->op->headers; set; set &= set - 1) {
		i = __builtin_ctz(set);
		writers[i](at, pkt);
		at += roce_header_bytes[i];
	}
	return at;
}

/* Packets of one flow are mostly of one length, on which the network headers' CRC depends. */
void roce_frame_finish(struct roce_template *t, const struct roce_pkt *pkt, void *frame)
{
	uint32_t bytes = transport_bytes(pkt->op, pkt->payload_length);
	uint32_t pad = pad_of(pkt->payload_length);
	uint8_t *bth = (uint8_t *)frame + t->head_bytes;
	uint8_t *icrc = bth + bytes - ROCE_ICRC_BYTES;
	size_t end = t->head_bytes + bytes;

	memset(icrc - pad, 0, pad);
	if (t->crc_bytes != bytes) {
		t->crc = roce_icrc_begin(t->net, (uint8_t *)frame + t->l3);
		t->crc_bytes = bytes;
	}
	roce_icrc_store(icrc, roce_icrc_end(t->crc, bth, bytes - ROCE_ICRC_BYTES));
	if (end < ROCE_MIN_FRAME_BYTES)
		memset((uint8_t *)frame + end, 0, ROCE_MIN_FRAME_BYTES - end);
}
