/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Reading of frames. Owns every check that needs nothing but the frame; what is read is hostile.
 * Knows nothing of QPs.
 *
 * A step looks at the bytes that the steps before it left, takes its own and says ROCE_DROP_NONE,
 * or why not. `left` only ever shrinks to what the headers claim, after that was compared.
 */
#include "sim/engine/roce_frame.h"
#include "sim/engine/roce_hdr.h"
#include "sim/engine/roce_icrc.h"

struct cursor {
	const uint8_t *at;
	size_t left;
	struct roce_pkt *pkt;
};

static const uint8_t *take(struct cursor *c, size_t bytes)
{
	const uint8_t *at = c->at;

	c->at += bytes;
	c->left -= bytes;
	return at;
}

static void set_ip4_gid(uint8_t gid[16], const uint8_t *address)
{
	memset(gid, 0, 10);
	memset(gid + 10, 0xff, 2);
	memcpy(gid + 12, address, 4);
}

/* Sum of a checksummed header: 0xffff where it is right (RFC 1071). */
static uint32_t sum_ip4(const uint8_t *header)
{
	uint32_t sum = 0;
	int i;

	for (i = 0; i < ROCE_IP4_BYTES; i += 2)
		sum += roce_load16(header + i);
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16);
}

/*
 * Not ours comes before not right: other traffic of the port may use IPv4 options. RoCE may not
 * (A17.3.1).
 */
static enum roce_drop check_ip4(const uint8_t *header, size_t left)
{
	uint32_t total = roce_get(header, ROCE_IP4_TOTAL_LENGTH);

	if (roce_get(header, ROCE_IP4_VERSION) != 4)
		return ROCE_DROP_IP_HEADER;
	if (roce_get(header, ROCE_IP4_PROTOCOL) != ROCE_NEXT_UDP)
		return ROCE_DROP_NOT_ROCE;
	if (roce_get(header, ROCE_IP4_IHL) * 4 != ROCE_IP4_BYTES)
		return ROCE_DROP_IP_HEADER;
	if (total < ROCE_IP4_BYTES || total > left)
		return ROCE_DROP_IP_HEADER;
	if (sum_ip4(header) != 0xffff)
		return ROCE_DROP_IP_CHECKSUM;
	if (roce_get(header, ROCE_IP4_MORE_OFFSET))
		return ROCE_DROP_IP_FRAGMENT;
	return ROCE_DROP_NONE;
}

static enum roce_drop parse_udp(struct cursor *c)
{
	const uint8_t *header = c->at;

	if (c->left < ROCE_UDP_BYTES)
		return ROCE_DROP_UDP_LENGTH;
	if (roce_get(header, ROCE_UDP_DPORT) != ROCE_UDP_PORT)
		return ROCE_DROP_NOT_ROCE;
	if (roce_get(header, ROCE_UDP_LENGTH) != c->left)
		return ROCE_DROP_UDP_LENGTH;
	c->pkt->path.udp_sport = (uint16_t)roce_get(header, ROCE_UDP_SPORT);
	take(c, ROCE_UDP_BYTES);
	return ROCE_DROP_NONE;
}

static enum roce_drop parse_ip4(struct cursor *c)
{
	struct roce_path *path = &c->pkt->path;
	const uint8_t *header = c->at;
	enum roce_drop drop;

	if (c->left < ROCE_IP4_BYTES)
		return ROCE_DROP_RUNT;
	drop = check_ip4(header, c->left);
	if (drop != ROCE_DROP_NONE)
		return drop;
	path->net = ROCE_NET_V2_IPV4;
	path->traffic_class = (uint8_t)roce_get(header, ROCE_IP4_TOS);
	path->hop_limit = (uint8_t)roce_get(header, ROCE_IP4_TTL);
	set_ip4_gid(path->sgid, header + ROCE_IP4_SOURCE);
	set_ip4_gid(path->dgid, header + ROCE_IP4_DESTINATION);
	c->left = roce_get(header, ROCE_IP4_TOTAL_LENGTH);
	c->pkt->net_header = take(c, ROCE_IP4_BYTES);
	return parse_udp(c);
}

/* What IPv6 and GRH have in common. */
static enum roce_drop parse_ip6_fields(struct cursor *c, enum roce_net net, uint32_t next)
{
	struct roce_path *path = &c->pkt->path;
	const uint8_t *header = c->at;
	uint32_t payload;

