// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * erdma simulator: commands on the device, its GIDs, address handles and
 * doorbell pages. Each takes its request apart and calls whoever owns the object.
 */
#include "providers/erdma/erdma_sim.h"

#include <errno.h>
#include <string.h>

#define FW_VERSION 0x00010000

/* Netdev MTUs that a driver can have: IPv4's least, and what a length field can say. */
#define MTU_MIN 68
#define MTU_MAX 65535

/* Largest host page: 64 KiB. */
#define PAGE_SHIFT_MAX 16

/* Congestion control that the driver would hand back in MODIFY_QP of an iWARP device. */
#define CC_DEFAULT 1

int erdma_command_QUERY_DEVICE(struct erdma_nic *nic, const void *request,
			       struct erdma_answer *answer)
{
	const struct erdma_personality *p = nic->personality;

	(void)request;
	answer->resp0 =
		nic_prep(ERDMA_DEVICE_GID_LOG, p->gid_log) |
		nic_prep(ERDMA_DEVICE_CQE_LOG, p->cqe_log) | nic_prep(ERDMA_DEVICE_FLAGS, p->caps) |
		nic_prep(ERDMA_DEVICE_RECV_LOG, p->recv_log) |
		nic_prep(ERDMA_DEVICE_AH_LOG, p->ah_log) | nic_prep(ERDMA_DEVICE_MR_LOG, p->mr_log);
	answer->resp1 = nic_prep(ERDMA_DEVICE_LOCAL_LKEY, erdma_mr_local_key(nic)) |
			nic_prep(ERDMA_DEVICE_CC, CC_DEFAULT) |
			nic_prep(ERDMA_DEVICE_QBLOCKS, p->qblocks);
	return 0;
}

int erdma_command_QUERY_FW_INFO(struct erdma_nic *nic, const void *request,
				struct erdma_answer *answer)
{
	(void)nic;
	(void)request;
	answer->resp0 = nic_prep(ERDMA_FW_INFO_VERSION, FW_VERSION);
	return 0;
}

int erdma_command_CONF_DEVICE(struct erdma_nic *nic, const void *request,
			      struct erdma_answer *answer)
{
	const struct erdma_cmd_conf_device *req = request;
	uint32_t shift = nic_get(req, ERDMA_CONF_DEVICE_PAGE_SHIFT);

	(void)answer;
	if (!nic_get(req, ERDMA_CONF_DEVICE_PAGE_VALID))
		return 0;
	if (shift < ERDMA_PAGE_SHIFT || shift > PAGE_SHIFT_MAX)
		return -EINVAL;
	nic->page_shift = (uint8_t)shift;
	return 0;
}

int erdma_command_CONF_MTU(struct erdma_nic *nic, const void *request, struct erdma_answer *answer)
{
	const struct erdma_cmd_conf_mtu *req = request;
	uint32_t mtu = nic_from_le32(req->mtu);

	(void)answer;
	if (mtu < MTU_MIN || mtu > MTU_MAX)
		return -EINVAL;
	nic->guest_mtu = mtu;
	erdma_nic_update_mtu(nic);
	return 0;
}

int erdma_command_GET_STATS(struct erdma_nic *nic, const void *request, struct erdma_answer *answer)
{
	const struct roce_counters *engine = roce_nic_counters(nic->engine);
	const struct erdma_cmd_get_stats *req = request;
	const uint64_t values[ERDMA_STATS_COUNTERS] = {
		[ERDMA_COUNTER_TX_REQUESTS] = nic->counters.send_wqes,
		[ERDMA_COUNTER_TX_PACKETS] = engine->tx_packets,
		[ERDMA_COUNTER_TX_BYTES] = engine->tx_bytes,
		[ERDMA_COUNTER_RX_PACKETS] = engine->rx_packets,
		[ERDMA_COUNTER_RX_BYTES] = engine->rx_bytes,
		[ERDMA_COUNTER_RX_DROPS] = engine->drop_no_recv,
	};
	struct erdma_stats stats = {
		.magic = nic_to_le16(ERDMA_STATS_MAGIC),
		.length = sizeof(stats),
	};
	size_t i;

	(void)answer;
	if (nic_from_le32(req->length) < sizeof(stats))
		return -EINVAL;
	for (i = 0; i < ERDMA_STATS_COUNTERS; i++)
		stats.counter[i] = nic_to_le64(values[i]);
	return sim_dma_write(nic->dev, nic_from_le64(req->addr), &stats, sizeof(stats));
}

int erdma_command_ALLOC_DB(struct erdma_nic *nic, const void *request, struct erdma_answer *answer)
{
	struct erdma_resp_alloc_db pages;
	int err;

	(void)request;
	err = erdma_db_alloc(nic, &pages);
	if (!err)
		answer->resp0 = nic_from_le64(pages.resp0);
	return err;
}

int erdma_command_FREE_DB(struct erdma_nic *nic, const void *request, struct erdma_answer *answer)
{
	const struct erdma_cmd_db *req = request;

	(void)answer;
	return erdma_db_free(nic, nic_from_le16(req->sq_page), nic_from_le16(req->rq_page),
			     nic_from_le16(req->cq_page));
}

int erdma_command_SET_GID(struct erdma_nic *nic, const void *request, struct erdma_answer *answer)
{
	const uint16_t untagged = 0xffff; /* the request has no VLAN */
	const struct erdma_cmd_set_gid *req = request;
	uint32_t index = nic_get(req, ERDMA_SET_GID_INDEX);
	enum roce_net net = nic_get(req, ERDMA_SET_GID_V6) ? ROCE_NET_V2_IPV6 : ROCE_NET_V2_IPV4;

	(void)answer;
	if (index >> nic->personality->gid_log)
		return -EINVAL;
	if (nic_get(req, ERDMA_SET_GID_DELETE))
		return roce_gid_set(nic->engine, index, NULL, net, untagged);
	return roce_gid_set(nic->engine, index, req->gid, net, untagged);
}

int erdma_command_CREATE_AH(struct erdma_nic *nic, const void *request, struct erdma_answer *answer)
{
	const struct erdma_cmd_create_ah *req = request;
	struct erdma_ah ah = {.pdn = nic_from_le32(req->pdn)};
	int err;

	(void)answer;
	err = erdma_ah_decode(nic, &req->av, &ah.av);
	if (err)
		return err;
	return erdma_ah_create(nic, nic_from_le32(req->ahn), &ah);
}

int erdma_command_DESTROY_AH(struct erdma_nic *nic, const void *request,
			     struct erdma_answer *answer)
{
	const struct erdma_cmd_destroy_ah *req = request;

	(void)answer;
	return erdma_ah_destroy(nic, nic_from_le32(req->ahn), nic_from_le32(req->pdn));
}
