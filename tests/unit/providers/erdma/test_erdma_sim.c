/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The class as a whole: personalities, MTU, loss, UD with several peers, counters, many objects. */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "tests/lib/t.h"
#include "tests/unit/providers/erdma/erdma_guest.h"

static void personalities(void)
{
	static const struct {
		const char *name;
		int err;
		uint32_t caps, qblocks;
	} rows[] = {
		{NULL, 0, 0xa8, 32},   {"default", 0, 0xa8, 32},     {"shared-db", 0, 0xa0, 32},
		{"small", 0, 0x08, 1}, {"none such", -EINVAL, 0, 0}, {"", -EINVAL, 0, 0},
	};
	struct erdma_cmd_none req;
	struct sim_loop *loop;
	struct guest g;
	size_t i;

	T_NEED(!sim_loop_create(true, &loop));
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct sim_nic_config config = {.name = "n", .personality = rows[i].name};
		const char *name = rows[i].name ? rows[i].name : "(default)";
		struct sim_pci_config pci = {0};

		T_EQ_ROW(name, sim_class_erdma.describe(&config, &pci), rows[i].err);
		if (rows[i].err)
			continue;
		guest_start(&g, loop, 1, rows[i].name);
		T_TRUE_ROW(name, guest_probe(&g));
		T_EQ(guest_command(&g, ERDMA_COMMAND_QUERY_DEVICE, &req, sizeof(req)), 0);
		T_EQ_ROW(name, nic_pick(g.resp0, ERDMA_DEVICE_FLAGS), rows[i].caps);
		T_EQ_ROW(name, nic_pick(g.resp1, ERDMA_DEVICE_QBLOCKS), rows[i].qblocks);
		/* No stag may be the local key: stags are index << 8, below this. */
		T_EQ_ROW(name, nic_pick(g.resp1, ERDMA_DEVICE_LOCAL_LKEY),
			 (2 * 1024 * rows[i].qblocks) << 8);
		guest_stop(&g);
	}
	sim_loop_destroy(loop);
}

struct write_wqe {
	struct erdma_sqe_write w;
	struct erdma_sge sge[2];
};

static void write_all(struct guest_end *from, struct guest_end *to, uint32_t length)
{
	struct write_wqe wqe = {
		.w = {.head.hdr =
			      htole64(nic_prep(ERDMA_SQE_OPCODE, ERDMA_OP_WRITE) |
				      nic_prep(ERDMA_SQE_SGL, 1) | nic_prep(ERDMA_SQE_SIGNALED, 1)),
		      .rkey = htole32(to->key),
		      .remote_low = htole32((uint32_t)to->buffer),
		      .remote_high = htole32((uint32_t)(to->buffer >> 32))},
		.sge = {{htole64(from->buffer), htole32(length), htole32(from->key)}},
	};

	guest_post(&from->qp, &wqe, 2);
}

/* Path MTU: the largest that fits, at RTR. 64 KiB are 64 packets of 1024, or 16 of 4096. */
static void mtu(void)
{
	static const struct {
		uint32_t mtu, packets;
	} rows[] = {{1500, 64}, {4200, 16}, {9000, 16}, {1119, 128}, {68, 256}};
	struct erdma_cmd_conf_mtu req;
	struct guest_end a, b;
	struct guest_pair p;
	struct erdma_cqe cqe;
	unsigned int before;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		T_NEED(guest_pair(&p));
		sim_dev_port_changed(p.a.dev, true, 9216);
		sim_dev_port_changed(p.b.dev, true, 9216);
		req = (struct erdma_cmd_conf_mtu){.mtu = htole32(rows[i].mtu)};
		T_EQ(guest_command(&p.a, ERDMA_COMMAND_CONF_MTU, &req, sizeof(req)), 0);
		req = (struct erdma_cmd_conf_mtu){.mtu = htole32(rows[i].mtu)};
		T_EQ(guest_command(&p.b, ERDMA_COMMAND_CONF_MTU, &req, sizeof(req)), 0);
		T_NEED(guest_connect(&p, &a, &b));
		before = p.a.sent;
		write_all(&a, &b, 65536);
		T_TRUE(guest_wait(&a.cq, &cqe));
		T_EQ(p.a.sent - before, rows[i].packets);
		guest_pair_stop(&p);
	}
}

