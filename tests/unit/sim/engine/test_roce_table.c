/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Id tables: what is found, in which order, at which price in memory. */
#include "sim/engine/roce_table.h"

#include "tests/lib/t.h"
#include "tests/unit/sim/engine/roce_counted.h"

#include <errno.h>

static const uint32_t ids[] = {0, 1, 255, 256, 0xffff, 0x10000, 0x123456, 0xfffffe, 0xffffff};
enum { IDS = sizeof(ids) / sizeof(ids[0]) };

static void finds_what_was_inserted(void)
{
	struct roce_table table;
	int objects[IDS];
	uint32_t id = 0;
	unsigned int i;

	roce_table_init(&table, &counted, 100);
	for (i = 0; i < IDS; i++) {
		T_TRUE(!roce_table_find(&table, ids[i]));
		T_EQ(roce_table_insert(&table, ids[i], &objects[i]), 0);
		T_EQ(roce_table_insert(&table, ids[i], &objects[0]), -EEXIST);
	}
	for (i = 0; i < IDS; i++)
		T_TRUE(roce_table_find(&table, ids[i]) == &objects[i]);
	T_TRUE(!roce_table_find(&table, 2));
	T_TRUE(!roce_table_find(&table, 0x1000000));
	T_TRUE(!roce_table_find(&table, UINT32_MAX));
	for (i = 0; i < IDS; i++, id++) {
		T_TRUE(roce_table_next(&table, &id) == &objects[i]);
		T_EQ(id, ids[i]);
	}
	T_TRUE(!roce_table_next(&table, &id));
	for (i = 0; i < IDS; i++) {
		roce_table_remove(&table, ids[i]);
		T_TRUE(!roce_table_find(&table, ids[i]));
	}
	roce_table_remove(&table, 5);
	T_EQ(table.count, 0);
	T_EQ(counted_bytes, 0);
}

static void refuses_what_does_not_fit(void)
{
	struct roce_table table;
	int object;

	roce_table_init(&table, &counted, 2);
	T_EQ(roce_table_insert(&table, 0x1000000, &object), -EINVAL);
	T_EQ(roce_table_insert(&table, 7, &object), 0);
	T_EQ(roce_table_insert(&table, 8, &object), 0);
	T_EQ(roce_table_insert(&table, 9, &object), -ENOSPC);
	roce_table_remove(&table, 7);
	T_EQ(roce_table_insert(&table, 9, &object), 0);
	roce_table_remove(&table, 8);
	roce_table_remove(&table, 9);
	T_EQ(counted_bytes, 0);
}

/* A failure at any of the three nodes leaves nothing behind. */
static void undoes_half_a_path(void)
{
	struct roce_table table;
	int object;

	roce_table_init(&table, &counted, 10);
	for (counted_fail_after = 0; counted_fail_after < 3;) {
		long n = counted_fail_after;

		T_EQ(roce_table_insert(&table, 0x345678, &object), -ENOMEM);
		T_EQ(counted_bytes, 0);
		T_EQ(table.count, 0);
		counted_fail_after = n + 1;
	}
	counted_fail_after = -1;
	T_EQ(roce_table_insert(&table, 0x345678, &object), 0);
	counted_fail_after = 1;
	T_EQ(roce_table_insert(&table, 0x995678, &object), -ENOMEM);
	counted_fail_after = -1;
	T_TRUE(roce_table_find(&table, 0x345678) == &object);
	roce_table_remove(&table, 0x345678);
	T_EQ(counted_bytes, 0);
}

/* The numbers that a NIC must at least have, and that they cost nothing before. */
static void costs_what_is_used(void)
{
	struct roce_table table;
	uint32_t id, count = 65536;
	int object;

	roce_table_init(&table, &counted, count);
	T_EQ(counted_bytes, 0);
	T_EQ(roce_table_insert(&table, 12345, &object), 0);
	T_TRUE(counted_bytes < 8192);
	roce_table_remove(&table, 12345);
	for (id = 0; id < count; id++)
		T_EQ(roce_table_insert(&table, id * 256 + 3, &object), 0);
	for (id = 0; id < count; id++)
		roce_table_remove(&table, id * 256 + 3);
	T_EQ(counted_bytes, 0);
}

T_MAIN("roce_table", T_CASE(finds_what_was_inserted), T_CASE(refuses_what_does_not_fit),
       T_CASE(undoes_half_a_path), T_CASE(costs_what_is_used))
