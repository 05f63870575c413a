"""A cluster with growth next to it, for one measurement, and ways to load it without kubectl."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from growth.errors import GiveUp
from growth.kube.call import MERGE_PATCH
from growth.kube.transport import connect
from growth.scheduling.resources import CPU, parse_resources
from kwok.clusters import find_cluster

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator

    from growth.kube.transport import Connection
    from kwok.clusters import LocalCluster

_ROOT: Final = Path(__file__).resolve().parent.parent
_PATHS: Final = {
    "Deployment": "/apis/apps/v1/namespaces/default/deployments",
    "Node": "/api/v1/nodes",
    "Pod": "/api/v1/namespaces/default/pods",
    "KwokNodeClass": "/apis/growth.dev/v1alpha1/kwoknodeclasses",
    "NodePool": "/apis/growth.dev/v1alpha1/nodepools",
}
_MILLI: Final = {CPU: "m"}
_LOOKS: Final = 600
_PAUSE: Final = 0.2


@contextmanager
def a_cluster(purpose: str, *words: str) -> Iterator[LocalCluster]:
    """A new cluster, from start to end."""
    name = f"growth-{purpose}-{os.getpid()}"
    try:
        _kwok("up", "--name", name, *words)
        cluster = find_cluster(name)
        assert cluster is not None
        yield cluster
    finally:
        _kwok("down", "--name", name)


def _kwok(*words: str) -> None:
    command = [sys.executable, "-m", "kwok", *words]
    subprocess.run(
        command, check=True, cwd=_ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


@asynccontextmanager
async def connected(cluster: LocalCluster) -> AsyncIterator[Connection]:
    """A connection as the cluster's administrator."""
    async with await connect(kubeconfig=cluster.kubeconfig, process="benchmark") as connection:
        yield connection


async def create(connection: Connection, objects: Iterable[dict[str, Any]]) -> None:
    """Create objects, as fast as the server accepts them."""
    async with asyncio.TaskGroup() as tasks:
        for each in objects:
            tasks.create_task(connection.request("POST", _PATHS[each["kind"]], body=each))


async def delete_all(connection: Connection, kind: str) -> None:
    """Delete all objects of a kind."""
    await connection.request("DELETE", _PATHS[kind], query={"propagationPolicy": "Background"})


async def double_the_room(connection: Connection) -> None:
    """Give every node twice as much of everything for pods."""
    nodes = (await connection.request("GET", _PATHS["Node"])).json()["items"]
    async with asyncio.TaskGroup() as tasks:
        for node in nodes:
            tasks.create_task(_enlarge(connection, node))


async def _enlarge(connection: Connection, node: dict[str, Any]) -> None:
    has = parse_resources(node["status"]["allocatable"]).amounts
    twice = {name: f"{2 * amount}{_MILLI.get(name, '')}" for name, amount in has.items()}
    path = f"{_PATHS['Node']}/{node['metadata']['name']}/status"
    body = {"status": {"capacity": twice, "allocatable": twice}}
    await connection.request("PATCH", path, body=body, content_type=MERGE_PATCH)


async def gone(connection: Connection, kind: str) -> None:
    """Wait until no object of a kind is left."""
    for _ in range(_LOOKS):
        if not (await connection.request("GET", _PATHS[kind])).json()["items"]:
            return
        await asyncio.sleep(_PAUSE)
    raise GiveUp(f"objects of kind {kind} still exist after {_LOOKS * _PAUSE:.0f} s")


def cpu_seconds(cluster: LocalCluster) -> dict[str, float]:
    """The CPU time of each process of growth and of the control plane so far."""
    used = {_told(each.pid, each.name): _ticks(each.pid) for each in _all(cluster)}
    return {name: ticks / os.sysconf("SC_CLK_TCK") for name, ticks in used.items()}


def _all(cluster: LocalCluster) -> Iterator[Any]:
    yield from cluster.running()
    yield from cluster.growing()


def _told(pid: int, name: str) -> str:
    """What people call the process: a Python program by its module."""
    words = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
    return words[words.index("-m") + 1] if "-m" in words else name


def _ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])
