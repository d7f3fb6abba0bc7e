/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * erdma: golden bytes of the commands and their answers. See erdma_queue.h for
 * how to read a row, and for what "kernel" is. A request starts with its header,
 * which kernel erdma_cmdq.c push_cmdq_sqe() completes: 54:52 = 3 (4 blocks), 47:32
 * cookie, 25:24 sub-module, 23:16 opcode, 15:0 producer index after the request.
 */
#ifndef ANYNIC_TESTS_GOLDEN_ERDMA_CMD_H
#define ANYNIC_TESTS_GOLDEN_ERDMA_CMD_H

/* What every header below has, and what differs: sub-module, opcode, cookie, index. */
#define GOLDEN_HEADER(H, module, opcode, cookie, end) \
	H(ERDMA_CMD_BLOCKS, 3)                        \
	H(ERDMA_CMD_COOKIE, cookie)                   \
	H(ERDMA_CMD_MODULE, module)                   \
	H(ERDMA_CMD_OPCODE, opcode)                   \
	H(ERDMA_CMD_END, end)

/* kernel erdma_main.c erdma_dev_attrs_init(): CMDQ_SUBMOD_RDMA, QUERY_DEVICE; the header is all */
#define GOLDEN_CMD_NONE_BYTES		"1000000001003000"
#define GOLDEN_CMD_NONE_VALUES(F, W, H) GOLDEN_HEADER(H, 0, 0, 1, 0x10)

/* kernel erdma_verbs.c create_qp_cmd(): a user's UD QP, 4096 blocks, 512 receives */
#define GOLDEN_CREATE_QP_BYTES \
	"0800010002003000"     \
	"1100c000"             \
	"03009000"             \
	"22000052"             \
	"23000020"             \
	"0000020002000000"     \
	"0000040002000000"     \
	"04300000"             \
	"0b000000"             \
	"1000000003000000"     \
	"1800000003000000"     \
	"0000060002000000"     \
	"0000000000000000"     \
	"0000000000000000"     \
	"0000000000000000"     \
	"0000000000000000"     \
	"0000000000000000"     \
	"82008100"             \
	"01000000"
#define GOLDEN_CREATE_QP_VALUES(F, W, H)  \
	GOLDEN_HEADER(H, 0, 1, 2, 8)      \
	F(ERDMA_CREATE_QP_SQ_LOG, 12)     \
	F(ERDMA_CREATE_QP_QPN, 0x11)      \
	F(ERDMA_CREATE_QP_RQ_LOG, 9)      \
	F(ERDMA_CREATE_QP_PDN, 3)         \
	F(ERDMA_CREATE_QP_SQ_PAGE, 5)     \
	F(ERDMA_CREATE_QP_EXTEND_DB, 1)   \
	F(ERDMA_CREATE_QP_SQ_CQN, 0x22)   \
	F(ERDMA_CREATE_QP_RQ_PAGE, 2)     \
	F(ERDMA_CREATE_QP_RQ_CQN, 0x23)   \
	W(sq_addr, le64, 0x200020000)     \
	W(rq_addr, le64, 0x200040000)     \
	F(ERDMA_CREATE_QP_SQ_OFFSET, 3)   \
	F(ERDMA_CREATE_QP_SQ_PAGES, 2)    \
	F(ERDMA_CREATE_QP_SQ_LEVEL, 0)    \
	F(ERDMA_CREATE_QP_RQ_OFFSET, 0)   \
	F(ERDMA_CREATE_QP_RQ_PAGES, 5)    \
	F(ERDMA_CREATE_QP_RQ_LEVEL, 1)    \
	W(sq_dbrec, le64, 0x300000010)    \
	W(rq_dbrec, le64, 0x300000018)    \
	W(sq_pages[0], le64, 0x200060000) \
	F(ERDMA_CREATE_QP_SQ_DB, 0x81)    \
	F(ERDMA_CREATE_QP_RQ_DB, 0x82)    \
	F(ERDMA_CREATE_QP_TYPE, ERDMA_QP_TYPE_UD)

