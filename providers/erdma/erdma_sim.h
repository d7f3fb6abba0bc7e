/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * erdma simulator: what its files share. Owns the NIC's state and the calls
 * between files. Knows the hardware format, the device seam and the engine;
 * nothing outside providers/erdma/erdma_sim*.c includes it.
 *
 *	erdma_sim_reg.c   registers, init and reset     erdma_sim_db.c    doorbells and their pages
 *	erdma_sim_cmdq.c  command queue mechanics       erdma_sim_cmd*.c  one function a command
 *	erdma_sim_eq.c    event queues                  erdma_sim_cq.c    CQEs and arming
 *	erdma_sim_qp.c    queue pairs                   erdma_sim_wqe.c   WQE decoding
 *	erdma_sim_mr.c    regions                       erdma_sim_mtt.c   address translation
 *	erdma_sim_ah.c    address handles               erdma_sim.c       the class
 *
 * Everything that the guest chooses (numbers, addresses, sizes, indexes) is checked where it
 * comes in, and guest memory is copied before it is looked at.
 */
#ifndef ANYNIC_PROVIDERS_ERDMA_SIM_H
#define ANYNIC_PROVIDERS_ERDMA_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/queue.h>
#include <sys/uio.h>

#include "providers/erdma/erdma_hw.h"
#include "sim/device/sim_dev.h"
#include "sim/engine/roce.h"
#include "sim/nic/sim_roce_env.h"

/*
 * Room for doorbell pages: 298 user contexts of three pages each. The address space costs
 * nothing; the driver takes whatever size the BAR has.
 */
#define ERDMA_BAR_REGS_BYTES_EXTEND 0x400000
/* Up to here come registers and the doorbell areas that all share. */
#define ERDMA_DB_EXTEND_BASE 0x80000
#define ERDMA_DB_SETS_MAX \
	((ERDMA_BAR_REGS_BYTES_EXTEND - ERDMA_DB_EXTEND_BASE) / ERDMA_PAGE_SIZE / 3)
#define ERDMA_DB_SET_SHARED (-1)

/* Work per turn of the event loop, so that no guest can stall the others. */
#define ERDMA_FETCH_BUDGET   64	 /* WQEs of one queue */
#define ERDMA_TURN_BUDGET    512 /* WQEs of all queues */
#define ERDMA_COMMAND_BUDGET 16

/*
 * WQEs that the engine holds at most for one QP. The rest waits in the guest's ring, which is
 * where memory for it is: rings have up to 32768 entries.
 */
#define ERDMA_SEND_WINDOW 128
#define ERDMA_RECV_WINDOW 512

#define ERDMA_RING_LOG_MAX 15 /* indexes have 16 bits, and full must differ from empty */

/* Numbers that a personality of the NIC reports; all logarithms to base 2. */
struct erdma_personality {
	const char *name;
	uint8_t caps; /* enum erdma_cap */
	uint8_t cqe_log;
	uint8_t recv_log;
	uint8_t mr_log;
	uint8_t ah_log;
	uint8_t gid_log;
	uint16_t qblocks;
};

/* The personality of that name (NULL: the first), or NULL. */
const struct erdma_personality *erdma_personality_find(const char *name);

struct erdma_nic;

/* ------------------------------------------------------------ translation */

/*
 * A buffer in guest memory as its pages. The tables stay in guest memory and are walked at
 * each use: a region costs the simulator the same few bytes whatever its size, and a guest
 * that changes a table under us reaches only what is its own.
 */
struct erdma_mtt {
	uint64_t pages[ERDMA_MTT_INLINE]; /* level 0: page addresses; above: [0] is the top table */
	uint64_t count;			  /* pages */
	uint64_t offset;		  /* of the buffer's first byte within its first page */
	uint64_t length;		  /* bytes, UINT64_MAX for all of the address space */
	uint8_t level;
	uint8_t page_shift;
	uint8_t table_shift; /* log2 of the size of a table, levels 2 and 3 */
	/* One page stands for all of the buffer, however long: the kernel tells so of its rings. */
	bool contiguous;
};

