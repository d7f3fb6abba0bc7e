# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Drives the guests of one topology for demo and bench, through `scripts/lab` alone.

Owns pairs of server and client, and the choice of devices and GIDs in a guest. Knows no
brand, and nothing of how guests run.
"""

import os
import re
import subprocess
import tempfile
import time

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
LAB = os.path.join(REPOSITORY, "scripts", "lab")
# In a guest, the build folder is /anynic; libibverbs completes the name by its provider ABI.
OURS = {"IBV_DRIVERS": "/anynic/lib/libanynic", "ANYNIC_DEBUG": "1"}
TCP_PORT = 18515

# The index of the first RoCE v2 GID that is an IPv4-mapped address, never a guess.
GID_INDEX = """
cd /sys/class/infiniband/$1/ports/1
for i in gids/*; do
    i=${i#gids/}
    read -r gid <gids/$i
    { read -r type <gid_attrs/types/$i; } 2>/dev/null || continue
    case $type/$gid in "RoCE v2"/0000:0000:0000:0000:0000:ffff:*) echo $i; exit 0 ;; esac
done
echo "no RoCE v2 GID on $1" >&2
exit 1
"""


class GuestError(Exception):
    pass


class Guests:
    def __init__(self, build, topology, switch=()):
        self.environment = {**os.environ, "ANYNIC_BUILD": os.path.abspath(build)}
        self.topology = os.path.join(REPOSITORY, "tests/lab/topologies", topology + ".yaml")
        self.switch = [word for setting in switch for word in ("--switch", setting)]
        self.gid_indexes = {}

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="anynic-bench-")
        self.run_dir = self.folder.name + "/run"
        self.lab = subprocess.Popen([LAB, "up", self.topology, "--run-dir", self.run_dir, *self.switch],
                                    stdout=subprocess.PIPE, text=True, env=self.environment)
        if self.lab.stdout.readline().strip() != "ready":
            self.__exit__()
            raise GuestError(f"{self.topology}: the lab did not come up, see above")
        return self

    def __exit__(self, *_):
        self.lab.terminate()
        self.lab.wait()
        self.folder.cleanup()

    def _exec(self, guest, command, env, timeout):
        settings = [word for item in (env or {}).items() for word in ("--env", "=".join(item))]
        return [LAB, "exec", self.run_dir, guest, *settings, "--timeout", str(timeout), "--",
                "sh", "-c", command]

    def run(self, guest, command, env=None, timeout=120):
        """(status, stdout and stderr together)"""
        done = subprocess.run(self._exec(guest, command, env, timeout), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", env=self.environment, check=False)
        return done.returncode, done.stdout

    def gid_index(self, guest, device):
        if (guest, device) not in self.gid_indexes:
            status, text = self.run(guest, f"set -- {device}\n{GID_INDEX}")
            if status:
                raise GuestError(f"guest {guest}: {text.strip()}")
            self.gid_indexes[guest, device] = int(text)
        return self.gid_indexes[guest, device]

    def address(self, guest, netdev="eth0"):
        _, text = self.run(guest, f"ip -4 -o address show dev {netdev}")
        return re.search(r"inet ([\d.]+)", text)[1]

    def pair(self, server, client, timeout=120):
        """Runs (guest, command, env) twice, the client when the server listens.

        Returns (both succeeded, client's output, server's output).
        """
        with tempfile.TemporaryFile("w+") as output:
            process = subprocess.Popen(self._exec(*server, timeout + 60), stdin=subprocess.DEVNULL,
                                       stdout=output, stderr=subprocess.STDOUT, env=self.environment)
            try:
                listening = self._wait_listening(server[0], process)
                status, text = self.run(*client, timeout) if listening else (1, "")
                try:
                    served = process.wait(5 if status else timeout) == 0
                except subprocess.TimeoutExpired:
                    served = False
            finally:
                process.terminate()
                process.wait()
            output.seek(0)
            return status == 0 and served, text, output.read()

    def _wait_listening(self, guest, process):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and process.poll() is None:
            if self.run(guest, f"ss -Hltn | grep -q :{TCP_PORT}")[0] == 0:
                return True
        return False