/* kernel erdma_verbs.c erdma_destroy_qp(); erdma_query_qp() differs by the opcode, 17 */
#define GOLDEN_DESTROY_QP_BYTES \
	"0c00020003003000"      \
	"11000000"              \
	"00000000"
#define GOLDEN_DESTROY_QP_VALUES(F, W, H) \
	GOLDEN_HEADER(H, 0, 2, 3, 12)     \
	W(qpn, le32, 0x11)
#define GOLDEN_QUERY_QP_BYTES \
	"1000110003003000"    \
	"11000000"            \
	"00000000"
#define GOLDEN_QUERY_QP_VALUES(F, W, H) \
	GOLDEN_HEADER(H, 0, 17, 3, 16)  \
	W(qpn, le32, 0x11)

/* kernel erdma_qp.c modify_qp_cmd_rocev2() and erdma_verbs.c erdma_set_av_cfg(), to RTR */
#define GOLDEN_AV_BYTES \
	"debc1a00"      \
	"60"            \
	"40"            \
	"03"            \
	"00"            \
	"23c1"          \
	"0300"          \
	"525400000002"  \
	"0000"          \
	"fd090000000000000000000000000002"
#define GOLDEN_AV_VALUES(F, W, H)       \
	F(ERDMA_AV_V6, 1)               \
	F(ERDMA_AV_FLOW_LABEL, 0xabcde) \
	W(traffic_class, u8, 0x60)      \
	W(hop_limit, u8, 64)            \
	W(sl, u8, 3)                    \
	W(udp_sport, le16, 0xc123)      \
	W(sgid_index, le16, 3)          \
	W(dmac[0], u8, 0x52)            \
	W(dmac[1], u8, 0x54)            \
	W(dmac[5], u8, 0x02)            \
	W(dgid[0], u8, 0xfd)            \
	W(dgid[1], u8, 0x09)            \
	W(dgid[15], u8, 0x02)
#define GOLDEN_MODIFY_QP_BYTES             \
	"1400030004003000"                 \
	"11000002"                         \
	"22000000"                         \
	"35000000"                         \
	"00000000"                         \
	"56341200"                         \
	"efcdab00"                         \
	"00001000"                         \
	"00"                               \
	"40"                               \
	"00"                               \
	"00"                               \
	"00c0"                             \
	"0100"                             \
	"000000000000"                     \
	"0000"                             \
	"00000000000000000000000000000000" \
	"00000000"
#define GOLDEN_MODIFY_QP_VALUES(F, W, H)                                                  \
	GOLDEN_HEADER(H, 0, 3, 4, 20)                                                     \
	F(ERDMA_MODIFY_QP_STATE, ERDMA_QPS_RTR)                                           \
	F(ERDMA_MODIFY_QP_QPN, 0x11)                                                      \
	F(ERDMA_MODIFY_QP_DQPN, 0x22)                                                     \
	W(mask, le32,                                                                     \
	  ERDMA_MODIFY_STATE | ERDMA_MODIFY_AV | ERDMA_MODIFY_RQ_PSN | ERDMA_MODIFY_DQPN) \
	W(rq_psn, le32, 0x123456)                                                         \
	W(sq_psn, le32, 0xabcdef)                                                         \
	W(av.cfg, le32, 0x100000)                                                         \
	W(av.hop_limit, u8, 64)                                                           \
	W(av.udp_sport, le16, 0xc000)                                                     \
	W(av.sgid_index, le16, 1)

/* kernel erdma_verbs.c create_cq_cmd(): a user's CQ of 256, two pages, so an array */
#define GOLDEN_CREATE_CQ_BYTES \
	"1800040005003000"     \
	"22001008"             \
	"00003412"             \
	"02000000"             \
	"03880200"             \
	"2000000003000000"     \
	"00100000"             \
	"83000000"
