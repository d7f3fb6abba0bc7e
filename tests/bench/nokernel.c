/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The no-kernel harness: interposed system calls, the sysfs tree, and what a test
 * does in the NIC's place. Commands are answered in nokernel_cmd.c.
 */
#include "tests/bench/nokernel.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DEVICE_NODE "/dev/infiniband/uverbs0"
/* A character device that anyone may open; its number goes into the tree. */
#define STAND_IN	      "/dev/null"
#define STAND_IN_NUMBER	      "1:3"
#define NETLINK_RDMA_PROTOCOL 20

struct nk nk;

static char tree[] = "/tmp/anynic-nokernel-XXXXXX";
static pid_t owner;
static int device_fds[8];
static size_t device_fd_count;

/* ---- system calls ---- */

static bool is_device(int fd)
{
	size_t i;

	for (i = 0; i < device_fd_count; i++)
		if (device_fds[i] == fd)
			return true;
	return false;
}

static int open_any(const char *path, int flags, mode_t mode)
{
	int fd;

	if (strcmp(path, DEVICE_NODE) != 0)
		return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
	fd = (int)syscall(SYS_openat, AT_FDCWD, STAND_IN, flags, mode);
	if (fd >= 0 && !is_device(fd) && device_fd_count < 8)
		device_fds[device_fd_count++] = fd;
	return fd;
}

/* Not declared anywhere: the C library's own names for open with checks. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);

static mode_t mode_argument(int flags, va_list args)
{
	return flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = mode_argument(flags, args);
	va_end(args);
	return open_any(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = mode_argument(flags, args);
	va_end(args);
	return open_any(path, flags, mode);
}

int __open_2(const char *path, int flags)
{
	return open_any(path, flags, 0);
}

int __open64_2(const char *path, int flags)
{
	return open_any(path, flags, 0);
}

/* The number may be another file's next. */
int close(int fd)
{
	size_t i;

	for (i = 0; i < device_fd_count; i++)
		if (device_fds[i] == fd)
			device_fds[i--] = device_fds[--device_fd_count];
	return (int)syscall(SYS_close, fd);
}

static int stat_any(const char *path, void *status)
{
	return (int)syscall(SYS_newfstatat, AT_FDCWD,
			    strcmp(path, DEVICE_NODE) == 0 ? STAND_IN : path, status, 0);
}

int stat(const char *path, struct stat *status)
{
	return stat_any(path, status);
}

int stat64(const char *path, struct stat64 *status)
{
	return stat_any(path, status);
}

/* No ioctl interface: libibverbs then uses write(). */
int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *argument;

	va_start(args, request);
	argument = va_arg(args, void *);
	va_end(args);
	if (!is_device(fd))
		return (int)syscall(SYS_ioctl, fd, request, argument);
	errno = ENOTTY;
	return -1;
}

ssize_t write(int fd, const void *data, size_t length)
{
	int err;

	if (!is_device(fd))
		return syscall(SYS_write, fd, data, length);
	err = nk_command(data, length);
	if (!err)
		return (ssize_t)length;
	errno = err;
	return -1;
}

static void *map_any(void *addr, size_t length, int protection, int flags, int fd, off_t offset)
{
	if (!is_device(fd))
		return (void *)syscall(SYS_mmap, addr, length, protection, flags, fd, offset);
	switch (offset) {
	case 0x1000:
		return nk.sq_page;
	case 0x2000:
		return nk.rq_page;
	case 0x3000:
		return nk.cq_page;
	}
	errno = EINVAL;
	return MAP_FAILED;
}

void *mmap(void *addr, size_t length, int protection, int flags, int fd, off_t offset)
{
	return map_any(addr, length, protection, flags, fd, offset);
}

void *mmap64(void *addr, size_t length, int protection, int flags, int fd, off_t offset)
{
	return map_any(addr, length, protection, flags, fd, offset);
}

/* The doorbell pages outlive a context: the test looks at them. */
int munmap(void *addr, size_t length)
{
	if (addr && (addr == nk.sq_page || addr == nk.rq_page || addr == nk.cq_page))
		return 0;
	return (int)syscall(SYS_munmap, addr, length);
}

/* Real RDMA devices of this machine stay out of sight. */
int socket(int domain, int type, int protocol)
{
	if (domain == AF_NETLINK && protocol == NETLINK_RDMA_PROTOCOL) {
		errno = EPROTONOSUPPORT;
		return -1;
	}
	return (int)syscall(SYS_socket, domain, type, protocol);
}

/* ---- the tree ---- */

const char *nk_path(const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", tree, name);
	return path;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
	(void)status;
	(void)kind;
	(void)walk;
	return remove(path);
}

