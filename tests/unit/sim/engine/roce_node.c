/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A NIC under test and its environment. Owns what env calls must keep to; knows no packets. */
#include "tests/unit/sim/engine/roce_node.h"

#include "tests/lib/t.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Stands before each block of memory that the engine has. */
struct block {
	size_t size;
	uint64_t align;
};

static void *env_alloc(void *ctx, size_t size)
{
	struct node *n = ctx;
	struct block *block;

	if (n->out_of_memory)
		return NULL;
	block = calloc(1, sizeof(*block) + size);
	block->size = size;
	n->allocations++;
	n->allocated += size;
	return block + 1;
}

static void env_free(void *ctx, void *memory)
{
	struct node *n = ctx;

	if (!memory)
		return;
	n->allocations--;
	n->allocated -= ((struct block *)memory - 1)->size;
	free((struct block *)memory - 1);
}

static void *env_tx_alloc(void *ctx, size_t length)
{
	struct node *n = ctx;
	struct node_frame *frame;

	if (!n->room) {
		n->stalled = true;
		return NULL;
	}
	if (n->stalled)
		n->breaches++; /* asked again before roce_nic_tx_room() */
	n->room--;
	n->sends++;
	frame = malloc(sizeof(*frame) + length);
	frame->length = length;
	memset(frame->bytes, 0xdb, length);
	return frame->bytes;
}

static void env_tx_send(void *ctx, void *buffer, size_t length)
{
	struct node *n = ctx;
	struct node_frame *frame =
		(struct node_frame *)((char *)buffer - offsetof(struct node_frame, bytes));

	if (length != frame->length || length < 60)
		n->breaches++;
	n->sends--;
	frame->next = NULL;
	frame->at = n->now;
	*n->frames_end = frame;
	n->frames_end = &frame->next;
}

static bool region_alive(const struct node *n, const struct node_region *wanted)
{
	const struct node_region *region;

	for (region = n->regions; region; region = region->next)
		if (region == wanted)
			return true;
	return false;
}

static int env_mr_map(void *ctx, const struct roce_mr_attr *mr, uint64_t offset, size_t length,
		      bool write, struct iovec *iov, int max)
{
	struct node *n = ctx;
	struct node_region *region = mr->context;
	size_t piece;
	int count = 0;

	if (!region_alive(n, region) || !length || offset > region->length ||
	    length > region->length - offset || (write && !(mr->access & 0x7f))) {
		n->breaches++;
		return -EFAULT;
	}
	if (region->unmapped)
		return -EFAULT;
	while (length) {
		if (count == max)
			return -EFAULT;
		piece = region->piece - offset % region->piece;
		piece = piece < length ? piece : length;
		iov[count++] = (struct iovec){region->bytes + offset, piece};
		offset += piece;
		length -= piece;
	}
	return count;
}

static int env_complete(void *ctx, struct roce_cq *cq, const struct roce_wc *wc)
{
	struct node *n = ctx;

	if (n->complete_result)
		return n->complete_result;
	if (n->wc_count == n->wc_room) {
		n->wc_room = n->wc_room ? 2 * n->wc_room : 64;
		n->wc = realloc(n->wc, n->wc_room * sizeof(*n->wc));
	}
	n->wc[n->wc_count++] = (struct node_wc){*wc, cq, n->now};
	return 0;
}

static void env_cq_event(void *ctx, struct roce_cq *cq)
{
	struct node *n = ctx;

	if (n->cq_fired_count < NODE_EVENTS)
		n->cq_fired[n->cq_fired_count++] = cq;
}

static void env_event(void *ctx, enum roce_event event, struct roce_qp *qp, struct roce_cq *cq,
		      struct roce_srq *srq)
{
	struct node *n = ctx;

	if (!qp + !cq + !srq != 2)
		n->breaches++;
	if (n->event_count < NODE_EVENTS)
		n->events[n->event_count++] = (struct node_event){event, qp, cq, srq};
}

static int env_reg_mr(void *ctx, struct roce_qp *qp, void *reg, struct roce_mr_attr *attr)
{
	struct node *n = ctx;
	const struct node_reg *r = reg;

	if (!qp || !r || attr->key >> 8 != r->key >> 8)
		n->breaches++;
	if (n->reg_mr_result)
		return n->reg_mr_result;
	attr->key = r->key;
	attr->access = r->access;
	attr->iova = r->iova;
	attr->length = r->length;
	return 0;
}

static void env_reg_free(void *ctx, void *reg)
{
	struct node *n = ctx;

	n->reg_freed++;
	free(reg);
}

static const struct roce_env env = {
	.alloc = env_alloc,
	.free = env_free,
	.tx_alloc = env_tx_alloc,
	.tx_send = env_tx_send,
	.mr_map = env_mr_map,
	.complete = env_complete,
	.cq_event = env_cq_event,
	.event = env_event,
	.reg_mr = env_reg_mr,
	.reg_free = env_reg_free,
};

