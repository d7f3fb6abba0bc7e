/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * PCI vendor ids of the brands. Owns the numbers that belong to a company, not
 * to one NIC. Device ids stand in the class's <class>_hw.h, and the uverbs
 * driver ids (RDMA_DRIVER_...) come from the kernel's <rdma/ib_user_ioctl_verbs.h>:
 * a class on its in-tree driver matches by that id, and nobody invents one.
 */
#ifndef ANYNIC_PROVIDERS_COMMON_IDS_H
#define ANYNIC_PROVIDERS_COMMON_IDS_H

#define NIC_PCI_VENDOR_ALIBABA 0x1ded

#endif
