/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The command queue: completions byte by byte, events, and doorbells that make no sense. */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "tests/lib/t.h"
#include "tests/unit/providers/erdma/erdma_guest.h"

struct world {
	struct sim_loop *loop;
	struct guest g;
};

static bool world_make(struct world *w)
{
	if (sim_loop_create(true, &w->loop))
		return false;
	guest_start(&w->g, w->loop, 1, NULL);
	return guest_probe(&w->g);
}

static void world_end(struct world *w)
{
	guest_stop(&w->g);
	sim_loop_destroy(w->loop);
}

static int query_firmware(struct guest *g)
{
	struct erdma_cmd_none req;

	return guest_command(g, ERDMA_COMMAND_QUERY_FW_INFO, &req, sizeof(req));
}

static void arm(struct guest *g, unsigned int events)
{
	guest_write64(g, ERDMA_REG_CMD_CQ_DB,
		      nic_prep(ERDMA_CQ_DB_ARM, 1) | nic_prep(ERDMA_CQ_DB_EVENTS, events & 3) |
			      nic_prep(ERDMA_CQ_DB_CI, g->cmd_ci));
}

static void completion_bytes(void)
{
	/* Owner, queue 2, status; index of the request; resp0 low and high; resp1. */
	static const struct {
		const char *name;
		int command;
		const char *hex;
	} rows[] = {
		{"firmware", ERDMA_COMMAND_QUERY_FW_INFO,
		 "8000020000000004000100000000000000000000000000000000000000000000"},
		{"device", ERDMA_COMMAND_QUERY_DEVICE,
		 "8000020000000008a80d0d2800051400102000000100000000000000"
		 "00000000"},
		{"unknown", ERDMA_CMD_KEY(0, 99),
		 "8000025f0000000c000000000000000000000000000000000000000000000000"},
	};
	struct erdma_cmd_none req;
	uint8_t want[32];
	struct world w;
	size_t i;

	T_NEED(world_make(&w));
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		T_TRUE_ROW(rows[i].name, guest_command(&w.g, (enum erdma_command)rows[i].command,
						       &req, sizeof(req)) >= 0);
		T_EQ_ROW(rows[i].name, t_hex(rows[i].hex, want, sizeof(want)), sizeof(want));
		T_BYTES_ROW(rows[i].name, &w.g.answer, want, sizeof(want));
	}
	world_end(&w);
}

static void events_when_armed(void)
{
	struct world w;

	T_NEED(world_make(&w));
	guest_irqs(&w.g, 0);
	T_EQ(query_firmware(&w.g), 0);
	T_EQ(guest_irqs(&w.g, 0), 0);
	arm(&w.g, 0);
	T_EQ(guest_irqs(&w.g, 0), 0);
	T_EQ(query_firmware(&w.g), 0);
	T_EQ(guest_irqs(&w.g, 0), 1);
	T_EQ(guest_event(&w.g, 0), 0);
	guest_arm_eq(&w.g, 0);
	/* One arming, one event. */
	T_EQ(query_firmware(&w.g), 0);
	T_EQ(guest_irqs(&w.g, 0), 0);
	/* An arming that has not seen the event of the last one is old. */
	arm(&w.g, 0);
	T_EQ(query_firmware(&w.g), 0);
	T_EQ(guest_irqs(&w.g, 0), 0);
	arm(&w.g, 1);
	T_EQ(query_firmware(&w.g), 0);
	T_EQ(guest_irqs(&w.g, 0), 1);
	T_EQ(guest_event(&w.g, 0), 0);
	guest_arm_eq(&w.g, 0);
	/* Arming with an entry unread: the driver may have looked before it came. */
	w.g.cmd_ci--;
	arm(&w.g, 2);
	w.g.cmd_ci++;
	T_EQ(guest_irqs(&w.g, 0), 1);
	T_EQ(guest_event(&w.g, 0), 0);
	/* Without the bit it is no arming, and an index beyond the ring is nonsense. */
	guest_arm_eq(&w.g, 0);
	guest_write64(&w.g, ERDMA_REG_CMD_CQ_DB, nic_prep(ERDMA_CQ_DB_EVENTS, 3));
	guest_write64(&w.g, ERDMA_REG_CMD_CQ_DB,
		      nic_prep(ERDMA_CQ_DB_ARM, 1) | nic_prep(ERDMA_CQ_DB_EVENTS, 3) |
			      nic_prep(ERDMA_CQ_DB_CI, 0x700000));
	T_EQ(query_firmware(&w.g), 0);
	T_EQ(guest_irqs(&w.g, 0), 0);
	world_end(&w);
}

static void ring_goes_round(void)
{
	struct world w;
	int i;

	T_NEED(world_make(&w));
	/* Five laps of the SQ, and one and a quarter of the CQ. */
	for (i = 0; i < 640; i++)
		if (!T_EQ(query_firmware(&w.g), 0))
			break;
	world_end(&w);
}

