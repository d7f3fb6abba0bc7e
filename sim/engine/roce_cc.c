// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Congestion control: CNPs for packets marked CE (A17.9), and the sender's rate after a CNP, as
 * in DCQCN (Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015).
 * Owns qp->cc. Knows nothing of what is sent, only how many bytes.
 *
 * The rate's periods are not timers: what has passed is made up for when the rate is next needed.
 */
#include "sim/engine/roce_engine.h"

enum {
	ALPHA_ONE = 1 << 20,
	ALPHA_GAIN_LOG = 8,    /* g = 1/256 */
	PERIOD_NS = 55 * 1000, /* of alpha's decay and of increase */
	CUT_NS = 50 * 1000,    /* one cut in this time, however many CNPs */
	RECOVERY_ROUNDS = 5,   /* half way back each, before the target grows */
	/* The target grows by this part of the line rate a round, then by ten times that. */
	INCREASE_PART = 2500,
	HYPER_PART = 250,
	/* Slowest rate, as a part of the line rate. */
	LEAST_PART = 1000,
	/* Pacing may make up for so much time in which it was not asked. */
	BURST_NS = 20 * 1000,
};

static const uint64_t default_bps = 100ull * 1000 * 1000 * 1000;
static const uint64_t ns_bits = 8ull * 1000 * 1000 * 1000;

static uint64_t line_bps(const struct roce_qp *qp)
{
	uint64_t bps = qp->nic->config.link_bps;

	return bps ? bps : default_bps;
}

static struct roce_qp *qp_of_timer(struct roce_timer *timer)
{
	return (struct roce_qp *)((char *)timer - offsetof(struct roce_qp, cc.pace_timer));
}

static void pace_over(struct roce_timer *timer)
{
	roce_qp_wake(qp_of_timer(timer));
}

void roce_cc_init(struct roce_qp *qp)
{
	qp->cc = (struct roce_cc){.pace_timer.fire = pace_over};
}

/* ------------------------------------------------------------- who was marked */

void roce_cc_marked(struct roce_qp *qp)
{
	struct roce_nic *nic = qp->nic;

	nic->counters.ecn_marked_rx++;
	if (!nic->config.ecn || nic->now < qp->cc.cnp_after)
		return;
	qp->cc.cnp_after = nic->now + nic->config.cnp_interval_ns;
	qp->cc.cnp_pending = true;
	roce_qp_wake(qp);
}

enum roce_step roce_cc_step(struct roce_qp *qp)
{
	struct roce_nic *nic = qp->nic;
	struct roce_template template;
	struct roce_path path = qp->path;
	struct roce_pkt pkt = {0};

	path.traffic_class = (uint8_t)(nic->config.cnp_dscp << 2 | ROCE_ECN_ECT0);
	roce_template_init(&template, &path);
	roce_frame_cnp(&pkt, qp->attr.dest_qpn, 0xffff);
	if (!roce_nic_send(nic, &template, &pkt, NULL))
		return ROCE_STEP_STALL;
	nic->counters.cnp_tx++;
	qp->cc.cnp_pending = false;
	return ROCE_STEP_SENT;
}

/* --------------------------------------------------------------- who is to slow */

/* One period without a CNP: alpha decays, the rate goes half way to its target. */
static void increase(struct roce_qp *qp)
{
	struct roce_cc *cc = &qp->cc;
	uint64_t line = line_bps(qp);

	cc->alpha -= cc->alpha >> ALPHA_GAIN_LOG;
	cc->rounds++;
	if (cc->rounds > 2 * RECOVERY_ROUNDS)
		cc->target_bps += line / HYPER_PART;
	else if (cc->rounds > RECOVERY_ROUNDS)
		cc->target_bps += line / INCREASE_PART;
	if (cc->target_bps > line)
		cc->target_bps = line;
	cc->current_bps = (cc->current_bps + cc->target_bps + 1) / 2;
	if (cc->current_bps >= line)
		cc->limited = false;
}

static void catch_up(struct roce_qp *qp)
{
	struct roce_cc *cc = &qp->cc;

	while (cc->limited && qp->nic->now - cc->period_at >= PERIOD_NS) {
		cc->period_at += PERIOD_NS;
		increase(qp);
	}
}

void roce_cc_cnp(struct roce_qp *qp)
{
	struct roce_cc *cc = &qp->cc;
	uint64_t line = line_bps(qp);
	uint64_t now = qp->nic->now;

	qp->nic->counters.cnp_rx++;
	if (!qp->nic->config.ecn)
		return;
	catch_up(qp);
	if (!cc->limited) {
		cc->limited = true;
		cc->current_bps = line;
		cc->alpha = ALPHA_ONE;
	} else if (now - cc->cut_at < CUT_NS) {
		return;
	}
	cc->target_bps = cc->current_bps;
	cc->current_bps -= cc->current_bps * cc->alpha / (2 * ALPHA_ONE);
	if (cc->current_bps < line / LEAST_PART)
		cc->current_bps = line / LEAST_PART;
	cc->alpha += (ALPHA_ONE - cc->alpha) >> ALPHA_GAIN_LOG;
	cc->rounds = 0;
	cc->cut_at = cc->period_at = now;
}

/* 0: no limit. */
static uint64_t rate_bps(const struct roce_qp *qp)
{
	uint64_t limit = qp->attr.rate_limit_bps;

	if (!qp->cc.limited)
		return limit;
	return limit && limit < qp->cc.current_bps ? limit : qp->cc.current_bps;
}

bool roce_cc_may_send(struct roce_qp *qp)
{
	if (!qp->cc.limited && !qp->attr.rate_limit_bps)
		return true;
	catch_up(qp);
	if (!rate_bps(qp) || qp->nic->now >= qp->cc.send_after)
		return true;
	roce_timer_arm(&qp->nic->timers, &qp->cc.pace_timer, qp->cc.send_after);
	return false;
}

void roce_cc_sent(struct roce_qp *qp, size_t bytes)
{
	uint64_t rate = rate_bps(qp);
	uint64_t now = qp->nic->now;
	uint64_t from = now > BURST_NS ? now - BURST_NS : 0;

	if (!rate)
		return;
	if (qp->cc.send_after > from)
		from = qp->cc.send_after;
	qp->cc.send_after = from + bytes * ns_bits / rate;
}
