/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Fuzzes the erdma simulator by what a guest can do: commands, WQEs, receives, doorbells,
 * registers and tables in memory. The NIC's port is a loop, so that what it sends it receives.
 *
 * Input: a byte for the personality, then steps. A step is a byte for its kind, a byte of
 * argument, and as many bytes as its kind takes. Before the first step the driver has done its
 * probe: a CEQ, CQ 1, RC QPs 2 and 3 connected to each other, UD QP 4, a region and a fast
 * registration; without that no fuzzer would get far.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "providers/erdma/erdma_hw.h"
#include "sim/device/sim_dev.h"
#include "sim/device/sim_loop.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
extern const struct sim_class sim_class_erdma;

#define BASE 0x10000ull

enum {
	MEMORY = 512 << 10,
	PD = 5,
	RING_LOG = 5,
	QPS = 3,
	FIRST_QPN = 2,
	STEPS = 300,
	/* Places in memory, bytes. */
	CMD_SQ = 0x0,
	CMD_CQ = 0x4000,
	CMD_EQ = 0x8000,
	AEQ = 0x9000,
	CEQ = 0xa000,
	CQ = 0xb000,
	RINGS = 0x10000, /* SQ and RQ of each QP, 0x2000 apart */
	TABLE = 0x20000,
	BUFFER = 0x40000,
};

struct frame {
	struct frame *next;
	size_t length;
	uint8_t bytes[];
};

static struct {
	struct sim_loop *loop;
	struct sim_dev *dev;
	struct sim_task *port;
	struct frame *frames, **frames_end;
	unsigned int in_flight;
	uint8_t memory[MEMORY];
	uint16_t cmd_pi;
	uint16_t sq_pi[QPS], rq_pi[QPS];
} g;

/* ---- a port that is a loop ---- */

static void *loop_alloc(void *ctx, size_t length)
{
	struct frame *frame = g.in_flight < 4096 ? malloc(sizeof(*frame) + length) : NULL;

	(void)ctx;
	return frame ? frame->bytes : NULL;
}

static void loop_send(void *ctx, void *buffer, size_t length)
{
	struct frame *frame = (void *)((char *)buffer - offsetof(struct frame, bytes));

	(void)ctx;
	frame->next = NULL;
	frame->length = length;
	*g.frames_end = frame;
	g.frames_end = &frame->next;
	g.in_flight++;
	sim_task_set(g.port, 0);
}

static const struct sim_port_ops port = {.tx_alloc = loop_alloc, .tx_send = loop_send};

static struct frame *take_frame(void)
{
	struct frame *frame = g.frames;

	if (!frame)
		return NULL;
	g.frames = frame->next;
	if (!g.frames)
		g.frames_end = &g.frames;
	g.in_flight--;
	return frame;
}

static void loop_run(void *ctx, uint64_t now)
{
	struct frame *frame;

	(void)ctx;
	(void)now;
	while ((frame = take_frame())) {
		sim_dev_rx_frame(g.dev, frame->bytes, frame->length);
		free(frame);
	}
	sim_dev_tx_room(g.dev);
}

static void no_log(void *ctx, const char *line)
{
	(void)ctx;
	(void)line;
}

/* ---- the driver ---- */

static void write32(uint64_t offset, uint32_t value)
{
	sim_local_reg_write(g.dev, ERDMA_BAR_REGS, offset, 4, value);
}

static void write64(uint64_t offset, uint64_t value)
{
	sim_local_reg_write(g.dev, ERDMA_BAR_REGS, offset, 8, value);
}

static void command(uint32_t key, void *request, size_t size)
{
	uint8_t *slot = g.memory + CMD_SQ + (g.cmd_pi & 511) * ERDMA_SQ_BLOCK_BYTES;
	struct erdma_cmd *head = request;

	head->hdr |= htole64(nic_prep(ERDMA_CMD_MODULE, key >> 8) |
			     nic_prep(ERDMA_CMD_OPCODE, key & 0xff));
	memcpy(slot, request, size < ERDMA_CMD_SLOT_BYTES ? size : ERDMA_CMD_SLOT_BYTES);
	g.cmd_pi = (uint16_t)(g.cmd_pi + ERDMA_CMD_SLOT_BLOCKS);
	write64(ERDMA_REG_CMD_SQ_DB, g.cmd_pi);
}

