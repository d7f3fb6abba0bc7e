/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Framing of QEMU's stream backend, without the socket: each frame behind its
 * length, 32 bits, big endian. Decodes hostile bytes; encodes into a bounded
 * backlog.
 */
#ifndef ANYNIC_SIM_FABRIC_FABRIC_STREAM_CODEC_H
#define ANYNIC_SIM_FABRIC_FABRIC_STREAM_CODEC_H

#include <stddef.h>
#include <stdint.h>

#include "sim/fabric/fabric.h"

#define STREAM_HEAD 4
/* Longest frame that QEMU ever sends (its NET_BUFSIZE). A peer that says more is none. */
#define STREAM_LENGTH_MAX (4096 + 65536)
#define STREAM_RX_SIZE	  (1u << 17)
#define STREAM_TX_SIZE	  (1u << 17)

struct stream_decoder {
	size_t begin, end; /* unread bytes in buffer */
	size_t skip;	   /* bytes to come of a frame that is too long for the switch */
	uint8_t buffer[STREAM_RX_SIZE];
};

/* Where to read more bytes to, and how many at most (never 0); then say how many came. */
void *stream_decoder_room(struct stream_decoder *decoder, size_t *room);
void stream_decoder_filled(struct stream_decoder *decoder, size_t length);

enum stream_result {
	STREAM_FRAME,	 /* *frame and *length are set; stays the first until it is consumed */
	STREAM_MORE,	 /* read more */
	STREAM_OVERSIZE, /* a frame longer than FABRIC_FRAME_MAX was left out; go on */
	STREAM_HOSTILE,	 /* no frame can be so long: hang up */
};

enum stream_result stream_decoder_next(struct stream_decoder *decoder, const void **frame,
				       size_t *length);
void stream_decoder_consume(struct stream_decoder *decoder, size_t length);
void stream_decoder_reset(struct stream_decoder *decoder);

/* Bytes [begin, end) wait to be written. */
struct stream_encoder {
	size_t begin, end;
	uint8_t buffer[STREAM_TX_SIZE];
};

/* False: no room. */
bool stream_encoder_put(struct stream_encoder *encoder, const void *frame, size_t length);
static inline size_t stream_encoder_waiting(const struct stream_encoder *encoder)
{
	return encoder->end - encoder->begin;
}

#endif
