/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * vfio-user server, life: listens, takes one client at a time, and cleans up
 * after it. Knows no message.
 */
#include "sim/device/sim_vfu.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* ------------------------------------------------------------ connection */

static void close_connection(struct sim_vfu *vfu)
{
	struct sim_dev *dev = vfu->dev;

	if (vfu->fd < 0)
		return;
	sim_fd_remove(vfu->watch);
	vfu->watch = NULL;
	close(vfu->fd);
	vfu->fd = -1;
	sim_vfu_stream_reset(vfu);
	vfu->is_negotiated = false;
	vfu->is_lost = false;
	vfu->wants_write = false;
	sim_irq_client(&dev->irq, false);
	sim_dma_fini(&dev->dma);
	dev->dma_reported = false;
}

/* The guest is gone: the NIC is as after power-on, and the next one may come. */
static void end_connection(struct sim_vfu *vfu)
{
	close_connection(vfu);
	sim_dev_reset(vfu->dev);
	if (vfu->listen_watch)
		sim_fd_change(vfu->listen_watch, SIM_LOOP_READ);
}

void sim_vfu_lose(struct sim_vfu *vfu, const char *why)
{
	if (vfu->is_lost)
		return;
	if (why)
		sim_log(vfu->dev, "vfio-user: client dropped: %s", why);
	vfu->is_lost = true;
	sim_task_set(vfu->work, 0);
}

void sim_vfu_watch_write(struct sim_vfu *vfu, bool wanted)
{
	if (vfu->wants_write == wanted)
		return;
	vfu->wants_write = wanted;
	sim_fd_change(vfu->watch, SIM_LOOP_READ | (wanted ? SIM_LOOP_WRITE : 0));
}

static void connection_ready(void *ctx, unsigned int events)
{
	struct sim_vfu *vfu = ctx;

	if (events & SIM_LOOP_WRITE)
		sim_vfu_flush(vfu);
	if (events & SIM_LOOP_READ)
		sim_vfu_receive(vfu);
}

/* Runs when no handler does. */
static void work_due(void *ctx, uint64_t now)
{
	struct sim_vfu *vfu = ctx;

	(void)now;
	if (vfu->fd < 0)
		return;
	if (!vfu->is_lost)
		sim_vfu_handle_buffered(vfu);
	if (vfu->is_lost)
		end_connection(vfu);
}

/* Takes the fd, also on failure. */
static int start_connection(struct sim_vfu *vfu, int fd)
{
	int flags = fcntl(fd, F_GETFL);
	int rc = -EBUSY;

	if (vfu->fd >= 0)
		goto undo_fd;
	rc = -EINVAL;
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK))
		goto undo_fd;
	rc = sim_fd_add(vfu->dev->loop, fd, SIM_LOOP_READ, connection_ready, vfu, &vfu->watch);
	if (rc)
		goto undo_fd;
	vfu->fd = fd;
	sim_irq_client(&vfu->dev->irq, true);
	vfu->dev->dma.remote = &sim_vfu_remote;
	vfu->dev->dma.remote_ctx = vfu;
	if (vfu->listen_watch)
		sim_fd_change(vfu->listen_watch, 0);
	return 0;

undo_fd:
	close(fd);
	return rc;
}

/* ------------------------------------------------------------ listener */

static void listener_ready(void *ctx, unsigned int events)
{
	struct sim_vfu *vfu = ctx;
	int fd, rc;

	(void)events;
	fd = accept4(vfu->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd < 0)
		return;
	rc = start_connection(vfu, fd);
	if (rc)
		sim_log(vfu->dev, "vfio-user: client not taken: %s", strerror(-rc));
}

/* A socket file that nobody listens on is left over from a process that was killed. */
static int remove_stale(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int rc = -EADDRINUSE;

	if (fd < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) &&
	    errno == ECONNREFUSED)
		rc = unlink(address->sun_path) ? -errno : 0;
	close(fd);
	return rc;
}

static int bind_path(int fd, const struct sockaddr_un *address)
{
	int rc;

	if (!bind(fd, (const struct sockaddr *)address, sizeof(*address)))
		return 0;
	if (errno != EADDRINUSE)
		return -errno;
	rc = remove_stale(address);
	if (rc)
		return rc;
	return bind(fd, (const struct sockaddr *)address, sizeof(*address)) ? -errno : 0;
}

static int open_listener(struct sim_vfu *vfu, const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd, rc;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	rc = bind_path(fd, &address);
	if (rc)
		goto undo_fd;
	rc = -ENOMEM;
	vfu->path = strdup(path);
	if (!vfu->path)
		goto undo_bind;
	rc = listen(fd, 1) ? -errno : 0;
	if (!rc)
		rc = sim_fd_add(vfu->dev->loop, fd, vfu->fd < 0 ? SIM_LOOP_READ : 0, listener_ready,
				vfu, &vfu->listen_watch);
	if (rc)
		goto undo_path;
	vfu->listen_fd = fd;
	return 0;

undo_path:
	free(vfu->path);
	vfu->path = NULL;
undo_bind:
	unlink(path);
undo_fd:
	close(fd);
	return rc;
}

static void close_listener(struct sim_vfu *vfu)
{
	if (!vfu->path)
		return;
	sim_fd_remove(vfu->listen_watch);
	close(vfu->listen_fd);
	unlink(vfu->path);
	free(vfu->path);
}

/* ------------------------------------------------------------ life */

/* One server a device, made by the first call that needs it. */
static int need_server(struct sim_dev *dev)
{
	struct sim_vfu *vfu;

	if (dev->vfu)
		return 0;
	vfu = calloc(1, sizeof(*vfu));
	if (!vfu)
		return -ENOMEM;
	vfu->dev = dev;
	vfu->fd = -1;
	vfu->listen_fd = -1;
	vfu->rx = malloc(VFU_RX_SIZE);
	vfu->tx = malloc(VFU_TX_SIZE);
	if (!vfu->rx || !vfu->tx || sim_task_add(dev->loop, work_due, vfu, &vfu->work)) {
		sim_vfu_destroy(vfu);
		return -ENOMEM;
	}
	dev->vfu = vfu;
	return 0;
}

void sim_vfu_destroy(struct sim_vfu *vfu)
{
	if (!vfu)
		return;
	close_connection(vfu);
	close_listener(vfu);
	sim_task_remove(vfu->work);
	free(vfu->rx);
	free(vfu->tx);
	free(vfu);
}

int sim_vfu_listen(struct sim_dev *dev, const char *path)
{
	int rc = need_server(dev);

	if (rc)
		return rc;
	return dev->vfu->path ? -EALREADY : open_listener(dev->vfu, path);
}

int sim_vfu_attach(struct sim_dev *dev, int fd)
{
	int rc = need_server(dev);

	if (rc) {
		close(fd);
		return rc;
	}
	return start_connection(dev->vfu, fd);
}
