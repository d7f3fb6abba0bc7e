/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * erdma's WQEs against the stock provider's, byte by byte: every opcode, SGE count,
 * inline size and flag, at every place in the ring. Owns the comparison; the table
 * is in tests/bench/wqe_dump.c. What the stock provider lacks (LOCAL_INV, UD) is
 * compared with golden bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/golden/erdma_queue.h"
#include "tests/unit/userlib/fixture.h"

#define LINE_BYTES 600
#define ALL_ROWS   3920

struct tally {
	unsigned int same, refused, different;
};

/* A row that only the stock provider refuses is one that it does not have yet. */
static void compare_row(const char *ours, const char *theirs, struct tally *tally)
{
	if (strstr(theirs, ": refused\n") || strncmp(theirs, "step", 4) == 0)
		tally->refused++;
	else if (strcmp(ours, theirs) == 0 && !strstr(ours, "stray"))
		tally->same++;
	else if (tally->different++ < 5)
		t_check(0, __FILE__, __LINE__, "ours   %s# theirs %s", ours, theirs);
}

static struct tally compare(const char *driver, const char *option)
{
	char ours[LINE_BYTES], theirs[LINE_BYTES], command[512];
	FILE *our_dump, *their_dump;
	struct tally tally = {0};

	snprintf(command, sizeof(command), WQE_DUMP " " ANYNIC_DRIVER " %s", option);
	our_dump = popen(command, "r");
	snprintf(command, sizeof(command), WQE_DUMP " %s %s", driver, option);
	their_dump = popen(command, "r");
	if (!T_TRUE(our_dump && their_dump))
		return tally;
	while (fgets(ours, sizeof(ours), our_dump) && fgets(theirs, sizeof(theirs), their_dump))
		compare_row(ours, theirs, &tally);
	T_EQ(pclose(our_dump), 0);
	T_EQ(pclose(their_dump), 0);
	return tally;
}

static bool has_driver(const char *driver)
{
	char command[512];

	snprintf(command, sizeof(command), WQE_DUMP " %s >/dev/null 2>&1", driver);
	return system(command) == 0;
}

static void same_bytes_as_packaged(void)
{
	struct tally tally = compare("erdma", "");

	T_EQ(tally.different, 0);
	T_TRUE(tally.same > 2500);
}

/* The newest release's source: it refuses nothing in the table but the steps between. */
static void same_bytes_as_newest(void)
{
	struct tally tally = compare(STOCK_DRIVER, "");

	T_EQ(tally.different, 0);
	T_EQ(tally.same + tally.refused, ALL_ROWS);
	T_TRUE(tally.same > 3600);
}

static void same_bytes_with_sq_sig_all(void)
{
	struct tally tally = compare(STOCK_DRIVER, "sq_sig_all");

	T_EQ(tally.different, 0);
	T_TRUE(tally.same > 3600);
}

/* The golden row has QPN 0x12345 and index 3; ours has its own. */
static void local_inv_as_the_kernel_writes_it(void)
{
	uint8_t want[sizeof(struct erdma_sqe_reg_mr)];
	struct erdma_sqe_reg_mr *golden = (void *)want;
	struct ibv_send_wr wr, *bad;
	struct ibv_sge sge;
	struct fixture f;

	T_NEED(fixture_open(&f, IBV_QPT_RC));
	t_hex(GOLDEN_SQE_LOCAL_INV_BYTES, want, sizeof(want));
	nic_set(&golden->head, ERDMA_SQE_QPN, f.qp->qp_num);
	nic_set(&golden->head, ERDMA_SQE_END, 1);
	wr = fixture_send(IBV_WR_LOCAL_INV, &sge);
	wr.send_flags = 0;
	wr.num_sge = 0;
	wr.invalidate_rkey = 0x7b31a;
	T_EQ(ibv_post_send(f.qp, &wr, &bad), 0);
	T_BYTES(f.nk_qp->ring, want, sizeof(want));
	fixture_close(&f);
}

/* Kernel erdma_qp.c init_send_sqe_ud(); the driver's ids are ours. */
static void ud_as_the_kernel_writes_it(void)
{
	struct ibv_ah_attr attr = {.is_global = 1, .port_num = 1};
	uint8_t want[sizeof(struct erdma_sqe_ud)];
	struct erdma_sqe_ud *golden = (void *)want;
	struct ibv_send_wr wr, *bad;
	struct ibv_sge sge;
	struct fixture f;
	struct ibv_ah *ah;

	T_NEED(fixture_open(&f, IBV_QPT_UD));
	nk.makes_ahs = true;
	ah = ibv_create_ah(f.pd, &attr);
	T_NEED(ah);
	t_hex(GOLDEN_SQE_UD_BYTES, want, sizeof(want));
	nic_set(&golden->head, ERDMA_SQE_QPN, f.qp->qp_num);
	golden->ahn = nic_to_le32(ah->handle); /* the harness gives both the same number */
	wr = fixture_send(IBV_WR_SEND_WITH_IMM, &sge);
	sge.length = 0x20;
	wr.imm_data = htobe32(0xaabbccdd);
	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = 0x155;
	wr.wr.ud.remote_qkey = 0x11111111;
	T_EQ(ibv_post_send(f.qp, &wr, &bad), 0);
	T_BYTES(f.nk_qp->ring, want, sizeof(want));
	/* A Q_Key with the high bit set stands for the QP's own, which is the same one. */
	wr.wr.ud.remote_qkey = 0x80000000;
	T_EQ(ibv_post_send(f.qp, &wr, &bad), 0);
	nic_set(&golden->head, ERDMA_SQE_END, 4);
	T_BYTES(f.nk_qp->ring + 2 * ERDMA_SQ_BLOCK_BYTES, want, sizeof(want));
	T_EQ(ibv_destroy_ah(ah), 0);
	nk.makes_ahs = false;
	fixture_close(&f);
}

/* Where somebody looks for leaks ours alone: the stock provider leaks its records. */
static bool is_watched(void)
{
	return STOCK_IS_WATCHED || getenv("ANYNIC_VALGRIND");
}

static void our_rows(void)
{
	char line[LINE_BYTES];
	unsigned int rows = 0;
	FILE *dump = popen(WQE_DUMP " " ANYNIC_DRIVER, "r");

	T_NEED(dump);
	for (; fgets(line, sizeof(line), dump); rows++)
		T_TRUE_ROW(line, !strstr(line, "stray") && !strstr(line, "refused"));
	T_EQ(pclose(dump), 0);
	T_EQ(rows, ALL_ROWS);
}

static void stock_rows(void)
{
	if (is_watched()) {
		our_rows();
		return;
	}
	if (has_driver("erdma"))
		same_bytes_as_packaged();
	same_bytes_as_newest();
	same_bytes_with_sq_sig_all();
}

int main(void)
{
	static const struct t_case cases[] = {
		T_CASE(stock_rows),
		T_CASE(local_inv_as_the_kernel_writes_it),
		T_CASE(ud_as_the_kernel_writes_it),
	};

	if (!is_watched() && !has_driver(STOCK_DRIVER) && !has_driver("erdma"))
		t_skip("no stock erdma provider loads here: its provider ABI is another");
	return t_run("erdma_user_sqe", cases, sizeof(cases) / sizeof(cases[0]));
}
