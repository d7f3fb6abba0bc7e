/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The SIGBUS guard: repairs its own ranges, and leaves all other faults to whom they belong. */
#include "sim/device/sim_guard.h"
#include "tests/lib/t.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define LENGTH 0x4000u

/* A mapping whose file is gone. */
static uint8_t *short_mapping(void)
{
	int fd = memfd_create("test", MFD_CLOEXEC);
	uint8_t *map;

	if (ftruncate(fd, LENGTH))
		return NULL;
	map = mmap(NULL, LENGTH, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	memset(map, 0xaa, LENGTH);
	if (ftruncate(fd, 0))
		return NULL;
	close(fd);
	return map;
}

static uint8_t load_byte(const volatile uint8_t *where)
{
	return *where;
}

static void store_byte(volatile uint8_t *where, uint8_t value)
{
	*where = value;
}

/* Called through pointers: valgrind restarts a fault at the start of its block of code, which
 * otherwise would hold the call too. */
static uint8_t (*volatile load)(const volatile uint8_t *where) = load_byte;
static void (*volatile store)(volatile uint8_t *where, uint8_t value) = store_byte;

static void fault_becomes_zeros(void)
{
	volatile sig_atomic_t hit[40] = {0};
	volatile uint8_t *map[40];
	unsigned int i;

	for (i = 0; i < 40; i++) {
		map[i] = short_mapping();
		T_NEED(map[i]);
		T_EQ(sim_guard_add((void *)map[i], LENGTH, &hit[i]), 0);
	}
	T_EQ(load(map[3] + LENGTH - 1), 0);
	T_EQ(hit[3], 1);
	/* From now on it is plain memory. */
	store(map[3], 5);
	T_EQ(load(map[3]), 5);
	store(map[39] + 0x1000, 7);
	T_EQ(load(map[39] + 0x1000), 7);
	T_EQ(hit[39], 1);
	for (i = 0; i < 40; i++) {
		T_EQ(hit[i], i == 3 || i == 39);
		sim_guard_remove((void *)map[i]);
		munmap((void *)map[i], LENGTH);
	}
}

static int exit_of_child(void (*run)(void))
{
	pid_t pid = fork();
	int status = 0;

	if (!pid) {
		run();
		_exit(0);
	}
	return waitpid(pid, &status, 0) == pid ? status : -1;
}

static void touch_unguarded(void)
{
	volatile sig_atomic_t hit = 0;
	uint8_t *guarded = short_mapping();
	volatile uint8_t *other = short_mapping();

	/* Without sanitizers' own handler in between. */
	signal(SIGBUS, SIG_DFL);
	sim_guard_add(guarded, LENGTH, &hit);
	store(other, 1);
}

static void exit_nine(int number)
{
	(void)number;
	_exit(9);
}

static void touch_with_own_handler(void)
{
	volatile sig_atomic_t hit = 0;
	uint8_t *guarded = short_mapping();
	volatile uint8_t *other = short_mapping();

	signal(SIGBUS, exit_nine);
	sim_guard_add(guarded, LENGTH, &hit);
	store(other, 1);
}

static void touch_after_removal(void)
{
	volatile sig_atomic_t hit = 0;
	volatile uint8_t *map = short_mapping();

	signal(SIGBUS, exit_nine);
	sim_guard_add((void *)map, LENGTH, &hit);
	sim_guard_remove((void *)map);
	store(map, 1);
}

static void other_faults_are_not_ours(void)
{
	int status = exit_of_child(touch_unguarded);

	T_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
	status = exit_of_child(touch_with_own_handler);
	T_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 9);
	status = exit_of_child(touch_after_removal);
	T_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 9);
}

static void removing_what_is_not_there(void)
{
	int byte;

	sim_guard_remove(&byte);
	T_TRUE(1);
}

T_MAIN("sim_guard", T_CASE(fault_becomes_zeros), T_CASE(other_faults_are_not_ours),
       T_CASE(removing_what_is_not_there), )
