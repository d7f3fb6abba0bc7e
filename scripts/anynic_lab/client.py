# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Runs one command in a guest, as if it were local: streams, signals, exit status.

Knows the relay's socket only. Imports little, since scenarios start it for every command.
"""
import errno
import os
import selectors
import signal
import socket
import sys
import time

from . import LabError, frame

SOCKET = "lab.sock"
TIMED_OUT = 124
KILL_AFTER = 3  # seconds from SIGTERM to SIGKILL

ENVIRONMENT = {"PATH": "/anynic/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
               "HOME": "/root", "LANG": "C.UTF-8", "TERM": "dumb"}


def shell_argv(words):
    """One word with blanks or shell syntax in it is a script, anything else a command."""
    if len(words) == 1 and any(c in words[0] for c in " \t\n;|&<>$`\"'()*"):
        return ["/bin/sh", "-c", words[0]]
    return list(words)


class Terminal:
    """The user's terminal in raw mode, for a shell."""

    def __enter__(self):
        import termios
        import tty
        self._saved = termios.tcgetattr(0)
        tty.setraw(0)
        return self

    def __exit__(self, *_):
        import termios
        termios.tcsetattr(0, termios.TCSADRAIN, self._saved)

    @staticmethod
    def size():
        columns, rows = os.get_terminal_size(0)
        return rows, columns


class Command:
    def __init__(self, run_dir, guest, words, *, env=None, stdin=False, terminal=False, timeout=0):
        self._deadline = time.monotonic() + timeout if timeout else None
        self._timeout = timeout
        self._timed_out = 0  # signals sent because of it
        self._window = frame.WINDOW_STDIN
        self._stdin = stdin or terminal
        self._terminal = terminal
        self._parser = frame.Parser()
        self._selector = selectors.DefaultSelector()
        self._socket = socket.socket(socket.AF_UNIX)
        environment = {**ENVIRONMENT, **(env or {})}
        if terminal:
            environment["TERM"] = os.environ.get("TERM", "dumb")
        try:
            request = frame.pack_exec(shell_argv(words), environment,
                                      Terminal.size() if terminal else None)
        except ValueError as error:
            raise LabError(str(error)) from None
        try:
            self._socket.connect(os.path.join(run_dir, SOCKET))
        except OSError as error:
            raise LabError(f"{run_dir}: no lab runs there ({error.strerror})") from None
        self._send(frame.pack(0, frame.OPEN, guest.encode()) + request)
        if not self._stdin:
            self._send(frame.pack(0, frame.STDIN))

    def _send(self, data):
        try:
            self._socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass  # what the relay still had to say is read below

    def run(self):
        """-> exit status: the command's, 128 + signal, or 124 after the timeout."""
        self._selector.register(self._socket, selectors.EVENT_READ)
        if self._terminal:
            signal.signal(signal.SIGWINCH, lambda *_: self._send(frame.pack_size(*Terminal.size())))
        try:
            while True:
                self._stdin_watch()
                for key, _ in self._selector.select(self._patience()):
                    if key.fileobj is self._socket:
                        status = self._receive()
                        if status is not None:
                            return status
                    else:
                        self._stdin_read()
                self._check_deadline()
        finally:
            self._socket.close()
            self._selector.close()

    def _stdin_watch(self):
        """Listen to standard input only while the guest can take more."""
        watched = 0 in self._selector.get_map()
        want = self._stdin and self._window > 0
        if want and not watched:
            try:
                self._selector.register(0, selectors.EVENT_READ)
            except PermissionError:
                self._stdin_read()  # a regular file: always readable, not pollable
        elif watched and not want:
            self._selector.unregister(0)

    def _stdin_read(self):
        data = os.read(0, min(self._window, frame.FRAME_MAX))
        self._window -= len(data)
        if not data:
            self._stdin = False
        self._send(frame.pack(0, frame.STDIN, data))

    def _patience(self):
        if self._stdin and self._window > 0 and 0 not in self._selector.get_map():
            return 0
        if self._deadline is None:
            return None
        return max(0, self._deadline - time.monotonic())

    def _check_deadline(self):
        if self._deadline is None or time.monotonic() < self._deadline:
            return
        number = signal.SIGKILL if self._timed_out else signal.SIGTERM
        self._timed_out += 1
        self._deadline = time.monotonic() + KILL_AFTER
        if self._timed_out > 2:
            raise LabError(f"command not ended {self._timeout} s after its start, nor by SIGKILL")
        self._send(frame.pack_word(frame.SIGNAL, number))

    def _receive(self):
        data = self._socket.recv(262144)
        if not data:
            raise LabError("the lab ended while the command ran")
        for _, kind, payload in self._parser.feed(data):
            if kind in (frame.STDOUT, frame.STDERR):
                self._write(1 if kind == frame.STDOUT else 2, payload)
            elif kind == frame.WINDOW:
                self._window += frame.unpack_word(payload)
            elif kind == frame.FAIL:
                raise LabError(payload.decode(errors="replace"))
            elif kind == frame.EXIT:
                return self._status(*frame.unpack_exit(payload))
        return None

    def _write(self, descriptor, data):
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(descriptor, view):]
            except BlockingIOError:
                time.sleep(0.01)
            except OSError as error:
                if error.errno == errno.EPIPE:
                    # As a local command would end, when nobody reads it any more.
                    sys.exit(128 + signal.SIGPIPE)
                raise
        self._send(frame.pack_word(frame.WINDOW, len(data)))

    def _status(self, code, number):
        if self._timed_out:
            sys.stderr.write(f"lab: command ended after {self._timeout} s, its time limit\n")
            return TIMED_OUT
        return 128 + number if number else code


def run(run_dir, guest, words, **options):
    """Run a command in a guest; -> its exit status."""
    command = Command(run_dir, guest, words, **options)
    if not options.get("terminal"):
        return command.run()
    with Terminal():
        return command.run()
