/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Creating and changing a queue pair, as far as it is the same for every NIC. Owns
 * the checks against limits and against the port. Makes no queue: a class does.
 */
#include "userlib/provider/provider.h"

#include <errno.h>
#include <string.h>

/* A verbs extension that is not in this list has no meaning to any class. */
#define CREATE_MASK (IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)

/* Refuses rather than grants less: nobody looks at what came back until it hurts. */
static int check_cap(struct ibv_context *context, const struct ibv_qp_cap *cap)
{
	const struct anynic_limits *limits = &to_anynic_context(context)->limits;
	const struct {
		const char *name;
		uint32_t asked, limit;
	} rows[] = {
		{"max_send_wr", cap->max_send_wr, limits->max_send_wr},
		{"max_recv_wr", cap->max_recv_wr, limits->max_recv_wr},
		{"max_send_sge", cap->max_send_sge, limits->max_send_sge},
		{"max_recv_sge", cap->max_recv_sge, limits->max_recv_sge},
		{"max_inline_data", cap->max_inline_data, limits->max_inline_data},
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].asked <= rows[i].limit)
			continue;
		anynic_refused(context, "create_qp: %s %u > %u (NIC's limit or clamp)\n",
			       rows[i].name, rows[i].asked, rows[i].limit);
		return -EINVAL;
	}
	return 0;
}

struct ibv_qp *anynic_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	struct anynic_context *anynic = to_anynic_context(context);
	int err = 0;

	if (!check_comp_mask(attr->comp_mask, CREATE_MASK) || attr->srq)
		err = -EOPNOTSUPP;
	else if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD) || !attr->send_cq || !attr->recv_cq)
		err = -EINVAL;
	else
		err = check_cap(context, &attr->cap);
	if (err) {
		errno = -err;
		return NULL;
	}
	return anynic->class->create_qp(anynic, attr);
}

struct ibv_qp *anynic_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex extended = {
		.qp_context = attr->qp_context,
		.send_cq = attr->send_cq,
		.recv_cq = attr->recv_cq,
		.srq = attr->srq,
		.cap = attr->cap,
		.qp_type = attr->qp_type,
		.sq_sig_all = attr->sq_sig_all,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = pd,
	};
	struct ibv_qp *qp = anynic_create_qp_ex(pd->context, &extended);

	if (qp)
		attr->cap = extended.cap;
	return qp;
}

/* In-tree drivers take any path MTU; on the wire it fails later, and elsewhere. */
static int check_path_mtu(struct ibv_qp *qp, enum ibv_mtu path_mtu, uint8_t port_num)
{
	struct ibv_port_attr port;
	int err;

	/* Not zeroed by every libibverbs, and not every field is always set. */
	memset(&port, 0, sizeof(port));
	err = anynic_query_port(qp->context, port_num ? port_num : 1, &port);
	if (err)
		return -err;
	if (path_mtu >= IBV_MTU_256 && path_mtu <= port.active_mtu)
		return 0;
	anynic_refused(qp->context, "modify_qp: path_mtu %u > %u (active_mtu of port %u)\n",
		       128u << path_mtu, 128u << port.active_mtu, port_num);
	return -EINVAL;
}

static int check_read_limits(struct ibv_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
	const struct anynic_limits *limits = &to_anynic_context(qp->context)->limits;

	if ((mask & IBV_QP_MAX_QP_RD_ATOMIC && attr->max_rd_atomic > limits->max_qp_init_rd_atom) ||
	    (mask & IBV_QP_MAX_DEST_RD_ATOMIC &&
	     attr->max_dest_rd_atomic > limits->max_qp_rd_atom)) {
		anynic_refused(qp->context, "modify_qp: max_rd_atomic %u/%u > %u/%u (clamp)\n",
			       attr->max_rd_atomic, attr->max_dest_rd_atomic,
			       limits->max_qp_init_rd_atom, limits->max_qp_rd_atom);
		return -EINVAL;
	}
	return 0;
}

int anynic_modify_qp(struct ibv_qp *ibv_qp, struct ibv_qp_attr *attr, int mask)
{
	struct anynic_qp *qp = container_of(ibv_qp, struct anynic_qp, verbs.qp);
	int err = check_read_limits(ibv_qp, attr, mask);

	if (!err && mask & IBV_QP_PATH_MTU)
		err = check_path_mtu(ibv_qp, attr->path_mtu, qp->port_num);
	if (!err)
		err = to_anynic_context(ibv_qp->context)->class->modify_qp(ibv_qp, attr, mask);
	if (!err && mask & IBV_QP_PORT)
		qp->port_num = attr->port_num;
	return -err;
}
