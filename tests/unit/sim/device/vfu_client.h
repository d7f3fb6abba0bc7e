/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A vfio-user client for tests, as rude as one likes: it sends any bytes and
 * descriptors, and takes the replies. Knows the device under test only through
 * the socket.
 */
#ifndef ANYNIC_TESTS_UNIT_SIM_DEVICE_VFU_CLIENT_H
#define ANYNIC_TESTS_UNIT_SIM_DEVICE_VFU_CLIENT_H

#include "sim/device/sim_dev.h"
#include "sim/device/sim_loop.h"
#include "sim/device/sim_vfu_msg.h"

#include <stdbool.h>

#define CLIENT_REPLY_MAX 8192u

struct vfu_client {
	struct sim_loop *loop;
	int fd;
	uint16_t next_id;
	/* The last reply. */
	struct vfu_header header;
	uint8_t payload[CLIENT_REPLY_MAX];
	size_t length;
	int reply_fd; /* -1 = none; the caller closes it */
};

/* A socket pair; the other end is given to the device. Not negotiated yet. */
int client_init(struct vfu_client *client, struct sim_loop *loop, struct sim_dev *dev);
/* The same, through a listening socket. */
int client_connect(struct vfu_client *client, struct sim_loop *loop, const char *path);
void client_fini(struct vfu_client *client);
/* Negotiates with all capabilities of QEMU. */
bool client_negotiate(struct vfu_client *client);

struct client_command {
	uint16_t command;
	uint32_t flags;
	const void *payload;
	size_t length;
	const void *more; /* behind the payload */
	size_t more_length;
	const int *fds;
	unsigned int fd_count;
	uint32_t claimed_size; /* in the header, 0 = the truth */
};

/* Sends one message and lets the device work. */
bool client_send(struct vfu_client *client, const struct client_command *command);
bool client_send_bytes(struct vfu_client *client, const void *bytes, size_t length);
/* Takes one reply. False: there is none (or the device hung up: client_is_closed()). */
bool client_reply(struct vfu_client *client);
bool client_is_closed(struct vfu_client *client);

/* Sends and takes the reply. Returns its error (0 = good), or -1 if there is none. */
int client_run(struct vfu_client *client, const struct client_command *command);
int client_write(struct vfu_client *client, unsigned int region, uint64_t offset, unsigned int size,
		 uint64_t value);
int client_read(struct vfu_client *client, unsigned int region, uint64_t offset, unsigned int size,
		uint64_t *value);
int client_dma_map(struct vfu_client *client, const struct vfu_dma_map *map, int fd);
/* `fds` NULL: takes them away. */
int client_set_eventfds(struct vfu_client *client, uint32_t start, uint32_t count, const int *fds);

/* Memory and bus master enable, MSI-X enable. */
bool client_enable(struct vfu_client *client);

/* Open descriptors of this process. */
unsigned int client_count_fds(void);

#endif
