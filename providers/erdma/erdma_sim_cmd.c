// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * erdma simulator: commands. Owns the dispatch table; the commands themselves
 * are in erdma_sim_cmd_*.c, by object. Knows nothing of how requests come in.
 */
#include "providers/erdma/erdma_sim.h"

#include <errno.h>
#include <string.h>

struct command {
	const char *name;
	uint16_t key; /* ERDMA_CMD_KEY */
	uint8_t length;
	erdma_command_fn run;
};

static const struct command commands[] = {
#define X(name, module, opcode, request) \
	{#name, ERDMA_COMMAND_##name, sizeof(struct erdma_cmd_##request), erdma_command_##name},
	ERDMA_COMMANDS(X)
#undef X
};

int erdma_command(struct erdma_nic *nic, struct erdma_slot *slot, struct erdma_answer *answer)
{
	const struct erdma_cmd *head = (const void *)slot->bytes;
	uint32_t key =
		ERDMA_CMD_KEY(nic_get(head, ERDMA_CMD_MODULE), nic_get(head, ERDMA_CMD_OPCODE));
	size_t i;
	int err;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (commands[i].key == key)
			break;
	if (i == sizeof(commands) / sizeof(commands[0])) {
		sim_log(nic->dev, "command 0x%x: unknown", key);
		return -EOPNOTSUPP;
	}
	/* What stands behind the request is left over from older ones. */
	memset(slot->bytes + commands[i].length, 0, sizeof(slot->bytes) - commands[i].length);
	err = commands[i].run(nic, slot->bytes, answer);
	if (err)
		sim_log(nic->dev, "command %s: %s", commands[i].name, strerror(-err));
	return err;
}
