/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Timer heap: order of firing against a plain search over all timers. */
#include "sim/engine/roce_timer.h"

#include "tests/lib/t.h"
#include "tests/unit/sim/engine/roce_counted.h"

#include <errno.h>

enum { TIMERS = 300, STEPS = 20000 };

static struct roce_timer *fired;
static unsigned int fired_count;

static void note(struct roce_timer *timer)
{
	fired = timer;
	fired_count++;
}

static uint32_t random_state;

static uint32_t any(uint32_t below)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) % below;
}

static uint64_t least(const struct roce_timer *timers)
{
	uint64_t deadline = UINT64_MAX;
	unsigned int i;

	for (i = 0; i < TIMERS; i++)
		if (roce_timer_armed(&timers[i]) && timers[i].deadline < deadline)
			deadline = timers[i].deadline;
	return deadline;
}

static void fires_in_order(void)
{
	static struct roce_timer timers[TIMERS];
	struct roce_timers heap;
	uint64_t now = 0, due;
	unsigned int step;

	random_state = 1;
	roce_timers_init(&heap, &counted);
	T_EQ(roce_timers_reserve(&heap, TIMERS), 0);
	for (step = 0; step < TIMERS; step++)
		timers[step].fire = note;
	for (step = 0; step < STEPS; step++) {
		struct roce_timer *timer = &timers[any(TIMERS)];

		if (any(4))
			roce_timer_arm(&heap, timer, now + any(1000));
		else
			roce_timer_cancel(&heap, timer);
		due = least(timers);
		if (roce_timers_next(&heap) != due)
			T_EQ(roce_timers_next(&heap), due);
		if (any(8))
			continue;
		now += any(100);
		while (roce_timers_fire(&heap, now)) {
			if (fired->deadline != due || due > now || roce_timer_armed(fired))
				T_EQ(fired->deadline, due);
			due = least(timers);
		}
		if (due <= now)
			T_TRUE(due > now);
	}
	for (step = 0; step < TIMERS; step++)
		roce_timer_cancel(&heap, &timers[step]);
	T_EQ(heap.count, 0);
	T_EQ(roce_timers_next(&heap), UINT64_MAX);
	T_TRUE(fired_count > 100);
	roce_timers_fini(&heap);
}

static void arming_moves_the_deadline(void)
{
	struct roce_timer timer = {.fire = note};
	struct roce_timers heap;

	roce_timers_init(&heap, &counted);
	T_EQ(roce_timers_next(&heap), UINT64_MAX);
	T_EQ(roce_timers_reserve(&heap, 1), 0);
	roce_timer_arm(&heap, &timer, 100);
	roce_timer_arm(&heap, &timer, 50);
	T_EQ(roce_timers_next(&heap), 50);
	roce_timer_arm(&heap, &timer, 200);
	T_EQ(roce_timers_next(&heap), 200);
	T_TRUE(!roce_timers_fire(&heap, 199));
	T_TRUE(roce_timers_fire(&heap, 200));
	T_TRUE(!roce_timers_fire(&heap, UINT64_MAX - 1));
	roce_timers_release(&heap, 1);
	roce_timers_fini(&heap);
}

static void reserving_keeps_what_is_armed(void)
{
	static struct roce_timer timers[TIMERS];
	struct roce_timers heap;
	unsigned int i;

	roce_timers_init(&heap, &counted);
	for (i = 0; i < TIMERS; i++) {
		timers[i].fire = note;
		T_EQ(roce_timers_reserve(&heap, 1), 0);
		roce_timer_arm(&heap, &timers[i], TIMERS - i);
		T_EQ(roce_timers_next(&heap), TIMERS - i);
	}
	counted_fail_after = 0;
	T_EQ(roce_timers_reserve(&heap, 100000), -ENOMEM);
	counted_fail_after = -1;
	for (i = 0; i < TIMERS; i++) {
		T_TRUE(roce_timers_fire(&heap, UINT64_MAX - 1));
		T_TRUE(fired == &timers[TIMERS - 1 - i]);
	}
	roce_timers_fini(&heap);
}

T_MAIN("roce_timer", T_CASE(fires_in_order), T_CASE(arming_moves_the_deadline),
       T_CASE(reserving_keeps_what_is_armed))
