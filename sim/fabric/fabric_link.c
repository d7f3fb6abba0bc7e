/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Links of every kind: joining to a port, closing, sockets. Knows no framing. */
#include "sim/fabric/fabric_link.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

const struct fabric_port_ops *fabric_link_ops(struct fabric_link *link)
{
	return link->ops;
}

void fabric_link_set_port(struct fabric_link *link, struct fabric_port *port)
{
	link->port = port;
	if (port && link->start)
		link->start(link);
}

void fabric_link_close(struct fabric_link *link)
{
	if (link)
		link->close(link);
}

const struct fabric_link_counters *fabric_link_counters(const struct fabric_link *link)
{
	return &link->counters;
}

int link_address(const char *path, struct sockaddr_un *address)
{
	size_t length = strlen(path);

	if (length >= sizeof(address->sun_path))
		return -ENAMETOOLONG;
	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	memcpy(address->sun_path, path, length);
	return 0;
}

/* Makes way for the new socket. Only a socket is removed, and only if nobody listens on it. */
static int remove_stale(const char *path, const struct sockaddr_un *address, int type)
{
	struct stat st;
	int fd, err = 0;

	if (lstat(path, &st))
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (!connect(fd, (const struct sockaddr *)address, sizeof(*address)) || errno == EAGAIN)
		err = -EADDRINUSE;
	close(fd);
	if (!err && unlink(path))
		err = -errno;
	return err;
}

int link_bind(int type, const char *path, int *out)
{
	struct sockaddr_un address;
	int fd, err;

	err = link_address(path, &address);
	if (err)
		return err;
	err = remove_stale(path, &address, type);
	if (err)
		return err;
	fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (bind(fd, (const struct sockaddr *)&address, sizeof(address))) {
		err = -errno;
		close(fd);
		return err;
	}
	*out = fd;
	return 0;
}
