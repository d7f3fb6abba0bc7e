/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The device seam: what a class's simulator gives (struct sim_class) and what
 * it gets (sim_dev_*). The class knows registers and formats; behind the seam
 * stands either the vfio-user server (a virtual machine) or the in-process
 * back end (unit tests, fuzzing), and the class cannot tell which.
 *
 * Everything runs in the one thread of the event loop.
 */
#ifndef ANYNIC_SIM_DEVICE_SIM_DEV_H
#define ANYNIC_SIM_DEVICE_SIM_DEV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_dev;
struct sim_loop;

/* PCI has six base address registers (PCI 3.0, 6.2.5). */
#define SIM_PCI_BARS 6
/* Largest BAR that a class may ask for: the register space is never backed by memory as a whole. */
#define SIM_PCI_BAR_MAX (1ull << 36)

struct sim_pci_bar {
	uint64_t size; /* bytes, a power of two, 0 = none */
	bool is_64bit; /* takes the next BAR too */
	bool prefetchable;
	/* Bytes [mmap_offset, mmap_offset + mmap_length) are shared memory that the guest stores to
	 * without an exit; both 0 = every access calls the class. Page-aligned. A store that comes
	 * as an access after all is done in the memory, and then reg_write is called too. */
	uint64_t mmap_offset;
	uint64_t mmap_length;
};

struct sim_pci_config {
	uint16_t vendor_id;
	uint16_t device_id;
	uint16_t subsystem_vendor_id;
	uint16_t subsystem_id;
	uint8_t revision;
	uint32_t class_code; /* 24 bits: class, subclass, programming interface */
	bool pcie;	     /* has a PCI Express capability (endpoint) */
	struct sim_pci_bar bars[SIM_PCI_BARS];
	struct {
		uint16_t vectors; /* 0 = no MSI-X */
		uint8_t table_bar;
		uint32_t table_offset;
		uint8_t pba_bar;
		uint32_t pba_offset;
	} msix;
	uint8_t serial[8]; /* device serial number capability; all zero = none */
};

/* What the topology says of one NIC. */
struct sim_nic_config {
	const char *name;
	const char *personality; /* NULL = the class's default */
	uint8_t mac[6];
	uint32_t mtu; /* netdev MTU, bytes */
	uint64_t rate_bps;
	uint64_t seed;
	bool ecn;
	const char *wqe_trace; /* path, or NULL */
};

/*
 * A class of NIC. const, one per brand, named sim_class_<name>. reg_read/reg_write are never
 * called for accesses that cross the end of a BAR, that fall into the MSI-X table or pending
 * bits (the device layer's), or with a size other than 1, 2, 4, 8 or an unaligned offset.
 */
struct sim_class {
	const char *name;
	/* Fills the PCI side for this NIC. -EINVAL: unknown personality; say so by sim_log(). */
	int (*describe)(const struct sim_nic_config *config, struct sim_pci_config *pci);
	/* Makes the NIC's state. The dev is not reachable by a guest yet. */
	int (*create)(struct sim_dev *dev, const struct sim_nic_config *config, void **nic);
	void (*destroy)(void *nic);
	/* Function-level or bus reset, or the guest went away: as after power-on. */
	void (*reset)(void *nic);
	/* Little-endian value as the CPU sees it. */
	uint64_t (*reg_read)(void *nic, unsigned int bar, uint64_t offset, unsigned int size);
	void (*reg_write)(void *nic, unsigned int bar, uint64_t offset, unsigned int size,
			  uint64_t value);
	/* A frame from the fabric; may be NULL. The bytes stay the caller's. */
	void (*rx_frame)(void *nic, const void *frame, size_t length);
	/* The fabric can take frames again after sim_dev_tx_alloc returned NULL. */
	void (*tx_room)(void *nic);
	/* sim_dev_timer()'s deadline was reached. */
	void (*timer)(void *nic, uint64_t now);
	/* Link went up or down, or the port's MTU changed; may be NULL. */
	void (*port_changed)(void *nic, bool up, uint32_t mtu);
	/* Calls emit for each counter; may be NULL. */
	void (*counters)(void *nic, void (*emit)(void *ctx, const char *name, uint64_t value),
			 void *ctx);
};

/* ------------------------------------------------------------ for classes */

/* Guest memory. An address is a bus address as the guest's driver programmed it. */

/*
 * Host pointer to guest bytes [addr, addr + length), or NULL if the range is not wholly inside
 * one directly mapped region, or (write) is read-only. Valid until the loop's next turn: do not
 * keep it. The guest changes the bytes at any time: copy what you check.
 */
