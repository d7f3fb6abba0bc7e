/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What a device and its port say of themselves: the firmware version, and the MTU
 * that a netdev leaves to RoCE. Owns the rows of field case C1 that belong to a
 * provider.
 */
#include <errno.h>

#include "tests/unit/userlib/fixture.h"

static void device(void)
{
	struct ibv_context *context = fixture_device();
	struct ibv_device_attr_ex extended;
	struct ibv_device_attr attr;

	T_NEED(context);
	T_EQ(ibv_query_device(context, &attr), 0);
	T_TRUE_ROW(attr.fw_ver, attr.fw_ver[0] == '1' && attr.fw_ver[2] == '2');
	T_EQ(attr.max_qp, 1023);
	T_EQ(ibv_query_device_ex(context, NULL, &extended), 0);
	T_EQ(extended.orig_attr.max_qp_wr, 8192);
	ibv_close_device(context);
}

/*
 * Linux iboe_get_mtu(): 96 bytes of headers. The driver itself offers the netdev's
 * MTU as it is, rounded down.
 */
static void mtu_of_the_netdev(void)
{
	static const struct {
		const char *name;
		unsigned int netdev;
		enum ibv_mtu driver, want;
	} rows[] = {
		{"1500", 1500, IBV_MTU_1024, IBV_MTU_1024},
		{"4096", 4096, IBV_MTU_4096, IBV_MTU_2048},
		{"4191", 4191, IBV_MTU_4096, IBV_MTU_2048},
		{"4192", 4192, IBV_MTU_4096, IBV_MTU_4096},
		{"9000", 9000, IBV_MTU_4096, IBV_MTU_4096},
		{"2048", 2048, IBV_MTU_2048, IBV_MTU_1024},
		{"576", 576, IBV_MTU_512, IBV_MTU_256},
		{"never raised", 9000, IBV_MTU_512, IBV_MTU_512},
	};
	struct ibv_context *context = fixture_device();
	struct ibv_port_attr port;
	size_t i;

	T_NEED(context);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		nk_set_netdev_mtu(rows[i].netdev);
		nk.active_mtu = rows[i].driver;
		T_EQ_ROW(rows[i].name, ibv_query_port(context, 1, &port), 0);
		T_EQ_ROW(rows[i].name, port.active_mtu, rows[i].want);
		T_EQ_ROW(rows[i].name, port.max_mtu, IBV_MTU_4096);
	}
	/* Nonsense in the tree changes nothing. */
	nk.active_mtu = IBV_MTU_4096;
	nk_put_file("class/net/eth9/mtu", "none\n");
	T_EQ(ibv_query_port(context, 1, &port), 0);
	T_EQ(port.active_mtu, IBV_MTU_4096);
	T_TRUE(ibv_query_port(context, 2, &port) != 0);
	ibv_close_device(context);
}

T_MAIN("provider_query", T_CASE(device), T_CASE(mtu_of_the_netdev), )
