/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Configuration space: layout, BAR sizing, what software may write, and descriptions that lie. */
#include "sim/device/sim_pci.h"
#include "tests/lib/t.h"

#include <errno.h>
#include <linux/pci_regs.h>
#include <string.h>

static struct sim_pci pci;

static struct sim_pci_config good(void)
{
	return (struct sim_pci_config){
		.vendor_id = 0x1ded,
		.device_id = 0x107f,
		.subsystem_vendor_id = 0xabcd,
		.subsystem_id = 0x1234,
		.revision = 0x12,
		.class_code = 0x020000,
		.pcie = true,
		.bars[0] = {.size = 1ull << 34, .is_64bit = true, .prefetchable = true},
		.bars[2] = {.size = 4096},
		.bars[5] = {.size = 16},
		.msix = {.vectors = 64, .table_bar = 2, .pba_bar = 2, .pba_offset = 2048},
		.serial = {1, 2, 3, 4, 5, 6, 7, 8},
	};
}

static bool init(const struct sim_pci_config *config)
{
	const char *why;

	return !sim_pci_init(&pci, config, &why);
}

static uint32_t read32(uint32_t offset)
{
	uint32_t value;

	sim_pci_read(&pci, offset, &value, 4);
	return value;
}

static bool write32(uint32_t offset, uint32_t value)
{
	return sim_pci_write(&pci, offset, &value, 4);
}

static bool write16(uint32_t offset, uint16_t value)
{
	return sim_pci_write(&pci, offset, &value, 2);
}

static void header_is_as_described(void)
{
	/* PCI 3.0, figure 6-1: by hand from the description above. */
	static const uint8_t want[64] = {
		0xed, 0x1d, 0x7f, 0x10, 0x00, 0x00, 0x10, 0x00, 0x12, 0x00, 0x00, 0x02, 0,
		0,    0,    0,	  0x0c, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x00, 0x00, 0,	  0,	0,    0,    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x00, 0x00, 0xcd, 0xab, 0x34, 0x12, 0x00, 0x00, 0x00, 0x00,
		0x40, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	};
	struct sim_pci_config config = good();

	T_NEED(init(&config));
	T_EQ(pci.size, 4096);
	T_BYTES(pci.config, want, sizeof(want));
}

struct sizing {
	const char *name;
	uint32_t offset;
	uint32_t ones; /* what all ones read back as */
};

static void bars_tell_their_size(void)
{
	static const struct sizing rows[] = {
		{"BAR 0, low half of 16 GiB", 0x10, 0x0000000c},
		{"BAR 0, high half", 0x14, 0xfffffffc},
		{"BAR 2, 4 KiB", 0x18, 0xfffff000},
		{"BAR 3, absent", 0x1c, 0},
		{"BAR 4, absent", 0x20, 0},
		{"BAR 5, 16 bytes", 0x24, 0xfffffff0},
		{"ROM, absent", 0x30, 0},
	};
	struct sim_pci_config config = good();
	size_t i;

	T_NEED(init(&config));
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		T_TRUE_ROW(rows[i].name, !write32(rows[i].offset, 0xffffffff));
		T_EQ_ROW(rows[i].name, read32(rows[i].offset), rows[i].ones);
	}
	/* Byte by byte is the same. */
	T_TRUE(!sim_pci_write(&pci, 0x19, "\x12", 1));
	T_EQ(read32(0x18), 0xffff1000);
	write32(0x18, 0xfebf1234);
	T_EQ(read32(0x18), 0xfebf1000);
}

struct write_row {
	const char *name;
	uint32_t offset;
	uint32_t before; /* put there first, past all rules */
	uint32_t written;
	uint32_t after;
};

