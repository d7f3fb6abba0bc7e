// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Which QP state may follow which, and what must or may be given with it (IBTA 11.2.5.2), as
 * rows. Owns the checks only: nothing is changed here.
 */
#include "sim/engine/roce_engine.h"

#include <errno.h>

#define BIT(type) (1u << ROCE_QPT_##type)
#define RC	  BIT(RC)
#define UC	  BIT(UC)
#define UD	  (BIT(UD) | BIT(GSI))
#define CONNECTED (RC | UC)
#define ANY	  (CONNECTED | UD)
#define A(name)	  ROCE_QP_##name

struct transition {
	uint8_t types;
	uint8_t from, to;
	uint32_t required;
	uint32_t optional;
};

/* Any state may go to RESET and ERR; those have no attributes and no rows. */
static const struct transition transitions[] = {
	{CONNECTED, ROCE_QPS_RESET, ROCE_QPS_INIT, A(PKEY_INDEX) | A(ACCESS), 0},
	{UD, ROCE_QPS_RESET, ROCE_QPS_INIT, A(PKEY_INDEX) | A(QKEY), 0},
	{CONNECTED, ROCE_QPS_INIT, ROCE_QPS_INIT, 0, A(PKEY_INDEX) | A(ACCESS)},
	{UD, ROCE_QPS_INIT, ROCE_QPS_INIT, 0, A(PKEY_INDEX) | A(QKEY)},

	{RC, ROCE_QPS_INIT, ROCE_QPS_RTR,
	 A(AV) | A(PATH_MTU) | A(DEST_QPN) | A(RQ_PSN) | A(MAX_DEST_RD_ATOMIC) | A(MIN_RNR_TIMER),
	 A(PKEY_INDEX) | A(ACCESS)},
	{UC, ROCE_QPS_INIT, ROCE_QPS_RTR, A(AV) | A(PATH_MTU) | A(DEST_QPN) | A(RQ_PSN),
	 A(PKEY_INDEX) | A(ACCESS)},
	{UD, ROCE_QPS_INIT, ROCE_QPS_RTR, 0, A(PKEY_INDEX) | A(QKEY)},

	{RC, ROCE_QPS_RTR, ROCE_QPS_RTS,
	 A(TIMEOUT) | A(RETRY_CNT) | A(RNR_RETRY) | A(SQ_PSN) | A(MAX_RD_ATOMIC),
	 A(ACCESS) | A(MIN_RNR_TIMER) | A(RATE_LIMIT)},
	{UC, ROCE_QPS_RTR, ROCE_QPS_RTS, A(SQ_PSN), A(ACCESS) | A(RATE_LIMIT)},
	{UD, ROCE_QPS_RTR, ROCE_QPS_RTS, A(SQ_PSN), A(QKEY) | A(RATE_LIMIT)},

	{RC, ROCE_QPS_RTS, ROCE_QPS_RTS, 0, A(ACCESS) | A(MIN_RNR_TIMER) | A(RATE_LIMIT)},
	{UC, ROCE_QPS_RTS, ROCE_QPS_RTS, 0, A(ACCESS) | A(RATE_LIMIT)},
	{UD, ROCE_QPS_RTS, ROCE_QPS_RTS, 0, A(QKEY) | A(RATE_LIMIT)},

	{ANY, ROCE_QPS_RTS, ROCE_QPS_SQD, 0, A(EN_SQD_ASYNC_NOTIFY)},
	{RC, ROCE_QPS_SQD, ROCE_QPS_SQD, 0,
	 A(AV) | A(PKEY_INDEX) | A(ACCESS) | A(TIMEOUT) | A(RETRY_CNT) | A(RNR_RETRY) |
		 A(MAX_RD_ATOMIC) | A(MAX_DEST_RD_ATOMIC) | A(MIN_RNR_TIMER)},
	{UC, ROCE_QPS_SQD, ROCE_QPS_SQD, 0, A(AV) | A(PKEY_INDEX) | A(ACCESS)},
	{UD, ROCE_QPS_SQD, ROCE_QPS_SQD, 0, A(PKEY_INDEX) | A(QKEY)},
	{RC, ROCE_QPS_SQD, ROCE_QPS_RTS, 0, A(ACCESS) | A(MIN_RNR_TIMER) | A(RATE_LIMIT)},
	{UC, ROCE_QPS_SQD, ROCE_QPS_RTS, 0, A(ACCESS) | A(RATE_LIMIT)},
	{UD, ROCE_QPS_SQD, ROCE_QPS_RTS, 0, A(QKEY) | A(RATE_LIMIT)},

	{UC, ROCE_QPS_SQE, ROCE_QPS_RTS, 0, A(ACCESS) | A(RATE_LIMIT)},
	{UD, ROCE_QPS_SQE, ROCE_QPS_RTS, 0, A(QKEY) | A(RATE_LIMIT)},
};

