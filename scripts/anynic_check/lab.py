# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Scenarios in virtual machines: `scripts/lab test` runs one, this counts its lines."""

import concurrent.futures
import glob
import os

from . import process


def run(options, results):
    scenarios = [path for path in sorted(glob.glob("tests/lab/*.sh"))
                 if os.path.basename(path) != "lib.sh" and options.match in path]
    # Two guests that poll want a core each: scenarios run one after the other unless told.
    workers = int(os.environ.get("ANYNIC_LAB_JOBS", "1"))
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        list(pool.map(lambda path: one(options, results, path), scenarios))


def one(options, results, path):
    name = os.path.basename(path).removesuffix(".sh")
    status, output, seconds = process.run(
        ["scripts/lab", "test", path], options.timeout * 3, env={"ANYNIC_BUILD": options.build})
    if status is None:
        results.add(name, "failed", seconds, f"no end after {options.timeout * 3} s\n{output}")
    else:
        results.add_tap(name, output, status, seconds)
