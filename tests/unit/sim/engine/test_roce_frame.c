/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What reading and writing of frames share: drop reasons, GRH, CNP, UDP source port. */
#include "sim/engine/roce_frame.h"
#include "tests/golden/roce_packets.h"
#include "tests/lib/t.h"
#include "tests/unit/sim/engine/roce_sample.h"

#include <string.h>

static void each_reason_has_its_counter(void)
{
	static const struct {
		enum roce_drop drop;
		const char *name;
		size_t counter;
	} rows[] = {
#define X(drop, counter) \
	{ROCE_DROP_##drop, #counter, offsetof(struct roce_counters, drop_##counter)},
		ROCE_DROPS(X)
#undef X
	};
	struct roce_counters counters, want;
	size_t i;

	T_EQ(sizeof(rows) / sizeof(rows[0]), ROCE_DROP_COUNT - 1);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		memset(&counters, 0, sizeof(counters));
		memset(&want, 0, sizeof(want));
		*(uint64_t *)((char *)&want + rows[i].counter) = 2;
		roce_drop_count(&counters, rows[i].drop);
		roce_drop_count(&counters, rows[i].drop);
		T_BYTES_ROW(rows[i].name, &counters, &want, sizeof(want));
		T_TRUE_ROW(rows[i].name, !strcmp(roce_drop_name(rows[i].drop), rows[i].name));
	}
}

/* The transport has no drop counter that no reason leads to: both lists are of one length. */
static void no_reason_counts_nothing(void)
{
	static const char *const names[] = {
#define X(name) #name,
		ROCE_COUNTERS(X)
#undef X
	};
	struct roce_counters counters = {0}, zero = {0};
	size_t i, drops = 0;

	roce_drop_count(&counters, ROCE_DROP_NONE);
	T_BYTES(&counters, &zero, sizeof(zero));
	T_TRUE(!strcmp(roce_drop_name(ROCE_DROP_NONE), "none"));
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		drops += !strncmp(names[i], "drop_", 5);
	T_EQ(drops, ROCE_DROP_COUNT - 1);
}

/* Case: a receiver that guesses the IP version from stale bytes (A17.4.5.2). */
static void grh_of_ip4_is_right_aligned_after_zeros(void)
{
	uint8_t frame[256], grh[ROCE_GRH_BYTES], zero[20] = {0};
	struct roce_pkt pkt;
	enum roce_drop drop;
	size_t bytes = sample_frame_of_hex(GOLDEN_SEND_ONLY_IP4, frame);

	T_NEED(roce_frame_parse(frame, bytes, &pkt, &drop));
	memset(grh, 0x60, sizeof(grh));
	roce_frame_grh(&pkt, grh);
	T_BYTES(grh, zero, 20);
	T_BYTES(grh + 20, frame + 14, 20);
}

static void grh_of_ip6_and_v1_is_the_header(void)
{
	static const char *const packets[] = {GOLDEN_SEND_ONLY_IP6, GOLDEN_SEND_ONLY_V1};
	uint8_t frame[256], grh[ROCE_GRH_BYTES];
	struct roce_pkt pkt;
	enum roce_drop drop;
	size_t i, bytes;

	for (i = 0; i < 2; i++) {
		bytes = sample_frame_of_hex(packets[i], frame);
		T_NEED(roce_frame_parse(frame, bytes, &pkt, &drop));
		roce_frame_grh(&pkt, grh);
		T_BYTES(grh, frame + 14, 40);
	}
}

/* As captured from hardware, but for what the path says. */
static void cnp_is_as_captured(void)
{
	struct roce_path path = sample_paths[2].path;
	uint8_t want[128], frame[SAMPLE_FRAME_BYTES];
	struct roce_pkt pkt;
	size_t bytes;

	sample_frame_of_hex(GOLDEN_CNP_IP4, want);
	roce_frame_cnp(&pkt, 0x118, 0xffff);
	bytes = sample_frame(&path, &pkt, 0, frame);
	T_EQ(bytes, 14 + 60);
	T_BYTES(frame + 14 + 28, want + 14 + 28, 28);
}

static void source_ports_spread_and_stay(void)
{
	static const struct {
		const char *name;
		uint32_t label, local, remote;
		uint16_t want;
	} rows[] = {
		{"label", 0x00001, 5, 6, 0xc001},
		{"upper bits of the label count", 0x04000, 5, 6, 0xc001},
		{"all bits", 0xfffff, 5, 6, 0xc000 | (0x3fff ^ 0x3f)},
		{"more than 20 bits are none", 0xf00002, 5, 6, 0xc002},
		{"QP numbers", 0, 3, 7, 0xc015},
		{"QP number 0", 0, 0, 7, 0xc000},
		{"large QP numbers", 0, 0xffffff, 0xffffff, 0xff21},
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		T_EQ_ROW(rows[i].name, roce_udp_sport(rows[i].label, rows[i].local, rows[i].remote),
			 rows[i].want);
	/* Both directions of a connection take one path through a hashing switch. */
	T_EQ(roce_udp_sport(0, 0x123, 0x4567), roce_udp_sport(0, 0x4567, 0x123));
}

T_MAIN("roce_frame", T_CASE(each_reason_has_its_counter), T_CASE(no_reason_counts_nothing),
       T_CASE(grh_of_ip4_is_right_aligned_after_zeros), T_CASE(grh_of_ip6_and_v1_is_the_header),
       T_CASE(cnp_is_as_captured), T_CASE(source_ports_spread_and_stay), )
