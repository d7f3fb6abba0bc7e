/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Two NICs and a bad wire between them. Owns virtual time and the faults; knows no transport. */
#include "tests/unit/sim/engine/roce_pair.h"

#include "tests/lib/t.h"
#include "tests/unit/sim/engine/roce_sample.h"

#include <stdlib.h>
#include <string.h>

struct pair_frame {
	struct pair_frame *next;
	uint64_t at;
	uint64_t serial; /* order of those of one time */
	unsigned int to;
	size_t length;
	uint8_t bytes[];
};

/* splitmix64 */
static uint64_t next_random(struct pair *p)
{
	uint64_t z = (p->random += 0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

uint32_t pair_random(struct pair *p, uint32_t below)
{
	return (uint32_t)(next_random(p) % below);
}

void pair_random_bytes(struct pair *p, uint8_t *bytes, size_t length)
{
	uint64_t value;
	size_t i;

	for (i = 0; i < length; i += sizeof(value)) {
		value = next_random(p);
		memcpy(bytes + i, &value, sizeof(value));
	}
}

static bool chance(struct pair *p, unsigned int thousandths)
{
	return thousandths && pair_random(p, 1000) < thousandths;
}

/* May another frame of this direction be harmed? Notes it where it is. */
static bool may_harm(struct pair *p, unsigned int from, unsigned int thousandths)
{
	bool harm = __builtin_popcount(p->recent[from] & 0x7f) < 3 && chance(p, thousandths);

	p->recent[from] = p->recent[from] << 1 | harm;
	return harm;
}

static void put(struct pair *p, unsigned int to, const struct node_frame *frame, uint64_t delay)
{
	struct pair_frame *f = malloc(sizeof(*f) + frame->length), **at = &p->wire;

	f->at = p->now + delay;
	f->serial = p->serial++;
	f->to = to;
	f->length = frame->length;
	memcpy(f->bytes, frame->bytes, frame->length);
	while (*at && (*at)->at <= f->at)
		at = &(*at)->next;
	f->next = *at;
	*at = f;
}

/* Sets ECN to CE in a frame that says ECT; what a switch does. */
static void mark(struct pair *p, uint8_t *frame)
{
	uint8_t *l3 = frame + sample_l3(frame);

	if (l3[0] >> 4 == 4 && l3[1] & 3) {
		l3[1] |= 3;
		sample_fix_checksum(frame);
		p->marked++;
	} else if (l3[0] >> 4 == 6 && l3[1] & 0x30) {
		l3[1] |= 0x30;
		p->marked++;
	}
}

static void send(struct pair *p, unsigned int from, struct node_frame *frame)
{
	uint64_t delay = p->faults.delay;
	unsigned int to = !from;

	if (p->cut)
		return;
	if (may_harm(p, from, p->faults.loss)) {
		p->lost++;
		return;
	}
	if (chance(p, p->faults.mark))
		mark(p, frame->bytes);
	if (chance(p, p->faults.duplicate)) {
		put(p, to, frame, delay + pair_random(p, 40000));
		p->duplicated++;
	}
	if (chance(p, p->faults.reorder)) {
		delay += 1 + pair_random(p, 30000);
		p->reordered++;
	}
	if (may_harm(p, from, p->faults.corrupt)) {
		frame->bytes[pair_random(p, (uint32_t)frame->length)] ^=
			(uint8_t)(1 << pair_random(p, 8));
		p->corrupted++;
	}
	put(p, to, frame, delay);
}

static void collect(struct pair *p)
{
	struct node_frame *frame;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		while ((frame = node_take_frame(&p->node[i]))) {
			send(p, i, frame);
			free(frame);
		}
		if (p->node[i].stalled)
			node_make_room(&p->node[i], 1 + pair_random(p, p->faults.scarcity));
		while ((frame = node_take_frame(&p->node[i]))) {
			send(p, i, frame);
			free(frame);
		}
	}
}

void pair_init(struct pair *p, uint64_t seed)
{
	unsigned int i;

	memset(p, 0, sizeof(*p));
	p->random = seed;
	for (i = 0; i < 2; i++) {
		node_defaults(&p->node[i], i + 1);
		p->node[i].config.seed = seed + i;
	}
	p->now = p->node[0].now;
}

void pair_start(struct pair *p)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		node_start(&p->node[i]);
		if (p->faults.scarcity)
			p->node[i].room = p->faults.scarcity;
	}
}

void pair_stop(struct pair *p)
{
	struct pair_frame *f;

	node_stop(&p->node[0]);
	node_stop(&p->node[1]);
	while ((f = p->wire)) {
		p->wire = f->next;
		free(f);
	}
}

static uint64_t next_event(const struct pair *p)
{
	uint64_t next = p->wire ? p->wire->at : UINT64_MAX, at;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		at = roce_nic_next(p->node[i].nic);
		next = at < next ? at : next;
	}
	return next;
}

bool pair_idle(const struct pair *p)
{
	return next_event(p) == UINT64_MAX && !p->node[0].frames && !p->node[1].frames;
}

static void set_time(struct pair *p, uint64_t now)
{
	p->now = p->node[0].now = p->node[1].now = now;
}

static void deliver(struct pair *p)
{
	struct pair_frame *f = p->wire;

	p->wire = f->next;
	roce_nic_input(p->node[f->to].nic, p->now, f->bytes, f->length);
	free(f);
}

void pair_run(struct pair *p, uint64_t ns)
{
	uint64_t until = p->now + ns, next;
	unsigned int turns = 0;

	for (;;) {
		node_run(&p->node[0]);
		node_run(&p->node[1]);
		collect(p);
		next = next_event(p);
		if (p->node[0].stalled || p->node[1].stalled)
			continue;
		if (next == UINT64_MAX)
			return;
		if (next > until)
			break;
		/* A timer that fires for ever without time moving would hang the test. */
		if (!T_TRUE(++turns < 10000000))
			return;
		if (next > p->now) {
			set_time(p, next);
			turns = 0;
		}
		while (p->wire && p->wire->at <= p->now)
			deliver(p);
	}
	set_time(p, until);
}
