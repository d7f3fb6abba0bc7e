// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * erdma simulator: command queue. Owns its SQ, CQ and arming. Knows nothing of
 * what a command means.
 *
 * Slots are of a fixed size. Commands run in order, at once, a few in a turn; completion is a
 * CQE, and an event on EQ 0 where the CQ is armed. The driver polls before it has interrupts
 * and again in atomic context, which rings nothing: the consumer index is known when it arms.
 */
#include "providers/erdma/erdma_sim.h"

#include <errno.h>
#include <string.h>

#define INDEX_MASK nic_max(ERDMA_CQ_DB_CI)

static void answer_arm(struct erdma_nic *nic)
{
	struct erdma_cmdq *cmdq = &nic->cmdq;

	cmdq->armed = false;
	cmdq->arm.answered = true;
	cmdq->arm.answered_count = cmdq->arm.count;
	erdma_eq_push_command(nic);
}

void erdma_cmdq_arm(struct erdma_nic *nic, uint64_t value)
{
	uint32_t unread = (nic->cmdq.cq_pi - nic_pick(value, ERDMA_CQ_DB_CI)) & INDEX_MASK;
	struct erdma_cmdq *cmdq = &nic->cmdq;

	if (!(nic->state & ERDMA_STATE_INIT_DONE) || unread > cmdq->depth) {
		nic->counters.bad_doorbells++;
		return;
	}
	if (!nic_pick(value, ERDMA_CQ_DB_ARM))
		return;
	cmdq->arm.count = (uint8_t)nic_pick(value, ERDMA_CQ_DB_EVENTS);
	if (cmdq->arm.answered && cmdq->arm.count == cmdq->arm.answered_count)
		return;
	cmdq->armed = true;
	if (unread)
		answer_arm(nic);
}

/* The word with the owner bit goes last: it makes the entry valid. */
static int write_cqe(struct erdma_nic *nic, struct erdma_cmd_cqe *cqe)
{
	struct erdma_cmdq *cmdq = &nic->cmdq;
	uint64_t addr =
		cmdq->cq_addr + ((uint64_t)(cmdq->cq_pi & (cmdq->depth - 1)) << ERDMA_CQE_SHIFT);
	const size_t head = sizeof(cqe->hdr);
	char *host;

	cqe->hdr |= nic_to_be32(nic_prep(ERDMA_CQE_OWNER, !(cmdq->cq_pi & cmdq->depth)));
	host = sim_dma_map(nic->dev, addr, sizeof(*cqe), true);
	if (host && (uintptr_t)host % sizeof(cqe->hdr) == 0) {
		memcpy(host + head, (char *)cqe + head, sizeof(*cqe) - head);
		__atomic_store_n((__be32 *)host, cqe->hdr, __ATOMIC_RELEASE);
		return 0;
	}
	if (sim_dma_write(nic->dev, addr + head, (char *)cqe + head, sizeof(*cqe) - head))
		return -EFAULT;
	return sim_dma_write(nic->dev, addr, cqe, head);
}

static void complete(struct erdma_nic *nic, uint16_t index, int err,
		     const struct erdma_answer *answer)
{
	struct erdma_cmd_cqe cqe = {
		.hdr = nic_to_be32(nic_prep(ERDMA_CQE_QUEUE, ERDMA_CQE_QUEUE_CMD) |
				   nic_prep(ERDMA_CQE_STATUS, -err)),
		.sqe_index = nic_to_be32(index),
		.resp0_low = nic_to_be32((uint32_t)answer->resp0),
		.resp0_high = nic_to_be32((uint32_t)(answer->resp0 >> 32)),
		.resp1_low = nic_to_be32((uint32_t)answer->resp1),
		.resp1_high = nic_to_be32((uint32_t)(answer->resp1 >> 32)),
	};

	if (write_cqe(nic, &cqe)) {
		sim_log(nic->dev, "command CQ at 0x%llx is not in guest memory",
			(unsigned long long)nic->cmdq.cq_addr);
		return;
	}
	nic->cmdq.cq_pi++;
	if (nic->cmdq.armed)
		answer_arm(nic);
}

static int read_slot(struct erdma_nic *nic, struct erdma_slot *slot)
{
	uint32_t block = nic->cmdq.fetched & (nic->cmdq.depth - 1);

	/* The depth is a multiple of a slot's blocks and so is every index: no slot wraps. */
	return sim_dma_read(nic->dev, nic->cmdq.sq_addr + ((uint64_t)block << ERDMA_SQ_BLOCK_SHIFT),
			    slot->bytes, sizeof(slot->bytes));
}

bool erdma_cmdq_run(struct erdma_nic *nic)
{
	struct erdma_cmdq *cmdq = &nic->cmdq;
	unsigned int budget = ERDMA_COMMAND_BUDGET;
	struct erdma_answer answer;
	struct erdma_slot slot;
	int err;

	while (cmdq->fetched != cmdq->pi && budget--) {
		memset(&answer, 0, sizeof(answer));
		err = read_slot(nic, &slot);
		if (!err)
			err = erdma_command(nic, &slot, &answer);
		nic->counters.commands++;
		if (err)
			nic->counters.command_errors++;
		complete(nic, cmdq->fetched, err, &answer);
		cmdq->fetched = (uint16_t)(cmdq->fetched + ERDMA_CMD_SLOT_BLOCKS);
	}
	return cmdq->fetched != cmdq->pi;
}

void erdma_cmdq_doorbell(struct erdma_nic *nic, uint64_t value)
{
	uint16_t pi = (uint16_t)nic_pick(value, ERDMA_SQ_DB_PI);
	struct erdma_cmdq *cmdq = &nic->cmdq;
	uint16_t ahead = (uint16_t)(pi - cmdq->fetched);

	if (!(nic->state & ERDMA_STATE_INIT_DONE) || ahead > cmdq->depth ||
	    ahead % ERDMA_CMD_SLOT_BLOCKS) {
		nic->counters.bad_doorbells++;
		return;
	}
	cmdq->pi = pi;
	if (erdma_cmdq_run(nic))
		erdma_nic_defer(nic);
}
