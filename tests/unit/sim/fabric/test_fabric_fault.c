/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Faults: rates within statistical bounds, exact replay, what each does to the stream. */
#include "sim/fabric/fabric_switch.h"
#include "tests/unit/sim/fabric/fabric_rig.h"
#include "tests/lib/t.h"

#include <string.h>

#define FRAMES 4000u

static const struct fabric_port_counters *counters(struct rig *rig, unsigned int port)
{
	return fabric_port_counters(rig->port[port].port);
}

/* Sends FRAMES frames from 0 to 1, one a microsecond. */
static struct rig *run(const struct fabric_config *config, enum rig_kind kind)
{
	struct rig *rig = rig_create(config, 2);
	unsigned int i;

	rig_teach(rig);
	rig_run(rig, 1000000000);
	rig->port[1].count = 0;
	for (i = 0; i < FRAMES; i++) {
		rig_send(rig, 0, 1, kind, 100, i);
		rig_run(rig, rig->now + 1000);
	}
	rig_run(rig, rig->now + 10000000);
	return rig;
}

/* Five standard deviations of a binomial: fails once in a million seeds, and the seed is fixed. */
static bool is_plausible(uint64_t count, uint32_t ppm)
{
	double p = ppm / 1e6, mean = FRAMES * p, off = (double)count - mean;

	return off * off <= 25 * mean * (1 - p) + 1e-9;
}

static void rates(void)
{
	static const uint32_t ppm[] = {0, 1000, 10000, 100000, 500000, 1000000};
	struct fabric_config config = {.seed = 42};
	struct rig *rig;
	size_t i;

	for (i = 0; i < sizeof(ppm) / sizeof(ppm[0]); i++) {
		config.loss_ppm = ppm[i];
		rig = run(&config, RIG_ROCE_IPV4);
		T_TRUE(is_plausible(counters(rig, 0)->fault_loss, ppm[i]));
		T_EQ(rig->port[1].count, FRAMES - counters(rig, 0)->fault_loss);
		rig_destroy(rig);
		config.loss_ppm = 0;

		config.duplicate_ppm = ppm[i];
		rig = run(&config, RIG_ROCE_IPV6);
		T_TRUE(is_plausible(counters(rig, 0)->fault_duplicate, ppm[i]));
		T_EQ(rig->port[1].count, FRAMES + counters(rig, 0)->fault_duplicate);
		rig_destroy(rig);
		config.duplicate_ppm = 0;

		config.corrupt_ppm = ppm[i];
		rig = run(&config, RIG_ROCE_V1);
		T_TRUE(is_plausible(counters(rig, 0)->fault_corrupt, ppm[i]));
		T_EQ(rig->port[1].count, FRAMES);
		rig_destroy(rig);
		config.corrupt_ppm = 0;
	}
}

static void only_roce_suffers(void)
{
	struct fabric_config config = {.loss_ppm = 1000000};
	struct rig *rig = run(&config, RIG_OTHER);

	T_EQ(rig->port[1].count, FRAMES);
	rig_destroy(rig);
	rig = run(&config, RIG_UDP_IPV4);
	T_EQ(rig->port[1].count, FRAMES);
	rig_destroy(rig);
	config.faults_on_all = true;
	rig = run(&config, RIG_OTHER);
	T_EQ(rig->port[1].count, 0);
	rig_destroy(rig);
}

static void same_seed_same_faults(void)
{
	const struct fabric_config config = {
		.seed = 7,
		.loss_ppm = 20000,
		.corrupt_ppm = 20000,
		.duplicate_ppm = 20000,
		.reorder_ppm = 20000,
	};
	struct fabric_config other = config;
	struct rig *first = run(&config, RIG_ROCE_IPV4), *again = run(&config, RIG_ROCE_IPV4);
	struct rig *third;
	unsigned int i, differ = 0;

	T_EQ(first->port[1].count, again->port[1].count);
	for (i = 0; i < FRAMES; i++) {
		first->port[1].log[i].address = again->port[1].log[i].address = NULL;
		T_TRUE(!memcmp(&first->port[1].log[i], &again->port[1].log[i],
			       sizeof(struct rig_frame)));
	}
	T_TRUE(!memcmp(counters(first, 0), counters(again, 0), sizeof(*counters(first, 0))));
	other.seed = 8;
	third = run(&other, RIG_ROCE_IPV4);
	for (i = 0; i < FRAMES; i++)
		differ += third->port[1].log[i].tag != first->port[1].log[i].tag;
	T_TRUE(differ > 0);
	rig_destroy(first);
	rig_destroy(again);
	rig_destroy(third);
}