static void remove_tree(void)
{
	if (getpid() == owner)
		nftw(tree, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

void nk_put_file(const char *name, const char *text)
{
	char path[PATH_MAX], *slash;
	FILE *file;

	snprintf(path, sizeof(path), "%s", nk_path(name));
	for (slash = strchr(path + strlen(tree) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(path, 0700) && errno != EEXIST)
			die(path);
		*slash = '/';
	}
	file = fopen(path, "w");
	if (!file || fputs(text, file) < 0 || fclose(file))
		die(path);
}

/* Shared, as a doorbell is: what a child rings the parent sees. */
static char *make_page(void)
{
	void *page = (void *)syscall(SYS_mmap, NULL, 4096, PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		die("mmap");
	return page;
}

void nk_set_netdev_mtu(unsigned int mtu)
{
	char text[16];

	snprintf(text, sizeof(text), "%u\n", mtu);
	nk_put_file("class/net/eth9/mtu", text);
}

void nk_start(const char *driver, unsigned int netdev_mtu)
{
	if (!mkdtemp(tree))
		die(tree);
	owner = getpid();
	atexit(remove_tree);
	nk_put_file("class/infiniband_verbs/abi_version", "6\n");
	nk_put_file("class/infiniband_verbs/uverbs0/ibdev", "erdma_0\n");
	nk_put_file("class/infiniband_verbs/uverbs0/abi_version", "1\n");
	nk_put_file("class/infiniband_verbs/uverbs0/dev", STAND_IN_NUMBER "\n");
	nk_put_file("class/infiniband/erdma_0/node_type", "1: CA\n");
	nk_put_file("class/infiniband/erdma_0/node_guid", "5054:00ff:fe00:0001\n");
	nk_put_file("class/infiniband/erdma_0/device/modalias",
		    "pci:v00001DEDd0000107Fsv00001DEDsd0000107Fbc02sc00i00\n");
	if (netdev_mtu) {
		nk_put_file("class/infiniband/erdma_0/ports/1/gid_attrs/ndevs/1", "eth9\n");
		nk_set_netdev_mtu(netdev_mtu);
	}
	nk.sq_page = make_page();
	nk.rq_page = make_page();
	nk.cq_page = make_page();
	nk.active_mtu = IBV_MTU_1024;
	setenv("SYSFS_PATH", tree, 1);
	setenv("IBV_DRIVERS", driver, 1);
	setenv("ANYNIC_CLAMP_FILE", nk_path("clamp"), 1); /* not that of this machine */
	unsetenv("RDMAV_DRIVERS");
}

struct ibv_context *nk_open(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = NULL;

	if (!list)
		return NULL;
	if (list[0])
		context = ibv_open_device(list[0]);
	else
		errno = ENODEV;
	ibv_free_device_list(list);
	return context;
}

/* ---- in the NIC's place ---- */

struct nk_qp *nk_find_qp(struct ibv_qp *qp)
{
	return &nk.qp[qp->qp_num % NK_QPS];
}

/* The handle is ours: nokernel_cmd.c gives the CQN. */
struct nk_cq *nk_find_cq(struct ibv_cq *cq)
{
	return &nk.cq[cq->handle % NK_CQS];
}

void nk_complete(struct nk_cq *cq, const struct nk_completion *completion)
{
	struct erdma_cqe *cqe = &cq->ring[cq->pi & (cq->depth - 1)];
	uint32_t owner_bit = !(cq->pi & cq->depth);

	memset((char *)cqe + sizeof(cqe->hdr), 0, sizeof(*cqe) - sizeof(cqe->hdr));
	cqe->wqe_index = nic_to_be32(completion->index);
	cqe->qpn = nic_to_be32(completion->qpn);
	memcpy(&cqe->immediate, &completion->word, sizeof(completion->word));
	cqe->length = nic_to_be32(completion->length);
	cqe->ud = nic_to_be32(completion->ud);
	/* Last, as the NIC does: the owner bit makes the entry valid. */
	cqe->hdr = nic_to_be32(nic_prep(ERDMA_CQE_OWNER, owner_bit) |
			       nic_prep(ERDMA_CQE_OPCODE, completion->opcode) |
			       nic_prep(ERDMA_CQE_QUEUE, completion->queue) |
			       nic_prep(ERDMA_CQE_STATUS, completion->status));
	cq->pi++;
}

void nk_event(struct ibv_comp_channel *channel, struct ibv_cq *cq)
{
	/* The CQ's user handle, which is 8 bytes; an eventfd gives back what went in. */
	uint64_t handle = (uintptr_t)cq;

	if (syscall(SYS_write, channel->fd, &handle, sizeof(handle)) == sizeof(handle))
		nk_find_cq(cq)->events++;
}

static uint64_t bell(const char *page, size_t offset)
{
	uint64_t value;

	memcpy(&value, page + offset, sizeof(value));
	return value;
}

uint16_t nk_sq_pi(const struct nk_qp *qp)
{
	return (uint16_t)nic_pick(bell(nk.sq_page,
				       qp->qpn % ERDMA_DB_SQ_SLOTS * ERDMA_DB_SQ_SLOT_BYTES),
				  ERDMA_SQ_DB_PI);
}

uint16_t nk_rq_pi(const struct nk_qp *qp)
{
	return (uint16_t)nic_pick(bell(nk.rq_page,
				       qp->qpn % ERDMA_DB_RQ_SLOTS * ERDMA_DB_RQ_SLOT_BYTES),
				  ERDMA_RQ_DB_PI);
}

int nk_to_rts(struct ibv_qp *qp, enum ibv_qp_type type)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qkey = 0x11111111,
		.path_mtu = IBV_MTU_1024,
		.ah_attr = {.is_global = 1, .port_num = 1},
	};
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT, err;

	err = ibv_modify_qp(qp, &attr,
			    mask | (type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS));
	attr.qp_state = IBV_QPS_RTR;
	mask = IBV_QP_STATE;
	if (type == IBV_QPT_RC)
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	if (!err)
		err = ibv_modify_qp(qp, &attr, mask);
	attr.qp_state = IBV_QPS_RTS;
	mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
	if (type == IBV_QPT_RC)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	if (!err)
		err = ibv_modify_qp(qp, &attr, mask);
	return err;
}

struct ibv_qp *nk_make_qp(struct ibv_pd *pd, struct ibv_cq *cq, enum ibv_qp_type type,
			  struct ibv_qp_cap *cap, int sq_sig_all)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = *cap,
		.qp_type = type,
		.sq_sig_all = sq_sig_all,
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &attr);

	if (!qp)
		return NULL;
	*cap = attr.cap;
	if (nk_to_rts(qp, type)) {
		ibv_destroy_qp(qp);
		return NULL;
	}
	return qp;
}
