/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Delivery: takes due frames out of the egress queues, port after port, and
 * hands them to their receivers. Owns the order of service, pauses, and when
 * the fabric has work next.
 */
#include "sim/fabric/fabric_switch.h"

#include <errno.h>

#include "sim/device/sim_loop.h"

/* Frames that one end gets before the next has its turn. */
#define QUANTUM 16
/* A receiver that took nothing for so long is taken for dead. */
#define STALL_NS 200000000
/* Frames between two looks at the sockets when the fabric runs on an event loop. */
#define LOOP_BUDGET 128

static bool end_is_stalled(const struct fabric_port *end, uint64_t now)
{
	return end->paused && now - end->paused_since >= STALL_NS;
}

static void end_discard(struct fabric_port *end)
{
	while (end->queue.count) {
		end->port->counters.drop_stalled++;
		frame_put(egress_pop(&end->queue));
	}
}

static void end_deliver(struct fabric_port *end, uint64_t now, struct fabric_frame *frame)
{
	struct fabric *fabric = end->fabric;
	struct switch_port *port = end->port;

	port->counters.tx_frames++;
	port->counters.tx_bytes += frame->length;
	if (fabric->capture)
		pcapng_frame(fabric->capture, port->interface,
			     now + fabric->config.capture_epoch_ns, frame->data, frame->length);
	end->ops->rx(end->ctx, now, frame->data, frame->length);
	frame_put(frame);
}

static unsigned int end_serve(struct fabric_port *end, uint64_t now, unsigned int most)
{
	const struct egress_entry *first;
	unsigned int served = 0;

	if (end_is_stalled(end, now)) {
		end_discard(end);
		return 0;
	}
	while (served < most && !end->paused) {
		first = egress_first(&end->queue);
		if (!first || first->due > now)
			break;
		end_deliver(end, now, egress_pop(&end->queue));
		served++;
	}
	return served;
}

/* One turn of every end. Returns the frames delivered. */
static unsigned int serve_all(struct fabric *fabric, uint64_t now, unsigned int budget)
{
	unsigned int served = 0, most;
	struct switch_port *port;
	uint32_t i, which;

	for (i = 0; i < fabric->port_count; i++) {
		port = fabric->ports[(fabric->turn + i) % fabric->port_count];
		for (which = 0; which < SWITCH_ENDS; which++) {
			most = budget - served < QUANTUM ? budget - served : QUANTUM;
			if (port->end[which])
				served += end_serve(port->end[which], now, most);
		}
	}
	fabric->turn++;
	return served;
}

static void give_room(struct fabric_port *end)
{
	if (!end->starved || end->under_way > end->fabric->under_way_max / 2)
		return;
	end->starved = false;
	if (end->ops->tx_room)
		end->ops->tx_room(end->ctx);
}

uint64_t switch_end_next(const struct fabric_port *end)
{
	const struct egress_entry *first = egress_first(&end->queue);

	if (!first)
		return FABRIC_NEVER;
	return end->paused ? end->paused_since + STALL_NS : first->due;
}

/* Calls for each end what is due after the deliveries, and finds the next time. */
static uint64_t finish_run(struct fabric *fabric)
{
	uint64_t next = FABRIC_NEVER, time;
	struct switch_port *port;
	uint32_t i, which;

	for (i = 0; i < fabric->port_count; i++)
		for (which = 0; which < SWITCH_ENDS; which++)
			if (fabric->ports[i]->end[which])
				give_room(fabric->ports[i]->end[which]);
	/* Only now: having room, the senders may have queued more. */
	for (i = 0; i < fabric->port_count; i++) {
		port = fabric->ports[i];
		time = hold_next(&port->hold);
		next = time < next ? time : next;
		for (which = 0; which < SWITCH_ENDS; which++) {
			time = port->end[which] ? switch_end_next(port->end[which]) : FABRIC_NEVER;
			next = time < next ? time : next;
		}
	}
	return next;
}

bool fabric_run(struct fabric *fabric, uint64_t now, unsigned int budget)
{
	unsigned int served;
	uint32_t i;

	fabric->running = true;
	if (fabric->faulty)
		for (i = 0; i < fabric->port_count; i++)
			port_release_held(fabric->ports[i], now);
	do {
		served = serve_all(fabric, now, budget);
		budget -= served;
	} while (served && budget);
	fabric->next = finish_run(fabric);
	fabric->running = false;
	return fabric->next <= now;
}

uint64_t fabric_next(const struct fabric *fabric)
{
	return fabric->next;
}

void fabric_port_pause(struct fabric_port *end, uint64_t now, bool paused)
{
	if (!end->paused && !paused)
		return;
	end->paused = paused;
	end->paused_since = now;
	fabric_wake_at(end->fabric, switch_end_next(end));
}

/* ---- on an event loop ---- */

static void loop_run(void *ctx, uint64_t now)
{
	struct fabric *fabric = ctx;

	fabric_run(fabric, now, LOOP_BUDGET);
	sim_task_set(fabric->task, fabric->next);
}

static void loop_wake(void *ctx)
{
	struct fabric *fabric = ctx;

	sim_task_set(fabric->task, fabric->next);
}

int fabric_attach_loop(struct fabric *fabric, struct sim_loop *loop)
{
	int err;

	if (fabric->task)
		return -EBUSY;
	err = sim_task_add(loop, loop_run, fabric, &fabric->task);
	if (err)
		return err;
	fabric_set_wake(fabric, loop_wake, fabric);
	loop_wake(fabric);
	return 0;
}
