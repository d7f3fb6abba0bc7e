/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memory regions: what is granted, row by row, and lists that end, overlap or point nowhere. */
#include "sim/engine/roce_engine.h"
#include "tests/unit/sim/engine/roce_node.h"

#include "tests/lib/t.h"

#include <errno.h>
#include <string.h>

enum {
	KEY = 0x1205,
	BASE = 0x10000,
	LENGTH = 0x3000,
	READ_KEY = 0x1300,
	ALL_KEY = 0x1400,
	IDLE_KEY = 0x1500,
	LW = ROCE_ACCESS_LOCAL_WRITE,
	RW = ROCE_ACCESS_REMOTE_WRITE,
	RR = ROCE_ACCESS_REMOTE_READ,
	RA = ROCE_ACCESS_REMOTE_ATOMIC,
};

static const struct {
	const char *name;
	struct roce_want want;
	bool granted;
} rows[] = {
	{"whole", {KEY, NODE_PD, LW | RW | RR, BASE, LENGTH}, true},
	{"local read needs no right", {READ_KEY, NODE_PD, 0, BASE, 1}, true},
	{"one byte at the end", {KEY, NODE_PD, RW, BASE + LENGTH - 1, 1}, true},
	{"one byte too many", {KEY, NODE_PD, RW, BASE, LENGTH + 1}, false},
	{"one byte past the end", {KEY, NODE_PD, RW, BASE + LENGTH, 1}, false},
	{"no byte past the end", {KEY, NODE_PD, RW, BASE + LENGTH, 0}, true},
	{"one byte before", {KEY, NODE_PD, RW, BASE - 1, 1}, false},
	{"across the beginning", {KEY, NODE_PD, RW, BASE - 1, 2}, false},
	{"sum wraps", {KEY, NODE_PD, RW, BASE + 1, UINT64_MAX}, false},
	{"address wraps", {KEY, NODE_PD, RW, UINT64_MAX, 2}, false},
	{"other key byte", {KEY + 1, NODE_PD, RW, BASE, 1}, false},
	{"no such index", {0xabcd00, NODE_PD, RW, BASE, 1}, false},
	{"index of 24 bits", {0xffffffff, NODE_PD, RW, BASE, 1}, false},
	{"other PD", {KEY, NODE_PD + 1, RW, BASE, 1}, false},
	{"right not given", {READ_KEY, NODE_PD, RW, BASE, 1}, false},
	{"one right of two", {READ_KEY, NODE_PD, RR | RA, BASE, 1}, false},
	{"right given", {READ_KEY, NODE_PD, RR, BASE, 1}, true},
	{"any PD", {ALL_KEY, 99, LW, 0, 1}, true},
	{"any address", {ALL_KEY, 99, LW, UINT64_MAX, 1}, true},
	{"any address, wraps", {ALL_KEY, 99, LW, UINT64_MAX, 2}, false},
	{"not valid", {IDLE_KEY, NODE_PD, 0, BASE, 1}, false},
};

static void create(struct node *n, struct roce_mr_attr attr)
{
	struct roce_mr *mr;

	attr.iova = attr.any_length ? 0 : BASE;
	attr.length = LENGTH;
	attr.pdn = NODE_PD;
	T_EQ(roce_mr_create(n->nic, &attr, &mr), 0);
	T_TRUE(roce_mr_find(n->nic, attr.key) == mr);
	T_EQ(roce_mr_create(n->nic, &attr, &mr), -EEXIST);
}

static void grants_what_was_given(void)
{
	struct node n;
	size_t i;

	node_defaults(&n, 1);
	node_start(&n);
	create(&n, (struct roce_mr_attr){.key = KEY, .access = 0xf, .valid = true});
	create(&n, (struct roce_mr_attr){.key = READ_KEY, .access = RR, .valid = true});
	create(&n, (struct roce_mr_attr){.key = ALL_KEY,
					 .access = 0xf,
					 .valid = true,
					 .any_pd = true,
					 .any_length = true});
	create(&n, (struct roce_mr_attr){.key = IDLE_KEY, .access = 0xf, .fast_reg = true});
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		T_EQ_ROW(rows[i].name, roce_mr_check(n.nic, &rows[i].want) != NULL,
			 rows[i].granted);
	node_stop(&n);
}

