# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Runs one program with a time limit, and takes all of its children down with it."""

import os
import signal
import subprocess
import time


def run(command, timeout, env=None, cwd=None):
    """Returns (exit status, output, seconds); the status is None when time ran out."""
    started = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             stdin=subprocess.DEVNULL, start_new_session=True, cwd=cwd,
                             env={**os.environ, **(env or {})}, errors="replace")
    try:
        output, _ = child.communicate(timeout=timeout)
        return child.returncode, output, time.monotonic() - started
    except subprocess.TimeoutExpired:
        # SIGTERM first: a lab run then stops its virtual machines and keeps their logs.
        os.killpg(child.pid, signal.SIGTERM)
        try:
            output, _ = child.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            output, _ = child.communicate()
        return None, output, time.monotonic() - started
    except BaseException:
        os.killpg(child.pid, signal.SIGTERM)
        child.wait(timeout=20)
        raise
