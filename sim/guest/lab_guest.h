/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * lab guest: what the guest's only own process is made of: boot, channels
 * and the agent's loop. Included by sim/guest only.
 */
#ifndef ANYNIC_SIM_GUEST_LAB_GUEST_H
#define ANYNIC_SIM_GUEST_LAB_GUEST_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sim/guest/lab_frame.h"

/* Boot from the initramfs to the lab root. Returns the number of failed steps. */
unsigned int lab_boot(void);

/* The agent: serve the port until the host ends the guest. Returns -errno. */
int lab_agent_run(unsigned int boot_failures);
/* The same on a descriptor that is open already and does not block. Once in a process. */
int lab_agent_serve(int port_fd, unsigned int boot_failures);

/* The port, as the channels see it: one whole frame is sent, or the guest ends. */
struct lab_port {
	int fd;
};

void lab_port_send(const struct lab_port *port, uint32_t channel, enum lab_frame_type type,
		   const void *payload, size_t length);

enum {
	LAB_CHANNELS = 64,
	LAB_CHANNEL_FDS = 3, /* standard input, output and error, in this order */
};

/*
 * A command and its three streams. On a terminal all of fd[] but fd[1] are -1
 * and input goes to fd[1] as well.
 */
struct lab_channel {
	bool used;
	bool terminal;
	bool exited;
	bool stdin_eof; /* host has sent the end of the input */
	uint32_t id;
	pid_t pid; /* also its process group and session */
	int fd[LAB_CHANNEL_FDS];
	int wait_status;
	uint32_t window; /* bytes that may still be sent to the host */
	uint32_t stdin_bytes;
	uint8_t stdin_data[LAB_WINDOW_STDIN];
};

/* Start the command of an EXEC frame. Refusals are answered on the channel. */
void lab_channel_exec(struct lab_channel *ch, uint32_t id, const uint8_t *payload, size_t length,
		      const struct lab_port *port);
/* Take one frame for a channel in use. */
void lab_channel_frame(struct lab_channel *ch, enum lab_frame_type type, const uint8_t *payload,
		       size_t length, const struct lab_port *port);
/* Fill the LAB_CHANNEL_FDS entries of poll(2) for what the channel can do now. */
void lab_channel_poll(const struct lab_channel *ch, struct pollfd *pfd);
/* Move bytes as poll(2) allows; send EXIT when the command is done. */
void lab_channel_pump(struct lab_channel *ch, const struct pollfd *pfd,
		      const struct lab_port *port);
/* End the command and forget the channel, saying nothing to the host. */
void lab_channel_close(struct lab_channel *ch);

/* Processes: lab_process.c. Starts argv with envp; fills ch->pid and ch->fd. Returns -errno. */
int lab_process_start(struct lab_channel *ch, char **argv, char **envp,
		      const struct lab_size *size);

#endif
