/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The miniature driver: probe, commands and objects. Rings and the cable are erdma_guest_ring.c. */
#include "tests/unit/providers/erdma/erdma_guest.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/t.h"
#include "tests/unit/providers/erdma/erdma_guest_ring.h"

enum { QUEUE_LOG = 6 }; /* of SQ and RQ */

static void keep_log(void *ctx, const char *line)
{
	struct guest *g = ctx;

	strncpy(g->log, line, sizeof(g->log) - 1);
}

void guest_start(struct guest *g, struct sim_loop *loop, unsigned int index,
		 const char *personality)
{
	struct sim_dev_config config = {
		.class = &sim_class_erdma,
		.nic = {.name = "erdma",
			.personality = personality,
			.mac = {0x52, 0x54, 0, 0, 0, (uint8_t)index},
			.mtu = GUEST_MTU,
			.seed = index,
			.wqe_trace = getenv("ERDMA_TEST_TRACE")},
		.loop = loop,
		.port = &guest_port,
		.port_ctx = g,
		.log = keep_log,
		.log_ctx = g,
	};

	memset(g, 0, sizeof(*g));
	g->loop = loop;
	g->index = index;
	guest_cable_init(g);
	g->memory = calloc(1, GUEST_MEMORY);
	if (!g->memory || sim_dev_create(&config, &g->dev) ||
	    sim_local_add_memory(g->dev, GUEST_BASE, g->memory, GUEST_MEMORY, true))
		abort();
	sim_local_enable(g->dev);
}

void guest_stop(struct guest *g)
{
	sim_dev_destroy(g->dev);
	guest_cable_fini(g);
	free(g->memory);
}

uint64_t guest_alloc(struct guest *g, uint64_t size, uint64_t align)
{
	uint64_t at = (g->used + align - 1) / align * align;

	if (at + size > GUEST_MEMORY)
		abort();
	g->used = at + size;
	return GUEST_BASE + at;
}

void *guest_at(struct guest *g, uint64_t addr)
{
	return g->memory + (addr - GUEST_BASE);
}

void guest_write64(struct guest *g, uint64_t offset, uint64_t value)
{
	sim_local_reg_write(g->dev, ERDMA_BAR_REGS, offset, 8, value);
}

void guest_write32(struct guest *g, uint64_t offset, uint32_t value)
{
	sim_local_reg_write(g->dev, ERDMA_BAR_REGS, offset, 4, value);
}

uint32_t guest_read32(struct guest *g, uint64_t offset)
{
	uint64_t value = 0;

	sim_local_reg_read(g->dev, ERDMA_BAR_REGS, offset, 4, &value);
	return (uint32_t)value;
}

void guest_run(struct guest *g, uint64_t ns)
{
	sim_loop_advance(g->loop, ns);
}

static void write_addr(struct guest *g, uint64_t high_reg, uint64_t low_reg, uint64_t addr)
{
	guest_write32(g, high_reg, (uint32_t)(addr >> 32));
	guest_write32(g, low_reg, (uint32_t)addr);
}

