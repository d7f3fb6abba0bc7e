/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Guest memory: the sorted list of regions. Knows nothing of sockets, PCI or classes. */
#include "sim/device/sim_dma.h"

#include "sim/device/sim_guard.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

void sim_dma_init(struct sim_dma *dma)
{
	memset(dma, 0, sizeof(*dma));
}

/* ------------------------------------------------------------ look-up */

/* Index of the first region that ends after addr; count if there is none. */
static unsigned int region_after(const struct sim_dma *dma, uint64_t addr)
{
	unsigned int low = 0, high = dma->count;

	while (low < high) {
		unsigned int middle = low + (high - low) / 2;
		const struct sim_dma_region *r = &dma->regions[middle];

		/* The last byte, since base + size may be 2^64. */
		if (r->base + (r->size - 1) < addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct sim_dma_region *region_at(struct sim_dma *dma, uint64_t addr)
{
	struct sim_dma_region *r;
	unsigned int i;

	if (dma->last < dma->count) {
		r = &dma->regions[dma->last];
		if (addr - r->base < r->size)
			return r;
	}
	i = region_after(dma, addr);
	if (i == dma->count || addr < dma->regions[i].base)
		return NULL;
	dma->last = i;
	return &dma->regions[i];
}

void *sim_dma_find(struct sim_dma *dma, uint64_t addr, size_t length, bool write)
{
	struct sim_dma_region *r = region_at(dma, addr);

	if (!r || !r->host || dma->broken || !(write ? r->writable : r->readable))
		return NULL;
	if (length > r->size - (addr - r->base))
		return NULL;
	return r->host + (addr - r->base);
}

/* The piece of [addr, addr + length) that lies in one region. */
static struct sim_dma_region *piece_at(struct sim_dma *dma, uint64_t addr, size_t *length)
{
	struct sim_dma_region *r = region_at(dma, addr);

	if (!r || dma->broken)
		return NULL;
	if (*length > r->size - (addr - r->base))
		*length = (size_t)(r->size - (addr - r->base));
	return r;
}

static int piece_in(struct sim_dma *dma, struct sim_dma_region *r, uint64_t addr, void *data,
		    size_t length)
{
	if (!r->readable)
		return -EFAULT;
	if (r->host) {
		memcpy(data, r->host + (addr - r->base), length);
		return dma->broken ? -EFAULT : 0;
	}
	if (!dma->remote || dma->remote->read(dma->remote_ctx, addr, data, length))
		return -EFAULT;
	return 0;
}

static int piece_out(struct sim_dma *dma, struct sim_dma_region *r, uint64_t addr, const void *data,
		     size_t length)
{
	if (!r->writable)
		return -EFAULT;
	if (r->host) {
		memcpy(r->host + (addr - r->base), data, length);
		return dma->broken ? -EFAULT : 0;
	}
	if (!dma->remote || dma->remote->write(dma->remote_ctx, addr, data, length))
		return -EFAULT;
	return 0;
}

int sim_dma_copy_in(struct sim_dma *dma, uint64_t addr, void *data, size_t length)
{
	uint8_t *bytes = data;

	if (length && addr + (length - 1) < addr)
		return -EFAULT;
	while (length) {
		size_t piece = length;
		struct sim_dma_region *r = piece_at(dma, addr, &piece);

		if (!r || piece_in(dma, r, addr, bytes, piece))
			return -EFAULT;
		bytes += piece;
		addr += piece;
		length -= piece;
	}
	return 0;
}

int sim_dma_copy_out(struct sim_dma *dma, uint64_t addr, const void *data, size_t length)
{
	const uint8_t *bytes = data;

	if (length && addr + (length - 1) < addr)
		return -EFAULT;
	while (length) {
		size_t piece = length;
		struct sim_dma_region *r = piece_at(dma, addr, &piece);

		if (!r || piece_out(dma, r, addr, bytes, piece))
			return -EFAULT;
		bytes += piece;
		addr += piece;
		length -= piece;
	}
	return 0;
}

/* ------------------------------------------------------------ adding and removing */

static int regions_grow(struct sim_dma *dma)
{
	unsigned int room = dma->room ? 2 * dma->room : 16;
	struct sim_dma_region *regions;

	if (dma->count == SIM_DMA_REGIONS_MAX)
		return -ENOSPC;
	if (dma->count < dma->room)
		return 0;
	regions = reallocarray(dma->regions, room, sizeof(*regions));
	if (!regions)
		return -ENOMEM;
	dma->regions = regions;
	dma->room = room;
	return 0;
}

/* Where the region would go, or why it cannot. */
static int region_place(struct sim_dma *dma, const struct sim_dma_region *region)
{
	unsigned int i;
	int rc;

	if (!region->size || region->base + (region->size - 1) < region->base)
		return -EINVAL;
	i = region_after(dma, region->base);
	if (i < dma->count && dma->regions[i].base <= region->base + (region->size - 1))
		return -EEXIST;
	rc = regions_grow(dma);
	return rc ? rc : (int)i;
}

static void region_insert(struct sim_dma *dma, unsigned int i, const struct sim_dma_region *region)
{
	memmove(&dma->regions[i + 1], &dma->regions[i], (dma->count - i) * sizeof(dma->regions[0]));
	dma->regions[i] = *region;
	dma->count++;
	dma->last = i;
}

int sim_dma_add(struct sim_dma *dma, const struct sim_dma_region *region)
{
	int place = region_place(dma, region);

	if (place < 0)
		return place;
	region_insert(dma, (unsigned int)place, region);
	return 0;
}

/*
 * A region beyond the end of its file would fault on first use. The file can still shrink later:
 * that is what sim_guard is for.
 */
static int check_file(const struct sim_dma_region *region, int fd, uint64_t offset)
{
	struct stat st;

	if ((region->base | region->size | offset) & (SIM_DMA_PAGE - 1))
		return -EINVAL;
	if (region->size > SIZE_MAX || offset > INT64_MAX || region->size > INT64_MAX - offset)
		return -EINVAL;
	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size < offset + region->size)
		return -EINVAL;
	return 0;
}

int sim_dma_add_file(struct sim_dma *dma, const struct sim_dma_region *region, int fd,
		     uint64_t offset)
{
	int protection = (region->readable ? PROT_READ : 0) | (region->writable ? PROT_WRITE : 0);
	struct sim_dma_region r = *region;
	int place, rc;
	void *map;

	rc = check_file(region, fd, offset);
	if (rc)
		return rc;
	place = region_place(dma, region);
	if (place < 0)
		return place;
	map = mmap(NULL, (size_t)r.size, protection, MAP_SHARED | MAP_NORESERVE, fd, (off_t)offset);
	if (map == MAP_FAILED)
		return -errno;
	rc = sim_guard_add(map, (size_t)r.size, &dma->broken);
	if (rc)
		goto undo_map;
	r.host = map;
	r.is_mapping = true;
	region_insert(dma, (unsigned int)place, &r);
	return 0;

undo_map:
	munmap(map, (size_t)r.size);
	return rc;
}

static void region_release(struct sim_dma_region *r)
{
	if (!r->is_mapping)
		return;
	sim_guard_remove(r->host);
	munmap(r->host, (size_t)r->size);
}

int sim_dma_remove(struct sim_dma *dma, uint64_t base, uint64_t size)
{
	uint64_t last = base + (size - 1);
	unsigned int first = region_after(dma, base), end, i;

	if (!size || last < base)
		return -EINVAL;
	for (end = first; end < dma->count && dma->regions[end].base <= last; end++) {
		const struct sim_dma_region *r = &dma->regions[end];

		if (r->base < base || r->base + (r->size - 1) > last)
			return -EINVAL;
	}
	for (i = first; i < end; i++)
		region_release(&dma->regions[i]);
	memmove(&dma->regions[first], &dma->regions[end],
		(dma->count - end) * sizeof(dma->regions[0]));
	dma->count -= end - first;
	return (int)(end - first);
}

void sim_dma_clear(struct sim_dma *dma)
{
	while (dma->count)
		region_release(&dma->regions[--dma->count]);
}

void sim_dma_fini(struct sim_dma *dma)
{
	sim_dma_clear(dma);
	free(dma->regions);
	dma->regions = NULL;
	dma->room = 0;
	dma->last = 0;
	dma->broken = 0;
}
