/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* PCI configuration space: layout and write masks. Knows nothing of what is behind the BARs. */
#include "sim/device/sim_pci.h"

#include "sim/device/sim_irq.h"

#include <endian.h>
#include <errno.h>
#include <linux/pci_regs.h>
#include <string.h>

/* Capabilities follow the header, in this order. */
#define CAP_PCIE	 0x40u
#define CAP_MSIX	 0x80u
#define EXT_CAP_SERIAL	 0x100u
#define SMALLEST_BAR	 16u
#define PAGE_MASK	 4095u
#define STATUS_RW1C	 0xf900u /* PCI 3.0, table 6-2: error bits */
#define DEVSTA_RW1C	 0x000fu
#define LINK_SPEED_WIDTH 0x0104u /* 16 GT/s, 16 lanes */

/* ------------------------------------------------------------ fields */

static void put16(uint8_t *where, uint32_t offset, uint16_t value)
{
	value = htole16(value);
	memcpy(where + offset, &value, sizeof(value));
}

static void put32(uint8_t *where, uint32_t offset, uint32_t value)
{
	value = htole32(value);
	memcpy(where + offset, &value, sizeof(value));
}

static uint16_t get16(const uint8_t *where, uint32_t offset)
{
	uint16_t value;

	memcpy(&value, where + offset, sizeof(value));
	return le16toh(value);
}

/* ------------------------------------------------------------ checking the description */

static const char *check_bar(const struct sim_pci_config *config, unsigned int i)
{
	const struct sim_pci_bar *bar = &config->bars[i];
	uint64_t limit = bar->is_64bit ? SIM_PCI_BAR_MAX : 1ull << 31;

	if (!bar->size)
		return bar->mmap_length ? "mappable part of an absent BAR" : NULL;
	if (bar->size & (bar->size - 1) || bar->size < SMALLEST_BAR || bar->size > limit)
		return "BAR size is not a power of two, or out of range";
	if (bar->is_64bit && (i + 1 == SIM_PCI_BARS || config->bars[i + 1].size))
		return "64-bit BAR without a free BAR after it";
	if ((bar->mmap_offset | bar->mmap_length) & PAGE_MASK)
		return "mappable part of a BAR is not page-aligned";
	if (bar->mmap_offset > bar->size || bar->mmap_length > bar->size - bar->mmap_offset)
		return "mappable part exceeds the BAR";
	return NULL;
}

static bool overlap(uint64_t a, uint64_t a_length, uint64_t b, uint64_t b_length)
{
	return a < b + b_length && b < a + a_length;
}

static const char *check_msix_part(const struct sim_pci_config *config, unsigned int index,
				   uint32_t offset, uint64_t length)
{
	const struct sim_pci_bar *bar;

	if (index >= SIM_PCI_BARS)
		return "MSI-X in a BAR that does not exist";
	bar = &config->bars[index];
	/* The low three bits of the offset hold the BAR number. */
	if (offset & 7 || offset > bar->size || length > bar->size - offset)
		return "MSI-X table or pending bits exceed the BAR, or are not aligned to 8";
	if (overlap(offset, length, bar->mmap_offset, bar->mmap_length))
		return "MSI-X in the mappable part of a BAR";
	return NULL;
}

static const char *check_msix(const struct sim_pci_config *config)
{
	uint64_t table = (uint64_t)config->msix.vectors * SIM_IRQ_ENTRY_SIZE;
	uint64_t pba = (config->msix.vectors + 63u) / 64u * 8u;
	const char *why;

	if (!config->msix.vectors)
		return NULL;
	if (config->msix.vectors > SIM_IRQ_VECTORS_MAX)
		return "more than 2048 MSI-X vectors";
	why = check_msix_part(config, config->msix.table_bar, config->msix.table_offset, table);
	if (!why)
		why = check_msix_part(config, config->msix.pba_bar, config->msix.pba_offset, pba);
	if (!why && config->msix.table_bar == config->msix.pba_bar &&
	    overlap(config->msix.table_offset, table, config->msix.pba_offset, pba))
		why = "MSI-X table and pending bits overlap";
	return why;
}

static const char *check_config(const struct sim_pci_config *config)
{
	const char *why = NULL;
	unsigned int i;

	for (i = 0; i < SIM_PCI_BARS && !why; i++)
		why = check_bar(config, i);
	return why ? why : check_msix(config);
}

/* ------------------------------------------------------------ layout */

