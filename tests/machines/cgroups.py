"""The control groups of servers: a folder of ours in each hierarchy of this machine.

A server sees its folder as the root of the hierarchy, because it has a cgroup namespace. Version 1
has a mount for each controller, version 2 a single one, and many machines have both.
"""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

OURS: Final = "growth-machines"
_MOUNTS: Final = Path("/proc/self/mounts")
_CONTROLLERS: Final = frozenset(
    {
        *("cpu", "cpuacct", "cpuset", "memory", "devices", "freezer", "blkio", "pids"),
        *("hugetlb", "net_cls", "net_prio", "perf_event", "rdma", "misc"),
    }
)
_EMPTY_WITHIN: Final = 5.0
"""Seconds until killed processes have left their group."""


@dataclass(frozen=True)
class Hierarchy:
    """One mount of control groups."""

    mounted_at: Path
    type: str
    options: str
    """What a server has to be told to mount the same."""

    @property
    def is_unified(self) -> bool:
        """Whether it is of version 2."""
        return self.type == "cgroup2"

    @property
    def name(self) -> str:
        """Where a server mounts it, below /sys/fs/cgroup."""
        return os.path.relpath(self.mounted_at, "/sys/fs/cgroup")


def hierarchies() -> list[Hierarchy]:
    """All of this machine."""
    lines = (line.split() for line in _MOUNTS.read_text("utf-8").splitlines())
    return [
        Hierarchy(Path(place), kind, _wanted(kind, options))
        for _, place, kind, options, *_ in lines
        if kind in {"cgroup", "cgroup2"} and place.startswith("/sys/fs/cgroup")
    ]


def _wanted(kind: str, options: str) -> str:
    if kind == "cgroup2":
        return "rw"
    named = [each for each in options.split(",") if each.startswith("name=")]
    controllers = [each for each in options.split(",") if each in _CONTROLLERS]
    return ",".join(["none", *named] if named else controllers)


def make_group(*path: str) -> list[Path]:
    """A group of ours in each hierarchy."""
    return [_made(hierarchy, path) for hierarchy in hierarchies()]


def _made(hierarchy: Hierarchy, path: Iterable[str]) -> Path:
    folder = hierarchy.mounted_at
    for step in (OURS, *path):
        above, folder = folder, folder / step
        folder.mkdir(exist_ok=True)
        # A new group of version 1 has no processor and no memory at first.
        for each in ("cpuset.cpus", "cpuset.mems"):
            if not hierarchy.is_unified and (above / each).exists():
                (folder / each).write_text((above / each).read_text())
    return folder


def enter(groups: Iterable[Path]) -> None:
    """Move the calling process into a group."""
    for each in groups:
        (each / "cgroup.procs").write_text("0")


def remove_group(*path: str) -> None:
    """Remove a group of ours from each hierarchy, when the last process has left it."""
    for hierarchy in hierarchies():
        _remove(hierarchy.mounted_at.joinpath(OURS, *path))
        # The folder of all our groups goes with the last one.
        with contextlib.suppress(OSError):
            (hierarchy.mounted_at / OURS).rmdir()


def _remove(folder: Path) -> None:
    ends = time.monotonic() + _EMPTY_WITHIN
    while folder.exists():
        for each in _deepest_first(folder):
            with contextlib.suppress(OSError):
                each.rmdir()
        if time.monotonic() > ends:
            return
        time.sleep(0.01)


def _deepest_first(folder: Path) -> Iterator[Path]:
    for place, _, _ in os.walk(folder, topdown=False):
        yield Path(place)


def our_groups() -> list[Path]:
    """Every group of ours that there is now."""
    return [
        Path(place)
        for hierarchy in hierarchies()
        for place, _, _ in os.walk(hierarchy.mounted_at / OURS)
    ]
