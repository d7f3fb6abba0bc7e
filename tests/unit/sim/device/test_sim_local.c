/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The in-process back end: the same checks as over the socket. */
#include "tests/lib/t.h"
#include "tests/unit/sim/device/fake_nic.h"

#include <errno.h>
#include <linux/pci_regs.h>
#include <string.h>

static struct sim_loop *loop;
static struct sim_dev *dev;
static struct fake_log line;
static uint8_t memory[0x3000];

static bool start(void)
{
	memset(&line, 0, sizeof(line));
	memset(memory, 0, sizeof(memory));
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

static void registers(void)
{
	uint64_t value;

	T_NEED(start());
	T_EQ(sim_local_reg_write(dev, 0, 0x80, 8, 0x1122334455667788), 0);
	T_EQ(sim_local_reg_read(dev, 0, 0x84, 4, &value), 0);
	T_EQ(value, 0x11223344);
	T_EQ(sim_local_reg_write(dev, 0, 0x81, 8, 0), -EINVAL);
	T_EQ(sim_local_reg_read(dev, 0, FAKE_BAR0_SIZE, 1, &value), -EINVAL);
	T_EQ(sim_local_reg_read(dev, 7, 0, 1, &value), -EINVAL);
	T_EQ(sim_local_reg_write(dev, 0, 0, 5, 0), -EINVAL);
	T_EQ(fake_last->writes, 1);
	stop();
}

struct config_row {
	const char *name;
	unsigned int offset, size;
	int expect;
	uint32_t value;
};

static void configuration_space(void)
{
	static const struct config_row rows[] = {
		{"vendor", 0, 2, 0, FAKE_VENDOR},
		{"device", 2, 2, 0, FAKE_DEVICE},
		{"both", 0, 4, 0, FAKE_VENDOR | FAKE_DEVICE << 16},
		{"revision", 8, 1, 0, 3},
		{"last", 4092, 4, 0, 0},
		{"end", 4096, 1, -EINVAL, 0},
		{"8 bytes", 0, 8, -EINVAL, 0},
		{"3 bytes", 0, 3, -EINVAL, 0},
		{"unaligned", 2, 4, -EINVAL, 0},
		{"wraps", ~0u, 1, -EINVAL, 0},
	};
	uint32_t value;
	size_t i;

	T_NEED(start());
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		value = 0;
		T_EQ_ROW(rows[i].name,
			 sim_local_config_read(dev, rows[i].offset, rows[i].size, &value),
			 rows[i].expect);
		T_EQ_ROW(rows[i].name, value, rows[i].value);
		T_EQ_ROW(rows[i].name,
			 sim_local_config_write(dev, rows[i].offset, rows[i].size, value),
			 rows[i].expect);
	}
	/* Sizing, as a driver's kernel does it. */
	T_EQ(sim_local_config_write(dev, PCI_BASE_ADDRESS_0, 4, ~0u), 0);
	T_EQ(sim_local_config_read(dev, PCI_BASE_ADDRESS_0, 4, &value), 0);
	T_EQ(value, ~(FAKE_BAR0_SIZE - 1) | 4);
	stop();
}

static void guest_memory(void)
{
	uint64_t value;

	T_NEED(start());
	T_EQ(sim_local_add_memory(dev, 0x10000, memory, 0x1000, true), 0);
	T_EQ(sim_local_add_memory(dev, 0x11000, memory + 0x1000, 0x1000, false), 0);
	T_EQ(sim_local_add_memory(dev, 0x11fff, memory, 0x1000, true), -EEXIST);
	T_EQ(sim_local_add_memory(dev, ~0ull, memory, 0x1000, true), -EINVAL);
	T_EQ(sim_local_add_memory(dev, 0x20000, NULL, 0x1000, true), -EINVAL);
	T_EQ(sim_local_add_memory(dev, 0x20000, memory, 0, true), -EINVAL);
	sim_local_enable(dev);
	memory[0xff8] = 9;
	memory[0x1000] = 8;
	T_EQ(sim_dma_read(dev, 0x10ffc, &value, 8), 0);
	T_EQ(value, 8ull << 32);
	T_EQ(sim_dma_write(dev, 0x10ffc, &value, 8), -EFAULT);
	T_TRUE(!sim_dma_map(dev, 0x11000, 1, true));
	T_TRUE(sim_dma_map(dev, 0x11000, 0x1000, false) == memory + 0x1000);
	T_EQ(sim_local_remove_memory(dev, 0x10000, 0x800), -EINVAL);
	T_EQ(sim_local_remove_memory(dev, 0x10000, 0x1000), 0);
	T_EQ(sim_local_remove_memory(dev, 0x10000, 0x1000), -ENOENT);
	T_EQ(sim_dma_read(dev, 0x10000, &value, 8), -EFAULT);
	stop();
}

