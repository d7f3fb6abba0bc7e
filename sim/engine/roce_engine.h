/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Inside of the transport engine: its objects and what its files call of each other. Not for
 * classes, which see roce.h only.
 *
 *	roce_nic.c   input dispatch, run loop, GIDs        roce_qp.c    states, posting, flush
 *	roce_req.c   requester: WRs -> request packets     roce_comp.c  ACK, NAK, READ response -> CQE
 *	roce_resp.c  responder: checks, executes           roce_reply.c its ACKs and READ responses
 *	roce_ud.c    datagrams                             roce_cc.c    CNP, rate, pacing
 *	roce_mr.c    key checks, gather and scatter      roce_cq.c, roce_srq.c, roce_rq.c
 */
#ifndef ANYNIC_SIM_ENGINE_ROCE_ENGINE_H
#define ANYNIC_SIM_ENGINE_ROCE_ENGINE_H

#include "sim/engine/roce_frame.h"
#include "sim/engine/roce_queue.h"
#include "sim/engine/roce_timer.h"

/* ------------------------------------------------------------------- PSNs */

enum { ROCE_PSN_MASK = 0xffffff, ROCE_PSN_HALF = 1 << 23 };

static inline uint32_t roce_psn_add(uint32_t psn, uint32_t count)
{
	return (psn + count) & ROCE_PSN_MASK;
}

/* Steps from `from` up to `to`, modulo 2^24. */
static inline uint32_t roce_psn_distance(uint32_t from, uint32_t to)
{
	return (to - from) & ROCE_PSN_MASK;
}

/* ------------------------------------------------------- AETH syndrome, 9.7.5.2 */

enum roce_aeth {
	/* No credit count: a receive queue may be shared, so that a count would promise too much. */
	ROCE_AETH_ACK = 0x1f,
	ROCE_AETH_RNR_NAK = 0x20, /* with the timer code in bits 4:0 */
	ROCE_AETH_NAK_SEQUENCE = 0x60,
	ROCE_AETH_NAK_INVALID = 0x61,
	ROCE_AETH_NAK_ACCESS = 0x62,
	ROCE_AETH_NAK_OPERATION = 0x63,
};

/* Bits 6:5; bit 7 is reserved and so makes a kind that nobody knows. */
enum roce_aeth_kind { ROCE_AETH_KIND_ACK, ROCE_AETH_KIND_RNR_NAK, ROCE_AETH_KIND_NAK = 3 };

static inline unsigned int roce_aeth_kind(uint8_t syndrome)
{
	return syndrome >> 5;
}

static inline unsigned int roce_aeth_value(uint8_t syndrome)
{
	return syndrome & 0x1f;
}

/* ------------------------------------------------------------------ limits */

enum {
	ROCE_MAX_MESSAGE_LOG = 31, /* bytes of a message at most */
	/* Request packets of one QP on their way at most: go-back-N sends all of them again. */
	ROCE_WINDOW_PACKETS = 256,
	ROCE_WINDOW_BYTES = 512 * 1024,
	/* Where packets get lost the window is halved down to this, and grows by so much an ACK. */
	ROCE_WINDOW_LEAST = 16,
	ROCE_WINDOW_STEP = 4,
	/* The timeout may grow to four times its length (IBTA 9.7.6.1.3): log2 of that. */
	ROCE_MAX_BACKOFF = 2,
	/* An ACK is asked for at least so often, whatever the lengths of message and window. */
	ROCE_ACK_REQ_EVERY = 32,
	/* Packets that a QP may send before the next one's turn. */
	ROCE_QUANTUM = 16,
	/* Two pieces an SGE, which may cross a page, and what a long one may fall into. */
	ROCE_SPAN_IOV = 2 * ROCE_MAX_SGE + 32,
};

/* ----------------------------------------------------- memory, lists of it */

struct roce_mr {
	struct roce_nic *nic;
	struct roce_mr_attr attr;
};

/* What someone wants to do with the bytes [va, va + length) of the region named by key. */
struct roce_want {
	uint32_t key;
	uint32_t pdn;
	uint32_t access; /* enum roce_access that must be granted; 0 = local read */
	uint64_t va;
	uint64_t length;
};

/* An SGE list. `offset` is how far it was gone through; the other two say where that is. */
struct roce_list {
	const struct roce_sge *sge;
	uint32_t num_sge;
	uint32_t pdn;
	uint32_t access;
};

struct roce_cursor {
	uint32_t offset;
	uint32_t sge;
	uint32_t sge_offset;
};

