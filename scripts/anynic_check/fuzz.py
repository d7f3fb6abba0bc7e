# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Fuzz targets: each starts from its corpus, and runs for a given time."""

import concurrent.futures
import glob
import os
import shutil
import tempfile

from . import process


def run(options, results):
    build = os.path.join(options.build, "fuzz")
    status, output, seconds = process.run(
        ["sh", "-ec", f"cmake -S . -B '{build}' -G Ninja -DANYNIC_FUZZ=ON "
                      f"-DCMAKE_C_COMPILER=clang >/dev/null; ninja -C '{build}' --quiet"], 1800)
    if status != 0:
        results.add("build of the fuzz targets", "failed", seconds, output)
        return
    targets = sorted(glob.glob(os.path.join(build, "tests", "fuzz_*")))
    targets = [path for path in targets if os.access(path, os.X_OK) and os.path.isfile(path)
               and options.match in path]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(lambda path: one(options, results, path), targets))


def one(options, results, path):
    """New inputs go to a scratch folder: the corpus in the repository is changed by hand only."""
    name = os.path.basename(path)
    corpus = os.path.join("tests", "fuzz", "corpus", name.removeprefix("fuzz_"))
    artifacts = os.path.join(options.build, "fuzz", "findings", "")
    os.makedirs(artifacts, exist_ok=True)
    scratch = tempfile.mkdtemp(prefix=name)
    command = [path, f"-max_total_time={options.fuzz_seconds}", "-timeout=20", "-rss_limit_mb=4096",
               f"-artifact_prefix={artifacts}{name}-", "-print_final_stats=1", scratch]
    command += [corpus] if os.path.isdir(corpus) else []
    try:
        status, output, seconds = process.run(command, options.fuzz_seconds * 2 + 120)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    if status == 0:
        runs = [line.split()[-1] for line in output.splitlines() if "number_of_executed_units" in line]
        results.add(f"{name}, {runs[0] if runs else '?'} inputs", "passed", seconds)
    else:
        results.add(name, "failed", seconds, output)
