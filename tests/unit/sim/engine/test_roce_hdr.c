/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Header fields: each reads and writes its own bits of a header and no others. */
#include "sim/engine/roce_hdr.h"
#include "tests/lib/t.h"

/* The field of a header in which each byte holds its offset plus 0x81. */
static void fields_lie_where_the_specification_says(void)
{
	static const struct {
		const char *name;
		struct roce_field field;
		uint32_t want;
	} rows[] = {
		{"BTH opcode", {0, 31, 24}, 0x81},  {"BTH SE", {0, 23, 23}, 1},
		{"BTH P_Key", {0, 15, 0}, 0x8384},  {"BTH FECN", {1, 31, 31}, 1},
		{"BTH DQPN", {1, 23, 0}, 0x868788}, {"BTH AckReq", {2, 31, 31}, 1},
		{"BTH PSN", {2, 23, 0}, 0x8a8b8c},  {"RETH R_Key", {2, 31, 0}, 0x898a8b8c},
		{"AETH MSN", {0, 23, 0}, 0x828384},
	};
	uint8_t header[16];
	size_t i;

	for (i = 0; i < sizeof(header); i++)
		header[i] = (uint8_t)(0x81 + i);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		T_EQ_ROW(rows[i].name, roce_get(header, rows[i].field), rows[i].want);
	T_EQ(roce_get(header, ROCE_BTH_OPCODE), 0x81);
	T_EQ(roce_get(header, ROCE_BTH_PAD), 0);
	T_EQ(roce_get(header, ROCE_BTH_TVER), 2);
	T_EQ(roce_get(header, ROCE_BTH_PKEY), 0x8384);
	T_EQ(roce_get(header, ROCE_BTH_DQPN), 0x868788);
	T_EQ(roce_get(header, ROCE_BTH_PSN), 0x8a8b8c);
	T_EQ(roce_get(header, ROCE_AETH_SYNDROME), 0x81);
	T_EQ(roce_get(header, ROCE_IP6_FLOW_LABEL), 0x28384);
	T_EQ(roce_get(header, ROCE_IP6_TRAFFIC_CLASS), 0x18);
}

static void values_are_cut_to_the_field(void)
{
	T_EQ(roce_prep(ROCE_BTH_PAD, 7), 3 << 20);
	T_EQ(roce_prep(ROCE_BTH_PSN, 0x1ffffff), 0xffffff);
	T_EQ(roce_prep(ROCE_BTH_OPCODE, 0x181), 0x81000000);
	T_EQ(roce_prep(ROCE_BTH_ACK_REQ, 2), 0);
	T_EQ(roce_prep(ROCE_RETH_RKEY, UINT32_MAX), UINT32_MAX);
}

static void words_are_big_endian(void)
{
	static const uint8_t want[8] = {1, 2, 3, 4, 5, 6, 7, 8};
	uint8_t got[8];

	roce_store64(got, 0x0102030405060708);
	T_BYTES(got, want, 8);
	T_EQ(roce_load64(want), 0x0102030405060708);
	T_EQ(roce_load32(want + 1), 0x02030405);
	T_EQ(roce_load16(want + 6), 0x0708);
}

T_MAIN("roce_hdr", T_CASE(fields_lie_where_the_specification_says),
       T_CASE(values_are_cut_to_the_field), T_CASE(words_are_big_endian), )
