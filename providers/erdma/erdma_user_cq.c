/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * erdma, user half: completion queues. Owns parsing of CQEs and arming. Knows of a
 * QP only its rings' consumer indexes and its wr_ids.
 */
#include "providers/erdma/erdma_user.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CQE_MIN 64

/* DECLARE_DRV_CMD makes struct <name> and struct <name>_resp, the driver's part last. */
DECLARE_DRV_CMD(erdma_create_cq_cmd, IB_USER_VERBS_CMD_CREATE_CQ, erdma_ureq_create_cq,
		erdma_uresp_create_cq);

static const struct {
	uint8_t status, vendor;
} wc_statuses[] = {
#define WC_STATUS(name, value, wc, vendor) [value] = {IBV_WC_##wc, vendor},
	ERDMA_STATUSES(WC_STATUS)
#undef WC_STATUS
};

/* Indexed by 5 bits, so that no opcode reads past the end. Unknown ones say SEND, 0. */
static const uint8_t wc_opcodes[32] = {
	[ERDMA_OP_WRITE] = IBV_WC_RDMA_WRITE,
	[ERDMA_OP_READ] = IBV_WC_RDMA_READ,
	[ERDMA_OP_SEND] = IBV_WC_SEND,
	[ERDMA_OP_SEND_IMM] = IBV_WC_SEND,
	[ERDMA_OP_RECV] = IBV_WC_RECV,
	[ERDMA_OP_RECV_WRITE_IMM] = IBV_WC_RECV_RDMA_WITH_IMM,
	[ERDMA_OP_RECV_SEND_INV] = IBV_WC_RECV,
	[ERDMA_OP_WRITE_IMM] = IBV_WC_RDMA_WRITE,
	[ERDMA_OP_RECV_SEND_IMM] = IBV_WC_RECV,
	[ERDMA_OP_SEND_INV] = IBV_WC_SEND,
	[ERDMA_OP_LOCAL_INV] = IBV_WC_LOCAL_INV,
	[ERDMA_OP_READ_INV] = IBV_WC_RDMA_READ,
	[ERDMA_OP_CMP_SWAP] = IBV_WC_COMP_SWAP,
	[ERDMA_OP_FETCH_ADD] = IBV_WC_FETCH_ADD,
};
#define RECV_WITH_DATA                                                  \
	(1u << ERDMA_OP_RECV_WRITE_IMM | 1u << ERDMA_OP_RECV_SEND_IMM | \
	 1u << ERDMA_OP_RECV_SEND_INV)

static inline struct erdma_qp *find_qp(struct erdma_cq *cq, uint32_t qpn)
{
	struct erdma_context *context = to_erdma_context(cq->verbs.cq.context);
	struct erdma_qp_leaf *leaf;

	if (unlikely(qpn >> ERDMA_QPN_LEAF_BITS >= ERDMA_QPN_LEAVES))
		return NULL;
	leaf = __atomic_load_n(&context->leaves[qpn >> ERDMA_QPN_LEAF_BITS], __ATOMIC_ACQUIRE);
	return leaf ? leaf->qp[qpn & (ERDMA_QPN_LEAF_SIZE - 1)] : NULL;
}

/* NULL if the entry at index ci is not the NIC's yet. */
static inline const struct erdma_cqe *cqe_at(const struct erdma_cq *cq, uint32_t ci, uint32_t *head)
{
	const struct erdma_cqe *cqe = &cq->ring[ci & cq->mask];
	uint32_t lap = (ci & (cq->mask + 1)) ? nic_mask(ERDMA_CQE_OWNER) : 0;

	*head = nic_from_be32(*(const volatile __be32 *)&cqe->hdr);
	return (*head ^ lap) & nic_mask(ERDMA_CQE_OWNER) ? cqe : NULL;
}

