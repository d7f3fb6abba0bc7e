/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * erdma: the hardware interface, read by the user half, the simulator and the
 * tests. Owns every number and layout of it. Knows no libibverbs, no kernel and
 * no simulator: only <linux/types.h> and the field kit.
 *
 * Facts are from Linux drivers/infiniband/hw/erdma (7.3, RoCE v2 device) and
 * rdma-core providers/erdma. Where those leave a thing open, the comment says
 * "inferred". Offsets in comments are bytes from the start of the structure.
 *
 * Byte order: registers, doorbells, requests, SQEs and EQEs are little endian;
 * CQEs are big endian, except for their immediate.
 *
 * Order: ids and BARs - registers - doorbells - queue entries - commands (in
 * erdma_hw_cmd.h, for their number) - status codes.
 */
#ifndef ANYNIC_PROVIDERS_ERDMA_HW_H
#define ANYNIC_PROVIDERS_ERDMA_HW_H

#include <linux/types.h>

#include "providers/common/field.h"
#include "providers/common/ids.h"

/* ---- ids and BARs ---- */

#define ERDMA_PCI_VENDOR NIC_PCI_VENDOR_ALIBABA
#define ERDMA_PCI_DEVICE 0x107f

/*
 * The driver insists on exactly these two memory BARs, both 64-bit. BAR 2 holds
 * nothing but the MSI-X table and its pending bits.
 */
#define ERDMA_BAR_REGS	     0
#define ERDMA_BAR_MSIX	     2
#define ERDMA_BAR_REGS_BYTES 0x100000 /* 0x80000 is enough without ERDMA_CAP_EXTEND_DB */
#define ERDMA_BAR_MSIX_BYTES 0x2000
#define ERDMA_MSIX_TABLE     0x0000
#define ERDMA_MSIX_PBA	     0x1000

/*
 * Vector 0 serves the command queue and asynchronous events, vector n the event
 * queue n. The driver takes min(CPUs + 1, 32); with one vector the device has no
 * completion vector, and no application can create a CQ.
 */
#define ERDMA_MSIX_VECTORS   32
#define ERDMA_MSIX_VECTOR_EQ 1 /* first of the completion event queues */

#define ERDMA_PAGE_SHIFT 12 /* of queue buffers and doorbell pages */
#define ERDMA_PAGE_SIZE	 (1 << ERDMA_PAGE_SHIFT)

/* ---- registers (BAR 0) ---- */

/* 32 bits wide, except for the *_DBREC ones: those take one 64-bit write. */
enum erdma_reg {
	ERDMA_REG_VERSION = 0x00,  /* read first; 0 makes the driver give up silently */
	ERDMA_REG_PROTOCOL = 0x0c, /* enum erdma_protocol */
	ERDMA_REG_CONTROL = 0x10,  /* enum erdma_control */
	ERDMA_REG_STATE = 0x14,	   /* enum erdma_state; polled every 20 ms for 10 s */
	ERDMA_REG_MAC_LOW = 0x18,  /* bytes 2..5 of the MAC address, byte 2 highest */
	ERDMA_REG_MAC_HIGH = 0x1c, /* bytes 0..1, byte 0 in bits 15:8 */

	/* Command queue: SQ, CQ and EQ share the slots; addresses are bus addresses. */
	ERDMA_REG_CMD_SQ_ADDR_LOW = 0x20,
	ERDMA_REG_CMD_SQ_ADDR_HIGH = 0x24,
	ERDMA_REG_CMD_CQ_ADDR_LOW = 0x28,
	ERDMA_REG_CMD_CQ_ADDR_HIGH = 0x2c,
	ERDMA_REG_CMD_SQ_DEPTH = 0x30, /* 32-byte blocks; also the depth of the CQ */
	ERDMA_REG_CMD_EQ_DEPTH = 0x34, /* entries */
	ERDMA_REG_CMD_EQ_ADDR_LOW = 0x38,
	ERDMA_REG_CMD_EQ_ADDR_HIGH = 0x3c,

