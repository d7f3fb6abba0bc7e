// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * erdma simulator: event queues. Owns EQ rings, their arming and interrupts.
 * Knows of a CQ only its number and EQ.
 *
 * An EQ is armed from the start. An entry raises the interrupt if the EQ is armed, and disarms
 * it. The guest arms by doorbell with its consumer index; it takes a bounded number of entries
 * each time, so arming with entries left fires at once.
 */
#include "providers/erdma/erdma_sim.h"

#include <string.h>

#define INDEX_MASK nic_max(ERDMA_EQ_DB_CI)

/* 16 bytes of either kind of entry, in cpu order. */
struct entry {
	uint64_t first; /* the owner bit is 31 in both kinds */
	uint64_t second;
};

static uint32_t unread(const struct erdma_eq *eq)
{
	return (eq->pi - eq->ci) & INDEX_MASK;
}

static void fire(struct erdma_nic *nic, struct erdma_eq *eq)
{
	if (!eq->armed || !unread(eq))
		return;
	eq->armed = false;
	nic->counters.interrupts++;
	sim_irq_raise(nic->dev, eq->vector);
}

/* The owner bit makes the entry valid, so its word goes last. */
static bool write_entry(struct erdma_nic *nic, const struct erdma_eq *eq, const struct entry *entry)
{
	uint64_t addr = eq->addr + ((uint64_t)(eq->pi & (eq->depth - 1)) << ERDMA_EQE_SHIFT);
	__le64 words[2] = {nic_to_le64(entry->first), nic_to_le64(entry->second)};
	__le64 *host = sim_dma_map(nic->dev, addr, sizeof(words), true);

	if (host && (uintptr_t)host % sizeof(*host) == 0) {
		host[1] = words[1];
		__atomic_store_n(&host[0], words[0], __ATOMIC_RELEASE);
		return true;
	}
	return !sim_dma_write(nic->dev, addr + 8, &words[1], 8) &&
	       !sim_dma_write(nic->dev, addr, &words[0], 8);
}

static bool has_room(const struct erdma_eq *eq)
{
	return unread(eq) < eq->depth;
}

static void push(struct erdma_nic *nic, struct erdma_eq *eq, struct entry entry)
{
	uint64_t owner = nic_prep(ERDMA_CEQE_OWNER, !(eq->pi & eq->depth));

	entry.first |= owner;
	if (!write_entry(nic, eq, &entry)) {
		sim_log(nic->dev, "event queue at 0x%llx is not in guest memory",
			(unsigned long long)eq->addr);
		return;
	}
	eq->pi++;
	nic->counters.eqes++;
	fire(nic, eq);
}

void erdma_eq_init(struct erdma_eq *eq, uint64_t addr, uint32_t depth, uint8_t vector)
{
	*eq = (struct erdma_eq){
		.active = true, .armed = true, .vector = vector, .addr = addr, .depth = depth};
	TAILQ_INIT(&eq->waiting);
}

void erdma_eq_fini(struct erdma_eq *eq)
{
	struct erdma_cq *cq;

	while (eq->active && (cq = TAILQ_FIRST(&eq->waiting))) {
		TAILQ_REMOVE(&eq->waiting, cq, wait);
		cq->waiting = false;
	}
	eq->active = false;
}

void erdma_eq_doorbell(struct erdma_nic *nic, struct erdma_eq *eq, uint64_t value)
{
	uint32_t ci = nic_pick(value, ERDMA_EQ_DB_CI);
	struct erdma_cq *cq;

	if (!eq->active || ((eq->pi - ci) & INDEX_MASK) > eq->depth) {
		nic->counters.bad_doorbells++;
		return;
	}
	eq->ci = ci;
	if (nic_pick(value, ERDMA_EQ_DB_ARM))
		eq->armed = true;
	fire(nic, eq);
	while (has_room(eq) && (cq = TAILQ_FIRST(&eq->waiting))) {
		TAILQ_REMOVE(&eq->waiting, cq, wait);
		cq->waiting = false;
		erdma_eq_push_cq(nic, eq, cq);
	}
}

void erdma_eq_push_cq(struct erdma_nic *nic, struct erdma_eq *eq, struct erdma_cq *cq)
{
	struct entry entry = {.first = nic_prep(ERDMA_CEQE_CQN, cq->cqn) |
				       nic_prep(ERDMA_CEQE_PI, cq->pi)};

	if (!eq->active || cq->waiting)
		return;
	if (has_room(eq)) {
		push(nic, eq, entry);
		return;
	}
	nic->counters.eq_full++;
	cq->waiting = true;
	TAILQ_INSERT_TAIL(&eq->waiting, cq, wait);
}

void erdma_eq_push_command(struct erdma_nic *nic)
{
	struct entry entry = {.first = nic_prep(ERDMA_CEQE_PI, nic->cmdq.cq_pi)};
	struct erdma_eq *eq = &nic->eqs[0];

	/* Each event answers one arming, and a full ring still has older ones to wake the guest. */
	if (!eq->active || !has_room(eq)) {
		nic->counters.eq_full++;
		return;
	}
	push(nic, eq, entry);
}

void erdma_eq_push_async(struct erdma_nic *nic, enum erdma_event type, uint32_t number)
{
	struct entry entry = {.first = nic_prep(ERDMA_AEQE_TYPE, (uint32_t)type) | (uint64_t)number
											   << 32};

	if (!nic->aeq.active || !has_room(&nic->aeq)) {
		nic->counters.eq_full++;
		sim_log(nic->dev, "asynchronous event %d of %u is lost: the queue is full", type,
			number);
		return;
	}
	push(nic, &nic->aeq, entry);
}

/*
 * The driver turns any event but a CQ error into QP_FATAL, so those that are no errors
 * (communication established, SQ drained, last WQE) have no entry.
 */
void erdma_event(void *ctx, enum roce_event event, struct roce_qp *qp, struct roce_cq *cq,
		 struct roce_srq *srq)
{
	struct erdma_nic *nic = ctx;

	(void)srq;
	switch (event) {
	case ROCE_EVENT_QP_FATAL:
		erdma_eq_push_async(nic, ERDMA_EVENT_QP_FATAL, roce_qp_number(qp));
		break;
	case ROCE_EVENT_QP_REQ_ERR:
		erdma_eq_push_async(nic, ERDMA_EVENT_QP_RQ_ERROR, roce_qp_number(qp));
		break;
	case ROCE_EVENT_QP_ACCESS_ERR:
		erdma_eq_push_async(nic, ERDMA_EVENT_ACCESS_ERROR, roce_qp_number(qp));
		break;
	case ROCE_EVENT_CQ_ERR:
		erdma_eq_push_async(nic, ERDMA_EVENT_CQ_ERROR, roce_cq_number(cq));
		break;
	case ROCE_EVENT_COMM_EST:
	case ROCE_EVENT_SQ_DRAINED:
	case ROCE_EVENT_QP_LAST_WQE:
	case ROCE_EVENT_SRQ_LIMIT:
	case ROCE_EVENT_SRQ_ERR:
		break;
	}
}