#define GOLDEN_CREATE_CQ_VALUES(F, W, H) \
	GOLDEN_HEADER(H, 0, 4, 5, 24)    \
	F(ERDMA_CREATE_CQ_LOG, 8)        \
	F(ERDMA_CREATE_CQ_PAGE, 1)       \
	F(ERDMA_CREATE_CQ_CQN, 0x22)     \
	W(addr_low, le32, 0x12340000)    \
	W(addr_high, le32, 2)            \
	F(ERDMA_CREATE_CQ_PAGES, 2)      \
	F(ERDMA_CREATE_CQ_LEVEL, 1)      \
	F(ERDMA_CREATE_CQ_EXTEND_DB, 1)  \
	F(ERDMA_CREATE_CQ_EQN, 3)        \
	W(dbrec, le64, 0x300000020)      \
	W(offset, le32, 0x1000)          \
	F(ERDMA_CREATE_CQ_DB, 0x83)

/* kernel erdma_verbs.c erdma_destroy_cq() */
#define GOLDEN_DESTROY_CQ_BYTES \
	"1c00050006003000"      \
	"22000000"              \
	"00000000"
#define GOLDEN_DESTROY_CQ_VALUES(F, W, H) \
	GOLDEN_HEADER(H, 0, 5, 6, 28)     \
	W(cqn, le32, 0x22)

/* kernel erdma_verbs.c erdma_flush_worker() */
#define GOLDEN_REFLUSH_BYTES \
	"2000060007003000"   \
	"11000000"           \
	"34120000"           \
	"56000000"           \
	"00000000"
#define GOLDEN_REFLUSH_VALUES(F, W, H) \
	GOLDEN_HEADER(H, 0, 6, 7, 32)  \
	W(qpn, le32, 0x11)             \
	W(sq_pi, le32, 0x1234)         \
	W(rq_pi, le32, 0x56)

/* kernel erdma_verbs.c regmr_cmd(): key 0x7b31a, three pages in the request */
#define GOLDEN_REG_MR_BYTES \
	"2400080008003000"  \
	"b307a081"          \
	"3c300000"          \
	"00301200007f0000"  \
	"00300000"          \
	"03000060"          \
	"0010000001000000"  \
	"0030000001000000"  \
	"0090000001000000"  \
	"0000000000000000"
#define GOLDEN_REG_MR_VALUES(F, W, H)                                                        \
	GOLDEN_HEADER(H, 0, 8, 8, 36)                                                        \
	F(ERDMA_REG_MR_VALID, 1)                                                             \
	F(ERDMA_REG_MR_VERSION, 0)                                                           \
	F(ERDMA_REG_MR_KEY, 0x1a)                                                            \
	F(ERDMA_REG_MR_INDEX, 0x7b3)                                                         \
	F(ERDMA_REG_MR_PDN, 3)                                                               \
	F(ERDMA_REG_MR_TYPE, ERDMA_MR_TYPE_NORMAL)                                           \
	F(ERDMA_REG_MR_ACCESS, ERDMA_ACCESS_LOCAL_READ | ERDMA_ACCESS_LOCAL_WRITE |          \
				       ERDMA_ACCESS_REMOTE_READ | ERDMA_ACCESS_REMOTE_WRITE) \
	W(va, le64, 0x7f0000123000)                                                          \
	W(length, le32, 0x3000)                                                              \
	F(ERDMA_REG_MR_PAGE, 12)                                                             \
	F(ERDMA_REG_MR_MTT_PAGE, 0)                                                          \
	F(ERDMA_REG_MR_LEVEL, 0)                                                             \
	F(ERDMA_REG_MR_COUNT, 3)                                                             \
	W(pages[0], le64, 0x100001000)                                                       \
	W(pages[1], le64, 0x100003000)                                                       \
	W(pages[2], le64, 0x100009000)

/* kernel erdma_verbs.c regmr_cmd(): 5 GiB of 4 KiB pages, 0x140000 of them, three levels */
#define GOLDEN_REG_MR_LARGE_BYTES \
	"2800080009003000"        \
	"b4070090"                \
	"04300000"                \
	"00000000017f0000"        \
	"00000040"                \
	"00003460"                \
	"0050000001000000"        \
	"01000000"                \
	"01000000"                \
	"0000000000000000"        \
	"0000000000000000"
