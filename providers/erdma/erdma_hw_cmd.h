/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * erdma: the commands, that part of the hardware interface which only the kernel
 * driver and the NIC speak. Owns the requests and their answers. Knows nothing
 * beyond erdma_hw.h, which includes it; what is said there about sources and byte
 * order holds here.
 *
 * The driver puts a request into the next slot of the command SQ and rings
 * ERDMA_REG_CMD_SQ_DB. The answer is a struct erdma_cmd_cqe, whose two 64-bit
 * response words the erdma_resp_* structures describe: those are never in memory
 * as such.
 */
#ifndef ANYNIC_PROVIDERS_ERDMA_HW_CMD_H
#define ANYNIC_PROVIDERS_ERDMA_HW_CMD_H

#include <linux/types.h>

#include "providers/common/field.h"

/*
 * The command SQ's slots have 4 blocks. A request uses the start of one; what it
 * does not use, and fields that no flag announces, hold whatever was there.
 */
#define ERDMA_CMD_SLOTS	      128
#define ERDMA_CMD_SLOT_BLOCKS 4
#define ERDMA_CMD_SLOT_BYTES  (ERDMA_CMD_SLOT_BLOCKS * ERDMA_SQ_BLOCK_BYTES)

struct erdma_cmd {
	__le64 hdr;
};
_Static_assert(sizeof(struct erdma_cmd) == 8, "erdma command header");
#define ERDMA_CMD_BLOCKS NIC_FLE64(struct erdma_cmd, hdr, 54, 52) /* blocks - 1 */
#define ERDMA_CMD_COOKIE NIC_FLE64(struct erdma_cmd, hdr, 47, 32) /* the driver's waiter */
#define ERDMA_CMD_MODULE NIC_FLE64(struct erdma_cmd, hdr, 25, 24)
#define ERDMA_CMD_OPCODE NIC_FLE64(struct erdma_cmd, hdr, 23, 16)
#define ERDMA_CMD_END	 NIC_FLE64(struct erdma_cmd, hdr, 15, 0)

enum erdma_module {
	ERDMA_MODULE_RDMA = 0,
	ERDMA_MODULE_COMMON = 1,
};

/* X(name, module, opcode, request structure's suffix) */
#define ERDMA_COMMANDS(X)                      \
	X(QUERY_DEVICE, RDMA, 0, none)         \
	X(CREATE_QP, RDMA, 1, create_qp)       \
	X(DESTROY_QP, RDMA, 2, qpn)            \
	X(MODIFY_QP, RDMA, 3, modify_qp)       \
	X(CREATE_CQ, RDMA, 4, create_cq)       \
	X(DESTROY_CQ, RDMA, 5, destroy_cq)     \
	X(REFLUSH, RDMA, 6, reflush)           \
	X(REG_MR, RDMA, 8, reg_mr)             \
	X(DEREG_MR, RDMA, 9, dereg_mr)         \
	X(SET_GID, RDMA, 14, set_gid)          \
	X(CREATE_AH, RDMA, 15, create_ah)      \
	X(DESTROY_AH, RDMA, 16, destroy_ah)    \
	X(QUERY_QP, RDMA, 17, qpn)             \
	X(CREATE_EQ, COMMON, 0, create_eq)     \
	X(DESTROY_EQ, COMMON, 1, destroy_eq)   \
	X(QUERY_FW_INFO, COMMON, 2, none)      \
	X(CONF_MTU, COMMON, 3, conf_mtu)       \
	X(GET_STATS, COMMON, 4, get_stats)     \
	X(CONF_DEVICE, COMMON, 5, conf_device) \
	X(ALLOC_DB, COMMON, 8, db)             \
	X(FREE_DB, COMMON, 9, db)

/* Module and opcode in one number, as a dispatch table wants it. */
#define ERDMA_CMD_KEY(module, opcode) ((module) << 8 | (opcode))

enum erdma_command {
#define ERDMA_COMMAND_ENUM(name, module, opcode, request) \
	ERDMA_COMMAND_##name = ERDMA_CMD_KEY(ERDMA_MODULE_##module, opcode),
	ERDMA_COMMANDS(ERDMA_COMMAND_ENUM)
#undef ERDMA_COMMAND_ENUM
};

