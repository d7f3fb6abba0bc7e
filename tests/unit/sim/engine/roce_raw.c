/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A QP under test against raw packets. Knows roce.h and frames, nothing of the engine's inside. */
#include "tests/unit/sim/engine/roce_raw.h"

#include "tests/lib/t.h"

#include <stdlib.h>
#include <string.h>

void raw_defaults(struct raw *r, enum roce_qp_type type)
{
	memset(r, 0, sizeof(*r));
	node_defaults(&r->dut, RAW_DUT);
	r->type = type;
	r->gid = NODE_GID_IP4;
	node_attr(&r->attr, RAW_PEER, r->gid, RAW_PEER_QPN);
	r->attr.rq_psn = RAW_RQ_PSN;
	r->attr.sq_psn = RAW_SQ_PSN;
}

void raw_open(struct raw *r)
{
	struct roce_path *path = &r->path;

	node_start(&r->dut);
	r->mr = node_mr(&r->dut, RAW_KEY,
			ROCE_ACCESS_LOCAL_WRITE | ROCE_ACCESS_REMOTE_READ |
				ROCE_ACCESS_REMOTE_WRITE | ROCE_ACCESS_REMOTE_ATOMIC,
			RAW_MR_BYTES);
	r->attr.av.sgid_index = (uint8_t)r->gid;
	node_gid(RAW_PEER, r->gid, r->attr.av.dgid);
	*path = (struct roce_path){
		.vlan = r->gid == NODE_GID_VLAN ? NODE_VLAN : ROCE_NO_VLAN,
		.net = node_net(r->gid),
		.hop_limit = 64,
		.udp_sport = r->gid == NODE_GID_V1 ? 0 : 0xc001,
	};
	node_mac(RAW_PEER, path->smac);
	node_mac(RAW_DUT, path->dmac);
	node_gid(RAW_PEER, r->gid, path->sgid);
	node_gid(RAW_DUT, r->gid, path->dgid);
}

void raw_connect(struct raw *r)
{
	r->qp = node_qp(&r->dut, RAW_QPN, r->type, r->srq);
	node_connect(&r->dut, r->qp, &r->attr, r->type, ROCE_QPS_RTS);
	node_run(&r->dut);
}

void raw_start(struct raw *r)
{
	raw_open(r);
	raw_connect(r);
}

void raw_stop(struct raw *r)
{
	free(r->frame);
	node_stop(&r->dut);
}

void raw_pkt(struct raw *r, struct roce_pkt *pkt, enum roce_opcode code, uint32_t psn)
{
	(void)r;
	memset(pkt, 0, sizeof(*pkt));
	pkt->op = roce_op_find((uint8_t)code);
	pkt->pkey = 0xffff;
	pkt->dqpn = RAW_QPN;
	pkt->psn = psn & 0xffffff;
	pkt->ack_req = roce_op_is_request(pkt->op) && roce_op_ends(pkt->op);
}

void raw_send(struct raw *r, const struct roce_pkt *pkt, const void *payload, uint32_t length)
{
	struct roce_pkt copy = *pkt;
	struct roce_template t;
	uint8_t *frame, *at;

	copy.payload_length = length;
	roce_template_init(&t, &r->path);
	frame = malloc(roce_frame_size(&t, copy.op, length));
	at = roce_frame_build(&t, &copy, frame);
	if (length && payload)
		memcpy(at, payload, length);
	else
		memset(at, 0, length);
	roce_frame_finish(&t, &copy, frame);
	node_input(&r->dut, frame, roce_frame_size(&t, copy.op, length));
	free(frame);
}

void raw_request(struct raw *r, enum roce_opcode code, uint32_t psn, const void *payload,
		 uint32_t length)
{
	struct roce_pkt pkt;

	raw_pkt(r, &pkt, code, psn);
	raw_send(r, &pkt, payload, length);
}

void raw_write(struct raw *r, enum roce_opcode code, uint32_t psn, uint64_t offset,
	       uint32_t dma_length, uint32_t length)
{
	struct roce_pkt pkt;

	raw_pkt(r, &pkt, code, psn);
	pkt.va = r->mr->iova + offset;
	pkt.rkey = RAW_KEY;
	pkt.dma_length = dma_length;
	raw_send(r, &pkt, NULL, length);
}

void raw_read(struct raw *r, uint32_t psn, uint64_t offset, uint32_t length)
{
	struct roce_pkt pkt;

	raw_pkt(r, &pkt, ROCE_OP_RC_READ_REQUEST, psn);
	pkt.va = r->mr->iova + offset;
	pkt.rkey = RAW_KEY;
	pkt.dma_length = length;
	raw_send(r, &pkt, NULL, 0);
}

/* On the first eight bytes of the region that are aligned. */
void raw_atomic(struct raw *r, enum roce_opcode code, uint32_t psn, uint64_t swap_add,
		uint64_t compare)
{
	struct roce_pkt pkt;

	raw_pkt(r, &pkt, code, psn);
	pkt.va = r->mr->iova;
	pkt.rkey = RAW_KEY;
	pkt.swap_add = swap_add;
	pkt.compare = compare;
	raw_send(r, &pkt, NULL, 0);
}

void raw_ack(struct raw *r, uint32_t psn, uint8_t syndrome)
{
	struct roce_pkt pkt;

	raw_pkt(r, &pkt, ROCE_OP_RC_ACK, psn);
	pkt.syndrome = syndrome;
	raw_send(r, &pkt, NULL, 0);
}

