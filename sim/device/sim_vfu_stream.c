/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * vfio-user server, bytes: receives as many messages at once as there are,
 * keeps each file descriptor with the message that it came with, and never
 * waits for the client. Knows the header of a message, not the commands.
 *
 * Which message does a descriptor belong to? A read of a stream socket ends with the piece that
 * carried descriptors, so they belong to the message that holds the last byte of the read.
 */
#include "sim/device/sim_vfu.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Reads of one turn of the loop: others want their turn too. */
#define READS_PER_TURN 4u

/* ------------------------------------------------------------ file descriptors */

static void fds_add(struct sim_vfu *vfu, const int *fds, unsigned int count, uint64_t position)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (vfu->fd_count == VFU_FDS_PENDING) {
			close(fds[i]);
			vfu->fds_were_cut = true;
			continue;
		}
		vfu->fds[vfu->fd_count++] = (struct vfu_pending_fd){position, fds[i]};
	}
}

/* The descriptors that came with bytes before `end` of the stream go to the message. */
static void fds_take(struct sim_vfu *vfu, uint64_t end, struct vfu_message *message)
{
	unsigned int i;

	message->fds_were_cut = vfu->fds_were_cut;
	vfu->fds_were_cut = false;
	for (i = 0; i < vfu->fd_count && vfu->fds[i].position < end; i++) {
		if (message->fd_count < VFU_FDS_MAX) {
			message->fds[message->fd_count++] = vfu->fds[i].fd;
		} else {
			close(vfu->fds[i].fd);
			message->fds_were_cut = true;
		}
	}
	vfu->fd_count -= i;
	memmove(vfu->fds, vfu->fds + i, vfu->fd_count * sizeof(vfu->fds[0]));
}

static void message_close_fds(struct vfu_message *message)
{
	unsigned int i;

	for (i = 0; i < message->fd_count; i++)
		if (message->fds[i] >= 0)
			close(message->fds[i]);
}

static void take_control(struct sim_vfu *vfu, struct msghdr *msg, size_t length)
{
	uint64_t last = vfu->rx_position + vfu->rx_tail + length - 1;
	struct cmsghdr *c;

	if (msg->msg_flags & MSG_CTRUNC)
		vfu->fds_were_cut = true;
	for (c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		int fds[VFU_FDS_MAX];
		size_t bytes = c->cmsg_len - CMSG_LEN(0);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		if (bytes > sizeof(fds))
			bytes = sizeof(fds);
		memcpy(fds, CMSG_DATA(c), bytes);
		fds_add(vfu, fds, (unsigned int)(bytes / sizeof(int)), last);
	}
}

/* ------------------------------------------------------------ sending */

struct vfu_tx_record {
	uint32_t length;
	int fd;
};

/* Returns the bytes sent, which may be none, or -errno. */
static ssize_t send_now(struct sim_vfu *vfu, const void *message, size_t length, int fd)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = {.iov_base = (void *)message, .iov_len = length};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	ssize_t rc;

	if (fd >= 0) {
		memset(&control, 0, sizeof(control));
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
		msg.msg_control = &control;
		msg.msg_controllen = sizeof(control.bytes);
	}
	rc = sendmsg(vfu->fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (rc >= 0)
		return rc;
	return errno == EAGAIN || errno == EINTR ? 0 : -errno;
}

static void queue(struct sim_vfu *vfu, const void *message, size_t length, int fd)
{
	struct vfu_tx_record record = {.length = (uint32_t)length, .fd = fd};

	if (vfu->tx_head) {
		vfu->tx_tail -= vfu->tx_head;
		memmove(vfu->tx, vfu->tx + vfu->tx_head, vfu->tx_tail);
		vfu->tx_head = 0;
	}
	if (sizeof(record) + length > VFU_TX_SIZE - vfu->tx_tail) {
		sim_vfu_lose(vfu, "the client does not read its replies");
		return;
	}
	memcpy(vfu->tx + vfu->tx_tail, &record, sizeof(record));
	memcpy(vfu->tx + vfu->tx_tail + sizeof(record), message, length);
	vfu->tx_tail += sizeof(record) + length;
	sim_vfu_watch_write(vfu, true);
}

void sim_vfu_send(struct sim_vfu *vfu, const void *message, size_t length, int fd)
{
	ssize_t sent = 0;

	if (vfu->is_lost)
		return;
	if (vfu->tx_head == vfu->tx_tail) {
		sent = send_now(vfu, message, length, fd);
		if (sent < 0) {
			sim_vfu_lose(vfu, NULL);
			return;
		}
		if ((size_t)sent == length)
			return;
		vfu->tx_sent = (size_t)sent;
	}
	queue(vfu, message, length, fd);
}