/* Host memory of one packet's payload, valid during one engine call. */
struct roce_span {
	struct iovec iov[ROCE_SPAN_IOV];
	int count;
};

/* The region, or NULL where the key, the PD, the rights or the bounds do not allow it. */
struct roce_mr *roce_mr_check(const struct roce_nic *nic, const struct roce_want *want);
/* Adds bytes of a region that roce_mr_check() gave to the span. 0, or -EFAULT: not mapped. */
int roce_mr_map(struct roce_nic *nic, const struct roce_mr *mr, uint64_t va, uint32_t length,
		bool write);
/* Invalidates for SEND_INV, READ_INV, LOCAL_INV (IBTA 10.6.5). 0 or -EACCES. */
int roce_mr_invalidate(struct roce_nic *nic, uint32_t key, uint32_t pdn);
/* Has env->reg_mr fill in a region. 0 or -errno. */
int roce_mr_register(struct roce_qp *qp, uint32_t key, void *reg);

void roce_list_seek(const struct roce_list *list, struct roce_cursor *cursor, uint32_t offset);
/*
 * Adds the next `length` bytes of the list to the span and moves the cursor. -EMSGSIZE: the list
 * is too short; -EACCES: an SGE's key does not allow it; -EFAULT: not mapped.
 */
int roce_list_map(struct roce_nic *nic, const struct roce_list *list, struct roce_cursor *cursor,
		  uint32_t length);
uint64_t roce_sge_total(const struct roce_sge *sge, uint32_t num_sge);

void roce_span_gather(const struct roce_span *span, uint8_t *to);
void roce_span_scatter(const struct roce_span *span, const uint8_t *from);

/* ------------------------------------------------------------------ queues */

struct roce_cq {
	struct roce_nic *nic;
	uint32_t cqn;
	void *context;
	uint32_t users; /* QPs */
	enum { ROCE_CQ_IDLE, ROCE_CQ_ARMED_SOLICITED, ROCE_CQ_ARMED } armed;
	bool failed; /* overran: it takes no more (IBTA 11.6.3) */
};

/* 0, or -ENOSPC: the CQ has failed, now or before. */
int roce_cq_complete(struct roce_cq *cq, const struct roce_wc *wc);

struct roce_srq {
	struct roce_nic *nic;
	uint32_t srqn;
	uint32_t pdn;
	void *context;
	uint32_t users;
	uint32_t limit; /* 0 = not armed */
	struct roce_queue queue;
};

/* Adds a WR to either kind of queue. 0, -EINVAL: too many SGEs, -ENOMEM: full. */
int roce_rq_push(struct roce_queue *queue, const struct roce_recv_wr *wr);
/* Makes the next receive WR the QP's current one, if it has none; false: none there. */
bool roce_rq_take(struct roce_qp *qp);
struct roce_list roce_rq_list(const struct roce_qp *qp);
/* Completes the current receive WR. 0 or -ENOSPC. */
int roce_rq_complete(struct roce_qp *qp, struct roce_wc *wc);
/* All that the QP has: its own queue, or what it took from the shared one. */
void roce_rq_flush(struct roce_qp *qp);
/* Takes the oldest WR, its SGEs into `sge`; false: none there. */
bool roce_srq_take(struct roce_srq *srq, struct roce_wqe *wqe, struct roce_sge *sge);

enum roce_sqe_state {
	ROCE_SQE_POSTED, /* not begun; the PSN fields mean nothing */
	ROCE_SQE_SENT,	 /* begun: has its PSNs */
	ROCE_SQE_DONE,	 /* local operation: waits for its turn to complete */
	ROCE_SQE_FAILED, /* waits for its turn to complete with `status` */
};

struct roce_sqe {
	struct roce_wqe wqe;
	uint8_t opcode;
	uint8_t flags;
	uint8_t state;
	uint8_t status;
	uint32_t first_psn;
	uint32_t packets; /* PSNs that it takes, 0 for local operations */
	uint32_t imm;	  /* or the key to invalidate */
	union {
		struct {
			uint64_t remote_addr;
			uint64_t compare_add;
			uint64_t swap;
			uint32_t rkey;
		};
		struct {
			struct roce_av av;
			uint32_t dest_qpn;
			uint32_t qkey;
		} ud;
		void *reg;
	};
};

static inline uint32_t roce_sqe_end(const struct roce_sqe *sqe)
{
	return roce_psn_add(sqe->first_psn, sqe->packets);
}

