"""One policy, one recorded day in the simulated world."""

from __future__ import annotations

import json
import time
from datetime import timedelta
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from benchmarks import manifests
from benchmarks.scaledown_virtual import Virtual
from reconciler.core.measured import Measurements
from reconciler.core.timing import Timing
from reconciler.seeing.measured import longest_window, with_reading
from reconciler.simulation.server import START

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.traced import TracedPod

STEP: Final = 60.0
"""Seconds between two looks at the cluster."""
SEARCHES_EVERY: Final = 300.0
"""Seconds between two searches for cheaper nodes, which take most of the time."""
MOST: Final = 1_000
SCALING: Final[dict[str, dict[str, Any]]] = {
    "Demand": {"policy": "Demand"},
    "Utilisation": {
        "policy": "Utilisation",
        "utilisation": {"minNodes": 1, "maxNodes": MOST, "scaleOnStarve": True},
    },
    "Desired": {
        "policy": "Desired",
        "desired": {
            "minNodes": 1,
            "maxNodes": MOST,
            "desiredNodes": 1,
            "preferredInstanceType": "cx53",
        },
    },
}


class Day(NamedTuple):
    """What a policy made of it."""

    mean_nodes: float
    most_nodes: int
    paid: float
    waits: Sequence[float]
    """Seconds that each pod waited for its node."""
    left: int
    """Pods that wait at the end."""
    moved: int
    seconds: float
    """Of processor time."""


def offered(types: Sequence[str], scaling: dict[str, Any]) -> list[dict[str, Any]]:
    """The node class and the pool, with these types and this policy."""
    node_class, pool = manifests.class_and_pool("hetzner", seed=0)
    known = [each for each in node_class["spec"]["types"] if each["name"] in types]
    node_class["spec"] |= {"types": known, "bootDelay": {"min": "40s", "max": "60s"}}
    pool["spec"]["serverTypes"] = [{"name": name, "max": MOST} for name in types]
    return [node_class, {**pool, "spec": pool["spec"] | ({"scaling": scaling} if scaling else {})}]


class SharedUse:
    """What the nodes use, as metrics.k8s.io would say it: a share of what their pods request."""

    def __init__(self, percent: int) -> None:
        self._percent = percent
        self.known = Measurements()

    def read(self, world: Virtual) -> None:
        """One reading of all nodes."""
        wall = START + timedelta(seconds=world.now)
        stamp = wall.isoformat().replace("+00:00", "Z")
        self.known = with_reading(
            self.known,
            list(self._figures(world, stamp)),
            world.objects,
            now=wall.timestamp(),
            window=longest_window([world.pool]),
        )

    def _figures(self, world: Virtual, stamp: str) -> Iterator[bytes]:
        for name, requests in world.requested().items():
            usage = {
                "cpu": f"{requests['cpu'] * self._percent // 100}m",
                "memory": str(requests["memory"] * self._percent // 100),
            }
            entry = {"metadata": {"name": name}, "timestamp": stamp, "usage": usage}
            yield json.dumps(entry).encode()


def day_played(
    pods: Sequence[TracedPod], *, policy: str, types: Sequence[str], until: float, use: int
) -> Day:
    """The pods come and go, minute by minute."""
    began = time.process_time()
    used = SharedUse(use)
    node_class, pool = offered(types, SCALING[policy])
    timing = Timing(searches_every=SEARCHES_EVERY)
    world = Virtual(node_class, pool, ranks=True, timing=timing, measured=lambda: used.known)
    changes, counts, paid, start = _changes(pods, until), [], 0.0, world.now
    upcoming = next(changes, None)
    while (now := world.now - start) < until:
        while upcoming is not None and upcoming[0] <= now:
            _, number, pod = upcoming
            requests = pod.size.requests
            world.want(manifests.deployment(pod.name, replicas=1, requests=requests), number)
            upcoming = next(changes, None)
        used.read(world)
        counts.append(len(world.nodes))
        paid += world.cost * STEP / 3600
        world.passes(STEP)
    return Day(
        mean_nodes=sum(counts) / len(counts),
        most_nodes=max(counts),
        paid=paid,
        waits=[wait for _, wait in world.waits()],
        left=world.waiting,
        moved=world.moved,
        seconds=time.process_time() - began,
    )


def _changes(pods: Sequence[TracedPod], until: float) -> Iterator[tuple[float, int, TracedPod]]:
    """When pods begin (1) and end (0), in order of time; ends come first."""
    begins = [(pod.begins, 1, pod) for pod in pods]
    ends = [(pod.ends, 0, pod) for pod in pods if pod.ends < until]
    return iter(sorted([*ends, *begins], key=itemgetter(0)))
