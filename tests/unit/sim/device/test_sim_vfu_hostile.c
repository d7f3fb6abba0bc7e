/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The vfio-user server against a hostile client: each row is a message and its
 * exact answer; then a good message must still be served, with no descriptor
 * left behind.
 */
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

/* ------------------------------------------------------------ malformed messages */

struct hostile {
	const char *name;
	uint16_t command;
	uint32_t flags;
	uint16_t length; /* of the payload */
	uint16_t fds;	 /* eventfds that come along */
	union {
		uint8_t bytes[64];
		uint32_t words[16];
		uint64_t quads[8];
		struct vfu_dma_map map;
		struct vfu_dma_unmap unmap;
		struct vfu_region_access access;
	};
	int expect;
};

#define EVENTFD (VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER)
#define NONE	(VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_TRIGGER)
#define BOOL	(VFIO_IRQ_SET_DATA_BOOL | VFIO_IRQ_SET_ACTION_TRIGGER)
#define MSIX	VFIO_PCI_MSIX_IRQ_INDEX
#define RW	(VFU_DMA_MAP_READ | VFU_DMA_MAP_WRITE)
#define MEMFD	0x8000u /* in fds: that many memory files of 64 KiB instead */

static const struct hostile hostile[] = {
	{"command 0", 0, 0, 0, 0, {{0}}, EINVAL},
	{"command unknown", VFU_COMMANDS, 0, 0, 0, {{0}}, EINVAL},
	{"command 65535", 65535, 0, 8, 0, {{0}}, EINVAL},
	{"type unknown", VFU_DEVICE_GET_INFO, 2, 16, 0, {.words = {16}}, EINVAL},
	{"reply flag set", VFU_DEVICE_GET_INFO, VFU_TYPE_REPLY, 16, 0, {.words = {16}}, NO_ANSWER},
	{"no reply wanted", VFU_DEVICE_GET_INFO, VFU_NO_REPLY, 16, 0, {{0}}, NO_ANSWER},
	{"second negotiation", VFU_VERSION, 0, 4, 0, {{0}}, EINVAL},
	{"version cut short", VFU_VERSION, 0, 3, 0, {{0}}, EINVAL},
	{"DMA read from client", VFU_DMA_READ, 0, 16, 0, {.quads = {0, 8}}, EINVAL},
	{"DMA write from client", VFU_DMA_WRITE, 0, 24, 0, {.quads = {0, 8}}, EINVAL},
	{"dirty pages", VFU_DIRTY_PAGES, 0, 8, 0, {{0}}, EOPNOTSUPP},
	{"device feature", VFU_DEVICE_FEATURE, 0, 8, 0, {{0}}, EOPNOTSUPP},
	{"migration read", VFU_MIG_DATA_READ, 0, 8, 0, {{0}}, EOPNOTSUPP},
	{"migration write", VFU_MIG_DATA_WRITE, 0, 8, 0, {{0}}, EOPNOTSUPP},
	{"region io fds", VFU_DEVICE_GET_REGION_IO_FDS, 0, 16, 0, {.words = {16}}, EOPNOTSUPP},
	{"reset with payload", VFU_DEVICE_RESET, 0, 4, 0, {{0}}, EINVAL},

	{"info short", VFU_DEVICE_GET_INFO, 0, 12, 0, {.words = {16}}, EINVAL},
	{"info long", VFU_DEVICE_GET_INFO, 0, 20, 0, {.words = {16}}, EINVAL},
	{"info argsz", VFU_DEVICE_GET_INFO, 0, 16, 0, {.words = {15}}, EINVAL},
	{"region argsz", VFU_DEVICE_GET_REGION_INFO, 0, 32, 0, {.words = {31}}, EINVAL},
	{"region index", VFU_DEVICE_GET_REGION_INFO, 0, 32, 0, {.words = {32, 0, 9}}, EINVAL},
	{"region short", VFU_DEVICE_GET_REGION_INFO, 0, 31, 0, {.words = {32}}, EINVAL},
	{"irq argsz", VFU_DEVICE_GET_IRQ_INFO, 0, 16, 0, {.words = {8}}, EINVAL},
	{"irq index", VFU_DEVICE_GET_IRQ_INFO, 0, 16, 0, {.words = {16, 0, 5}}, EINVAL},

	{"read region 6", VFU_REGION_READ, 0, 16, 0, {.access = {0, 6, 4}}, EINVAL},
	{"read region 9", VFU_REGION_READ, 0, 16, 0, {.access = {0, 9, 4}}, EINVAL},
	{"read region -1", VFU_REGION_READ, 0, 16, 0, {.access = {0, ~0u, 4}}, EINVAL},
	{"read absent BAR", VFU_REGION_READ, 0, 16, 0, {.access = {0, 1, 4}}, EINVAL},
	{"read nothing", VFU_REGION_READ, 0, 16, 0, {.access = {0, 0, 0}}, EINVAL},
	{"read 3 bytes", VFU_REGION_READ, 0, 16, 0, {.access = {0, 0, 3}}, EINVAL},
	{"read 16 bytes", VFU_REGION_READ, 0, 16, 0, {.access = {0, 0, 16}}, EINVAL},
	{"read unaligned", VFU_REGION_READ, 0, 16, 0, {.access = {2, 0, 4}}, EINVAL},
	{"read at end", VFU_REGION_READ, 0, 16, 0, {.access = {0x4000, 0, 4}}, EINVAL},
	{"read wraps", VFU_REGION_READ, 0, 16, 0, {.access = {~0ull - 3, 0, 4}}, EINVAL},
	{"read huge", VFU_REGION_READ, 0, 16, 0, {.access = {0, 0, ~0u}}, EINVAL},
	{"read short", VFU_REGION_READ, 0, 15, 0, {.access = {0, 0, 4}}, EINVAL},
	{"read with data", VFU_REGION_READ, 0, 20, 0, {.access = {0, 0, 4}}, EINVAL},
	{"config nothing", VFU_REGION_READ, 0, 16, 0, {.access = {0, CONFIG, 0}}, EINVAL},
	{"config over end", VFU_REGION_READ, 0, 16, 0, {.access = {1, CONFIG, 4096}}, EINVAL},
	{"config huge", VFU_REGION_READ, 0, 16, 0, {.access = {0, CONFIG, ~0u}}, EINVAL},
	{"config wraps", VFU_REGION_READ, 0, 16, 0, {.access = {~0ull, CONFIG, 4}}, EINVAL},
	{"write less than said", VFU_REGION_WRITE, 0, 18, 0, {.access = {0, 0, 4}}, EINVAL},
	{"write more than said", VFU_REGION_WRITE, 0, 24, 0, {.access = {0, 0, 4}}, EINVAL},
	{"write count wraps", VFU_REGION_WRITE, 0, 20, 0, {.access = {0, 0, ~0u}}, EINVAL},
	{"write 12 bytes", VFU_REGION_WRITE, 0, 28, 0, {.access = {0, 0, 12}}, EINVAL},
	{"write unaligned", VFU_REGION_WRITE, 0, 24, 0, {.access = {4, 0, 8}}, EINVAL},
	{"write at end", VFU_REGION_WRITE, 0, 20, 0, {.access = {0x4000, 0, 4}}, EINVAL},
	{"write bad, posted",
	 VFU_REGION_WRITE,
	 VFU_NO_REPLY,
	 20,
	 0,
	 {.access = {1, 0, 4}},
	 NO_ANSWER},
	{"multi of none", VFU_REGION_WRITE_MULTI, 0, 8, 0, {.quads = {0}}, EINVAL},
	{"multi short", VFU_REGION_WRITE_MULTI, 0, 4, 0, {.quads = {1}}, EINVAL},
	{"multi fewer", VFU_REGION_WRITE_MULTI, 0, 32, 0, {.quads = {2}}, EINVAL},
	{"multi more", VFU_REGION_WRITE_MULTI, 0, 56, 0, {.quads = {1}}, EINVAL},
	{"multi wraps", VFU_REGION_WRITE_MULTI, 0, 8, 0, {.quads = {1ull << 61}}, EINVAL},
	{"multi 9 bytes", VFU_REGION_WRITE_MULTI, 0, 32, 0, {.quads = {1, 0, 9ull << 32}}, EINVAL},
	{"multi unaligned",
	 VFU_REGION_WRITE_MULTI,
	 0,
	 32,
	 0,
	 {.quads = {1, 2, 4ull << 32}},
	 EINVAL},

	{"irq short", VFU_DEVICE_SET_IRQS, 0, 16, 0, {.words = {20, NONE, MSIX}}, EINVAL},
	{"irq set argsz", VFU_DEVICE_SET_IRQS, 0, 20, 0, {.words = {19, NONE, MSIX}}, EINVAL},
	{"irq set index", VFU_DEVICE_SET_IRQS, 0, 20, 0, {.words = {20, NONE, 5}}, EINVAL},
	{"irq no data",
	 VFU_DEVICE_SET_IRQS,
	 0,
	 20,
	 0,
	 {.words = {20, VFIO_IRQ_SET_ACTION_TRIGGER, MSIX, 0, 1}},
	 EINVAL},
	{"irq no action",
	 VFU_DEVICE_SET_IRQS,
	 0,
	 20,
	 0,
	 {.words = {20, VFIO_IRQ_SET_DATA_NONE, MSIX, 0, 1}},
	 EINVAL},
	{"irq two data",
	 VFU_DEVICE_SET_IRQS,
	 0,
	 20,
	 0,
	 {.words = {20, NONE | 2, MSIX, 0, 1}},
	 EINVAL},
	{"irq two actions",
	 VFU_DEVICE_SET_IRQS,
	 0,
	 20,
	 0,
	 {.words = {20, NONE | 8, MSIX, 0, 1}},
	 EINVAL},
	{"irq unknown flag",
	 VFU_DEVICE_SET_IRQS,
	 0,
	 20,
	 0,
	 {.words = {20, NONE | 64, MSIX, 0, 1}},
	 EINVAL},
	{"irq start", VFU_DEVICE_SET_IRQS, 0, 20, 0, {.words = {20, NONE, MSIX, 70, 1}}, EINVAL},
	{"irq count", VFU_DEVICE_SET_IRQS, 0, 20, 0, {.words = {20, NONE, MSIX, 0, 71}}, EINVAL},
	{"irq wraps", VFU_DEVICE_SET_IRQS, 0, 20, 0, {.words = {20, NONE, MSIX, 2, ~0u}}, EINVAL},
	{"irq none of some",
	 VFU_DEVICE_SET_IRQS,
	 0,
	 20,
	 0,
	 {.words = {20, NONE, MSIX, 1, 0}},
	 EINVAL},
	{"irq INTx", VFU_DEVICE_SET_IRQS, 0, 20, 0, {.words = {20, NONE, 0, 0, 1}}, EINVAL},
	{"irq bools missing",
	 VFU_DEVICE_SET_IRQS,
	 0,
	 20,
	 0,
	 {.words = {20, BOOL, MSIX, 0, 1}},
	 EINVAL},
	{"irq bools too many",
	 VFU_DEVICE_SET_IRQS,
	 0,
	 24,
	 0,
	 {.words = {24, BOOL, MSIX, 0, 1}},
	 EINVAL},
	{"irq fds missing",
	 VFU_DEVICE_SET_IRQS,
	 0,
	 20,
	 2,
	 {.words = {20, EVENTFD, MSIX, 0, 3}},
	 EINVAL},
	{"irq fds too many",
	 VFU_DEVICE_SET_IRQS,
	 0,
	 20,
	 3,
	 {.words = {20, EVENTFD, MSIX, 0, 2}},
	 EINVAL},
	{"irq fds over limit",
	 VFU_DEVICE_SET_IRQS,
	 0,
	 20,
	 17,
	 {.words = {20, EVENTFD, MSIX, 0, 17}},
	 EINVAL},
	{"irq fds of none",
	 VFU_DEVICE_SET_IRQS,
	 0,
	 20,
	 1,
	 {.words = {20, NONE, MSIX, 0, 1}},
	 EINVAL},
	{"irq no eventfd",
	 VFU_DEVICE_SET_IRQS,
	 0,
	 20,
	 MEMFD | 1,
	 {.words = {20, EVENTFD, MSIX, 0, 1}},
	 EINVAL},
	{"irq told of masks",
	 VFU_DEVICE_SET_IRQS,
	 0,
	 20,
	 1,
	 {.words = {20, VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_MASK, MSIX, 0, 1}},
	 EOPNOTSUPP},

	{"map short", VFU_DMA_MAP, 0, 31, 0, {.map = {32, RW, 0, 0, 4096}}, EINVAL},
	{"map long", VFU_DMA_MAP, 0, 40, 0, {.map = {40, RW, 0, 0, 4096}}, EINVAL},
	{"map argsz", VFU_DMA_MAP, 0, 32, 0, {.map = {31, RW, 0, 0, 4096}}, EINVAL},
	{"map no rights", VFU_DMA_MAP, 0, 32, 0, {.map = {32, 0, 0, 0, 4096}}, EINVAL},
	{"map unknown flag", VFU_DMA_MAP, 0, 32, 0, {.map = {32, RW | 8, 0, 0, 4096}}, EINVAL},
	{"map empty", VFU_DMA_MAP, 0, 32, 0, {.map = {32, RW, 0, 0x100000, 0}}, EINVAL},
	{"map wraps", VFU_DMA_MAP, 0, 32, 0, {.map = {32, RW, 0, ~0xfffull, 8192}}, EINVAL},
	{"map address", VFU_DMA_MAP, 0, 32, 0, {.map = {32, RW, 0, 0x100800, 4096}}, EINVAL},
	{"map size", VFU_DMA_MAP, 0, 32, 0, {.map = {32, RW, 0, 0x100000, 2048}}, EINVAL},
	{"map over", VFU_DMA_MAP, 0, 32, 0, {.map = {32, RW, 0, 0x2000, 4096}}, EEXIST},
	{"map into", VFU_DMA_MAP, 0, 32, 0, {.map = {32, RW, 0, 0, 0x3000}}, EEXIST},
	{"map around", VFU_DMA_MAP, 0, 32, 0, {.map = {32, RW, 0, 0, 0x100000}}, EEXIST},
	{"map tail", VFU_DMA_MAP, 0, 32, 0, {.map = {32, RW, 0, 0x3000, 0x10000}}, EEXIST},
	{"map two fds",
	 VFU_DMA_MAP,
	 0,
	 32,
	 MEMFD | 2,
	 {.map = {32, RW, 0, 0x100000, 4096}},
	 EINVAL},
	{"map eventfd", VFU_DMA_MAP, 0, 32, 1, {.map = {32, RW, 0, 0x100000, 4096}}, EINVAL},
	{"map over file",
	 VFU_DMA_MAP,
	 0,
	 32,
	 MEMFD | 1,
	 {.map = {32, RW, 0, 0x2000, 4096}},
	 EEXIST},
	{"map past file",
	 VFU_DMA_MAP,
	 0,
	 32,
	 MEMFD | 1,
	 {.map = {32, RW, 0, 0x100000, 0x11000}},
	 EINVAL},
	{"map offset",
	 VFU_DMA_MAP,
	 0,
	 32,
	 MEMFD | 1,
	 {.map = {32, RW, 0x10000, 0x100000, 4096}},
	 EINVAL},
	{"map offset unaligned",
	 VFU_DMA_MAP,
	 0,
	 32,
	 MEMFD | 1,
	 {.map = {32, RW, 1, 0x100000, 4096}},
	 EINVAL},
	{"map offset wraps",
	 VFU_DMA_MAP,
	 0,
	 32,
	 MEMFD | 1,
	 {.map = {32, RW, ~0xfffull, 0x100000, 0x2000}},
	 EINVAL},
	{"map huge file",
	 VFU_DMA_MAP,
	 0,
	 32,
	 MEMFD | 1,
	 {.map = {32, RW, 0, 0x100000, 1ull << 62}},
	 EINVAL},
	{"unmap short", VFU_DMA_UNMAP, 0, 20, 0, {.unmap = {24, 0, 0x1000, 0x3000}}, EINVAL},
	{"unmap long", VFU_DMA_UNMAP, 0, 40, 0, {.unmap = {24, 0, 0x1000, 0x3000}}, EINVAL},
	{"unmap argsz", VFU_DMA_UNMAP, 0, 24, 0, {.unmap = {23, 0, 0x1000, 0x3000}}, EINVAL},
	{"unmap flag", VFU_DMA_UNMAP, 0, 24, 0, {.unmap = {24, 4, 0x1000, 0x3000}}, EINVAL},
	{"unmap bitmap", VFU_DMA_UNMAP, 0, 40, 0, {.unmap = {40, 1, 0x1000, 0x3000}}, EOPNOTSUPP},
	{"unmap part", VFU_DMA_UNMAP, 0, 24, 0, {.unmap = {24, 0, 0x1000, 0x1000}}, EINVAL},
	{"unmap tail", VFU_DMA_UNMAP, 0, 24, 0, {.unmap = {24, 0, 0x3000, 0x1000}}, EINVAL},
	{"unmap inside", VFU_DMA_UNMAP, 0, 24, 0, {.unmap = {24, 0, 0x2000, 0x1000}}, EINVAL},
	{"unmap nothing", VFU_DMA_UNMAP, 0, 24, 0, {.unmap = {24, 0, 0x1000, 0}}, EINVAL},
	{"unmap wraps", VFU_DMA_UNMAP, 0, 24, 0, {.unmap = {24, 0, ~0xfffull, 0x2000}}, EINVAL},
	{"unmap absent", VFU_DMA_UNMAP, 0, 24, 0, {.unmap = {24, 0, 0x900000, 0x1000}}, 0},
	{"unmap all of some", VFU_DMA_UNMAP, 0, 24, 0, {.unmap = {24, 2, 0x1000, 0x3000}}, EINVAL},
	{"fds where none belong", VFU_DEVICE_GET_INFO, 0, 16, 5, {.words = {16}}, 0},
	{"fds over all limits", VFU_DEVICE_GET_INFO, 0, 16, 40, {.words = {16}}, 0},
};