/* -EINVAL: the pages do not hold the buffer, or a level or size that does not exist. -EFAULT:
 * its first or last page cannot be found. */
int erdma_mtt_check(struct erdma_nic *nic, const struct erdma_mtt *mtt);
/* As erdma_mtt_check, and all of the pages must be in guest memory: for rings. */
int erdma_mtt_check_memory(struct erdma_nic *nic, const struct erdma_mtt *mtt);
/* As roce_env.mr_map: iov filled, or -errno. */
int erdma_mtt_map(struct erdma_nic *nic, const struct erdma_mtt *mtt, uint64_t offset,
		  size_t length, bool write, struct iovec *iov, int max);
int erdma_mtt_read(struct erdma_nic *nic, const struct erdma_mtt *mtt, uint64_t offset, void *data,
		   size_t length);
int erdma_mtt_write(struct erdma_nic *nic, const struct erdma_mtt *mtt, uint64_t offset,
		    const void *data, size_t length);
/* Host pointer to a piece that lies within one page, or NULL. */
void *erdma_mtt_at(struct erdma_nic *nic, const struct erdma_mtt *mtt, uint64_t offset,
		   size_t length, bool write);

/* ----------------------------------------------------------------- events */

/*
 * An arming (CQ doorbell): the guest counts the events that it has taken and says so when it
 * arms. An arming with the count of one that was answered already is old: that event is still
 * on its way to the guest.
 */
struct erdma_arm {
	bool answered;
	uint8_t answered_count;
	uint8_t count;
};

struct erdma_cq;

struct erdma_eq {
	bool active;
	bool armed;
	uint8_t vector;
	uint64_t addr;
	uint32_t depth;
	uint32_t pi; /* 24 bits count, as in doorbells */
	uint32_t ci;
	TAILQ_HEAD(, erdma_cq) waiting; /* armed CQs whose event found the EQ full */
};

void erdma_eq_init(struct erdma_eq *eq, uint64_t addr, uint32_t depth, uint8_t vector);
void erdma_eq_fini(struct erdma_eq *eq);
void erdma_eq_doorbell(struct erdma_nic *nic, struct erdma_eq *eq, uint64_t value);
/* Completion event of a CQ on its EQ. */
void erdma_eq_push_cq(struct erdma_nic *nic, struct erdma_eq *eq, struct erdma_cq *cq);
/* Completion event of the command queue. */
void erdma_eq_push_command(struct erdma_nic *nic);
/* Asynchronous event: enum erdma_event, QPN or CQN. */
void erdma_eq_push_async(struct erdma_nic *nic, enum erdma_event type, uint32_t number);
/* roce_env.event */
void erdma_event(void *ctx, enum roce_event event, struct roce_qp *qp, struct roce_cq *cq,
		 struct roce_srq *srq);

/* -------------------------------------------------------------- completion queue */

struct erdma_cq {
	struct roce_cq *cq;
	uint32_t cqn;
	uint32_t depth;
	uint32_t pi;
	uint32_t notable_pi; /* pi after the newest CQE that a solicited-only arming waits for */
	uint8_t eqn;
	int16_t db_set;
	bool overrun;
	bool waiting; /* in its EQ's list */
	struct erdma_arm arm;
	struct erdma_mtt ring;
	TAILQ_ENTRY(erdma_cq) all;
	TAILQ_ENTRY(erdma_cq) wait;
};

struct erdma_cq_params {
	uint32_t cqn;
	uint32_t log;
	uint8_t eqn;
	int16_t db_set;
	struct erdma_mtt ring;
};

