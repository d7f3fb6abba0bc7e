// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * erdma simulator: doorbells of queues. Owns the doorbell pages of BAR 0, who
 * may ring from where, and which kind of doorbell a write is.
 *
 *	0x01000  SQ   0x61000  RQ   0x79000  CQ      shared: the kernel, and users without EXTEND_DB
 *	0x80000  sets of three pages, one set a user context: SQ page, then two pages of which the
 *	         driver maps one for RQs and one for CQs, the wrong way round
 *
 * An object made with a page of a set can be rung from that set only, and one made without from
 * the shared areas only: a process cannot ring another's queues.
 */
#include "providers/erdma/erdma_sim.h"

#include <errno.h>
#include <string.h>

#define PAGES_PER_SET 3u

static unsigned int first_page(const struct erdma_nic *nic)
{
	return ERDMA_DB_EXTEND_BASE >> nic->page_shift;
}

static unsigned int count_sets(const struct erdma_nic *nic)
{
	if (!(nic->personality->caps & ERDMA_CAP_EXTEND_DB))
		return 0;
	return ((ERDMA_BAR_REGS_BYTES_EXTEND >> nic->page_shift) - first_page(nic)) / PAGES_PER_SET;
}

static bool is_allocated(const struct erdma_nic *nic, unsigned int set)
{
	return set < count_sets(nic) && nic->db_sets[set / 64] >> set % 64 & 1;
}

int erdma_db_alloc(struct erdma_nic *nic, struct erdma_resp_alloc_db *pages)
{
	unsigned int set, page;

	for (set = 0; set < count_sets(nic); set++)
		if (!is_allocated(nic, set))
			break;
	if (set == count_sets(nic))
		return -ENOSPC;
	nic->db_sets[set / 64] |= 1ull << set % 64;
	page = first_page(nic) + set * PAGES_PER_SET;
	pages->resp0 = nic_to_le64(nic_prep(ERDMA_ALLOC_DB_SQ, page) |
				   nic_prep(ERDMA_ALLOC_DB_RQ, page + 1) |
				   nic_prep(ERDMA_ALLOC_DB_CQ, page + 2));
	return 0;
}

int erdma_db_free(struct erdma_nic *nic, uint32_t sq_page, uint32_t rq_page, uint32_t cq_page)
{
	int set = erdma_db_set(nic, sq_page);

	if (set < 0)
		return set;
	if (sq_page != first_page(nic) + (unsigned int)set * PAGES_PER_SET ||
	    rq_page != sq_page + 1 || cq_page != sq_page + 2)
		return -EINVAL;
	nic->db_sets[set / 64] &= ~(1ull << set % 64);
	return 0;
}

int erdma_db_set(const struct erdma_nic *nic, uint32_t page)
{
	uint32_t set;

	if (page < first_page(nic))
		return -EINVAL;
	set = (page - first_page(nic)) / PAGES_PER_SET;
	return is_allocated(nic, set) ? (int)set : -EINVAL;
}

void erdma_db_free_all(struct erdma_nic *nic)
{
	memset(nic->db_sets, 0, sizeof(nic->db_sets));
}

static int ring_sq(struct erdma_nic *nic, int set, uint64_t value)
{
	struct erdma_qp *qp = erdma_qp_find(nic, nic_pick(value, ERDMA_SQ_DB_QPN));

	if (!qp || qp->db_set != set)
		return -ENOENT;
	return erdma_qp_sq_advance(qp, (uint16_t)nic_pick(value, ERDMA_SQ_DB_PI));
}

static int ring_rq(struct erdma_nic *nic, int set, uint64_t value)
{
	struct erdma_qp *qp = erdma_qp_find(nic, nic_pick(value, ERDMA_RQ_DB_QPN));

	if (!qp || qp->db_set != set)
		return -ENOENT;
	return erdma_qp_rq_advance(qp, (uint16_t)nic_pick(value, ERDMA_RQ_DB_PI));
}

static int ring_cq(struct erdma_nic *nic, int set, uint64_t value)
{
	struct erdma_cq *cq = erdma_cq_find(nic, nic_pick(value, ERDMA_CQ_DB_CQN));

	if (!cq || cq->db_set != set)
		return -ENOENT;
	erdma_cq_doorbell(nic, cq, value);
	return 0;
}

/*
 * Bit 31 tells a CQ's doorbell, which always arms, from an RQ's: there it is part of a field of
 * the RQE that nobody uses. Nobody clears it either, and liberdma's rings come from malloc. So
 * where the bit is set the ring decides: an RQ doorbell repeats the entry that it announces, and
 * says something new.
 */
static bool is_rq_doorbell(struct erdma_nic *nic, uint64_t value)
{
	uint16_t pi = (uint16_t)nic_pick(value, ERDMA_RQ_DB_PI), index = (uint16_t)(pi - 1);
	struct erdma_qp *qp;
	__le64 entry;

	if (!nic_pick(value, ERDMA_CQ_DB_ARM))
		return true;
	qp = erdma_qp_find(nic, nic_pick(value, ERDMA_RQ_DB_QPN));
	if (!qp || qp->rq.pi == pi ||
	    erdma_mtt_read(nic, &qp->rq.mtt,
			   (uint64_t)(index & (qp->rq.depth - 1)) << ERDMA_RQE_SHIFT, &entry,
			   sizeof(entry)))
		return false;
	return nic_from_le64(entry) == value;
}

void erdma_db_write(struct erdma_nic *nic, uint64_t offset, uint64_t value)
{
	uint32_t page = (uint32_t)(offset >> nic->page_shift);
	int set = ERDMA_DB_SET_SHARED, err;

	if (offset >= ERDMA_DB_EXTEND_BASE) {
		set = erdma_db_set(nic, page);
		if (set < 0)
			err = set;
		else if ((page - first_page(nic)) % PAGES_PER_SET == 0)
			err = ring_sq(nic, set, value);
		else if (is_rq_doorbell(nic, value))
			err = ring_rq(nic, set, value);
		else
			err = ring_cq(nic, set, value);
	} else if (offset < ERDMA_DB_RQ_BASE) {
		err = ring_sq(nic, set, value);
	} else if (offset < ERDMA_DB_CQ_BASE) {
		err = ring_rq(nic, set, value);
	} else {
		err = ring_cq(nic, set, value);
	}
	if (err) {
		nic->counters.bad_doorbells++;
		sim_log(nic->dev,
			"doorbell 0x%llx at 0x%llx: no such queue, or further than its ring",
			(unsigned long long)value, (unsigned long long)offset);
	}
}
