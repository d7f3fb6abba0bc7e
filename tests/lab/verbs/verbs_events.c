// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Cases of lab-verbs about when: a receiver that is not ready, events on demand. Owns waits
 * that give the other end time, and asserts no duration.
 */
#include "tests/lab/verbs/verbs_end.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#define NOT_READY_MS 700
#define LONG_MS	     200
#define EVENT_MS     20000

static void sleep_ms(unsigned int ms)
{
	usleep(ms * 1000);
}

static int post_send(struct end *end, unsigned int flags, uint32_t seed)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED | flags};

	end_fill(end->out, 4097, seed);
	return end_post(end, &wr, end->out, 4097);
}

/* The receive comes late: the message is delivered once, and the ack timer is not spent. */
int verbs_rnr(struct end *end)
{
	struct ibv_wc wc;
	int err = end_connect(end, &(struct end_qp){.rnr_retry = 7, .min_rnr_timer = 12});

	if (err)
		return err;
	if (end->client) {
		err = post_send(end, 0, 77);
		if (!err)
			err = end_expect(end, IBV_WC_SEND, &wc);
		return err ? err : end_sync(end);
	}
	sleep_ms(NOT_READY_MS);
	err = end_post_recv(end, 1, end->in, 4097);
	if (!err)
		err = end_post_recv(end, 2, end->in + 8192, 4097);
	if (!err)
		err = end_expect(end, IBV_WC_RECV, &wc);
	if (!err)
		err = end_verify(end->in, 4097, 77, "late SEND");
	if (!err)
		err = end_sync(end);
	sleep_ms(LONG_MS);
	if (!err && ibv_poll_cq(end->cq, 1, &wc) != 0)
		err = end_failed(EBADMSG, "a second delivery");
	return err;
}

/* No receive at all, and a sender that may try again once: an error, and soon. */
int verbs_rnr_limit(struct end *end)
{
	struct ibv_wc wc;
	int err = end_connect(end, &(struct end_qp){.rnr_retry = 1, .min_rnr_timer = 12});

	if (!err && end->client) {
		err = post_send(end, 0, 78);
		if (!err)
			err = end_wait(end, &wc);
		if (!err && wc.status != IBV_WC_RNR_RETRY_EXC_ERR)
			err = end_failed(EBADMSG, "%s", ibv_wc_status_str(wc.status));
	}
	return err ? err : end_sync(end);
}

static int event_within(struct end *end, int ms)
{
	struct pollfd fd = {.fd = end->channel->fd, .events = POLLIN};
	struct ibv_cq *cq;
	void *context;

	if (poll(&fd, 1, ms) != 1)
		return -ETIMEDOUT;
	if (ibv_get_cq_event(end->channel, &cq, &context))
		return end_failed(errno, "get_cq_event");
	ibv_ack_cq_events(cq, 1);
	return 0;
}

/* Of three messages the second is solicited: one event, and it comes with that one. */
static int solicited_server(struct end *end)
{
	struct ibv_wc wc;
	uint64_t i;
	int err = 0;

	for (i = 0; !err && i < 3; i++)
		err = end_post_recv(end, i, end->in + i * 8192, 4097);
	if (!err)
		err = ibv_req_notify_cq(end->cq, 1);
	if (!err)
		err = end_sync(end);
	if (!err)
		err = end_expect(end, IBV_WC_RECV, &wc);
	if (!err && event_within(end, LONG_MS) == 0)
		err = end_failed(EBADMSG, "an event for a message that is not solicited");
	if (!err)
		err = end_sync(end);
	if (!err && event_within(end, EVENT_MS) != 0)
		err = end_failed(ETIMEDOUT, "no event for a solicited message");
	if (!err)
		err = end_expect(end, IBV_WC_RECV, &wc);
	/* Any message gives an event now; then, not armed, none does. */
	if (!err)
		err = ibv_req_notify_cq(end->cq, 0);
	if (!err)
		err = end_sync(end);
	if (!err && event_within(end, EVENT_MS) != 0)
		err = end_failed(ETIMEDOUT, "no event");
	if (!err)
		err = end_expect(end, IBV_WC_RECV, &wc);
	if (!err && event_within(end, LONG_MS) == 0)
		err = end_failed(EBADMSG, "an event that nobody asked for");
	return err;
}

static int solicited_client(struct end *end)
{
	static const unsigned int flags[] = {0, IBV_SEND_SOLICITED, 0};
	struct ibv_wc wc;
	uint32_t i;
	int err = 0;

	for (i = 0; !err && i < 3; i++) {
		err = end_sync(end);
		if (!err)
			err = post_send(end, flags[i], i);
		if (!err)
			err = end_expect(end, IBV_WC_SEND, &wc);
	}
	return err;
}

int verbs_solicited(struct end *end)
{
	int err = end_connect(end, &(struct end_qp){.rnr_retry = 7});

	if (!err)
		err = end->client ? solicited_client(end) : solicited_server(end);
	return err ? err : end_sync(end);
}