/* QUERY_DEVICE, QUERY_FW_INFO: the answers are at the end of this file. */
struct erdma_cmd_none {
	struct erdma_cmd head;
};
_Static_assert(sizeof(struct erdma_cmd_none) == 8, "erdma request without arguments");

/* DESTROY_QP, which the driver sends after a MODIFY_QP to ERR, and QUERY_QP. */
struct erdma_cmd_qpn {
	struct erdma_cmd head;
	__le32 qpn;
	__le32 rsvd;
};
_Static_assert(sizeof(struct erdma_cmd_qpn) == 16, "erdma QPN request");

/*
 * Translation of a buffer's pages, used by QPs, CQs and MRs. Level 0: the page
 * addresses stand in the request. Level 1: the request has the address of an
 * array of them, aligned to 8 only. Levels 2 and 3 (MRs): of a 4 KiB page of 512
 * addresses of such pages. The buffer starts "offset" bytes into its first page.
 */
#define ERDMA_MTT_INLINE   4 /* page addresses in a request; a CQ has room for one */
#define ERDMA_MTT_PER_PAGE 512

enum erdma_qp_type {
	ERDMA_QP_TYPE_RC = 0,
	ERDMA_QP_TYPE_UD = 1, /* GSI too */
};

/*
 * The driver chooses every number: QPN (1 is the GSI QP), CQN, PDN, AHN, key. A new
 * QP is in RESET, its rings zero or not: the NIC looks at nothing before the first
 * doorbell. Kernel QPs have one contiguous buffer a ring and say so with a page of
 * 1 MiB at level 0, to which the address need not be aligned.
 */
struct erdma_cmd_create_qp {
	struct erdma_cmd head;
	__le32 sq_size;
	__le32 rq_size;
	__le32 sq_cq;
	__le32 rq_cq;
	__le64 sq_addr; /* level 0: the first page, level 1: the array */
	__le64 rq_addr;
	__le32 sq_mtt;
	__le32 rq_mtt;
	__le64 sq_dbrec; /* bus address of the 8-byte record */
	__le64 rq_dbrec;
	__le64 sq_pages[3]; /* level 0: the second page and on */
	__le64 rq_pages[3];
	__le32 db;   /* valid if ERDMA_CREATE_QP_EXTEND_DB is set */
	__le32 type; /* drivers before 7.x send no type and leave garbage here */
};
_Static_assert(sizeof(struct erdma_cmd_create_qp) == 120, "erdma CREATE_QP");
#define ERDMA_CREATE_QP_SQ_LOG	  NIC_FLE32(struct erdma_cmd_create_qp, sq_size, 31, 20) /* blocks */
#define ERDMA_CREATE_QP_QPN	  NIC_FLE32(struct erdma_cmd_create_qp, sq_size, 19, 0)
#define ERDMA_CREATE_QP_RQ_LOG	  NIC_FLE32(struct erdma_cmd_create_qp, rq_size, 31, 20)
#define ERDMA_CREATE_QP_PDN	  NIC_FLE32(struct erdma_cmd_create_qp, rq_size, 19, 0)
#define ERDMA_CREATE_QP_SQ_PAGE	  NIC_FLE32(struct erdma_cmd_create_qp, sq_cq, 31, 28) /* log - 12 */
#define ERDMA_CREATE_QP_EXTEND_DB NIC_FLE32(struct erdma_cmd_create_qp, sq_cq, 25, 25)
#define ERDMA_CREATE_QP_SQ_CQN	  NIC_FLE32(struct erdma_cmd_create_qp, sq_cq, 23, 0)
#define ERDMA_CREATE_QP_RQ_PAGE	  NIC_FLE32(struct erdma_cmd_create_qp, rq_cq, 31, 28)
#define ERDMA_CREATE_QP_RQ_CQN	  NIC_FLE32(struct erdma_cmd_create_qp, rq_cq, 23, 0)
/* offset: in units of 4 KiB */
#define ERDMA_CREATE_QP_SQ_OFFSET NIC_FLE32(struct erdma_cmd_create_qp, sq_mtt, 31, 12)
#define ERDMA_CREATE_QP_SQ_PAGES  NIC_FLE32(struct erdma_cmd_create_qp, sq_mtt, 11, 1)
#define ERDMA_CREATE_QP_SQ_LEVEL  NIC_FLE32(struct erdma_cmd_create_qp, sq_mtt, 0, 0)
#define ERDMA_CREATE_QP_RQ_OFFSET NIC_FLE32(struct erdma_cmd_create_qp, rq_mtt, 31, 12)
#define ERDMA_CREATE_QP_RQ_PAGES  NIC_FLE32(struct erdma_cmd_create_qp, rq_mtt, 11, 1)
#define ERDMA_CREATE_QP_RQ_LEVEL  NIC_FLE32(struct erdma_cmd_create_qp, rq_mtt, 0, 0)
/* page numbers within BAR 0, as ALLOC_DB gave them */
#define ERDMA_CREATE_QP_SQ_DB NIC_FLE32(struct erdma_cmd_create_qp, db, 31, 16)
#define ERDMA_CREATE_QP_RQ_DB NIC_FLE32(struct erdma_cmd_create_qp, db, 15, 0)
#define ERDMA_CREATE_QP_TYPE  NIC_FLE32(struct erdma_cmd_create_qp, type, 3, 0)

