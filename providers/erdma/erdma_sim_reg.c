// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * erdma simulator: registers of BAR 0. Owns initialisation and reset. Doorbells
 * go on to the queue that they are for.
 *
 * The driver writes addresses and depths of the command queue and the AEQ, then INIT, and waits
 * for INIT_DONE. Queue registers count at that moment only. RESET may come at any time, after
 * which all of it works again.
 */
#include "providers/erdma/erdma_sim.h"

#include <string.h>

#define REG_VERSION_VALUE 1 /* anything but 0: the driver wants no certain one */

/* Largest queues that the registers may ask for; indexes have 16 bits, EQ indexes 24. */
#define CMD_DEPTH_MAX (1u << ERDMA_RING_LOG_MAX)
#define EQ_DEPTH_MAX  (1u << 20)

/* Registers that hold what was written: where, and which half. */
static const struct {
	uint16_t reg;
	uint16_t offset; /* within struct erdma_regs */
	uint8_t bytes;
} latched[] = {
	{ERDMA_REG_CMD_SQ_ADDR_LOW, offsetof(struct erdma_regs, cmd_sq_addr), 4},
	{ERDMA_REG_CMD_SQ_ADDR_HIGH, offsetof(struct erdma_regs, cmd_sq_addr) + 4, 4},
	{ERDMA_REG_CMD_CQ_ADDR_LOW, offsetof(struct erdma_regs, cmd_cq_addr), 4},
	{ERDMA_REG_CMD_CQ_ADDR_HIGH, offsetof(struct erdma_regs, cmd_cq_addr) + 4, 4},
	{ERDMA_REG_CMD_EQ_ADDR_LOW, offsetof(struct erdma_regs, cmd_eq_addr), 4},
	{ERDMA_REG_CMD_EQ_ADDR_HIGH, offsetof(struct erdma_regs, cmd_eq_addr) + 4, 4},
	{ERDMA_REG_AEQ_ADDR_LOW, offsetof(struct erdma_regs, aeq_addr), 4},
	{ERDMA_REG_AEQ_ADDR_HIGH, offsetof(struct erdma_regs, aeq_addr) + 4, 4},
	{ERDMA_REG_CMD_SQ_DEPTH, offsetof(struct erdma_regs, cmd_depth), 4},
	{ERDMA_REG_CMD_EQ_DEPTH, offsetof(struct erdma_regs, cmd_eq_depth), 4},
	{ERDMA_REG_AEQ_DEPTH, offsetof(struct erdma_regs, aeq_depth), 4},
	{ERDMA_REG_CMD_SQ_DBREC, offsetof(struct erdma_regs, dbrec[0]), 8},
	{ERDMA_REG_CMD_CQ_DBREC, offsetof(struct erdma_regs, dbrec[1]), 8},
	{ERDMA_REG_CMD_EQ_DBREC, offsetof(struct erdma_regs, dbrec[2]), 8},
	{ERDMA_REG_AEQ_DBREC, offsetof(struct erdma_regs, dbrec[3]), 8},
};

/* The place of a latched register, or NULL. */
static void *latch(struct erdma_nic *nic, uint64_t offset, unsigned int size)
{
	size_t i;

	for (i = 0; i < sizeof(latched) / sizeof(latched[0]); i++)
		if (latched[i].reg == offset && latched[i].bytes == size)
			return (char *)&nic->regs + latched[i].offset;
	return NULL;
}

uint64_t erdma_reg_read(void *ctx, unsigned int bar, uint64_t offset, unsigned int size)
{
	struct erdma_nic *nic = ctx;
	const uint8_t *mac = nic->mac;
	uint64_t value = 0;
	const void *place;

	if (bar != ERDMA_BAR_REGS)
		return 0;
	switch (offset) {
	case ERDMA_REG_VERSION:
		return REG_VERSION_VALUE;
	case ERDMA_REG_PROTOCOL:
		return ERDMA_PROTOCOL_ROCEV2;
	case ERDMA_REG_STATE:
		return nic->state;
	case ERDMA_REG_MAC_LOW:
		return (uint32_t)mac[2] << 24 | (uint32_t)mac[3] << 16 | (uint32_t)mac[4] << 8 |
		       mac[5];
	case ERDMA_REG_MAC_HIGH:
		return (uint32_t)mac[0] << 8 | mac[1];
	default:
		place = latch(nic, offset, size);
		if (place)
			memcpy(&value, place, size);
		return value;
	}
}