#define GOLDEN_REG_MR_LARGE_VALUES(F, W, H)             \
	GOLDEN_HEADER(H, 0, 8, 9, 40)                   \
	F(ERDMA_REG_MR_VALID, 1)                        \
	F(ERDMA_REG_MR_VERSION, 1)                      \
	F(ERDMA_REG_MR_KEY, 0)                          \
	F(ERDMA_REG_MR_INDEX, 0x7b4)                    \
	F(ERDMA_REG_MR_PDN, 3)                          \
	F(ERDMA_REG_MR_ACCESS, ERDMA_ACCESS_LOCAL_READ) \
	W(va, le64, 0x7f0100000000)                     \
	W(length, le32, 0x40000000)                     \
	F(ERDMA_REG_MR_PAGE, 12)                        \
	F(ERDMA_REG_MR_LEVEL, 3)                        \
	F(ERDMA_REG_MR_COUNT, 0x40000)                  \
	W(top, le64, 0x100005000)                       \
	W(length_high, le32, 1)                         \
	W(count_high, le32, 1)

/* kernel erdma_verbs.c erdma_dereg_mr() */
#define GOLDEN_DEREG_MR_BYTES \
	"2c0009000a003000"    \
	"b307a001"            \
	"00000000"
#define GOLDEN_DEREG_MR_VALUES(F, W, H) \
	GOLDEN_HEADER(H, 0, 9, 10, 44)  \
	F(ERDMA_DEREG_MR_KEY, 0x1a)     \
	F(ERDMA_DEREG_MR_INDEX, 0x7b3)

/* kernel erdma_verbs.c erdma_set_gid(): fd09::2 at index 2; then its deletion */
#define GOLDEN_SET_GID_BYTES               \
	"30000e000b003000"                 \
	"02000100"                         \
	"fd090000000000000000000000000002" \
	"00000000"
#define GOLDEN_SET_GID_VALUES(F, W, H)  \
	GOLDEN_HEADER(H, 0, 14, 11, 48) \
	F(ERDMA_SET_GID_DELETE, 0)      \
	F(ERDMA_SET_GID_V6, 1)          \
	F(ERDMA_SET_GID_INDEX, 2)       \
	W(gid[0], u8, 0xfd)             \
	W(gid[1], u8, 0x09)             \
	W(gid[15], u8, 2)
#define GOLDEN_DEL_GID_BYTES               \
	"34000e000b003000"                 \
	"02000080"                         \
	"00000000000000000000000000000000" \
	"00000000"
#define GOLDEN_DEL_GID_VALUES(F, W, H)  \
	GOLDEN_HEADER(H, 0, 14, 11, 52) \
	F(ERDMA_SET_GID_DELETE, 1)      \
	F(ERDMA_SET_GID_INDEX, 2)

/* kernel erdma_verbs.c erdma_create_ah(): IPv4, so bit 20 is clear */
#define GOLDEN_CREATE_AH_BYTES             \
	"38000f000c003000"                 \
	"03000000"                         \
	"2a000000"                         \
	"01000000"                         \
	"00"                               \
	"40"                               \
	"00"                               \
	"00"                               \
	"2ac0"                             \
	"0200"                             \
	"525400000003"                     \
	"0000"                             \
	"00000000000000000000ffff0a090003" \
	"00000000"
#define GOLDEN_CREATE_AH_VALUES(F, W, H) \
	GOLDEN_HEADER(H, 0, 15, 12, 56)  \
	W(pdn, le32, 3)                  \
	W(ahn, le32, 0x2a)               \
	W(av.cfg, le32, 1)               \
	W(av.hop_limit, u8, 64)          \
	W(av.udp_sport, le16, 0xc02a)    \
	W(av.sgid_index, le16, 2)        \
	W(av.dmac[0], u8, 0x52)          \
	W(av.dmac[1], u8, 0x54)          \
	W(av.dmac[5], u8, 3)             \
	W(av.dgid[10], u8, 0xff)         \
	W(av.dgid[11], u8, 0xff)         \
	W(av.dgid[12], u8, 10)           \
	W(av.dgid[13], u8, 9)            \
	W(av.dgid[15], u8, 3)

