/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The guest's agent as a process of this system, on a socket in place of its serial port:
 * commands, windows, and frames that no lab would send.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/guest/lab_guest.h"
#include "tests/lib/t.h"

enum { PATIENCE_MS = 20000, QUIET_MS = 300 };

struct rig {
	int fd;
	pid_t agent;
};

/* What a command said until its end. */
struct said {
	char out[4096];
	char err[4096];
	size_t out_bytes;
	size_t err_bytes;
	int code;
	int signal;
};

static bool rig_start(struct rig *rig)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return false;
	rig->agent = fork();
	if (rig->agent == 0) {
		close(ends[0]);
		fcntl(ends[1], F_SETFL, O_NONBLOCK);
		_exit(-lab_agent_serve(ends[1], 3));
	}
	close(ends[1]);
	rig->fd = ends[0];
	return rig->agent > 0;
}

static void rig_stop(struct rig *rig)
{
	kill(rig->agent, SIGKILL);
	waitpid(rig->agent, NULL, 0);
	close(rig->fd);
}

static bool bytes_read(const struct rig *rig, void *data, size_t length)
{
	struct pollfd pfd = {.fd = rig->fd, .events = POLLIN};
	uint8_t *p = data;

	while (length) {
		ssize_t n;

		if (poll(&pfd, 1, PATIENCE_MS) <= 0)
			return false;
		n = read(rig->fd, p, length);
		if (n <= 0)
			return false;
		p += n;
		length -= (size_t)n;
	}
	return true;
}

static bool frame_read(const struct rig *rig, struct lab_frame *frame, uint8_t *payload)
{
	if (!bytes_read(rig, frame, sizeof(*frame)) || le32toh(frame->length) > LAB_FRAME_MAX)
		return false;
	return bytes_read(rig, payload, le32toh(frame->length));
}

static void frame_send(const struct rig *rig, uint32_t channel, uint32_t type, const void *payload,
		       size_t length)
{
	struct lab_frame frame = {htole32(channel), htole32(type), htole32((uint32_t)length)};

	T_EQ(write(rig->fd, &frame, sizeof(frame)), sizeof(frame));
	if (length)
		T_EQ(write(rig->fd, payload, length), length);
}

static size_t exec_pack(uint8_t *payload, const char *script)
{
	struct lab_exec exec = {.argc = htole32(3)};
	size_t length = sizeof(exec);

	memcpy(payload, &exec, sizeof(exec));
	memcpy(payload + length, "/bin/sh\0-c", 11);
	length += 11;
	memcpy(payload + length, script, strlen(script) + 1);
	return length + strlen(script) + 1;
}

static void exec_send(const struct rig *rig, uint32_t channel, const char *script)
{
	uint8_t payload[1024];

	frame_send(rig, channel, LAB_EXEC, payload, exec_pack(payload, script));
}

static void append(char *to, size_t *bytes, const uint8_t *data, size_t length)
{
	for (size_t i = 0; i < length && *bytes < 4095; i++)
		to[(*bytes)++] = (char)data[i];
	to[*bytes] = '\0';
}

/* Read frames of one channel until EXIT. */
static bool said_read(const struct rig *rig, uint32_t channel, struct said *said)
{
	static uint8_t payload[LAB_FRAME_MAX];
	struct lab_frame frame;
	struct lab_exit exit;

	memset(said, 0, sizeof(*said));
	while (frame_read(rig, &frame, payload)) {
		if (le32toh(frame.channel) != channel)
			continue;
		if (le32toh(frame.type) == LAB_STDOUT)
			append(said->out, &said->out_bytes, payload, le32toh(frame.length));
		if (le32toh(frame.type) == LAB_STDERR)
			append(said->err, &said->err_bytes, payload, le32toh(frame.length));
		if (le32toh(frame.type) != LAB_EXIT)
			continue;
		memcpy(&exit, payload, sizeof(exit));
		said->code = (int)le32toh(exit.code);
		said->signal = (int)le32toh(exit.signal);
		return true;
	}
	return false;
}

static bool hello_read(const struct rig *rig)
{
	/* channel 0, HELLO, 8 bytes: version 1, 3 failed steps */
	static const uint8_t want[] = {0, 0, 0, 0, 1, 0, 0, 0, 8, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0};
	uint8_t got[sizeof(want)];

	return T_TRUE(bytes_read(rig, got, sizeof(got))) && T_BYTES(got, want, sizeof(want));
}

