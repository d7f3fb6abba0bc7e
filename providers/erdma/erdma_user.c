/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * erdma, user half: the class's row, and the context. Owns the mapped doorbell
 * pages. Runs on the in-tree driver, whose uverbs ABI is <rdma/erdma-abi.h>.
 */
#include "providers/erdma/erdma_user.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

DECLARE_DRV_CMD(erdma_get_context_cmd, IB_USER_VERBS_CMD_GET_CONTEXT, empty, erdma_uresp_alloc_ctx);

/* What the queues can do; the counts of objects are the device's own to tell. */
static const struct anynic_limits limits = {
	.max_qp = UINT32_MAX,
	.max_cq = UINT32_MAX,
	.max_mr = UINT32_MAX,
	.max_pd = UINT32_MAX,
	.max_ah = UINT32_MAX,
	.max_send_wr = 8192,  /* 4 blocks each, and a block's index has 16 bits */
	.max_recv_wr = 32768, /* an entry's index has 16 bits */
	.max_send_sge = ERDMA_SEND_SGE_MAX,
	.max_recv_sge = ERDMA_RECV_SGE_MAX,
	.max_inline_data = ERDMA_INLINE_MAX,
	.max_cqe = 1 << 23, /* a CQ's index has 24 bits, one of which tells the lap */
	.max_qp_rd_atom = UINT32_MAX,
	.max_qp_init_rd_atom = UINT32_MAX,
	.max_msg_sz = UINT32_MAX,
	.path_mtu = UINT32_MAX,
};

static const struct verbs_context_ops ops = {
	.cq_event = an_erdma_cq_event,
	.create_ah = an_erdma_create_ah,
	.create_cq = an_erdma_create_cq,
	.create_cq_ex = an_erdma_create_cq_ex,
	.destroy_ah = an_erdma_destroy_ah,
	.destroy_cq = an_erdma_destroy_cq,
	.destroy_qp = an_erdma_destroy_qp,
	.poll_cq = an_erdma_poll_cq,
	.post_recv = an_erdma_post_recv,
	.post_send = an_erdma_post_send,
	.query_qp = an_erdma_query_qp,
	.req_notify_cq = an_erdma_req_notify_cq,
};

/* NULL if it cannot be mapped. Doorbells are written, never read. */
static void *map_page(int cmd_fd, __u64 offset)
{
	void *page = mmap(NULL, ERDMA_PAGE_SIZE, PROT_WRITE, MAP_SHARED, cmd_fd, (off_t)offset);

	return page == MAP_FAILED ? NULL : page;
}

static void unmap_page(void *page)
{
	if (page)
		munmap(page, ERDMA_PAGE_SIZE);
}

static void unmap_pages(struct erdma_context *context)
{
	unmap_page(context->sq_page);
	unmap_page(context->rq_page);
	unmap_page(context->cq_page);
}

static int context_init(struct anynic_context *anynic, int cmd_fd)
{
	struct erdma_context *context = container_of(anynic, struct erdma_context, base);
	struct erdma_get_context_cmd_resp resp = {0};
	struct ibv_get_context cmd = {0};
	int err;

	err = pabi_get_context(&anynic->verbs, &cmd, sizeof(cmd), &resp.ibv_resp, sizeof(resp));
	if (err)
		return -err;
	context->sq_page = map_page(cmd_fd, resp.sdb);
	context->rq_page = map_page(cmd_fd, resp.rdb);
	context->cq_page = map_page(cmd_fd, resp.cdb);
	if (!context->sq_page || !context->rq_page || !context->cq_page) {
		err = -errno;
		goto undo_pages;
	}
	/* A QP has two records that must lie side by side; a CQ uses one of a pair. */
	err = anynic_records_init(&context->records, 2 * ERDMA_DBREC_BYTES);
	if (err)
		goto undo_pages;
	err = -pthread_mutex_init(&context->qp_mutex, NULL);
	if (err)
		goto undo_records;
	return 0;

undo_records:
	anynic_records_fini(&context->records);
undo_pages:
	unmap_pages(context);
	return err;
}

static void context_fini(struct anynic_context *anynic)
{
	struct erdma_context *context = container_of(anynic, struct erdma_context, base);
	size_t i;

	for (i = 0; i < ERDMA_QPN_LEAVES; i++)
		free(context->leaves[i]);
	pthread_mutex_destroy(&context->qp_mutex);
	anynic_records_fini(&context->records);
	unmap_pages(context);
}

/* As the driver composes it: 32 bits major, 16 minor, 16 below. */
static void fw_version(uint64_t raw, char *text, size_t room)
{
	snprintf(text, room, "%u.%u.%u", (unsigned int)(raw >> 32) & 0xffff,
		 (unsigned int)(raw >> 16) & 0xffff, (unsigned int)raw & 0xffff);
}

static void qp_forked(struct erdma_qp *qp)
{
	qp->sq.left = 0;
	qp->sq.room = 0;
	qp->rq.room = 0;
	qp->state = IBV_QPS_ERR;
	anynic_lock_init(&qp->sq.lock, qp->sq.lock.off);
	anynic_lock_init(&qp->rq.lock, qp->rq.lock.off);
}

/*
 * Posting finds no room, polling finds an entry that is never new, arming rings
 * nothing. Locks start anew: whoever held one did not come along. The context
 * itself still works, for programs that open it before they become a daemon.
 */
static void context_forked(struct anynic_context *anynic)
{
	static struct erdma_cqe nothing;
	static __le64 nowhere;
	struct erdma_context *context = container_of(anynic, struct erdma_context, base);
	struct erdma_cq *cq;
	size_t i, j;

	for (i = 0; i < ERDMA_QPN_LEAVES; i++)
		for (j = 0; context->leaves[i] && j < ERDMA_QPN_LEAF_SIZE; j++)
			if (context->leaves[i]->qp[j])
				qp_forked(context->leaves[i]->qp[j]);
	/* For new objects of the child's own: locks that nobody holds, and pages of its own. */
	pthread_mutex_init(&context->qp_mutex, NULL);
	pthread_mutex_init(&context->records.mutex, NULL);
	context->records.pages = NULL;
	for (cq = context->cqs; cq; cq = cq->next) {
		cq->ring = &nothing;
		cq->ci = 0;
		cq->mask = 0;
		cq->last = NULL;
		cq->db = &nowhere;
		cq->record = &nowhere;
		anynic_lock_init(&cq->lock, cq->lock.off);
	}
}

static const struct verbs_match_ent match[] = {
	VERBS_DRIVER_ID(RDMA_DRIVER_ERDMA),
	VERBS_PCI_MATCH(ERDMA_PCI_VENDOR, ERDMA_PCI_DEVICE, NULL),
	{0},
};

const struct anynic_class an_erdma_user = {
	.name = "anynic-erdma",
	.driver_id = RDMA_DRIVER_ERDMA,
	.match = match,
	.abi_min = 0,
	.abi_max = ERDMA_ABI_VERSION,
	.context_bytes = sizeof(struct erdma_context),
	.limits = &limits,
	.ops = &ops,
	.context_init = context_init,
	.context_fini = context_fini,
	.fw_version = fw_version,
	.create_qp = an_erdma_create_qp,
	.modify_qp = an_erdma_modify_qp,
	.context_forked = context_forked,
};
