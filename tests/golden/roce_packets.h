/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Whole RoCE packets as hex digits from the network header on, each with where it comes from.
 * Made without this project's code: captured, published, or computed by hand with zlib's crc32.
 */
#ifndef ANYNIC_TESTS_GOLDEN_ROCE_PACKETS_H
#define ANYNIC_TESTS_GOLDEN_ROCE_PACKETS_H

/* CNP captured from a ConnectX-4 Lx, published in scapy's test/contrib/roce.uts. */
#define GOLDEN_CNP_IP4                                             \
	"45c2003c718c4000401191610a0011010a001201000012b700280000" \
	"8100ffff4000011800000000"                                 \
	"00000000000000000000000000000000"                         \
	"82fd002a"

/*
 * UC SEND ONLY over IPv4, DQPN 211, PSN 13571856, 2 bytes of pad, published in the same file with
 * the values of IP checksum, UDP checksum (not zero here) and ICRC.
 */
#define GOLDEN_UC_SEND_ONLY_IP4                    \
	"4501004004784000"                         \
	"4011b4d5c0a80007c0a80007"                 \
	"c00012b7002caca2"                         \
	"2460ffff000000d300cf1710"                 \
	"4630818be28935d90e9a95505401be885e500000" \
	"78f353f3"

/*
 * RC WRITE ONLY of 128 bytes 0xff, solicited, AckReq, published in the unit tests of the open-rdma
 * driver. UDP source and destination port are alike.
 */
#define GOLDEN_WRITE_ONLY_IP4                                                                  \
	"450000bc00010000"                                                                     \
	"4011f8dac0a80002c0a80003"                                                             \
	"12b712b700a80000"                                                                     \
	"0a8000000000000280000000"                                                             \
	"00007f7e9100000001709a3300000080" GOLDEN_FF_32 GOLDEN_FF_32 GOLDEN_FF_32 GOLDEN_FF_32 \
	"c6872298"
#define GOLDEN_FF_32 "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"

/* RC SEND ONLY, PSN 0xffffff, AckReq, payload "hello" and 3 bytes of pad; by hand. */
#define GOLDEN_SEND_ONLY_IP4                                       \
	"45680034000140004011264e0a0000010a000002c00012b700200000" \
	"0470ffff0000001180ffffff68656c6c6f000000"                 \
	"20173ece"

#define GOLDEN_SEND_ONLY_IP6                                                               \
	"668abcde00201140fd000000000000000000000000000001fd000000000000000000000000000002" \
	"c00012b700200000"                                                                 \
	"0470ffff0000001180ffffff68656c6c6f000000"                                         \
	"a769d332"

/*
 * The same over RoCE v1: GRH with next header 27 and the payload length of BTH to ICRC; by hand,
 * after A16 (the CRC begins with 8 bytes of ones, then the GRH with its variant fields as ones).
 */
#define GOLDEN_SEND_ONLY_V1                                                                \
	"668abcde00181b40fd000000000000000000000000000001fd000000000000000000000000000002" \
	"0470ffff0000001180ffffff68656c6c6f000000"                                         \
	"ea502ae6"

#endif
