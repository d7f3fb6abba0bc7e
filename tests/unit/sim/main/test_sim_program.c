/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* anynic-sim as a process: command line, exit statuses, sockets, signals, files it leaves. */
#include "sim/main/sim_program.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/t.h"

/* Long enough under valgrind on a busy machine; nothing waits so long when it works. */
#define PATIENCE_MS 20000

/* ---- a class with nothing in it ---- */

static int stub_describe(const struct sim_nic_config *config, struct sim_pci_config *pci)
{
	if (config->personality && strcmp(config->personality, "default"))
		return -EINVAL;
	pci->vendor_id = 0x1af5;
	pci->bars[0].size = 4096;
	return 0;
}

static int stub_create(struct sim_dev *dev, const struct sim_nic_config *config, void **nic)
{
	(void)config;
	*nic = dev;
	return 0;
}

static void stub_destroy(void *nic)
{
	(void)nic;
}

static uint64_t stub_reg_read(void *nic, unsigned int bar, uint64_t offset, unsigned int size)
{
	(void)nic;
	(void)bar;
	(void)offset;
	(void)size;
	return 0;
}

static void stub_reg_write(void *nic, unsigned int bar, uint64_t offset, unsigned int size,
			   uint64_t value)
{
	(void)nic;
	(void)bar;
	(void)offset;
	(void)size;
	(void)value;
}

static void stub_counters(void *nic, void (*emit)(void *ctx, const char *name, uint64_t value),
			  void *ctx)
{
	(void)nic;
	emit(ctx, "answer", 42);
}

static const struct sim_class stub_class = {
	.name = "stub",
	.describe = stub_describe,
	.create = stub_create,
	.destroy = stub_destroy,
	.reset = stub_destroy,
	.reg_read = stub_reg_read,
	.reg_write = stub_reg_write,
	.counters = stub_counters,
};

static const struct sim_class_row rows[] = {{"Stub Works", &stub_class}};
static const struct sim_class_table classes = {rows, 1};

/* ---- running the program ---- */

struct run {
	pid_t pid;
	int out, err; /* read ends of its output */
	char dir[32]; /* run folder and topology */
	char text[4096];
};

static const char topology[] = "guests: [{name: a}]\n"
			       "nics: [{name: nic0, class: stub, guest: a,\n"
			       "        mac: \"52:54:00:00:00:01\"}]\n"
			       "ports: [{name: p0, guest: a, mac: \"52:54:00:00:00:02\"}]\n"
			       "switch: {capture: all.pcapng}\n";

static void write_file(const struct run *run, const char *name, const char *text)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", run->dir, name);
	file = fopen(path, "w");
	fputs(text, file);
	fclose(file);
}

static void run_init(struct run *run)
{
	memset(run, 0, sizeof(*run));
	strcpy(run->dir, "/tmp/anynic-program-XXXXXX");
	T_TRUE(mkdtemp(run->dir) != NULL);
	write_file(run, "t.yaml", topology);
}

static void run_fini(struct run *run)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", run->dir);
	T_EQ(system(command), 0);
}

/* Starts it within the folder, with these arguments. */
static void start(struct run *run, char **argv)
{
	int out[2], err[2], argc = 0;

	while (argv[argc])
		argc++;
	T_EQ(pipe2(out, O_CLOEXEC) | pipe2(err, O_CLOEXEC), 0);
	fflush(stdout);
	run->pid = fork();
	if (!run->pid) {
		dup2(out[1], 1);
		dup2(err[1], 2);
		if (chdir(run->dir))
			_exit(99);
		argc = sim_program_main(argc, argv, &classes);
		fflush(stdout);
		_exit(argc);
	}
	close(out[1]);
	close(err[1]);
	run->out = out[0];
	run->err = err[0];
}

/* Waits for a line on fd. */
static const char *read_line(struct run *run, int fd)
{
	struct pollfd readable = {fd, POLLIN, 0};
	size_t length = 0;

	while (length < sizeof(run->text) - 1 && poll(&readable, 1, PATIENCE_MS) == 1 &&
	       read(fd, run->text + length, 1) == 1)
		if (run->text[length++] == '\n')
			break;
	run->text[length] = '\0';
	return run->text;
}

static int finish(struct run *run)
{
	int status;

	close(run->out);
	close(run->err);
	if (waitpid(run->pid, &status, 0) != run->pid)
		return -ECHILD;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

#define ARGS(...) ((char *[]){"anynic-sim", __VA_ARGS__, NULL})

static void start_ready(struct run *run)
{
	run_init(run);
	start(run, ARGS("--run-dir", "run", "t.yaml"));
	T_TRUE_ROW(run->text, !strcmp(read_line(run, run->out), "ready\n"));
}

static int connect_to(const struct run *run, const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/run/%s", run->dir, name);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address))) {
		close(fd);
		return -errno;
	}
	return fd;
}

