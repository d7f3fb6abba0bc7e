/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The device object: classes that are wrong or sparse, timer, frames, log, reset. */
#include "sim/device/sim_dev_state.h"
#include "tests/lib/t.h"
#include "tests/unit/sim/device/fake_nic.h"

#include <errno.h>
#include <linux/pci_regs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct sim_loop *loop;
static struct sim_dev *dev;
static struct fake_log line;

static bool start(void)
{
	memset(&line, 0, sizeof(line));
	if (sim_loop_create(true, &loop))
		return false;
	dev = fake_dev_create(loop, NULL, &line);
	return dev;
}

static void stop(void)
{
	sim_dev_destroy(dev);
	sim_loop_destroy(loop);
}

static void keep(void *ctx, const char *text)
{
	(void)ctx;
	line.lines++;
	snprintf(line.last, sizeof(line.last), "%s", text);
}

static int create(const struct sim_class *class, const char *personality)
{
	struct sim_dev_config config = {
		.class = class,
		.nic = {.name = "nic7", .personality = personality},
		.loop = loop,
		.log = keep,
	};

	return sim_dev_create(&config, &dev);
}

static int fail_create(struct sim_dev *d, const struct sim_nic_config *config, void **nic)
{
	(void)d;
	(void)config;
	(void)nic;
	return -ENOMEM;
}

static int describe_nonsense(const struct sim_nic_config *config, struct sim_pci_config *pci)
{
	(void)config;
	pci->bars[0].size = 5;
	return 0;
}

static void wrong_classes_are_refused(void)
{
	struct sim_class class;

	T_NEED(!sim_loop_create(true, &loop));
	T_EQ(create(&fake_class, "no such"), -EINVAL);
	T_TRUE(strstr(line.last, "nic7: class fake has no personality no such"));
	class = fake_class;
	class.reg_write = NULL;
	T_EQ(create(&class, NULL), -EINVAL);
	T_TRUE(strstr(line.last, "lacks a required function"));
	class = fake_class;
	class.describe = describe_nonsense;
	T_EQ(create(&class, NULL), -EINVAL);
	T_TRUE(strstr(line.last, "BAR size"));
	class = fake_class;
	class.create = fail_create;
	T_EQ(create(&class, "mappable"), -ENOMEM);
	sim_dev_destroy(NULL);
	sim_loop_destroy(loop);
}

static void no_counter(void *ctx, const char *name, uint64_t value)
{
	(void)ctx;
	(void)name;
	(void)value;
	T_TRUE(0);
}

static void optional_functions_may_be_missing(void)
{
	struct sim_class class = fake_class;

	T_NEED(!sim_loop_create(true, &loop));
	class.rx_frame = NULL;
	class.tx_room = NULL;
	class.timer = NULL;
	class.port_changed = NULL;
	class.counters = NULL;
	T_NEED(!create(&class, NULL));
	sim_dev_rx_frame(dev, "", 0);
	sim_dev_tx_room(dev);
	sim_dev_port_changed(dev, true, 1500);
	sim_dev_counters(dev, no_counter, NULL);
	sim_dev_timer(dev, 0);
	sim_loop_advance(loop, 1);
	stop();
}

static void timer_comes_once_at_its_time(void)
{
	T_NEED(start());
	sim_dev_timer(dev, 500);
	sim_dev_timer(dev, 700);
	sim_loop_advance(loop, 699);
	T_EQ(fake_last->timers, 0);
	sim_loop_advance(loop, 1000);
	T_EQ(fake_last->timers, 1);
	T_EQ(fake_last->timer_at, 700);
	T_EQ(sim_dev_now(dev), 1699);
	sim_dev_timer(dev, 2000);
	sim_dev_timer(dev, UINT64_MAX);
	sim_dev_timer(dev, 0);
	T_EQ(fake_last->timers, 1);
	sim_loop_advance(loop, 0);
	T_EQ(fake_last->timers, 2);
	sim_loop_advance(loop, 10000);
	T_EQ(fake_last->timers, 2);
	stop();
}

static void reset_stops_the_timer(void)
{
	T_NEED(start());
	sim_dev_timer(dev, 500);
	sim_dev_reset(dev);
	sim_loop_advance(loop, 1000);
	T_EQ(fake_last->timers, 0);
	T_EQ(fake_last->resets, 1);
	stop();
}