void node_mac(unsigned int index, uint8_t mac[6])
{
	memcpy(mac, (const uint8_t[6]){2, 0, 0, 0, 0, (uint8_t)index}, 6);
}

void node_gid(unsigned int index, enum node_gid gid, uint8_t bytes[16])
{
	static const uint8_t first[NODE_GIDS][16] = {
		[NODE_GID_IP4] = {[10] = 0xff, 0xff, 10, 0, 0, 0},
		[NODE_GID_IP6] = {0xfd, 0},
		[NODE_GID_V1] = {0xfd, 0},
		[NODE_GID_VLAN] = {[10] = 0xff, 0xff, 10, 5, 0, 0},
	};

	memcpy(bytes, first[gid], 16);
	bytes[15] = (uint8_t)index;
}

enum roce_net node_net(enum node_gid gid)
{
	static const enum roce_net nets[NODE_GIDS] = {
		[NODE_GID_IP4] = ROCE_NET_V2_IPV4,
		[NODE_GID_IP6] = ROCE_NET_V2_IPV6,
		[NODE_GID_V1] = ROCE_NET_V1,
		[NODE_GID_VLAN] = ROCE_NET_V2_IPV4,
	};

	return nets[gid];
}

void node_defaults(struct node *n, unsigned int index)
{
	memset(n, 0, sizeof(*n));
	n->index = index;
	n->now = 1000000;
	n->room = SIZE_MAX;
	n->frames_end = &n->frames;
	n->config = (struct roce_nic_config){
		.mtu = 4096,
		.max_qp = 1024,
		.max_cq = 2048,
		.max_srq = 64,
		.max_mr = 4096,
		.max_gid = 16,
		.seed = index,
		.env = &env,
		.env_ctx = n,
	};
	node_mac(index, n->config.mac);
}

void node_start(struct node *n)
{
	uint8_t gid[16];
	unsigned int i;

	T_EQ(roce_nic_create(&n->config, &n->nic), 0);
	for (i = 0; i < NODE_GIDS; i++) {
		node_gid(n->index, i, gid);
		T_EQ(roce_gid_set(n->nic, i, gid, node_net(i),
				  i == NODE_GID_VLAN ? NODE_VLAN : 0xffff),
		     0);
	}
}

void node_stop(struct node *n)
{
	struct node_region *region;
	struct node_frame *frame;

	roce_nic_destroy(n->nic);
	while ((frame = node_take_frame(n)))
		free(frame);
	while ((region = n->regions)) {
		n->regions = region->next;
		free(region->bytes);
		free(region);
	}
	free(n->wc);
	T_EQ(n->allocations, 0);
	T_EQ(n->sends, 0);
	T_EQ(n->breaches, 0);
}

static struct node_region *add_region(struct node *n, struct roce_mr_attr *attr)
{
	struct node_region *region = calloc(1, sizeof(*region));
	size_t i;

	region->length = attr->length;
	region->bytes = malloc(attr->length);
	for (i = 0; i < region->length; i++)
		region->bytes[i] = (uint8_t)((attr->key >> 8) + i * 7);
	region->piece = 4096;
	region->iova = attr->iova;
	region->key = attr->key;
	region->next = n->regions;
	n->regions = region;
	attr->context = region;
	T_EQ(roce_mr_create(n->nic, attr, &region->mr), 0);
	return region;
}

struct node_region *node_mr(struct node *n, uint32_t key, uint32_t access, size_t length)
{
	struct roce_mr_attr attr = {
		.key = key,
		.pdn = NODE_PD,
		.access = access,
		.iova = 0x700000000ull + ((uint64_t)key << 24) + 0x30,
		.length = length,
		.valid = true,
	};

	return add_region(n, &attr);
}

struct node_region *node_fast_mr(struct node *n, uint32_t key, bool valid, size_t length)
{
	struct roce_mr_attr attr = {
		.key = key,
		.pdn = NODE_PD,
		.access = 0xf,
		.iova = 0x900000000ull + ((uint64_t)key << 24),
		.length = length,
		.valid = valid,
		.fast_reg = true,
	};

	return add_region(n, &attr);
}

struct roce_qp *node_qp(struct node *n, uint32_t qpn, enum roce_qp_type type, struct roce_srq *srq)
{
	struct roce_qp_init init = {
		.qpn = qpn,
		.type = type,
		.pdn = NODE_PD,
		.srq = srq,
		.max_send_wr = 256,
		.max_recv_wr = 256,
		.context = n,
	};
	struct roce_qp *qp = NULL;

	T_EQ(roce_cq_create(n->nic, 2 * qpn, NULL, &init.send_cq), 0);
	T_EQ(roce_cq_create(n->nic, 2 * qpn + 1, NULL, &init.recv_cq), 0);
	T_EQ(roce_qp_create(n->nic, &init, &qp), 0);
	return qp;
}

