/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The event loop. Owns the clock, the queue of tasks and the poll set. Knows
 * nothing of devices or frames.
 *
 * libevent watches the file descriptors. The tasks are kept here: a heap ordered by (deadline,
 * order of setting), and one timerfd for the whole loop. libevent's own timers would cost a
 * timerfd_settime() each turn and round to microseconds; this one is set only when the next
 * deadline is earlier than what it is set to, which under load is almost never.
 */
#include "sim/device/sim_loop.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define NSEC_PER_SEC 1000000000ull
#define NEVER	     UINT64_MAX
#define NOT_QUEUED   UINT32_MAX

struct slot {
	uint64_t deadline;
	uint64_t order;
	struct sim_task *task;
};

struct sim_loop {
	struct event_base *base;
	struct event *timer; /* real clock only */
	int timer_fd;
	uint64_t timer_deadline; /* what timer_fd is set to, NEVER = not set */
	uint64_t now;
	bool virtual_clock;
	bool now_is_old; /* the loop may have slept since `now` was read */
	bool stop;
	struct slot *heap;
	uint32_t queued;
	uint32_t tasks; /* made, queued or not: never more than room */
	uint32_t room;
	uint64_t order;
};

struct sim_task {
	struct sim_loop *loop;
	void (*run)(void *ctx, uint64_t now);
	void *ctx;
	uint32_t index; /* in the heap, or NOT_QUEUED */
};

struct sim_fd {
	struct sim_loop *loop;
	struct event *event;
	void (*ready)(void *ctx, unsigned int events);
	void *ctx;
};

/* ------------------------------------------------------------ the clock */