static json_t *load_stats(const struct run *run)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/run/stats.json", run->dir);
	return json_load_file(path, 0, NULL);
}

static json_int_t stat_of(json_t *stats, const char *group, const char *object, const char *name)
{
	json_t *value =
		json_object_get(json_object_get(json_object_get(stats, group), object), name);

	return value ? json_integer_value(value) : -1;
}

/* ---- cases ---- */

static void command_line(void)
{
	static const struct {
		const char *name;
		char *args[6];
		int status;
		const char *out, *err;
	} cases_of[] = {
		{"help", {"anynic-sim", "--help"}, 0, "Usage: anynic-sim ", ""},
		{"version", {"anynic-sim", "--version"}, 0, "anynic-sim ", ""},
		{"classes", {"anynic-sim", "--list-classes"}, 0, "stub         Stub Works\n", ""},
		{"nothing", {"anynic-sim"}, 2, "", "anynic-sim: no topology file given;"},
		{"two",
		 {"anynic-sim", "a", "b"},
		 2,
		 "",
		 "anynic-sim: one topology file only, not "
		 "also b;"},
		{"unknown option", {"anynic-sim", "--nope"}, 2, "", "anynic-sim: unrecognized"},
		{"no argument", {"anynic-sim", "--run-dir"}, 2, "", "anynic-sim: option"},
		{"no file",
		 {"anynic-sim", "x.yaml"},
		 2,
		 "",
		 "anynic-sim: x.yaml: No such file or directory\n"},
		{"bad run folder",
		 {"anynic-sim", "-d", "/nonexistent/x", "t.yaml"},
		 1,
		 "",
		 "anynic-sim: /nonexistent/x: No such file or directory\n"},
		{"bad log",
		 {"anynic-sim", "-l", "/nonexistent/x", "t.yaml"},
		 1,
		 "",
		 "anynic-sim: /nonexistent/x: No such file or directory\n"},
	};
	struct run run;
	size_t i;

	for (i = 0; i < sizeof(cases_of) / sizeof(cases_of[0]); i++) {
		const char *name = cases_of[i].name;
		char *args[6];

		memcpy(args, cases_of[i].args, sizeof(args));
		run_init(&run);
		start(&run, args);
		read_line(&run, run.out);
		T_TRUE_ROW(run.text, !strncmp(run.text, cases_of[i].out, strlen(cases_of[i].out)));
		read_line(&run, run.err);
		T_TRUE_ROW(run.text, !strncmp(run.text, cases_of[i].err, strlen(cases_of[i].err)));
		T_EQ_ROW(name, finish(&run), cases_of[i].status);
		run_fini(&run);
	}
}

static void bad_topologies(void)
{
	static const struct {
		const char *name, *text, *err;
		int status;
	} cases_of[] = {
		{"unknown key", "guest: []\n",
		 "anynic-sim: t.yaml:1: unknown key \"guest\"; known: guests, nics, ports, "
		 "switch\n",
		 2},
		{"unknown class",
		 "guests: [{name: a}]\n"
		 "nics: [{name: n, class: x, guest: a, mac: \"52:54:00:00:00:01\"}]\n",
		 "anynic-sim: t.yaml: nics[0].class: unknown class \"x\"; known: stub\n", 2},
		{"unknown personality",
		 "guests: [{name: a}]\n"
		 "nics: [{name: n, class: stub, personality: y, guest: a,"
		 " mac: \"52:54:00:00:00:01\"}]\n",
		 "anynic-sim: t.yaml: nics[0]: class \"stub\" has no personality \"y\"\n", 2},
	};
	struct run run;
	size_t i;

	for (i = 0; i < sizeof(cases_of) / sizeof(cases_of[0]); i++) {
		run_init(&run);
		write_file(&run, "t.yaml", cases_of[i].text);
		start(&run, ARGS("t.yaml"));
		read_line(&run, run.err);
		t_check(!strcmp(run.text, cases_of[i].err), __FILE__, __LINE__, "%s: says %s",
			cases_of[i].name, run.text);
		T_EQ_ROW(cases_of[i].name, finish(&run), cases_of[i].status);
		run_fini(&run);
	}
}