/*
 * Address vector, within MODIFY_QP and CREATE_AH. The driver resolves everything:
 * the MAC is there, the UDP source port is computed from flow label and QPNs. dgid
 * of an IPv4 peer is ::ffff:a.b.c.d with V6 0.
 */
struct erdma_av {
	__le32 cfg;
	__u8 traffic_class;
	__u8 hop_limit;
	__u8 sl;
	__u8 rsvd0;
	__le16 udp_sport;
	__le16 sgid_index;
	__u8 dmac[6];
	__u8 rsvd1[2];
	__u8 dgid[16];
};
_Static_assert(sizeof(struct erdma_av) == 36, "erdma address vector");
#define ERDMA_AV_V6	    NIC_FLE32(struct erdma_av, cfg, 20, 20)
#define ERDMA_AV_FLOW_LABEL NIC_FLE32(struct erdma_av, cfg, 19, 0)

/* Same numbers as IBTA's states in that order, and as ibv_qp_state. */
enum erdma_qp_state {
	ERDMA_QPS_RESET = 0,
	ERDMA_QPS_INIT = 1,
	ERDMA_QPS_RTR = 2,
	ERDMA_QPS_RTS = 3,
	ERDMA_QPS_SQD = 4,
	ERDMA_QPS_SQE = 5,
	ERDMA_QPS_ERR = 6,
};

/*
 * Which fields of MODIFY_QP are valid; QPN always is. The driver sets STATE every
 * time, to the present state if it does not change. RC to RTR: STATE, AV, RQ_PSN,
 * DQPN; RC to RTS: STATE, SQ_PSN; UD to INIT: STATE, QKEY.
 */
enum erdma_modify_mask {
	ERDMA_MODIFY_STATE = 1 << 0,
	ERDMA_MODIFY_QKEY = 1 << 1,
	ERDMA_MODIFY_AV = 1 << 2,
	ERDMA_MODIFY_SQ_PSN = 1 << 3,
	ERDMA_MODIFY_RQ_PSN = 1 << 4,
	ERDMA_MODIFY_DQPN = 1 << 5,
};

/*
 * Path MTU, timers, retry counts, READ limits and access flags are not part of
 * the request: the NIC has its own idea of each.
 */
struct erdma_cmd_modify_qp {
	struct erdma_cmd head;
	__le32 cfg;
	__le32 dqpn;
	__le32 mask;
	__le32 qkey;
	__le32 rq_psn;
	__le32 sq_psn;
	struct erdma_av av;
	__le32 rsvd;
};
_Static_assert(sizeof(struct erdma_cmd_modify_qp) == 72, "erdma MODIFY_QP");
#define ERDMA_MODIFY_QP_STATE NIC_FLE32(struct erdma_cmd_modify_qp, cfg, 31, 24)
#define ERDMA_MODIFY_QP_CC    NIC_FLE32(struct erdma_cmd_modify_qp, cfg, 23, 20) /* iWARP only */
#define ERDMA_MODIFY_QP_QPN   NIC_FLE32(struct erdma_cmd_modify_qp, cfg, 19, 0)
#define ERDMA_MODIFY_QP_DQPN  NIC_FLE32(struct erdma_cmd_modify_qp, dqpn, 19, 0)