	if (c->left < ROCE_IP6_BYTES)
		return ROCE_DROP_RUNT;
	if (roce_get(header, ROCE_IP6_VERSION) != 6)
		return ROCE_DROP_IP_HEADER;
	if (roce_get(header, ROCE_IP6_NEXT_HEADER) == ROCE_NEXT_FRAGMENT)
		return ROCE_DROP_IP_FRAGMENT;
	if (roce_get(header, ROCE_IP6_NEXT_HEADER) != next)
		return ROCE_DROP_NOT_ROCE;
	payload = roce_get(header, ROCE_IP6_PAYLOAD_LENGTH);
	if (payload > c->left - ROCE_IP6_BYTES)
		return ROCE_DROP_IP_HEADER;
	path->net = net;
	path->traffic_class = (uint8_t)roce_get(header, ROCE_IP6_TRAFFIC_CLASS);
	path->flow_label = roce_get(header, ROCE_IP6_FLOW_LABEL);
	path->hop_limit = (uint8_t)roce_get(header, ROCE_IP6_HOP_LIMIT);
	memcpy(path->sgid, header + ROCE_IP6_SOURCE, 16);
	memcpy(path->dgid, header + ROCE_IP6_DESTINATION, 16);
	c->pkt->net_header = take(c, ROCE_IP6_BYTES);
	c->left = payload;
	return ROCE_DROP_NONE;
}

static enum roce_drop parse_ip6(struct cursor *c)
{
	enum roce_drop drop = parse_ip6_fields(c, ROCE_NET_V2_IPV6, ROCE_NEXT_UDP);

	return drop == ROCE_DROP_NONE ? parse_udp(c) : drop;
}

static enum roce_drop parse_grh(struct cursor *c)
{
	return parse_ip6_fields(c, ROCE_NET_V1, ROCE_NEXT_IBA);
}

/* A tag with VLAN id 0 carries a priority only (802.1Q 9.6). */
static enum roce_drop parse_vlan(struct cursor *c)
{
	struct roce_path *path = &c->pkt->path;
	const uint8_t *tag;
	uint32_t vid;

	if (c->left < ROCE_VLAN_BYTES + 2)
		return ROCE_DROP_RUNT;
	tag = take(c, ROCE_VLAN_BYTES);
	vid = roce_get(tag, ROCE_VLAN_VID);
	path->pcp = (uint8_t)roce_get(tag, ROCE_VLAN_PCP);
	path->vlan = vid ? (uint16_t)vid : ROCE_NO_VLAN;
	return ROCE_DROP_NONE;
}

static enum roce_drop parse_net(struct cursor *c)
{
	switch (roce_load16(take(c, 2))) {
	case ROCE_ETHERTYPE_IP4:
		return parse_ip4(c);
	case ROCE_ETHERTYPE_IP6:
		return parse_ip6(c);
	case ROCE_ETHERTYPE_V1:
		return parse_grh(c);
	default:
		return ROCE_DROP_NOT_ROCE;
	}
}

static enum roce_drop parse_ethernet(struct cursor *c)
{
	struct roce_path *path = &c->pkt->path;
	enum roce_drop drop = ROCE_DROP_NONE;

	if (c->left < ROCE_ETH_BYTES)
		return ROCE_DROP_RUNT;
	memcpy(path->dmac, take(c, 6), 6);
	memcpy(path->smac, take(c, 6), 6);
	path->vlan = ROCE_NO_VLAN;
	if (roce_load16(c->at) == ROCE_ETHERTYPE_VLAN)
		drop = parse_vlan(c);
	return drop == ROCE_DROP_NONE ? parse_net(c) : drop;
}

static void read_deth(struct roce_pkt *pkt, const uint8_t *header)
{
	pkt->qkey = roce_get(header, ROCE_DETH_QKEY);
	pkt->src_qp = roce_get(header, ROCE_DETH_SRC_QP);
}

static void read_reth(struct roce_pkt *pkt, const uint8_t *header)
{
	pkt->va = roce_load64(header);
	pkt->rkey = roce_get(header, ROCE_RETH_RKEY);
	pkt->dma_length = roce_get(header, ROCE_RETH_DMA_LENGTH);
}

static void read_atomic_eth(struct roce_pkt *pkt, const uint8_t *header)
{
	pkt->va = roce_load64(header);
	pkt->rkey = roce_get(header, ROCE_ATOMIC_RKEY);
	pkt->swap_add = roce_load64(header + 4 * ROCE_ATOMIC_SWAP_ADD_WORD);
	pkt->compare = roce_load64(header + 4 * ROCE_ATOMIC_COMPARE_WORD);
}

static void read_aeth(struct roce_pkt *pkt, const uint8_t *header)
{
	pkt->syndrome = (uint8_t)roce_get(header, ROCE_AETH_SYNDROME);
	pkt->msn = roce_get(header, ROCE_AETH_MSN);
}

