/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Guest memory of one device: which bus addresses exist and where their bytes
 * are. Knows nothing of sockets, PCI or classes. The functions that a class
 * calls (sim_dma_map() and so on) stand in sim_dev.h.
 *
 * Regions are sorted and never overlap. A region's bytes are in this process (memory of a test,
 * or a mapping of the client's file) or behind the client, who is then asked for each access.
 */
#ifndef ANYNIC_SIM_DEVICE_SIM_DMA_H
#define ANYNIC_SIM_DEVICE_SIM_DMA_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_DMA_PAGE	    4096u
#define SIM_DMA_REGIONS_MAX 4096u

/* Access to regions that have no memory here. 0 or -errno. */
struct sim_dma_remote {
	int (*read)(void *ctx, uint64_t addr, void *data, size_t length);
	int (*write)(void *ctx, uint64_t addr, const void *data, size_t length);
};

struct sim_dma_region {
	uint64_t base;
	uint64_t size;
	uint8_t *host; /* NULL = behind the client */
	bool readable;
	bool writable;
	bool is_mapping; /* host is ours to unmap */
};

struct sim_dma {
	struct sim_dma_region *regions;
	unsigned int count;
	unsigned int room;
	unsigned int last;	      /* where the last look-up hit */
	volatile sig_atomic_t broken; /* a mapping vanished under us: no more DMA */
	const struct sim_dma_remote *remote;
	void *remote_ctx;
};

void sim_dma_init(struct sim_dma *dma);
/* Removes all regions, and repairs `broken`. */
void sim_dma_fini(struct sim_dma *dma);

/* -EEXIST: overlaps. -EINVAL: empty or wraps around. -ENOSPC: too many. */
int sim_dma_add(struct sim_dma *dma, const struct sim_dma_region *region);
/* As sim_dma_add(), with the bytes of fd from offset on. The fd stays the caller's. -EINVAL also
 * for what is not page-aligned or not wholly inside the file. */
int sim_dma_add_file(struct sim_dma *dma, const struct sim_dma_region *region, int fd,
		     uint64_t offset);
/* Removes the regions that lie inside the range, and says how many: none is fine, QEMU clears whole
 * address spaces when the guest has an IOMMU. -EINVAL: the range is no range, or would cut a region
 * in two; then nothing was removed. */
int sim_dma_remove(struct sim_dma *dma, uint64_t base, uint64_t size);

void sim_dma_clear(struct sim_dma *dma);

/* See sim_dma_map(), sim_dma_read() and sim_dma_write() in sim_dev.h. */
void *sim_dma_find(struct sim_dma *dma, uint64_t addr, size_t length, bool write);
int sim_dma_copy_in(struct sim_dma *dma, uint64_t addr, void *data, size_t length);
int sim_dma_copy_out(struct sim_dma *dma, uint64_t addr, const void *data, size_t length);

#endif
