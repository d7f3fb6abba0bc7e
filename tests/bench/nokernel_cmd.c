/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The no-kernel harness: answers to write() commands, with the checks and the
 * results of the in-tree erdma driver. Owns nothing but struct nk.
 */
#include "tests/bench/nokernel.h"

#include <errno.h>
#include <rdma/erdma-abi.h>
#include <rdma/ib_user_verbs.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define MAX_SEND_WR 8192
#define MAX_RECV_WR 8192
#define MAX_CQE	    (1u << 20)

/* One command: the core's request, the driver's part behind it, and where the answer goes. */
struct call {
	const void *request;
	const void *driver;
	void *response;
	size_t response_bytes;
};

static uint32_t power_of_two(uint32_t number)
{
	return number <= 1 ? 1 : 1u << (32 - __builtin_clz(number - 1));
}

/* The answer is cut to the room that the caller said it has. */
static void answer(const struct call *call, const void *core, size_t core_bytes, const void *driver,
		   size_t driver_bytes)
{
	char whole[512];

	memcpy(whole, core, core_bytes);
	if (driver_bytes)
		memcpy(whole + core_bytes, driver, driver_bytes);
	if (core_bytes + driver_bytes < call->response_bytes)
		memset(whole + core_bytes + driver_bytes, 0,
		       call->response_bytes - core_bytes - driver_bytes);
	memcpy(call->response, whole, call->response_bytes);
}

static int get_context(const struct call *call)
{
	const struct ib_uverbs_get_context_resp core = {
		.async_fd = (__u32)eventfd(0, EFD_CLOEXEC),
		.num_comp_vectors = 2,
	};
	const struct erdma_uresp_alloc_ctx driver = {
		.dev_id = ERDMA_PCI_DEVICE,
		.sdb = 0x1000,
		.rdb = 0x2000,
		.cdb = 0x3000,
	};

	answer(call, &core, sizeof(core), &driver, sizeof(driver));
	return 0;
}

static int query_device(const struct call *call)
{
	const struct ib_uverbs_query_device_resp core = {
		.fw_ver = 0x100020003,
		.vendor_id = ERDMA_PCI_VENDOR,
		.vendor_part_id = ERDMA_PCI_DEVICE,
		.max_mr_size = 1ull << 40,
		.page_size_cap = 0x7ffff000,
		.max_qp = 1023,
		.max_qp_wr = 8192,
		.max_sge = ERDMA_SEND_SGE_MAX,
		.max_sge_rd = 1,
		.max_cq = 2047,
		.max_cqe = (int)MAX_CQE,
		.max_mr = 2048,
		.max_pd = 131072,
		.max_qp_rd_atom = 128,
		.max_qp_init_rd_atom = 128,
		.max_ah = 4096,
		.max_pkeys = 1,
		.phys_port_cnt = 1,
	};

	answer(call, &core, sizeof(core), NULL, 0);
	return 0;
}

static int query_port(const struct call *call)
{
	const struct ib_uverbs_query_port *request = call->request;
	const struct ib_uverbs_query_port_resp core = {
		.max_msg_sz = UINT32_MAX,
		.gid_tbl_len = 16,
		.state = IBV_PORT_ACTIVE,
		.max_mtu = IBV_MTU_4096,
		.active_mtu = (__u8)nk.active_mtu,
		.link_layer = IBV_LINK_LAYER_ETHERNET,
	};

	if (request->port_num != 1)
		return EINVAL;
	answer(call, &core, sizeof(core), NULL, 0);
	return 0;
}

static int alloc_pd(const struct call *call)
{
	const struct ib_uverbs_alloc_pd_resp core = {.pd_handle = 1};

	answer(call, &core, sizeof(core), NULL, 0);
	return 0;
}

static int reg_mr(const struct call *call)
{
	static uint32_t index = 1;
	const struct ib_uverbs_reg_mr *request = call->request;
	const struct ib_uverbs_reg_mr_resp core = {
		.mr_handle = index,
		.lkey = index << 8,
		.rkey = index << 8,
	};

	if (!request->length)
		return EINVAL;
	index = index % 0xfffff + 1;
	answer(call, &core, sizeof(core), NULL, 0);
	return 0;
}

static int create_ah(const struct call *call)
{
	static uint32_t index = 1;
	const struct ib_uverbs_create_ah_resp core = {.ah_handle = index};

	if (!nk.makes_ahs)
		return EOPNOTSUPP;
	if (nk.hides_ahns)
		memcpy(call->response, &core, sizeof(core));
	else
		answer(call, &core, sizeof(core), &index, sizeof(index));
	index++;
	return 0;
}