void *sim_dma_map(struct sim_dev *dev, uint64_t addr, size_t length, bool write);
/* Copy in or out, also across regions and from regions without a file descriptor. 0 or -EFAULT;
 * on -EFAULT nothing is promised of the destination. Without a file descriptor the client is asked,
 * and reg_read may be called before it has answered: QEMU cannot answer while a guest's processor
 * waits for a register. */
int sim_dma_read(struct sim_dev *dev, uint64_t addr, void *data, size_t length);
int sim_dma_write(struct sim_dev *dev, uint64_t addr, const void *data, size_t length);

/* Raises MSI-X vector; a masked one sets its pending bit. A vector out of range is ignored. */
void sim_irq_raise(struct sim_dev *dev, unsigned int vector);

uint64_t sim_dev_now(const struct sim_dev *dev);
/* One timer a device: calls class->timer at the deadline (UINT64_MAX: none). 0 = soon, after the
 * running callback has returned. */
void sim_dev_timer(struct sim_dev *dev, uint64_t deadline);

/* Frame to the fabric: get a buffer, fill it, send it. NULL: no room, tx_room will be called. */
void *sim_dev_tx_alloc(struct sim_dev *dev, size_t length);
void sim_dev_tx_send(struct sim_dev *dev, void *buffer, size_t length);

/* Pointer to the shared memory of a mappable BAR part, or NULL. */
void *sim_dev_bar_memory(struct sim_dev *dev, unsigned int bar);

/* One line, without newline; the device's name is put in front. Rate-limited per device. */
void sim_log(struct sim_dev *dev, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ------------------------------------------------- for the simulator program */

/* Where a device's frames go: implemented by sim/nic over the fabric, or by a test. */
struct sim_port_ops {
	void *(*tx_alloc)(void *ctx, size_t length);
	void (*tx_send)(void *ctx, void *buffer, size_t length);
};

struct sim_dev_config {
	const struct sim_class *class;
	struct sim_nic_config nic;
	struct sim_loop *loop;
	const struct sim_port_ops *port; /* NULL: frames are dropped */
	void *port_ctx;
	void (*log)(void *ctx, const char *line); /* NULL: stderr */
	void *log_ctx;
};

/* Makes the device and its class's NIC: phase one, no guest yet. */
int sim_dev_create(const struct sim_dev_config *config, struct sim_dev **dev);
void sim_dev_destroy(struct sim_dev *dev);
/* Frames and events from the fabric to the class. */
void sim_dev_rx_frame(struct sim_dev *dev, const void *frame, size_t length);
void sim_dev_tx_room(struct sim_dev *dev);
void sim_dev_port_changed(struct sim_dev *dev, bool up, uint32_t mtu);
void sim_dev_counters(struct sim_dev *dev,
		      void (*emit)(void *ctx, const char *name, uint64_t value), void *ctx);
const char *sim_dev_name(const struct sim_dev *dev);

/* vfio-user back end: listens on a UNIX socket; one client at a time, and again after it left. */
int sim_vfu_listen(struct sim_dev *dev, const char *path);
/* Serves an already connected socket (tests). Takes the fd. */
int sim_vfu_attach(struct sim_dev *dev, int fd);

/*
 * In-process back end: guest memory is the process's own. `memory` of `size` bytes appears at
 * bus address `base`; several calls add regions; adding an overlap is -EEXIST. Register
 * accesses go through the same checks as the vfio-user path. MSI-X: raised vectors are counted;
 * masked ones stay pending.
 *
 * As on hardware, there is no DMA and no interrupt before the driver has enabled them in
 * configuration space: sim_local_enable() does what it would do (memory and bus master enable,
 * MSI-X enable, all vectors unmasked). A reset takes that back.
 */
void sim_local_enable(struct sim_dev *dev);
int sim_local_add_memory(struct sim_dev *dev, uint64_t base, void *memory, size_t size,
			 bool writable);
int sim_local_remove_memory(struct sim_dev *dev, uint64_t base, size_t size);
int sim_local_reg_read(struct sim_dev *dev, unsigned int bar, uint64_t offset, unsigned int size,
		       uint64_t *value);
int sim_local_reg_write(struct sim_dev *dev, unsigned int bar, uint64_t offset, unsigned int size,
			uint64_t value);
int sim_local_config_read(struct sim_dev *dev, unsigned int offset, unsigned int size,
			  uint32_t *value);
int sim_local_config_write(struct sim_dev *dev, unsigned int offset, unsigned int size,
			   uint32_t value);
/* Interrupts raised on the vector since the last call. */
unsigned int sim_local_irqs(struct sim_dev *dev, unsigned int vector);
void sim_local_reset(struct sim_dev *dev);

#endif
