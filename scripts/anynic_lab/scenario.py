# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Scenarios: test scripts that run against a session, told as TAP.

A scenario is tests/lab/NAME.sh. Its first comment lines say what it needs:

    # What it shows, in one line.
    # topology: erdma-rxe
    # timeout: 300                          seconds for the script, default 300
    # switch: loss_ppm=10000 seed=7         over the topology's settings, in every variant
    # variant: loss loss_ppm=10000          run once more under this name with these settings
    # variant: old topology=erdma-pair-6.12

Owns those lines, the renumbered TAP and the check of each guest's kernel log. The script's
vocabulary is tests/lab/lib.sh.
"""
import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import threading
import time

from . import LabError, children, topology
from .session import Places, Session

RESULT = re.compile(r"(not )?ok\b\s*\d*\s*(?:-\s*)?(.*?)(?:\s*#\s*SKIP\b\s*(.*))?$", re.I)
PLAN = re.compile(r"1\.\.\d+$")
HEADER = re.compile(r"# (topology|timeout|switch|variant):\s*(.*)$")

# First lines of the reports by which a kernel says that something is wrong.
COMPLAINT = re.compile(
    r"WARNING:|BUG:|Oops:|Kernel panic|general protection fault|"
    r"INFO: (task|rcu|possible|suspicious)|possible (circular|recursive)|blocked for more than|"
    r"soft lockup|hard LOCKUP|UBSAN:|KASAN:|KFENCE:|refcount_t:|DMA-API:|"
    r"(list_add|list_del) corruption|page allocation failure|segfault at|trap (divide|invalid)")


@dataclasses.dataclass
class Run:
    """A scenario in one variant."""
    script: pathlib.Path
    title: str
    variant: str
    topology: str
    timeout: int
    switch: list

    @property
    def name(self):
        return self.script.stem + (f":{self.variant}" if self.variant else "")


def parse(script):
    """-> the runs that a scenario file asks for."""
    said = {"topology": [], "timeout": [], "switch": [], "variant": []}
    title = ""
    for line in script.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            break
        header = HEADER.match(line)
        if header:
            said[header[1]].append(header[2].strip())
        elif not title and not line.startswith("#!") and "SPDX" not in line:
            title = line.lstrip("# ")
    if len(said["topology"]) != 1:
        raise LabError(f"{script}: needs one line '# topology: NAME'")
    timeout = (said["timeout"] or ["300"])[-1]
    if not timeout.isdigit():
        raise LabError(f"{script}: timeout: must be a number of seconds, not {timeout!r}")
    runs = []
    for variant in said["variant"] or [""]:
        name, *words = variant.split() or [""]
        switch = " ".join(said["switch"]).split()
        where = said["topology"][0]
        for word in words:
            if word.startswith("topology="):
                where = word.partition("=")[2]
            else:
                switch.append(word)
        runs.append(Run(script, title, name, where, int(timeout), switch))
    return runs


def find(folder, arguments):
    """Runs for NAME, NAME:VARIANT or a path; without any, all."""
    if not arguments:
        arguments = [str(p) for p in sorted(folder.glob("*.sh")) if p.name != "lib.sh"]
    runs = []
    for argument in arguments:
        name, _, variant = argument.partition(":")
        paths = [p for p in (pathlib.Path(name), folder / f"{name}.sh") if p.is_file()]
        if not paths:
            raise LabError(f"{name}: no such scenario (scripts/lab test --list shows them)")
        found = [r for r in parse(paths[0]) if variant in ("", r.variant)]
        if not found:
            raise LabError(f"{name}: no variant {variant!r}")
        runs += found
    return runs


class Tap:
    """The report: one sequence of numbers for all scenarios."""

    def __init__(self, out):
        self._out = out
        self.passed = self.failed = self.skipped = 0

    def result(self, run, good, name, skip=None):
        self.passed += good and skip is None
        self.failed += not good
        self.skipped += good and skip is not None
        number = self.passed + self.failed + self.skipped
        word = "ok" if good else "not ok"
        tail = f" # SKIP {skip}" if skip is not None else ""
        self.say(f"{word} {number} - {run.name}: {name}{tail}")

    def comment(self, text):
        for line in text.splitlines() or [""]:
            self.say(f"# {line}".rstrip())

    def say(self, line):
        print(line, file=self._out, flush=True)

    def close(self):
        self.say(f"1..{self.passed + self.failed + self.skipped}")
        self.comment(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped")


def _allowed(places):
    """tests/lab/dmesg-allowed.txt: REGEX, blanks, # and the reason."""
    path = places.scenarios / "dmesg-allowed.txt"
    rows = []
    if not path.exists():
        return rows
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        pattern, reason = re.match(r"(.*?)(?:\s+#\s+(.*))?$", line).groups()
        if not reason:
            raise LabError(f"{path}: line {number}: a reason is missing (REGEX # REASON)")
        try:
            rows.append(re.compile(pattern))
        except re.error as error:
            raise LabError(f"{path}: line {number}: {error}") from None
    return rows