void erdma_nic_clear(struct erdma_nic *nic)
{
	unsigned int i;

	erdma_qp_free_all(nic);
	for (i = 0; i < ERDMA_MSIX_VECTORS; i++)
		erdma_eq_fini(&nic->eqs[i]);
	erdma_eq_fini(&nic->aeq);
	erdma_cq_free_all(nic);
	erdma_mr_free_all(nic);
	erdma_ah_free_all(nic);
	erdma_db_free_all(nic);
	memset(&nic->cmdq, 0, sizeof(nic->cmdq));
	nic->state = 0;
	nic->guest_mtu = 0;
	nic->page_shift = ERDMA_PAGE_SHIFT;
	sim_roce_reset(nic->roce);
	erdma_nic_update_mtu(nic);
}

static bool is_depth(uint32_t depth, uint32_t least, uint32_t most)
{
	return depth >= least && depth <= most && (depth & (depth - 1)) == 0;
}

static void initialise(struct erdma_nic *nic)
{
	const struct erdma_regs *regs = &nic->regs;

	if (nic->state & ERDMA_STATE_INIT_DONE)
		return;
	if (!is_depth(regs->cmd_depth, ERDMA_CMD_SLOT_BLOCKS, CMD_DEPTH_MAX) ||
	    !is_depth(regs->cmd_eq_depth, 1, EQ_DEPTH_MAX) ||
	    !is_depth(regs->aeq_depth, 1, EQ_DEPTH_MAX)) {
		sim_log(nic->dev, "init: queue depths %u, %u, %u: not powers of two, or too large",
			regs->cmd_depth, regs->cmd_eq_depth, regs->aeq_depth);
		return;
	}
	if (erdma_mr_create_local(nic)) {
		sim_log(nic->dev, "init: no memory");
		return;
	}
	nic->cmdq.sq_addr = regs->cmd_sq_addr;
	nic->cmdq.cq_addr = regs->cmd_cq_addr;
	nic->cmdq.depth = regs->cmd_depth;
	erdma_eq_init(&nic->eqs[0], regs->cmd_eq_addr, regs->cmd_eq_depth, 0);
	erdma_eq_init(&nic->aeq, regs->aeq_addr, regs->aeq_depth, 0);
	nic->state = ERDMA_STATE_INIT_DONE;
}

static void control(struct erdma_nic *nic, uint32_t value)
{
	if (value & ERDMA_CONTROL_RESET) {
		erdma_nic_clear(nic);
		memset(&nic->regs, 0, sizeof(nic->regs));
		nic->state = ERDMA_STATE_RESET_DONE;
	}
	if (value & ERDMA_CONTROL_INIT)
		initialise(nic);
}

/* 8-byte writes below the doorbell pages. */
static bool write_doorbell(struct erdma_nic *nic, uint64_t offset, uint64_t value)
{
	if (offset >= ERDMA_REG_EQ_DB && offset < ERDMA_REG_EQ_DB + 8 * ERDMA_MSIX_VECTORS) {
		erdma_eq_doorbell(nic, &nic->eqs[(offset - ERDMA_REG_EQ_DB) / 8], value);
		return true;
	}
	switch (offset) {
	case ERDMA_REG_AEQ_DB:
		erdma_eq_doorbell(nic, &nic->aeq, value);
		return true;
	case ERDMA_REG_CMD_SQ_DB:
		erdma_cmdq_doorbell(nic, value);
		return true;
	case ERDMA_REG_CMD_CQ_DB:
		erdma_cmdq_arm(nic, value);
		return true;
	default:
		return false;
	}
}

void erdma_reg_write(void *ctx, unsigned int bar, uint64_t offset, unsigned int size,
		     uint64_t value)
{
	struct erdma_nic *nic = ctx;
	void *place;

	if (bar == ERDMA_BAR_REGS && size == 8 && offset >= ERDMA_DB_SQ_BASE) {
		erdma_db_write(nic, offset, value);
		return;
	}
	if (bar == ERDMA_BAR_REGS && size == 4 && offset == ERDMA_REG_CONTROL) {
		control(nic, (uint32_t)value);
		return;
	}
	if (bar == ERDMA_BAR_REGS && size == 8 && write_doorbell(nic, offset, value))
		return;
	place = bar == ERDMA_BAR_REGS ? latch(nic, offset, size) : NULL;
	if (place)
		memcpy(place, &value, size);
	else
		nic->counters.bad_registers++;
}