static void many_at_once(void)
{
	struct erdma_cmd head = {
		.hdr = htole64(nic_prep(ERDMA_CMD_MODULE, 1) | nic_prep(ERDMA_CMD_OPCODE, 2))};
	const struct erdma_cmd_cqe *ring;
	struct world w;
	uint32_t i, base;

	T_NEED(world_make(&w));
	base = w.g.cmd_ci;
	for (i = 0; i < 100; i++, w.g.cmd_pi += ERDMA_CMD_SLOT_BLOCKS)
		memcpy((uint8_t *)guest_at(&w.g, w.g.cmd_sq) + (w.g.cmd_pi & 511) * 32, &head,
		       sizeof(head));
	guest_write64(&w.g, ERDMA_REG_CMD_SQ_DB, (uint16_t)w.g.cmd_pi);
	/* Some at once, all of them by and by. */
	ring = guest_at(&w.g, w.g.cmd_cq);
	T_EQ(be32toh(ring[base].hdr) >> 31, 1);
	T_EQ(be32toh(ring[base + 99].hdr) >> 31, 0);
	guest_run(&w.g, 1000000);
	T_EQ(be32toh(ring[base + 99].hdr) >> 31, 1);
	T_EQ(be32toh(ring[base + 100].hdr) >> 31, 0);
	T_EQ(guest_counter(&w.g, "commands"), 100 + base);
	world_end(&w);
}

static void doorbells_out_of_line(void)
{
	static const struct {
		const char *name;
		uint16_t ahead;
	} rows[] = {
		{"half a slot", 2},
		{"one block", 1},
		{"further than the ring", 516},
		{"behind", 0xfffc},
	};
	struct world w;
	uint64_t bad;
	size_t i;

	T_NEED(world_make(&w));
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bad = guest_counter(&w.g, "bad_doorbells");
		guest_write64(&w.g, ERDMA_REG_CMD_SQ_DB, (uint16_t)(w.g.cmd_pi + rows[i].ahead));
		guest_run(&w.g, 1000000);
		T_EQ_ROW(rows[i].name, guest_counter(&w.g, "bad_doorbells"), bad + 1);
		T_EQ_ROW(rows[i].name, query_firmware(&w.g), 0);
	}
	world_end(&w);
}

/* INIT with the command queue elsewhere. */
static bool restart(struct guest *g, uint64_t sq, uint64_t cq)
{
	const uint32_t depth = ERDMA_CMD_SLOTS * ERDMA_CMD_SLOT_BLOCKS;

	g->cmd_pi = g->cmd_ci = 0;
	memset(guest_at(g, g->cmd_cq), 0, depth * ERDMA_CQE_BYTES);
	guest_write32(g, ERDMA_REG_CMD_SQ_ADDR_HIGH, (uint32_t)(sq >> 32));
	guest_write32(g, ERDMA_REG_CMD_SQ_ADDR_LOW, (uint32_t)sq);
	guest_write32(g, ERDMA_REG_CMD_CQ_ADDR_HIGH, (uint32_t)(cq >> 32));
	guest_write32(g, ERDMA_REG_CMD_CQ_ADDR_LOW, (uint32_t)cq);
	guest_write32(g, ERDMA_REG_CMD_SQ_DEPTH, depth);
	guest_write32(g, ERDMA_REG_CMD_EQ_DEPTH, GUEST_EVENT_DEPTH);
	guest_write32(g, ERDMA_REG_AEQ_DEPTH, GUEST_EVENT_DEPTH);
	guest_write32(g, ERDMA_REG_CONTROL, ERDMA_CONTROL_INIT);
	return guest_read32(g, ERDMA_REG_STATE) & ERDMA_STATE_INIT_DONE;
}

/* Registers count at INIT only, so each address goes astray before one. */
static void queues_outside_memory(void)
{
	struct world w;

	T_NEED(world_make(&w));
	guest_write32(&w.g, ERDMA_REG_CMD_SQ_ADDR_HIGH, 0xdead);
	guest_write32(&w.g, ERDMA_REG_CMD_CQ_ADDR_HIGH, 0xdead);
	T_EQ(query_firmware(&w.g), 0);
	guest_write32(&w.g, ERDMA_REG_CONTROL, ERDMA_CONTROL_RESET);
	T_NEED(guest_probe(&w.g));
	guest_write32(&w.g, ERDMA_REG_CONTROL, ERDMA_CONTROL_RESET);
	T_TRUE(restart(&w.g, w.g.cmd_sq | 0xdead00000000, w.g.cmd_cq));
	T_EQ(query_firmware(&w.g), EFAULT);
	guest_write32(&w.g, ERDMA_REG_CONTROL, ERDMA_CONTROL_RESET);
	T_TRUE(restart(&w.g, w.g.cmd_sq, w.g.cmd_cq | 0xdead00000000));
	T_EQ(query_firmware(&w.g), -1);
	T_TRUE(strstr(w.g.log, "not in guest memory"));
	world_end(&w);
}

T_MAIN("erdma_sim_cmdq", T_CASE(completion_bytes), T_CASE(events_when_armed),
       T_CASE(ring_goes_round), T_CASE(many_at_once), T_CASE(doorbells_out_of_line),
       T_CASE(queues_outside_memory))
