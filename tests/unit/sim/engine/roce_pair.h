/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Two NICs and a wire between them that loses, doubles, delays, reorders, spoils and marks frames
 * as a seed says. Time is virtual: hours of retries take milliseconds. Knows frames as bytes.
 *
 * The wire is bad but not hopeless: of any eight frames in a row of one direction at most three
 * are lost or spoiled, so that seven retries always get through.
 */
#ifndef ANYNIC_TESTS_UNIT_SIM_ENGINE_ROCE_PAIR_H
#define ANYNIC_TESTS_UNIT_SIM_ENGINE_ROCE_PAIR_H

#include "tests/unit/sim/engine/roce_node.h"

/* Probabilities in thousandths. */
struct pair_faults {
	unsigned int loss;
	unsigned int corrupt;
	unsigned int duplicate;
	unsigned int reorder;
	unsigned int mark;     /* ECN CE, where the frame is ECT */
	unsigned int scarcity; /* frames that a port takes before it is full; 0: all */
	uint64_t delay;	       /* of every frame, ns */
};

struct pair_frame;

struct pair {
	struct node node[2]; /* indexes 1 and 2 */
	struct pair_faults faults;
	struct pair_frame *wire; /* by time of arrival */
	uint64_t now;
	uint64_t random;
	uint64_t serial;
	unsigned int recent[2]; /* which of the last eight frames were harmed, a bit each */
	unsigned int lost, corrupted, duplicated, reordered, marked;
	bool cut; /* nothing passes any more */
};

void pair_init(struct pair *p, uint64_t seed);
void pair_start(struct pair *p);
void pair_stop(struct pair *p);

/* Runs for `ns` of virtual time, or until nothing is left to happen. */
void pair_run(struct pair *p, uint64_t ns);
/* Nothing on the wire, nothing to send, no timer. */
bool pair_idle(const struct pair *p);

/* A number in [0, below). */
uint32_t pair_random(struct pair *p, uint32_t below);
/* Random bytes; length is a multiple of 8. */
void pair_random_bytes(struct pair *p, uint8_t *bytes, size_t length);

#endif
