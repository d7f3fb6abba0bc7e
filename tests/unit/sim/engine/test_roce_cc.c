/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Congestion: who marks what, who is told, and who slows down. */
#include "tests/lib/t.h"
#include "tests/unit/sim/engine/roce_raw.h"

#include <stdlib.h>

enum { MTU = 1024, MS = 1000000 };

static void start(struct raw *r, bool ecn)
{
	raw_defaults(r, ROCE_QPT_RC);
	r->dut.config.ecn = ecn;
	r->dut.config.cnp_dscp = 48;
	r->dut.config.cnp_interval_ns = 50000;
	r->dut.config.link_bps = 1000000000;
	r->attr.av.traffic_class = 0x68;
	raw_start(r);
}

static void packets_are_ect_where_ecn_is_on(void)
{
	struct raw r;
	int ecn;

	for (ecn = 0; ecn < 2; ecn++) {
		start(&r, ecn);
		raw_post(&r, 1, ROCE_WR_SEND, 0, 8);
		T_EQ(raw_expect(&r, "SEND", ROCE_OP_RC_SEND_ONLY, RAW_SQ_PSN)->path.traffic_class,
		     ecn ? 0x6a : 0x68);
		raw_stop(&r);
	}
}

static void marked(struct raw *r, uint32_t psn)
{
	r->path.traffic_class = 0x6b;
	raw_write(r, ROCE_OP_RC_WRITE_ONLY, psn, 0, 8, 8);
	r->path.traffic_class = 0x6a;
}

/* Takes what was sent; returns how many of it were CNPs, and checks those (A17.9.3). */
static unsigned int take_cnps(struct raw *r)
{
	struct node_frame *frame;
	unsigned int count = 0;
	struct roce_pkt pkt;
	enum roce_drop drop;

	while ((frame = node_take_frame(&r->dut))) {
		if (T_TRUE(roce_frame_parse(frame->bytes, frame->length, &pkt, &drop)) &&
		    pkt.op->kind == ROCE_KIND_CNP) {
			T_TRUE(pkt.becn && !pkt.ack_req);
			T_EQ(pkt.dqpn, RAW_PEER_QPN);
			T_EQ(pkt.path.traffic_class >> 2, 48);
			T_BYTES(pkt.path.dgid, r->path.sgid, 16);
			count++;
		}
		free(frame);
	}
	return count;
}

static void marked_packets_are_answered_now_and_then(void)
{
	struct raw r;
	uint32_t i;

	start(&r, true);
	for (i = 0; i < 5; i++)
		marked(&r, RAW_RQ_PSN + i);
	T_EQ(take_cnps(&r), 1);
	node_advance(&r.dut, 49999);
	marked(&r, RAW_RQ_PSN + i++);
	T_EQ(take_cnps(&r), 0);
	node_advance(&r.dut, 2);
	marked(&r, RAW_RQ_PSN + i++);
	T_EQ(take_cnps(&r), 1);
	T_EQ(roce_nic_counters(r.dut.nic)->ecn_marked_rx, 7);
	T_EQ(roce_nic_counters(r.dut.nic)->cnp_tx, 2);
	raw_stop(&r);
}

static void unmarked_packets_and_deaf_nics_are_silent(void)
{
	struct raw r;

	start(&r, true);
	r.path.traffic_class = 0x6a;
	raw_write(&r, ROCE_OP_RC_WRITE_ONLY, RAW_RQ_PSN, 0, 8, 8);
	T_EQ(take_cnps(&r), 0);
	raw_stop(&r);
	start(&r, false);
	marked(&r, RAW_RQ_PSN);
	T_EQ(take_cnps(&r), 0);
	T_EQ(roce_nic_counters(r.dut.nic)->ecn_marked_rx, 1);
	raw_stop(&r);
}

