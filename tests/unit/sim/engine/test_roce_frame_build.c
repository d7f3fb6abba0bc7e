/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Writing of frames: bytes against hand-made ones, and every opcode there and back. */
#include "sim/engine/roce_frame.h"
#include "tests/golden/roce_packets.h"
#include "tests/lib/t.h"
#include "tests/unit/sim/engine/roce_sample.h"

#include <stdlib.h>
#include <string.h>

/* BTH to end of payload, by hand after IBTA 9.2 and 9.3, for the values of sample_pkt(). */
static const struct {
	uint8_t code;
	uint32_t payload;
	const char *hex;
} headers[] = {
	{0x00, 4,
	 "0000812300abcdef80fedcba"
	 "00010203"},
	{0x01, 3,
	 "0110812300abcdef80fedcba"
	 "000102"},
	{0x02, 2,
	 "02a0812300abcdef80fedcba"
	 "0001"},
	{0x03, 1,
	 "03b0812300abcdef80fedcba"
	 "61626364"
	 "00"},
	{0x05, 0,
	 "0580812300abcdef80fedcba"
	 "61626364"},
	{0x06, 4,
	 "0600812300abcdef80fedcba"
	 "0102030405060708"
	 "11121314"
	 "81828384"
	 "00010203"},
	{0x0b, 2,
	 "0ba0812300abcdef80fedcba"
	 "0102030405060708"
	 "11121314"
	 "81828384"
	 "61626364"
	 "0001"},
	{0x0c, 0,
	 "0c80812300abcdef80fedcba"
	 "0102030405060708"
	 "11121314"
	 "81828384"},
	{0x0d, 4,
	 "0d00812300abcdef00fedcba"
	 "1f414243"
	 "00010203"},
	{0x0e, 4,
	 "0e00812300abcdef00fedcba"
	 "00010203"},
	{0x11, 0,
	 "1180812300abcdef00fedcba"
	 "1f414243"},
	{0x12, 0,
	 "1280812300abcdef00fedcba"
	 "1f414243"
	 "5152535455565758"},
	{0x13, 0,
	 "1380812300abcdef80fedcba"
	 "0102030405060708"
	 "11121314"
	 "2122232425262728"
	 "3132333435363738"},
	{0x17, 1,
	 "17b0812300abcdef80fedcba"
	 "71727374"
	 "00"},
	{0x64, 4,
	 "6480812300abcdef80fedcba"
	 "80010000"
	 "00919293"
	 "00010203"},
	{0x65, 4,
	 "6580812300abcdef80fedcba"
	 "80010000"
	 "00919293"
	 "61626364"
	 "00010203"},
	{0x81, 0,
	 "8180812340abcdef00fedcba"
	 "00000000000000000000000000000000"},
};

static void transport_headers_are_as_by_hand(void)
{
	uint8_t frame[SAMPLE_FRAME_BYTES], want[64];
	struct roce_pkt pkt;
	size_t i, bytes;

	for (i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
		sample_pkt(&pkt, roce_op_find(headers[i].code), headers[i].payload);
		sample_frame(&sample_paths[4].path, &pkt, 0, frame);
		bytes = t_hex(headers[i].hex, want, sizeof(want));
		T_BYTES_ROW(pkt.op->name, frame + 14 + 48, want, bytes);
	}
}