/* kernel erdma_verbs.c erdma_destroy_ah() */
#define GOLDEN_DESTROY_AH_BYTES \
	"3c0010000d003000"      \
	"03000000"              \
	"2a000000"
#define GOLDEN_DESTROY_AH_VALUES(F, W, H) \
	GOLDEN_HEADER(H, 0, 16, 13, 60)   \
	W(pdn, le32, 3)                   \
	W(ahn, le32, 0x2a)

/* kernel erdma_eq.c create_eq_cmd(): EQ 1 of 4096; CMDQ_SUBMOD_COMMON from here on */
#define GOLDEN_CREATE_EQ_BYTES \
	"0400000105003000"     \
	"0050341201000000"     \
	"01"                   \
	"01"                   \
	"0c"                   \
	"01"                   \
	"08603412"             \
	"01000000"             \
	"00000000"
#define GOLDEN_CREATE_EQ_VALUES(F, W, H)      \
	GOLDEN_HEADER(H, 1, 0, 5, 4)          \
	W(addr, le64, 0x112345000)            \
	W(vector, u8, 1)                      \
	W(eqn, u8, 1)                         \
	W(log, u8, 12)                        \
	W(type, u8, ERDMA_EQ_TYPE_COMPLETION) \
	W(dbrec_low, le32, 0x12346008)        \
	W(dbrec_high, le32, 1)

/* kernel erdma_eq.c erdma_ceq_uninit_one() */
#define GOLDEN_DESTROY_EQ_BYTES \
	"0800010106003000"      \
	"0000000000000000"      \
	"02"                    \
	"02"                    \
	"00"                    \
	"01"                    \
	"00000000"
#define GOLDEN_DESTROY_EQ_VALUES(F, W, H) \
	GOLDEN_HEADER(H, 1, 1, 6, 8)      \
	W(vector, u8, 2)                  \
	W(eqn, u8, 2)                     \
	W(type, u8, 1)

/* kernel erdma_verbs.c erdma_set_mtu() */
#define GOLDEN_CONF_MTU_BYTES \
	"0c00030107003000"    \
	"dc050000"            \
	"00000000"
#define GOLDEN_CONF_MTU_VALUES(F, W, H) \
	GOLDEN_HEADER(H, 1, 3, 7, 12)   \
	W(mtu, le32, 1500)

/* kernel erdma_verbs.c erdma_query_hw_stats() */
#define GOLDEN_GET_STATS_BYTES \
	"1000040108003000"     \
	"00000000"             \
	"00000000"             \
	"0070000001000000"     \
	"00010000"             \
	"00000000"
#define GOLDEN_GET_STATS_VALUES(F, W, H) \
	GOLDEN_HEADER(H, 1, 4, 8, 16)    \
	W(addr, le64, 0x100007000)       \
	W(length, le32, 256)

/* kernel erdma_main.c erdma_device_config(): 4 KiB pages */
#define GOLDEN_CONF_DEVICE_BYTES \
	"1400050109003000"       \
	"0c000080"               \
	"0000000000000000000000000000000000000000"
#define GOLDEN_CONF_DEVICE_VALUES(F, W, H) \
	GOLDEN_HEADER(H, 1, 5, 9, 20)      \
	F(ERDMA_CONF_DEVICE_PAGE_VALID, 1) \
	F(ERDMA_CONF_DEVICE_PAGE_SHIFT, 12)

/* kernel erdma_verbs.c free_db_resources(); ALLOC_DB (8) has cfg alone */
#define GOLDEN_DB_BYTES    \
	"180009010a003000" \
	"07000000"         \
	"8200"             \
	"8100"             \
	"0000"             \
	"8300"             \
	"000000000000000000000000"
#define GOLDEN_DB_VALUES(F, W, H)      \
	GOLDEN_HEADER(H, 1, 9, 10, 24) \
	F(ERDMA_DB_CQ, 1)              \
	F(ERDMA_DB_RQ, 1)              \
	F(ERDMA_DB_SQ, 1)              \
	W(rq_page, le16, 0x82)         \
	W(sq_page, le16, 0x81)         \
	W(cq_page, le16, 0x83)

