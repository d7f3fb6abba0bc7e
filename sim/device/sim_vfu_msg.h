/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Messages of the vfio-user protocol, version 0.0, after the specification in
 * QEMU's documentation (docs/interop/vfio-user.rst). Knows no socket and no
 * device. Fields are in the byte order of the host: both ends run on it.
 *
 * A message may start at any address of the receive buffer: copy a structure out before use.
 */
#ifndef ANYNIC_SIM_DEVICE_SIM_VFU_MSG_H
#define ANYNIC_SIM_DEVICE_SIM_VFU_MSG_H

#include <linux/types.h>

enum vfu_command {
	VFU_VERSION = 1,
	VFU_DMA_MAP = 2,
	VFU_DMA_UNMAP = 3,
	VFU_DEVICE_GET_INFO = 4,
	VFU_DEVICE_GET_REGION_INFO = 5,
	VFU_DEVICE_GET_REGION_IO_FDS = 6,
	VFU_DEVICE_GET_IRQ_INFO = 7,
	VFU_DEVICE_SET_IRQS = 8,
	VFU_REGION_READ = 9,
	VFU_REGION_WRITE = 10,
	VFU_DMA_READ = 11,  /* server to client */
	VFU_DMA_WRITE = 12, /* server to client */
	VFU_DEVICE_RESET = 13,
	VFU_DIRTY_PAGES = 14, /* older clients */
	VFU_REGION_WRITE_MULTI = 15,
	VFU_DEVICE_FEATURE = 16,
	VFU_MIG_DATA_READ = 17,
	VFU_MIG_DATA_WRITE = 18,
	VFU_COMMANDS,
};

struct vfu_header {
	__u16 id; /* echoed in the reply */
	__u16 command;
	__u32 size;  /* of the whole message */
	__u32 flags; /* 3:0 type, 4 no reply wanted, 5 error */
	__u32 error; /* errno, if the error flag is set */
};
_Static_assert(sizeof(struct vfu_header) == 16, "vfio-user header");

#define VFU_TYPE_MASK	 0x0fu
#define VFU_TYPE_COMMAND 0x00u
#define VFU_TYPE_REPLY	 0x01u
#define VFU_NO_REPLY	 0x10u
#define VFU_ERROR	 0x20u

/* Followed by capabilities as JSON text with its terminating zero, or nothing. */
struct vfu_version {
	__u16 major;
	__u16 minor;
};
_Static_assert(sizeof(struct vfu_version) == 4, "vfio-user version");

struct vfu_dma_map {
	__u32 argsz;
	__u32 flags;
	__u64 offset; /* within the file whose descriptor comes along */
	__u64 address;
	__u64 size;
};
_Static_assert(sizeof(struct vfu_dma_map) == 32, "vfio-user DMA map");

#define VFU_DMA_MAP_READ  0x01u
#define VFU_DMA_MAP_WRITE 0x02u
#define VFU_DMA_MAP_MMAP  0x04u /* newer clients: the descriptor can be mapped */

struct vfu_dma_unmap {
	__u32 argsz;
	__u32 flags;
	__u64 address;
	__u64 size;
};
_Static_assert(sizeof(struct vfu_dma_unmap) == 24, "vfio-user DMA unmap");

#define VFU_DMA_UNMAP_DIRTY_BITMAP 0x01u
#define VFU_DMA_UNMAP_ALL	   0x02u

/* Layouts of <linux/vfio.h>, without what was appended there later. */
struct vfu_device_info {
	__u32 argsz;
	__u32 flags;
	__u32 num_regions;
	__u32 num_irqs;
};
_Static_assert(sizeof(struct vfu_device_info) == 16, "vfio-user device info");

struct vfu_region_info {
	__u32 argsz;
	__u32 flags;
	__u32 index;
	__u32 cap_offset;
	__u64 size;
	__u64 offset;
};
_Static_assert(sizeof(struct vfu_region_info) == 32, "vfio-user region info");

/* Capability of a region: only this part can be mapped. One area. */
struct vfu_sparse_mmap {
	__u16 id;
	__u16 version;
	__u32 next;
	__u32 nr_areas;
	__u32 reserved;
	__u64 offset;
	__u64 size;
};
_Static_assert(sizeof(struct vfu_sparse_mmap) == 32, "vfio-user sparse mmap");

struct vfu_irq_info {
	__u32 argsz;
	__u32 flags;
	__u32 index;
	__u32 count;
};
_Static_assert(sizeof(struct vfu_irq_info) == 16, "vfio-user irq info");

/* Followed by a byte for each interrupt if the data are booleans. */
struct vfu_irq_set {
	__u32 argsz;
	__u32 flags;
	__u32 index;
	__u32 start;
	__u32 count;
};
_Static_assert(sizeof(struct vfu_irq_set) == 20, "vfio-user irq set");

/* Followed by the data: in the reply to a read, and in a write. */
struct vfu_region_access {
	__u64 offset;
	__u32 region;
	__u32 count;
};
_Static_assert(sizeof(struct vfu_region_access) == 16, "vfio-user region access");

/* REGION_WRITE_MULTI: a count (__u64), then as many of these. */
struct vfu_region_write_one {
	__u64 offset;
	__u32 region;
	__u32 count;
	__u8 data[8];
};
_Static_assert(sizeof(struct vfu_region_write_one) == 24, "vfio-user region write");

/* Followed by the data: in the reply to a read, and in a write. */
struct vfu_dma_access {
	__u64 address;
	__u64 count;
};
_Static_assert(sizeof(struct vfu_dma_access) == 16, "vfio-user DMA access");

#endif
