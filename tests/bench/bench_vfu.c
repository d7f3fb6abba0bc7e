/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Price of register accesses over vfio-user, without a virtual machine: a
 * second process plays QEMU, which sends each access with a system call of its
 * own. Prints the processor time that a doorbell (a posted write of 8 bytes)
 * costs the server, when they come one by one and when many wait, and the time
 * of a register read there and back.
 *
 *	bench_vfu [doorbells]
 */
#include "sim/device/sim_dev.h"
#include "sim/device/sim_loop.h"
#include "sim/device/sim_vfu_msg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NSEC_PER_SEC 1000000000ull
#define READS	     20000u

static struct sim_loop *loop;
static uint64_t writes;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

/* ------------------------------------------------------------ a NIC that only counts */

static int describe(const struct sim_nic_config *config, struct sim_pci_config *pci)
{
	(void)config;
	*pci = (struct sim_pci_config){.vendor_id = 1, .pcie = true, .bars[0] = {.size = 4096}};
	return 0;
}

static int create(struct sim_dev *dev, const struct sim_nic_config *config, void **nic)
{
	(void)config;
	*nic = dev;
	return 0;
}

static void nothing(void *nic)
{
	(void)nic;
}

/* The client is gone. */
static void reset(void *nic)
{
	(void)nic;
	sim_loop_stop(loop);
}

static uint64_t reg_read(void *nic, unsigned int bar, uint64_t offset, unsigned int size)
{
	(void)nic;
	(void)bar;
	(void)offset;
	(void)size;
	return writes;
}

static void reg_write(void *nic, unsigned int bar, uint64_t offset, unsigned int size,
		      uint64_t value)
{
	(void)nic;
	(void)bar;
	(void)offset;
	(void)size;
	(void)value;
	writes++;
}

static const struct sim_class class = {
	.name = "bench",
	.describe = describe,
	.create = create,
	.destroy = nothing,
	.reset = reset,
	.reg_read = reg_read,
	.reg_write = reg_write,
};

/* ------------------------------------------------------------ the client */

struct access {
	struct vfu_header header;
	struct vfu_region_access access;
	uint64_t value;
};

static void send_all(int fd, const void *data, size_t length)
{
	if (send(fd, data, length, MSG_NOSIGNAL) != (ssize_t)length)
		exit(1);
}

static void receive_all(int fd, void *data, size_t length)
{
	if (recv(fd, data, length, MSG_WAITALL) != (ssize_t)length)
		exit(1);
}

static void negotiate(int fd)
{
	struct {
		struct vfu_header header;
		struct vfu_version version;
	} message = {{0, VFU_VERSION, 20, 0, 0}, {0, 0}};

	send_all(fd, &message, sizeof(message));
	receive_all(fd, &message, sizeof(message));
}

static void read_register(int fd)
{
	struct access message = {{1, VFU_REGION_READ, 32, 0, 0}, {0, 0, 8}, 0};

	send_all(fd, &message, message.header.size);
	receive_all(fd, &message, sizeof(message));
}

static void run_client(int fd, unsigned long doorbells)
{
	struct access bell = {{2, VFU_REGION_WRITE, sizeof(bell), VFU_NO_REPLY, 0}, {8, 0, 8}, 0};
	uint64_t start;
	unsigned int i;

	negotiate(fd);
	while (doorbells--)
		send_all(fd, &bell, sizeof(bell));
	/* The answer shows that all doorbells were worked on. */
	read_register(fd);
	start = clock_ns(CLOCK_MONOTONIC);
	for (i = 0; i < READS; i++)
		read_register(fd);
	printf("register read, there and back: %.2f us\n",
	       (double)(clock_ns(CLOCK_MONOTONIC) - start) / READS / 1000);
	fflush(stdout);
	_exit(0);
}

/* ------------------------------------------------------------ the server */

static uint64_t bells_done, bells_cpu, bells_wall;

/* Takes the time between the first and the last doorbell. */
static void watch(void *ctx, uint64_t now)
{
	static uint64_t cpu_start, wall_start;
	struct sim_task **task = ctx;

	if (!writes) {
		cpu_start = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
		wall_start = now;
	} else if (writes != bells_done) {
		bells_done = writes;
		bells_cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_start;
		bells_wall = now - wall_start;
	}
	sim_task_set(*task, now + 1000000);
}

static int serve(int fd)
{
	struct sim_dev_config config = {.class = &class, .loop = loop};
	struct sim_task *task;
	struct sim_dev *dev;

	if (sim_dev_create(&config, &dev) || sim_vfu_attach(dev, fd) ||
	    sim_task_add(loop, watch, &task, &task))
		return 1;
	sim_task_set(task, 0);
	if (sim_loop_run(loop))
		return 1;
	printf("doorbells: %llu, %.0f ns of processor time each, %.2f million a second\n",
	       (unsigned long long)bells_done, (double)bells_cpu / (double)bells_done,
	       (double)bells_done * 1000 / (double)bells_wall);
	sim_task_remove(task);
	sim_dev_destroy(dev);
	return 0;
}

/* All doorbells of a round are there before the server looks. */
static void serve_in_bulk(void)
{
	enum { ROUNDS = 5000, BELLS = 200 };
	struct access bell = {{2, VFU_REGION_WRITE, sizeof(bell), VFU_NO_REPLY, 0}, {8, 0, 8}, 0};
	struct sim_dev_config config = {.class = &class};
	unsigned int round, i;
	uint64_t busy = 0, start;
	struct sim_dev *dev;
	int sv[2];

	if (sim_loop_create(true, &loop) || socketpair(AF_UNIX, SOCK_STREAM, 0, sv))
		exit(1);
	config.loop = loop;
	if (sim_dev_create(&config, &dev) || sim_vfu_attach(dev, sv[1]))
		exit(1);
	send_all(sv[0], &(struct access){{0, VFU_VERSION, 20, VFU_NO_REPLY, 0}, {0}, 0}, 20);
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < BELLS; i++)
			send_all(sv[0], &bell, sizeof(bell));
		start = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
		sim_loop_advance(loop, 0);
		busy += clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start;
	}
	if (writes != ROUNDS * BELLS)
		exit(1);
	printf("doorbells in bulk: %.0f ns of processor time each\n",
	       (double)busy / (double)writes);
	fflush(stdout);
	writes = 0;
	sim_dev_destroy(dev);
	close(sv[0]);
	sim_loop_destroy(loop);
}

int main(int argc, char **argv)
{
	unsigned long doorbells = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000;
	int sv[2], rc;
	pid_t pid;

	serve_in_bulk();
	if (sim_loop_create(false, &loop) || socketpair(AF_UNIX, SOCK_STREAM, 0, sv))
		return 1;
	pid = fork();
	if (!pid) {
		close(sv[1]);
		run_client(sv[0], doorbells);
	}
	close(sv[0]);
	rc = pid < 0 ? 1 : serve(sv[1]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	sim_loop_destroy(loop);
	return rc;
}
