/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Faults that befall a frame as it enters the switch: lost, one bit flipped,
 * duplicated, held back behind later ones. All chance comes from the seed, so
 * that the same frames at the same times suffer the same again.
 */
#include "sim/fabric/fabric_switch.h"

#define PPM 1000000u
/* Both Ethernet addresses: a flipped bit there would only look like a loss. */
#define CORRUPT_FROM 12

/* splitmix64, so that seeds 1, 2, 3 give unrelated sequences and 0 is as good as any. */
uint64_t random_seed(uint64_t seed)
{
	uint64_t z = seed + 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	z ^= z >> 31;
	return z ? z : 1;
}

/* xorshift64*: the state is never 0. */
uint64_t random_next(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dull;
}

uint32_t random_below(uint64_t *state, uint32_t bound)
{
	return (uint32_t)((random_next(state) >> 32) * bound >> 32);
}

static bool chance(uint64_t *random, uint32_t ppm)
{
	return ppm && random_below(random, PPM) < ppm;
}

unsigned int fault_draw(const struct fabric_config *config, uint64_t *random, const uint8_t *frame,
			size_t length)
{
	unsigned int faults = 0;

	if (!config->faults_on_all && !fabric_frame_is_roce(frame, length))
		return 0;
	if (chance(random, config->loss_ppm))
		return FAULT_LOSS;
	if (chance(random, config->corrupt_ppm))
		faults |= FAULT_CORRUPT;
	if (chance(random, config->duplicate_ppm))
		faults |= FAULT_DUPLICATE;
	if (chance(random, config->reorder_ppm))
		faults |= FAULT_REORDER;
	return faults;
}

void fault_corrupt(uint64_t *random, uint8_t *frame, size_t length)
{
	uint32_t bit = random_below(random, (uint32_t)(length - CORRUPT_FROM) * 8);

	frame[CORRUPT_FROM + bit / 8] ^= (uint8_t)(1u << bit % 8);
}

bool hold_frame(struct hold *hold, uint64_t now, uint64_t *random, struct fabric_frame *frame)
{
	struct held_frame *held;

	if (hold->count == HOLD_SLOTS)
		return false;
	held = &hold->slot[hold->count++];
	held->frame = frame;
	held->due = now + HOLD_NS;
	held->after = 1 + random_below(random, HOLD_FRAMES_MAX);
	return true;
}

void hold_count(struct hold *hold)
{
	unsigned int i;

	for (i = 0; i < hold->count; i++)
		if (hold->slot[i].after)
			hold->slot[i].after--;
}

struct fabric_frame *hold_release(struct hold *hold, uint64_t now)
{
	struct fabric_frame *frame;
	unsigned int i;

	for (i = 0; i < hold->count; i++)
		if (!hold->slot[i].after || hold->slot[i].due <= now)
			break;
	if (i == hold->count)
		return NULL;
	frame = hold->slot[i].frame;
	hold->count--;
	for (; i < hold->count; i++)
		hold->slot[i] = hold->slot[i + 1];
	return frame;
}

/* The oldest is due first: all are held for the same time. */
uint64_t hold_next(const struct hold *hold)
{
	return hold->count ? hold->slot[0].due : FABRIC_NEVER;
}
