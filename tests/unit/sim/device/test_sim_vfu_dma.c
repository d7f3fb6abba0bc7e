/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Memory that only the client can reach. The client's half is a second
 * thread, which answers the device's messages as the row says.
 */
#include "tests/lib/t.h"
#include "tests/unit/sim/device/fake_nic.h"
#include "tests/unit/sim/device/vfu_client.h"

#include <errno.h>
#include <linux/vfio.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum answer {
	GOOD,
	IN_PIECES,     /* byte by byte */
	ERROR,	       /* an error reply */
	OTHER_ADDRESS, /* of something else */
	OTHER_COUNT,
	TOO_SHORT,     /* less data than asked for */
	OTHER_COMMAND, /* the id is right */
	HANG_UP,
	SILENT,
	BROKEN_FRAME,
	DOORBELLS_FIRST, /* posted writes come before the answer */
	READ_FIRST,	 /* waits for a register before it answers */
	FLOOD,		 /* sends for ever, but no answer */
	MAP_FIRST,	 /* a map with its descriptor comes before the answer */
	MAP_BEHIND,	 /* and one behind it */
	WITH_FD,	 /* the answer brings a descriptor */
};

struct message {
	struct vfu_header header;
	struct vfu_dma_access access;
	uint8_t data[4096];
};

static struct sim_loop *loop;
static struct sim_dev *dev;
static struct fake_log line;
static struct vfu_client client;
static enum answer answer;
/* What the thread saw. */
static struct message seen;
static unsigned int seen_count, largest;
static int memory_fd = -1;
static uint64_t read_value;

static bool start(void)
{
	struct vfu_dma_map map = {32, VFU_DMA_MAP_READ | VFU_DMA_MAP_WRITE, 0, 0x10000, 0x10000};

	memset(&line, 0, sizeof(line));
	seen_count = 0;
	largest = 0;
	if (sim_loop_create(true, &loop))
		return false;
	dev = fake_dev_create(loop, NULL, &line);
	return dev && !client_init(&client, loop, dev) && client_negotiate(&client) &&
	       client_enable(&client) && !client_dma_map(&client, &map, -1);
}

static void stop(void)
{
	client_fini(&client);
	sim_dev_destroy(dev);
	sim_loop_destroy(loop);
}

/* ------------------------------------------------------------ the client's half */

static bool receive(void *data, size_t length)
{
	return recv(client.fd, data, length, MSG_WAITALL) == (ssize_t)length;
}

static void transmit(const void *data, size_t length)
{
	const uint8_t *bytes = data;
	size_t piece = answer == IN_PIECES ? 1 : length;

	for (; length; length -= piece, bytes += piece)
		if (send(client.fd, bytes, piece, MSG_NOSIGNAL) != (ssize_t)piece)
			return;
}

static void ring_doorbells(unsigned int count)
{
	struct {
		struct vfu_header header;
		struct vfu_region_access access;
		uint64_t value;
	} bell = {{77, VFU_REGION_WRITE, 40, VFU_NO_REPLY, 0}, {0x200, 0, 8}, 0};

	while (count--) {
		bell.value = count;
		transmit(&bell, sizeof(bell));
	}
}

/* As QEMU does: nothing else is done until the register is there. */
static void wait_for_register(void)
{
	struct {
		struct vfu_header header;
		struct vfu_region_access access;
	} ask = {{78, VFU_REGION_READ, 32, 0, 0}, {FAKE_REG_STATUS, 0, 8}};
	struct {
		struct vfu_header header;
		struct vfu_region_access access;
		uint64_t value;
	} reply;

	transmit(&ask, sizeof(ask));
	if (receive(&reply, sizeof(reply)) && reply.header.id == 78)
		read_value = reply.value;
}

static void flood(void)
{
	static const uint8_t junk[8192];
	struct vfu_header header = {1, VFU_DEVICE_FEATURE, sizeof(header) + sizeof(junk), 0, 0};

	while (send(client.fd, &header, sizeof(header), MSG_NOSIGNAL) > 0 &&
	       send(client.fd, junk, sizeof(junk), MSG_NOSIGNAL) > 0)
		;
}

static void transmit_with_fd(const void *data, size_t length)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.header = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
	struct iovec iov = {(void *)data, length};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = &control,
			     .msg_controllen = sizeof(control)};

	memcpy(CMSG_DATA(&control.header), &memory_fd, sizeof(int));
	if (sendmsg(client.fd, &msg, MSG_NOSIGNAL) != (ssize_t)length)
		memory_fd = -1;
}

static void map_memory(void)
{
	struct {
		struct vfu_header header;
		struct vfu_dma_map map;
	} message = {{79, VFU_DMA_MAP, 48, VFU_NO_REPLY, 0},
		     {32, VFU_DMA_MAP_READ, 0, 0x900000, 0x1000}};

	transmit_with_fd(&message, sizeof(message));
}

