/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the commands of the vfio-user server do. Bad ones: see test_sim_vfu_hostile.c. */
#include "tests/lib/t.h"
#include "tests/unit/sim/device/vfu_rig.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#define CONFIG	  VFIO_PCI_CONFIG_REGION_INDEX
#define NO_ANSWER -1

static struct vfu_rig rig;

#define EVENTFD (VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER)
#define NONE	(VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_TRIGGER)
#define BOOL	(VFIO_IRQ_SET_DATA_BOOL | VFIO_IRQ_SET_ACTION_TRIGGER)
#define MSIX	VFIO_PCI_MSIX_IRQ_INDEX
#define RW	(VFU_DMA_MAP_READ | VFU_DMA_MAP_WRITE)

static int make_file(void)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	return ftruncate(fd, 0x10000) ? -1 : fd;
}

/* ------------------------------------------------------------ information */

static void device_has_nine_regions_and_five_interrupts(void)
{
	static const uint32_t want[4] = {16, VFIO_DEVICE_FLAGS_PCI | VFIO_DEVICE_FLAGS_RESET, 9, 5};
	uint32_t info[4] = {16};
	struct client_command command = {
		.command = VFU_DEVICE_GET_INFO, .payload = info, .length = sizeof(info)};

	T_NEED(rig_start(&rig, NULL));
	T_EQ(client_run(&rig.client, &command), 0);
	T_EQ(rig.client.length, 16);
	T_BYTES(rig.client.payload, want, 16);
	rig_stop(&rig);
}

static int region_info(uint32_t index, uint32_t argsz, struct vfu_region_info *info)
{
	struct vfu_region_info ask = {.argsz = argsz, .index = index};
	struct client_command command = {
		.command = VFU_DEVICE_GET_REGION_INFO, .payload = &ask, .length = sizeof(ask)};
	int rc = client_run(&rig.client, &command);

	memcpy(info, rig.client.payload, sizeof(*info));
	return rc;
}

static void regions_have_the_sizes_of_the_bars(void)
{
	static const uint64_t sizes[9] = {0x4000, 0, 0x2000, 0, 0x10000, 0, 0, 4096, 0};
	struct vfu_region_info info;
	uint32_t i;

	T_NEED(rig_start(&rig, NULL));
	for (i = 0; i < 9; i++) {
		T_EQ(region_info(i, 32, &info), 0);
		T_EQ(rig.client.length, 32);
		T_EQ(info.argsz, 32);
		T_EQ(info.index, i);
		T_EQ(info.size, sizes[i]);
		T_EQ(info.flags, sizes[i] ? 3 : 0);
		/* A rule of QEMU. */
		T_TRUE(info.cap_offset >= 32);
		T_EQ(rig.client.reply_fd, -1);
	}
	rig_stop(&rig);
}

static void mappable_part_is_described_and_shared(void)
{
	struct vfu_region_info info;
	struct vfu_sparse_mmap sparse;
	uint64_t value, *map;

	T_NEED(rig_start(&rig, "mappable"));
	T_EQ(region_info(FAKE_MEMORY_BAR, 32, &info), 0);
	T_EQ(rig.client.length, 32);
	T_EQ(info.argsz, 64);
	T_EQ(region_info(FAKE_MEMORY_BAR, 64, &info), 0);
	T_EQ(rig.client.length, 64);
	T_EQ(info.flags, 15);
	memcpy(&sparse, rig.client.payload + info.cap_offset, sizeof(sparse));
	T_EQ(sparse.id, VFIO_REGION_INFO_CAP_SPARSE_MMAP);
	T_EQ(sparse.version, 1);
	T_EQ(sparse.nr_areas, 1);
	T_EQ(sparse.offset, FAKE_MEMORY_OFFSET);
	T_EQ(sparse.size, FAKE_MEMORY_LENGTH);
	T_NEED(rig.client.reply_fd >= 0);
	map = mmap(NULL, sparse.size, PROT_READ | PROT_WRITE, MAP_SHARED, rig.client.reply_fd,
		   (off_t)(info.offset + sparse.offset));
	T_NEED(map != MAP_FAILED);
	map[3] = 0x1122334455667788;
	T_BYTES((uint8_t *)sim_dev_bar_memory(rig.dev, FAKE_MEMORY_BAR) + 24, &map[3], 8);
	T_EQ(client_read(&rig.client, FAKE_MEMORY_BAR, FAKE_MEMORY_OFFSET + 24, 8, &value), 0);
	T_EQ(value, 0x1122334455667788);
	T_EQ(fake_last->reads, 0);
	T_EQ(client_write(&rig.client, FAKE_MEMORY_BAR, FAKE_MEMORY_OFFSET + 24, 4, 5), 0);
	T_EQ(map[3], 0x1122334400000005);
	T_EQ(fake_last->writes, 1);
	/* The client cannot take the file away under us. */
	T_TRUE(ftruncate(rig.client.reply_fd, 0) < 0);
	munmap(map, sparse.size);
	rig_stop(&rig);
}