/* QUERY_QP's answer: the first of the two response words. */
struct erdma_resp_query_qp {
	__le64 resp0;
};
_Static_assert(sizeof(struct erdma_resp_query_qp) == 8, "erdma QUERY_QP response");
#define ERDMA_QUERY_QP_DRAINING NIC_FLE64(struct erdma_resp_query_qp, resp0, 56, 56)
#define ERDMA_QUERY_QP_STATE	NIC_FLE64(struct erdma_resp_query_qp, resp0, 55, 48)
#define ERDMA_QUERY_QP_RQ_PSN	NIC_FLE64(struct erdma_resp_query_qp, resp0, 47, 24)
#define ERDMA_QUERY_QP_SQ_PSN	NIC_FLE64(struct erdma_resp_query_qp, resp0, 23, 0)

/*
 * The ring is one piece of memory for the kernel (a page of 32 MiB at level 0), or a
 * user's pages. A CQ reports to one EQ for its life: EQN is completion vector + 1.
 */
struct erdma_cmd_create_cq {
	struct erdma_cmd head;
	__le32 size;
	__le32 addr_low; /* level 0: the page, level 1: the array */
	__le32 addr_high;
	__le32 cfg;
	__le64 dbrec;
	__le32 offset; /* of the ring within its first page, bytes */
	__le32 db;     /* valid if ERDMA_CREATE_CQ_EXTEND_DB is set */
};
_Static_assert(sizeof(struct erdma_cmd_create_cq) == 40, "erdma CREATE_CQ");
#define ERDMA_CREATE_CQ_LOG	  NIC_FLE32(struct erdma_cmd_create_cq, size, 31, 24)
#define ERDMA_CREATE_CQ_PAGE	  NIC_FLE32(struct erdma_cmd_create_cq, size, 23, 20) /* log - 12 */
#define ERDMA_CREATE_CQ_CQN	  NIC_FLE32(struct erdma_cmd_create_cq, size, 19, 0)
#define ERDMA_CREATE_CQ_PAGES	  NIC_FLE32(struct erdma_cmd_create_cq, cfg, 31, 16)
#define ERDMA_CREATE_CQ_LEVEL	  NIC_FLE32(struct erdma_cmd_create_cq, cfg, 15, 15)
#define ERDMA_CREATE_CQ_EXTEND_DB NIC_FLE32(struct erdma_cmd_create_cq, cfg, 11, 11)
#define ERDMA_CREATE_CQ_EQN	  NIC_FLE32(struct erdma_cmd_create_cq, cfg, 9, 0)
#define ERDMA_CREATE_CQ_DB	  NIC_FLE32(struct erdma_cmd_create_cq, db, 15, 0)

/* After the answer the driver frees the ring: no CQE may follow it. */
struct erdma_cmd_destroy_cq {
	struct erdma_cmd head;
	__le32 cqn;
	__le32 rsvd;
};
_Static_assert(sizeof(struct erdma_cmd_destroy_cq) == 16, "erdma DESTROY_CQ");

/* Sent for a kernel QP in ERR when more was posted: flush up to these indexes. */
struct erdma_cmd_reflush {
	struct erdma_cmd head;
	__le32 qpn;
	__le32 sq_pi;
	__le32 rq_pi;
	__le32 rsvd;
};
_Static_assert(sizeof(struct erdma_cmd_reflush) == 24, "erdma REFLUSH");

enum erdma_mr_type {
	ERDMA_MR_TYPE_NORMAL = 0,
	ERDMA_MR_TYPE_FAST_REG = 1, /* no address or length yet: a REG_MR WQE brings them */
	ERDMA_MR_TYPE_DMA = 2,	    /* all of the bus address space */
};

/* Also what a REG_MR WQE has in ERDMA_SQE_MR_ACCESS. */
enum erdma_access {
	ERDMA_ACCESS_REMOTE_ATOMIC = 1 << 0,
	ERDMA_ACCESS_LOCAL_READ = 1 << 1,
	ERDMA_ACCESS_LOCAL_WRITE = 1 << 2,
	ERDMA_ACCESS_REMOTE_READ = 1 << 3,
	ERDMA_ACCESS_REMOTE_WRITE = 1 << 4,
};