/* kernel erdma_hw.h struct erdma_cmdq_query_stats_resp: magic 0x5566, then 11 counters */
#define GOLDEN_STATS_BYTES \
	"6655"             \
	"01"               \
	"68"               \
	"00000000"         \
	"0000000000000000" \
	"0100000000000000" \
	"0200000000000000" \
	"0300000000000000" \
	"0000000000000000" \
	"0000000000000000" \
	"0000000000000000" \
	"0000000000000000" \
	"0807060504030201" \
	"0000000000000000" \
	"0000000000000000" \
	"0b00000000000000"
#define GOLDEN_STATS_VALUES(F, W, H)                                 \
	W(magic, le16, ERDMA_STATS_MAGIC)                            \
	W(version, u8, 1)                                            \
	W(length, u8, 104)                                           \
	W(counter[ERDMA_COUNTER_TX_REQUESTS], le64, 1)               \
	W(counter[ERDMA_COUNTER_TX_PACKETS], le64, 2)                \
	W(counter[ERDMA_COUNTER_TX_BYTES], le64, 3)                  \
	W(counter[ERDMA_COUNTER_RX_BYTES], le64, 0x0102030405060708) \
	W(counter[ERDMA_COUNTER_RX_PPS_DROPS], le64, 11)

/* kernel erdma_hw.h ERDMA_CMD_DEV_CAP_*: the two response words one after the other */
#define GOLDEN_RESP_DEVICE_BYTES \
	"280c0da800160400"       \
	"01001010debc0a00"
#define GOLDEN_RESP_DEVICE_VALUES(F, W, H)                                               \
	F(ERDMA_DEVICE_GID_LOG, 4)                                                       \
	F(ERDMA_DEVICE_CQE_LOG, 22)                                                      \
	F(ERDMA_DEVICE_FLAGS, ERDMA_CAP_ATOMIC | ERDMA_CAP_MTT_VA | ERDMA_CAP_EXTEND_DB) \
	F(ERDMA_DEVICE_RECV_LOG, 13)                                                     \
	F(ERDMA_DEVICE_AH_LOG, 12)                                                       \
	F(ERDMA_DEVICE_MR_LOG, 40)                                                       \
	F(ERDMA_DEVICE_LOCAL_LKEY, 0xabcde)                                              \
	F(ERDMA_DEVICE_CC, 1)                                                            \
	F(ERDMA_DEVICE_QBLOCKS, 16)                                                      \
	F(ERDMA_DEVICE_MW_LOG, 1)

/* kernel erdma_hw.h ERDMA_CMD_QUERY_QP_RESP_* */
#define GOLDEN_RESP_QUERY_QP_BYTES "efcdab5634120301"
#define GOLDEN_RESP_QUERY_QP_VALUES(F, W, H)   \
	F(ERDMA_QUERY_QP_DRAINING, 1)          \
	F(ERDMA_QUERY_QP_STATE, ERDMA_QPS_RTS) \
	F(ERDMA_QUERY_QP_RQ_PSN, 0x123456)     \
	F(ERDMA_QUERY_QP_SQ_PSN, 0xabcdef)

/* kernel erdma_hw.h ERDMA_CMD_ALLOC_DB_RESP_* */
#define GOLDEN_RESP_ALLOC_DB_BYTES "8100000083008200"
#define GOLDEN_RESP_ALLOC_DB_VALUES(F, W, H) \
	F(ERDMA_ALLOC_DB_RQ, 0x82)           \
	F(ERDMA_ALLOC_DB_CQ, 0x83)           \
	F(ERDMA_ALLOC_DB_SQ, 0x81)

/* kernel erdma_hw.h ERDMA_CMD_INFO0_FW_VER_MASK */
#define GOLDEN_RESP_FW_INFO_BYTES	    "0300020000000000"
#define GOLDEN_RESP_FW_INFO_VALUES(F, W, H) F(ERDMA_FW_INFO_VERSION, 0x20003)

#endif
