/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Work queue: a ring of entries of one size and, beside it, a ring of their SGE lists or inline
 * bytes, counted in units of one SGE. Owns both rings; knows nothing of QPs.
 *
 *	slots   | tail: oldest | ... | head: next to post |       struct roce_wqe first in each slot
 *	units   |--SGEs of tail--|--SGEs of the next--|  hole  |  a list never wraps: a hole is left
 *
 * head and tail are counters that never wrap to the ring's size; the slot is counter & (room - 1).
 * Both rings begin empty and grow by doubling as far as work is really posted: a queue costs what
 * it was used for, not what it could hold. They are never given back before the queue is.
 */
#ifndef ANYNIC_SIM_ENGINE_ROCE_QUEUE_H
#define ANYNIC_SIM_ENGINE_ROCE_QUEUE_H

#include "sim/engine/roce_table.h"

struct roce_wqe {
	uint64_t wr_id;
	uint32_t unit;	   /* where its units begin, a counter */
	uint32_t unit_end; /* where they end: the unit ring's tail once it is done */
	uint32_t num_sge;
	uint32_t length; /* bytes in the list; of a send only known once begun */
};

struct roce_queue {
	const struct roce_memory *memory;
	uint8_t *slots;
	struct roce_sge *units;
	uint32_t slot_size;
	uint32_t max; /* entries at most */
	uint32_t room;
	uint32_t head, tail;
	uint32_t unit_room;
	uint32_t unit_head, unit_tail;
};

void roce_queue_init(struct roce_queue *queue, const struct roce_memory *memory, uint32_t slot_size,
		     uint32_t max);
void roce_queue_fini(struct roce_queue *queue);

/*
 * A new entry at the head with room for `units` SGEs, its units set, the rest of it as it was
 * left. NULL: full, or no memory.
 */
struct roce_wqe *roce_queue_push(struct roce_queue *queue, uint32_t units);
/* The oldest entry is done. */
void roce_queue_pop(struct roce_queue *queue);
/* All entries are forgotten. */
void roce_queue_clear(struct roce_queue *queue);

static inline uint32_t roce_queue_count(const struct roce_queue *queue)
{
	return queue->head - queue->tail;
}

static inline void *roce_queue_at(const struct roce_queue *queue, uint32_t counter)
{
	return queue->slots + (size_t)(counter & (queue->room - 1)) * queue->slot_size;
}

static inline struct roce_sge *roce_queue_units(const struct roce_queue *queue,
						const struct roce_wqe *wqe)
{
	return queue->units ? queue->units + (wqe->unit & (queue->unit_room - 1)) : NULL;
}

#endif
