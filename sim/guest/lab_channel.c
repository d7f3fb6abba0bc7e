// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * lab guest: one command and its streams. Owns windows, buffers and the end
 * of a command. Knows nothing of how processes start or of the serial port.
 */
#include <endian.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/guest/lab_guest.h"

enum { ARGS_MAX = 1024 };

static void fd_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void channel_reset(struct lab_channel *ch, uint32_t id)
{
	memset(ch, 0, offsetof(struct lab_channel, stdin_data));
	ch->id = id;
	ch->window = LAB_WINDOW_OUT;
	for (int i = 0; i < LAB_CHANNEL_FDS; i++)
		ch->fd[i] = -1;
}

static void channel_end(struct lab_channel *ch, int wait_status, const struct lab_port *port)
{
	struct lab_exit exit = {
		.code = htole32(WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 0),
		.signal = htole32(WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0),
	};

	for (int i = 0; i < LAB_CHANNEL_FDS; i++)
		fd_close(&ch->fd[i]);
	ch->used = false;
	lab_port_send(port, ch->id, LAB_EXIT, &exit, sizeof(exit));
}

/* Split count NUL-terminated strings off the payload. Returns the bytes used or -EINVAL. */
static ssize_t strings_split(const uint8_t *data, size_t length, uint32_t count, char **out)
{
	size_t used = 0;

	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *nul = memchr(data + used, 0, length - used);

		if (!nul)
			return -EINVAL;
		out[i] = (char *)(data + used);
		used = (size_t)(nul - data) + 1;
	}
	out[count] = NULL;
	return (ssize_t)used;
}

static int exec_parse(const uint8_t *payload, size_t length, struct lab_exec *exec, char **argv,
		      char **envp)
{
	ssize_t used;
	uint32_t argc, envc;

	if (length < sizeof(*exec))
		return -EINVAL;
	memcpy(exec, payload, sizeof(*exec));
	payload += sizeof(*exec);
	length -= sizeof(*exec);
	argc = le32toh(exec->argc);
	envc = le32toh(exec->envc);
	if (!argc || argc > ARGS_MAX || envc > ARGS_MAX)
		return -E2BIG;
	used = strings_split(payload, length, argc, argv);
	if (used < 0)
		return (int)used;
	used = strings_split(payload + used, length - (size_t)used, envc, envp);
	return used < 0 ? (int)used : 0;
}

void lab_channel_exec(struct lab_channel *ch, uint32_t id, const uint8_t *payload, size_t length,
		      const struct lab_port *port)
{
	static char *argv[ARGS_MAX + 1], *envp[ARGS_MAX + 1];
	struct lab_exec exec;
	char text[128];
	int ret;

	channel_reset(ch, id);
	ret = exec_parse(payload, length, &exec, argv, envp);
	if (!ret) {
		ch->terminal = le32toh(exec.terminal) == 1;
		ret = lab_process_start(ch, argv, envp, &exec.size);
	}
	if (!ret) {
		ch->used = true;
		return;
	}
	snprintf(text, sizeof(text), "lab: cannot start the command: %s\n", strerror(-ret));
	lab_port_send(port, id, LAB_STDERR, text, strlen(text));
	channel_end(ch, W_EXITCODE(126, 0), port);
}

static void stdin_take(struct lab_channel *ch, const uint8_t *payload, size_t length,
		       const struct lab_port *port)
{
	__le32 consumed;

	if (!length) {
		ch->stdin_eof = true;
		return;
	}
	/* A host that overruns its window loses the excess, not the guest's memory. */
	if (length > sizeof(ch->stdin_data) - ch->stdin_bytes)
		length = sizeof(ch->stdin_data) - ch->stdin_bytes;
	if (ch->fd[ch->terminal] < 0) {
		consumed = htole32((uint32_t)length);
		lab_port_send(port, ch->id, LAB_WINDOW, &consumed, sizeof(consumed));
		return;
	}
	memcpy(ch->stdin_data + ch->stdin_bytes, payload, length);
	ch->stdin_bytes += (uint32_t)length;
}

static uint32_t word_at(const uint8_t *payload, size_t length)
{
	__le32 word = 0;

	if (length >= sizeof(word))
		memcpy(&word, payload, sizeof(word));
	return le32toh(word);
}

static void terminal_resize(const struct lab_channel *ch, const uint8_t *payload, size_t length)
{
	struct lab_size size;
	struct winsize ws = {0};

	if (!ch->terminal || length < sizeof(size))
		return;
	memcpy(&size, payload, sizeof(size));
	ws.ws_row = le16toh(size.rows);
	ws.ws_col = le16toh(size.columns);
	ioctl(ch->fd[1], TIOCSWINSZ, &ws);
}

