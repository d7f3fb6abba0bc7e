/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Commands: each refuses what it must. A row takes a good request and changes one word of it,
 * so that the reason is known; the good one stands beside it.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "tests/lib/t.h"
#include "tests/unit/providers/erdma/erdma_guest.h"

#define CQN 10
#define QPN 11
#define MR  12
#define AHN 13

struct world {
	struct sim_loop *loop;
	struct guest g;
};

static bool world_make(struct world *w, const char *personality)
{
	struct guest_cq cq;
	struct guest_qp qp;

	if (sim_loop_create(true, &w->loop))
		return false;
	guest_start(&w->g, w->loop, 1, personality);
	return guest_probe(&w->g) && guest_set_gids(&w->g) &&
	       !guest_create_cq(&w->g, &cq, CQN, 6) &&
	       !guest_create_qp(&w->g, &qp, QPN, CQN, false);
}

static void world_end(struct world *w)
{
	guest_stop(&w->g);
	sim_loop_destroy(w->loop);
}

struct row {
	const char *name;
	unsigned int word; /* of the request, 32 bits each */
	uint32_t mask;	   /* bits to replace */
	uint32_t value;
	int status;
};

/* Bits of a field within its word, and a value in them. */
#define BITS(field, value) nic_mask(field), nic_prep(field, value)
#define WORD(value)	   UINT32_MAX, (value)

/* What undoes a request that went well, so that the next row finds things as they were. */
typedef void (*undo_fn)(struct guest *g);

static void run_rows(struct guest *g, enum erdma_command command, const void *good, size_t size,
		     const struct row *rows, size_t count, undo_fn undo)
{
	uint32_t request[32];
	size_t i;

	for (i = 0; i < count; i++) {
		memcpy(request, good, size);
		request[rows[i].word] =
			htole32((le32toh(request[rows[i].word]) & ~rows[i].mask) | rows[i].value);
		T_EQ_ROW(rows[i].name, guest_command(g, command, request, size), rows[i].status);
		if (!rows[i].status && undo)
			undo(g);
	}
}

#define RUN(g, name, good, rows, undo)                                 \
	run_rows(g, ERDMA_COMMAND_##name, &(good), sizeof(good), rows, \
		 sizeof(rows) / sizeof((rows)[0]), undo)

static void unknown_commands(void)
{
	struct erdma_cmd_none req;
	struct world w;
	int key, known = 0;

	T_NEED(world_make(&w, NULL));
	for (key = 0; key < 0x400; key++) {
		switch (key) {
#define X(name, module, opcode, request) \
	case ERDMA_COMMAND_##name:       \
		known++;                 \
		break;
			ERDMA_COMMANDS(X)
#undef X
		default:
			T_EQ(guest_command(&w.g, (enum erdma_command)key, &req, sizeof(req)),
			     EOPNOTSUPP);
		}
	}
	T_EQ(known, 21);
	world_end(&w);
}

static void destroy_eq(struct guest *g)
{
	struct erdma_cmd_destroy_eq req = {.eqn = 2, .type = ERDMA_EQ_TYPE_COMPLETION};

	T_EQ(guest_command(g, ERDMA_COMMAND_DESTROY_EQ, &req, sizeof(req)), 0);
	T_EQ(guest_command(g, ERDMA_COMMAND_DESTROY_EQ, &req, sizeof(req)), ENOENT);
}

static void event_queues(void)
{
	/* Word 4: vector, EQN, log of the depth, type. */
	static const struct row rows[] = {
		{"good", 0, 0, 0, 0},
		{"depth 1", 4, 0xff0000, 0, 0},
		{"the command queue's", 4, 0xff00, 0, EINVAL},
		{"EQN 32", 4, 0xff00, 0x2000, EINVAL},
		{"EQN 255", 4, 0xff00, 0xff00, EINVAL},
		{"twice", 4, 0xff00, 0x0100, EEXIST},
		{"vector 32", 4, 0xff, 32, EINVAL},
		{"depth 2^21", 4, 0xff0000, 0x150000, EINVAL},
		{"depth 2^255", 4, 0xff0000, 0xff0000, EINVAL},
		{"asynchronous", 4, 0xff000000, 0, EINVAL},
		{"address not in memory", 3, WORD(0xffff), EFAULT},
		{"address at the end of all", 3, WORD(UINT32_MAX), EFAULT},
		{"end not in memory", 2, WORD(GUEST_MEMORY - 16), EFAULT},
	};
	struct erdma_cmd_create_eq good = {
		.vector = 2, .eqn = 2, .log = 6, .type = ERDMA_EQ_TYPE_COMPLETION};
	struct world w;

	T_NEED(world_make(&w, NULL));
	good.addr = htole64(guest_alloc(&w.g, 1024, 4096));
	RUN(&w.g, CREATE_EQ, good, rows, destroy_eq);
	world_end(&w);
}