static void lay_header(struct sim_pci *pci, const struct sim_pci_config *config)
{
	put16(pci->config, PCI_VENDOR_ID, config->vendor_id);
	put16(pci->config, PCI_DEVICE_ID, config->device_id);
	put16(pci->writable, PCI_COMMAND,
	      PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_PARITY | PCI_COMMAND_SERR |
		      PCI_COMMAND_INTX_DISABLE);
	put16(pci->clearing, PCI_STATUS, STATUS_RW1C);
	put32(pci->config, PCI_CLASS_REVISION, config->class_code << 8 | config->revision);
	pci->writable[PCI_CACHE_LINE_SIZE] = 0xff;
	put16(pci->config, PCI_SUBSYSTEM_VENDOR_ID, config->subsystem_vendor_id);
	put16(pci->config, PCI_SUBSYSTEM_ID, config->subsystem_id);
	/* Software keeps a note here even of a device without INTx. */
	pci->writable[PCI_INTERRUPT_LINE] = 0xff;
}

/* Sizing works by itself: of all ones written, the address bits below the size stay zero. */
static void lay_bar(struct sim_pci *pci, unsigned int i, const struct sim_pci_bar *bar)
{
	uint32_t offset = PCI_BASE_ADDRESS_0 + 4 * i;
	uint64_t mask = ~(bar->size - 1);
	uint32_t type = PCI_BASE_ADDRESS_SPACE_MEMORY;

	if (!bar->size)
		return;
	if (bar->prefetchable)
		type |= PCI_BASE_ADDRESS_MEM_PREFETCH;
	if (bar->is_64bit) {
		type |= PCI_BASE_ADDRESS_MEM_TYPE_64;
		put32(pci->writable, offset + 4, (uint32_t)(mask >> 32));
	}
	put32(pci->config, offset, type);
	put32(pci->writable, offset, (uint32_t)mask);
}

/* Puts a capability at the end of the list. */
static void chain(struct sim_pci *pci, uint32_t offset, uint8_t id)
{
	uint32_t link = PCI_CAPABILITY_LIST;

	while (pci->config[link])
		link = pci->config[link] + (uint32_t)PCI_CAP_LIST_NEXT;
	pci->config[link] = (uint8_t)offset;
	pci->config[offset] = id;
	put16(pci->config, PCI_STATUS, PCI_STATUS_CAP_LIST);
}

/* A PCI Express endpoint that can be reset by function (PCIe 4.0, 7.5.3). */
static void lay_pcie(struct sim_pci *pci)
{
	uint32_t at = CAP_PCIE;

	chain(pci, at, PCI_CAP_ID_EXP);
	pci->pcie = (uint16_t)at;
	put16(pci->config, at + PCI_EXP_FLAGS, 2 | PCI_EXP_TYPE_ENDPOINT << 4);
	put32(pci->config, at + PCI_EXP_DEVCAP,
	      1 /* payload up to 256 bytes */ | PCI_EXP_DEVCAP_EXT_TAG | PCI_EXP_DEVCAP_RBER |
		      PCI_EXP_DEVCAP_FLR);
	put16(pci->config, at + PCI_EXP_DEVCTL,
	      PCI_EXP_DEVCTL_RELAX_EN | PCI_EXP_DEVCTL_NOSNOOP_EN | PCI_EXP_DEVCTL_READRQ_512B);
	/* All but the reset bit, which is seen in what is written and always reads as zero. */
	put16(pci->writable, at + PCI_EXP_DEVCTL, 0x7fff & ~PCI_EXP_DEVCTL_AUX_PME);
	put16(pci->clearing, at + PCI_EXP_DEVSTA, DEVSTA_RW1C);
	put32(pci->config, at + PCI_EXP_LNKCAP, LINK_SPEED_WIDTH);
	put16(pci->writable, at + PCI_EXP_LNKCTL,
	      PCI_EXP_LNKCTL_ASPMC | PCI_EXP_LNKCTL_RCB | PCI_EXP_LNKCTL_CCC | PCI_EXP_LNKCTL_ES);
	put16(pci->config, at + PCI_EXP_LNKSTA, LINK_SPEED_WIDTH);
	put32(pci->config, at + PCI_EXP_DEVCAP2, PCI_EXP_DEVCAP2_COMP_TMOUT_DIS);
	put16(pci->writable, at + PCI_EXP_DEVCTL2,
	      PCI_EXP_DEVCTL2_COMP_TIMEOUT | PCI_EXP_DEVCTL2_COMP_TMOUT_DIS);
	put32(pci->config, at + PCI_EXP_LNKCAP2,
	      PCI_EXP_LNKCAP2_SLS_2_5GB | PCI_EXP_LNKCAP2_SLS_5_0GB | PCI_EXP_LNKCAP2_SLS_8_0GB |
		      PCI_EXP_LNKCAP2_SLS_16_0GB);
	put16(pci->config, at + PCI_EXP_LNKCTL2, PCI_EXP_LNKCTL2_TLS_16_0GT);
	put16(pci->writable, at + PCI_EXP_LNKCTL2, PCI_EXP_LNKCTL2_TLS);
}

