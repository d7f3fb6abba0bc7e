/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A fake NIC behind the vfio-user server, with a client that has negotiated: what most tests need. */
#ifndef ANYNIC_TESTS_UNIT_SIM_DEVICE_VFU_RIG_H
#define ANYNIC_TESTS_UNIT_SIM_DEVICE_VFU_RIG_H

#include "tests/unit/sim/device/fake_nic.h"
#include "tests/unit/sim/device/vfu_client.h"

struct vfu_rig {
	struct sim_loop *loop;
	struct sim_dev *dev;
	struct fake_log line;
	struct vfu_client client;
};

bool rig_start(struct vfu_rig *rig, const char *personality);
void rig_stop(struct vfu_rig *rig);
/* The connection is alive, and in step. */
bool rig_still_serves(struct vfu_rig *rig);

#endif
