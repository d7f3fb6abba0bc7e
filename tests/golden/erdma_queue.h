/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * erdma: golden bytes of doorbells and queue entries. Owns raw bytes and what
 * they mean; knows nothing of erdma_hw.h but the names that the values go by.
 *
 * Each row was derived by hand, mask by mask, from the source named above it:
 * "kernel" is Linux 7.3 drivers/infiniband/hw/erdma, "provider" is rdma-core
 * providers/erdma. No row was printed by our own code.
 *
 * _BYTES: hex of the whole entry in memory order. _VALUES: F(field, value) for a
 * field, W(member, byte order, value) for a whole word.
 */
#ifndef ANYNIC_TESTS_GOLDEN_ERDMA_QUEUE_H
#define ANYNIC_TESTS_GOLDEN_ERDMA_QUEUE_H

/* kernel erdma_qp.c kick_sq_db(): QPN at 51:32, index at 15:0 */
#define GOLDEN_SQ_DB_BYTES "1200000045230100"
#define GOLDEN_SQ_DB_VALUES(F, W, H) \
	F(ERDMA_SQ_DB_QPN, 0x12345)  \
	F(ERDMA_SQ_DB_PI, 0x0012)

/* kernel erdma_qp.c erdma_post_recv_one(): the RQE's first 8 bytes */
#define GOLDEN_RQ_DB_BYTES "0201000034120000"
#define GOLDEN_RQ_DB_VALUES(F, W, H) \
	F(ERDMA_RQ_DB_QPN, 0x1234)   \
	F(ERDMA_RQ_DB_PI, 0x0102)

/* kernel erdma_cq.c notify_cq(): 63:56 count, 55:32 CQN, 31 arm, 30 solicited, 29:28, 23:0 */
#define GOLDEN_CQ_DB_BYTES "214365f0bc0a00ff"
#define GOLDEN_CQ_DB_VALUES(F, W, H) \
	F(ERDMA_CQ_DB_COUNT, 0xff)   \
	F(ERDMA_CQ_DB_CQN, 0x000abc) \
	F(ERDMA_CQ_DB_ARM, 1)        \
	F(ERDMA_CQ_DB_SOLICITED, 1)  \
	F(ERDMA_CQ_DB_EVENTS, 3)     \
	F(ERDMA_CQ_DB_CI, 0x654321)

/* kernel erdma_eq.c notify_eq() */
#define GOLDEN_EQ_DB_BYTES "1000008000000000"
#define GOLDEN_EQ_DB_VALUES(F, W, H) \
	F(ERDMA_EQ_DB_ARM, 1)        \
	F(ERDMA_EQ_DB_CI, 0x10)

/* kernel erdma_eq.c erdma_ceq_completion_handler(), get_next_valid_eqe() */
#define GOLDEN_CEQE_BYTES  \
	"4523018000000000" \
	"0000000000000000"
#define GOLDEN_CEQE_VALUES(F, W, H) \
	F(ERDMA_CEQE_OWNER, 1)      \
	F(ERDMA_CEQE_CQN, 0x12345)

/* kernel erdma_hw.h ERDMA_CEQE_HDR_*: 63 doorbell, 55:32 producer index, second lap */
#define GOLDEN_CEQE_INFO_BYTES \
	"0700000056341280"     \
	"0000000000000000"
#define GOLDEN_CEQE_INFO_VALUES(F, W, H) \
	F(ERDMA_CEQE_DB, 1)              \
	F(ERDMA_CEQE_PI, 0x123456)       \
	F(ERDMA_CEQE_OWNER, 0)           \
	F(ERDMA_CEQE_CQN, 7)

/* kernel erdma_eq.c erdma_aeq_event_handler(): type 3 is a CQ error */
#define GOLDEN_AEQE_BYTES \
	"42000380"        \
	"21030000"        \
	"00000000"        \
	"00000000"
#define GOLDEN_AEQE_VALUES(F, W, H)              \
	F(ERDMA_AEQE_OWNER, 1)                   \
	F(ERDMA_AEQE_TYPE, ERDMA_EVENT_CQ_ERROR) \
	F(ERDMA_AEQE_SUBTYPE, 0x42)              \
	W(number, le32, 0x321)

/*
 * kernel erdma_cq.c erdma_poll_one_cqe(): opcode 5 (ERDMA_OP_RECV_IMM). The
 * sender's immediate was 11 22 33 44 in its SQE.
 */
#define GOLDEN_CQE_IMM_BYTES \
	"80050100"           \
	"0000000a"           \
	"00001234"           \
	"44332211"           \
	"00001000"           \
	"000000000000000000000000"