static int create_comp_channel(const struct call *call)
{
	const struct ib_uverbs_create_comp_channel_resp core = {
		.fd = (__u32)eventfd(0, EFD_CLOEXEC),
	};

	answer(call, &core, sizeof(core), NULL, 0);
	return 0;
}

static int create_cq(const struct call *call)
{
	const struct ib_uverbs_create_cq *request = call->request;
	const struct erdma_ureq_create_cq *driver = call->driver;
	uint32_t depth = power_of_two(request->cqe), cqn;

	for (cqn = 1; cqn < NK_CQS && nk.cq[cqn].used; cqn++)
		;
	if (cqn == NK_CQS || request->cqe > MAX_CQE || request->comp_vector >= 2 ||
	    driver->qbuf_len < (size_t)depth * ERDMA_CQE_BYTES)
		return EINVAL;
	nk.cq[cqn] = (struct nk_cq){
		.used = true,
		.cqn = cqn,
		.depth = depth,
		.ring = (void *)(uintptr_t)driver->qbuf_va,
		.record = (void *)(uintptr_t)driver->db_record_va,
	};
	answer(call, &(struct ib_uverbs_create_cq_resp){.cq_handle = cqn, .cqe = depth},
	       sizeof(struct ib_uverbs_create_cq_resp),
	       &(struct erdma_uresp_create_cq){.cq_id = cqn, .num_cqe = depth},
	       sizeof(struct erdma_uresp_create_cq));
	return 0;
}

static int destroy_cq(const struct call *call)
{
	const struct ib_uverbs_destroy_cq *request = call->request;
	const struct ib_uverbs_destroy_cq_resp core = {
		.comp_events_reported = nk.cq[request->cq_handle % NK_CQS].events,
	};

	nk.cq[request->cq_handle % NK_CQS].used = false;
	answer(call, &core, sizeof(core), NULL, 0);
	return 0;
}

/* drivers/infiniband/hw/erdma/erdma_verbs.c: erdma_qp_validate_cap(), init_user_qp() */
static int create_qp(const struct call *call)
{
	const struct ib_uverbs_create_qp *request = call->request;
	const struct erdma_ureq_create_qp *driver = call->driver;
	uint32_t sq = power_of_two(request->max_send_wr * ERDMA_SQE_BLOCKS_MAX);
	uint32_t rq = power_of_two(request->max_recv_wr), qpn;
	uint32_t rq_offset = (sq * ERDMA_SQ_BLOCK_BYTES + 4095) & ~4095u;

	if (!request->max_send_wr || request->max_send_wr > MAX_SEND_WR || !request->max_recv_wr ||
	    request->max_recv_wr > MAX_RECV_WR || request->max_send_sge > ERDMA_SEND_SGE_MAX ||
	    request->max_recv_sge > ERDMA_RECV_SGE_MAX ||
	    request->max_inline_data > ERDMA_INLINE_MAX)
		return EINVAL;
	if (request->qp_type != IBV_QPT_RC && request->qp_type != IBV_QPT_UD)
		return EOPNOTSUPP;
	if (driver->qbuf_len < rq_offset + rq * ERDMA_RQE_BYTES)
		return EINVAL;
	for (qpn = 1; qpn < NK_QPS && nk.qp[qpn].used; qpn++)
		;
	if (qpn == NK_QPS)
		return ENOMEM;
	nk.qp[qpn] = (struct nk_qp){
		.used = true,
		.qpn = qpn,
		.sq_blocks = sq,
		.rq_entries = rq,
		.rq_offset = rq_offset,
		.ring = (void *)(uintptr_t)driver->qbuf_va,
		.records = (void *)(uintptr_t)driver->db_record_va,
	};
	/* Of an earlier QP with that number. */
	memset(nk.sq_page + qpn % ERDMA_DB_SQ_SLOTS * ERDMA_DB_SQ_SLOT_BYTES, 0, 8);
	memset(nk.rq_page + qpn % ERDMA_DB_RQ_SLOTS * ERDMA_DB_RQ_SLOT_BYTES, 0, 8);
	answer(call,
	       &(struct ib_uverbs_create_qp_resp){
		       .qp_handle = qpn,
		       .qpn = qpn,
		       .max_send_wr = request->max_send_wr,
		       .max_recv_wr = request->max_recv_wr,
		       .max_send_sge = request->max_send_sge,
		       .max_recv_sge = request->max_recv_sge,
		       .max_inline_data = request->max_inline_data,
	       },
	       sizeof(struct ib_uverbs_create_qp_resp),
	       &(struct erdma_uresp_create_qp){
		       .qp_id = qpn, .num_sqe = sq, .num_rqe = rq, .rq_offset = rq_offset},
	       sizeof(struct erdma_uresp_create_qp));
	return 0;
}

