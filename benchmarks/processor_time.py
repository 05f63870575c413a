"""The CPU time of each program of a cluster, as the kernel counts it.

If CPU is the limit, this predicts the rate, and unlike the rate it is nearly the same however busy
the machine is.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from kwok.processes import PROC, processes_in

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PROGRAMS: Final = (
    "kube-apiserver",
    "kube-scheduler",
    "etcd",
    "kwok-controller",
    "kube-controller-manager",
)
_TICK: Final = 1 / os.sysconf("SC_CLK_TCK")


def used_by(folder: Path, **others: int) -> Mapping[str, float]:
    """Seconds of each program of the cluster in this folder, and of the others given here."""
    programs = ((each.name, each.pid) for each in processes_in(folder, PROGRAMS))
    used: dict[str, float] = {}
    for name, pid in (*programs, *others.items()):
        # A cluster may have two schedulers.
        used[name] = used.get(name, 0.0) + _used(pid)
    return used


def _used(pid: int) -> float:
    with suppress(FileNotFoundError):
        # The name of the program comes before, in brackets, and may contain spaces.
        fields = (PROC / str(pid) / "stat").read_text("utf-8").rpartition(")")[2].split()
        return sum(map(int, fields[11:13])) * _TICK
    return 0.0
