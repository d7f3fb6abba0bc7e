// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * lab guest: the guest's process 1. Boots from the initramfs into the lab root
 * and then runs commands for scripts/lab until the host ends the guest.
 */
#include <stdio.h>
#include <string.h>

#include "sim/guest/lab_guest.h"

int main(void)
{
	unsigned int failures = lab_boot();
	int ret = lab_agent_run(failures);

	/* Process 1 must not return: the kernel panics, which is how the host learns of it. */
	fprintf(stderr, "lab: the agent ended: %s\n", strerror(-ret));
	return 1;
}
