/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * vfio-user server, commands: one function each, and the table of them. Owns
 * the checks of every field that comes from the client. Knows nothing of
 * sockets.
 */
#include "sim/device/sim_vfu.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/vfio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define REGIONS (VFIO_PCI_VGA_REGION_INDEX + 1u)
#define IRQS	(VFIO_PCI_REQ_IRQ_INDEX + 1u)

static void set_reply(struct vfu_message *message, const void *data, size_t length)
{
	memcpy(message->reply, data, length);
	message->reply_length = length;
}

/* ------------------------------------------------------------ information */

static int get_info(struct sim_vfu *vfu, struct vfu_message *message)
{
	struct vfu_device_info info;

	(void)vfu;
	memcpy(&info, message->payload, sizeof(info));
	if (info.argsz < sizeof(info))
		return -EINVAL;
	info = (struct vfu_device_info){
		.argsz = sizeof(info),
		.flags = VFIO_DEVICE_FLAGS_PCI | VFIO_DEVICE_FLAGS_RESET,
		.num_regions = REGIONS,
		.num_irqs = IRQS,
	};
	set_reply(message, &info, sizeof(info));
	return 0;
}

/* A BAR that can be mapped in part carries the part as a capability, and its descriptor. */
static void describe_bar(struct sim_vfu *vfu, struct vfu_message *message,
			 struct vfu_region_info *info)
{
	const struct sim_pci_bar *bar = &vfu->dev->desc.bars[info->index];
	const struct sim_bar_memory *memory = &vfu->dev->memory[info->index];
	struct vfu_sparse_mmap sparse = {
		.id = VFIO_REGION_INFO_CAP_SPARSE_MMAP,
		.version = 1,
		.nr_areas = 1,
		.offset = bar->mmap_offset,
		.size = bar->mmap_length,
	};

	info->size = bar->size;
	if (!memory->bytes)
		return;
	info->flags |= VFIO_REGION_INFO_FLAG_MMAP | VFIO_REGION_INFO_FLAG_CAPS;
	info->argsz += sizeof(sparse);
	memcpy(message->reply + sizeof(*info), &sparse, sizeof(sparse));
	message->reply_fd = memory->fd;
}

static int get_region_info(struct sim_vfu *vfu, struct vfu_message *message)
{
	struct vfu_region_info info;
	uint32_t room, index;

	memcpy(&info, message->payload, sizeof(info));
	room = info.argsz;
	index = info.index;
	if (room < sizeof(info) || index >= REGIONS)
		return -EINVAL;
	info = (struct vfu_region_info){
		.argsz = sizeof(info),
		.index = index,
		/* QEMU wants this to point behind the structure even if nothing is there. */
		.cap_offset = sizeof(info),
	};
	if (index <= VFIO_PCI_BAR5_REGION_INDEX)
		describe_bar(vfu, message, &info);
	else if (index == VFIO_PCI_CONFIG_REGION_INDEX)
		info.size = vfu->dev->pci.size;
	if (info.size)
		info.flags |= VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE;
	memcpy(message->reply, &info, sizeof(info));
	/* With too little room, the client learns from argsz how much to come back with. */
	message->reply_length = info.argsz <= room ? info.argsz : sizeof(info);
	return 0;
}

/* A NIC of these brands uses MSI-X only. The error interrupt is never raised, but QEMU warns the
 * user if there is none. */
static uint32_t irq_count(const struct sim_vfu *vfu, uint32_t index)
{
	switch (index) {
	case VFIO_PCI_MSIX_IRQ_INDEX:
		return vfu->dev->irq.count;
	case VFIO_PCI_ERR_IRQ_INDEX:
		return 1;
	default:
		return 0;
	}
}

static int get_irq_info(struct sim_vfu *vfu, struct vfu_message *message)
{
	struct vfu_irq_info info;
	uint32_t index;

	memcpy(&info, message->payload, sizeof(info));
	index = info.index;
	if (info.argsz < sizeof(info) || index >= IRQS)
		return -EINVAL;
	info = (struct vfu_irq_info){
		.argsz = sizeof(info),
		.index = index,
		.count = irq_count(vfu, index),
	};
	/* Without NORESIZE: vectors may be added while others are in use. */
	if (info.count)
		info.flags = VFIO_IRQ_INFO_EVENTFD;
	if (info.count && index == VFIO_PCI_MSIX_IRQ_INDEX)
		info.flags |= VFIO_IRQ_INFO_MASKABLE;
	set_reply(message, &info, sizeof(info));
	return 0;
}

/* ------------------------------------------------------------ interrupts */

