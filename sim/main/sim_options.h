/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The command line of anynic-sim. */
#ifndef ANYNIC_SIM_MAIN_SIM_OPTIONS_H
#define ANYNIC_SIM_MAIN_SIM_OPTIONS_H

#include <stdbool.h>

struct sim_options {
	const char *run_dir;
	const char *log; /* NULL: sim.log in the run folder; "-": stderr */
	const char *topology;
	bool help, version, list_classes;
};

/* 0, or -EINVAL after a line on stderr. */
int sim_options_parse(int argc, char **argv, struct sim_options *options);
void sim_options_help(void);

#endif
