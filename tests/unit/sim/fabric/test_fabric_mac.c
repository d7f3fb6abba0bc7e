/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* MAC table: sets, eviction of the oldest, ageing, forgetting a port. */
#include "sim/fabric/fabric_switch.h"
#include "tests/lib/t.h"

#include <stdlib.h>

static struct switch_port *port(unsigned int i)
{
	static struct switch_port ports[2];

	return &ports[i];
}

static void loads_big_endian(void)
{
	static const uint8_t bytes[] = {0x52, 0x54, 0x00, 0x12, 0x34, 0x56};

	T_TRUE(mac_load(bytes) == 0x525400123456ull);
}

static void learns_and_ages(void)
{
	struct mac_table *table = calloc(1, sizeof(*table));

	T_TRUE(!mac_lookup(table, 0, 1));
	mac_learn(table, 0, 1, port(0));
	T_TRUE(mac_lookup(table, MAC_AGE_NS - 1, 1) == port(0));
	T_TRUE(!mac_lookup(table, MAC_AGE_NS, 1));
	mac_learn(table, MAC_AGE_NS, 1, port(1));
	T_TRUE(mac_lookup(table, MAC_AGE_NS, 1) == port(1));
	T_TRUE(!mac_lookup(table, MAC_AGE_NS, 2));
	/* The address zero is an address, and a free entry is none. */
	T_TRUE(!mac_lookup(table, 0, 0));
	free(table);
}

/* As many as there are places: neighbouring addresses are spread well. */
static void holds_many(void)
{
	struct mac_table *table = calloc(1, sizeof(*table));
	unsigned int i, kept = 0;

	for (i = 0; i < MAC_SETS * 2; i++)
		mac_learn(table, i, 0x525400000000ull + i, port(0));
	for (i = 0; i < MAC_SETS * 2; i++)
		kept += mac_lookup(table, i, 0x525400000000ull + i) != NULL;
	T_EQ(kept, MAC_SETS * 2);
	free(table);
}

static void oldest_of_a_set_goes(void)
{
	struct mac_table *table = calloc(1, sizeof(*table));
	unsigned int i, found = 0;
	uint64_t mac, same[MAC_WAYS + 1];

	/* Addresses of one set, found by looking where they land. */
	mac_learn(table, 0, 1, port(0));
	for (i = 0; !table->set[i][0].port; i++)
		;
	for (mac = 1; found <= MAC_WAYS; mac++) {
		struct mac_table *probe = calloc(1, sizeof(*probe));

		mac_learn(probe, 0, mac, port(0));
		if (probe->set[i][0].port)
			same[found++] = mac;
		free(probe);
	}
	for (i = 0; i < MAC_WAYS; i++)
		mac_learn(table, 10 + i, same[i], port(0));
	mac_learn(table, 20, same[0], port(0)); /* heard again */
	mac_learn(table, 21, same[MAC_WAYS], port(0));
	for (i = 0; i <= MAC_WAYS; i++)
		T_EQ(mac_lookup(table, 22, same[i]) != NULL, i != 1);
	free(table);
}

static void forgets_a_port(void)
{
	struct mac_table *table = calloc(1, sizeof(*table));
	unsigned int i;

	for (i = 0; i < 100; i++)
		mac_learn(table, 0, i, port(i % 2));
	mac_forget_port(table, port(0));
	for (i = 0; i < 100; i++)
		T_TRUE(mac_lookup(table, 0, i) == (i % 2 ? port(1) : NULL));
	free(table);
}

T_MAIN("fabric_mac", T_CASE(loads_big_endian), T_CASE(learns_and_ages), T_CASE(holds_many),
       T_CASE(oldest_of_a_set_goes), T_CASE(forgets_a_port), )