/* Writing to anything but an eventfd could block, or signal whom it likes. */
static int check_eventfd(int fd)
{
	static const char want[] = "anon_inode:[eventfd]";
	char path[32], target[sizeof(want) + 1];
	ssize_t length;
	int flags;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	length = readlink(path, target, sizeof(target));
	/* Without /proc there is nothing to tell by. */
	if (length >= 0 &&
	    (length != (ssize_t)sizeof(want) - 1 || memcmp(target, want, sizeof(want) - 1)))
		return -EINVAL;
	flags = fcntl(fd, F_GETFL);
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK))
		return -errno;
	return 0;
}

static int set_eventfds(struct sim_vfu *vfu, const struct vfu_irq_set *set,
			struct vfu_message *message)
{
	uint32_t i;
	int rc;

	/* No descriptor at all takes away those that are there. */
	if (message->fds_were_cut || (message->fd_count && message->fd_count != set->count))
		return -EINVAL;
	for (i = 0; i < message->fd_count; i++) {
		rc = check_eventfd(message->fds[i]);
		if (rc)
			return rc;
	}
	for (i = 0; i < set->count; i++) {
		int fd = message->fd_count ? message->fds[i] : -1;

		if (message->fd_count)
			message->fds[i] = -1;
		sim_irq_set_eventfd(&vfu->dev->irq, set->start + i, fd);
	}
	return 0;
}

static void act_on_vector(struct sim_vfu *vfu, uint32_t action, uint32_t vector)
{
	struct sim_irq *irq = &vfu->dev->irq;

	if (action == VFIO_IRQ_SET_ACTION_TRIGGER)
		sim_irq_deliver(irq, vector);
	else
		sim_irq_set_mask(irq, vector, action == VFIO_IRQ_SET_ACTION_MASK);
}

/* Of booleans, `wanted` has one byte a vector. */
static int act_on_vectors(struct sim_vfu *vfu, const struct vfu_irq_set *set, const uint8_t *wanted)
{
	uint32_t action = set->flags & VFIO_IRQ_SET_ACTION_TYPE_MASK;
	bool all = !(set->flags & VFIO_IRQ_SET_DATA_BOOL);
	uint32_t i;

	for (i = 0; i < set->count; i++)
		if (all || wanted[i])
			act_on_vector(vfu, action, set->start + i);
	return 0;
}

static bool is_one_bit(uint32_t bits)
{
	return bits && !(bits & (bits - 1));
}

static int check_irq_set(const struct sim_vfu *vfu, const struct vfu_irq_set *set, size_t length)
{
	uint32_t data = set->flags & VFIO_IRQ_SET_DATA_TYPE_MASK;
	uint32_t action = set->flags & VFIO_IRQ_SET_ACTION_TYPE_MASK;
	uint32_t count;

	if (set->argsz < sizeof(*set) || set->index >= IRQS)
		return -EINVAL;
	if (set->flags != (data | action) || !is_one_bit(data) || !is_one_bit(action))
		return -EINVAL;
	count = irq_count(vfu, set->index);
	if (set->start > count || set->count > count - set->start)
		return -EINVAL;
	/* Nothing of something, except "disable all". */
	if (!set->count &&
	    (data != VFIO_IRQ_SET_DATA_NONE || set->start || action != VFIO_IRQ_SET_ACTION_TRIGGER))
		return -EINVAL;
	if (length != sizeof(*set) + (data == VFIO_IRQ_SET_DATA_BOOL ? set->count : 0))
		return -EINVAL;
	return 0;
}

static int set_irqs(struct sim_vfu *vfu, struct vfu_message *message)
{
	struct vfu_irq_set set;
	uint32_t i;
	int rc;

	memcpy(&set, message->payload, sizeof(set));
	rc = check_irq_set(vfu, &set, message->length);
	if (rc)
		return rc;
	if (set.index != VFIO_PCI_MSIX_IRQ_INDEX)
		return 0; /* never raised: a descriptor is closed again */
	if (set.flags & VFIO_IRQ_SET_DATA_EVENTFD) {
		/* Nobody asks to be told when the guest masks a vector. */
		if (!(set.flags & VFIO_IRQ_SET_ACTION_TRIGGER))
			return -EOPNOTSUPP;
		return set_eventfds(vfu, &set, message);
	}
	if (message->fd_count)
		return -EINVAL;
	if (!set.count) {
		for (i = 0; i < irq_count(vfu, set.index); i++)
			sim_irq_set_eventfd(&vfu->dev->irq, i, -1);
		return 0;
	}
	return act_on_vectors(vfu, &set,
			      set.flags & VFIO_IRQ_SET_DATA_BOOL ? message->payload + sizeof(set)
								 : NULL);
}