static void reordered_behind_a_few(void)
{
	static const struct fabric_config config = {.seed = 3, .reorder_ppm = 100000};
	struct rig *rig = run(&config, RIG_ROCE_IPV4);
	unsigned int late = 0, i, highest = 0;
	static unsigned char seen[FRAMES];

	memset(seen, 0, sizeof(seen));
	T_EQ(rig->port[1].count, FRAMES);
	for (i = 0; i < FRAMES; i++) {
		uint32_t tag = rig->port[1].log[i].tag;

		T_NEED(tag < FRAMES);
		T_TRUE(!seen[tag]);
		seen[tag] = 1;
		if (tag < highest) {
			late++;
			/* Held ones do not count for others, so a little more than the limit. */
			T_TRUE(highest - tag <= 2 * HOLD_FRAMES_MAX);
		} else {
			highest = tag;
		}
	}
	T_TRUE(is_plausible(counters(rig, 0)->fault_reorder, config.reorder_ppm));
	T_TRUE(late > 0 && late <= counters(rig, 0)->fault_reorder);
	rig_destroy(rig);
}

/* Nothing comes after it, and still it arrives. */
static void last_frame_is_not_held_for_ever(void)
{
	static const struct fabric_config config = {.reorder_ppm = 1000000};
	struct rig *rig = rig_create(&config, 2);
	unsigned int i;

	rig_teach(rig);
	T_TRUE(rig_send(rig, 0, 1, RIG_ROCE_IPV4, 100, 1));
	rig_run(rig, HOLD_NS - 1);
	T_EQ(rig->port[1].count, 0);
	T_EQ(fabric_next(rig->fabric), HOLD_NS);
	rig_run(rig, HOLD_NS);
	T_EQ(rig->port[1].count, 1);
	/* More than there are slots: the rest goes on in order. */
	for (i = 0; i < 4 * HOLD_SLOTS; i++)
		T_TRUE(rig_send(rig, 0, 1, RIG_ROCE_IPV4, 100, i));
	rig_run(rig, rig->now + 2 * HOLD_NS);
	T_EQ(rig->port[1].count, 1 + 4 * HOLD_SLOTS);
	rig_destroy(rig);
}

/* Both: the frame passes and its copy comes late. */
static void late_duplicates(void)
{
	static const struct fabric_config config = {.duplicate_ppm = 1000000,
						    .reorder_ppm = 1000000};
	struct rig *rig = rig_create(&config, 2);

	rig_teach(rig);
	T_TRUE(rig_send(rig, 0, 1, RIG_ROCE_IPV4, 100, 1));
	rig_run(rig, 1);
	T_EQ(rig->port[1].count, 1);
	rig_run(rig, HOLD_NS);
	T_EQ(rig->port[1].count, 2);
	rig_destroy(rig);
}

static void one_bit_behind_the_addresses(void)
{
	uint64_t random = random_seed(5);
	uint8_t frame[64], hits[64 * 8] = {0};
	unsigned int i, bit, flipped, never = 0;

	for (i = 0; i < 20000; i++) {
		memset(frame, 0, sizeof(frame));
		fault_corrupt(&random, frame, sizeof(frame));
		flipped = 0;
		for (bit = 0; bit < sizeof(frame) * 8; bit++) {
			if (frame[bit / 8] >> bit % 8 & 1) {
				flipped++;
				hits[bit] = 1;
			}
		}
		T_NEED(flipped == 1);
	}
	for (bit = 0; bit < 12 * 8; bit++)
		T_EQ(hits[bit], 0);
	for (; bit < sizeof(frame) * 8; bit++)
		never += !hits[bit];
	T_EQ(never, 0);
	/* The shortest frame there is. */
	fault_corrupt(&random, frame, FABRIC_FRAME_MIN);
}

static void random_is_even(void)
{
	uint64_t random = random_seed(0);
	unsigned int count[10] = {0}, i;

	for (i = 0; i < 100000; i++)
		count[random_below(&random, 10)]++;
	for (i = 0; i < 10; i++)
		T_TRUE(count[i] > 9500 && count[i] < 10500);
	T_EQ(random_below(&random, 1), 0);
}

/* Frames held for a port that goes. */
static void hold_and_leave(void)
{
	static const struct fabric_config config = {.reorder_ppm = 1000000};
	struct rig *rig = rig_create(&config, 2);

	rig_teach(rig);
	T_TRUE(rig_send(rig, 0, 1, RIG_ROCE_IPV4, 100, 1));
	fabric_port_remove(rig->port[0].port);
	rig_run(rig, 2 * HOLD_NS);
	T_EQ(rig->port[1].count, 0);
	rig_destroy(rig);
}

T_MAIN("fabric_fault", T_CASE(rates), T_CASE(only_roce_suffers), T_CASE(same_seed_same_faults),
       T_CASE(reordered_behind_a_few), T_CASE(last_frame_is_not_held_for_ever),
       T_CASE(late_duplicates), T_CASE(one_bit_behind_the_addresses), T_CASE(random_is_even),
       T_CASE(hold_and_leave), )
