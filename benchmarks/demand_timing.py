"""When each pod was created, marked by the scheduler, and known as demand, on one clock."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import aiohttp

from benchmarks.extender_live import replicas
from benchmarks.watched_pods import pod_events
from growth.demand import wire
from growth.demand.detection import is_demand
from growth.demand.history import EntryChange, EntryChangeKind
from growth.kube.transport import Connection, NotFound, connect

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from benchmarks.extender_live import Extender
    from kwok.clusters import LocalCluster

    Create = Callable[[Connection, str], Awaitable[None]]

PATIENCE: Final = 240.0
PACE: Final = 0.05
"""Seconds between two single pods."""
TOO_LARGE: Final = "1k"
"""More CPUs than any node has."""


@dataclass
class Moments:
    """Times by UID. Pods that existed before don't count."""

    created: dict[str, float] = field(default_factory=dict)
    marked: dict[str, float] = field(default_factory=dict)
    known: dict[str, float] = field(default_factory=dict)

    def are_complete(self, count: int) -> bool:
        """Whether everything has been seen for this many pods."""
        return min(map(len, (self.created, self.marked, self.known))) >= count


async def single_pods(
    cluster: LocalCluster, extender: Extender, *, scheduler: str, count: int
) -> Moments:
    """Pods without an owner, one after another."""

    async def create(connection: Connection, namespace: str) -> None:
        for number in range(count):
            template = replicas("x", count=1, scheduler=scheduler, cpu=TOO_LARGE)
            pod = {**template["spec"]["template"], "apiVersion": "v1", "kind": "Pod"}
            pod["metadata"] = {"name": f"single-{number}"}
            await connection.request("POST", f"/api/v1/namespaces/{namespace}/pods", body=pod)
            await asyncio.sleep(PACE)

    return await _timed(cluster, extender, create, count=count)


async def burst(
    cluster: LocalCluster, extender: Extender, *, scheduler: str, count: int
) -> Moments:
    """Identical pods of one owner, as fast as they can be created."""

    async def create(connection: Connection, namespace: str) -> None:
        path = f"/apis/apps/v1/namespaces/{namespace}/replicasets"
        many = replicas("many", count=count, scheduler=scheduler, cpu=TOO_LARGE)
        await connection.request("POST", path, body=many)

    return await _timed(cluster, extender, create, count=count)


async def _timed(
    cluster: LocalCluster, extender: Extender, create: Create, *, count: int
) -> Moments:
    moments = Moments()
    async with await connect(kubeconfig=cluster.kubeconfig, process="benchmark") as connection:
        namespace = await _namespace(connection)
        try:
            async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as tasks:
                ready = (asyncio.Event(), asyncio.Event())
                readers = (
                    tasks.create_task(_watch(connection, namespace, moments, ready[0])),
                    tasks.create_task(_read(extender, namespace, moments, ready[1])),
                )
                await asyncio.gather(*(each.wait() for each in ready))
                await create(connection, namespace)
                while not moments.are_complete(count):  # noqa: ASYNC110 - two readers fill it
                    await asyncio.sleep(0.05)
                for reader in readers:
                    reader.cancel()
        finally:
            await connection.request("DELETE", f"/api/v1/namespaces/{namespace}", timeout=60)
    return moments


async def _namespace(connection: Connection) -> str:
    """A new namespace in which pods can be created."""
    body = {"metadata": {"generateName": "demand-"}}
    made = (await connection.request("POST", "/api/v1/namespaces", body=body)).json()
    name: str = made["metadata"]["name"]
    account = f"/api/v1/namespaces/{name}/serviceaccounts/default"
    for _ in range(200):
        try:
            await connection.request("GET", account)
        except NotFound:
            await asyncio.sleep(0.1)
        else:
            break
    return name


async def _watch(
    connection: Connection, namespace: str, moments: Moments, ready: asyncio.Event
) -> None:
    async for moment, pod in pod_events(connection, namespace, watching=ready.set):
        moments.created.setdefault(pod.metadata.uid, moment)
        if is_demand(pod):
            moments.marked.setdefault(pod.metadata.uid, moment)


async def _read(extender: Extender, namespace: str, moments: Moments, ready: asyncio.Event) -> None:
    url = f"http://{extender.demand}{wire.PATH}"
    async with aiohttp.ClientSession() as session, session.get(
        url, params={"watch": "true"}, timeout=aiohttp.ClientTimeout(total=None)
    ) as response:  # fmt: skip
        ready.set()
        while line := await response.content.readline():
            now = time.perf_counter()
            for said in wire.read_lines([line]):
                match said:
                    case EntryChange(kind=EntryChangeKind.ADDED, entry=entry) if (
                        entry.namespace == namespace
                    ):
                        moments.known.setdefault(entry.uid, now)
                    case _:
                        pass
