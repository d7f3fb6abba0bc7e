/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Life of the vfio-user server: listening, clients that come and go, several devices. */
#include "tests/lib/t.h"
#include "tests/unit/sim/device/fake_nic.h"
#include "tests/unit/sim/device/vfu_client.h"

#include <errno.h>
#include <linux/vfio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define CONFIG VFIO_PCI_CONFIG_REGION_INDEX

static struct sim_loop *loop;
static struct fake_log line;
static char folder[64];

static bool start(void)
{
	memset(&line, 0, sizeof(line));
	snprintf(folder, sizeof(folder), "/tmp/anynic-test-XXXXXX");
	return !sim_loop_create(true, &loop) && mkdtemp(folder);
}

static void stop(void)
{
	sim_loop_destroy(loop);
	/* Fails if a socket was left behind. */
	T_EQ(rmdir(folder), 0);
}

static const char *path_of(const char *name)
{
	static char path[100];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static bool serves(struct vfu_client *client)
{
	uint64_t value;

	return !client_read(client, CONFIG, 0, 2, &value) && value == FAKE_VENDOR;
}

/* A client that leaves a descriptor of each kind behind. */
static bool use_all(struct vfu_client *client, int memory, int event)
{
	struct vfu_dma_map map = {32, VFU_DMA_MAP_READ | VFU_DMA_MAP_WRITE, 0, 0x1000, 0x1000};

	return client_negotiate(client) && client_enable(client) &&
	       !client_dma_map(client, &map, memory) &&
	       !client_set_eventfds(client, 5, 1, &event) && serves(client);
}

static void clients_come_and_go(void)
{
	int memory = memfd_create("test", MFD_CLOEXEC), event = eventfd(0, EFD_CLOEXEC);
	struct vfu_client client;
	struct sim_dev *dev;
	unsigned int i, fds = 0;

	T_NEED(start());
	T_EQ(ftruncate(memory, 0x1000), 0);
	dev = fake_dev_create(loop, "mappable", &line);
	T_NEED(dev);
	T_EQ(sim_vfu_listen(dev, path_of("a")), 0);
	T_EQ(sim_vfu_listen(dev, path_of("b")), -EALREADY);
	for (i = 0; i < 100; i++) {
		T_NEED(!client_connect(&client, loop, path_of("a")));
		T_NEED(use_all(&client, memory, event));
		T_TRUE(sim_dma_map(dev, 0x1000, 8, true));
		client_fini(&client);
		/* Gone, and all it brought with it. */
		T_EQ(fake_last->resets, i + 1);
		T_TRUE(!sim_dma_map(dev, 0x1000, 8, true));
		if (!i)
			fds = client_count_fds();
		T_EQ(client_count_fds(), fds);
	}
	sim_dev_destroy(dev);
	close(memory);
	close(event);
	stop();
}

/* The second client waits its turn, and gets it. */
static void one_client_at_a_time(void)
{
	struct vfu_client first, second;
	struct sim_dev *dev;

	T_NEED(start());
	dev = fake_dev_create(loop, NULL, &line);
	T_NEED(dev && !sim_vfu_listen(dev, path_of("a")));
	T_NEED(!client_connect(&first, loop, path_of("a")));
	T_NEED(!client_connect(&second, loop, path_of("a")));
	T_TRUE(client_negotiate(&first));
	T_TRUE(!client_negotiate(&second));
	T_TRUE(serves(&first));
	client_fini(&first);
	sim_loop_advance(loop, 0);
	T_TRUE(client_reply(&second));
	T_TRUE(serves(&second));
	client_fini(&second);
	sim_dev_destroy(dev);
	stop();
}

static void attach_while_connected_is_refused(void)
{
	struct vfu_client first, second;
	struct sim_dev *dev;
	unsigned int fds;

	T_NEED(start());
	dev = fake_dev_create(loop, NULL, &line);
	T_NEED(dev && !client_init(&first, loop, dev));
	fds = client_count_fds();
	T_EQ(client_init(&second, loop, dev), -EBUSY);
	T_EQ(client_count_fds(), fds);
	T_TRUE(client_negotiate(&first));
	client_fini(&first);
	sim_dev_destroy(dev);
	stop();
}

static void several_devices_in_one_process(void)
{
	enum { COUNT = 5 };
	struct vfu_client client[COUNT];
	struct fake_nic *nic[COUNT];
	struct sim_dev *dev[COUNT];
	unsigned int i;

	T_NEED(start());
	for (i = 0; i < COUNT; i++) {
		char name[8];

		snprintf(name, sizeof(name), "%u", i);
		dev[i] = fake_dev_create(loop, NULL, &line);
		T_NEED(dev[i] && !sim_vfu_listen(dev[i], path_of(name)));
		nic[i] = fake_last;
		T_NEED(!client_connect(&client[i], loop, path_of(name)));
	}
	for (i = 0; i < COUNT; i++) {
		T_TRUE(client_negotiate(&client[i]));
		T_EQ(client_write(&client[i], 0, 0x200, 4, i), 0);
	}
	client_fini(&client[2]);
	for (i = 0; i < COUNT; i++) {
		T_EQ(nic[i]->writes, 1);
		T_EQ(nic[i]->last_value, i);
		T_EQ(nic[i]->resets, i == 2);
		if (i != 2)
			T_TRUE(serves(&client[i]));
	}
	for (i = 0; i < COUNT; i++) {
		/* Half of them with the client still there. */
		if (i & 1)
			client_fini(&client[i]);
		sim_dev_destroy(dev[i]);
		if (!(i & 1)) {
			T_TRUE(i == 2 || client_is_closed(&client[i]));
			client_fini(&client[i]);
		}
	}
	stop();
}

static void paths_that_cannot_be_used(void)
{
	char longest[200];
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct sim_dev *dev, *other;
	unsigned int fds;
	int fd;

	T_NEED(start());
	dev = fake_dev_create(loop, NULL, &line);
	other = fake_dev_create(loop, NULL, &line);
	T_NEED(dev && other);
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = 0;
	T_EQ(sim_vfu_listen(dev, longest), -ENAMETOOLONG);
	T_EQ(sim_vfu_listen(dev, path_of("no/such")), -ENOENT);
	/* A dead process left its socket. */
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path_of("a"));
	T_EQ(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	close(fd);
	fds = client_count_fds();
	T_EQ(sim_vfu_listen(dev, path_of("a")), 0);
	/* A living one is not pushed aside. */
	T_EQ(sim_vfu_listen(other, path_of("a")), -EADDRINUSE);
	T_EQ(client_count_fds(), fds + 1);
	sim_dev_destroy(other);
	sim_dev_destroy(dev);
	stop();
}

/* What was in guest memory or pending does not reach the next guest. */
static void nothing_passes_from_guest_to_guest(void)
{
	struct vfu_client client;
	struct sim_dev *dev;
	int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	uint64_t value;

	T_NEED(start());
	dev = fake_dev_create(loop, "mappable", &line);
	T_NEED(dev && !client_init(&client, loop, dev));
	T_TRUE(client_negotiate(&client));
	T_EQ(client_write(&client, FAKE_MEMORY_BAR, FAKE_MEMORY_OFFSET, 8, 99), 0);
	T_EQ(client_write(&client, 0, 0x80, 8, 99), 0);
	T_EQ(client_write(&client, FAKE_MSIX_BAR, 0, 8, 99), 0);
	T_EQ(client_write(&client, 0, FAKE_REG_RAISE, 4, 5), 0);
	client_fini(&client);
	T_NEED(!client_init(&client, loop, dev));
	T_TRUE(client_negotiate(&client) && client_enable(&client));
	T_EQ(client_read(&client, FAKE_MEMORY_BAR, FAKE_MEMORY_OFFSET, 8, &value), 0);
	T_EQ(value, 0);
	T_EQ(client_read(&client, 0, 0x80, 8, &value), 0);
	T_EQ(value, 0);
	T_EQ(client_read(&client, FAKE_MSIX_BAR, 0, 8, &value), 0);
	T_EQ(value, 0);
	T_EQ(client_set_eventfds(&client, 5, 1, &event), 0);
	T_TRUE(read(event, &value, sizeof(value)) < 0);
	client_fini(&client);
	sim_dev_destroy(dev);
	close(event);
	stop();
}

T_MAIN("sim_vfu", T_CASE(clients_come_and_go), T_CASE(one_client_at_a_time),
       T_CASE(attach_while_connected_is_refused), T_CASE(several_devices_in_one_process),
       T_CASE(paths_that_cannot_be_used), T_CASE(nothing_passes_from_guest_to_guest), )
