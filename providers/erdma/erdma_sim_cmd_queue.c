// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * erdma simulator: commands on event queues, completion queues and queue pairs.
 * Each takes its request apart for the file that owns the object.
 */
#include "providers/erdma/erdma_sim.h"

#include <errno.h>

#define EQ_LOG_MAX 20

/* EQ numbers that commands may use: 0 is the command queue's, described by registers. */
static bool is_eqn(uint8_t eqn, uint8_t type)
{
	return eqn >= ERDMA_MSIX_VECTOR_EQ && eqn < ERDMA_MSIX_VECTORS &&
	       type == ERDMA_EQ_TYPE_COMPLETION;
}

int erdma_command_CREATE_EQ(struct erdma_nic *nic, const void *request, struct erdma_answer *answer)
{
	const struct erdma_cmd_create_eq *req = request;
	uint64_t addr = nic_from_le64(req->addr);
	uint8_t last;

	(void)answer;
	if (!is_eqn(req->eqn, req->type) || req->log > EQ_LOG_MAX ||
	    req->vector >= ERDMA_MSIX_VECTORS)
		return -EINVAL;
	if (nic->eqs[req->eqn].active)
		return -EEXIST;
	if (sim_dma_read(nic->dev, addr + ((uint64_t)ERDMA_EQE_BYTES << req->log) - 1, &last, 1))
		return -EFAULT;
	erdma_eq_init(&nic->eqs[req->eqn], addr, 1u << req->log, req->vector);
	return 0;
}

int erdma_command_DESTROY_EQ(struct erdma_nic *nic, const void *request,
			     struct erdma_answer *answer)
{
	const struct erdma_cmd_destroy_eq *req = request;

	(void)answer;
	if (!is_eqn(req->eqn, req->type))
		return -EINVAL;
	if (!nic->eqs[req->eqn].active)
		return -ENOENT;
	erdma_eq_fini(&nic->eqs[req->eqn]);
	return 0;
}

int erdma_command_CREATE_CQ(struct erdma_nic *nic, const void *request, struct erdma_answer *answer)
{
	const struct erdma_cmd_create_cq *req = request;
	uint32_t eqn = nic_get(req, ERDMA_CREATE_CQ_EQN);
	struct erdma_cq_params params = {
		.cqn = nic_get(req, ERDMA_CREATE_CQ_CQN),
		.log = nic_get(req, ERDMA_CREATE_CQ_LOG),
		.eqn = (uint8_t)eqn,
		.db_set = ERDMA_DB_SET_SHARED,
		.ring =
			{
				.pages[0] = (uint64_t)nic_from_le32(req->addr_high) << 32 |
					    nic_from_le32(req->addr_low),
				.count = nic_get(req, ERDMA_CREATE_CQ_PAGES),
				.offset = nic_from_le32(req->offset),
				.level = (uint8_t)nic_get(req, ERDMA_CREATE_CQ_LEVEL),
				.page_shift = (uint8_t)(ERDMA_PAGE_SHIFT +
							nic_get(req, ERDMA_CREATE_CQ_PAGE)),
			},
	};
	int set;

	(void)answer;
	if (params.log > nic->personality->cqe_log || eqn >= ERDMA_MSIX_VECTORS)
		return -EINVAL;
	params.ring.length = (uint64_t)ERDMA_CQE_BYTES << params.log;
	params.ring.contiguous = !params.ring.level && params.ring.count == 1;
	/* There is room for one page only. */
	if (!params.ring.level && params.ring.count != 1)
		return -EINVAL;
	if (nic_get(req, ERDMA_CREATE_CQ_EXTEND_DB)) {
		set = erdma_db_set(nic, nic_get(req, ERDMA_CREATE_CQ_DB));
		if (set < 0)
			return set;
		params.db_set = (int16_t)set;
	}
	return erdma_cq_create(nic, &params);
}

int erdma_command_DESTROY_CQ(struct erdma_nic *nic, const void *request,
			     struct erdma_answer *answer)
{
	const struct erdma_cmd_destroy_cq *req = request;

	(void)answer;
	return erdma_cq_destroy(nic, nic_from_le32(req->cqn));
}

/* One of a QP's rings, from the halves of the request that are its. */
static void set_ring(struct erdma_mtt *ring, __le64 addr, const __le64 pages[3], uint64_t length)
{
	unsigned int i;

	ring->pages[0] = nic_from_le64(addr);
	for (i = 1; !ring->level && i < ERDMA_MTT_INLINE; i++)
		ring->pages[i] = nic_from_le64(pages[i - 1]);
	ring->length = length;
	ring->contiguous = !ring->level && ring->count == 1;
}

static int decode_rings(const struct erdma_cmd_create_qp *req, struct erdma_qp_params *params)
{
	if (params->sq_log > ERDMA_RING_LOG_MAX || params->rq_log > ERDMA_RING_LOG_MAX)
		return -EINVAL;
	params->sq = (struct erdma_mtt){
		.count = nic_get(req, ERDMA_CREATE_QP_SQ_PAGES),
		.offset = (uint64_t)nic_get(req, ERDMA_CREATE_QP_SQ_OFFSET) << ERDMA_PAGE_SHIFT,
		.level = (uint8_t)nic_get(req, ERDMA_CREATE_QP_SQ_LEVEL),
		.page_shift = (uint8_t)(ERDMA_PAGE_SHIFT + nic_get(req, ERDMA_CREATE_QP_SQ_PAGE)),
	};
	params->rq = (struct erdma_mtt){
		.count = nic_get(req, ERDMA_CREATE_QP_RQ_PAGES),
		.offset = (uint64_t)nic_get(req, ERDMA_CREATE_QP_RQ_OFFSET) << ERDMA_PAGE_SHIFT,
		.level = (uint8_t)nic_get(req, ERDMA_CREATE_QP_RQ_LEVEL),
		.page_shift = (uint8_t)(ERDMA_PAGE_SHIFT + nic_get(req, ERDMA_CREATE_QP_RQ_PAGE)),
	};
	set_ring(&params->sq, req->sq_addr, req->sq_pages,
		 (uint64_t)ERDMA_SQ_BLOCK_BYTES << params->sq_log);
	set_ring(&params->rq, req->rq_addr, req->rq_pages,
		 (uint64_t)ERDMA_RQE_BYTES << params->rq_log);
	return 0;
}

