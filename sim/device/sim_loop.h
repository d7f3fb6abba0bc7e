/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The simulator's event loop: file descriptors, one deadline a source, and
 * deferred work, over libevent. Knows nothing of devices or frames.
 *
 * Two back ends: the real one (monotonic clock, epoll) and the virtual one (time moves only by
 * sim_loop_advance), on which unit tests run hours of protocol time in milliseconds.
 */
#ifndef ANYNIC_SIM_DEVICE_SIM_LOOP_H
#define ANYNIC_SIM_DEVICE_SIM_LOOP_H

#include <stdbool.h>
#include <stdint.h>

struct sim_loop;
struct sim_fd;
struct sim_task;

#define SIM_LOOP_READ  1u
#define SIM_LOOP_WRITE 2u

/* Virtual clock: starts at 0 and stands still between sim_loop_advance() calls. */
int sim_loop_create(bool virtual_clock, struct sim_loop **loop);
void sim_loop_destroy(struct sim_loop *loop);

/* Nanoseconds of a clock that never goes back. Cheap: read once per turn of the loop. */
uint64_t sim_loop_now(const struct sim_loop *loop);

/* Runs until sim_loop_stop(). Real clock only. */
int sim_loop_run(struct sim_loop *loop);
void sim_loop_stop(struct sim_loop *loop);
/* Virtual clock: runs all due tasks up to now + ns, in order of their deadlines. Readable file
 * descriptors are served before each step. */
void sim_loop_advance(struct sim_loop *loop, uint64_t ns);

/* Watches fd; `events` is a set of SIM_LOOP_*. The fd stays the caller's. */
int sim_fd_add(struct sim_loop *loop, int fd, unsigned int events,
	       void (*ready)(void *ctx, unsigned int events), void *ctx, struct sim_fd **out);
int sim_fd_change(struct sim_fd *fd, unsigned int events);
void sim_fd_remove(struct sim_fd *fd);

/*
 * A task is a function with one deadline. It runs once when the deadline is reached and must
 * set the next one itself. Deadline 0 (or past) = as soon as the running callbacks have
 * returned; UINT64_MAX = not at all. Tasks that are due at the same time run in the order in
 * which they were set.
 */
int sim_task_add(struct sim_loop *loop, void (*run)(void *ctx, uint64_t now), void *ctx,
		 struct sim_task **task);
void sim_task_set(struct sim_task *task, uint64_t deadline);
void sim_task_remove(struct sim_task *task);

#endif