int erdma_cq_create(struct erdma_nic *nic, const struct erdma_cq_params *params);
int erdma_cq_destroy(struct erdma_nic *nic, uint32_t cqn);
void erdma_cq_free_all(struct erdma_nic *nic);
struct erdma_cq *erdma_cq_find(struct erdma_nic *nic, uint32_t cqn);
void erdma_cq_doorbell(struct erdma_nic *nic, struct erdma_cq *cq, uint64_t value);
/* roce_env.complete, .cq_event */
int erdma_cq_complete(void *ctx, struct roce_cq *cq, const struct roce_wc *wc);
void erdma_cq_event(void *ctx, struct roce_cq *cq);

/* ----------------------------------------------------------------- queue pair */

struct erdma_ring {
	struct erdma_mtt mtt;
	uint32_t depth;	  /* entries of 32 bytes */
	uint16_t pi;	  /* as the last doorbell said */
	uint16_t fetched; /* up to here read and posted to the engine */
};

struct erdma_qp {
	struct erdma_nic *nic;
	struct roce_qp *qp;
	uint32_t qpn;
	uint32_t pdn;
	enum roce_qp_type type;
	int16_t db_set;
	bool broken; /* its rings cannot be read any more */
	bool queued; /* in the list of QPs with WQEs to fetch */
	uint32_t send_window;
	uint32_t recv_window;
	struct erdma_ring sq;
	struct erdma_ring rq;
	TAILQ_ENTRY(erdma_qp) all;
	TAILQ_ENTRY(erdma_qp) work;
};

struct erdma_qp_params {
	uint32_t qpn;
	uint32_t pdn;
	bool ud;
	uint32_t send_cqn;
	uint32_t recv_cqn;
	uint32_t sq_log; /* blocks */
	uint32_t rq_log; /* entries */
	int16_t db_set;
	struct erdma_mtt sq;
	struct erdma_mtt rq;
};

struct erdma_qp_change {
	uint32_t mask; /* enum erdma_modify_mask */
	enum roce_qp_state state;
	uint32_t dest_qpn;
	uint32_t qkey;
	uint32_t rq_psn;
	uint32_t sq_psn;
	struct roce_av av;
};

int erdma_qp_create(struct erdma_nic *nic, const struct erdma_qp_params *params);
int erdma_qp_modify(struct erdma_nic *nic, uint32_t qpn, const struct erdma_qp_change *change);
int erdma_qp_destroy(struct erdma_nic *nic, uint32_t qpn);
void erdma_qp_free_all(struct erdma_nic *nic);
struct erdma_qp *erdma_qp_find(struct erdma_nic *nic, uint32_t qpn);
/* The guest filled a ring up to pi. -EINVAL: further than the ring is long. */
int erdma_qp_sq_advance(struct erdma_qp *qp, uint16_t pi);
int erdma_qp_rq_advance(struct erdma_qp *qp, uint16_t pi);
/* There may be WQEs to fetch, later in this turn. */
void erdma_qp_defer(struct erdma_qp *qp);
/* Runs deferred work within its budget; true while there is more. */
bool erdma_qp_run(struct erdma_nic *nic);

/* ------------------------------------------------------------------------ WQEs */

/* What a WQE's completion needs, in roce_*_wr.wr_id. */
static inline uint64_t erdma_wr_id(uint16_t index, unsigned int opcode)
{
	return (uint64_t)index | (uint64_t)opcode << 16;
}

static inline uint16_t erdma_wr_id_index(uint64_t wr_id)
{
	return (uint16_t)wr_id;
}

static inline uint8_t erdma_wr_id_opcode(uint64_t wr_id)
{
	return (uint8_t)(wr_id >> 16);
}

/*
 * Fetches and posts the WQE at ring->fetched. 0: posted, ring->fetched moved on. -EAGAIN: the
 * engine takes no more now. -EFAULT: the ring is not there.
 */
int erdma_wqe_send(struct erdma_qp *qp);
int erdma_wqe_recv(struct erdma_qp *qp);

/* ------------------------------------------------------------- memory region */