	/* Asynchronous event queue */
	ERDMA_REG_AEQ_ADDR_LOW = 0x40,
	ERDMA_REG_AEQ_ADDR_HIGH = 0x44,
	ERDMA_REG_AEQ_DEPTH = 0x48, /* entries */
	ERDMA_REG_AEQ_DB = 0x50,    /* struct erdma_eq_db */

	/* Where the driver keeps its copy of the doorbell value, 8 bytes each */
	ERDMA_REG_CMD_SQ_DBREC = 0x60,
	ERDMA_REG_CMD_CQ_DBREC = 0x68,
	ERDMA_REG_CMD_EQ_DBREC = 0x70,
	ERDMA_REG_AEQ_DBREC = 0x78,

	/* Doorbells: one 8-byte write each */
	ERDMA_REG_EQ_DB = 0x100, /* struct erdma_eq_db, EQ n at + 8 n; 0 is the command EQ */
	ERDMA_REG_CMD_SQ_DB = 0x200,
	ERDMA_REG_CMD_CQ_DB = 0x300,
};

enum erdma_protocol {
	ERDMA_PROTOCOL_IWARP = 0,
	ERDMA_PROTOCOL_ROCEV2 = 1,
};

/*
 * Written one at a time. INIT comes after the queue registers; RESET comes at
 * removal and after a failed probe, and a new INIT has to work after it.
 */
enum erdma_control {
	ERDMA_CONTROL_RESET = 1 << 0,
	ERDMA_CONTROL_INIT = 1 << 1,
};

enum erdma_state {
	ERDMA_STATE_RESET_DONE = 1 << 0,
	ERDMA_STATE_INIT_DONE = 1 << 1,
};

/* ---- doorbells ---- */

/*
 * Every doorbell is one 8-byte little-endian write, and the same 8 bytes go to
 * the queue's doorbell record in host memory first.
 *
 * Without ERDMA_CAP_EXTEND_DB all users share three areas of BAR 0; with it each
 * user context gets three pages of its own by ALLOC_DB. The kernel's own queues
 * always use the three addresses below.
 */
#define ERDMA_DB_SQ_BASE   0x01000 /* 384 KiB */
#define ERDMA_DB_RQ_BASE   0x61000 /* 96 KiB */
#define ERDMA_DB_CQ_BASE   0x79000
#define ERDMA_DB_SQ_KERNEL 0x5f000
#define ERDMA_DB_RQ_KERNEL ERDMA_DB_RQ_BASE
#define ERDMA_DB_CQ_KERNEL ERDMA_DB_CQ_BASE

/*
 * A queue's place within the page: number modulo slots. The driver maps the page
 * that it tells the NIC to be the CQ's as the RQ's and the other way round, so a
 * NIC tells the two by value: only a CQ doorbell has bit 31 set.
 */
#define ERDMA_DB_SQ_SLOTS      32
#define ERDMA_DB_SQ_SLOT_BYTES 128
#define ERDMA_DB_RQ_SLOTS      128
#define ERDMA_DB_RQ_SLOT_BYTES 32
#define ERDMA_DB_CQ_SLOTS      512
#define ERDMA_DB_CQ_SLOT_BYTES 8

/* A QP's records lie side by side: SQ, then RQ. */
#define ERDMA_DBREC_BYTES 8

struct erdma_sq_db {
	__le64 value;
};
_Static_assert(sizeof(struct erdma_sq_db) == 8, "erdma SQ doorbell");
#define ERDMA_SQ_DB_QPN NIC_FLE64(struct erdma_sq_db, value, 51, 32)
#define ERDMA_SQ_DB_PI	NIC_FLE64(struct erdma_sq_db, value, 15, 0) /* blocks, free running */

/* The first 8 bytes of the RQE just written: one doorbell a receive. */
struct erdma_rq_db {
	__le64 value;
};
_Static_assert(sizeof(struct erdma_rq_db) == 8, "erdma RQ doorbell");
#define ERDMA_RQ_DB_QPN NIC_FLE64(struct erdma_rq_db, value, 63, 32)
#define ERDMA_RQ_DB_PI	NIC_FLE64(struct erdma_rq_db, value, 15, 0) /* entries, free running */

/*
 * Rung to arm only; consuming CQEs rings nothing. COUNT grows by one with each
 * arming; EVENTS by one with each completion event taken, modulo 4.
 */