static void destroy_cq(struct guest *g)
{
	struct erdma_cmd_destroy_cq req = {.cqn = htole32(CQN + 1)};

	T_EQ(guest_command(g, ERDMA_COMMAND_DESTROY_CQ, &req, sizeof(req)), 0);
	T_EQ(guest_command(g, ERDMA_COMMAND_DESTROY_CQ, &req, sizeof(req)), ENOENT);
}

static void completion_queues(void)
{
	static const struct row rows[] = {
		{"good", 0, 0, 0, 0},
		{"one entry", 2, BITS(ERDMA_CREATE_CQ_LOG, 0), 0},
		{"CQN 0", 2, BITS(ERDMA_CREATE_CQ_CQN, 0), EINVAL},
		{"CQN beyond", 2, BITS(ERDMA_CREATE_CQ_CQN, 65536), EINVAL},
		{"CQN 2^20 - 1", 2, BITS(ERDMA_CREATE_CQ_CQN, 0xfffff), EINVAL},
		{"twice", 2, BITS(ERDMA_CREATE_CQ_CQN, CQN), EEXIST},
		{"depth 2^21", 2, BITS(ERDMA_CREATE_CQ_LOG, 21), EINVAL},
		{"depth 2^255", 2, BITS(ERDMA_CREATE_CQ_LOG, 255), EINVAL},
		{"32 MiB", 2, BITS(ERDMA_CREATE_CQ_LOG, 20), 0},
		{"no pages", 5, BITS(ERDMA_CREATE_CQ_PAGES, 0), EINVAL},
		{"two pages in the request", 5, BITS(ERDMA_CREATE_CQ_PAGES, 2), EINVAL},
		{"EQ 0", 5, BITS(ERDMA_CREATE_CQ_EQN, 0), EINVAL},
		{"EQ that is not", 5, BITS(ERDMA_CREATE_CQ_EQN, 2), EINVAL},
		{"EQ 1023", 5, BITS(ERDMA_CREATE_CQ_EQN, 1023), EINVAL},
		{"ring not in memory", 4, WORD(0x5555), EFAULT},
		{"ring at the end of all", 4, WORD(UINT32_MAX), EFAULT},
		{"doorbell page never given", 5, BITS(ERDMA_CREATE_CQ_EXTEND_DB, 1), EINVAL},
		/* The table is the ring's memory: its entries are zero, and there is no page 0. */
		{"level 1, pages not in memory", 5,
		 nic_mask(ERDMA_CREATE_CQ_LEVEL) | nic_mask(ERDMA_CREATE_CQ_PAGES),
		 nic_prep(ERDMA_CREATE_CQ_LEVEL, 1) | nic_prep(ERDMA_CREATE_CQ_PAGES, 1), EFAULT},
		{"level 1, no pages", 5,
		 nic_mask(ERDMA_CREATE_CQ_LEVEL) | nic_mask(ERDMA_CREATE_CQ_PAGES),
		 nic_prep(ERDMA_CREATE_CQ_LEVEL, 1), EINVAL},
		{"offset that overflows", 8, WORD(UINT32_MAX), EFAULT},
	};
	struct erdma_cmd_create_cq good;
	struct world w;

	T_NEED(world_make(&w, NULL));
	good = guest_cq_request(&w.g, CQN + 1, 6);
	RUN(&w.g, CREATE_CQ, good, rows, destroy_cq);
	world_end(&w);
}

static void destroy_qp(struct guest *g)
{
	struct erdma_cmd_qpn req = {.qpn = htole32(QPN + 1)};

	T_EQ(guest_command(g, ERDMA_COMMAND_DESTROY_QP, &req, sizeof(req)), 0);
	T_EQ(guest_command(g, ERDMA_COMMAND_DESTROY_QP, &req, sizeof(req)), ENOENT);
}

