/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* See fixture.h. Knows no provider but the name of ours. */
#include "tests/unit/userlib/fixture.h"

#include <errno.h>
#include <string.h>

struct ibv_context *fixture_device(void)
{
	static bool started;

	if (!started)
		nk_start(ANYNIC_DRIVER, 1500);
	started = true;
	return nk_open();
}

bool fixture_open(struct fixture *f, enum ibv_qp_type type)
{
	memset(f, 0, sizeof(*f));
	f->cap = (struct ibv_qp_cap){
		.max_send_wr = FIXTURE_DEPTH,
		.max_recv_wr = FIXTURE_DEPTH,
		.max_send_sge = 1,
		.max_recv_sge = 1,
	};
	f->context = fixture_device();
	if (f->context)
		f->pd = ibv_alloc_pd(f->context);
	if (f->pd)
		f->cq = ibv_create_cq(f->context, 64, NULL, NULL, 0);
	if (f->cq)
		f->qp = nk_make_qp(f->pd, f->cq, type, &f->cap, 0);
	if (!f->qp)
		return t_check(0, __FILE__, __LINE__, "fixture: %s", strerror(errno));
	f->nk_qp = nk_find_qp(f->qp);
	f->nk_cq = nk_find_cq(f->cq);
	return true;
}

void fixture_close(struct fixture *f)
{
	T_EQ(f->qp ? ibv_destroy_qp(f->qp) : 0, 0);
	T_EQ(f->cq ? ibv_destroy_cq(f->cq) : 0, 0);
	T_EQ(f->pd ? ibv_dealloc_pd(f->pd) : 0, 0);
	T_EQ(f->context ? ibv_close_device(f->context) : 0, 0);
}

struct ibv_send_wr fixture_send(enum ibv_wr_opcode opcode, struct ibv_sge *sge)
{
	*sge = (struct ibv_sge){0x1000, 8, 0x100};
	return (struct ibv_send_wr){
		.wr_id = 1,
		.sg_list = sge,
		.num_sge = 1,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
	};
}

uint32_t fixture_complete_sends(struct fixture *f, uint32_t from)
{
	uint16_t pi = nk_sq_pi(f->nk_qp);

	while ((uint16_t)from != pi) {
		const struct erdma_sqe *sqe =
			(const void *)(f->nk_qp->ring +
				       (from & (f->nk_qp->sq_blocks - 1)) * ERDMA_SQ_BLOCK_BYTES);

		nk_complete(f->nk_cq,
			    &(struct nk_completion){.qpn = f->nk_qp->qpn,
						    .opcode = nic_get(sqe, ERDMA_SQE_OPCODE),
						    .index = (uint16_t)from});
		from = nic_get(sqe, ERDMA_SQE_END);
	}
	return from;
}
