// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Cases of lab-verbs that must fail: completions in error, and requests that are refused
 * before they reach a ring. Owns what may be said about each; knows no provider.
 */
#include "tests/lab/verbs/verbs_end.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define BYTES	    4096u
#define BIT(status) (1u << (status))

/* Statuses that a NIC with fewer of its own may give instead. */
#define REMOTE_ACCESS BIT(IBV_WC_REM_ACCESS_ERR)
#define LOCAL_KEY     (BIT(IBV_WC_LOC_PROT_ERR) | BIT(IBV_WC_LOC_ACCESS_ERR))
#define TOO_LONG      (BIT(IBV_WC_REM_INV_REQ_ERR) | BIT(IBV_WC_GENERAL_ERR))
#define RECV_SHORT \
	(BIT(IBV_WC_LOC_LEN_ERR) | BIT(IBV_WC_REM_ACCESS_ERR) | BIT(IBV_WC_LOC_QP_OP_ERR))

static const struct error_row {
	const char *name;
	enum ibv_wr_opcode opcode;
	uint32_t rkey_flip, lkey_flip;
	uint64_t offset;
	bool read_only; /* the peer's region takes no WRITE */
	bool short_recv;
	unsigned int sent; /* statuses that the requester may see */
} remote_rows[] = {
	{"WRITE, wrong rkey", IBV_WR_RDMA_WRITE, .rkey_flip = 0x5500, .sent = REMOTE_ACCESS},
	{"WRITE, old rkey", IBV_WR_RDMA_WRITE, .rkey_flip = 0x01, .sent = REMOTE_ACCESS},
	{"WRITE beyond the region", IBV_WR_RDMA_WRITE, .offset = 2ul * END_HALF - BYTES + 1,
	 .sent = REMOTE_ACCESS},
	{"WRITE before the region", IBV_WR_RDMA_WRITE, .offset = -1ull, .sent = REMOTE_ACCESS},
	{"WRITE without the right", IBV_WR_RDMA_WRITE, .read_only = true, .sent = REMOTE_ACCESS},
	{"READ, wrong rkey", IBV_WR_RDMA_READ, .rkey_flip = 0x5500, .sent = REMOTE_ACCESS},
	{"READ beyond the region", IBV_WR_RDMA_READ, .offset = 2ul * END_HALF - 1,
	 .sent = REMOTE_ACCESS},
	{"FETCH_ADD, wrong rkey", IBV_WR_ATOMIC_FETCH_AND_ADD, .rkey_flip = 0x5500,
	 .sent = REMOTE_ACCESS},
	{"SEND longer than the receive", IBV_WR_SEND, .short_recv = true, .sent = TOO_LONG},
};

/* Some software NICs flush instead: their own affair, so these stand apart. */
static const struct error_row local_rows[] = {
	{"WRITE, wrong lkey", IBV_WR_RDMA_WRITE, .lkey_flip = 0x5500, .sent = LOCAL_KEY},
	{"SEND, wrong lkey", IBV_WR_SEND, .lkey_flip = 0x5500, .sent = LOCAL_KEY},
	{"READ, wrong lkey", IBV_WR_RDMA_READ, .lkey_flip = 0x5500, .sent = LOCAL_KEY},
};

static int expect_error(struct end *end, unsigned int allowed, const char *who)
{
	struct ibv_wc wc;
	int err = end_wait(end, &wc);

	if (err)
		return err;
	if (!(allowed & BIT(wc.status)))
		return end_failed(EBADMSG, "%s: %s", who, ibv_wc_status_str(wc.status));
	return 0;
}

static int post_bad(struct end *end, const struct error_row *row)
{
	struct ibv_sge sge = {.addr = (uintptr_t)end->out,
			      .length = BYTES,
			      .lkey = end->mr->lkey ^ row->lkey_flip};
	struct ibv_send_wr wr = {.opcode = row->opcode,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .send_flags = IBV_SEND_SIGNALED},
			   *bad;
	uint64_t addr = end->peer.addr + row->offset;
	uint32_t rkey = end->peer.rkey ^ row->rkey_flip;
	int err;

	if (row->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = addr;
		wr.wr.atomic.rkey = rkey;
		sge.length = 8;
	} else {
		wr.wr.rdma.remote_addr = addr;
		wr.wr.rdma.rkey = rkey;
	}
	err = ibv_post_send(end->qp, &wr, &bad);
	return err ? end_failed(err, "post_send") : 0;
}

static int in_error(struct end *end)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	int err = ibv_query_qp(end->qp, &attr, IBV_QP_STATE, &init);

	if (err)
		return end_failed(err, "query_qp");
	return attr.qp_state == IBV_QPS_ERR ? 0 : end_failed(EBADMSG, "QP state %d", attr.qp_state);
}

