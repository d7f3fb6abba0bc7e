/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The device object: joins a class with configuration space, interrupts,
 * guest memory, timer, port and log. Knows no back end and no class.
 */
#include "sim/device/sim_dev_state.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A guest that misbehaves must not fill the disk: this many lines at once, then one a period. */
#define LOG_BURST     32u
#define LOG_PERIOD_NS 100000000ull
#define LOG_LINE_MAX  512u

/* ------------------------------------------------------------ log */

static void log_line(struct sim_dev *dev, const char *line)
{
	if (dev->log.write)
		dev->log.write(dev->log.ctx, line);
	else
		fprintf(stderr, "%s\n", line);
}

static bool log_has_token(struct sim_dev *dev)
{
	uint64_t now = sim_loop_now(dev->loop);

	if (now >= dev->log.next_token) {
		uint64_t periods = (now - dev->log.next_token) / LOG_PERIOD_NS + 1;

		dev->log.next_token += periods * LOG_PERIOD_NS;
		if (periods > LOG_BURST - dev->log.tokens)
			dev->log.tokens = LOG_BURST;
		else
			dev->log.tokens += (unsigned int)periods;
	}
	if (!dev->log.tokens)
		return false;
	dev->log.tokens--;
	return true;
}

void sim_log(struct sim_dev *dev, const char *format, ...)
{
	char text[LOG_LINE_MAX], line[LOG_LINE_MAX + 64];
	va_list args;

	if (!log_has_token(dev)) {
		dev->log.suppressed++;
		return;
	}
	if (dev->log.suppressed) {
		snprintf(line, sizeof(line), "%.48s: (%u lines left out)", dev->name,
			 dev->log.suppressed);
		dev->log.suppressed = 0;
		log_line(dev, line);
	}
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	snprintf(line, sizeof(line), "%.48s: %s", dev->name, text);
	log_line(dev, line);
}

/* ------------------------------------------------------------ what a class may leave out */

static void no_rx_frame(void *nic, const void *frame, size_t length)
{
	(void)nic;
	(void)frame;
	(void)length;
}

static void no_tx_room(void *nic)
{
	(void)nic;
}

static void no_timer(void *nic, uint64_t now)
{
	(void)nic;
	(void)now;
}

static void no_port_changed(void *nic, bool up, uint32_t mtu)
{
	(void)nic;
	(void)up;
	(void)mtu;
}

static void no_counters(void *nic, void (*emit)(void *ctx, const char *name, uint64_t value),
			void *ctx)
{
	(void)nic;
	(void)emit;
	(void)ctx;
}

static int take_class(struct sim_dev *dev, const struct sim_class *class)
{
	dev->class = *class;
	if (!class->describe || !class->create || !class->destroy || !class->reset ||
	    !class->reg_read || !class->reg_write) {
		sim_log(dev, "class %s lacks a required function", class->name);
		return -EINVAL;
	}
	if (!class->rx_frame)
		dev->class.rx_frame = no_rx_frame;
	if (!class->tx_room)
		dev->class.tx_room = no_tx_room;
	if (!class->timer)
		dev->class.timer = no_timer;
	if (!class->port_changed)
		dev->class.port_changed = no_port_changed;
	if (!class->counters)
		dev->class.counters = no_counters;
	return 0;
}

/* ------------------------------------------------------------ configuration space */

/* Bus mastering and the MSI-X enables act outside configuration space. */
static void follow_config(struct sim_dev *dev)
{
	dev->bus_master = sim_pci_bus_master(&dev->pci);
	sim_irq_set_control(&dev->irq, sim_pci_msix_open(&dev->pci));
}

static bool config_fits(const struct sim_dev *dev, uint64_t offset, uint32_t length)
{
	return length && offset < dev->pci.size && length <= dev->pci.size - offset;
}

int sim_config_read(struct sim_dev *dev, uint64_t offset, void *data, uint32_t length)
{
	if (!config_fits(dev, offset, length))
		return -EINVAL;
	sim_pci_read(&dev->pci, (uint32_t)offset, data, length);
	return 0;
}

int sim_config_write(struct sim_dev *dev, uint64_t offset, const void *data, uint32_t length)
{
	if (!config_fits(dev, offset, length))
		return -EINVAL;
	if (sim_pci_write(&dev->pci, (uint32_t)offset, data, length))
		sim_dev_reset(dev);
	else
		follow_config(dev);
	return 0;
}

void sim_dev_reset(struct sim_dev *dev)
{
	sim_task_set(dev->timer, UINT64_MAX);
	sim_pci_reset(&dev->pci);
	sim_irq_reset(&dev->irq);
	sim_bar_reset(dev);
	follow_config(dev);
	dev->class.reset(dev->nic);
}

/* ------------------------------------------------------------ guest memory and interrupts */

void sim_dev_check_dma(struct sim_dev *dev)
{
	if (!dev->dma.broken || dev->dma_reported)
		return;
	dev->dma_reported = true;
	sim_log(dev, "the client cut short the file of its memory: no more DMA");
}

void *sim_dma_map(struct sim_dev *dev, uint64_t addr, size_t length, bool write)
{
	if (!dev->bus_master)
		return NULL;
	return sim_dma_find(&dev->dma, addr, length, write);
}

