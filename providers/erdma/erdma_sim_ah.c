// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * erdma simulator: address handles. Owns the table of them, by the number that
 * the driver chose: pieces of a fixed size, made when first used.
 */
#include "providers/erdma/erdma_sim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint32_t max_ah(const struct erdma_nic *nic)
{
	return 1u << nic->personality->ah_log;
}

/* The entry, in use or not; NULL where its piece was never made. */
static struct erdma_ah *entry(const struct erdma_nic *nic, uint32_t ahn)
{
	struct erdma_ah *piece = ahn < max_ah(nic) ? nic->ahs[ahn / ERDMA_AH_PIECE] : NULL;

	return piece ? piece + ahn % ERDMA_AH_PIECE : NULL;
}

int erdma_ah_create(struct erdma_nic *nic, uint32_t ahn, const struct erdma_ah *ah)
{
	struct erdma_ah **piece, *place;

	if (ahn >= max_ah(nic))
		return -EINVAL;
	piece = &nic->ahs[ahn / ERDMA_AH_PIECE];
	if (!*piece)
		*piece = calloc(ERDMA_AH_PIECE, sizeof(**piece));
	if (!*piece)
		return -ENOMEM;
	place = entry(nic, ahn);
	if (place->used)
		return -EEXIST;
	*place = *ah;
	place->used = true;
	return 0;
}

const struct erdma_ah *erdma_ah_find(const struct erdma_nic *nic, uint32_t ahn)
{
	const struct erdma_ah *ah = entry(nic, ahn);

	return ah && ah->used ? ah : NULL;
}

int erdma_ah_destroy(struct erdma_nic *nic, uint32_t ahn, uint32_t pdn)
{
	struct erdma_ah *ah = entry(nic, ahn);

	if (!ah || !ah->used || ah->pdn != pdn)
		return -ENOENT;
	ah->used = false;
	return 0;
}

void erdma_ah_free_all(struct erdma_nic *nic)
{
	size_t i;

	for (i = 0; i < sizeof(nic->ahs) / sizeof(nic->ahs[0]); i++) {
		free(nic->ahs[i]);
		nic->ahs[i] = NULL;
	}
}

int erdma_ah_decode(const struct erdma_nic *nic, const struct erdma_av *av, struct roce_av *out)
{
	uint16_t sgid_index = nic_from_le16(av->sgid_index);

	if (sgid_index >> nic->personality->gid_log)
		return -EINVAL;
	memset(out, 0, sizeof(*out));
	memcpy(out->dmac, av->dmac, sizeof(out->dmac));
	memcpy(out->dgid, av->dgid, sizeof(out->dgid));
	out->sgid_index = (uint8_t)sgid_index;
	out->hop_limit = av->hop_limit;
	out->traffic_class = av->traffic_class;
	out->sl = av->sl;
	out->flow_label = nic_get(av, ERDMA_AV_FLOW_LABEL);
	out->udp_sport = nic_from_le16(av->udp_sport);
	return 0;
}