static void queue_pairs(void)
{
	static const struct row rows[] = {
		{"good", 0, 0, 0, 0},
		{"least", 2, BITS(ERDMA_CREATE_QP_SQ_LOG, 0), 0},
		{"type that is garbage", 29, WORD(0xa5a5a5a1), 0},
		{"QPN 0", 2, BITS(ERDMA_CREATE_QP_QPN, 0), EINVAL},
		{"QPN beyond", 2, BITS(ERDMA_CREATE_QP_QPN, 32768), EINVAL},
		{"twice", 2, BITS(ERDMA_CREATE_QP_QPN, QPN), EEXIST},
		{"SQ 2^16", 2, BITS(ERDMA_CREATE_QP_SQ_LOG, 16), EINVAL},
		{"SQ 2^4095", 2, BITS(ERDMA_CREATE_QP_SQ_LOG, 4095), EINVAL},
		{"RQ 2^16", 3, BITS(ERDMA_CREATE_QP_RQ_LOG, 16), EINVAL},
		{"send CQ that is not", 4, BITS(ERDMA_CREATE_QP_SQ_CQN, CQN + 1), ENOENT},
		{"receive CQ that is not", 5, BITS(ERDMA_CREATE_QP_RQ_CQN, 0xffffff), ENOENT},
		{"SQ not in memory", 7, WORD(0x7777), EFAULT},
		{"RQ not in memory", 9, WORD(0x7777), EFAULT},
		{"SQ without pages", 10, BITS(ERDMA_CREATE_QP_SQ_PAGES, 0), EINVAL},
		{"SQ of five pages", 10, BITS(ERDMA_CREATE_QP_SQ_PAGES, 5), EINVAL},
		{"RQ of 2047 pages", 11, BITS(ERDMA_CREATE_QP_RQ_PAGES, 2047), EINVAL},
		{"RQ offset beyond its pages", 11,
		 nic_mask(ERDMA_CREATE_QP_RQ_OFFSET) | nic_mask(ERDMA_CREATE_QP_RQ_PAGES),
		 nic_prep(ERDMA_CREATE_QP_RQ_OFFSET, 256) | nic_prep(ERDMA_CREATE_QP_RQ_PAGES, 2),
		 EINVAL},
		{"doorbell page never given", 4, BITS(ERDMA_CREATE_QP_EXTEND_DB, 1), EINVAL},
	};
	struct erdma_cmd_create_qp good;
	struct world w;

	T_NEED(world_make(&w, NULL));
	good = guest_qp_request(&w.g, QPN + 1, CQN);
	RUN(&w.g, CREATE_QP, good, rows, destroy_qp);
	world_end(&w);
}

static void dereg_mr(struct guest *g)
{
	struct erdma_cmd_dereg_mr req = {.key = htole32(nic_prep(ERDMA_DEREG_MR_INDEX, MR))};

	T_EQ(guest_command(g, ERDMA_COMMAND_DEREG_MR, &req, sizeof(req)), 0);
	T_EQ(guest_command(g, ERDMA_COMMAND_DEREG_MR, &req, sizeof(req)), ENOENT);
}