static int make_fd(bool memory)
{
	int fd = memory ? memfd_create("test", MFD_CLOEXEC) : eventfd(0, EFD_CLOEXEC);

	if (memory && ftruncate(fd, 0x10000))
		return -1;
	return fd;
}

static void run_hostile(const struct hostile *row)
{
	unsigned int i, count = row->fds & ~MEMFD;
	int fds[64];
	struct client_command command = {
		.command = row->command,
		.flags = row->flags,
		.payload = row->bytes,
		.length = row->length,
		.fds = fds,
		.fd_count = count,
	};

	for (i = 0; i < count; i++)
		fds[i] = make_fd(row->fds & MEMFD);
	T_EQ_ROW(row->name, client_run(&rig.client, &command), row->expect);
	if (row->expect > 0)
		T_EQ_ROW(row->name, rig.client.length, 0);
	for (i = 0; i < count; i++)
		close(fds[i]);
	T_TRUE_ROW(row->name, rig_still_serves(&rig));
}

static void hostile_messages_are_refused(void)
{
	struct vfu_dma_map map = {32, RW, 0, 0x1000, 0x3000};
	unsigned int fds;
	size_t i;

	T_NEED(rig_start(&rig, NULL));
	T_EQ(client_dma_map(&rig.client, &map, -1), 0);
	for (i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		fds = client_count_fds();
		run_hostile(&hostile[i]);
		T_EQ_ROW(hostile[i].name, client_count_fds(), fds);
	}
	T_EQ(fake_last->reads, 0);
	T_EQ(fake_last->writes, 0);
	rig_stop(&rig);
}

static void commands_before_negotiation_are_refused(void)
{
	struct vfu_dma_map map = {32, RW, 0, 0x1000, 0x3000};
	uint64_t value;

	memset(&rig.line, 0, sizeof(rig.line));
	T_NEED(!sim_loop_create(true, &rig.loop));
	rig.dev = fake_dev_create(rig.loop, NULL, &rig.line);
	T_NEED(rig.dev && !client_init(&rig.client, rig.loop, rig.dev));
	T_EQ(client_read(&rig.client, CONFIG, 0, 4, &value), EINVAL);
	T_EQ(client_dma_map(&rig.client, &map, -1), EINVAL);
	T_TRUE(client_negotiate(&rig.client));
	T_TRUE(rig_still_serves(&rig));
	rig_stop(&rig);
}

T_MAIN("sim_vfu_hostile", T_CASE(hostile_messages_are_refused),
       T_CASE(commands_before_negotiation_are_refused), )
