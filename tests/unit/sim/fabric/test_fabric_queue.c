/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Egress queue and line clock: order, growth, exact times. */
#include "sim/fabric/fabric_switch.h"
#include "tests/lib/t.h"

#include <stdlib.h>

static void queue_keeps_order(void)
{
	struct egress_queue queue = {0};
	struct fabric_frame frames[7] = {{.length = 1}, {.length = 2}, {.length = 3}, {.length = 4},
					 {.length = 5}, {.length = 6}, {.length = 7}};
	unsigned int put = 0, got = 0, round;

	T_TRUE(!egress_first(&queue));
	/* More in than out: wraps and grows. */
	for (round = 0; round < 1000; round++) {
		T_EQ(egress_push(&queue, &frames[put % 7], put), 0);
		put++;
		T_EQ(egress_push(&queue, &frames[put % 7], put), 0);
		put++;
		T_EQ(egress_first(&queue)->due, got);
		T_TRUE(egress_pop(&queue) == &frames[got % 7]);
		got++;
	}
	T_EQ(queue.count, 1000);
	while (queue.count) {
		T_TRUE(egress_pop(&queue) == &frames[got % 7]);
		got++;
	}
	T_EQ(got, put);
	T_EQ(queue.bytes, 0);
	egress_fini(&queue);
}

/* 24 bytes of FCS, preamble and gap go with each frame. */
static void departures(void)
{
	static const struct {
		const char *name;
		uint64_t rate, now;
		size_t length;
		unsigned int frames;
		uint64_t last;
	} rows[] = {
		{"1 Mb/s", 1000000, 0, 101, 1, 1000000},
		{"1 Gb/s", 1000000000, 500, 1500, 1, 500 + 12192},
		{"10 Gb/s, 100", 10000000000ull, 0, 1500, 100, 121920},
		/* 704 bits are 7.04 ns: no rounding may add up. */
		{"100 Gb/s, 1000", 100000000000ull, 0, 64, 1000, 7040},
		{"3 b/ns, 3", 3000000000ull, 0, 64, 3, 704},
		{"unlimited", 0, 77, 9000, 100, 77},
	};
	struct line_clock line;
	uint64_t last;
	unsigned int n;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		line = (struct line_clock){0};
		last = 0;
		for (n = 0; n < rows[i].frames; n++)
			last = line_depart(&line, rows[i].now, rows[i].rate, rows[i].length);
		T_EQ_ROW(rows[i].name, last, rows[i].last);
	}
}

static void backlog_drains(void)
{
	struct line_clock line = {0};
	unsigned int i;

	T_EQ(line_backlog(&line, 0, 1000000000), 0);
	for (i = 0; i < 10; i++)
		line_depart(&line, 1000, 1000000000, 976);
	T_EQ(line_backlog(&line, 1000, 1000000000), 10000);
	T_EQ(line_backlog(&line, 1000 + 8000, 1000000000), 9000);
	T_EQ(line_backlog(&line, 1000 + 80000, 1000000000), 0);
	T_EQ(line_backlog(&line, UINT64_MAX, 1000000000), 0);
	/* An idle line starts now, not in the past. */
	T_EQ(line_depart(&line, 1000000, 1000000000, 976), 1008000);
	T_EQ(line_backlog(&line, 0, 0), 0);
}

/* The largest buffer on the slowest line. */
static void backlog_does_not_overflow(void)
{
	struct line_clock line = {0};
	uint64_t bytes = 0;

	while (bytes < 1u << 30) {
		line_depart(&line, 0, 1000000, 9000 - 24);
		bytes += 9000;
	}
	T_EQ(line_backlog(&line, 0, 1000000), bytes);
}

T_MAIN("fabric_queue", T_CASE(queue_keeps_order), T_CASE(departures), T_CASE(backlog_drains),
       T_CASE(backlog_does_not_overflow), )
