/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Fuzzes the reading of frames. What is accepted is built again and must read the same. Checksums
 * are put right where only they are wrong, since no fuzzer guesses a CRC.
 */
#include "sim/engine/roce_frame.h"
#include "sim/engine/roce_hdr.h"
#include "sim/engine/roce_icrc.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
	if (!condition)
		abort();
}

static void fix_checksum(uint8_t *header)
{
	uint32_t sum = 0;
	int i;

	roce_store16(header + 10, 0);
	for (i = 0; i < ROCE_IP4_BYTES; i += 2)
		sum += roce_load16(header + i);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	roce_store16(header + 10, ~sum);
}

/* The parser got as far as the CRC: the lengths are right. */
static void fix_icrc(const struct roce_pkt *pkt, uint8_t *header)
{
	uint32_t bytes = ROCE_IP6_BYTES + roce_get(header, ROCE_IP6_PAYLOAD_LENGTH);
	uint8_t *bth = header + ROCE_IP6_BYTES;
	uint8_t *icrc;

	if (pkt->path.net == ROCE_NET_V2_IPV4) {
		bytes = roce_get(header, ROCE_IP4_TOTAL_LENGTH);
		bth = header + ROCE_IP4_BYTES;
	}
	if (pkt->path.net != ROCE_NET_V1)
		bth += ROCE_UDP_BYTES;
	icrc = header + bytes - ROCE_ICRC_BYTES;
	roce_icrc_store(icrc, roce_icrc_end(roce_icrc_begin(pkt->path.net, header), bth,
					    (size_t)(icrc - bth)));
}

static bool parse(uint8_t *frame, size_t size, struct roce_pkt *pkt)
{
	enum roce_drop drop;

	if (roce_frame_parse(frame, size, pkt, &drop))
		return true;
	require(drop > ROCE_DROP_NONE && drop <= ROCE_DROP_PAD && roce_drop_name(drop));
	if (drop == ROCE_DROP_IP_CHECKSUM) {
		fix_checksum(frame + (roce_load16(frame + 12) == ROCE_ETHERTYPE_VLAN ? 18 : 14));
		roce_frame_parse(frame, size, pkt, &drop);
		require(drop != ROCE_DROP_IP_CHECKSUM);
	}
	if (drop == ROCE_DROP_ICRC) {
		fix_icrc(pkt, frame + (pkt->net_header - frame));
		roce_frame_parse(frame, size, pkt, &drop);
		require(drop != ROCE_DROP_ICRC);
	}
	return drop == ROCE_DROP_NONE;
}

static void check_inside(const struct roce_pkt *pkt, const uint8_t *frame, size_t size)
{
	const uint8_t *end = frame + size;

	require(pkt->payload >= frame && pkt->payload <= end);
	require(pkt->payload_length + pkt->pad + ROCE_ICRC_BYTES <= (size_t)(end - pkt->payload));
	require(pkt->net_header >= frame && pkt->net_header < pkt->payload);
	require(roce_op_has_payload(pkt->op) || !pkt->payload_length);
}

static void check_rebuilt(struct roce_pkt *pkt)
{
	struct roce_template t;
	struct roce_pkt again;
	enum roce_drop drop;
	uint8_t *frame;
	size_t size;

	if (pkt->path.vlan == ROCE_NO_VLAN)
		pkt->path.pcp = 0; /* a priority tag is not sent */
	roce_template_init(&t, &pkt->path);
	size = roce_frame_size(&t, pkt->op, pkt->payload_length);
	frame = malloc(size);
	memcpy(roce_frame_build(&t, pkt, frame), pkt->payload, pkt->payload_length);
	roce_frame_finish(&t, pkt, frame);
	require(roce_frame_parse(frame, size, &again, &drop));
	require(!memcmp(again.payload, pkt->payload, pkt->payload_length));
	again.payload = pkt->payload;
	again.net_header = pkt->net_header;
	require(!memcmp(&again, pkt, sizeof(again)));
	free(frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *frame = malloc(size + !size), grh[ROCE_GRH_BYTES];
	struct roce_pkt pkt;

	memcpy(frame, data, size);
	if (parse(frame, size, &pkt)) {
		check_inside(&pkt, frame, size);
		roce_frame_grh(&pkt, grh);
		check_rebuilt(&pkt);
	}
	free(frame);
	return 0;
}