def complaints(text, allowed):
    """Lines of a kernel log that report a fault and are not on the list."""
    return [line for line in text.splitlines()
            if COMPLAINT.search(line) and not any(a.search(line) for a in allowed)]


def _dmesg(session, places, tap, run, allowed):
    for guest in session.topology.guests:
        name = guest["name"]
        done = subprocess.run(
            [places.repository / "scripts/lab", "exec", session.run_dir, name, "--timeout", "30",
             "--", "dmesg"], capture_output=True, text=True, errors="replace", check=False)
        (session.run_dir / f"{name}.dmesg").write_text(done.stdout)
        found = complaints(done.stdout, allowed)
        for line in found[:20] or (done.stderr.splitlines() if done.returncode else []):
            tap.comment(line)
        tap.result(run, not found and done.returncode == 0, f"dmesg of {name}")


def _script(session, places, tap, run, env):
    """Run the script; its TAP is renumbered as it comes."""
    planned = False
    log = open(session.run_dir / "scenario.log", "w", encoding="utf-8")
    script = children.spawn(
        ["bash", run.script.resolve()], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, errors="replace",
        env={**os.environ, **env, "LAB": str(places.repository / "scripts/lab"),
             "LAB_RUN": str(session.run_dir), "LAB_VARIANT": run.variant,
             "LAB_LIB": str(places.scenarios / "lib.sh"), "LAB_BUILD": str(places.build),
             "LAB_GUESTS": " ".join(g["name"] for g in session.topology.guests)})
    late = threading.Event()

    def stop():
        late.set()
        children.end(script, grace=2)
    timer = threading.Timer(run.timeout, stop)
    timer.start()
    try:
        for line in script.stdout:
            log.write(line)
            match = RESULT.match(line.rstrip())
            if match:
                tap.result(run, not match[1], match[2], match[3])
            elif PLAN.match(line.strip()):
                planned = True
            else:
                tap.comment(line.rstrip().removeprefix("# "))
        script.wait()
    finally:
        timer.cancel()
        children.end(script)
        log.close()
    if late.is_set():
        tap.result(run, False, f"ends within {run.timeout} s")
    elif script.returncode or not planned:
        tap.result(run, False, f"runs to its end (script {children.describe(script)})")


def _run(run, places, tap, allowed, env):
    begun, failed = time.monotonic(), tap.failed
    tap.comment(f"{run.name}: {run.title}")
    try:
        loaded = topology.load(topology.find(places.topologies, run.topology), run.switch,
                               f"{run.script}: switch")
        session = Session(loaded, places, name=run.name.replace(":", "-"))
        with session:
            _script(session, places, tap, run, env)
            if session.failure:
                tap.result(run, False, f"lab stays up ({session.failure})")
            else:
                _dmesg(session, places, tap, run, allowed)
            if tap.failed > failed:
                session.failure = session.failure or "a step failed"
    except LabError as error:
        tap.result(run, False, f"boots ({error})")
    if tap.failed > failed:
        tap.comment(f"logs: {places.logs / run.name.replace(':', '-')}")
    tap.comment(f"{run.name}: {time.monotonic() - begun:.1f} s")


def main(arguments, *, list_only, env):
    places = Places(os.environ)
    runs = find(places.scenarios, arguments)
    if list_only:
        for run in runs:
            print(f"{run.name:30} {run.title}")
        return 0
    allowed = _allowed(places)
    tap = Tap(sys.stdout)
    for run in runs:
        _run(run, places, tap, allowed, env)
    tap.close()
    return 1 if tap.failed else 0
