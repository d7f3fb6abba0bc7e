/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Capture files: bytes by the format's rules, and read back by Wireshark's tools where present. */
#include "tests/unit/sim/fabric/fabric_rig.h"
#include "tests/lib/t.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[64];

/* A file with three frames at known times: 0 -> 1 RoCE, 1 -> 0 RoCE, 0 -> all. */
static void capture(uint64_t epoch)
{
	struct fabric_config config = {.capture = path, .capture_epoch_ns = epoch};
	struct rig *rig;
	int fd;

	strcpy(path, "/tmp/anynic-capture-XXXXXX");
	fd = mkstemp(path);
	T_NEED(fd >= 0);
	close(fd);
	rig = rig_create(&config, 3);
	rig->now = 1000000001;
	rig_send_to(rig, 0, 0xffffffffffffull, RIG_OTHER, 61, 1);
	rig_run(rig, 2000000002);
	rig_send(rig, 1, 0, RIG_ROCE_IPV4, 100, 2);
	rig_run(rig, 3000000003);
	rig_send(rig, 0, 1, RIG_ROCE_IPV6, 4097, 3);
	rig_run(rig, 3000000003);
	T_EQ(fabric_flush(rig->fabric), 0);
	rig_destroy(rig);
}

static uint32_t u32(const uint8_t *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, 4);
	return value;
}

/* Walks the blocks as the draft says, and returns how many of each type there are. */
static void walks_as_pcapng(void)
{
	static uint8_t file[16384];
	unsigned int interfaces = 0, packets = 0;
	size_t size, at, length;
	FILE *in;

	capture(0);
	in = fopen(path, "rb");
	T_NEED(in);
	size = fread(file, 1, sizeof(file), in);
	fclose(in);
	unlink(path);
	T_EQ(u32(file), 0x0a0d0d0a);
	T_EQ(u32(file + 8), 0x1a2b3c4d);
	for (at = 0; at + 12 <= size; at += length) {
		length = u32(file + at + 4);
		T_NEED(length >= 12 && length % 4 == 0 && length <= size - at);
		T_EQ(u32(file + at + length - 4), length);
		if (u32(file + at) == 1) {
			T_EQ(u32(file + at + 8), 1);		/* Ethernet */
			T_EQ(u32(file + at + 16), 2 << 16 | 2); /* if_name, 2 bytes */
			T_EQ(file[at + 20], 'p');
			T_EQ(file[at + 21], '0' + interfaces);
			T_EQ(u32(file + at + 24), 1 << 16 | 9); /* if_tsresol */
			T_EQ(file[at + 28], 9);
			interfaces++;
		}
		if (u32(file + at) == 6) {
			T_EQ(u32(file + at + 20), u32(file + at + 24));
			T_EQ(u32(file + at + length - 12), 2); /* outbound */
			packets++;
		}
	}
	T_EQ(at, size);
	T_EQ(interfaces, 3);
	T_EQ(packets, 4); /* the flooded frame left on two ports */
}

static _Bool has(const char *tool)
{
	char command[64];

	snprintf(command, sizeof(command), "command -v %s >/dev/null 2>&1", tool);
	return system(command) == 0;
}

static size_t output_of(const char *command, char *out, size_t size)
{
	FILE *pipe = popen(command, "r");
	size_t length = 0;

	if (pipe) {
		length = fread(out, 1, size - 1, pipe);
		pclose(pipe);
	}
	out[length] = '\0';
	return length;
}

static void tshark_reads_it(void)
{
	char command[512], text[4096];

	if (!has("tshark")) {
		printf("# tshark is not installed: not compared with it\n");
		return;
	}
	/* 2026-01-01 00:00:00 UTC. */
	capture(1767225600000000000ull);
	snprintf(command, sizeof(command),
		 "TZ=UTC tshark -n -r %s -T fields -E separator=, -e frame.time_epoch "
		 "-e frame.interface_name -e frame.len -e frame.cap_len -e eth.src 2>/dev/null",
		 path);
	output_of(command, text, sizeof(text));
	T_TRUE_ROW(text, !strcmp(text, "1767225601.000000001,p1,61,61,52:54:00:00:00:01\n"
				       "1767225601.000000001,p2,61,61,52:54:00:00:00:01\n"
				       "1767225602.000000002,p0,100,100,52:54:00:00:00:02\n"
				       "1767225603.000000003,p1,4097,4097,52:54:00:00:00:01\n"));
	unlink(path);
}

static void capinfos_reads_it(void)
{
	char command[256], text[8192];

	if (!has("capinfos")) {
		printf("# capinfos is not installed: not compared with it\n");
		return;
	}
	capture(0);
	snprintf(command, sizeof(command), "capinfos -M %s 2>&1", path);
	output_of(command, text, sizeof(text));
	T_TRUE_ROW(text, strstr(text, "pcapng") != NULL);
	T_TRUE_ROW(text, strstr(text, "Number of packets:   4") != NULL);
	T_TRUE_ROW(text, strstr(text, "nanosecond") != NULL);
	T_TRUE_ROW(text, strstr(text, "Number of interfaces in file: 3") != NULL);
	T_TRUE_ROW(text, !strstr(text, "cut short") && !strstr(text, "rror"));
	unlink(path);
}

/* More than the buffer holds, of every length modulo 4. */
static void large_captures(void)
{
	struct fabric_config config = {.capture = path};
	char command[256], text[8192];
	struct rig *rig;
	unsigned int i;
	int fd;

	strcpy(path, "/tmp/anynic-capture-XXXXXX");
	fd = mkstemp(path);
	T_NEED(fd >= 0);
	close(fd);
	rig = rig_create(&config, 2);
	rig_teach(rig);
	for (i = 0; i < 3000; i++) {
		rig_send(rig, 0, 1, RIG_ROCE_IPV4, 60 + i % 2000, i);
		rig_run(rig, rig->now + 1000);
	}
	rig_destroy(rig);
	if (has("capinfos")) {
		snprintf(command, sizeof(command), "capinfos -M -c %s 2>&1", path);
		output_of(command, text, sizeof(text));
		T_TRUE_ROW(text, strstr(text, "Number of packets:   3002") != NULL);
	}
	unlink(path);
}

/* A full disk ends the capture, not the traffic. */
static void write_errors_are_told(void)
{
	struct fabric_config config = {.capture = "/dev/full"};
	struct rig *rig = rig_create(&config, 2);
	unsigned int i;

	for (i = 0; i < 1000; i++) {
		T_NEED(rig_send(rig, 0, 1, RIG_ROCE_IPV4, 1000, i));
		rig_run(rig, 0);
	}
	T_EQ(rig->port[1].count, 1000);
	T_EQ(fabric_flush(rig->fabric), -28);
	T_EQ(fabric_flush(rig->fabric), -28);
	rig_destroy(rig);
}

T_MAIN("fabric_pcapng", T_CASE(walks_as_pcapng), T_CASE(tshark_reads_it), T_CASE(capinfos_reads_it),
       T_CASE(large_captures), T_CASE(write_errors_are_told), )
