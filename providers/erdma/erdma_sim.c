// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * erdma simulator: the class. Owns the NIC's life, its personalities and the
 * tables that tie it to the device seam and the engine.
 */
#include "providers/erdma/erdma_sim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* PCI class code: network controller, Ethernet. */
#define CLASS_CODE 0x020000

/*
 * The stock driver opens for unprivileged users only where the NIC has EXTEND_DB, and has page
 * tables of more than one level only where it has MTT_VA. ATOMIC is a mere report.
 */
static const struct erdma_personality personalities[] = {
	{.name = "default",
	 .caps = ERDMA_CAP_EXTEND_DB | ERDMA_CAP_MTT_VA | ERDMA_CAP_ATOMIC,
	 .cqe_log = 20,
	 .recv_log = 13,
	 .mr_log = 40,
	 .ah_log = 13,
	 .gid_log = 5,
	 .qblocks = 32},
	{.name = "shared-db", /* one set of doorbell pages: users need CAP_SYS_RAWIO */
	 .caps = ERDMA_CAP_MTT_VA | ERDMA_CAP_ATOMIC,
	 .cqe_log = 20,
	 .recv_log = 13,
	 .mr_log = 40,
	 .ah_log = 13,
	 .gid_log = 5,
	 .qblocks = 32},
	{.name = "small", /* the least of everything, and no atomics: limits are soon met */
	 .caps = ERDMA_CAP_EXTEND_DB,
	 .cqe_log = 12,
	 .recv_log = 8,
	 .mr_log = 24,
	 .ah_log = 6,
	 .gid_log = 2,
	 .qblocks = 1},
};

const struct erdma_personality *erdma_personality_find(const char *name)
{
	size_t i;

	if (!name)
		return &personalities[0];
	for (i = 0; i < sizeof(personalities) / sizeof(personalities[0]); i++)
		if (!strcmp(personalities[i].name, name))
			return &personalities[i];
	return NULL;
}

static int describe(const struct sim_nic_config *config, struct sim_pci_config *pci)
{
	const struct erdma_personality *p = erdma_personality_find(config->personality);

	if (!p)
		return -EINVAL;
	pci->vendor_id = ERDMA_PCI_VENDOR;
	pci->device_id = ERDMA_PCI_DEVICE;
	pci->subsystem_vendor_id = ERDMA_PCI_VENDOR;
	pci->subsystem_id = ERDMA_PCI_DEVICE;
	pci->class_code = CLASS_CODE;
	pci->pcie = true;
	pci->bars[ERDMA_BAR_REGS] = (struct sim_pci_bar){
		.size = p->caps & ERDMA_CAP_EXTEND_DB ? ERDMA_BAR_REGS_BYTES_EXTEND
						      : ERDMA_DB_EXTEND_BASE,
		.is_64bit = true,
	};
	pci->bars[ERDMA_BAR_MSIX] =
		(struct sim_pci_bar){.size = ERDMA_BAR_MSIX_BYTES, .is_64bit = true};
	pci->msix.vectors = ERDMA_MSIX_VECTORS;
	pci->msix.table_bar = ERDMA_BAR_MSIX;
	pci->msix.table_offset = ERDMA_MSIX_TABLE;
	pci->msix.pba_bar = ERDMA_BAR_MSIX;
	pci->msix.pba_offset = ERDMA_MSIX_PBA;
	return 0;
}

static const struct roce_env env = {
	.mr_map = erdma_mr_map,
	.complete = erdma_cq_complete,
	.cq_event = erdma_cq_event,
	.event = erdma_event,
	.reg_mr = erdma_mr_fast_reg,
	.reg_free = erdma_mr_fast_reg_free,
};

static int create_engine(struct erdma_nic *nic, const struct sim_nic_config *config)
{
	struct roce_nic_config engine = {
		.mtu = nic->path_mtu,
		.max_qp = erdma_max_qp(nic),
		.max_cq = 2 * erdma_max_qp(nic),
		.max_mr = 2 * erdma_max_qp(nic) + 1, /* and the local key */
		.max_gid = 1u << nic->personality->gid_log,
		.seed = config->seed,
		.ecn = config->ecn,
		.link_bps = config->rate_bps,
		.report_unsignaled = true, /* room in the engine is what lets us fetch more */
		.env = &env,
		.env_ctx = nic,
	};
	int err;

	memcpy(engine.mac, config->mac, sizeof(engine.mac));
	err = sim_roce_create(nic->dev, &engine, &nic->roce);
	if (!err)
		nic->engine = sim_roce_nic(nic->roce);
	return err;
}

