# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A guest's QEMU command line. Owns its machine and the guest kernel's parameters."""
import json

from . import frame

# Quiet, quick, and with a panic that ends QEMU, so that the lab learns of it.
KERNEL_PARAMETERS = ("console=ttyS0 quiet loglevel=5 panic=-1 rdinit=/init log_buf_len=4M "
                     "net.ifnames=0 mitigations=off nokaslr no_timer_check tsc=reliable "
                     "random.trust_cpu=on rcupdate.rcu_expedited=1 cryptomgr.notests "
                     "lsm=capability audit=0 pci=noaer")


def _export(tag, path, writable=False):
    """A folder of this system for the guest, over 9p."""
    readonly = "off" if writable else "on"
    return ["-fsdev", f"local,id={tag},path={path},security_model=none,readonly={readonly},"
                      "multidevs=remap",
            "-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"]


def _network(topology, guest, run_dir):
    """Interfaces first, in the order of their names, then the RDMA functions beside them."""
    args = []
    for netdev in topology.netdevs(guest):
        # Only a NIC without an Ethernet half of its own has this socket.
        sock = run_dir / f"{netdev.owner}.eth"
        if sock.exists():
            args += ["-netdev", f"stream,id={netdev.owner},server=off,addr.type=unix,"
                                f"addr.path={sock}",
                     "-device", f"virtio-net-pci,netdev={netdev.owner},mac={netdev.mac},romfile="]
    for nic in topology.nics:
        if nic["guest"] == guest["name"]:
            socket = {"type": "unix", "path": str(run_dir / f"{nic['name']}.vfio")}
            # The timeout is for a simulator stopped in a debugger or on a busy machine.
            device = {"driver": "vfio-user-pci", "socket": socket, "rombar": 0,
                      "x-msg-timeout": 60000}
            args += ["-device", json.dumps(device)]
    return args


def arguments(topology, guest, kernel, run_dir, shares):
    """All but the program itself. shares: {"root", "build", "agent_fd", "accelerator"}."""
    name = guest["name"]
    return [
        *shares["accelerator"],
        "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-name", name,
        "-machine", "q35,memory-backend=mem,usb=off,vmport=off,smm=off,hpet=off,i8042=off",
        "-object", f"memory-backend-memfd,id=mem,size={guest['memory']}M,share=on",
        "-m", f"{guest['memory']}M", "-smp", str(guest["cpus"]),
        "-kernel", str(kernel.image), "-initrd", str(run_dir / f"{name}.initramfs"),
        "-append", KERNEL_PARAMETERS,
        "-chardev", f"file,id=console,path={run_dir}/{name}.console",
        "-serial", "chardev:console",
        *_network(topology, guest, run_dir),
        "-chardev", f"socket,id=agent,fd={shares['agent_fd']}",
        "-device", "virtio-serial-pci",
        "-device", f"virtserialport,chardev=agent,name={frame.PORT_NAME}",
        "-object", "rng-builtin,id=rng", "-device", "virtio-rng-pci,rng=rng",
        *_export("root", shares["root"]),
        *_export("build", shares["build"]),
        *_export("run", run_dir / "share", writable=True),
    ]