static void regions(void)
{
	static const struct row rows[] = {
		{"good", 0, 0, 0, 0},
		{"key byte", 2, BITS(ERDMA_REG_MR_KEY, 0x5a), 0},
		{"DMA", 3, BITS(ERDMA_REG_MR_TYPE, 2), 0},
		{"type 3", 3, BITS(ERDMA_REG_MR_TYPE, 3), EINVAL},
		{"version 2", 2, BITS(ERDMA_REG_MR_VERSION, 2), EINVAL},
		{"the local key's index", 2, BITS(ERDMA_REG_MR_INDEX, 65536), EINVAL},
		{"index beyond", 2, BITS(ERDMA_REG_MR_INDEX, 0xfffff), EINVAL},
		{"no bytes", 6, WORD(0), EINVAL},
		{"more bytes than pages", 6, WORD(8193), EINVAL},
		{"4 GiB - 1", 6, WORD(UINT32_MAX), EINVAL},
		{"pages of 2 KiB", 7, BITS(ERDMA_REG_MR_PAGE, 11), EINVAL},
		{"no pages", 7, BITS(ERDMA_REG_MR_COUNT, 0), EINVAL},
		{"five inline pages", 7, BITS(ERDMA_REG_MR_COUNT, 5), EINVAL},
		{"level 1, table not in memory", 7, BITS(ERDMA_REG_MR_LEVEL, 1), EFAULT},
		{"level 2, table not in memory", 7, BITS(ERDMA_REG_MR_LEVEL, 2), EFAULT},
		{"level 3, table not in memory", 7, BITS(ERDMA_REG_MR_LEVEL, 3), EFAULT},
		{"fast registration of level 0", 3, BITS(ERDMA_REG_MR_TYPE, 1), EINVAL},
	};
	/* A table address far away: levels are told by one field, the page is the table then. */
	struct erdma_cmd_reg_mr good = guest_mr_request(MR, 0xf00000000000, 8192), again;
	struct world w;

	T_NEED(world_make(&w, NULL));
	RUN(&w.g, REG_MR, good, rows, dereg_mr);
	again = good;
	T_EQ(guest_command(&w.g, ERDMA_COMMAND_REG_MR, &again, sizeof(again)), 0);
	/* The same index with another key byte is the same region. */
	again = good;
	again.key |= htole32(nic_prep(ERDMA_REG_MR_KEY, 9));
	T_EQ(guest_command(&w.g, ERDMA_COMMAND_REG_MR, &again, sizeof(again)), EEXIST);
	world_end(&w);
}

static void version_1_is_large(void)
{
	/* 2^33 + 4096 bytes in 2^21 + 1 pages of 4 KiB. */
	struct erdma_cmd_reg_mr req = {
		.key = htole32(nic_prep(ERDMA_REG_MR_VALID, 1) | nic_prep(ERDMA_REG_MR_VERSION, 1) |
			       nic_prep(ERDMA_REG_MR_INDEX, MR)),
		.cfg = htole32(nic_prep(ERDMA_REG_MR_PDN, GUEST_PD)),
		.length = htole32(4096),
		.mtt = htole32(nic_prep(ERDMA_REG_MR_PAGE, 12) | nic_prep(ERDMA_REG_MR_LEVEL, 3) |
			       nic_prep(ERDMA_REG_MR_COUNT, 1)),
		.length_high = htole32(2),
		.count_high = htole32(2),
	};
	struct erdma_cmd_reg_mr copy = req;
	uint64_t top, middle, leaf, *table;
	struct world w;

	T_NEED(world_make(&w, NULL));
	top = guest_alloc(&w.g, 4096, 4096);
	middle = guest_alloc(&w.g, 4096, 4096);
	leaf = guest_alloc(&w.g, 4096, 4096);
	table = guest_at(&w.g, top);
	table[0] = table[8] = htole64(middle);
	table = guest_at(&w.g, middle);
	table[0] = htole64(leaf);
	req.top = htole64(top);
	copy = req;
	T_EQ(guest_command(&w.g, ERDMA_COMMAND_REG_MR, &copy, sizeof(copy)), 0);
	dereg_mr(&w.g);
	copy = req;
	copy.count_high = 0;
	T_EQ(guest_command(&w.g, ERDMA_COMMAND_REG_MR, &copy, sizeof(copy)), EINVAL);
	copy = req;
	copy.count_high = htole32(UINT32_MAX);
	T_EQ(guest_command(&w.g, ERDMA_COMMAND_REG_MR, &copy, sizeof(copy)), EINVAL);
	world_end(&w);
}

static void destroy_ah(struct guest *g)
{
	struct erdma_cmd_destroy_ah req = {.pdn = htole32(GUEST_PD + 1), .ahn = htole32(AHN)};

	T_EQ(guest_command(g, ERDMA_COMMAND_DESTROY_AH, &req, sizeof(req)), ENOENT);
	req.pdn = htole32(GUEST_PD);
	T_EQ(guest_command(g, ERDMA_COMMAND_DESTROY_AH, &req, sizeof(req)), 0);
	T_EQ(guest_command(g, ERDMA_COMMAND_DESTROY_AH, &req, sizeof(req)), ENOENT);
}