/* ------------------------------------------------------------ registers */

static int region_read(struct sim_vfu *vfu, struct vfu_message *message)
{
	struct vfu_region_access access;
	uint8_t *data = message->reply + sizeof(access);
	uint64_t value;
	int rc;

	memcpy(&access, message->payload, sizeof(access));
	if (access.region == VFIO_PCI_CONFIG_REGION_INDEX) {
		rc = sim_config_read(vfu->dev, access.offset, data, access.count);
	} else {
		rc = sim_bar_read(vfu->dev, access.region, access.offset, access.count, &value);
		if (!rc)
			memcpy(data, &value, access.count);
	}
	if (rc)
		return rc;
	memcpy(message->reply, &access, sizeof(access));
	message->reply_length = sizeof(access) + access.count;
	return 0;
}

static int write_one(struct sim_vfu *vfu, const struct vfu_region_access *access,
		     const uint8_t *data)
{
	uint64_t value = 0;

	if (access->region == VFIO_PCI_CONFIG_REGION_INDEX)
		return sim_config_write(vfu->dev, access->offset, data, access->count);
	if (access->count > sizeof(value))
		return -EINVAL;
	memcpy(&value, data, access->count);
	return sim_bar_write(vfu->dev, access->region, access->offset, access->count, value);
}

/*
 * A write to a register is answered before the class sees it: on PCI all of them are posted, the
 * guest's processor may go on, and a client that waits with its locks held could not serve DMA.
 */
static int region_write(struct sim_vfu *vfu, struct vfu_message *message)
{
	struct vfu_region_access access;

	memcpy(&access, message->payload, sizeof(access));
	if (message->length - sizeof(access) != access.count)
		return -EINVAL;
	set_reply(message, &access, sizeof(access));
	if (sim_bar_has(vfu->dev, access.region, access.offset, access.count))
		sim_vfu_answer(vfu, message);
	return write_one(vfu, &access, message->payload + sizeof(access));
}

/* Writes are done in order; the first that is refused ends it. */
static int region_write_multi(struct sim_vfu *vfu, struct vfu_message *message)
{
	const size_t entry = sizeof(struct vfu_region_write_one);
	const uint8_t *at = message->payload + sizeof(uint64_t);
	struct vfu_region_write_one one;
	uint64_t count, i;
	int rc;

	memcpy(&count, message->payload, sizeof(count));
	if (!count || count > VFU_DATA_MAX / entry ||
	    message->length != sizeof(count) + count * entry)
		return -EINVAL;
	for (i = 0; i < count; i++, at += entry) {
		struct vfu_region_access access;

		memcpy(&one, at, sizeof(one));
		if (one.count > sizeof(one.data))
			return -EINVAL;
		access = (struct vfu_region_access){one.offset, one.region, one.count};
		rc = write_one(vfu, &access, one.data);
		if (rc)
			return rc;
	}
	set_reply(message, &count, sizeof(count));
	return 0;
}

static int device_reset(struct sim_vfu *vfu, struct vfu_message *message)
{
	(void)message;
	sim_dev_reset(vfu->dev);
	return 0;
}

/* ------------------------------------------------------------ guest memory */

static int dma_map(struct sim_vfu *vfu, struct vfu_message *message)
{
	struct vfu_dma_map map;
	struct sim_dma_region region = {0};

	memcpy(&map, message->payload, sizeof(map));
	if (map.argsz < sizeof(map) ||
	    map.flags & ~(VFU_DMA_MAP_READ | VFU_DMA_MAP_WRITE | VFU_DMA_MAP_MMAP) ||
	    !(map.flags & (VFU_DMA_MAP_READ | VFU_DMA_MAP_WRITE)))
		return -EINVAL;
	if (message->fds_were_cut || message->fd_count > 1)
		return -EINVAL;
	region.base = map.address;
	region.size = map.size;
	region.readable = map.flags & VFU_DMA_MAP_READ;
	region.writable = map.flags & VFU_DMA_MAP_WRITE;
	if (message->fd_count)
		return sim_dma_add_file(&vfu->dev->dma, &region, message->fds[0], map.offset);
	if ((map.address | map.size) & (SIM_DMA_PAGE - 1))
		return -EINVAL;
	return sim_dma_add(&vfu->dev->dma, &region);
}

