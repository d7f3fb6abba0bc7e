/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Tables from a 24-bit id to an object. Owns the nodes, not the objects; knows nothing of what
 * they are. And the engine's way to get memory, which the table is the first to need.
 *
 *	root[id >> 16] -> node[id >> 8] -> node[id] -> object
 *
 * A node is made with the first id below it and given back with the last, so a table costs 2 KiB
 * for each range of 256 ids in use, whatever its limit.
 */
#ifndef ANYNIC_SIM_ENGINE_ROCE_TABLE_H
#define ANYNIC_SIM_ENGINE_ROCE_TABLE_H

#include "sim/engine/roce.h"

struct roce_memory {
	const struct roce_env *env;
	void *ctx;
};

static inline void *roce_alloc(const struct roce_memory *memory, size_t size)
{
	return memory->env->alloc(memory->ctx, size);
}

/* NULL is allowed. */
static inline void roce_free(const struct roce_memory *memory, void *block)
{
	if (block)
		memory->env->free(memory->ctx, block);
}

enum { ROCE_ID_MAX = 0xffffff, ROCE_NODE_SLOTS = 256 };

struct roce_node {
	void *slot[ROCE_NODE_SLOTS];
	uint32_t used;
};

struct roce_table {
	const struct roce_memory *memory;
	struct roce_node *root;
	uint32_t count;
	uint32_t max; /* objects at most; 0 = none may be made */
};

void roce_table_init(struct roce_table *table, const struct roce_memory *memory, uint32_t max);
/* -EINVAL: id above 24 bits; -EEXIST: in use; -ENOSPC: table full; -ENOMEM. */
int roce_table_insert(struct roce_table *table, uint32_t id, void *object);
/* Forgets the id, which need not be there. */
void roce_table_remove(struct roce_table *table, uint32_t id);
/* The object of the least id that is at least *id, which is set to it; NULL: no more. */
void *roce_table_next(const struct roce_table *table, uint32_t *id);

static inline void *roce_table_find(const struct roce_table *table, uint32_t id)
{
	const struct roce_node *node = table->root;

	if (id > ROCE_ID_MAX || !node)
		return NULL;
	node = node->slot[id >> 16];
	if (!node)
		return NULL;
	node = node->slot[id >> 8 & 0xff];
	return node ? node->slot[id & 0xff] : NULL;
}

#endif
