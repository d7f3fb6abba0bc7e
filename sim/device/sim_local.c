/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The in-process back end: plays the guest's part by function calls. Knows
 * nothing of sockets; accesses take the same way as those of a virtual machine.
 */
#include "sim/device/sim_dev_state.h"

#include <endian.h>
#include <errno.h>
#include <linux/pci_regs.h>
#include <string.h>

int sim_local_add_memory(struct sim_dev *dev, uint64_t base, void *memory, size_t size,
			 bool writable)
{
	struct sim_dma_region region = {
		.base = base,
		.size = size,
		.host = memory,
		.readable = true,
		.writable = writable,
	};

	return memory ? sim_dma_add(&dev->dma, &region) : -EINVAL;
}

int sim_local_remove_memory(struct sim_dev *dev, uint64_t base, size_t size)
{
	int removed = sim_dma_remove(&dev->dma, base, size);

	if (removed < 0)
		return removed;
	return removed ? 0 : -ENOENT;
}

int sim_local_reg_read(struct sim_dev *dev, unsigned int bar, uint64_t offset, unsigned int size,
		       uint64_t *value)
{
	return sim_bar_read(dev, bar, offset, size, value);
}

int sim_local_reg_write(struct sim_dev *dev, unsigned int bar, uint64_t offset, unsigned int size,
			uint64_t value)
{
	return sim_bar_write(dev, bar, offset, size, value);
}

static bool config_size_fits(unsigned int offset, unsigned int size)
{
	return (size == 1 || size == 2 || size == 4) && !(offset & (size - 1));
}

int sim_local_config_read(struct sim_dev *dev, unsigned int offset, unsigned int size,
			  uint32_t *value)
{
	uint32_t bytes = 0;
	int rc;

	if (!config_size_fits(offset, size))
		return -EINVAL;
	rc = sim_config_read(dev, offset, &bytes, size);
	if (!rc)
		*value = le32toh(bytes);
	return rc;
}

int sim_local_config_write(struct sim_dev *dev, unsigned int offset, unsigned int size,
			   uint32_t value)
{
	uint32_t bytes = htole32(value);

	if (!config_size_fits(offset, size))
		return -EINVAL;
	return sim_config_write(dev, offset, &bytes, size);
}

void sim_local_enable(struct sim_dev *dev)
{
	unsigned int i;

	sim_local_config_write(dev, PCI_COMMAND, 2, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	if (!dev->pci.msix)
		return;
	for (i = 0; i < dev->irq.count; i++)
		sim_irq_table_write(&dev->irq, i * SIM_IRQ_ENTRY_SIZE + PCI_MSIX_ENTRY_VECTOR_CTRL,
				    4, 0);
	sim_local_config_write(dev, dev->pci.msix + (unsigned int)PCI_MSIX_FLAGS, 2,
			       PCI_MSIX_FLAGS_ENABLE);
}

unsigned int sim_local_irqs(struct sim_dev *dev, unsigned int vector)
{
	return sim_irq_take(&dev->irq, vector);
}

void sim_local_reset(struct sim_dev *dev)
{
	sim_dev_reset(dev);
}