static void address_handles(void)
{
	/* Words 4 to 12 are the vector; SGID index in the upper half of word 6. */
	static const struct row rows[] = {
		{"good", 0, 0, 0, 0},
		{"AHN beyond", 3, WORD(8192), EINVAL},
		{"AHN 2^32 - 1", 3, WORD(UINT32_MAX), EINVAL},
		{"GID beyond", 6, 0xffff0000, 32u << 16, EINVAL},
		{"GID 65535", 6, 0xffff0000, 0xffff0000, EINVAL},
	};
	struct erdma_cmd_create_ah good = {.pdn = htole32(GUEST_PD), .ahn = htole32(AHN)}, again;
	struct world w;

	T_NEED(world_make(&w, NULL));
	guest_set_av(&good.av, 2);
	RUN(&w.g, CREATE_AH, good, rows, destroy_ah);
	again = good;
	T_EQ(guest_command(&w.g, ERDMA_COMMAND_CREATE_AH, &again, sizeof(again)), 0);
	again = good;
	T_EQ(guest_command(&w.g, ERDMA_COMMAND_CREATE_AH, &again, sizeof(again)), EEXIST);
	world_end(&w);
}

static void gids(void)
{
	static const struct row rows[] = {
		{"good", 0, 0, 0, 0},
		{"over another", 2, BITS(ERDMA_SET_GID_INDEX, 0), 0},
		{"index beyond", 2, BITS(ERDMA_SET_GID_INDEX, 32), EINVAL},
		{"index 65535", 2, BITS(ERDMA_SET_GID_INDEX, 65535), EINVAL},
		{"delete", 2, BITS(ERDMA_SET_GID_DELETE, 1), 0},
		{"delete beyond", 2, nic_mask(ERDMA_SET_GID_INDEX) | nic_mask(ERDMA_SET_GID_DELETE),
		 nic_prep(ERDMA_SET_GID_INDEX, 32) | nic_prep(ERDMA_SET_GID_DELETE, 1), EINVAL},
	};
	struct erdma_cmd_set_gid good = {
		.cfg = htole32(nic_prep(ERDMA_SET_GID_INDEX, 5) | nic_prep(ERDMA_SET_GID_V6, 1)),
		.gid = {0xfe, 0x80, [15] = 1},
	};
	struct world w;

	T_NEED(world_make(&w, NULL));
	RUN(&w.g, SET_GID, good, rows, NULL);
	world_end(&w);
}

static void device_settings(void)
{
	static const struct row mtu_rows[] = {
		{"good", 0, 0, 0, 0},
		{"68", 2, WORD(68), 0},
		{"67", 2, WORD(67), EINVAL},
		{"65536", 2, WORD(65536), EINVAL},
		{"2^32 - 1", 2, WORD(UINT32_MAX), EINVAL},
	};
	static const struct row conf_rows[] = {
		{"as the driver has it", 2, WORD(0x8000000c), 0},
		{"64 KiB", 2, WORD(0x80000010), 0},
		{"2 KiB", 2, WORD(0x8000000b), EINVAL},
		{"128 KiB", 2, WORD(0x80000011), EINVAL},
		{"not valid", 2, WORD(31), 0},
		{"back", 2, WORD(0x8000000c), 0},
	};
	struct erdma_cmd_conf_mtu mtu = {.mtu = htole32(9000)};
	struct erdma_cmd_conf_device conf = {0};
	struct world w;

	T_NEED(world_make(&w, NULL));
	RUN(&w.g, CONF_MTU, mtu, mtu_rows, NULL);
	RUN(&w.g, CONF_DEVICE, conf, conf_rows, NULL);
	world_end(&w);
}

static void statistics(void)
{
	static const struct row rows[] = {
		{"good", 0, 0, 0, 0},
		{"just room", 6, WORD(104), 0},
		{"no room", 6, WORD(103), EINVAL},
		{"not in memory", 5, WORD(0x1234), EFAULT},
	};
	struct erdma_cmd_get_stats good = {.length = htole32(256)};
	/* Magic 0x5566, version 0, length 104, index; then the counters: nothing sent. */
	static const uint8_t want[24] = {0x66, 0x55, 0, 104};
	struct world w;
	uint64_t at;

	T_NEED(world_make(&w, NULL));
	at = guest_alloc(&w.g, 256, 256);
	memset(guest_at(&w.g, at), 0xee, 256);
	good.addr = htole64(at);
	RUN(&w.g, GET_STATS, good, rows, NULL);
	T_BYTES(guest_at(&w.g, at), want, sizeof(want));
	T_EQ(*((uint8_t *)guest_at(&w.g, at) + 104), 0xee);
	world_end(&w);
}

