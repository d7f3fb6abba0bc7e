/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The simulator program, anynic-sim: command line, run folder, the parts put
 * together from a topology, signals, statistics. Knows no class of NIC by
 * name: the table of them is an argument.
 */
#ifndef ANYNIC_SIM_MAIN_SIM_PROGRAM_H
#define ANYNIC_SIM_MAIN_SIM_PROGRAM_H

#include <stddef.h>
#include <stdio.h>

#include "sim/device/sim_dev.h"

struct sim_class_row {
	const char *vendor; /* as written for people */
	const struct sim_class *class;
};

struct sim_class_table {
	const struct sim_class_row *rows;
	size_t count;
};

/* Exit statuses; --help prints the same. */
#define SIM_EXIT_OK	 0
#define SIM_EXIT_RUNTIME 1
#define SIM_EXIT_USAGE	 2

/* Everything main() does. Returns the exit status. */
int sim_program_main(int argc, char **argv, const struct sim_class_table *classes);

#endif
