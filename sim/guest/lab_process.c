// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * lab guest: starts a command in a session of its own, on pipes or on a
 * pseudo-terminal. Knows nothing of frames.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "sim/guest/lab_guest.h"

/* Child's descriptors 0..2 while it is being made; -1 = none. */
struct child_fds {
	int fd[3];
};

static void child_fds_close(struct child_fds *child)
{
	for (int i = 0; i < 3; i++)
		if (child->fd[i] > STDERR_FILENO)
			close(child->fd[i]);
}

static int pipes_open(struct lab_channel *ch, struct child_fds *child)
{
	for (int i = 0; i < LAB_CHANNEL_FDS; i++) {
		int ends[2], ours = i == 0 ? 1 : 0;

		if (pipe2(ends, O_CLOEXEC))
			return -errno;
		ch->fd[i] = ends[ours];
		child->fd[i] = ends[!ours];
		if (fcntl(ch->fd[i], F_SETFL, O_NONBLOCK))
			return -errno;
	}
	return 0;
}

static int terminal_open(struct lab_channel *ch, struct child_fds *child,
			 const struct lab_size *size)
{
	struct winsize ws = {.ws_row = le16toh(size->rows), .ws_col = le16toh(size->columns)};
	char name[64];

	ch->fd[1] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	if (ch->fd[1] < 0)
		return -errno;
	if (grantpt(ch->fd[1]) || unlockpt(ch->fd[1]) || ptsname_r(ch->fd[1], name, sizeof(name)) ||
	    ioctl(ch->fd[1], TIOCSWINSZ, &ws))
		return -errno;
	child->fd[0] = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (child->fd[0] < 0)
		return -errno;
	child->fd[1] = child->fd[0];
	child->fd[2] = child->fd[0];
	return 0;
}

static void child_run(const struct lab_channel *ch, const struct child_fds *child, char **argv,
		      char **envp)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	setsid();
	for (int i = 0; i < 3; i++)
		if (dup2(child->fd[i], i) < 0)
			_exit(126);
	if (ch->terminal)
		ioctl(STDIN_FILENO, TIOCSCTTY, 0);
	clearenv();
	for (; *envp; envp++)
		putenv(*envp);
	execvp(argv[0], argv);
	dprintf(STDERR_FILENO, "lab: %s: %s\n", argv[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

int lab_process_start(struct lab_channel *ch, char **argv, char **envp, const struct lab_size *size)
{
	struct child_fds child = {{-1, -1, -1}};
	int ret;

	ret = ch->terminal ? terminal_open(ch, &child, size) : pipes_open(ch, &child);
	if (!ret) {
		ch->pid = fork();
		if (ch->pid < 0)
			ret = -errno;
		else if (ch->pid == 0)
			child_run(ch, &child, argv, envp);
	}
	if (ch->terminal)
		child.fd[1] = child.fd[2] = -1; /* one descriptor, closed once */
	child_fds_close(&child);
	return ret;
}