void node_attr(struct roce_qp_attr *attr, unsigned int peer, enum node_gid gid, uint32_t dest_qpn)
{
	*attr = (struct roce_qp_attr){
		.access = ROCE_ACCESS_REMOTE_READ | ROCE_ACCESS_REMOTE_WRITE |
			  ROCE_ACCESS_REMOTE_ATOMIC | ROCE_ACCESS_LOCAL_WRITE,
		.qkey = 0x11111111,
		.path_mtu = 1024,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 4,
		.max_dest_rd_atomic = 4,
		.min_rnr_timer = 12,
		.dest_qpn = dest_qpn,
		.av = {.sgid_index = (uint8_t)gid, .hop_limit = 64},
	};
	node_mac(peer, attr->av.dmac);
	node_gid(peer, gid, attr->av.dgid);
}

static int modify(struct node *n, struct roce_qp *qp, const struct roce_qp_attr *attr,
		  enum roce_qp_state state, uint32_t mask)
{
	struct roce_qp_attr copy = *attr;

	copy.state = state;
	return roce_qp_modify(qp, n->now, &copy, mask | ROCE_QP_STATE);
}

/* The attributes that each transition must have (IBTA table 100), by QP type. */
static const struct {
	uint32_t init, rtr, rts;
} masks[] = {
	[ROCE_QPT_RC] = {ROCE_QP_PKEY_INDEX | ROCE_QP_ACCESS,
			 ROCE_QP_AV | ROCE_QP_PATH_MTU | ROCE_QP_DEST_QPN | ROCE_QP_RQ_PSN |
				 ROCE_QP_MAX_DEST_RD_ATOMIC | ROCE_QP_MIN_RNR_TIMER,
			 ROCE_QP_TIMEOUT | ROCE_QP_RETRY_CNT | ROCE_QP_RNR_RETRY | ROCE_QP_SQ_PSN |
				 ROCE_QP_MAX_RD_ATOMIC},
	[ROCE_QPT_UC] = {ROCE_QP_PKEY_INDEX | ROCE_QP_ACCESS,
			 ROCE_QP_AV | ROCE_QP_PATH_MTU | ROCE_QP_DEST_QPN | ROCE_QP_RQ_PSN,
			 ROCE_QP_SQ_PSN},
	[ROCE_QPT_UD] = {ROCE_QP_PKEY_INDEX | ROCE_QP_QKEY, 0, ROCE_QP_SQ_PSN},
	[ROCE_QPT_GSI] = {ROCE_QP_PKEY_INDEX | ROCE_QP_QKEY, 0, ROCE_QP_SQ_PSN},
};

void node_connect(struct node *n, struct roce_qp *qp, const struct roce_qp_attr *attr,
		  enum roce_qp_type type, enum roce_qp_state state)
{
	T_EQ(modify(n, qp, attr, ROCE_QPS_INIT, masks[type].init), 0);
	if (state == ROCE_QPS_INIT)
		return;
	T_EQ(modify(n, qp, attr, ROCE_QPS_RTR, masks[type].rtr), 0);
	if (state == ROCE_QPS_RTR)
		return;
	T_EQ(modify(n, qp, attr, ROCE_QPS_RTS, masks[type].rts), 0);
}

int node_modify(struct node *n, struct roce_qp *qp, enum roce_qp_state state)
{
	struct roce_qp_attr attr = {.state = state};
	int err = roce_qp_modify(qp, n->now, &attr, ROCE_QP_STATE);

	node_run(n);
	return err;
}

void node_run(struct node *n)
{
	unsigned int turns = 0;

	while (roce_nic_run(n->nic, n->now, 16) && !n->stalled)
		if (!T_TRUE(++turns < 100000))
			return;
}

void node_advance(struct node *n, uint64_t ns)
{
	uint64_t until = n->now + ns, next;

	node_run(n);
	while ((next = roce_nic_next(n->nic)) <= until) {
		n->now = next > n->now ? next : n->now + 1;
		node_run(n);
	}
	n->now = until;
	node_run(n);
}

void node_input(struct node *n, const void *frame, size_t length)
{
	uint8_t *copy = malloc(length + !length);

	memcpy(copy, frame, length);
	roce_nic_input(n->nic, n->now, copy, length);
	if (memcmp(copy, frame, length))
		n->breaches++;
	free(copy);
	node_run(n);
}

void node_make_room(struct node *n, size_t frames)
{
	n->room = frames;
	n->stalled = false;
	roce_nic_tx_room(n->nic);
	node_run(n);
}

struct node_frame *node_take_frame(struct node *n)
{
	struct node_frame *frame = n->frames;

	if (!frame)
		return NULL;
	n->frames = frame->next;
	if (!n->frames)
		n->frames_end = &n->frames;
	return frame;
}

const struct node_wc *node_take_wc(struct node *n)
{
	return n->wc_read < n->wc_count ? &n->wc[n->wc_read++] : NULL;
}

size_t node_count_events(const struct node *n, enum roce_event event)
{
	size_t i, count = 0;

	for (i = 0; i < n->event_count; i++)
		count += n->events[i].event == event;
	return count;
}
