/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The smallest NIC class, for tests of what stands around a class: registers
 * that remember, and a few that raise an interrupt or do DMA. Knows no back end.
 */
#ifndef ANYNIC_TESTS_UNIT_SIM_DEVICE_FAKE_NIC_H
#define ANYNIC_TESTS_UNIT_SIM_DEVICE_FAKE_NIC_H

#include "sim/device/sim_dev.h"
#include "sim/device/sim_loop.h"

#define FAKE_VENDOR  0x1af5
#define FAKE_DEVICE  0x0fa4
#define FAKE_VECTORS 70

/* BAR 0, 64 bit, 16 KiB: registers. BAR 2, 64 bit, 8 KiB: MSI-X table at 0, pending bits at
 * 0x1000. BAR 4, 32 bit, 64 KiB: [0x2000, 0x4000) is mappable, personality "mappable" only. */
#define FAKE_BAR0_SIZE	   0x4000u
#define FAKE_MSIX_BAR	   2u
#define FAKE_PBA	   0x1000u
#define FAKE_MEMORY_BAR	   4u
#define FAKE_MEMORY_OFFSET 0x2000u
#define FAKE_MEMORY_LENGTH 0x2000u

/* Registers of BAR 0 that do something when written. */
#define FAKE_REG_RAISE	 0x100u /* raises this vector */
#define FAKE_REG_ADDRESS 0x108u
#define FAKE_REG_DATA	 0x110u
#define FAKE_REG_DMA	 0x118u /* 1: DATA = 8 bytes at ADDRESS; 2: the other way; result in STATUS */
#define FAKE_REG_STATUS	 0x120u /* 0, errno, or busy */
#define FAKE_STATUS_BUSY 0xffffu
#define FAKE_REG_TIMER	 0x128u /* deadline in ns */

struct fake_nic {
	struct sim_dev *dev;
	uint64_t registers[FAKE_BAR0_SIZE / 8];
	unsigned int reads, writes, resets, timers, frames, rooms;
	unsigned int last_bar, last_size;
	uint64_t last_offset, last_value;
	uint64_t timer_at;
};

extern const struct sim_class fake_class;
/* The NIC that was made last. */
extern struct fake_nic *fake_last;

/* Lines of the device's log are counted; the last one is kept. */
struct fake_log {
	unsigned int lines;
	char last[600];
};

/* A device of the class on the loop, with its log in `log`. NULL on failure. */
struct sim_dev *fake_dev_create(struct sim_loop *loop, const char *personality,
				struct fake_log *log);

#endif