static void sockets_in_the_way(void)
{
	struct run run;

	run_init(&run);
	write_file(&run, "p0.eth", "not a socket");
	start(&run, ARGS("t.yaml"));
	T_TRUE_ROW(run.text,
		   !strcmp(read_line(&run, run.err), "anynic-sim: ./p0.eth: File exists\n"));
	T_EQ(finish(&run), 1);
	run_fini(&run);
}

static void ends_by_signal_and_cleans_up(void)
{
	static const int signals[] = {SIGTERM, SIGINT};
	struct run run;
	struct stat st;
	json_t *stats;
	char path[64];
	size_t i;

	for (i = 0; i < 2; i++) {
		start_ready(&run);
		snprintf(path, sizeof(path), "%s/run/nic0.vfio", run.dir);
		T_EQ(stat(path, &st), 0);
		kill(run.pid, signals[i]);
		T_EQ(finish(&run), 0);
		T_EQ(stat(path, &st), -1);
		snprintf(path, sizeof(path), "%s/run/nic0.eth", run.dir);
		T_EQ(stat(path, &st), -1);
		snprintf(path, sizeof(path), "%s/run/sim.log", run.dir);
		T_TRUE(!stat(path, &st) && st.st_size > 0);
		stats = load_stats(&run);
		T_TRUE(stats != NULL);
		T_EQ(stat_of(stats, "nics", "nic0", "answer"), 42);
		T_EQ(stat_of(stats, "ports", "p0", "rx_frames"), 0);
		T_EQ(stat_of(stats, "links", "nic0", "peers"), 0);
		json_decref(stats);
		run_fini(&run);
	}
}

/* A frame from the port's guest reaches the NIC's companion, and the statistics say so. */
static void frames_and_statistics(void)
{
	static const uint8_t frame[4 + 60] = {0,    0,	  0,	60, 0xff, 0xff, 0xff, 0xff, 0xff,
					      0xff, 0x52, 0x54, 0,  0,	  0,	2,    8,    6};
	uint8_t got[100];
	struct run run;
	json_t *stats = NULL;
	int port, companion, i;

	start_ready(&run);
	port = connect_to(&run, "p0.eth");
	companion = connect_to(&run, "nic0.eth");
	T_TRUE(port >= 0 && companion >= 0);
	T_EQ(send(port, frame, sizeof(frame), 0), sizeof(frame));
	T_EQ(recv(companion, got, sizeof(got), 0), sizeof(frame));
	T_BYTES(got, frame, sizeof(frame));
	kill(run.pid, SIGUSR1);
	for (i = 0; i < PATIENCE_MS && !stats; i++) {
		usleep(1000);
		stats = load_stats(&run);
	}
	T_EQ(stat_of(stats, "ports", "p0", "rx_frames"), 1);
	T_EQ(stat_of(stats, "ports", "p0", "flooded"), 1);
	T_EQ(stat_of(stats, "ports", "nic0", "tx_frames"), 1);
	T_EQ(stat_of(stats, "links", "p0", "peers"), 1);
	json_decref(stats);
	kill(run.pid, SIGTERM);
	T_EQ(finish(&run), 0);
	close(port);
	close(companion);
	run_fini(&run);
}

/* A run that was killed left its sockets: the next one takes their place. */
static void starts_again_after_a_kill(void)
{
	struct run run;

	start_ready(&run);
	kill(run.pid, SIGKILL);
	T_EQ(finish(&run), -SIGKILL);
	start(&run, ARGS("--run-dir", "run", "t.yaml"));
	T_TRUE_ROW(run.text, !strcmp(read_line(&run, run.out), "ready\n"));
	kill(run.pid, SIGTERM);
	T_EQ(finish(&run), 0);
	run_fini(&run);
}

/* The program's parent is killed; we are the reaper of what it leaves. */
static void dies_with_its_parent(void)
{
	struct run run;
	int status;
	pid_t parent;

	T_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	run_init(&run);
	fflush(stdout);
	parent = fork();
	if (!parent) {
		start(&run, ARGS("--run-dir", "run", "t.yaml"));
		read_line(&run, run.out);
		raise(SIGKILL);
	}
	T_EQ(waitpid(parent, &status, 0), parent);
	T_TRUE(waitpid(-1, &status, 0) > 0);
	T_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	T_EQ(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
	run_fini(&run);
}

T_MAIN("sim_program", T_CASE(command_line), T_CASE(bad_topologies), T_CASE(sockets_in_the_way),
       T_CASE(ends_by_signal_and_cleans_up), T_CASE(frames_and_statistics),
       T_CASE(starts_again_after_a_kill), T_CASE(dies_with_its_parent), )
