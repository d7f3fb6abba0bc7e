/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A hostile peer's bytes through the stream framing into the switch. The first
 * byte says into how large pieces they are cut.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sim/fabric/fabric.h"
#include "sim/fabric/fabric_stream_codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t sum;

/* Reads every byte: a length that is wrong shows. */
static void take(void *ctx, uint64_t now, const void *frame, size_t length)
{
	const uint8_t *bytes = frame;

	(void)ctx;
	(void)now;
	while (length--)
		sum += *bytes++;
}

static const struct fabric_port_ops ops = {.rx = take};

/* False: the peer is cut off. */
static bool deliver(struct stream_decoder *decoder, struct fabric *fabric, struct fabric_port *port)
{
	enum stream_result result;
	const void *frame;
	size_t length;
	void *buffer;

	while ((result = stream_decoder_next(decoder, &frame, &length)) != STREAM_MORE) {
		if (result == STREAM_HOSTILE)
			return false;
		if (result == STREAM_OVERSIZE)
			continue;
		buffer = fabric_alloc(port, length);
		if (!buffer)
			abort();
		memcpy(buffer, frame, length);
		fabric_send(port, 0, buffer, length);
		stream_decoder_consume(decoder, length);
		while (fabric_run(fabric, 0, 8))
			;
	}
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* No reordering: at a standing clock what is held stays held. */
	static const struct fabric_config config = {.corrupt_ppm = 100000,
						    .duplicate_ppm = 100000,
						    .loss_ppm = 100000,
						    .faults_on_all = true};
	static struct stream_decoder decoder;
	struct fabric_port *port, *other;
	struct fabric_split *split;
	struct fabric *fabric;
	size_t piece, room;
	void *at;

	if (!size || fabric_create(&config, &fabric))
		return 0;
	if (fabric_port_add(fabric, "peer", &ops, NULL, &port) ||
	    fabric_port_add(fabric, "other", &ops, NULL, &other) ||
	    fabric_split_add(fabric, "nic", &split) || !fabric_split_roce(split, &ops, NULL) ||
	    !fabric_split_host(split, &ops, NULL))
		abort();
	stream_decoder_reset(&decoder);
	piece = *data++ + 1u;
	for (size--; size; data += piece, size -= piece) {
		piece = piece < size ? piece : size;
		at = stream_decoder_room(&decoder, &room);
		if (room < piece)
			abort();
		memcpy(at, data, piece);
		stream_decoder_filled(&decoder, piece);
		if (!deliver(&decoder, fabric, port))
			break;
	}
	fabric_destroy(fabric);
	return 0;
}
