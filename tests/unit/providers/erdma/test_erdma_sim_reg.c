/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Registers, initialisation and reset, and what the driver looks for in configuration space. */
#include <string.h>

#include "tests/lib/t.h"
#include "tests/unit/providers/erdma/erdma_guest.h"

static void pci_identity(void)
{
	static const struct {
		const char *name;
		unsigned int offset, size;
		uint32_t want, mask;
	} rows[] = {
		{"vendor", 0, 2, 0x1ded, 0xffff},
		{"device", 2, 2, 0x107f, 0xffff},
		{"class", 8, 4, 0x02000000, 0xffffff00},
		{"BAR 0 is 64-bit memory", 0x10, 4, 4, 0xf},
		{"BAR 2 is 64-bit memory", 0x18, 4, 4, 0xf},
		{"BAR 4 is none", 0x20, 4, 0, 0xffffffff},
		{"BAR 5 is none", 0x24, 4, 0, 0xffffffff},
	};
	struct sim_loop *loop;
	struct guest g;
	uint32_t value;
	size_t i;

	T_NEED(!sim_loop_create(true, &loop));
	guest_start(&g, loop, 1, NULL);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		T_EQ_ROW(rows[i].name,
			 sim_local_config_read(g.dev, rows[i].offset, rows[i].size, &value), 0);
		T_EQ_ROW(rows[i].name, value & rows[i].mask, rows[i].want);
	}
	guest_stop(&g);
	sim_loop_destroy(loop);
}

/* The values that the driver's probe reads; for MAC 52:54:00:00:00:07. */
static void probe_registers(void)
{
	struct sim_loop *loop;
	struct guest g;

	T_NEED(!sim_loop_create(true, &loop));
	guest_start(&g, loop, 7, NULL);
	T_TRUE(guest_read32(&g, 0x0) != 0);
	T_EQ(guest_read32(&g, 0xc), 1);
	T_EQ(guest_read32(&g, 0x14), 0);
	T_EQ(guest_read32(&g, 0x18), 0x00000007);
	T_EQ(guest_read32(&g, 0x1c), 0x5254);
	T_NEED(guest_probe(&g));
	T_EQ(guest_read32(&g, 0x14), 2);
	/* Queue registers read back. */
	T_EQ(guest_read32(&g, 0x30), 512);
	T_EQ(guest_read32(&g, 0x24), (uint32_t)(g.cmd_sq >> 32));
	T_EQ(guest_read32(&g, 0x20), (uint32_t)g.cmd_sq);
	guest_stop(&g);
	sim_loop_destroy(loop);
}

static void init_refuses_depths(void)
{
	static const struct {
		const char *name;
		uint32_t cmd, cmd_eq, aeq;
		uint32_t state;
	} rows[] = {
		{"as the driver has it", 512, 128, 4096, 2},
		{"least", 4, 1, 1, 2},
		{"command queue of nothing", 0, 128, 4096, 0},
		{"command queue below a slot", 2, 128, 4096, 0},
		{"command queue not a power of two", 500, 128, 4096, 0},
		{"command queue beyond the index", 0x10000, 128, 4096, 0},
		{"command EQ of nothing", 512, 0, 4096, 0},
		{"command EQ not a power of two", 512, 129, 4096, 0},
		{"AEQ of nothing", 512, 128, 0, 0},
		{"AEQ beyond all measure", 512, 128, 0x80000000, 0},
	};
	struct sim_loop *loop;
	struct guest g;
	size_t i;

	T_NEED(!sim_loop_create(true, &loop));
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		guest_start(&g, loop, 1, NULL);
		guest_write32(&g, ERDMA_REG_CMD_SQ_DEPTH, rows[i].cmd);
		guest_write32(&g, ERDMA_REG_CMD_EQ_DEPTH, rows[i].cmd_eq);
		guest_write32(&g, ERDMA_REG_AEQ_DEPTH, rows[i].aeq);
		guest_write32(&g, ERDMA_REG_CONTROL, ERDMA_CONTROL_INIT);
		T_EQ_ROW(rows[i].name, guest_read32(&g, ERDMA_REG_STATE), rows[i].state);
		guest_stop(&g);
	}
	sim_loop_destroy(loop);
}

static void reset_and_again(void)
{
	struct erdma_cmd_none req;
	struct guest_pair p;
	struct guest_end a, b;
	int round;

	T_NEED(guest_pair(&p));
	for (round = 0; round < 3; round++) {
		T_NEED(guest_connect(&p, &a, &b));
		guest_recv(&a.qp, a.buffer, 100, a.key);
		/* Once by the register, once by the function-level reset of the device. */
		guest_write32(&p.a, ERDMA_REG_CONTROL, ERDMA_CONTROL_RESET);
		T_EQ(guest_read32(&p.a, ERDMA_REG_STATE), ERDMA_STATE_RESET_DONE);
		sim_local_reset(p.b.dev);
		sim_local_enable(p.b.dev);
		T_EQ(guest_read32(&p.b, ERDMA_REG_STATE), 0);
		/* Nobody answers until INIT. */
		T_EQ(guest_command(&p.a, ERDMA_COMMAND_QUERY_DEVICE, &req, sizeof(req)), -1);
		guest_ring_sq(&a.qp);
		guest_arm(&a.cq, false);
		guest_run(&p.a, 1000000);
		T_NEED(guest_probe(&p.a) && guest_probe(&p.b));
		T_NEED(guest_set_gids(&p.a) && guest_set_gids(&p.b));
	}
	guest_pair_stop(&p);
}

/* Every offset of the first pages in every size, before and after INIT. */
static void strange_accesses(void)
{
	static const uint64_t values[] = {0, UINT64_MAX, 0x8000000000000001, 0x80000000};
	struct sim_loop *loop;
	unsigned int size, round;
	uint64_t offset, value;
	struct guest g;
	size_t i;

	T_NEED(!sim_loop_create(true, &loop));
	guest_start(&g, loop, 1, NULL);
	for (round = 0; round < 2; round++) {
		for (offset = 0; offset < 0x400; offset++)
			for (size = 1; size <= 8; size *= 2)
				for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
					sim_local_reg_read(g.dev, 0, offset, size, &value);
					sim_local_reg_write(g.dev, 0, offset, size, values[i]);
					sim_local_reg_write(g.dev, 2, offset + 0x800, size,
							    values[i]);
				}
		guest_run(&g, 1000000);
		guest_write32(&g, ERDMA_REG_CONTROL, ERDMA_CONTROL_RESET);
		T_NEED(guest_probe(&g));
	}
	guest_stop(&g);
	sim_loop_destroy(loop);
}

T_MAIN("erdma_sim_reg", T_CASE(pci_identity), T_CASE(probe_registers), T_CASE(init_refuses_depths),
       T_CASE(reset_and_again), T_CASE(strange_accesses))
