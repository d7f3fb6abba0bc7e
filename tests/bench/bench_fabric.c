/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Frames a second through the switch, from port to port, one core. Prints name, rate, bytes. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "sim/fabric/fabric.h"

#define FRAMES 4000000u
#define BATCH  32

static uint64_t received;

static void count(void *ctx, uint64_t now, const void *frame, size_t length)
{
	(void)ctx;
	(void)now;
	(void)length;
	received += *(const uint8_t *)frame == 2;
}

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static const struct fabric_port_ops ops = {.rx = count};

/* A RoCE header over IPv4, from station 1 to station 2. The payload is not touched, as it would
 * be that of the sender's memory anyway. */
static void fill(uint8_t *frame)
{
	static const uint8_t header[] = {
		2,    0, 0,  0,	   0, 2, 2,    0, 0,	0,    0,    1,	  8,  0,
		0x45, 2, 0,  0x30, 0, 0, 0x40, 0, 64,	0x11, 0x26, 0xa7, 10, 9,
		0,    1, 10, 9,	   0, 2, 0xc0, 0, 0x12, 0xb7, 0,    28,	  0,  0,
	};

	memcpy(frame, header, sizeof(header));
}

static int run(const char *name, const struct fabric_config *config, size_t length)
{
	struct fabric *fabric;
	struct fabric_port *a, *b;
	uint64_t now = 0;
	double start;
	unsigned int sent, i;
	void *buffer;

	if (fabric_create(config, &fabric))
		return 1;
	if (fabric_port_add(fabric, "a", &ops, NULL, &a) ||
	    fabric_port_add(fabric, "b", &ops, NULL, &b))
		return 1;
	buffer = fabric_alloc(b, 60);
	fill(buffer);
	((uint8_t *)buffer)[11] = 2; /* from b: the switch learns where it is */
	fabric_send(b, 0, buffer, 60);
	received = 0;
	start = seconds();
	for (sent = 0; sent < FRAMES; sent += BATCH) {
		for (i = 0; i < BATCH; i++) {
			buffer = fabric_alloc(a, length);
			if (!buffer)
				return 1;
			fill(buffer);
			fabric_send(a, now, buffer, length);
		}
		while (fabric_run(fabric, now, BATCH))
			;
		now += 1000000;
	}
	start = seconds() - start;
	while (fabric_next(fabric) != UINT64_MAX)
		fabric_run(fabric, now += 1000000, BATCH);
	printf("%-24s %8.2f M frames/s %8.2f GB/s\n", name, (double)received / start / 1e6,
	       (double)received * (double)length / start / 1e9);
	fabric_destroy(fabric);
	return 0;
}

int main(void)
{
	static const struct fabric_config plain;
	static const struct fabric_config line = {.rate_bps = 100000000000ull,
						  .delay_ns = 1000,
						  .ecn_kmin_bytes = 100000,
						  .ecn_kmax_bytes = 400000,
						  .ecn_pmax_percent = 20};
	static const struct fabric_config faults = {.loss_ppm = 10000,
						    .corrupt_ppm = 10000,
						    .duplicate_ppm = 10000,
						    .reorder_ppm = 10000};

	return run("64 bytes", &plain, 64) || run("4 KiB", &plain, 4166) ||
	       run("64 bytes, 100 Gb/s, ECN", &line, 64) || run("64 bytes, faults", &faults, 64);
}
