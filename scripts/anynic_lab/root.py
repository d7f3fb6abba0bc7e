# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The lab root as the lab sees it: its manifest, kernels, modules and QEMU.

Knows the folder's layout. Never writes to it.
"""
import json
import pathlib
import subprocess

from . import LabError


class Kernel:
    """A stock kernel of the root, with its modules."""

    def __init__(self, folder, key, release):
        self.key = key
        self.image = folder / "boot" / f"vmlinux-{release}"
        self._modules = folder / "usr/lib/modules" / release
        self._depends = {}  # module name: (path, paths it needs)
        for line in (self._modules / "modules.dep").read_text().splitlines():
            path, _, needs = line.partition(":")
            self._depends[self._name(path)] = (path, needs.split())
        builtin = (self._modules / "modules.builtin").read_text().split()
        self._builtin = {self._name(path) for path in builtin}

    @staticmethod
    def _name(path):
        return path.rpartition("/")[2].partition(".")[0].replace("-", "_")

    def has(self, name):
        name = name.replace("-", "_")
        return name in self._depends or name in self._builtin

    def files(self, names):
        """Module files to load for names, in order, each once, what is needed before its user."""
        order = []
        for name in names:
            name = name.replace("-", "_")
            if name in self._depends:
                path, needs = self._depends[name]
                order += [*reversed(needs), path]
            elif name not in self._builtin:
                raise LabError(f"kernel {self.key} has no module {name!r}")
        return [self._modules / path for path in dict.fromkeys(order)]


class Root:
    def __init__(self, maker):
        """maker: scripts/lab-root, which knows where the root is."""
        done = subprocess.run([maker, "--path"], stdout=subprocess.PIPE, text=True, check=True)
        self.folder = pathlib.Path(done.stdout.strip())
        try:
            manifest = self.folder / "usr/share/anynic-lab/manifest.json"
            self.manifest = json.loads(manifest.read_text())
        except FileNotFoundError:
            raise LabError("there is no lab root yet: make it with scripts/lab-root "
                           "(about 2 minutes)") from None
        except (OSError, ValueError) as error:
            raise LabError(f"{manifest}: {error}") from None

    def kernel(self, key):
        row = self.manifest["kernels"].get(key)
        if row is None:
            known = ", ".join(self.manifest["kernels"])
            raise LabError(f"the lab root has no kernel {key!r} (there are: {known})")
        return Kernel(self.folder, key, row["release"])

    def qemu(self):
        """Start of a command line that runs the root's QEMU on this system.

        By the root's own loader and libraries: no chroot, so no privilege is
        needed, and paths mean the same inside and outside.
        """
        libraries = self.folder / "usr/lib/x86_64-linux-gnu"
        share = self.folder / "usr/share"
        return [str(self.folder / "usr/lib64/ld-linux-x86-64.so.2"),
                "--library-path", str(libraries), "--argv0", "qemu-system-x86_64",
                str(self.folder / "usr/bin/qemu-system-x86_64"),
                "-L", str(share / "qemu"), "-L", str(share / "seabios")]

    def qemu_environment(self):
        return {"QEMU_MODULE_DIR": str(self.folder / "usr/lib/x86_64-linux-gnu/qemu")}
