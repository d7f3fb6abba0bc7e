# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Topology files: what one says, checked, and the addresses that follow from it.

Owns the format for the lab's side; anynic-sim reads the same file. Knows nothing of QEMU.
"""
import dataclasses
import pathlib
import re

import yaml

from . import LabError

NAME = re.compile(r"[a-z][a-z0-9_-]{0,30}$")
MAC = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}$")
FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,60}$")

REQUIRED = object()


def _text(pattern, example):
    def check(value):
        if isinstance(value, str) and pattern.match(value):
            return value
        raise ValueError(f"must be text such as {example}, in quotes if it could be a number")
    return check


def _number(low, high):
    def check(value):
        if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
            return value
        raise ValueError(f"must be a whole number from {low} to {high}")
    return check


def _words(value):
    if isinstance(value, list) and all(isinstance(w, str) and NAME.match(w) for w in value):
        return value
    raise ValueError("must be a list of module names such as [erdma]")


def _one_of(*words):
    def check(value):
        if value in words:
            return value
        raise ValueError("must be " + " or ".join(words))
    return check


# key: (default, check). The tables are the format's only definition here.
GUEST = {
    "name": (REQUIRED, _text(NAME, "a")),
    "kernel": ("7.3", _text(re.compile(r"\d+\.\d+$"), '"7.3"')),
    "memory": (512, _number(128, 65536)),
    "cpus": (1, _number(1, 64)),
    "modules": ((), _words),
    "rxe": (None, _text(re.compile(r"eth\d$"), "eth0")),
}
NIC = {
    "name": (REQUIRED, _text(NAME, "nic0")),
    "class": (REQUIRED, _text(NAME, "erdma")),
    "personality": ("default", _text(NAME, "default")),
    "mac": (REQUIRED, _text(MAC, '"52:54:00:00:00:01"')),
    "guest": (REQUIRED, _text(NAME, "a")),
    "wqe_trace": (None, _text(FILE, "nic0.wqe")),
}
PORT = {
    "name": (REQUIRED, _text(NAME, "p0")),
    "guest": (REQUIRED, _text(NAME, "b")),
    "mac": (REQUIRED, _text(MAC, '"52:54:00:00:00:02"')),
}
PPM = (0, _number(0, 1000000))
SWITCH = {
    "seed": (1, _number(0, 2**32 - 1)),
    "mtu": (1500, _number(1280, 9216)),
    "rate_mbps": (0, _number(0, 1000000)),
    "buffer_kib": (1024, _number(1, 1048576)),
    "delay_us": (0, _number(0, 10000000)),
    "loss_ppm": PPM,
    "reorder_ppm": PPM,
    "duplicate_ppm": PPM,
    "corrupt_ppm": PPM,
    "ecn_kmin_kib": (0, _number(0, 1048576)),
    "ecn_kmax_kib": (0, _number(0, 1048576)),
    "ecn_pmax_percent": (100, _number(0, 100)),
    "faults_on": ("roce", _one_of("roce", "all")),
    "capture": (None, _text(FILE, "all.pcapng")),
}
SECTIONS = {"guests": GUEST, "nics": NIC, "ports": PORT}


@dataclasses.dataclass
class Netdev:
    """An Ethernet interface of a guest."""
    owner: str  # name of the NIC or port
    mac: str
    name: str = ""  # eth0, eth1 ... in the guest

    @property
    def ipv4(self):
        return f"10.9.0.{int(self.mac[-2:], 16)}/16"

    @property
    def ipv6(self):
        return f"fd09::{int(self.mac[-2:], 16):x}/64"


@dataclasses.dataclass
class Topology:
    path: pathlib.Path
    guests: list  # of dict, keys as in GUEST
    nics: list
    ports: list
    switch: dict
    document: dict  # as read, for anynic-sim, switch overrides included

    @property
    def name(self):
        return self.path.stem

    def guest(self, name):
        """The guest of that name, or the first."""
        for guest in self.guests:
            if name in (None, guest["name"]):
                return guest
        known = ", ".join(g["name"] for g in self.guests)
        raise LabError(f"{self.path}: no guest {name!r} (there are: {known})")

    def netdevs(self, guest):
        """Interfaces of a guest in the order of their names: NICs' first, then ports."""
        found = [Netdev(x["name"], x["mac"]) for x in [*self.nics, *self.ports]
                 if x["guest"] == guest["name"]]
        for index, netdev in enumerate(found):
            netdev.name = f"eth{index}"
        return found


