# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What a guest boots from: lab-guest, modules, and the last script of its boot.

Owns the initramfs's content, which sim/guest/lab_boot.c reads, and the guest's set-up.
"""
import shlex

# Needed by every guest, in this order; configfs and the like may be built in.
BASE_MODULES = ["virtio_pci", "9pnet_virtio", "9p", "overlay", "virtio_console", "virtio_net",
                "configfs", "ib_uverbs", "rdma_ucm", "ib_umad"]
# rxe asks the kernel's crypto interface for CRC-32; its modules come and go with versions.
RXE_CRC_MODULES = ["crc32_generic", "crc32_pclmul"]


def _cpio_member(path, mode, data, inode):
    """One member in the "newc" format, which the kernel unpacks."""
    name = path.encode() + b"\0"
    fields = [inode, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name), 0]
    head = b"070701" + b"".join(b"%08X" % field for field in fields) + name
    return head + b"\0" * (-len(head) % 4) + data + b"\0" * (-len(data) % 4)


def _cpio(folders, files):
    """files: (path, mode, bytes)"""
    members = [(folder, 0o040755, b"") for folder in folders]
    members += [(path, 0o100000 | mode, data) for path, mode, data in files]
    members.append(("TRAILER!!!", 0, b""))
    return b"".join(_cpio_member(*m, inode) for inode, m in enumerate(members, 1))


def module_files(kernel, guest):
    names = [*BASE_MODULES, *guest["modules"]]
    if guest["rxe"]:
        names += [name for name in RXE_CRC_MODULES if kernel.has(name)] + ["rdma_rxe"]
    return kernel.files(names)


def boot_script(topology, guest):
    """Shell commands that end the boot: names, addresses, software NIC."""
    netdevs = topology.netdevs(guest)
    hosts = [f"{n.ipv4.partition('/')[0]} {g['name']}" for g in topology.guests
             for n in topology.netdevs(g)[:1]]
    lines = ["cat >>/etc/hosts <<'HOSTS'", *hosts, "HOSTS", f"echo {shlex.quote(guest['name'])} >/proc/sys/kernel/hostname"]
    # Two interfaces share a subnet: each must answer for its own address only.
    lines += ["echo 1 >/proc/sys/net/ipv4/conf/all/arp_ignore",
              "echo 2 >/proc/sys/net/ipv4/conf/all/arp_announce"]
    batch = ["link set lo up"]
    for netdev in netdevs:
        # Duplicate address detection would delay the first use of an address by a second.
        lines += [f"test \"$(cat /sys/class/net/{netdev.name}/address)\" = {netdev.mac}",
                  f"echo 0 >/proc/sys/net/ipv6/conf/{netdev.name}/accept_dad"]
        batch += [f"link set {netdev.name} mtu {topology.switch['mtu']} up",
                  f"addr add {netdev.ipv4} dev {netdev.name}",
                  f"addr add {netdev.ipv6} dev {netdev.name} nodad"]
    lines += ["ip -batch - <<'BATCH'", *batch, "BATCH"]
    if guest["rxe"]:
        lines.append(f"rdma link add rxe0 type rxe netdev {guest['rxe']}")
    return "\n".join(lines) + "\n"


def make(kernel, topology, guest, program):
    """-> bytes of the initramfs. program: lab-guest's path."""
    modules = module_files(kernel, guest)
    files = [("init", 0o755, program.read_bytes()),
             ("boot.sh", 0o644, boot_script(topology, guest).encode()),
             ("modules", 0o644, "".join(f"/{m.name}\n" for m in modules).encode())]
    files += [(m.name, 0o644, m.read_bytes()) for m in modules]
    return _cpio(["dev", "proc", "sys", "lower", "upper", "new"], files)
