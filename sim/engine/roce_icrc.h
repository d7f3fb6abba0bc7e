/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The invariant CRC (IBTA 7.8.1; A16 and A17 for RoCE). Owns which fields routers may change and
 * which the CRC thus sees as ones; knows nothing of what the packet means.
 *
 * It is the CRC-32 of Ethernet over: 8 bytes of ones, where InfiniBand has its local header; the
 * network header, UDP header and BTH with their variant fields as ones; and the rest up to the pad.
 */
#ifndef ANYNIC_SIM_ENGINE_ROCE_ICRC_H
#define ANYNIC_SIM_ENGINE_ROCE_ICRC_H

#include "sim/engine/roce.h"

/* CRC state before the BTH. net_header: IPv4 and UDP, IPv6 and UDP, or GRH, checked for length. */
uint32_t roce_icrc_begin(enum roce_net net, const uint8_t *net_header);

/* CRC of a packet: `bytes` from the BTH to the end of the pad, at least the BTH. */
uint32_t roce_icrc_end(uint32_t begin, const uint8_t *bth, size_t bytes);

/* The CRC goes out least significant byte first, unlike every other field. */
uint32_t roce_icrc_load(const uint8_t *at);
void roce_icrc_store(uint8_t *at, uint32_t crc);

#endif