static void commands(void)
{
	static const struct {
		const char *script, *out, *err;
		int code, signal;
	} rows[] = {
		{"echo out; echo err >&2", "out\n", "err\n", 0, 0},
		{"exit 42", "", "", 42, 0},
		{"kill -TERM $$", "", "", 0, SIGTERM},
		{"exec cat", "", "", 0, 0}, /* input that has ended at once */
		{"sleep 3 & echo x", "x\n", "", 0, 0},
		{"exec /nonexistent", "", NULL, 127, 0},
	};
	struct said said;
	struct rig rig;

	T_NEED(rig_start(&rig) && hello_read(&rig));
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		exec_send(&rig, i, rows[i].script);
		frame_send(&rig, i, LAB_STDIN, NULL, 0);
		T_NEED(said_read(&rig, i, &said));
		T_TRUE_ROW(rows[i].script, !strcmp(said.out, rows[i].out));
		T_TRUE_ROW(rows[i].script, !rows[i].err || !strcmp(said.err, rows[i].err));
		T_EQ_ROW(rows[i].script, said.code, rows[i].code);
		T_EQ_ROW(rows[i].script, said.signal, rows[i].signal);
	}
	rig_stop(&rig);
}

static void frames_in_single_bytes(void)
{
	uint8_t stream[1024];
	struct lab_frame *frame = (struct lab_frame *)stream;
	struct said said;
	struct rig rig;
	size_t length = exec_pack(stream + sizeof(*frame), "echo whole");

	*frame = (struct lab_frame){htole32(9), htole32(LAB_EXEC), htole32((uint32_t)length)};
	T_NEED(rig_start(&rig) && hello_read(&rig));
	for (size_t i = 0; i < sizeof(*frame) + length; i++)
		T_EQ(write(rig.fd, stream + i, 1), 1);
	T_NEED(said_read(&rig, 9, &said));
	T_TRUE(!strcmp(said.out, "whole\n"));
	rig_stop(&rig);
}

static void bad_exec_is_refused(void)
{
	static const struct {
		const char *name;
		uint32_t argc, envc;
		const char *strings;
		size_t length;
	} rows[] = {
		{"no command", 0, 0, "", 0},
		{"too many words", 1025, 0, "true", 5},
		{"too many settings", 1, 0xffffffff, "true", 5},
		{"a word without its end", 1, 0, "true", 4},
		{"fewer words than said", 3, 0, "true", 5},
		{"fewer settings than said", 1, 1, "true", 5},
	};
	uint8_t payload[64];
	struct said said;
	struct rig rig;

	T_NEED(rig_start(&rig) && hello_read(&rig));
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct lab_exec exec = {.argc = htole32(rows[i].argc),
					.envc = htole32(rows[i].envc)};

		memcpy(payload, &exec, sizeof(exec));
		memcpy(payload + sizeof(exec), rows[i].strings, rows[i].length);
		frame_send(&rig, i, LAB_EXEC, payload, sizeof(exec) + rows[i].length);
		T_NEED(said_read(&rig, i, &said));
		T_EQ_ROW(rows[i].name, said.code, 126);
		T_TRUE_ROW(rows[i].name, !strncmp(said.err, "lab: cannot start", 17));
	}
	frame_send(&rig, 99, LAB_EXEC, "abc", 3); /* shorter than its header */
	T_TRUE(said_read(&rig, 99, &said) && said.code == 126);
	rig_stop(&rig);
}

static void stray_frames_are_ignored(void)
{
	struct said said;
	struct rig rig;

	T_NEED(rig_start(&rig) && hello_read(&rig));
	for (uint32_t type = 0; type < 20; type++)
		if (type != LAB_EXEC)
			frame_send(&rig, 7, type, "stray", 5);
	exec_send(&rig, 7, "sleep 0.2; echo alive");
	for (uint32_t type = 0; type < 20; type++)
		if (type != LAB_STDIN && type != LAB_SIGNAL && type != LAB_CLOSE)
			frame_send(&rig, 7, type, "x", 1);
	frame_send(&rig, 7, LAB_WINDOW, "\xff\xff\xff\xff", 4);
	T_NEED(said_read(&rig, 7, &said));
	T_TRUE(!strcmp(said.out, "alive\n"));
	rig_stop(&rig);
}

static void oversized_frame_ends_the_agent(void)
{
	struct lab_frame frame = {0, htole32(LAB_EXEC), htole32(LAB_FRAME_MAX + 1)};
	struct rig rig;
	int status;

	T_NEED(rig_start(&rig) && hello_read(&rig));
	T_EQ(write(rig.fd, &frame, sizeof(frame)), sizeof(frame));
	T_EQ(waitpid(rig.agent, &status, 0), rig.agent);
	T_TRUE(WIFEXITED(status));
	T_EQ(WEXITSTATUS(status), EPROTO);
	close(rig.fd);
}