/* A marked READ response is the requester's to complain about. */
static void marked_response_is_answered_too(void)
{
	struct raw r;

	start(&r, true);
	raw_post(&r, 1, ROCE_WR_READ, 0, 8);
	raw_forget(&r);
	r.path.traffic_class = 0x6b;
	raw_read_response(&r, ROCE_OP_RC_READ_RESPONSE_ONLY, RAW_SQ_PSN, NULL, 8);
	T_EQ(take_cnps(&r), 1);
	raw_expect_wc(&r, "READ", 1, ROCE_WC_SUCCESS);
	raw_stop(&r);
}

/* Time to get `packets` out, each acknowledged at once. */
static uint64_t time_of(struct raw *r, uint32_t *psn, uint32_t packets)
{
	uint64_t begin = r->dut.now;
	uint32_t i;

	for (i = 0; i < packets; i++) {
		raw_post(r, 1, ROCE_WR_WRITE, 0, MTU);
		while (!r->dut.frames && roce_nic_next(r->dut.nic) < begin + 1000 * MS)
			node_advance(&r->dut, roce_nic_next(r->dut.nic) - r->dut.now);
		raw_forget(r);
		raw_ack(r, (*psn)++, RAW_ACK);
	}
	while (node_take_wc(&r->dut))
		;
	return r->dut.now - begin;
}

static void cnp(struct raw *r)
{
	struct roce_pkt pkt;

	roce_frame_cnp(&pkt, RAW_QPN, 0xffff);
	raw_send(r, &pkt, NULL, 0);
}

/* Half the rate at the first CNP, less with each more; in time all of it comes back. */
static void cnps_slow_the_sender_down(void)
{
	uint64_t once, often, wire = 100 * (MTU + 70) * 8; /* ns at 1 Gb/s */
	uint32_t psn = RAW_SQ_PSN, i;
	struct raw r;

	start(&r, true);
	T_EQ(time_of(&r, &psn, 100), 0);
	cnp(&r);
	once = time_of(&r, &psn, 40);
	T_TRUE(once > wire * 40 / 100 / 2);
	for (i = 0; i < 20; i++) {
		cnp(&r);
		node_advance(&r.dut, 51000);
	}
	often = time_of(&r, &psn, 40);
	T_TRUE(often > 2 * once);
	T_EQ(roce_nic_counters(r.dut.nic)->cnp_rx, 21);
	node_advance(&r.dut, 1000ull * MS);
	T_EQ(time_of(&r, &psn, 100), 0);
	raw_stop(&r);
}

static void cnps_do_nothing_where_ecn_is_off(void)
{
	uint32_t psn = RAW_SQ_PSN;
	struct raw r;

	start(&r, false);
	cnp(&r);
	T_EQ(time_of(&r, &psn, 100), 0);
	T_EQ(roce_nic_counters(r.dut.nic)->cnp_rx, 1);
	raw_stop(&r);
}

/* 10 Mb/s: a packet of 1024 bytes takes about 0.87 ms. */
static void rate_limit_is_kept(void)
{
	struct roce_qp_attr attr = {.rate_limit_bps = 10000000};
	uint32_t psn = RAW_SQ_PSN;
	uint64_t took;
	struct raw r;

	start(&r, false);
	T_EQ(roce_qp_modify(r.qp, r.dut.now, &attr, ROCE_QP_RATE_LIMIT), 0);
	took = time_of(&r, &psn, 101);
	T_TRUE(took > 80 * MS && took < 95 * MS);
	attr.rate_limit_bps = 0;
	T_EQ(roce_qp_modify(r.qp, r.dut.now, &attr, ROCE_QP_RATE_LIMIT), 0);
	node_advance(&r.dut, 10 * MS);
	T_EQ(time_of(&r, &psn, 100), 0);
	raw_stop(&r);
}

T_MAIN("roce_cc", T_CASE(packets_are_ect_where_ecn_is_on),
       T_CASE(marked_packets_are_answered_now_and_then),
       T_CASE(unmarked_packets_and_deaf_nics_are_silent), T_CASE(marked_response_is_answered_too),
       T_CASE(cnps_slow_the_sender_down), T_CASE(cnps_do_nothing_where_ecn_is_off),
       T_CASE(rate_limit_is_kept), )
