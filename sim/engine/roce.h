/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The RDMA transport engine: verbs objects and packets, no vendor format and
 * no I/O. This is the whole interface that a NIC class's simulator uses.
 *
 *	class simulator                        engine                     fabric
 *	doorbell: decode WQEs --roce_post_send/recv--> requester --env->tx_*--> frames
 *	write CQE   <--env->complete--            completer  <--roce_nic_input-- frames
 *	AEQE        <--env->event--               responder
 *
 * Rules
 * - Single-threaded: all calls for one roce_nic come from one thread. Env calls are made from
 *   inside engine calls; an env call must not call back into the engine, except where noted.
 * - Time is an argument, in nanoseconds of a clock that never goes back. After any call that
 *   may have made work, the owner calls roce_nic_run() until it says there is nothing to do,
 *   and again no later than roce_nic_next().
 * - Randomness comes from roce_nic_config.seed. The same calls give the same packets.
 * - Memory is got through env->alloc only, when an object is made or when more work is posted to
 *   a queue than ever before, and given back when the object goes: never for a packet.
 * - Functions return 0 or -errno. Nothing is half applied on an error.
 *
 * "IBTA x.y.z" is the InfiniBand Architecture Specification, volume 1, release 1.4 or later;
 * "A17" is its annex 17 (RoCEv2), "A16" its annex 16 (RoCE).
 */
#ifndef ANYNIC_SIM_ENGINE_ROCE_H
#define ANYNIC_SIM_ENGINE_ROCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct roce_nic;
struct roce_qp;
struct roce_cq;
struct roce_srq;
struct roce_mr;

/* Most scatter/gather elements of one work request, of any class. */
#define ROCE_MAX_SGE 64
/* Pieces into which one packet's worth of an SGE list may fall in host memory. */
#define ROCE_MAX_IOV 80
/* Most inline bytes of one work request, of any class. */
#define ROCE_MAX_INLINE 1024
/* Responder resources, and so outstanding READ/atomic requests, of one QP at most. */
#define ROCE_MAX_RD_ATOMIC 255
/* "For ever" in rnr_retry (IBTA 9.7.5.2.8). */
#define ROCE_RNR_RETRY_INFINITE 7

enum roce_qp_type { ROCE_QPT_RC, ROCE_QPT_UC, ROCE_QPT_UD, ROCE_QPT_GSI };

/* IBTA 10.3.1. */
enum roce_qp_state {
	ROCE_QPS_RESET,
	ROCE_QPS_INIT,
	ROCE_QPS_RTR,
	ROCE_QPS_RTS,
	ROCE_QPS_SQD,
	ROCE_QPS_SQE,
	ROCE_QPS_ERR,
};

/* Work request opcodes (IBTA 10.8.2; fast registration and local invalidate 10.6.4, 10.6.5). */
#define ROCE_WR_OPCODES(X)                                                         \
	X(SEND)                                                                    \
	X(SEND_IMM)                                                                \
	X(SEND_INV)                                                                \
	X(WRITE)                                                                   \
	X(WRITE_IMM)                                                               \
	X(READ)                                                                    \
	X(READ_INV) /* READ, then invalidate the local key (iWARP-like classes) */ \
	X(CMP_SWAP)                                                                \
	X(FETCH_ADD)                                                               \
	X(LOCAL_INV)                                                               \
	X(REG_MR)                                                                  \
	X(BIND_MW)                                                                 \
	X(NOP)                                                                     \
	X(INVALID) /* what the class could not decode: fails with LOC_QP_OP_ERR in its turn */

enum roce_wr_opcode {
#define X(name) ROCE_WR_##name,
	ROCE_WR_OPCODES(X)
#undef X
		ROCE_WR_OPCODE_COUNT
};

/* What a work completion says happened. */
enum roce_wc_opcode {
	ROCE_WC_SEND, /* requester side: the opcode of the WR is in roce_wc.wr_opcode */
	ROCE_WC_RECV,
	ROCE_WC_RECV_IMM,
	ROCE_WC_RECV_INV,
	ROCE_WC_RECV_WRITE_IMM,
};