static int modify_qp(const struct call *call)
{
	const struct ib_uverbs_modify_qp *request = call->request;

	if (request->attr_mask & IBV_QP_STATE)
		nk.qp[request->qp_handle % NK_QPS].state = request->qp_state;
	return 0;
}

/* As the driver: counts of blocks, and the limits of nothing but itself. */
static int query_qp(const struct call *call)
{
	const struct ib_uverbs_query_qp *request = call->request;
	const struct nk_qp *qp = &nk.qp[request->qp_handle % NK_QPS];
	const struct ib_uverbs_query_qp_resp core = {
		.qp_state = (__u8)qp->state,
		.cur_qp_state = (__u8)qp->state,
		.max_send_wr = qp->sq_blocks,
		.max_recv_wr = qp->rq_entries,
		.max_inline_data = ERDMA_INLINE_MAX,
	};

	answer(call, &core, sizeof(core), NULL, 0);
	return 0;
}

static int destroy_qp(const struct call *call)
{
	const struct ib_uverbs_destroy_qp *request = call->request;
	const struct ib_uverbs_destroy_qp_resp core = {0};

	nk.qp[request->qp_handle % NK_QPS].used = false;
	answer(call, &core, sizeof(core), NULL, 0);
	return 0;
}

static int nothing(const struct call *call)
{
	(void)call;
	return 0;
}

static const struct {
	int (*run)(const struct call *call);
	size_t core_bytes;
	bool answers; /* the request starts with the address of the answer */
} handlers[] = {
	[IB_USER_VERBS_CMD_GET_CONTEXT] = {get_context, sizeof(struct ib_uverbs_get_context), 1},
	[IB_USER_VERBS_CMD_QUERY_DEVICE] = {query_device, sizeof(struct ib_uverbs_query_device), 1},
	[IB_USER_VERBS_CMD_QUERY_PORT] = {query_port, sizeof(struct ib_uverbs_query_port), 1},
	[IB_USER_VERBS_CMD_ALLOC_PD] = {alloc_pd, sizeof(struct ib_uverbs_alloc_pd), 1},
	[IB_USER_VERBS_CMD_DEALLOC_PD] = {nothing, sizeof(struct ib_uverbs_dealloc_pd), 0},
	[IB_USER_VERBS_CMD_CREATE_AH] = {create_ah, sizeof(struct ib_uverbs_create_ah), 1},
	[IB_USER_VERBS_CMD_DESTROY_AH] = {nothing, sizeof(struct ib_uverbs_destroy_ah), 0},
	[IB_USER_VERBS_CMD_REG_MR] = {reg_mr, sizeof(struct ib_uverbs_reg_mr), 1},
	[IB_USER_VERBS_CMD_DEREG_MR] = {nothing, sizeof(struct ib_uverbs_dereg_mr), 0},
	[IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL] = {create_comp_channel,
						   sizeof(struct ib_uverbs_create_comp_channel), 1},
	[IB_USER_VERBS_CMD_CREATE_CQ] = {create_cq, sizeof(struct ib_uverbs_create_cq), 1},
	[IB_USER_VERBS_CMD_DESTROY_CQ] = {destroy_cq, sizeof(struct ib_uverbs_destroy_cq), 1},
	[IB_USER_VERBS_CMD_CREATE_QP] = {create_qp, sizeof(struct ib_uverbs_create_qp), 1},
	[IB_USER_VERBS_CMD_MODIFY_QP] = {modify_qp, sizeof(struct ib_uverbs_modify_qp), 0},
	[IB_USER_VERBS_CMD_QUERY_QP] = {query_qp, sizeof(struct ib_uverbs_query_qp), 1},
	[IB_USER_VERBS_CMD_DESTROY_QP] = {destroy_qp, sizeof(struct ib_uverbs_destroy_qp), 1},
};

int nk_command(const void *data, size_t length)
{
	const struct ib_uverbs_cmd_hdr *header = data;
	struct call call = {.request = header + 1};
	uint32_t command = header->command;
	uint64_t response;

	nk.commands++;
	if (length < sizeof(*header) || command >= sizeof(handlers) / sizeof(handlers[0]) ||
	    !handlers[command].run)
		return EOPNOTSUPP;
	if (length < sizeof(*header) + handlers[command].core_bytes)
		return EINVAL;
	if (nk.fail_errno && nk.fail_command == command) {
		int err = nk.fail_errno;

		nk.fail_errno = 0;
		return err;
	}
	call.driver = (const char *)call.request + handlers[command].core_bytes;
	if (handlers[command].answers) {
		memcpy(&response, call.request, sizeof(response));
		call.response = (void *)(uintptr_t)response;
		call.response_bytes = (size_t)header->out_words * 4;
	}
	return handlers[command].run(&call);
}