/* One record a call to the kernel: the client wants a whole header in its first read. */
void sim_vfu_flush(struct sim_vfu *vfu)
{
	while (vfu->tx_head < vfu->tx_tail) {
		const uint8_t *message = vfu->tx + vfu->tx_head + sizeof(struct vfu_tx_record);
		struct vfu_tx_record record;
		ssize_t sent;

		memcpy(&record, vfu->tx + vfu->tx_head, sizeof(record));
		/* The descriptor goes with the first byte. */
		sent = send_now(vfu, message + vfu->tx_sent, record.length - vfu->tx_sent,
				vfu->tx_sent ? -1 : record.fd);
		if (sent < 0) {
			sim_vfu_lose(vfu, NULL);
			return;
		}
		if (!sent)
			return;
		vfu->tx_sent += (size_t)sent;
		if (vfu->tx_sent < record.length)
			continue;
		vfu->tx_head += sizeof(record) + record.length;
		vfu->tx_sent = 0;
	}
	sim_vfu_watch_write(vfu, false);
}

static void send_reply(struct sim_vfu *vfu, const struct vfu_message *message, int rc)
{
	struct vfu_header header = {
		.id = message->header.id,
		.command = message->header.command,
		.size = sizeof(header),
		.flags = VFU_TYPE_REPLY,
	};

	if (message->header.flags & VFU_NO_REPLY || message->is_answered)
		return;
	if (rc < 0) {
		header.flags |= VFU_ERROR;
		header.error = (uint32_t)-rc;
	} else {
		header.size += (uint32_t)message->reply_length;
	}
	memcpy(vfu->reply, &header, sizeof(header));
	sim_vfu_send(vfu, vfu->reply, header.size, rc < 0 ? -1 : message->reply_fd);
}

void sim_vfu_answer(struct sim_vfu *vfu, struct vfu_message *message)
{
	send_reply(vfu, message, 0);
	message->is_answered = true;
}

/* ------------------------------------------------------------ receiving */

static void handle(struct sim_vfu *vfu, const struct vfu_header *header, size_t start)
{
	struct vfu_message message = {
		.header = *header,
		.payload = vfu->rx + start + sizeof(*header),
		.length = header->size - sizeof(*header),
		.reply = vfu->reply + sizeof(*header),
		.reply_fd = -1,
	};
	int rc;

	if (vfu->fd_count || vfu->fds_were_cut)
		fds_take(vfu, vfu->rx_position + start + header->size, &message);
	if ((header->flags & VFU_TYPE_MASK) == VFU_TYPE_REPLY) {
		/* Nothing was asked, or too long ago. A reply is never answered. */
		sim_log(vfu->dev, "vfio-user: unexpected reply to command %u", header->command);
	} else {
		rc = sim_vfu_run(vfu, &message);
		if (rc < 0)
			sim_log(vfu->dev, "vfio-user: command %u of %u bytes refused: %s",
				header->command, header->size, strerror(-rc));
		send_reply(vfu, &message, rc);
	}
	if (message.fd_count)
		message_close_fds(&message);
	if (message.is_last)
		sim_vfu_lose(vfu, "there is no common version of the protocol");
}

static void refuse(struct sim_vfu *vfu, const struct vfu_header *header, int rc)
{
	struct vfu_message message = {.header = *header, .reply_fd = -1};

	if ((header->flags & VFU_TYPE_MASK) != VFU_TYPE_REPLY)
		send_reply(vfu, &message, rc);
}

/* A message that does not fit in the buffer. True: go on behind it. */
static bool refuse_size(struct sim_vfu *vfu, const struct vfu_header *header)
{
	bool is_sane = header->size >= sizeof(*header) && header->size <= VFU_MESSAGE_INSANE;

	sim_log(vfu->dev, "vfio-user: command %u has a size of %u bytes", header->command,
		header->size);
	refuse(vfu, header, header->size < sizeof(*header) ? -EINVAL : -E2BIG);
	if (!is_sane) {
		sim_vfu_lose(vfu, "the message stream lost its framing");
		return false;
	}
	vfu->rx_skip = header->size;
	return true;
}

static void skip(struct sim_vfu *vfu)
{
	size_t length = vfu->rx_tail - vfu->rx_head;
	struct vfu_message message = {0};

	if (length > vfu->rx_skip)
		length = (size_t)vfu->rx_skip;
	vfu->rx_head += length;
	vfu->rx_skip -= length;
	fds_take(vfu, vfu->rx_position + vfu->rx_head, &message);
	message_close_fds(&message);
}