struct erdma_cq_db {
	__le64 value;
};
_Static_assert(sizeof(struct erdma_cq_db) == 8, "erdma CQ doorbell");
#define ERDMA_CQ_DB_COUNT     NIC_FLE64(struct erdma_cq_db, value, 63, 56)
#define ERDMA_CQ_DB_CQN	      NIC_FLE64(struct erdma_cq_db, value, 55, 32)
#define ERDMA_CQ_DB_ARM	      NIC_FLE64(struct erdma_cq_db, value, 31, 31)
#define ERDMA_CQ_DB_SOLICITED NIC_FLE64(struct erdma_cq_db, value, 30, 30)
#define ERDMA_CQ_DB_EVENTS    NIC_FLE64(struct erdma_cq_db, value, 29, 28)
#define ERDMA_CQ_DB_CI	      NIC_FLE64(struct erdma_cq_db, value, 23, 0)

/* EQs are armed from the start, and again by every doorbell. */
struct erdma_eq_db {
	__le64 value;
};
_Static_assert(sizeof(struct erdma_eq_db) == 8, "erdma EQ doorbell");
#define ERDMA_EQ_DB_ARM NIC_FLE64(struct erdma_eq_db, value, 31, 31)
#define ERDMA_EQ_DB_CI	NIC_FLE64(struct erdma_eq_db, value, 23, 0)

/* ---- queue entries: events ---- */

/*
 * Owner bits: a ring starts zeroed, and the NIC writes 1 on the first lap, 0 on
 * the second, and so on. An entry is new while its owner bit differs from the
 * bit of the consumer index just above the ring's depth.
 *
 *	lap 0          lap 1
 *	| 1 1 1 1 1 1 | 0 0 0 1 1 1 |
 *	               consumer ^ stops: owner 1, lap bit 1
 */
#define ERDMA_EQE_SHIFT	   4
#define ERDMA_EQE_BYTES	   (1 << ERDMA_EQE_SHIFT)
#define ERDMA_AEQ_DEPTH	   4096 /* what the driver asks for, CEQs too */
#define ERDMA_CMD_EQ_DEPTH 128

/* Completion event: a CQ that was armed has a new CQE. */
struct erdma_ceqe {
	__le64 hdr;
	__le64 rsvd;
};
_Static_assert(sizeof(struct erdma_ceqe) == 16, "erdma CEQE");
#define ERDMA_CEQE_DB	 NIC_FLE64(struct erdma_ceqe, hdr, 63, 63) /* inferred: not read */
#define ERDMA_CEQE_PI	 NIC_FLE64(struct erdma_ceqe, hdr, 55, 32) /* inferred: not read */
#define ERDMA_CEQE_OWNER NIC_FLE64(struct erdma_ceqe, hdr, 31, 31)
#define ERDMA_CEQE_CQN	 NIC_FLE64(struct erdma_ceqe, hdr, 19, 0)

struct erdma_aeqe {
	__le32 hdr;
	__le32 number; /* CQN for CQ_ERROR, else QPN */
	__le32 data;
	__le32 rsvd;
};
_Static_assert(sizeof(struct erdma_aeqe) == 16, "erdma AEQE");
#define ERDMA_AEQE_OWNER   NIC_FLE32(struct erdma_aeqe, hdr, 31, 31)
#define ERDMA_AEQE_TYPE	   NIC_FLE32(struct erdma_aeqe, hdr, 23, 16)
#define ERDMA_AEQE_SUBTYPE NIC_FLE32(struct erdma_aeqe, hdr, 7, 0)

/* X(name, type): the driver turns CQ_ERROR into a CQ error, the others into QP fatal. */
#define ERDMA_EVENTS(X)    \
	X(QP_FATAL, 0)     \
	X(QP_RQ_ERROR, 1)  \
	X(ACCESS_ERROR, 2) \
	X(CQ_ERROR, 3)     \
	X(OTHER, 4)

enum erdma_event {
#define ERDMA_EVENT_ENUM(name, type) ERDMA_EVENT_##name = (type),
	ERDMA_EVENTS(ERDMA_EVENT_ENUM)
#undef ERDMA_EVENT_ENUM
};

