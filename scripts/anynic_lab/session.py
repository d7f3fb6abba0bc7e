# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A running topology: simulator, guests and relay. Owns their start, their end and the logs.

Whatever ends first is the failure, told in one line; what follows from it is not told.
"""
import fcntl
import os
import pathlib
import select
import shutil
import socket
import subprocess
import tempfile
import threading
import time

import yaml

from . import LabError, accel, children, client, initramfs, qemu, relay
from .root import Root

RUN_PREFIX = "anynic-lab-"
BOOT_SECONDS = 90  # a guest under software emulation on a busy machine


class Places:
    """Where things are: the repository and its build."""

    def __init__(self, environment):
        self.repository = pathlib.Path(__file__).resolve().parents[2]
        self.build = pathlib.Path(environment.get("ANYNIC_BUILD") or self.repository / "build")
        self.topologies = self.repository / "tests/lab/topologies"
        self.scenarios = self.repository / "tests/lab"
        self.logs = self.repository / "build/lab-logs"
        self.environment = environment

    def program(self, name):
        path = self.build / "bin" / name
        if not path.is_file():
            raise LabError(f"{path} is missing: build first (make)")
        return path.resolve()


def _remove_stale_runs(folder):
    """Folders of labs that were killed: nobody holds their lock."""
    for running in pathlib.Path(folder).glob(f"{RUN_PREFIX}*/.running"):
        try:
            with open(running.with_name(".lock"), "a", encoding="utf-8") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(running.parent, ignore_errors=True)
        except OSError:
            continue


class Session:
    def __init__(self, topology, places, *, run_dir=None, logs=None, name=None):
        """logs: folder to keep the logs in also without a failure."""
        self.topology = topology
        self.failure = None
        self._places = places
        self._keep = logs
        self._kept = None
        self._name = name or topology.name
        self._own_dir = run_dir is None
        if run_dir is None:
            _remove_stale_runs(tempfile.gettempdir())
            run_dir = tempfile.mkdtemp(prefix=RUN_PREFIX)
        self.run_dir = pathlib.Path(run_dir).resolve()
        self._children = []
        self._simulator = None
        self._relay = None
        self._changed = threading.Condition()
        self._ready = set()
        self._stopping = False

    def __enter__(self):
        try:
            self._prepare()
            self._start_simulator()
            self._start_guests()
            self._wait_for_guests()
        except BaseException as error:
            if isinstance(error, LabError) and not self.failure:
                self.failure = str(error)
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def _prepare(self):
        self.run_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        (self.run_dir / "share").mkdir(exist_ok=True)
        self._lock = open(self.run_dir / ".lock", "a", encoding="utf-8")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise LabError(f"{self.run_dir}: another lab runs there") from None
        # Seen by others only now that it is held: see _remove_stale_runs().
        (self.run_dir / ".running").touch()
        for left in [*self.run_dir.glob("*.eth"), *self.run_dir.glob("*.vfio"),
                     *self.run_dir.glob("*.sock")]:
            left.unlink()

    def _start_simulator(self):
        """anynic-sim, if there is anything to simulate, until it says that it listens."""
        if not self.topology.nics and not self.topology.ports:
            return
        program = os.environ.get("ANYNIC_SIM") or self._places.program("anynic-sim")
        file = self.run_dir / "topology.yaml"
        file.write_text(yaml.safe_dump(self.topology.document, sort_keys=False))
        with open(self.run_dir / "sim.err", "wb") as errors:
            self._simulator = children.spawn([program, "--run-dir", self.run_dir, file],
                                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                             stderr=errors)
        readable, _, _ = select.select([self._simulator.stdout], [], [], 10)
        line = self._simulator.stdout.readline() if readable else b""
        if line.strip() != b"ready":
            self._simulator.poll()
            text = self._last_line("sim.err") or "it did not say that it is ready"
            raise LabError(f"anynic-sim could not start: {text}")
        children.watch(self._simulator, self._simulator_ended)

    def _start_guests(self):
        root = Root(self._places.repository / "scripts/lab-root")
        program = self._places.program("lab-guest")
        kernels = {g["name"]: root.kernel(g["kernel"]) for g in self.topology.guests}
        accelerator = accel.arguments(root, next(iter(kernels.values())), os.environ)
        ports = {}
        for guest in self.topology.guests:
            kernel = kernels[guest["name"]]
            image = initramfs.make(kernel, self.topology, guest, program)
            (self.run_dir / f"{guest['name']}.initramfs").write_bytes(image)
            ours, theirs = socket.socketpair()
            shares = {"root": root.folder, "build": self._places.build.resolve(),
                      "agent_fd": theirs.fileno(), "accelerator": accelerator}
            argv = qemu.arguments(self.topology, guest, kernel, self.run_dir, shares)
            self._start_guest(guest["name"], root, argv, theirs)
            ports[guest["name"]] = ours
        self._relay = relay.Relay(str(self.run_dir / client.SOCKET), ports, self._guest_ready)
        for name, process in self._children:
            children.watch(process, lambda p, name=name: self._guest_ended(name, p))

    def _start_guest(self, name, root, argv, port):
        with open(self.run_dir / f"{name}.qemu", "wb") as log:
            process = children.spawn([*root.qemu(), *argv], stdin=subprocess.DEVNULL, stdout=log,
                                     stderr=log, pass_fds=[port.fileno()],
                                     env={**os.environ, **root.qemu_environment()})
        port.close()
        self._children.append((name, process))

    def _wait_for_guests(self):
        deadline = time.monotonic() + BOOT_SECONDS
        with self._changed:
            while len(self._ready) < len(self.topology.guests) and not self.failure:
                if not self._changed.wait(max(0, deadline - time.monotonic())):
                    late = [n for n, _ in self._children if n not in self._ready]
                    self.failure = f"guest {late[0]} has not booted in {BOOT_SECONDS} s"
        if self.failure:
            raise LabError(self.failure)

    def _guest_ready(self, name, boot_failures):
        if boot_failures:
            said = [line for line in self._lines(f"{name}.console") if line.startswith("lab: ")]
            self.fail(f"guest {name}: the boot failed: {'; '.join(said) or 'see its console'}")
        elif boot_failures is None:
            self.fail(f"guest {name}: lab-guest is of another version: build again (make)")
        with self._changed:
            self._ready.add(name)
            self._changed.notify_all()

    def _guest_ended(self, name, process):
        panics = [line for line in self._lines(f"{name}.console") if "Kernel panic" in line]
        text = panics[-1].strip() if panics else self._last_line(f"{name}.qemu")
        self.fail(f"guest {name} ended: {text or 'QEMU ' + children.describe(process)}")

    def _simulator_ended(self, process):
        text = self._last_line("sim.err")
        self.fail(f"anynic-sim {children.describe(process)}" + (f": {text}" if text else ""))

    def fail(self, text):
        """The session is broken. The first call wins."""
        with self._changed:
            if self._stopping or self.failure:
                return
            self.failure = text
            self._changed.notify_all()
        if self._relay:
            self._relay.fail(None, text)

    def wait(self):
        """Until something fails (LabError) or the caller is interrupted."""
        with self._changed:
            while not self.failure:
                self._changed.wait()
        raise LabError(self.failure)

    def _lines(self, name):
        try:
            return (self.run_dir / name).read_text(errors="replace").splitlines()
        except OSError:
            return []

    def _last_line(self, name):
        lines = [line for line in self._lines(name) if line.strip()]
        return lines[-1].strip() if lines else ""

    def stop(self):
        """End everything; keep the logs if something failed."""
        with self._changed:
            if self._stopping:
                return
            self._stopping = True
        for _, process in self._children:
            children.end(process)
        if self._simulator:
            children.end(self._simulator, grace=5)
            self._simulator.stdout.close()
        if self._relay:
            self._relay.stop()
        self.keep_logs()
        if self._own_dir:
            shutil.rmtree(self.run_dir, ignore_errors=True)

    def keep_logs(self):
        """Copy what the run left to the place asked for, or on failure to build/lab-logs."""
        target = self._keep or (self._places.logs / self._name if self.failure else None)
        if target is None:
            return
        target = pathlib.Path(target)
        if self._keep is None:
            shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True, exist_ok=True)
        for path in self.run_dir.iterdir():
            if path.is_file() and path.suffix != ".initramfs" and path.name[0] != ".":
                shutil.copy2(path, target)
        share = self.run_dir / "share"
        if share.is_dir() and any(share.iterdir()):
            shutil.copytree(share, target / "share", dirs_exist_ok=True)
        self._kept = target

    def explain(self, error):
        """The error as the user is told it, with where to look further."""
        return LabError(f"{error} (logs: {self._kept})" if self._kept else str(error))
