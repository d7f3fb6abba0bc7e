#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The lab's parts that need no virtual machine: rows of input and what must come of it."""
import os
import pathlib
import sys
import tempfile
import unittest

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(REPOSITORY / "scripts"))
sys.dont_write_bytecode = True

from anynic_lab import LabError, client, frame, initramfs, scenario, topology  # noqa: E402

GOOD = """
guests:
  - name: a
  - {name: b, kernel: "6.12", memory: 256, modules: [erdma], rxe: eth1}
nics:
  - {name: nic0, class: erdma, mac: "52:54:00:00:00:0a", guest: b}
ports:
  - {name: p0, guest: b, mac: "52:54:00:00:00:02"}
switch: {seed: 7, mtu: 4200}
"""

# change to GOOD (old, new), what the error must say
BAD_TOPOLOGIES = [
    ("name: a", "name: b", "named 'b'"),
    ("name: a", "name: 'A b'", "guests[0]: name: must be text"),
    ("name: a", "nmae: a", "unknown key 'nmae'"),
    ("memory: 256", "memory: lots", "memory: must be a whole number from 128"),
    ("memory: 256", "memory: 1", "memory: must be"),
    ("memory: 256", "memory: true", "memory: must be"),
    ('kernel: "6.12"', "kernel: 6.12", "kernel: must be text"),
    ("modules: [erdma]", "modules: erdma", "modules: must be a list"),
    ("rxe: eth1", "rxe: eth2", "no interface eth2"),
    ("class: erdma, ", "", "key 'class' is missing"),
    ("00:0a", "00:02", "is taken"),
    ("00:0a", "00:0A", "mac: must be"),
    ("guest: b, mac", "guest: c, mac", "guest 'c' does not exist"),
    ("seed: 7", "sead: 7", "switch: unknown key 'sead'"),
    ("mtu: 4200", "mtu: 99999", "mtu: must be"),
    ("mtu: 4200", "loss_ppm: 1000001", "loss_ppm: must be"),
    ("mtu: 4200", "faults_on: some", "must be roce or all"),
    ("mtu: 4200", "capture: ../x", "capture: must be"),
    ("ports:", "prots:", "unknown key 'prots'"),
    ("guests:", "guests: 3\nx:", "unknown key 'x'"),
    ("guests:", "guests: [", "not valid YAML in line"),
]

# line of a kernel log, whether it is a complaint
LOG_LINES = [
    ("[    1.0] WARNING: CPU: 0 PID: 12 at drivers/infiniband/hw/erdma/erdma_cq.c:20 x+0x1", True),
    ("[    1.0] BUG: kernel NULL pointer dereference, address: 0000000000000010", True),
    ("[    1.0] Oops: 0000 [#1] PREEMPT SMP NOPTI", True),
    ("[    1.0] INFO: task kworker/0:1:10 blocked for more than 120 seconds.", True),
    ("[    1.0] WARNING: possible circular locking dependency detected", True),
    ("[    1.0] rcu: INFO: rcu_preempt self-detected stall on CPU", True),
    ("[    1.0] watchdog: BUG: soft lockup - CPU#0 stuck for 26s! [x:1]", True),
    ("[    1.0] ibv_devinfo[99]: segfault at 0 ip 0 sp 0 error 4", True),
    ("[    1.0] UBSAN: shift-out-of-bounds in x.c:1:2", True),
    ("[    1.0] erdma: loading out-of-tree module taints kernel.", False),
    ("[    1.0] erdma_0: Port: 1 Link ACTIVE", False),
    ("[    1.0] hardening: usercopy bugs are reported", False),
]

# TAP line of a script, (failed, name, reason to skip)
TAP_LINES = [
    ("ok 1 - it works", (None, "it works", None)),
    ("not ok 12 - it fails", ("not ", "it fails", None)),
    ("ok 3 - a # SKIP why not", (None, "a", "why not")),
    ("ok 4", (None, "", None)),
    ("okay, said the guest", None),
    ("# not ok", None),
]


