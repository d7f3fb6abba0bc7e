/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The simulated Ethernet fabric: one learning switch with ports, egress
 * queues, faults and capture. Moves frames; knows of RDMA only the headers
 * that it must recognise (is it RoCE?) or mark (ECN bits).
 *
 *	port A --fabric_send--> learn, faults, look up --> egress queues --fabric_run--> port B
 *
 * No I/O and no clock of its own: time is an argument. The ports that do I/O (QEMU stream and
 * dgram sockets, TAP) are links on top of this. fabric_send only queues and fabric_run only
 * delivers, so that a receiver may answer at once without recursion.
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
	/* Egress rate of each port as Ethernet counts it, with FCS, preamble and gap. 0 = unlimited:
	 * the queue is then always empty, unless the port is paused. */
	uint64_t rate_bps;
	uint32_t buffer_bytes; /* egress buffer of each port, 0 = 1 MiB, at most 1 GiB */
	uint64_t delay_ns;     /* added to each frame */
	/* Chances in a million for each frame that enters; one draw each, in this order. A frame
	 * that is both duplicated and reordered passes at once and its copy later. Corruption flips
	 * one bit after the Ethernet addresses, as if the FCS had failed to notice. */
	uint32_t loss_ppm, corrupt_ppm, duplicate_ppm, reorder_ppm;
	bool faults_on_all;			 /* false: only RoCE frames suffer faults */
	uint32_t ecn_kmin_bytes, ecn_kmax_bytes; /* kmin 0 = no marking */
	uint32_t ecn_pmax_percent;
	/* pcapng file, NULL = none: each frame when it leaves on a port, so a flooded frame once for
	 * each port and a dropped one not at all. Time stamps are `now` + capture_epoch_ns. */
	const char *capture;
	uint64_t capture_epoch_ns;
};

/* -EINVAL: a value out of range; or what opening the capture file gave. Copies the config. */
int fabric_create(const struct fabric_config *config, struct fabric **fabric);
/* Removes ports and splits that are left. Buffers that were got and not sent are gone too. */
void fabric_destroy(struct fabric *fabric);
/* Writes what the capture has buffered. Returns the first write error there ever was. */
int fabric_flush(struct fabric *fabric);

/* Moves due frames, delivering up to `budget`. True while there is more to do now. */
bool fabric_run(struct fabric *fabric, uint64_t now, unsigned int budget);
/* When fabric_run has work next, UINT64_MAX for never. */
uint64_t fabric_next(const struct fabric *fabric);
/* Called, never from fabric_run, when fabric_next became earlier: the owner schedules fabric_run. */
void fabric_set_wake(struct fabric *fabric, void (*wake)(void *ctx), void *ctx);
/* Does all three on an event loop, until the fabric is destroyed. */
int fabric_attach_loop(struct fabric *fabric, struct sim_loop *loop);

struct fabric_port_ops {
	/* A frame leaves the switch on this port. The bytes stay the fabric's. */
	void (*rx)(void *ctx, uint64_t now, const void *frame, size_t length);
	/* Room again after fabric_alloc returned NULL; may be NULL. */
	void (*tx_room)(void *ctx);
};

int fabric_port_add(struct fabric *fabric, const char *name, const struct fabric_port_ops *ops,
		    void *ctx, struct fabric_port **port);
/* Frames on their way to the port are dropped. Not to be called from rx or tx_room. */
void fabric_port_remove(struct fabric_port *port);
/*
 * The receiver cannot take frames (its socket is full) or can again; also from rx. Frames wait
 * in the egress buffer and so hold up their senders. One that stays paused for 200 ms loses what
 * waits, and all that comes until it goes on: a dead guest must not stop the others. Saying
 * again that it is paused means that it made some progress, and starts that time anew.
 */
void fabric_port_pause(struct fabric_port *port, uint64_t now, bool paused);
/*
 * Unicast frames of this end to a MAC address behind its own port come back to it, as a NIC
 * loops traffic between its own QPs; a switch drops them otherwise.
 */
void fabric_port_set_hairpin(struct fabric_port *port, bool on);

/*
 * Sending without a copy: get a buffer of at least `length` bytes (at most FABRIC_FRAME_MAX), fill
 * it, send it. NULL when
 * the port's ingress is full (the sender has too many frames under way); tx_room follows.
 * fabric_send takes the buffer, whatever becomes of the frame.
 */
void *fabric_alloc(struct fabric_port *port, size_t length);
void fabric_send(struct fabric_port *port, uint64_t now, void *buffer, size_t length);
/* Gives back a buffer that is not sent after all. */
void fabric_free(struct fabric_port *port, void *buffer);

/*
 * rx: into the switch, tx: out of it. Sender's faults (drop_runt, drop_oversize, drop_source: a
 * multicast source; filtered: the destination is behind the same port), floods and fault_* are
 * counted where the frame came in, the others where it should have left (drop_stalled: was
 * paused too long; drop_no_end: no receiver).
 */
/* clang-format off */
#define FABRIC_PORT_COUNTERS(X)                                                                    \
	X(rx_frames) X(rx_bytes) X(tx_frames) X(tx_bytes)                                          \
	X(drop_runt) X(drop_oversize) X(drop_source) X(filtered) X(flooded)                        \
	X(drop_buffer) X(drop_stalled) X(drop_no_end)                                              \
	X(fault_loss) X(fault_corrupt) X(fault_duplicate) X(fault_reorder) X(ecn_marked)
/* clang-format on */

struct fabric_port_counters {
#define X(name) uint64_t name;
	FABRIC_PORT_COUNTERS(X)
#undef X
};
const struct fabric_port_counters *fabric_port_counters(const struct fabric_port *port);
const char *fabric_port_name(const struct fabric_port *port);
/* Calls `each` for every port of the switch (a split is one), in the order in which they came. */
void fabric_for_each_port(struct fabric *fabric,
			  void (*each)(void *ctx, const char *name,
				       const struct fabric_port_counters *counters),
			  void *ctx);

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
 * each; one peer at a time, and again after it left.
 */
int fabric_stream_listen(struct sim_loop *loop, const char *path, struct fabric_link **link);
/* QEMU's dgram backend: one datagram a frame; `peer` may not exist yet. */
int fabric_dgram_open(struct sim_loop *loop, const char *path, const char *peer,
		      struct fabric_link **link);
/* A TAP device, made or attached to; needs CAP_NET_ADMIN. */
int fabric_tap_open(struct sim_loop *loop, const char *ifname, struct fabric_link **link);
/* Joins a link to a port: make the port with these ops and the link as ctx, then set it. Frames
 * from the peer wait until then. */
const struct fabric_port_ops *fabric_link_ops(struct fabric_link *link);
void fabric_link_set_port(struct fabric_link *link, struct fabric_port *port);
/* Takes NULL. Closes and removes what it listened on. The port must be removed first. */
void fabric_link_close(struct fabric_link *link);

/* peers: that came; drop_no_peer: frames for nobody; drop_oversize: frames from the peer that are
 * longer than FABRIC_FRAME_MAX; protocol_errors: peers cut off for what they sent. */
#define FABRIC_LINK_COUNTERS(X) X(peers) X(drop_no_peer) X(drop_oversize) X(protocol_errors)

struct fabric_link_counters {
#define X(name) uint64_t name;
	FABRIC_LINK_COUNTERS(X)
#undef X
};
const struct fabric_link_counters *fabric_link_counters(const struct fabric_link *link);

#endif