/* Completion statuses, named as in libibverbs (IBTA 11.6.2). */
#define ROCE_WC_STATUSES(X)  \
	X(SUCCESS)           \
	X(LOC_LEN_ERR)       \
	X(LOC_QP_OP_ERR)     \
	X(LOC_PROT_ERR)      \
	X(WR_FLUSH_ERR)      \
	X(MW_BIND_ERR)       \
	X(BAD_RESP_ERR)      \
	X(LOC_ACCESS_ERR)    \
	X(REM_INV_REQ_ERR)   \
	X(REM_ACCESS_ERR)    \
	X(REM_OP_ERR)        \
	X(RETRY_EXC_ERR)     \
	X(RNR_RETRY_EXC_ERR) \
	X(REM_ABORT_ERR)     \
	X(FATAL_ERR)         \
	X(GENERAL_ERR)

enum roce_wc_status {
#define X(name) ROCE_WC_##name,
	ROCE_WC_STATUSES(X)
#undef X
		ROCE_WC_STATUS_COUNT
};

/* Access rights; the values are libibverbs' and the kernel's IB_ACCESS_*. */
enum roce_access {
	ROCE_ACCESS_LOCAL_WRITE = 1 << 0,
	ROCE_ACCESS_REMOTE_WRITE = 1 << 1,
	ROCE_ACCESS_REMOTE_READ = 1 << 2,
	ROCE_ACCESS_REMOTE_ATOMIC = 1 << 3,
	ROCE_ACCESS_MW_BIND = 1 << 4,
	ROCE_ACCESS_ZERO_BASED = 1 << 5,
};

/* Asynchronous events (IBTA 11.6.3). */
enum roce_event {
	ROCE_EVENT_COMM_EST,
	ROCE_EVENT_SQ_DRAINED,
	ROCE_EVENT_QP_FATAL,
	ROCE_EVENT_QP_REQ_ERR,	  /* invalid request, local work queue */
	ROCE_EVENT_QP_ACCESS_ERR, /* local access violation, work queue */
	ROCE_EVENT_QP_LAST_WQE,
	ROCE_EVENT_SRQ_LIMIT,
	ROCE_EVENT_SRQ_ERR,
	ROCE_EVENT_CQ_ERR,
};

enum roce_wr_flags {
	ROCE_WR_SIGNALED = 1 << 0,
	ROCE_WR_SOLICITED = 1 << 1,
	ROCE_WR_FENCE = 1 << 2,
	ROCE_WR_INLINE = 1 << 3, /* sge is unused, inline_data/inline_length hold the payload */
};

struct roce_sge {
	uint64_t addr;
	uint32_t length;
	uint32_t lkey;
};

enum roce_net { ROCE_NET_V1, ROCE_NET_V2_IPV4, ROCE_NET_V2_IPV6 };

/* Address vector (IBTA 11.2.2.1). IPv4 addresses are IPv4-mapped GIDs. */
struct roce_av {
	uint8_t dmac[6];
	uint8_t dgid[16];
	uint8_t sgid_index;
	uint8_t hop_limit;
	uint8_t traffic_class; /* DSCP << 2 | ECN; the engine sets ECT(0) when ECN is on */
	uint8_t sl;	       /* becomes the VLAN priority where the GID has a VLAN */
	uint32_t flow_label;
	uint16_t udp_sport; /* 0: derived from the flow label or the QP numbers (A17.9.4) */
};

