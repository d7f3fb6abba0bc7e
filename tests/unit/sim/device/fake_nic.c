/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The smallest NIC class. Knows no back end. */
#include "tests/unit/sim/device/fake_nic.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fake_nic *fake_last;

static int fake_describe(const struct sim_nic_config *config, struct sim_pci_config *pci)
{
	static const uint8_t serial[8] = {1, 2, 3, 4, 5, 6, 7, 8};

	*pci = (struct sim_pci_config){
		.vendor_id = FAKE_VENDOR,
		.device_id = FAKE_DEVICE,
		.subsystem_vendor_id = 0x1234,
		.subsystem_id = 0x5678,
		.revision = 3,
		.class_code = 0x020000,
		.pcie = true,
		.bars[0] = {.size = FAKE_BAR0_SIZE, .is_64bit = true},
		.bars[2] = {.size = 0x2000, .is_64bit = true, .prefetchable = true},
		.bars[4] = {.size = 0x10000},
		.msix = {.vectors = FAKE_VECTORS,
			 .table_bar = FAKE_MSIX_BAR,
			 .pba_bar = FAKE_MSIX_BAR,
			 .pba_offset = FAKE_PBA},
	};
	memcpy(pci->serial, serial, sizeof(serial));
	if (!config->personality)
		return 0;
	if (strcmp(config->personality, "mappable"))
		return -EINVAL;
	pci->bars[FAKE_MEMORY_BAR].mmap_offset = FAKE_MEMORY_OFFSET;
	pci->bars[FAKE_MEMORY_BAR].mmap_length = FAKE_MEMORY_LENGTH;
	return 0;
}

static int fake_create(struct sim_dev *dev, const struct sim_nic_config *config, void **nic)
{
	struct fake_nic *fake = calloc(1, sizeof(*fake));

	(void)config;
	if (!fake)
		return -ENOMEM;
	fake->dev = dev;
	fake_last = fake;
	*nic = fake;
	return 0;
}

static void fake_destroy(void *nic)
{
	free(nic);
}

static void fake_reset(void *nic)
{
	struct fake_nic *fake = nic;

	memset(fake->registers, 0, sizeof(fake->registers));
	fake->resets++;
}

static void note(struct fake_nic *fake, unsigned int bar, uint64_t offset, unsigned int size)
{
	fake->last_bar = bar;
	fake->last_offset = offset;
	fake->last_size = size;
}

static uint64_t fake_reg_read(void *nic, unsigned int bar, uint64_t offset, unsigned int size)
{
	struct fake_nic *fake = nic;
	uint64_t value = 0;

	fake->reads++;
	note(fake, bar, offset, size);
	if (bar == 0)
		memcpy(&value, (uint8_t *)fake->registers + offset, size);
	return value;
}

static void fake_dma(struct fake_nic *fake, uint64_t direction)
{
	uint64_t address = fake->registers[FAKE_REG_ADDRESS / 8];
	uint64_t *data = &fake->registers[FAKE_REG_DATA / 8];
	int rc;

	fake->registers[FAKE_REG_STATUS / 8] = FAKE_STATUS_BUSY;
	if (direction == 1)
		rc = sim_dma_read(fake->dev, address, data, sizeof(*data));
	else
		rc = sim_dma_write(fake->dev, address, data, sizeof(*data));
	fake->registers[FAKE_REG_STATUS / 8] = (uint64_t)-rc;
}

static void fake_reg_write(void *nic, unsigned int bar, uint64_t offset, unsigned int size,
			   uint64_t value)
{
	struct fake_nic *fake = nic;

	fake->writes++;
	note(fake, bar, offset, size);
	fake->last_value = value;
	if (bar)
		return;
	memcpy((uint8_t *)fake->registers + offset, &value, size);
	switch (offset) {
	case FAKE_REG_RAISE:
		sim_irq_raise(fake->dev, (unsigned int)value);
		break;
	case FAKE_REG_DMA:
		fake_dma(fake, value);
		break;
	case FAKE_REG_TIMER:
		sim_dev_timer(fake->dev, value);
		break;
	}
}

static void fake_timer(void *nic, uint64_t now)
{
	struct fake_nic *fake = nic;

	fake->timers++;
	fake->timer_at = now;
	/* DMA from outside of a register access. */
	if (fake->registers[FAKE_REG_DMA / 8])
		fake_dma(fake, fake->registers[FAKE_REG_DMA / 8]);
}

static void fake_rx_frame(void *nic, const void *frame, size_t length)
{
	struct fake_nic *fake = nic;

	(void)frame;
	(void)length;
	fake->frames++;
}

static void fake_tx_room(void *nic)
{
	struct fake_nic *fake = nic;

	fake->rooms++;
}

static void fake_counters(void *nic, void (*emit)(void *ctx, const char *name, uint64_t value),
			  void *ctx)
{
	struct fake_nic *fake = nic;

	emit(ctx, "reads", fake->reads);
	emit(ctx, "writes", fake->writes);
}

const struct sim_class fake_class = {
	.name = "fake",
	.describe = fake_describe,
	.create = fake_create,
	.destroy = fake_destroy,
	.reset = fake_reset,
	.reg_read = fake_reg_read,
	.reg_write = fake_reg_write,
	.rx_frame = fake_rx_frame,
	.tx_room = fake_tx_room,
	.timer = fake_timer,
	.counters = fake_counters,
};

static void keep_line(void *ctx, const char *line)
{
	struct fake_log *log = ctx;

	log->lines++;
	snprintf(log->last, sizeof(log->last), "%s", line);
	if (getenv("FAKE_LOG"))
		printf("# %s\n", line);
}

struct sim_dev *fake_dev_create(struct sim_loop *loop, const char *personality,
				struct fake_log *log)
{
	struct sim_dev_config config = {
		.class = &fake_class,
		.nic = {.name = "nic0", .personality = personality},
		.loop = loop,
		.log = keep_line,
		.log_ctx = log,
	};
	struct sim_dev *dev;

	return sim_dev_create(&config, &dev) ? NULL : dev;
}
