/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Work queue rings: order and contents over wraps and growth, and what they cost. */
#include "sim/engine/roce_queue.h"

#include "tests/lib/t.h"
#include "tests/unit/sim/engine/roce_counted.h"

static uint32_t random_state;

static uint32_t any(uint32_t below)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) % below;
}

/* Entry n has its number everywhere, so that one that another wrote over is seen. */
static bool push(struct roce_queue *queue, uint32_t number)
{
	uint32_t units = any(5) ? any(4) : any(ROCE_MAX_SGE + 1), i;
	struct roce_wqe *wqe = roce_queue_push(queue, units);

	if (!wqe)
		return false;
	wqe->wr_id = number;
	wqe->num_sge = units;
	for (i = 0; i < units; i++)
		roce_queue_units(queue, wqe)[i] = (struct roce_sge){number, number, i};
	return true;
}

static void check_pop(struct roce_queue *queue, uint32_t number)
{
	const struct roce_wqe *wqe = roce_queue_at(queue, queue->tail);
	uint32_t i;

	if (wqe->wr_id != number)
		T_EQ(wqe->wr_id, number);
	for (i = 0; i < wqe->num_sge; i++) {
		const struct roce_sge *sge = &roce_queue_units(queue, wqe)[i];

		if (sge->addr != number || sge->length != number || sge->lkey != i)
			T_EQ(sge->addr, number);
	}
	roce_queue_pop(queue);
}

static void keeps_order_and_contents(void)
{
	struct roce_queue queue;
	uint32_t in = 0, out = 0, step;

	random_state = 7;
	roce_queue_init(&queue, &counted, sizeof(struct roce_wqe) + 24, 200);
	for (step = 0; step < 100000; step++) {
		uint32_t most = 1 + step / 500; /* ever deeper: it must grow on the way */

		if (any(2) && in - out < most && in - out < 200) {
			if (!push(&queue, in))
				T_TRUE(!"push");
			in++;
		} else if (in != out) {
			check_pop(&queue, out++);
		}
		if (roce_queue_count(&queue) != in - out)
			T_EQ(roce_queue_count(&queue), in - out);
	}
	roce_queue_fini(&queue);
	T_EQ(counted_bytes, 0);
}

static void is_full_at_max(void)
{
	static const uint32_t maxima[] = {0, 1, 3, 8, 9, 100};
	struct roce_queue queue;
	size_t i;
	uint32_t n;

	for (i = 0; i < sizeof(maxima) / sizeof(maxima[0]); i++) {
		roce_queue_init(&queue, &counted, sizeof(struct roce_wqe), maxima[i]);
		for (n = 0; n < maxima[i]; n++)
			T_TRUE(roce_queue_push(&queue, 2) != NULL);
		T_TRUE(!roce_queue_push(&queue, 0));
		if (maxima[i]) {
			roce_queue_pop(&queue);
			T_TRUE(roce_queue_push(&queue, 2) != NULL);
			T_TRUE(!roce_queue_push(&queue, 2));
		}
		roce_queue_clear(&queue);
		T_EQ(roce_queue_count(&queue), 0);
		roce_queue_fini(&queue);
	}
	T_EQ(counted_bytes, 0);
}

static void costs_what_was_posted(void)
{
	struct roce_queue queue;
	uint32_t n;

	roce_queue_init(&queue, &counted, sizeof(struct roce_wqe), 32768);
	T_EQ(counted_bytes, 0);
	for (n = 0; n < 100000; n++) {
		T_TRUE(push(&queue, n));
		check_pop(&queue, n);
	}
	T_TRUE(counted_bytes < 4096);
	roce_queue_fini(&queue);
}

static void survives_lack_of_memory(void)
{
	struct roce_queue queue;
	uint32_t n = 0, out;

	random_state = 3;
	roce_queue_init(&queue, &counted, sizeof(struct roce_wqe), 32768);
	counted_fail_after = 0;
	T_TRUE(!roce_queue_push(&queue, 1));
	counted_fail_after = -1;
	while (n < 8)
		T_TRUE(push(&queue, n++));
	counted_fail_after = 0;
	while (push(&queue, n))
		n++;
	counted_fail_after = -1;
	T_EQ(roce_queue_count(&queue), n);
	T_TRUE(push(&queue, n));
	for (out = 0; out <= n; out++)
		check_pop(&queue, out);
	roce_queue_fini(&queue);
	T_EQ(counted_bytes, 0);
}

T_MAIN("roce_queue", T_CASE(keeps_order_and_contents), T_CASE(is_full_at_max),
       T_CASE(costs_what_was_posted), T_CASE(survives_lack_of_memory))
