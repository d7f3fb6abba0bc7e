/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The SIGBUS handler and the ranges that it repairs. Knows nothing of guests or devices. */
#include "sim/device/sim_guard.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

struct range {
	uintptr_t start;
	size_t length;
	volatile sig_atomic_t *hit;
};

/*
 * The signal is synchronous and the process has one thread, so the handler never runs in the
 * middle of a change to the table.
 */
static struct range *ranges;
static size_t count, room;
static struct sigaction previous;

static void handle_sigbus(int number, siginfo_t *info, void *context)
{
	uintptr_t address = (uintptr_t)info->si_addr;
	int saved_errno = errno;
	size_t i;

	(void)number;
	(void)context;
	for (i = 0; i < count; i++) {
		if (address - ranges[i].start >= ranges[i].length)
			continue;
		/* The whole range: it may consist of huge pages, which cannot be split. */
		if (mmap((void *)ranges[i].start, ranges[i].length, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1,
			 0) == MAP_FAILED)
			break;
		*ranges[i].hit = 1;
		errno = saved_errno;
		return;
	}
	/* Not ours: the access faults again, under the previous handler. */
	sigaction(SIGBUS, &previous, NULL);
	errno = saved_errno;
}

static int install_handler(void)
{
	struct sigaction action = {.sa_sigaction = handle_sigbus, .sa_flags = SA_SIGINFO};

	sigemptyset(&action.sa_mask);
	return sigaction(SIGBUS, &action, &previous) ? -errno : 0;
}

int sim_guard_add(void *address, size_t length, volatile sig_atomic_t *hit)
{
	int rc;

	if (count == room) {
		size_t want = room ? 2 * room : 32;
		struct range *grown = reallocarray(ranges, want, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		ranges = grown;
		room = want;
	}
	if (!count) {
		rc = install_handler();
		if (rc)
			return rc;
	}
	ranges[count++] = (struct range){(uintptr_t)address, length, hit};
	return 0;
}

void sim_guard_remove(void *address)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (ranges[i].start == (uintptr_t)address)
			break;
	if (i == count)
		return;
	ranges[i] = ranges[--count];
	if (count)
		return;
	sigaction(SIGBUS, &previous, NULL);
	free(ranges);
	ranges = NULL;
	room = 0;
}
