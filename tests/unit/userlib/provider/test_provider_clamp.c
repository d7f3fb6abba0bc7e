/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Clamps: where they come from, what a bad text does, and that they show in queries
 * and in created objects, and never raise anything. Owns the texts.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/userlib/fixture.h"

/* Opens with these clamps; either may be NULL for none. */
static struct ibv_context *open_clamped(const char *list, const char *file)
{
	static bool started;
	struct ibv_context *context;

	/* The folder is made by the first open. */
	if (!started) {
		context = fixture_device();
		if (context)
			ibv_close_device(context);
		started = true;
	}
	if (list)
		setenv("ANYNIC_CLAMP", list, 1);
	else
		unsetenv("ANYNIC_CLAMP");
	nk_put_file("clamp", file ? file : "");
	context = nk_open();
	unsetenv("ANYNIC_CLAMP");
	nk_put_file("clamp", "");
	return context;
}

static void texts(void)
{
	static const struct {
		const char *name, *list, *file;
		int want_errno; /* 0: opens */
		int max_qp_wr;
	} rows[] = {
		{"none", NULL, NULL, 0, 8192},
		{"empty", "", "", 0, 8192},
		{"list", "max_send_wr=64", NULL, 0, 64},
		{"hexadecimal", "max_send_wr=0x40", NULL, 0, 64},
		{"list of several", "max_inline_data=32,max_send_wr=64", NULL, 0, 64},
		{"spaces", " max_send_wr=64 , max_cqe=100 ", NULL, 0, 64},
		{"file", NULL, "# site\nmax_recv_wr=77 # why\n\n", 0, 77},
		{"lower one wins, list", "max_send_wr=50", "max_send_wr=60\n", 0, 50},
		{"lower one wins, file", "max_send_wr=70", "max_send_wr=60\n", 0, 60},
		{"named twice", "max_send_wr=70,max_send_wr=40,max_send_wr=90", NULL, 0, 40},
		{"never raises", "max_send_wr=100000", NULL, 0, 8192},
		{"unknown name", "max_sned_wr=64", NULL, EINVAL, 0},
		{"no value", "max_send_wr", NULL, EINVAL, 0},
		{"empty value", "max_send_wr=", NULL, EINVAL, 0},
		{"not a number", "max_send_wr=many", NULL, EINVAL, 0},
		{"rest after number", "max_send_wr=64k", NULL, EINVAL, 0},
		{"negative", "max_send_wr=-1", NULL, EINVAL, 0},
		{"too large", "max_send_wr=4294967296", NULL, EINVAL, 0},
		{"far too large", "max_send_wr=99999999999999999999", NULL, EINVAL, 0},
		{"path MTU of 1500", "path_mtu=1500", NULL, EINVAL, 0},
		{"bad file", NULL, "max_send_wr=64\nnonsense\n", EINVAL, 0},
	};
	struct ibv_device_attr attr;
	struct ibv_context *context;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		errno = 0;
		context = open_clamped(rows[i].list, rows[i].file);
		T_EQ_ROW(rows[i].name, context == NULL, rows[i].want_errno != 0);
		if (!context) {
			T_EQ_ROW(rows[i].name, errno, rows[i].want_errno);
			continue;
		}
		T_EQ_ROW(rows[i].name, ibv_query_device(context, &attr), 0);
		T_EQ_ROW(rows[i].name, attr.max_qp_wr, rows[i].max_qp_wr);
		ibv_close_device(context);
	}
}

static void show_in_queries(void)
{
	struct ibv_context *context;
	struct ibv_device_attr_ex attr;
	struct ibv_port_attr port;

	context = open_clamped("max_qp=10,max_cq=11,max_mr=12,max_pd=13,max_ah=14,max_send_sge=3,"
			       "max_cqe=100,max_qp_rd_atom=4,max_qp_init_rd_atom=5,"
			       "max_msg_sz=65536,path_mtu=512",
			       NULL);
	T_NEED(context);
	T_EQ(ibv_query_device_ex(context, NULL, &attr), 0);
	T_EQ(attr.orig_attr.max_qp, 10);
	T_EQ(attr.orig_attr.max_cq, 11);
	T_EQ(attr.orig_attr.max_mr, 12);
	T_EQ(attr.orig_attr.max_pd, 13);
	T_EQ(attr.orig_attr.max_ah, 14);
	T_EQ(attr.orig_attr.max_sge, 3);
	T_EQ(attr.orig_attr.max_cqe, 100);
	T_EQ(attr.orig_attr.max_qp_rd_atom, 4);
	T_EQ(attr.orig_attr.max_qp_init_rd_atom, 5);
	T_EQ(ibv_query_port(context, 1, &port), 0);
	T_EQ(port.max_msg_sz, 65536);
	T_EQ(port.active_mtu, IBV_MTU_512);
	T_EQ(port.max_mtu, IBV_MTU_512);
	ibv_close_device(context);
}

/* What is granted lies between the request and the clamp, and is what holds. */
static void show_in_objects(void)
{
	struct ibv_qp_cap cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1};
	struct ibv_qp_cap above[] = {
		{9, 4, 1, 1, 0},
		{4, 4, 3, 1, 0},
		{4, 4, 1, 1, 33},
	};
	char payload[64] = {0};
	struct ibv_sge sges[3] = {{(uintptr_t)payload, 33, 0}};
	struct ibv_send_wr wr = {.sg_list = sges, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	size_t i;

	context = open_clamped("max_inline_data=32,max_send_sge=2,max_send_wr=8,max_cqe=100,"
			       "max_msg_sz=1000",
			       NULL);
	pd = context ? ibv_alloc_pd(context) : NULL;
	cq = pd ? ibv_create_cq(context, 100, NULL, NULL, 0) : NULL;
	T_NEED(cq);
	T_TRUE(!ibv_create_cq(context, 101, NULL, NULL, 0));
	for (i = 0; i < sizeof(above) / sizeof(above[0]); i++) {
		errno = 0;
		T_TRUE(!nk_make_qp(pd, cq, IBV_QPT_RC, &above[i], 0));
		T_EQ(errno, EINVAL);
	}
	qp = nk_make_qp(pd, cq, IBV_QPT_RC, &cap, 0);
	T_NEED(qp);
	T_EQ(cap.max_inline_data, 32);
	T_EQ(cap.max_send_sge, 2);
	T_EQ(cap.max_recv_sge, 1);
	wr.send_flags = IBV_SEND_INLINE;
	T_EQ(ibv_post_send(qp, &wr, &bad), EINVAL);
	sges[0].length = 32;
	T_EQ(ibv_post_send(qp, &wr, &bad), 0);
	wr.send_flags = 0;
	wr.num_sge = 3;
	T_EQ(ibv_post_send(qp, &wr, &bad), EINVAL);
	wr.num_sge = 1;
	sges[0].length = 1001;
	T_EQ(ibv_post_send(qp, &wr, &bad), EINVAL);
	sges[0].length = 1000;
	T_EQ(ibv_post_send(qp, &wr, &bad), 0);
	T_EQ(ibv_destroy_qp(qp), 0);
	T_EQ(ibv_destroy_cq(cq), 0);
	T_EQ(ibv_dealloc_pd(pd), 0);
	ibv_close_device(context);
}

T_MAIN("provider_clamp", T_CASE(texts), T_CASE(show_in_queries), T_CASE(show_in_objects), )
