/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The NIC: what it lets in, what it counts, how many objects it holds, what a reset leaves. */
#include "tests/lib/t.h"
#include "tests/unit/sim/engine/roce_raw.h"

#include <errno.h>
#include <string.h>

static void start(struct raw *r)
{
	raw_defaults(r, ROCE_QPT_RC);
	raw_start(r);
	raw_post_recv(r, 1, 0, 64);
}

/* One thing wrong with a packet that is else good; it is dropped for just that reason. */
struct stranger {
	const char *name;
	enum roce_drop want;
	void (*change)(struct raw *r, struct roce_pkt *pkt);
};

static void other_mac(struct raw *r, struct roce_pkt *pkt)
{
	(void)pkt;
	r->path.dmac[5]++;
}

static void other_destination(struct raw *r, struct roce_pkt *pkt)
{
	(void)pkt;
	r->path.dgid[15] = 99;
}

static void other_source(struct raw *r, struct roce_pkt *pkt)
{
	(void)pkt;
	r->path.sgid[15] = 99;
}

static void other_vlan(struct raw *r, struct roce_pkt *pkt)
{
	(void)pkt;
	r->path.vlan = NODE_VLAN + 1;
}

static void other_net(struct raw *r, struct roce_pkt *pkt)
{
	(void)pkt;
	r->path.net = ROCE_NET_V1;
}

static void unknown_qp(struct raw *r, struct roce_pkt *pkt)
{
	(void)r;
	pkt->dqpn = 0x123;
}

static void other_pkey(struct raw *r, struct roce_pkt *pkt)
{
	(void)r;
	pkt->pkey = 0x8001;
}

static void uc_opcode(struct raw *r, struct roce_pkt *pkt)
{
	(void)r;
	pkt->op = roce_op_find(ROCE_OP_UC_SEND_ONLY);
}

static void ud_opcode(struct raw *r, struct roce_pkt *pkt)
{
	(void)r;
	pkt->op = roce_op_find(ROCE_OP_UD_SEND_ONLY);
}

static void reset_qp(struct raw *r, struct roce_pkt *pkt)
{
	(void)pkt;
	T_EQ(node_modify(&r->dut, r->qp, ROCE_QPS_RESET), 0);
}

static const struct stranger strangers[] = {
	{"MAC", ROCE_DROP_DMAC, other_mac},
	{"destination GID", ROCE_DROP_DGID, other_destination},
	{"source GID", ROCE_DROP_SGID, other_source},
	{"VLAN", ROCE_DROP_VLAN, other_vlan},
	{"RoCE version", ROCE_DROP_DGID, other_net},
	{"QP number", ROCE_DROP_QPN, unknown_qp},
	{"P_Key", ROCE_DROP_PKEY, other_pkey},
	{"UC opcode", ROCE_DROP_QP_TYPE, uc_opcode},
	{"UD opcode", ROCE_DROP_QP_TYPE, ud_opcode},
	{"QP in RESET", ROCE_DROP_QP_STATE, reset_qp},
};

static void strangers_are_dropped_and_counted(void)
{
	struct roce_counters want;
	struct roce_pkt pkt;
	struct raw r;
	size_t i;

	for (i = 0; i < sizeof(strangers) / sizeof(strangers[0]); i++) {
		start(&r);
		raw_pkt(&r, &pkt, ROCE_OP_RC_SEND_ONLY, RAW_RQ_PSN);
		strangers[i].change(&r, &pkt);
		want = *roce_nic_counters(r.dut.nic);
		raw_send(&r, &pkt, NULL, 8);
		roce_drop_count(&want, strangers[i].want);
		want.rx_packets++;
		want.rx_bytes = roce_nic_counters(r.dut.nic)->rx_bytes;
		T_BYTES_ROW(strangers[i].name, roce_nic_counters(r.dut.nic), &want, sizeof(want));
		raw_expect_no_wc(&r, strangers[i].name);
		raw_expect_silence(&r, strangers[i].name);
		raw_stop(&r);
	}
}

static void malformed_frames_are_counted(void)
{
	uint8_t frame[64] = {0};
	struct raw r;

	start(&r);
	node_input(&r.dut, frame, 0);
	node_input(&r.dut, frame, 13);
	T_EQ(roce_nic_counters(r.dut.nic)->drop_runt, 2);
	node_input(&r.dut, frame, sizeof(frame));
	T_EQ(roce_nic_counters(r.dut.nic)->drop_not_roce, 1);
	T_EQ(roce_nic_counters(r.dut.nic)->rx_packets, 3);
	T_EQ(roce_nic_counters(r.dut.nic)->rx_bytes, 13 + sizeof(frame));
	raw_stop(&r);
}

static void all_kinds_of_network_work(void)
{
	struct raw r;
	unsigned int gid;

	for (gid = 0; gid < NODE_GIDS; gid++) {
		raw_defaults(&r, ROCE_QPT_RC);
		r.gid = gid;
		r.attr.av.sl = 3;
		raw_start(&r);
		raw_post_recv(&r, 1, 0, 64);
		raw_request(&r, ROCE_OP_RC_SEND_ONLY, RAW_RQ_PSN, "hello", 5);
		raw_expect_ack(&r, "ACK", RAW_RQ_PSN, RAW_ACK);
		T_EQ(r.pkt.path.pcp, gid == NODE_GID_VLAN ? 3 : 0);
		raw_expect_wc(&r, "SEND", 1, ROCE_WC_SUCCESS);
		T_BYTES(r.mr->bytes, "hello", 5);
		raw_stop(&r);
	}
}