static void list_is_walked_in_any_pieces(void)
{
	static const uint32_t steps[] = {1, 3, 7, 100, 256, 1000, 5000};
	struct node_region *region;
	struct roce_sge sge[4];
	struct node n;
	uint8_t got[6000];
	size_t i;

	node_defaults(&n, 1);
	node_start(&n);
	region = node_mr(&n, KEY, LW, 20000);
	region->piece = 64;
	sge[0] = (struct roce_sge){region->iova + 5000, 1000, KEY};
	sge[1] = (struct roce_sge){0, 0, 0xdead}; /* empty: its key is not looked at */
	sge[2] = (struct roce_sge){region->iova, 1, KEY};
	sge[3] = (struct roce_sge){region->iova + 1, 4999, KEY};
	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct roce_list list = {sge, 4, NODE_PD, 0};
		struct roce_cursor cursor = {0};
		uint32_t at = 0;

		memset(got, 0, sizeof(got));
		while (at < 6000) {
			uint32_t length = 6000 - at < steps[i] ? 6000 - at : steps[i];

			n.nic->span.count = 0;
			T_EQ(roce_list_map(n.nic, &list, &cursor, length), 0);
			roce_span_gather(&n.nic->span, got + at);
			at += length;
		}
		T_BYTES(got, region->bytes + 5000, 1000);
		T_BYTES(got + 1000, region->bytes, 5000);
		n.nic->span.count = 0;
		T_EQ(roce_list_map(n.nic, &list, &cursor, 1), -EMSGSIZE);
		/* Back to the middle, as when a packet is sent again. */
		roce_list_seek(&list, &cursor, 999);
		n.nic->span.count = 0;
		T_EQ(roce_list_map(n.nic, &list, &cursor, 3), 0);
		roce_span_gather(&n.nic->span, got);
		T_EQ(got[0], region->bytes[5999]);
		T_BYTES(got + 1, region->bytes, 2);
	}
	node_stop(&n);
}

static void list_errors_say_which(void)
{
	struct node_region *region;
	struct roce_sge sge;
	struct roce_list list = {&sge, 1, NODE_PD, 0};
	struct roce_cursor cursor = {0};
	struct node n;

	node_defaults(&n, 1);
	node_start(&n);
	region = node_mr(&n, KEY, 0, 8192);
	sge = (struct roce_sge){region->iova, 8192, KEY};
	n.nic->span.count = 0;
	T_EQ(roce_list_map(n.nic, &list, &cursor, 4096), 0);
	list.access = LW;
	T_EQ(roce_list_map(n.nic, &list, &cursor, 4096), -EACCES);
	list.access = 0;
	region->unmapped = true;
	T_EQ(roce_list_map(n.nic, &list, &cursor, 4096), -EFAULT);
	/* More pieces than the engine has room for is an error, not an overrun. */
	region->unmapped = false;
	region->piece = 1;
	n.nic->span.count = 0;
	cursor = (struct roce_cursor){0};
	T_EQ(roce_list_map(n.nic, &list, &cursor, 4096), -EFAULT);
	node_stop(&n);
}

static void invalidation(void)
{
	struct node n;
	struct roce_want want = {0x2001, NODE_PD, 0, 0x900000000ull + (0x2001ull << 24), 1};

	node_defaults(&n, 1);
	node_start(&n);
	node_mr(&n, 0x1000, LW, 100);
	node_fast_mr(&n, 0x2001, true, 100);
	T_TRUE(roce_mr_check(n.nic, &want) != NULL);
	T_EQ(roce_mr_invalidate(n.nic, 0x1000, NODE_PD), -EACCES); /* not of that kind */
	T_EQ(roce_mr_invalidate(n.nic, 0x2002, NODE_PD), -EACCES);
	T_EQ(roce_mr_invalidate(n.nic, 0x2001, NODE_PD + 1), -EACCES);
	T_EQ(roce_mr_invalidate(n.nic, 0x3000, NODE_PD), -EACCES);
	T_TRUE(roce_mr_check(n.nic, &want) != NULL);
	T_EQ(roce_mr_invalidate(n.nic, 0x2001, NODE_PD), 0);
	T_TRUE(!roce_mr_check(n.nic, &want));
	node_stop(&n);
}

T_MAIN("roce_mr", T_CASE(grants_what_was_given), T_CASE(list_is_walked_in_any_pieces),
       T_CASE(list_errors_say_which), T_CASE(invalidation))
