/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A vfio-user client for tests. Knows the device under test only through the socket. */
#include "tests/unit/sim/device/vfu_client.h"

#include <dirent.h>
#include <errno.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int client_init(struct vfu_client *client, struct sim_loop *loop, struct sim_dev *dev)
{
	int sv[2], rc;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv))
		return -errno;
	*client = (struct vfu_client){.loop = loop, .fd = sv[0], .next_id = 1, .reply_fd = -1};
	rc = sim_vfu_attach(dev, sv[1]);
	if (rc)
		close(sv[0]);
	return rc;
}

int client_connect(struct vfu_client *client, struct sim_loop *loop, const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address))) {
		close(fd);
		return -ECONNREFUSED;
	}
	*client = (struct vfu_client){.loop = loop, .fd = fd, .next_id = 1, .reply_fd = -1};
	sim_loop_advance(loop, 0);
	return 0;
}

void client_fini(struct vfu_client *client)
{
	if (client->fd >= 0)
		close(client->fd);
	if (client->reply_fd >= 0)
		close(client->reply_fd);
	client->fd = -1;
	client->reply_fd = -1;
	/* The device first reads what is left. */
	sim_loop_advance(client->loop, 0);
	sim_loop_advance(client->loop, 0);
}

bool client_send_bytes(struct vfu_client *client, const void *bytes, size_t length)
{
	ssize_t rc = send(client->fd, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT);

	sim_loop_advance(client->loop, 0);
	return rc == (ssize_t)length;
}

bool client_send(struct vfu_client *client, const struct client_command *command)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(64 * sizeof(int))];
	} control;
	size_t size = sizeof(struct vfu_header) + command->length + command->more_length;
	struct vfu_header header = {
		.id = client->next_id++,
		.command = command->command,
		.size = command->claimed_size ? command->claimed_size : (uint32_t)size,
		.flags = command->flags,
	};
	struct iovec iov[3] = {
		{.iov_base = &header, .iov_len = sizeof(header)},
		{.iov_base = (void *)command->payload, .iov_len = command->length},
		{.iov_base = (void *)command->more, .iov_len = command->more_length},
	};
	struct msghdr msg = {.msg_iov = iov, .msg_iovlen = 3};
	ssize_t rc;

	if (command->fd_count) {
		memset(&control, 0, sizeof(control));
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(command->fd_count * sizeof(int));
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(command->fd_count * sizeof(int));
		memcpy(CMSG_DATA(&control.header), command->fds, command->fd_count * sizeof(int));
	}
	rc = sendmsg(client->fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
	sim_loop_advance(client->loop, 0);
	return rc == (ssize_t)size;
}

static bool receive(struct vfu_client *client, void *data, size_t length)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = {.iov_base = data, .iov_len = length};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = &control,
			     .msg_controllen = sizeof(control)};

	if (!length)
		return true;
	if (recvmsg(client->fd, &msg, MSG_DONTWAIT) != (ssize_t)length)
		return false;
	if (msg.msg_controllen && CMSG_FIRSTHDR(&msg)) {
		if (client->reply_fd >= 0)
			close(client->reply_fd);
		memcpy(&client->reply_fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(int));
	}
	return true;
}

bool client_reply(struct vfu_client *client)
{
	if (!receive(client, &client->header, sizeof(client->header)))
		return false;
	client->length = client->header.size - sizeof(client->header);
	if (client->header.size < sizeof(client->header) || client->length > CLIENT_REPLY_MAX)
		return false;
	return receive(client, client->payload, client->length);
}

bool client_is_closed(struct vfu_client *client)
{
	char byte;
	ssize_t rc = recv(client->fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK);

	return !rc || (rc < 0 && errno != EAGAIN);
}

