/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The event loop: order of tasks, both clocks, descriptors that change while they are served. */
#include "sim/device/sim_loop.h"
#include "tests/lib/t.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct probe {
	struct sim_loop *loop;
	struct sim_task *task;
	struct probe *victim;
	char *log;
	char letter;
	uint64_t again;
	unsigned int left;
	uint64_t ran_at;
};

static void probe_run(void *ctx, uint64_t now)
{
	struct probe *p = ctx;

	strncat(p->log, &p->letter, 1);
	p->ran_at = now;
	T_EQ(sim_loop_now(p->loop), now);
	if (p->victim && p->victim->task) {
		sim_task_remove(p->victim->task);
		p->victim->task = NULL;
	}
	if (p->left) {
		p->left--;
		sim_task_set(p->task, p->again ? now + p->again : 0);
	}
}

static void probes_init(struct sim_loop *loop, struct probe *probes, size_t count, char *log)
{
	size_t i;

	for (i = 0; i < count; i++) {
		probes[i] =
			(struct probe){.loop = loop, .log = log, .letter = (char)('a' + i % 26)};
		T_EQ(sim_task_add(loop, probe_run, &probes[i], &probes[i].task), 0);
	}
}

static void probes_fini(struct probe *probes, size_t count)
{
	while (count--)
		sim_task_remove(probes[count].task);
}

static void tasks_run_in_order_of_deadlines(void)
{
	char log[64] = "";
	struct probe p[4];
	struct sim_loop *loop;

	T_NEED(!sim_loop_create(true, &loop));
	probes_init(loop, p, 4, log);
	T_EQ(sim_loop_now(loop), 0);
	sim_task_set(p[0].task, 30);
	sim_task_set(p[1].task, 10);
	sim_task_set(p[2].task, 20);
	sim_task_set(p[3].task, 10);
	sim_loop_advance(loop, 9);
	T_EQ(strcmp(log, ""), 0);
	sim_loop_advance(loop, 1);
	T_EQ(strcmp(log, "bd"), 0);
	T_EQ(sim_loop_now(loop), 10);
	sim_loop_advance(loop, 100);
	T_EQ(strcmp(log, "bdca"), 0);
	T_EQ(p[2].ran_at, 20);
	T_EQ(p[0].ran_at, 30);
	T_EQ(sim_loop_now(loop), 110);
	probes_fini(p, 4);
	sim_loop_destroy(loop);
}

static void past_deadline_means_soon(void)
{
	char log[64] = "";
	struct probe p[3];
	struct sim_loop *loop;

	T_NEED(!sim_loop_create(true, &loop));
	probes_init(loop, p, 3, log);
	sim_loop_advance(loop, 1000);
	sim_task_set(p[2].task, 0);
	sim_task_set(p[0].task, 999);
	sim_task_set(p[1].task, 1000);
	sim_task_set(p[2].task, 1); /* already waiting for now: keeps its turn */
	sim_loop_advance(loop, 0);
	T_EQ(strcmp(log, "cab"), 0);
	T_EQ(p[1].ran_at, 1000);
	probes_fini(p, 3);
	sim_loop_destroy(loop);
}

static void never_takes_a_task_back(void)
{
	char log[64] = "";
	struct probe p[2];
	struct sim_loop *loop;

	T_NEED(!sim_loop_create(true, &loop));
	probes_init(loop, p, 2, log);
	sim_task_set(p[0].task, 5);
	sim_task_set(p[1].task, 6);
	sim_task_set(p[0].task, UINT64_MAX);
	sim_task_set(p[0].task, UINT64_MAX);
	sim_loop_advance(loop, UINT64_MAX);
	T_EQ(strcmp(log, "b"), 0);
	probes_fini(p, 2);
	sim_loop_destroy(loop);
}

static void task_moves_itself_and_removes_others(void)
{
	char log[64] = "";
	struct probe p[3];
	struct sim_loop *loop;

	T_NEED(!sim_loop_create(true, &loop));
	probes_init(loop, p, 3, log);
	p[0].left = 3;
	p[0].again = 7;
	p[1].victim = &p[2];
	sim_task_set(p[0].task, 1);
	sim_task_set(p[1].task, 10);
	sim_task_set(p[2].task, 10);
	sim_loop_advance(loop, 1000);
	T_EQ(strcmp(log, "aabaa"), 0);
	T_EQ(p[0].ran_at, 22);
	probes_fini(p, 3);
	sim_loop_destroy(loop);
}

/* Against a plain sort: 200 tasks, moved about at random, a third of them removed again. */
static void heap_agrees_with_a_sort(void)
{
	enum { COUNT = 200 };
	static char log[COUNT + 1];
	static struct probe p[COUNT];
	uint64_t deadline[COUNT] = {0};
	struct sim_loop *loop;
	unsigned int i, expected = 0;

	log[0] = 0;
	T_NEED(!sim_loop_create(true, &loop));
	probes_init(loop, p, COUNT, log);
	srandom(7);
	for (i = 0; i < 10 * COUNT; i++) {
		unsigned int which = (unsigned int)random() % COUNT;

		deadline[which] = random() % 3 ? 1 + (uint64_t)random() % 500 : UINT64_MAX;
		sim_task_set(p[which].task, deadline[which]);
	}
	for (i = 0; i < COUNT; i++)
		if (deadline[i] && deadline[i] != UINT64_MAX)
			expected++;
	sim_loop_advance(loop, 500);
	T_EQ(strlen(log), expected);
	for (i = 0; i < COUNT; i++)
		T_EQ(p[i].ran_at, deadline[i] == UINT64_MAX ? 0 : deadline[i]);
	probes_fini(p, COUNT);
	sim_loop_destroy(loop);
}