def load(text, words=()):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(text)
        file.flush()
        return topology.load(file.name, words)


class Topologies(unittest.TestCase):
    def test_good(self):
        loaded = load(GOOD)
        self.assertEqual(loaded.guests[0]["kernel"], "7.3")
        self.assertEqual(loaded.guests[0]["memory"], 512)
        self.assertEqual(loaded.switch["mtu"], 4200)
        found = [(n.name, n.owner, n.ipv4, n.ipv6) for n in loaded.netdevs(loaded.guests[1])]
        self.assertEqual(found, [("eth0", "nic0", "10.9.0.10/16", "fd09::a/64"),
                                 ("eth1", "p0", "10.9.0.2/16", "fd09::2/64")])

    def test_bad(self):
        for old, new, expect in BAD_TOPOLOGIES:
            with self.subTest(new):
                self.assertIn(old, GOOD)
                with self.assertRaises(LabError) as caught:
                    load(GOOD.replace(old, new, 1))
                self.assertIn(expect, str(caught.exception))
                self.assertNotIn("\n", str(caught.exception))

    def test_override(self):
        loaded = load(GOOD, ["loss_ppm=10000", "seed=9"])
        self.assertEqual((loaded.switch["loss_ppm"], loaded.switch["seed"]), (10000, 9))
        self.assertEqual(loaded.document["switch"], {"seed": 9, "mtu": 4200, "loss_ppm": 10000})
        for word in ("loss=1", "loss_ppm", "loss_ppm=x"):
            with self.assertRaises(LabError):
                load(GOOD, [word])

    def test_shipped(self):
        for path in (REPOSITORY / "tests/lab/topologies").glob("*.yaml"):
            with self.subTest(path.name):
                topology.load(path)


class Frames(unittest.TestCase):
    def test_any_cut(self):
        stream = frame.pack(1, frame.STDOUT, b"abc") + frame.pack(2, frame.STDIN) + \
            frame.pack(3, frame.EXIT, b"\1\0\0\0\0\0\0\0")
        expect = [(1, frame.STDOUT, b"abc"), (2, frame.STDIN, b""),
                  (3, frame.EXIT, b"\1\0\0\0\0\0\0\0")]
        for size in range(1, len(stream) + 1):
            parser, got = frame.Parser(), []
            for at in range(0, len(stream), size):
                got += parser.feed(stream[at:at + size])
            self.assertEqual(got, expect, f"cut into {size}")

    def test_golden_bytes(self):
        # By hand from sim/guest/lab_frame.h.
        self.assertEqual(frame.pack(0x01020304, frame.STDERR, b"x"),
                         b"\4\3\2\1" b"\5\0\0\0" b"\1\0\0\0" b"x")
        self.assertEqual(frame.pack_exec(["ls", "-l"], {"A": "b"}, (24, 80)),
                         b"\0\0\0\0" b"\2\0\0\0" b"\x1a\0\0\0"
                         b"\1\0\0\0" b"\x18\0\x50\0" b"\2\0\0\0" b"\1\0\0\0" b"ls\0-l\0A=b\0")
        self.assertEqual(frame.unpack_exit(b"\2\0\0\0\x0f\0\0\0"), (2, 15))

    def test_refused(self):
        with self.assertRaises(ValueError):
            list(frame.Parser().feed(frame.HEADER.pack(0, 1, frame.FRAME_MAX + 1)))
        for argv in (["a\0b"], ["x" * frame.FRAME_MAX]):
            with self.assertRaises(ValueError):
                frame.pack_exec(argv, {})


class Commands(unittest.TestCase):
    def test_one_word_with_blanks_is_a_script(self):
        for words, expect in [(["ls"], ["ls"]), (["ls", "-l x"], ["ls", "-l x"]),
                              (["ls | wc"], ["/bin/sh", "-c", "ls | wc"]),
                              (["/a/b-c_d.e"], ["/a/b-c_d.e"])]:
            self.assertEqual(client.shell_argv(words), expect)

    def test_no_lab_there(self):
        with tempfile.TemporaryDirectory() as folder, self.assertRaises(LabError):
            client.run(folder, "a", ["true"])


