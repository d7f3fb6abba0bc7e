/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memory for parts of the engine under test: counts its bytes, and fails when told to. */
#ifndef ANYNIC_TESTS_UNIT_SIM_ENGINE_ROCE_COUNTED_H
#define ANYNIC_TESTS_UNIT_SIM_ENGINE_ROCE_COUNTED_H

#include "sim/engine/roce_table.h"

extern const struct roce_memory counted;
/* Bytes that are allocated. */
extern size_t counted_bytes;
/* So many allocations succeed before one fails, and all after it; -1: none fails. */
extern long counted_fail_after;

#endif
