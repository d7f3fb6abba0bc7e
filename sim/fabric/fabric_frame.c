/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The pool of frame buffers: a free list for each size, last used first so
 * that the buffer is still in the cache. Knows nothing of ports; a frame that
 * was made once stays until the pool goes.
 */
#include "sim/fabric/fabric_switch.h"

#include <stdlib.h>

/* Small control packets, path MTU 1024 or a 1500-byte MTU, path MTU 4096, the longest. */
static const uint32_t class_room[FRAME_SIZE_CLASSES] = {256, 1600, 4320, FABRIC_FRAME_MAX};

struct fabric_frame *frame_get(struct frame_pool *pool, size_t length)
{
	struct fabric_frame *frame;
	uint32_t i = 0;

	while (i < FRAME_SIZE_CLASSES && class_room[i] < length)
		i++;
	if (i == FRAME_SIZE_CLASSES)
		return NULL;
	frame = pool->free[i];
	if (frame) {
		pool->free[i] = frame->next_free;
	} else {
		frame = malloc(sizeof(*frame) + class_room[i]);
		if (!frame)
			return NULL;
		frame->room = class_room[i];
		frame->size_class = i;
		frame->next_all = pool->all;
		pool->all = frame;
	}
	frame->refs = 1;
	frame->length = 0;
	return frame;
}

void frame_recycle(struct frame_pool *pool, struct fabric_frame *frame)
{
	frame->next_free = pool->free[frame->size_class];
	pool->free[frame->size_class] = frame;
}

void frame_pool_fini(struct frame_pool *pool)
{
	struct fabric_frame *frame;

	while ((frame = pool->all)) {
		pool->all = frame->next_all;
		free(frame);
	}
}
