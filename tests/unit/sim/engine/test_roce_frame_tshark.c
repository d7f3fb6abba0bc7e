/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Frames of every opcode over every kind of network, decoded by tshark, which shares nothing with
 * us: each field must be what was built, and no packet malformed. Skipped where tshark is absent.
 */
#include "sim/engine/roce_frame.h"
#include "tests/lib/t.h"
#include "tests/unit/sim/engine/roce_sample.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAYLOAD = 6, MAX_FRAMES = 512, LINE_BYTES = 4096 };

struct sent {
	const struct roce_path *path;
	struct roce_pkt pkt;
	uint32_t icrc;
	char row[64];
};

static struct sent sent[MAX_FRAMES];
static size_t sent_count;

static bool is_ip4(const struct sent *s)
{
	return s->path->net == ROCE_NET_V2_IPV4;
}

static bool is_ip6(const struct sent *s)
{
	return s->path->net == ROCE_NET_V2_IPV6;
}

static bool is_v1(const struct sent *s)
{
	return s->path->net == ROCE_NET_V1;
}

static bool is_v2(const struct sent *s)
{
	return !is_v1(s);
}

static bool is_tagged(const struct sent *s)
{
	return s->path->vlan != ROCE_NO_VLAN;
}

static bool has_address(const struct sent *s)
{
	return roce_op_has(s->pkt.op, ROCE_HDR_RETH) || roce_op_has(s->pkt.op, ROCE_HDR_ATOMIC_ETH);
}