struct erdma_mr {
	struct roce_mr *mr;
	struct erdma_mtt mtt;
	uint64_t capacity; /* fast registration: entries of the page array */
	uint64_t array;	   /* fast registration: its address */
	TAILQ_ENTRY(erdma_mr) all;
};

struct erdma_mr_params {
	uint32_t key;
	uint32_t pdn;
	uint32_t access; /* enum erdma_access */
	enum erdma_mr_type type;
	bool valid;
	uint64_t va;
	uint64_t length;
	struct erdma_mtt mtt;
};

/* What a REG_MR WQE says; roce_send_wr.reg. */
struct erdma_fast_reg {
	uint32_t key;
	uint32_t access;
	uint64_t va;
	uint32_t length;
	uint32_t count;
	bool indirect; /* pages are in the array that the region was made with */
	uint64_t pages[ERDMA_MTT_INLINE];
};

int erdma_mr_create(struct erdma_nic *nic, const struct erdma_mr_params *params);
int erdma_mr_destroy(struct erdma_nic *nic, uint32_t key);
void erdma_mr_free_all(struct erdma_nic *nic);
/* The key that reaches all memory for the kernel's own work. */
uint32_t erdma_mr_local_key(const struct erdma_nic *nic);
int erdma_mr_create_local(struct erdma_nic *nic);
uint32_t erdma_mr_access(uint32_t access);
/* roce_env.mr_map, .reg_mr, .reg_free */
int erdma_mr_map(void *ctx, const struct roce_mr_attr *attr, uint64_t offset, size_t length,
		 bool write, struct iovec *iov, int max);
int erdma_mr_fast_reg(void *ctx, struct roce_qp *qp, void *reg, struct roce_mr_attr *attr);
void erdma_mr_fast_reg_free(void *ctx, void *reg);

/* ------------------------------------------------------------- address handles */

#define ERDMA_AH_PIECE	 64
#define ERDMA_AH_LOG_MAX 13

struct erdma_ah {
	bool used;
	uint32_t pdn;
	struct roce_av av;
};

int erdma_ah_create(struct erdma_nic *nic, uint32_t ahn, const struct erdma_ah *ah);
int erdma_ah_destroy(struct erdma_nic *nic, uint32_t ahn, uint32_t pdn);
const struct erdma_ah *erdma_ah_find(const struct erdma_nic *nic, uint32_t ahn);
void erdma_ah_free_all(struct erdma_nic *nic);
/* From the address vector of a request. -EINVAL: no such GID index. */
int erdma_ah_decode(const struct erdma_nic *nic, const struct erdma_av *av, struct roce_av *out);

/* ------------------------------------------------------------------- doorbells */

/* -ENOSPC: no pages left. */
int erdma_db_alloc(struct erdma_nic *nic, struct erdma_resp_alloc_db *pages);
int erdma_db_free(struct erdma_nic *nic, uint32_t sq_page, uint32_t rq_page, uint32_t cq_page);
/* The set that a page of an object belongs to, or -EINVAL. */
int erdma_db_set(const struct erdma_nic *nic, uint32_t page);
void erdma_db_free_all(struct erdma_nic *nic);
/* A write of 8 bytes beyond the registers. */
void erdma_db_write(struct erdma_nic *nic, uint64_t offset, uint64_t value);

/* ------------------------------------------------------------------- registers */

/* Registers that keep what was written, for INIT. */
struct erdma_regs {
	uint64_t cmd_sq_addr;
	uint64_t cmd_cq_addr;
	uint64_t cmd_eq_addr;
	uint64_t aeq_addr;
	uint32_t cmd_depth;
	uint32_t cmd_eq_depth;
	uint32_t aeq_depth;
	uint64_t dbrec[4];
};

uint64_t erdma_reg_read(void *ctx, unsigned int bar, uint64_t offset, unsigned int size);
void erdma_reg_write(void *ctx, unsigned int bar, uint64_t offset, unsigned int size,
		     uint64_t value);
