// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * lab guest: the agent's loop. Owns the virtio-serial port, the frame parser
 * and the table of channels, and reaps every process, as process 1 must.
 */
#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/guest/lab_guest.h"

enum { POLL_PORT, POLL_SIGNAL, POLL_CHANNELS };

struct lab_agent {
	struct lab_port port;
	int signal_fd;
	size_t bytes; /* in buffer */
	uint8_t buffer[sizeof(struct lab_frame) + LAB_FRAME_MAX];
	struct lab_channel channels[LAB_CHANNELS];
};

/* The port is blocking for writes: the host always reads, windows bound what it must keep. */
static int port_write(int fd, const void *data, size_t length)
{
	const uint8_t *p = data;

	while (length) {
		struct pollfd pfd = {.fd = fd, .events = POLLOUT};
		ssize_t n = write(fd, p, length);

		if (n > 0) {
			p += n;
			length -= (size_t)n;
		} else if (n < 0 && errno == EAGAIN) {
			poll(&pfd, 1, 1000);
		} else if (n == 0 || errno != EINTR) {
			return n < 0 ? -errno : -EIO;
		}
	}
	return 0;
}

void lab_port_send(const struct lab_port *port, uint32_t channel, enum lab_frame_type type,
		   const void *payload, size_t length)
{
	static uint8_t out[sizeof(struct lab_frame) + LAB_FRAME_MAX];
	struct lab_frame frame = {
		.channel = htole32(channel),
		.type = htole32(type),
		.length = htole32((uint32_t)length),
	};
	int ret;

	/* One write a frame: each costs the guest a trap to the hypervisor. */
	memcpy(out, &frame, sizeof(frame));
	if (length)
		memcpy(out + sizeof(frame), payload, length);
	ret = port_write(port->fd, out, sizeof(frame) + length);
	if (ret)
		fprintf(stderr, "lab: cannot write to the host: %s\n", strerror(-ret));
}

static struct lab_channel *channel_find(struct lab_agent *agent, uint32_t id)
{
	for (int i = 0; i < LAB_CHANNELS; i++)
		if (agent->channels[i].used && agent->channels[i].id == id)
			return &agent->channels[i];
	return NULL;
}

static struct lab_channel *channel_free(struct lab_agent *agent)
{
	for (int i = 0; i < LAB_CHANNELS; i++)
		if (!agent->channels[i].used)
			return &agent->channels[i];
	return NULL;
}

static void channel_refuse(struct lab_agent *agent, uint32_t id)
{
	static const char text[] = "lab: too many commands at once in this guest\n";
	struct lab_exit exit = {.code = htole32(126)};

	lab_port_send(&agent->port, id, LAB_STDERR, text, sizeof(text) - 1);
	lab_port_send(&agent->port, id, LAB_EXIT, &exit, sizeof(exit));
}

static void frame_take(struct lab_agent *agent, const struct lab_frame *frame,
		       const uint8_t *payload)
{
	uint32_t id = le32toh(frame->channel);
	enum lab_frame_type type = le32toh(frame->type);
	size_t length = le32toh(frame->length);
	struct lab_channel *ch = channel_find(agent, id);

	if (ch) {
		lab_channel_frame(ch, type, payload, length, &agent->port);
	} else if (type == LAB_EXEC) {
		ch = channel_free(agent);
		if (ch)
			lab_channel_exec(ch, id, payload, length, &agent->port);
		else
			channel_refuse(agent, id);
	}
	/* Other frames for an unknown channel were on their way when it ended. */
}

/* Take all whole frames out of the buffer. Returns -EPROTO if the stream is no longer in step. */
static int frames_take(struct lab_agent *agent)
{
	struct lab_frame frame;
	size_t at = 0;

	while (agent->bytes - at >= sizeof(frame)) {
		size_t length;

		memcpy(&frame, agent->buffer + at, sizeof(frame));
		length = le32toh(frame.length);
		if (length > LAB_FRAME_MAX)
			return -EPROTO;
		if (agent->bytes - at - sizeof(frame) < length)
			break;
		frame_take(agent, &frame, agent->buffer + at + sizeof(frame));
		at += sizeof(frame) + length;
	}
	agent->bytes -= at;
	memmove(agent->buffer, agent->buffer + at, agent->bytes);
	return 0;
}