/* What an opcode asks of whom; roce_req.c has the table. */
enum roce_wr_kind { ROCE_WRK_MESSAGE, ROCE_WRK_READ, ROCE_WRK_ATOMIC, ROCE_WRK_LOCAL };

struct roce_wr_info {
	const char *name;
	uint8_t types; /* bit set of enum roce_qp_type */
	enum roce_wr_kind kind;
	enum roce_op_kind op; /* of messages */
	enum roce_op_tail tail;
};

extern const struct roce_wr_info roce_wr_info[ROCE_WR_OPCODE_COUNT];

static inline bool roce_sqe_wants_response(const struct roce_sqe *sqe)
{
	enum roce_wr_kind kind = roce_wr_info[sqe->opcode].kind;

	return kind == ROCE_WRK_READ || kind == ROCE_WRK_ATOMIC;
}

/* -------------------------------------------------------------- queue pair */

/*
 * Requester and completer share the PSN space of the send queue:
 *
 *	una             psn             max_psn
 *	 | sent, unacked |  to be sent    | next new one
 *	 |               |  again         |
 *	tail            cur              first POSTED
 *
 * psn == max_psn unless something is being sent again (go-back-N).
 */
struct roce_req {
	uint32_t cur; /* counter of the send queue entry that psn falls into */
	uint32_t psn;
	uint32_t max_psn;
	uint32_t read_psns; /* of [una, psn): response PSNs, which cost no window */
	uint32_t rd_atomic; /* READs and atomics begun and not done */
	uint32_t window;    /* requests on their way at most: packets, or whole READs */
	uint32_t safe;	    /* window up to which it is doubled, from where on it is felt out */
	uint32_t asked;	    /* PSN after the last packet that had AckReq set */
	uint32_t since_ack_req;
	bool ask_ack; /* set AckReq in the next packet: sent again */
	struct roce_cursor cursor;
	struct roce_template template;
};

struct roce_comp {
	uint32_t una;
	uint8_t retries;     /* left */
	uint8_t rnr_retries; /* left */
	uint8_t backoff;     /* log2 of what the timeout is multiplied with */
	bool implied;	     /* the request at una was already sent again for an implied NAK */
	bool draining;	     /* SQD, and the event is still to come */
	struct roce_cursor cursor;
	struct roce_timer ack_timer;
	struct roce_timer rnr_timer;
};

struct roce_ack {
	uint8_t syndrome;
	uint32_t psn;
	uint32_t msn;
};

/*
 * Acknowledgements that wait to be sent, oldest first; a NAK is the last. More than these few are
 * merged. All could be, but if that one was lost a requester whose window is full would hear
 * nothing more.
 */
enum { ROCE_WAITING_ACKS = 4 };

struct roce_acks {
	uint32_t count;
	struct roce_ack ring[ROCE_WAITING_ACKS];
};

/*
 * A responder resource (IBTA 9.4.4, 9.4.5): a READ to answer or an atomic's result, kept after
 * it was answered for the requester that asks again, until its place is needed.
 */
struct roce_res {
	bool atomic;
	bool pending; /* responses are to be sent, from PSN first_psn + next */
	bool replay;  /* for a duplicate request: a failure is not told */
	uint32_t first_psn;
	uint32_t packets;
	uint32_t start; /* where this round of responses begins */
	uint32_t next;
	uint32_t msn;
	uint32_t rkey;
	uint32_t length;
	uint64_t va;
	uint64_t original;     /* atomic: what was there before */
	struct roce_acks acks; /* to be sent after the responses */
};

enum roce_resp_message { ROCE_MSG_NONE, ROCE_MSG_SEND, ROCE_MSG_WRITE };

struct roce_resp {
	uint32_t epsn;
	uint32_t msn;
	enum roce_resp_message message; /* in the middle of */
	bool nak_sent;			/* for epsn: sequence error or RNR */
	bool dropping;			/* UC: the rest of the message */
	bool established;		/* COMM_EST was told */
	uint32_t unacked;

	/* The receive WR in use: the tail of qp->rq, or one taken from the SRQ. */
	bool has_rqe;
	struct roce_wqe rqe;
	struct roce_sge *srq_sge; /* ROCE_MAX_SGE of them, only with an SRQ */
	struct roce_cursor cursor;
	uint32_t received; /* bytes of the message so far */

	/* The RDMA WRITE in progress. */
	struct {
		struct roce_mr *mr; /* good as long as nic->mr_epoch is epoch */
		uint64_t epoch;
		uint64_t va;
		uint32_t rkey;
		uint32_t remaining;
		uint32_t length;
	} write;