/* What a receive's CQE says beyond the common part: immediate, R_Key, datagram. */
static void fill_recv(const struct erdma_qp *qp, const struct erdma_cqe *cqe, uint32_t opcode,
		      struct ibv_wc *wc)
{
	if (opcode == ERDMA_OP_RECV_SEND_INV) {
		wc->invalidated_rkey = nic_from_be32(cqe->invalidated);
		wc->wc_flags = IBV_WC_WITH_INV;
	} else if (1u << (opcode & 31) & RECV_WITH_DATA) {
		wc->imm_data = (__be32)nic_to_be32(nic_from_le32(cqe->immediate));
		wc->wc_flags = IBV_WC_WITH_IMM;
	}
	if (qp->is_ud) {
		uint32_t ud = nic_from_be32(cqe->ud);

		wc->src_qp = nic_pick(ud, ERDMA_CQE_UD_QPN);
		wc->sl = (uint8_t)nic_pick(ud, ERDMA_CQE_UD_SL);
		wc->wc_flags |= IBV_WC_GRH;
		wc->pkey_index = 0;
		wc->slid = 0;
		wc->dlid_path_bits = 0;
	}
}

static void fill_error(uint32_t status, struct ibv_wc *wc)
{
	if (status >= ERDMA_STATUS_COUNT)
		status = ERDMA_STATUS_GENERAL;
	wc->status = wc_statuses[status].status;
	wc->vendor_err = wc_statuses[status].vendor;
}

/*
 * Takes the wr_id, then frees the ring's blocks up to the end of this WQE: those
 * before it are done too, without a CQE of their own. In this order, since a poster
 * that sees the new ci may use the place at once. False for an index that was not
 * posted, or was completed before: the NIC erred, and the caller drops the entry.
 */
static inline bool consume_send(struct erdma_sq *sq, uint16_t index, uint64_t *wr_id)
{
	uint32_t place = index & sq->mask;
	const struct erdma_sqe *sqe = (const void *)(sq->ring + (place << ERDMA_SQ_BLOCK_SHIFT));
	uint16_t end = (uint16_t)nic_pick(nic_from_le64(sqe->hdr), ERDMA_SQE_END);

	if (unlikely((uint16_t)(end - sq->ci - 1) > sq->mask))
		return false;
	*wr_id = sq->wr_id[place];
	__atomic_store_n(&sq->ci, end, __ATOMIC_RELEASE);
	return true;
}

/* One completion to wc; false, with wc half filled, for an entry that stands for none. */
static inline bool read_cqe(struct erdma_cq *cq, const struct erdma_cqe *cqe, uint32_t head,
			    struct ibv_wc *wc)
{
	uint32_t opcode = nic_pick(head, ERDMA_CQE_OPCODE);
	uint32_t status = nic_pick(head, ERDMA_CQE_STATUS);
	struct erdma_qp *qp = cq->last;
	uint32_t index, qpn;

	/* The rest of the entry may be older than its owner bit. */
	udma_from_device_barrier();
	qpn = nic_from_be32(cqe->qpn);
	index = nic_from_be32(cqe->wqe_index);
	if (unlikely(!qp || qp->rq.qpn != qpn)) {
		qp = find_qp(cq, qpn);
		if (!qp)
			return false;
		cq->last = qp;
	}

	wc->wc_flags = 0;
	wc->opcode = wc_opcodes[opcode & 31];
	if (nic_pick(head, ERDMA_CQE_QUEUE) == ERDMA_CQE_QUEUE_SQ) {
		if (!consume_send(&qp->sq, (uint16_t)index, &wc->wr_id))
			return false;
	} else {
		wc->wr_id = qp->rq.wr_id[index & qp->rq.mask];
		/* After the wr_id is taken: see consume_send(). */
		__atomic_store_n(&qp->rq.ci, qp->rq.ci + 1, __ATOMIC_RELEASE);
		if (unlikely(opcode != ERDMA_OP_RECV || qp->is_ud))
			fill_recv(qp, cqe, opcode, wc);
	}
	wc->byte_len = nic_from_be32(cqe->length);
	wc->qp_num = qpn;
	wc->status = IBV_WC_SUCCESS;
	wc->vendor_err = 0;
	if (unlikely(status))
		fill_error(status, wc);
	return true;
}

