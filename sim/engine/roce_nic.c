// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The NIC: GID table, frames in to the QP that they are for, and the run loop that lets the QPs
 * send in turn. Owns the tables of objects; knows nothing of what the QPs do.
 */
#include "sim/engine/roce_engine.h"

#include <errno.h>
#include <string.h>

/* ------------------------------------------------------------- life, GIDs */

int roce_nic_create(const struct roce_nic_config *config, struct roce_nic **out)
{
	struct roce_memory memory = {config->env, config->env_ctx};
	struct roce_nic *nic;

	if (config->mtu < 256)
		return -EINVAL;
	nic = roce_alloc(&memory, sizeof(*nic));
	if (!nic)
		return -ENOMEM;
	nic->memory = memory;
	nic->config = *config;
	nic->env = config->env;
	nic->ctx = config->env_ctx;
	if (config->max_gid) {
		nic->gids = roce_alloc(&memory, config->max_gid * sizeof(*nic->gids));
		if (!nic->gids)
			goto undo_alloc;
	}
	nic->run.next = nic->run.prev = &nic->run;
	roce_timers_init(&nic->timers, &nic->memory);
	roce_table_init(&nic->qps, &nic->memory, config->max_qp);
	roce_table_init(&nic->cqs, &nic->memory, config->max_cq);
	roce_table_init(&nic->srqs, &nic->memory, config->max_srq);
	roce_table_init(&nic->mrs, &nic->memory, config->max_mr);
	*out = nic;
	return 0;

undo_alloc:
	roce_free(&memory, nic);
	return -ENOMEM;
}

void roce_nic_reset(struct roce_nic *nic)
{
	void *object;
	uint32_t id;

	/* Not a packet more. */
	nic->tx_blocked = true;
	/* Users before what they use. */
	for (id = 0; (object = roce_table_next(&nic->qps, &id)) != NULL;)
		roce_qp_destroy(object);
	for (id = 0; (object = roce_table_next(&nic->srqs, &id)) != NULL;)
		roce_srq_destroy(object);
	for (id = 0; (object = roce_table_next(&nic->cqs, &id)) != NULL;)
		roce_cq_destroy(object);
	for (id = 0; (object = roce_table_next(&nic->mrs, &id)) != NULL;)
		roce_mr_destroy(object);
	if (nic->gids)
		memset(nic->gids, 0, nic->config.max_gid * sizeof(*nic->gids));
	nic->late.head = nic->late.tail = 0;
	nic->tx_blocked = false;
}

void roce_nic_destroy(struct roce_nic *nic)
{
	struct roce_memory memory = nic->memory;

	roce_nic_reset(nic);
	roce_timers_fini(&nic->timers);
	roce_free(&memory, nic->gids);
	roce_free(&memory, nic);
}

void roce_nic_set_mtu(struct roce_nic *nic, uint32_t mtu)
{
	if (mtu >= 256)
		nic->config.mtu = mtu;
}

/* A tag with VLAN id 0 carries a priority only (IEEE 802.1Q 6.8). */
static uint16_t vlan_of(uint16_t vlan)
{
	return vlan ? vlan : ROCE_NO_VLAN;
}

int roce_gid_set(struct roce_nic *nic, uint32_t index, const uint8_t gid[16], enum roce_net net,
		 uint16_t vlan)
{
	struct roce_gid *entry;

	if (index >= nic->config.max_gid || net > ROCE_NET_V2_IPV6)
		return -EINVAL;
	entry = &nic->gids[index];
	*entry = (struct roce_gid){0};
	if (!gid)
		return 0;
	entry->used = true;
	entry->net = net;
	entry->vlan = vlan_of(vlan);
	memcpy(entry->gid, gid, sizeof(entry->gid));
	return 0;
}

