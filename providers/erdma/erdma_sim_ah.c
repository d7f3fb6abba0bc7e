// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* erdma simulator: address handles, kept by the number that the driver chose. */
#include "providers/erdma/erdma_sim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint32_t max_ah(const struct erdma_nic *nic)
{
	return 1u << nic->personality->ah_log;
}

int erdma_ah_create(struct erdma_nic *nic, uint32_t ahn, const struct erdma_ah *ah)
{
	struct erdma_ah *copy;

	if (ahn >= max_ah(nic))
		return -EINVAL;
	if (!nic->ahs)
		nic->ahs = calloc(max_ah(nic), sizeof(nic->ahs[0]));
	if (!nic->ahs)
		return -ENOMEM;
	if (nic->ahs[ahn])
		return -EEXIST;
	copy = malloc(sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	*copy = *ah;
	nic->ahs[ahn] = copy;
	return 0;
}

const struct erdma_ah *erdma_ah_find(const struct erdma_nic *nic, uint32_t ahn)
{
	return nic->ahs && ahn < max_ah(nic) ? nic->ahs[ahn] : NULL;
}

int erdma_ah_destroy(struct erdma_nic *nic, uint32_t ahn, uint32_t pdn)
{
	const struct erdma_ah *ah = erdma_ah_find(nic, ahn);

	if (!ah || ah->pdn != pdn)
		return -ENOENT;
	free(nic->ahs[ahn]);
	nic->ahs[ahn] = NULL;
	return 0;
}

void erdma_ah_free_all(struct erdma_nic *nic)
{
	uint32_t i;

	for (i = 0; nic->ahs && i < max_ah(nic); i++)
		free(nic->ahs[i]);
	free(nic->ahs);
	nic->ahs = NULL;
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
