/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Register accesses: checks them, and sends each to where it belongs (MSI-X
 * table, pending bits, shared memory, or the class). Knows nothing of who made
 * the access.
 */
#include "sim/device/sim_dev_state.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

bool sim_bar_has(const struct sim_dev *dev, unsigned int bar, uint64_t offset, unsigned int size)
{
	uint64_t bar_size;

	if (bar >= SIM_PCI_BARS || size > 8 || !size || size & (size - 1))
		return false;
	bar_size = dev->desc.bars[bar].size;
	return !(offset & (size - 1)) && offset < bar_size && size <= bar_size - offset;
}

/* An aligned access never straddles an end of these: they are aligned to 8 or more. */
static bool in_table(const struct sim_dev *dev, unsigned int bar, uint64_t offset)
{
	return bar == dev->desc.msix.table_bar &&
	       offset - dev->desc.msix.table_offset < sim_irq_table_size(&dev->irq);
}

static bool in_pending(const struct sim_dev *dev, unsigned int bar, uint64_t offset)
{
	return bar == dev->desc.msix.pba_bar &&
	       offset - dev->desc.msix.pba_offset < sim_irq_pending_size(&dev->irq);
}

/* Shared memory at the offset, or NULL. */
static uint8_t *memory_at(const struct sim_dev *dev, unsigned int bar, uint64_t offset)
{
	const struct sim_pci_bar *desc = &dev->desc.bars[bar];

	if (!dev->memory[bar].bytes || offset - desc->mmap_offset >= desc->mmap_length)
		return NULL;
	return dev->memory[bar].bytes + (offset - desc->mmap_offset);
}

int sim_bar_read(struct sim_dev *dev, unsigned int bar, uint64_t offset, unsigned int size,
		 uint64_t *value)
{
	uint8_t *memory;

	if (!sim_bar_has(dev, bar, offset, size))
		return -EINVAL;
	memory = memory_at(dev, bar, offset);
	if (in_table(dev, bar, offset)) {
		*value = sim_irq_table_read(&dev->irq,
					    (uint32_t)(offset - dev->desc.msix.table_offset), size);
	} else if (in_pending(dev, bar, offset)) {
		*value = sim_irq_pending_read(&dev->irq,
					      (uint32_t)(offset - dev->desc.msix.pba_offset), size);
	} else if (memory) {
		*value = 0;
		memcpy(value, memory, size);
		*value = le64toh(*value);
	} else {
		*value = dev->class.reg_read(dev->nic, bar, offset, size);
	}
	return 0;
}

int sim_bar_write(struct sim_dev *dev, unsigned int bar, uint64_t offset, unsigned int size,
		  uint64_t value)
{
	uint8_t *memory;

	if (!sim_bar_has(dev, bar, offset, size))
		return -EINVAL;
	if (size < 8)
		value &= (1ull << (8 * size)) - 1;
	if (in_table(dev, bar, offset)) {
		sim_irq_table_write(&dev->irq, (uint32_t)(offset - dev->desc.msix.table_offset),
				    size, value);
		return 0;
	}
	if (in_pending(dev, bar, offset))
		return 0; /* read-only (PCI 3.0, 6.8.2.9) */
	memory = memory_at(dev, bar, offset);
	if (memory) {
		uint64_t bytes = htole64(value);

		memcpy(memory, &bytes, size);
	}
	/* A store that was trapped all the same also tells the class: it need not go looking. */
	dev->class.reg_write(dev->nic, bar, offset, size, value);
	return 0;
}

/* ------------------------------------------------------------ shared memory */

void *sim_dev_bar_memory(struct sim_dev *dev, unsigned int bar)
{
	return bar < SIM_PCI_BARS ? dev->memory[bar].bytes : NULL;
}

/*
 * Sealed, because the client gets the descriptor: a file that it could cut short would be a way
 * to take this process down.
 */
static int memory_create(struct sim_bar_memory *memory, const struct sim_pci_bar *bar)
{
	int fd = memfd_create("anynic-bar", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	void *map;
	int rc;

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)(bar->mmap_offset + bar->mmap_length)) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		goto undo_fd;
	map = mmap(NULL, (size_t)bar->mmap_length, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		   (off_t)bar->mmap_offset);
	if (map == MAP_FAILED)
		goto undo_fd;
	memory->fd = fd;
	memory->bytes = map;
	return 0;

undo_fd:
	rc = -errno;
	close(fd);
	return rc;
}

int sim_bar_init(struct sim_dev *dev)
{
	unsigned int i;
	int rc;

	for (i = 0; i < SIM_PCI_BARS; i++) {
		if (!dev->desc.bars[i].mmap_length)
			continue;
		rc = memory_create(&dev->memory[i], &dev->desc.bars[i]);
		if (rc) {
			sim_bar_fini(dev);
			return rc;
		}
	}
	return 0;
}

void sim_bar_fini(struct sim_dev *dev)
{
	unsigned int i;

	for (i = 0; i < SIM_PCI_BARS; i++) {
		if (!dev->memory[i].bytes)
			continue;
		munmap(dev->memory[i].bytes, (size_t)dev->desc.bars[i].mmap_length);
		close(dev->memory[i].fd);
		dev->memory[i].bytes = NULL;
	}
}

void sim_bar_reset(struct sim_dev *dev)
{
	unsigned int i;

	for (i = 0; i < SIM_PCI_BARS; i++)
		if (dev->memory[i].bytes)
			memset(dev->memory[i].bytes, 0, (size_t)dev->desc.bars[i].mmap_length);
}
