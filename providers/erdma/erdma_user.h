/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * erdma, user half: the objects and what its files share. Owns their layout. Knows
 * the in-tree driver's uverbs ABI (rdma/erdma-abi.h) and the queue formats; knows
 * no command and no register of the NIC, those are the kernel's.
 *
 *	erdma_user.c       class table, context
 *	erdma_user_qp.c    create, modify, query, destroy
 *	erdma_user_cq.c    CQs: create, poll, arm, destroy
 *	erdma_user_sqe.c   one builder for each shape of WQE, and who may use which
 *	erdma_user_post.c  post_send, post_recv
 *	erdma_user_wr.c    the extended interface, ibv_wr_*
 *	erdma_user_ah.c    address handles
 */
#ifndef ANYNIC_PROVIDERS_ERDMA_USER_H
#define ANYNIC_PROVIDERS_ERDMA_USER_H

#include <kernel-abi/erdma-abi.h>
#include <rdma/erdma-abi.h>

#include "providers/erdma/erdma_hw.h"
#include "userlib/provider/anynic_user.h"

/* QPNs have 20 bits. Leaves stay once made, so that polling needs no lock to look. */
#define ERDMA_QPN_LEAF_BITS 12
#define ERDMA_QPN_LEAVES    256
#define ERDMA_QPN_LEAF_SIZE (1 << ERDMA_QPN_LEAF_BITS)

struct erdma_qp;
struct erdma_sqe_rule;

struct erdma_qp_leaf {
	struct erdma_qp *qp[ERDMA_QPN_LEAF_SIZE];
};

struct erdma_context {
	struct anynic_context base; /* first */
	void *sq_page, *rq_page, *cq_page;
	struct anynic_records records;
	/* Held while the kernel destroys a QP: it may give the number away again. */
	pthread_mutex_t qp_mutex;
	struct erdma_qp_leaf *leaves[ERDMA_QPN_LEAVES];
	struct erdma_cq *cqs; /* all of them, for fork; under qp_mutex */
};

struct erdma_cq {
	struct verbs_cq verbs; /* first */
	struct anynic_lock lock;
	uint32_t ci; /* free running, 24 bits reach the NIC */
	uint32_t mask;
	struct erdma_cqe *ring;
	struct erdma_qp *last; /* whose CQE came last: mostly the next one's too */
	uint32_t cqn;
	uint8_t armed;	/* how often, modulo 256 */
	uint8_t events; /* how many events were taken, modulo 4 */
	void *db;
	__le64 *record;
	struct ibv_wc wc; /* the completion that the read functions are about */
	struct anynic_buffer buffer;
	struct erdma_cq *next;
};

/*
 * pi and ci count blocks and run free, modulo 2^16; index & mask is the place in
 * the ring. left is what the hot path may use without looking any further: blocks
 * that are free and follow each other. It may be too low, never too high; when it
 * runs out, it is computed anew.
 *
 *	       ci           pi     left           end
 *	| free | posted     | . . . . . . . . . . |
 *
 * room is the ring's depth, or 0 in states in which nothing may be posted.
 */
struct erdma_sq {
	struct anynic_lock lock;
	uint32_t pi, mask;
	uint32_t left, room;
	uint64_t base; /* in each header: QPN, and SIGNALED with sq_sig_all */
	char *ring;
	uint64_t *wr_id; /* by the WQE's first block */
	const struct erdma_sqe_rule *rules;
	uint32_t max_sge, max_inline;
	uint64_t max_length;
	uint64_t qpn_bits; /* the QPN as it stands in headers and doorbells */
	uint32_t qkey;	   /* UD: for work requests that ask for the QP's own */
	uint32_t ci;	   /* written under the CQ's lock */
	void *db;
	__le64 *record;
};

struct erdma_rq {
	struct anynic_lock lock;
	uint32_t pi, mask, room;
	uint32_t qpn, max_sge;
	uint32_t ci; /* written under the CQ's lock */
	uint64_t qpn_bits;
	struct erdma_rqe *ring;
	uint64_t *wr_id;
	void *db;
	__le64 *record;
};

/*
 * What ibv_wr_start .. ibv_wr_complete is building: the same request that
 * ibv_post_send takes, so that both go through the same builders.
 */
struct erdma_wr {
	uint32_t pi; /* after what is built so far; the SQ's own moves at the end */
	bool open;   /* request is being filled in */
	int err;     /* the first thing that went wrong in this batch */
	struct ibv_send_wr request;
	struct ibv_sge sges[ERDMA_SEND_SGE_MAX];
	uint8_t data[ERDMA_INLINE_MAX]; /* inline: the caller's memory is free at once */
};

