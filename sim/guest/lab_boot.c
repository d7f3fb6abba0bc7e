// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * lab guest: from the initramfs to the lab root. Owns the order of the boot.
 * The initramfs, which scripts/lab makes for each guest, holds
 *
 *     /init          this program
 *     /modules       one module file a line, in the order to load, then its parameters
 *     /boot.sh       what to do last, in the lab root, by its shell
 *
 * The lab root is a read-only 9p export below an overlay in memory. Two more
 * exports: /anynic (the build, read-only) and /run-dir (this run's own folder).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/guest/lab_guest.h"

#define P9 "trans=virtio,version=9p2000.L,msize=512000"

struct mount_row {
	const char *source;
	const char *target;
	const char *type;
	unsigned long flags;
	const char *options;
};

static const struct mount_row early_mounts[] = {
	{"proc", "/proc", "proc", 0, NULL},
	{"sysfs", "/sys", "sysfs", 0, NULL},
	{"devtmpfs", "/dev", "devtmpfs", 0, NULL},
};

/*
 * The root never changes while a guest runs, so its pages may be cached without
 * asking; the build may, between two commands of a shell; the run folder does.
 */
static const struct mount_row root_mounts[] = {
	{"root", "/lower", "9p", MS_RDONLY, P9 ",cache=loose"},
	{"tmpfs", "/upper", "tmpfs", 0, "mode=755,size=75%"},
	{"overlay", "/new", "overlay", 0,
	 "lowerdir=/lower,upperdir=/upper/data,workdir=/upper/work"},
	{"proc", "/new/proc", "proc", 0, NULL},
	{"sysfs", "/new/sys", "sysfs", 0, NULL},
	{"devtmpfs", "/new/dev", "devtmpfs", 0, NULL},
	{"devpts", "/new/dev/pts", "devpts", 0, "mode=620,gid=5,ptmxmode=666"},
	{"tmpfs", "/new/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777"},
	{"tmpfs", "/new/run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755"},
	{"tmpfs", "/new/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777"},
	{"debugfs", "/new/sys/kernel/debug", "debugfs", 0, NULL},
	{"configfs", "/new/sys/kernel/config", "configfs", 0, NULL},
	{"build", "/new/anynic", "9p", MS_RDONLY, P9 ",cache=mmap"},
	{"run", "/new/run-dir", "9p", 0, P9 ",cache=none"},
};

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static char *file_read(const char *path)
{
	size_t used = 0, size = 65536;
	char *text = malloc(size);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = -1;

	while (text && fd >= 0 && used < size - 1 &&
	       (n = read(fd, text + used, size - 1 - used)) > 0)
		used += (size_t)n;
	if (fd >= 0)
		close(fd);
	if (!text || n < 0) {
		fprintf(stderr, "lab: cannot read %s: %s\n", path, strerror(errno));
		free(text);
		return NULL;
	}
	text[used] = '\0';
	return text;
}

static int module_load(char *line)
{
	char *params = strchr(line, ' ');
	int fd, ret = 0;

	if (params)
		*params++ = '\0';
	fd = open(line, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || (syscall(SYS_finit_module, fd, params ? params : "", 0) && errno != EEXIST))
		ret = -errno;
	if (ret)
		fprintf(stderr, "lab: cannot load %s: %s\n", line, strerror(-ret));
	if (fd >= 0)
		close(fd);
	unlink(line); /* the initramfs is memory */
	return ret;
}

static unsigned int modules_load(const char *list)
{
	char *text = file_read(list), *save = NULL;
	unsigned int failures = text ? 0 : 1;

	for (char *line = text ? strtok_r(text, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save))
		failures += module_load(line) != 0;
	free(text);
	return failures;
}

static unsigned int mounts_make(const struct mount_row *rows, size_t count)
{
	unsigned int failures = 0;

	for (size_t i = 0; i < count; i++) {
		const struct mount_row *row = &rows[i];

		if (!strcmp(row->type, "overlay")) {
			mkdir("/upper/data", 0755);
			mkdir("/upper/work", 0755);
		}
		mkdir(row->target, 0755);
		if (mount(row->source, row->target, row->type, row->flags, row->options)) {
			fprintf(stderr, "lab: cannot mount %s on %s: %s\n", row->source,
				row->target, strerror(errno));
			failures++;
		}
	}
	return failures;
}

static unsigned int root_switch(void)
{
	if (chdir("/new") || mount(".", "/", NULL, MS_MOVE, NULL) || chroot(".") ||
	    chdir("/root")) {
		fprintf(stderr, "lab: cannot enter the lab root: %s\n", strerror(errno));
		return 1;
	}
	return 0;
}

static unsigned int script_run(const char *script)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		execl("/bin/sh", "sh", "-ec", script, NULL);
		_exit(127);
	}
	if (pid > 0)
		waitpid(pid, &status, 0);
	if (status) {
		fprintf(stderr, "lab: the boot script failed, wait status 0x%x\n", status);
		return 1;
	}
	return 0;
}

/* Commands inherit these: RDMA pins memory, and a test of 16,384 QPs has many files. */
static unsigned int limits_raise(void)
{
	const struct rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY};
	const struct rlimit files = {65536, 65536};

	if (setrlimit(RLIMIT_MEMLOCK, &unlimited) || setrlimit(RLIMIT_NOFILE, &files)) {
		fprintf(stderr, "lab: cannot raise limits: %s\n", strerror(errno));
		return 1;
	}
	return 0;
}

unsigned int lab_boot(void)
{
	unsigned int failures = 0;
	char *script;

	umask(022);
	setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1);
	setenv("HOME", "/root", 1);
	failures += mounts_make(early_mounts, ARRAY_SIZE(early_mounts));
	failures += modules_load("/modules");
	failures += mounts_make(root_mounts, ARRAY_SIZE(root_mounts));
	failures += limits_raise();
	script = file_read("/boot.sh");
	failures += root_switch();
	failures += script ? script_run(script) : 1;
	free(script);
	return failures;
}