void lab_channel_frame(struct lab_channel *ch, enum lab_frame_type type, const uint8_t *payload,
		       size_t length, const struct lab_port *port)
{
	uint32_t word = word_at(payload, length);

	switch (type) {
	case LAB_STDIN:
		stdin_take(ch, payload, length, port);
		break;
	case LAB_SIGNAL:
		if (!ch->exited)
			kill(-ch->pid, (int)(word & 0x7f));
		break;
	case LAB_WINDOW:
		if (word <= LAB_WINDOW_OUT - ch->window)
			ch->window += word;
		break;
	case LAB_RESIZE:
		terminal_resize(ch, payload, length);
		break;
	case LAB_CLOSE:
		lab_channel_close(ch);
		break;
	case LAB_HELLO:
	case LAB_EXEC:
	case LAB_STDOUT:
	case LAB_STDERR:
	case LAB_EXIT:
		break; /* not for a running channel: ignored */
	}
}

void lab_channel_close(struct lab_channel *ch)
{
	if (!ch->exited)
		kill(-ch->pid, SIGKILL);
	for (int i = 0; i < LAB_CHANNEL_FDS; i++)
		fd_close(&ch->fd[i]);
	ch->used = false;
}

void lab_channel_poll(const struct lab_channel *ch, struct pollfd *pfd)
{
	for (int i = 0; i < LAB_CHANNEL_FDS; i++) {
		pfd[i].fd = ch->used ? ch->fd[i] : -1;
		pfd[i].events = 0;
		pfd[i].revents = 0;
		if (i > 0 && ch->window)
			pfd[i].events = POLLIN;
	}
	if (ch->stdin_bytes)
		pfd[ch->terminal].events |= POLLOUT;
	/*
	 * Nothing to ask of a descriptor: leave it out, or its POLLHUP would
	 * make the loop spin until the host opens the window.
	 */
	for (int i = 0; i < LAB_CHANNEL_FDS; i++)
		if (!pfd[i].events)
			pfd[i].fd = -1;
}

static void stdin_pump(struct lab_channel *ch, bool writable, const struct lab_port *port)
{
	int *fd = &ch->fd[ch->terminal];
	uint32_t consumed = 0;
	__le32 word;
	ssize_t n;

	if (ch->stdin_bytes && writable && *fd >= 0) {
		n = write(*fd, ch->stdin_data, ch->stdin_bytes);
		if (n > 0) {
			consumed = (uint32_t)n;
		} else if (n < 0 && errno != EAGAIN && errno != EINTR) {
			consumed = ch->stdin_bytes; /* nobody reads it any more */
			if (!ch->terminal)
				fd_close(fd);
		}
	}
	if (consumed) {
		ch->stdin_bytes -= consumed;
		memmove(ch->stdin_data, ch->stdin_data + consumed, ch->stdin_bytes);
		word = htole32(consumed);
		lab_port_send(port, ch->id, LAB_WINDOW, &word, sizeof(word));
	}
	if (ch->stdin_eof && !ch->stdin_bytes && !ch->terminal)
		fd_close(&ch->fd[0]);
}

/* Forward what one read gives. Returns true when there is no more at the moment. */
static bool output_read(struct lab_channel *ch, int stream, const struct lab_port *port)
{
	static uint8_t data[LAB_FRAME_MAX];
	size_t want = ch->window < sizeof(data) ? ch->window : sizeof(data);
	ssize_t n;

	if (ch->fd[stream] < 0)
		return true;
	if (!want)
		return false;
	n = read(ch->fd[stream], data, want);
	if (n > 0) {
		ch->window -= (uint32_t)n;
		lab_port_send(port, ch->id, stream == 1 ? LAB_STDOUT : LAB_STDERR, data, (size_t)n);
		return false;
	}
	if (n < 0 && errno == EINTR)
		return false;
	if (n < 0 && errno == EAGAIN)
		return true;
	fd_close(&ch->fd[stream]); /* end of file, or EIO of a terminal without users */
	return true;
}

/* The rest of an ended command's output. Returns false if the window is too small for it. */
static bool output_drain(struct lab_channel *ch, int stream, const struct lab_port *port)
{
	while (ch->window || ch->fd[stream] < 0)
		if (output_read(ch, stream, port))
			return true;
	return false;
}

void lab_channel_pump(struct lab_channel *ch, const struct pollfd *pfd, const struct lab_port *port)
{
	stdin_pump(ch, pfd[ch->terminal].revents & (POLLOUT | POLLERR | POLLHUP), port);
	for (int stream = 1; stream < LAB_CHANNEL_FDS && !ch->exited; stream++)
		if (pfd[stream].revents & (POLLIN | POLLERR | POLLHUP))
			output_read(ch, stream, port);
	/*
	 * The command's own bytes are all in the pipe once it has been reaped,
	 * so an empty pipe is the end, also when a background process that it
	 * left behind holds the other side open.
	 */
	if (ch->exited && output_drain(ch, 1, port) && output_drain(ch, 2, port))
		channel_end(ch, ch->wait_status, port);
}
