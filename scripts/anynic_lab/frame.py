# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Frames between the lab's client, its relay and a guest's agent.

Owns the format, as the twin of sim/guest/lab_frame.h, plus OPEN and FAIL, which
only client and relay exchange. Knows nothing of sockets.
"""
import struct

VERSION = 1
PORT_NAME = "anynic.lab"
FRAME_MAX = 65536
WINDOW_STDIN = 65536

HELLO, EXEC, STDIN, STDOUT, STDERR, EXIT, SIGNAL, WINDOW, RESIZE, CLOSE = range(1, 11)
OPEN = 100  # client to relay: name of the guest, the first frame of a connection
FAIL = 101  # relay to client: why the command cannot go on, the last frame

HEADER = struct.Struct("<III")
_HELLO = struct.Struct("<II")
_EXEC = struct.Struct("<IHHII")
_EXIT = struct.Struct("<II")
_WORD = struct.Struct("<I")
_SIZE = struct.Struct("<HH")


def pack(channel, kind, payload=b""):
    return HEADER.pack(channel, kind, len(payload)) + payload


def pack_word(kind, value):
    return pack(0, kind, _WORD.pack(value))


def pack_size(rows, columns):
    return pack(0, RESIZE, _SIZE.pack(rows, columns))


def pack_exec(argv, env, terminal=None):
    """terminal: (rows, columns) or None. Raises ValueError if the guest could not take it."""
    rows, columns = terminal or (0, 0)
    words = [w.encode("utf-8", "surrogateescape")
             for w in [*argv, *(f"{k}={v}" for k, v in env.items())]]
    if any(b"\0" in w for w in words):
        raise ValueError("a word of the command holds a NUL byte")
    payload = _EXEC.pack(terminal is not None, rows, columns, len(argv), len(env))
    payload += b"".join(w + b"\0" for w in words)
    if len(payload) > FRAME_MAX:
        raise ValueError(f"the command is longer than {FRAME_MAX} bytes")
    return pack(0, EXEC, payload)


def unpack_hello(payload):
    """-> (version, number of failed boot steps)"""
    return _HELLO.unpack(payload[:_HELLO.size])


def unpack_exit(payload):
    """-> (exit status, number of the signal that ended it or 0)"""
    return _EXIT.unpack(payload[:_EXIT.size])


def unpack_word(payload):
    return _WORD.unpack(payload[:_WORD.size])[0]


class Parser:
    """Cuts a byte stream into frames."""

    def __init__(self):
        self._data = bytearray()

    def feed(self, data):
        """Yields (channel, kind, payload) for each frame that data completes."""
        self._data += data
        while len(self._data) >= HEADER.size:
            channel, kind, length = HEADER.unpack_from(self._data)
            if length > FRAME_MAX:
                raise ValueError(f"frame of {length} bytes: the stream is out of step")
            end = HEADER.size + length
            if len(self._data) < end:
                return
            payload = bytes(self._data[HEADER.size:end])
            del self._data[:end]
            yield channel, kind, payload
