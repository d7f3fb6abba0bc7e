/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The miniature driver: what its two files share. */
#ifndef ANYNIC_TESTS_UNIT_ERDMA_GUEST_RING_H
#define ANYNIC_TESTS_UNIT_ERDMA_GUEST_RING_H

#include "tests/unit/providers/erdma/erdma_guest.h"

extern const struct sim_port_ops guest_port;

void guest_cable_init(struct guest *g);
void guest_cable_fini(struct guest *g);

#endif
