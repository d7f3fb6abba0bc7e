# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Processes that end with us, however we end. Owns starting, watching and ending them."""
import ctypes
import os
import signal
import subprocess
import threading

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


def _die_with_parent(parent):
    """In the child before exec. The signal is the thread's: start children from the main one."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def spawn(argv, **options):
    """subprocess.Popen in a session of its own (Ctrl-C is for us), killed if we are."""
    parent = os.getpid()
    return subprocess.Popen([str(a) for a in argv], start_new_session=True,
                            preexec_fn=lambda: _die_with_parent(parent), **options)


def watch(process, ended):
    """Call ended(process) in a thread of its own once it has ended."""
    def wait():
        process.wait()
        ended(process)
    threading.Thread(target=wait, daemon=True).start()


def describe(process):
    """How an ended process ended."""
    code = process.returncode
    if code is not None and code < 0:
        try:
            return f"killed by {signal.Signals(-code).name}"
        except ValueError:
            return f"killed by signal {-code}"
    return f"ended with status {code}"


def _signal_group(process, number):
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        pass


def end(process, grace=0):
    """End a process and its group: at once, or first politely for grace seconds."""
    if grace and process.poll() is None:
        _signal_group(process, signal.SIGTERM)
        try:
            process.wait(grace)
        except subprocess.TimeoutExpired:
            pass
    _signal_group(process, signal.SIGKILL)
    process.wait()
