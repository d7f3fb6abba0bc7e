/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The switch's table of MAC addresses: 4-way sets of fixed number, entries
 * age. One table for all VLANs (shared learning). Knows nothing of frames.
 */
#include "sim/fabric/fabric_switch.h"

#include <endian.h>
#include <string.h>

uint64_t mac_load(const uint8_t *bytes)
{
	uint32_t high;
	uint16_t low;

	memcpy(&high, bytes, 4);
	memcpy(&low, bytes + 4, 2);
	return (uint64_t)be32toh(high) << 16 | be16toh(low);
}

/* Fibonacci hashing: neighbouring addresses, the usual case, spread over all sets. */
static unsigned int set_of(uint64_t mac)
{
	return (unsigned int)(mac * 0x9e3779b97f4a7c15ull >> 54) % MAC_SETS;
}

void mac_learn(struct mac_table *table, uint64_t now, uint64_t mac, struct switch_port *port)
{
	struct mac_entry *set = table->set[set_of(mac)];
	struct mac_entry *victim = &set[0];
	unsigned int i;

	for (i = 0; i < MAC_WAYS; i++) {
		if (set[i].port && set[i].mac == mac) {
			victim = &set[i];
			break;
		}
		if (victim->port && (!set[i].port || set[i].seen < victim->seen))
			victim = &set[i];
	}
	victim->mac = mac;
	victim->seen = now;
	victim->port = port;
}

struct switch_port *mac_lookup(const struct mac_table *table, uint64_t now, uint64_t mac)
{
	const struct mac_entry *set = table->set[set_of(mac)];
	unsigned int i;

	for (i = 0; i < MAC_WAYS; i++)
		if (set[i].port && set[i].mac == mac)
			return now - set[i].seen < MAC_AGE_NS ? set[i].port : NULL;
	return NULL;
}

void mac_forget_port(struct mac_table *table, const struct switch_port *port)
{
	struct mac_entry *entry = table->set[0];
	unsigned int i;

	for (i = 0; i < MAC_SETS * MAC_WAYS; i++)
		if (entry[i].port == port)
			entry[i].port = NULL;
}
