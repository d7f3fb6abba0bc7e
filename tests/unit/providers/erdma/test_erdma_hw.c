/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * erdma_hw.h against the golden bytes, in both directions: the values make the
 * bytes, and the bytes give the values. Owns nothing but the two loops; the rows
 * are in tests/golden/.
 */
#include "providers/erdma/erdma_hw.h"

#include <string.h>

#include "tests/golden/erdma_cmd.h"
#include "tests/golden/erdma_queue.h"
#include "tests/lib/t.h"

#define SET_FIELD(field, value)	      nic_set(&entry, field, value);
#define SET_HEAD(field, value)	      nic_set(&entry.head, field, value);
#define SET_WORD(word, order, value)  entry.word = nic_to_##order(value);
#define WANT_FIELD(field, value)      T_EQ_ROW(#field, nic_get(&entry, field), value);
#define WANT_HEAD(field, value)	      T_EQ_ROW(#field, nic_get(&entry.head, field), value);
#define WANT_WORD(word, order, value) T_EQ_ROW(#word, nic_from_##order(entry.word), value);

/* A case named name for struct erdma_<type>, from the rows GOLDEN_<row>_*. */
#define GOLDEN(name, type, row)                                                           \
	static void name(void)                                                            \
	{                                                                                 \
		struct erdma_##type entry;                                                \
		uint8_t want[sizeof(entry) + 1];                                          \
                                                                                          \
		T_NEED(t_hex(GOLDEN_##row##_BYTES, want, sizeof(want)) == sizeof(entry)); \
		memset(&entry, 0, sizeof(entry));                                         \
		GOLDEN_##row##_VALUES(SET_FIELD, SET_WORD, SET_HEAD);                     \
		T_BYTES_ROW(#row, &entry, want, sizeof(entry));                           \
		memcpy(&entry, want, sizeof(entry));                                      \
		GOLDEN_##row##_VALUES(WANT_FIELD, WANT_WORD, WANT_HEAD);                  \
	}

/* X(case, structure, row) */
#define GOLDEN_ROWS(X)                                 \
	X(sq_db, sq_db, SQ_DB)                         \
	X(rq_db, rq_db, RQ_DB)                         \
	X(cq_db, cq_db, CQ_DB)                         \
	X(eq_db, eq_db, EQ_DB)                         \
	X(ceqe, ceqe, CEQE)                            \
	X(ceqe_info, ceqe, CEQE_INFO)                  \
	X(aeqe, aeqe, AEQE)                            \
	X(cqe_immediate, cqe, CQE_IMM)                 \
	X(cqe_invalidate, cqe, CQE_INV)                \
	X(cqe_flush, cqe, CQE_FLUSH)                   \
	X(cqe_ud, cqe, CQE_UD)                         \
	X(cmd_cqe, cmd_cqe, CMD_CQE)                   \
	X(sge, sge, SGE)                               \
	X(sqe_write, sqe_write, SQE_WRITE)             \
	X(sqe_read, sqe_read, SQE_READ)                \
	X(sqe_send, sqe_send, SQE_SEND)                \
	X(sqe_send_inv, sqe_send, SQE_SEND_INV)        \
	X(sqe_ud, sqe_ud, SQE_UD)                      \
	X(sqe_atomic, sqe_atomic, SQE_ATOMIC)          \
	X(sqe_reg_mr, sqe_reg_mr, SQE_REG_MR)          \
	X(sqe_local_inv, sqe_reg_mr, SQE_LOCAL_INV)    \
	X(rqe, rqe, RQE)                               \
	X(cmd_none, cmd_none, CMD_NONE)                \
	X(create_qp, cmd_create_qp, CREATE_QP)         \
	X(destroy_qp, cmd_qpn, DESTROY_QP)             \
	X(query_qp, cmd_qpn, QUERY_QP)                 \
	X(av, av, AV)                                  \
	X(modify_qp, cmd_modify_qp, MODIFY_QP)         \
	X(create_cq, cmd_create_cq, CREATE_CQ)         \
	X(destroy_cq, cmd_destroy_cq, DESTROY_CQ)      \
	X(reflush, cmd_reflush, REFLUSH)               \
	X(reg_mr, cmd_reg_mr, REG_MR)                  \
	X(reg_mr_large, cmd_reg_mr, REG_MR_LARGE)      \
	X(dereg_mr, cmd_dereg_mr, DEREG_MR)            \
	X(set_gid, cmd_set_gid, SET_GID)               \
	X(del_gid, cmd_set_gid, DEL_GID)               \
	X(create_ah, cmd_create_ah, CREATE_AH)         \
	X(destroy_ah, cmd_destroy_ah, DESTROY_AH)      \
	X(create_eq, cmd_create_eq, CREATE_EQ)         \
	X(destroy_eq, cmd_destroy_eq, DESTROY_EQ)      \
	X(conf_mtu, cmd_conf_mtu, CONF_MTU)            \
	X(get_stats, cmd_get_stats, GET_STATS)         \
	X(conf_device, cmd_conf_device, CONF_DEVICE)   \
	X(db_pages, cmd_db, DB)                        \
	X(stats, stats, STATS)                         \
	X(resp_device, resp_device, RESP_DEVICE)       \
	X(resp_query_qp, resp_query_qp, RESP_QUERY_QP) \
	X(resp_alloc_db, resp_alloc_db, RESP_ALLOC_DB) \
	X(resp_fw_info, resp_fw_info, RESP_FW_INFO)

GOLDEN_ROWS(GOLDEN)

/* Kernel erdma_hw.h enum CMDQ_RDMA_OPCODE and CMDQ_COMMON_OPCODE, sub-module 0 and 1. */
static void commands_have_the_drivers_numbers(void)
{
	static const struct {
		const char *name;
		unsigned int key, want;
	} rows[] = {
		{"QUERY_DEVICE", ERDMA_COMMAND_QUERY_DEVICE, 0x000},
		{"CREATE_QP", ERDMA_COMMAND_CREATE_QP, 0x001},
		{"DESTROY_QP", ERDMA_COMMAND_DESTROY_QP, 0x002},
		{"MODIFY_QP", ERDMA_COMMAND_MODIFY_QP, 0x003},
		{"CREATE_CQ", ERDMA_COMMAND_CREATE_CQ, 0x004},
		{"DESTROY_CQ", ERDMA_COMMAND_DESTROY_CQ, 0x005},
		{"REFLUSH", ERDMA_COMMAND_REFLUSH, 0x006},
		{"REG_MR", ERDMA_COMMAND_REG_MR, 0x008},
		{"DEREG_MR", ERDMA_COMMAND_DEREG_MR, 0x009},
		{"SET_GID", ERDMA_COMMAND_SET_GID, 0x00e},
		{"CREATE_AH", ERDMA_COMMAND_CREATE_AH, 0x00f},
		{"DESTROY_AH", ERDMA_COMMAND_DESTROY_AH, 0x010},
		{"QUERY_QP", ERDMA_COMMAND_QUERY_QP, 0x011},
		{"CREATE_EQ", ERDMA_COMMAND_CREATE_EQ, 0x100},
		{"DESTROY_EQ", ERDMA_COMMAND_DESTROY_EQ, 0x101},
		{"QUERY_FW_INFO", ERDMA_COMMAND_QUERY_FW_INFO, 0x102},
		{"CONF_MTU", ERDMA_COMMAND_CONF_MTU, 0x103},
		{"GET_STATS", ERDMA_COMMAND_GET_STATS, 0x104},
		{"CONF_DEVICE", ERDMA_COMMAND_CONF_DEVICE, 0x105},
		{"ALLOC_DB", ERDMA_COMMAND_ALLOC_DB, 0x108},
		{"FREE_DB", ERDMA_COMMAND_FREE_DB, 0x109},
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		T_EQ_ROW(rows[i].name, rows[i].key, rows[i].want);
}

/* Kernel erdma_hw.h enum erdma_opcode and enum erdma_wc_status. */
static void lists_have_the_drivers_numbers(void)
{
	static const struct {
		const char *name;
		unsigned int value, want;
	} rows[] = {
		{"WRITE", ERDMA_OP_WRITE, 0},
		{"READ", ERDMA_OP_READ, 1},
		{"SEND", ERDMA_OP_SEND, 2},
		{"SEND_IMM", ERDMA_OP_SEND_IMM, 3},
		{"RECV", ERDMA_OP_RECV, 4},
		{"RECV_WRITE_IMM", ERDMA_OP_RECV_WRITE_IMM, 5},
		{"RECV_SEND_INV", ERDMA_OP_RECV_SEND_INV, 6},
		{"WRITE_IMM", ERDMA_OP_WRITE_IMM, 9},
		{"RECV_SEND_IMM", ERDMA_OP_RECV_SEND_IMM, 12},
		{"SEND_INV", ERDMA_OP_SEND_INV, 13},
		{"REG_MR", ERDMA_OP_REG_MR, 14},
		{"LOCAL_INV", ERDMA_OP_LOCAL_INV, 15},
		{"READ_INV", ERDMA_OP_READ_INV, 16},
		{"CMP_SWAP", ERDMA_OP_CMP_SWAP, 17},
		{"FETCH_ADD", ERDMA_OP_FETCH_ADD, 18},
		{"event QP_FATAL", ERDMA_EVENT_QP_FATAL, 0},
		{"event QP_RQ_ERROR", ERDMA_EVENT_QP_RQ_ERROR, 1},
		{"event ACCESS_ERROR", ERDMA_EVENT_ACCESS_ERROR, 2},
		{"event CQ_ERROR", ERDMA_EVENT_CQ_ERROR, 3},
		{"event OTHER", ERDMA_EVENT_OTHER, 4},
		{"status GENERAL", ERDMA_STATUS_GENERAL, 1},
		{"status RECV_FORMAT", ERDMA_STATUS_RECV_FORMAT, 2},
		{"status RECV_WRAP", ERDMA_STATUS_RECV_WRAP, 7},
		{"status SEND_FORMAT", ERDMA_STATUS_SEND_FORMAT, 8},
		{"status SEND_WRAP", ERDMA_STATUS_SEND_WRAP, 14},
		{"status FLUSH", ERDMA_STATUS_FLUSH, 15},
		{"status RETRY_EXCEEDED", ERDMA_STATUS_RETRY_EXCEEDED, 16},
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		T_EQ_ROW(rows[i].name, rows[i].value, rows[i].want);
}

#define GOLDEN_CASE(name, type, row) T_CASE(name),
T_MAIN("erdma_hw", GOLDEN_ROWS(GOLDEN_CASE) T_CASE(commands_have_the_drivers_numbers),
       T_CASE(lists_have_the_drivers_numbers), )
