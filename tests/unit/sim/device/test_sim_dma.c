/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Guest memory: look-up against a plain search, borders, copies across regions. */
#include "sim/device/sim_dma.h"
#include "tests/lib/t.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct sim_dma dma;
static uint8_t memory[0x10000];

static struct sim_dma_region region(uint64_t base, uint64_t size)
{
	return (struct sim_dma_region){
		.base = base, .size = size, .host = memory, .readable = true, .writable = true};
}

static int add(uint64_t base, uint64_t size)
{
	struct sim_dma_region r = region(base, size);

	return sim_dma_add(&dma, &r);
}

struct find_row {
	const char *name;
	uint64_t addr;
	size_t length;
	int64_t offset; /* into memory, -1 = refused */
};

static void ranges_are_found_or_refused(void)
{
	static const struct find_row rows[] = {
		{"first byte", 0x1000, 1, 0},
		{"whole", 0x1000, 0x1000, 0},
		{"last byte", 0x1fff, 1, 0xfff},
		{"over the end", 0x1fff, 2, -1},
		{"before", 0xfff, 1, -1},
		{"before, reaching in", 0xfff, 2, -1},
		{"hole", 0x2000, 1, -1},
		{"second", 0x4000, 0x100, 0},
		{"into its neighbour", 0x40ff, 2, -1},
		{"neighbour", 0x4100, 0x100, 0},
		{"nothing", 0x1000, 0, 0},
		{"nothing in a hole", 0x3000, 0, -1},
		{"huge", 0x1000, SIZE_MAX, -1},
		{"top of the bus", ~0ull, 1, 0xfff},
		{"over the top", ~0ull, 2, -1},
		{"top page", ~0xfffull, 0x1000, 0},
	};
	size_t i;

	sim_dma_init(&dma);
	T_EQ(add(0x4100, 0x100), 0);
	T_EQ(add(0x1000, 0x1000), 0);
	T_EQ(add(~0xfffull, 0x1000), 0);
	T_EQ(add(0x4000, 0x100), 0);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t *host = sim_dma_find(&dma, rows[i].addr, rows[i].length, true);

		T_EQ_ROW(rows[i].name, host ? host - memory : -1, rows[i].offset);
	}
	sim_dma_fini(&dma);
}

struct add_row {
	const char *name;
	uint64_t base, size;
	int expect;
};

static void overlap_and_wrap_are_refused(void)
{
	static const struct add_row rows[] = {
		{"first", 0x10000, 0x10000, 0},
		{"same", 0x10000, 0x10000, -EEXIST},
		{"inside", 0x18000, 0x1000, -EEXIST},
		{"around", 0, 0x100000, -EEXIST},
		{"head", 0xf000, 0x1001, -EEXIST},
		{"tail", 0x1ffff, 1, -EEXIST},
		{"just before", 0xf000, 0x1000, 0},
		{"just behind", 0x20000, 0x1000, 0},
		{"empty", 0x50000, 0, -EINVAL},
		{"wraps", 0x50000, ~0ull, -EINVAL},
		{"wraps by one", ~0ull, 2, -EINVAL},
		{"all", 0, ~0ull, -EEXIST},
		{"top", ~0ull, 1, 0},
	};
	size_t i;

	sim_dma_init(&dma);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		T_EQ_ROW(rows[i].name, add(rows[i].base, rows[i].size), rows[i].expect);
	sim_dma_fini(&dma);
}

static void removing_never_cuts(void)
{
	static const struct add_row rows[] = {
		{"part", 0x1000, 0x400, -EINVAL},
		{"inside", 0x1400, 0x100, -EINVAL},
		{"one and a half", 0x1000, 0x2000, -EINVAL},
		{"half and one", 0x2800, 0x3000, -EINVAL},
		{"empty", 0x1000, 0, -EINVAL},
		{"wraps", 0x1000, ~0ull, -EINVAL},
		{"hole", 0x1800, 0x800, 0},
		{"exact", 0x1000, 0x800, 1},
		{"again", 0x1000, 0x800, 0},
		{"two and a hole", 0x1800, 0x3800, 2},
		{"all", 0, ~0ull, 1},
		{"nothing", 0, ~0ull, 0},
	};
	size_t i;

	sim_dma_init(&dma);
	T_EQ(add(0x1000, 0x800), 0);
	T_EQ(add(0x2000, 0x1800), 0);
	T_EQ(add(0x4000, 0x1000), 0);
	T_EQ(add(0x8000, 0x1000), 0);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		T_EQ_ROW(rows[i].name, sim_dma_remove(&dma, rows[i].base, rows[i].size),
			 rows[i].expect);
	T_EQ(dma.count, 0);
	sim_dma_fini(&dma);
}