static void cleared_gid_receives_nothing(void)
{
	struct raw r;

	start(&r);
	T_EQ(roce_gid_set(r.dut.nic, NODE_GID_IP4, NULL, ROCE_NET_V2_IPV4, 0xffff), 0);
	raw_request(&r, ROCE_OP_RC_SEND_ONLY, RAW_RQ_PSN, NULL, 8);
	raw_expect_silence(&r, "no address");
	T_EQ(roce_nic_counters(r.dut.nic)->drop_dgid, 1);
	T_EQ(roce_gid_set(r.dut.nic, 1000, NULL, ROCE_NET_V1, 0xffff), -EINVAL);
	raw_stop(&r);
}

/* One source port for a flow, others for other flows (A17.9.4). */
static void source_port_is_of_the_flow(void)
{
	uint16_t first;
	struct raw r;

	start(&r);
	raw_post(&r, 1, ROCE_WR_SEND, 0, 3000);
	raw_expect(&r, "SEND", ROCE_OP_RC_SEND_FIRST, RAW_SQ_PSN);
	first = r.pkt.path.udp_sport;
	T_EQ(first, roce_udp_sport(0, RAW_QPN, RAW_PEER_QPN));
	raw_expect(&r, "SEND", ROCE_OP_RC_SEND_MIDDLE, RAW_SQ_PSN + 1);
	T_EQ(r.pkt.path.udp_sport, first);
	raw_stop(&r);
	raw_defaults(&r, ROCE_QPT_RC);
	r.attr.av.udp_sport = 0xdead;
	raw_start(&r);
	raw_post(&r, 1, ROCE_WR_SEND, 0, 8);
	raw_expect(&r, "SEND", ROCE_OP_RC_SEND_ONLY, RAW_SQ_PSN);
	T_EQ(r.pkt.path.udp_sport, 0xdead);
	raw_stop(&r);
}

static void reset_destroys_everything(void)
{
	struct raw r;
	uint64_t packets;

	start(&r);
	raw_post(&r, 1, ROCE_WR_SEND, 0, 3000);
	packets = roce_nic_counters(r.dut.nic)->tx_packets;
	roce_nic_reset(r.dut.nic);
	T_TRUE(roce_qp_find(r.dut.nic, RAW_QPN) == NULL);
	T_TRUE(roce_cq_find(r.dut.nic, 2 * RAW_QPN) == NULL);
	T_TRUE(roce_mr_find(r.dut.nic, RAW_KEY) == NULL);
	T_EQ(roce_nic_next(r.dut.nic), UINT64_MAX);
	T_EQ(roce_nic_counters(r.dut.nic)->tx_packets, packets);
	raw_expect_no_wc(&r, "no completion");
	raw_forget(&r);
	raw_request(&r, ROCE_OP_RC_SEND_ONLY, RAW_RQ_PSN, NULL, 8);
	raw_expect_silence(&r, "no QP");
	raw_stop(&r);
}

/* As many objects as are promised; an idle QP costs little, and all of it comes back. */
static void objects_of_a_large_nic(void)
{
	enum { QPS = 16384, MRS = 65536, CQS = 1024 };
	struct roce_qp_init init = {.max_send_wr = 32768, .max_recv_wr = 32768};
	struct roce_mr_attr attr = {.length = 4096, .valid = true};
	struct roce_cq *cqs[CQS];
	struct roce_qp *qp;
	struct roce_mr *mr;
	struct node n;
	uint32_t i;

	node_defaults(&n, 1);
	n.config.max_qp = QPS;
	n.config.max_mr = MRS;
	n.config.max_cq = CQS;
	node_start(&n);
	for (i = 0; i < CQS; i++)
		T_EQ(roce_cq_create(n.nic, i, NULL, &cqs[i]), 0);
	T_TRUE(roce_cq_create(n.nic, CQS, NULL, &cqs[0]) < 0);
	for (i = 0; i < QPS; i++) {
		init.qpn = i * 7 + 2;
		init.send_cq = init.recv_cq = cqs[1 + i % (CQS - 1)];
		T_EQ(roce_qp_create(n.nic, &init, &qp), 0);
	}
	init.qpn = 1;
	T_TRUE(roce_qp_create(n.nic, &init, &qp) < 0);
	for (i = 0; i < MRS; i++) {
		attr.key = i << 8;
		T_EQ(roce_mr_create(n.nic, &attr, &mr), 0);
	}
	attr.key = MRS << 8;
	T_TRUE(roce_mr_create(n.nic, &attr, &mr) < 0);
	T_TRUE(roce_qp_find(n.nic, 777 * 7 + 2) != NULL);
	T_TRUE(roce_qp_find(n.nic, 3) == NULL);
	T_TRUE(n.allocated < 64u << 20);
	node_stop(&n);
}

T_MAIN("roce_nic", T_CASE(strangers_are_dropped_and_counted), T_CASE(malformed_frames_are_counted),
       T_CASE(all_kinds_of_network_work), T_CASE(cleared_gid_receives_nothing),
       T_CASE(source_port_is_of_the_flow), T_CASE(reset_destroys_everything),
       T_CASE(objects_of_a_large_nic), )
