/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The opcode table against IBTA table 38, written out a second time by hand. */
#include "sim/engine/roce_opcode.h"
#include "tests/lib/t.h"

#include <string.h>

/* code, name, bytes before the payload, starts a message, ends it, request, may have payload */
static const struct {
	uint8_t code;
	const char *name;
	uint8_t length;
	bool starts, ends, request, payload;
} rows[] = {
	{0x00, "RC_SEND_FIRST", 12, 1, 0, 1, 1},
	{0x01, "RC_SEND_MIDDLE", 12, 0, 0, 1, 1},
	{0x02, "RC_SEND_LAST", 12, 0, 1, 1, 1},
	{0x03, "RC_SEND_LAST_IMM", 16, 0, 1, 1, 1},
	{0x04, "RC_SEND_ONLY", 12, 1, 1, 1, 1},
	{0x05, "RC_SEND_ONLY_IMM", 16, 1, 1, 1, 1},
	{0x06, "RC_WRITE_FIRST", 28, 1, 0, 1, 1},
	{0x07, "RC_WRITE_MIDDLE", 12, 0, 0, 1, 1},
	{0x08, "RC_WRITE_LAST", 12, 0, 1, 1, 1},
	{0x09, "RC_WRITE_LAST_IMM", 16, 0, 1, 1, 1},
	{0x0a, "RC_WRITE_ONLY", 28, 1, 1, 1, 1},
	{0x0b, "RC_WRITE_ONLY_IMM", 32, 1, 1, 1, 1},
	{0x0c, "RC_READ_REQUEST", 28, 1, 1, 1, 0},
	{0x0d, "RC_READ_RESPONSE_FIRST", 16, 1, 0, 0, 1},
	{0x0e, "RC_READ_RESPONSE_MIDDLE", 12, 0, 0, 0, 1},
	{0x0f, "RC_READ_RESPONSE_LAST", 16, 0, 1, 0, 1},
	{0x10, "RC_READ_RESPONSE_ONLY", 16, 1, 1, 0, 1},
	{0x11, "RC_ACK", 16, 1, 1, 0, 0},
	{0x12, "RC_ATOMIC_ACK", 24, 1, 1, 0, 0},
	{0x13, "RC_CMP_SWAP", 40, 1, 1, 1, 0},
	{0x14, "RC_FETCH_ADD", 40, 1, 1, 1, 0},
	{0x16, "RC_SEND_LAST_INV", 16, 0, 1, 1, 1},
	{0x17, "RC_SEND_ONLY_INV", 16, 1, 1, 1, 1},
	{0x20, "UC_SEND_FIRST", 12, 1, 0, 1, 1},
	{0x21, "UC_SEND_MIDDLE", 12, 0, 0, 1, 1},
	{0x22, "UC_SEND_LAST", 12, 0, 1, 1, 1},
	{0x23, "UC_SEND_LAST_IMM", 16, 0, 1, 1, 1},
	{0x24, "UC_SEND_ONLY", 12, 1, 1, 1, 1},
	{0x25, "UC_SEND_ONLY_IMM", 16, 1, 1, 1, 1},
	{0x26, "UC_WRITE_FIRST", 28, 1, 0, 1, 1},
	{0x27, "UC_WRITE_MIDDLE", 12, 0, 0, 1, 1},
	{0x28, "UC_WRITE_LAST", 12, 0, 1, 1, 1},
	{0x29, "UC_WRITE_LAST_IMM", 16, 0, 1, 1, 1},
	{0x2a, "UC_WRITE_ONLY", 28, 1, 1, 1, 1},
	{0x2b, "UC_WRITE_ONLY_IMM", 32, 1, 1, 1, 1},
	{0x64, "UD_SEND_ONLY", 20, 1, 1, 1, 1},
	{0x65, "UD_SEND_ONLY_IMM", 24, 1, 1, 1, 1},
	{0x81, "CNP_CNP", 28, 1, 1, 0, 0},
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static void table_is_the_specification(void)
{
	const struct roce_op *op;
	size_t i;

	for (i = 0; i < ROWS; i++) {
		op = roce_op_find(rows[i].code);
		if (!T_TRUE_ROW(rows[i].name, op != NULL))
			continue;
		T_TRUE_ROW(rows[i].name, !strcmp(op->name, rows[i].name));
		T_EQ_ROW(rows[i].name, op->code, rows[i].code);
		T_EQ_ROW(rows[i].name, op->length, rows[i].length);
		T_EQ_ROW(rows[i].name, roce_op_starts(op), rows[i].starts);
		T_EQ_ROW(rows[i].name, roce_op_ends(op), rows[i].ends);
		T_EQ_ROW(rows[i].name, roce_op_is_request(op), rows[i].request);
		T_EQ_ROW(rows[i].name, roce_op_has_payload(op), rows[i].payload);
	}
}

static void other_codes_are_unknown(void)
{
	unsigned int code, known = 0;

	for (code = 0; code < 256; code++)
		known += roce_op_find((uint8_t)code) != NULL;
	T_EQ(known, ROWS);
}

/* Each packet of a message can be asked for, and gives back its own row. */
static void pick_finds_every_row(void)
{
	const struct roce_op *op;
	enum roce_op_tail tail;
	size_t i;

	for (i = 0; i < ROWS; i++) {
		op = roce_op_find(rows[i].code);
		tail = ROCE_TAIL_NONE;
		if (roce_op_has(op, ROCE_HDR_IMM))
			tail = ROCE_TAIL_IMM;
		if (roce_op_has(op, ROCE_HDR_IETH))
			tail = ROCE_TAIL_INV;
		T_TRUE_ROW(op->name, roce_op_pick(op->service, op->kind, op->position, tail) == op);
	}
}

static void pick_knows_what_does_not_exist(void)
{
	static const struct {
		const char *name;
		enum roce_service service;
		enum roce_op_kind kind;
		enum roce_op_position position;
		enum roce_op_tail tail;
		int code;
	} picks[] = {
		{"tail of a first", ROCE_SERVICE_RC, ROCE_KIND_WRITE, ROCE_POSITION_FIRST,
		 ROCE_TAIL_IMM, 0x06},
		{"tail of a middle", ROCE_SERVICE_UC, ROCE_KIND_SEND, ROCE_POSITION_MIDDLE,
		 ROCE_TAIL_IMM, 0x21},
		{"RC SEND FIRST, the row of 0", ROCE_SERVICE_RC, ROCE_KIND_SEND,
		 ROCE_POSITION_FIRST, ROCE_TAIL_INV, 0x00},
		{"UC invalidate", ROCE_SERVICE_UC, ROCE_KIND_SEND, ROCE_POSITION_ONLY,
		 ROCE_TAIL_INV, -1},
		{"WRITE invalidate", ROCE_SERVICE_RC, ROCE_KIND_WRITE, ROCE_POSITION_LAST,
		 ROCE_TAIL_INV, -1},
		{"UC READ", ROCE_SERVICE_UC, ROCE_KIND_READ_REQUEST, ROCE_POSITION_ONLY,
		 ROCE_TAIL_NONE, -1},
		{"UD SEND FIRST", ROCE_SERVICE_UD, ROCE_KIND_SEND, ROCE_POSITION_FIRST,
		 ROCE_TAIL_NONE, -1},
		{"READ with immediate", ROCE_SERVICE_RC, ROCE_KIND_READ_REQUEST, ROCE_POSITION_ONLY,
		 ROCE_TAIL_IMM, -1},
		{"CNP LAST", ROCE_SERVICE_CNP, ROCE_KIND_CNP, ROCE_POSITION_LAST, ROCE_TAIL_NONE,
		 -1},
	};
	const struct roce_op *op;
	size_t i;

	for (i = 0; i < sizeof(picks) / sizeof(picks[0]); i++) {
		op = roce_op_pick(picks[i].service, picks[i].kind, picks[i].position,
				  picks[i].tail);
		T_EQ_ROW(picks[i].name, op ? op->code : -1, picks[i].code);
	}
}

T_MAIN("roce_opcode", T_CASE(table_is_the_specification), T_CASE(other_codes_are_unknown),
       T_CASE(pick_finds_every_row), T_CASE(pick_knows_what_does_not_exist), )
