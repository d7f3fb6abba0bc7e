/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The vfio-user server of one device, split over these files:
 *
 *	sim_vfu.c		life of listener and connection
 *	sim_vfu_stream.c	bytes: receiving, framing, file descriptors, sending
 *	sim_vfu_command.c	one function a command
 *	sim_vfu_version.c	negotiation of capabilities
 *	sim_vfu_dma.c		memory that only the client can reach
 *
 * These are the only files that know the protocol.
 */
#ifndef ANYNIC_SIM_DEVICE_SIM_VFU_H
#define ANYNIC_SIM_DEVICE_SIM_VFU_H

#include "sim/device/sim_dev_state.h"
#include "sim/device/sim_vfu_msg.h"

/* Descriptors in one message: QEMU refuses a server that asks for more than 16. */
#define VFU_FDS_MAX 16u
/* Data of one access: the largest that makes sense is all of configuration space. */
#define VFU_DATA_MAX	16384u
#define VFU_MESSAGE_MAX (sizeof(struct vfu_header) + sizeof(struct vfu_dma_access) + VFU_DATA_MAX)
/* Beyond this the length field cannot be believed, and the stream is lost. A peer that did not
 * read our limit may send what the protocol allows by default: that is refused and skipped. */
#define VFU_MESSAGE_INSANE (sizeof(struct vfu_header) + 64u + 1048576u)
#define VFU_REPLY_MAX	   (sizeof(struct vfu_header) + 64u + SIM_PCIE_CONFIG_SIZE)

/* Receive buffer: the first part is for commands, the rest stays free for replies to our DMA
 * messages, which come while a command is still being worked on. */
#define VFU_RX_COMMANDS 65536u
#define VFU_RX_SIZE	(2 * VFU_RX_COMMANDS)
/* Replies that the client has not yet read. One who reads none is dropped when this is full. */
#define VFU_TX_SIZE 65536u
/* Descriptors received for messages that are not complete yet. */
#define VFU_FDS_PENDING 64u

struct vfu_pending_fd {
	uint64_t position; /* in the stream: a byte of the message that it belongs to */
	int fd;
};

struct sim_vfu {
	struct sim_dev *dev;
	struct sim_task *work; /* what could not be done where it was noticed */

	/* Listener. */
	char *path;
	int listen_fd;
	struct sim_fd *listen_watch;

	/* Connection; fd is -1 between two. */
	int fd;
	struct sim_fd *watch;
	bool is_negotiated;
	bool is_lost; /* to be closed at the next safe place */
	bool is_handling;
	bool is_waiting; /* for the reply to a DMA message */
	bool wants_write;
	uint64_t peer_data_max;
	uint16_t next_id;

	/* Receiving: rx[head..tail) is not handled yet; rx[0] is byte rx_position of the stream. */
	uint8_t *rx;
	size_t rx_head, rx_tail;
	uint64_t rx_position;
	uint64_t rx_skip; /* bytes of a refused message still to come */
	struct vfu_pending_fd fds[VFU_FDS_PENDING];
	unsigned int fd_count;
	bool fds_were_cut;

	/* Sending: records of struct vfu_tx_record and message. */
	uint8_t *tx;
	size_t tx_head, tx_tail;
	size_t tx_sent; /* of the first record */

	uint8_t reply[VFU_REPLY_MAX];
};

/* A command on its way through a handler. */
struct vfu_message {
	struct vfu_header header;
	const uint8_t *payload; /* in the receive buffer, not aligned */
	size_t length;
	int fds[VFU_FDS_MAX]; /* a handler that keeps one writes -1 over it */
	unsigned int fd_count;
	bool fds_were_cut; /* there were more than fit */
	/* Room of VFU_REPLY_MAX - header at reply; a handler sets what it used. */
	uint8_t *reply;
	size_t reply_length;
	int reply_fd; /* lent, -1 = none */
	bool is_last; /* close the connection after the reply */
	bool is_answered;
};

/* ---- sim_vfu_stream.c ---- */
/* Handles what the socket has. */
void sim_vfu_receive(struct sim_vfu *vfu);
/* Sends the reply before the handler has done its work; it must not fail any more. */
void sim_vfu_answer(struct sim_vfu *vfu, struct vfu_message *message);
/* Handles the next message if it is a complete read of a region. */
bool sim_vfu_handle_read(struct sim_vfu *vfu);
/* Handles complete messages that are in the buffer already. */
void sim_vfu_handle_buffered(struct sim_vfu *vfu);
/* Takes more bytes behind those in the buffer. False: none came, or the connection is lost. */
bool sim_vfu_fill(struct sim_vfu *vfu, size_t limit);
/* Takes a whole message, rx[at..at + length), out of the buffer, and its descriptors. */
void sim_vfu_cut(struct sim_vfu *vfu, size_t at, size_t length);
/* Sends or queues one message; fd is lent, -1 = none. Marks the connection lost if it cannot. */
void sim_vfu_send(struct sim_vfu *vfu, const void *message, size_t length, int fd);
/* Sends what is queued. */
void sim_vfu_flush(struct sim_vfu *vfu);
/* Forgets all bytes and descriptors. */
void sim_vfu_stream_reset(struct sim_vfu *vfu);

/* ---- sim_vfu.c ---- */
/* The connection will be closed when no handler runs any more. */
void sim_vfu_lose(struct sim_vfu *vfu, const char *why);
/* Tells the loop whether the socket is worth watching for room. */
void sim_vfu_watch_write(struct sim_vfu *vfu, bool wanted);

/* ---- sim_vfu_command.c ---- */
/* 0, or -errno: then the reply is the error. */
int sim_vfu_run(struct sim_vfu *vfu, struct vfu_message *message);

/* ---- sim_vfu_version.c ---- */
int sim_vfu_negotiate(struct sim_vfu *vfu, struct vfu_message *message);

/* ---- sim_vfu_dma.c ---- */
extern const struct sim_dma_remote sim_vfu_remote;

#endif