static void number_of_regions_is_limited(void)
{
	unsigned int i;

	sim_dma_init(&dma);
	for (i = 0; i < SIM_DMA_REGIONS_MAX; i++)
		if (add(0x2000ull * (SIM_DMA_REGIONS_MAX - i), 0x1000))
			break;
	T_EQ(i, SIM_DMA_REGIONS_MAX);
	T_EQ(add(0, 0x1000), -ENOSPC);
	T_EQ(sim_dma_remove(&dma, 0x2000, 0x1000), 1);
	T_EQ(add(0, 0x1000), 0);
	sim_dma_fini(&dma);
}

/* 256 pages, mapped and unmapped at random, against an array of booleans. */
static void look_up_agrees_with_a_plain_search(void)
{
	bool is_mapped[256] = {false};
	unsigned int i, round, wrong = 0;

	sim_dma_init(&dma);
	srandom(3);
	for (round = 0; round < 4000; round++) {
		unsigned int page = (unsigned int)random() % 256;
		int rc;

		if (random() & 1) {
			rc = add(page * 0x1000ull, 0x1000);
			wrong += rc != (is_mapped[page] ? -EEXIST : 0);
			is_mapped[page] = true;
		} else {
			rc = sim_dma_remove(&dma, page * 0x1000ull, 0x1000);
			wrong += rc != is_mapped[page];
			is_mapped[page] = false;
		}
		for (i = 0; i < 4; i++) {
			page = (unsigned int)random() % 256;
			wrong += !sim_dma_find(&dma, page * 0x1000ull + 0x7ff, 0x801, false) ==
				 is_mapped[page];
		}
	}
	T_EQ(wrong, 0);
	sim_dma_fini(&dma);
}

/* ------------------------------------------------------------ copies */

static uint64_t remote_addr;
static size_t remote_length;
static int remote_result;
static uint8_t remote_bytes[64];

static int remote_read(void *ctx, uint64_t addr, void *data, size_t length)
{
	T_TRUE(ctx == &remote_addr);
	remote_addr = addr;
	remote_length = length;
	memset(data, 0xee, length);
	return remote_result;
}

static int remote_write(void *ctx, uint64_t addr, const void *data, size_t length)
{
	T_TRUE(ctx == &remote_addr);
	remote_addr = addr;
	remote_length = length;
	memcpy(remote_bytes, data, length < 64 ? length : 64);
	return remote_result;
}

static const struct sim_dma_remote remote = {.read = remote_read, .write = remote_write};

/* [0x1000, 0x2000) here, [0x2000, 0x3000) behind the client, [0x3000, 0x4000) here, read only,
 * [0x5000, 0x6000) write only. */
static void lay_out(void)
{
	struct sim_dma_region r = region(0x1000, 0x1000);

	sim_dma_init(&dma);
	dma.remote = &remote;
	dma.remote_ctx = &remote_addr;
	remote_result = 0;
	remote_addr = 0;
	T_EQ(sim_dma_add(&dma, &r), 0);
	r = region(0x2000, 0x1000);
	r.host = NULL;
	T_EQ(sim_dma_add(&dma, &r), 0);
	r = region(0x3000, 0x1000);
	r.host = memory + 0x1000;
	r.writable = false;
	T_EQ(sim_dma_add(&dma, &r), 0);
	r = region(0x5000, 0x1000);
	r.readable = false;
	T_EQ(sim_dma_add(&dma, &r), 0);
}

static void copies_go_across_regions(void)
{
	uint8_t data[0x2000];

	lay_out();
	memset(memory, 0x11, 0x1000);
	memset(memory + 0x1000, 0x33, 0x1000);
	T_EQ(sim_dma_copy_in(&dma, 0x1ff8, data, 0x1010), 0);
	T_EQ(data[7], 0x11);
	T_EQ(data[8], 0xee);
	T_EQ(data[0x1007], 0xee);
	T_EQ(data[0x1008], 0x33);
	T_EQ(remote_addr, 0x2000);
	T_EQ(remote_length, 0x1000);
	memset(data, 0x77, sizeof(data));
	T_EQ(sim_dma_copy_out(&dma, 0x1ffc, data, 8), 0);
	T_EQ(memory[0xffb], 0x11);
	T_EQ(memory[0xffc], 0x77);
	T_EQ(memory[0x1000], 0x33);
	T_EQ(remote_length, 4);
	T_EQ(remote_bytes[3], 0x77);
	T_EQ(sim_dma_copy_in(&dma, 0x7777, data, 0), 0);
	sim_dma_fini(&dma);
}

