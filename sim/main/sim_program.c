/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* anynic-sim: from the command line to the event loop and back. */
#include "sim/main/sim_program.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/device/sim_loop.h"
#include "sim/main/sim_options.h"
#include "sim/main/sim_world.h"

#define LOG_PATH_MAX 512

struct program {
	struct sim_options options;
	const struct sim_class_table *classes;
	struct topology *topology;
	struct sim_loop *loop;
	struct sim_world *world;
	FILE *log;
	int signal_fd;
	struct sim_fd *signal_watch;
};

static void say(void *ctx, const char *line)
{
	struct program *program = ctx;
	uint64_t now = program->loop ? sim_loop_now(program->loop) : 0;

	fprintf(program->log, "[%6llu.%06llu] %s\n", (unsigned long long)(now / 1000000000),
		(unsigned long long)(now % 1000000000 / 1000), line);
}

/* ---- signals ---- */

/* Statistics and capture, as far as they are now. */
static void write_files(struct program *program)
{
	char line[128];
	int err = sim_world_write_stats(program->world);

	if (err) {
		snprintf(line, sizeof(line), "stats.json: %s", strerror(-err));
		say(program, line);
	}
	err = sim_world_flush(program->world);
	if (err) {
		snprintf(line, sizeof(line), "capture: %s, it ends there", strerror(-err));
		say(program, line);
	}
}

static void signal_ready(void *ctx, unsigned int events)
{
	struct program *program = ctx;
	struct signalfd_siginfo info;

	(void)events;
	if (read(program->signal_fd, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return;
	if (info.ssi_signo == SIGUSR1) {
		write_files(program);
		return;
	}
	say(program, info.ssi_signo == SIGINT ? "SIGINT: ending" : "SIGTERM: ending");
	sim_loop_stop(program->loop);
}

/* As a test runner's child it must not survive it. The parent may be gone already. */
static void die_with_parent(void)
{
	pid_t parent = getppid();

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		raise(SIGTERM);
}

static int watch_signals(struct program *program)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGUSR1);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return -errno;
	signal(SIGPIPE, SIG_IGN);
	program->signal_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (program->signal_fd < 0)
		return -errno;
	die_with_parent();
	return sim_fd_add(program->loop, program->signal_fd, SIM_LOOP_READ, signal_ready, program,
			  &program->signal_watch);
}

/* ---- parts ---- */

static int fail(const char *what, int err)
{
	fprintf(stderr, "anynic-sim: %s: %s\n", what, strerror(-err));
	return SIM_EXIT_RUNTIME;
}

static int open_log(struct program *program)
{
	const char *path = program->options.log;
	char in_run_dir[LOG_PATH_MAX];

	if (path && !strcmp(path, "-"))
		return SIM_EXIT_OK;
	if (!path) {
		snprintf(in_run_dir, sizeof(in_run_dir), "%s/sim.log", program->options.run_dir);
		path = in_run_dir;
	}
	program->log = fopen(path, "we");
	if (!program->log) {
		program->log = stderr;
		return fail(path, -errno);
	}
	setvbuf(program->log, NULL, _IOLBF, 0);
	return SIM_EXIT_OK;
}

static int make_run_dir(struct program *program)
{
	if (mkdir(program->options.run_dir, 0777) && errno != EEXIST)
		return fail(program->options.run_dir, -errno);
	return open_log(program);
}

static int load_topology(struct program *program)
{
	char error[TOPOLOGY_ERROR_MAX];
	int err = topology_load(program->options.topology, &program->topology, error);

	if (!err)
		return SIM_EXIT_OK;
	if (err == -ENOMEM)
		return fail(program->options.topology, err);
	fprintf(stderr, "anynic-sim: %s\n", error);
	return SIM_EXIT_USAGE;
}

static int make_loop(struct program *program)
{
	int err = sim_loop_create(false, &program->loop);

	if (err)
		return fail("event loop", err);
	err = watch_signals(program);
	return err ? fail("signals", err) : SIM_EXIT_OK;
}

static int make_world(struct program *program)
{
	const struct sim_world_setup setup = {
		.loop = program->loop,
		.topology = program->topology,
		.classes = program->classes,
		.run_dir = program->options.run_dir,
		.log = say,
		.log_ctx = program,
	};
	char error[TOPOLOGY_ERROR_MAX];
	int err = sim_world_create(&setup, &program->world, error);

	if (!err)
		return SIM_EXIT_OK;
	if (err != -EINVAL) {
		fprintf(stderr, "anynic-sim: %s\n", error);
		return SIM_EXIT_RUNTIME;
	}
	fprintf(stderr, "anynic-sim: %s: %s\n", program->options.topology, error);
	return SIM_EXIT_USAGE;
}

static int run_loop(struct program *program)
{
	int err;

	say(program, "ready");
	puts("ready");
	fflush(stdout);
	err = sim_loop_run(program->loop);
	write_files(program);
	return err ? fail("event loop", err) : SIM_EXIT_OK;
}

static void program_fini(struct program *program)
{
	sim_world_destroy(program->world);
	if (program->signal_watch)
		sim_fd_remove(program->signal_watch);
	if (program->signal_fd >= 0)
		close(program->signal_fd);
	sim_loop_destroy(program->loop);
	topology_free(program->topology);
	if (program->log != stderr)
		fclose(program->log);
}

/* The first step that fails says why and gives the exit status. */
static int run_topology(struct program *program)
{
	static int (*const steps[])(struct program * program) = {
		load_topology, make_run_dir, make_loop, make_world, run_loop,
	};
	int status = SIM_EXIT_OK;
	size_t i;

	for (i = 0; status == SIM_EXIT_OK && i < sizeof(steps) / sizeof(steps[0]); i++)
		status = steps[i](program);
	program_fini(program);
	return status;
}

static int list_classes(const struct sim_class_table *classes)
{
	size_t i;

	for (i = 0; i < classes->count; i++)
		printf("%-12s %s\n", classes->rows[i].class->name, classes->rows[i].vendor);
	return SIM_EXIT_OK;
}

int sim_program_main(int argc, char **argv, const struct sim_class_table *classes)
{
	struct program program = {.classes = classes, .log = stderr, .signal_fd = -1};

	if (sim_options_parse(argc, argv, &program.options))
		return SIM_EXIT_USAGE;
	if (program.options.list_classes)
		return list_classes(classes);
	if (program.options.version) {
		puts("anynic-sim " ANYNIC_VERSION);
		return SIM_EXIT_OK;
	}
	if (program.options.help) {
		sim_options_help();
		return SIM_EXIT_OK;
	}
	return run_topology(&program);
}
