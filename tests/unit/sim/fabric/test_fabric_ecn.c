/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* ECN: which packets can be marked, checksums, thresholds. */
#include "sim/fabric/fabric_switch.h"
#include "tests/unit/sim/fabric/fabric_rig.h"
#include "tests/lib/t.h"

#include <string.h>

/* The receiver's check (RFC 791): the sum over the header with its checksum is all ones. */
static bool checksum_is_right(const uint8_t *ip)
{
	uint32_t sum = 0;
	unsigned int i;

	for (i = 0; i < (ip[0] & 15u) * 4; i += 2)
		sum += (uint32_t)(ip[i] << 8 | ip[i + 1]);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum == 0xffff;
}

static void put_checksum(uint8_t *ip)
{
	uint32_t sum = 0;
	unsigned int i;

	ip[10] = ip[11] = 0;
	for (i = 0; i < (ip[0] & 15u) * 4; i += 2)
		sum += (uint32_t)(ip[i] << 8 | ip[i + 1]);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	ip[10] = (uint8_t)(~sum >> 8);
	ip[11] = (uint8_t)~sum;
}

static void ipv4_codepoints(void)
{
	uint8_t frame[100], before[100];
	unsigned int tos;

	for (tos = 0; tos < 256; tos++) {
		rig_build(frame, sizeof(frame), RIG_ROCE_IPV4, 1, 2);
		frame[15] = (uint8_t)tos;
		put_checksum(frame + 14);
		memcpy(before, frame, sizeof(frame));
		T_EQ(ecn_mark(frame, sizeof(frame)), (tos & 3) == 1 || (tos & 3) == 2);
		T_EQ(frame[15], tos & 3 ? tos | 3 : tos);
		T_TRUE(checksum_is_right(frame + 14));
		/* Nothing else changes. */
		frame[15] = before[15];
		memcpy(frame + 24, before + 24, 2);
		T_BYTES(frame, before, sizeof(frame));
	}
}

/* Every value that the changed word and the checksum can have together. */
static void ipv4_checksums(void)
{
	uint8_t frame[64];
	unsigned int id, wrong = 0;

	for (id = 0; id < 65536; id++) {
		rig_build(frame, sizeof(frame), RIG_ROCE_IPV4, 1, 2);
		frame[18] = (uint8_t)(id >> 8);
		frame[19] = (uint8_t)id;
		put_checksum(frame + 14);
		wrong += !ecn_mark(frame, sizeof(frame)) || !checksum_is_right(frame + 14);
	}
	T_EQ(wrong, 0);
}

static void ipv6_codepoints(void)
{
	uint8_t frame[100];
	unsigned int tc;

	for (tc = 0; tc < 256; tc++) {
		rig_build(frame, sizeof(frame), RIG_ROCE_IPV6, 1, 2);
		frame[14] = (uint8_t)(0x60 | tc >> 4);
		frame[15] = (uint8_t)(tc << 4 | 0x0a);
		T_EQ(ecn_mark(frame, sizeof(frame)), (tc & 3) == 1 || (tc & 3) == 2);
		T_EQ((frame[14] & 15) << 4 | frame[15] >> 4, tc & 3 ? tc | 3 : tc);
		T_EQ(frame[14] >> 4, 6);
		T_EQ(frame[15] & 15, 0x0a); /* flow label */
	}
}

static void others_are_left_alone(void)
{
	static const struct {
		const char *name, *hex;
	} rows[] = {
		{"ARP", "02000000000102000000000208060001080006040001"},
		{"RoCE v1", "020000000001020000000002891560200000000000000000"},
		{"IPv4 cut", "02000000000102000000000208004502003000004000401100000a0900010a0900"},
		{"IPv6 cut", "02000000000102000000000286dd6020000000101140fd09"},
		{"IPv4 says 6", "0200000000010200000000020800650200300000400040110000"
				"0a0900010a090002"},
		{"runt", "0200"},
	};
	uint8_t frame[64], before[64];
	size_t i, length;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		length = t_hex(rows[i].hex, frame, sizeof(frame));
		memcpy(before, frame, length);
		T_TRUE_ROW(rows[i].name, !ecn_mark(frame, length));
		T_BYTES_ROW(rows[i].name, frame, before, length);
	}
}

static void thresholds(void)
{
	static const struct fabric_config config = {
		.ecn_kmin_bytes = 1000, .ecn_kmax_bytes = 3000, .ecn_pmax_percent = 40};
	static const struct fabric_config off = {.ecn_kmax_bytes = 3000, .ecn_pmax_percent = 40};
	static const struct fabric_config step = {
		.ecn_kmin_bytes = 1000, .ecn_kmax_bytes = 1000, .ecn_pmax_percent = 100};
	static const struct {
		uint64_t queue;
		unsigned int low, high; /* of 10000 */
	} rows[] = {
		{0, 0, 0},
		{1000, 0, 0},
		{1500, 900, 1100},
		{2000, 1850, 2150},
		{3000, 3800, 4200},
		{3001, 10000, 10000},
		{1u << 30, 10000, 10000},
	};
	uint64_t random = random_seed(1);
	unsigned int n, marked;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (n = marked = 0; n < 10000; n++)
			marked += ecn_should_mark(&config, &random, rows[i].queue);
		t_check(marked >= rows[i].low && marked <= rows[i].high, __FILE__, __LINE__,
			"queue %llu: %u marked", (unsigned long long)rows[i].queue, marked);
	}
	T_TRUE(!ecn_should_mark(&off, &random, 1u << 30));
	T_TRUE(!ecn_should_mark(&step, &random, 1000));
	T_TRUE(ecn_should_mark(&step, &random, 1001));
}

/* In the switch: only what finds a long queue is marked, and never the sender's other frames. */
static void queue_marks(void)
{
	static const struct fabric_config config = {.rate_bps = 1000000000,
						    .ecn_kmin_bytes = 10000,
						    .ecn_kmax_bytes = 10000,
						    .ecn_pmax_percent = 100};
	struct rig *rig = rig_create(&config, 2);
	unsigned int i;

	rig_teach(rig);
	rig_run(rig, 1000000000);
	rig->port[1].count = 0;
	for (i = 0; i < 20; i++)
		T_TRUE(rig_send(rig, 0, 1, RIG_ROCE_IPV6, 976, 0));
	rig_run(rig, 2000000000);
	T_EQ(rig->port[1].count, 20);
	/* 1000 bytes each on the line: the 12th finds 11000 before it. */
	for (i = 1; i < 20; i++)
		T_EQ(rig->port[1].log[i].sum != rig->port[1].log[0].sum, i >= 11);
	T_EQ(fabric_port_counters(rig->port[1].port)->ecn_marked, 9);
	T_EQ(fabric_port_counters(rig->port[0].port)->ecn_marked, 0);
	rig_destroy(rig);
}

T_MAIN("fabric_ecn", T_CASE(ipv4_codepoints), T_CASE(ipv4_checksums), T_CASE(ipv6_codepoints),
       T_CASE(others_are_left_alone), T_CASE(thresholds), T_CASE(queue_marks), )
