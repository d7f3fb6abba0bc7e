/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A switch with recording ports, for tests: build frames, send them, look at
 * what came out where and when. Knows the fabric's public interface only.
 */
#ifndef ANYNIC_TESTS_UNIT_SIM_FABRIC_FABRIC_RIG_H
#define ANYNIC_TESTS_UNIT_SIM_FABRIC_FABRIC_RIG_H

#include "sim/fabric/fabric.h"

#define RIG_PORTS 8
#define RIG_LOG	  4096

/* What a port received, the oldest first; only the first RIG_LOG are kept. */
struct rig_frame {
	uint64_t time;
	uint32_t length;
	uint32_t tag; /* from rig_send */
	const void *address;
	uint64_t sum; /* of all bytes */
};

struct rig_port {
	struct fabric_port *port;
	unsigned int count;
	unsigned int rooms; /* calls of tx_room */
	struct rig_frame log[RIG_LOG];
	/* If set, answers from inside rx. */
	void (*answer)(struct rig_port *port, uint64_t now, const void *frame, size_t length);
};

struct rig {
	struct fabric *fabric;
	unsigned int wakes;
	uint64_t now;
	struct rig_port port[RIG_PORTS];
};

extern const struct fabric_port_ops rig_port_ops;

/* A switch with `ports` plain ports p0, p1 ... NULL config: no limits, no faults. */
struct rig *rig_create(const struct fabric_config *config, unsigned int ports);
void rig_destroy(struct rig *rig);

enum rig_kind { RIG_OTHER, RIG_ROCE_IPV4, RIG_ROCE_IPV6, RIG_ROCE_V1, RIG_UDP_IPV4 };

/* Writes a frame of exactly `length` bytes (as many headers as fit), ECT(0), tag at its end. */
void rig_build(uint8_t *frame, size_t length, enum rig_kind kind, uint64_t dst, uint64_t src);
/* The MAC address of port i. */
uint64_t rig_mac(unsigned int i);
/* Sends from port `from` to `dst`. Returns false if there was no buffer. */
_Bool rig_send_to(struct rig *rig, unsigned int from, uint64_t dst, enum rig_kind kind,
		  size_t length, uint32_t tag);
_Bool rig_send(struct rig *rig, unsigned int from, unsigned int to, enum rig_kind kind,
	       size_t length, uint32_t tag);
/* Makes all ports known to the switch, and forgets what they received. */
void rig_teach(struct rig *rig);
/* Runs to `until`, each step at the time when it is due. */
void rig_run(struct rig *rig, uint64_t until);

#endif
