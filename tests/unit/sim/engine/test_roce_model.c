/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Random work over a bad wire against the reference model, one short run a seed. ANYNIC_SOAK is a
 * number of seconds for which new seeds are tried; ANYNIC_SEED tries only that one and tells what
 * it is. A failing seed is named, and is the same run every time.
 */
#include "tests/lib/t.h"
#include "tests/unit/sim/engine/roce_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SEEDS = 300, LEAST_SEEDS = 20, SECONDS = 4, STEPS = 60 };

struct run {
	struct pair pair;
	struct model_flow flows[MODEL_FLOWS];
	uint32_t count;
	struct roce_qp_attr attr;
	enum node_gid gid;
};

static uint32_t pick(struct pair *p, const uint32_t *of, uint32_t count)
{
	return of[pair_random(p, count)];
}
#define PICK(p, ...)                               \
	pick((p), (const uint32_t[]){__VA_ARGS__}, \
	     sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

/* A third of the runs have no faults of a kind, and some have none at all. */
static void choose_wire(struct pair *p)
{
	struct pair_faults *faults = &p->faults;

	faults->delay = PICK(p, 0, 500, 5000, 50000);
	faults->scarcity = PICK(p, 0, 0, 1, 3, 40);
	if (!pair_random(p, 8))
		return;
	faults->loss = PICK(p, 0, 10, 60);
	faults->corrupt = PICK(p, 0, 10, 60);
	faults->duplicate = PICK(p, 0, 20, 100);
	faults->reorder = PICK(p, 0, 20, 200);
	faults->mark = PICK(p, 0, 0, 100);
}

static void choose_nics(struct pair *p)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		p->node[i].config.ack_every = PICK(p, 0, 1, 2, 4, 16);
		p->node[i].config.ecn = p->faults.mark;
		p->node[i].config.cnp_interval_ns = PICK(p, 0, 50000);
		p->node[i].config.cnp_dscp = 48;
		p->node[i].config.report_unsignaled = pair_random(p, 2);
	}
}

static void choose_connection(struct run *run)
{
	struct pair *p = &run->pair;
	struct roce_qp_attr *attr = &run->attr;

	run->gid = pair_random(p, NODE_GIDS);
	node_attr(attr, 0, run->gid, 0);
	attr->path_mtu = PICK(p, 256, 512, 1024, 2048, 4096);
	attr->timeout = (uint8_t)PICK(p, 8, 10, 14);
	attr->max_rd_atomic = attr->max_dest_rd_atomic = (uint8_t)PICK(p, 1, 2, 4, 16);
	attr->min_rnr_timer = (uint8_t)PICK(p, 1, 4, 12);
	attr->retry_cnt = 7;
	attr->rnr_retry = 7;
}

static struct roce_qp *make_qp(struct run *run, unsigned int i, uint32_t number, uint32_t psns[2])
{
	struct node *n = &run->pair.node[i];
	struct roce_qp_attr attr = run->attr;
	struct roce_qp *qp = node_qp(n, 0x100 + number * 2 + i, ROCE_QPT_RC, NULL);

	node_mac(2 - i, attr.av.dmac);
	node_gid(2 - i, run->gid, attr.av.dgid);
	attr.dest_qpn = 0x100 + number * 2 + !i;
	attr.sq_psn = psns[i];
	attr.rq_psn = psns[!i];
	node_connect(n, qp, &attr, ROCE_QPT_RC, ROCE_QPS_RTS);
	return qp;
}

/* A connection is two flows. */
static void add_connection(struct run *run, uint32_t number)
{
	struct pair *p = &run->pair;
	uint32_t psns[2], i;
	struct roce_qp *qps[2];

	for (i = 0; i < 2; i++)
		psns[i] =
			(PICK(p, 0, 0xfffff0, 0x7ffff0, 0xffffff) + pair_random(p, 16)) & 0xffffff;
	for (i = 0; i < 2; i++)
		qps[i] = make_qp(run, i, number, psns);
	for (i = 0; i < 2; i++) {
		struct model_flow *f = &run->flows[run->count];

		model_flow_init(f, p, i, run->count++);
		f->qp = qps[i];
		f->peer_qp = qps[!i];
		f->mtu = run->attr.path_mtu;
		f->target.real->piece = f->receive.real->piece = PICK(p, 4096, 1000, 100);
	}
}

static void step(struct run *run)
{
	struct pair *p = &run->pair;
	struct model_flow *f = &run->flows[pair_random(p, run->count)];
	uint32_t i;

	switch (pair_random(p, 4)) {
	case 0:
		for (i = pair_random(p, 4); i; i--)
			model_post_recv(f);
		break;
	case 1:
		pair_run(p, pair_random(p, PICK(p, 100, 10000, 1000000)));
		break;
	default:
		for (i = pair_random(p, 6); i; i--)
			model_post(f);
	}
	model_check_completions(run->flows, run->count);
}

