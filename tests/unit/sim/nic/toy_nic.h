/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The smallest class with an engine, for tests of what joins a class, the
 * engine and the fabric: one QP, one region of memory of its own, a doorbell
 * that posts RDMA WRITEs of the whole region. Uses sim_roce_env.h as a class
 * should.
 */
#ifndef ANYNIC_TESTS_UNIT_SIM_NIC_TOY_NIC_H
#define ANYNIC_TESTS_UNIT_SIM_NIC_TOY_NIC_H

#include "sim/nic/sim_roce_env.h"

#define TOY_REG_DOORBELL 0x0 /* write n: n WRITEs */
#define TOY_REG_DONE	 0x8 /* read: completions so far */
#define TOY_MEMORY	 65536u
#define TOY_QPN		 5u
#define TOY_KEY		 0x700u

struct toy_nic {
	struct sim_dev *dev;
	struct sim_roce *roce;
	struct roce_cq *cq;
	struct roce_qp *qp;
	struct sim_nic_config config;
	unsigned int done, failed, resets, expired;
	uint64_t expired_at;
	uint8_t memory[TOY_MEMORY];
};

extern const struct sim_class toy_class;
/* The NIC that was made last. */
extern struct toy_nic *toy_last;

/* Connects the QP to that of the NIC with `mac`; its address is 10.9.0.<last byte of the MAC>. */
int toy_connect(struct toy_nic *nic, const uint8_t mac[6]);

#endif
