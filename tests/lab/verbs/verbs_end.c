// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * One end of an RC connection. Owns objects, the way of the QP to RTS, and what is exchanged
 * by TCP. Knows no case and no provider.
 */
#include "tests/lab/verbs/verbs_end.h"

#include <errno.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define WAIT_SECONDS 60 /* an end of a run that hangs, not a limit to anything */

int end_failed(int err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, ": %s\n", strerror(err));
	return -err;
}

static int open_device(struct end *end)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i, err = 0;

	if (!list)
		return end_failed(errno, "device list");
	for (i = 0; list[i] && strcmp(ibv_get_device_name(list[i]), end->opt.device) != 0; i++)
		;
	end->context = list[i] ? ibv_open_device(list[i]) : NULL;
	if (!end->context)
		err = end_failed(list[i] ? errno : ENODEV, "device %s", end->opt.device);
	ibv_free_device_list(list);
	return err;
}

static int make_objects(struct end *end)
{
	const int rights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			   IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	int err = ibv_query_port(end->context, 1, &end->port);

	if (err)
		return end_failed(err, "query_port");
	err = ibv_query_gid(end->context, 1, end->opt.gid_index, &end->self.gid);
	if (err)
		return end_failed(errno, "query_gid %d", end->opt.gid_index);
	end->out = mmap(NULL, 2ul * END_HALF, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);
	if (end->out == MAP_FAILED)
		return end_failed(errno, "mmap");
	end->in = end->out + END_HALF;
	end->pd = ibv_alloc_pd(end->context);
	end->channel = ibv_create_comp_channel(end->context);
	if (!end->pd || !end->channel)
		return end_failed(errno, "alloc_pd or create_comp_channel");
	end->cq = ibv_create_cq(end->context, 4 * END_DEPTH, NULL, end->channel, 0);
	if (!end->cq)
		return end_failed(errno, "create_cq");
	end->mr = ibv_reg_mr(end->pd, end->out, 2ul * END_HALF, rights);
	if (!end->mr)
		return end_failed(errno, "reg_mr");
	end->self.addr = (uintptr_t)end->out;
	end->self.rkey = end->mr->rkey;
	end->self.mtu = end->port.active_mtu;
	return 0;
}

static int socket_to(const struct addrinfo *to, bool client)
{
	const int on = 1;
	int fd = socket(to->ai_family, SOCK_STREAM, 0), peer;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (client) {
		if (connect(fd, to->ai_addr, to->ai_addrlen) == 0)
			return fd;
	} else if (bind(fd, to->ai_addr, to->ai_addrlen) == 0 && listen(fd, 1) == 0) {
		peer = accept(fd, NULL, NULL);
		if (peer >= 0) {
			close(fd);
			return peer;
		}
	}
	close(fd);
	return -errno;
}

static int meet(struct end *end)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *found;
	char port[8];
	int err;

	snprintf(port, sizeof(port), "%u", end->opt.port);
	err = getaddrinfo(end->opt.peer, port, &hints, &found);
	if (err) {
		fprintf(stderr, "%s: %s\n", end->opt.peer, gai_strerror(err));
		return -EINVAL;
	}
	end->sock = socket_to(found, end->client);
	freeaddrinfo(found);
	return end->sock < 0 ? end_failed(-end->sock, "TCP port %s", port) : 0;
}

int end_open(struct end *end, const struct end_options *opt)
{
	int err;

	*end = (struct end){.opt = *opt, .client = opt->peer != NULL, .sock = -1};
	err = open_device(end);
	if (!err)
		err = make_objects(end);
	if (!err && !opt->alone)
		err = meet(end);
	return err;
}

void end_close(struct end *end)
{
	if (end->qp)
		ibv_destroy_qp(end->qp);
	if (end->mr)
		ibv_dereg_mr(end->mr);
	if (end->cq)
		ibv_destroy_cq(end->cq);
	if (end->channel)
		ibv_destroy_comp_channel(end->channel);
	if (end->pd)
		ibv_dealloc_pd(end->pd);
	if (end->out && end->out != MAP_FAILED)
		munmap(end->out, 2ul * END_HALF);
	if (end->context)
		ibv_close_device(end->context);
	if (end->sock >= 0)
		close(end->sock);
}

static int exchange(struct end *end, const void *mine, void *theirs, size_t len)
{
	if (end->opt.alone) {
		memcpy(theirs, mine, len);
		return 0;
	}
	if (send(end->sock, mine, len, MSG_NOSIGNAL) != (ssize_t)len)
		return end_failed(errno, "send to the other end");
	errno = EPIPE;
	if (recv(end->sock, theirs, len, MSG_WAITALL) != (ssize_t)len)
		return end_failed(errno, "the other end has left");
	return 0;
}

int end_sync(struct end *end)
{
	char mine = 's', theirs;

	return exchange(end, &mine, &theirs, 1);
}

static int to_init(struct end *end)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags =
			IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
	};
	int err =
		ibv_modify_qp(end->qp, &attr,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);

	return err ? end_failed(err, "modify_qp to INIT") : 0;
}

static int make_qp(struct end *end)
{
	struct ibv_qp_init_attr init = {
		.send_cq = end->cq,
		.recv_cq = end->cq,
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = END_DEPTH,
			.max_recv_wr = END_DEPTH,
			.max_send_sge = 1,
			.max_recv_sge = 1,
			.max_inline_data = END_INLINE},
	};
	int err;

	if (end->qp) {
		err = ibv_destroy_qp(end->qp);
		end->qp = NULL;
		if (err)
			return end_failed(err, "destroy_qp");
	}
	end->qp = ibv_create_qp(end->pd, &init);
	if (!end->qp)
		return end_failed(errno, "create_qp");
	if (init.cap.max_inline_data < END_INLINE)
		return end_failed(EINVAL, "inline data: %u bytes", init.cap.max_inline_data);
	end->self.qpn = end->qp->qp_num;
	/* Near the wrap, so that long messages pass it. */
	end->self.psn = 0xffffe0u + (end->qp->qp_num & 0xf);
	return to_init(end);
}