int client_run(struct vfu_client *client, const struct client_command *command)
{
	if (!client_send(client, command) || !client_reply(client))
		return -1;
	if (client->header.id != (uint16_t)(client->next_id - 1) ||
	    client->header.command != command->command ||
	    (client->header.flags & VFU_TYPE_MASK) != VFU_TYPE_REPLY)
		return -1;
	return client->header.flags & VFU_ERROR ? (int)client->header.error : 0;
}

bool client_negotiate(struct vfu_client *client)
{
	static const char text[] =
		"{\"capabilities\": {\"migration\": {\"pgsize\": 4096, \"max_bitmap_size\": "
		"268435456}, \"max_msg_fds\": 16, \"max_data_xfer_size\": 1048576, "
		"\"pgsizes\": 4096, \"max_dma_maps\": 65535, \"write_multiple\": true}}";
	struct vfu_version version = {0, 0};
	struct client_command command = {
		.command = VFU_VERSION,
		.payload = &version,
		.length = sizeof(version),
		.more = text,
		.more_length = sizeof(text),
	};

	return client_run(client, &command) == 0;
}

int client_write(struct vfu_client *client, unsigned int region, uint64_t offset, unsigned int size,
		 uint64_t value)
{
	struct vfu_region_access access = {.offset = offset, .region = region, .count = size};
	struct client_command command = {
		.command = VFU_REGION_WRITE,
		.payload = &access,
		.length = sizeof(access),
		.more = &value,
		.more_length = size,
	};

	return client_run(client, &command);
}

int client_read(struct vfu_client *client, unsigned int region, uint64_t offset, unsigned int size,
		uint64_t *value)
{
	struct vfu_region_access access = {.offset = offset, .region = region, .count = size};
	struct client_command command = {
		.command = VFU_REGION_READ,
		.payload = &access,
		.length = sizeof(access),
	};
	int rc = client_run(client, &command);

	*value = 0;
	if (rc)
		return rc;
	if (client->length != sizeof(access) + size)
		return -1;
	memcpy(value, client->payload + sizeof(access), size < 8 ? size : 8);
	return 0;
}

int client_dma_map(struct vfu_client *client, const struct vfu_dma_map *map, int fd)
{
	struct client_command command = {
		.command = VFU_DMA_MAP,
		.payload = map,
		.length = sizeof(*map),
		.fds = &fd,
		.fd_count = fd >= 0,
	};

	return client_run(client, &command);
}

int client_set_eventfds(struct vfu_client *client, uint32_t start, uint32_t count, const int *fds)
{
	struct vfu_irq_set set = {
		.argsz = sizeof(set),
		.flags = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER,
		.index = VFIO_PCI_MSIX_IRQ_INDEX,
		.start = start,
		.count = count,
	};
	struct client_command command = {
		.command = VFU_DEVICE_SET_IRQS,
		.payload = &set,
		.length = sizeof(set),
		.fds = fds,
		.fd_count = fds ? count : 0,
	};

	return client_run(client, &command);
}

static bool find_msix(struct vfu_client *client, uint64_t *at)
{
	uint64_t id;

	if (client_read(client, VFIO_PCI_CONFIG_REGION_INDEX, PCI_CAPABILITY_LIST, 1, at))
		return false;
	while (*at) {
		if (client_read(client, VFIO_PCI_CONFIG_REGION_INDEX, *at, 1, &id))
			return false;
		if (id == PCI_CAP_ID_MSIX)
			return true;
		if (client_read(client, VFIO_PCI_CONFIG_REGION_INDEX, *at + PCI_CAP_LIST_NEXT, 1,
				at))
			return false;
	}
	return false;
}

bool client_enable(struct vfu_client *client)
{
	uint64_t at;

	return find_msix(client, &at) &&
	       !client_write(client, VFIO_PCI_CONFIG_REGION_INDEX, PCI_COMMAND, 2,
			     PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER) &&
	       !client_write(client, VFIO_PCI_CONFIG_REGION_INDEX, at + PCI_MSIX_FLAGS, 2,
			     PCI_MSIX_FLAGS_ENABLE);
}

unsigned int client_count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count;
}
