/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Bytes of the vfio-user server: messages in pieces and in bulk, descriptors
 * that must stay with their message, clients that send nonsense or do not read.
 */
#include "tests/lib/t.h"
#include "tests/unit/sim/device/fake_nic.h"
#include "tests/unit/sim/device/vfu_client.h"

#include <errno.h>
#include <linux/vfio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static struct sim_loop *loop;
static struct sim_dev *dev;
static struct fake_log line;
static struct vfu_client client;

static bool attach(void)
{
	return !client_init(&client, loop, dev) && client_negotiate(&client);
}

static bool start(void)
{
	memset(&line, 0, sizeof(line));
	if (sim_loop_create(true, &loop))
		return false;
	dev = fake_dev_create(loop, "mappable", &line);
	return dev && attach();
}

/* The socket holds a handful of replies of 4 KiB, whole: the server has to queue the others. */
static bool start_with_little_room(void)
{
	int sv[2], room = 16384;

	memset(&line, 0, sizeof(line));
	if (sim_loop_create(true, &loop) ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv) ||
	    setsockopt(sv[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room)))
		return false;
	dev = fake_dev_create(loop, "mappable", &line);
	client = (struct vfu_client){.loop = loop, .fd = sv[0], .next_id = 1, .reply_fd = -1};
	return dev && !sim_vfu_attach(dev, sv[1]) && client_negotiate(&client);
}

static void stop(void)
{
	client_fini(&client);
	sim_dev_destroy(dev);
	sim_loop_destroy(loop);
}

struct doorbell {
	struct vfu_header header;
	struct vfu_region_access access;
	uint64_t value;
};

static struct doorbell doorbell(uint64_t value)
{
	return (struct doorbell){
		.header = {1, VFU_REGION_WRITE, sizeof(struct doorbell), VFU_NO_REPLY, 0},
		.access = {0x200, 0, 8},
		.value = value,
	};
}

/* The connection is alive, and in step. */
static bool still_serves(void)
{
	uint64_t value;

	return !client_read(&client, VFIO_PCI_CONFIG_REGION_INDEX, 0, 2, &value) &&
	       value == FAKE_VENDOR;
}

/* ------------------------------------------------------------ framing */

static void message_in_pieces(void)
{
	struct doorbell d = doorbell(7);
	size_t cut, i;

	T_NEED(start());
	/* Every place to cut a message in two. */
	for (cut = 1; cut < sizeof(d); cut++) {
		d.value = cut;
		T_TRUE(client_send_bytes(&client, &d, cut));
		T_EQ(fake_last->writes, cut - 1);
		T_TRUE(client_send_bytes(&client, (uint8_t *)&d + cut, sizeof(d) - cut));
		T_EQ(fake_last->writes, cut);
		T_EQ(fake_last->last_value, cut);
	}
	for (i = 0; i < sizeof(d); i++)
		T_TRUE(client_send_bytes(&client, (uint8_t *)&d + i, 1));
	T_EQ(fake_last->writes, sizeof(d));
	T_TRUE(still_serves());
	stop();
}

/* 3,000 doorbells in one write and with an odd start: cut anywhere by the buffer, in order. */
static void many_messages_at_once(void)
{
	enum { COUNT = 3000 };
	struct doorbell *bulk = calloc(COUNT, sizeof(*bulk));
	struct doorbell first = doorbell(1);
	unsigned int i;

	T_NEED(bulk && start());
	for (i = 0; i < COUNT; i++)
		bulk[i] = doorbell(i);
	T_TRUE(client_send_bytes(&client, &first, 7));
	T_TRUE(client_send_bytes(&client, (uint8_t *)&first + 7, sizeof(first) - 7));
	T_TRUE(client_send_bytes(&client, bulk, COUNT * sizeof(*bulk)));
	for (i = 0; i < 10; i++)
		sim_loop_advance(loop, 0);
	T_EQ(fake_last->writes, COUNT + 1);
	T_EQ(fake_last->last_value, COUNT - 1);
	T_TRUE(still_serves());
	free(bulk);
	stop();
}

