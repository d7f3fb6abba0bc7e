# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The lab: virtual machines with simulated and software RDMA NICs on a simulated switch.

    topology   what the YAML file says, checked
    root       the lab root: kernels, modules, QEMU
    initramfs  what a guest boots from
    accel      whether KVM works here
    qemu       a guest's command line
    children   processes that end with us
    frame      the protocol between lab, clients and guests
    relay      carries frames between clients and guests
    client     runs one command in a guest
    session    a running topology: all of the above
    scenario   a test script in a session, as TAP
    cli        the command line
"""


class LabError(Exception):
    """What is wrong, in one line for the person at the terminal."""