/*
 * L_Key and R_Key are one number: index << 8 | key. An address within the MR is
 * relative to va; the first page holds va % page size. Version 0 has 32 bits of
 * length and 20 of page count; version 1, used above 1 GiB of small pages, has the
 * rest in place of pages[1]. With MTT_PAGE the tables' own pages have that size.
 */
struct erdma_cmd_reg_mr {
	struct erdma_cmd head;
	__le32 key;
	__le32 cfg;
	__le64 va;
	__le32 length;
	__le32 mtt;
	union {
		__le64 pages[ERDMA_MTT_INLINE]; /* level 0: pages, above: [0] is the top */
		struct {			/* version 1 */
			__le64 top;
			__le32 length_high;
			__le32 count_high; /* bits 20 and up of the count */
			__le64 rsvd[2];
		};
	};
};
_Static_assert(sizeof(struct erdma_cmd_reg_mr) == 64, "erdma REG_MR");
#define ERDMA_REG_MR_VALID    NIC_FLE32(struct erdma_cmd_reg_mr, key, 31, 31)
#define ERDMA_REG_MR_VERSION  NIC_FLE32(struct erdma_cmd_reg_mr, key, 30, 28)
#define ERDMA_REG_MR_KEY      NIC_FLE32(struct erdma_cmd_reg_mr, key, 27, 20)
#define ERDMA_REG_MR_INDEX    NIC_FLE32(struct erdma_cmd_reg_mr, key, 19, 0)
#define ERDMA_REG_MR_PDN      NIC_FLE32(struct erdma_cmd_reg_mr, cfg, 31, 12)
#define ERDMA_REG_MR_TYPE     NIC_FLE32(struct erdma_cmd_reg_mr, cfg, 7, 6)
#define ERDMA_REG_MR_ACCESS   NIC_FLE32(struct erdma_cmd_reg_mr, cfg, 5, 1)
#define ERDMA_REG_MR_PAGE     NIC_FLE32(struct erdma_cmd_reg_mr, mtt, 31, 27) /* log */
#define ERDMA_REG_MR_MTT_PAGE NIC_FLE32(struct erdma_cmd_reg_mr, mtt, 26, 24) /* log - 12 */
#define ERDMA_REG_MR_LEVEL    NIC_FLE32(struct erdma_cmd_reg_mr, mtt, 21, 20)
#define ERDMA_REG_MR_COUNT    NIC_FLE32(struct erdma_cmd_reg_mr, mtt, 19, 0)

/* From then on the key is invalid; the driver does not look at the status. */
struct erdma_cmd_dereg_mr {
	struct erdma_cmd head;
	__le32 key;
	__le32 rsvd;
};
_Static_assert(sizeof(struct erdma_cmd_dereg_mr) == 16, "erdma DEREG_MR");
#define ERDMA_DEREG_MR_KEY   NIC_FLE32(struct erdma_cmd_dereg_mr, key, 27, 20)
#define ERDMA_DEREG_MR_INDEX NIC_FLE32(struct erdma_cmd_dereg_mr, key, 19, 0)

/* An IPv4 GID comes as ::ffff:a.b.c.d with V6 0. Deletion brings no GID. */
struct erdma_cmd_set_gid {
	struct erdma_cmd head;
	__le32 cfg;
	__u8 gid[16];
	__le32 rsvd;
};
_Static_assert(sizeof(struct erdma_cmd_set_gid) == 32, "erdma SET_GID");
#define ERDMA_SET_GID_DELETE NIC_FLE32(struct erdma_cmd_set_gid, cfg, 31, 31)
#define ERDMA_SET_GID_V6     NIC_FLE32(struct erdma_cmd_set_gid, cfg, 16, 16)
#define ERDMA_SET_GID_INDEX  NIC_FLE32(struct erdma_cmd_set_gid, cfg, 15, 0)

/*
 * An address vector that UD WQEs name by ahn. Sent for the kernel's own datagrams
 * only: the driver makes no address handle for user space (Linux 7.3). It may come
 * from a context that cannot sleep and polls for the answer.
 */