int sim_dma_read(struct sim_dev *dev, uint64_t addr, void *data, size_t length)
{
	if (!dev->bus_master)
		return -EFAULT;
	return sim_dma_copy_in(&dev->dma, addr, data, length);
}

int sim_dma_write(struct sim_dev *dev, uint64_t addr, const void *data, size_t length)
{
	if (!dev->bus_master)
		return -EFAULT;
	return sim_dma_copy_out(&dev->dma, addr, data, length);
}

void sim_irq_raise(struct sim_dev *dev, unsigned int vector)
{
	sim_irq_deliver(&dev->irq, vector);
}

/* ------------------------------------------------------------ time and frames */

uint64_t sim_dev_now(const struct sim_dev *dev)
{
	return sim_loop_now(dev->loop);
}

void sim_dev_timer(struct sim_dev *dev, uint64_t deadline)
{
	sim_task_set(dev->timer, deadline);
}

static void timer_due(void *ctx, uint64_t now)
{
	struct sim_dev *dev = ctx;

	dev->class.timer(dev->nic, now);
	sim_dev_check_dma(dev);
}

void *sim_dev_tx_alloc(struct sim_dev *dev, size_t length)
{
	return dev->port->tx_alloc(dev->port_ctx, length);
}

void sim_dev_tx_send(struct sim_dev *dev, void *buffer, size_t length)
{
	dev->port->tx_send(dev->port_ctx, buffer, length);
}

void sim_dev_rx_frame(struct sim_dev *dev, const void *frame, size_t length)
{
	dev->class.rx_frame(dev->nic, frame, length);
}

void sim_dev_tx_room(struct sim_dev *dev)
{
	dev->class.tx_room(dev->nic);
}

void sim_dev_port_changed(struct sim_dev *dev, bool up, uint32_t mtu)
{
	dev->class.port_changed(dev->nic, up, mtu);
}

void sim_dev_counters(struct sim_dev *dev,
		      void (*emit)(void *ctx, const char *name, uint64_t value), void *ctx)
{
	dev->class.counters(dev->nic, emit, ctx);
}

const char *sim_dev_name(const struct sim_dev *dev)
{
	return dev->name;
}

/* Without a port, a frame is as good as lost on the wire: the class must not notice. */
static void *nowhere_alloc(void *ctx, size_t length)
{
	(void)ctx;
	return malloc(length ? length : 1);
}

static void nowhere_send(void *ctx, void *buffer, size_t length)
{
	(void)ctx;
	(void)length;
	free(buffer);
}

static const struct sim_port_ops nowhere = {
	.tx_alloc = nowhere_alloc,
	.tx_send = nowhere_send,
};

/* ------------------------------------------------------------ life */

/* What can be made before the class describes itself, so that it can log. */
static int take_config(struct sim_dev *dev, const struct sim_dev_config *config)
{
	dev->loop = config->loop;
	dev->port = config->port ? config->port : &nowhere;
	dev->port_ctx = config->port_ctx;
	dev->log.write = config->log;
	dev->log.ctx = config->log_ctx;
	dev->log.tokens = LOG_BURST;
	dev->log.next_token = sim_loop_now(config->loop) + LOG_PERIOD_NS;
	sim_dma_init(&dev->dma);
	dev->name = strdup(config->nic.name ? config->nic.name : config->class->name);
	return dev->name ? take_class(dev, config->class) : -ENOMEM;
}

static int describe(struct sim_dev *dev, const struct sim_nic_config *nic)
{
	const char *why;
	int rc;

	rc = dev->class.describe(nic, &dev->desc);
	if (rc) {
		sim_log(dev, "class %s has no personality %s", dev->class.name,
			nic->personality ? nic->personality : "default");
		return rc;
	}
	rc = sim_pci_init(&dev->pci, &dev->desc, &why);
	if (rc)
		sim_log(dev, "class %s describes no PCI function: %s", dev->class.name, why);
	return rc;
}

int sim_dev_create(const struct sim_dev_config *config, struct sim_dev **out)
{
	struct sim_dev *dev = calloc(1, sizeof(*dev));
	int rc;

	if (!dev)
		return -ENOMEM;
	rc = take_config(dev, config);
	if (rc)
		goto undo_dev;
	rc = describe(dev, &config->nic);
	if (rc)
		goto undo_dev;
	rc = sim_irq_init(&dev->irq, dev->desc.msix.vectors);
	if (rc)
		goto undo_dev;
	rc = sim_bar_init(dev);
	if (rc)
		goto undo_irq;
	rc = sim_task_add(dev->loop, timer_due, dev, &dev->timer);
	if (rc)
		goto undo_bar;
	rc = dev->class.create(dev, &config->nic, &dev->nic);
	if (rc)
		goto undo_timer;
	*out = dev;
	return 0;

undo_timer:
	sim_task_remove(dev->timer);
undo_bar:
	sim_bar_fini(dev);
undo_irq:
	sim_irq_fini(&dev->irq);
undo_dev:
	free(dev->name);
	free(dev);
	return rc;
}

void sim_dev_destroy(struct sim_dev *dev)
{
	if (!dev)
		return;
	sim_vfu_destroy(dev->vfu);
	dev->class.destroy(dev->nic);
	sim_task_remove(dev->timer);
	sim_dma_fini(&dev->dma);
	sim_bar_fini(dev);
	sim_irq_fini(&dev->irq);
	free(dev->name);
	free(dev);
}