#define GOLDEN_CQE_IMM_VALUES(F, W, H)               \
	F(ERDMA_CQE_OWNER, 1)                        \
	F(ERDMA_CQE_OPCODE, ERDMA_OP_RECV_WRITE_IMM) \
	F(ERDMA_CQE_QUEUE, ERDMA_CQE_QUEUE_RQ)       \
	F(ERDMA_CQE_STATUS, ERDMA_STATUS_SUCCESS)    \
	W(wqe_index, be32, 10)                       \
	W(qpn, be32, 0x1234)                         \
	W(immediate, le32, 0x11223344)               \
	W(length, be32, 0x1000)

/* kernel erdma_cq.c: opcode 6 (ERDMA_OP_RECV_INV), the key big endian */
#define GOLDEN_CQE_INV_BYTES \
	"80060100"           \
	"0000000b"           \
	"00001234"           \
	"00045600"           \
	"00000040"           \
	"000000000000000000000000"
#define GOLDEN_CQE_INV_VALUES(F, W, H)              \
	F(ERDMA_CQE_OWNER, 1)                       \
	F(ERDMA_CQE_OPCODE, ERDMA_OP_RECV_SEND_INV) \
	F(ERDMA_CQE_QUEUE, ERDMA_CQE_QUEUE_RQ)      \
	W(wqe_index, be32, 11)                      \
	W(qpn, be32, 0x1234)                        \
	W(invalidated, be32, 0x45600)               \
	W(length, be32, 0x40)

/* kernel erdma_cq.c: an SQ entry with ERDMA_WC_FLUSH_ERR, of the ring's second lap */
#define GOLDEN_CQE_FLUSH_BYTES \
	"0000000f"             \
	"0000fffc"             \
	"00000011"             \
	"00000000"             \
	"00000000"             \
	"000000000000000000000000"
#define GOLDEN_CQE_FLUSH_VALUES(F, W, H)        \
	F(ERDMA_CQE_OWNER, 0)                   \
	F(ERDMA_CQE_OPCODE, ERDMA_OP_WRITE)     \
	F(ERDMA_CQE_QUEUE, ERDMA_CQE_QUEUE_SQ)  \
	F(ERDMA_CQE_STATUS, ERDMA_STATUS_FLUSH) \
	W(wqe_index, be32, 0xfffc)              \
	W(qpn, be32, 0x11)

/* kernel erdma_cq.c erdma_process_ud_cqe(): 64 bytes and the 40 of the GRH */
#define GOLDEN_CQE_UD_BYTES \
	"80040100"          \
	"00000001"          \
	"00000007"          \
	"00000000"          \
	"00000068"          \
	"0000000000000000"  \
	"80500abc"
#define GOLDEN_CQE_UD_VALUES(F, W, H)          \
	F(ERDMA_CQE_OWNER, 1)                  \
	F(ERDMA_CQE_OPCODE, ERDMA_OP_RECV)     \
	F(ERDMA_CQE_QUEUE, ERDMA_CQE_QUEUE_RQ) \
	W(wqe_index, be32, 1)                  \
	W(qpn, be32, 7)                        \
	W(length, be32, 104)                   \
	F(ERDMA_CQE_UD_V6, 1)                  \
	F(ERDMA_CQE_UD_SL, 5)                  \
	F(ERDMA_CQE_UD_QPN, 0xabc)

/*
 * kernel erdma_cmdq.c erdma_poll_single_cmd_completion(): responses
 * 0x1122334455667788 and 0x99aabbccddeeff00, as erdma_post_cmd_wait() joins them
 */
#define GOLDEN_CMD_CQE_BYTES \
	"80000201"           \
	"000001fc"           \
	"55667788"           \
	"11223344"           \
	"ddeeff00"           \
	"99aabbcc"           \
	"0000000000000000"
#define GOLDEN_CMD_CQE_VALUES(F, W, H)  \
	W(hdr, be32, 0x80000201)        \
	W(sqe_index, be32, 0x1fc)       \
	W(resp0_low, be32, 0x55667788)  \
	W(resp0_high, be32, 0x11223344) \
	W(resp1_low, be32, 0xddeeff00)  \
	W(resp1_high, be32, 0x99aabbcc)

/* provider erdma_hw.h struct erdma_sge: an ibv_sge as it is in memory of a little-endian host */
#define GOLDEN_SGE_BYTES   \
	"bc9a785634120000" \
	"40000000"         \
	"00b2a100"
#define GOLDEN_SGE_VALUES(F, W, H)    \
	W(addr, le64, 0x123456789abc) \
	W(length, le32, 0x40)         \
	W(key, le32, 0xa1b200)