/* ---- queue entries: completions ---- */

#define ERDMA_CQE_SHIFT 5
#define ERDMA_CQE_BYTES (1 << ERDMA_CQE_SHIFT)

enum erdma_cqe_queue {
	ERDMA_CQE_QUEUE_SQ = 0,
	ERDMA_CQE_QUEUE_RQ = 1,
	ERDMA_CQE_QUEUE_CMD = 2,
};

/*
 * For the SQ the index is where the WQE starts, in blocks, free running. The
 * immediate is stored little endian: the SQE holds it in network order, the NIC
 * swaps it on the way, and the consumer swaps it back.
 */
struct erdma_cqe {
	__be32 hdr;
	__be32 wqe_index;
	__be32 qpn;
	union {
		__le32 immediate;   /* RECV_WRITE_IMM, RECV_SEND_IMM */
		__be32 invalidated; /* RECV_SEND_INV: the R_Key */
	};
	__be32 length;
	__be32 rsvd[2];
	__be32 ud; /* UD and GSI receives only */
};
_Static_assert(sizeof(struct erdma_cqe) == 32, "erdma CQE");
#define ERDMA_CQE_OWNER	 NIC_FBE32(struct erdma_cqe, hdr, 31, 31)
#define ERDMA_CQE_OPCODE NIC_FBE32(struct erdma_cqe, hdr, 23, 16)
#define ERDMA_CQE_QUEUE	 NIC_FBE32(struct erdma_cqe, hdr, 15, 8)
#define ERDMA_CQE_STATUS NIC_FBE32(struct erdma_cqe, hdr, 7, 0)
#define ERDMA_CQE_UD_V6	 NIC_FBE32(struct erdma_cqe, ud, 31, 31)
#define ERDMA_CQE_UD_SL	 NIC_FBE32(struct erdma_cqe, ud, 27, 20)
#define ERDMA_CQE_UD_QPN NIC_FBE32(struct erdma_cqe, ud, 19, 0)

/*
 * Completion of a command. OWNER, QUEUE (CMD) and STATUS stand in the same bits
 * as in struct erdma_cqe; status 0 is success, anything else is EIO to the driver.
 * The driver finds its waiter by the cookie in the request that sqe_index names.
 */
struct erdma_cmd_cqe {
	__be32 hdr;
	__be32 sqe_index; /* where the request starts, in blocks, free running */
	__be32 resp0_low;
	__be32 resp0_high;
	__be32 resp1_low;
	__be32 resp1_high;
	__be32 rsvd[2];
};
_Static_assert(sizeof(struct erdma_cmd_cqe) == 32, "erdma command CQE");

/* ---- queue entries: work requests ---- */

/*
 * The SQ is a ring of 32-byte blocks. A WQE takes 1 to 4 of them, may wrap at the
 * ring's end at any block boundary, and is always addressed by its first block.
 */
#define ERDMA_SQ_BLOCK_SHIFT 5
#define ERDMA_SQ_BLOCK_BYTES (1 << ERDMA_SQ_BLOCK_SHIFT)
#define ERDMA_SQE_BLOCKS_MAX 4
#define ERDMA_RQE_SHIFT	     5
#define ERDMA_RQE_BYTES	     (1 << ERDMA_RQE_SHIFT)

#define ERDMA_SEND_SGE_MAX 6
#define ERDMA_RECV_SGE_MAX 1
#define ERDMA_INLINE_MAX   96 /* 6 SGEs' worth; takes the SGEs' place */

/*
 * X(name, value, queue): SQ names are what a WQE says and its CQE repeats, RQ
 * names are what the CQE of a receive says. Not listed: 7, 8, 10 and 11, which
 * the driver reserves.
 */
#define ERDMA_OPCODES(X)         \
	X(WRITE, 0, SQ)          \
	X(READ, 1, SQ)           \
	X(SEND, 2, SQ)           \
	X(SEND_IMM, 3, SQ)       \
	X(RECV, 4, RQ)           \
	X(RECV_WRITE_IMM, 5, RQ) \
	X(RECV_SEND_INV, 6, RQ)  \
	X(WRITE_IMM, 9, SQ)      \
	X(RECV_SEND_IMM, 12, RQ) \
	X(SEND_INV, 13, SQ)      \
	X(REG_MR, 14, SQ)        \
	X(LOCAL_INV, 15, SQ)     \
	X(READ_INV, 16, SQ)      \
	X(CMP_SWAP, 17, SQ)      \
	X(FETCH_ADD, 18, SQ)