static void only_msix_has_interrupts(void)
{
	static const uint32_t counts[5] = {0, 0, FAKE_VECTORS, 1, 0};
	uint32_t i;

	T_NEED(rig_start(&rig, NULL));
	for (i = 0; i < 5; i++) {
		uint32_t info[4] = {16, 0, i, 0};
		struct client_command command = {.command = VFU_DEVICE_GET_IRQ_INFO,
						 .payload = info,
						 .length = sizeof(info)};

		T_EQ(client_run(&rig.client, &command), 0);
		T_EQ(rig.client.length, 16);
		memcpy(info, rig.client.payload, sizeof(info));
		T_EQ(info[0], 16);
		T_EQ(!!(info[1] & VFIO_IRQ_INFO_EVENTFD), counts[i] > 0);
		T_EQ(info[2], i);
		T_EQ(info[3], counts[i]);
	}
	rig_stop(&rig);
}

/* ------------------------------------------------------------ registers */

static void register_accesses_reach_the_class(void)
{
	static const unsigned int sizes[] = {1, 2, 4, 8};
	uint64_t value, pattern = 0x8899aabbccddeeff;
	size_t i;

	T_NEED(rig_start(&rig, NULL));
	for (i = 0; i < 4; i++) {
		uint64_t cut = sizes[i] == 8 ? pattern : pattern & ((1ull << 8 * sizes[i]) - 1);

		T_EQ(client_write(&rig.client, 0, 0x40 + 8 * i, sizes[i], pattern), 0);
		T_EQ(rig.client.length, 16);
		T_EQ(fake_last->last_size, sizes[i]);
		T_EQ(fake_last->last_value, cut);
		T_EQ(client_read(&rig.client, 0, 0x40 + 8 * i, sizes[i], &value), 0);
		T_EQ(value, cut);
	}
	/* The last one that fits. */
	T_EQ(client_write(&rig.client, 0, FAKE_BAR0_SIZE - 8, 8, 1), 0);
	T_EQ(client_write(&rig.client, 4, 0xfffc, 4, 1), 0);
	T_EQ(fake_last->last_bar, 4);
	rig_stop(&rig);
}

static void posted_write_has_no_reply(void)
{
	struct {
		struct vfu_region_access access;
		uint64_t data;
	} write = {{0x80, 0, 8}, 77};
	struct client_command command = {.command = VFU_REGION_WRITE,
					 .flags = VFU_NO_REPLY,
					 .payload = &write,
					 .length = sizeof(write)};

	T_NEED(rig_start(&rig, NULL));
	T_EQ(client_run(&rig.client, &command), NO_ANSWER);
	T_EQ(fake_last->writes, 1);
	T_EQ(fake_last->last_value, 77);
	T_TRUE(rig_still_serves(&rig));
	rig_stop(&rig);
}

static void several_writes_in_one_message(void)
{
	struct {
		uint64_t count;
		struct vfu_region_write_one one[3];
	} multi = {3, {{8, 0, 8, {1}}, {16, 0, 4, {2}}, {4, 4, 4, {3}}}};
	struct client_command command = {
		.command = VFU_REGION_WRITE_MULTI, .payload = &multi, .length = sizeof(multi)};
	uint64_t done;

	T_NEED(rig_start(&rig, NULL));
	T_EQ(client_run(&rig.client, &command), 0);
	T_EQ(rig.client.length, 8);
	memcpy(&done, rig.client.payload, 8);
	T_EQ(done, 3);
	T_EQ(fake_last->writes, 3);
	T_EQ(fake_last->registers[1], 1);
	T_EQ(fake_last->registers[2], 2);
	T_EQ(fake_last->last_bar, 4);
	/* The second is bad: the first was done, the third was not. */
	multi.one[1].offset = 17;
	T_EQ(client_run(&rig.client, &command), EINVAL);
	T_EQ(fake_last->writes, 4);
	rig_stop(&rig);
}