/*
 * kernel erdma_qp.c erdma_push_one_sqe(), IB_WR_RDMA_WRITE_WITH_IMM (opcode 9) of
 * one SGE with every flag: 48 bytes, so 2 blocks, from index 0x10
 */
#define GOLDEN_SQE_WRITE_BYTES \
	"1200c04945231101"     \
	"cafe0001"             \
	"00010000"             \
	"00b10000"             \
	"ccbbaa99"             \
	"887f0000"             \
	"00000000"
#define GOLDEN_SQE_WRITE_VALUES(F, W, H)        \
	H(ERDMA_SQE_SGL, 1)                     \
	H(ERDMA_SQE_BLOCKS, 1)                  \
	H(ERDMA_SQE_QPN, 0x12345)               \
	H(ERDMA_SQE_OPCODE, ERDMA_OP_WRITE_IMM) \
	H(ERDMA_SQE_DIRECT, 0)                  \
	H(ERDMA_SQE_INLINE, 0)                  \
	H(ERDMA_SQE_FENCE, 1)                   \
	H(ERDMA_SQE_SOLICITED, 1)               \
	H(ERDMA_SQE_SIGNALED, 1)                \
	H(ERDMA_SQE_END, 0x12)                  \
	W(immediate, be32, 0xcafe0001)          \
	W(length, le32, 0x100)                  \
	W(rkey, le32, 0xb100)                   \
	W(remote_low, le32, 0x99aabbcc)         \
	W(remote_high, le32, 0x7f88)

/* kernel erdma_qp.c, IB_WR_RDMA_READ: no SGE count, the remote piece at 32 */
#define GOLDEN_SQE_READ_BYTES \
	"0400400845231100"    \
	"00000000"            \
	"00100000"            \
	"00020000"            \
	"aa998877"            \
	"66550000"            \
	"00000000"            \
	"44332211007f0000"    \
	"00100000"            \
	"00230100"
#define GOLDEN_SQE_READ_VALUES(F, W, H)      \
	H(ERDMA_SQE_SGL, 0)                  \
	H(ERDMA_SQE_BLOCKS, 1)               \
	H(ERDMA_SQE_QPN, 0x12345)            \
	H(ERDMA_SQE_OPCODE, ERDMA_OP_READ)   \
	H(ERDMA_SQE_SIGNALED, 1)             \
	H(ERDMA_SQE_END, 4)                  \
	W(length, le32, 0x1000)              \
	W(lkey, le32, 0x200)                 \
	W(local_low, le32, 0x778899aa)       \
	W(local_high, le32, 0x5566)          \
	W(remote.addr, le64, 0x7f0011223344) \
	W(remote.length, le32, 0x1000)       \
	W(remote.key, le32, 0x12300)

/* provider erdma_verbs.c erdma_push_one_sqe(), IBV_WR_SEND of 3 inline bytes: 1 block */
#define GOLDEN_SQE_SEND_BYTES \
	"0100401207000003"    \
	"00000000"            \
	"03000000"
#define GOLDEN_SQE_SEND_VALUES(F, W, H)    \
	H(ERDMA_SQE_SGL, 3)                \
	H(ERDMA_SQE_BLOCKS, 0)             \
	H(ERDMA_SQE_QPN, 7)                \
	H(ERDMA_SQE_OPCODE, ERDMA_OP_SEND) \
	H(ERDMA_SQE_INLINE, 1)             \
	H(ERDMA_SQE_SIGNALED, 1)           \
	H(ERDMA_SQE_END, 1)                \
	W(length, le32, 3)

/* kernel erdma_qp.c init_send_sqe_rc(), IB_WR_SEND_WITH_INV (13); the index wraps to 0 */
#define GOLDEN_SQE_SEND_INV_BYTES \
	"0000806801000001"        \
	"00560400"                \
	"40000000"
#define GOLDEN_SQE_SEND_INV_VALUES(F, W, H)    \
	H(ERDMA_SQE_SGL, 1)                    \
	H(ERDMA_SQE_QPN, 1)                    \
	H(ERDMA_SQE_OPCODE, ERDMA_OP_SEND_INV) \
	H(ERDMA_SQE_SOLICITED, 1)              \
	H(ERDMA_SQE_END, 0)                    \
	W(invalidate, le32, 0x45600)           \
	W(length, le32, 0x40)

/* kernel erdma_qp.c init_send_sqe_ud(), IB_WR_SEND_WITH_IMM (3) of one SGE */
#define GOLDEN_SQE_UD_BYTES \
	"0200401809001001"  \
	"aabbccdd"          \
	"20000000"          \
	"11111111"          \
	"55010000"          \
	"2a000000"          \
	"00000000"
