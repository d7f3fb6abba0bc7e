/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Puts loop, fake NIC and vfio-user client together. Knows nothing of what is tested. */
#include "tests/unit/sim/device/vfu_rig.h"

#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <string.h>

bool rig_start(struct vfu_rig *rig, const char *personality)
{
	memset(&rig->line, 0, sizeof(rig->line));
	if (sim_loop_create(true, &rig->loop))
		return false;
	rig->dev = fake_dev_create(rig->loop, personality, &rig->line);
	return rig->dev && !client_init(&rig->client, rig->loop, rig->dev) &&
	       client_negotiate(&rig->client);
}

void rig_stop(struct vfu_rig *rig)
{
	client_fini(&rig->client);
	sim_dev_destroy(rig->dev);
	sim_loop_destroy(rig->loop);
}

bool rig_still_serves(struct vfu_rig *rig)
{
	uint64_t value;

	return !client_read(&rig->client, VFIO_PCI_CONFIG_REGION_INDEX, PCI_VENDOR_ID, 4, &value) &&
	       value == (FAKE_VENDOR | FAKE_DEVICE << 16);
}
