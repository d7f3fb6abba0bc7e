/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The simulated Ethernet fabric: one learning switch with ports, egress
 * queues, faults and capture. Moves frames; knows of RDMA only the headers
 * that it must recognise (is it RoCE?) or mark (ECN bits).
 *
 * No I/O and no clock of its own: time is an argument. The ports that do I/O (QEMU stream and
 * dgram sockets, TAP) are fabric_port_*.c on top of this.
 */
#ifndef ANYNIC_SIM_FABRIC_FABRIC_H
#define ANYNIC_SIM_FABRIC_FABRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fabric;
struct fabric_port;
struct sim_loop;

/* Longest frame without FCS: 9216 bytes of payload with a VLAN tag. */
#define FABRIC_FRAME_MAX 9234
/* Shortest: destination, source, type. */
#define FABRIC_FRAME_MIN 14

struct fabric_config {
	uint64_t seed;
	uint64_t rate_bps;     /* egress rate of each port, 0 = unlimited */
	uint32_t buffer_bytes; /* egress buffer of each port */
	uint64_t delay_ns;     /* added to each frame */
	uint32_t loss_ppm, reorder_ppm, duplicate_ppm, corrupt_ppm;
	bool faults_on_all;			 /* false: only RoCE frames suffer faults */
	uint32_t ecn_kmin_bytes, ecn_kmax_bytes; /* kmin 0 = no marking */
	uint32_t ecn_pmax_percent;
	const char *capture; /* pcapng path, NULL = none */
};

int fabric_create(const struct fabric_config *config, struct fabric **fabric);
void fabric_destroy(struct fabric *fabric);

/* Moves due frames, delivering up to `budget`. True while there is more to do now. */
bool fabric_run(struct fabric *fabric, uint64_t now, unsigned int budget);
/* When fabric_run has work next, UINT64_MAX for never. */
uint64_t fabric_next(const struct fabric *fabric);
/* Called, from fabric_send only, when an idle fabric got work: the owner schedules fabric_run. */
void fabric_set_wake(struct fabric *fabric, void (*wake)(void *ctx), void *ctx);

struct fabric_port_ops {
	/* A frame leaves the switch on this port. The bytes stay the fabric's. */
	void (*rx)(void *ctx, uint64_t now, const void *frame, size_t length);
	/* Room again after fabric_alloc returned NULL; may be NULL. */
	void (*tx_room)(void *ctx);
};

int fabric_port_add(struct fabric *fabric, const char *name, const struct fabric_port_ops *ops,
		    void *ctx, struct fabric_port **port);
/* Frames on their way to the port are dropped. */
void fabric_port_remove(struct fabric_port *port);

/*
 * Sending without a copy: get a buffer of at least `length` bytes, fill it, send it. NULL when
 * the port's ingress is full (the sender has too many frames under way); tx_room follows.
 * fabric_send takes the buffer, whatever becomes of the frame.
 */
void *fabric_alloc(struct fabric_port *port, size_t length);
void fabric_send(struct fabric_port *port, uint64_t now, void *buffer, size_t length);
/* Gives back a buffer that is not sent after all. */
void fabric_free(struct fabric_port *port, void *buffer);

#define FABRIC_PORT_COUNTERS(X)                                                             \
	X(rx_frames)                                                                        \
	X(rx_bytes) X(tx_frames) X(tx_bytes) X(drop_runt) X(drop_oversize) X(drop_buffer)   \
		X(drop_source) X(flooded) X(fault_loss) X(fault_reorder) X(fault_duplicate) \
			X(fault_corrupt) X(ecn_marked)

struct fabric_port_counters {
#define X(name) uint64_t name;
	FABRIC_PORT_COUNTERS(X)
#undef X
};
const struct fabric_port_counters *fabric_port_counters(const struct fabric_port *port);
const char *fabric_port_name(const struct fabric_port *port);

/* True for RoCE v1 (ethertype 0x8915) and v2 (UDP port 4791 over IPv4 or IPv6), tagged or not. */
bool fabric_frame_is_roce(const void *frame, size_t length);

/*
 * A split port: two ends behind one switch port, as the RDMA and the Ethernet half of one NIC
 * function. Frames from the switch that are RoCE go to `roce`, all others to `host`; both
 * transmit as the same port, and do not hear each other.
 */
struct fabric_split;
int fabric_split_add(struct fabric *fabric, const char *name, struct fabric_split **split);
void fabric_split_remove(struct fabric_split *split);
/* Port-like handles for fabric_alloc/fabric_send, owned by the split. */
struct fabric_port *fabric_split_roce(struct fabric_split *split, const struct fabric_port_ops *ops,
				      void *ctx);
struct fabric_port *fabric_split_host(struct fabric_split *split, const struct fabric_port_ops *ops,
				      void *ctx);

/* ---- ports with I/O ---- */

struct fabric_link;
/*
 * QEMU's stream backend: listens on a UNIX socket, frames with a 32-bit big-endian length before
 * each; one peer at a time, and again after it left. `open` adds the switch end: pass the result
 * of fabric_split_host's ops through fabric_link_ops().
 */
int fabric_stream_listen(struct sim_loop *loop, const char *path, struct fabric_link **link);
/* QEMU's dgram backend: one datagram a frame; `peer` may not exist yet. */
int fabric_dgram_open(struct sim_loop *loop, const char *path, const char *peer,
		      struct fabric_link **link);
/* A TAP device, made or attached to; needs CAP_NET_ADMIN. */
int fabric_tap_open(struct sim_loop *loop, const char *ifname, struct fabric_link **link);
/* Joins a link to a port: first get ops and ctx, make the port with them, then set it. */
const struct fabric_port_ops *fabric_link_ops(struct fabric_link *link);
void fabric_link_set_port(struct fabric_link *link, struct fabric_port *port);
void fabric_link_close(struct fabric_link *link);

#endif