int an_erdma_poll_cq(struct ibv_cq *ibv_cq, int entries, struct ibv_wc *wc)
{
	struct erdma_cq *cq = to_erdma_cq(ibv_cq);
	struct ibv_wc *next = wc, *end = wc + entries;
	const struct erdma_cqe *cqe;
	uint32_t head, ci;

	anynic_lock(&cq->lock);
	for (ci = cq->ci; next < end && (cqe = cqe_at(cq, ci, &head)); ci++)
		next += read_cqe(cq, cqe, head, next);
	cq->ci = ci;
	anynic_unlock(&cq->lock);
	return (int)(next - wc);
}

int an_erdma_req_notify_cq(struct ibv_cq *ibv_cq, int solicited_only)
{
	struct erdma_cq *cq = to_erdma_cq(ibv_cq);

	anynic_lock(&cq->lock);
	erdma_ring(cq->db, cq->record,
		   nic_prep(ERDMA_CQ_DB_COUNT, cq->armed) | nic_prep(ERDMA_CQ_DB_CQN, cq->cqn) |
			   nic_prep(ERDMA_CQ_DB_ARM, 1) |
			   nic_prep(ERDMA_CQ_DB_SOLICITED, solicited_only != 0) |
			   nic_prep(ERDMA_CQ_DB_EVENTS, cq->events) |
			   nic_prep(ERDMA_CQ_DB_CI, cq->ci));
	cq->armed++;
	anynic_unlock(&cq->lock);
	return 0;
}

void an_erdma_cq_event(struct ibv_cq *ibv_cq)
{
	to_erdma_cq(ibv_cq)->events++;
}

/*
 * Takes a destroyed QP's entries out of the ring, since its number will be given
 * to another QP. Entries that stay move up towards the producer; each slot keeps
 * the owner bit of its lap.
 */
void erdma_cq_forget(struct erdma_cq *cq, struct erdma_qp *qp)
{
	uint32_t first, from, to, head;

	anynic_lock(&cq->lock);
	first = cq->ci;
	while (cq->ci - first <= cq->mask && cqe_at(cq, cq->ci, &head))
		cq->ci++;
	udma_from_device_barrier();
	for (from = to = cq->ci; from != first;) {
		struct erdma_cqe *cqe = &cq->ring[--from & cq->mask], *slot;

		if (nic_from_be32(cqe->qpn) == qp->rq.qpn)
			continue;
		slot = &cq->ring[--to & cq->mask];
		if (slot == cqe)
			continue;
		head = (nic_from_be32(slot->hdr) & nic_mask(ERDMA_CQE_OWNER)) |
		       (nic_from_be32(cqe->hdr) & ~nic_mask(ERDMA_CQE_OWNER));
		*slot = *cqe;
		slot->hdr = nic_to_be32(head);
	}
	cq->ci = to;
	if (cq->last == qp)
		cq->last = NULL;
	anynic_unlock(&cq->lock);
}

/* ---- the extended interface: one completion at a time ---- */

static int next_poll(struct ibv_cq_ex *cq_ex)
{
	struct erdma_cq *cq = to_erdma_cq(ibv_cq_ex_to_cq(cq_ex));
	const struct erdma_cqe *cqe;
	uint32_t head;

	while ((cqe = cqe_at(cq, cq->ci, &head))) {
		cq->ci++;
		if (!read_cqe(cq, cqe, head, &cq->wc))
			continue;
		cq_ex->wr_id = cq->wc.wr_id;
		cq_ex->status = cq->wc.status;
		return 0;
	}
	return ENOENT;
}

static int start_poll(struct ibv_cq_ex *cq_ex, struct ibv_poll_cq_attr *attr)
{
	struct erdma_cq *cq = to_erdma_cq(ibv_cq_ex_to_cq(cq_ex));
	int err;

	if (attr->comp_mask)
		return EINVAL;
	anynic_lock(&cq->lock);
	err = next_poll(cq_ex);
	/* end_poll is for a poll that started. */
	if (err)
		anynic_unlock(&cq->lock);
	return err;
}