static void config_space_is_read_in_one_go(void)
{
	struct vfu_region_access access = {0, CONFIG, 4096};
	struct client_command command = {
		.command = VFU_REGION_READ, .payload = &access, .length = sizeof(access)};
	uint16_t vendor;

	T_NEED(rig_start(&rig, NULL));
	T_EQ(client_run(&rig.client, &command), 0);
	T_EQ(rig.client.length, 16 + 4096);
	memcpy(&vendor, rig.client.payload + 16, 2);
	T_EQ(vendor, FAKE_VENDOR);
	rig_stop(&rig);
}

static void reset_is_as_after_power_on(void)
{
	struct client_command command = {.command = VFU_DEVICE_RESET};
	uint64_t value;

	T_NEED(rig_start(&rig, NULL));
	T_TRUE(client_enable(&rig.client));
	T_EQ(client_write(&rig.client, 0, 0x40, 8, 5), 0);
	T_EQ(client_run(&rig.client, &command), 0);
	T_EQ(fake_last->resets, 1);
	T_EQ(client_read(&rig.client, 0, 0x40, 8, &value), 0);
	T_EQ(value, 0);
	T_EQ(client_read(&rig.client, CONFIG, PCI_COMMAND, 2, &value), 0);
	T_EQ(value, 0);
	rig_stop(&rig);
}

/* ------------------------------------------------------------ interrupts */

static uint64_t eventfd_take(int fd)
{
	uint64_t count = 0;

	return read(fd, &count, sizeof(count)) == sizeof(count) ? count : 0;
}

static int irq_act(uint32_t flags, uint32_t start_at, uint32_t count, const void *bools)
{
	struct vfu_irq_set set = {
		.argsz = 20, .flags = flags, .index = MSIX, .start = start_at, .count = count};
	struct client_command command = {.command = VFU_DEVICE_SET_IRQS,
					 .payload = &set,
					 .length = sizeof(set),
					 .more = bools,
					 .more_length = bools ? count : 0};

	return client_run(&rig.client, &command);
}