enum erdma_opcode {
#define ERDMA_OPCODE_ENUM(name, value, queue) ERDMA_OP_##name = (value),
	ERDMA_OPCODES(ERDMA_OPCODE_ENUM)
#undef ERDMA_OPCODE_ENUM
		ERDMA_OP_COUNT = 19,
};

struct erdma_sge {
	__le64 addr;
	__le32 length;
	__le32 key;
};
_Static_assert(sizeof(struct erdma_sge) == 16, "erdma SGE");

/* First 8 bytes of every WQE. */
struct erdma_sqe {
	__le64 hdr;
};
_Static_assert(sizeof(struct erdma_sqe) == 8, "erdma SQE header");
#define ERDMA_SQE_SGL	    NIC_FLE64(struct erdma_sqe, hdr, 63, 56) /* SGEs, or inline bytes */
#define ERDMA_SQE_BLOCKS    NIC_FLE64(struct erdma_sqe, hdr, 54, 52) /* blocks - 1 */
#define ERDMA_SQE_QPN	    NIC_FLE64(struct erdma_sqe, hdr, 51, 32)
#define ERDMA_SQE_OPCODE    NIC_FLE64(struct erdma_sqe, hdr, 31, 27)
#define ERDMA_SQE_DIRECT    NIC_FLE64(struct erdma_sqe, hdr, 26, 26) /* drivers leave it 0 */
#define ERDMA_SQE_INLINE    NIC_FLE64(struct erdma_sqe, hdr, 25, 25)
#define ERDMA_SQE_FENCE	    NIC_FLE64(struct erdma_sqe, hdr, 24, 24)
#define ERDMA_SQE_SOLICITED NIC_FLE64(struct erdma_sqe, hdr, 23, 23)
#define ERDMA_SQE_SIGNALED  NIC_FLE64(struct erdma_sqe, hdr, 22, 22)
#define ERDMA_SQE_END	    NIC_FLE64(struct erdma_sqe, hdr, 15, 0) /* index after the WQE */

/* WRITE, WRITE_IMM: SGEs or inline data follow at 32. */
struct erdma_sqe_write {
	struct erdma_sqe head;
	__be32 immediate;
	__le32 length;
	__le32 rkey;
	__le32 remote_low; /* the address in halves: it is not aligned to 8 */
	__le32 remote_high;
	__le32 rsvd;
};
_Static_assert(sizeof(struct erdma_sqe_write) == 32, "erdma write SQE");

/*
 * READ: one local piece only. SGL stays 0. READ_INV invalidates the local key
 * once the data is there.
 */
struct erdma_sqe_read {
	struct erdma_sqe head;
	__le32 invalidate; /* READ_INV only */
	__le32 length;
	__le32 lkey;
	__le32 local_low;
	__le32 local_high;
	__le32 rsvd;
	struct erdma_sge remote; /* its length repeats the length above */
};
_Static_assert(sizeof(struct erdma_sqe_read) == 48, "erdma read SQE");

/* SEND, SEND_IMM, SEND_INV on RC: SGEs or inline data follow at 16, within the block. */
struct erdma_sqe_send {
	struct erdma_sqe head;
	union {
		__be32 immediate;
		__le32 invalidate; /* the peer's R_Key */
	};
	__le32 length;
};
_Static_assert(sizeof(struct erdma_sqe_send) == 16, "erdma send SQE");

/*
 * SEND, SEND_IMM on UD and GSI: SGEs or inline data follow at 32. The address
 * vector is in the NIC, under the number that CREATE_AH gave it.
 */
struct erdma_sqe_ud {
	struct erdma_sqe head;
	__be32 immediate;
	__le32 length;
	__le32 qkey;
	__le32 qpn;
	__le32 ahn;
	__le32 rsvd;
};
_Static_assert(sizeof(struct erdma_sqe_ud) == 32, "erdma UD SQE");