/* Refused, but the stream stays in step: all of it is skipped. */
static void message_larger_than_the_buffer(void)
{
	static uint8_t junk[100000];
	struct client_command command = {
		.command = VFU_REGION_WRITE, .payload = junk, .length = sizeof(junk)};

	T_NEED(start());
	T_EQ(client_run(&client, &command), E2BIG);
	sim_loop_advance(loop, 0);
	sim_loop_advance(loop, 0);
	T_TRUE(still_serves());
	command.flags = VFU_NO_REPLY;
	T_EQ(client_run(&client, &command), -1);
	sim_loop_advance(loop, 0);
	sim_loop_advance(loop, 0);
	T_TRUE(still_serves());
	T_EQ(fake_last->writes, 0);
	stop();
}

struct lost_row {
	const char *name;
	uint32_t claimed_size;
	int expect;
};

/* The length cannot be believed: error, then the end. The next client is served. */
static void size_out_of_bounds_ends_the_connection(void)
{
	static const struct lost_row rows[] = {
		{"size 1", 1, EINVAL},
		{"size 15", 15, EINVAL},
		{"size 2 MiB", 2u << 20, E2BIG},
		{"size 4 GiB - 1", ~0u, E2BIG},
	};
	size_t i;

	T_NEED(start());
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t info[4] = {16};
		struct client_command command = {.command = VFU_DEVICE_GET_INFO,
						 .payload = info,
						 .length = sizeof(info),
						 .claimed_size = rows[i].claimed_size};

		T_EQ_ROW(rows[i].name, client_run(&client, &command), rows[i].expect);
		T_TRUE_ROW(rows[i].name, client_is_closed(&client));
		T_TRUE_ROW(rows[i].name, strstr(line.last, "framing"));
		client_fini(&client);
		T_NEED(attach());
		T_TRUE_ROW(rows[i].name, still_serves());
	}
	stop();
}

static void hang_up_in_the_middle(void)
{
	struct doorbell d = doorbell(7);
	size_t cut;

	T_NEED(start());
	for (cut = 0; cut < sizeof(d); cut++) {
		if (cut)
			T_TRUE(client_send_bytes(&client, &d, cut));
		client_fini(&client);
		T_NEED(attach());
	}
	T_EQ(fake_last->writes, 0);
	T_EQ(fake_last->resets, sizeof(d));
	stop();
}

/* ------------------------------------------------------------ descriptors */

struct map_message {
	struct vfu_header header;
	struct vfu_dma_map map;
};

static struct map_message map_message(uint64_t address)
{
	return (struct map_message){
		.header = {9, VFU_DMA_MAP, sizeof(struct map_message), 0, 0},
		.map = {32, VFU_DMA_MAP_READ | VFU_DMA_MAP_WRITE, 0, address, 4096},
	};
}

static bool send_with_fd(const void *bytes, size_t length, int fd)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.header = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
	struct iovec iov = {(void *)bytes, length};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};

	if (fd >= 0) {
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
		msg.msg_control = &control;
		msg.msg_controllen = sizeof(control.bytes);
	}
	return sendmsg(client.fd, &msg, 0) == (ssize_t)length;
}

/* Memory behind a file is found by sim_dma_map(), memory behind the client is not. */
static bool is_direct(uint64_t address)
{
	return sim_dma_map(dev, address, 1, false);
}