static uint64_t read_clock(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

static void refresh_now(struct sim_loop *loop)
{
	if (loop->virtual_clock || !loop->now_is_old)
		return;
	loop->now = read_clock();
	loop->now_is_old = false;
}

uint64_t sim_loop_now(const struct sim_loop *loop)
{
	return loop->now;
}

/* Wakes the loop for the next task. A wake-up that comes too early only costs one turn. */
static void set_timer(struct sim_loop *loop, uint64_t deadline)
{
	struct itimerspec spec = {0};

	if (deadline >= loop->timer_deadline)
		return;
	spec.it_value.tv_sec = (time_t)(deadline / NSEC_PER_SEC);
	spec.it_value.tv_nsec = (long)(deadline % NSEC_PER_SEC);
	if (!timerfd_settime(loop->timer_fd, TFD_TIMER_ABSTIME, &spec, NULL))
		loop->timer_deadline = deadline;
}

static void timer_ready(evutil_socket_t fd, short what, void *ctx)
{
	struct sim_loop *loop = ctx;
	uint64_t expirations;

	(void)what;
	refresh_now(loop);
	/* Not readable after all (set again meanwhile) is fine: only the reset matters. */
	if (read(fd, &expirations, sizeof(expirations)) == (ssize_t)sizeof(expirations))
		loop->timer_deadline = NEVER;
}

/* ------------------------------------------------------------ tasks */

static bool slot_before(const struct slot *a, const struct slot *b)
{
	return a->deadline != b->deadline ? a->deadline < b->deadline : a->order < b->order;
}

static void heap_put(struct sim_loop *loop, uint32_t index, const struct slot *slot)
{
	loop->heap[index] = *slot;
	slot->task->index = index;
}

/* Finds the place of `slot`, starting at the free place `index`. */
static void heap_settle(struct sim_loop *loop, uint32_t index, struct slot slot)
{
	uint32_t child;

	while (index && slot_before(&slot, &loop->heap[(index - 1) / 2])) {
		heap_put(loop, index, &loop->heap[(index - 1) / 2]);
		index = (index - 1) / 2;
	}
	while ((child = 2 * index + 1) < loop->queued) {
		if (child + 1 < loop->queued &&
		    slot_before(&loop->heap[child + 1], &loop->heap[child]))
			child++;
		if (!slot_before(&loop->heap[child], &slot))
			break;
		heap_put(loop, index, &loop->heap[child]);
		index = child;
	}
	heap_put(loop, index, &slot);
}

static void heap_take(struct sim_loop *loop, uint32_t index)
{
	loop->heap[index].task->index = NOT_QUEUED;
	loop->queued--;
	if (index < loop->queued)
		heap_settle(loop, index, loop->heap[loop->queued]);
}

int sim_task_add(struct sim_loop *loop, void (*run)(void *ctx, uint64_t now), void *ctx,
		 struct sim_task **task)
{
	struct sim_task *t;

	/* Room for every task that exists, so that setting one cannot fail. */
	if (loop->tasks == loop->room) {
		uint32_t room = loop->room ? 2 * loop->room : 16;
		struct slot *heap = reallocarray(loop->heap, room, sizeof(*heap));

		if (!heap)
			return -ENOMEM;
		loop->heap = heap;
		loop->room = room;
	}
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->loop = loop;
	t->run = run;
	t->ctx = ctx;
	t->index = NOT_QUEUED;
	loop->tasks++;
	*task = t;
	return 0;
}

void sim_task_set(struct sim_task *task, uint64_t deadline)
{
	struct sim_loop *loop = task->loop;
	struct slot slot = {.deadline = deadline, .task = task};

	if (slot.deadline < loop->now)
		slot.deadline = loop->now;
	if (task->index != NOT_QUEUED) {
		/* Often set again to "soon" while it is already waiting: keeps its turn. */
		if (loop->heap[task->index].deadline == slot.deadline)
			return;
		heap_take(loop, task->index);
	}
	if (deadline == NEVER)
		return;
	slot.order = loop->order++;
	heap_settle(loop, loop->queued++, slot);
}

void sim_task_remove(struct sim_task *task)
{
	if (!task)
		return;
	if (task->index != NOT_QUEUED)
		heap_take(task->loop, task->index);
	task->loop->tasks--;
	free(task);
}

/* A task may set itself again for now: it then waits for the next round. */
static void run_due_tasks(struct sim_loop *loop)
{
	uint64_t first_new = loop->order;

	while (loop->queued && loop->heap[0].deadline <= loop->now &&
	       loop->heap[0].order < first_new) {
		struct sim_task *task = loop->heap[0].task;

		heap_take(loop, 0);
		task->run(task->ctx, loop->now);
	}
}

/* ------------------------------------------------------------ file descriptors */

static void fd_ready(evutil_socket_t fd, short what, void *ctx)
{
	struct sim_fd *watch = ctx;
	unsigned int events = 0;

	(void)fd;
	if (what & EV_READ)
		events |= SIM_LOOP_READ;
	if (what & EV_WRITE)
		events |= SIM_LOOP_WRITE;
	refresh_now(watch->loop);
	watch->ready(watch->ctx, events);
}

static short event_flags(unsigned int events)
{
	short flags = EV_PERSIST;

	if (events & SIM_LOOP_READ)
		flags |= EV_READ;
	if (events & SIM_LOOP_WRITE)
		flags |= EV_WRITE;
	return flags;
}

/* An fd that is watched for nothing stays known, but out of the poll set. */
static int fd_arm(struct sim_fd *watch, unsigned int events)
{
	if (!events)
		return 0;
	return event_add(watch->event, NULL) ? -EINVAL : 0;
}

int sim_fd_add(struct sim_loop *loop, int fd, unsigned int events,
	       void (*ready)(void *ctx, unsigned int events), void *ctx, struct sim_fd **out)
{
	struct sim_fd *watch = calloc(1, sizeof(*watch));
	int rc = -ENOMEM;

	if (!watch)
		return -ENOMEM;
	watch->loop = loop;
	watch->ready = ready;
	watch->ctx = ctx;
	watch->event = event_new(loop->base, fd, event_flags(events), fd_ready, watch);
	if (!watch->event)
		goto undo_watch;
	rc = fd_arm(watch, events);
	if (rc)
		goto undo_event;
	*out = watch;
	return 0;

undo_event:
	event_free(watch->event);
undo_watch:
	free(watch);
	return rc;
}

int sim_fd_change(struct sim_fd *watch, unsigned int events)
{
	struct event *event = watch->event;

	event_del(event);
	if (event_assign(event, watch->loop->base, event_get_fd(event), event_flags(events),
			 fd_ready, watch))
		return -EINVAL;
	return fd_arm(watch, events);
}

void sim_fd_remove(struct sim_fd *watch)
{
	if (!watch)
		return;
	event_free(watch->event);
	free(watch);
}

/* ------------------------------------------------------------ the loop */

static int timer_init(struct sim_loop *loop)
{
	int rc;

	loop->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (loop->timer_fd < 0)
		return -errno;
	rc = -ENOMEM;
	loop->timer =
		event_new(loop->base, loop->timer_fd, EV_READ | EV_PERSIST, timer_ready, loop);
	if (!loop->timer)
		goto undo_fd;
	rc = -EINVAL;
	if (event_add(loop->timer, NULL))
		goto undo_event;
	return 0;

undo_event:
	event_free(loop->timer);
undo_fd:
	close(loop->timer_fd);
	return rc;
}

/* One thread: no locks. The clock is ours: libevent need not read it. */
static struct event_base *base_create(void)
{
	struct event_config *config = event_config_new();
	struct event_base *base;

	if (!config)
		return NULL;
	event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
	event_config_set_flag(config, EVENT_BASE_FLAG_NO_CACHE_TIME);
	base = event_base_new_with_config(config);
	event_config_free(config);
	return base;
}

int sim_loop_create(bool virtual_clock, struct sim_loop **out)
{
	struct sim_loop *loop = calloc(1, sizeof(*loop));
	int rc = -ENOMEM;

	if (!loop)
		return -ENOMEM;
	loop->virtual_clock = virtual_clock;
	loop->timer_deadline = NEVER;
	loop->timer_fd = -1;
	loop->base = base_create();
	if (!loop->base)
		goto undo_loop;
	if (!virtual_clock) {
		rc = timer_init(loop);
		if (rc)
			goto undo_base;
		loop->now = read_clock();
	}
	*out = loop;
	return 0;

undo_base:
	event_base_free(loop->base);
undo_loop:
	free(loop);
	return rc;
}

void sim_loop_destroy(struct sim_loop *loop)
{
	if (!loop)
		return;
	if (loop->timer) {
		event_free(loop->timer);
		close(loop->timer_fd);
	}
	event_base_free(loop->base);
	free(loop->heap);
	free(loop);
}

/*
 * A doorbell sets off a chain: engine, switch, the other engine, switch, the first engine with
 * the answer. Each link is a task that the one before it has set, so each takes a round; going
 * to the kernel between them would cost more than they do. Bounded in number, for those who
 * always want to run soon, and in time, for the sockets' sake.
 */
#define ROUNDS_MAX 6
#define ROUNDS_NS  50000

static void run_rounds(struct sim_loop *loop)
{
	uint64_t end = loop->now + ROUNDS_NS;
	unsigned int round;

	for (round = 0; round < ROUNDS_MAX && loop->now < end; round++) {
		run_due_tasks(loop);
		if (loop->stop || !loop->queued || loop->heap[0].deadline > loop->now)
			break;
		loop->now = read_clock();
	}
}

int sim_loop_run(struct sim_loop *loop)
{
	int flags;

	if (loop->virtual_clock)
		return -EINVAL;
	loop->stop = false;
	while (!loop->stop) {
		flags = EVLOOP_ONCE;
		loop->now_is_old = true;
		if (loop->queued) {
			/* What is due by the old clock needs no timer and no sleep. */
			if (loop->heap[0].deadline <= loop->now)
				flags |= EVLOOP_NONBLOCK;
			else
				set_timer(loop, loop->heap[0].deadline);
		}
		if (event_base_loop(loop->base, flags) < 0)
			return -EIO;
		refresh_now(loop);
		run_rounds(loop);
	}
	return 0;
}

void sim_loop_stop(struct sim_loop *loop)
{
	loop->stop = true;
	event_base_loopbreak(loop->base);
}

void sim_loop_advance(struct sim_loop *loop, uint64_t ns)
{
	uint64_t end = ns > NEVER - loop->now ? NEVER : loop->now + ns;

	for (;;) {
		event_base_loop(loop->base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
		if (!loop->queued || loop->heap[0].deadline > end)
			break;
		loop->now = loop->heap[0].deadline;
		run_due_tasks(loop);
	}
	loop->now = end;
}
