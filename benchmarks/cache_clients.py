"""The clients that are compared, each in a separate process.

The measurement begins when the client is imported and connected, and ends when it has all pods. The
plain client is used as in its documentation, with Python's default garbage collection.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry

from benchmarks.cache_pods import NAMESPACE
from benchmarks.memory import megabytes
from growth.kube.cache.metrics import CacheMetrics
from growth.kube.cache.reflector import Reflector
from growth.kube.cache.resource import Index, WatchedResource
from growth.kube.transport import connect
from growth.scheduling.objects import Pod, decode_pod

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

PATH = f"/api/v1/namespaces/{NAMESPACE}/pods"
RELISTS = 5

PODS: WatchedResource[Pod] = WatchedResource(
    path=PATH,
    decode=decode_pod,
    indexes=(
        Index("node", lambda pod: (pod.spec.node_name,)),
        Index("owner", lambda pod: [owner.uid for owner in pod.metadata.owner_references]),
        Index("pending", lambda pod: () if pod.spec.node_name else (pod.status.phase,)),
        Index("pool", lambda pod: (pod.spec.node_selector.get("growth.dev/pool", "default"),)),
    ),
)

Figures = dict[str, float]


async def reflector(kubeconfig: Path, _: int) -> Figures:
    """Ours."""
    async with await connect(kubeconfig=kubeconfig, process="benchmark") as connection:
        await connection.request("GET", "/version")
        cache = Reflector(
            server=connection,
            resource=PODS,
            metrics=CacheMetrics(CollectorRegistry()),
            chance=Random(1),
        )
        running: list[asyncio.Task[Any]] = []

        async def sync() -> object:
            running.append(asyncio.create_task(cache.run()))
            await cache.synced()
            return cache

        figures = await measured(sync)
        beats = [await _blocked_by_a_relist(cache) for _ in range(RELISTS)]
        running[0].cancel()
        return {
            **figures,
            "pods": float(len(cache.store)),
            "blocked": max(wall for wall, _ in beats),
            "blocked_cpu": max(cpu for _, cpu in beats),
        }


async def models(kubeconfig: Path, _: int) -> Figures:
    """The plain client's list, as models."""
    from kubernetes.aio import client, config  # noqa: PLC0415 - ours runs without its models

    await config.load_kube_config(config_file=str(kubeconfig))  # type: ignore[no-untyped-call]
    async with client.ApiClient() as api:
        pods = client.CoreV1Api(api)
        await pods.list_namespaced_pod(NAMESPACE, limit=1)

        async def sync() -> object:
            found = await pods.list_namespaced_pod(NAMESPACE)
            return {pod.metadata.uid: pod for pod in found.items if pod.metadata}

        return await measured(sync)


async def watch(kubeconfig: Path, count: int) -> Figures:
    """The plain client's watch, as models."""
    from kubernetes.aio import client, config  # noqa: PLC0415 - ours runs without its models
    from kubernetes.aio import watch as watching  # noqa: PLC0415 - same

    await config.load_kube_config(config_file=str(kubeconfig))  # type: ignore[no-untyped-call]
    async with client.ApiClient() as api:
        pods = client.CoreV1Api(api)
        await pods.list_namespaced_pod(NAMESPACE, limit=1)

        async def sync() -> object:
            held: dict[str, Any] = {}
            async with watching.Watch().stream(  # type: ignore[no-untyped-call]
                pods.list_namespaced_pod, NAMESPACE, resource_version="0"
            ) as events:
                async for event in events:
                    pod = event["object"]
                    held[pod.metadata.uid] = pod
                    if len(held) == count:
                        break
            return held

        return await measured(sync)


CLIENTS: dict[str, Callable[[Path, int], Awaitable[Figures]]] = {
    "reflector": reflector,
    "models": models,
    "watch": watch,
}


async def measured(sync: Callable[[], Awaitable[object]]) -> Figures:
    """CPU and wall time, and memory above what the process had before: maximum, and kept."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # noqa: ASYNC240 - nothing else runs yet
    before, cpu, wall = megabytes("VmRSS"), time.process_time(), time.perf_counter()
    kept = await sync()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    peak = megabytes("VmHWM")
    gc.collect()
    held = megabytes("VmRSS")
    del kept
    return {
        "cpu": cpu,
        "wall": wall,
        "peak": peak - before,
        "held": held - before,
        "process": peak,
    }


async def _blocked_by_a_relist(cache: Reflector[Pod]) -> tuple[float, float]:
    """The longest time between two turns of the loop, in real time and in CPU time."""
    lists = cache.health.lists
    worst_wall = worst_cpu = 0.0
    cache.relist()
    while cache.health.lists == lists:
        wall, cpu = time.perf_counter(), time.process_time()
        await asyncio.sleep(0)
        worst_wall = max(worst_wall, time.perf_counter() - wall)
        worst_cpu = max(worst_cpu, time.process_time() - cpu)
    return worst_wall, worst_cpu


if __name__ == "__main__":
    name, path, pods = sys.argv[1:]
    print(json.dumps(asyncio.run(CLIENTS[name](Path(path), int(pods)))))  # type: ignore[arg-type]