bool guest_probe(struct guest *g)
{
	const uint32_t depth = ERDMA_CMD_SLOTS * ERDMA_CMD_SLOT_BLOCKS;

	g->aeq = guest_alloc(g, GUEST_EVENT_DEPTH * ERDMA_EQE_BYTES, 4096);
	g->cmd_sq = guest_alloc(g, depth * ERDMA_SQ_BLOCK_BYTES, 4096);
	g->cmd_cq = guest_alloc(g, depth * ERDMA_CQE_BYTES, 4096);
	g->cmd_eq = guest_alloc(g, GUEST_EVENT_DEPTH * ERDMA_EQE_BYTES, 4096);
	g->eq[0] = g->cmd_eq;
	g->eq_depth[0] = GUEST_EVENT_DEPTH;
	memset(g->eq_ci, 0, sizeof(g->eq_ci));
	g->aeq_ci = g->cmd_pi = g->cmd_ci = 0;
	if (!guest_read32(g, ERDMA_REG_VERSION) ||
	    guest_read32(g, ERDMA_REG_PROTOCOL) != ERDMA_PROTOCOL_ROCEV2)
		return false;
	write_addr(g, ERDMA_REG_AEQ_ADDR_HIGH, ERDMA_REG_AEQ_ADDR_LOW, g->aeq);
	guest_write32(g, ERDMA_REG_AEQ_DEPTH, GUEST_EVENT_DEPTH);
	guest_write64(g, ERDMA_REG_AEQ_DBREC, guest_alloc(g, 8, 8));
	write_addr(g, ERDMA_REG_CMD_SQ_ADDR_HIGH, ERDMA_REG_CMD_SQ_ADDR_LOW, g->cmd_sq);
	guest_write32(g, ERDMA_REG_CMD_SQ_DEPTH, depth);
	guest_write64(g, ERDMA_REG_CMD_SQ_DBREC, guest_alloc(g, 8, 8));
	write_addr(g, ERDMA_REG_CMD_CQ_ADDR_HIGH, ERDMA_REG_CMD_CQ_ADDR_LOW, g->cmd_cq);
	guest_write64(g, ERDMA_REG_CMD_CQ_DBREC, guest_alloc(g, 8, 8));
	write_addr(g, ERDMA_REG_CMD_EQ_ADDR_HIGH, ERDMA_REG_CMD_EQ_ADDR_LOW, g->cmd_eq);
	guest_write32(g, ERDMA_REG_CMD_EQ_DEPTH, GUEST_EVENT_DEPTH);
	guest_write64(g, ERDMA_REG_CMD_EQ_DBREC, guest_alloc(g, 8, 8));
	guest_write32(g, ERDMA_REG_CONTROL, ERDMA_CONTROL_INIT);
	return guest_read32(g, ERDMA_REG_STATE) & ERDMA_STATE_INIT_DONE &&
	       !guest_create_eq(g, GUEST_EQN, 4);
}

static bool take_answer(struct guest *g)
{
	const uint32_t depth = ERDMA_CMD_SLOTS * ERDMA_CMD_SLOT_BLOCKS;
	const struct erdma_cmd_cqe *ring = guest_at(g, g->cmd_cq);
	const struct erdma_cmd_cqe *cqe = ring + (g->cmd_ci & (depth - 1));
	bool owner = be32toh(cqe->hdr) >> 31;

	if (owner == !!(g->cmd_ci & depth))
		return false;
	g->cmd_ci++;
	g->answer = *cqe;
	g->resp0 = (uint64_t)be32toh(cqe->resp0_high) << 32 | be32toh(cqe->resp0_low);
	g->resp1 = (uint64_t)be32toh(cqe->resp1_high) << 32 | be32toh(cqe->resp1_low);
	return true;
}

int guest_command(struct guest *g, enum erdma_command command, void *request, size_t size)
{
	const uint32_t depth = ERDMA_CMD_SLOTS * ERDMA_CMD_SLOT_BLOCKS;
	uint8_t *slot = (uint8_t *)guest_at(g, g->cmd_sq) +
			(g->cmd_pi & (depth - 1)) * ERDMA_SQ_BLOCK_BYTES;
	struct erdma_cmd *head = request;

	g->cmd_pi += ERDMA_CMD_SLOT_BLOCKS;
	head->hdr = htole64(nic_prep(ERDMA_CMD_MODULE, command >> 8) |
			    nic_prep(ERDMA_CMD_OPCODE, command & 0xff) |
			    nic_prep(ERDMA_CMD_BLOCKS, ERDMA_CMD_SLOT_BLOCKS - 1) |
			    nic_prep(ERDMA_CMD_END, g->cmd_pi));
	/* What a driver leaves behind the request is garbage. */
	memset(slot, 0xa5, ERDMA_CMD_SLOT_BYTES);
	memcpy(slot, request, size);
	guest_write64(g, ERDMA_REG_CMD_SQ_DB, (uint16_t)g->cmd_pi);
	if (!take_answer(g)) {
		guest_run(g, 1000000);
		if (!take_answer(g))
			return -1;
	}
	return (int)(be32toh(g->answer.hdr) & 0xff);
}

