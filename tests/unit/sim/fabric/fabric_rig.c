/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Recording ports around a switch. Knows the fabric's public interface only. */
#include "tests/unit/sim/fabric/fabric_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TAG_BYTES 4

static void rig_rx(void *ctx, uint64_t now, const void *frame, size_t length)
{
	struct rig_port *port = ctx;
	struct rig_frame *entry;
	const uint8_t *bytes = frame;
	size_t i;

	if (port->count < RIG_LOG) {
		entry = &port->log[port->count];
		entry->time = now;
		entry->length = (uint32_t)length;
		entry->address = frame;
		entry->sum = 0;
		for (i = 0; i < length; i++)
			entry->sum += bytes[i];
		memcpy(&entry->tag, bytes + length - TAG_BYTES, TAG_BYTES);
	}
	port->count++;
	if (port->answer)
		port->answer(port, now, frame, length);
}

static void rig_tx_room(void *ctx)
{
	struct rig_port *port = ctx;

	port->rooms++;
}

const struct fabric_port_ops rig_port_ops = {.rx = rig_rx, .tx_room = rig_tx_room};

static void rig_wake(void *ctx)
{
	struct rig *rig = ctx;

	rig->wakes++;
}

struct rig *rig_create(const struct fabric_config *config, unsigned int ports)
{
	static const struct fabric_config no_limits;
	struct rig *rig = calloc(1, sizeof(*rig));
	char name[16];
	unsigned int i;

	if (!rig || fabric_create(config ? config : &no_limits, &rig->fabric))
		abort();
	fabric_set_wake(rig->fabric, rig_wake, rig);
	for (i = 0; i < ports; i++) {
		snprintf(name, sizeof(name), "p%u", i);
		if (fabric_port_add(rig->fabric, name, &rig_port_ops, &rig->port[i],
				    &rig->port[i].port))
			abort();
	}
	return rig;
}

void rig_destroy(struct rig *rig)
{
	fabric_destroy(rig->fabric);
	free(rig);
}

static void store_mac(uint8_t *out, uint64_t mac)
{
	unsigned int i;

	for (i = 0; i < 6; i++)
		out[i] = (uint8_t)(mac >> (40 - 8 * i));
}

/* Of the headers, as many bytes as the frame has room for. */
static void put_headers(uint8_t *frame, size_t length, const uint8_t *headers, size_t count)
{
	size_t room = length - 12;

	memcpy(frame + 12, headers, count < room ? count : room);
}

void rig_build(uint8_t *frame, size_t length, enum rig_kind kind, uint64_t dst, uint64_t src)
{
	/* Ethertype, IP header with ECT(0), UDP port 4791; checksum as computed by hand. */
	static const uint8_t ipv4[] = {
		0x08, 0x00, 0x45, 0x02, 0x00, 0x30, 0x00, 0x00, 0x40, 0x00,
		0x40, 0x11, 0x26, 0xa7, 0x0a, 0x09, 0x00, 0x01, 0x0a, 0x09,
		0x00, 0x02, 0xc0, 0x00, 0x12, 0xb7, 0x00, 0x1c, 0x00, 0x00,
	};
	static const uint8_t ipv6[] = {
		0x86, 0xdd, 0x60, 0x20, 0x00, 0x00, 0x00, 0x1c, 0x11, 0x40, 0xfd, 0x09, 0,
		0,    0,    0,	  0,	0,    0,    0,	  0,	0,    0,    0,	  0,	0x01,
		0xfd, 0x09, 0,	  0,	0,    0,    0,	  0,	0,    0,    0,	  0,	0,
		0,    0,    0x02, 0xc0, 0x00, 0x12, 0xb7, 0x00, 0x1c, 0x00, 0x00,
	};
	static const uint8_t roce_v1[] = {0x89, 0x15, 0x60, 0x20};

	memset(frame, 0, length);
	store_mac(frame, dst);
	store_mac(frame + 6, src);
	frame[12] = 0x88;
	frame[13] = 0xb5; /* local experimental ethertype */
	switch (kind) {
	case RIG_OTHER:
		break;
	case RIG_ROCE_IPV4:
	case RIG_UDP_IPV4:
		put_headers(frame, length, ipv4, sizeof(ipv4));
		if (kind == RIG_UDP_IPV4 && length > 37)
			frame[37]++;
		break;
	case RIG_ROCE_IPV6:
		put_headers(frame, length, ipv6, sizeof(ipv6));
		break;
	case RIG_ROCE_V1:
		put_headers(frame, length, roce_v1, sizeof(roce_v1));
		break;
	}
}

uint64_t rig_mac(unsigned int i)
{
	return 0x525400000001ull + i;
}

_Bool rig_send_to(struct rig *rig, unsigned int from, uint64_t dst, enum rig_kind kind,
		  size_t length, uint32_t tag)
{
	struct fabric_port *port = rig->port[from].port;
	uint8_t *frame = fabric_alloc(port, length);

	if (!frame)
		return 0;
	rig_build(frame, length, kind, dst, rig_mac(from));
	if (length >= 14 + TAG_BYTES)
		memcpy(frame + length - TAG_BYTES, &tag, TAG_BYTES);
	fabric_send(port, rig->now, frame, length);
	return 1;
}

_Bool rig_send(struct rig *rig, unsigned int from, unsigned int to, enum rig_kind kind,
	       size_t length, uint32_t tag)
{
	return rig_send_to(rig, from, rig_mac(to), kind, length, tag);
}

void rig_teach(struct rig *rig)
{
	unsigned int i;

	for (i = 0; i < RIG_PORTS; i++)
		if (rig->port[i].port)
			rig_send_to(rig, i, 0xffffffffffffull, RIG_OTHER, 64, 0);
	rig_run(rig, rig->now);
	for (i = 0; i < RIG_PORTS; i++)
		rig->port[i].count = 0;
}

void rig_run(struct rig *rig, uint64_t until)
{
	for (;;) {
		if (fabric_run(rig->fabric, rig->now, 64))
			continue;
		if (fabric_next(rig->fabric) > until)
			break;
		rig->now = fabric_next(rig->fabric);
	}
	rig->now = until;
}