struct fault_row {
	const char *name;
	uint64_t addr;
	size_t length;
	int in, out;
};

static void copies_stop_at_the_border(void)
{
	static const struct fault_row rows[] = {
		{"read only", 0x3000, 8, 0, -EFAULT},
		{"write only", 0x5000, 8, -EFAULT, 0},
		{"into a hole", 0x3ffc, 8, -EFAULT, -EFAULT},
		{"out of a hole", 0xffc, 8, -EFAULT, -EFAULT},
		{"into read only", 0x2ffc, 8, 0, -EFAULT},
		{"wraps", ~0ull - 3, 8, -EFAULT, -EFAULT},
	};
	uint8_t data[8] = {0};
	size_t i;

	lay_out();
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		T_EQ_ROW(rows[i].name, sim_dma_copy_in(&dma, rows[i].addr, data, rows[i].length),
			 rows[i].in);
		T_EQ_ROW(rows[i].name, sim_dma_copy_out(&dma, rows[i].addr, data, rows[i].length),
			 rows[i].out);
	}
	remote_result = -EIO;
	T_EQ(sim_dma_copy_in(&dma, 0x2000, data, 8), -EFAULT);
	T_EQ(sim_dma_copy_out(&dma, 0x2000, data, 8), -EFAULT);
	/* Direct access only to what is here, with the right. */
	T_TRUE(!sim_dma_find(&dma, 0x2000, 8, false));
	T_TRUE(sim_dma_find(&dma, 0x3000, 8, false));
	T_TRUE(!sim_dma_find(&dma, 0x3000, 8, true));
	T_TRUE(!sim_dma_find(&dma, 0x5000, 8, false));
	T_TRUE(!sim_dma_find(&dma, 0x1ffc, 8, false));
	sim_dma_fini(&dma);
}

/* ------------------------------------------------------------ files */

static void file_is_mapped_at_its_offset(void)
{
	int fd = memfd_create("test", MFD_CLOEXEC);
	struct sim_dma_region r = region(0x100000, 0x2000);
	uint8_t *host;

	sim_dma_init(&dma);
	T_EQ(ftruncate(fd, 0x4000), 0);
	T_EQ(pwrite(fd, "hello", 5, 0x2ff0), 5);
	T_EQ(sim_dma_add_file(&dma, &r, fd, 0x2000), 0);
	close(fd);
	host = sim_dma_find(&dma, 0x100ff0, 5, true);
	T_NEED(host);
	T_BYTES(host, "hello", 5);
	r.base = 0x101000;
	T_EQ(sim_dma_add_file(&dma, &r, -1, 0), -EBADF);
	sim_dma_fini(&dma);
}

static void broken_stays_broken_until_all_is_gone(void)
{
	int fd = memfd_create("test", MFD_CLOEXEC);
	struct sim_dma_region r = region(0, 0x4000);
	uint8_t byte;

	sim_dma_init(&dma);
	T_EQ(ftruncate(fd, 0x4000), 0);
	T_EQ(sim_dma_add_file(&dma, &r, fd, 0), 0);
	T_EQ(add(0x8000, 0x1000), 0);
	T_EQ(ftruncate(fd, 0x1000), 0);
	T_EQ(sim_dma_copy_in(&dma, 0, &byte, 1), 0);
	T_EQ(sim_dma_copy_in(&dma, 0x3000, &byte, 1), -EFAULT);
	T_EQ(sim_dma_copy_in(&dma, 0x8000, &byte, 1), -EFAULT);
	T_EQ(sim_dma_copy_out(&dma, 0x8000, &byte, 1), -EFAULT);
	T_TRUE(!sim_dma_find(&dma, 0x8000, 1, false));
	sim_dma_fini(&dma);
	T_EQ(add(0x8000, 0x1000), 0);
	T_TRUE(sim_dma_find(&dma, 0x8000, 1, false));
	sim_dma_fini(&dma);
	close(fd);
}

T_MAIN("sim_dma", T_CASE(ranges_are_found_or_refused), T_CASE(overlap_and_wrap_are_refused),
       T_CASE(removing_never_cuts), T_CASE(number_of_regions_is_limited),
       T_CASE(look_up_agrees_with_a_plain_search), T_CASE(copies_go_across_regions),
       T_CASE(copies_stop_at_the_border), T_CASE(file_is_mapped_at_its_offset),
       T_CASE(broken_stays_broken_until_all_is_gone), )