static void end_poll(struct ibv_cq_ex *cq_ex)
{
	anynic_unlock(&to_erdma_cq(ibv_cq_ex_to_cq(cq_ex))->lock);
}

#define READ_FIELD(type, name, field)                                 \
	static type read_##name(struct ibv_cq_ex *cq_ex)              \
	{                                                             \
		return to_erdma_cq(ibv_cq_ex_to_cq(cq_ex))->wc.field; \
	}
READ_FIELD(enum ibv_wc_opcode, opcode, opcode)
READ_FIELD(uint32_t, vendor_err, vendor_err)
READ_FIELD(uint32_t, byte_len, byte_len)
READ_FIELD(__be32, imm_data, imm_data)
READ_FIELD(uint32_t, qp_num, qp_num)
READ_FIELD(uint32_t, src_qp, src_qp)
READ_FIELD(unsigned int, wc_flags, wc_flags)
READ_FIELD(uint32_t, slid, slid)
READ_FIELD(uint8_t, sl, sl)
READ_FIELD(uint8_t, dlid_path_bits, dlid_path_bits)

static void set_extended(struct ibv_cq_ex *cq_ex)
{
	cq_ex->start_poll = start_poll;
	cq_ex->next_poll = next_poll;
	cq_ex->end_poll = end_poll;
	cq_ex->read_opcode = read_opcode;
	cq_ex->read_vendor_err = read_vendor_err;
	cq_ex->read_wc_flags = read_wc_flags;
	cq_ex->read_byte_len = read_byte_len;
	cq_ex->read_imm_data = read_imm_data;
	cq_ex->read_qp_num = read_qp_num;
	cq_ex->read_src_qp = read_src_qp;
	cq_ex->read_slid = read_slid;
	cq_ex->read_sl = read_sl;
	cq_ex->read_dlid_path_bits = read_dlid_path_bits;
}

/* ---- create and destroy ---- */

static uint32_t round_up(uint32_t cqe)
{
	return cqe <= CQE_MIN ? CQE_MIN : 1u << (32 - __builtin_clz(cqe - 1));
}

/* The plain command: nothing that a CQ of this class may have needs the extended one. */
static int command_create(struct ibv_context *context, struct erdma_cq *cq,
			  const struct ibv_cq_init_attr_ex *attr,
			  struct erdma_uresp_create_cq *answer)
{
	struct erdma_create_cq_cmd_resp resp = {0};
	struct erdma_create_cq_cmd cmd = {0};
	int err;

	cmd.db_record_va = (uintptr_t)cq->record;
	cmd.qbuf_va = (uintptr_t)cq->buffer.addr;
	cmd.qbuf_len = (uint32_t)cq->buffer.length;
	err = ibv_cmd_create_cq(context, (int)attr->cqe, attr->channel, (int)attr->comp_vector,
				&cq->verbs.cq, &cmd.ibv_cmd, sizeof(cmd), &resp.ibv_resp,
				sizeof(resp));
	*answer = resp.drv_payload;
	return -err;
}

static void cqs_add(struct erdma_context *context, struct erdma_cq *cq)
{
	pthread_mutex_lock(&context->qp_mutex);
	cq->next = context->cqs;
	context->cqs = cq;
	pthread_mutex_unlock(&context->qp_mutex);
}

static void cqs_remove(struct erdma_context *context, struct erdma_cq *cq)
{
	struct erdma_cq **link;

	pthread_mutex_lock(&context->qp_mutex);
	for (link = &context->cqs; *link != cq; link = &(*link)->next)
		;
	*link = cq->next;
	pthread_mutex_unlock(&context->qp_mutex);
}

/* attr->cqe is what was asked for; the kernel gets, and returns, the rounded number. */
static int cq_init(struct erdma_context *context, struct erdma_cq *cq,
		   struct ibv_cq_init_attr_ex *attr)
{
	struct erdma_uresp_create_cq answer;
	int err;