int guest_create_eq(struct guest *g, uint8_t eqn, uint8_t log)
{
	struct erdma_cmd_create_eq req = {
		.vector = eqn, .eqn = eqn, .log = log, .type = ERDMA_EQ_TYPE_COMPLETION};

	g->eq[eqn] = guest_alloc(g, (uint64_t)ERDMA_EQE_BYTES << log, 4096);
	g->eq_depth[eqn] = 1u << log;
	g->eq_ci[eqn] = 0;
	req.addr = htole64(g->eq[eqn]);
	return guest_command(g, ERDMA_COMMAND_CREATE_EQ, &req, sizeof(req));
}

bool guest_set_gids(struct guest *g)
{
	struct erdma_cmd_set_gid v4 = {.cfg = htole32(nic_prep(ERDMA_SET_GID_INDEX, 0))};
	struct erdma_cmd_set_gid v6 = {
		.cfg = htole32(nic_prep(ERDMA_SET_GID_INDEX, 1) | nic_prep(ERDMA_SET_GID_V6, 1))};
	struct erdma_av av;

	guest_set_av(&av, g->index);
	memcpy(v4.gid, av.dgid, sizeof(v4.gid));
	v6.gid[0] = 0xfd;
	v6.gid[15] = (uint8_t)g->index;
	return !guest_command(g, ERDMA_COMMAND_SET_GID, &v4, sizeof(v4)) &&
	       !guest_command(g, ERDMA_COMMAND_SET_GID, &v6, sizeof(v6));
}

bool guest_pair(struct guest_pair *p)
{
	if (sim_loop_create(true, &p->loop))
		return false;
	guest_start(&p->a, p->loop, 1, NULL);
	guest_start(&p->b, p->loop, 2, NULL);
	p->a.peer = &p->b;
	p->b.peer = &p->a;
	return guest_probe(&p->a) && guest_probe(&p->b) && guest_set_gids(&p->a) &&
	       guest_set_gids(&p->b);
}

void guest_pair_stop(struct guest_pair *p)
{
	guest_stop(&p->a);
	guest_stop(&p->b);
	sim_loop_destroy(p->loop);
}

struct erdma_cmd_create_cq guest_cq_request(struct guest *g, uint32_t cqn, uint32_t log)
{
	/* As the kernel describes a ring of its own: one page of 32 MiB. */
	uint64_t ring = guest_alloc(g, (uint64_t)ERDMA_CQE_BYTES << log, 4096);

	return (struct erdma_cmd_create_cq){
		.size = htole32(nic_prep(ERDMA_CREATE_CQ_LOG, log) |
				nic_prep(ERDMA_CREATE_CQ_PAGE, 25 - ERDMA_PAGE_SHIFT) |
				nic_prep(ERDMA_CREATE_CQ_CQN, cqn)),
		.addr_low = htole32((uint32_t)ring),
		.addr_high = htole32((uint32_t)(ring >> 32)),
		.cfg = htole32(nic_prep(ERDMA_CREATE_CQ_PAGES, 1) |
			       nic_prep(ERDMA_CREATE_CQ_EQN, GUEST_EQN)),
		.dbrec = htole64(guest_alloc(g, 8, 8)),
	};
}

int guest_create_cq(struct guest *g, struct guest_cq *cq, uint32_t cqn, uint32_t log)
{
	struct erdma_cmd_create_cq req = guest_cq_request(g, cqn, log);

	*cq = (struct guest_cq){
		.g = g,
		.cqn = cqn,
		.depth = 1u << log,
		.ring = (uint64_t)le32toh(req.addr_high) << 32 | le32toh(req.addr_low),
		.db = ERDMA_DB_CQ_KERNEL,
	};
	return guest_command(g, ERDMA_COMMAND_CREATE_CQ, &req, sizeof(req));
}

