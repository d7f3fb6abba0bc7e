/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* MSI-X: masks, pending bits, and everything that opens a vector again. */
#include "sim/device/sim_irq.h"
#include "tests/lib/t.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { COUNT = 130 };

static struct sim_irq irq;

static void mask(unsigned int vector, bool masked)
{
	sim_irq_table_write(&irq, vector * 16 + 12, 4, masked);
}

static bool is_pending(unsigned int vector)
{
	return sim_irq_pending_read(&irq, vector / 8, 1) >> (vector % 8) & 1;
}

static bool start(void)
{
	unsigned int i;

	if (sim_irq_init(&irq, COUNT))
		return false;
	sim_irq_set_control(&irq, true);
	for (i = 0; i < COUNT; i++)
		mask(i, false);
	return true;
}

static void starts_masked(void)
{
	unsigned int i;

	T_NEED(!sim_irq_init(&irq, COUNT));
	T_EQ(sim_irq_table_size(&irq), COUNT * 16);
	T_EQ(sim_irq_pending_size(&irq), 24);
	sim_irq_set_control(&irq, true);
	for (i = 0; i < COUNT; i++) {
		T_EQ(sim_irq_table_read(&irq, i * 16, 8), 0);
		T_EQ(sim_irq_table_read(&irq, i * 16 + 8, 8), 1ull << 32);
		sim_irq_deliver(&irq, i);
		T_EQ(sim_irq_take(&irq, i), 0);
		T_TRUE(is_pending(i));
	}
	sim_irq_fini(&irq);
}

static void open_vector_is_delivered_each_time(void)
{
	T_NEED(start());
	sim_irq_deliver(&irq, 129);
	sim_irq_deliver(&irq, 129);
	T_TRUE(!is_pending(129));
	T_EQ(sim_irq_take(&irq, 129), 2);
	T_EQ(sim_irq_take(&irq, 129), 0);
	T_EQ(sim_irq_take(&irq, 128), 0);
	sim_irq_fini(&irq);
}

static void vector_out_of_range_is_ignored(void)
{
	T_NEED(start());
	sim_irq_deliver(&irq, COUNT);
	sim_irq_deliver(&irq, ~0u);
	T_EQ(sim_irq_take(&irq, COUNT), 0);
	sim_irq_fini(&irq);
	T_NEED(!sim_irq_init(&irq, 0));
	sim_irq_deliver(&irq, 0);
	T_EQ(sim_irq_table_size(&irq), 0);
	T_EQ(sim_irq_pending_size(&irq), 0);
	sim_irq_reset(&irq);
	sim_irq_fini(&irq);
	T_EQ(sim_irq_init(&irq, 2049), -EINVAL);
}

/* However often it was raised, a masked vector comes once. */
static void masked_vector_comes_once_when_unmasked(void)
{
	T_NEED(start());
	mask(70, true);
	sim_irq_deliver(&irq, 70);
	sim_irq_deliver(&irq, 70);
	T_TRUE(is_pending(70));
	T_EQ(sim_irq_pending_read(&irq, 8, 8), 1ull << 6);
	T_EQ(sim_irq_take(&irq, 70), 0);
	mask(70, false);
	T_TRUE(!is_pending(70));
	T_EQ(sim_irq_take(&irq, 70), 1);
	mask(70, true);
	mask(70, false);
	T_EQ(sim_irq_take(&irq, 70), 0);
	sim_irq_fini(&irq);
}

static void function_mask_holds_all(void)
{
	T_NEED(start());
	sim_irq_set_control(&irq, false);
	sim_irq_deliver(&irq, 0);
	sim_irq_deliver(&irq, 64);
	sim_irq_deliver(&irq, 129);
	mask(64, true);
	T_EQ(sim_irq_take(&irq, 0), 0);
	sim_irq_set_control(&irq, true);
	T_EQ(sim_irq_take(&irq, 0), 1);
	T_EQ(sim_irq_take(&irq, 64), 0);
	T_EQ(sim_irq_take(&irq, 129), 1);
	T_EQ(sim_irq_pending_read(&irq, 0, 8), 0);
	T_EQ(sim_irq_pending_read(&irq, 8, 8), 1);
	T_EQ(sim_irq_pending_read(&irq, 16, 8), 0);
	sim_irq_fini(&irq);
}

struct access {
	const char *name;
	uint32_t offset;
	unsigned int size;
	uint64_t written;
	uint64_t entry[2]; /* of vector 1 afterwards */
};

