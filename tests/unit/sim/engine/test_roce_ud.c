/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Datagrams: what stands before the payload of a receive, what is dropped, what is sent. */
#include "tests/lib/t.h"
#include "tests/unit/sim/engine/roce_raw.h"

#include <string.h>

enum { QKEY = 0x11111111, GRH = 40 };

static void start(struct raw *r, enum node_gid gid)
{
	raw_defaults(r, ROCE_QPT_UD);
	r->gid = gid;
	raw_start(r);
	/* Stale bytes that look like IPv6 headers. */
	memset(r->mr->bytes, 0x60, 4096);
}

static void datagram(struct raw *r, uint32_t qkey, uint32_t length)
{
	struct roce_pkt pkt;

	raw_pkt(r, &pkt, ROCE_OP_UD_SEND_ONLY, 77);
	pkt.ack_req = false;
	pkt.qkey = qkey;
	pkt.src_qp = 0xabc;
	raw_send(r, &pkt, "hello, datagram", length);
}

static void check_wc(struct raw *r, const char *row, uint32_t length, uint8_t sl)
{
	const struct roce_wc *wc = raw_expect_wc(r, row, 5, ROCE_WC_SUCCESS);

	T_EQ_ROW(row, wc->opcode, ROCE_WC_RECV);
	T_EQ_ROW(row, wc->byte_len, GRH + length);
	T_TRUE_ROW(row, wc->grh);
	T_EQ_ROW(row, wc->src_qp, 0xabc);
	T_EQ_ROW(row, wc->sl, sl);
	T_EQ_ROW(row, wc->net, r->path.net);
	T_EQ_ROW(row, wc->vlan, r->path.vlan);
	T_BYTES_ROW(row, wc->smac, r->path.smac, 6);
}

/* Case: receivers that guessed the IP version from stale bytes (A17.4.5.2). */
static void payload_stands_behind_40_bytes(void)
{
	static const struct {
		const char *name;
		enum node_gid gid;
		uint8_t pcp, traffic_class, sl;
		uint8_t version; /* first byte of the header, upper half */
		uint32_t header; /* where it begins */
	} rows[] = {
		{"IPv4, SL 3", NODE_GID_IP4, 0, 0x68, 3, 4, 20},
		{"IPv6, SL 3", NODE_GID_IP6, 0, 0x68, 3, 6, 0},
		{"v1", NODE_GID_V1, 0, 0, 0, 6, 0},
		{"VLAN", NODE_GID_VLAN, 5, 0, 5, 4, 20},
	};
	uint8_t zero[20] = {0};
	struct raw r;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		start(&r, rows[i].gid);
		r.path.pcp = rows[i].pcp;
		r.path.traffic_class = rows[i].traffic_class;
		raw_post_recv(&r, 5, 0, 100);
		datagram(&r, QKEY, 5);
		check_wc(&r, rows[i].name, 5, rows[i].sl);
		T_BYTES_ROW(rows[i].name, r.mr->bytes, zero, rows[i].header);
		T_EQ_ROW(rows[i].name, r.mr->bytes[rows[i].header] >> 4, rows[i].version);
		/* The sender's address is in the header, for who wants to answer. */
		if (rows[i].version == 4)
			T_BYTES_ROW(rows[i].name, r.mr->bytes + 32, r.path.sgid + 12, 4);
		else
			T_BYTES_ROW(rows[i].name, r.mr->bytes + 8, r.path.sgid, 16);
		T_BYTES_ROW(rows[i].name, r.mr->bytes + GRH, "hello", 5);
		T_EQ_ROW(rows[i].name, r.mr->bytes[GRH + 5], 0x60);
		raw_expect_silence(&r, rows[i].name);
		raw_stop(&r);
	}
}