int end_reset_to_init(struct end *end)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
	int err = ibv_modify_qp(end->qp, &attr, IBV_QP_STATE);

	return err ? end_failed(err, "modify_qp to RESET") : to_init(end);
}

int end_to_rtr(struct end *end, const struct end_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = qp->mtu,
		.dest_qp_num = end->peer.qpn,
		.rq_psn = end->peer.psn,
		.max_dest_rd_atomic = 4,
		.min_rnr_timer = qp->min_rnr_timer ? qp->min_rnr_timer : 12,
		.ah_attr = {.is_global = 1,
			    .port_num = 1,
			    .grh = {.dgid = end->peer.gid,
				    .sgid_index = (uint8_t)end->opt.gid_index,
				    .hop_limit = 64}},
	};

	if (!attr.path_mtu)
		attr.path_mtu = end->peer.mtu < end->self.mtu ? end->peer.mtu : end->self.mtu;
	return -ibv_modify_qp(end->qp, &attr,
			      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				      IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				      IBV_QP_MIN_RNR_TIMER);
}

int end_connect(struct end *end, const struct end_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.timeout = 16,
		.retry_cnt = 7,
		.rnr_retry = qp->rnr_retry,
		.max_rd_atomic = 4,
	};
	int err = make_qp(end);

	if (!err)
		err = exchange(end, &end->self, &end->peer, sizeof(end->self));
	if (err)
		return err;
	err = end_to_rtr(end, qp);
	if (err)
		return end_failed(-err, "modify_qp to RTR");
	attr.sq_psn = end->self.psn;
	err = ibv_modify_qp(end->qp, &attr,
			    IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				    IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
	if (err)
		return end_failed(err, "modify_qp to RTS");
	return end_sync(end);
}

int end_post_recv(struct end *end, uint64_t wr_id, void *buf, uint32_t len)
{
	struct ibv_sge sge = {.addr = (uintptr_t)buf, .length = len, .lkey = end->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = len ? 1 : 0}, *bad;
	int err = ibv_post_recv(end->qp, &wr, &bad);

	return err ? end_failed(err, "post_recv") : 0;
}

int end_post(struct end *end, struct ibv_send_wr *wr, void *buf, uint32_t len)
{
	struct ibv_sge sge = {.addr = (uintptr_t)buf, .length = len, .lkey = end->mr->lkey};
	struct ibv_send_wr *bad;
	int err;

	wr->sg_list = &sge;
	/* NICs want a READ to have one, also of no bytes. */
	wr->num_sge = len || wr->opcode == IBV_WR_RDMA_READ ? 1 : 0;
	err = ibv_post_send(end->qp, wr, &bad);
	return err ? end_failed(err, "post_send, opcode %d", wr->opcode) : 0;
}

int end_wait(struct end *end, struct ibv_wc *wc)
{
	time_t late = time(NULL) + WAIT_SECONDS;
	int n;

	do {
		n = ibv_poll_cq(end->cq, 1, wc);
		if (n == 0 && time(NULL) > late)
			return end_failed(ETIMEDOUT, "no completion");
	} while (n == 0);
	return n < 0 ? end_failed(EIO, "poll_cq: %d", n) : 0;
}

int end_expect(struct end *end, enum ibv_wc_opcode opcode, struct ibv_wc *wc)
{
	int err = end_wait(end, wc);

	if (err)
		return err;
	if (wc->status != IBV_WC_SUCCESS)
		return end_failed(EIO, "completion with %s", ibv_wc_status_str(wc->status));
	if (wc->opcode != opcode)
		return end_failed(EIO, "completion of opcode %d, not %d", wc->opcode, opcode);
	return 0;
}

/* xorshift: cheap under emulation, and no byte follows from its place alone. */
static uint32_t next(uint32_t x)
{
	x ^= x << 13;
	x ^= x >> 17;
	return x ^ x << 5;
}

void end_fill(unsigned char *buf, size_t len, uint32_t seed)
{
	uint32_t x = seed * 2654435761u | 1;
	size_t i;

	for (i = 0; i < len; i++) {
		x = next(x);
		buf[i] = (unsigned char)(x >> 24);
	}
}

int end_verify(const unsigned char *buf, size_t len, uint32_t seed, const char *what)
{
	uint32_t x = seed * 2654435761u | 1;
	size_t i;

	for (i = 0; i < len; i++) {
		x = next(x);
		if (buf[i] != (unsigned char)(x >> 24))
			return end_failed(EBADMSG, "%s: byte %zu of %zu is wrong", what, i, len);
	}
	return 0;
}

void end_guard(unsigned char *buf, size_t len)
{
	memset(buf - END_GUARD, 0xa5, END_GUARD);
	memset(buf, 0, len);
	memset(buf + len, 0xa5, END_GUARD);
}

int end_guarded(const unsigned char *buf, size_t len, const char *what)
{
	size_t i;

	for (i = 0; i < END_GUARD; i++)
		if (buf[-1 - (ptrdiff_t)i] != 0xa5 || buf[len + i] != 0xa5)
			return end_failed(EBADMSG, "%s: written beyond %zu bytes", what, len);
	return 0;
}
