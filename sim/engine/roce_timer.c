// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Timer heap: least deadline first. Owns the heap, knows nothing of the timers' owners. */
#include "sim/engine/roce_timer.h"

#include <errno.h>
#include <string.h>

enum { FIRST_ROOM = 64 };

void roce_timers_init(struct roce_timers *timers, const struct roce_memory *memory)
{
	*timers = (struct roce_timers){.memory = memory};
}

void roce_timers_fini(struct roce_timers *timers)
{
	roce_free(timers->memory, timers->heap);
	timers->heap = NULL;
	timers->room = 0;
}

int roce_timers_reserve(struct roce_timers *timers, uint32_t count)
{
	uint32_t room = timers->room ? timers->room : FIRST_ROOM;
	struct roce_timer **heap;

	/* Place 0 is not used. */
	while (room - 1 < timers->reserved + count)
		room *= 2;
	if (room != timers->room) {
		heap = roce_alloc(timers->memory, room * sizeof(*heap));
		if (!heap)
			return -ENOMEM;
		if (timers->count)
			memcpy(heap + 1, timers->heap + 1, timers->count * sizeof(*heap));
		roce_free(timers->memory, timers->heap);
		timers->heap = heap;
		timers->room = room;
	}
	timers->reserved += count;
	return 0;
}

void roce_timers_release(struct roce_timers *timers, uint32_t count)
{
	timers->reserved -= count;
}

static void put(struct roce_timers *timers, struct roce_timer *timer, uint32_t place)
{
	timers->heap[place] = timer;
	timer->place = place;
}

/* The hole at `place` moves towards the root until the timer may fill it. */
static void sift_up(struct roce_timers *timers, struct roce_timer *timer, uint32_t place)
{
	while (place > 1 && timers->heap[place / 2]->deadline > timer->deadline) {
		put(timers, timers->heap[place / 2], place);
		place /= 2;
	}
	put(timers, timer, place);
}

/* The same towards the leaves. */
static void sift_down(struct roce_timers *timers, struct roce_timer *timer, uint32_t place)
{
	for (;;) {
		uint32_t child = 2 * place;

		if (child > timers->count)
			break;
		if (child < timers->count &&
		    timers->heap[child + 1]->deadline < timers->heap[child]->deadline)
			child++;
		if (timers->heap[child]->deadline >= timer->deadline)
			break;
		put(timers, timers->heap[child], place);
		place = child;
	}
	put(timers, timer, place);
}

void roce_timer_arm(struct roce_timers *timers, struct roce_timer *timer, uint64_t deadline)
{
	uint64_t before = timer->deadline;

	timer->deadline = deadline;
	if (!timer->place)
		sift_up(timers, timer, ++timers->count);
	else if (deadline > before)
		sift_down(timers, timer, timer->place);
	else
		sift_up(timers, timer, timer->place);
}

void roce_timer_cancel(struct roce_timers *timers, struct roce_timer *timer)
{
	uint32_t place = timer->place;
	struct roce_timer *last;

	if (!place)
		return;
	last = timers->heap[timers->count--];
	timer->place = 0;
	if (last == timer)
		return;
	/* The last one fills the hole: it may belong above it or below it. */
	if (place > 1 && timers->heap[place / 2]->deadline > last->deadline)
		sift_up(timers, last, place);
	else
		sift_down(timers, last, place);
}

bool roce_timers_fire(struct roce_timers *timers, uint64_t now)
{
	struct roce_timer *timer;

	if (roce_timers_next(timers) > now)
		return false;
	timer = timers->heap[1];
	roce_timer_cancel(timers, timer);
	timer->fire(timer);
	return true;
}