bool roce_nic_path(const struct roce_nic *nic, const struct roce_av *av, uint32_t local_qpn,
		   uint32_t remote_qpn, struct roce_path *path)
{
	const struct roce_gid *gid;

	if (av->sgid_index >= nic->config.max_gid || !nic->gids[av->sgid_index].used)
		return false;
	gid = &nic->gids[av->sgid_index];
	/* A class whose address vector has no hop limit gives 0; 64 is the usual one (RFC 1700). */
	*path = (struct roce_path){
		.vlan = gid->vlan,
		.pcp = av->sl & 7,
		.net = gid->net,
		.traffic_class = av->traffic_class,
		.hop_limit = av->hop_limit ? av->hop_limit : 64,
		.flow_label = av->flow_label & 0xfffff,
		.udp_sport = av->udp_sport,
	};
	if (nic->config.ecn)
		path->traffic_class = (uint8_t)(av->traffic_class & ~ROCE_ECN_MASK) | ROCE_ECN_ECT0;
	if (!path->udp_sport)
		path->udp_sport = roce_udp_sport(path->flow_label, local_qpn, remote_qpn);
	memcpy(path->smac, nic->config.mac, sizeof(path->smac));
	memcpy(path->dmac, av->dmac, sizeof(path->dmac));
	memcpy(path->sgid, gid->gid, sizeof(path->sgid));
	memcpy(path->dgid, av->dgid, sizeof(path->dgid));
	return true;
}

const struct roce_counters *roce_nic_counters(const struct roce_nic *nic)
{
	return &nic->counters;
}

/* -------------------------------------------------------------------- input */

static bool gid_equal(const uint8_t a[16], const uint8_t b[16])
{
	return memcmp(a, b, 16) == 0;
}

/* Is it for one of our addresses? */
static enum roce_drop check_address(const struct roce_nic *nic, const struct roce_path *path)
{
	enum roce_drop drop = ROCE_DROP_DGID;
	uint32_t i;

	for (i = 0; i < nic->config.max_gid; i++) {
		const struct roce_gid *gid = &nic->gids[i];

		if (!gid->used || gid->net != path->net || !gid_equal(gid->gid, path->dgid))
			continue;
		if (gid->vlan == path->vlan)
			return ROCE_DROP_NONE;
		drop = ROCE_DROP_VLAN;
	}
	return drop;
}

/* A connection is between two addresses (IBTA 9.6, A17). */
static enum roce_drop check_peer(const struct roce_qp *qp, const struct roce_path *path)
{
	const struct roce_gid *gid = &qp->nic->gids[qp->attr.av.sgid_index];

	if (!gid->used || path->net != qp->path.net || !gid_equal(path->dgid, qp->path.sgid))
		return ROCE_DROP_DGID;
	if (path->vlan != qp->path.vlan)
		return ROCE_DROP_VLAN;
	return gid_equal(path->sgid, qp->path.dgid) ? ROCE_DROP_NONE : ROCE_DROP_SGID;
}

/* Requests from RTR on, responses from when there can be requests of our own. */
static bool state_accepts(const struct roce_qp *qp, const struct roce_op *op)
{
	if (qp->state < ROCE_QPS_RTR || qp->state == ROCE_QPS_ERR)
		return false;
	return !roce_op_is_response(op) || qp->state >= ROCE_QPS_RTS;
}

/* IBTA 9.6: the checks before the transport's own. */
static enum roce_drop check_packet(const struct roce_qp *qp, const struct roce_pkt *pkt)
{
	enum roce_service service = roce_qp_service(qp);

	if (pkt->op->kind == ROCE_KIND_CNP ? service == ROCE_SERVICE_UD
					   : pkt->op->service != service)
		return ROCE_DROP_QP_TYPE;
	if (!state_accepts(qp, pkt->op))
		return ROCE_DROP_QP_STATE;
	/* One P_Key, the default one; of two limited members none may talk (IBTA 10.9.3). */
	if ((pkt->pkey & 0x7fff) != 0x7fff)
		return ROCE_DROP_PKEY;
	return service == ROCE_SERVICE_UD ? check_address(qp->nic, &pkt->path)
					  : check_peer(qp, &pkt->path);
}

static void dispatch(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	if (pkt->op->kind == ROCE_KIND_CNP) {
		roce_cc_cnp(qp);
		return;
	}
	if (pkt->op->service == ROCE_SERVICE_UD) {
		roce_ud_input(qp, pkt);
		return;
	}
	if ((pkt->path.traffic_class & ROCE_ECN_MASK) == ROCE_ECN_CE)
		roce_cc_marked(qp);
	if (roce_op_is_request(pkt->op))
		roce_resp_input(qp, pkt);
	else
		roce_comp_input(qp, pkt);
}