class Scenarios(unittest.TestCase):
    def test_complaints(self):
        for line, is_complaint in LOG_LINES:
            self.assertEqual(scenario.complaints(line, []), [line] if is_complaint else [], line)

    def test_allowed(self):
        import re
        text = "a WARNING: one\na WARNING: two"
        self.assertEqual(scenario.complaints(text, [re.compile("one")]), ["a WARNING: two"])

    def test_results(self):
        for line, expect in TAP_LINES:
            match = scenario.RESULT.match(line)
            self.assertEqual(match and match.groups(), expect, line)

    def test_headers(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "x.sh"
            path.write_text("#!/bin/bash\n# SPDX-License-Identifier: x\n# What it shows.\n"
                            "# topology: one\n# timeout: 12\n# switch: seed=3\n# variant: clean\n"
                            "# variant: loss loss_ppm=5 topology=two\n\n# variant: no\n")
            runs = scenario.parse(path)
            self.assertEqual([(r.name, r.title, r.topology, r.timeout, r.switch) for r in runs], [
                ("x:clean", "What it shows.", "one", 12, ["seed=3"]),
                ("x:loss", "What it shows.", "two", 12, ["seed=3", "loss_ppm=5"])])
            for text in ("# no topology\n", "# topology: a\n# timeout: soon\n"):
                path.write_text(text)
                with self.assertRaises(LabError):
                    scenario.parse(path)


class Initramfs(unittest.TestCase):
    def test_kernel_can_unpack_it(self):
        """cpio(1) as the independent reader."""
        import shutil
        import subprocess
        if not shutil.which("cpio"):
            self.skipTest("no cpio here")
        data = initramfs._cpio(["dev"], [("init", 0o755, b"12345"), ("empty", 0o644, b"")])
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["cpio", "-id", "--quiet"], input=data, cwd=folder, check=True)
            root = pathlib.Path(folder)
            self.assertTrue((root / "dev").is_dir())
            self.assertEqual((root / "init").read_bytes(), b"12345")
            self.assertTrue(os.access(root / "init", os.X_OK))
            self.assertEqual((root / "empty").read_bytes(), b"")

    def test_boot_script(self):
        loaded = load(GOOD)
        script = initramfs.boot_script(loaded, loaded.guests[1])
        for expect in ("addr add 10.9.0.10/16 dev eth0\n", "link set eth1 mtu 4200 up\n",
                       "addr add fd09::2/64 dev eth1 nodad\n", "10.9.0.10 b\n",
                       "rdma link add rxe0 type rxe netdev eth1\n"):
            self.assertIn(expect, script)


class Tap(unittest.TextTestResult):
    """One line a test; why it failed comes first, as the runner expects."""

    def _line(self, test, good, tail=""):
        name = f"lab {type(test).__name__} {test._testMethodName.removeprefix('test_')}"
        print(f"{'ok' if good else 'not ok'} {self.testsRun} - {name}{tail}", flush=True)

    def stopTest(self, test):
        super().stopTest(test)
        wrong = [text for t, text in self.failures + self.errors
                 if getattr(t, "test_case", t) is test]
        skipped = [reason for t, reason in self.skipped if t is test]
        for text in wrong:
            print("\n".join(f"# {line}" for line in text.splitlines()))
        self._line(test, not wrong, f" # SKIP {skipped[0]}" if skipped else "")


if __name__ == "__main__":
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__])
    print(f"1..{suite.countTestCases()}")
    with open(os.devnull, "w", encoding="utf-8") as quiet:
        runner = unittest.TextTestRunner(stream=quiet, resultclass=Tap)
        sys.exit(not runner.run(suite).wasSuccessful())
