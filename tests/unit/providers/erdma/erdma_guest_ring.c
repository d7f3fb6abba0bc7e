/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The miniature driver: work and completion rings, events, and the cable to the peer. */
#include "tests/unit/providers/erdma/erdma_guest_ring.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

struct guest_frame {
	struct guest_frame *next;
	size_t length;
	uint8_t bytes[];
};

/* ---- the cable: frames arrive in a later turn, as over a switch ---- */

static void *cable_alloc(void *ctx, size_t length)
{
	struct guest_frame *frame = malloc(sizeof(*frame) + length);

	(void)ctx;
	return frame ? frame->bytes : NULL;
}

static void cable_send(void *ctx, void *buffer, size_t length)
{
	struct guest_frame *frame = (void *)((char *)buffer - offsetof(struct guest_frame, bytes));
	struct guest *g = ctx;

	g->sent++;
	if (g->lose || !g->peer) {
		g->lose -= g->lose != 0;
		free(frame);
		return;
	}
	frame->next = NULL;
	frame->length = length;
	*g->frames_end = frame;
	g->frames_end = &frame->next;
	sim_task_set(g->cable, 0);
}

const struct sim_port_ops guest_port = {.tx_alloc = cable_alloc, .tx_send = cable_send};

static void cable_run(void *ctx, uint64_t now)
{
	struct guest *g = ctx;
	struct guest_frame *frame;

	(void)now;
	while ((frame = g->frames)) {
		g->frames = frame->next;
		if (!g->frames)
			g->frames_end = &g->frames;
		sim_dev_rx_frame(g->peer->dev, frame->bytes, frame->length);
		free(frame);
	}
}

void guest_cable_init(struct guest *g)
{
	g->frames_end = &g->frames;
	if (sim_task_add(g->loop, cable_run, g, &g->cable))
		abort();
}

void guest_cable_fini(struct guest *g)
{
	struct guest_frame *frame;

	sim_task_remove(g->cable);
	while ((frame = g->frames)) {
		g->frames = frame->next;
		free(frame);
	}
}

/* ---- work ---- */

void guest_put(struct guest_qp *qp, void *sqe, unsigned int blocks)
{
	struct erdma_sqe *head = sqe;
	uint8_t *ring = guest_at(qp->g, qp->sq);
	uint64_t hdr = le64toh(head->hdr);
	unsigned int i;

	hdr |= nic_prep(ERDMA_SQE_BLOCKS, blocks - 1) | nic_prep(ERDMA_SQE_QPN, qp->qpn) |
	       nic_prep(ERDMA_SQE_END, (uint16_t)(qp->sq_pi + blocks));
	head->hdr = htole64(hdr);
	for (i = 0; i < blocks; i++, qp->sq_pi++)
		memcpy(ring + (qp->sq_pi & (qp->sq_depth - 1)) * ERDMA_SQ_BLOCK_BYTES,
		       (uint8_t *)sqe + i * ERDMA_SQ_BLOCK_BYTES, ERDMA_SQ_BLOCK_BYTES);
}

void guest_ring_sq(struct guest_qp *qp)
{
	guest_write64(qp->g, qp->sq_db,
		      nic_prep(ERDMA_SQ_DB_QPN, qp->qpn) | nic_prep(ERDMA_SQ_DB_PI, qp->sq_pi));
}

void guest_post(struct guest_qp *qp, void *sqe, unsigned int blocks)
{
	guest_put(qp, sqe, blocks);
	guest_ring_sq(qp);
}

void guest_recv(struct guest_qp *qp, uint64_t addr, uint32_t length, uint32_t key)
{
	struct erdma_rqe *rqe = guest_at(qp->g, qp->rq);

	rqe += qp->rq_pi & (qp->rq_depth - 1);
	qp->rq_pi++;
	rqe->index = htole16(qp->rq_pi);
	rqe->qpn = htole32(qp->qpn);
	rqe->addr = htole64(addr);
	rqe->length = htole32(length);
	rqe->key = htole32(key);
	/* With whatever is in the entry's unused field, as liberdma does it. */
	guest_write64(qp->g, qp->rq_db,
		      (uint64_t)qp->qpn << 32 | (uint32_t)le16toh(rqe->rsvd0) << 16 | qp->rq_pi);
}

