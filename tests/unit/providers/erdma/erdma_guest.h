/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A miniature erdma driver in front of the simulated NIC, in one process: memory, the probe
 * order, commands, queues. It does what the kernel's driver does and not more, so that the
 * tests read what a guest would read. Time is virtual.
 *
 *	guest_pair(&p);                        two NICs, a cable, both initialised
 *	guest_connect(&p, &a, &b);             an RC QP and its CQ on each, in RTS
 *	guest_post(&a.qp, &sqe, 2);            a WQE of two blocks, and its doorbell
 *	guest_wait(&a.cq, &cqe)                next CQE, or false if none comes
 *	guest_stop(...)
 */
#ifndef ANYNIC_TESTS_UNIT_ERDMA_GUEST_H
#define ANYNIC_TESTS_UNIT_ERDMA_GUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "providers/erdma/erdma_hw.h"
#include "sim/device/sim_dev.h"
#include "sim/device/sim_loop.h"

extern const struct sim_class sim_class_erdma;

enum {
	GUEST_MEMORY = 64 << 20,
	GUEST_MTU = 1500,
	GUEST_PD = 5,
	GUEST_EQN = 1,
	GUEST_QKEY = 0x11111111,
	GUEST_EVENT_DEPTH = 16, /* of the AEQ and the command EQ */
};
/* Bus address of the first byte of memory. */
#define GUEST_BASE 0x100000000ull

struct guest_frame;

struct guest {
	struct sim_loop *loop;
	struct sim_dev *dev;
	uint8_t *memory;
	uint64_t used;
	unsigned int index;

	/* The cable. */
	struct guest *peer;
	struct sim_task *cable;
	struct guest_frame *frames, **frames_end;
	unsigned int lose; /* the next frames do not arrive */
	unsigned int sent;

	uint64_t cmd_sq, cmd_cq, cmd_eq, aeq;
	uint32_t cmd_pi, cmd_ci;
	struct erdma_cmd_cqe answer; /* of the last command, as it stood in the ring */
	uint64_t resp0, resp1;

	uint64_t eq[ERDMA_MSIX_VECTORS];
	uint32_t eq_depth[ERDMA_MSIX_VECTORS];
	uint32_t eq_ci[ERDMA_MSIX_VECTORS];
	uint32_t aeq_ci;
	char log[256]; /* the last line */
};

struct guest_cq {
	struct guest *g;
	uint32_t cqn;
	uint64_t ring;
	uint32_t depth;
	uint32_t ci;
	uint64_t db; /* offset in BAR 0 */
	unsigned int events;
};

struct guest_qp {
	struct guest *g;
	uint32_t qpn;
	uint64_t sq, rq;
	uint32_t sq_depth, rq_depth;
	uint16_t sq_pi, rq_pi;
	uint64_t sq_db, rq_db;
};

/* One end of a connection. */
struct guest_end {
	struct guest_cq cq;
	struct guest_qp qp;
	uint64_t buffer; /* 64 KiB */
	uint32_t key; /* of a region of all rights over the buffer, addressed by its bus address */
};

struct guest_pair {
	struct sim_loop *loop;
	struct guest a, b;
};

/* Device and memory only; registers are not written to. personality may be NULL. */
void guest_start(struct guest *g, struct sim_loop *loop, unsigned int index,
		 const char *personality);
void guest_stop(struct guest *g);
/* The driver's probe, up to INIT_DONE, and CEQ 1. */
bool guest_probe(struct guest *g);
/* GID 0 is ::ffff:10.0.0.<index>, GID 1 is fd00::<index>. */
bool guest_set_gids(struct guest *g);
bool guest_pair(struct guest_pair *p);
void guest_pair_stop(struct guest_pair *p);

/* size bytes at an address that is a multiple of align. */
uint64_t guest_alloc(struct guest *g, uint64_t size, uint64_t align);
void *guest_at(struct guest *g, uint64_t addr);
void guest_write64(struct guest *g, uint64_t offset, uint64_t value);
uint32_t guest_read32(struct guest *g, uint64_t offset);
void guest_write32(struct guest *g, uint64_t offset, uint32_t value);

/* Runs the request: the status, or -1 if no completion came. The header is filled in here. */
int guest_command(struct guest *g, enum erdma_command command, void *request, size_t size);
/* Requests with usual values, for a test to change. */
struct erdma_cmd_create_qp guest_qp_request(struct guest *g, uint32_t qpn, uint32_t cqn);
struct erdma_cmd_create_cq guest_cq_request(struct guest *g, uint32_t cqn, uint32_t log);
struct erdma_cmd_reg_mr guest_mr_request(uint32_t index, uint64_t addr, uint64_t length);
struct erdma_cmd_modify_qp guest_modify_request(uint32_t qpn, enum erdma_qp_state state,
						uint32_t mask);
void guest_set_av(struct erdma_av *av, unsigned int peer);

int guest_create_eq(struct guest *g, uint8_t eqn, uint8_t log);
int guest_create_cq(struct guest *g, struct guest_cq *cq, uint32_t cqn, uint32_t log);
int guest_create_qp(struct guest *g, struct guest_qp *qp, uint32_t qpn, uint32_t cqn, bool ud);
int guest_reg_mr(struct guest *g, uint32_t index, uint64_t addr, uint64_t length);
int guest_modify(struct guest_qp *qp, enum erdma_qp_state state, uint32_t mask, uint32_t dqpn,
		 unsigned int peer);
/* RESET to RTS. */
bool guest_bring_up(struct guest_qp *qp, uint32_t dqpn, unsigned int peer);
int guest_qp_state(struct guest_qp *qp);
bool guest_connect(struct guest_pair *p, struct guest_end *a, struct guest_end *b);
bool guest_make_end(struct guest *g, struct guest_end *end, uint32_t number, bool ud);

/* Puts the WQE into the ring, its length, QPN and end filled in, and rings. */
void guest_post(struct guest_qp *qp, void *sqe, unsigned int blocks);
void guest_put(struct guest_qp *qp, void *sqe, unsigned int blocks);
void guest_ring_sq(struct guest_qp *qp);
void guest_recv(struct guest_qp *qp, uint64_t addr, uint32_t length, uint32_t key);

/* Lets time pass until the CQ has an entry, a second at most; consumes it. */
bool guest_wait(struct guest_cq *cq, struct erdma_cqe *cqe);
/* There is an entry now. */
bool guest_peek(struct guest_cq *cq, struct erdma_cqe *cqe);
void guest_arm(struct guest_cq *cq, bool solicited);
/* Next event of CEQ eqn: its CQN, or -1. Does not ring. */
int guest_event(struct guest *g, uint8_t eqn);
void guest_arm_eq(struct guest *g, uint8_t eqn);
/* Next asynchronous event: type << 24 | number, or -1. Rings. */
int64_t guest_async(struct guest *g);
/* Interrupts of the vector since last asked. */
unsigned int guest_irqs(struct guest *g, unsigned int vector);
void guest_run(struct guest *g, uint64_t ns);
/* A counter of the NIC by name. */
uint64_t guest_counter(struct guest *g, const char *name);

#endif