static int port_read(struct lab_agent *agent)
{
	ssize_t n = read(agent->port.fd, agent->buffer + agent->bytes,
			 sizeof(agent->buffer) - agent->bytes);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if (n == 0) {
		/* The host's side is closed; it will end this guest. */
		usleep(10000);
		return 0;
	}
	agent->bytes += (size_t)n;
	return frames_take(agent);
}

static void children_reap(struct lab_agent *agent)
{
	struct signalfd_siginfo info;
	int status;
	pid_t pid;

	while (read(agent->signal_fd, &info, sizeof(info)) > 0)
		;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		for (int i = 0; i < LAB_CHANNELS; i++)
			if (agent->channels[i].used && agent->channels[i].pid == pid) {
				agent->channels[i].exited = true;
				agent->channels[i].wait_status = status;
			}
}

static int agent_loop(struct lab_agent *agent)
{
	struct pollfd pfd[POLL_CHANNELS + LAB_CHANNELS * LAB_CHANNEL_FDS];
	struct pollfd *channel_pfd = pfd + POLL_CHANNELS;
	int ret = 0;

	while (!ret) {
		pfd[POLL_PORT] = (struct pollfd){.fd = agent->port.fd, .events = POLLIN};
		pfd[POLL_SIGNAL] = (struct pollfd){.fd = agent->signal_fd, .events = POLLIN};
		for (int i = 0; i < LAB_CHANNELS; i++)
			lab_channel_poll(&agent->channels[i], channel_pfd + i * LAB_CHANNEL_FDS);
		if (poll(pfd, sizeof(pfd) / sizeof(pfd[0]), -1) < 0 && errno != EINTR)
			return -errno;
		/* Reap before the port is read: a pid must not be signalled after its reuse. */
		children_reap(agent);
		if (pfd[POLL_PORT].revents)
			ret = port_read(agent);
		for (int i = 0; i < LAB_CHANNELS; i++)
			if (agent->channels[i].used)
				lab_channel_pump(&agent->channels[i],
						 channel_pfd + i * LAB_CHANNEL_FDS, &agent->port);
	}
	return ret;
}

static int port_match(const char *device)
{
	char path[300], name[64] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/sys/class/virtio-ports/%s/name", device);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (!fgets(name, sizeof(name), file))
		name[0] = '\0';
	fclose(file);
	name[strcspn(name, "\n")] = '\0';
	return !strcmp(name, LAB_PORT_NAME);
}

/* Open the port of our name. Returns its descriptor or -errno. */
static int port_open(void)
{
	DIR *dir = opendir("/sys/class/virtio-ports");
	struct dirent *entry;
	char path[300];
	int fd = -ENODEV;

	if (!dir)
		return -errno;
	while (fd == -ENODEV && (entry = readdir(dir)))
		if (port_match(entry->d_name)) {
			snprintf(path, sizeof(path), "/dev/%s", entry->d_name);
			fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
			if (fd < 0)
				fd = -errno;
		}
	closedir(dir);
	return fd;
}

/* The driver learns the port's name a moment after the device appears. */
static int port_wait(void)
{
	int fd = -ENODEV;

	for (int tries = 0; tries < 500 && fd < 0; tries++) {
		fd = port_open();
		if (fd < 0)
			usleep(10000);
	}
	return fd;
}

int lab_agent_serve(int port_fd, unsigned int boot_failures)
{
	static struct lab_agent agent;
	struct lab_hello hello = {
		.version = htole32(LAB_VERSION),
		.boot_failures = htole32(boot_failures),
	};
	sigset_t mask;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	agent.signal_fd = signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC);
	if (agent.signal_fd < 0)
		return -errno;
	agent.port.fd = port_fd;
	lab_port_send(&agent.port, 0, LAB_HELLO, &hello, sizeof(hello));
	return agent_loop(&agent);
}

int lab_agent_run(unsigned int boot_failures)
{
	int fd = port_wait();

	return fd < 0 ? fd : lab_agent_serve(fd, boot_failures);
}
