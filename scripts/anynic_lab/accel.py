# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Whether this system's KVM really runs a guest. Owns the proof and where it is remembered.

A device node, and even a machine that it makes, prove little: nested and container hosts have a
KVM that gives up on the first instruction it does not know. So a kernel without a root is
booted once, which panics and so ends QEMU; the answer holds until this system's next boot.
"""
import os
import pathlib
import subprocess
import tempfile

from . import LabError, children

PROOF_SECONDS = 6
BOOT_ID = pathlib.Path("/proc/sys/kernel/random/boot_id")

# A model with AVX2, but without "rep movs is fast": emulated, it copies byte by byte, which
# makes the guest kernel's clearing 13 and its copying 5 times slower (seen with -cpu max).
TCG = ["-accel", "tcg,thread=multi",
       "-cpu", "Haswell-noTSX,erms=off,pcid=off,invpcid=off,tsc-deadline=off"]
KVM = ["-accel", "kvm", "-cpu", "host"]


def _boots(root, kernel):
    """Boot a kernel that must panic. -> whether it did, in time."""
    with tempfile.TemporaryFile() as log:
        process = children.spawn(
            [*root.qemu(), *KVM, "-nodefaults", "-no-user-config", "-no-reboot", "-display",
             "none", "-machine", "q35", "-m", "256", "-kernel", kernel.image,
             "-append", "quiet panic=-1"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            env={**os.environ, **root.qemu_environment()})
        try:
            return process.wait(PROOF_SECONDS) == 0
        except subprocess.TimeoutExpired:
            return False
        finally:
            children.end(process)


def _kvm_works(root, kernel):
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return False
    note = root.folder.parent / f"kvm-{BOOT_ID.read_text().strip()}"
    try:
        return note.read_text().strip() == "works"
    except OSError:
        pass
    works = _boots(root, kernel)
    try:
        for old in note.parent.glob("kvm-*"):
            old.unlink()
        note.write_text("works\n" if works else "does not work\n")
    except OSError:
        pass  # a read-only cache: it is proved again next time
    return works


def arguments(root, kernel, environment):
    """QEMU's: ANYNIC_LAB_ACCEL=kvm or tcg decides, else what works here."""
    wanted = environment.get("ANYNIC_LAB_ACCEL") or (
        "kvm" if _kvm_works(root, kernel) else "tcg")
    if wanted not in ("kvm", "tcg"):
        raise LabError(f"ANYNIC_LAB_ACCEL must be kvm or tcg, not {wanted!r}")
    return KVM if wanted == "kvm" else TCG
