"""How long it takes to make a World, and to run all rules over it, in a large cluster.

The caches' own views get generated objects, as the reflectors would pass them; then the real loop
decides. All pending pods have a machine on its way, so nothing is solved: this measures the cost of
every pass, whatever it is about.
"""

from __future__ import annotations

import json
import statistics
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from growth.api.kinds import KINDS
from growth.api.noderecord import NodeRecord
from growth.api.noderequest import NodeRequest
from growth.instant import Instant
from growth.keeping.believing import recorded_annotations, recorded_labels
from growth.kube.cache.contents import Change, ChangeKind
from growth.kube.cache.health import CacheHealth
from growth.kube.cache.resource import key_of
from growth.scheduling.node import Node
from growth.scheduling.pod import Pod
from reconciler.brakes.rule import BrakesLedger
from reconciler.core.timing import Timing
from reconciler.core.world import Replies
from reconciler.ledger import Ledger
from reconciler.loop import decide
from reconciler.seeing.demand import KnownDemand
from reconciler.seeing.indexes import Views
from reconciler.seeing.sources import BUILT_IN
from reconciler.simulation import catalogue
from reconciler.simulation.chance import Chance

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Sequence

    from reconciler.core.world import World

GOAL_WORLD: Final = 2.0
GOAL_PASS: Final = 20.0
"""Milliseconds, for 10,000 pods and 1,000 nodes."""
NOW: Final = Instant(1000.0, datetime(2026, 1, 1, tzinfo=UTC))
HEALTHY: Final = CacheHealth(is_complete=True, listed_at=0.0, lists=1)
ACTING: Final = BrakesLedger(whole_since=0.0, clear_since=0.0, may_act=True, may_remove=True)


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Milliseconds: the median and the maximum."""

    what: str
    median: float
    slowest: float
    goal: float


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options."""
    parser.add_argument("--pods", type=int, default=10_000)
    parser.add_argument("--nodes", type=int, default=1_000)
    parser.add_argument("--pending", type=int, default=500, help="pods without a node")
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("-o", "--output", choices=("text", "json"), default="text")


def run(arguments: argparse.Namespace) -> int:
    """Measure and print."""
    pods = _pods(arguments.pods, nodes=arguments.nodes, pending=arguments.pending)
    records = [_record(number) for number in range(arguments.nodes)]
    nodes = [recorded_node(record) for record in records]
    requests = [_request(pod) for pod in pods if not pod.spec.node_name]
    known = Known(Views(), KnownDemand(lambda: NOW))
    known.feed("pods", pods)
    known.feed("nodes", nodes)
    known.feed(NodeRecord.__name__, records)
    known.feed(NodeRequest.__name__, requests)
    known.feed("KwokNodeClass", [catalogue.node_class()])
    known.feed("NodePool", catalogue.pools(Chance(1, "pools")))
    measured = list(_measured(known, pods, rounds=arguments.rounds))
    if arguments.output == "json":
        print(json.dumps([vars(each) for each in measured]))
    else:
        print(f"{len(pods)} pods, {len(nodes)} nodes, {len(requests)} requests in progress")
        for each in measured:
            print(
                f"  {each.what:34} median {each.median:7.3f} ms   maximum {each.slowest:7.3f} ms"
                f"   goal {each.goal:g} ms"
            )
    return 0


class Known(NamedTuple):
    """What follows the caches."""

    views: Views
    demand: KnownDemand

    def feed(self, kind: str, objects: Iterable[Any]) -> None:
        """These objects exist from now on."""
        self.take(kind, [Change(ChangeKind.ADDED, key_of(each), None, each) for each in objects])

    def take(self, kind: str, changes: Sequence[Change[Any]]) -> None:
        """A cache has changed."""
        self.views.take(kind, changes)
        self.demand.take(kind, changes)

    def world(self) -> World:
        """What a pass sees."""
        kinds = [*BUILT_IN, *KINDS]
        return self.views.world(
            Ledger(brakes=ACTING),
            demand=self.demand.at(NOW),
            replies=Replies(),
            clouds={},
            busy=frozenset(),
            sources=dict.fromkeys(kinds, HEALTHY),
            timing=Timing(),
            seed=1,
        )


