/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Field case P5: fork. Registering and deregistering leaves the address space in one
 * piece; a child may touch what shares a page with a region; the parent goes on; and
 * the parent's objects refuse in the child instead of crashing it. Both without
 * ibv_fork_init and after it, in this order, since it cannot be undone.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/userlib/fixture.h"

#define MAPPING_BYTES (64u << 20)

static unsigned int count_maps(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned int lines = 0;
	int c;

	if (!maps)
		return 0;
	while ((c = fgetc(maps)) != EOF)
		lines += c == '\n';
	fclose(maps);
	return lines;
}

static uint32_t random_number(void)
{
	static uint64_t state = 1;

	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(state >> 33);
}

/* Random, unaligned parts of one mapping; up to 64 regions at a time. */
static void regions_leave_no_splits(void)
{
	unsigned int cycles = getenv("ANYNIC_VALGRIND") ? 5000 : 70000, before, i;
	struct ibv_mr *mr[64] = {NULL};
	struct fixture f;
	char *memory;

	T_NEED(fixture_open(&f, IBV_QPT_RC));
	memory = mmap(NULL, MAPPING_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	T_NEED(memory != MAP_FAILED);
	before = count_maps();
	for (i = 0; i < cycles; i++) {
		uint32_t at = random_number() % (MAPPING_BYTES - 1);
		uint32_t length = random_number() % (MAPPING_BYTES - at) % 1000000 + 1;
		unsigned int slot = i % 64;

		if (mr[slot] && !T_EQ(ibv_dereg_mr(mr[slot]), 0))
			break;
		mr[slot] = ibv_reg_mr(f.pd, memory + at, length, IBV_ACCESS_LOCAL_WRITE);
		if (!T_TRUE(mr[slot]))
			break;
	}
	/* Each region that is still there may cost two splits. */
	T_TRUE(count_maps() <= before + 2 * 64 + 8);
	for (i = 0; i < 64; i++)
		if (mr[i])
			T_EQ(ibv_dereg_mr(mr[i]), 0);
	T_TRUE(count_maps() <= before + 8);
	munmap(memory, MAPPING_BYTES);
	fixture_close(&f);
}

/*
 * Runs in a child; what it returned, or 128 and the signal that ended it. The child
 * ends by exec, so that nobody looks for leaks in what it had of its parent.
 */
static int in_child(int (*run)(void *), void *argument)
{
	char command[32];
	pid_t child;
	int status;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		snprintf(command, sizeof(command), "exit %d", run(argument));
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(99);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int write_first_byte(void *memory)
{
	*(volatile char *)memory = 1;
	return 0;
}

/* A region at offset 2048 of a page; the child writes at offset 0. */
static void child_writes_beside_a_region(bool while_registered)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct fixture f;
	struct ibv_mr *mr;

	T_NEED(page != MAP_FAILED && fixture_open(&f, IBV_QPT_RC));
	mr = ibv_reg_mr(f.pd, page + 2048, 1024, IBV_ACCESS_LOCAL_WRITE);
	T_NEED(mr);
	if (while_registered)
		T_EQ(in_child(write_first_byte, page), 0);
	T_EQ(page[0], 0);
	T_EQ(ibv_dereg_mr(mr), 0);
	T_EQ(in_child(write_first_byte, page), 0);
	/* free() before ibv_dereg_mr is the application's fault, but not a reason to fail. */
	mr = ibv_reg_mr(f.pd, page + 2048, 1024, IBV_ACCESS_LOCAL_WRITE);
	T_NEED(mr);
	munmap(page, 8192);
	T_EQ(ibv_dereg_mr(mr), 0);
	fixture_close(&f);
}

static int use_everything(void *argument)
{
	struct ibv_send_wr send, *bad_send;
	struct ibv_recv_wr recv = {.num_sge = 0}, *bad_recv;
	struct fixture *f = argument;
	struct ibv_sge sge;
	struct ibv_wc wc;

	send = fixture_send(IBV_WR_SEND, &sge);
	if (ibv_post_send(f->qp, &send, &bad_send) != EIO)
		return 1;
	if (ibv_post_recv(f->qp, &recv, &bad_recv) != EIO)
		return 2;
	if (ibv_poll_cq(f->cq, 1, &wc) != 0)
		return 3;
	if (ibv_req_notify_cq(f->cq, 0) != 0)
		return 4;
	if (ibv_destroy_qp(f->qp) || ibv_destroy_cq(f->cq) || ibv_dealloc_pd(f->pd) ||
	    ibv_close_device(f->context))
		return 5;
	return 0;
}

static int use_new_objects(void *argument)
{
	struct ibv_send_wr send, *bad_send;
	struct fixture *f = argument, own = *f;
	struct ibv_sge sge;

	/* A program that opens the device before it becomes a daemon. */
	own.cap = (struct ibv_qp_cap){.max_send_wr = 4, .max_recv_wr = 4};
	own.cq = ibv_create_cq(f->context, 8, NULL, NULL, 0);
	own.qp = own.cq ? nk_make_qp(f->pd, own.cq, IBV_QPT_RC, &own.cap, 0) : NULL;
	if (!own.qp)
		return 1;
	own.nk_qp = nk_find_qp(own.qp);
	own.nk_cq = nk_find_cq(own.cq);
	send = fixture_send(IBV_WR_SEND, &sge);
	if (ibv_post_send(own.qp, &send, &bad_send))
		return 2;
	fixture_complete_sends(&own, 0);
	if (ibv_poll_cq(own.cq, 1, &(struct ibv_wc){0}) != 1)
		return 3;
	return 0;
}

/* The child's refusals ring nothing, and the parent's objects work on. */
static void childs_use_is_refused(void)
{
	struct ibv_send_wr wr, *bad;
	struct ibv_sge sge;
	struct fixture f;
	uint64_t bell;

	T_NEED(fixture_open(&f, IBV_QPT_RC));
	wr = fixture_send(IBV_WR_SEND, &sge);
	T_EQ(ibv_post_send(f.qp, &wr, &bad), 0);
	fixture_complete_sends(&f, 0);
	T_EQ(ibv_req_notify_cq(f.cq, 0), 0);
	memcpy(&bell, nk.cq_page + f.nk_cq->cqn * 8, sizeof(bell));
	T_EQ(in_child(use_everything, &f), 0);
	T_TRUE(memcmp(&bell, nk.cq_page + f.nk_cq->cqn * 8, sizeof(bell)) == 0);
	T_EQ(in_child(use_new_objects, &f), 0);
	T_EQ(nk_sq_pi(f.nk_qp), 1);
	T_EQ(ibv_poll_cq(f.cq, 1, &(struct ibv_wc){0}), 1);
	T_EQ(ibv_post_send(f.qp, &wr, &bad), 0);
	T_EQ(nk_sq_pi(f.nk_qp), 2);
	fixture_close(&f);
}

static void without_fork_init(void)
{
	child_writes_beside_a_region(true);
	childs_use_is_refused();
	regions_leave_no_splits();
}

static void after_fork_init(void)
{
	/* It tries the kernel out on a page of its own. */
	T_EQ(ibv_fork_init(), 0);
	T_TRUE(ibv_is_fork_initialized() != IBV_FORK_DISABLED);
	/* With marks the region's pages are not in the child, which is why it may not touch them. */
	child_writes_beside_a_region(ibv_is_fork_initialized() == IBV_FORK_UNNEEDED);
	childs_use_is_refused();
	regions_leave_no_splits();
}

/* ibv_fork_init has to come first in a process, so it gets one of its own. */
static const char *program;

static void in_a_process_with_fork_init(void)
{
	char text[512];
	FILE *output;

	snprintf(text, sizeof(text), "%s init", program);
	output = popen(text, "r");
	T_NEED(output);
	while (fgets(text, sizeof(text), output))
		printf("# %s", text);
	T_EQ(pclose(output), 0);
}

int main(int argc, char **argv)
{
	static const struct t_case plain[] = {T_CASE(without_fork_init),
					      T_CASE(in_a_process_with_fork_init)};
	static const struct t_case init[] = {T_CASE(after_fork_init)};

	program = argv[0];
	if (argc > 1)
		return t_run("provider_fork, init", init, 1);
	return t_run("provider_fork", plain, 2);
}