static void probe(void)
{
	struct erdma_cmd_create_eq eq = {.vector = 1,
					 .eqn = 1,
					 .log = 4,
					 .type = ERDMA_EQ_TYPE_COMPLETION,
					 .addr = htole64(BASE + CEQ)};
	struct erdma_cmd_create_cq cq = {
		.size = htole32(nic_prep(ERDMA_CREATE_CQ_LOG, 7) |
				nic_prep(ERDMA_CREATE_CQ_CQN, 1)),
		.addr_low = htole32((uint32_t)BASE + CQ),
		.cfg = htole32(nic_prep(ERDMA_CREATE_CQ_PAGES, 1) |
			       nic_prep(ERDMA_CREATE_CQ_EQN, 1)),
	};
	struct erdma_cmd_set_gid gid = {.gid = {[10] = 0xff, 0xff, 10, 0, 0, 1}};
	struct erdma_cmd_create_ah ah = {.pdn = htole32(PD),
					 .av = {.hop_limit = 1, .dmac = {0x52, 0x54, 1}}};

	write32(ERDMA_REG_CMD_SQ_ADDR_LOW, (uint32_t)BASE + CMD_SQ);
	write32(ERDMA_REG_CMD_CQ_ADDR_LOW, (uint32_t)BASE + CMD_CQ);
	write32(ERDMA_REG_CMD_EQ_ADDR_LOW, (uint32_t)BASE + CMD_EQ);
	write32(ERDMA_REG_AEQ_ADDR_LOW, (uint32_t)BASE + AEQ);
	write32(ERDMA_REG_CMD_SQ_DEPTH, 512);
	write32(ERDMA_REG_CMD_EQ_DEPTH, 16);
	write32(ERDMA_REG_AEQ_DEPTH, 16);
	write32(ERDMA_REG_CONTROL, ERDMA_CONTROL_INIT);
	command(ERDMA_COMMAND_CREATE_EQ, &eq, sizeof(eq));
	command(ERDMA_COMMAND_SET_GID, &gid, sizeof(gid));
	command(ERDMA_COMMAND_CREATE_CQ, &cq, sizeof(cq));
	memcpy(ah.av.dgid, gid.gid, sizeof(gid.gid));
	command(ERDMA_COMMAND_CREATE_AH, &ah, sizeof(ah));
}

static void modify(unsigned int i, enum erdma_qp_state state, uint32_t mask)
{
	struct erdma_cmd_modify_qp req = {
		.cfg = htole32(nic_prep(ERDMA_MODIFY_QP_STATE, (uint32_t)state) |
			       nic_prep(ERDMA_MODIFY_QP_QPN, FIRST_QPN + i)),
		.dqpn = htole32(FIRST_QPN + (i ^ 1)),
		.mask = htole32(mask),
		.qkey = htole32(1),
		.av = {.hop_limit = 1,
		       .dmac = {0x52, 0x54, 1},
		       .dgid = {[10] = 0xff, 0xff, 10, 0, 0, 1}},
	};

	command(ERDMA_COMMAND_MODIFY_QP, &req, sizeof(req));
}

static void make_qp(unsigned int i)
{
	struct erdma_cmd_create_qp req = {
		.sq_size = htole32(nic_prep(ERDMA_CREATE_QP_SQ_LOG, RING_LOG) |
				   nic_prep(ERDMA_CREATE_QP_QPN, FIRST_QPN + i)),
		.rq_size = htole32(nic_prep(ERDMA_CREATE_QP_RQ_LOG, RING_LOG) |
				   nic_prep(ERDMA_CREATE_QP_PDN, PD)),
		.sq_cq = htole32(1),
		.rq_cq = htole32(1),
		.sq_addr = htole64(BASE + RINGS + i * 0x2000),
		.rq_addr = htole64(BASE + RINGS + i * 0x2000 + 0x1000),
		.sq_mtt = htole32(nic_prep(ERDMA_CREATE_QP_SQ_PAGES, 1)),
		.rq_mtt = htole32(nic_prep(ERDMA_CREATE_QP_RQ_PAGES, 1)),
		.type = htole32(i == 2),
	};

	command(ERDMA_COMMAND_CREATE_QP, &req, sizeof(req));
	modify(i, ERDMA_QPS_INIT, i == 2 ? 3 : 1);
	modify(i, ERDMA_QPS_RTR, i == 2 ? 1 : 0x35);
	modify(i, ERDMA_QPS_RTS, 9);
}

