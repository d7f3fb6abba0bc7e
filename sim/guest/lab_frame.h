/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * lab guest: the frames between scripts/lab and a guest, over one
 * virtio-serial port. Owns the format; scripts/anynic_lab/frame.py is its
 * Python twin. Knows nothing of processes.
 *
 *     host                                     guest
 *      |  <------------------------- HELLO      |  once, when the guest has booted
 *      |  EXEC(channel) -------------------->   |  a command; the host picks the channel
 *      |  STDIN / SIGNAL / RESIZE ---------->   |
 *      |  <------------------ STDOUT / STDERR   |
 *      |  <-- WINDOW --> (bytes consumed)       |  both ways, so that no reader is flooded
 *      |  <-------------------------- EXIT      |  last frame of a channel
 *      |  CLOSE ---------------------------->   |  client gone: kill, say no more
 *
 * All integers are little-endian.
 */
#ifndef ANYNIC_SIM_GUEST_LAB_FRAME_H
#define ANYNIC_SIM_GUEST_LAB_FRAME_H

#include <stdint.h>
#include <linux/types.h>

#define LAB_VERSION	 1
#define LAB_PORT_NAME	 "anynic.lab"
#define LAB_FRAME_MAX	 65536	/* payload bytes */
#define LAB_WINDOW_OUT	 262144 /* bytes of STDOUT + STDERR in flight on a channel */
#define LAB_WINDOW_STDIN 65536	/* bytes of STDIN in flight on a channel */

enum lab_frame_type {
	LAB_HELLO = 1,	/* struct lab_hello */
	LAB_EXEC = 2,	/* struct lab_exec, then argc + envc NUL-terminated strings */
	LAB_STDIN = 3,	/* bytes; none = end of file */
	LAB_STDOUT = 4, /* bytes */
	LAB_STDERR = 5, /* bytes */
	LAB_EXIT = 6,	/* struct lab_exit */
	LAB_SIGNAL = 7, /* __le32 signal number, for the command's process group */
	LAB_WINDOW = 8, /* __le32 bytes the receiver has consumed */
	LAB_RESIZE = 9, /* struct lab_size of the terminal */
	LAB_CLOSE = 10, /* nothing */
};

struct lab_frame {
	__le32 channel;
	__le32 type;
	__le32 length; /* of the payload that follows */
};
_Static_assert(sizeof(struct lab_frame) == 12, "lab frame header");

struct lab_hello {
	__le32 version;
	__le32 boot_failures; /* steps of the boot that failed; each is on the console */
};
_Static_assert(sizeof(struct lab_hello) == 8, "lab HELLO");

struct lab_size {
	__le16 rows;
	__le16 columns;
};
_Static_assert(sizeof(struct lab_size) == 4, "lab terminal size");

struct lab_exec {
	__le32 terminal; /* 1: on a pseudo-terminal of the size below, 0: on three pipes */
	struct lab_size size;
	__le32 argc;
	__le32 envc;
};
_Static_assert(sizeof(struct lab_exec) == 16, "lab EXEC");

struct lab_exit {
	__le32 code;   /* exit status, if signal is 0 */
	__le32 signal; /* number of the signal that ended the command, or 0 */
};
_Static_assert(sizeof(struct lab_exit) == 8, "lab EXIT");

#endif
