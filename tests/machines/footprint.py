"""What a hall of servers could leave on this machine."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.machines import cgroups
from tests.machines.places import halls_folder, machines_folder

PROC: Final = Path("/proc")
SETTINGS: Final = (
    *("net/ipv4/ip_forward", "net/ipv4/conf/all/forwarding", "vm/overcommit_memory"),
    *("kernel/panic", "kernel/panic_on_oops", "kernel/keys/root_maxkeys", "kernel/pid_max"),
    *("kernel/keys/root_maxbytes", "kernel/core_pattern"),
)
"""What a kubelet, kubeadm, Debian and our user data write."""


@dataclass(frozen=True)
class Footprint:
    """What belongs to a hall: it is there with the hall, and gone with it."""

    groups: int
    disks: int
    processes: int


def footprint_of(hall: str) -> Footprint:
    """What there is now."""
    return Footprint(
        groups=sum(hall in each.parts for each in cgroups.our_groups()),
        disks=sum(each.name == hall for each in halls_folder().iterdir()),
        processes=sum(_belongs(each, hall) for each in PROC.iterdir() if each.name.isdigit()),
    )


def _belongs(process: Path, hall: str) -> bool:
    """Whether a process is in the control groups of the hall, or is its keeper."""
    try:
        groups, words = (process / "cgroup").read_text(), (process / "cmdline").read_bytes()
    except OSError:
        return False
    return f"/{cgroups.OURS}/{hall}/" in groups or hall.encode() in words.split(b"\0")


@dataclass(frozen=True)
class Host:
    """What no hall may ever change."""

    mounts: tuple[str, ...]
    links: frozenset[str]
    settings: tuple[str, ...]


def this_host() -> Host:
    """As it is now."""
    mounts = Path("/proc/self/mountinfo").read_text("utf-8").splitlines()
    links = subprocess.run(["ip", "-o", "link"], capture_output=True, text=True, check=True).stdout
    return Host(
        mounts=tuple(line for line in mounts if str(machines_folder()) in line),
        links=frozenset(line.split(": ")[1] for line in links.splitlines()),
        settings=tuple(Path("/proc/sys", each).read_text("utf-8") for each in SETTINGS),
    )


@dataclass(frozen=True)
class Rooms:
    """What is inside the namespaces of a hall."""

    mounts: int
    links: int
    open_files: int


def rooms_of(hall: int) -> Rooms:
    """What there is now; a hall is known by its first process."""
    process = PROC / str(hall)
    inside = ("nsenter", f"--net={process}/ns/net", "ip", "-o", "link")
    links = subprocess.run(inside, capture_output=True, text=True, check=True).stdout
    return Rooms(
        mounts=len((process / "mountinfo").read_text("utf-8").splitlines()),
        links=len(links.splitlines()),
        open_files=len(list((process / "fd").iterdir())),
    )


def network_namespaces() -> frozenset[str]:
    """Those that processes of this machine are in."""
    found = set()
    for process in PROC.iterdir():
        try:
            found.add(os.readlink(process / "ns" / "net"))  # noqa: PTH115 - it names no file
        except OSError:
            continue
    return frozenset(found)