struct roce_send_wr {
	uint64_t wr_id; /* of the class: handed back in the completion, never read */
	enum roce_wr_opcode opcode;
	uint32_t flags;
	union {
		uint32_t imm;	  /* host order; goes to the wire big endian */
		uint32_t inv_key; /* SEND_INV, READ_INV, LOCAL_INV; the region of REG_MR, BIND_MW */
	};
	uint64_t remote_addr; /* WRITE, READ, atomics */
	uint32_t rkey;
	uint64_t compare_add; /* CMP_SWAP: compare; FETCH_ADD: addend */
	uint64_t swap;
	struct { /* UD and GSI */
		struct roce_av av;
		uint32_t dest_qpn;
		uint32_t qkey;
		uint16_t pkey_index;
	} ud;
	void *reg;		    /* REG_MR, BIND_MW: handed to env->reg_mr */
	const struct roce_sge *sge; /* copied by roce_post_send */
	uint32_t num_sge;
	const void *inline_data; /* copied by roce_post_send */
	uint32_t inline_length;
};

struct roce_recv_wr {
	uint64_t wr_id;
	const struct roce_sge *sge; /* copied */
	uint32_t num_sge;
};

/* A work completion, handed to env->complete. */
struct roce_wc {
	uint64_t wr_id;
	struct roce_qp *qp;
	enum roce_wc_status status;
	enum roce_wc_opcode opcode;
	enum roce_wr_opcode wr_opcode; /* send side */
	uint32_t byte_len;	       /* receive side, READ, atomics; a GRH counts */
	uint32_t imm;		       /* RECV_IMM, RECV_WRITE_IMM: host order */
	uint32_t inv_key;	       /* RECV_INV */
	uint32_t src_qp;	       /* UD, GSI */
	uint8_t smac[6];	       /* UD, GSI */
	uint16_t vlan;		       /* UD, GSI: VLAN id, 0xffff for none */
	uint16_t pkey_index;
	uint8_t sl;
	enum roce_net net; /* UD, GSI */
	bool grh;	   /* 40 bytes of header stand before the payload */
	bool solicited;
	bool signaled; /* send side: the WR asked for it, or it failed; else only bookkeeping */
};

/* Attributes of a QP; which are read is said by a mask of ROCE_QP_*. */
enum roce_qp_attr_mask {
	ROCE_QP_STATE = 1 << 0,
	ROCE_QP_ACCESS = 1 << 1,
	ROCE_QP_PKEY_INDEX = 1 << 2,
	ROCE_QP_QKEY = 1 << 3,
	ROCE_QP_AV = 1 << 4,
	ROCE_QP_PATH_MTU = 1 << 5,
	ROCE_QP_TIMEOUT = 1 << 6,
	ROCE_QP_RETRY_CNT = 1 << 7,
	ROCE_QP_RNR_RETRY = 1 << 8,
	ROCE_QP_RQ_PSN = 1 << 9,
	ROCE_QP_SQ_PSN = 1 << 10,
	ROCE_QP_MAX_RD_ATOMIC = 1 << 11,
	ROCE_QP_MAX_DEST_RD_ATOMIC = 1 << 12,
	ROCE_QP_MIN_RNR_TIMER = 1 << 13,
	ROCE_QP_DEST_QPN = 1 << 14,
	ROCE_QP_EN_SQD_ASYNC_NOTIFY = 1 << 15,
	ROCE_QP_RATE_LIMIT = 1 << 16,
};

struct roce_qp_attr {
	enum roce_qp_state state;
	uint32_t access;
	uint16_t pkey_index;
	uint32_t qkey;
	struct roce_av av;
	uint32_t path_mtu; /* bytes: 256, 512, 1024, 2048, 4096 */
	uint8_t timeout;   /* 4.096 us << timeout, 0 = no timeout (IBTA 9.7.6.1.3) */
	uint8_t retry_cnt; /* 0..7 */
	uint8_t rnr_retry; /* 0..7, 7 = for ever */
	uint32_t rq_psn;
	uint32_t sq_psn;
	uint8_t max_rd_atomic;
	uint8_t max_dest_rd_atomic;
	uint8_t min_rnr_timer; /* encoded, IBTA table 45 */
	uint32_t dest_qpn;
	bool en_sqd_async_notify;
	uint64_t rate_limit_bps; /* 0 = none */
	/* Read back only by roce_qp_query(). */
	bool sq_draining;
};

