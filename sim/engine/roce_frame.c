/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What reading and writing of frames share. Knows nothing of QPs. */
#include "sim/engine/roce_frame.h"

#include "sim/engine/roce_hdr.h"

/* `counter` is where the count lies in struct roce_counters; for NONE there is none. */
static const struct {
	const char *name;
	size_t counter;
} drops[ROCE_DROP_COUNT] = {[ROCE_DROP_NONE] = {"none", 0},
#define X(drop, counter) \
	[ROCE_DROP_##drop] = {#counter, offsetof(struct roce_counters, drop_##counter)},
			    ROCE_DROPS(X)
#undef X
};

const char *roce_drop_name(enum roce_drop drop)
{
	return drops[drop].name;
}

void roce_drop_count(struct roce_counters *counters, enum roce_drop drop)
{
	if (drop != ROCE_DROP_NONE)
		++*(uint64_t *)((char *)counters + drops[drop].counter);
}

void roce_frame_grh(const struct roce_pkt *pkt, uint8_t grh[ROCE_GRH_BYTES])
{
	size_t bytes = pkt->path.net == ROCE_NET_V2_IPV4 ? ROCE_IP4_BYTES : ROCE_IP6_BYTES;

	memset(grh, 0, ROCE_GRH_BYTES - bytes);
	memcpy(grh + ROCE_GRH_BYTES - bytes, pkt->net_header, bytes);
}

void roce_frame_cnp(struct roce_pkt *pkt, uint32_t dqpn, uint16_t pkey)
{
	memset(pkt, 0, sizeof(*pkt));
	pkt->op = roce_op_find(ROCE_OP_CNP_CNP);
	pkt->becn = true;
	pkt->dqpn = dqpn;
	pkt->pkey = pkey;
}

/* The upper six bits of the label are folded onto the lower fourteen, so that all count. */
uint16_t roce_udp_sport(uint32_t flow_label, uint32_t local_qpn, uint32_t remote_qpn)
{
	uint64_t label = flow_label & 0xfffff;

	if (!label) {
		label = (uint64_t)local_qpn * remote_qpn;
		label ^= label >> 20;
		label ^= label >> 40;
		label &= 0xfffff;
	}
	return (uint16_t)(0xc000 | ((label & 0x3fff) ^ label >> 14));
}
