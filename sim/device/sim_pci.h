/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * PCI configuration space of one device: header, BARs, capabilities. Knows
 * which bits software may change (PCI 3.0 chapter 6, PCIe 4.0 chapter 7);
 * knows nothing of what is behind the BARs.
 */
#ifndef ANYNIC_SIM_DEVICE_SIM_PCI_H
#define ANYNIC_SIM_DEVICE_SIM_PCI_H

#include "sim/device/sim_dev.h"

#define SIM_PCI_CONFIG_SIZE  256u
#define SIM_PCIE_CONFIG_SIZE 4096u

struct sim_pci {
	uint8_t config[SIM_PCIE_CONFIG_SIZE];
	uint8_t writable[SIM_PCIE_CONFIG_SIZE]; /* bits that take what is written */
	uint8_t clearing[SIM_PCIE_CONFIG_SIZE]; /* bits that a written 1 clears */
	uint8_t power_on[SIM_PCIE_CONFIG_SIZE];
	uint32_t size;
	uint16_t msix; /* offset of the capability, 0 = none */
	uint16_t pcie;
};

/* -EINVAL: the description breaks a rule of PCI; *why says which. */
int sim_pci_init(struct sim_pci *pci, const struct sim_pci_config *config, const char **why);
void sim_pci_reset(struct sim_pci *pci);

/* Any length; the range must lie within pci->size. */
void sim_pci_read(const struct sim_pci *pci, uint32_t offset, void *data, uint32_t length);
/* Returns true if the write asks for a function level reset. */
bool sim_pci_write(struct sim_pci *pci, uint32_t offset, const void *data, uint32_t length);

bool sim_pci_bus_master(const struct sim_pci *pci);
/* MSI-X messages may leave: enabled, not masked as a whole, bus master. */
bool sim_pci_msix_open(const struct sim_pci *pci);

#endif