static void raised_vectors_reach_eventfds(void)
{
	int fds[3];
	unsigned int i;

	T_NEED(rig_start(&rig, NULL));
	T_TRUE(client_enable(&rig.client));
	for (i = 0; i < 3; i++)
		fds[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	T_EQ(client_set_eventfds(&rig.client, 66, 3, fds), 0);
	T_EQ(client_write(&rig.client, 0, FAKE_REG_RAISE, 4, 67), 0);
	T_EQ(client_write(&rig.client, 0, FAKE_REG_RAISE, 4, 67), 0);
	T_EQ(client_write(&rig.client, 0, FAKE_REG_RAISE, 4, FAKE_VECTORS), 0);
	T_EQ(eventfd_take(fds[0]), 0);
	T_EQ(eventfd_take(fds[1]), 2);
	/* Taken away: pending until there is one again. */
	T_EQ(client_set_eventfds(&rig.client, 67, 1, NULL), 0);
	T_EQ(client_write(&rig.client, 0, FAKE_REG_RAISE, 4, 67), 0);
	T_EQ(eventfd_take(fds[1]), 0);
	T_EQ(client_set_eventfds(&rig.client, 67, 1, &fds[1]), 0);
	T_EQ(eventfd_take(fds[1]), 1);
	/* All at once. */
	T_EQ(irq_act(NONE, 0, 0, NULL), 0);
	T_EQ(client_write(&rig.client, 0, FAKE_REG_RAISE, 4, 66), 0);
	T_EQ(eventfd_take(fds[0]), 0);
	for (i = 0; i < 3; i++)
		close(fds[i]);
	rig_stop(&rig);
}

static void client_triggers_and_masks(void)
{
	static const uint8_t bools[3] = {1, 0, 255};
	int fds[3];
	unsigned int i;

	T_NEED(rig_start(&rig, NULL));
	T_TRUE(client_enable(&rig.client));
	for (i = 0; i < 3; i++)
		fds[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	T_EQ(client_set_eventfds(&rig.client, 0, 3, fds), 0);
	T_EQ(irq_act(NONE, 0, 3, NULL), 0);
	for (i = 0; i < 3; i++)
		T_EQ(eventfd_take(fds[i]), 1);
	T_EQ(irq_act(BOOL, 0, 3, bools), 0);
	for (i = 0; i < 3; i++)
		T_EQ(eventfd_take(fds[i]), !!bools[i]);
	T_EQ(irq_act(VFIO_IRQ_SET_DATA_BOOL | VFIO_IRQ_SET_ACTION_MASK, 0, 3, bools), 0);
	T_EQ(irq_act(NONE, 0, 3, NULL), 0);
	for (i = 0; i < 3; i++)
		T_EQ(eventfd_take(fds[i]), !bools[i]);
	T_EQ(irq_act(VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_UNMASK, 0, 3, NULL), 0);
	for (i = 0; i < 3; i++)
		T_EQ(eventfd_take(fds[i]), !!bools[i]);
	for (i = 0; i < 3; i++)
		close(fds[i]);
	rig_stop(&rig);
}

/* A full eventfd would block a careless server for ever. */
static void full_eventfd_does_not_block(void)
{
	const uint64_t full = UINT64_MAX - 1;
	int fd = eventfd(0, EFD_CLOEXEC);

	T_NEED(rig_start(&rig, NULL));
	T_TRUE(client_enable(&rig.client));
	T_EQ(write(fd, &full, sizeof(full)), 8);
	T_EQ(client_set_eventfds(&rig.client, 0, 1, &fd), 0);
	T_EQ(client_write(&rig.client, 0, FAKE_REG_RAISE, 4, 0), 0);
	T_TRUE(rig_still_serves(&rig));
	close(fd);
	rig_stop(&rig);
}

static void error_interrupt_takes_an_eventfd(void)
{
	struct vfu_irq_set set = {20, EVENTFD, VFIO_PCI_ERR_IRQ_INDEX, 0, 1};
	int fd = eventfd(0, EFD_CLOEXEC);
	struct client_command command = {.command = VFU_DEVICE_SET_IRQS,
					 .payload = &set,
					 .length = sizeof(set),
					 .fds = &fd,
					 .fd_count = 1};
	unsigned int fds;

	T_NEED(rig_start(&rig, NULL));
	fds = client_count_fds();
	T_EQ(client_run(&rig.client, &command), 0);
	T_EQ(client_count_fds(), fds);
	close(fd);
	rig_stop(&rig);
}

/* ------------------------------------------------------------ guest memory */

static int dma(uint64_t direction, uint64_t address, uint64_t *data)
{
	uint64_t status;

	if (client_write(&rig.client, 0, FAKE_REG_ADDRESS, 8, address) ||
	    client_write(&rig.client, 0, FAKE_REG_DATA, 8, *data) ||
	    client_write(&rig.client, 0, FAKE_REG_DMA, 8, direction) ||
	    client_read(&rig.client, 0, FAKE_REG_DATA, 8, data) ||
	    client_read(&rig.client, 0, FAKE_REG_STATUS, 8, &status))
		return -1;
	return (int)status;
}

static void dma_reaches_the_file(void)
{
	struct vfu_dma_map map = {32, RW, 0x1000, 0x40000000, 0x2000};
	struct vfu_dma_unmap unmap = {24, 0, 0x40000000, 0x2000};
	struct client_command command = {
		.command = VFU_DMA_UNMAP, .payload = &unmap, .length = sizeof(unmap)};
	int fd = make_file();
	uint64_t value = 42, *memory;

	T_NEED(rig_start(&rig, NULL));
	memory = mmap(NULL, 0x10000, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	T_NEED(memory != MAP_FAILED);
	T_EQ(client_dma_map(&rig.client, &map, fd), 0);
	T_EQ(rig.client.length, 0);
	/* Not before the driver has enabled it. */
	T_EQ(dma(2, 0x40000008, &value), EFAULT);
	T_TRUE(client_enable(&rig.client));
	T_EQ(dma(2, 0x40000008, &value), 0);
	T_EQ(memory[0x1008 / 8], 42);
	memory[0x1010 / 8] = 43;
	T_EQ(dma(1, 0x40000010, &value), 0);
	T_EQ(value, 43);
	T_EQ(dma(1, 0x40001ffc, &value), EFAULT);
	T_EQ(dma(1, 0x3ffffffc, &value), EFAULT);
	T_EQ(dma(1, ~0ull - 3, &value), EFAULT);
	T_EQ(client_run(&rig.client, &command), 0);
	T_EQ(rig.client.length, 24);
	T_BYTES(rig.client.payload, &unmap, 24);
	T_EQ(dma(1, 0x40000010, &value), EFAULT);
	munmap(memory, 0x10000);
	close(fd);
	rig_stop(&rig);
}

static void read_only_memory_is_not_written(void)
{
	struct vfu_dma_map map = {32, VFU_DMA_MAP_READ, 0, 0, 0x1000};
	int fd = make_file();
	uint64_t value = 42;

	T_NEED(rig_start(&rig, NULL));
	T_TRUE(client_enable(&rig.client));
	T_EQ(client_dma_map(&rig.client, &map, fd), 0);
	T_EQ(dma(2, 0, &value), EFAULT);
	T_EQ(dma(1, 0, &value), 0);
	T_EQ(value, 0);
	close(fd);
	rig_stop(&rig);
}

static void unmap_all(void)
{
	struct vfu_dma_unmap unmap = {24, VFU_DMA_UNMAP_ALL, 0, 0};
	struct client_command command = {
		.command = VFU_DMA_UNMAP, .payload = &unmap, .length = sizeof(unmap)};
	struct vfu_dma_map map = {32, RW, 0, 0, 0x1000};
	int fd = make_file();
	unsigned int i;

	T_NEED(rig_start(&rig, NULL));
	for (i = 0; i < 40; i++) {
		map.address = (39 - i) * 0x3000;
		T_EQ(client_dma_map(&rig.client, &map, i & 1 ? fd : -1), 0);
	}
	T_EQ(client_run(&rig.client, &command), 0);
	for (i = 0; i < 40; i++) {
		map.address = i * 0x3000;
		T_EQ(client_dma_map(&rig.client, &map, -1), 0);
	}
	close(fd);
	rig_stop(&rig);
}

/* The client cuts its file short under the server. */
static void truncated_memory_is_survived(void)
{
	struct vfu_dma_map map = {32, RW, 0, 0, 0x10000};
	int fd = make_file();
	uint64_t value = 42;

	T_NEED(rig_start(&rig, NULL));
	T_TRUE(client_enable(&rig.client));
	T_EQ(client_dma_map(&rig.client, &map, fd), 0);
	T_EQ(dma(2, 0x8000, &value), 0);
	T_EQ(ftruncate(fd, 0), 0);
	T_EQ(dma(1, 0x8000, &value), EFAULT);
	T_TRUE(strstr(rig.line.last, "cut short"));
	T_EQ(dma(2, 0x1000, &value), EFAULT);
	T_TRUE(rig_still_serves(&rig));
	/* The next client starts afresh. */
	client_fini(&rig.client);
	T_NEED(!client_init(&rig.client, rig.loop, rig.dev) && client_negotiate(&rig.client));
	T_EQ(ftruncate(fd, 0x10000), 0);
	T_TRUE(client_enable(&rig.client));
	T_EQ(client_dma_map(&rig.client, &map, fd), 0);
	T_EQ(dma(2, 0x8000, &value), 0);
	close(fd);
	rig_stop(&rig);
}

T_MAIN("sim_vfu_command",

       T_CASE(device_has_nine_regions_and_five_interrupts),
       T_CASE(regions_have_the_sizes_of_the_bars), T_CASE(mappable_part_is_described_and_shared),
       T_CASE(only_msix_has_interrupts), T_CASE(register_accesses_reach_the_class),
       T_CASE(posted_write_has_no_reply), T_CASE(several_writes_in_one_message),
       T_CASE(config_space_is_read_in_one_go), T_CASE(reset_is_as_after_power_on),
       T_CASE(raised_vectors_reach_eventfds), T_CASE(client_triggers_and_masks),
       T_CASE(full_eventfd_does_not_block), T_CASE(error_interrupt_takes_an_eventfd),
       T_CASE(dma_reaches_the_file), T_CASE(read_only_memory_is_not_written), T_CASE(unmap_all),
       T_CASE(truncated_memory_is_survived), )