struct roce_qp_init {
	uint32_t qpn;
	enum roce_qp_type type;
	uint32_t pdn;
	struct roce_cq *send_cq;
	struct roce_cq *recv_cq;
	struct roce_srq *srq; /* NULL: own receive queue */
	uint32_t max_send_wr;
	uint32_t max_recv_wr;
	bool sq_sig_all;
	void *context; /* of the class */
};

/*
 * How a memory region is translated is the class's business: the engine checks key, PD, rights
 * and bounds, then asks env->mr_map for the bytes [offset, offset + length) of the region.
 */
struct roce_mr_attr {
	uint32_t key;	 /* index << 8 | key byte: lkey and rkey alike */
	uint32_t pdn;	 /* ignored with any_pd */
	bool any_pd;	 /* the reserved local key of a function */
	uint32_t access; /* enum roce_access; local read is always allowed */
	uint64_t iova;	 /* address of the first byte as SGEs and RETHs name it */
	uint64_t length; /* bytes; any_length for the whole address space */
	bool any_length;
	bool valid;    /* false: allocated for fast registration, not usable yet */
	bool fast_reg; /* may be target of REG_MR, LOCAL_INV and remote invalidation */
	void *context; /* of the class */
};

struct roce_env {
	/* Memory. alloc gives zeroed bytes or NULL. */
	void *(*alloc)(void *ctx, size_t size);
	void (*free)(void *ctx, void *memory);
	/*
	 * A frame buffer for `length` bytes, or NULL when the port has no room: the engine then
	 * stops sending until roce_nic_tx_room(). tx_send passes the buffer on. Frames begin at
	 * the Ethernet destination address and end before the FCS.
	 */
	void *(*tx_alloc)(void *ctx, size_t length);
	void (*tx_send)(void *ctx, void *buffer, size_t length);
	/*
	 * Translates [offset, offset + length) of the region into host memory that stays valid
	 * during the engine call. Returns the number of iov filled (at most max) or -errno
	 * (-EFAULT: not mapped). `write` says that the engine will store.
	 */
	int (*mr_map)(void *ctx, const struct roce_mr_attr *mr, uint64_t offset, size_t length,
		      bool write, struct iovec *iov, int max);
	/* A work completion for cq; return -ENOSPC when the CQ is full: the engine raises
	 * CQ_ERR and moves the QP to ERR. Called also for unsignaled work that succeeded when
	 * roce_nic_config.report_unsignaled is set (wc->signaled false). */
	int (*complete)(void *ctx, struct roce_cq *cq, const struct roce_wc *wc);
	/* The CQ was armed and this completion satisfies it; the CQ is disarmed now. */
	void (*cq_event)(void *ctx, struct roce_cq *cq);
	/* Asynchronous event; exactly one of qp, cq, srq is set. */
	void (*event)(void *ctx, enum roce_event event, struct roce_qp *qp, struct roce_cq *cq,
		      struct roce_srq *srq);
	/* REG_MR / BIND_MW reached the head of the send queue. `attr` is a copy of the region that
	 * wr.inv_key names by its index, which may be registered: fast_reg, not valid, of the QP's
	 * PD. The class fills in the new key (of the same index), rights, address, length and,
	 * where it changes, context; it may not call the engine. Returns 0 or -errno, which
	 * completes the WR with MW_BIND_ERR. */
	int (*reg_mr)(void *ctx, struct roce_qp *qp, void *reg, struct roce_mr_attr *attr);
	/* `reg` of a WR that ended, done or flushed: free it. May be NULL. */
	void (*reg_free)(void *ctx, void *reg);
	/* One line for the log; may be NULL. */
	void (*log)(void *ctx, const char *line);
};

struct roce_nic_config {
	uint8_t mac[6];
	uint32_t mtu; /* largest path MTU of the port, bytes */
	uint32_t max_qp, max_cq, max_srq, max_mr;
	uint32_t max_gid; /* entries of the GID table */
	uint64_t seed;
	bool ecn;		  /* send ECT(0), answer CE with CNP, react to CNP (DCQCN) */
	uint8_t cnp_dscp;	  /* DSCP of CNPs */
	uint64_t cnp_interval_ns; /* least time between CNPs of one QP */
	uint64_t link_bps;	  /* line rate that congestion control starts from, 0 = 100 Gb/s */
	bool report_unsignaled;
	uint32_t
		ack_every; /* coalesce: packets without AckReq answered by one ACK, 0 = only AckReq */
	const struct roce_env *env;
	void *env_ctx;
};

