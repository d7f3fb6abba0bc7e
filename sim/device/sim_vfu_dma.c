/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * vfio-user server, memory that only the client can reach: asks the client
 * for it, message by message. Slow, and meant for the odd access to memory
 * without a file descriptor.
 *
 * The caller needs the bytes before it can go on, so this waits; but only so long, and a client
 * that does not answer is dropped. What else it sends meanwhile stays in the buffer, with one
 * exception: QEMU cannot answer as long as one of its processors waits for a register, so a read
 * that is next in line is served.
 */
#include "sim/device/sim_vfu.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#define CHUNK	       4096u
#define ANSWER_WAIT_MS 1000

struct exchange {
	struct vfu_header header;
	struct vfu_dma_access access;
	uint8_t data[CHUNK];
};
_Static_assert(sizeof(struct exchange) == 32 + CHUNK, "no padding");

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Looks through the messages that wait in the receive buffer. */
static bool find_reply(struct sim_vfu *vfu, uint16_t id, size_t *at)
{
	struct vfu_header header;
	size_t start = vfu->rx_head;

	/* The rest of a refused message is no place to look for headers. */
	if (vfu->rx_skip)
		start += vfu->rx_skip < vfu->rx_tail - start ? vfu->rx_skip : vfu->rx_tail - start;
	while (vfu->rx_tail - start >= sizeof(header)) {
		memcpy(&header, vfu->rx + start, sizeof(header));
		if (header.size < sizeof(header) || header.size > VFU_MESSAGE_MAX) {
			sim_vfu_lose(vfu, "the message stream lost its framing");
			return false;
		}
		if (vfu->rx_tail - start < header.size)
			return false;
		if ((header.flags & VFU_TYPE_MASK) == VFU_TYPE_REPLY && header.id == id) {
			*at = start;
			return true;
		}
		start += header.size;
	}
	return false;
}

static bool wait_for(struct sim_vfu *vfu, short events, int64_t deadline)
{
	struct pollfd pfd = {.fd = vfu->fd, .events = events};
	int64_t left = deadline - now_ms();

	if (left > 0 && poll(&pfd, 1, (int)left) >= 0)
		return true;
	sim_vfu_lose(vfu, "the client does not answer a DMA message");
	return false;
}

static bool wait_sent(struct sim_vfu *vfu, int64_t deadline)
{
	while (!vfu->is_lost && vfu->tx_head < vfu->tx_tail) {
		if (!wait_for(vfu, POLLOUT, deadline))
			return false;
		sim_vfu_flush(vfu);
	}
	return !vfu->is_lost;
}

static bool wait_reply(struct sim_vfu *vfu, uint16_t id, int64_t deadline, size_t *at)
{
	/* One level deep: if a read that is served here needs DMA in its turn, it has to wait. */
	bool is_nested = vfu->is_waiting, found = false;

	vfu->is_waiting = true;
	while (!vfu->is_lost) {
		found = find_reply(vfu, id, at);
		if (found)
			break;
		if (!is_nested && sim_vfu_handle_read(vfu))
			continue;
		if (vfu->is_lost || !wait_for(vfu, POLLIN, deadline))
			break;
		sim_vfu_fill(vfu, VFU_RX_SIZE);
	}
	vfu->is_waiting = is_nested;
	return found;
}

/* The reply must say the same address and count as the request. */
static int take_reply(struct sim_vfu *vfu, const struct exchange *request, void *data, size_t at)
{
	struct vfu_dma_access access;
	struct vfu_header header;
	const uint8_t *payload = vfu->rx + at + sizeof(header);
	size_t wanted = data ? sizeof(access) + request->access.count : 0;
	int rc = -EFAULT;

	memcpy(&header, vfu->rx + at, sizeof(header));
	if (!(header.flags & VFU_ERROR) && header.command == request->header.command &&
	    header.size - sizeof(header) >= wanted) {
		rc = 0;
		if (data) {
			memcpy(&access, payload, sizeof(access));
			if (access.address != request->access.address ||
			    access.count != request->access.count)
				rc = -EFAULT;
			else
				memcpy(data, payload + sizeof(access), (size_t)access.count);
		}
	}
	sim_vfu_cut(vfu, at, header.size);
	return rc;
}

static int exchange_run(struct sim_vfu *vfu, struct exchange *x, void *data)
{
	int64_t deadline = now_ms() + ANSWER_WAIT_MS;
	size_t at;

	x->header.id = vfu->next_id++;
	x->header.flags = VFU_TYPE_COMMAND;
	sim_vfu_send(vfu, x, x->header.size, -1);
	if (!wait_sent(vfu, deadline) || !wait_reply(vfu, x->header.id, deadline, &at))
		return -EFAULT;
	/* Commands that came meanwhile are waiting in the buffer, and no event will tell. */
	if (!vfu->is_handling)
		sim_task_set(vfu->work, 0);
	return take_reply(vfu, x, data, at);
}

static size_t chunk_size(const struct sim_vfu *vfu, size_t length)
{
	if (length > CHUNK)
		length = CHUNK;
	return length < vfu->peer_data_max ? length : (size_t)vfu->peer_data_max;
}

static bool is_usable(const struct sim_vfu *vfu)
{
	return vfu->fd >= 0 && !vfu->is_lost && vfu->is_negotiated && vfu->peer_data_max;
}

static int remote_read(void *ctx, uint64_t addr, void *data, size_t length)
{
	struct sim_vfu *vfu = ctx;
	uint8_t *bytes = data;
	struct exchange x;
	size_t chunk;

	for (; length; length -= chunk, addr += chunk, bytes += chunk) {
		if (!is_usable(vfu))
			return -EFAULT;
		chunk = chunk_size(vfu, length);
		x.header = (struct vfu_header){
			.command = VFU_DMA_READ,
			.size = sizeof(x.header) + sizeof(x.access),
		};
		x.access = (struct vfu_dma_access){addr, chunk};
		if (exchange_run(vfu, &x, bytes))
			return -EFAULT;
	}
	return 0;
}

static int remote_write(void *ctx, uint64_t addr, const void *data, size_t length)
{
	struct sim_vfu *vfu = ctx;
	const uint8_t *bytes = data;
	struct exchange x;
	size_t chunk;

	for (; length; length -= chunk, addr += chunk, bytes += chunk) {
		if (!is_usable(vfu))
			return -EFAULT;
		chunk = chunk_size(vfu, length);
		x.header = (struct vfu_header){
			.command = VFU_DMA_WRITE,
			.size = (uint32_t)(sizeof(x.header) + sizeof(x.access) + chunk),
		};
		x.access = (struct vfu_dma_access){addr, chunk};
		memcpy(x.data, bytes, chunk);
		if (exchange_run(vfu, &x, NULL))
			return -EFAULT;
	}
	return 0;
}

const struct sim_dma_remote sim_vfu_remote = {
	.read = remote_read,
	.write = remote_write,
};