static void network_headers_are_as_by_hand(void)
{
	static const struct {
		size_t path;
		const char *hex; /* a frame with RC SEND ONLY and no payload, up to the BTH */
	} rows[] = {
		{0, "02aabbccddee021122334455"
		    "8915"
		    "600abcde00101b01"
		    "fd0102030405060708090a0b0c0d0e0f"
		    "fe8000000000000000aabbfffeccddee"},
		{1, "02aabbccddee021122334455"
		    "8100effe"
		    "8915"
		    "6ffabcde00101b00"
		    "fd0102030405060708090a0b0c0d0e0f"
		    "fe8000000000000000aabbfffeccddee"},
		{2, "02aabbccddee021122334455"
		    "0800"
		    "456a002c000040004011a4b0"
		    "0a010203"
		    "c0a8c8fa"
		    "c12312b700180000"},
		{3, "02aabbccddee021122334455"
		    "81006001"
		    "0800"
		    "4500002c00004000ff11e619"
		    "0a010203"
		    "c0a8c8fa"
		    "ffff12b700180000"},
		{4, "02aabbccddee021122334455"
		    "86dd"
		    "66aabcde00181140"
		    "fd0102030405060708090a0b0c0d0e0f"
		    "fe8000000000000000aabbfffeccddee"
		    "c00012b700180000"},
		{5, "02aabbccddee021122334455"
		    "8100aabc"
		    "86dd"
		    "600abcde00181102"
		    "fd0102030405060708090a0b0c0d0e0f"
		    "fe8000000000000000aabbfffeccddee"
		    "000112b700180000"},
	};
	uint8_t frame[SAMPLE_FRAME_BYTES], want[128];
	struct roce_pkt pkt;
	size_t i, bytes;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		sample_pkt(&pkt, roce_op_find(ROCE_OP_RC_SEND_ONLY), 0);
		sample_frame(&sample_paths[rows[i].path].path, &pkt, 0, frame);
		bytes = t_hex(rows[i].hex, want, sizeof(want));
		T_EQ_ROW(sample_paths[rows[i].path].name, sample_bth(frame), bytes);
		T_BYTES_ROW(sample_paths[rows[i].path].name, frame, want, bytes);
	}
}

/* Parsed and built again, a packet of ours by another hand is the same, byte for byte. */
static void golden_packets_are_rebuilt(void)
{
	static const char *const packets[] = {GOLDEN_SEND_ONLY_IP6, GOLDEN_SEND_ONLY_V1};
	uint8_t want[256], frame[SAMPLE_FRAME_BYTES];
	struct roce_template t;
	struct roce_pkt pkt;
	enum roce_drop drop;
	size_t i, bytes;

	for (i = 0; i < 2; i++) {
		bytes = sample_frame_of_hex(packets[i], want);
		T_NEED(roce_frame_parse(want, bytes, &pkt, &drop));
		roce_template_init(&t, &pkt.path);
		T_EQ(roce_frame_size(&t, pkt.op, pkt.payload_length), bytes);
		memcpy(roce_frame_build(&t, &pkt, frame), pkt.payload, pkt.payload_length);
		roce_frame_finish(&t, &pkt, frame);
		T_BYTES(frame, want, bytes);
	}
}

static void round_trip(const struct sample_path *path, const struct roce_op *op, uint32_t length)
{
	static uint8_t frame[SAMPLE_FRAME_BYTES];
	uint8_t *exact;
	struct roce_pkt want, got;
	enum roce_drop drop;
	size_t bytes;
	char row[80];

	snprintf(row, sizeof(row), "%s %s %u", path->name, op->name, length);
	sample_pkt(&want, op, length);
	bytes = sample_frame(&path->path, &want, (uint8_t)length, frame);
	T_TRUE_ROW(row, bytes >= ROCE_MIN_FRAME_BYTES);
	exact = malloc(bytes);
	memcpy(exact, frame, bytes);
	if (T_TRUE_ROW(row, roce_frame_parse(exact, bytes, &got, &drop))) {
		sample_check(row, &got, &want, &path->path);
		T_TRUE_ROW(row, got.payload == exact + sample_bth(frame) + op->length);
	}
	/* The other implementation would have written the same. */
	sample_fix_icrc(frame);
	if (path->path.net == ROCE_NET_V2_IPV4)
		sample_fix_checksum(frame);
	T_BYTES_ROW(row, exact, frame, bytes);
	free(exact);
}

static void every_opcode_there_and_back(void)
{
	static const uint32_t lengths[] = {0, 1, 2, 3, 4, 5, 255, 256, 1023, 4096};
	const struct roce_op *op;
	unsigned int code;
	size_t i, n;

	for (code = 0; code < 256; code++) {
		op = roce_op_find((uint8_t)code);
		for (i = 0; op && i < sample_path_count; i++)
			for (n = 0; n < (roce_op_has_payload(op) ? 10 : 1); n++)
				round_trip(&sample_paths[i], op, lengths[n]);
	}
}

