"""How many pods per second two schedulers of one cluster place: with and without the extender.

They take turns, so other load on the machine affects both. All pods exist before a scheduler
starts; otherwise the speed of creating them would be measured. The client limits of both are raised
equally, as in the output of `growth scheduler-config`.

Besides the rates, the CPU time of each program is reported: if API server, scheduler and extender
share a few CPUs, all of them wait for it. The extender follows the cluster in both kinds of runs,
so the difference is the cost of the calls.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from benchmarks.extender_live import TEST_LABEL, Extender, extending, is_ready, node, replicas
from benchmarks.processor_time import used_by
from benchmarks.watched_pods import pod_events
from growth.cli.scheduler_config.configuration import Reach, extended
from growth.errors import GiveUp
from growth.kube.transport import connect
from kwok import growing
from kwok.configuration import DEFAULT_SCHEDULER
from kwok.schedulers import scheduling

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from kwok.clusters import LocalCluster
    from kwok.schedulers import RunningScheduler

    Scheduling = Callable[[], AbstractContextManager[RunningScheduler]]


GOAL: Final = 0.8
ASKING: Final = "asking"
ALONE: Final = "alone"
TOGETHER: Final = "together"
EXTENDER: Final = "extender"
TALKING: Final = ("kube-scheduler", EXTENDER)
NAMESPACE: Final = "benchmark"
CPU: Final = "10m"
GROUP: Final = "throughput"
PATIENCE: Final = 120.0


@dataclass(frozen=True)
class Run:
    """From the first binding to the last."""

    pods: int
    seconds: float
    used: Mapping[str, float]
    """CPU seconds, by program."""

    @property
    def rate(self) -> float:
        """Pods per second."""
        return self.pods / self.seconds

    @property
    def cost(self) -> Mapping[str, float]:
        """Milliseconds of CPU time per pod, by program and in total."""
        each = {name: seconds / self.pods * 1e3 for name, seconds in self.used.items()}
        return {**each, TOGETHER: sum(each.values())}


class Kept(NamedTuple):
    """The remaining throughput with the extender."""

    rate: float
    """The ratio of the rates: what was observed."""
    processor: float
    """The ratio of the CPU times: what would be observed if CPU were the only limit."""


def compare(cluster: LocalCluster, *, pods: int, nodes: int, runs: int) -> Kept:
    """Measure both in turns, print both results, and return the ratios of the medians."""
    with (
        extending(cluster.kubeconfig, cluster.folder / "extender.log") as extender,
        _nodes(cluster, nodes),
    ):
        found = _in_turns(cluster, extender, pods=pods, runs=runs)
    print(f"{pods} pods on {nodes} nodes, {runs} alternating runs each, pods per second:")
    for name, each in found.items():
        spread = ", ".join(f"{run.rate:.0f}" for run in each)
        print(f"  {name:10} median {_median_rate(each):6.0f}   of {spread}")
    rate = _median_rate(found[ASKING]) / _median_rate(found[ALONE])
    print(f"  with the extender / without: {rate:.2f}   goal {GOAL}")
    processor = _compare_costs(_median_costs(found[ASKING]), _median_costs(found[ALONE]))
    return Kept(rate, processor)


def _median_rate(runs: Iterable[Run]) -> float:
    return statistics.median(run.rate for run in runs)


def _median_costs(runs: Iterable[Run]) -> Mapping[str, float]:
    costs = [run.cost for run in runs]
    return {name: statistics.median(cost[name] for cost in costs) for name in costs[0]}


def _compare_costs(asking: Mapping[str, float], alone: Mapping[str, float]) -> float:
    """The other programs do the same work per pod in both; differences there are noise."""
    print(f"{'ms of CPU time per pod':30}{ASKING:>8}{ALONE:>8}")
    for name in asking:
        print(f"  {name:28}{asking[name]:8.2f}{alone[name]:8.2f}")
    more = sum(asking[name] - alone[name] for name in TALKING)
    ratio = alone[TOGETHER] / (alone[TOGETHER] + more)
    print(f"  the calls cost scheduler and extender {more:.2f} of {alone[TOGETHER]:.2f} ms:")
    print(f"  if CPU is the only limit, {ratio:.2f} of the throughput remains")
    return ratio


def _configurations(extender: Extender) -> Mapping[str, str]:
    asking = extended(DEFAULT_SCHEDULER, Reach(url=f"http://{extender.verbs}"))
    return {ASKING: asking, ALONE: DEFAULT_SCHEDULER}


def _in_turns(
    cluster: LocalCluster, extender: Extender, *, pods: int, runs: int
) -> Mapping[str, list[Run]]:
    configurations = _configurations(extender)
    found: dict[str, list[Run]] = {name: [] for name in configurations}
    for turn in range(runs):
        # Each one starts every second round.
        names = list(configurations)
        order = names if turn % 2 else names[::-1]
        for name in order:
            started = partial(
                scheduling, cluster.kubeconfig, name=name, configuration=configurations[name]
            )
            used = partial(used_by, cluster.folder, **{EXTENDER: extender.pid})
            with _waiting(cluster, scheduler=name, count=pods):
                run = _placing(cluster.kubeconfig, pods, scheduling=started, used=used)
                found[name].append(asyncio.run(run))
    return found


@contextmanager
def _nodes(cluster: LocalCluster, count: int) -> Iterator[None]:
    listed = [node(f"{GROUP}-{number}", group=GROUP) for number in range(count)]
    _create(cluster, *listed)

    def ready() -> int:
        words = ("get", "nodes", "-l", f"{TEST_LABEL}={GROUP}", "-o", "json")
        return sum(map(is_ready, json.loads(growing.run_kubectl(cluster, *words))["items"]))

    _wait(lambda: ready() == count)
    try:
        yield
    finally:
        growing.run_kubectl(cluster, "delete", "nodes", "-l", f"{TEST_LABEL}={GROUP}")


@contextmanager
def _waiting(cluster: LocalCluster, *, scheduler: str, count: int) -> Iterator[None]:
    """Pods that wait for a scheduler with this name; deleted afterwards."""
    _create(cluster, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    _wait(lambda: _exists(cluster, "serviceaccount", "default"))
    named = ("-n", NAMESPACE)
    many = replicas("many", count=count, scheduler=scheduler, cpu=CPU, group=GROUP)
    _create(cluster, many, namespace=NAMESPACE)
    status = ("get", "replicaset", "many", *named, "-o", "jsonpath={.status.replicas}")
    _wait(lambda: growing.run_kubectl(cluster, *status) == str(count))
    try:
        yield
    finally:
        growing.run_kubectl(cluster, "delete", "namespace", NAMESPACE, f"--timeout={PATIENCE:.0f}s")


async def _placing(
    kubeconfig: Path, count: int, *, scheduling: Scheduling, used: Callable[[], Mapping[str, float]]
) -> Run:
    """All pods are bound, according to a watch."""
    watching = asyncio.Event()
    async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as tasks:
        watch = _watch_bindings(kubeconfig, count, used=used, watching=watching)
        done = tasks.create_task(watch)
        await watching.wait()
        # Wait for its start while watching, so that the watch misses nothing.
        with ExitStack() as running:
            await asyncio.to_thread(running.enter_context, scheduling())
            return await done


async def _watch_bindings(
    kubeconfig: Path,
    count: int,
    *,
    used: Callable[[], Mapping[str, float]],
    watching: asyncio.Event,
) -> Run:
    bound: set[str] = set()
    began, before = 0.0, used()
    async with await connect(kubeconfig=kubeconfig, process="benchmark") as connection:
        async for moment, pod in pod_events(connection, NAMESPACE, watching=watching.set):
            if pod.spec.node_name:
                if not bound:
                    began, before = moment, used()
                bound.add(pod.metadata.uid)
            if len(bound) == count:
                spent = {name: after - before.get(name, 0.0) for name, after in used().items()}
                return Run(count - 1, moment - began, spent)
    raise GiveUp("the watch ended")


def _create(cluster: LocalCluster, *objects: dict[str, Any], namespace: str = "default") -> None:
    listed = {"apiVersion": "v1", "kind": "List", "items": objects}
    growing.run_kubectl(cluster, "-n", namespace, "create", "-f", "-", given=json.dumps(listed))


def _exists(cluster: LocalCluster, kind: str, name: str) -> bool:
    words = ("get", kind, name, "-n", NAMESPACE, "--ignore-not-found", "-o", "name")
    return bool(growing.run_kubectl(cluster, *words))


def _wait(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not done():
        if time.monotonic() > deadline:
            raise GiveUp(f"the cluster isn't in the expected state after {PATIENCE:.0f} s")
        time.sleep(0.1)
