/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * MSI-X of one device: vector table, pending bits, masks and where a message
 * goes. Knows PCI 3.0 section 6.8.2; knows nothing of sockets or classes.
 *
 * A raised vector is delivered at once or stays pending until nothing holds it back any more:
 *
 *	MSI-X enable, bus master enable, function mask     sim_irq_set_control()
 *	mask bit of the table entry                        sim_irq_table_write()
 *	mask set by the client, missing eventfd            sim_irq_set_mask(), sim_irq_set_eventfd()
 */
#ifndef ANYNIC_SIM_DEVICE_SIM_IRQ_H
#define ANYNIC_SIM_DEVICE_SIM_IRQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_IRQ_ENTRY_SIZE  16u
#define SIM_IRQ_VECTORS_MAX 2048u

struct sim_irq_vector {
	uint8_t entry[SIM_IRQ_ENTRY_SIZE]; /* address, data, vector control: little endian */
	int eventfd;			   /* -1 = none */
	bool client_mask;
	uint32_t delivered; /* since sim_irq_take() */
};

struct sim_irq {
	struct sim_irq_vector *vectors;
	uint64_t *pending;
	unsigned int count;
	bool open; /* enabled, bus master, function not masked */
	/*
	 * A client delivers through eventfds. QEMU keeps the vector table to itself: there an
	 * eventfd is what opens a vector. Only a client that writes our table has its mask bits
	 * obeyed.
	 */
	bool has_client;
	bool table_used;
};

int sim_irq_init(struct sim_irq *irq, unsigned int count);
void sim_irq_fini(struct sim_irq *irq);
/* As after power-on, except that a client's eventfds stay. */
void sim_irq_reset(struct sim_irq *irq);

/* Vector out of range: ignored. */
void sim_irq_deliver(struct sim_irq *irq, unsigned int vector);
void sim_irq_set_control(struct sim_irq *irq, bool open);

/* Offsets within the table, or the pending bits; size 1, 2, 4 or 8, aligned and in range. */
uint64_t sim_irq_table_read(const struct sim_irq *irq, uint32_t offset, unsigned int size);
void sim_irq_table_write(struct sim_irq *irq, uint32_t offset, unsigned int size, uint64_t value);
uint64_t sim_irq_pending_read(const struct sim_irq *irq, uint32_t offset, unsigned int size);
size_t sim_irq_table_size(const struct sim_irq *irq);
size_t sim_irq_pending_size(const struct sim_irq *irq);

/* A client came (no eventfds yet) or went (its eventfds are closed). */
void sim_irq_client(struct sim_irq *irq, bool present);
/* Takes the fd; -1 takes the vector's eventfd away. */
void sim_irq_set_eventfd(struct sim_irq *irq, unsigned int vector, int fd);
void sim_irq_set_mask(struct sim_irq *irq, unsigned int vector, bool masked);

/* Messages delivered on the vector since the last call. */
unsigned int sim_irq_take(struct sim_irq *irq, unsigned int vector);

#endif