struct erdma_qp {
	struct anynic_qp base; /* first */
	struct erdma_sq sq;
	struct erdma_rq rq;
	struct erdma_wr wr;
	struct erdma_cq *send_cq, *recv_cq;
	bool is_ud;
	enum ibv_qp_state state; /* as far as this process knows */
	struct anynic_buffer buffer;
	void *records;
};

struct erdma_ah {
	struct ibv_ah ah;
	uint32_t ahn;
};

static inline struct erdma_context *to_erdma_context(struct ibv_context *context)
{
	return container_of(context, struct erdma_context, base.verbs.context);
}

static inline struct erdma_cq *to_erdma_cq(struct ibv_cq *cq)
{
	return container_of(cq, struct erdma_cq, verbs.cq);
}

static inline struct erdma_qp *to_erdma_qp(struct ibv_qp *qp)
{
	return container_of(qp, struct erdma_qp, base.verbs.qp);
}

static inline struct erdma_ah *to_erdma_ah(struct ibv_ah *ah)
{
	return container_of(ah, struct erdma_ah, ah);
}

/*
 * Every doorbell of this class. The record first: the NIC may look at it instead.
 * The barrier makes the entries and the record visible before the bell, since the
 * bell is what makes the NIC read them.
 */
static inline void erdma_ring(void *db, __le64 *record, uint64_t value)
{
	*record = nic_to_le64(value);
	udma_to_device_barrier();
	mmio_write64_le(db, nic_to_le64(value));
}

static inline void erdma_sq_ring(struct erdma_sq *sq, uint32_t pi)
{
	erdma_ring(sq->db, sq->record, sq->qpn_bits | nic_prep(ERDMA_SQ_DB_PI, pi));
}
_Static_assert(nic_mask(ERDMA_SQE_QPN) == nic_mask(ERDMA_SQ_DB_QPN),
	       "the QPN stands in the same bits of SQEs and doorbells");

/*
 * What a work request's opcode means for one type of QP, without and with inline
 * data: those are two shapes. build writes a WQE of up to 4 contiguous blocks, all
 * but its header, and returns the header without opcode, flags and end index; or 0,
 * having written nothing, if the request is not valid. error: what to return then.
 */
struct erdma_sqe_rule {
	uint64_t (*build)(const struct erdma_sq *sq, const struct ibv_send_wr *wr, void *wqe);
	uint32_t opcode; /* in its place within the header */
	int error;
};

#define ERDMA_SQE_OPCODES (IBV_WR_SEND_WITH_INV + 1)
#define ERDMA_SQE_FLAGS	  (IBV_SEND_INLINE << 1)
#define ERDMA_SQE_RULE(wr) \
	((wr)->opcode * 2 + ((wr)->send_flags & IBV_SEND_INLINE) / IBV_SEND_INLINE)

/* erdma_user_sqe.c */
extern const struct erdma_sqe_rule erdma_rc_rules[ERDMA_SQE_OPCODES * 2];
extern const struct erdma_sqe_rule erdma_ud_rules[ERDMA_SQE_OPCODES * 2];
extern const uint32_t erdma_sqe_flags[ERDMA_SQE_FLAGS];

/* erdma_user_qp.c */
struct ibv_qp *an_erdma_create_qp(struct anynic_context *context, struct ibv_qp_init_attr_ex *attr);
int an_erdma_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
int an_erdma_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		      struct ibv_qp_init_attr *init);
int an_erdma_destroy_qp(struct ibv_qp *qp);
int erdma_post_error(enum ibv_qp_state state);
int erdma_recv_error(enum ibv_qp_state state);

/* erdma_user_cq.c */
struct ibv_cq *an_erdma_create_cq(struct ibv_context *context, int cqe,
				  struct ibv_comp_channel *channel, int comp_vector);
struct ibv_cq_ex *an_erdma_create_cq_ex(struct ibv_context *context,
					struct ibv_cq_init_attr_ex *attr);
int an_erdma_destroy_cq(struct ibv_cq *cq);
int an_erdma_poll_cq(struct ibv_cq *cq, int entries, struct ibv_wc *wc);
int an_erdma_req_notify_cq(struct ibv_cq *cq, int solicited_only);
void an_erdma_cq_event(struct ibv_cq *cq);
void erdma_cq_forget(struct erdma_cq *cq, struct erdma_qp *qp);

/* erdma_user_post.c */
int an_erdma_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);
int an_erdma_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);
int erdma_push(struct erdma_qp *qp, const struct ibv_send_wr *wr, uint32_t pi);

/* erdma_user_wr.c */
int erdma_wr_init(struct erdma_qp *qp, uint64_t send_ops);

/* erdma_user_ah.c */
struct ibv_ah *an_erdma_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr);
int an_erdma_destroy_ah(struct ibv_ah *ah);

#endif