static void only_writable_bits_change(void)
{
	static const struct write_row rows[] = {
		{"vendor", 0x00, 0x107f1ded, 0, 0x107f1ded},
		{"command", 0x04, 0, 0xffff, 0x0546},
		{"status is cleared by ones", 0x04, 0xf9100000, 0xf9000000, 0x00100000},
		{"status is kept by zeros", 0x04, 0xf9100000, 0x00000000, 0xf9100000},
		{"status, one bit", 0x04, 0xf9100000, 0x80000000, 0x79100000},
		{"class", 0x08, 0x02000012, 0xffffffff, 0x02000012},
		{"cache line", 0x0c, 0, 0xffffffff, 0x000000ff},
		{"subsystem", 0x2c, 0x1234abcd, 0, 0x1234abcd},
		{"capabilities", 0x34, 0x40, 0xffffffff, 0x40},
		{"interrupt line", 0x3c, 0, 0xffffffff, 0x000000ff},
		{"device capabilities", 0x44, 0x10008021, 0, 0x10008021},
		{"device control", 0x48, 0, 0x7fff, 0x00007bff},
		{"device status", 0x48, 0x000f0000, 0x000f0000, 0},
		{"link capabilities", 0x4c, 0x104, 0, 0x104},
		{"MSI-X control", 0x80, 0x003f0011, 0xffffffff, 0xc03f0011},
		{"MSI-X table", 0x84, 2, 0xffffffff, 2},
		{"MSI-X pending", 0x88, 0x802, 0xffffffff, 0x802},
		{"serial number", 0x104, 0x04030201, 0, 0x04030201},
		{"nothing", 0xffc, 0, 0xffffffff, 0},
	};
	struct sim_pci_config config = good();
	size_t i;

	T_NEED(init(&config));
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		memcpy(pci.config + rows[i].offset, &rows[i].before, 4);
		write32(rows[i].offset, rows[i].written);
		T_EQ_ROW(rows[i].name, read32(rows[i].offset), rows[i].after);
	}
}

/* Each capability is found by walking the list, as a driver does. */
static uint32_t find(uint8_t id)
{
	uint32_t at = pci.config[PCI_CAPABILITY_LIST];
	unsigned int steps = 0;

	while (at && pci.config[at] != id && steps++ < 48)
		at = pci.config[at + 1];
	return at;
}

static void capabilities_are_chained(void)
{
	struct sim_pci_config config = good();

	T_NEED(init(&config));
	T_EQ(find(PCI_CAP_ID_EXP), 0x40);
	T_EQ(find(PCI_CAP_ID_MSIX), 0x80);
	T_EQ(find(PCI_CAP_ID_PM), 0);
	/* Endpoint, version 2; function level reset. */
	T_EQ(read32(0x40) >> 16, 0x0002);
	T_TRUE(read32(0x44) & PCI_EXP_DEVCAP_FLR);
	T_EQ(read32(0x80), 0x003f0011);
	T_EQ(read32(0x84), 2);
	T_EQ(read32(0x88), 0x802);
	T_EQ(read32(0x100), 0x00010003);
	T_EQ(read32(0x104), 0x04030201);
	T_EQ(read32(0x108), 0x08070605);
}

static void plain_pci_is_small(void)
{
	struct sim_pci_config config = good();

	config.pcie = false;
	config.msix.vectors = 0;
	T_NEED(init(&config));
	T_EQ(pci.size, 256);
	T_EQ(read32(0x04), 0);
	T_EQ(read32(0x34), 0);
	T_TRUE(!write16(0x48, 0x8000));
	T_TRUE(!sim_pci_msix_open(&pci));
	config.pcie = true;
	memset(config.serial, 0, 8);
	T_NEED(init(&config));
	T_EQ(read32(0x100), 0);
}

static void reset_bit_resets(void)
{
	struct sim_pci_config config = good();

	T_NEED(init(&config));
	T_TRUE(!write16(0x48, 0x2810));
	T_TRUE(write16(0x48, 0xa810));
	T_EQ(read32(0x48) & 0x8000, 0);
	/* As one byte, and within a longer write. */
	T_TRUE(sim_pci_write(&pci, 0x49, "\x80", 1));
	T_TRUE(sim_pci_write(&pci, 0x40, pci.config + 0x40, 8) == false);
	T_TRUE(write32(0x48, 0x8000));
	write32(0x10, 0xffffffff);
	write16(PCI_COMMAND, 6);
	sim_pci_reset(&pci);
	T_EQ(read32(0x10), 0x0000000c);
	T_EQ(read32(PCI_COMMAND), 0x00100000);
}