static void interrupts(void)
{
	uint64_t value;
	uint32_t control;

	T_NEED(start());
	/* Nothing before the driver has enabled it; then it comes late, once. */
	sim_irq_raise(dev, 3);
	sim_irq_raise(dev, 3);
	T_EQ(sim_local_irqs(dev, 3), 0);
	sim_local_enable(dev);
	T_EQ(sim_local_irqs(dev, 3), 1);
	sim_irq_raise(dev, 3);
	sim_irq_raise(dev, 3);
	T_EQ(sim_local_irqs(dev, 3), 2);
	T_EQ(sim_local_irqs(dev, 3), 0);
	T_EQ(sim_local_irqs(dev, FAKE_VECTORS), 0);
	/* Mask bit of the table. */
	T_EQ(sim_local_reg_write(dev, FAKE_MSIX_BAR, 3 * 16 + 12, 4, 1), 0);
	sim_irq_raise(dev, 3);
	T_EQ(sim_local_irqs(dev, 3), 0);
	T_EQ(sim_local_reg_read(dev, FAKE_MSIX_BAR, FAKE_PBA, 8, &value), 0);
	T_EQ(value, 8);
	T_EQ(sim_local_reg_write(dev, FAKE_MSIX_BAR, 3 * 16 + 12, 4, 0), 0);
	T_EQ(sim_local_irqs(dev, 3), 1);
	/* Bus mastering, and the mask of the whole function. */
	T_EQ(sim_local_config_write(dev, PCI_COMMAND, 2, PCI_COMMAND_MEMORY), 0);
	sim_irq_raise(dev, 3);
	T_EQ(sim_local_irqs(dev, 3), 0);
	T_EQ(sim_local_config_write(dev, PCI_COMMAND, 2, PCI_COMMAND_MASTER), 0);
	T_EQ(sim_local_irqs(dev, 3), 1);
	T_EQ(sim_local_config_read(dev, 0x82, 2, &control), 0);
	T_EQ(control, PCI_MSIX_FLAGS_ENABLE | (FAKE_VECTORS - 1));
	T_EQ(sim_local_config_write(dev, 0x82, 2, control | PCI_MSIX_FLAGS_MASKALL), 0);
	sim_irq_raise(dev, 69);
	T_EQ(sim_local_irqs(dev, 69), 0);
	T_EQ(sim_local_config_write(dev, 0x82, 2, control), 0);
	T_EQ(sim_local_irqs(dev, 69), 1);
	stop();
}

static void reset_takes_all_back(void)
{
	uint32_t value;

	T_NEED(start());
	sim_local_enable(dev);
	T_EQ(sim_local_reg_write(dev, 0, 0x80, 8, 7), 0);
	sim_irq_raise(dev, 1);
	sim_local_reset(dev);
	T_EQ(fake_last->resets, 1);
	T_EQ(sim_local_irqs(dev, 1), 0);
	sim_irq_raise(dev, 1);
	T_EQ(sim_local_irqs(dev, 1), 0);
	T_EQ(sim_local_config_read(dev, PCI_COMMAND, 2, &value), 0);
	T_EQ(value, 0);
	stop();
}

T_MAIN("sim_local", T_CASE(registers), T_CASE(configuration_space), T_CASE(guest_memory),
       T_CASE(interrupts), T_CASE(reset_takes_all_back), )