static void table_takes_all_sizes(void)
{
	static const struct access rows[] = {
		{"address", 16, 8, 0x11223344fee00000, {0x11223344fee00000, 1ull << 32}},
		{"high half", 20, 4, 0x55667788, {0x55667788fee00000, 1ull << 32}},
		{"data", 24, 4, 0x4321, {0x55667788fee00000, 1ull << 32 | 0x4321}},
		{"two bytes", 24, 2, 0x8765, {0x55667788fee00000, 1ull << 32 | 0x8765}},
		{"one byte", 27, 1, 0x99, {0x55667788fee00000, 1ull << 32 | 0x99008765}},
		{"reserved control bits",
		 28,
		 4,
		 ~0u,
		 {0x55667788fee00000, 1ull << 32 | 0x99008765}},
		{"data and control", 24, 8, 0xfffffffe00000001, {0x55667788fee00000, 1}},
	};
	size_t i;

	T_NEED(!sim_irq_init(&irq, COUNT));
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		sim_irq_table_write(&irq, rows[i].offset, rows[i].size, rows[i].written);
		T_EQ_ROW(rows[i].name, sim_irq_table_read(&irq, 16, 8), rows[i].entry[0]);
		T_EQ_ROW(rows[i].name, sim_irq_table_read(&irq, 24, 8), rows[i].entry[1]);
	}
	T_EQ(sim_irq_table_read(&irq, 27, 1), 0);
	T_EQ(sim_irq_table_read(&irq, 18, 2), 0xfee0);
	T_EQ(sim_irq_table_read(&irq, 0, 8), 0);
	T_EQ(sim_irq_table_read(&irq, 32, 8), 0);
	sim_irq_fini(&irq);
}

static void pending_bits_in_all_sizes(void)
{
	T_NEED(!sim_irq_init(&irq, COUNT));
	sim_irq_deliver(&irq, 3);
	sim_irq_deliver(&irq, 13);
	sim_irq_deliver(&irq, 63);
	T_EQ(sim_irq_pending_read(&irq, 0, 8), 1ull << 63 | 1 << 13 | 1 << 3);
	T_EQ(sim_irq_pending_read(&irq, 0, 4), 1 << 13 | 1 << 3);
	T_EQ(sim_irq_pending_read(&irq, 4, 4), 1u << 31);
	T_EQ(sim_irq_pending_read(&irq, 1, 1), 1 << 5);
	sim_irq_fini(&irq);
}

static uint64_t counted(int fd)
{
	uint64_t count = 0;

	return read(fd, &count, sizeof(count)) == sizeof(count) ? count : 0;
}

/* QEMU keeps the table to itself: there a vector is open that has an eventfd. */
static void client_without_table(void)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	T_NEED(!sim_irq_init(&irq, COUNT));
	sim_irq_client(&irq, true);
	sim_irq_set_control(&irq, true);
	sim_irq_deliver(&irq, 5);
	T_TRUE(is_pending(5));
	sim_irq_set_eventfd(&irq, 5, dup(fd));
	T_TRUE(!is_pending(5));
	T_EQ(counted(fd), 1);
	sim_irq_deliver(&irq, 5);
	T_EQ(counted(fd), 1);
	/* A reset does not take it away: the guest resets the function on its own. */
	sim_irq_reset(&irq);
	sim_irq_deliver(&irq, 5);
	T_EQ(counted(fd), 0);
	sim_irq_set_control(&irq, true);
	T_EQ(counted(fd), 1);
	sim_irq_set_mask(&irq, 5, true);
	sim_irq_deliver(&irq, 5);
	T_EQ(counted(fd), 0);
	sim_irq_set_mask(&irq, 5, false);
	T_EQ(counted(fd), 1);
	/* Gone with its eventfds and masks. */
	sim_irq_set_mask(&irq, 5, true);
	sim_irq_client(&irq, false);
	sim_irq_deliver(&irq, 5);
	T_EQ(counted(fd), 0);
	mask(5, false);
	T_EQ(sim_irq_take(&irq, 5), 1);
	sim_irq_fini(&irq);
	close(fd);
}

/* A client that passes the table on has its mask bits obeyed. */
static void client_with_table(void)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	T_NEED(!sim_irq_init(&irq, COUNT));
	sim_irq_client(&irq, true);
	sim_irq_set_control(&irq, true);
	sim_irq_set_eventfd(&irq, 5, dup(fd));
	sim_irq_table_write(&irq, 0, 8, 0xfee00000);
	sim_irq_deliver(&irq, 5);
	T_EQ(counted(fd), 0);
	mask(5, false);
	T_EQ(counted(fd), 1);
	sim_irq_fini(&irq);
	close(fd);
}

T_MAIN("sim_irq", T_CASE(starts_masked), T_CASE(open_vector_is_delivered_each_time),
       T_CASE(vector_out_of_range_is_ignored), T_CASE(masked_vector_comes_once_when_unmasked),
       T_CASE(function_mask_holds_all), T_CASE(table_takes_all_sizes),
       T_CASE(pending_bits_in_all_sizes), T_CASE(client_without_table), T_CASE(client_with_table), )