static void msix_needs_all_three(void)
{
	struct sim_pci_config config = good();

	T_NEED(init(&config));
	T_TRUE(!sim_pci_msix_open(&pci));
	write16(0x82, 0x8000);
	T_TRUE(!sim_pci_msix_open(&pci));
	write16(PCI_COMMAND, 4);
	T_TRUE(sim_pci_bus_master(&pci));
	T_TRUE(sim_pci_msix_open(&pci));
	write16(0x82, 0xc000);
	T_TRUE(!sim_pci_msix_open(&pci));
	write16(0x82, 0x8000);
	write16(PCI_COMMAND, 2);
	T_TRUE(!sim_pci_msix_open(&pci));
}

struct lie {
	const char *name;
	void (*change)(struct sim_pci_config *config);
};

#define LIE(function, statement)                       \
	static void function(struct sim_pci_config *c) \
	{                                              \
		statement;                             \
	}
LIE(odd_size, c->bars[2].size = 4095)
LIE(small_size, c->bars[2].size = 8)
LIE(large_size, c->bars[0].size = 2 * SIM_PCI_BAR_MAX)
LIE(large_32bit, c->bars[2].size = 1ull << 32)
LIE(no_high_half, c->bars[1].size = 4096)
LIE(last_is_64bit, c->bars[5].is_64bit = true)
LIE(mmap_unaligned, c->bars[0].mmap_length = 100)
LIE(mmap_exceeds, (c->bars[0].mmap_offset = 1ull << 34, c->bars[0].mmap_length = 4096))
LIE(mmap_absent, c->bars[3].mmap_length = 4096)
LIE(mmap_over_msix, c->bars[2].mmap_length = 4096)
LIE(too_many_vectors, c->msix.vectors = 2049)
LIE(table_bar, c->msix.table_bar = 6)
LIE(table_absent, c->msix.table_bar = 4)
LIE(table_exceeds, c->msix.table_offset = 4096 - 64)
LIE(table_unaligned, c->msix.table_offset = 4)
LIE(pba_exceeds, c->msix.pba_offset = 4096)
LIE(pba_in_table, c->msix.pba_offset = 1016)

static void lies_are_refused(void)
{
	static const struct lie rows[] = {
		{"size no power of two", odd_size},
		{"size below 16", small_size},
		{"size above limit", large_size},
		{"32-bit BAR of 4 GiB", large_32bit},
		{"no room for high half", no_high_half},
		{"64 bit in the last BAR", last_is_64bit},
		{"mappable part unaligned", mmap_unaligned},
		{"mappable part exceeds BAR", mmap_exceeds},
		{"mappable part of nothing", mmap_absent},
		{"mappable part over MSI-X", mmap_over_msix},
		{"2049 vectors", too_many_vectors},
		{"table in BAR 6", table_bar},
		{"table in absent BAR", table_absent},
		{"table exceeds BAR", table_exceeds},
		{"table unaligned", table_unaligned},
		{"pending bits exceed BAR", pba_exceeds},
		{"pending bits in table", pba_in_table},
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sim_pci_config config = good();
		const char *why = NULL;

		rows[i].change(&config);
		T_EQ_ROW(rows[i].name, sim_pci_init(&pci, &config, &why), -EINVAL);
		T_TRUE_ROW(rows[i].name, why != NULL);
	}
}

T_MAIN("sim_pci", T_CASE(header_is_as_described), T_CASE(bars_tell_their_size),
       T_CASE(only_writable_bits_change), T_CASE(capabilities_are_chained),
       T_CASE(plain_pci_is_small), T_CASE(reset_bit_resets), T_CASE(msix_needs_all_three),
       T_CASE(lies_are_refused), )