static void make_regions(void)
{
	struct erdma_cmd_reg_mr normal = {
		.key = htole32(nic_prep(ERDMA_REG_MR_VALID, 1) | nic_prep(ERDMA_REG_MR_INDEX, 1)),
		.cfg = htole32(nic_prep(ERDMA_REG_MR_PDN, PD) | nic_prep(ERDMA_REG_MR_ACCESS, 31)),
		.length = htole32(0x40000),
		.mtt = htole32(nic_prep(ERDMA_REG_MR_PAGE, 18) | nic_prep(ERDMA_REG_MR_COUNT, 1)),
		.pages[0] = htole64(BASE + BUFFER),
	};
	struct erdma_cmd_reg_mr fast = {
		.key = htole32(nic_prep(ERDMA_REG_MR_INDEX, 2)),
		.cfg = htole32(nic_prep(ERDMA_REG_MR_PDN, PD) | nic_prep(ERDMA_REG_MR_TYPE, 1)),
		.mtt = htole32(nic_prep(ERDMA_REG_MR_PAGE, 12) | nic_prep(ERDMA_REG_MR_COUNT, 64) |
			       nic_prep(ERDMA_REG_MR_LEVEL, 1)),
		.pages[0] = htole64(BASE + TABLE),
	};

	command(ERDMA_COMMAND_REG_MR, &normal, sizeof(normal));
	command(ERDMA_COMMAND_REG_MR, &fast, sizeof(fast));
}

/* ---- steps ---- */

struct input {
	const uint8_t *data;
	size_t left;
};

/* Bytes of the input, zeros behind its end. */
static void take(struct input *in, void *out, size_t size)
{
	size_t got = size < in->left ? size : in->left;

	memset(out, 0, size);
	memcpy(out, in->data, got);
	in->data += got;
	in->left -= got;
}

/* The argument chooses a command that exists; its top bit takes any number instead. */
static void step_command(struct input *in, uint8_t arg)
{
	static const uint16_t keys[] = {
#define X(name, module, opcode, request) ERDMA_COMMAND_##name,
		ERDMA_COMMANDS(X)
#undef X
	};
	uint64_t request[ERDMA_CMD_SLOT_BYTES / 8];

	take(in, (uint8_t *)request, 64);
	memset(request + 8, 0, 64);
	if (arg & 0x40)
		take(in, request + 8, 64);
	if (arg & 0x80) {
		command(0, request, sizeof(request));
		return;
	}
	request[0] = 0;
	command(keys[(arg & 0x3f) % (sizeof(keys) / sizeof(keys[0]))], request, sizeof(request));
}

/* A WQE of 1 to 4 blocks. Bits 5:4 of the argument: the header is made to fit, or left. */
static void step_send(struct input *in, uint8_t arg)
{
	unsigned int i = (arg & 3) % QPS, blocks = 1 + (arg >> 2 & 3), k;
	uint64_t wqe[16], hdr;
	uint8_t *ring = g.memory + RINGS + i * 0x2000;

	take(in, wqe, blocks * 32);
	if (!(arg & 0x10)) {
		hdr = le64toh(wqe[0]) & ~(nic_mask(ERDMA_SQE_BLOCKS) | nic_mask(ERDMA_SQE_QPN) |
					  nic_mask(ERDMA_SQE_END));
		hdr |= nic_prep(ERDMA_SQE_BLOCKS, blocks - 1) |
		       nic_prep(ERDMA_SQE_QPN, FIRST_QPN + i) |
		       nic_prep(ERDMA_SQE_END, (uint16_t)(g.sq_pi[i] + blocks));
		wqe[0] = htole64(hdr);
	}
	for (k = 0; k < blocks; k++, g.sq_pi[i]++)
		memcpy(ring + (g.sq_pi[i] & ((1 << RING_LOG) - 1)) * 32, wqe + 4 * k, 32);
	write64(ERDMA_DB_SQ_KERNEL,
		nic_prep(ERDMA_SQ_DB_QPN, FIRST_QPN + i) | nic_prep(ERDMA_SQ_DB_PI, g.sq_pi[i]));
}