/* Changes the good reply into what the row wants. False: no reply at all. */
static bool spoil(struct message *reply)
{
	switch (answer) {
	case ERROR:
		reply->header.flags |= VFU_ERROR;
		reply->header.error = EFAULT;
		reply->header.size = sizeof(reply->header);
		break;
	case OTHER_ADDRESS:
		reply->access.address++;
		break;
	case OTHER_COUNT:
		reply->access.count += 1ull << 32;
		break;
	case TOO_SHORT:
		reply->header.size--;
		break;
	case OTHER_COMMAND:
		reply->header.command = VFU_DEVICE_RESET;
		break;
	case BROKEN_FRAME:
		reply->header.size = 3;
		break;
	case DOORBELLS_FIRST:
		ring_doorbells(50);
		break;
	case READ_FIRST:
		wait_for_register();
		break;
	case FLOOD:
		flood();
		return false;
	case HANG_UP:
		shutdown(client.fd, SHUT_RDWR);
		return false;
	case MAP_FIRST:
		map_memory();
		break;
	case MAP_BEHIND:
		transmit(reply, reply->header.size);
		map_memory();
		return false;
	case WITH_FD:
		transmit_with_fd(reply, reply->header.size);
		return false;
	case SILENT:
		return false;
	case GOOD:
	case IN_PIECES:
		break;
	}
	return true;
}

/* Serves `ctx` messages. A read gets bytes that tell their address. */
static void *serve(void *ctx)
{
	unsigned int count = *(unsigned int *)ctx;
	struct message reply;

	while (count--) {
		if (!receive(&seen, sizeof(seen.header) + sizeof(seen.access)))
			return NULL;
		if (seen.access.count > largest)
			largest = (unsigned int)seen.access.count;
		reply = seen;
		reply.header.flags = VFU_TYPE_REPLY;
		if (seen.header.command == VFU_DMA_READ) {
			memset(reply.data, (int)(seen.access.address >> 8), seen.access.count);
			reply.header.size += (uint32_t)seen.access.count;
		} else {
			receive(seen.data, seen.access.count);
			reply.header.size = sizeof(reply.header);
		}
		seen_count++;
		if (!spoil(&reply))
			return NULL;
		transmit(&reply, reply.header.size < 16 ? 16 : reply.header.size);
	}
	return NULL;
}

static int with_client(unsigned int messages, int (*run)(void *data, size_t length), void *data,
		       size_t length)
{
	pthread_t thread;
	int rc;

	if (pthread_create(&thread, NULL, serve, &messages))
		return -1;
	rc = run(data, length);
	/* Hangs up if the device wants to, so that the thread comes to an end. */
	sim_loop_advance(loop, 0);
	pthread_join(thread, NULL);
	return rc;
}

/* ------------------------------------------------------------ the device's half */

static int read_all(void *data, size_t length)
{
	return sim_dma_read(dev, 0x11200, data, length);
}

static int write_all(void *data, size_t length)
{
	return sim_dma_write(dev, 0x11200, data, length);
}

struct row {
	const char *name;
	enum answer answer;
	int expect;
	bool survives; /* the connection does */
};

static const struct row rows[] = {
	{"good", GOOD, 0, true},
	{"in pieces", IN_PIECES, 0, true},
	{"error", ERROR, -EFAULT, true},
	{"other address", OTHER_ADDRESS, -EFAULT, true},
	{"other count", OTHER_COUNT, -EFAULT, true},
	{"too short", TOO_SHORT, -EFAULT, true},
	{"other command", OTHER_COMMAND, -EFAULT, true},
	{"doorbells first", DOORBELLS_FIRST, 0, true},
	{"read first", READ_FIRST, 0, true},
	{"map first", MAP_FIRST, 0, true},
	{"map behind", MAP_BEHIND, 0, true},
	{"with descriptor", WITH_FD, 0, true},
	{"hangs up", HANG_UP, -EFAULT, false},
	{"broken frame", BROKEN_FRAME, -EFAULT, false},
	{"silent", SILENT, -EFAULT, false},
	{"flood", FLOOD, -EFAULT, false},
};

/* What came meanwhile is worked on afterwards, with no further event. */
static void check_rest(const struct row *row)
{
	bool has_map = row->answer == MAP_FIRST || row->answer == MAP_BEHIND;
	uint64_t value;

	sim_loop_advance(loop, 0);
	T_EQ_ROW(row->name, fake_last->writes, row->answer == DOORBELLS_FIRST ? 50 : 0);
	T_EQ_ROW(row->name, fake_last->reads, row->answer == READ_FIRST);
	T_EQ_ROW(row->name, sim_dma_map(dev, 0x900000, 1, false) != NULL, has_map);
	if (row->survives)
		T_EQ_ROW(row->name, client_read(&client, 0, 0x40, 8, &value), 0);
	else
		T_EQ_ROW(row->name, fake_last->resets, 1);
}

