/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* BTH opcodes: the table, spelled out by its rows. Knows nothing of packets in memory. */
#include "sim/engine/roce_opcode.h"

#define ADD_BYTES(name, bytes, set) +((set)&ROCE_H1(name) ? (bytes) : 0)
#define LENGTH_OF(set)		    (ROCE_BTH_BYTES ROCE_HEADERS(ADD_BYTES, set))

#define CHECK_LENGTH(service, name, code, kind, position, headers) \
	_Static_assert(LENGTH_OF(headers) <= ROCE_BTH_BYTES + ROCE_MAX_HEADERS_BYTES, #name);
ROCE_OPCODES(CHECK_LENGTH)

const uint8_t roce_header_bytes[ROCE_HDR_COUNT] = {
#define X(header, bytes, arg) [ROCE_HDR_##header] = (bytes),
	ROCE_HEADERS(X, 0)
#undef X
};

const struct roce_op roce_ops[256] = {
#define X(service_, name_, code_, kind_, position_, headers_) \
	[code_] = {                                           \
		.name = #service_ "_" #name_,                 \
		.code = (code_),                              \
		.service = ROCE_SERVICE_##service_,           \
		.kind = ROCE_KIND_##kind_,                    \
		.position = ROCE_POSITION_##position_,        \
		.headers = (headers_),                        \
		.length = LENGTH_OF(headers_),                \
	},
	ROCE_OPCODES(X)
#undef X
};

#define TAIL_OF(set) ((set)&ROCE_H1(IMM) ? ROCE_TAIL_IMM : (set)&ROCE_H1(IETH) ? ROCE_TAIL_INV : 0)

/* Cells that no row fills hold 0, RC_SEND_FIRST: roce_op_pick() sees that it does not fit. */
static const uint8_t codes[ROCE_SERVICE_COUNT][ROCE_KIND_COUNT][ROCE_POSITION_COUNT]
			  [ROCE_TAIL_COUNT] = {
#define X(service, name, code, kind, position, headers)                                          \
	[ROCE_SERVICE_##service][ROCE_KIND_##kind][ROCE_POSITION_##position][TAIL_OF(headers)] = \
		(code),
				  ROCE_OPCODES(X)
#undef X
};

const struct roce_op *roce_op_pick(enum roce_service service, enum roce_op_kind kind,
				   enum roce_op_position position, enum roce_op_tail tail)
{
	const struct roce_op *op;

	if (position == ROCE_POSITION_FIRST || position == ROCE_POSITION_MIDDLE)
		tail = ROCE_TAIL_NONE;
	op = &roce_ops[codes[service][kind][position][tail]];
	if (op->service != service || op->kind != kind || op->position != position)
		return NULL;
	return op;
}