#define GOLDEN_SQE_UD_VALUES(F, W, H)          \
	H(ERDMA_SQE_SGL, 1)                    \
	H(ERDMA_SQE_BLOCKS, 1)                 \
	H(ERDMA_SQE_QPN, 9)                    \
	H(ERDMA_SQE_OPCODE, ERDMA_OP_SEND_IMM) \
	H(ERDMA_SQE_SIGNALED, 1)               \
	H(ERDMA_SQE_END, 2)                    \
	W(immediate, be32, 0xaabbccdd)         \
	W(length, le32, 0x20)                  \
	W(qkey, le32, 0x11111111)              \
	W(qpn, le32, 0x155)                    \
	W(ahn, le32, 0x2a)

/* provider erdma_verbs.c, IBV_WR_ATOMIC_CMP_AND_SWP (17): 64 bytes, 2 blocks */
#define GOLDEN_SQE_ATOMIC_BYTES \
	"0600408845231100"      \
	"0000000000000000"      \
	"0807060504030201"      \
	"1817161514131211"      \
	"00100000007f0000"      \
	"00000000"              \
	"00050000"              \
	"0060000000000000"      \
	"08000000"              \
	"00060000"
#define GOLDEN_SQE_ATOMIC_VALUES(F, W, H)      \
	H(ERDMA_SQE_SGL, 0)                    \
	H(ERDMA_SQE_BLOCKS, 1)                 \
	H(ERDMA_SQE_QPN, 0x12345)              \
	H(ERDMA_SQE_OPCODE, ERDMA_OP_CMP_SWAP) \
	H(ERDMA_SQE_SIGNALED, 1)               \
	H(ERDMA_SQE_END, 6)                    \
	W(operand, le64, 0x0102030405060708)   \
	W(compare, le64, 0x1112131415161718)   \
	W(remote.addr, le64, 0x7f0000001000)   \
	W(remote.key, le32, 0x500)             \
	W(local.addr, le64, 0x6000)            \
	W(local.length, le32, 8)               \
	W(local.key, le32, 0x600)

/* kernel erdma_qp.c, IB_WR_REG_MR (14) of two pages that follow it, read and write rights */
#define GOLDEN_SQE_REG_MR_BYTES \
	"0200407045231100"      \
	"004023018088ffff"      \
	"00200000"              \
	"1ab30700"              \
	"34200000"              \
	"00000000"
#define GOLDEN_SQE_REG_MR_VALUES(F, W, H)    \
	H(ERDMA_SQE_BLOCKS, 1)               \
	H(ERDMA_SQE_QPN, 0x12345)            \
	H(ERDMA_SQE_OPCODE, ERDMA_OP_REG_MR) \
	H(ERDMA_SQE_SIGNALED, 1)             \
	H(ERDMA_SQE_END, 2)                  \
	W(va, le64, 0xffff888001234000)      \
	W(length, le32, 0x2000)              \
	W(key, le32, 0x7b31a)                \
	F(ERDMA_SQE_MR_COUNT, 2)             \
	F(ERDMA_SQE_MR_INDIRECT, 0)          \
	F(ERDMA_SQE_MR_ACCESS,               \
	  ERDMA_ACCESS_LOCAL_READ | ERDMA_ACCESS_REMOTE_READ | ERDMA_ACCESS_REMOTE_WRITE)

/* kernel erdma_qp.c, IB_WR_LOCAL_INV (15): nothing but the key */
#define GOLDEN_SQE_LOCAL_INV_BYTES \
	"0300007845230100"         \
	"0000000000000000"         \
	"00000000"                 \
	"1ab30700"                 \
	"0000000000000000"
#define GOLDEN_SQE_LOCAL_INV_VALUES(F, W, H)    \
	H(ERDMA_SQE_QPN, 0x12345)               \
	H(ERDMA_SQE_OPCODE, ERDMA_OP_LOCAL_INV) \
	H(ERDMA_SQE_END, 3)                     \
	W(key, le32, 0x7b31a)

/* kernel erdma_qp.c erdma_post_recv_one() */
#define GOLDEN_RQE_BYTES   \
	"0201"             \
	"0000"             \
	"34120000"         \
	"0000000000000000" \
	"78563412007f0000" \
	"00080000"         \
	"00030000"
#define GOLDEN_RQE_VALUES(F, W, H)    \
	W(index, le16, 0x0102)        \
	W(qpn, le32, 0x1234)          \
	W(addr, le64, 0x7f0012345678) \
	W(length, le32, 0x800)        \
	W(key, le32, 0x300)

#endif