#define HAS(name, header)                                         \
	static bool has_##name(const struct sent *s)              \
	{                                                         \
		return roce_op_has(s->pkt.op, ROCE_HDR_##header); \
	}
HAS(reth, RETH)
HAS(atomic, ATOMIC_ETH)
HAS(aeth, AETH)
HAS(original, ATOMIC_ACK_ETH)
HAS(imm, IMM)
HAS(ieth, IETH)
HAS(deth, DETH)

/* tshark knows no ICRC in a CNP. */
static bool is_no_cnp(const struct sent *s)
{
	return s->pkt.op->kind != ROCE_KIND_CNP;
}

static bool always(const struct sent *s)
{
	return s != NULL;
}

/* field of tshark, base in which it prints, which packets have it, what it must be */
#define NUMBERS(X)                                                               \
	X("vlan.id", 0, is_tagged, s->path->vlan)                                \
	X("vlan.priority", 0, is_tagged, s->path->pcp)                           \
	X("ip.ttl", 0, is_ip4, s->path->hop_limit)                               \
	X("ip.dsfield.dscp", 0, is_ip4, s->path->traffic_class >> 2)             \
	X("ip.dsfield.ecn", 0, is_ip4, s->path->traffic_class & 3)               \
	X("ip.checksum.status", 0, is_ip4, 1)                                    \
	X("ipv6.tclass", 0, is_ip6, s->path->traffic_class)                      \
	X("ipv6.flow", 0, is_ip6, s->path->flow_label)                           \
	X("ipv6.hlim", 0, is_ip6, s->path->hop_limit)                            \
	X("infiniband.grh.tclass", 0, is_v1, s->path->traffic_class)             \
	X("infiniband.grh.flowlabel", 0, is_v1, s->path->flow_label)             \
	X("infiniband.grh.hoplmt", 0, is_v1, s->path->hop_limit)                 \
	X("udp.srcport", 0, is_v2, s->path->udp_sport)                           \
	X("udp.dstport", 0, is_v2, 4791)                                         \
	X("infiniband.bth.opcode", 0, always, s->pkt.op->code)                   \
	X("infiniband.bth.se", 0, always, s->pkt.solicited)                      \
	X("infiniband.bth.m", 0, always, s->pkt.mig_req)                         \
	X("infiniband.bth.padcnt", 0, always, s->pkt.payload_length ? 2 : 0)     \
	X("infiniband.bth.tver", 0, always, 0)                                   \
	X("infiniband.bth.p_key", 0, always, s->pkt.pkey)                        \
	X("infiniband.bth.destqp", 0, always, s->pkt.dqpn)                       \
	X("infiniband.bth.a", 0, always, s->pkt.ack_req)                         \
	X("infiniband.bth.psn", 0, always, s->pkt.psn)                           \
	X("infiniband.reth.va", 0, has_address, s->pkt.va)                       \
	X("infiniband.reth.r_key", 0, has_address, s->pkt.rkey)                  \
	X("infiniband.reth.dmalen", 0, has_reth, s->pkt.dma_length)              \
	X("infiniband.atomiceth.swapdt", 0, has_atomic, s->pkt.swap_add)         \
	X("infiniband.atomiceth.cmpdt", 0, has_atomic, s->pkt.compare)           \
	X("infiniband.aeth.syndrome", 0, has_aeth, s->pkt.syndrome)              \
	X("infiniband.aeth.msn", 0, has_aeth, s->pkt.msn)                        \
	X("infiniband.atomicacketh.origremdt", 0, has_original, s->pkt.original) \
	X("infiniband.immdt", 16, has_imm, s->pkt.imm)                           \
	X("infiniband.ieth", 16, has_ieth, s->pkt.inv_key)                       \
	X("infiniband.deth.q_key", 0, has_deth, s->pkt.qkey)                     \
	X("infiniband.deth.srcqp", 0, has_deth, s->pkt.src_qp)                   \
	X("infiniband.invariant.crc", 0, is_no_cnp, s->icrc)

/* field, which packets have it, address family, its bytes */
#define ADDRESSES(X)                                             \
	X("ip.src", is_ip4, AF_INET, s->path->sgid + 12)         \
	X("ip.dst", is_ip4, AF_INET, s->path->dgid + 12)         \
	X("ipv6.src", is_ip6, AF_INET6, s->path->sgid)           \
	X("ipv6.dst", is_ip6, AF_INET6, s->path->dgid)           \
	X("infiniband.grh.sgid", is_v1, AF_INET6, s->path->sgid) \
	X("infiniband.grh.dgid", is_v1, AF_INET6, s->path->dgid)

static const char fields[] = " -e _ws.malformed -e eth.src -e eth.dst"
#define X(field, ...) " -e " field
	NUMBERS(X) ADDRESSES(X)
#undef X
	;

/* Takes the text up to the next tab off a line. */
static const char *next(char **line)
{
	char *text = strsep(line, "\t\n");

	return text ? text : "";
}

static void check_number(const struct sent *s, const char *field, const char *text, int base,
			 uint64_t want)
{
	t_check(*text && strtoull(text, NULL, base) == want, __FILE__, __LINE__,
		"%s: %s is '%s', want 0x%llx", s->row, field, text, (unsigned long long)want);
}

static void check_address(const struct sent *s, const char *field, const char *text, int family,
			  const uint8_t *want)
{
	char wanted[INET6_ADDRSTRLEN];

	inet_ntop(family, want, wanted, sizeof(wanted));
	t_check(!strcmp(text, wanted), __FILE__, __LINE__, "%s: %s is '%s', want %s", s->row, field,
		text, wanted);
}

static void check_mac(const struct sent *s, const char *text, const uint8_t *mac)
{
	char want[18];

	snprintf(want, sizeof(want), "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
		 mac[3], mac[4], mac[5]);
	t_check(!strcmp(text, want), __FILE__, __LINE__, "%s: MAC is '%s', want %s", s->row, text,
		want);
}

static void check_absent(const struct sent *s, const char *field, const char *text)
{
	t_check(!*text, __FILE__, __LINE__, "%s: %s is '%s', want none", s->row, field, text);
}

static void check_line(const struct sent *s, char *line)
{
	const char *text;

	check_absent(s, "_ws.malformed", next(&line));
	check_mac(s, next(&line), s->path->smac);
	check_mac(s, next(&line), s->path->dmac);
#define X(field, base, present, value)                     \
	text = next(&line);                                \
	if (present(s))                                    \
		check_number(s, field, text, base, value); \
	else                                               \
		check_absent(s, field, text);
	NUMBERS(X)
#undef X
#define X(field, present, family, bytes)                      \
	text = next(&line);                                   \
	if (present(s))                                       \
		check_address(s, field, text, family, bytes); \
	else                                                  \
		check_absent(s, field, text);
	ADDRESSES(X)
#undef X
}

/* A classic pcap file, in our byte order. */
static void write_header(FILE *file)
{
	static const uint32_t header[] = {0xa1b2c3d4, 4u << 16 | 2, 0, 0, 65535, 1};

	fwrite(header, 1, sizeof(header), file);
}

static void write_frame(FILE *file, const struct sample_path *path, const struct roce_op *op)
{
	struct sent *s = &sent[sent_count++];
	uint8_t frame[SAMPLE_FRAME_BYTES];
	uint32_t record[4] = {1, 0};
	const uint8_t *icrc;
	size_t bytes;

	s->path = &path->path;
	snprintf(s->row, sizeof(s->row), "%s %s", path->name, op->name);
	sample_pkt(&s->pkt, op, roce_op_has_payload(op) ? PAYLOAD : 0);
	bytes = sample_frame(s->path, &s->pkt, 0x41, frame);
	icrc = frame + sample_bth(frame) + op->length + (s->pkt.payload_length ? 8 : 0);
	s->icrc = (uint32_t)icrc[0] << 24 | icrc[1] << 16 | icrc[2] << 8 | icrc[3];
	record[2] = record[3] = (uint32_t)bytes;
	fwrite(record, 1, sizeof(record), file);
	fwrite(frame, 1, bytes, file);
}

static void write_capture(FILE *file)
{
	unsigned int code;
	size_t i;

	write_header(file);
	for (code = 0; code < 256; code++)
		for (i = 0; roce_op_find((uint8_t)code) && i < sample_path_count; i++)
			write_frame(file, &sample_paths[i], roce_op_find((uint8_t)code));
}

/* The RPC dissector takes any payload for its own, and then for malformed. */
static void tshark_reads_what_was_built(void)
{
	char name[] = "/tmp/roce_frame_XXXXXX", command[LINE_BYTES], line[LINE_BYTES];
	int fd = mkstemp(name);
	FILE *file = fd >= 0 ? fdopen(fd, "wb") : NULL;
	size_t count = 0;

	T_NEED(file != NULL);
	write_capture(file);
	fclose(file);
	snprintf(command, sizeof(command),
		 "tshark -n -o ip.check_checksum:TRUE --disable-protocol rpcordma -r %s -T fields"
		 " -E occurrence=f%s 2>/dev/null",
		 name, fields);
	file = popen(command, "r");
	while (file && fgets(line, sizeof(line), file) && count < sent_count)
		check_line(&sent[count++], line);
	T_EQ(count, sent_count);
	T_TRUE(file && pclose(file) == 0);
	unlink(name);
}

int main(void)
{
	static const struct t_case cases[] = {T_CASE(tshark_reads_what_was_built)};

	if (system("command -v tshark >/dev/null 2>&1") != 0)
		t_skip("tshark is not installed");
	return t_run("roce_frame_tshark", cases, 1);
}