/* CMP_SWAP, FETCH_ADD: 8 bytes. SGL stays 0, and so does the remote length. */
struct erdma_sqe_atomic {
	struct erdma_sqe head;
	__le64 rsvd;
	__le64 operand; /* swap value, or what to add */
	__le64 compare; /* CMP_SWAP only */
	struct erdma_sge remote;
	struct erdma_sge local; /* takes the value from before */
};
_Static_assert(sizeof(struct erdma_sqe_atomic) == 64, "erdma atomic SQE");

/*
 * REG_MR (kernel only) and LOCAL_INV. REG_MR of up to ERDMA_MTT_INLINE pages has
 * their addresses, 8 bytes each, at 32; more are in the array that the REG_MR
 * command named when the key was made. LOCAL_INV uses nothing but the key.
 */
struct erdma_sqe_reg_mr {
	struct erdma_sqe head;
	__le64 va;
	__le32 length;
	__le32 key;
	__le32 attributes;
	__le32 rsvd;
};
_Static_assert(sizeof(struct erdma_sqe_reg_mr) == 32, "erdma registration SQE");
#define ERDMA_SQE_MR_COUNT    NIC_FLE32(struct erdma_sqe_reg_mr, attributes, 31, 12)
#define ERDMA_SQE_MR_INDIRECT NIC_FLE32(struct erdma_sqe_reg_mr, attributes, 7, 6)
#define ERDMA_SQE_MR_ACCESS   NIC_FLE32(struct erdma_sqe_reg_mr, attributes, 5, 1)

/* One entry, one SGE: the rest of the 32 bytes is not for more of them. */
struct erdma_rqe {
	__le16 index; /* of this entry, plus one */
	__le16 rsvd0;
	__le32 qpn;
	__le64 rsvd1;
	__le64 addr;
	__le32 length;
	__le32 key;
};
_Static_assert(sizeof(struct erdma_rqe) == 32, "erdma RQE");

/* ---- commands ---- */

#include "providers/erdma/erdma_hw_cmd.h"

/* ---- status codes ---- */

/*
 * X(name, value, work completion status, vendor error): the third is the suffix
 * of IBV_WC_ and IB_WC_, and both say what a driver makes of the value. A value
 * outside the list counts as GENERAL.
 */
#define ERDMA_STATUSES(X)                         \
	X(SUCCESS, 0, SUCCESS, 0x00)              \
	X(GENERAL, 1, GENERAL_ERR, 0x00)          \
	X(RECV_FORMAT, 2, GENERAL_ERR, 0x01)      \
	X(RECV_KEY, 3, REM_ACCESS_ERR, 0x02)      \
	X(RECV_ADDRESS, 4, REM_ACCESS_ERR, 0x03)  \
	X(RECV_RIGHTS, 5, REM_ACCESS_ERR, 0x04)   \
	X(RECV_PD, 6, REM_ACCESS_ERR, 0x05)       \
	X(RECV_WRAP, 7, REM_ACCESS_ERR, 0x06)     \
	X(SEND_FORMAT, 8, LOC_QP_OP_ERR, 0x20)    \
	X(SEND_READ_LIMIT, 9, GENERAL_ERR, 0x21)  \
	X(SEND_KEY, 10, LOC_ACCESS_ERR, 0x30)     \
	X(SEND_ADDRESS, 11, LOC_ACCESS_ERR, 0x31) \
	X(SEND_RIGHTS, 12, LOC_ACCESS_ERR, 0x32)  \
	X(SEND_PD, 13, LOC_ACCESS_ERR, 0x33)      \
	X(SEND_WRAP, 14, LOC_ACCESS_ERR, 0x34)    \
	X(FLUSH, 15, WR_FLUSH_ERR, 0x00)          \
	X(RETRY_EXCEEDED, 16, RETRY_EXC_ERR, 0x00)

enum erdma_status {
#define ERDMA_STATUS_ENUM(name, value, wc, vendor) ERDMA_STATUS_##name = (value),
	ERDMA_STATUSES(ERDMA_STATUS_ENUM)
#undef ERDMA_STATUS_ENUM
		ERDMA_STATUS_COUNT = 17,
};

#endif