	/* Responses to be sent, in this order: acks, then res[out], its acks, and so on. */
	struct roce_acks acks;
	struct roce_res *res; /* a ring of `places`, a power of two */
	uint32_t places;
	uint32_t size;	     /* agreed number: max_dest_rd_atomic */
	uint32_t kept;	     /* before head; at most size */
	uint32_t unanswered; /* of first requests, not duplicates; at most size */
	uint32_t head, out;
	struct roce_template template;
};

/* DCQCN (congestion control of RoCEv2 by CNP); all zero: not limited. */
struct roce_cc {
	bool limited;
	bool cnp_pending;
	uint64_t cnp_after; /* earliest time of the next CNP */
	uint64_t current_bps;
	uint64_t target_bps;
	uint32_t alpha;	 /* 1 << 20 is 1 */
	uint32_t rounds; /* of increase since the last cut */
	uint64_t period_at, cut_at;
	uint64_t send_after; /* pacing */
	struct roce_timer pace_timer;
};

struct roce_link {
	struct roce_link *next, *prev;
};

struct roce_qp {
	struct roce_link run; /* in nic->run while there may be something to send */
	struct roce_nic *nic;
	void *context;
	uint32_t qpn;
	uint32_t pdn;
	enum roce_qp_type type;
	enum roce_qp_state state;
	bool sq_sig_all;
	bool last_wqe_told;
	bool requester_next; /* whose turn it is to send */
	struct roce_cq *send_cq, *recv_cq;
	struct roce_srq *srq;
	struct roce_qp_attr attr;
	struct roce_path path;
	struct roce_queue sq, rq;
	struct roce_req req;
	struct roce_comp comp;
	struct roce_resp resp;
	struct roce_cc cc;
};

static inline struct roce_sqe *roce_qp_sqe(const struct roce_qp *qp, uint32_t counter)
{
	return roce_queue_at(&qp->sq, counter);
}

static inline enum roce_service roce_qp_service(const struct roce_qp *qp)
{
	static const enum roce_service service[] = {
		[ROCE_QPT_RC] = ROCE_SERVICE_RC,
		[ROCE_QPT_UC] = ROCE_SERVICE_UC,
		[ROCE_QPT_UD] = ROCE_SERVICE_UD,
		[ROCE_QPT_GSI] = ROCE_SERVICE_UD,
	};

	return service[qp->type];
}

/* Bytes of payload in a packet at most: agreed of a connection, the port's for datagrams. */
uint32_t roce_qp_mtu(const struct roce_qp *qp);
/* The QP may have something to send. */
void roce_qp_wake(struct roce_qp *qp);
/* To ERR, flushing; `closing`: what the responder still owes, up to a NAK, is sent nevertheless. */
void roce_qp_enter_error(struct roce_qp *qp, bool closing);
/* The oldest send WR failed: completes it, then ERR, or SQE where the type has it. */
void roce_qp_fail_send(struct roce_qp *qp, enum roce_wc_status status);
/* Completes and removes the oldest send WR. False: that put the QP into ERR. */
bool roce_qp_complete_send(struct roce_qp *qp, enum roce_wc_status status);
void roce_qp_event(struct roce_qp *qp, enum roce_event event);

int roce_qp_modify_check(const struct roce_qp *qp, const struct roce_qp_attr *attr, uint32_t mask);

/* What one turn of a QP came to. */
enum roce_step {
	ROCE_STEP_SENT,	 /* a packet, or a local operation: there may be more */
	ROCE_STEP_IDLE,	 /* nothing to do until something happens */
	ROCE_STEP_STALL, /* the port has no room */
};

enum roce_step roce_req_step(struct roce_qp *qp);
/* Goes on at una: sends again what is not acknowledged, or skips what is by now. */
void roce_req_restart(struct roce_qp *qp);
/* The window of a peer of which nothing bad is known. */
uint32_t roce_req_full_window(const struct roce_qp *qp);
void roce_req_set_psn(struct roce_qp *qp, uint32_t psn);
/* Ends the WR with `status`, as soon as all before it are done. */
enum roce_step roce_req_fail(struct roce_qp *qp, struct roce_sqe *sqe, enum roce_wc_status status);
/* Payload of a message into the span, or inline_payload set. 0, or an error of roce_list_map(). */
int roce_req_map(struct roce_qp *qp, const struct roce_sqe *sqe, uint32_t offset, uint32_t length);
const uint8_t *roce_req_inline(const struct roce_qp *qp, const struct roce_sqe *sqe,
			       uint32_t offset);
