// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Work queue rings. Owns slots and units, knows nothing of what the entries mean. */
#include "sim/engine/roce_queue.h"

#include <errno.h>
#include <string.h>

enum { FIRST_ROOM = 8 };

void roce_queue_init(struct roce_queue *queue, const struct roce_memory *memory, uint32_t slot_size,
		     uint32_t max)
{
	*queue = (struct roce_queue){.memory = memory, .slot_size = slot_size, .max = max};
}

void roce_queue_fini(struct roce_queue *queue)
{
	roce_free(queue->memory, queue->slots);
	roce_free(queue->memory, queue->units);
	queue->slots = NULL;
	queue->units = NULL;
	queue->room = 0;
	queue->unit_room = 0;
	roce_queue_clear(queue);
}

void roce_queue_clear(struct roce_queue *queue)
{
	queue->head = queue->tail = 0;
	queue->unit_head = queue->unit_tail = 0;
}

static int grow_slots(struct roce_queue *queue)
{
	uint32_t room = queue->room ? 2 * queue->room : FIRST_ROOM;
	uint8_t *slots = roce_alloc(queue->memory, (size_t)room * queue->slot_size);
	uint32_t i;

	if (!slots)
		return -ENOMEM;
	for (i = queue->tail; i != queue->head; i++)
		memcpy(slots + (size_t)(i & (room - 1)) * queue->slot_size, roce_queue_at(queue, i),
		       queue->slot_size);
	roce_free(queue->memory, queue->slots);
	queue->slots = slots;
	queue->room = room;
	return 0;
}

/* Where a list of `units` begins if the ring has `room` units: after a hole, if it would wrap. */
static uint32_t place(uint32_t head, uint32_t room, uint32_t units)
{
	uint32_t at = head & (room - 1);

	return at + units > room ? head + (room - at) : head;
}

/* From the oldest list still in use to the end of the new one, holes counted, is one ring. */
static bool fits(const struct roce_queue *queue, uint32_t units)
{
	uint32_t room = queue->unit_room;

	return room && place(queue->unit_head, room, units) + units - queue->unit_tail <= room;
}

/* The lists move to the front of a ring twice the size; the entries are told. */
static int grow_units(struct roce_queue *queue)
{
	uint32_t room = queue->unit_room ? 2 * queue->unit_room : FIRST_ROOM;
	struct roce_sge *units = roce_alloc(queue->memory, room * sizeof(*units));
	uint32_t i, at = 0;

	if (!units)
		return -ENOMEM;
	for (i = queue->tail; i != queue->head; i++) {
		struct roce_wqe *wqe = roce_queue_at(queue, i);
		uint32_t count = wqe->unit_end - wqe->unit;

		if (count)
			memcpy(units + at, roce_queue_units(queue, wqe), count * sizeof(*units));
		wqe->unit = at;
		at += count;
		wqe->unit_end = at;
	}
	roce_free(queue->memory, queue->units);
	queue->units = units;
	queue->unit_room = room;
	queue->unit_tail = 0;
	queue->unit_head = at;
	return 0;
}

struct roce_wqe *roce_queue_push(struct roce_queue *queue, uint32_t units)
{
	struct roce_wqe *wqe;

	if (roce_queue_count(queue) >= queue->max)
		return NULL;
	if (roce_queue_count(queue) == queue->room && grow_slots(queue) != 0)
		return NULL;
	while (units && !fits(queue, units))
		if (grow_units(queue) != 0)
			return NULL;
	wqe = roce_queue_at(queue, queue->head++);
	wqe->unit = units ? place(queue->unit_head, queue->unit_room, units) : queue->unit_head;
	wqe->unit_end = wqe->unit + units;
	queue->unit_head = wqe->unit_end;
	return wqe;
}

void roce_queue_pop(struct roce_queue *queue)
{
	struct roce_wqe *wqe = roce_queue_at(queue, queue->tail++);

	queue->unit_tail = wqe->unit_end;
	/* Empty: begin at the front, where no list needs a hole. */
	if (queue->tail == queue->head)
		queue->unit_head = queue->unit_tail = 0;
}