struct erdma_cmd_create_ah {
	struct erdma_cmd head;
	__le32 pdn;
	__le32 ahn;
	struct erdma_av av;
	__le32 rsvd;
};
_Static_assert(sizeof(struct erdma_cmd_create_ah) == 56, "erdma CREATE_AH");

struct erdma_cmd_destroy_ah {
	struct erdma_cmd head;
	__le32 pdn;
	__le32 ahn;
};
_Static_assert(sizeof(struct erdma_cmd_destroy_ah) == 16, "erdma DESTROY_AH");

enum erdma_eq_type {
	ERDMA_EQ_TYPE_ASYNC = 0,
	ERDMA_EQ_TYPE_COMPLETION = 1,
};

/* EQs are numbered from 1 here; 0 is the command EQ, which registers describe. */
struct erdma_cmd_create_eq {
	struct erdma_cmd head;
	__le64 addr;
	__u8 vector;
	__u8 eqn;
	__u8 log; /* of the depth */
	__u8 type;
	__le32 dbrec_low;
	__le32 dbrec_high;
	__le32 rsvd;
};
_Static_assert(sizeof(struct erdma_cmd_create_eq) == 32, "erdma CREATE_EQ");

/* A vector that fires after this has no handler any more. */
struct erdma_cmd_destroy_eq {
	struct erdma_cmd head;
	__le64 rsvd0;
	__u8 vector;
	__u8 eqn;
	__u8 rsvd1;
	__u8 type;
	__le32 rsvd2;
};
_Static_assert(sizeof(struct erdma_cmd_destroy_eq) == 24, "erdma DESTROY_EQ");

/* The netdev's MTU, not a path MTU: Ethernet payload in bytes. */
struct erdma_cmd_conf_mtu {
	struct erdma_cmd head;
	__le32 mtu;
	__le32 rsvd;
};
_Static_assert(sizeof(struct erdma_cmd_conf_mtu) == 16, "erdma CONF_MTU");

/* Tells the host's page size, in which ALLOC_DB's numbers count. */
struct erdma_cmd_conf_device {
	struct erdma_cmd head;
	__le32 cfg;
	__le32 rsvd[5];
};
_Static_assert(sizeof(struct erdma_cmd_conf_device) == 32, "erdma CONF_DEVICE");
#define ERDMA_CONF_DEVICE_PAGE_VALID NIC_FLE32(struct erdma_cmd_conf_device, cfg, 31, 31)
#define ERDMA_CONF_DEVICE_PAGE_SHIFT NIC_FLE32(struct erdma_cmd_conf_device, cfg, 4, 0)

/* The NIC writes a struct erdma_stats to addr before it completes the command. */
struct erdma_cmd_get_stats {
	struct erdma_cmd head;
	__le32 rsvd0;
	__le32 index;
	__le64 addr;
	__le32 length; /* room, 256 */
	__le32 rsvd1;
};
_Static_assert(sizeof(struct erdma_cmd_get_stats) == 32, "erdma GET_STATS");

#define ERDMA_STATS_MAGIC    0x5566
#define ERDMA_STATS_COUNTERS 11

enum erdma_counter {
	ERDMA_COUNTER_TX_REQUESTS,
	ERDMA_COUNTER_TX_PACKETS,
	ERDMA_COUNTER_TX_BYTES,
	ERDMA_COUNTER_TX_DROPS,
	ERDMA_COUNTER_TX_BPS_DROPS, /* over the bit rate bought */
	ERDMA_COUNTER_TX_PPS_DROPS, /* over the packet rate bought */
	ERDMA_COUNTER_RX_PACKETS,
	ERDMA_COUNTER_RX_BYTES,
	ERDMA_COUNTER_RX_DROPS,
	ERDMA_COUNTER_RX_BPS_DROPS,
	ERDMA_COUNTER_RX_PPS_DROPS,
};

struct erdma_stats {
	__le16 magic; /* a wrong one fails the probe */
	__u8 version;
	__u8 length;
	__le32 index;
	__le32 rsvd[2];
	__le64 counter[ERDMA_STATS_COUNTERS];
};
_Static_assert(sizeof(struct erdma_stats) == 104, "erdma statistics");