/* Maps with and without a file, sent without waiting: each keeps its own descriptor. */
static void descriptors_stay_with_their_message(void)
{
	static const uint8_t with_file[] = {1, 0, 0, 1, 1, 0, 1, 0, 0, 0, 1, 1};
	int fd = memfd_create("test", MFD_CLOEXEC);
	unsigned int i, count = sizeof(with_file);

	T_NEED(start());
	T_TRUE(client_enable(&client));
	T_EQ(ftruncate(fd, 4096), 0);
	for (i = 0; i < count; i++) {
		struct map_message m = map_message(i * 0x1000);

		T_TRUE(send_with_fd(&m, sizeof(m), with_file[i] ? fd : -1));
	}
	for (i = 0; i < 2 * count; i++)
		sim_loop_advance(loop, 0);
	for (i = 0; i < count; i++) {
		T_NEED(client_reply(&client));
		T_EQ(client.header.error, 0);
		T_EQ(is_direct(i * 0x1000), with_file[i]);
	}
	close(fd);
	stop();
}

/* Header with the descriptor, body later; and body in two pieces with it on the second. */
static void descriptor_with_part_of_a_message(void)
{
	struct map_message m = map_message(0x1000);
	int fd = memfd_create("test", MFD_CLOEXEC);
	unsigned int cut;

	T_NEED(start());
	T_TRUE(client_enable(&client));
	T_EQ(ftruncate(fd, 4096), 0);
	for (cut = 1; cut < sizeof(m); cut += 9) {
		bool on_first = cut & 1;

		m = map_message(cut * 0x1000);
		T_TRUE(send_with_fd(&m, cut, on_first ? fd : -1));
		sim_loop_advance(loop, 0);
		T_TRUE(send_with_fd((uint8_t *)&m + cut, sizeof(m) - cut, on_first ? -1 : fd));
		sim_loop_advance(loop, 0);
		T_NEED(client_reply(&client));
		T_EQ(client.header.error, 0);
		T_TRUE(is_direct(cut * 0x1000));
	}
	close(fd);
	stop();
}

/* One descriptor with each byte: far more than any message may have. All are closed. */
static void descriptor_flood_leaks_nothing(void)
{
	static const uint8_t zero[200];
	struct map_message m = map_message(0x1000);
	int fd = eventfd(0, EFD_CLOEXEC);
	unsigned int i, fds;

	T_NEED(start());
	fds = client_count_fds();
	m.header.size = sizeof(m.header) + sizeof(zero);
	T_TRUE(send_with_fd(&m.header, sizeof(m.header), fd));
	for (i = 0; i < sizeof(zero); i++) {
		T_TRUE(send_with_fd(&zero[i], 1, fd));
		sim_loop_advance(loop, 0);
	}
	sim_loop_advance(loop, 0);
	T_NEED(client_reply(&client));
	T_EQ(client.header.error, EINVAL);
	T_EQ(client_count_fds(), fds);
	T_TRUE(still_serves());
	/* Hang up with some pending. */
	T_TRUE(send_with_fd(&m, 20, fd));
	client_fini(&client);
	T_EQ(client_count_fds(), fds - 2);
	close(fd);
	stop();
}

/* ------------------------------------------------------------ a client that does not read */

static void client_that_reads_late_gets_all(void)
{
	struct vfu_region_access access = {0, VFIO_PCI_CONFIG_REGION_INDEX, 4096};
	struct client_command command = {
		.command = VFU_REGION_READ, .payload = &access, .length = sizeof(access)};
	int sent = 0, taken = 0;

	T_NEED(start_with_little_room());
	while (sent < 14) {
		T_NEED(client_send(&client, &command));
		sent++;
	}
	while (client_reply(&client)) {
		T_EQ(client.header.id, 2 + taken);
		T_EQ(client.length, 16 + 4096);
		taken++;
		sim_loop_advance(loop, 0);
	}
	T_EQ(taken, sent);
	T_TRUE(still_serves());
	stop();
}