void roce_nic_input(struct roce_nic *nic, uint64_t now, const void *frame, size_t length)
{
	enum roce_drop drop;
	struct roce_pkt pkt;
	struct roce_qp *qp;

	roce_nic_tick(nic, now);
	nic->counters.rx_packets++;
	nic->counters.rx_bytes += length;
	if (!roce_frame_parse(frame, length, &pkt, &drop))
		goto drop;
	pkt.path.vlan = vlan_of(pkt.path.vlan);
	drop = ROCE_DROP_DMAC;
	if (memcmp(pkt.path.dmac, nic->config.mac, sizeof(pkt.path.dmac)) != 0)
		goto drop;
	qp = roce_qp_find(nic, pkt.dqpn);
	drop = qp ? check_packet(qp, &pkt) : ROCE_DROP_QPN;
	if (drop != ROCE_DROP_NONE)
		goto drop;
	dispatch(qp, &pkt);
	return;

drop:
	roce_drop_count(&nic->counters, drop);
}

/* ------------------------------------------------------------------- output */

bool roce_nic_send(struct roce_nic *nic, struct roce_template *template, const struct roce_pkt *pkt,
		   const uint8_t *inline_payload)
{
	size_t size = roce_frame_size(template, pkt->op, pkt->payload_length);
	void *frame = nic->tx_blocked ? NULL : nic->env->tx_alloc(nic->ctx, size);
	uint8_t *payload;

	if (!frame) {
		nic->tx_blocked = true;
		return false;
	}
	payload = roce_frame_build(template, pkt, frame);
	if (inline_payload)
		memcpy(payload, inline_payload, pkt->payload_length);
	else if (pkt->payload_length)
		roce_span_gather(&nic->span, payload);
	roce_frame_finish(template, pkt, frame);
	nic->counters.tx_packets++;
	nic->counters.tx_bytes += size;
	nic->env->tx_send(nic->ctx, frame, size);
	return true;
}

/* Responses and requests in turn: neither a long READ nor a long queue starves the other. */
static enum roce_step step(struct roce_qp *qp)
{
	enum roce_step (*const sides[])(struct roce_qp *) = {roce_reply_step, roce_req_step};
	bool first = qp->requester_next;
	enum roce_step done = sides[first](qp);

	qp->requester_next = !first;
	return done == ROCE_STEP_IDLE ? sides[!first](qp) : done;
}

/* Taken out: who still has work after its turn goes to the end. */
static struct roce_qp *run_first(struct roce_nic *nic)
{
	struct roce_link *link = nic->run.next;

	link->prev->next = link->next;
	link->next->prev = link->prev;
	link->next = link->prev = NULL;
	return (struct roce_qp *)((char *)link - offsetof(struct roce_qp, run));
}

/* The port was full in the middle of a turn: it goes on there. */
static void run_push_front(struct roce_qp *qp)
{
	struct roce_link *list = &qp->nic->run;

	qp->run.prev = list;
	qp->run.next = list->next;
	list->next->prev = &qp->run;
	list->next = &qp->run;
}

/* One QP's turn. Returns what is left of the budget. */
static unsigned int take_turn(struct roce_qp *qp, unsigned int budget)
{
	unsigned int turn = budget < ROCE_QUANTUM ? budget : ROCE_QUANTUM;
	enum roce_step done = ROCE_STEP_SENT;
	unsigned int i;

	for (i = 0; i < turn && done == ROCE_STEP_SENT; i++)
		done = step(qp);
	if (done == ROCE_STEP_SENT) {
		roce_qp_wake(qp);
	} else if (done == ROCE_STEP_STALL) {
		if (qp->run.next)
			return budget;
		run_push_front(qp);
	}
	return budget - i;
}

bool roce_nic_run(struct roce_nic *nic, uint64_t now, unsigned int budget)
{
	roce_nic_tick(nic, now);
	/* They only mark what is to be sent: the budget is for packets. */
	while (roce_timers_fire(&nic->timers, nic->now))
		;
	if (!nic->tx_blocked)
		roce_reply_late(nic);
	while (budget && !nic->tx_blocked && nic->run.next != &nic->run)
		budget = take_turn(run_first(nic), budget);
	return !nic->tx_blocked && nic->run.next != &nic->run;
}

uint64_t roce_nic_next(const struct roce_nic *nic)
{
	return roce_timers_next(&nic->timers);
}

void roce_nic_tx_room(struct roce_nic *nic)
{
	nic->tx_blocked = false;
}
