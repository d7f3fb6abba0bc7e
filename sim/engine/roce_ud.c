// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Datagrams: UD and GSI, sending and receiving (IBTA 9.8.3, A17). A datagram is one packet, has
 * its own path, and is not answered. Knows nothing of connections.
 */
#include "sim/engine/roce_engine.h"

#include <errno.h>

enum {
	/* In a WR's Q_Key: use the QP's, which user code may not choose (IBTA 10.2.5). */
	QKEY_OF_QP = 1u << 31,
	/* A management datagram is 256 bytes (IBTA 13.4.2). */
	MAD_BYTES = 256,
};

enum roce_step roce_ud_step(struct roce_qp *qp, struct roce_sqe *sqe)
{
	enum roce_op_tail tail = roce_wr_info[sqe->opcode].tail;
	uint32_t length = sqe->wqe.length;
	struct roce_pkt pkt = {
		.op = roce_op_pick(ROCE_SERVICE_UD, ROCE_KIND_SEND, ROCE_POSITION_ONLY, tail),
		.solicited = sqe->flags & ROCE_WR_SOLICITED,
		.mig_req = true,
		.pkey = 0xffff,
		.dqpn = sqe->ud.dest_qpn,
		.psn = qp->req.psn,
		.imm = sqe->imm,
		.qkey = sqe->ud.qkey & QKEY_OF_QP ? qp->attr.qkey : sqe->ud.qkey,
		.src_qp = qp->qpn,
		.payload_length = length,
	};
	struct roce_path path;
	int ret;

	if (length > roce_qp_mtu(qp))
		return roce_req_fail(qp, sqe, ROCE_WC_LOC_LEN_ERR);
	if (!roce_nic_path(qp->nic, &sqe->ud.av, qp->qpn, sqe->ud.dest_qpn, &path))
		return roce_req_fail(qp, sqe, ROCE_WC_LOC_QP_OP_ERR);
	ret = roce_req_map(qp, sqe, 0, length);
	if (ret)
		return roce_req_fail(qp, sqe, roce_map_status(ret));
	roce_template_init(&qp->req.template, &path);
	if (!roce_nic_send(qp->nic, &qp->req.template, &pkt, roce_req_inline(qp, sqe, 0)))
		return ROCE_STEP_STALL;
	roce_cc_sent(qp, roce_frame_size(&qp->req.template, pkt.op, length));
	roce_req_set_psn(qp, roce_psn_add(pkt.psn, 1));
	qp->req.cur++;
	if (roce_qp_complete_send(qp, ROCE_WC_SUCCESS))
		roce_comp_check_drained(qp);
	return ROCE_STEP_SENT;
}

/* The GRH's place and the payload into the receive WR. 0 or -errno of roce_list_map(). */
static int store(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	struct roce_list list = roce_rq_list(qp);
	struct roce_cursor cursor = {0};
	struct roce_nic *nic = qp->nic;
	uint8_t grh[ROCE_GRH_BYTES];
	int ret;

	if (roce_sge_total(list.sge, list.num_sge) < ROCE_GRH_BYTES + pkt->payload_length)
		return -EMSGSIZE;
	nic->span.count = 0;
	ret = roce_list_map(nic, &list, &cursor, ROCE_GRH_BYTES);
	if (ret)
		return ret;
	roce_frame_grh(pkt, grh);
	roce_span_scatter(&nic->span, grh);
	nic->span.count = 0;
	ret = roce_list_map(nic, &list, &cursor, pkt->payload_length);
	if (ret)
		return ret;
	roce_span_scatter(&nic->span, pkt->payload);
	return 0;
}

/* The priority of the VLAN, or what the DSCP's upper bits say where there is none. */
static uint8_t sl_of(const struct roce_path *path)
{
	return path->vlan != ROCE_NO_VLAN ? path->pcp : path->traffic_class >> 5;
}

static void fill_wc(struct roce_wc *wc, const struct roce_pkt *pkt)
{
	int i;

	*wc = (struct roce_wc){
		.status = ROCE_WC_SUCCESS,
		.opcode = roce_op_has(pkt->op, ROCE_HDR_IMM) ? ROCE_WC_RECV_IMM : ROCE_WC_RECV,
		.byte_len = ROCE_GRH_BYTES + pkt->payload_length,
		.imm = pkt->imm,
		.src_qp = pkt->src_qp,
		.vlan = pkt->path.vlan,
		.sl = sl_of(&pkt->path),
		.net = pkt->path.net,
		.grh = true,
		.solicited = pkt->solicited,
	};
	for (i = 0; i < 6; i++)
		wc->smac[i] = pkt->path.smac[i];
}

static enum roce_drop check(const struct roce_qp *qp, const struct roce_pkt *pkt)
{
	if (pkt->qkey != qp->attr.qkey)
		return ROCE_DROP_QKEY;
	if (pkt->payload_length > qp->nic->config.mtu)
		return ROCE_DROP_MTU;
	/* Anyone may send here: too long a packet must not cost the QP, as it would below. */
	if (qp->type == ROCE_QPT_GSI && pkt->payload_length > MAD_BYTES)
		return ROCE_DROP_LENGTH;
	return ROCE_DROP_NONE;
}

void roce_ud_input(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	enum roce_drop drop = check(qp, pkt);
	struct roce_wc wc;
	int ret;

	if (drop == ROCE_DROP_NONE && !roce_rq_take(qp))
		drop = ROCE_DROP_NO_RECV;
	if (drop != ROCE_DROP_NONE) {
		roce_drop_count(&qp->nic->counters, drop);
		return;
	}
	fill_wc(&wc, pkt);
	ret = store(qp, pkt);
	if (ret)
		wc.status = roce_map_status(ret);
	/* A failed receive ends the QP, whatever its type (IBTA 10.3.1.7). */
	if (roce_rq_complete(qp, &wc) != 0 || ret)
		roce_qp_enter_error(qp, false);
}
