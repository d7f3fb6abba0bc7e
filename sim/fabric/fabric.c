/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The switch: ports, the way of a frame from its sender to the egress queues.
 * What happens on the way (faults, marking, rate) and the delivery are in
 * files of their own.
 */
#include "sim/fabric/fabric_switch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/device/sim_loop.h"

#define PPM_MAX	       1000000u
#define BUFFER_DEFAULT (1u << 20)
#define BUFFER_MAX     (1u << 30)

/*
 * Bytes that one end may have under way. With nothing to wait for, as much as keeps a batch
 * going: more would only leave the processor's cache, and be a long wait behind a slow guest.
 * Where frames wait for the line or the delay, enough that the egress buffer overflows before
 * the sender is stopped.
 */
#define UNDER_WAY_FAST (256u << 10)
#define UNDER_WAY_SLOW (16u << 20)

static bool config_is_valid(const struct fabric_config *config)
{
	return config->loss_ppm <= PPM_MAX && config->corrupt_ppm <= PPM_MAX &&
	       config->duplicate_ppm <= PPM_MAX && config->reorder_ppm <= PPM_MAX &&
	       config->buffer_bytes <= BUFFER_MAX && config->ecn_pmax_percent <= 100 &&
	       config->ecn_kmin_bytes <= config->ecn_kmax_bytes;
}

int fabric_create(const struct fabric_config *config, struct fabric **out)
{
	struct fabric *fabric;
	int err;

	if (!config_is_valid(config))
		return -EINVAL;
	fabric = calloc(1, sizeof(*fabric));
	if (!fabric)
		return -ENOMEM;
	fabric->config = *config;
	fabric->config.capture = NULL; /* the caller's string: not ours to keep */
	if (!config->buffer_bytes)
		fabric->config.buffer_bytes = BUFFER_DEFAULT;
	fabric->random = random_seed(config->seed);
	fabric->next = FABRIC_NEVER;
	fabric->faulty = config->loss_ppm || config->corrupt_ppm || config->duplicate_ppm ||
			 config->reorder_ppm;
	fabric->under_way_max = UNDER_WAY_FAST;
	if (config->rate_bps || config->delay_ns)
		fabric->under_way_max = UNDER_WAY_SLOW + 2ull * fabric->config.buffer_bytes;
	if (config->capture) {
		err = pcapng_create(config->capture, &fabric->capture);
		if (err) {
			free(fabric);
			return err;
		}
	}
	*out = fabric;
	return 0;
}

void fabric_destroy(struct fabric *fabric)
{
	struct fabric_port *end;

	if (!fabric)
		return;
	while (fabric->port_count)
		switch_port_destroy(fabric->ports[fabric->port_count - 1]);
	while ((end = fabric->all_ends)) {
		fabric->all_ends = end->next_all;
		free(end);
	}
	if (fabric->task)
		sim_task_remove(fabric->task);
	pcapng_destroy(fabric->capture);
	frame_pool_fini(&fabric->pool);
	free(fabric->ports);
	free(fabric);
}

int fabric_flush(struct fabric *fabric)
{
	return fabric->capture ? pcapng_flush(fabric->capture) : 0;
}

void fabric_set_wake(struct fabric *fabric, void (*wake)(void *ctx), void *ctx)
{
	fabric->wake = wake;
	fabric->wake_ctx = ctx;
}

void fabric_wake_at(struct fabric *fabric, uint64_t time)
{
	if (fabric->running || time >= fabric->next)
		return;
	fabric->next = time;
	if (fabric->wake)
		fabric->wake(fabric->wake_ctx);
}

/* ---- frames under way ---- */

void *fabric_alloc(struct fabric_port *port, size_t length)
{
	struct fabric_frame *frame;

	if (length > FABRIC_FRAME_MAX) {
		port->port->counters.drop_oversize++;
		return NULL;
	}
	frame = NULL;
	if (port->under_way < port->fabric->under_way_max)
		frame = frame_get(&port->fabric->pool, length);
	if (!frame) {
		port->starved = true;
		return NULL;
	}
	frame->sender = port;
	port->under_way += frame->room;
	return frame->data;
}

void frame_put(struct fabric_frame *frame)
{
	struct fabric_port *sender = frame->sender;
	struct fabric *fabric = sender->fabric;

	if (--frame->refs)
		return;
	sender->under_way -= frame->room;
	frame_recycle(&fabric->pool, frame);
	if (sender->starved && !sender->removed)
		fabric_wake_at(fabric, 0);
}

void fabric_free(struct fabric_port *port, void *buffer)
{
	(void)port;
	frame_put(frame_of(buffer));
}

/* ---- from the sender to the egress queues ---- */

