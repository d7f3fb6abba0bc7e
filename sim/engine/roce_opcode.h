/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * BTH opcodes: what each is and which headers it carries. Owns the opcode table and the order and
 * sizes of the headers; knows nothing of their fields (roce_hdr.h) or of frames (roce_frame.h).
 *
 * "IBTA x.y.z" is the InfiniBand Architecture Specification, volume 1; "A17" its annex 17.
 */
#ifndef ANYNIC_SIM_ENGINE_ROCE_OPCODE_H
#define ANYNIC_SIM_ENGINE_ROCE_OPCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Headers that may follow the BTH, with their bytes, in the order in which they stand in a packet
 * (IBTA 9.3). A packet's headers are a set of these, so where one begins is the sum of the sizes
 * of those before it in the set: no offset is written by hand. `arg` is handed on to each row.
 *
 * RESV is the 16 reserved bytes of a CNP (A17.9.3), here a header so that a CNP has no payload.
 */
#define ROCE_HEADERS(X, arg)      \
	X(DETH, 8, arg)           \
	X(RETH, 16, arg)          \
	X(ATOMIC_ETH, 28, arg)    \
	X(AETH, 4, arg)           \
	X(ATOMIC_ACK_ETH, 8, arg) \
	X(IMM, 4, arg)            \
	X(IETH, 4, arg)           \
	X(RESV, 16, arg)

enum roce_header {
#define X(name, bytes, arg) ROCE_HDR_##name,
	ROCE_HEADERS(X, 0)
#undef X
		ROCE_HDR_COUNT
};

/* Header sets of the table below. */
#define ROCE_H0	      0
#define ROCE_H1(a)    (1u << ROCE_HDR_##a)
#define ROCE_H2(a, b) (ROCE_H1(a) | ROCE_H1(b))

enum { ROCE_BTH_BYTES = 12, ROCE_ICRC_BYTES = 4, ROCE_MAX_HEADERS_BYTES = 28 };

/* Transport service. */
enum roce_service {
	ROCE_SERVICE_RC,
	ROCE_SERVICE_UC,
	ROCE_SERVICE_UD,
	ROCE_SERVICE_CNP,
	ROCE_SERVICE_COUNT
};

/* What a packet is part of. */
enum roce_op_kind {
	ROCE_KIND_SEND,
	ROCE_KIND_WRITE,
	ROCE_KIND_READ_REQUEST,
	ROCE_KIND_CMP_SWAP,
	ROCE_KIND_FETCH_ADD,
	ROCE_KIND_READ_RESPONSE,
	ROCE_KIND_ACK,
	ROCE_KIND_ATOMIC_ACK,
	ROCE_KIND_CNP,
	ROCE_KIND_COUNT
};

/* Place of a packet in its message. */
enum roce_op_position {
	ROCE_POSITION_FIRST,
	ROCE_POSITION_MIDDLE,
	ROCE_POSITION_LAST,
	ROCE_POSITION_ONLY,
	ROCE_POSITION_COUNT
};