/* ------------------------------------------------------------------ the NIC */

int roce_nic_create(const struct roce_nic_config *config, struct roce_nic **nic);
/* Destroys every object left. No completions are made. */
void roce_nic_destroy(struct roce_nic *nic);
/* As after power-on: all objects destroyed, GID table empty, counters kept. */
void roce_nic_reset(struct roce_nic *nic);
/* The port's largest path MTU changed (bytes). QPs keep what they have. */
void roce_nic_set_mtu(struct roce_nic *nic, uint32_t mtu);

/* Sets GID `index` (vlan 0xffff: untagged), or clears it where gid is NULL. */
int roce_gid_set(struct roce_nic *nic, uint32_t index, const uint8_t gid[16], enum roce_net net,
		 uint16_t vlan);

/* A frame from the port. The buffer stays the caller's and is not written to. */
void roce_nic_input(struct roce_nic *nic, uint64_t now, const void *frame, size_t length);
/* Sends up to `budget` packets, handles due timers. Returns true while there is more to do now. */
bool roce_nic_run(struct roce_nic *nic, uint64_t now, unsigned int budget);
/* Time of the next timer or paced packet, UINT64_MAX for none. */
uint64_t roce_nic_next(const struct roce_nic *nic);
/* The port can take frames again after tx_alloc returned NULL. */
void roce_nic_tx_room(struct roce_nic *nic);

/* Counters, by name, for statistics files. roce_counters() is read-only and valid with the NIC. */
#define ROCE_COUNTERS(X)                                                 \
	X(tx_packets)                                                    \
	X(tx_bytes)                                                      \
	X(rx_packets)                                                    \
	X(rx_bytes)                                                      \
	X(tx_acks)                                                       \
	X(rx_acks)                                                       \
	X(tx_naks)                                                       \
	X(rx_naks)                                                       \
	X(out_of_sequence)   /* request PSN ahead of the expected one */ \
	X(duplicate_request) /* request PSN behind it */                 \
	X(rnr_nak_tx)                                                    \
	X(rnr_nak_rx)                                                    \
	X(rnr_retry_exceeded)                                            \
	X(packet_seq_err) /* NAK with PSN sequence error received */     \
	X(implied_nak_seq_err)                                           \
	X(local_ack_timeout_err)                                         \
	X(retry_exceeded)                                                \
	X(retransmitted)                                                 \
	X(req_cqe_error)                                                 \
	X(resp_cqe_error)                                                \
	X(req_cqe_flush)                                                 \
	X(resp_cqe_flush)                                                \
	X(ecn_marked_rx)                                                 \
	X(cnp_tx)                                                        \
	X(cnp_rx)                                                        \
	X(drop_runt)                                                     \
	X(drop_not_roce)                                                 \
	X(drop_ip_header)                                                \
	X(drop_ip_checksum)                                              \
	X(drop_ip_fragment)                                              \
	X(drop_udp_length)                                               \
	X(drop_length)                                                   \
	X(drop_bth_version)                                              \
	X(drop_icrc)                                                     \
	X(drop_dmac)                                                     \
	X(drop_dgid)                                                     \
	X(drop_vlan)                                                     \
	X(drop_qpn)                                                      \
	X(drop_qp_state)                                                 \
	X(drop_opcode)                                                   \
	X(drop_qp_type)                                                  \
	X(drop_pkey)                                                     \
	X(drop_qkey)                                                     \
	X(drop_sgid)                                                     \
	X(drop_pad)                                                      \
	X(drop_no_recv)                                                  \
	X(drop_psn)                                                      \
	X(drop_mtu)