void raw_read_response(struct raw *r, enum roce_opcode code, uint32_t psn, const void *payload,
		       uint32_t length)
{
	struct roce_pkt pkt;

	raw_pkt(r, &pkt, code, psn);
	if (roce_op_has(pkt.op, ROCE_HDR_AETH))
		pkt.syndrome = RAW_ACK;
	raw_send(r, &pkt, payload, length);
}

void raw_atomic_ack(struct raw *r, uint32_t psn, uint64_t original)
{
	struct roce_pkt pkt;

	raw_pkt(r, &pkt, ROCE_OP_RC_ATOMIC_ACK, psn);
	pkt.syndrome = RAW_ACK;
	pkt.original = original;
	raw_send(r, &pkt, NULL, 0);
}

/* Takes the next frame; what is wrong with every packet is wrong here. */
static bool take(struct raw *r)
{
	enum roce_drop drop;

	free(r->frame);
	r->frame = node_take_frame(&r->dut);
	memset(&r->pkt, 0, sizeof(r->pkt));
	if (!r->frame)
		return false;
	if (!T_TRUE(roce_frame_parse(r->frame->bytes, r->frame->length, &r->pkt, &drop)))
		return false;
	T_BYTES(r->pkt.path.dmac, r->path.smac, 6);
	T_BYTES(r->pkt.path.smac, r->path.dmac, 6);
	T_BYTES(r->pkt.path.dgid, r->path.sgid, 16);
	T_BYTES(r->pkt.path.sgid, r->path.dgid, 16);
	T_EQ(r->pkt.path.vlan, r->path.vlan);
	T_EQ(r->pkt.path.net, r->path.net);
	T_EQ(r->pkt.dqpn, RAW_PEER_QPN);
	return true;
}

const struct roce_pkt *raw_expect(struct raw *r, const char *row, enum roce_opcode code,
				  uint32_t psn)
{
	const struct roce_op *want = roce_op_find((uint8_t)code);

	if (!take(r)) {
		t_check(0, __FILE__, __LINE__, "%s: no packet, want %s PSN 0x%x", row, want->name,
			psn);
		r->pkt.op = want;
		return &r->pkt;
	}
	psn &= 0xffffff;
	t_check(r->pkt.op == want && r->pkt.psn == psn, __FILE__, __LINE__,
		"%s: sent %s PSN 0x%x syndrome 0x%x, want %s PSN 0x%x", row, r->pkt.op->name,
		r->pkt.psn, r->pkt.syndrome, want->name, psn);
	return &r->pkt;
}

const struct roce_pkt *raw_expect_ack(struct raw *r, const char *row, uint32_t psn,
				      uint8_t syndrome)
{
	const struct roce_pkt *pkt = raw_expect(r, row, ROCE_OP_RC_ACK, psn);

	/* The credit count is the responder's affair; the kind of ACK is not. */
	if ((syndrome & 0x60) == 0)
		T_EQ_ROW(row, pkt->syndrome & 0xe0, 0);
	else
		T_EQ_ROW(row, pkt->syndrome, syndrome);
	return pkt;
}

void raw_expect_silence(struct raw *r, const char *row)
{
	if (take(r))
		t_check(0, __FILE__, __LINE__, "%s: sent %s PSN 0x%x syndrome 0x%x, want nothing",
			row, r->pkt.op->name, r->pkt.psn, r->pkt.syndrome);
}

unsigned int raw_forget(struct raw *r)
{
	unsigned int count = 0;

	while (take(r))
		count++;
	return count;
}

void raw_post(struct raw *r, uint64_t wr_id, enum roce_wr_opcode opcode, uint32_t offset,
	      uint32_t length)
{
	struct roce_sge sge = {r->mr->iova + offset, length, RAW_KEY};
	struct roce_send_wr wr = {
		.wr_id = wr_id,
		.opcode = opcode,
		.flags = ROCE_WR_SIGNALED,
		.remote_addr = 0x123456789000,
		.rkey = 0x7777,
		.sge = &sge,
		.num_sge = length ? 1 : 0,
	};

	T_EQ(roce_post_send(r->qp, r->dut.now, &wr), 0);
	node_run(&r->dut);
}

void raw_post_recv(struct raw *r, uint64_t wr_id, uint32_t offset, uint32_t length)
{
	struct roce_sge sge = {r->mr->iova + offset, length, RAW_KEY};
	struct roce_recv_wr wr = {.wr_id = wr_id, .sge = &sge, .num_sge = length ? 1 : 0};

	if (r->srq)
		T_EQ(roce_srq_post(r->srq, r->dut.now, &wr), 0);
	else
		T_EQ(roce_post_recv(r->qp, r->dut.now, &wr), 0);
	node_run(&r->dut);
}

const struct roce_wc *raw_expect_wc(struct raw *r, const char *row, uint64_t wr_id,
				    enum roce_wc_status status)
{
	static const struct roce_wc none;
	const struct node_wc *wc = node_take_wc(&r->dut);

	if (!wc) {
		t_check(0, __FILE__, __LINE__, "%s: no completion, want WR %llu", row,
			(unsigned long long)wr_id);
		return &none;
	}
	T_EQ_ROW(row, wc->wc.wr_id, wr_id);
	T_EQ_ROW(row, wc->wc.status, status);
	T_TRUE_ROW(row, wc->wc.qp == r->qp);
	return &wc->wc;
}

void raw_expect_no_wc(struct raw *r, const char *row)
{
	const struct node_wc *wc = node_take_wc(&r->dut);

	if (wc)
		t_check(0, __FILE__, __LINE__, "%s: completion of WR %llu, status %d, want none",
			row, (unsigned long long)wc->wc.wr_id, wc->wc.status);
}