/* service, name, code, kind, position, headers (IBTA table 38; CNP A17.9.3). */
#define ROCE_OPCODES(X)                                                          \
	X(RC, SEND_FIRST, 0x00, SEND, FIRST, ROCE_H0)                            \
	X(RC, SEND_MIDDLE, 0x01, SEND, MIDDLE, ROCE_H0)                          \
	X(RC, SEND_LAST, 0x02, SEND, LAST, ROCE_H0)                              \
	X(RC, SEND_LAST_IMM, 0x03, SEND, LAST, ROCE_H1(IMM))                     \
	X(RC, SEND_ONLY, 0x04, SEND, ONLY, ROCE_H0)                              \
	X(RC, SEND_ONLY_IMM, 0x05, SEND, ONLY, ROCE_H1(IMM))                     \
	X(RC, WRITE_FIRST, 0x06, WRITE, FIRST, ROCE_H1(RETH))                    \
	X(RC, WRITE_MIDDLE, 0x07, WRITE, MIDDLE, ROCE_H0)                        \
	X(RC, WRITE_LAST, 0x08, WRITE, LAST, ROCE_H0)                            \
	X(RC, WRITE_LAST_IMM, 0x09, WRITE, LAST, ROCE_H1(IMM))                   \
	X(RC, WRITE_ONLY, 0x0a, WRITE, ONLY, ROCE_H1(RETH))                      \
	X(RC, WRITE_ONLY_IMM, 0x0b, WRITE, ONLY, ROCE_H2(RETH, IMM))             \
	X(RC, READ_REQUEST, 0x0c, READ_REQUEST, ONLY, ROCE_H1(RETH))             \
	X(RC, READ_RESPONSE_FIRST, 0x0d, READ_RESPONSE, FIRST, ROCE_H1(AETH))    \
	X(RC, READ_RESPONSE_MIDDLE, 0x0e, READ_RESPONSE, MIDDLE, ROCE_H0)        \
	X(RC, READ_RESPONSE_LAST, 0x0f, READ_RESPONSE, LAST, ROCE_H1(AETH))      \
	X(RC, READ_RESPONSE_ONLY, 0x10, READ_RESPONSE, ONLY, ROCE_H1(AETH))      \
	X(RC, ACK, 0x11, ACK, ONLY, ROCE_H1(AETH))                               \
	X(RC, ATOMIC_ACK, 0x12, ATOMIC_ACK, ONLY, ROCE_H2(AETH, ATOMIC_ACK_ETH)) \
	X(RC, CMP_SWAP, 0x13, CMP_SWAP, ONLY, ROCE_H1(ATOMIC_ETH))               \
	X(RC, FETCH_ADD, 0x14, FETCH_ADD, ONLY, ROCE_H1(ATOMIC_ETH))             \
	X(RC, SEND_LAST_INV, 0x16, SEND, LAST, ROCE_H1(IETH))                    \
	X(RC, SEND_ONLY_INV, 0x17, SEND, ONLY, ROCE_H1(IETH))                    \
	X(UC, SEND_FIRST, 0x20, SEND, FIRST, ROCE_H0)                            \
	X(UC, SEND_MIDDLE, 0x21, SEND, MIDDLE, ROCE_H0)                          \
	X(UC, SEND_LAST, 0x22, SEND, LAST, ROCE_H0)                              \
	X(UC, SEND_LAST_IMM, 0x23, SEND, LAST, ROCE_H1(IMM))                     \
	X(UC, SEND_ONLY, 0x24, SEND, ONLY, ROCE_H0)                              \
	X(UC, SEND_ONLY_IMM, 0x25, SEND, ONLY, ROCE_H1(IMM))                     \
	X(UC, WRITE_FIRST, 0x26, WRITE, FIRST, ROCE_H1(RETH))                    \
	X(UC, WRITE_MIDDLE, 0x27, WRITE, MIDDLE, ROCE_H0)                        \
	X(UC, WRITE_LAST, 0x28, WRITE, LAST, ROCE_H0)                            \
	X(UC, WRITE_LAST_IMM, 0x29, WRITE, LAST, ROCE_H1(IMM))                   \
	X(UC, WRITE_ONLY, 0x2a, WRITE, ONLY, ROCE_H1(RETH))                      \
	X(UC, WRITE_ONLY_IMM, 0x2b, WRITE, ONLY, ROCE_H2(RETH, IMM))             \
	X(UD, SEND_ONLY, 0x64, SEND, ONLY, ROCE_H1(DETH))                        \
	X(UD, SEND_ONLY_IMM, 0x65, SEND, ONLY, ROCE_H2(DETH, IMM))               \
	X(CNP, CNP, 0x81, CNP, ONLY, ROCE_H1(RESV))

enum roce_opcode {
#define X(service, name, code, kind, position, headers) ROCE_OP_##service##_##name = (code),
	ROCE_OPCODES(X)
#undef X
};

/* A row of the table. Ask through the functions below where there is one. */
struct roce_op {
	const char *name; /* "RC_SEND_FIRST", NULL: no such opcode */
	uint8_t code;
	enum roce_service service;
	enum roce_op_kind kind;
	enum roce_op_position position;
	uint8_t headers; /* bit set of enum roce_header */
	uint8_t length;	 /* of the BTH and all headers: where the payload begins */
};

extern const struct roce_op roce_ops[256];
extern const uint8_t roce_header_bytes[ROCE_HDR_COUNT];

/* NULL for an opcode that is reserved or of a service that RoCE does not carry here. */
static inline const struct roce_op *roce_op_find(uint8_t code)
{
	return roce_ops[code].name ? &roce_ops[code] : NULL;
}

/* What ends a message beside its payload. */
enum roce_op_tail { ROCE_TAIL_NONE, ROCE_TAIL_IMM, ROCE_TAIL_INV, ROCE_TAIL_COUNT };

/*
 * The opcode for a part of a message. The tail is only looked at where the packet ends a message.
 * NULL: there is none, for instance UC with invalidate.
 */
const struct roce_op *roce_op_pick(enum roce_service service, enum roce_op_kind kind,
				   enum roce_op_position position, enum roce_op_tail tail);

static inline bool roce_op_has(const struct roce_op *op, enum roce_header header)
{
	return op->headers & 1u << header;
}

/* FIRST or ONLY. */
static inline bool roce_op_starts(const struct roce_op *op)
{
	return op->position == ROCE_POSITION_FIRST || op->position == ROCE_POSITION_ONLY;
}

/* LAST or ONLY. */
static inline bool roce_op_ends(const struct roce_op *op)
{
	return op->position == ROCE_POSITION_LAST || op->position == ROCE_POSITION_ONLY;
}

/* Goes to the responder; else to the requester (CNP: to neither). */
static inline bool roce_op_is_request(const struct roce_op *op)
{
	return op->kind <= ROCE_KIND_FETCH_ADD;
}

static inline bool roce_op_is_response(const struct roce_op *op)
{
	return op->kind >= ROCE_KIND_READ_RESPONSE && op->kind <= ROCE_KIND_ATOMIC_ACK;
}

/* May carry a payload. */
static inline bool roce_op_has_payload(const struct roce_op *op)
{
	return op->kind == ROCE_KIND_SEND || op->kind == ROCE_KIND_WRITE ||
	       op->kind == ROCE_KIND_READ_RESPONSE;
}

#endif
