"""How many pods a second two schedulers of one cluster place: with the extender and without it.

They take turns, so what else this machine does meets both. All pods are there before a scheduler
starts: otherwise the speed of creating them would be measured. The client limits of both are raised
alike, as the stanza of `growth scheduler-config` has it.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Final

from benchmarks.extender_live import TEST_LABEL, Extender, extending, is_ready, node, replicas
from benchmarks.watched_pods import pod_events
from growth.cli.scheduler_configuration import Reach, extended
from growth.errors import GiveUp
from growth.kube.transport import connect
from kwok import growing
from kwok.configuration import DEFAULT_SCHEDULER
from kwok.schedulers import scheduling

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from kwok.clusters import Cluster


GOAL: Final = 0.8
NAMESPACE: Final = "benchmark"
CPU: Final = "10m"
GROUP: Final = "throughput"
PATIENCE: Final = 120.0


def compare(cluster: Cluster, *, pods: int, nodes: int, runs: int) -> float:
    """Measures both in turns, prints both sides, and gives the ratio of the medians."""
    with (
        extending(cluster.kubeconfig, cluster.folder / "extender.log") as extender,
        _nodes(cluster, nodes),
    ):
        found = _in_turns(cluster, _configurations(extender), pods=pods, runs=runs)
    medians = {name: statistics.median(rates) for name, rates in found.items()}
    print(f"{pods} pods on {nodes} nodes, {runs} runs each in turns, pods a second:")
    for name, rates in found.items():
        spread = ", ".join(f"{rate:.0f}" for rate in rates)
        print(f"  {name:10} median {medians[name]:6.0f}   of {spread}")
    ratio = medians["asking"] / medians["alone"]
    print(f"  with the extender / without it: {ratio:.2f}   goal {GOAL}")
    return ratio


def _configurations(extender: Extender) -> Mapping[str, str]:
    asking = extended(DEFAULT_SCHEDULER, Reach(url=f"http://{extender.verbs}"))
    return {"asking": asking, "alone": DEFAULT_SCHEDULER}


def _in_turns(
    cluster: Cluster, configurations: Mapping[str, str], *, pods: int, runs: int
) -> Mapping[str, list[float]]:
    found: dict[str, list[float]] = {name: [] for name in configurations}
    for turn in range(runs):
        # Each goes first every other time.
        names = list(configurations)
        order = names if turn % 2 else names[::-1]
        for name in order:
            with _waiting(cluster, scheduler=name, count=pods):
                seconds = asyncio.run(_placing(cluster, name, configurations[name], count=pods))
            found[name].append((pods - 1) / seconds)
    return found


@contextmanager
def _nodes(cluster: Cluster, count: int) -> Iterator[None]:
    listed = [node(f"{GROUP}-{number}", group=GROUP) for number in range(count)]
    _create(cluster, *listed)

    def ready() -> int:
        words = ("get", "nodes", "-l", f"{TEST_LABEL}={GROUP}", "-o", "json")
        return sum(map(is_ready, json.loads(growing.kubectl(cluster, *words))["items"]))

    _wait(lambda: ready() == count)
    try:
        yield
    finally:
        growing.kubectl(cluster, "delete", "nodes", "-l", f"{TEST_LABEL}={GROUP}")


@contextmanager
def _waiting(cluster: Cluster, *, scheduler: str, count: int) -> Iterator[None]:
    """So many pods that wait for a scheduler of this name; gone afterwards."""
    _create(cluster, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    _wait(lambda: _exists(cluster, "serviceaccount", "default"))
    named = ("-n", NAMESPACE)
    many = replicas("many", count=count, scheduler=scheduler, cpu=CPU, group=GROUP)
    _create(cluster, many, namespace=NAMESPACE)
    status = ("get", "replicaset", "many", *named, "-o", "jsonpath={.status.replicas}")
    _wait(lambda: growing.kubectl(cluster, *status) == str(count))
    try:
        yield
    finally:
        growing.kubectl(cluster, "delete", "namespace", NAMESPACE, f"--timeout={PATIENCE:.0f}s")


async def _placing(cluster: Cluster, name: str, configuration: str, *, count: int) -> float:
    """Seconds from the first binding to the last, as a watch shows them."""
    watching = asyncio.Event()
    moments: list[float] = []
    async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as tasks:
        watch = _watch_bindings(cluster.kubeconfig, count, moments=moments, watching=watching)
        done = tasks.create_task(watch)
        await watching.wait()
        # Its start is waited for beside the watch, which must miss no moment.
        with ExitStack() as running:
            scheduler = scheduling(cluster.kubeconfig, name=name, configuration=configuration)
            await asyncio.to_thread(running.enter_context, scheduler)
            await done
    return moments[-1] - moments[0]


async def _watch_bindings(
    kubeconfig: Path, count: int, *, moments: list[float], watching: asyncio.Event
) -> None:
    bound: set[str] = set()
    async with await connect(kubeconfig=kubeconfig, process="benchmark") as connection:
        async for moment, pod in pod_events(connection, NAMESPACE, watching=watching.set):
            if pod.spec.node_name and pod.metadata.uid not in bound:
                bound.add(pod.metadata.uid)
                moments.append(moment)
                if len(bound) == count:
                    return


def _create(cluster: Cluster, *objects: dict[str, Any], namespace: str = "default") -> None:
    listed = {"apiVersion": "v1", "kind": "List", "items": objects}
    growing.kubectl(cluster, "-n", namespace, "create", "-f", "-", given=json.dumps(listed))


def _exists(cluster: Cluster, kind: str, name: str) -> bool:
    words = ("get", kind, name, "-n", NAMESPACE, "--ignore-not-found", "-o", "name")
    return bool(growing.kubectl(cluster, *words))


def _wait(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not done():
        if time.monotonic() > deadline:
            raise GiveUp(f"the cluster is not as it should be after {PATIENCE:.0f} s")
        time.sleep(0.1)
