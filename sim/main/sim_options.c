/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Parses the command line. */
#include "sim/main/sim_options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>

static const struct option long_options[] = {
	{"run-dir", required_argument, NULL, 'd'}, {"log", required_argument, NULL, 'l'},
	{"list-classes", no_argument, NULL, 'c'},  {"version", no_argument, NULL, 'V'},
	{"help", no_argument, NULL, 'h'},	   {NULL, 0, NULL, 0},
};

void sim_options_help(void)
{
	fputs("Usage: anynic-sim [--run-dir DIR] [--log FILE] TOPOLOGY.yaml\n"
	      "Simulates the RDMA NICs and the Ethernet switch of a topology. Guests connect\n"
	      "through sockets in the run folder: DIR/<nic>.vfio (QEMU's vfio-user-pci),\n"
	      "DIR/<nic>.eth and DIR/<port>.eth (QEMU's -netdev stream). Prints \"ready\" once\n"
	      "all of them listen, and runs until SIGTERM, SIGINT or its parent's death.\n"
	      "\n"
	      "  -d, --run-dir DIR   folder for sockets and files, default \".\"; made if missing\n"
	      "  -l, --log FILE      default DIR/sim.log; \"-\" is the standard error output\n"
	      "      --list-classes  print the classes of NIC and exit\n"
	      "  -V, --version       print the version and exit\n"
	      "  -h, --help          print this and exit\n"
	      "\n"
	      "SIGUSR1 writes DIR/stats.json, as the end does, and what is captured so far.\n"
	      "Exit status: 0 ended by a signal, 1 failed while running (no memory, a socket or\n"
	      "file that cannot be made), 2 wrong command line or topology.\n",
	      stdout);
}

static int usage_error(const char *text, const char *what)
{
	fprintf(stderr, "anynic-sim: %s%s; see anynic-sim --help\n", text, what);
	return -EINVAL;
}

int sim_options_parse(int argc, char **argv, struct sim_options *options)
{
	int option;

	*options = (struct sim_options){.run_dir = "."};
	optind = 0; /* GNU: from the beginning, also when called again */
	while ((option = getopt_long(argc, argv, "d:l:Vh", long_options, NULL)) != -1) {
		switch (option) {
		case 'd':
			options->run_dir = optarg;
			break;
		case 'l':
			options->log = optarg;
			break;
		case 'c':
			options->list_classes = true;
			break;
		case 'V':
			options->version = true;
			break;
		case 'h':
			options->help = true;
			break;
		default: /* getopt has said what is wrong */
			return -EINVAL;
		}
	}
	if (options->help || options->version || options->list_classes)
		return 0;
	if (optind == argc)
		return usage_error("no topology file given", "");
	if (optind + 1 < argc)
		return usage_error("one topology file only, not also ", argv[optind + 1]);
	options->topology = argv[optind];
	return 0;
}