/* Handles the first message in the buffer. False: it is not complete, or not to be trusted. */
static bool handle_first(struct sim_vfu *vfu)
{
	size_t have = vfu->rx_tail - vfu->rx_head, start = vfu->rx_head;
	struct vfu_header header;

	if (vfu->rx_skip && have) {
		skip(vfu);
		return true;
	}
	if (have < sizeof(header))
		return false;
	memcpy(&header, vfu->rx + start, sizeof(header));
	if (header.size < sizeof(header) || header.size > VFU_MESSAGE_MAX)
		return refuse_size(vfu, &header);
	if (have < header.size)
		return false;
	/* Moved on before the handler runs: it may look for replies behind this message. */
	vfu->rx_head += header.size;
	handle(vfu, &header, start);
	return true;
}

bool sim_vfu_handle_read(struct sim_vfu *vfu)
{
	bool was_handling = vfu->is_handling, handled;
	struct vfu_header header;

	if (vfu->rx_skip || vfu->rx_tail - vfu->rx_head < sizeof(header))
		return false;
	memcpy(&header, vfu->rx + vfu->rx_head, sizeof(header));
	if (header.command != VFU_REGION_READ || header.flags & VFU_TYPE_MASK)
		return false;
	vfu->is_handling = true;
	handled = handle_first(vfu);
	vfu->is_handling = was_handling;
	return handled;
}

void sim_vfu_handle_buffered(struct sim_vfu *vfu)
{
	vfu->is_handling = true;
	while (!vfu->is_lost && handle_first(vfu))
		;
	vfu->is_handling = false;
	sim_dev_check_dma(vfu->dev);
}

/* Moves what is left to the front. Not while a handler looks at the buffer. */
static void compact(struct sim_vfu *vfu)
{
	if (!vfu->rx_head)
		return;
	vfu->rx_tail -= vfu->rx_head;
	memmove(vfu->rx, vfu->rx + vfu->rx_head, vfu->rx_tail);
	vfu->rx_position += vfu->rx_head;
	vfu->rx_head = 0;
}

bool sim_vfu_fill(struct sim_vfu *vfu, size_t limit)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(VFU_FDS_MAX * sizeof(int))];
	} control;
	struct iovec iov;
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.bytes};
	ssize_t length;

	if (!vfu->is_handling)
		compact(vfu);
	if (vfu->rx_tail >= limit) {
		sim_vfu_lose(vfu, "the client sends more than it may before it answers");
		return false;
	}
	iov.iov_base = vfu->rx + vfu->rx_tail;
	iov.iov_len = limit - vfu->rx_tail;
	msg.msg_controllen = sizeof(control.bytes);
	length = recvmsg(vfu->fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (length > 0) {
		if (msg.msg_controllen)
			take_control(vfu, &msg, (size_t)length);
		vfu->rx_tail += (size_t)length;
		return true;
	}
	if (!length || (errno != EAGAIN && errno != EINTR))
		sim_vfu_lose(vfu, NULL);
	return false;
}

void sim_vfu_receive(struct sim_vfu *vfu)
{
	unsigned int reads;

	/* Left over when a handler of another event source waited for a reply. */
	if (vfu->rx_head < vfu->rx_tail)
		sim_vfu_handle_buffered(vfu);
	for (reads = 0; reads < READS_PER_TURN && !vfu->is_lost; reads++) {
		if (!sim_vfu_fill(vfu, VFU_RX_COMMANDS))
			return;
		sim_vfu_handle_buffered(vfu);
		/* A read that did not fill the buffer has very likely emptied the socket. */
		if (vfu->rx_tail < VFU_RX_COMMANDS / 2)
			return;
	}
}

void sim_vfu_cut(struct sim_vfu *vfu, size_t at, size_t length)
{
	uint64_t position = vfu->rx_position + at;
	unsigned int i, kept = 0;

	memmove(vfu->rx + at, vfu->rx + at + length, vfu->rx_tail - at - length);
	vfu->rx_tail -= length;
	for (i = 0; i < vfu->fd_count; i++) {
		struct vfu_pending_fd pending = vfu->fds[i];

		if (pending.position >= position + length)
			pending.position -= length;
		else if (pending.position >= position) {
			close(pending.fd);
			continue;
		}
		vfu->fds[kept++] = pending;
	}
	vfu->fd_count = kept;
}

void sim_vfu_stream_reset(struct sim_vfu *vfu)
{
	while (vfu->fd_count)
		close(vfu->fds[--vfu->fd_count].fd);
	vfu->fds_were_cut = false;
	vfu->rx_head = 0;
	vfu->rx_tail = 0;
	vfu->rx_position = 0;
	vfu->rx_skip = 0;
	vfu->tx_head = 0;
	vfu->tx_tail = 0;
	vfu->tx_sent = 0;
}