static void unknown_numbers(void)
{
	static const struct row qpn_rows[] = {
		{"QPN that is not", 2, WORD(QPN + 5), ENOENT},
		{"QPN 0", 2, WORD(0), ENOENT},
		{"QPN 2^32 - 1", 2, WORD(UINT32_MAX), ENOENT},
	};
	static const struct row cqn_rows[] = {
		{"CQN that is not", 2, WORD(CQN + 5), ENOENT},
		{"CQN 2^32 - 1", 2, WORD(UINT32_MAX), ENOENT},
		{"CQN in use", 2, WORD(CQN), EBUSY},
	};
	static const struct row key_rows[] = {
		{"region that is not", 2, WORD(99), ENOENT},
		{"the local key", 2, WORD(65536), ENOENT},
		{"2^20 - 1", 2, WORD(0xfffff), ENOENT},
	};
	static const struct row eq_rows[] = {
		{"EQ that is not", 4, 0xff00, 0x0900, ENOENT},
		{"the command EQ", 4, 0xff00, 0, EINVAL},
		{"EQ 255", 4, 0xff00, 0xff00, EINVAL},
	};
	struct erdma_cmd_qpn qpn = {0};
	struct erdma_cmd_destroy_cq cqn = {0};
	struct erdma_cmd_reflush reflush = {0};
	struct erdma_cmd_dereg_mr key = {0};
	struct erdma_cmd_destroy_eq eq = {.type = ERDMA_EQ_TYPE_COMPLETION};
	struct world w;

	T_NEED(world_make(&w, NULL));
	RUN(&w.g, QUERY_QP, qpn, qpn_rows, NULL);
	RUN(&w.g, DESTROY_QP, qpn, qpn_rows, NULL);
	RUN(&w.g, REFLUSH, reflush, qpn_rows, NULL);
	RUN(&w.g, DESTROY_CQ, cqn, cqn_rows, NULL);
	RUN(&w.g, DEREG_MR, key, key_rows, NULL);
	RUN(&w.g, DESTROY_EQ, eq, eq_rows, NULL);
	world_end(&w);
}

/* The numbers of the small personality, each at its limit. */
static void small_personality(void)
{
	static const struct row qp_rows[] = {
		{"last QPN", 2, BITS(ERDMA_CREATE_QP_QPN, 1023), 0},
		{"QPN beyond", 2, BITS(ERDMA_CREATE_QP_QPN, 1024), EINVAL},
	};
	static const struct row cq_rows[] = {
		{"CQN beyond", 2, BITS(ERDMA_CREATE_CQ_CQN, 2048), EINVAL},
		{"depth 2^12", 2, BITS(ERDMA_CREATE_CQ_LOG, 12), 0},
		{"depth 2^13", 2, BITS(ERDMA_CREATE_CQ_LOG, 13), EINVAL},
	};
	static const struct row mr_rows[] = {
		{"index beyond", 2, BITS(ERDMA_REG_MR_INDEX, 2048), EINVAL},
		{"no page tables of level 2", 7, BITS(ERDMA_REG_MR_LEVEL, 2), EINVAL},
	};
	struct erdma_cmd_create_qp qp;
	struct erdma_cmd_create_cq cq;
	struct erdma_cmd_reg_mr mr = guest_mr_request(MR, 4096, 4096);
	struct world w;

	T_NEED(world_make(&w, "small"));
	qp = guest_qp_request(&w.g, QPN + 1, CQN);
	cq = guest_cq_request(&w.g, CQN + 1, 6);
	RUN(&w.g, CREATE_QP, qp, qp_rows, NULL);
	RUN(&w.g, CREATE_CQ, cq, cq_rows, NULL);
	RUN(&w.g, REG_MR, mr, mr_rows, NULL);
	world_end(&w);
}

T_MAIN("erdma_sim_cmd", T_CASE(unknown_commands), T_CASE(event_queues), T_CASE(completion_queues),
       T_CASE(queue_pairs), T_CASE(regions), T_CASE(version_1_is_large), T_CASE(address_handles),
       T_CASE(gids), T_CASE(device_settings), T_CASE(statistics), T_CASE(unknown_numbers),
       T_CASE(small_personality))