static bool all_received(const struct run *run)
{
	uint32_t i;

	for (i = 0; i < run->count; i++)
		if (run->flows[i].recvs_posted < run->flows[i].recvs_needed)
			return false;
	return true;
}

/* Posts what receives are missing, and waits until the wire has nothing left to do. */
static void finish(struct run *run)
{
	uint32_t i, turns = 0;

	while (!all_received(run)) {
		for (i = 0; i < run->count; i++)
			if (run->flows[i].recvs_posted < run->flows[i].recvs_needed)
				model_post_recv(&run->flows[i]);
		pair_run(&run->pair, 1000);
		model_check_completions(run->flows, run->count);
		if (!T_TRUE(++turns < 2 * MODEL_OPS))
			return;
	}
	pair_run(&run->pair, 1000000000000ull);
	model_check_completions(run->flows, run->count);
	T_TRUE(pair_idle(&run->pair));
	for (i = 0; i < run->count; i++)
		model_check_end(&run->flows[i]);
}

/* Ways in which a connection ends early. */
static void break_one(struct run *run)
{
	struct pair *p = &run->pair;
	uint32_t i = pair_random(p, run->count) & ~1u;
	struct model_flow *f = &run->flows[i];
	struct roce_qp_attr error = {.state = ROCE_QPS_ERR};

	f[0].broken = f[1].broken = true;
	switch (pair_random(p, 4)) {
	case 0:
		T_EQ(roce_qp_modify(f->qp, p->now, &error, ROCE_QP_STATE), 0);
		break;
	case 1:
		f->target.real->unmapped = true;
		break;
	case 2:
		roce_mr_destroy(f->target.real->mr);
		break;
	default:
		roce_mr_destroy(f->receive.real->mr);
	}
}

/* Goes on for a while with what is left, then ends all. */
static void finish_broken(struct run *run)
{
	struct roce_qp_attr error = {.state = ROCE_QPS_ERR};
	uint32_t i;

	break_one(run);
	for (i = 0; i < STEPS / 2; i++)
		step(run);
	pair_run(&run->pair, pair_random(&run->pair, 2) ? 100000 : 30000000);
	for (i = 0; i < run->count; i++) {
		run->flows[i].broken = true;
		T_EQ(roce_qp_modify(run->flows[i].qp, run->pair.now, &error, ROCE_QP_STATE), 0);
	}
	pair_run(&run->pair, 1000000000);
	model_check_completions(run->flows, run->count);
	T_TRUE(pair_idle(&run->pair));
	for (i = 0; i < run->count; i++)
		model_check_broken_end(&run->flows[i]);
}

static void try_seed(uint64_t seed, void (*end)(struct run *run))
{
	unsigned int before = CU_get_number_of_failures();
	struct run *run = calloc(1, sizeof(*run));
	uint32_t i, connections;

	pair_init(&run->pair, seed);
	choose_wire(&run->pair);
	choose_nics(&run->pair);
	choose_connection(run);
	pair_start(&run->pair);
	connections = 1 + pair_random(&run->pair, MODEL_FLOWS / 2);
	for (i = 0; i < connections; i++)
		add_connection(run, i);
	for (i = 0; i < STEPS; i++)
		step(run);
	end(run);
	for (i = 0; i < run->count; i++)
		model_flow_fini(&run->flows[i]);
	pair_stop(&run->pair);
	if (CU_get_number_of_failures() != before)
		printf("# seed %llu failed: ANYNIC_SEED=%llu tries it again\n",
		       (unsigned long long)seed, (unsigned long long)seed);
	free(run);
}

static uint64_t number_of(const char *variable)
{
	const char *text = getenv(variable);

	return text ? strtoull(text, NULL, 0) : 0;
}

/* As many seeds as the time allows: slow tools try fewer. */
static void try_seeds(void (*end)(struct run *run))
{
	uint64_t seed = number_of("ANYNIC_SEED"), soak = number_of("ANYNIC_SOAK") / 2;
	unsigned int before = CU_get_number_of_failures();
	time_t begin = time(NULL);

	if (seed) {
		try_seed(seed, end);
		return;
	}
	while (CU_get_number_of_failures() == before) {
		try_seed(++seed, end);
		if (time(NULL) - begin < (time_t)soak || seed < LEAST_SEEDS)
			continue;
		if (soak || seed >= SEEDS || time(NULL) - begin >= SECONDS)
			break;
	}
	printf("# %llu seeds\n", (unsigned long long)seed);
}

static void work_over_a_bad_wire_is_done_once_and_in_order(void)
{
	try_seeds(finish);
}

static void broken_connections_complete_everything_once(void)
{
	try_seeds(finish_broken);
}

T_MAIN("roce_model", T_CASE(work_over_a_bad_wire_is_done_once_and_in_order),
       T_CASE(broken_connections_complete_everything_once), )
