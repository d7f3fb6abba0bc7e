/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Event queues: entries byte by byte, arming, firing again, and queues that are full. */
#include <endian.h>
#include <string.h>

#include "tests/lib/t.h"
#include "tests/unit/providers/erdma/erdma_guest.h"

enum { CQS = 20 }; /* more than CEQ 1 has entries: 16 */

struct world {
	struct guest_pair p;
	struct guest_end a, b;
	struct guest_cq cqs[CQS]; /* of guest a */
	struct guest_qp qps[CQS];
};

/* CQs and QPs of their own, all QPs in ERR: a receive posted there is flushed at once. */
static bool world_make(struct world *w)
{
	uint32_t i;

	if (!guest_pair(&w->p))
		return false;
	for (i = 0; i < CQS; i++)
		if (guest_create_cq(&w->p.a, &w->cqs[i], 100 + i, 4) ||
		    guest_create_qp(&w->p.a, &w->qps[i], 100 + i, 100 + i, false) ||
		    guest_modify(&w->qps[i], ERDMA_QPS_ERR, ERDMA_MODIFY_STATE, 0, 0))
			return false;
	guest_irqs(&w->p.a, 1);
	return true;
}

static void world_end(struct world *w)
{
	guest_pair_stop(&w->p);
}

static void complete_one(struct world *w, unsigned int i)
{
	guest_recv(&w->qps[i], 0, 0, 0);
	guest_run(&w->p.a, 1000);
}

static void entry_bytes(void)
{
	/* Owner bit 31, CQN 100; the producer index of the CQ in the upper half. */
	static const uint8_t want[16] = {0x64, 0, 0, 0x80, 1};
	struct world w;

	T_NEED(world_make(&w));
	guest_arm(&w.cqs[0], false);
	complete_one(&w, 0);
	T_BYTES(guest_at(&w.p.a, w.p.a.eq[1]), want, sizeof(want));
	T_EQ(guest_irqs(&w.p.a, 1), 1);
	world_end(&w);
}

static void fires_once_until_armed(void)
{
	struct world w;

	T_NEED(world_make(&w));
	guest_arm(&w.cqs[0], false);
	guest_arm(&w.cqs[1], false);
	complete_one(&w, 0);
	complete_one(&w, 1);
	T_EQ(guest_irqs(&w.p.a, 1), 1);
	T_EQ(guest_event(&w.p.a, 1), 100);
	/* The driver arms after a bounded number of entries: one is left, so it fires again. */
	guest_arm_eq(&w.p.a, 1);
	T_EQ(guest_irqs(&w.p.a, 1), 1);
	T_EQ(guest_event(&w.p.a, 1), 101);
	T_EQ(guest_event(&w.p.a, 1), -1);
	guest_arm_eq(&w.p.a, 1);
	guest_arm_eq(&w.p.a, 1);
	T_EQ(guest_irqs(&w.p.a, 1), 0);
	/* Armed and empty: the next entry fires. */
	w.cqs[0].events = w.cqs[1].events = 1;
	w.cqs[0].ci++;
	guest_arm(&w.cqs[0], false);
	complete_one(&w, 0);
	T_EQ(guest_irqs(&w.p.a, 1), 1);
	world_end(&w);
}

static void nothing_is_lost_when_full(void)
{
	struct erdma_cmd_destroy_cq destroy = {.cqn = htole32(117)};
	struct erdma_cmd_qpn qpn = {.qpn = htole32(117)};
	bool seen[CQS] = {false};
	struct world w;
	int cqn, i, count = 0;

	T_NEED(world_make(&w));
	for (i = 0; i < CQS; i++) {
		guest_arm(&w.cqs[i], false);
		complete_one(&w, (unsigned int)i);
	}
	T_EQ(guest_counter(&w.p.a, "eq_full"), CQS - 16);
	/* One of those that wait goes meanwhile. */
	T_EQ(guest_modify(&w.qps[17], ERDMA_QPS_RESET, ERDMA_MODIFY_STATE, 0, 0), 0);
	T_EQ(guest_command(&w.p.a, ERDMA_COMMAND_DESTROY_QP, &qpn, sizeof(qpn)), 0);
	T_EQ(guest_command(&w.p.a, ERDMA_COMMAND_DESTROY_CQ, &destroy, sizeof(destroy)), 0);
	while ((cqn = guest_event(&w.p.a, 1)) >= 0) {
		T_NEED(cqn >= 100 && cqn < 100 + CQS);
		seen[cqn - 100] = true;
		count++;
		guest_arm_eq(&w.p.a, 1);
	}
	T_EQ(count, CQS - 1);
	for (i = 0; i < CQS; i++)
		T_EQ(seen[i], i != 17);
	world_end(&w);
}

static void ring_goes_round(void)
{
	struct world w;
	int i;

	T_NEED(world_make(&w));
	for (i = 0; i < 100; i++) {
		w.cqs[0].events = (unsigned int)i;
		w.cqs[0].ci = (uint32_t)i;
		guest_arm(&w.cqs[0], false);
		complete_one(&w, 0);
		if (!T_EQ(guest_event(&w.p.a, 1), 100))
			break;
		guest_arm_eq(&w.p.a, 1);
		T_EQ(guest_irqs(&w.p.a, 1), 1);
	}
	world_end(&w);
}

static void doorbells_out_of_line(void)
{
	static const struct {
		const char *name;
		uint64_t offset, value;
	} rows[] = {
		{"index ahead of the NIC", ERDMA_REG_EQ_DB + 8, 0x80000001},
		{"index far behind", ERDMA_REG_EQ_DB + 8, 0x80800000},
		{"EQ that is not", ERDMA_REG_EQ_DB + 16, 0x80000000},
		{"AEQ index ahead", ERDMA_REG_AEQ_DB, 0x80000001},
	};
	struct world w;
	uint64_t bad;
	size_t i;

	T_NEED(world_make(&w));
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bad = guest_counter(&w.p.a, "bad_doorbells");
		guest_write64(&w.p.a, rows[i].offset, rows[i].value);
		T_EQ_ROW(rows[i].name, guest_counter(&w.p.a, "bad_doorbells"), bad + 1);
	}
	guest_arm(&w.cqs[0], false);
	complete_one(&w, 0);
	T_EQ(guest_event(&w.p.a, 1), 100);
	world_end(&w);
}

/* Without its EQ a CQ goes on, and an EQ of the same number starts anew. */
static void destroyed_under_its_cq(void)
{
	struct erdma_cmd_destroy_eq req = {.eqn = 1, .type = ERDMA_EQ_TYPE_COMPLETION};
	struct erdma_cqe cqe;
	struct world w;

	T_NEED(world_make(&w));
	guest_arm(&w.cqs[0], false);
	T_EQ(guest_command(&w.p.a, ERDMA_COMMAND_DESTROY_EQ, &req, sizeof(req)), 0);
	complete_one(&w, 0);
	T_TRUE(guest_peek(&w.cqs[0], &cqe));
	T_EQ(guest_irqs(&w.p.a, 1), 0);
	T_EQ(guest_create_eq(&w.p.a, 1, 4), 0);
	guest_arm(&w.cqs[1], false);
	complete_one(&w, 1);
	T_EQ(guest_event(&w.p.a, 1), 101);
	world_end(&w);
}

T_MAIN("erdma_sim_eq", T_CASE(entry_bytes), T_CASE(fires_once_until_armed),
       T_CASE(nothing_is_lost_when_full), T_CASE(ring_goes_round), T_CASE(doorbells_out_of_line),
       T_CASE(destroyed_under_its_cq))
