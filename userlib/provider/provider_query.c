/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What a device and its ports say of themselves, lowered by the clamps. Owns the
 * correction of a RoCE port's MTU. Knows no class but for the version's text.
 */
#include "userlib/provider/provider.h"

#include <errno.h>
#include <limits.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Bytes of headers in front of and behind a RoCE v2 packet's payload that the
 * kernel sets aside when it derives a path MTU from a netdev's: GRH 40, UDP 8,
 * BTH 12, one extension of 28 + 4 (the longest), ICRC 4.
 */
#define ROCE_HEADER_BYTES 96

static void lower(int *value, uint32_t limit)
{
	if (*value > 0 && (uint32_t)*value > limit)
		*value = (int)limit;
}

static void lower_device(struct ibv_device_attr *attr, const struct anynic_limits *clamps)
{
	lower(&attr->max_qp, clamps->max_qp);
	lower(&attr->max_cq, clamps->max_cq);
	lower(&attr->max_mr, clamps->max_mr);
	lower(&attr->max_pd, clamps->max_pd);
	lower(&attr->max_ah, clamps->max_ah);
	lower(&attr->max_qp_wr, clamps->max_send_wr);
	lower(&attr->max_qp_wr, clamps->max_recv_wr);
	lower(&attr->max_sge, clamps->max_send_sge);
	lower(&attr->max_sge, clamps->max_recv_sge);
	lower(&attr->max_cqe, clamps->max_cqe);
	lower(&attr->max_qp_rd_atom, clamps->max_qp_rd_atom);
	lower(&attr->max_qp_init_rd_atom, clamps->max_qp_init_rd_atom);
}

int anynic_query_device_ex(struct ibv_context *ibv_context,
			   const struct ibv_query_device_ex_input *input,
			   struct ibv_device_attr_ex *attr, size_t attr_size)
{
	struct anynic_context *context = to_anynic_context(ibv_context);
	struct ib_uverbs_ex_query_device_resp resp = {0};
	size_t resp_size = sizeof(resp);
	int err;

	err = ibv_cmd_query_device_any(ibv_context, input, attr, attr_size, &resp, &resp_size);
	if (err)
		return err;
	if (context->class->fw_version)
		context->class->fw_version(resp.base.fw_ver, attr->orig_attr.fw_ver,
					   sizeof(attr->orig_attr.fw_ver));
	else
		snprintf(attr->orig_attr.fw_ver, sizeof(attr->orig_attr.fw_ver), "%llu",
			 (unsigned long long)resp.base.fw_ver);
	lower_device(&attr->orig_attr, &context->clamps);
	return 0;
}

/* Empty if the file is missing, and for a GID index that is not in use. */
static bool read_line(const char *path, char *text, size_t room)
{
	FILE *file = fopen(path, "re");
	bool got;

	if (!file)
		return false;
	got = fgets(text, (int)room, file) && *text && *text != '\n';
	fclose(file);
	if (got)
		text[strcspn(text, "\n")] = '\0';
	return got;
}

/* The MTU of the netdev behind the port's first GID, or 0 if nobody can tell. */
static unsigned long netdev_mtu(struct ibv_device *device, uint8_t port_num, int gids)
{
	char path[PATH_MAX], name[IF_NAMESIZE + 1], mtu[16];
	int i;

	for (i = 0; i < gids; i++) {
		snprintf(path, sizeof(path), "%s/ports/%u/gid_attrs/ndevs/%d", device->ibdev_path,
			 port_num, i);
		if (!read_line(path, name, sizeof(name)))
			continue;
		snprintf(path, sizeof(path), "%s/class/net/%s/mtu", ibv_get_sysfs_path(), name);
		return read_line(path, mtu, sizeof(mtu)) ? strtoul(mtu, NULL, 10) : 0;
	}
	return 0;
}

/* The largest path MTU of at most that many bytes; 256 if even that is too much. */
static enum ibv_mtu mtu_of_bytes(unsigned long bytes)
{
	enum ibv_mtu mtu = IBV_MTU_4096;

	while (mtu > IBV_MTU_256 && 128ul << mtu > bytes)
		mtu--;
	return mtu;
}

static void lower_mtu(enum ibv_mtu *mtu, enum ibv_mtu limit)
{
	if (*mtu > limit)
		*mtu = limit;
}

int anynic_query_port(struct ibv_context *ibv_context, uint8_t port_num, struct ibv_port_attr *attr)
{
	struct anynic_context *context = to_anynic_context(ibv_context);
	struct ibv_query_port cmd = {0};
	unsigned long bytes;
	int err;

	err = ibv_cmd_query_port(ibv_context, port_num, attr, &cmd, sizeof(cmd));
	if (err)
		return err;
	/*
	 * A driver may offer the netdev's own MTU, which leaves no room for headers:
	 * a QP that believes it reaches RTS and fails with the first long message.
	 */
	if (attr->link_layer == IBV_LINK_LAYER_ETHERNET) {
		bytes = netdev_mtu(ibv_context->device, port_num, attr->gid_tbl_len);
		if (bytes > ROCE_HEADER_BYTES)
			lower_mtu(&attr->active_mtu, mtu_of_bytes(bytes - ROCE_HEADER_BYTES));
	}
	lower_mtu(&attr->active_mtu, mtu_of_bytes(context->clamps.path_mtu));
	lower_mtu(&attr->max_mtu, mtu_of_bytes(context->clamps.path_mtu));
	if (attr->max_msg_sz > context->clamps.max_msg_sz)
		attr->max_msg_sz = context->clamps.max_msg_sz;
	return 0;
}
