#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Checks the RoCE packets of a capture, with nothing of the simulator's code.

    capture.py check FILE [--from ADDRESS] [--expect OPCODE,...] [--longest BYTES] [--numbers]
    capture.py damage FILE COPY     flip a bit in the payload of one RoCE packet

`check` recomputes the ICRC of each RoCE v2 packet (IBTA annex A17) with zlib's CRC-32, prints
how often each opcode occurs, and fails if a packet is wrong, if there is none, or if an opcode
that was asked for is missing. Knows Ethernet, one VLAN tag, IPv4, IPv6 and pcapng.
"""
import argparse
import collections
import ipaddress
import json
import struct
import sys
import zlib

ROCE_PORT = 4791
ICRC_BYTES = 4
BTH_BYTES = 12

# Operation of the opcode's low 5 bits; the high 3 are the transport service.
OPERATIONS = ("SEND_FIRST", "SEND_MIDDLE", "SEND_LAST", "SEND_LAST_IMM", "SEND_ONLY", "SEND_ONLY_IMM",
              "WRITE_FIRST", "WRITE_MIDDLE", "WRITE_LAST", "WRITE_LAST_IMM", "WRITE_ONLY",
              "WRITE_ONLY_IMM", "READ_REQUEST", "READ_RESPONSE_FIRST", "READ_RESPONSE_MIDDLE",
              "READ_RESPONSE_LAST", "READ_RESPONSE_ONLY", "ACKNOWLEDGE", "ATOMIC_ACKNOWLEDGE",
              "COMPARE_SWAP", "FETCH_ADD", "RESERVED_21", "SEND_LAST_INVALIDATE",
              "SEND_ONLY_INVALIDATE")
SERVICES = {0: "RC", 1: "UC", 3: "UD"}
CNP = 0x81

BLOCK_SECTION, BLOCK_INTERFACE, BLOCK_PACKET = 0x0A0D0D0A, 1, 6


class CaptureError(Exception):
    pass


def opcode_name(opcode):
    service, operation = SERVICES.get(opcode >> 5), opcode & 0x1F
    if opcode == CNP:
        return "CNP"
    if service is None or operation >= len(OPERATIONS):
        return f"0x{opcode:02x}"
    return f"{service}_{OPERATIONS[operation]}"


def frames(blob):
    """(offset of the frame in the file, its length) for each packet block."""
    at, order = 0, "<"
    while at < len(blob):
        if at + 12 > len(blob):
            raise CaptureError(f"a block at {at} is cut short")
        if struct.unpack_from("<I", blob, at)[0] == BLOCK_SECTION:
            order = "<" if blob[at + 8:at + 12] == b"\x4d\x3c\x2b\x1a" else ">"
        kind, length = struct.unpack_from(order + "II", blob, at)
        if length < 12 or length % 4 or at + length > len(blob):
            raise CaptureError(f"a block at {at} has length {length}")
        if kind == BLOCK_INTERFACE and struct.unpack_from(order + "H", blob, at + 8)[0] != 1:
            raise CaptureError("an interface is not Ethernet")
        if kind == BLOCK_PACKET:
            captured, original = struct.unpack_from(order + "II", blob, at + 20)
            if captured != original or 28 + captured > length:
                raise CaptureError(f"the packet at {at} was cut short by the capture")
            yield at + 28, captured
        at += length


class Packet:
    """A RoCE v2 packet: ip is the offset of its IP header in the frame, bth of its BTH."""

    def __init__(self, frame, ip, udp, end):
        self.version, self.ip, self.udp, self.bth, self.end = frame[ip] >> 4, ip, udp, udp + 8, end
        self.frame = frame
        at, size = (12, 4) if self.version == 4 else (8, 16)
        self.source = ipaddress.ip_address(frame[ip + at:ip + at + size])
        self.opcode = frame[self.bth]

    def icrc(self):
        """What the last four bytes must be. Fields that routers may change count as ones."""
        cover = bytearray(self.frame[self.ip:self.end - ICRC_BYTES])
        udp, bth = self.udp - self.ip, self.bth - self.ip
        if self.version == 4:
            cover[1] = cover[8] = 0xFF  # type of service, time to live
            cover[10:12] = b"\xff\xff"  # header checksum
        else:
            cover[0] |= 0x0F  # traffic class and flow label
            cover[1:4] = b"\xff\xff\xff"
            cover[7] = 0xFF  # hop limit
        cover[udp + 6:udp + 8] = b"\xff\xff"  # checksum
        cover[bth + 4] = 0xFF  # FECN, BECN and what is reserved beside them
        # In place of InfiniBand's local route header, which RoCE has not.
        return zlib.crc32(bytes(cover), zlib.crc32(b"\xff" * 8)).to_bytes(4, "little")

    def fault(self):
        """What is wrong with it, or None."""
        if self.end - self.bth < BTH_BYTES + ICRC_BYTES:
            return "no room for BTH and ICRC"
        said, right = self.frame[self.end - ICRC_BYTES:self.end], self.icrc()
        if said != right:
            return f"ICRC {said.hex()}, must be {right.hex()}"
        # A frame is padded to the least size of Ethernet, and by nothing more.
        if len(self.frame) > max(self.end, 60):
            return f"{len(self.frame) - self.end} bytes follow the packet"
        return None


def packet_of(frame):
    """The frame's RoCE v2 packet, or None if it has none."""
    ip = 18 if frame[12:14] == b"\x81\x00" else 14
    kind = frame[ip - 2:ip]
    if kind == b"\x08\x00" and len(frame) >= ip + 20:
        udp = ip + (frame[ip] & 0x0F) * 4
        protocol, end = frame[ip + 9], ip + int.from_bytes(frame[ip + 2:ip + 4], "big")
    elif kind == b"\x86\xdd" and len(frame) >= ip + 40:
        udp = ip + 40
        protocol, end = frame[ip + 6], udp + int.from_bytes(frame[ip + 4:ip + 6], "big")
    else:
        return None
    if protocol != 17 or len(frame) < udp + 8 + 1 or end > len(frame):
        return None
    if int.from_bytes(frame[udp + 2:udp + 4], "big") != ROCE_PORT:
        return None
    return Packet(frame, ip, udp, end)


