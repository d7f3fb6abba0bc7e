/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The engine on a device without a port: timers, reset, path MTU, counters, bad configurations. */
#include <errno.h>
#include <string.h>

#include "sim/device/sim_loop.h"
#include "tests/lib/t.h"
#include "tests/unit/sim/nic/toy_nic.h"

static const uint8_t peer[6] = {0x52, 0x54, 0, 0, 0, 9};

static struct toy_nic *create(struct sim_loop **loop, struct sim_dev **dev)
{
	struct sim_dev_config config = {
		.class = &toy_class,
		.nic = {.name = "toy", .mtu = 1500, .mac = {0x52, 0x54, 0, 0, 0, 1}},
	};

	T_EQ(sim_loop_create(true, loop), 0);
	config.loop = *loop;
	T_EQ(sim_dev_create(&config, dev), 0);
	sim_local_enable(*dev);
	return toy_last;
}

static void destroy(struct sim_loop *loop, struct sim_dev *dev)
{
	sim_dev_destroy(dev);
	sim_loop_destroy(loop);
}

/* netdev MTU -> path MTU; what the kernel's iboe_get_mtu() gives, 96 bytes of headers. */
static void path_mtu(void)
{
	static const struct {
		uint32_t netdev, path;
	} rows[] = {
		{9216, 4096}, {9000, 4096}, {4192, 4096}, {4191, 2048}, {2144, 2048},
		{2143, 1024}, {1500, 1024}, {1120, 1024}, {1119, 512},	{608, 512},
		{607, 256},   {576, 256},   {352, 256},	  {68, 256},	{0, 256},
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		T_EQ(sim_roce_path_mtu(rows[i].netdev), rows[i].path);
}

static void note(void *ctx, uint64_t now)
{
	struct toy_nic *nic = ctx;

	nic->expired++;
	nic->expired_at = now;
}

static void again(void *ctx, uint64_t now)
{
	struct toy_nic *nic = ctx;

	note(ctx, now);
	if (nic->expired < 3)
		sim_roce_own_timer(nic->roce, now + 1000, again);
}

/* The class's deadline lives beside the engine's. */
static void own_timer(void)
{
	struct sim_loop *loop;
	struct sim_dev *dev;
	struct toy_nic *nic = create(&loop, &dev);

	sim_roce_own_timer(nic->roce, 5000, note);
	sim_loop_advance(loop, 4999);
	T_EQ(nic->expired, 0);
	sim_roce_kick(nic->roce); /* does not bring it forward or lose it */
	sim_loop_advance(loop, 1);
	T_EQ(nic->expired, 1);
	T_EQ(nic->expired_at, 5000);
	sim_loop_advance(loop, 1000000);
	T_EQ(nic->expired, 1);

	sim_roce_own_timer(nic->roce, 0, note);
	T_EQ(nic->expired, 1);
	sim_loop_advance(loop, 0);
	T_EQ(nic->expired, 2);

	sim_roce_own_timer(nic->roce, 2000000, note);
	sim_roce_own_timer(nic->roce, UINT64_MAX, note);
	sim_loop_advance(loop, 10000000);
	T_EQ(nic->expired, 2);

	nic->expired = 0;
	sim_roce_own_timer(nic->roce, 0, again);
	sim_loop_advance(loop, 2000);
	T_EQ(nic->expired, 3);
	destroy(loop, dev);
}

/* Nobody answers: the engine's own timers run through the device's, to the end of retries. */
static void engine_timers(void)
{
	struct sim_loop *loop;
	struct sim_dev *dev;
	struct toy_nic *nic = create(&loop, &dev);
	unsigned int i;

	T_EQ(toy_connect(nic, peer), 0);
	T_EQ(sim_local_reg_write(dev, 0, TOY_REG_DOORBELL, 4, 1), 0);
	for (i = 0; i < 1000 && !nic->done; i++)
		sim_loop_advance(loop, 1000000);
	T_EQ(nic->done, 1);
	T_EQ(nic->failed, 1);
	T_TRUE(sim_loop_now(loop) > 7 * 4096 * 1024); /* 8 tries of 4.2 ms at least */
	destroy(loop, dev);
}

static void reset_stops_everything(void)
{
	struct sim_loop *loop;
	struct sim_dev *dev;
	struct toy_nic *nic = create(&loop, &dev);

	T_EQ(toy_connect(nic, peer), 0);
	T_EQ(sim_local_reg_write(dev, 0, TOY_REG_DOORBELL, 4, 1), 0);
	sim_roce_own_timer(nic->roce, 1000, note);
	sim_local_reset(dev);
	T_EQ(nic->resets, 1);
	sim_loop_advance(loop, 1000000000);
	T_EQ(nic->done, 0);
	T_EQ(nic->expired, 0);
	T_TRUE(!roce_qp_find(sim_roce_nic(nic->roce), TOY_QPN));
	destroy(loop, dev);
}

struct seen {
	unsigned int count;
	uint64_t tx_packets;
};

static void see(void *ctx, const char *name, uint64_t value)
{
	struct seen *seen = ctx;

	seen->count++;
	if (!strcmp(name, "tx_packets"))
		seen->tx_packets = value;
}

static void counters(void)
{
	struct sim_loop *loop;
	struct sim_dev *dev;
	struct toy_nic *nic = create(&loop, &dev);
	struct seen seen = {0};

	T_EQ(toy_connect(nic, peer), 0);
	T_EQ(sim_local_reg_write(dev, 0, TOY_REG_DOORBELL, 4, 1), 0);
	sim_loop_advance(loop, 0);
	sim_dev_counters(dev, see, &seen);
	T_EQ(seen.count, sizeof(struct roce_counters) / sizeof(uint64_t));
	T_EQ(seen.tx_packets, TOY_MEMORY / 1024);
	destroy(loop, dev);
}

static void incomplete_env(void)
{
	static const struct roce_env env;
	struct roce_nic_config config = {.mtu = 1024, .env = &env};
	struct sim_roce *roce;
	struct sim_loop *loop;
	struct sim_dev *dev;

	create(&loop, &dev);
	T_EQ(sim_roce_create(dev, &config, &roce), -EINVAL);
	destroy(loop, dev);
}

T_MAIN("sim_roce_env", T_CASE(path_mtu), T_CASE(own_timer), T_CASE(engine_timers),
       T_CASE(reset_stops_everything), T_CASE(counters), T_CASE(incomplete_env), )