struct reader {
	struct sim_loop *loop;
	struct sim_fd *watch;
	struct sim_fd **remove;
	int fd;
	unsigned int calls;
	bool stop;
};

static void reader_ready(void *ctx, unsigned int events)
{
	struct reader *r = ctx;
	char byte;

	T_TRUE(events & SIM_LOOP_READ);
	r->calls++;
	T_EQ(read(r->fd, &byte, 1), 1);
	if (r->remove) {
		sim_fd_remove(*r->remove);
		*r->remove = NULL;
	}
	if (r->stop)
		sim_loop_stop(r->loop);
}

static void fds_are_served_before_tasks(void)
{
	char log[64] = "";
	struct reader r = {0};
	struct probe p[1];
	struct sim_loop *loop;
	int sv[2];

	T_NEED(!sim_loop_create(true, &loop));
	T_NEED(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sv));
	probes_init(loop, p, 1, log);
	r.fd = sv[0];
	T_EQ(sim_fd_add(loop, sv[0], SIM_LOOP_READ, reader_ready, &r, &r.watch), 0);
	T_EQ(write(sv[1], "xyz", 3), 3);
	sim_loop_advance(loop, 0);
	T_EQ(r.calls, 1);
	T_EQ(sim_fd_change(r.watch, 0), 0);
	sim_loop_advance(loop, 0);
	T_EQ(r.calls, 1);
	T_EQ(sim_fd_change(r.watch, SIM_LOOP_READ), 0);
	p[0].left = 1;
	sim_task_set(p[0].task, 0);
	sim_loop_advance(loop, 0);
	T_EQ(r.calls, 3);
	T_EQ(strcmp(log, "aa"), 0);
	sim_fd_remove(r.watch);
	probes_fini(p, 1);
	sim_loop_destroy(loop);
	close(sv[0]);
	close(sv[1]);
}

/* Both are readable in one turn; the first one served removes the second, or itself. */
static void fd_removed_while_ready_is_not_called(void)
{
	struct reader r[2] = {0};
	struct sim_loop *loop;
	int sv[4];
	unsigned int i;

	T_NEED(!sim_loop_create(true, &loop));
	T_NEED(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sv));
	T_NEED(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sv + 2));
	for (i = 0; i < 2; i++) {
		r[i].fd = sv[2 * i];
		r[i].remove = &r[1 - i].watch;
		T_EQ(sim_fd_add(loop, r[i].fd, SIM_LOOP_READ, reader_ready, &r[i], &r[i].watch), 0);
		T_EQ(write(sv[2 * i + 1], "x", 1), 1);
	}
	sim_loop_advance(loop, 0);
	T_EQ(r[0].calls + r[1].calls, 1);
	i = r[0].watch ? 0 : 1;
	r[i].remove = &r[i].watch;
	T_EQ(write(sv[2 * i + 1], "x", 1), 1);
	sim_loop_advance(loop, 0);
	T_EQ(r[i].watch == NULL, 1);
	sim_loop_destroy(loop);
	for (i = 0; i < 4; i++)
		close(sv[i]);
}

static void stop_run(void *ctx, uint64_t now)
{
	(void)now;
	sim_loop_stop(ctx);
}

static void real_clock_keeps_deadlines(void)
{
	struct sim_task *stop, *late;
	struct sim_loop *loop;
	uint64_t start, took;

	T_NEED(!sim_loop_create(false, &loop));
	T_NEED(!sim_task_add(loop, stop_run, loop, &stop));
	T_NEED(!sim_task_add(loop, stop_run, loop, &late));
	start = sim_loop_now(loop);
	/* The timer is first set to the later one, then must move to the earlier one. */
	sim_task_set(late, start + 10000000000ull);
	sim_task_set(stop, start + 3000000);
	T_EQ(sim_loop_run(loop), 0);
	took = sim_loop_now(loop) - start;
	T_TRUE(took >= 3000000);
	T_TRUE(took < 2000000000);
	sim_task_set(stop, 0);
	T_EQ(sim_loop_run(loop), 0);
	sim_task_remove(stop);
	sim_task_remove(late);
	sim_loop_destroy(loop);
}

static void real_clock_serves_fds(void)
{
	struct reader r = {0};
	struct sim_loop *loop;
	int sv[2];

	T_NEED(!sim_loop_create(false, &loop));
	T_NEED(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sv));
	r.loop = loop;
	r.fd = sv[0];
	r.stop = true;
	T_EQ(sim_fd_add(loop, sv[0], SIM_LOOP_READ, reader_ready, &r, &r.watch), 0);
	T_EQ(write(sv[1], "x", 1), 1);
	T_EQ(sim_loop_run(loop), 0);
	T_EQ(r.calls, 1);
	sim_fd_remove(r.watch);
	sim_loop_destroy(loop);
	close(sv[0]);
	close(sv[1]);
}

static void virtual_clock_does_not_run(void)
{
	struct sim_loop *loop;

	T_NEED(!sim_loop_create(true, &loop));
	T_EQ(sim_loop_run(loop), -EINVAL);
	sim_loop_destroy(loop);
}

T_MAIN("sim_loop", T_CASE(tasks_run_in_order_of_deadlines), T_CASE(past_deadline_means_soon),
       T_CASE(never_takes_a_task_back), T_CASE(task_moves_itself_and_removes_others),
       T_CASE(heap_agrees_with_a_sort), T_CASE(fds_are_served_before_tasks),
       T_CASE(fd_removed_while_ready_is_not_called), T_CASE(real_clock_keeps_deadlines),
       T_CASE(real_clock_serves_fds), T_CASE(virtual_clock_does_not_run), )