/* The first fails, what was posted with it and after it is flushed, the QP is in ERR. */
static int error_client(struct end *end, const struct error_row *row)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
	int err;

	end_fill(end->out, BYTES, 1);
	err = end_sync(end);
	if (!err)
		err = post_bad(end, row);
	if (!err)
		err = end_post(end, &wr, end->out, 16);
	if (!err)
		err = expect_error(end, row->sent, row->name);
	if (!err)
		err = expect_error(end, BIT(IBV_WC_WR_FLUSH_ERR), "the next");
	if (!err)
		err = end_post(end, &wr, end->out, 16);
	if (!err)
		err = expect_error(end, BIT(IBV_WC_WR_FLUSH_ERR), "one in ERR");
	if (!err)
		err = in_error(end);
	return err ? err : end_sync(end);
}

static int error_server(struct end *end, const struct error_row *row)
{
	struct ibv_wc wc;
	int err = 0;

	end_fill(end->out, 2ul * END_HALF, 9);
	if (row->short_recv)
		err = end_post_recv(end, 0, end->in, BYTES - 1);
	if (!err)
		err = end_sync(end);
	if (!err && row->short_recv)
		err = expect_error(end, RECV_SHORT, "the receive");
	if (!err)
		err = end_sync(end);
	/* Nothing was written, but for a message that was too long for its place. */
	if (!err)
		err = end_verify(end->out, row->short_recv ? END_HALF : 2ul * END_HALF, 9,
				 row->name);
	while (!err && ibv_poll_cq(end->cq, 1, &wc) > 0)
		if (wc.status == IBV_WC_SUCCESS)
			err = end_failed(EBADMSG, "%s: a completion", row->name);
	return err;
}

static int error_row(struct end *end, const struct error_row *row)
{
	struct ibv_mr *mr = NULL;
	int err;

	end->self.rkey = end->mr->rkey;
	if (row->read_only) {
		mr = ibv_reg_mr(end->pd, end->out, 2ul * END_HALF, IBV_ACCESS_REMOTE_READ);
		if (!mr)
			return end_failed(errno, "reg_mr");
		end->self.rkey = mr->rkey;
	}
	err = end_connect(end, &(struct end_qp){.rnr_retry = 7});
	if (!err)
		err = end->client ? error_client(end, row) : error_server(end, row);
	if (!err)
		err = end_sync(end);
	if (mr && ibv_dereg_mr(mr) && !err)
		err = end_failed(EBUSY, "dereg_mr");
	return err;
}

static int error_rows(struct end *end, const struct error_row *rows, size_t count)
{
	size_t i;
	int err = 0;

	for (i = 0; !err && i < count; i++) {
		err = error_row(end, &rows[i]);
		if (err)
			fprintf(stderr, "row: %s\n", rows[i].name);
	}
	return err;
}

int verbs_errors(struct end *end)
{
	return error_rows(end, remote_rows, sizeof(remote_rows) / sizeof(remote_rows[0]));
}

int verbs_errors_local(struct end *end)
{
	return error_rows(end, local_rows, sizeof(local_rows) / sizeof(local_rows[0]));
}

/* The next good one runs, and nothing but it: a refusal has left no trace in the ring. */
static int works_still(struct end *end)
{
	struct ibv_send_wr wr = {
		.wr_id = 4711,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = {.remote_addr = (uintptr_t)end->in, .rkey = end->mr->rkey},
	};
	struct ibv_wc wc;
	int err;

	end_fill(end->out, BYTES, 3);
	memset(end->in, 0, BYTES);
	err = end_post(end, &wr, end->out, BYTES);
	if (!err)
		err = end_expect(end, IBV_WC_RDMA_WRITE, &wc);
	if (!err && wc.wr_id != 4711)
		err = end_failed(EBADMSG, "a completion of something else");
	if (!err && ibv_poll_cq(end->cq, 1, &wc) != 0)
		err = end_failed(EBADMSG, "one completion more");
	return err ? err : end_verify(end->in, BYTES, 3, "WRITE to itself");
}