/* ALLOC_DB, FREE_DB: numbers are of host pages within BAR 0. */
struct erdma_cmd_db {
	struct erdma_cmd head;
	__le32 cfg;
	__le16 rq_page; /* FREE_DB only, as the two below */
	__le16 sq_page;
	__le16 rsvd0;
	__le16 cq_page;
	__le32 rsvd1[3];
};
_Static_assert(sizeof(struct erdma_cmd_db) == 32, "erdma ALLOC_DB and FREE_DB");
#define ERDMA_DB_CQ NIC_FLE32(struct erdma_cmd_db, cfg, 2, 2)
#define ERDMA_DB_RQ NIC_FLE32(struct erdma_cmd_db, cfg, 1, 1)
#define ERDMA_DB_SQ NIC_FLE32(struct erdma_cmd_db, cfg, 0, 0)

/*
 * ALLOC_DB's answer. The driver maps the page named CQ as the user's RQ page and the
 * one named RQ as the CQ page, and later tells CREATE_QP and CREATE_CQ the names as
 * they are here: a NIC must not tell doorbells apart by page.
 */
struct erdma_resp_alloc_db {
	__le64 resp0;
};
_Static_assert(sizeof(struct erdma_resp_alloc_db) == 8, "erdma ALLOC_DB response");
#define ERDMA_ALLOC_DB_RQ NIC_FLE64(struct erdma_resp_alloc_db, resp0, 63, 48)
#define ERDMA_ALLOC_DB_CQ NIC_FLE64(struct erdma_resp_alloc_db, resp0, 47, 32)
#define ERDMA_ALLOC_DB_SQ NIC_FLE64(struct erdma_resp_alloc_db, resp0, 15, 0)

/* QUERY_DEVICE's answer. Logarithms to base 2, unless said otherwise. */
struct erdma_resp_device {
	__le64 resp0;
	__le64 resp1;
};
_Static_assert(sizeof(struct erdma_resp_device) == 16, "erdma QUERY_DEVICE response");
#define ERDMA_DEVICE_GID_LOG	NIC_FLE64(struct erdma_resp_device, resp0, 51, 48)
#define ERDMA_DEVICE_CQE_LOG	NIC_FLE64(struct erdma_resp_device, resp0, 47, 40)
#define ERDMA_DEVICE_FLAGS	NIC_FLE64(struct erdma_resp_device, resp0, 31, 24) /* enum erdma_cap */
#define ERDMA_DEVICE_RECV_LOG	NIC_FLE64(struct erdma_resp_device, resp0, 23, 16)
#define ERDMA_DEVICE_AH_LOG	NIC_FLE64(struct erdma_resp_device, resp0, 15, 8)
#define ERDMA_DEVICE_MR_LOG	NIC_FLE64(struct erdma_resp_device, resp0, 7, 0) /* bytes of one MR */
#define ERDMA_DEVICE_LOCAL_LKEY NIC_FLE64(struct erdma_resp_device, resp1, 63, 32) /* no MR's key */
#define ERDMA_DEVICE_CC		NIC_FLE64(struct erdma_resp_device, resp1, 31, 28)
#define ERDMA_DEVICE_QBLOCKS	NIC_FLE64(struct erdma_resp_device, resp1, 27, 16) /* a count */
#define ERDMA_DEVICE_MW_LOG	NIC_FLE64(struct erdma_resp_device, resp1, 7, 0)

/* A block of queues is this many QPs, and twice as many MRs and CQs. */
#define ERDMA_QPS_PER_QBLOCK 1024

enum erdma_cap {
	ERDMA_CAP_EXTEND_DB = 1 << 3, /* doorbell pages for each context: opens to any user */
	ERDMA_CAP_MTT_VA = 1 << 5,    /* translation levels 2 and 3 */
	ERDMA_CAP_ATOMIC = 1 << 7,    /* only reported: atomics are posted all the same */
};

/* QUERY_FW_INFO's answer */
struct erdma_resp_fw_info {
	__le64 resp0;
};
_Static_assert(sizeof(struct erdma_resp_fw_info) == 8, "erdma QUERY_FW_INFO response");
#define ERDMA_FW_INFO_VERSION NIC_FLE64(struct erdma_resp_fw_info, resp0, 31, 0)

#endif