struct erdma_cmd_create_qp guest_qp_request(struct guest *g, uint32_t qpn, uint32_t cqn)
{
	/* As the kernel describes a ring of its own: one page of 1 MiB. */
	const uint32_t queue = nic_prep(ERDMA_CREATE_QP_SQ_PAGE, 20 - ERDMA_PAGE_SHIFT) |
			       nic_prep(ERDMA_CREATE_QP_SQ_CQN, cqn);

	return (struct erdma_cmd_create_qp){
		.sq_size = htole32(nic_prep(ERDMA_CREATE_QP_SQ_LOG, QUEUE_LOG) |
				   nic_prep(ERDMA_CREATE_QP_QPN, qpn)),
		.rq_size = htole32(nic_prep(ERDMA_CREATE_QP_RQ_LOG, QUEUE_LOG) |
				   nic_prep(ERDMA_CREATE_QP_PDN, GUEST_PD)),
		.sq_cq = htole32(queue),
		.rq_cq = htole32(queue),
		.sq_addr =
			htole64(guest_alloc(g, (uint64_t)ERDMA_SQ_BLOCK_BYTES << QUEUE_LOG, 4096)),
		.rq_addr = htole64(guest_alloc(g, (uint64_t)ERDMA_RQE_BYTES << QUEUE_LOG, 4096)),
		.sq_mtt = htole32(nic_prep(ERDMA_CREATE_QP_SQ_PAGES, 1)),
		.rq_mtt = htole32(nic_prep(ERDMA_CREATE_QP_RQ_PAGES, 1)),
		.sq_dbrec = htole64(guest_alloc(g, 8, 8)),
		.rq_dbrec = htole64(guest_alloc(g, 8, 8)),
		.type = htole32(ERDMA_QP_TYPE_RC),
	};
}

int guest_create_qp(struct guest *g, struct guest_qp *qp, uint32_t qpn, uint32_t cqn, bool ud)
{
	struct erdma_cmd_create_qp req = guest_qp_request(g, qpn, cqn);

	if (ud)
		req.type = htole32(ERDMA_QP_TYPE_UD);
	*qp = (struct guest_qp){
		.g = g,
		.qpn = qpn,
		.sq = le64toh(req.sq_addr),
		.rq = le64toh(req.rq_addr),
		.sq_depth = 1u << QUEUE_LOG,
		.rq_depth = 1u << QUEUE_LOG,
		.sq_db = ERDMA_DB_SQ_KERNEL,
		.rq_db = ERDMA_DB_RQ_KERNEL,
	};
	return guest_command(g, ERDMA_COMMAND_CREATE_QP, &req, sizeof(req));
}

struct erdma_cmd_reg_mr guest_mr_request(uint32_t index, uint64_t addr, uint64_t length)
{
	uint64_t first = addr & ~0xfffull, pages = ((addr + length - 1) >> 12) - (addr >> 12) + 1;
	struct erdma_cmd_reg_mr req = {
		.key = htole32(nic_prep(ERDMA_REG_MR_VALID, 1) |
			       nic_prep(ERDMA_REG_MR_INDEX, index)),
		.cfg = htole32(nic_prep(ERDMA_REG_MR_PDN, GUEST_PD) |
			       nic_prep(ERDMA_REG_MR_ACCESS, 31)),
		.va = htole64(addr),
		.length = htole32((uint32_t)length),
	};

	/* Large buffers as if in huge pages of 2 MiB, the others page by page. */
	if (pages > ERDMA_MTT_INLINE) {
		first = addr & ~0x1fffffull;
		req.mtt =
			htole32(nic_prep(ERDMA_REG_MR_PAGE, 21) | nic_prep(ERDMA_REG_MR_COUNT, 1));
		req.pages[0] = htole64(first);
		return req;
	}
	req.mtt = htole32(nic_prep(ERDMA_REG_MR_PAGE, 12) | nic_prep(ERDMA_REG_MR_COUNT, pages));
	for (uint64_t i = 0; i < pages; i++)
		req.pages[i] = htole64(first + (i << 12));
	return req;
}

int guest_reg_mr(struct guest *g, uint32_t index, uint64_t addr, uint64_t length)
{
	struct erdma_cmd_reg_mr req = guest_mr_request(index, addr, length);

	return guest_command(g, ERDMA_COMMAND_REG_MR, &req, sizeof(req));
}

