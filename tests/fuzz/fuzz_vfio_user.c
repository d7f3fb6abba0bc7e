/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Fuzzes the vfio-user server with the bytes of a client. The input is a
 * series of writes: a byte of options, a length (16 bits, little endian), and
 * as many bytes. Each write may carry descriptors.
 *
 *	1:0	descriptors that come along: none, 1, 2 or 17
 *	2	they are memory files, else eventfds
 *
 * Bit 0 of the first byte of the input: the client has negotiated already. The device starts when
 * all is written and the stream is ended, so that it never waits for an answer.
 */
#include "sim/device/sim_dev.h"
#include "sim/device/sim_loop.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define MEMORY_SIZE 0x10000
#define FDS	    17

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct sim_loop *loop;
static int memory_fd, event_fd;

/* ------------------------------------------------------------ a NIC that uses what it is told */

static int describe(const struct sim_nic_config *config, struct sim_pci_config *pci)
{
	(void)config;
	*pci = (struct sim_pci_config){
		.vendor_id = 1,
		.pcie = true,
		.bars[0] = {.size = 0x4000, .is_64bit = true},
		.bars[2] = {.size = 0x4000, .mmap_offset = 0x2000, .mmap_length = 0x1000},
		.msix = {.vectors = 20, .table_bar = 2, .pba_bar = 2, .pba_offset = 0x1000},
	};
	return 0;
}

static int create(struct sim_dev *dev, const struct sim_nic_config *config, void **nic)
{
	(void)config;
	*nic = dev;
	return 0;
}

static void nothing(void *nic)
{
	(void)nic;
}

static uint64_t reg_read(void *nic, unsigned int bar, uint64_t offset, unsigned int size)
{
	(void)nic;
	if (bar > 2 || offset + size > 0x4000)
		abort();
	return offset;
}

/* The value is an address, or a vector; the offset says what to do with it. */
static void reg_write(void *nic, unsigned int bar, uint64_t offset, unsigned int size,
		      uint64_t value)
{
	uint8_t buffer[64];
	size_t length = offset % sizeof(buffer) + 1;
	uint8_t *direct;

	if (bar > 2 || offset + size > 0x4000)
		abort();
	memset(buffer, 1, sizeof(buffer));
	sim_irq_raise(nic, (unsigned int)value);
	sim_dma_write(nic, value, buffer, length);
	sim_dma_read(nic, value, buffer, length);
	direct = sim_dma_map(nic, value, length, true);
	if (direct)
		memcpy(direct, buffer, length);
}

static const struct sim_class class = {
	.name = "fuzzed",
	.describe = describe,
	.create = create,
	.destroy = nothing,
	.reset = nothing,
	.reg_read = reg_read,
	.reg_write = reg_write,
};

static void no_log(void *ctx, const char *line)
{
	(void)ctx;
	(void)line;
}

/* ------------------------------------------------------------ the client */

static void send_piece(int fd, const uint8_t *bytes, size_t length, uint8_t options)
{
	static const unsigned int counts[4] = {0, 1, 2, FDS};
	unsigned int count = counts[options & 3], i;
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(FDS * sizeof(int))];
	} control = {.header = {CMSG_LEN(count * sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
	struct iovec iov = {(void *)bytes, length};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	int fds[FDS];

	for (i = 0; i < FDS; i++)
		fds[i] = options & 4 ? memory_fd : event_fd;
	if (count) {
		memcpy(CMSG_DATA(&control.header), fds, count * sizeof(int));
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(count * sizeof(int));
	}
	sendmsg(fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Version, bus master enable, MSI-X enable, one region with a file and one without. */
static void negotiate(int fd)
{
	static const uint32_t version[] = {1 << 16, 20, 0, 0, 0};
	static const uint32_t command[] = {10 << 16, 34, 0x10, 0, 4, 0, 7, 2, 6};
	static const uint32_t msix[] = {10 << 16, 34, 0x10, 0, 0x82, 0, 7, 2, 0x8000};
	static const uint32_t map[] = {2 << 16, 48, 0x10, 0, 32, 3, 0, 0, 0, 0, MEMORY_SIZE, 0};
	static const uint32_t remote[] = {2 << 16, 48, 0x10, 0, 32, 3, 0, 0, 0x80000, 0, 0x1000, 0};

	send_piece(fd, (const uint8_t *)version, 20, 0);
	send_piece(fd, (const uint8_t *)command, 34, 0);
	send_piece(fd, (const uint8_t *)msix, 34, 0);
	send_piece(fd, (const uint8_t *)map, 48, 5);
	send_piece(fd, (const uint8_t *)remote, 48, 0);
}

static void play(int fd, const uint8_t *data, size_t size)
{
	while (size >= 3) {
		uint8_t options = data[0];
		size_t length = data[1] | (size_t)data[2] << 8;

		data += 3;
		size -= 3;
		if (length > size)
			length = size;
		send_piece(fd, data, length, options);
		data += length;
		size -= length;
	}
}

static void prepare(void)
{
	if (sim_loop_create(true, &loop))
		abort();
	memory_fd = memfd_create("fuzz", MFD_CLOEXEC);
	event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (memory_fd < 0 || event_fd < 0 || ftruncate(memory_fd, MEMORY_SIZE))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sim_dev_config config = {.class = &class, .log = no_log};
	struct sim_dev *dev;
	int sv[2], i;

	if (!loop)
		prepare();
	if (!size || socketpair(AF_UNIX, SOCK_STREAM, 0, sv))
		return 0;
	config.loop = loop;
	if (sim_dev_create(&config, &dev) || sim_vfu_attach(dev, sv[1]))
		abort();
	if (data[0] & 1)
		negotiate(sv[0]);
	play(sv[0], data + 1, size - 1);
	shutdown(sv[0], SHUT_WR);
	for (i = 0; i < 8; i++)
		sim_loop_advance(loop, 0);
	sim_dev_destroy(dev);
	close(sv[0]);
	return 0;
}
