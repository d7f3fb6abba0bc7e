# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Which folder may include what: dependencies point one way (docs/design.md)."""

import fnmatch
import re

# The first row whose pattern fits a file decides. Patterns of includes are matched against the
# text between the quotes or brackets; "." stands for the file's own folder. Headers in angle
# brackets are the system's: rows name those that are NOT allowed, with a leading "!".
RULES = [
    ("providers/*/*_hw*.h", [".", "linux/types.h", "providers/common/*", "!*"]),
    ("providers/common/*", ["linux/types.h", "providers/common/*", "!*"]),
    ("providers/*/*_sim*", [".", "providers/common/*", "sim/device/sim_dev.h", "sim/nic/*",
                            "sim/engine/roce.h", "!infiniband/*", "!event2/*"]),
    ("providers/*/*_user*", [".", "providers/common/*", "userlib/*", "compat/ibverbs/*",
                             "!event2/*"]),
    ("sim/engine/*", ["sim/engine/*", "!event2/*", "!sys/socket.h", "!sys/epoll.h", "!unistd.h",
                      "!pthread.h", "!time.h", "!infiniband/*"]),
    ("sim/fabric/*", ["sim/fabric/*", "sim/device/sim_loop.h", "!infiniband/*"]),
    ("sim/device/*", ["sim/device/*", "!infiniband/*"]),
    ("sim/nic/*", ["sim/nic/*", "sim/device/*", "sim/fabric/*", "sim/engine/roce.h", "!infiniband/*"]),
    ("sim/main/*", ["sim/*", "providers/common/*", "!infiniband/*"]),
    ("sim/guest/*", ["sim/guest/*", "!infiniband/*"]),
    ("userlib/*", ["userlib/*", "providers/common/*", "compat/ibverbs/*", "kmod/uapi/*", "!event2/*"]),
    ("kmod/*", ["kmod/*", "providers/common/*", "compat/kernel/*"]),
]
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def allowed(patterns, folder, quote, target):
    if quote == '"':
        own = [folder + "/*" if pattern == "." else pattern for pattern in patterns]
        return "/" not in target or any(fnmatch.fnmatch(target, pattern) for pattern in own
                                        if not pattern.startswith("!"))
    if any(fnmatch.fnmatch(target, pattern) for pattern in patterns if not pattern.startswith("!")):
        return True
    return not any(fnmatch.fnmatch(target, pattern[1:]) for pattern in patterns if pattern.startswith("!"))


def gate(tree):
    for path in tree.having(".c", ".h"):
        patterns = next((row[1] for row in RULES if fnmatch.fnmatch(path, row[0])), None)
        if patterns is None:
            continue
        folder = path.rsplit("/", 1)[0]
        for number, line in enumerate(tree.lines(path), 1):
            match = INCLUDE.match(line)
            if match and not allowed(patterns, folder, match[1], match[2]):
                yield f"{path}:{number}: may not include {match[2]}: wrong layer (docs/design.md)"