void guest_set_av(struct erdma_av *av, unsigned int peer)
{
	const uint8_t mac[6] = {0x52, 0x54, 0, 0, 0, (uint8_t)peer};
	const uint8_t gid[16] = {[10] = 0xff, 0xff, 10, 0, 0, (uint8_t)peer};

	memset(av, 0, sizeof(*av));
	av->hop_limit = 64;
	av->udp_sport = htole16(0xc000);
	memcpy(av->dmac, mac, sizeof(mac));
	memcpy(av->dgid, gid, sizeof(gid));
}

struct erdma_cmd_modify_qp guest_modify_request(uint32_t qpn, enum erdma_qp_state state,
						uint32_t mask)
{
	return (struct erdma_cmd_modify_qp){
		.cfg = htole32(nic_prep(ERDMA_MODIFY_QP_STATE, (uint32_t)state) |
			       nic_prep(ERDMA_MODIFY_QP_QPN, qpn)),
		.mask = htole32(mask),
		.qkey = htole32(GUEST_QKEY),
		.rq_psn = htole32(0x100),
		.sq_psn = htole32(0x100),
	};
}

int guest_modify(struct guest_qp *qp, enum erdma_qp_state state, uint32_t mask, uint32_t dqpn,
		 unsigned int peer)
{
	struct erdma_cmd_modify_qp req = guest_modify_request(qp->qpn, state, mask);

	req.dqpn = htole32(dqpn);
	guest_set_av(&req.av, peer);
	return guest_command(qp->g, ERDMA_COMMAND_MODIFY_QP, &req, sizeof(req));
}

/* The masks are what the driver sends for an RC QP; for UD it adds the Q_Key and no vector. */
bool guest_bring_up(struct guest_qp *qp, uint32_t dqpn, unsigned int peer)
{
	const uint32_t state = ERDMA_MODIFY_STATE;

	if (!dqpn)
		return !guest_modify(qp, ERDMA_QPS_INIT, state | ERDMA_MODIFY_QKEY, 0, 0) &&
		       !guest_modify(qp, ERDMA_QPS_RTR, state, 0, 0) &&
		       !guest_modify(qp, ERDMA_QPS_RTS, state | ERDMA_MODIFY_SQ_PSN, 0, 0);
	return !guest_modify(qp, ERDMA_QPS_INIT, state, 0, 0) &&
	       !guest_modify(qp, ERDMA_QPS_RTR,
			     state | ERDMA_MODIFY_AV | ERDMA_MODIFY_RQ_PSN | ERDMA_MODIFY_DQPN,
			     dqpn, peer) &&
	       !guest_modify(qp, ERDMA_QPS_RTS, state | ERDMA_MODIFY_SQ_PSN, 0, 0);
}

int guest_qp_state(struct guest_qp *qp)
{
	struct erdma_cmd_qpn req = {.qpn = htole32(qp->qpn)};

	if (guest_command(qp->g, ERDMA_COMMAND_QUERY_QP, &req, sizeof(req)))
		return -1;
	return (int)nic_pick(qp->g->resp0, ERDMA_QUERY_QP_STATE);
}

bool guest_make_end(struct guest *g, struct guest_end *end, uint32_t number, bool ud)
{
	const uint64_t size = 65536;

	end->buffer = guest_alloc(g, size, size);
	end->key = number << 8;
	return !guest_create_cq(g, &end->cq, number, 8) &&
	       !guest_create_qp(g, &end->qp, number, number, ud) &&
	       !guest_reg_mr(g, number, end->buffer, size);
}

bool guest_connect(struct guest_pair *p, struct guest_end *a, struct guest_end *b)
{
	return guest_make_end(&p->a, a, 2, false) && guest_make_end(&p->b, b, 3, false) &&
	       guest_bring_up(&a->qp, b->qp.qpn, p->b.index) &&
	       guest_bring_up(&b->qp, a->qp.qpn, p->a.index);
}