/* A list that could not be mapped, as the status of the WR. */
enum roce_wc_status roce_map_status(int error);
/* Sends the datagram at cur. */
enum roce_step roce_ud_step(struct roce_qp *qp, struct roce_sqe *sqe);

void roce_comp_input(struct roce_qp *qp, const struct roce_pkt *pkt);
void roce_comp_init(struct roce_qp *qp);
/* Completes what is done or failed at the tail of the send queue. False: the QP is in ERR now. */
bool roce_comp_retire(struct roce_qp *qp);
/* A packet with AckReq was sent: an answer is due within the timeout. */
void roce_comp_asked(struct roce_qp *qp);
void roce_comp_stop(struct roce_qp *qp);
void roce_comp_check_drained(struct roce_qp *qp);

void roce_resp_input(struct roce_qp *qp, const struct roce_pkt *pkt);
void roce_ud_input(struct roce_qp *qp, const struct roce_pkt *pkt);

enum roce_step roce_reply_step(struct roce_qp *qp);
/* Forgets what was to be answered, and all resources. */
void roce_reply_clear(struct roce_qp *qp);
/*
 * The same for a QP that ends, but sends the acknowledgements that are due: whoever saw a receive
 * complete may end the QP at once, and the peer must not be left to think that it did not.
 */
void roce_reply_finish(struct roce_qp *qp);
/* Sends the acknowledgements of QPs that ended while the port had no room. */
void roce_reply_late(struct roce_nic *nic);
void roce_reply_ack(struct roce_qp *qp, uint8_t syndrome, uint32_t psn);
/* Acknowledges a duplicate. */
void roce_reply_ack_again(struct roce_qp *qp, uint32_t psn);
/* A place for a new READ or atomic. It is there if fewer are unanswered than was agreed. */
struct roce_res *roce_reply_new(struct roce_qp *qp);
/* The resource of the request that `psn` is part of, or NULL. */
struct roce_res *roce_reply_find(struct roce_qp *qp, uint32_t psn);
/* Has the responses from `psn` on sent again. */
void roce_reply_replay(struct roce_qp *qp, struct roce_res *res, uint32_t psn);

/* The data of a READ being answered is no longer to be had: NAK and ERR. */
void roce_resp_read_failed(struct roce_qp *qp, uint32_t psn);

/* True: a packet may go now; else the QP is woken when it may. */
bool roce_cc_may_send(struct roce_qp *qp);
void roce_cc_sent(struct roce_qp *qp, size_t bytes);
void roce_cc_marked(struct roce_qp *qp);
void roce_cc_cnp(struct roce_qp *qp);
enum roce_step roce_cc_step(struct roce_qp *qp);
void roce_cc_init(struct roce_qp *qp);

/* ------------------------------------------------------------------ the NIC */

struct roce_gid {
	bool used;
	enum roce_net net;
	uint16_t vlan;
	uint8_t gid[16];
};

/* Acknowledgements that outlive their QPs, oldest first; a few: they wait for the port only. */
enum { ROCE_LATE_ACKS = 32 };

struct roce_late {
	struct roce_late_ack {
		struct roce_template template;
		uint32_t dqpn;
		struct roce_ack ack;
	} ring[ROCE_LATE_ACKS];
	uint32_t head, tail;
};

struct roce_nic {
	struct roce_memory memory;
	struct roce_nic_config config;
	const struct roce_env *env;
	void *ctx;
	uint64_t now;
	bool tx_blocked;
	uint64_t mr_epoch; /* counts what takes rights away */
	struct roce_link run;
	struct roce_timers timers;
	struct roce_table qps, cqs, srqs, mrs;
	struct roce_gid *gids;
	struct roce_counters counters;
	struct roce_late late;
	struct roce_span span; /* of the packet in work */
};

static inline void roce_nic_tick(struct roce_nic *nic, uint64_t now)
{
	if (now > nic->now)
		nic->now = now;
}

/* Sends a packet; its payload, if it has one, is `inline_payload` or nic->span. False: no room. */
bool roce_nic_send(struct roce_nic *nic, struct roce_template *template, const struct roce_pkt *pkt,
		   const uint8_t *inline_payload);
/* Everything below the BTH for an address vector. False: no such source GID. */
bool roce_nic_path(const struct roce_nic *nic, const struct roce_av *av, uint32_t local_qpn,
		   uint32_t remote_qpn, struct roce_path *path);

#endif
