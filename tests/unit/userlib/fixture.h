/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What most provider tests start from: anynic's provider on the no-kernel harness,
 * one PD, one CQ and one QP in RTS. Owns their making and unmaking.
 */
#ifndef ANYNIC_TESTS_UNIT_USERLIB_FIXTURE_H
#define ANYNIC_TESTS_UNIT_USERLIB_FIXTURE_H

#include "tests/bench/nokernel.h"
#include "tests/lib/t.h"

#define FIXTURE_DEPTH 4 /* requests; 16 blocks */

struct fixture {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_qp_cap cap; /* as granted */
	struct nk_qp *nk_qp;
	struct nk_cq *nk_cq;
};

/* Starts the harness at the first call. False, with a failure noted, if not made. */
bool fixture_open(struct fixture *f, enum ibv_qp_type type);
void fixture_close(struct fixture *f);

/* The device alone, for tests that make their own objects; NULL with errno. */
struct ibv_context *fixture_device(void);

/* A send of one 8-byte piece, signaled. */
struct ibv_send_wr fixture_send(enum ibv_wr_opcode opcode, struct ibv_sge *sge);

/* Has everything posted to the SQ since from completed; the next index. */
uint32_t fixture_complete_sends(struct fixture *f, uint32_t from);

#endif
