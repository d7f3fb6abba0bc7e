# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Scenarios in virtual machines: `scripts/lab test` runs one variant, this counts its lines.

A scenario's line "# long: VARIANT..." names variants that only `make lab-long` runs ("all": every
one); a script may also do less by itself when ANYNIC_LAB_LONG is not set.
"""

import concurrent.futures
import os
import re
import subprocess

from . import process


def is_long(name):
    scenario, _, variant = name.partition(":")
    with open(f"tests/lab/{scenario}.sh", encoding="utf-8") as file:
        words = " ".join(re.findall(r"^# long: (.*)$", file.read(), re.MULTILINE)).split()
    return "all" in words or variant in words


def run(options, results):
    listed = subprocess.run(["scripts/lab", "test", "--list"], check=True, stdout=subprocess.PIPE,
                            text=True).stdout.splitlines()
    everything = bool(os.environ.get("ANYNIC_LAB_LONG"))
    names = [line.split()[0] for line in listed if line.strip()]
    names = [name for name in names if options.match in name and (everything or not is_long(name))]
    # Two guests that poll want a core each: scenarios run one after the other unless told.
    workers = int(os.environ.get("ANYNIC_LAB_JOBS", "1"))
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        list(pool.map(lambda name: one(options, results, name), names))


def one(options, results, name):
    status, output, seconds = process.run(
        ["scripts/lab", "test", name], options.timeout * 3, env={"ANYNIC_BUILD": options.build})
    if status is None:
        results.add(name, "failed", seconds, f"no end after {options.timeout * 3} s\n{output}")
    else:
        results.add_tap(name, output, status, seconds)
