/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Stream framing: cut anywhere, hostile lengths, bounded backlog. */
#include "sim/fabric/fabric_stream_codec.h"
#include "tests/lib/t.h"

#include <stdlib.h>
#include <string.h>

static struct stream_decoder *decoder;

static void feed(const void *bytes, size_t length)
{
	size_t room;
	void *at = stream_decoder_room(decoder, &room);

	T_NEED(room >= length);
	memcpy(at, bytes, length);
	stream_decoder_filled(decoder, length);
}

static void create(void)
{
	decoder = malloc(sizeof(*decoder));
	stream_decoder_reset(decoder);
}

static void every_cut(void)
{
	/* Frames of 3, 0, 14 and 1 bytes; 0 is not an error here: the switch drops runts. */
	static const uint8_t bytes[] = {0, 0, 0, 3, 1, 2, 3, 0,	 0,  0,	 0,  0,	 0, 0, 14, 1, 2,
					3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0, 0, 0,  1, 9};
	static const size_t want[] = {3, 0, 14, 1};
	const void *frame;
	size_t cut, length, count, i;

	for (cut = 0; cut <= sizeof(bytes); cut++) {
		create();
		count = 0;
		for (i = 0; i < 2; i++) {
			if (i == 0)
				feed(bytes, cut);
			else
				feed(bytes + cut, sizeof(bytes) - cut);
			while (stream_decoder_next(decoder, &frame, &length) == STREAM_FRAME) {
				T_NEED(count < 4);
				T_EQ(length, want[count]);
				if (length)
					T_EQ(*(const uint8_t *)frame, count == 3 ? 9 : 1);
				count++;
				stream_decoder_consume(decoder, length);
			}
		}
		T_EQ(count, 4);
		T_EQ(stream_decoder_next(decoder, &frame, &length), STREAM_MORE);
		free(decoder);
	}
}

static void lengths(void)
{
	static const struct {
		const char *name, *head;
		enum stream_result want;
	} rows[] = {
		{"longest frame", "00002412", STREAM_MORE},
		{"one more", "00002413", STREAM_OVERSIZE},
		{"longest of QEMU", "00011000", STREAM_OVERSIZE},
		{"more than QEMU sends", "00011001", STREAM_HOSTILE},
		{"negative", "ffffffff", STREAM_HOSTILE},
		{"sign bit", "80000000", STREAM_HOSTILE},
		{"little endian 60", "3c000000", STREAM_HOSTILE},
		{"cut", "000000", STREAM_MORE},
	};
	const void *frame;
	uint8_t head[4];
	size_t i, length;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		create();
		feed(head, t_hex(rows[i].head, head, sizeof(head)));
		T_EQ_ROW(rows[i].name, stream_decoder_next(decoder, &frame, &length), rows[i].want);
		free(decoder);
	}
}

/* A too long frame is left out, however it arrives, and the next one is found. */
static void oversize_is_skipped(void)
{
	static uint8_t stream[4 + 20000 + 4 + 5];
	size_t chunk, at, n, length, oversize, frames;
	enum stream_result result;
	const void *frame;

	memset(stream, 0xee, sizeof(stream));
	memcpy(stream, "\0\0\x4e\x20", 4);
	memcpy(stream + 20004, "\0\0\0\5hello", 9);
	for (chunk = 1; chunk < sizeof(stream); chunk = chunk * 3 + 1) {
		create();
		oversize = frames = 0;
		for (at = 0; at < sizeof(stream); at += n) {
			n = sizeof(stream) - at < chunk ? sizeof(stream) - at : chunk;
			feed(stream + at, n);
			while ((result = stream_decoder_next(decoder, &frame, &length)) !=
			       STREAM_MORE) {
				T_NEED(result != STREAM_HOSTILE);
				if (result == STREAM_OVERSIZE) {
					oversize++;
					continue;
				}
				T_EQ(length, 5);
				T_TRUE(!memcmp(frame, "hello", 5));
				frames++;
				stream_decoder_consume(decoder, length);
			}
		}
		T_EQ(oversize, 1);
		T_EQ(frames, 1);
		free(decoder);
	}
}

/* Filled to the brim with frames that are not taken: there is always room for the rest of one. */
static void room_is_never_0(void)
{
	static const uint8_t head[] = {0, 0, 0x24, 0x12};
	static uint8_t body[FABRIC_FRAME_MAX];
	const void *frame;
	size_t room, length, total = 0;
	void *at;

	create();
	while (total < 1000000) {
		feed(head, 4);
		at = stream_decoder_room(decoder, &room);
		T_NEED(room >= sizeof(body));
		memcpy(at, body, sizeof(body));
		stream_decoder_filled(decoder, sizeof(body));
		T_EQ(stream_decoder_next(decoder, &frame, &length), STREAM_FRAME);
		stream_decoder_consume(decoder, length);
		total += length;
	}
	free(decoder);
}

static void encoder_is_bounded(void)
{
	struct stream_encoder *encoder = malloc(sizeof(*encoder));
	static uint8_t frame[FABRIC_FRAME_MAX];
	unsigned int put = 0;

	encoder->begin = encoder->end = 0;
	frame[0] = 0x55;
	while (stream_encoder_put(encoder, frame, sizeof(frame)))
		T_NEED(++put < 1000);
	T_EQ(put, STREAM_TX_SIZE / (4 + FABRIC_FRAME_MAX));
	T_BYTES(encoder->buffer, "\0\0\x24\x12\x55", 5);
	/* Half written by the socket: what is left moves, and there is room again. */
	encoder->begin += 3 * (4 + sizeof(frame)) + 7;
	T_TRUE(stream_encoder_put(encoder, frame, sizeof(frame)));
	T_TRUE(stream_encoder_put(encoder, frame, 60));
	T_EQ(stream_encoder_waiting(encoder), (put - 2) * (4 + sizeof(frame)) - 7 + 64);
	T_BYTES(encoder->buffer + encoder->end - 64, "\0\0\0\x3c\x55", 5);
	free(encoder);
}

/* What one side writes the other reads. */
static void round_trip(void)
{
	struct stream_encoder *encoder = malloc(sizeof(*encoder));
	uint8_t out[300];
	const void *frame;
	size_t i, length;

	encoder->begin = encoder->end = 0;
	for (i = 0; i < 300; i++) {
		memset(out, (int)i, sizeof(out));
		T_TRUE(stream_encoder_put(encoder, out, i));
	}
	create();
	feed(encoder->buffer + encoder->begin, stream_encoder_waiting(encoder));
	for (i = 0; i < 300; i++) {
		T_EQ(stream_decoder_next(decoder, &frame, &length), STREAM_FRAME);
		T_EQ(length, i);
		if (i)
			T_EQ(((const uint8_t *)frame)[i - 1], i & 255);
		stream_decoder_consume(decoder, length);
	}
	free(decoder);
	free(encoder);
}

T_MAIN("fabric_stream_codec", T_CASE(every_cut), T_CASE(lengths), T_CASE(oversize_is_skipped),
       T_CASE(room_is_never_0), T_CASE(encoder_is_bounded), T_CASE(round_trip), )