def _measured(known: Known, pods: list[Pod], *, rounds: int) -> Iterable[Measured]:
    bound = next(pod for pod in pods if pod.spec.node_name)
    again = Change(ChangeKind.MODIFIED, key_of(bound), bound, bound)
    world = known.world()

    def after_a_change() -> None:
        known.take("pods", (again,))
        known.world()

    yield _timed("a pod's event and a World", after_a_change, rounds=rounds, goal=GOAL_WORLD)
    yield _timed("a World without changes", known.world, rounds=rounds, goal=GOAL_WORLD)
    yield _timed("a pass of all rules", Passes(world), rounds=rounds, goal=GOAL_PASS)


class Passes:
    """Passes over the same World, a second apart; each counts the pools again."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._number = 0
        self()

    def __call__(self) -> None:
        """The next one."""
        self._number += 1
        span = timedelta(seconds=self._number)
        now = Instant(NOW.monotonic + self._number, NOW.wall + span)
        ledger = decide(self._world, now).ledger
        self._world = msgspec.structs.replace(self._world, ledger=ledger)


def _timed(what: str, work: Callable[[], object], *, rounds: int, goal: float) -> Measured:
    taken = []
    for _ in range(rounds):
        # CPU time, because other programs on the machine don't matter.
        began = time.process_time()
        work()
        taken.append((time.process_time() - began) * 1000)
    return Measured(what=what, median=statistics.median(taken), slowest=max(taken), goal=goal)


def _pods(number: int, *, nodes: int, pending: int) -> list[Pod]:
    return [
        _pod(index, node="" if index < pending else f"default-{index % nodes}")
        for index in range(number)
    ]


def _pod(index: int, *, node: str) -> Pod:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    resources = {"requests": {"cpu": "500m", "memory": "512Mi"}}
    document = {
        "metadata": {"name": f"p-{index}", "namespace": "work", "uid": f"pod-{index}"},
        "spec": {"nodeName": node, "containers": [{"name": "main", "resources": resources}]},
        "status": {"conditions": [] if node else [condition]},
    }
    return msgspec.convert(document, Pod)


def recorded_node(record: NodeRecord) -> Node:
    """A node as growth leaves it."""
    amounts = {"cpu": "8", "memory": "16Gi", "pods": "110"}
    document = {
        "metadata": {
            "name": record.name,
            "uid": f"node-{record.name}",
            "labels": recorded_labels(record),
            "annotations": recorded_annotations(record),
        },
        "status": {
            "capacity": amounts,
            "allocatable": amounts,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }
    return msgspec.convert(document, Node)


def _record(number: int) -> NodeRecord:
    name = f"default-{number}"
    return NodeRecord.model_validate(
        {
            "metadata": {"name": name, "uid": f"record-{name}"},
            "spec": {
                "pool": "default",
                "nodeClassRef": {"kind": "KwokNodeClass", "name": "default"},
                "serverType": "large",
                "location": "here",
                "price": "0.1",
                "nodeID": f"kwok://{name}",
                "requestUID": f"request-{name}",
                "boughtAt": NOW.wall,
            },
            "status": {"node": {"name": name, "uid": f"node-{name}"}},
        }
    )


def _request(pod: Pod) -> NodeRequest:
    metadata = pod.metadata
    reference = {"namespace": metadata.namespace, "name": metadata.name, "uid": metadata.uid}
    document = {
        "metadata": {"name": f"default-for-{metadata.name}", "uid": f"request-{metadata.name}"},
        "spec": {
            "pool": "default",
            "targetOffering": "kwok-large",
            "serverType": "large",
            "location": "here",
            "price": "0.034",
            "pods": [reference],
        },
        "status": {"phase": "Provisioning"},
    }
    return NodeRequest.model_validate(document)
