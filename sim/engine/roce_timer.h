/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Deadlines. Owns a binary heap of the timers that are armed; knows nothing of what they are for.
 * A timer lies inside its object. Room in the heap is reserved when the object is made, so that
 * arming can neither fail nor allocate.
 */
#ifndef ANYNIC_SIM_ENGINE_ROCE_TIMER_H
#define ANYNIC_SIM_ENGINE_ROCE_TIMER_H

#include "sim/engine/roce_table.h"

struct roce_timer {
	uint64_t deadline;
	uint32_t place; /* in the heap, counted from 1; 0 = not armed */
	void (*fire)(struct roce_timer *timer);
};

struct roce_timers {
	const struct roce_memory *memory;
	struct roce_timer **heap; /* heap[1] is the first due; heap[0] is unused */
	uint32_t count;		  /* armed */
	uint32_t reserved;	  /* timers that exist */
	uint32_t room;
};

void roce_timers_init(struct roce_timers *timers, const struct roce_memory *memory);
void roce_timers_fini(struct roce_timers *timers);
/* `count` more timers, or -ENOMEM; release takes the promise back. */
int roce_timers_reserve(struct roce_timers *timers, uint32_t count);
void roce_timers_release(struct roce_timers *timers, uint32_t count);

/* Arms, or moves the deadline of an armed timer. */
void roce_timer_arm(struct roce_timers *timers, struct roce_timer *timer, uint64_t deadline);
void roce_timer_cancel(struct roce_timers *timers, struct roce_timer *timer);
/* Disarms and fires the first timer that is due; false: none is. */
bool roce_timers_fire(struct roce_timers *timers, uint64_t now);

static inline bool roce_timer_armed(const struct roce_timer *timer)
{
	return timer->place != 0;
}

/* Deadline of the first, UINT64_MAX for none. */
static inline uint64_t roce_timers_next(const struct roce_timers *timers)
{
	return timers->count ? timers->heap[1]->deadline : UINT64_MAX;
}

#endif