/* All but the registers as after power-on. */
void erdma_nic_clear(struct erdma_nic *nic);

/* --------------------------------------------------------------- command queue */

struct erdma_cmdq {
	uint64_t sq_addr;
	uint64_t cq_addr;
	uint32_t depth; /* blocks, and CQEs */
	uint16_t pi;
	uint16_t fetched;
	uint32_t cq_pi;
	bool armed;
	struct erdma_arm arm;
};

struct erdma_answer {
	uint64_t resp0;
	uint64_t resp1;
};

void erdma_cmdq_doorbell(struct erdma_nic *nic, uint64_t value);
void erdma_cmdq_arm(struct erdma_nic *nic, uint64_t value);
/* Runs commands within a budget; true while there is more. */
bool erdma_cmdq_run(struct erdma_nic *nic);

/* A slot of the command SQ, copied: request structures overlay it. */
struct erdma_slot {
	_Alignas(8) uint8_t bytes[ERDMA_CMD_SLOT_BYTES];
};

/* Runs the request in the slot: 0 or -errno. */
int erdma_command(struct erdma_nic *nic, struct erdma_slot *slot, struct erdma_answer *answer);

typedef int (*erdma_command_fn)(struct erdma_nic *nic, const void *request,
				struct erdma_answer *answer);
/* clang-format off */
#define X(name, module, opcode, request)                                                           \
	int erdma_command_##name(struct erdma_nic *nic, const void *request,                       \
				 struct erdma_answer *answer);
ERDMA_COMMANDS(X)
#undef X
/* clang-format on */

/* ----------------------------------------------------------------------- the NIC */

/* Things that should not happen, counted; X(name). */
#define ERDMA_SIM_COUNTERS(X) \
	X(commands)           \
	X(command_errors)     \
	X(send_wqes)          \
	X(recv_wqes)          \
	X(invalid_wqes) X(cqes) X(eqes) X(interrupts) X(eq_full) X(bad_doorbells) X(bad_registers)

struct erdma_nic {
	struct sim_dev *dev;
	struct sim_roce *roce;
	struct roce_nic *engine;
	const struct erdma_personality *personality;
	uint8_t mac[6];
	uint32_t port_mtu;  /* bytes, of the simulated port */
	uint32_t guest_mtu; /* bytes, as CONF_MTU said; 0: it has not */
	uint32_t path_mtu;
	FILE *wqe_trace;

	uint32_t state; /* enum erdma_state */
	struct erdma_regs regs;
	struct erdma_cmdq cmdq;
	struct erdma_eq aeq;
	struct erdma_eq eqs[ERDMA_MSIX_VECTORS]; /* 0 is the command EQ */
	uint8_t page_shift;			 /* of the host, in which doorbell pages count */
	uint64_t db_sets[ERDMA_DB_SETS_MAX / 64 + 1];
	struct erdma_ah *ahs[(1 << ERDMA_AH_LOG_MAX) / ERDMA_AH_PIECE];

	TAILQ_HEAD(, erdma_qp) qps;
	TAILQ_HEAD(, erdma_qp) work;
	TAILQ_HEAD(, erdma_cq) cqs;
	TAILQ_HEAD(, erdma_mr) mrs;

	struct {
#define X(name) uint64_t name;
		ERDMA_SIM_COUNTERS(X)
#undef X
	} counters;
};

/* Calls erdma_cmdq_run() and erdma_qp_run() as soon as the running callback has returned. */
void erdma_nic_defer(struct erdma_nic *nic);
/* The largest path MTU changed, or may have. */
void erdma_nic_update_mtu(struct erdma_nic *nic);

static inline uint32_t erdma_max_qp(const struct erdma_nic *nic)
{
	return nic->personality->qblocks * ERDMA_QPS_PER_QBLOCK;
}

#endif