static void answers_are_judged(void)
{
	unsigned int fds;
	size_t i;

	memory_fd = memfd_create("test", MFD_CLOEXEC);
	T_EQ(ftruncate(memory_fd, 0x1000), 0);
	fds = client_count_fds();

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t data[8] = {0};

		T_NEED(start());
		answer = rows[i].answer;
		T_EQ_ROW(rows[i].name, with_client(1, read_all, data, sizeof(data)),
			 rows[i].expect);
		T_EQ_ROW(rows[i].name, seen.header.command, VFU_DMA_READ);
		T_EQ_ROW(rows[i].name, seen.header.size, 32);
		T_EQ_ROW(rows[i].name, seen.access.address, 0x11200);
		T_EQ_ROW(rows[i].name, seen.access.count, 8);
		if (!rows[i].expect)
			T_EQ_ROW(rows[i].name, data[7], 0x12);
		check_rest(&rows[i]);
		stop();
		T_EQ_ROW(rows[i].name, client_count_fds(), fds);
	}
	close(memory_fd);
}

static void writes_carry_the_data(void)
{
	uint8_t data[16] = "0123456789abcdef";

	T_NEED(start());
	answer = GOOD;
	T_EQ(with_client(1, write_all, data, sizeof(data)), 0);
	T_EQ(seen.header.command, VFU_DMA_WRITE);
	T_EQ(seen.header.size, 32 + 16);
	T_EQ(seen.access.count, 16);
	T_BYTES(seen.data, data, 16);
	answer = ERROR;
	T_EQ(with_client(1, write_all, data, sizeof(data)), -EFAULT);
	stop();
}

static void long_copies_are_cut(void)
{
	uint8_t data[10000];

	T_NEED(start());
	answer = GOOD;
	T_EQ(with_client(3, read_all, data, sizeof(data)), 0);
	T_EQ(seen_count, 3);
	T_EQ(largest, 4096);
	T_EQ(data[4095], 0x12);
	T_EQ(data[4096], 0x22);
	T_EQ(data[9999], 0x32);
	T_EQ(with_client(3, write_all, data, sizeof(data)), 0);
	stop();
}

/* A register write that needs the client: answered first, so that it is not waiting for us. */
static int ring_dma(void *data, size_t length)
{
	(void)data;
	(void)length;
	sim_loop_advance(loop, 0);
	return (int)fake_last->registers[FAKE_REG_STATUS / 8];
}

static void dma_within_a_register_write(void)
{
	struct {
		struct vfu_header header;
		struct vfu_region_access access;
		uint64_t value;
	} write = {{5, VFU_REGION_WRITE, 40, 0, 0}, {FAKE_REG_DMA, 0, 8}, 1};
	struct {
		struct vfu_header header;
		struct vfu_region_access access;
	} reply;

	T_NEED(start());
	answer = GOOD;
	T_EQ(client_write(&client, 0, FAKE_REG_ADDRESS, 8, 0x11200), 0);
	T_EQ(send(client.fd, &write, sizeof(write), 0), sizeof(write));
	/* The reply to the write is in the way of the thread: it comes before the DMA message. */
	sim_loop_advance(loop, 0);
	T_EQ(recv(client.fd, &reply, sizeof(reply), MSG_DONTWAIT), sizeof(reply));
	T_EQ(reply.header.id, 5);
	T_EQ(reply.header.flags, VFU_TYPE_REPLY);
	/* Nobody answered the DMA: it failed, and the client was dropped. */
	T_EQ(fake_last->resets, 1);
	stop();
}

/* The same, posted and answered. */
static void dma_within_a_posted_write(void)
{
	struct {
		struct vfu_header header;
		struct vfu_region_access access;
		uint64_t value;
	} write = {{5, VFU_REGION_WRITE, 40, VFU_NO_REPLY, 0}, {FAKE_REG_DMA, 0, 8}, 1};

	T_NEED(start());
	answer = READ_FIRST;
	T_EQ(client_write(&client, 0, FAKE_REG_ADDRESS, 8, 0x11200), 0);
	T_EQ(send(client.fd, &write, sizeof(write), 0), sizeof(write));
	T_EQ(with_client(1, ring_dma, NULL, 0), 0);
	T_EQ(fake_last->registers[FAKE_REG_DATA / 8], 0x1212121212121212);
	T_EQ(read_value, FAKE_STATUS_BUSY);
	stop();
}

static void no_dma_without_a_client(void)
{
	uint8_t data[8];

	T_NEED(start());
	client_fini(&client);
	T_EQ(read_all(data, 8), -EFAULT);
	T_EQ(write_all(data, 8), -EFAULT);
	stop();
}

T_MAIN("sim_vfu_dma", T_CASE(answers_are_judged), T_CASE(writes_carry_the_data),
       T_CASE(long_copies_are_cut), T_CASE(dma_within_a_register_write),
       T_CASE(dma_within_a_posted_write), T_CASE(no_dma_without_a_client), )