/* ---- completions and events ---- */

bool guest_peek(struct guest_cq *cq, struct erdma_cqe *cqe)
{
	const struct erdma_cqe *ring = guest_at(cq->g, cq->ring);

	*cqe = ring[cq->ci & (cq->depth - 1)];
	return (be32toh(cqe->hdr) >> 31) != !!(cq->ci & cq->depth);
}

bool guest_wait(struct guest_cq *cq, struct erdma_cqe *cqe)
{
	unsigned int ms;

	for (ms = 0; ms < 1000 && !guest_peek(cq, cqe); ms++)
		guest_run(cq->g, 1000000);
	if (!guest_peek(cq, cqe))
		return false;
	cq->ci++;
	return true;
}

void guest_arm(struct guest_cq *cq, bool solicited)
{
	guest_write64(cq->g, cq->db,
		      nic_prep(ERDMA_CQ_DB_CQN, cq->cqn) | nic_prep(ERDMA_CQ_DB_ARM, 1) |
			      nic_prep(ERDMA_CQ_DB_SOLICITED, solicited) |
			      nic_prep(ERDMA_CQ_DB_EVENTS, cq->events & 3) |
			      nic_prep(ERDMA_CQ_DB_CI, cq->ci));
}

int guest_event(struct guest *g, uint8_t eqn)
{
	const struct erdma_ceqe *ring = guest_at(g, g->eq[eqn]);
	uint32_t depth = g->eq_depth[eqn], ci = g->eq_ci[eqn];
	uint64_t hdr = le64toh(ring[ci & (depth - 1)].hdr);

	if (nic_pick(hdr, ERDMA_CEQE_OWNER) == !!(ci & depth))
		return -1;
	g->eq_ci[eqn]++;
	return (int)nic_pick(hdr, ERDMA_CEQE_CQN);
}

void guest_arm_eq(struct guest *g, uint8_t eqn)
{
	guest_write64(g, ERDMA_REG_EQ_DB + 8u * eqn,
		      nic_prep(ERDMA_EQ_DB_ARM, 1) | nic_prep(ERDMA_EQ_DB_CI, g->eq_ci[eqn]));
}

int64_t guest_async(struct guest *g)
{
	const struct erdma_aeqe *ring = guest_at(g, g->aeq);
	const struct erdma_aeqe *aeqe = ring + (g->aeq_ci & (GUEST_EVENT_DEPTH - 1));
	int64_t event;

	if (nic_get(aeqe, ERDMA_AEQE_OWNER) == !!(g->aeq_ci & GUEST_EVENT_DEPTH))
		return -1;
	event = (int64_t)nic_get(aeqe, ERDMA_AEQE_TYPE) << 24 | le32toh(aeqe->number);
	g->aeq_ci++;
	guest_write64(g, ERDMA_REG_AEQ_DB,
		      nic_prep(ERDMA_EQ_DB_ARM, 1) | nic_prep(ERDMA_EQ_DB_CI, g->aeq_ci));
	return event;
}

unsigned int guest_irqs(struct guest *g, unsigned int vector)
{
	return sim_local_irqs(g->dev, vector);
}

struct wanted {
	const char *name;
	uint64_t value;
};

static void match(void *ctx, const char *name, uint64_t value)
{
	struct wanted *wanted = ctx;

	if (!strcmp(name, wanted->name))
		wanted->value = value;
}

uint64_t guest_counter(struct guest *g, const char *name)
{
	struct wanted wanted = {.name = name};

	sim_dev_counters(g->dev, match, &wanted);
	return wanted.value;
}