static void survives_loss(void)
{
	struct guest_end a, b;
	struct guest_pair p;
	struct erdma_cqe cqe;
	uint8_t *bytes;
	int i, k;

	T_NEED(guest_pair(&p) && guest_connect(&p, &a, &b));
	bytes = guest_at(&p.a, a.buffer);
	for (i = 0; i < 50; i++) {
		for (k = 0; k < 65536; k++)
			bytes[k] = (uint8_t)(i + k * 3);
		write_all(&a, &b, 65536);
		/* Loses a data packet, or an acknowledgement, somewhere. */
		p.a.lose = i & 1;
		p.b.lose = i & 2;
		if (!T_TRUE(guest_wait(&a.cq, &cqe)))
			break;
		T_EQ(be32toh(cqe.hdr) & 0xff, 0);
		T_BYTES(guest_at(&p.b, b.buffer), bytes, 65536);
	}
	T_TRUE(guest_counter(&p.a, "retransmitted") > 0);
	guest_pair_stop(&p);
}

static void ud_handles_must_fit(void)
{
	struct erdma_cmd_create_ah ah = {.pdn = htole32(GUEST_PD + 1), .ahn = htole32(0)};
	static const struct {
		const char *name;
		uint32_t ahn, qkey;
		uint8_t status;
		bool arrives;
	} rows[] = {
		{"good", 1, GUEST_QKEY, ERDMA_STATUS_SUCCESS, true},
		{"handle that is not", 2, GUEST_QKEY, ERDMA_STATUS_SEND_FORMAT, false},
		{"handle of another PD", 0, GUEST_QKEY, ERDMA_STATUS_SEND_FORMAT, false},
		{"handle beyond", UINT32_MAX, GUEST_QKEY, ERDMA_STATUS_SEND_FORMAT, false},
		{"Q_Key of another", 1, GUEST_QKEY + 1, ERDMA_STATUS_SUCCESS, false},
	};
	struct erdma_cqe cqe;
	struct guest_pair p;
	struct guest_end a, b;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct erdma_sqe_ud wqe = {
			.head.hdr = htole64(nic_prep(ERDMA_SQE_OPCODE, ERDMA_OP_SEND) |
					    nic_prep(ERDMA_SQE_SIGNALED, 1)),
			.qkey = htole32(rows[i].qkey),
			.qpn = htole32(6),
			.ahn = htole32(rows[i].ahn),
		};

		T_NEED(guest_pair(&p));
		T_NEED(guest_make_end(&p.a, &a, 5, true) && guest_make_end(&p.b, &b, 6, true));
		T_NEED(guest_bring_up(&a.qp, 0, 0) && guest_bring_up(&b.qp, 0, 0));
		guest_set_av(&ah.av, 2);
		ah.pdn = htole32(GUEST_PD + 1);
		ah.ahn = 0;
		T_EQ(guest_command(&p.a, ERDMA_COMMAND_CREATE_AH, &ah, sizeof(ah)), 0);
		ah.pdn = htole32(GUEST_PD);
		ah.ahn = htole32(1);
		T_EQ(guest_command(&p.a, ERDMA_COMMAND_CREATE_AH, &ah, sizeof(ah)), 0);
		guest_recv(&b.qp, b.buffer, 100, b.key);
		guest_post(&a.qp, &wqe, 1);
		T_TRUE_ROW(rows[i].name, guest_wait(&a.cq, &cqe));
		T_EQ_ROW(rows[i].name, be32toh(cqe.hdr) & 0xff, rows[i].status);
		guest_run(&p.b, 1000000);
		T_EQ_ROW(rows[i].name, guest_peek(&b.cq, &cqe), rows[i].arrives);
		guest_pair_stop(&p);
	}
}