static void receive_with_immediate_and_nothing(void)
{
	const struct roce_wc *wc;
	struct roce_pkt pkt;
	struct raw r;

	start(&r, NODE_GID_IP4);
	raw_post_recv(&r, 5, 0, GRH);
	raw_pkt(&r, &pkt, ROCE_OP_UD_SEND_ONLY_IMM, 1);
	pkt.qkey = QKEY;
	pkt.imm = 0x12345678;
	pkt.solicited = true;
	raw_send(&r, &pkt, NULL, 0);
	wc = raw_expect_wc(&r, "empty", 5, ROCE_WC_SUCCESS);
	T_EQ(wc->opcode, ROCE_WC_RECV_IMM);
	T_EQ(wc->imm, 0x12345678);
	T_EQ(wc->byte_len, GRH);
	T_TRUE(wc->solicited);
	raw_stop(&r);
}

/* GRH and payload may be cut anywhere by the elements of the list. */
static void list_cuts_through_the_grh(void)
{
	struct roce_sge sge[3];
	struct roce_recv_wr wr = {.wr_id = 5, .sge = sge, .num_sge = 3};
	struct raw r;

	start(&r, NODE_GID_IP6);
	sge[0] = (struct roce_sge){r.mr->iova, 13, RAW_KEY};
	sge[1] = (struct roce_sge){r.mr->iova + 1000, 29, RAW_KEY};
	sge[2] = (struct roce_sge){r.mr->iova + 2000, 3, RAW_KEY};
	T_EQ(roce_post_recv(r.qp, r.dut.now, &wr), 0);
	datagram(&r, QKEY, 5);
	check_wc(&r, "cut", 5, 0);
	T_EQ(r.mr->bytes[0], 0x60);
	T_BYTES(r.mr->bytes + 1000 + 27, "he", 2);
	T_BYTES(r.mr->bytes + 2000, "llo", 3);
	raw_stop(&r);
}

static void too_small_a_receive_says_so(void)
{
	struct raw r;

	start(&r, NODE_GID_IP4);
	raw_post_recv(&r, 5, 0, 44);
	datagram(&r, QKEY, 5);
	raw_expect_wc(&r, "44 < 45", 5, ROCE_WC_LOC_LEN_ERR);
	raw_expect_silence(&r, "no NAK");
	raw_stop(&r);
}

static void what_is_dropped_is_counted(void)
{
	struct roce_counters before;
	struct raw r;

	start(&r, NODE_GID_IP4);
	datagram(&r, QKEY, 5);
	T_EQ(roce_nic_counters(r.dut.nic)->drop_no_recv, 1);
	raw_post_recv(&r, 5, 0, 100);
	datagram(&r, QKEY + 1, 5);
	T_EQ(roce_nic_counters(r.dut.nic)->drop_qkey, 1);
	before = *roce_nic_counters(r.dut.nic);
	raw_request(&r, ROCE_OP_RC_SEND_ONLY, 1, NULL, 0);
	T_EQ(roce_nic_counters(r.dut.nic)->drop_qp_type, before.drop_qp_type + 1);
	raw_expect_no_wc(&r, "dropped");
	raw_expect_silence(&r, "dropped");
	datagram(&r, QKEY, 5);
	check_wc(&r, "the good one", 5, 0);
	raw_stop(&r);
}

static int post(struct raw *r, uint64_t wr_id, uint32_t qkey, uint32_t length)
{
	struct roce_sge sge = {r->mr->iova + 64, length, RAW_KEY};
	struct roce_send_wr wr = {.wr_id = wr_id,
				  .opcode = ROCE_WR_SEND_IMM,
				  .flags = ROCE_WR_SIGNALED | ROCE_WR_SOLICITED,
				  .imm = 0xcafe,
				  .sge = &sge,
				  .num_sge = length ? 1 : 0,
				  .ud = {r->attr.av, RAW_PEER_QPN, qkey, 0}};
	int err;

	wr.ud.av.traffic_class = 0x68;
	wr.ud.av.flow_label = r->path.net == ROCE_NET_V2_IPV4 ? 0 : 0x54321;
	wr.ud.av.sl = 3;
	err = roce_post_send(r->qp, r->dut.now, &wr);
	node_run(&r->dut);
	return err;
}