/* Three in a chain, the second bad: refused with that one, the first stands. */
static int refused_chain(struct end *end, const char *name, const struct ibv_send_wr *second)
{
	struct ibv_sge sge = {.addr = (uintptr_t)end->out, .length = 8, .lkey = end->mr->lkey};
	struct ibv_send_wr wr[3], *bad = NULL;
	struct ibv_wc wc;
	int err, i;

	for (i = 0; i < 3; i++)
		wr[i] = (struct ibv_send_wr){
			.wr_id = (uint64_t)i,
			.opcode = IBV_WR_RDMA_WRITE,
			.sg_list = &sge,
			.num_sge = 1,
			.send_flags = IBV_SEND_SIGNALED,
			.wr.rdma = {.remote_addr = (uintptr_t)end->in, .rkey = end->mr->rkey},
		};
	wr[1] = *second;
	wr[0].next = &wr[1];
	wr[1].next = &wr[2];
	err = ibv_post_send(end->qp, wr, &bad);
	if (err != EINVAL && err != ENOMEM)
		return end_failed(EBADMSG, "%s: errno %d", name, err);
	if (bad != &wr[1])
		return end_failed(EBADMSG, "%s: bad_wr is not the bad one", name);
	err = end_expect(end, IBV_WC_RDMA_WRITE, &wc);
	if (!err && wc.wr_id != 0)
		err = end_failed(EBADMSG, "%s: not the first one has run", name);
	return err ? err : works_still(end);
}

#define MANY_SGES 64

static int refused_sends(struct end *end)
{
	static struct ibv_sge many[MANY_SGES];
	struct ibv_sge large = {.addr = (uintptr_t)end->out, .length = END_HALF};
	struct ibv_send_wr sges = {
		.opcode = IBV_WR_RDMA_WRITE, .sg_list = many, .num_sge = MANY_SGES};
	struct ibv_send_wr data = {.opcode = IBV_WR_RDMA_WRITE,
				   .sg_list = &large,
				   .num_sge = 1,
				   .send_flags = IBV_SEND_INLINE};
	struct ibv_send_wr opcode = {
		.opcode = (enum ibv_wr_opcode)99, .sg_list = many, .num_sge = 1};
	int err, i;

	for (i = 0; i < MANY_SGES; i++)
		many[i] = (struct ibv_sge){
			.addr = (uintptr_t)end->out, .length = 8, .lkey = end->mr->lkey};
	err = refused_chain(end, "64 SGEs", &sges);
	if (!err)
		err = refused_chain(end, "2 MiB inline", &data);
	return err ? err : refused_chain(end, "opcode 99", &opcode);
}

/* Unsignaled, so that nothing makes room: refused at last, and not much later than asked for. */
static int refused_full(struct end *end)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = {.remote_addr = (uintptr_t)end->in, .rkey = end->mr->rkey},
	};
	struct ibv_sge sge = {.addr = (uintptr_t)end->out, .length = 8, .lkey = end->mr->lkey};
	struct ibv_recv_wr recv = {.sg_list = &sge, .num_sge = 1}, *bad_recv = NULL;
	struct ibv_send_wr *bad = NULL;
	int n, err = 0;

	wr.sg_list = &sge;
	wr.num_sge = 1;
	for (n = 0; !err && n < 100 * END_DEPTH; n++)
		err = ibv_post_send(end->qp, &wr, &bad);
	if (err != ENOMEM || bad != &wr || n <= END_DEPTH)
		return end_failed(EBADMSG, "full send queue: errno %d after %d", err, n);
	for (n = 0, err = 0; !err && n < 100 * END_DEPTH; n++)
		err = ibv_post_recv(end->qp, &recv, &bad_recv);
	if (err != ENOMEM || bad_recv != &recv || n <= END_DEPTH)
		return end_failed(EBADMSG, "full receive queue: errno %d after %d", err, n);
	return 0;
}

int verbs_refused(struct end *end)
{
	int err = end_connect(end, &(struct end_qp){.rnr_retry = 7});

	if (!err)
		err = refused_sends(end);
	return err ? err : refused_full(end);
}

/* More than the port's MTU is refused, and changes nothing: the QP can go on. */
int verbs_mtu(struct end *end)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	enum ibv_mtu active = end->port.active_mtu;
	int err = end_connect(end, &(struct end_qp){.rnr_retry = 7});

	if (!err)
		err = end_reset_to_init(end);
	if (err)
		return err;
	if (active == IBV_MTU_4096)
		return end_failed(EINVAL, "the port's MTU leaves nothing to ask for");
	err = end_to_rtr(end, &(struct end_qp){.mtu = active + 1});
	if (err != -EINVAL)
		return end_failed(EBADMSG, "path MTU above the port's: errno %d", -err);
	err = ibv_query_qp(end->qp, &attr, IBV_QP_STATE, &init);
	if (err || attr.qp_state != IBV_QPS_INIT)
		return end_failed(EBADMSG, "QP state %d", attr.qp_state);
	err = end_to_rtr(end, &(struct end_qp){.mtu = active});
	return err ? end_failed(-err, "modify_qp to RTR after that") : 0;
}