static void end_enqueue(struct fabric_port *end, uint64_t now, struct fabric_frame *frame)
{
	const struct fabric_config *config = &end->fabric->config;
	struct switch_port *port = end->port;
	uint64_t waiting = line_backlog(&port->line, now, config->rate_bps);
	uint64_t due;

	if (end->paused && end->queue.bytes > waiting)
		waiting = end->queue.bytes;
	if (waiting + frame->length > config->buffer_bytes && waiting) {
		port->counters.drop_buffer++;
		goto drop;
	}
	/* A frame with other readers (a flood) is not ours to mark. */
	if (frame->refs == 1 && ecn_should_mark(config, &end->fabric->random, waiting) &&
	    ecn_mark(frame->data, frame->length))
		port->counters.ecn_marked++;
	due = line_depart(&port->line, now, config->rate_bps, frame->length) + config->delay_ns;
	if (egress_push(&end->queue, frame, due)) {
		port->counters.drop_buffer++;
		goto drop;
	}
	if (end->queue.count == 1)
		fabric_wake_at(end->fabric, switch_end_next(end));
	return;
drop:
	frame_put(frame);
}

/* Takes one reference to the frame. */
static void port_egress(struct switch_port *port, uint64_t now, struct fabric_frame *frame)
{
	enum switch_end which = SWITCH_END_HOST;
	struct fabric_port *end;

	if (port->is_split && fabric_frame_is_roce(frame->data, frame->length))
		which = SWITCH_END_ROCE;
	end = port->end[which];
	if (end) {
		end_enqueue(end, now, frame);
		return;
	}
	port->counters.drop_no_end++;
	frame_put(frame);
}

static void port_flood(struct switch_port *from, uint64_t now, struct fabric_frame *frame)
{
	struct fabric *fabric = from->fabric;
	uint32_t i;

	from->counters.flooded++;
	for (i = 0; i < fabric->port_count; i++) {
		if (fabric->ports[i] == from)
			continue;
		frame->refs++;
		port_egress(fabric->ports[i], now, frame);
	}
	frame_put(frame);
}

/* Takes one reference to the frame. */
static void port_forward(struct switch_port *from, uint64_t now, struct fabric_frame *frame)
{
	struct switch_port *to = NULL;

	if (!(frame->data[0] & 1))
		to = mac_lookup(&from->fabric->macs, now, mac_load(frame->data));
	if (!to) {
		port_flood(from, now, frame);
	} else if (to != from || frame->sender->hairpin) {
		port_egress(to, now, frame);
	} else {
		from->counters.filtered++;
		frame_put(frame);
	}
}

void port_release_held(struct switch_port *port, uint64_t now)
{
	struct fabric_frame *frame;

	while ((frame = hold_release(&port->hold, now)))
		port_forward(port, now, frame);
}

/* Applies faults to a frame that entered, and sends on what is left of it. */
static void port_suffer(struct switch_port *port, uint64_t now, struct fabric_frame *frame)
{
	struct fabric *fabric = port->fabric;
	unsigned int faults =
		fault_draw(&fabric->config, &fabric->random, frame->data, frame->length);
	bool hold = false;

	if (faults & FAULT_LOSS) {
		port->counters.fault_loss++;
		frame_put(frame);
		return;
	}
	if (faults & FAULT_CORRUPT) {
		port->counters.fault_corrupt++;
		fault_corrupt(&fabric->random, frame->data, frame->length);
	}
	hold_count(&port->hold);
	if (faults & FAULT_REORDER)
		hold = hold_frame(&port->hold, now, &fabric->random, frame);
	if (hold) {
		port->counters.fault_reorder++;
		fabric_wake_at(fabric, hold_next(&port->hold));
	}
	if (faults & FAULT_DUPLICATE) {
		port->counters.fault_duplicate++;
		frame->refs++;
		port_forward(port, now, frame);
	}
	if (!hold)
		port_forward(port, now, frame);
	port_release_held(port, now);
}

void fabric_send(struct fabric_port *end, uint64_t now, void *buffer, size_t length)
{
	struct fabric_frame *frame = frame_of(buffer);
	struct switch_port *port = end->port;

	if (length < FABRIC_FRAME_MIN) {
		port->counters.drop_runt++;
		goto drop;
	}
	if (length > frame->room) {
		port->counters.drop_oversize++;
		goto drop;
	}
	if (frame->data[6] & 1) {
		port->counters.drop_source++;
		goto drop;
	}
	frame->length = (uint32_t)length;
	port->counters.rx_frames++;
	port->counters.rx_bytes += length;
	mac_learn(&end->fabric->macs, now, mac_load(frame->data + 6), port);
	if (end->fabric->faulty)
		port_suffer(port, now, frame);
	else
		port_forward(port, now, frame);
	return;
drop:
	frame_put(frame);
}