static void datagrams_go_where_the_request_says(void)
{
	const struct roce_pkt *pkt;
	struct raw r;
	uint32_t gid;

	for (gid = 0; gid < NODE_GIDS; gid++) {
		start(&r, gid);
		T_EQ(post(&r, 1, 0x22222222, 9), 0);
		raw_expect_wc(&r, "at once", 1, ROCE_WC_SUCCESS);
		pkt = raw_expect(&r, "first", ROCE_OP_UD_SEND_ONLY_IMM, RAW_SQ_PSN);
		T_EQ(pkt->qkey, 0x22222222);
		T_EQ(pkt->src_qp, RAW_QPN);
		T_EQ(pkt->imm, 0xcafe);
		T_TRUE(pkt->solicited && !pkt->ack_req);
		T_EQ(pkt->payload_length, 9);
		T_BYTES(pkt->payload, r.mr->bytes + 64, 9);
		T_EQ(pkt->path.traffic_class, 0x68);
		T_EQ(pkt->path.hop_limit, 64);
		T_EQ(pkt->path.flow_label, gid == NODE_GID_IP6 || gid == NODE_GID_V1 ? 0x54321 : 0);
		T_EQ(pkt->path.pcp, gid == NODE_GID_VLAN ? 3 : 0);
		/* The upper bit asks for the QP's own key (IBTA 10.2.5). */
		T_EQ(post(&r, 2, 0x80000001, 0), 0);
		pkt = raw_expect(&r, "second", ROCE_OP_UD_SEND_ONLY_IMM, RAW_SQ_PSN + 1);
		T_EQ(pkt->qkey, QKEY);
		raw_stop(&r);
	}
}

static void datagram_is_one_packet(void)
{
	struct raw r;

	raw_defaults(&r, ROCE_QPT_UD);
	r.dut.config.mtu = 1024;
	raw_start(&r);
	T_EQ(post(&r, 1, QKEY, 1024), 0);
	T_EQ(raw_expect(&r, "fits", ROCE_OP_UD_SEND_ONLY_IMM, RAW_SQ_PSN)->payload_length, 1024);
	raw_expect_wc(&r, "fits", 1, ROCE_WC_SUCCESS);
	T_EQ(post(&r, 2, QKEY, 1025), 0);
	raw_expect_silence(&r, "does not fit");
	raw_expect_wc(&r, "does not fit", 2, ROCE_WC_LOC_LEN_ERR);
	raw_stop(&r);
}

/* A UD QP with a bad send goes to SQE: receives still work, sends are flushed (IBTA 10.3.1.6). */
static void send_error_leaves_the_receives(void)
{
	struct roce_qp_attr attr = {.state = ROCE_QPS_RTS};
	struct raw r;

	start(&r, NODE_GID_IP4);
	raw_post_recv(&r, 5, 0, 100);
	T_EQ(post(&r, 1, QKEY, 5000), 0);
	raw_expect_wc(&r, "too long", 1, ROCE_WC_LOC_LEN_ERR);
	T_EQ(roce_qp_state(r.qp), ROCE_QPS_SQE);
	T_EQ(post(&r, 2, QKEY, 8), 0);
	raw_expect_wc(&r, "in SQE", 2, ROCE_WC_WR_FLUSH_ERR);
	datagram(&r, QKEY, 5);
	check_wc(&r, "receive in SQE", 5, 0);
	T_EQ(roce_qp_modify(r.qp, r.dut.now, &attr, ROCE_QP_STATE), 0);
	T_EQ(post(&r, 3, QKEY, 8), 0);
	raw_expect_wc(&r, "in RTS", 3, ROCE_WC_SUCCESS);
	raw_stop(&r);
}

T_MAIN("roce_ud", T_CASE(payload_stands_behind_40_bytes),
       T_CASE(receive_with_immediate_and_nothing), T_CASE(list_cuts_through_the_grh),
       T_CASE(too_small_a_receive_says_so), T_CASE(what_is_dropped_is_counted),
       T_CASE(datagrams_go_where_the_request_says), T_CASE(datagram_is_one_packet),
       T_CASE(send_error_leaves_the_receives), )
