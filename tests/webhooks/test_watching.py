"""What admission knows of the pools, as an API server tells it."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import TYPE_CHECKING, Any

import pytest
from aiohttp import web
from prometheus_client import CollectorRegistry

from growth.kube.cache.metrics import CacheMetrics
from growth.kube.transport import connect
from tests.kube.listening import kubeconfig, listening
from webhooks.sources import PoolCache

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from webhooks.pools import AdmissionPools

END = {"k8s.io/initial-events-end": "true"}
GOOD = {"serverTypes": [{"name": "cx23", "max": 10}], "placement": "Require"}


class Teller:
    """An API server that tells of pools what a test says, from the first list on."""

    def __init__(self) -> None:
        self._version = 10
        self._lines: asyncio.Queue[bytes] = asyncio.Queue()

    def tell(self, kind: str, name: str, spec: dict[str, Any] | None = None) -> None:
        self._version += 1
        metadata: dict[str, Any] = {
            "name": name,
            "uid": f"uid-{name}",
            "resourceVersion": str(self._version),
        }
        if kind == "BOOKMARK":
            metadata["annotations"] = END
        pool = {"apiVersion": "growth.dev/v1alpha1", "kind": "NodePool", "metadata": metadata}
        event = {"type": kind, "object": {**pool, "spec": spec or {}}}
        self._lines.put_nowait(json.dumps(event).encode() + b"\n")

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        while True:
            await response.write(await self._lines.get())


@contextlib.asynccontextmanager
async def following(teller: Teller, folder: Path) -> AsyncIterator[PoolCache]:
    pools = PoolCache()
    async with listening(teller.answer) as place:
        (folder / "kubeconfig").write_text(kubeconfig(place))
        async with await connect(kubeconfig=folder / "kubeconfig") as connection:
            metrics = CacheMetrics(CollectorRegistry())
            task = asyncio.create_task(pools.follow(connection, metrics=metrics))
            try:
                yield pools
            finally:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)


async def until(cache: PoolCache, *, known: set[str], unreadable: set[str]) -> AdmissionPools:
    async with asyncio.timeout(20):
        while True:
            pools = cache.now()
            if pools and (set(pools.by_name), set(pools.unreadable)) == (known, unreadable):
                return pools
            await asyncio.sleep(0.005)


async def test_pools_are_unknown_until_all_of_them_are_known(tmp_path: Path) -> None:
    teller = Teller()
    async with following(teller, tmp_path) as cache:
        teller.tell("ADDED", "default", GOOD)
        for _ in range(20):
            await asyncio.sleep(0.005)
            assert cache.now() is None

        teller.tell("BOOKMARK", "")

        await until(cache, known={"default"}, unreadable=set())


async def test_a_cluster_without_pools_is_known_to_have_none(tmp_path: Path) -> None:
    teller = Teller()
    teller.tell("BOOKMARK", "")
    async with following(teller, tmp_path) as cache:
        await until(cache, known=set(), unreadable=set())


async def test_a_pool_in_a_strange_form_is_known_to_be_there(tmp_path: Path) -> None:
    teller = Teller()
    teller.tell("ADDED", "default", GOOD)
    teller.tell("ADDED", "strange", {"serverTypes": "all of them"})
    teller.tell("BOOKMARK", "")
    async with following(teller, tmp_path) as cache:
        await until(cache, known={"default"}, unreadable={"strange"})

        teller.tell("ADDED", "stranger", {"placement": "Perhaps"})
        pools = await until(cache, known={"default"}, unreadable={"strange", "stranger"})
        assert "stranger" in pools

        teller.tell("MODIFIED", "strange", GOOD)
        teller.tell("DELETED", "stranger")
        await until(cache, known={"default", "strange"}, unreadable=set())


@pytest.mark.parametrize("gone", ["default", "gpu"])
async def test_a_pool_that_is_deleted_is_forgotten(gone: str, tmp_path: Path) -> None:
    teller = Teller()
    for name in ("default", "gpu"):
        teller.tell("ADDED", name, GOOD)
    teller.tell("BOOKMARK", "")
    async with following(teller, tmp_path) as cache:
        await until(cache, known={"default", "gpu"}, unreadable=set())

        teller.tell("DELETED", gone)

        await until(cache, known={"default", "gpu"} - {gone}, unreadable=set())
