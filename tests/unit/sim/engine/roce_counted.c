/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Counted memory for tests. Knows nothing of what it is for. */
#include "tests/unit/sim/engine/roce_counted.h"

#include <stdlib.h>

/* In front of each block; a multiple of the strictest alignment. */
struct block {
	_Alignas(16) size_t size;
};

size_t counted_bytes;
long counted_fail_after = -1;

static void *counted_alloc(void *ctx, size_t size)
{
	struct block *block;

	(void)ctx;
	if (counted_fail_after == 0)
		return NULL;
	if (counted_fail_after > 0)
		counted_fail_after--;
	block = calloc(1, sizeof(*block) + size);
	block->size = size;
	counted_bytes += size;
	return block + 1;
}

static void counted_free(void *ctx, void *memory)
{
	struct block *block = (struct block *)memory - 1;

	(void)ctx;
	counted_bytes -= block->size;
	free(block);
}

static const struct roce_env env = {.alloc = counted_alloc, .free = counted_free};
const struct roce_memory counted = {&env, NULL};