/* The UD header of the CQE, for both families: v6 bit, source QPN. */
static void ud_over_ipv6(void)
{
	struct erdma_cmd_create_ah ah = {.pdn = htole32(GUEST_PD), .ahn = htole32(1)};
	struct erdma_sqe_ud wqe = {
		.head.hdr = htole64(nic_prep(ERDMA_SQE_OPCODE, ERDMA_OP_SEND_IMM)),
		.immediate = htobe32(7),
		.qkey = htole32(GUEST_QKEY),
		.qpn = htole32(6),
		.ahn = htole32(1),
	};
	struct erdma_cqe cqe;
	struct guest_pair p;
	struct guest_end a, b;
	uint8_t want[32];

	T_NEED(guest_pair(&p));
	T_NEED(guest_make_end(&p.a, &a, 5, true) && guest_make_end(&p.b, &b, 6, true));
	T_NEED(guest_bring_up(&a.qp, 0, 0) && guest_bring_up(&b.qp, 0, 0));
	guest_set_av(&ah.av, 2);
	ah.av.cfg = htole32(nic_prep(ERDMA_AV_V6, 1) | nic_prep(ERDMA_AV_FLOW_LABEL, 0x12345));
	ah.av.sgid_index = htole16(1);
	memset(ah.av.dgid, 0, 16);
	ah.av.dgid[0] = 0xfd;
	ah.av.dgid[15] = 2;
	T_EQ(guest_command(&p.a, ERDMA_COMMAND_CREATE_AH, &ah, sizeof(ah)), 0);
	guest_recv(&b.qp, b.buffer, 100, b.key);
	guest_post(&a.qp, &wqe, 1);
	T_TRUE(guest_wait(&b.cq, &cqe));
	t_hex("800c010000000000000000060700000000000028000000000000000080000005", want, 32);
	T_BYTES(&cqe, want, 32);
	/* Version 6, flow label 0x12345, in the header before the payload. */
	t_hex("60012345", want, 4);
	T_BYTES(guest_at(&p.b, b.buffer), want, 4);
	guest_pair_stop(&p);
}

static void statistics_count(void)
{
	struct erdma_cmd_get_stats req = {.length = htole32(256)};
	struct erdma_stats *stats;
	struct guest_end a, b;
	struct guest_pair p;
	struct erdma_cqe cqe;
	uint64_t at;

	T_NEED(guest_pair(&p) && guest_connect(&p, &a, &b));
	write_all(&a, &b, 10000);
	T_TRUE(guest_wait(&a.cq, &cqe));
	at = guest_alloc(&p.a, 256, 256);
	req.addr = htole64(at);
	T_EQ(guest_command(&p.a, ERDMA_COMMAND_GET_STATS, &req, sizeof(req)), 0);
	stats = guest_at(&p.a, at);
	T_EQ(le64toh(stats->counter[ERDMA_COUNTER_TX_REQUESTS]), 1);
	T_EQ(le64toh(stats->counter[ERDMA_COUNTER_TX_PACKETS]), 10);
	T_TRUE(le64toh(stats->counter[ERDMA_COUNTER_TX_BYTES]) > 10000);
	T_TRUE(le64toh(stats->counter[ERDMA_COUNTER_RX_PACKETS]) > 0);
	guest_pair_stop(&p);
}

/* As many QPs as there are, each with its number, then none. */
static void all_queue_pairs(void)
{
	struct erdma_cmd_create_qp req, copy;
	struct sim_loop *loop;
	struct guest_cq cq;
	struct guest g;
	uint32_t i;

	T_NEED(!sim_loop_create(true, &loop));
	guest_start(&g, loop, 1, NULL);
	T_NEED(guest_probe(&g));
	T_EQ(guest_create_cq(&g, &cq, 1, 4), 0);
	req = guest_qp_request(&g, 1, 1);
	for (i = 1; i < 32768; i++) {
		copy = req;
		nic_set(&copy, ERDMA_CREATE_QP_QPN, i);
		if (!T_EQ(guest_command(&g, ERDMA_COMMAND_CREATE_QP, &copy, sizeof(copy)), 0))
			break;
	}
	guest_write32(&g, ERDMA_REG_CONTROL, ERDMA_CONTROL_RESET);
	guest_stop(&g);
	sim_loop_destroy(loop);
}

T_MAIN("erdma_sim", T_CASE(personalities), T_CASE(mtu), T_CASE(survives_loss),
       T_CASE(ud_handles_must_fit), T_CASE(ud_over_ipv6), T_CASE(statistics_count),
       T_CASE(all_queue_pairs))
