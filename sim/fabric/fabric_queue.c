/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * An egress queue and the clock of the line behind it. The clock is virtual:
 * each frame gets its departure time when it is queued, and the length of the
 * queue follows from the time until the line is free, so that nothing has to
 * happen at a departure. Knows nothing of what is in a frame.
 */
#include "sim/fabric/fabric_switch.h"

#include <errno.h>
#include <stdlib.h>

/* FCS, preamble with start delimiter, and inter-frame gap (IEEE 802.3, 4.4.2): not in our
 * frames, but on the line. */
#define LINE_OVERHEAD (4 + 8 + 12)

static int egress_grow(struct egress_queue *queue)
{
	uint32_t size = queue->size ? 2 * queue->size : 64;
	struct egress_entry *ring = malloc(size * sizeof(*ring));
	uint32_t i;

	if (!ring)
		return -ENOMEM;
	for (i = 0; i < queue->count; i++)
		ring[i] = queue->ring[(queue->head + i) & (queue->size - 1)];
	free(queue->ring);
	queue->ring = ring;
	queue->size = size;
	queue->head = 0;
	return 0;
}

int egress_push(struct egress_queue *queue, struct fabric_frame *frame, uint64_t due)
{
	struct egress_entry *entry;
	int err;

	if (queue->count == queue->size) {
		err = egress_grow(queue);
		if (err)
			return err;
	}
	entry = &queue->ring[(queue->head + queue->count) & (queue->size - 1)];
	entry->frame = frame;
	entry->due = due;
	queue->count++;
	queue->bytes += frame->length;
	return 0;
}

const struct egress_entry *egress_first(const struct egress_queue *queue)
{
	return queue->count ? &queue->ring[queue->head] : NULL;
}

struct fabric_frame *egress_pop(struct egress_queue *queue)
{
	struct fabric_frame *frame = queue->ring[queue->head].frame;

	queue->head = (queue->head + 1) & (queue->size - 1);
	queue->count--;
	queue->bytes -= frame->length;
	return frame;
}

void egress_fini(struct egress_queue *queue)
{
	free(queue->ring);
	*queue = (struct egress_queue){0};
}

/* No overflow: free_at - now is the time that a buffer of at most 1 GiB takes, and that times
 * the rate is its bits times 1e9, less than 2^63. */
uint64_t line_backlog(const struct line_clock *line, uint64_t now, uint64_t rate_bps)
{
	if (!rate_bps || line->free_at <= now)
		return 0;
	return (line->free_at - now) * rate_bps / (8 * NSEC_PER_SEC);
}

uint64_t line_depart(struct line_clock *line, uint64_t now, uint64_t rate_bps, size_t length)
{
	uint64_t work;

	if (!rate_bps)
		return now;
	if (line->free_at < now) {
		line->free_at = now;
		line->remainder = 0;
	}
	work = (length + LINE_OVERHEAD) * 8 * NSEC_PER_SEC + line->remainder;
	line->free_at += work / rate_bps;
	line->remainder = work % rate_bps;
	return line->free_at;
}