/* Always some replies behind; each tenth brings a descriptor, which must not move to another. */
static void replies_queue_over_and_over(void)
{
	struct vfu_region_access access = {0, VFIO_PCI_CONFIG_REGION_INDEX, 4096};
	struct vfu_region_info info = {.argsz = 64, .index = FAKE_MEMORY_BAR};
	struct client_command read = {
		.command = VFU_REGION_READ, .payload = &access, .length = sizeof(access)};
	struct client_command ask = {
		.command = VFU_DEVICE_GET_REGION_INFO, .payload = &info, .length = sizeof(info)};
	unsigned int sent = 0, taken = 0, fds;

	T_NEED(start_with_little_room());
	fds = client_count_fds();
	while (taken < 600) {
		while (sent < 600 && sent - taken < 14) {
			T_NEED(client_send(&client, sent % 10 ? &read : &ask));
			sent++;
		}
		T_NEED(client_reply(&client));
		T_EQ(client.header.id, 2 + taken);
		T_EQ(client.reply_fd >= 0, taken % 10 == 0);
		if (client.reply_fd >= 0)
			close(client.reply_fd);
		client.reply_fd = -1;
		taken++;
		sim_loop_advance(loop, 0);
	}
	T_EQ(client_count_fds(), fds);
	T_TRUE(still_serves());
	stop();
}

static void client_gone_before_its_reply(void)
{
	struct vfu_header ask = {1, VFU_DEVICE_GET_REGION_IO_FDS, sizeof(ask), 0, 0};
	unsigned int i;

	for (i = 0; i < 2; i++) {
		T_NEED(start());
		T_EQ(send(client.fd, &ask, sizeof(ask), 0), sizeof(ask));
		if (i)
			T_EQ(send(client.fd, &ask, sizeof(ask), 0), sizeof(ask));
		client_fini(&client);
		T_EQ(fake_last->resets, 1);
		T_NEED(attach());
		T_TRUE(still_serves());
		stop();
	}
}

static void client_that_never_reads_is_dropped(void)
{
	struct vfu_region_access access = {0, VFIO_PCI_CONFIG_REGION_INDEX, 4096};
	struct client_command command = {
		.command = VFU_REGION_READ, .payload = &access, .length = sizeof(access)};
	int i;

	T_NEED(start_with_little_room());
	for (i = 0; i < 1000; i++)
		if (!client_send(&client, &command))
			break;
	T_TRUE(i > 14 && i < 40);
	T_TRUE(strstr(line.last, "does not read"));
	client_fini(&client);
	T_NEED(attach());
	T_TRUE(still_serves());
	stop();
}

/* Replies that nobody waits for are dropped. */
static void replies_out_of_the_blue(void)
{
	struct client_command command = {.command = VFU_DMA_READ, .flags = VFU_TYPE_REPLY};
	unsigned int i;

	T_NEED(start());
	for (i = 0; i < 100; i++)
		T_EQ(client_run(&client, &command), -1);
	T_TRUE(still_serves());
	stop();
}

/* Nothing that a client does may fill the disk. */
static void log_is_limited(void)
{
	struct client_command command = {.command = 99, .flags = VFU_NO_REPLY};
	unsigned int i, lines;

	T_NEED(start());
	for (i = 0; i < 1000; i++)
		T_TRUE(client_send(&client, &command));
	lines = line.lines;
	T_TRUE(lines >= 16 && lines < 64);
	sim_loop_advance(loop, 1000000000);
	T_TRUE(client_send(&client, &command));
	T_EQ(line.lines, lines + 2);
	stop();
}

T_MAIN("sim_vfu_stream", T_CASE(message_in_pieces), T_CASE(many_messages_at_once),
       T_CASE(message_larger_than_the_buffer), T_CASE(size_out_of_bounds_ends_the_connection),
       T_CASE(hang_up_in_the_middle), T_CASE(descriptors_stay_with_their_message),
       T_CASE(descriptor_with_part_of_a_message), T_CASE(descriptor_flood_leaks_nothing),
       T_CASE(client_that_reads_late_gets_all), T_CASE(replies_queue_over_and_over),
       T_CASE(client_gone_before_its_reply), T_CASE(client_that_never_reads_is_dropped),
       T_CASE(replies_out_of_the_blue), T_CASE(log_is_limited), )
