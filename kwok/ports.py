"""Free ports for a new cluster.

They are chosen at random below the range that the system uses for outgoing connections, so that
nothing takes one between the choice and the program's start. Ports of other clusters are left out
even if nothing listens there yet.
"""

from __future__ import annotations

import random
import socket
from typing import TYPE_CHECKING, Final

from growth.errors import Misconfigured
from kwok.clusters import all_clusters

if TYPE_CHECKING:
    from collections.abc import Iterator

LOWEST: Final = 20000
BEYOND: Final = 32000

USES: Final = (
    "etcd",
    "etcd-peers",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kwok-controller",
    "growth-verbs",
    "growth-demand",
    "growth-webhook",
)


def choose_ports() -> dict[str, int]:
    """One free port for each use."""
    chosen = dict(zip(USES, _free_ports(), strict=False))
    if len(chosen) < len(USES):
        raise Misconfigured(f"no free ports from {LOWEST} to {BEYOND}; end some clusters")
    return chosen


def free_port() -> int:
    """One free port, for a program next to a cluster."""
    return next(_free_ports())


def _free_ports() -> Iterator[int]:
    taken = {port for cluster in all_clusters() for port in cluster.ports.values()}
    candidates = random.sample(range(LOWEST, BEYOND), k=BEYOND - LOWEST)
    return (port for port in candidates if port not in taken and _is_free(port))


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("", port))
        except OSError:
            return False
    return True
