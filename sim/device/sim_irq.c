/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* MSI-X: vector table, pending bits, delivery. Knows nothing of sockets or classes. */
#include "sim/device/sim_irq.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Vector control is the last word of an entry; bit 0 is the mask bit. */
#define ENTRY_CONTROL	   12u
#define ENTRY_CONTROL_MASK 0x01u

static bool is_held_back(const struct sim_irq *irq, const struct sim_irq_vector *v)
{
	if (!irq->open || v->client_mask)
		return true;
	if (irq->has_client && v->eventfd < 0)
		return true;
	if (irq->has_client && !irq->table_used)
		return false;
	return v->entry[ENTRY_CONTROL] & ENTRY_CONTROL_MASK;
}

static void send_message(struct sim_irq_vector *v)
{
	const uint64_t one = 1;
	ssize_t rc;

	v->delivered++;
	if (v->eventfd < 0)
		return;
	/* A full counter (EAGAIN) means that the client has more than enough to see. */
	rc = write(v->eventfd, &one, sizeof(one));
	(void)rc;
}

void sim_irq_deliver(struct sim_irq *irq, unsigned int vector)
{
	struct sim_irq_vector *v;

	if (vector >= irq->count)
		return;
	v = &irq->vectors[vector];
	if (is_held_back(irq, v))
		irq->pending[vector / 64] |= 1ull << (vector % 64);
	else
		send_message(v);
}

/* Called after anything that may have opened the vector. */
static void deliver_pending(struct sim_irq *irq, unsigned int vector)
{
	uint64_t bit = 1ull << (vector % 64);
	struct sim_irq_vector *v = &irq->vectors[vector];

	if (!(irq->pending[vector / 64] & bit) || is_held_back(irq, v))
		return;
	irq->pending[vector / 64] &= ~bit;
	send_message(v);
}

static void deliver_all_pending(struct sim_irq *irq)
{
	unsigned int i;

	for (i = 0; i < irq->count; i++) {
		if (i % 64 == 0 && !irq->pending[i / 64])
			i += 63;
		else
			deliver_pending(irq, i);
	}
}

void sim_irq_set_control(struct sim_irq *irq, bool open)
{
	if (irq->open == open)
		return;
	irq->open = open;
	if (open)
		deliver_all_pending(irq);
}

/* ------------------------------------------------------------ table and pending bits */

size_t sim_irq_table_size(const struct sim_irq *irq)
{
	return (size_t)irq->count * SIM_IRQ_ENTRY_SIZE;
}

/* Whole quadwords (PCI 3.0, 6.8.2.9). */
size_t sim_irq_pending_size(const struct sim_irq *irq)
{
	return (irq->count + 63) / 64 * sizeof(uint64_t);
}

uint64_t sim_irq_table_read(const struct sim_irq *irq, uint32_t offset, unsigned int size)
{
	uint64_t value = 0;

	memcpy(&value,
	       irq->vectors[offset / SIM_IRQ_ENTRY_SIZE].entry + offset % SIM_IRQ_ENTRY_SIZE, size);
	return le64toh(value);
}

void sim_irq_table_write(struct sim_irq *irq, uint32_t offset, unsigned int size, uint64_t value)
{
	unsigned int vector = offset / SIM_IRQ_ENTRY_SIZE;
	struct sim_irq_vector *v = &irq->vectors[vector];

	value = htole64(value);
	memcpy(v->entry + offset % SIM_IRQ_ENTRY_SIZE, &value, size);
	/* Reserved bits of vector control read as zero. */
	v->entry[ENTRY_CONTROL] &= ENTRY_CONTROL_MASK;
	memset(v->entry + ENTRY_CONTROL + 1, 0, SIM_IRQ_ENTRY_SIZE - ENTRY_CONTROL - 1);
	irq->table_used = true;
	deliver_pending(irq, vector);
}

uint64_t sim_irq_pending_read(const struct sim_irq *irq, uint32_t offset, unsigned int size)
{
	uint64_t word = irq->pending[offset / 8] >> (offset % 8 * 8);

	return size == 8 ? word : word & ((1ull << (size * 8)) - 1);
}

/* ------------------------------------------------------------ clients */

void sim_irq_set_eventfd(struct sim_irq *irq, unsigned int vector, int fd)
{
	struct sim_irq_vector *v = &irq->vectors[vector];

	if (v->eventfd >= 0)
		close(v->eventfd);
	v->eventfd = fd;
	deliver_pending(irq, vector);
}

void sim_irq_set_mask(struct sim_irq *irq, unsigned int vector, bool masked)
{
	irq->vectors[vector].client_mask = masked;
	deliver_pending(irq, vector);
}

void sim_irq_client(struct sim_irq *irq, bool present)
{
	unsigned int i;

	irq->has_client = present;
	irq->table_used = false;
	for (i = 0; i < irq->count; i++) {
		struct sim_irq_vector *v = &irq->vectors[i];

		if (v->eventfd >= 0)
			close(v->eventfd);
		v->eventfd = -1;
		v->client_mask = false;
		v->delivered = 0;
	}
}

unsigned int sim_irq_take(struct sim_irq *irq, unsigned int vector)
{
	unsigned int delivered;

	if (vector >= irq->count)
		return 0;
	delivered = irq->vectors[vector].delivered;
	irq->vectors[vector].delivered = 0;
	return delivered;
}

/* ------------------------------------------------------------ life */

void sim_irq_reset(struct sim_irq *irq)
{
	unsigned int i;

	irq->open = false;
	for (i = 0; i < irq->count; i++) {
		struct sim_irq_vector *v = &irq->vectors[i];

		memset(v->entry, 0, sizeof(v->entry));
		v->entry[ENTRY_CONTROL] = ENTRY_CONTROL_MASK;
		v->client_mask = false;
		v->delivered = 0;
	}
	if (irq->count)
		memset(irq->pending, 0, sim_irq_pending_size(irq));
}

int sim_irq_init(struct sim_irq *irq, unsigned int count)
{
	unsigned int i;

	memset(irq, 0, sizeof(*irq));
	if (count > SIM_IRQ_VECTORS_MAX)
		return -EINVAL;
	if (!count)
		return 0;
	irq->vectors = calloc(count, sizeof(*irq->vectors));
	irq->pending = calloc((count + 63) / 64, sizeof(*irq->pending));
	if (!irq->vectors || !irq->pending) {
		sim_irq_fini(irq);
		return -ENOMEM;
	}
	irq->count = count;
	for (i = 0; i < count; i++)
		irq->vectors[i].eventfd = -1;
	sim_irq_reset(irq);
	return 0;
}

void sim_irq_fini(struct sim_irq *irq)
{
	sim_irq_client(irq, false);
	free(irq->vectors);
	free(irq->pending);
	memset(irq, 0, sizeof(*irq));
}
