/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Writes a pcapng file (draft-ietf-opsawg-pcapng): one section, an interface
 * for each switch port, nanosecond time stamps. A frame is recorded when it
 * leaves the switch, so its direction is outbound. Knows nothing of switching.
 *
 * A write error ends the capture, not the simulation; pcapng_flush() tells.
 */
#include "sim/fabric/fabric_switch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK_SECTION_HEADER  0x0a0d0d0au
#define BLOCK_INTERFACE	      1u
#define BLOCK_ENHANCED_PACKET 6u
#define BYTE_ORDER_MAGIC      0x1a2b3c4du
#define LINKTYPE_ETHERNET     1
#define OPTION_END	      0
#define OPTION_IF_NAME	      2
#define OPTION_IF_TSRESOL     9
#define OPTION_EPB_FLAGS      2
#define TSRESOL_NANOSECONDS   9
#define EPB_OUTBOUND	      2u

#define BUFFER_SIZE (1u << 18)
/* Longest name that is put into the file. */
#define NAME_MAX_BYTES 64u

struct pcapng {
	int fd;
	int error;
	uint32_t interfaces;
	size_t used;
	uint8_t buffer[BUFFER_SIZE];
};

struct block_head {
	uint32_t type;
	uint32_t length;
};

struct section_header {
	struct block_head head;
	uint32_t magic;
	uint16_t major, minor;
	uint64_t section_length;
	uint32_t length_again;
} __attribute__((packed));
_Static_assert(sizeof(struct section_header) == 28, "section header block");

struct interface_head {
	struct block_head head;
	uint16_t link_type;
	uint16_t reserved;
	uint32_t snap_length;
};
_Static_assert(sizeof(struct interface_head) == 16, "interface description block");

struct packet_head {
	struct block_head head;
	uint32_t interface;
	uint32_t time_high, time_low;
	uint32_t captured_length, original_length;
};
_Static_assert(sizeof(struct packet_head) == 28, "enhanced packet block");

struct packet_tail {
	uint16_t flags_code, flags_length;
	uint32_t flags;
	uint16_t end_code, end_length;
	uint32_t length_again;
};
_Static_assert(sizeof(struct packet_tail) == 16, "options and trailer");

static uint32_t padding(size_t length)
{
	return (uint32_t)(-length & 3);
}

int pcapng_flush(struct pcapng *capture)
{
	size_t done = 0;
	ssize_t n;

	while (!capture->error && done < capture->used) {
		n = write(capture->fd, capture->buffer + done, capture->used - done);
		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			capture->error = -errno;
	}
	capture->used = 0;
	return capture->error;
}

/* Callers write blocks that are far smaller than the buffer. */
static void put(struct pcapng *capture, const void *data, size_t length)
{
	if (capture->used + length > BUFFER_SIZE)
		pcapng_flush(capture);
	memcpy(capture->buffer + capture->used, data, length);
	capture->used += length;
}

static void put_padding(struct pcapng *capture, size_t length)
{
	static const uint8_t zero[4];

	put(capture, zero, padding(length));
}

static void put_option(struct pcapng *capture, uint16_t code, const void *value, uint16_t length)
{
	uint16_t head[2] = {code, length};

	put(capture, head, sizeof(head));
	if (length)
		put(capture, value, length);
	put_padding(capture, length);
}

int pcapng_create(const char *path, struct pcapng **out)
{
	struct section_header section = {
		.head = {BLOCK_SECTION_HEADER, sizeof(section)},
		.magic = BYTE_ORDER_MAGIC,
		.major = 1,
		.section_length = UINT64_MAX, /* not known */
		.length_again = sizeof(section),
	};
	struct pcapng *capture = malloc(sizeof(*capture));
	int err;

	if (!capture)
		return -ENOMEM;
	capture->error = 0;
	capture->interfaces = 0;
	capture->used = 0;
	capture->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (capture->fd < 0) {
		err = -errno;
		free(capture);
		return err;
	}
	put(capture, &section, sizeof(section));
	*out = capture;
	return 0;
}

uint32_t pcapng_interface(struct pcapng *capture, const char *name)
{
	static const uint8_t resolution = TSRESOL_NANOSECONDS;
	uint16_t name_length = (uint16_t)strnlen(name, NAME_MAX_BYTES);
	struct interface_head interface = {
		.head = {BLOCK_INTERFACE, 0},
		.link_type = LINKTYPE_ETHERNET,
	};
	uint32_t length = (uint32_t)sizeof(interface) + 4 + name_length + padding(name_length) + 4 +
			  4 + 4 + (uint32_t)sizeof(length);

	interface.head.length = length;
	put(capture, &interface, sizeof(interface));
	put_option(capture, OPTION_IF_NAME, name, name_length);
	put_option(capture, OPTION_IF_TSRESOL, &resolution, sizeof(resolution));
	put_option(capture, OPTION_END, NULL, 0);
	put(capture, &length, sizeof(length));
	return capture->interfaces++;
}

void pcapng_frame(struct pcapng *capture, uint32_t interface, uint64_t time_ns, const void *frame,
		  size_t length)
{
	struct packet_head head = {
		.head = {BLOCK_ENHANCED_PACKET, 0},
		.interface = interface,
		.time_high = (uint32_t)(time_ns >> 32),
		.time_low = (uint32_t)time_ns,
		.captured_length = (uint32_t)length,
		.original_length = (uint32_t)length,
	};
	struct packet_tail tail = {
		.flags_code = OPTION_EPB_FLAGS,
		.flags_length = sizeof(tail.flags),
		.flags = EPB_OUTBOUND,
		.end_code = OPTION_END,
	};

	if (capture->error)
		return;
	head.head.length = (uint32_t)(sizeof(head) + length + padding(length) + sizeof(tail));
	tail.length_again = head.head.length;
	put(capture, &head, sizeof(head));
	put(capture, frame, length);
	put_padding(capture, length);
	put(capture, &tail, sizeof(tail));
}

void pcapng_destroy(struct pcapng *capture)
{
	if (!capture)
		return;
	pcapng_flush(capture);
	close(capture->fd);
	free(capture);
}
