/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Split ports: who gets what, one address, one line, two ends. */
#include "tests/unit/sim/fabric/fabric_rig.h"
#include "tests/lib/t.h"

/* A rig of one plain port, 0, and a split one: roce is 1, host is 2. */
static struct rig *create(const struct fabric_config *config, struct fabric_split **split)
{
	struct rig *rig = rig_create(config, 1);

	T_EQ(fabric_split_add(rig->fabric, "nic0", split), 0);
	rig->port[1].port = fabric_split_roce(*split, &rig_port_ops, &rig->port[1]);
	rig->port[2].port = fabric_split_host(*split, &rig_port_ops, &rig->port[2]);
	return rig;
}

static void demultiplexes(void)
{
	static const struct {
		const char *name;
		enum rig_kind kind;
		size_t length;
		unsigned int end;
	} rows[] = {
		{"IPv4", RIG_ROCE_IPV4, 100, 1},
		{"IPv6", RIG_ROCE_IPV6, 100, 1},
		{"v1", RIG_ROCE_V1, 60, 1},
		{"other UDP", RIG_UDP_IPV4, 100, 2},
		{"other", RIG_OTHER, 60, 2},
		{"IPv4 cut before the port", RIG_ROCE_IPV4, 37, 2},
		{"IPv4 cut behind", RIG_ROCE_IPV4, 60, 1},
		{"shortest", RIG_OTHER, 14, 2},
	};
	struct fabric_split *split;
	struct rig *rig = create(NULL, &split);
	unsigned int before[3];
	size_t i;

	rig_teach(rig);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		before[1] = rig->port[1].count;
		before[2] = rig->port[2].count;
		T_TRUE(rig_send(rig, 0, 1, rows[i].kind, rows[i].length, 0));
		rig_run(rig, 0);
		T_EQ_ROW(rows[i].name, rig->port[1].count - before[1], rows[i].end == 1);
		T_EQ_ROW(rows[i].name, rig->port[2].count - before[2], rows[i].end == 2);
	}
	/* Broadcast goes by its kind too. */
	T_TRUE(rig_send_to(rig, 0, 0xffffffffffffull, RIG_OTHER, 60, 0));
	rig_run(rig, 0);
	T_EQ(rig->port[2].log[rig->port[2].count - 1].length, 60);
	rig_destroy(rig);
}

static void ends_do_not_hear_each_other(void)
{
	struct fabric_split *split;
	struct rig *rig = create(NULL, &split);

	T_TRUE(rig_send_to(rig, 1, 0xffffffffffffull, RIG_OTHER, 60, 0));
	T_TRUE(rig_send_to(rig, 2, 0xffffffffffffull, RIG_ROCE_IPV4, 60, 0));
	T_TRUE(rig_send(rig, 1, 2, RIG_OTHER, 60, 0));
	T_TRUE(rig_send(rig, 2, 1, RIG_ROCE_IPV4, 60, 0));
	rig_run(rig, 0);
	T_EQ(rig->port[0].count, 2);
	T_EQ(rig->port[1].count, 0);
	T_EQ(rig->port[2].count, 0);
	T_EQ(fabric_port_counters(rig->port[1].port)->filtered, 2);
	rig_destroy(rig);
}

/* A NIC's own QPs: RoCE comes back to the RDMA end, and only where that end sent it. */
static void hairpin_on_a_split(void)
{
	struct fabric_split *split;
	struct rig *rig = create(NULL, &split);

	rig_teach(rig);
	fabric_port_set_hairpin(rig->port[1].port, true);
	T_TRUE(rig_send(rig, 1, 1, RIG_ROCE_IPV4, 100, 5));
	T_TRUE(rig_send(rig, 2, 2, RIG_ROCE_IPV4, 100, 6));
	rig_run(rig, 0);
	T_EQ(rig->port[1].count, 1);
	T_EQ(rig->port[1].log[0].tag, 5);
	T_EQ(rig->port[2].count, 0);
	rig_destroy(rig);
}

/* One line behind both ends: 8 us a frame at 1 Gb/s, whichever end it is for. */
static void ends_share_the_line(void)
{
	static const struct fabric_config config = {.rate_bps = 1000000000};
	struct fabric_split *split;
	struct rig *rig = create(&config, &split);

	rig_teach(rig);
	rig_run(rig, 1000000);
	rig->port[1].count = rig->port[2].count = 0;
	T_TRUE(rig_send(rig, 0, 1, RIG_ROCE_IPV4, 976, 0));
	T_TRUE(rig_send(rig, 0, 1, RIG_OTHER, 976, 0));
	T_TRUE(rig_send(rig, 0, 1, RIG_ROCE_IPV4, 976, 0));
	rig_run(rig, 2000000);
	T_EQ(rig->port[1].log[0].time, 1008000);
	T_EQ(rig->port[2].log[0].time, 1016000);
	T_EQ(rig->port[1].log[1].time, 1024000);
	T_TRUE(fabric_port_counters(rig->port[1].port) == fabric_port_counters(rig->port[2].port));
	rig_destroy(rig);
}

/* A host that does not read must not hold up RDMA. */
static void ends_pause_alone(void)
{
	struct fabric_split *split;
	struct rig *rig = create(NULL, &split);

	rig_teach(rig);
	fabric_port_pause(rig->port[2].port, 0, true);
	T_TRUE(rig_send(rig, 0, 1, RIG_OTHER, 60, 0));
	T_TRUE(rig_send(rig, 0, 1, RIG_ROCE_IPV4, 60, 0));
	rig_run(rig, 0);
	T_EQ(rig->port[1].count, 1);
	T_EQ(rig->port[2].count, 0);
	rig_destroy(rig);
}

static void missing_ends_drop(void)
{
	struct rig *rig = rig_create(NULL, 1);
	struct fabric_split *split;

	T_EQ(fabric_split_add(rig->fabric, "nic0", &split), 0);
	rig->port[1].port = fabric_split_roce(split, &rig_port_ops, &rig->port[1]);
	T_TRUE(rig->port[1].port != NULL);
	T_TRUE(!fabric_split_roce(split, &rig_port_ops, &rig->port[1]));
	rig_teach(rig);
	T_TRUE(rig_send(rig, 0, 1, RIG_OTHER, 60, 0));
	rig_run(rig, 0);
	T_EQ(rig->port[1].count, 0);
	/* The lesson's broadcast and this one. */
	T_EQ(fabric_port_counters(rig->port[1].port)->drop_no_end, 2);
	rig_destroy(rig);
}

static void splits_leave(void)
{
	struct fabric_split *split;
	struct rig *rig = create(NULL, &split);

	rig_teach(rig);
	T_TRUE(rig_send(rig, 0, 1, RIG_ROCE_IPV4, 60, 0));
	T_TRUE(rig_send(rig, 1, 0, RIG_ROCE_IPV4, 60, 0));
	fabric_split_remove(split);
	rig_run(rig, 0);
	T_EQ(rig->port[0].count, 1);
	T_EQ(rig->port[1].count, 0);
	fabric_split_remove(NULL);
	fabric_port_remove(NULL);
	rig_destroy(rig);
}

T_MAIN("fabric_port", T_CASE(demultiplexes), T_CASE(ends_do_not_hear_each_other),
       T_CASE(hairpin_on_a_split), T_CASE(ends_share_the_line), T_CASE(ends_pause_alone),
       T_CASE(missing_ends_drop), T_CASE(splits_leave), )