static bool transition_allowed(const struct roce_qp *qp, enum roce_qp_state to, uint32_t given)
{
	size_t i;

	if (to == ROCE_QPS_RESET || to == ROCE_QPS_ERR)
		return true;
	for (i = 0; i < sizeof(transitions) / sizeof(transitions[0]); i++) {
		const struct transition *t = &transitions[i];

		if (!(t->types & 1u << qp->type) || t->from != qp->state || t->to != to)
			continue;
		return (given & t->required) == t->required &&
		       !(given & ~(t->required | t->optional));
	}
	return false;
}

/* The attributes that are numbers with a largest value. */
static bool in_range(const struct roce_qp_attr *attr, uint32_t mask)
{
	const struct {
		uint32_t bit;
		uint32_t value;
		uint32_t max;
	} rows[] = {
		{ROCE_QP_PKEY_INDEX, attr->pkey_index, 0},
		{ROCE_QP_TIMEOUT, attr->timeout, 31},
		{ROCE_QP_RETRY_CNT, attr->retry_cnt, 7},
		{ROCE_QP_RNR_RETRY, attr->rnr_retry, 7},
		{ROCE_QP_RQ_PSN, attr->rq_psn, ROCE_PSN_MASK},
		{ROCE_QP_SQ_PSN, attr->sq_psn, ROCE_PSN_MASK},
		{ROCE_QP_MIN_RNR_TIMER, attr->min_rnr_timer, 31},
		{ROCE_QP_DEST_QPN, attr->dest_qpn, ROCE_ID_MAX},
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (mask & rows[i].bit && rows[i].value > rows[i].max)
			return false;
	return true;
}

static bool mtu_allowed(const struct roce_qp *qp, uint32_t mtu)
{
	return mtu >= 256 && mtu <= 4096 && !(mtu & (mtu - 1)) && mtu <= qp->nic->config.mtu;
}

int roce_qp_modify_check(const struct roce_qp *qp, const struct roce_qp_attr *attr, uint32_t mask)
{
	enum roce_qp_state to = mask & ROCE_QP_STATE ? attr->state : qp->state;
	struct roce_path path;

	if (to > ROCE_QPS_ERR || !transition_allowed(qp, to, mask & ~ROCE_QP_STATE))
		return -EINVAL;
	if (to == ROCE_QPS_RESET || to == ROCE_QPS_ERR)
		return 0;
	if (!in_range(attr, mask))
		return -EINVAL;
	if (mask & ROCE_QP_PATH_MTU && !mtu_allowed(qp, attr->path_mtu))
		return -EINVAL;
	if (mask & ROCE_QP_AV && !roce_nic_path(qp->nic, &attr->av, 0, 0, &path))
		return -EINVAL;
	/* SQD is left and its attributes changed only when drained (IBTA 10.3.1.5). */
	if (qp->state == ROCE_QPS_SQD && to == ROCE_QPS_SQD && qp->comp.draining)
		return -EINVAL;
	return 0;
}
