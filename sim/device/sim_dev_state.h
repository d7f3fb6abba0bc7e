/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What a device consists of. For the files of sim/device only: each owns one
 * of the parts below, and the two back ends drive them.
 */
#ifndef ANYNIC_SIM_DEVICE_SIM_DEV_STATE_H
#define ANYNIC_SIM_DEVICE_SIM_DEV_STATE_H

#include "sim/device/sim_dev.h"
#include "sim/device/sim_dma.h"
#include "sim/device/sim_irq.h"
#include "sim/device/sim_loop.h"
#include "sim/device/sim_pci.h"

struct sim_vfu;

/* The mappable part of a BAR. */
struct sim_bar_memory {
	uint8_t *bytes; /* NULL = none */
	int fd;		/* holds the BAR from offset 0 on, so that file offset = BAR offset */
};

struct sim_dev {
	struct sim_class class; /* optional functions filled in */
	void *nic;
	char *name;
	struct sim_loop *loop;
	struct sim_task *timer;
	const struct sim_port_ops *port;
	void *port_ctx;
	struct {
		void (*write)(void *ctx, const char *line);
		void *ctx;
		uint64_t next_token; /* when the bucket gets its next line */
		unsigned int tokens;
		unsigned int suppressed;
	} log;
	struct sim_pci_config desc;
	struct sim_pci pci;
	struct sim_irq irq;
	struct sim_dma dma;
	bool bus_master;
	bool dma_reported; /* the log has the line that guest memory vanished */
	struct sim_bar_memory memory[SIM_PCI_BARS];
	struct sim_vfu *vfu; /* vfio-user back end, if there is one */
};

/* As after power-on; guest memory and eventfds stay. */
void sim_dev_reset(struct sim_dev *dev);
/* Says once that guest memory vanished, if it did. */
void sim_dev_check_dma(struct sim_dev *dev);

/* Register access from any back end. -EINVAL: no such register, or size and offset do not fit. */
int sim_bar_read(struct sim_dev *dev, unsigned int bar, uint64_t offset, unsigned int size,
		 uint64_t *value);
int sim_bar_write(struct sim_dev *dev, unsigned int bar, uint64_t offset, unsigned int size,
		  uint64_t value);
bool sim_bar_has(const struct sim_dev *dev, unsigned int bar, uint64_t offset, unsigned int size);
int sim_bar_init(struct sim_dev *dev);
void sim_bar_fini(struct sim_dev *dev);
void sim_bar_reset(struct sim_dev *dev);

/* Configuration space from any back end; -EINVAL: out of range. */
int sim_config_read(struct sim_dev *dev, uint64_t offset, void *data, uint32_t length);
int sim_config_write(struct sim_dev *dev, uint64_t offset, const void *data, uint32_t length);

void sim_vfu_destroy(struct sim_vfu *vfu);

#endif