/* Bytes of output that come until the agent falls silent. */
static size_t output_count(const struct rig *rig, bool *ended)
{
	static uint8_t payload[LAB_FRAME_MAX];
	struct pollfd pfd = {.fd = rig->fd, .events = POLLIN};
	struct lab_frame frame;
	size_t count = 0;

	while (!*ended && poll(&pfd, 1, QUIET_MS) > 0 && frame_read(rig, &frame, payload)) {
		if (le32toh(frame.type) == LAB_STDOUT)
			count += le32toh(frame.length);
		*ended = le32toh(frame.type) == LAB_EXIT;
	}
	return count;
}

static void window_bounds_output(void)
{
	const __le32 grant = htole32(LAB_WINDOW_OUT);
	bool ended = false;
	size_t count = 0;
	struct rig rig;

	T_NEED(rig_start(&rig) && hello_read(&rig));
	exec_send(&rig, 1, "head -c 1000000 /dev/zero");
	while (!count)
		count = output_count(&rig, &ended);
	T_EQ(count, LAB_WINDOW_OUT);
	T_TRUE(!ended);
	for (int grants = 0; grants < 4 && !ended; grants++) {
		frame_send(&rig, 1, LAB_WINDOW, &grant, sizeof(grant));
		while (!ended) {
			size_t more = output_count(&rig, &ended);

			T_TRUE(more <= LAB_WINDOW_OUT);
			count += more;
			if (more)
				break;
		}
	}
	T_EQ(count, 1000000);
	T_TRUE(ended);
	rig_stop(&rig);
}

static void overrun_input_is_cut(void)
{
	static uint8_t data[LAB_FRAME_MAX];
	struct said said;
	struct rig rig;

	T_NEED(rig_start(&rig) && hello_read(&rig));
	exec_send(&rig, 1, "sleep 1; wc -c");
	for (int i = 0; i < 4; i++)
		frame_send(&rig, 1, LAB_STDIN, data, sizeof(data));
	frame_send(&rig, 1, LAB_STDIN, NULL, 0);
	T_NEED(said_read(&rig, 1, &said));
	T_EQ(said.code, 0);
	T_TRUE(strlen(said.out) > 1); /* some of it, and no crash */
	rig_stop(&rig);
}

static void close_ends_the_command(void)
{
	static uint8_t payload[LAB_FRAME_MAX + 1];
	struct lab_frame frame;
	struct said said;
	struct rig rig;
	int pid, tries;

	T_NEED(rig_start(&rig) && hello_read(&rig));
	exec_send(&rig, 1, "echo $$; exec sleep 1000");
	T_NEED(frame_read(&rig, &frame, payload));
	payload[le32toh(frame.length)] = '\0';
	T_NEED(sscanf((char *)payload, "%d", &pid) == 1);
	T_EQ(kill(pid, 0), 0);
	frame_send(&rig, 1, LAB_CLOSE, NULL, 0);
	for (tries = 0; tries < 500 && !kill(pid, 0); tries++)
		usleep(10000);
	T_TRUE(kill(pid, 0) && errno == ESRCH);
	/* The channel's number may be used again at once. */
	exec_send(&rig, 1, "echo again");
	T_TRUE(said_read(&rig, 1, &said) && !strcmp(said.out, "again\n"));
	rig_stop(&rig);
}

static void one_command_too_many(void)
{
	struct said said;
	struct rig rig;

	T_NEED(rig_start(&rig) && hello_read(&rig));
	for (uint32_t i = 0; i <= LAB_CHANNELS; i++)
		exec_send(&rig, i, "read line");
	T_NEED(said_read(&rig, LAB_CHANNELS, &said));
	T_EQ(said.code, 126);
	for (uint32_t i = 0; i < LAB_CHANNELS; i++)
		frame_send(&rig, i, LAB_CLOSE, NULL, 0);
	exec_send(&rig, 1000, "echo room");
	T_TRUE(said_read(&rig, 1000, &said) && !strcmp(said.out, "room\n"));
	rig_stop(&rig);
}

T_MAIN("lab_agent", T_CASE(commands), T_CASE(frames_in_single_bytes), T_CASE(bad_exec_is_refused),
       T_CASE(stray_frames_are_ignored), T_CASE(oversized_frame_ends_the_agent),
       T_CASE(window_bounds_output), T_CASE(overrun_input_is_cut), T_CASE(close_ends_the_command),
       T_CASE(one_command_too_many))
