/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The field kit: values in each byte order, and the mistakes that must not
 * compile. Owns a made-up structure; knows no NIC.
 */
#include "providers/common/field.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/t.h"

struct demo {
	__le64 le64;
	__be64 be64;
	__le32 le32;
	__be32 be32;
	__le16 le16;
	__be16 be16;
	__u8 u8[4];
};
#define DEMO_LE64 NIC_FLE64(struct demo, le64, 51, 32)
#define DEMO_BE64 NIC_FBE64(struct demo, be64, 63, 24)
#define DEMO_LE32 NIC_FLE32(struct demo, le32, 31, 31)
#define DEMO_BE32 NIC_FBE32(struct demo, be32, 23, 16)
#define DEMO_LE16 NIC_FLE16(struct demo, le16, 11, 4)
#define DEMO_BE16 NIC_FBE16(struct demo, be16, 3, 0)
#define DEMO_U8	  NIC_FU8(struct demo, u8[1], 6, 5)

static void set_reaches_only_its_bits(void)
{
	static const uint8_t all_set[sizeof(struct demo)] = {
		0xff, 0xff, 0xff, 0xff, 0x45, 0x23, 0xf1, 0xff, /* le64 51:32 = 0x12345 */
		0x12, 0x34, 0x56, 0x78, 0x9a, 0xff, 0xff, 0xff, /* be64 63:24 */
		0xff, 0xff, 0xff, 0x7f,				/* le32 31 = 0 */
		0xff, 0x5a, 0xff, 0xff,				/* be32 23:16 */
		0xaf, 0xf5,					/* le16 11:4 = 0x5a */
		0xff, 0xf0,					/* be16 3:0 */
		0xff, 0x9f, 0xff, 0xff,				/* u8[1] 6:5 = 0 */
	};
	struct demo demo;

	memset(&demo, 0xff, sizeof(demo));
	nic_set(&demo, DEMO_LE64, 0x12345);
	nic_set(&demo, DEMO_BE64, 0x123456789a);
	nic_set(&demo, DEMO_LE32, 0);
	nic_set(&demo, DEMO_BE32, 0x5a);
	nic_set(&demo, DEMO_LE16, 0x5a);
	nic_set(&demo, DEMO_BE16, 0);
	nic_set(&demo, DEMO_U8, 0);
	T_BYTES(&demo, all_set, sizeof(demo));
	T_EQ(nic_get(&demo, DEMO_LE64), 0x12345);
	T_EQ(nic_get(&demo, DEMO_BE64), 0x123456789a);
	T_EQ(nic_get(&demo, DEMO_LE32), 0);
	T_EQ(nic_get(&demo, DEMO_BE32), 0x5a);
	T_EQ(nic_get(&demo, DEMO_LE16), 0x5a);
	T_EQ(nic_get(&demo, DEMO_BE16), 0);
	T_EQ(nic_get(&demo, DEMO_U8), 0);
}

/* A value from outside is cut, so that the neighbours stay as they were. */
static void wide_value_is_cut(void)
{
	unsigned int wide = 0x1ff;
	struct demo demo = {0};

	nic_set(&demo, DEMO_BE32, wide);
	T_EQ(nic_from_be32(demo.be32), 0x00ff0000);
	T_EQ(nic_prep(DEMO_BE32, wide), 0x00ff0000);
}

static void masks_follow_the_descriptor(void)
{
	T_EQ(nic_mask(DEMO_LE64), 0x000fffff00000000);
	T_EQ(nic_mask(DEMO_LE32), 0x80000000);
	T_EQ(nic_max(DEMO_LE64), 0xfffff);
	T_EQ(nic_max(DEMO_U8), 3);
	T_EQ(nic_pick(0xa5ffffff, DEMO_BE32), 0xff);
	T_EQ(sizeof(nic_pick(0, DEMO_LE64)), 4);
	T_EQ(sizeof(nic_pick(0, DEMO_BE64)), 8);
}

/* Each row is the body of a function with "struct demo *d; struct other *o; int v;". */
static const struct {
	const char *name, *body;
	_Bool compiles;
} snippets[] = {
	{"right use", "nic_set(d, FLAG, 1); return nic_get(d, FLAG) + nic_prep(FLAG, 1);", 1},
	{"run-time value", "return nic_prep(FLAG, v);", 1},
	{"constant expression", "static const __u32 c = nic_prep(FLAG, 1); return c;", 1},
	{"get from another structure", "return nic_get(o, FLAG);", 0},
	{"get through void", "return nic_get((void *)o, FLAG);", 0},
	{"set in another structure", "nic_set(o, FLAG, 1); return 0;", 0},
	{"set through const", "nic_set((const struct demo *)d, FLAG, 1); return 0;", 0},
	{"bits across the word", "return nic_get(d, ACROSS);", 0},
	{"bits in the wrong order", "return nic_prep(SWAPPED, 1);", 0},
	{"word of another size", "return nic_mask(NARROW);", 0},
	{"constant too wide to prepare", "return nic_prep(FLAG, 4);", 0},
	{"constant too wide to set", "nic_set(d, FLAG, 4); return 0;", 0},
	{"negative constant", "return nic_prep(FLAG, -1);", 0},
};

static const char prelude[] = "#include \"providers/common/field.h\"\n"
			      "struct demo { __le32 word; }; struct other { __le32 word; };\n"
			      "#define FLAG NIC_FLE32(struct demo, word, 9, 8)\n"
			      "#define ACROSS NIC_FLE32(struct demo, word, 33, 30)\n"
			      "#define SWAPPED NIC_FLE32(struct demo, word, 8, 9)\n"
			      "#define NARROW NIC_FLE16(struct demo, word, 9, 8)\n"
			      "unsigned int f(struct demo *d, struct other *o, int v);\n"
			      "unsigned int f(struct demo *d, struct other *o, int v)\n"
			      "{ (void)d; (void)o; (void)v;";

/* No -Werror: a warning would not stop a build that has it off. */
static int compile(const char *body)
{
	char command[512];
	FILE *compiler;

	/* The root of the sources is where this file's path stops being ours. */
	snprintf(command, sizeof(command),
		 "cc -std=gnu11 -fsyntax-only -I'%.*s.' -x c - 2>/dev/null",
		 (int)(sizeof(__FILE__) - sizeof("tests/unit/providers/common/test_field.c")),
		 __FILE__);
	compiler = popen(command, "w");
	if (!compiler)
		return -1;
	fprintf(compiler, "%s %s }\n", prelude, body);
	return pclose(compiler);
}

static void mistakes_do_not_compile(void)
{
	size_t i;

	/* A compiler has leaks of its own, and nobody's business here. */
	if (getenv("ANYNIC_VALGRIND"))
		return;
	for (i = 0; i < sizeof(snippets) / sizeof(snippets[0]); i++)
		T_EQ_ROW(snippets[i].name, compile(snippets[i].body) == 0, snippets[i].compiles);
}

T_MAIN("field", T_CASE(set_reaches_only_its_bits), T_CASE(wide_value_is_cut),
       T_CASE(masks_follow_the_descriptor), T_CASE(mistakes_do_not_compile), )
