#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Compares two traces of erdma work queue entries, one for the same work by each provider.

    wqe_compare.py STOCK OURS

A trace has a line of hex for each entry that the NIC fetched. What differs from run to run is
left out: addresses, keys, the QP's number, and bytes beyond what the entry's header declares.
All else must be the same, entry by entry of each queue pair: opcode, flags, lengths, immediate
data, atomic operands, inline data, number of SGEs, blocks and place in the ring.
"""
import itertools
import sys

WRITE, READ, SEND, SEND_IMM, WRITE_IMM, SEND_INV, CMP_SWAP, FETCH_ADD = 0, 1, 2, 3, 9, 13, 17, 18
SGE_BYTES = 16
QPN_MASK = ((1 << 20) - 1) << 32

# Opcode: (where SGEs or inline data begin, or None; ranges that differ from run to run; bytes)
KEY_AND_ADDRESS = (16, 28)
SHAPES = {
    SEND: (16, [], 16),
    SEND_IMM: (16, [], 16),
    SEND_INV: (16, [(8, 12)], 16),
    WRITE: (32, [KEY_AND_ADDRESS], 32),
    WRITE_IMM: (32, [KEY_AND_ADDRESS], 32),
    READ: (None, [KEY_AND_ADDRESS, (32, 40), (44, 48)], 48),
    CMP_SWAP: (None, [(32, 40), (44, 48), (48, 56), (60, 64)], 64),
    FETCH_ADD: (None, [(32, 40), (44, 48), (48, 56), (60, 64)], 64),
}


def normal(entry):
    """(QP number, the bytes that must be equal)"""
    header = int.from_bytes(entry[:8], "little")
    opcode, inline, sgl = header >> 27 & 31, header >> 25 & 1, header >> 56
    if opcode not in SHAPES:
        sys.exit(f"an entry of opcode {opcode}: {entry.hex()}")
    data, ranges, used = SHAPES[opcode]
    ranges = list(ranges)
    if data is not None and inline:
        used = data + sgl
    elif data is not None:
        used = data + sgl * SGE_BYTES
        for at in range(data, used, SGE_BYTES):
            ranges += [(at, at + 8), (at + 12, at + 16)]
    if used > len(entry):
        sys.exit(f"an entry of {len(entry)} bytes that declares {used}: {entry.hex()}")
    out = bytearray(entry[:used])
    out[:8] = (header & ~QPN_MASK).to_bytes(8, "little")
    for begin, end in ranges:
        out[begin:end] = bytes(end - begin)
    return (header & QPN_MASK) >> 32, bytes(out)


def queues(path):
    """Entries by queue pair, in the order of the QPs' numbers."""
    found = {}
    with open(path, encoding="ascii") as file:
        for line in file:
            qpn, entry = normal(bytes.fromhex(line.strip()))
            found.setdefault(qpn, []).append(entry)
    return [found[qpn] for qpn in sorted(found)]


def main():
    stock, ours = queues(sys.argv[1]), queues(sys.argv[2])
    entries, status = 0, 0
    for number, (left, right) in enumerate(itertools.zip_longest(stock, ours, fillvalue=())):
        for index, (one, other) in enumerate(itertools.zip_longest(left, right, fillvalue=b"")):
            entries += 1
            if one != other and status < 10:
                print(f"QP {number}, entry {index}:\n  stock {one.hex()}\n  ours  {other.hex()}")
                status += 1
    print(f"{len(stock)} queue pairs, {entries} entries")
    return 1 if status or not entries else 0


if __name__ == "__main__":
    sys.exit(main())
