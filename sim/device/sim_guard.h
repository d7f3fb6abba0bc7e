/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Guards memory that belongs to somebody else: a file mapping whose owner
 * cuts the file short turns our next access into SIGBUS. Owns the process's
 * SIGBUS handler. Knows nothing of what the memory is for.
 *
 * On a fault inside a guarded range the whole range is replaced by zero pages and *hit is set;
 * the faulting access then goes on, with zeros. A fault anywhere else is handed on to the handler
 * that was there before.
 */
#ifndef ANYNIC_SIM_DEVICE_SIM_GUARD_H
#define ANYNIC_SIM_DEVICE_SIM_GUARD_H

#include <signal.h>
#include <stddef.h>

int sim_guard_add(void *address, size_t length, volatile sig_atomic_t *hit);
/* Before munmap(). */
void sim_guard_remove(void *address);

#endif