static int open_trace(struct erdma_nic *nic, const char *path)
{
	if (!path)
		return 0;
	nic->wqe_trace = fopen(path, "we");
	if (!nic->wqe_trace) {
		sim_log(nic->dev, "WQE trace %s: %s", path, strerror(errno));
		return -errno;
	}
	/* Whole lines, so that the file can be read while the NIC lives. */
	setvbuf(nic->wqe_trace, NULL, _IOLBF, BUFSIZ);
	return 0;
}

static void destroy(void *ctx)
{
	struct erdma_nic *nic = ctx;

	if (nic->roce)
		erdma_nic_clear(nic);
	sim_roce_destroy(nic->roce);
	if (nic->wqe_trace)
		fclose(nic->wqe_trace);
	free(nic);
}

static int create(struct sim_dev *dev, const struct sim_nic_config *config, void **out)
{
	struct erdma_nic *nic = calloc(1, sizeof(*nic));
	int err;

	if (!nic)
		return -ENOMEM;
	TAILQ_INIT(&nic->qps);
	TAILQ_INIT(&nic->work);
	TAILQ_INIT(&nic->cqs);
	TAILQ_INIT(&nic->mrs);
	nic->dev = dev;
	nic->personality = erdma_personality_find(config->personality);
	nic->page_shift = ERDMA_PAGE_SHIFT;
	nic->port_mtu = config->mtu;
	nic->path_mtu = sim_roce_path_mtu(config->mtu);
	memcpy(nic->mac, config->mac, sizeof(nic->mac));
	err = nic->personality ? open_trace(nic, config->wqe_trace) : -EINVAL;
	if (!err)
		err = create_engine(nic, config);
	if (err) {
		destroy(nic);
		return err;
	}
	*out = nic;
	return 0;
}

static void reset(void *ctx)
{
	struct erdma_nic *nic = ctx;

	erdma_nic_clear(nic);
	memset(&nic->regs, 0, sizeof(nic->regs));
}

static void run(void *ctx, uint64_t now)
{
	struct erdma_nic *nic = ctx;
	bool more;

	(void)now;
	more = erdma_cmdq_run(nic);
	more |= erdma_qp_run(nic);
	if (more)
		erdma_nic_defer(nic);
}

void erdma_nic_defer(struct erdma_nic *nic)
{
	sim_roce_own_timer(nic->roce, 0, run);
}

void erdma_nic_update_mtu(struct erdma_nic *nic)
{
	uint32_t mtu = nic->port_mtu;

	if (nic->guest_mtu && nic->guest_mtu < mtu)
		mtu = nic->guest_mtu;
	nic->path_mtu = sim_roce_path_mtu(mtu);
	roce_nic_set_mtu(nic->engine, nic->path_mtu);
}

static void rx_frame(void *ctx, const void *frame, size_t length)
{
	struct erdma_nic *nic = ctx;

	sim_roce_rx_frame(nic->roce, frame, length);
}

static void tx_room(void *ctx)
{
	struct erdma_nic *nic = ctx;

	sim_roce_tx_room(nic->roce);
}

static void timer(void *ctx, uint64_t now)
{
	struct erdma_nic *nic = ctx;

	sim_roce_timer(nic->roce, now);
}

/* The guest sees the link through the netdev beside us; only the MTU matters here. */
static void port_changed(void *ctx, bool up, uint32_t mtu)
{
	struct erdma_nic *nic = ctx;

	(void)up;
	nic->port_mtu = mtu;
	erdma_nic_update_mtu(nic);
}

static void counters(void *ctx, void (*emit)(void *ctx, const char *name, uint64_t value),
		     void *emit_ctx)
{
	struct erdma_nic *nic = ctx;

	sim_roce_counters(nic->roce, emit, emit_ctx);
#define X(name) emit(emit_ctx, #name, nic->counters.name);
	ERDMA_SIM_COUNTERS(X)
#undef X
}

const struct sim_class sim_class_erdma = {
	.name = "erdma",
	.describe = describe,
	.create = create,
	.destroy = destroy,
	.reset = reset,
	.reg_read = erdma_reg_read,
	.reg_write = erdma_reg_write,
	.rx_frame = rx_frame,
	.tx_room = tx_room,
	.timer = timer,
	.port_changed = port_changed,
	.counters = counters,
};