static void lay_msix(struct sim_pci *pci, const struct sim_pci_config *config)
{
	uint32_t at = CAP_MSIX;

	chain(pci, at, PCI_CAP_ID_MSIX);
	pci->msix = (uint16_t)at;
	put16(pci->config, at + PCI_MSIX_FLAGS, (uint16_t)(config->msix.vectors - 1));
	put16(pci->writable, at + PCI_MSIX_FLAGS, PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL);
	put32(pci->config, at + PCI_MSIX_TABLE, config->msix.table_offset | config->msix.table_bar);
	put32(pci->config, at + PCI_MSIX_PBA, config->msix.pba_offset | config->msix.pba_bar);
}

static void lay_serial(struct sim_pci *pci, const uint8_t serial[8])
{
	put32(pci->config, EXT_CAP_SERIAL, PCI_EXT_CAP_ID_DSN | 1u << 16);
	memcpy(pci->config + EXT_CAP_SERIAL + 4, serial, 8);
}

int sim_pci_init(struct sim_pci *pci, const struct sim_pci_config *config, const char **why)
{
	static const uint8_t no_serial[8];
	unsigned int i;

	*why = check_config(config);
	if (*why)
		return -EINVAL;
	memset(pci, 0, sizeof(*pci));
	pci->size = config->pcie ? SIM_PCIE_CONFIG_SIZE : SIM_PCI_CONFIG_SIZE;
	lay_header(pci, config);
	for (i = 0; i < SIM_PCI_BARS; i++)
		lay_bar(pci, i, &config->bars[i]);
	if (config->pcie)
		lay_pcie(pci);
	if (config->msix.vectors)
		lay_msix(pci, config);
	if (config->pcie && memcmp(config->serial, no_serial, sizeof(no_serial)))
		lay_serial(pci, config->serial);
	memcpy(pci->power_on, pci->config, sizeof(pci->config));
	return 0;
}

void sim_pci_reset(struct sim_pci *pci)
{
	memcpy(pci->config, pci->power_on, sizeof(pci->config));
}

/* ------------------------------------------------------------ access */

void sim_pci_read(const struct sim_pci *pci, uint32_t offset, void *data, uint32_t length)
{
	memcpy(data, pci->config + offset, length);
}

bool sim_pci_write(struct sim_pci *pci, uint32_t offset, const void *data, uint32_t length)
{
	/* The reset bit is the top bit of the register's high byte. */
	uint32_t reset_byte = pci->pcie + PCI_EXP_DEVCTL + 1u;
	const uint8_t *bytes = data;
	bool reset = false;
	uint32_t i;

	for (i = 0; i < length; i++) {
		uint8_t *byte = &pci->config[offset + i];
		uint8_t writable = pci->writable[offset + i];

		*byte = (uint8_t)((*byte & ~writable) | (bytes[i] & writable));
		*byte = (uint8_t)(*byte & ~(bytes[i] & pci->clearing[offset + i]));
		if (pci->pcie && offset + i == reset_byte &&
		    bytes[i] & (PCI_EXP_DEVCTL_BCR_FLR >> 8))
			reset = true;
	}
	return reset;
}

bool sim_pci_bus_master(const struct sim_pci *pci)
{
	return get16(pci->config, PCI_COMMAND) & PCI_COMMAND_MASTER;
}

bool sim_pci_msix_open(const struct sim_pci *pci)
{
	uint16_t flags;

	if (!pci->msix || !sim_pci_bus_master(pci))
		return false;
	flags = get16(pci->config, pci->msix + (uint32_t)PCI_MSIX_FLAGS);
	return (flags & (PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL)) == PCI_MSIX_FLAGS_ENABLE;
}
