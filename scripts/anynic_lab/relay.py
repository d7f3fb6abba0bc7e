# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Carries frames between clients (a unix socket) and guests (one virtio-serial port each).

Owns channel numbers: a client's connection is one command, which gets a channel of its own
in its guest. Knows nothing of processes on either side. Runs in a thread.
"""
import asyncio
import itertools
import threading

from . import frame

CHUNK = 262144


class _Guest:
    def __init__(self, name):
        self.name = name
        self.writer = None
        self.ready = False
        self.failure = None  # why no command can run any more
        self.clients = {}  # channel: the client's StreamWriter


class Relay:
    def __init__(self, path, ports, on_ready):
        """path: socket for clients; ports: guest name -> socket of its port.

        on_ready(guest name, failed boot steps, or None for another version of the agent)
        is called from the relay's thread.
        """
        self._guests = {name: _Guest(name) for name in ports}
        self._on_ready = on_ready
        self._channels = itertools.count(1)
        self._loop = asyncio.new_event_loop()
        self._tasks = set()
        started = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(path, ports, started), daemon=True)
        self._thread.start()
        started.wait()

    def fail(self, name, text):
        """No command can run in guest `name` (None: in any) any more. From any thread."""
        self._loop.call_soon_threadsafe(self._fail, name, text)

    def stop(self):
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self, path, ports, started):
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._start(path, ports))
        started.set()
        self._loop.run_forever()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    async def _start(self, path, ports):
        await asyncio.start_unix_server(self._client, path)
        for name, sock in ports.items():
            reader, self._guests[name].writer = await asyncio.open_connection(sock=sock)
            task = self._loop.create_task(self._port(self._guests[name], reader))
            self._tasks.add(task)  # the loop itself keeps only a weak reference

    def _fail(self, name, text):
        for guest in self._guests.values():
            if name not in (None, guest.name) or guest.failure:
                continue
            guest.failure = text
            for writer in guest.clients.values():
                self._refuse(writer, text)
            guest.clients.clear()

    @staticmethod
    def _refuse(writer, text):
        writer.write(frame.pack(0, frame.FAIL, text.encode()[:frame.FRAME_MAX]))
        writer.close()

    async def _port(self, guest, reader):
        """Frames of one guest, until its QEMU ends."""
        parser = frame.Parser()
        try:
            while data := await reader.read(CHUNK):
                for channel, kind, payload in parser.feed(data):
                    self._from_guest(guest, channel, kind, payload)
        except (OSError, ValueError) as error:
            self._fail(guest.name, f"guest {guest.name}: {error}")
        # Whoever watches its QEMU knows why, and calls fail().

    def _from_guest(self, guest, channel, kind, payload):
        if kind == frame.HELLO:
            version, failures = frame.unpack_hello(payload)
            guest.ready = True
            self._on_ready(guest.name, failures if version == frame.VERSION else None)
            return
        writer = guest.clients.get(channel)
        if writer is None:
            return  # its client has gone
        # Not drained: the windows bound what a slow client leaves here.
        writer.write(frame.pack(0, kind, payload))
        if kind == frame.EXIT:
            del guest.clients[channel]
            writer.close()

    async def _client(self, reader, writer):
        try:
            await self._client_frames(reader, writer)
        except (OSError, ValueError, UnicodeDecodeError):
            pass  # a client that breaks off or talks nonsense harms itself only
        finally:
            writer.close()

    async def _client_frames(self, reader, writer):
        parser, guest, channel = frame.Parser(), None, next(self._channels)
        try:
            while data := await reader.read(CHUNK):
                for _, kind, payload in parser.feed(data):
                    if guest is None:
                        guest = self._open(writer, channel, kind, payload)
                        if guest is None:
                            return
                    elif channel in guest.clients:
                        await self._to_guest(guest, channel, kind, payload)
        finally:
            if guest and guest.clients.pop(channel, None):
                guest.writer.write(frame.pack(channel, frame.CLOSE))

    @staticmethod
    async def _to_guest(guest, channel, kind, payload):
        try:
            guest.writer.write(frame.pack(channel, kind, payload))
            await guest.writer.drain()
        except OSError:
            pass  # its QEMU has ended: the client waits for fail(), which tells it why

    def _open(self, writer, channel, kind, payload):
        name = payload.decode() if kind == frame.OPEN else ""
        guest = self._guests.get(name)
        if guest is None:
            self._refuse(writer, f"no guest {name!r} (there are: {', '.join(self._guests)})")
        elif guest.failure or not guest.ready:
            self._refuse(writer, guest.failure or f"guest {name} has not booted yet")
            guest = None
        else:
            guest.clients[channel] = writer
        return guest
