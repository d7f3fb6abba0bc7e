// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Id tables: a radix tree of three levels. Owns its nodes, knows nothing of the objects. */
#include "sim/engine/roce_table.h"

#include <errno.h>

enum { LEVELS = 3, BITS = 8 };

static unsigned int slot_of(uint32_t id, int level)
{
	return id >> (BITS * (LEVELS - 1 - level)) & (ROCE_NODE_SLOTS - 1);
}

void roce_table_init(struct roce_table *table, const struct roce_memory *memory, uint32_t max)
{
	*table = (struct roce_table){.memory = memory, .max = max};
}

/* Gives back the nodes on the path to id that hold nothing, from the leaf up. */
static void prune(struct roce_table *table, uint32_t id)
{
	struct roce_node *path[LEVELS] = {table->root};
	int level;

	for (level = 1; level < LEVELS && path[level - 1]; level++)
		path[level] = path[level - 1]->slot[slot_of(id, level - 1)];
	for (level = LEVELS - 1; level >= 0; level--) {
		if (!path[level])
			continue;
		if (path[level]->used)
			return;
		roce_free(table->memory, path[level]);
		if (level == 0) {
			table->root = NULL;
		} else {
			path[level - 1]->slot[slot_of(id, level - 1)] = NULL;
			path[level - 1]->used--;
		}
	}
}

/* Makes the missing nodes on the way down; `used` counts the entries of the node above. */
int roce_table_insert(struct roce_table *table, uint32_t id, void *object)
{
	struct roce_node *node;
	void **slot = (void **)&table->root;
	uint32_t *used = NULL;
	int level;

	if (id > ROCE_ID_MAX)
		return -EINVAL;
	if (roce_table_find(table, id))
		return -EEXIST;
	if (table->count >= table->max)
		return -ENOSPC;
	for (level = 0; level < LEVELS; level++) {
		if (!*slot) {
			*slot = roce_alloc(table->memory, sizeof(*node));
			if (!*slot)
				goto undo_nodes;
			if (used)
				++*used;
		}
		node = *slot;
		used = &node->used;
		slot = &node->slot[slot_of(id, level)];
	}
	*slot = object;
	++*used;
	table->count++;
	return 0;

undo_nodes:
	prune(table, id);
	return -ENOMEM;
}

void roce_table_remove(struct roce_table *table, uint32_t id)
{
	struct roce_node *node;

	if (!roce_table_find(table, id))
		return;
	node = table->root->slot[slot_of(id, 0)];
	node = node->slot[slot_of(id, 1)];
	node->slot[slot_of(id, 2)] = NULL;
	node->used--;
	table->count--;
	prune(table, id);
}

void *roce_table_next(const struct roce_table *table, uint32_t *id)
{
	uint32_t at = *id;

	while (at <= ROCE_ID_MAX) {
		const struct roce_node *node = table->root;
		int level;

		for (level = 0; level < LEVELS && node; level++)
			node = node->slot[slot_of(at, level)];
		if (node) {
			*id = at;
			return (void *)(uintptr_t)node;
		}
		/* An absent node at this level spares us all ids below it. */
		at = ((at >> (BITS * (LEVELS - level))) + 1) << (BITS * (LEVELS - level));
		if (level == 0)
			return NULL;
	}
	return NULL;
}