static int dma_unmap(struct sim_vfu *vfu, struct vfu_message *message)
{
	struct vfu_dma_unmap unmap;
	int rc;

	memcpy(&unmap, message->payload, sizeof(unmap));
	if (unmap.flags & VFU_DMA_UNMAP_DIRTY_BITMAP)
		return -EOPNOTSUPP;
	if (unmap.argsz < sizeof(unmap) || unmap.flags & ~VFU_DMA_UNMAP_ALL ||
	    message->length != sizeof(unmap))
		return -EINVAL;
	if (unmap.flags & VFU_DMA_UNMAP_ALL) {
		if (unmap.address || unmap.size)
			return -EINVAL;
		sim_dma_clear(&vfu->dev->dma);
	} else {
		rc = sim_dma_remove(&vfu->dev->dma, unmap.address, unmap.size);
		if (rc < 0)
			return rc;
	}
	set_reply(message, &unmap, sizeof(unmap));
	return 0;
}

/* ------------------------------------------------------------ dispatch */

static int not_supported(struct sim_vfu *vfu, struct vfu_message *message)
{
	(void)vfu;
	(void)message;
	return -EOPNOTSUPP;
}

static int wrong_direction(struct sim_vfu *vfu, struct vfu_message *message)
{
	(void)vfu;
	(void)message;
	return -EINVAL;
}

struct command {
	int (*run)(struct sim_vfu *vfu, struct vfu_message *message);
	size_t least; /* bytes of payload */
	size_t most;
	bool takes_fds;
};

static const struct command commands[VFU_COMMANDS] = {
	[VFU_VERSION] = {sim_vfu_negotiate, sizeof(struct vfu_version), VFU_MESSAGE_MAX, false},
	[VFU_DMA_MAP] = {dma_map, sizeof(struct vfu_dma_map), sizeof(struct vfu_dma_map), true},
	[VFU_DMA_UNMAP] = {dma_unmap, sizeof(struct vfu_dma_unmap), VFU_MESSAGE_MAX, false},
	[VFU_DEVICE_GET_INFO] = {get_info, sizeof(struct vfu_device_info),
				 sizeof(struct vfu_device_info), false},
	[VFU_DEVICE_GET_REGION_INFO] = {get_region_info, sizeof(struct vfu_region_info),
					sizeof(struct vfu_region_info), false},
	/* Nothing to offer: a doorbell is a posted write. */
	[VFU_DEVICE_GET_REGION_IO_FDS] = {not_supported, 0, VFU_MESSAGE_MAX, false},
	[VFU_DEVICE_GET_IRQ_INFO] = {get_irq_info, sizeof(struct vfu_irq_info),
				     sizeof(struct vfu_irq_info), false},
	[VFU_DEVICE_SET_IRQS] = {set_irqs, sizeof(struct vfu_irq_set), VFU_MESSAGE_MAX, true},
	[VFU_REGION_READ] = {region_read, sizeof(struct vfu_region_access),
			     sizeof(struct vfu_region_access), false},
	[VFU_REGION_WRITE] = {region_write, sizeof(struct vfu_region_access), VFU_MESSAGE_MAX,
			      false},
	[VFU_DMA_READ] = {wrong_direction, 0, VFU_MESSAGE_MAX, false},
	[VFU_DMA_WRITE] = {wrong_direction, 0, VFU_MESSAGE_MAX, false},
	[VFU_DEVICE_RESET] = {device_reset, 0, 0, false},
	/* Live migration, and what it needs. */
	[VFU_DIRTY_PAGES] = {not_supported, 0, VFU_MESSAGE_MAX, false},
	[VFU_REGION_WRITE_MULTI] = {region_write_multi, sizeof(uint64_t), VFU_MESSAGE_MAX, false},
	[VFU_DEVICE_FEATURE] = {not_supported, 0, VFU_MESSAGE_MAX, false},
	[VFU_MIG_DATA_READ] = {not_supported, 0, VFU_MESSAGE_MAX, false},
	[VFU_MIG_DATA_WRITE] = {not_supported, 0, VFU_MESSAGE_MAX, false},
};

int sim_vfu_run(struct sim_vfu *vfu, struct vfu_message *message)
{
	const struct vfu_header *header = &message->header;
	const struct command *command;

	if ((header->flags & VFU_TYPE_MASK) != VFU_TYPE_COMMAND || header->command >= VFU_COMMANDS)
		return -EINVAL;
	command = &commands[header->command];
	if (!command->run || message->length < command->least || message->length > command->most)
		return -EINVAL;
	/* Negotiation comes first, and once. */
	if (vfu->is_negotiated == (header->command == VFU_VERSION))
		return -EINVAL;
	/* They are closed, and the command is served: it may not be to blame. */
	if (message->fd_count && !command->takes_fds)
		sim_log(vfu->dev, "vfio-user: command %u came with %u descriptors, closed",
			header->command, message->fd_count);
	return command->run(vfu, message);
}
