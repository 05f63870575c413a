"""Two books over one real control plane: they agree, and losing one of them loses no pod."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from prometheus_client import CollectorRegistry

from growth.kube.cache.metrics import CacheMetrics
from growth.kube.cache.reflector import Reflector
from growth.kube.cache.resource import WatchedResource
from growth.kube.transport import connect
from growth.scheduling.objects import Pod, decode_pod
from reconciler.seeing.demand_stream import StreamSource
from reconciler.seeing.moment import now
from tests.demand.test_demand_stream import Reader
from tests.extender.live import extending
from tests.live import IN_TIME

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path

    from benchmarks.extender_live import Extender
    from tests.live import LiveCluster

pytestmark = pytest.mark.cluster

TOO_LARGE = {"cpu": "1000"}


@pytest.fixture
def extender(cluster: LiveCluster, tmp_path: Path) -> Iterator[Extender]:
    with extending(cluster, tmp_path / "log") as extender:
        yield extender


def job(name: str, *, pods: int) -> dict[str, Any]:
    """Pods of one owner that fit nowhere."""
    container = {"name": "main", "image": "none", "resources": {"requests": TOO_LARGE}}
    template = {"spec": {"containers": [container], "restartPolicy": "Never"}}
    spec = {"completions": pods, "parallelism": pods, "template": template}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": spec}


@asynccontextmanager
async def reconciling(cluster: LiveCluster, extender: Extender) -> AsyncIterator[Reader]:
    """A reader of the stream with a watch of its own, as the reconciler has it."""
    reader = Reader(StreamSource(url=f"http://{extender.demand}"))
    connection = await connect(kubeconfig=cluster.kubeconfig, process="test")
    async with connection:
        watch = Reflector[Pod](
            server=connection,
            resource=WatchedResource(path="/api/v1/pods", decode=decode_pod),
            metrics=CacheMetrics(CollectorRegistry()),
            chance=Random(1),
            changed=partial(reader.demand.take, "pods"),
        )
        tasks = [asyncio.create_task(each) for each in (watch.run(), reader.stream.run())]
        try:
            yield reader
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(IN_TIME):
        while not condition():  # noqa: ASYNC110 - what others do is asked of them as it is
            await asyncio.sleep(0.02)


async def test_pods_are_demand_once_whether_the_extender_is_there_dies_or_returns(
    cluster: LiveCluster, namespace: str, extender: Extender
) -> None:
    create = partial(asyncio.to_thread, cluster.create, namespace=namespace)
    async with reconciling(cluster, extender) as reader:

        def demanded() -> set[str]:
            entries = reader.demand.at(now()).entries.items()
            return {uid for uid, entry in entries if entry.namespace == namespace}

        await create(job("first", pods=20))
        await until(lambda: reader.is_whole and len(demanded()) == 20)

        await asyncio.to_thread(extender.kill)
        await create(job("second", pods=20))
        await until(lambda: not reader.is_whole and len(demanded()) == 40)

        await asyncio.to_thread(extender.start)
        await create(job("third", pods=5))
        await until(lambda: reader.is_whole and len(demanded()) == 45)
        theirs = await asyncio.to_thread(extender.entries, namespace)
        assert {each["uid"] for each in theirs} <= demanded()

        await asyncio.to_thread(
            cluster.kubectl, "delete", "jobs", "--all", "--namespace", namespace, "--wait=false"
        )
        await until(lambda: not demanded())