static void step_recv(struct input *in, uint8_t arg)
{
	unsigned int i = (arg & 3) % QPS;
	uint8_t *ring = g.memory + RINGS + i * 0x2000 + 0x1000;
	struct erdma_rqe rqe = {0};

	take(in, &rqe.addr, 16);
	memcpy(ring + (g.rq_pi[i] & ((1 << RING_LOG) - 1)) * 32, &rqe, sizeof(rqe));
	g.rq_pi[i]++;
	write64(ERDMA_DB_RQ_KERNEL, (uint64_t)(FIRST_QPN + i) << 32 | g.rq_pi[i]);
}

static void step_doorbell(struct input *in, uint8_t arg)
{
	static const uint64_t places[] = {
		ERDMA_DB_SQ_KERNEL,  ERDMA_DB_RQ_KERNEL,  ERDMA_DB_CQ_KERNEL, 0x80000, 0x81000,
		ERDMA_REG_CMD_SQ_DB, ERDMA_REG_CMD_CQ_DB, ERDMA_REG_AEQ_DB,   0x100,   0x108,
	};
	uint64_t value;

	take(in, &value, sizeof(value));
	write64(places[arg % (sizeof(places) / sizeof(places[0]))], le64toh(value));
}

static void step_register(struct input *in, uint8_t arg)
{
	uint32_t offset, value;

	take(in, &offset, 2);
	take(in, &value, 4);
	sim_local_reg_write(g.dev, ERDMA_BAR_REGS, le32toh(offset) & 0x3fff, 1u << (arg & 3),
			    le32toh(value));
}

static void step_memory(struct input *in, uint8_t arg)
{
	uint32_t offset;

	take(in, &offset, 4);
	offset = le32toh(offset) % (MEMORY - 256);
	take(in, g.memory + offset, arg);
}

static void step_time(struct input *in, uint8_t arg)
{
	(void)in;
	sim_loop_advance(g.loop, 1000ull << (arg & 15));
}

static void run_steps(struct input *in)
{
	static void (*const steps[])(struct input *, uint8_t) = {
		step_command,  step_send,   step_send, step_recv,
		step_doorbell, step_memory, step_time, step_register,
	};
	uint8_t head[2];
	int count;

	for (count = 0; in->left && count < STEPS; count++) {
		take(in, head, sizeof(head));
		steps[head[0] & 7](in, head[1]);
	}
	sim_loop_advance(g.loop, 1000000000);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"small", "default", "shared-db"};
	struct sim_dev_config config = {
		.class = &sim_class_erdma,
		.nic = {.name = "fuzz", .mac = {0x52, 0x54, 1}, .mtu = 1500},
		.port = &port,
		.log = no_log,
	};
	struct input in = {data, size};
	struct frame *frame;
	uint8_t which;
	unsigned int i;

	take(&in, &which, 1);
	memset(&g, 0, sizeof(g));
	g.frames_end = &g.frames;
	if (sim_loop_create(true, &g.loop) || sim_task_add(g.loop, loop_run, NULL, &g.port))
		abort();
	config.loop = g.loop;
	config.nic.personality = names[which % 3];
	if (sim_dev_create(&config, &g.dev) ||
	    sim_local_add_memory(g.dev, BASE, g.memory, MEMORY, true))
		abort();
	sim_local_enable(g.dev);
	probe();
	for (i = 0; i < QPS; i++)
		make_qp(i);
	make_regions();
	run_steps(&in);
	sim_dev_destroy(g.dev);
	while ((frame = take_frame()))
		free(frame);
	sim_task_remove(g.port);
	sim_loop_destroy(g.loop);
	return 0;
}
