// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Case of lab-verbs: a process with regions forks, and neither side loses data. The caller
 * has called ibv_fork_init() before it opened the device.
 */
#include "tests/lab/verbs/verbs_end.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define CYCLES	   2000
#define SPREAD	   (64ul << 20)
#define CHILD_DONE 42

static int maps_count(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	int lines = 0, c;

	if (!maps)
		return -errno;
	while ((c = getc(maps)) != EOF)
		lines += c == '\n';
	fclose(maps);
	return lines;
}

/* Regions come and go all over one mapping: it must not be left in pieces. */
static int many_regions(struct end *end)
{
	char *space = mmap(NULL, SPREAD, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int i, before, after, err = 0;

	if (space == MAP_FAILED)
		return end_failed(errno, "mmap");
	before = maps_count();
	srand(1);
	for (i = 0; !err && i < CYCLES; i++) {
		size_t at = (size_t)rand() % (SPREAD - 16384);
		struct ibv_mr *mr = ibv_reg_mr(end->pd, space + at, 1 + (size_t)rand() % 16384,
					       IBV_ACCESS_LOCAL_WRITE);

		err = mr ? ibv_dereg_mr(mr) : errno;
	}
	after = maps_count();
	munmap(space, SPREAD);
	if (err)
		return end_failed(err, "region %d", i);
	printf("%d regions: %d mappings before, %d after\n", CYCLES, before, after);
	return after > before + 8 ? end_failed(ENOMEM, "mappings left in pieces") : 0;
}

static _Noreturn void child(struct end *end, unsigned char *page, int go)
{
	struct ibv_device_attr attr;
	char c;

	/* Beside the region, in its page: the child's own. */
	memset(page, 0x11, 2048);
	/* An answer or an error, but an answer. */
	(void)ibv_query_device(end->context, &attr);
	if (read(go, &c, 1) != 1)
		_exit(1);
	/* The parent's WRITE is the parent's. */
	_exit(end_verify(page + 2048, 2048, 5, "child") == 0 ? CHILD_DONE : 1);
}

static int write_to(struct end *end, struct ibv_mr *mr, unsigned char *to)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = {.remote_addr = (uintptr_t)to, .rkey = mr->rkey},
	};
	struct ibv_wc wc;
	int err;

	end_fill(end->out, 2048, 6);
	err = end_post(end, &wr, end->out, 2048);
	if (!err)
		err = end_expect(end, IBV_WC_RDMA_WRITE, &wc);
	return err ? err : end_verify(to, 2048, 6, "parent");
}

/* A region from the middle of a page on; parent and child both write to that page. */
static int fork_and_write(struct end *end, unsigned char *page, struct ibv_mr *mr)
{
	int go[2], status, err;
	pid_t pid;

	if (pipe(go))
		return end_failed(errno, "pipe");
	end_fill(page + 2048, 2048, 5);
	pid = fork();
	if (pid == 0)
		child(end, page, go[0]);
	err = pid < 0 ? end_failed(errno, "fork") : write_to(end, mr, page + 2048);
	if (write(go[1], "g", 1) != 1 && !err)
		err = end_failed(errno, "pipe");
	if (pid > 0 && waitpid(pid, &status, 0) == pid && !err &&
	    (!WIFEXITED(status) || WEXITSTATUS(status) != CHILD_DONE))
		err = end_failed(ECHILD, "child status 0x%x", status);
	close(go[0]);
	close(go[1]);
	return err;
}

int verbs_fork(struct end *end)
{
	unsigned char *page =
		mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_mr *mr;
	int err;

	if (page == MAP_FAILED)
		return end_failed(errno, "mmap");
	printf("fork status %d\n", ibv_is_fork_initialized());
	err = end_connect(end, &(struct end_qp){.rnr_retry = 7});
	if (!err)
		err = many_regions(end);
	if (err)
		return err;
	mr = ibv_reg_mr(end->pd, page + 2048, 2048,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!mr)
		return end_failed(errno, "reg_mr");
	err = fork_and_write(end, page, mr);
	/* Freed first, deregistered after: the pages are the region's until then. */
	munmap(page, 8192);
	if (ibv_dereg_mr(mr) && !err)
		err = end_failed(errno, "dereg_mr");
	return err;
}