def read(path):
    """(offset in the file, packet) of each RoCE v2 packet, and the file's bytes."""
    with open(path, "rb") as file:
        blob = file.read()
    found = ((offset, packet_of(blob[offset:offset + length])) for offset, length in frames(blob))
    return blob, [(offset, packet) for offset, packet in found if packet]


def check(options):
    _, packets = read(options.file)
    if options.source:
        packets = [p for p in packets if p[1].source == ipaddress.ip_address(options.source)]
    counts, faults, longest = collections.Counter(), [], 0
    for offset, packet in packets:
        counts[opcode_name(packet.opcode)] += 1
        longest = max(longest, packet.end - packet.bth)
        fault = packet.fault()
        if fault:
            faults.append(f"packet at byte {offset} of the file: {opcode_name(packet.opcode)}: {fault}")
    if options.numbers:
        numbers = collections.Counter(packet.opcode for _, packet in packets)
        print("\n".join(f"{opcode} {count}" for opcode, count in sorted(numbers.items())))
        return 0
    print(json.dumps({"packets": len(packets), "wrong": len(faults), "longest": longest,
                      "opcodes": dict(sorted(counts.items()))}, indent=1))
    missing = [name for name in options.expect.split(",") if name and not counts[name]]
    for line in faults[:20]:
        print(line, file=sys.stderr)
    if missing:
        print(f"missing: {' '.join(missing)}", file=sys.stderr)
    if longest < options.longest:
        print(f"the longest packet has {longest} bytes, not {options.longest}", file=sys.stderr)
    return 1 if faults or missing or not packets or longest < options.longest else 0


def damage(options):
    blob, packets = read(options.file)
    if not packets:
        raise CaptureError("no RoCE packet")
    offset, packet = packets[len(packets) // 2]
    copy = bytearray(blob)
    copy[offset + packet.end - ICRC_BYTES - 1] ^= 0x10
    with open(options.copy, "wb") as file:
        file.write(copy)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    words = parser.add_subparsers(required=True)
    word = words.add_parser("check")
    word.add_argument("file")
    word.add_argument("--from", dest="source", help="only packets of this IP address")
    word.add_argument("--expect", default="", help="opcodes that must occur, with commas between")
    word.add_argument("--longest", type=int, default=0, help="BTH to ICRC, of at least one packet")
    word.add_argument("--numbers", action="store_true",
                      help="only print each opcode as a number, and how often it occurs")
    word.set_defaults(action=check)
    word = words.add_parser("damage")
    word.add_argument("file")
    word.add_argument("copy")
    word.set_defaults(action=damage)
    options = parser.parse_args()
    try:
        return options.action(options)
    except (CaptureError, OSError) as error:
        print(f"capture: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