static void read_atomic_ack_eth(struct roce_pkt *pkt, const uint8_t *header)
{
	pkt->original = roce_load64(header);
}

static void read_imm(struct roce_pkt *pkt, const uint8_t *header)
{
	pkt->imm = roce_get(header, ROCE_IMM_DATA);
}

static void read_ieth(struct roce_pkt *pkt, const uint8_t *header)
{
	pkt->inv_key = roce_get(header, ROCE_IETH_RKEY);
}

static void read_nothing(struct roce_pkt *pkt, const uint8_t *header)
{
	(void)pkt;
	(void)header;
}

static void (*const readers[ROCE_HDR_COUNT])(struct roce_pkt *pkt, const uint8_t *header) = {
	[ROCE_HDR_DETH] = read_deth,
	[ROCE_HDR_RETH] = read_reth,
	[ROCE_HDR_ATOMIC_ETH] = read_atomic_eth,
	[ROCE_HDR_AETH] = read_aeth,
	[ROCE_HDR_ATOMIC_ACK_ETH] = read_atomic_ack_eth,
	[ROCE_HDR_IMM] = read_imm,
	[ROCE_HDR_IETH] = read_ieth,
	[ROCE_HDR_RESV] = read_nothing,
};

static void read_bth(struct roce_pkt *pkt, const uint8_t *bth)
{
	pkt->solicited = roce_get(bth, ROCE_BTH_SOLICITED);
	pkt->mig_req = roce_get(bth, ROCE_BTH_MIG_REQ);
	pkt->pad = (uint8_t)roce_get(bth, ROCE_BTH_PAD);
	pkt->tver = (uint8_t)roce_get(bth, ROCE_BTH_TVER);
	pkt->pkey = (uint16_t)roce_get(bth, ROCE_BTH_PKEY);
	pkt->fecn = roce_get(bth, ROCE_BTH_FECN);
	pkt->becn = roce_get(bth, ROCE_BTH_BECN);
	pkt->dqpn = roce_get(bth, ROCE_BTH_DQPN);
	pkt->ack_req = roce_get(bth, ROCE_BTH_ACK_REQ);
	pkt->psn = roce_get(bth, ROCE_BTH_PSN);
}

/* Is it a packet at all: whole words that end in the right CRC? Takes the CRC off the end. */
static enum roce_drop check_icrc(struct cursor *c)
{
	uint32_t crc;

	if (c->left < ROCE_BTH_BYTES + ROCE_ICRC_BYTES || c->left % 4)
		return ROCE_DROP_LENGTH;
	c->left -= ROCE_ICRC_BYTES;
	crc = roce_icrc_begin(c->pkt->path.net, c->pkt->net_header);
	if (roce_icrc_end(crc, c->at, c->left) != roce_icrc_load(c->at + c->left))
		return ROCE_DROP_ICRC;
	return ROCE_DROP_NONE;
}

static enum roce_drop parse_transport(struct cursor *c)
{
	struct roce_pkt *pkt = c->pkt;
	const uint8_t *header;
	unsigned int set;
	int i;

	read_bth(pkt, c->at);
	if (pkt->tver)
		return ROCE_DROP_BTH_VERSION;
	pkt->op = roce_op_find((uint8_t)roce_get(c->at, ROCE_BTH_OPCODE));
	if (!pkt->op)
		return ROCE_DROP_OPCODE;
	if (c->left < pkt->op->length)
		return ROCE_DROP_LENGTH;
	header = take(c, pkt->op->length) + ROCE_BTH_BYTES;
	for (set = pkt->op->headers; set; set &= set - 1) {
		i = __builtin_ctz(set);
		readers[i](pkt, header);
		header += roce_header_bytes[i];
	}
	if (c->left && !roce_op_has_payload(pkt->op))
		return ROCE_DROP_LENGTH;
	if (c->left < pkt->pad)
		return ROCE_DROP_PAD;
	pkt->payload = c->at;
	pkt->payload_length = (uint32_t)(c->left - pkt->pad);
	return ROCE_DROP_NONE;
}

bool roce_frame_parse(const void *frame, size_t length, struct roce_pkt *pkt, enum roce_drop *drop)
{
	struct cursor c = {frame, length, pkt};

	memset(pkt, 0, sizeof(*pkt));
	*drop = parse_ethernet(&c);
	if (*drop == ROCE_DROP_NONE)
		*drop = check_icrc(&c);
	if (*drop == ROCE_DROP_NONE)
		*drop = parse_transport(&c);
	return *drop == ROCE_DROP_NONE;
}