int erdma_command_CREATE_QP(struct erdma_nic *nic, const void *request, struct erdma_answer *answer)
{
	const struct erdma_cmd_create_qp *req = request;
	struct erdma_qp_params params = {
		.qpn = nic_get(req, ERDMA_CREATE_QP_QPN),
		.pdn = nic_get(req, ERDMA_CREATE_QP_PDN),
		.sq_log = nic_get(req, ERDMA_CREATE_QP_SQ_LOG),
		.rq_log = nic_get(req, ERDMA_CREATE_QP_RQ_LOG),
		.send_cqn = nic_get(req, ERDMA_CREATE_QP_SQ_CQN),
		.recv_cqn = nic_get(req, ERDMA_CREATE_QP_RQ_CQN),
		/*
		 * The whole word: drivers before 7.x know no type and send whatever was on the
		 * stack, which is less likely to be exactly this.
		 */
		.ud = nic_from_le32(req->type) == ERDMA_QP_TYPE_UD,
		.db_set = ERDMA_DB_SET_SHARED,
	};
	int err, set;

	(void)answer;
	err = decode_rings(req, &params);
	if (err)
		return err;
	if (nic_get(req, ERDMA_CREATE_QP_EXTEND_DB)) {
		set = erdma_db_set(nic, nic_get(req, ERDMA_CREATE_QP_SQ_DB));
		if (set < 0 || set != erdma_db_set(nic, nic_get(req, ERDMA_CREATE_QP_RQ_DB)))
			return -EINVAL;
		params.db_set = (int16_t)set;
	}
	return erdma_qp_create(nic, &params);
}

int erdma_command_DESTROY_QP(struct erdma_nic *nic, const void *request,
			     struct erdma_answer *answer)
{
	const struct erdma_cmd_qpn *req = request;

	(void)answer;
	return erdma_qp_destroy(nic, nic_from_le32(req->qpn));
}

/* The numbers of the states are the engine's too, since both are IBTA's order. */
_Static_assert((int)ERDMA_QPS_RESET == (int)ROCE_QPS_RESET, "QP states");
_Static_assert((int)ERDMA_QPS_RTS == (int)ROCE_QPS_RTS, "QP states");
_Static_assert((int)ERDMA_QPS_ERR == (int)ROCE_QPS_ERR, "QP states");

int erdma_command_MODIFY_QP(struct erdma_nic *nic, const void *request, struct erdma_answer *answer)
{
	const struct erdma_cmd_modify_qp *req = request;
	uint32_t state = nic_get(req, ERDMA_MODIFY_QP_STATE);
	struct erdma_qp_change change = {
		.mask = nic_from_le32(req->mask),
		.state = state,
		.dest_qpn = nic_get(req, ERDMA_MODIFY_QP_DQPN),
		.qkey = nic_from_le32(req->qkey),
		.rq_psn = nic_from_le32(req->rq_psn),
		.sq_psn = nic_from_le32(req->sq_psn),
	};
	int err = 0;

	(void)answer;
	if (change.mask & ERDMA_MODIFY_STATE && state > ERDMA_QPS_ERR)
		return -EINVAL;
	if (change.mask & ERDMA_MODIFY_AV)
		err = erdma_ah_decode(nic, &req->av, &change.av);
	if (err)
		return err;
	return erdma_qp_modify(nic, nic_get(req, ERDMA_MODIFY_QP_QPN), &change);
}

int erdma_command_QUERY_QP(struct erdma_nic *nic, const void *request, struct erdma_answer *answer)
{
	const struct erdma_cmd_qpn *req = request;
	struct erdma_qp *qp = erdma_qp_find(nic, nic_from_le32(req->qpn));
	struct roce_qp_attr attr;

	if (!qp)
		return -ENOENT;
	roce_qp_query(qp->qp, &attr);
	answer->resp0 = nic_prep(ERDMA_QUERY_QP_SQ_PSN, attr.sq_psn) |
			nic_prep(ERDMA_QUERY_QP_RQ_PSN, attr.rq_psn) |
			nic_prep(ERDMA_QUERY_QP_STATE, (uint32_t)attr.state) |
			nic_prep(ERDMA_QUERY_QP_DRAINING, attr.sq_draining);
	return 0;
}

/*
 * The driver posted to a QP in ERR and wants it flushed. Whether the doorbells came before or
 * not, the rings are filled up to here.
 */
int erdma_command_REFLUSH(struct erdma_nic *nic, const void *request, struct erdma_answer *answer)
{
	const struct erdma_cmd_reflush *req = request;
	struct erdma_qp *qp = erdma_qp_find(nic, nic_from_le32(req->qpn));
	int err;

	(void)answer;
	if (!qp)
		return -ENOENT;
	err = erdma_qp_sq_advance(qp, (uint16_t)nic_from_le32(req->sq_pi));
	if (!err)
		err = erdma_qp_rq_advance(qp, (uint16_t)nic_from_le32(req->rq_pi));
	return err;
}
