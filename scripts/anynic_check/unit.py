# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Unit tests: plain, under valgrind, and built with the sanitizers."""

import concurrent.futures
import json
import os
import re
import subprocess

from . import process

VALGRIND = ["valgrind", "--quiet", "--leak-check=full", "--show-leak-kinds=definite,indirect,possible",
            "--errors-for-leak-kinds=definite,indirect,possible", "--track-fds=no",
            "--error-exitcode=99", "--trace-children=yes",
            "--trace-children-skip=*tshark*,*dumpcap*,*capinfos*",
            "--suppressions=tests/valgrind.supp"]
SANITIZER_ENV = {"ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0:detect_stack_use_after_return=1",
                 "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1"}


def programs(build, match):
    """(name, command, properties) of each test that CMake knows."""
    text = subprocess.run(["ctest", "--show-only=json-v1"], cwd=build, check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    for test in json.loads(text)["tests"]:
        properties = {row["name"]: row["value"] for row in test.get("properties", [])}
        if match in test["name"] and "command" in test:
            yield test["name"], test["command"], properties


def run_all(options, results, build, prefix, env, find_fault):
    def one(test):
        name, command, properties = test
        if prefix and "no-valgrind" in properties.get("LABELS", []):
            return
        status, output, seconds = process.run(prefix + command, options.timeout, env=env)
        if status is None:
            results.add(name, "failed", seconds, f"no end after {options.timeout} s\n{output}")
        else:
            results.add_tap(name, output, status, seconds, find_fault(status, output))

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(one, programs(build, options.match)))


def run_plain(options, results):
    run_all(options, results, options.build, [], {}, lambda status, output: "")


def run_valgrind(options, results):
    def fault(status, output):
        report = [line for line in output.splitlines() if re.match(r"==\d+==", line)]
        return "valgrind:\n" + "\n".join(report) if status == 99 else ""

    run_all(options, results, options.build, VALGRIND, {"ANYNIC_VALGRIND": "1"}, fault)


def run_sanitizers(options, results):
    build = os.path.join(options.build, "asan")
    status, output, seconds = process.run(
        ["sh", "-ec", f"cmake -S . -B '{build}' -G Ninja -DANYNIC_SANITIZE=ON >/dev/null; "
                      f"ninja -C '{build}' --quiet"], 1800)
    if status != 0:
        results.add("build with sanitizers", "failed", seconds, output)
        return

    def fault(_, output):
        found = re.search(r"(==\d+==ERROR: |runtime error: ).*", output, re.DOTALL)
        return found[0] if found else ""

    run_all(options, results, build, [], SANITIZER_ENV, fault)
