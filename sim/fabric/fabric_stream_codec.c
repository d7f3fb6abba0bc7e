/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Framing of QEMU's stream backend: pure functions over buffers. Knows no socket and no port. */
#include "sim/fabric/fabric_stream_codec.h"

#include <string.h>

void stream_decoder_reset(struct stream_decoder *decoder)
{
	decoder->begin = 0;
	decoder->end = 0;
	decoder->skip = 0;
}

/* What is left is less than a frame when all that could be were taken, so moving it is cheap. */
void *stream_decoder_room(struct stream_decoder *decoder, size_t *room)
{
	size_t left = decoder->end - decoder->begin;

	if (decoder->begin)
		memmove(decoder->buffer, decoder->buffer + decoder->begin, left);
	decoder->begin = 0;
	decoder->end = left;
	*room = STREAM_RX_SIZE - left;
	return decoder->buffer + left;
}

void stream_decoder_filled(struct stream_decoder *decoder, size_t length)
{
	decoder->end += length;
}

static void decoder_skip(struct stream_decoder *decoder)
{
	size_t left = decoder->end - decoder->begin;
	size_t count = decoder->skip < left ? decoder->skip : left;

	decoder->begin += count;
	decoder->skip -= count;
}

enum stream_result stream_decoder_next(struct stream_decoder *decoder, const void **frame,
				       size_t *length)
{
	const uint8_t *head;
	uint32_t said;

	decoder_skip(decoder);
	if (decoder->end - decoder->begin < STREAM_HEAD)
		return STREAM_MORE;
	head = decoder->buffer + decoder->begin;
	said = (uint32_t)head[0] << 24 | (uint32_t)head[1] << 16 | (uint32_t)head[2] << 8 | head[3];
	if (said > STREAM_LENGTH_MAX)
		return STREAM_HOSTILE;
	if (said > FABRIC_FRAME_MAX) {
		decoder->begin += STREAM_HEAD;
		decoder->skip = said;
		return STREAM_OVERSIZE;
	}
	if (decoder->end - decoder->begin < STREAM_HEAD + said)
		return STREAM_MORE;
	*frame = head + STREAM_HEAD;
	*length = said;
	return STREAM_FRAME;
}

void stream_decoder_consume(struct stream_decoder *decoder, size_t length)
{
	decoder->begin += STREAM_HEAD + length;
}

bool stream_encoder_put(struct stream_encoder *encoder, const void *frame, size_t length)
{
	size_t waiting = stream_encoder_waiting(encoder);
	uint8_t *out;

	if (STREAM_HEAD + length > STREAM_TX_SIZE - waiting)
		return false;
	if (STREAM_HEAD + length > STREAM_TX_SIZE - encoder->end) {
		memmove(encoder->buffer, encoder->buffer + encoder->begin, waiting);
		encoder->begin = 0;
		encoder->end = waiting;
	}
	out = encoder->buffer + encoder->end;
	out[0] = 0; /* no frame is that long */
	out[1] = (uint8_t)(length >> 16);
	out[2] = (uint8_t)(length >> 8);
	out[3] = (uint8_t)length;
	memcpy(out + STREAM_HEAD, frame, length);
	encoder->end += STREAM_HEAD + length;
	return true;
}