/* The guest resets the function through the PCI Express capability. */
static void function_level_reset(void)
{
	uint16_t control;

	T_NEED(start());
	sim_local_enable(dev);
	T_EQ(sim_local_reg_write(dev, 0, 0x80, 8, 5), 0);
	T_TRUE(dev->irq.open);
	control = PCI_EXP_DEVCTL_BCR_FLR;
	T_EQ(sim_config_write(dev, dev->pci.pcie + PCI_EXP_DEVCTL, &control, 2), 0);
	T_EQ(fake_last->resets, 1);
	T_EQ(fake_last->registers[0x80 / 8], 0);
	T_TRUE(!dev->irq.open);
	T_TRUE(!dev->bus_master);
	T_TRUE(!sim_pci_bus_master(&dev->pci));
	stop();
}

/* ------------------------------------------------------------ frames */

static char frame[100];
static size_t sent_length;

static void *port_alloc(void *ctx, size_t length)
{
	T_TRUE(ctx == &sent_length);
	return length <= sizeof(frame) ? frame : NULL;
}

static void port_send(void *ctx, void *buffer, size_t length)
{
	T_TRUE(ctx == &sent_length);
	T_TRUE(buffer == frame);
	sent_length = length;
}

static void frames_pass_both_ways(void)
{
	static const struct sim_port_ops ops = {.tx_alloc = port_alloc, .tx_send = port_send};
	struct sim_dev_config config = {
		.class = &fake_class, .port = &ops, .port_ctx = &sent_length};
	char *buffer;

	T_NEED(!sim_loop_create(true, &loop));
	config.loop = loop;
	T_NEED(!sim_dev_create(&config, &dev));
	T_EQ(strcmp(sim_dev_name(dev), "fake"), 0);
	buffer = sim_dev_tx_alloc(dev, 64);
	T_NEED(buffer);
	sim_dev_tx_send(dev, buffer, 60);
	T_EQ(sent_length, 60);
	T_TRUE(!sim_dev_tx_alloc(dev, 101));
	sim_dev_tx_room(dev);
	T_EQ(fake_last->rooms, 1);
	sim_dev_rx_frame(dev, frame, 60);
	T_EQ(fake_last->frames, 1);
	stop();
}

static void frames_without_a_port_vanish(void)
{
	char *buffer;

	T_NEED(start());
	buffer = sim_dev_tx_alloc(dev, 9000);
	T_NEED(buffer);
	memset(buffer, 1, 9000);
	sim_dev_tx_send(dev, buffer, 9000);
	stop();
}

/* ------------------------------------------------------------ guest memory and log */

static void dma_needs_bus_master(void)
{
	static uint8_t memory[4096];
	uint8_t byte = 3;

	T_NEED(start());
	T_EQ(sim_local_add_memory(dev, 0x1000, memory, sizeof(memory), true), 0);
	T_TRUE(!sim_dma_map(dev, 0x1000, 1, true));
	T_EQ(sim_dma_read(dev, 0x1000, &byte, 1), -EFAULT);
	T_EQ(sim_dma_write(dev, 0x1000, &byte, 1), -EFAULT);
	sim_local_enable(dev);
	T_TRUE(sim_dma_map(dev, 0x1000, 1, true) == memory);
	T_EQ(sim_dma_write(dev, 0x1000, &byte, 1), 0);
	T_EQ(memory[0], 3);
	sim_local_reset(dev);
	T_TRUE(!sim_dma_map(dev, 0x1000, 1, true));
	stop();
}

static void log_has_name_and_limits(void)
{
	char longest[2000];
	unsigned int i;

	T_NEED(start());
	sim_log(dev, "number %d", 5);
	T_EQ(strcmp(line.last, "nic0: number 5"), 0);
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = 0;
	sim_log(dev, "%s", longest);
	T_TRUE(strlen(line.last) < 600);
	for (i = 0; i < 1000; i++)
		sim_log(dev, "again");
	T_EQ(line.lines, 32);
	/* One line a tenth of a second, and the number of those that are missing. */
	sim_loop_advance(loop, 100000000);
	sim_log(dev, "later");
	T_EQ(line.lines, 34);
	T_EQ(strcmp(line.last, "nic0: later"), 0);
	sim_log(dev, "too soon");
	T_EQ(line.lines, 34);
	sim_loop_advance(loop, 3600 * 1000000000ull);
	for (i = 0; i < 1000; i++)
		sim_log(dev, "again");
	T_EQ(line.lines, 34 + 33);
	stop();
}

T_MAIN("sim_dev", T_CASE(wrong_classes_are_refused), T_CASE(optional_functions_may_be_missing),
       T_CASE(timer_comes_once_at_its_time), T_CASE(reset_stops_the_timer),
       T_CASE(function_level_reset), T_CASE(frames_pass_both_ways),
       T_CASE(frames_without_a_port_vanish), T_CASE(dma_needs_bus_master),
       T_CASE(log_has_name_and_limits), )
