/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A provider in a plain process: no RDMA in the kernel, no NIC, no rights. Owns a
 * made-up sysfs tree, and the system calls through which libibverbs and a provider
 * reach the kernel; it answers them as the in-tree erdma driver does. Knows no
 * provider: stock ones and ours run on it alike.
 *
 * It works by symbol interposition: open, close, stat, ioctl, write, mmap and
 * socket of the program stand in front of the C library's. ioctl says that there is no ioctl
 * interface, so that libibverbs falls back to the old write() commands, whose
 * layout is simple. The NIC's half of the work, the CQEs, is done by the test.
 */
#ifndef ANYNIC_TESTS_BENCH_NOKERNEL_H
#define ANYNIC_TESTS_BENCH_NOKERNEL_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "providers/erdma/erdma_hw.h"

#define NK_QPS 64
#define NK_CQS 64

/* What the "kernel" knows of a queue pair and a completion queue. */
struct nk_qp {
	bool used;
	uint32_t qpn, sq_blocks, rq_entries, rq_offset;
	char *ring; /* SQ, and the RQ at rq_offset */
	uint64_t *records;
	uint32_t state;
};

struct nk_cq {
	bool used;
	uint32_t cqn, depth;
	uint32_t pi;	 /* where the next CQE goes, free running */
	uint32_t events; /* told to the program; it has to acknowledge them all */
	struct erdma_cqe *ring;
	uint64_t *record;
};

struct nk {
	struct nk_qp qp[NK_QPS];
	struct nk_cq cq[NK_CQS];
	char *sq_page, *rq_page, *cq_page; /* where doorbells end */
	uint64_t sq_bells, rq_bells, cq_bells;
	/* The driver of Linux 7.3 makes no AH for user space; a future one may. */
	bool makes_ahs;
	bool hides_ahns;       /* makes them, but does not tell the NIC's number */
	uint32_t active_mtu;   /* enum ibv_mtu */
	uint32_t fail_command; /* IB_USER_VERBS_CMD_...: that one fails once, */
	int fail_errno;	       /* with this; 0 is none */
	unsigned int commands;
};
extern struct nk nk;

/*
 * Makes the sysfs tree and chooses the provider: the path without -rdmavNN.so that
 * IBV_DRIVERS takes, or a plain name. netdev_mtu goes into the tree; 0 leaves the
 * netdev out. Before any verbs call. Exits with 1 if it cannot.
 */
void nk_start(const char *driver, unsigned int netdev_mtu);

/* Opens the one device there is; NULL with errno as ibv_open_device. */
struct ibv_context *nk_open(void);

/* The path of a file in the tree's folder, which goes away at the end of the process. */
const char *nk_path(const char *name);

/* Writes, or rewrites, a file of that folder. */
void nk_put_file(const char *name, const char *text);

/* The MTU of the netdev behind the port's GIDs. */
void nk_set_netdev_mtu(unsigned int mtu);

struct nk_qp *nk_find_qp(struct ibv_qp *qp);
struct nk_cq *nk_find_cq(struct ibv_cq *cq);

/* The NIC's part: one CQE. index is the WQE's start or the RQE's number. */
struct nk_completion {
	uint32_t qpn;
	enum erdma_cqe_queue queue;
	uint32_t opcode, status, index, length;
	uint32_t word; /* immediate or R_Key, as the bytes stand in the CQE */
	uint32_t ud;
};
void nk_complete(struct nk_cq *cq, const struct nk_completion *completion);

/* A completion event, as the kernel hands it to the channel's reader. */
void nk_event(struct ibv_comp_channel *channel, struct ibv_cq *cq);

/* The producer index that the last SQ or RQ doorbell of this QP told. */
uint16_t nk_sq_pi(const struct nk_qp *qp);
uint16_t nk_rq_pi(const struct nk_qp *qp);

/* An RC or UD QP in RTS, with the given CQ for both sides; NULL if refused. */
struct ibv_qp *nk_make_qp(struct ibv_pd *pd, struct ibv_cq *cq, enum ibv_qp_type type,
			  struct ibv_qp_cap *cap, int sq_sig_all);
int nk_to_rts(struct ibv_qp *qp, enum ibv_qp_type type);

/* nokernel_cmd.c: answers one write() command; returns 0 or a positive errno. */
int nk_command(const void *request, size_t length);

#endif