def _row(where, table, given):
    """One mapping of the file, with defaults. where: file and place, for messages."""
    if not isinstance(given, dict):
        raise LabError(f"{where}: must be a list of keys and values")
    for key in given:
        if key not in table:
            raise LabError(f"{where}: unknown key {key!r} (known: {', '.join(table)})")
    row = {}
    for key, (default, check) in table.items():
        value = given.get(key)
        if value is None:
            if default is REQUIRED:
                raise LabError(f"{where}: key {key!r} is missing")
            row[key] = default
            continue
        try:
            row[key] = check(value)
        except ValueError as error:
            raise LabError(f"{where}: {key}: {error}, not {value!r}") from None
    return row


def _sections(path, document):
    rows = {}
    for section, table in SECTIONS.items():
        given = document.get(section) or []
        if not isinstance(given, list):
            raise LabError(f"{path}: {section}: must be a list (lines that start with '-')")
        rows[section] = [_row(f"{path}: {section}[{i}]", table, item)
                         for i, item in enumerate(given)]
    return rows


def _check_references(topology):
    path, seen = topology.path, set()
    if not topology.guests:
        raise LabError(f"{path}: guests: there must be at least one")
    names = [g["name"] for g in topology.guests]
    for kind, rows in (("guest", topology.guests), ("nic or port",
                                                    [*topology.nics, *topology.ports])):
        for row in rows:
            if (kind, row["name"]) in seen:
                raise LabError(f"{path}: two of kind {kind} are named {row['name']!r}")
            seen.add((kind, row["name"]))
            if kind != "guest" and row["guest"] not in names:
                raise LabError(f"{path}: {row['name']}: guest {row['guest']!r} does not exist")
            if kind != "guest" and ("mac", row["mac"][-2:]) in seen:
                raise LabError(f"{path}: {row['name']}: mac: the last byte, which makes the IP "
                               f"address, is taken: {row['mac']}")
            seen.add(("mac", row.get("mac", "")[-2:]))
    for guest in topology.guests:
        if guest["rxe"] and guest["rxe"] not in [n.name for n in topology.netdevs(guest)]:
            raise LabError(f"{path}: guest {guest['name']}: rxe: no interface {guest['rxe']}")


def _override(where, switch, words):
    """'key=value' words of a scenario, put over the file's switch settings."""
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            raise LabError(f"{where}: switch setting {word!r} is not KEY=VALUE")
        switch[key] = yaml.safe_load(value)


TOPOLOGY_BYTES = 1 << 20


class _Loader(yaml.SafeLoader):
    """Refuses a key that is given twice: YAML forbids it, PyYAML keeps the last."""

    def construct_mapping(self, node, deep=False):
        seen = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            if key.value in seen:
                raise yaml.MarkedYAMLError(problem=f"{key.value!r} is given twice",
                                           problem_mark=key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def load(path, switch_words=(), where="switch override"):
    """Read and check a topology file. Raises LabError."""
    path = pathlib.Path(path)
    try:
        if path.stat().st_size > TOPOLOGY_BYTES:
            raise LabError(f"{path}: larger than {TOPOLOGY_BYTES} bytes, so no topology")
        document = yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)
    except OSError as error:
        raise LabError(f"{path}: {error.strerror}") from None
    except RecursionError:
        raise LabError(f"{path}: nested too deep, so no topology") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f" in line {mark.line + 1}" if mark else ""
        twice = getattr(error, "problem", None) or ""
        what = f": {twice}" if twice.endswith("given twice") else ""
        raise LabError(f"{path}: not valid YAML{line}{what}") from None
    if not isinstance(document, dict):
        raise LabError(f"{path}: must have the keys guests, nics, ports or switch")
    for key in document:
        if key not in [*SECTIONS, "switch"]:
            raise LabError(f"{path}: unknown key {key!r}")
    switch = dict(document.get("switch") or {})
    _override(where, switch, switch_words)
    if switch:
        document["switch"] = switch
    topology = Topology(path=path, document=document, **_sections(path, document),
                        switch=_row(f"{path}: switch", SWITCH, switch))
    _check_references(topology)
    return topology


def find(folder, argument):
    """A path, or the name of a topology in folder."""
    path = pathlib.Path(argument)
    for candidate in (path, folder / argument, folder / f"{argument}.yaml"):
        if candidate.is_file():
            return candidate
    raise LabError(f"{argument}: no such topology (scripts/lab list shows them)")
