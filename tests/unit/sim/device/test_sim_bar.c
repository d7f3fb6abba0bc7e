/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Register accesses: which reach the class, and where the others go. */
#include "sim/device/sim_dev_state.h"
#include "tests/lib/t.h"
#include "tests/unit/sim/device/fake_nic.h"

#include <errno.h>
#include <string.h>

static struct sim_loop *loop;
static struct sim_dev *dev;
static struct fake_log line;

static bool start(const char *personality)
{
	memset(&line, 0, sizeof(line));
	if (sim_loop_create(true, &loop))
		return false;
	dev = fake_dev_create(loop, personality, &line);
	return dev;
}

static void stop(void)
{
	sim_dev_destroy(dev);
	sim_loop_destroy(loop);
}

struct row {
	const char *name;
	unsigned int bar;
	uint64_t offset;
	unsigned int size;
	int expect;
	bool reaches_class;
};

static const struct row rows[] = {
	{"byte", 0, 0x41, 1, 0, true},
	{"word", 0, 0x42, 2, 0, true},
	{"doubleword", 0, 0x44, 4, 0, true},
	{"quadword", 0, 0x48, 8, 0, true},
	{"last byte", 0, FAKE_BAR0_SIZE - 1, 1, 0, true},
	{"last quadword", 0, FAKE_BAR0_SIZE - 8, 8, 0, true},
	{"end", 0, FAKE_BAR0_SIZE, 1, -EINVAL, false},
	{"far beyond", 0, 1ull << 40, 4, -EINVAL, false},
	{"wraps", 0, ~0ull, 1, -EINVAL, false},
	{"wraps aligned", 0, ~7ull, 8, -EINVAL, false},
	{"no bytes", 0, 0, 0, -EINVAL, false},
	{"3 bytes", 0, 0, 3, -EINVAL, false},
	{"16 bytes", 0, 0, 16, -EINVAL, false},
	{"unaligned word", 0, 1, 2, -EINVAL, false},
	{"unaligned doubleword", 0, 2, 4, -EINVAL, false},
	{"unaligned quadword", 0, 4, 8, -EINVAL, false},
	{"high half of BAR 0", 1, 0, 4, -EINVAL, false},
	{"absent BAR", 5, 0, 4, -EINVAL, false},
	{"BAR 6", 6, 0, 4, -EINVAL, false},
	{"BAR -1", ~0u, 0, 4, -EINVAL, false},
	{"MSI-X table", FAKE_MSIX_BAR, 0, 4, 0, false},
	{"MSI-X table, end", FAKE_MSIX_BAR, FAKE_VECTORS * 16 - 8, 8, 0, false},
	{"behind the table", FAKE_MSIX_BAR, FAKE_VECTORS * 16, 4, 0, true},
	{"before pending bits", FAKE_MSIX_BAR, FAKE_PBA - 4, 4, 0, true},
	{"pending bits", FAKE_MSIX_BAR, FAKE_PBA, 8, 0, false},
	{"pending bits, end", FAKE_MSIX_BAR, FAKE_PBA + 15, 1, 0, false},
	{"behind pending bits", FAKE_MSIX_BAR, FAKE_PBA + 16, 4, 0, true},
	{"table's offset, other BAR", FAKE_MEMORY_BAR, 0, 4, 0, true},
};

static void accesses_go_where_they_belong(void)
{
	size_t i;

	T_NEED(start(NULL));
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *r = &rows[i];
		unsigned int reads = fake_last->reads, writes = fake_last->writes;
		uint64_t value = 0;

		T_EQ_ROW(r->name, sim_bar_has(dev, r->bar, r->offset, r->size), !r->expect);
		T_EQ_ROW(r->name, sim_bar_read(dev, r->bar, r->offset, r->size, &value), r->expect);
		T_EQ_ROW(r->name, sim_bar_write(dev, r->bar, r->offset, r->size, ~0ull), r->expect);
		T_EQ_ROW(r->name, fake_last->reads - reads, r->reaches_class);
		T_EQ_ROW(r->name, fake_last->writes - writes, r->reaches_class);
		if (!r->reaches_class)
			continue;
		T_EQ_ROW(r->name, fake_last->last_bar, r->bar);
		T_EQ_ROW(r->name, fake_last->last_offset, r->offset);
		T_EQ_ROW(r->name, fake_last->last_size, r->size);
		/* Nothing above the size of the access. */
		T_EQ_ROW(r->name, fake_last->last_value,
			 r->size == 8 ? ~0ull : (1ull << 8 * r->size) - 1);
	}
	stop();
}

static void pending_bits_are_read_only(void)
{
	uint64_t value;

	T_NEED(start(NULL));
	sim_irq_raise(dev, 69);
	T_EQ(sim_bar_write(dev, FAKE_MSIX_BAR, FAKE_PBA + 8, 8, 0), 0);
	T_EQ(sim_bar_read(dev, FAKE_MSIX_BAR, FAKE_PBA + 8, 8, &value), 0);
	T_EQ(value, 1 << 5);
	stop();
}

static void shared_memory_is_memory(void)
{
	uint64_t value;
	uint8_t *memory;

	T_NEED(start("mappable"));
	memory = sim_dev_bar_memory(dev, FAKE_MEMORY_BAR);
	T_NEED(memory);
	T_TRUE(!sim_dev_bar_memory(dev, 0));
	T_TRUE(!sim_dev_bar_memory(dev, 6));
	memory[8] = 0x12;
	T_EQ(sim_bar_read(dev, FAKE_MEMORY_BAR, FAKE_MEMORY_OFFSET + 8, 4, &value), 0);
	T_EQ(value, 0x12);
	T_EQ(fake_last->reads, 0);
	T_EQ(sim_bar_write(dev, FAKE_MEMORY_BAR, FAKE_MEMORY_OFFSET + 8, 2, 0xffff3456), 0);
	T_BYTES(memory + 8, "\x56\x34\x00\x00", 4);
	T_EQ(fake_last->writes, 1);
	/* Around it are registers. */
	T_EQ(sim_bar_read(dev, FAKE_MEMORY_BAR, FAKE_MEMORY_OFFSET - 4, 4, &value), 0);
	T_EQ(sim_bar_read(dev, FAKE_MEMORY_BAR, FAKE_MEMORY_OFFSET + FAKE_MEMORY_LENGTH, 4, &value),
	     0);
	T_EQ(fake_last->reads, 2);
	sim_dev_reset(dev);
	T_EQ(memory[8], 0);
	stop();
}

T_MAIN("sim_bar", T_CASE(accesses_go_where_they_belong), T_CASE(pending_bits_are_read_only),
       T_CASE(shared_memory_is_memory), )
