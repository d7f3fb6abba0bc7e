/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Topology files of any content: taken or refused with one line, nothing lost. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sim/main/topology.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct topology *topology = NULL;
	char error[TOPOLOGY_ERROR_MAX] = "";

	if (!topology_parse("t.yaml", data, size, &topology, error)) {
		topology_free(topology);
		return 0;
	}
	if (topology || !*error || strchr(error, '\n'))
		abort();
	return 0;
}