	attr->cqe = round_up(attr->cqe);
	err = anynic_buffer_init(&cq->buffer, (size_t)attr->cqe * ERDMA_CQE_BYTES);
	if (err)
		return err;
	cq->record = anynic_records_get(&context->records);
	if (!cq->record) {
		err = -ENOMEM;
		goto undo_buffer;
	}
	err = command_create(&context->base.verbs.context, cq, attr, &answer);
	if (err)
		goto undo_record;
	/* The driver rounds as we do; a ring of another depth would not fit its memory. */
	if (answer.num_cqe != attr->cqe) {
		err = -EIO;
		goto undo_command;
	}
	cq->ring = cq->buffer.addr;
	cq->cqn = answer.cq_id;
	cq->mask = answer.num_cqe - 1;
	cq->db = (char *)context->cq_page + cq->cqn % ERDMA_DB_CQ_SLOTS * ERDMA_DB_CQ_SLOT_BYTES;
	/* Not armed, and no count that the first arming could be taken for. */
	*cq->record =
		nic_to_le64(nic_prep(ERDMA_CQ_DB_COUNT, 0xff) | nic_prep(ERDMA_CQ_DB_CQN, cq->cqn) |
			    nic_prep(ERDMA_CQ_DB_EVENTS, 3));
	return 0;

undo_command:
	ibv_cmd_destroy_cq(&cq->verbs.cq);
undo_record:
	anynic_records_put(&context->records, cq->record);
undo_buffer:
	anynic_buffer_fini(&cq->buffer);
	return err;
}

static struct erdma_cq *create(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
	struct anynic_context *anynic = to_anynic_context(context);
	bool single = anynic->single_threaded;
	struct erdma_cq *cq;
	int err = -EINVAL;

	if (!attr->cqe || attr->cqe > anynic->limits.max_cqe) {
		anynic_refused(context, "create_cq: cqe %u, not 1..%u (NIC's limit or clamp)\n",
			       attr->cqe, anynic->limits.max_cqe);
		goto refused;
	}
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS)
		single |= attr->flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED;
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD && attr->parent_domain)
		single |= anynic_pd_is_single_threaded(attr->parent_domain);
	err = -ENOMEM;
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		goto refused;
	anynic_lock_init(&cq->lock, single);
	err = cq_init(to_erdma_context(context), cq, attr);
	if (err)
		goto undo_alloc;
	cqs_add(to_erdma_context(context), cq);
	return cq;

undo_alloc:
	free(cq);
refused:
	errno = -err;
	return NULL;
}

struct ibv_cq *an_erdma_create_cq(struct ibv_context *context, int cqe,
				  struct ibv_comp_channel *channel, int comp_vector)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = cqe > 0 ? (uint32_t)cqe : 0,
		.channel = channel,
		.comp_vector = (uint32_t)comp_vector,
	};
	struct erdma_cq *cq = create(context, &attr);

	return cq ? &cq->verbs.cq : NULL;
}

struct ibv_cq_ex *an_erdma_create_cq_ex(struct ibv_context *context,
					struct ibv_cq_init_attr_ex *asked)
{
	struct ibv_cq_init_attr_ex attr = *asked;
	struct erdma_cq *cq;

	/* Time stamps, VLAN and the like are not in this NIC's CQEs. */
	if (!check_comp_mask(attr.wc_flags, IBV_WC_STANDARD_FLAGS) ||
	    !check_comp_mask(attr.comp_mask,
			     IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD) ||
	    (attr.comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS &&
	     !check_comp_mask(attr.flags, IBV_CREATE_CQ_ATTR_SINGLE_THREADED))) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	cq = create(context, &attr);
	if (!cq)
		return NULL;
	set_extended(&cq->verbs.cq_ex);
	return &cq->verbs.cq_ex;
}

int an_erdma_destroy_cq(struct ibv_cq *ibv_cq)
{
	struct erdma_context *context = to_erdma_context(ibv_cq->context);
	struct erdma_cq *cq = to_erdma_cq(ibv_cq);
	int err;

	err = ibv_cmd_destroy_cq(ibv_cq);
	if (err)
		return err;
	cqs_remove(context, cq);
	anynic_records_put(&context->records, cq->record);
	anynic_buffer_fini(&cq->buffer);
	free(cq);
	return 0;
}