struct roce_counters {
#define X(name) uint64_t name;
	ROCE_COUNTERS(X)
#undef X
};
const struct roce_counters *roce_nic_counters(const struct roce_nic *nic);

/* ---------------------------------------------------------- completion queue */

int roce_cq_create(struct roce_nic *nic, uint32_t cqn, void *context, struct roce_cq **cq);
/* -EBUSY while a QP uses it. */
int roce_cq_destroy(struct roce_cq *cq);
struct roce_cq *roce_cq_find(const struct roce_nic *nic, uint32_t cqn);
void *roce_cq_context(const struct roce_cq *cq);
uint32_t roce_cq_number(const struct roce_cq *cq);
/*
 * Arms for the next completion, or the next solicited (or failed) one (IBTA 11.4.2.2). A class
 * that finds unread entries when the guest arms fires by itself instead.
 */
void roce_cq_arm(struct roce_cq *cq, bool solicited_only);
void roce_cq_disarm(struct roce_cq *cq);

/* -------------------------------------------------------- shared receive queue */

int roce_srq_create(struct roce_nic *nic, uint32_t srqn, uint32_t pdn, uint32_t max_wr,
		    void *context, struct roce_srq **srq);
int roce_srq_destroy(struct roce_srq *srq);
struct roce_srq *roce_srq_find(const struct roce_nic *nic, uint32_t srqn);
void *roce_srq_context(const struct roce_srq *srq);
int roce_srq_post(struct roce_srq *srq, uint64_t now, const struct roce_recv_wr *wr);
/* SRQ_LIMIT fires once when fewer than `limit` WRs are left; 0 disarms (IBTA 10.2.9.1). */
int roce_srq_set_limit(struct roce_srq *srq, uint32_t limit);

/* --------------------------------------------------------------- memory region */

int roce_mr_create(struct roce_nic *nic, const struct roce_mr_attr *attr, struct roce_mr **mr);
void roce_mr_destroy(struct roce_mr *mr);
/* By index (key >> 8), whatever the key byte. */
struct roce_mr *roce_mr_find(const struct roce_nic *nic, uint32_t key);
const struct roce_mr_attr *roce_mr_attr(const struct roce_mr *mr);

/* ------------------------------------------------------------------ queue pair */

int roce_qp_create(struct roce_nic *nic, const struct roce_qp_init *init, struct roce_qp **qp);
void roce_qp_destroy(struct roce_qp *qp);
struct roce_qp *roce_qp_find(const struct roce_nic *nic, uint32_t qpn);
void *roce_qp_context(const struct roce_qp *qp);
uint32_t roce_qp_number(const struct roce_qp *qp);
enum roce_qp_state roce_qp_state(const struct roce_qp *qp);
/*
 * Checks the transition and its attributes (IBTA 11.2.5.2, table 100) and applies all or nothing.
 * Moving to ERR flushes outstanding work. -EINVAL: transition, value or missing attribute.
 * Attributes with no bit in mask keep their value; those required by the transition that a
 * class's firmware interface does not carry must be filled in by the class.
 */
int roce_qp_modify(struct roce_qp *qp, uint64_t now, const struct roce_qp_attr *attr,
		   uint32_t mask);
void roce_qp_query(const struct roce_qp *qp, struct roce_qp_attr *attr);

/*
 * Post work. -ENOMEM: queue full (init.max_*_wr outstanding); -EINVAL: opcode illegal on the QP
 * type, too many SGEs, or a state in which posting is not allowed (send: RESET, INIT, RTR;
 * receive: RESET). In ERR (and send in SQE) the work is flushed at once.
 */
int roce_post_send(struct roce_qp *qp, uint64_t now, const struct roce_send_wr *wr);
int roce_post_recv(struct roce_qp *qp, uint64_t now, const struct roce_recv_wr *wr);
/* WRs posted and not completed. */
uint32_t roce_qp_send_outstanding(const struct roce_qp *qp);
uint32_t roce_qp_recv_outstanding(const struct roce_qp *qp);

#endif
