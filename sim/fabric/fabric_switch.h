/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Inside of the fabric: what its files share. Nothing outside sim/fabric includes this.
 *
 *	switch_port (name, MAC addresses, rate, counters)
 *	   |- end[SWITCH_END_HOST]   fabric_port: receiver, egress queue, share of buffers
 *	   `- end[SWITCH_END_ROCE]   the same, on a split port only
 *
 * A plain port has the first end alone. A frame is one buffer from fabric_alloc to the last
 * delivery; queues hold references to it.
 */
#ifndef ANYNIC_SIM_FABRIC_FABRIC_SWITCH_H
#define ANYNIC_SIM_FABRIC_FABRIC_SWITCH_H

#include "sim/fabric/fabric.h"

#define FABRIC_NEVER UINT64_MAX
#define NSEC_PER_SEC 1000000000ull

/* ---- frames and their pool (fabric_frame.c) ---- */

struct fabric_frame {
	struct fabric_frame *next_free;
	struct fabric_frame *next_all; /* every frame there is, to free them at the end */
	struct fabric_port *sender;    /* on whose account it is under way */
	uint32_t refs;
	uint32_t length;
	uint32_t room;
	uint32_t size_class;
	_Alignas(16) uint8_t data[];
};

#define FRAME_SIZE_CLASSES 4

struct frame_pool {
	struct fabric_frame *free[FRAME_SIZE_CLASSES];
	struct fabric_frame *all;
};

struct fabric_frame *frame_get(struct frame_pool *pool, size_t length);
void frame_recycle(struct frame_pool *pool, struct fabric_frame *frame);
void frame_pool_fini(struct frame_pool *pool);

static inline struct fabric_frame *frame_of(void *buffer)
{
	return (struct fabric_frame *)((uint8_t *)buffer - offsetof(struct fabric_frame, data));
}

/* ---- what a frame is (fabric_parse.c) ---- */

/* Where the network header is; `type` is the ethertype behind the VLAN tags. */
struct frame_l3 {
	size_t offset;
	uint16_t type;
};

bool frame_find_l3(const uint8_t *frame, size_t length, struct frame_l3 *l3);

/* ---- MAC table (fabric_mac.c) ---- */

/* Sets of 4: the table is bounded, and a storm of addresses evicts, oldest first. */
#define MAC_SETS   1024
#define MAC_WAYS   4
#define MAC_AGE_NS (300 * NSEC_PER_SEC)

struct switch_port;

struct mac_entry {
	uint64_t mac; /* 48 bits */
	uint64_t seen;
	struct switch_port *port; /* NULL: free */
};

struct mac_table {
	struct mac_entry set[MAC_SETS][MAC_WAYS];
};

uint64_t mac_load(const uint8_t *bytes);
void mac_learn(struct mac_table *table, uint64_t now, uint64_t mac, struct switch_port *port);
struct switch_port *mac_lookup(const struct mac_table *table, uint64_t now, uint64_t mac);
void mac_forget_port(struct mac_table *table, const struct switch_port *port);

/* ---- egress queue and the time that sending takes (fabric_queue.c) ---- */

struct egress_entry {
	struct fabric_frame *frame;
	uint64_t due;
};

/* A ring that grows up to the most there ever was. `bytes` is what waits in it. */
struct egress_queue {
	struct egress_entry *ring;
	uint32_t size; /* a power of two, or 0 */
	uint32_t head;
	uint32_t count;
	uint64_t bytes;
};

int egress_push(struct egress_queue *queue, struct fabric_frame *frame, uint64_t due);
/* The first entry, or NULL. */
const struct egress_entry *egress_first(const struct egress_queue *queue);
struct fabric_frame *egress_pop(struct egress_queue *queue);
void egress_fini(struct egress_queue *queue);

/* Virtual departure: when the last bit accepted so far has left, to a fraction of a ns. */
struct line_clock {
	uint64_t free_at;
	uint64_t remainder; /* of the last division, in 1e-9 bits */
};

/* Bytes that wait for their departure. */
uint64_t line_backlog(const struct line_clock *line, uint64_t now, uint64_t rate_bps);
/* Appends a frame; returns when it has left. */
uint64_t line_depart(struct line_clock *line, uint64_t now, uint64_t rate_bps, size_t length);

/* ---- faults (fabric_fault.c) ---- */

#define FAULT_LOSS	1u
#define FAULT_CORRUPT	2u
#define FAULT_DUPLICATE 4u
#define FAULT_REORDER	8u

/* A frame held back goes on behind this many later ones of the same port, or when it is due. */
#define HOLD_FRAMES_MAX 4
#define HOLD_NS		1000000
#define HOLD_SLOTS	8

struct held_frame {
	struct fabric_frame *frame;
	uint64_t due;
	unsigned int after;
};

struct hold {
	struct held_frame slot[HOLD_SLOTS]; /* oldest first */
	unsigned int count;
};

uint64_t random_seed(uint64_t seed);
uint64_t random_next(uint64_t *state);
/* Below `bound`, evenly. */
uint32_t random_below(uint64_t *state, uint32_t bound);

/* Which faults befall the frame: a set of FAULT_*. */
unsigned int fault_draw(const struct fabric_config *config, uint64_t *random, const uint8_t *frame,
			size_t length);
void fault_corrupt(uint64_t *random, uint8_t *frame, size_t length);
/* False: no slot free, the frame goes on. */
bool hold_frame(struct hold *hold, uint64_t now, uint64_t *random, struct fabric_frame *frame);
/* Another frame of the port passed. */
void hold_count(struct hold *hold);
/* One whose time has come, or NULL. */
struct fabric_frame *hold_release(struct hold *hold, uint64_t now);
uint64_t hold_next(const struct hold *hold);

/* ---- ECN (fabric_ecn.c) ---- */

/* RED-like: does a queue this long mark? */
bool ecn_should_mark(const struct fabric_config *config, uint64_t *random, uint64_t queue_bytes);
/* Sets CE on an ECN-capable packet, checksum included. False: it is none, or was marked before. */
bool ecn_mark(uint8_t *frame, size_t length);

/* ---- capture (fabric_pcapng.c) ---- */

struct pcapng;

int pcapng_create(const char *path, struct pcapng **capture);
/* Returns the interface's number. */
uint32_t pcapng_interface(struct pcapng *capture, const char *name);
void pcapng_frame(struct pcapng *capture, uint32_t interface, uint64_t time_ns, const void *frame,
		  size_t length);
/* The first error there ever was. */
int pcapng_flush(struct pcapng *capture);
void pcapng_destroy(struct pcapng *capture);

/* ---- the switch (fabric.c) ---- */

enum switch_end { SWITCH_END_HOST, SWITCH_END_ROCE, SWITCH_ENDS };

struct fabric_port {
	struct fabric *fabric;
	struct switch_port *port;
	const struct fabric_port_ops *ops;
	void *ctx;
	struct egress_queue queue;
	uint64_t under_way; /* bytes of buffers got from fabric_alloc and not back yet */
	uint64_t paused_since;
	bool hairpin;
	bool paused;
	bool starved; /* fabric_alloc said no, tx_room is owed */
	bool removed;
	struct fabric_port *next_all; /* lives as long as the fabric, for the sake of its buffers */
};

struct switch_port {
	struct fabric *fabric;
	char *name;
	uint32_t interface; /* in the capture */
	bool is_split;
	struct line_clock line;
	struct hold hold;
	struct fabric_port *end[SWITCH_ENDS];
	struct fabric_port_counters counters;
};

struct fabric {
	struct fabric_config config;
	uint64_t random;
	uint64_t next;
	uint64_t under_way_max; /* of each end */
	bool running;
	bool faulty; /* any fault is configured */
	void (*wake)(void *ctx);
	void *wake_ctx;
	struct switch_port **ports;
	uint32_t port_count;
	uint32_t turn; /* the port that fabric_run serves first */
	struct fabric_port *all_ends;
	struct frame_pool pool;
	struct pcapng *capture;
	struct sim_task *task;
	struct mac_table macs;
};

int switch_port_create(struct fabric *fabric, const char *name, bool split,
		       struct switch_port **port);
void switch_port_destroy(struct switch_port *port);
int switch_end_create(struct switch_port *port, enum switch_end which,
		      const struct fabric_port_ops *ops, void *ctx);
/* Sends on what was held back long enough. */
void port_release_held(struct switch_port *port, uint64_t now);
/* When the end has work next. */
uint64_t switch_end_next(const struct fabric_port *end);
/* There is work at `time`. */
void fabric_wake_at(struct fabric *fabric, uint64_t time);
void frame_put(struct fabric_frame *frame);

#endif
