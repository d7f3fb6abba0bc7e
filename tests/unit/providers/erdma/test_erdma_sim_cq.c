/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Completion queues: what an arming waits for, laps of the ring, and rings that overflow. */
#include <endian.h>
#include <string.h>

#include "tests/lib/t.h"
#include "tests/unit/providers/erdma/erdma_guest.h"

struct world {
	struct guest_pair p;
	struct guest_end a, b;
};

static bool world_make(struct world *w)
{
	return T_TRUE(guest_pair(&w->p)) && T_TRUE(guest_connect(&w->p, &w->a, &w->b));
}

static void world_end(struct world *w)
{
	guest_pair_stop(&w->p);
}

/* A SEND of nothing from a to b, and the receive for it. */
static void send_one(struct world *w, bool solicited)
{
	uint64_t sqe[4] = {0};

	guest_recv(&w->b.qp, 0, 0, 0);
	sqe[0] = htole64(nic_prep(ERDMA_SQE_OPCODE, ERDMA_OP_SEND) |
			 nic_prep(ERDMA_SQE_SOLICITED, solicited));
	guest_post(&w->a.qp, sqe, 1);
	guest_run(&w->p.a, 1000000);
}

/* Events of b's CQ since asked last; the EQ is armed again. */
static int events(struct world *w)
{
	int count = 0;

	while (guest_event(&w->p.b, 1) == (int)w->b.cq.cqn) {
		count++;
		w->b.cq.events++;
	}
	guest_arm_eq(&w->p.b, 1);
	return count;
}

static void arming(void)
{
	/* Steps: s = send, S = solicited send, a = arm, A = arm for solicited, p = poll all,
	 * e = expect one event, n = expect none. */
	static const struct {
		const char *name, *steps;
	} rows[] = {
		{"not armed", "sn"},
		{"armed, then a completion", "ase"},
		{"one arming, one event", "asesnsn"},
		{"armed again after polling", "asepase"},
		{"completion before arming, unread", "sae"},
		{"completion before arming, polled", "span"},
		{"solicited only: not for others", "Asnsn"},
		{"solicited only: for one", "ASe"},
		{"solicited only: after others", "AsnSe"},
		{"solicited unread before arming", "SAe"},
		{"others unread before a solicited arming", "sAnSe"},
		{"solicited and polled before arming", "SpAn"},
		{"any beats solicited", "aAse"},
		{"solicited, then any", "Aase"},
	};
	struct erdma_cqe cqe;
	const char *step;
	struct world w;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		T_NEED(world_make(&w));
		for (step = rows[i].steps; *step; step++) {
			switch (*step) {
			case 's':
			case 'S':
				send_one(&w, *step == 'S');
				break;
			case 'a':
			case 'A':
				guest_arm(&w.b.cq, *step == 'A');
				break;
			case 'p':
				while (guest_peek(&w.b.cq, &cqe))
					w.b.cq.ci++;
				break;
			case 'e':
				T_EQ_ROW(rows[i].name, events(&w), 1);
				break;
			default:
				T_EQ_ROW(rows[i].name, events(&w), 0);
			}
		}
		world_end(&w);
	}
}

/* The guest counts events; an arming with a count already answered is on its way to it. */
static void old_armings(void)
{
	struct world w;
	int i;

	T_NEED(world_make(&w));
	guest_arm(&w.b.cq, false);
	send_one(&w, false);
	T_EQ(guest_event(&w.p.b, 1), (int)w.b.cq.cqn);
	/* Not counted by the guest yet. */
	guest_arm(&w.b.cq, false);
	send_one(&w, false);
	T_EQ(guest_event(&w.p.b, 1), -1);
	for (i = 1; i < 10; i++) {
		w.b.cq.events = (unsigned int)i;
		guest_arm(&w.b.cq, false);
		T_EQ(guest_event(&w.p.b, 1), (int)w.b.cq.cqn);
		guest_arm_eq(&w.p.b, 1);
	}
	world_end(&w);
}

/* A failed receive wakes whoever waits for solicited ones only. */
static void errors_count_as_solicited(void)
{
	struct world w;

	T_NEED(world_make(&w));
	guest_recv(&w.b.qp, 0, 0, 0);
	guest_arm(&w.b.cq, true);
	T_EQ(guest_modify(&w.b.qp, ERDMA_QPS_ERR, ERDMA_MODIFY_STATE, 0, 0), 0);
	guest_run(&w.p.b, 1000000);
	T_EQ(events(&w), 1);
	world_end(&w);
}

static void ring_goes_round(void)
{
	struct erdma_cqe cqe;
	struct world w;
	int i;

	T_NEED(world_make(&w));
	/* 256 entries: nearly four laps, owner bit 1, 0, 1, 0. */
	for (i = 0; i < 1000; i++) {
		send_one(&w, false);
		if (!T_TRUE(guest_wait(&w.b.cq, &cqe)))
			break;
		T_EQ(be32toh(cqe.wqe_index), i);
		T_EQ(be32toh(cqe.hdr) >> 31, !(i & 256));
	}
	world_end(&w);
}

static void overflow_shows_when_armed(void)
{
	struct world w;
	int i;

	T_NEED(world_make(&w));
	for (i = 0; i < 257; i++)
		send_one(&w, false);
	/* Nobody can know: the guest may have polled. */
	T_EQ(guest_async(&w.p.b), -1);
	guest_arm(&w.b.cq, false);
	T_EQ(guest_async(&w.p.b), (int64_t)ERDMA_EVENT_CQ_ERROR << 24 | w.b.cq.cqn);
	guest_arm(&w.b.cq, false);
	T_EQ(guest_async(&w.p.b), -1);
	/* From now on its QPs fail: no completion can be told. */
	send_one(&w, false);
	T_EQ(guest_qp_state(&w.b.qp), ERDMA_QPS_ERR);
	world_end(&w);
}

/* The guest takes the ring's memory away. */
static void ring_vanishes(void)
{
	struct world w;

	T_NEED(world_make(&w));
	sim_local_remove_memory(w.p.b.dev, GUEST_BASE, GUEST_MEMORY);
	send_one(&w, false);
	sim_local_add_memory(w.p.b.dev, GUEST_BASE, w.p.b.memory, GUEST_MEMORY, true);
	T_EQ(guest_qp_state(&w.b.qp), ERDMA_QPS_ERR);
	world_end(&w);
}

T_MAIN("erdma_sim_cq", T_CASE(arming), T_CASE(old_armings), T_CASE(errors_count_as_solicited),
       T_CASE(ring_goes_round), T_CASE(overflow_shows_when_armed), T_CASE(ring_vanishes))