/* The CRC that a template remembers is never used for another length or traffic class. */
static void template_serves_packets_of_all_lengths(void)
{
	static const uint32_t lengths[] = {4096, 4096, 0, 4096, 3, 4, 4, 1};
	uint8_t frame[SAMPLE_FRAME_BYTES];
	struct roce_template t;
	struct roce_pkt pkt, got;
	enum roce_drop drop;
	size_t i, n;

	for (i = 0; i < sample_path_count; i++) {
		roce_template_init(&t, &sample_paths[i].path);
		for (n = 0; n < 8; n++) {
			sample_pkt(&pkt, roce_op_find(ROCE_OP_UC_SEND_ONLY), lengths[n]);
			roce_template_set_traffic_class(&t, (uint8_t)(0xb0 + n));
			memset(roce_frame_build(&t, &pkt, frame), 0x5a, lengths[n]);
			roce_frame_finish(&t, &pkt, frame);
			T_TRUE_ROW(sample_paths[i].name,
				   roce_frame_parse(frame, roce_frame_size(&t, pkt.op, lengths[n]),
						    &got, &drop));
			T_EQ_ROW(sample_paths[i].name, got.path.traffic_class, 0xb0 + n);
			T_EQ_ROW(sample_paths[i].name, got.path.flow_label,
				 sample_paths[i].path.flow_label);
		}
	}
}

/* Nothing of what was in the buffer before goes out in pads. */
static void pads_are_zero(void)
{
	uint8_t frame[64], zero[8] = {0};
	struct roce_template t;
	struct roce_pkt pkt;

	memset(frame, 0xff, sizeof(frame));
	sample_pkt(&pkt, roce_op_find(ROCE_OP_RC_SEND_ONLY), 0);
	roce_template_init(&t, &sample_paths[2].path);
	T_EQ(roce_frame_size(&t, pkt.op, 0), 60);
	roce_frame_build(&t, &pkt, frame);
	roce_frame_finish(&t, &pkt, frame);
	T_BYTES(frame + 58, zero, 2);
	T_EQ(frame[60], 0xff);
	pkt.payload_length = 1;
	roce_frame_build(&t, &pkt, frame);
	roce_frame_finish(&t, &pkt, frame);
	T_BYTES(frame + 14 + 28 + 12 + 1, zero, 3);
}

static void wide_values_are_cut(void)
{
	struct roce_path path = sample_paths[5].path;
	uint8_t frame[SAMPLE_FRAME_BYTES];
	struct roce_pkt pkt, got;
	enum roce_drop drop;
	size_t bytes;

	path.pcp = 0x0d;
	path.flow_label = 0xfff12345;
	sample_pkt(&pkt, roce_op_find(ROCE_OP_RC_ACK), 0);
	pkt.psn = 0x5000001;
	pkt.dqpn = 0xff000002;
	pkt.msn = 0x1000003;
	bytes = sample_frame(&path, &pkt, 0, frame);
	T_NEED(roce_frame_parse(frame, bytes, &got, &drop));
	T_EQ(got.path.pcp, 5);
	T_EQ(got.path.vlan, 0xabc);
	T_EQ(got.path.flow_label, 0x12345);
	T_EQ(got.psn, 1);
	T_TRUE(!got.ack_req);
	T_EQ(got.dqpn, 2);
	T_TRUE(!got.fecn && !got.becn);
	T_EQ(got.msn, 3);
	T_EQ(got.syndrome, 0x1f);
}

T_MAIN("roce_frame_build", T_CASE(transport_headers_are_as_by_hand),
       T_CASE(network_headers_are_as_by_hand), T_CASE(golden_packets_are_rebuilt),
       T_CASE(every_opcode_there_and_back), T_CASE(template_serves_packets_of_all_lengths),
       T_CASE(pads_are_zero), T_CASE(wide_values_are_cut), )
