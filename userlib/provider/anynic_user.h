/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The seam between the provider's common core and a class's user half. Owns what
 * both sides must agree on; knows no class and no hardware format.
 *
 * A class fills in one struct anynic_class and names it an_<class>_user. The core
 * matches devices, allocates the context, makes the objects that are the same
 * for every NIC (PD, thread domain, MR), checks requests against the limits, and
 * stays away from the data path: post_send, post_recv, poll_cq, req_notify_cq and
 * the extended calls are the class's own functions, put straight into the verbs
 * ops.
 *
 * Errors: functions of this seam return 0 or -errno. Functions that are verbs ops
 * return what their man page says: a positive errno, or NULL with errno set.
 */
#ifndef ANYNIC_USERLIB_PROVIDER_ANYNIC_USER_H
#define ANYNIC_USERLIB_PROVIDER_ANYNIC_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compat/ibverbs/pabi.h"

/*
 * X(name, meaning): what can be limited. Names are libibverbs'. One value is
 * enough to limit a thing that verbs has in several places: max_send_wr and
 * max_recv_wr lower max_qp_wr of the device, path_mtu (in bytes) lowers both MTUs
 * of a port.
 */
#define ANYNIC_LIMITS(X)                                                \
	X(max_qp, "queue pairs")                                        \
	X(max_cq, "completion queues")                                  \
	X(max_mr, "memory regions")                                     \
	X(max_pd, "protection domains")                                 \
	X(max_ah, "address handles")                                    \
	X(max_send_wr, "outstanding sends of a QP")                     \
	X(max_recv_wr, "outstanding receives of a QP")                  \
	X(max_send_sge, "pieces of a send")                             \
	X(max_recv_sge, "pieces of a receive")                          \
	X(max_inline_data, "bytes sent inline")                         \
	X(max_cqe, "entries of a CQ")                                   \
	X(max_qp_rd_atom, "READs and atomics in flight towards a QP")   \
	X(max_qp_init_rd_atom, "READs and atomics in flight from a QP") \
	X(max_msg_sz, "bytes of a message")                             \
	X(path_mtu, "bytes of a packet's payload: 256, 512, 1024, 2048 or 4096")

/* UINT32_MAX means that there is no limit. */
struct anynic_limits {
#define ANYNIC_LIMIT_FIELD(name, meaning) uint32_t name;
	ANYNIC_LIMITS(ANYNIC_LIMIT_FIELD)
#undef ANYNIC_LIMIT_FIELD
};

struct anynic_class;

/* First member of a class's context. */
struct anynic_context {
	struct verbs_context verbs; /* first: libibverbs allocates the whole by it */
	const struct anynic_class *class;
	struct anynic_limits limits; /* the class's own, lowered by the clamps */
	struct anynic_limits clamps; /* the clamps alone: what queries are lowered by */
	bool single_threaded;	     /* ANYNIC_SINGLE_THREADED: no locks at all */
	struct anynic_context *next; /* list of open contexts, for fork */
};

/* A PD, or a parent domain: the latter stands for a PD and may waive locks. */
struct anynic_pd {
	struct ibv_pd pd;
	struct anynic_pd *contained; /* the PD that a parent domain stands for */
	struct anynic_td *td;
	unsigned int uses; /* parent domains that stand for this PD */
};

/* First member of a class's QP. */
struct anynic_qp {
	struct verbs_qp verbs;
	uint8_t port_num; /* from modify to INIT */
};

/*
 * One class. Slots that may be empty say so. ops holds everything that is not
 * here: the data path, CQs, and what the class does differently from the core.
 */
struct anynic_class {
	const char *name;
	uint32_t driver_id; /* RDMA_DRIVER_... */
	/*
	 * Ends with an empty row. A driver id first: libibverbs tries those over all
	 * providers before any other row. PCI ids are for where it cannot know the
	 * driver's id, without netlink.
	 */
	const struct verbs_match_ent *match;
	uint32_t abi_min, abi_max;
	size_t context_bytes;
	const struct anynic_limits *limits; /* what the queues can do, whatever a query says */
	const struct verbs_context_ops *ops;

	/* Gets the kernel's context and maps what the data path needs; and undoes it. */
	int (*context_init)(struct anynic_context *context, int cmd_fd);
	void (*context_fini)(struct anynic_context *context);

	/* The firmware version as text; may be empty, then it is a plain number. */
	void (*fw_version)(uint64_t raw, char *text, size_t room);

	/*
	 * attr was checked against the limits. The class sets attr->cap to what it
	 * grants: at least what was asked, at most the limits.
	 */
	struct ibv_qp *(*create_qp)(struct anynic_context *context,
				    struct ibv_qp_init_attr_ex *attr);
	int (*modify_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);

	/*
	 * In a child after fork: make every object refuse, since the queues and
	 * doorbells belong to the parent. No locks, no allocation.
	 */
	void (*context_forked)(struct anynic_context *context);
};

/* Declares an_<class>_user for each row of classes.def. */
#define NIC_CLASS(name, vendor) extern const struct anynic_class an_##name##_user;
#include "providers/common/classes.def"
#undef NIC_CLASS

static inline struct anynic_context *to_anynic_context(struct ibv_context *context)
{
	return container_of(context, struct anynic_context, verbs.context);
}

/* True where the application promised that one thread uses what is made in pd. */
bool anynic_pd_is_single_threaded(struct ibv_pd *pd);

/*
 * A lock for the data path. Spins, like libibverbs' own providers do: it is held
 * for some dozen instructions. Inline, and nothing at all where it is off.
 */
struct anynic_lock {
	uint32_t held;
	bool off;
};

static inline void anynic_lock_init(struct anynic_lock *lock, bool off)
{
	lock->held = 0;
	lock->off = off;
}

static inline void anynic_lock(struct anynic_lock *lock)
{
	if (lock->off)
		return;
	while (__builtin_expect(__atomic_exchange_n(&lock->held, 1, __ATOMIC_ACQUIRE), 0))
		while (__atomic_load_n(&lock->held, __ATOMIC_RELAXED))
			/* waits without taking the cache line from the holder */;
}

static inline void anynic_unlock(struct anynic_lock *lock)
{
	__atomic_store_n(&lock->held, 0, __ATOMIC_RELEASE);
}

/*
 * Memory that the NIC reads or writes: whole pages, zeroed, and kept out of a
 * child's address space where fork needs that. fini accepts a zeroed buffer.
 */
struct anynic_buffer {
	void *addr;
	size_t length;
};

int anynic_buffer_init(struct anynic_buffer *buffer, size_t length);
void anynic_buffer_fini(struct anynic_buffer *buffer);

/*
 * Small records that the NIC reads, such as doorbell records: many to a page,
 * since the kernel pins pages. get returns a zeroed record, or NULL.
 */
struct anynic_record_page;

struct anynic_records {
	pthread_mutex_t mutex;
	struct anynic_record_page *pages;
	size_t record_bytes; /* a power of two */
};

int anynic_records_init(struct anynic_records *records, size_t record_bytes);
void anynic_records_fini(struct anynic_records *records);
void *anynic_records_get(struct anynic_records *records);
void anynic_records_put(struct anynic_records *records, void *record);

/*
 * One line about what was refused: object, wanted, limit and where it is from. It
 * goes where libibverbs logs (VERBS_LOG_LEVEL, VERBS_LOG_FILE): a library does
 * not write to a program's stderr on its own.
 */
#define anynic_refused(context, ...) verbs_err(&to_anynic_context(context)->verbs, __VA_ARGS__)

#endif
