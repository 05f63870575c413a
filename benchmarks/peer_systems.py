"""Each autoscaler on a cluster of its own: growth, one that a command starts, and none at all.

The command runs in a shell, with KUBECONFIG and with GROWTH_PEER_CATALOGUE, a folder with the price
list in several forms. It installs what its autoscaler needs, and ends when it is told to
(SIGTERM). The nodes of its autoscaler must bear the labels of the price list and the annotation
`kwok.x-k8s.io/node`. Without an autoscaler, enough empty nodes exist before the pods do.
"""

from __future__ import annotations

import math
import os
import signal
import subprocess
import time
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from benchmarks import grown
from benchmarks.peer_catalogue import ARCH, CAPACITY, ZONE
from growth.errors import GiveUp
from growth.scheduling.resources import CPU, MEMORY, parse_resources
from kwok.processes import PROC

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from benchmarks.peer_catalogue import Document, PeerCatalogue
    from kwok.clusters import LocalCluster

GROWTH: Final = "growth"
PEER: Final = "peer"
FLOOR: Final = "floor"
_ENDS_WITHIN: Final = 20.0
_TICK: Final = 1 / os.sysconf("SC_CLK_TCK")


class PeerStage:
    """A cluster with one of the systems."""

    def __init__(self, cluster: LocalCluster, processes: subprocess.Popen[bytes] | None) -> None:
        self.cluster = cluster
        self._peer = processes

    def used(self) -> float:
        """The CPU seconds of the autoscaler so far."""
        if self._peer is not None:
            self.check()
            return sum(_used(pid) for pid in _group(self._peer.pid))
        control_plane = {each.name for each in self.cluster.running()}
        used = grown.cpu_seconds(self.cluster).items()
        return sum(seconds for name, seconds in used if name not in control_plane)

    def check(self) -> None:
        """Raise an error if the command has ended."""
        if self._peer is not None and self._peer.poll() is not None:
            raise GiveUp(f"--with: the command has ended with code {self._peer.returncode}")


@contextmanager
def staged(system: str, command: str, folder: Path, *, settle: float) -> Iterator[PeerStage]:
    """A new cluster with this system at work, which has `settle` seconds to begin."""
    words = ("--growth",) if system == GROWTH else ()
    with grown.a_cluster("peers", *words) as cluster:
        if system != PEER:
            yield PeerStage(cluster, None)
            return
        with (folder / "peer.log").open("ab") as log:
            process = subprocess.Popen(
                ["sh", "-c", command],
                env={**os.environ, **_told(cluster, folder)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        try:
            stage = PeerStage(cluster, process)
            time.sleep(settle)
            stage.check()
            yield stage
        finally:
            _end(process)


def _told(cluster: LocalCluster, folder: Path) -> Mapping[str, str]:
    return {"KUBECONFIG": str(cluster.kubeconfig), "GROWTH_PEER_CATALOGUE": str(folder)}


def _end(process: subprocess.Popen[bytes]) -> None:
    """The command, and all that it has started."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(_ENDS_WITHIN)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue


def empty_nodes(catalogue: PeerCatalogue, wanted: Iterable[Document]) -> Iterator[Document]:
    """For each architecture, terms and zone, nodes with half as much room as all pods need."""
    largest: dict[tuple[str, str, str], Document] = {}
    for offer in sorted(catalogue.offers, key=lambda each: each.capacity):
        node = catalogue.node(offer)
        labels = node["metadata"]["labels"]
        largest[labels[ARCH], labels[CAPACITY], labels[ZONE]] = node
    needed = _needed(wanted)
    for node in largest.values():
        has = parse_resources(node["status"]["allocatable"])
        count = max(math.ceil(needed[name] / 2 / has[name]) for name in (CPU, MEMORY))
        yield from (_numbered(node, number) for number in range(count))


def _needed(wanted: Iterable[Document]) -> Counter[str]:
    needed: Counter[str] = Counter()
    for each in wanted:
        [container] = each["spec"]["template"]["spec"]["containers"]
        requests = parse_resources(container["resources"]["requests"]).amounts
        for name, amount in requests.items():
            needed[name] += amount * each["spec"]["replicas"]
    return needed


def _numbered(node: Document, number: int) -> Document:
    metadata = node["metadata"]
    name = f"{metadata['name']}-{number}"
    labels = {**metadata["labels"], "kubernetes.io/hostname": name}
    return {**node, "metadata": {**metadata, "name": name, "labels": labels}}


def _group(leader: int) -> Iterator[int]:
    """The processes of a group."""
    for path in PROC.iterdir():
        if path.name.isdigit() and _fields(int(path.name))[2:3] == [str(leader)]:
            yield int(path.name)


def _used(pid: int) -> float:
    # Also of the children that have ended, because a command may start its autoscaler last.
    return sum(map(int, _fields(pid)[11:15])) * _TICK


def _fields(pid: int) -> list[str]:
    """What the kernel tells of a process after its name, which may contain spaces."""
    try:
        return (PROC / str(pid) / "stat").read_text("utf-8").rpartition(")")[2].split()
    except OSError:
        return []
