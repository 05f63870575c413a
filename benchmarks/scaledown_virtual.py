"""The drop of the load in the simulated world: the decisions, and then half an hour.

A busy machine makes nothing slower there, and production's own waits take no time. Once the cluster
has settled, its load stays the same, so any further change is a mistake.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec
import structlog

from benchmarks import manifests, scaledown_stage
from benchmarks.offline import plan_of
from benchmarks.scaledown_drop import disruption, kept, smaller
from benchmarks.scaledown_ranking import Ranking
from benchmarks.scaledown_stage import load
from growth.api.deletion_cost import PodDeletionCost
from growth.api.kwoknodeclass import KwokNodeClass
from growth.api.nodepool import NodePool
from growth.errors import GiveUp
from growth.scheduling.metadata import Metadata
from growth.scheduling.objects import Namespace, Pod
from growth.scheduling.resources import NOTHING
from reconciler.core.measured import Measurements
from reconciler.simulation.cloud import SimulatedJoining
from reconciler.simulation.living import Living
from reconciler.simulation.preferences import preferred_node
from reconciler.simulation.process import TIMING, Parts
from reconciler.simulation.replicas import SimulatedWorkload
from reconciler.simulation.story import Story

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from growth.api.noderequest import NodeRequest
    from growth.scheduling.node import Node
    from growth.scheduling.resources import Resources
    from reconciler.core.actions import Evict
    from reconciler.core.timing import Timing
    from reconciler.effects.eviction import EvictionRefusal
    from reconciler.simulation.server import StoredChange

_CALM: Final = Story(seed=1, minutes=600.0, faults=(), workloads=0)
_BEGINS: Final = 15.0
"""Seconds until the process acts."""
_BOUND: Final = 120.0
_LOOKS: Final = (0, 30, 60, 90, 120, 180, 300, 600)
_NAMESPACE: Final = "default"


class Virtual:
    """One pool in a simulated world, and what changes in it."""

    def __init__(
        self,
        node_class: dict[str, Any],
        pool: dict[str, Any],
        *,
        ranks: bool,
        timing: Timing = TIMING,
        measured: Callable[[], Measurements] = Measurements,
        deletion_cost: PodDeletionCost = PodDeletionCost.UNTOUCHED,
    ) -> None:
        self._living = living = Living(
            _CALM,
            SimulatedJoining.AT_ONCE,
            parts=Parts(
                is_steered=ranks, timing=timing, measured=measured, deletion_cost=deletion_cost
            ),
            prefer=Ranking(self._known_requests) if ranks else preferred_node,
        )
        self._server = server = living.server
        self._owners: dict[str, SimulatedWorkload] = {}
        self.prices: dict[str, float] = {}
        self._evict, server.evict = server.evict, self._evicting
        self.moved = 0
        self.changes: list[float] = []
        """When nodes came and went, and pods were evicted."""
        server.create("KwokNodeClass", KwokNodeClass.model_validate(node_class))
        server.create("NodePool", NodePool.model_validate(pool))
        server.create("namespaces", Namespace(Metadata(name=_NAMESPACE)))
        self._pods: dict[str, tuple[float, float | None]] = {}
        """When each pod was created, and how long it waited for its node."""
        server.kind("pods").heard_by.append(self._pod_changed)
        server.kind("nodes").heard_by.append(self._node_changed)
        server.kind("NodeRequest").heard_by.append(self._request_changed)
        living.lives.begin()

    @property
    def now(self) -> float:
        """The current virtual second."""
        return self._living.timeline.now

    def passes(self, seconds: float) -> None:
        """Let time pass."""
        self._living.timeline.run(self.now + seconds)
        breach = self._living.auditor.found
        if breach is not None:
            raise GiveUp(f"the simulated world breached: {breach.rule}: {breach.text}")

    def begin(self, wanted: Iterable[dict[str, Any]]) -> None:
        """The process acts, and all wanted pods exist and have had their nodes for a while."""
        self.passes(_BEGINS)
        for each in wanted:
            self.want(each, each["spec"]["replicas"])
        self.passes(_BOUND)

    def want(self, deployment: dict[str, Any], replicas: int) -> None:
        """Scale a deployment to this many pods."""
        name = deployment["metadata"]["name"]
        owner = self._owners.setdefault(name, _owner(deployment))
        self._living.replicas.want(owner, replicas)

    @property
    def nodes(self) -> list[str]:
        """The names of all nodes."""
        return [each.metadata.name for each in self._server.kind("nodes").objects.values()]

    @property
    def cost(self) -> float:
        """The cost of all nodes per hour."""
        return sum(self.prices[name] for name in self.nodes)

    @property
    def waiting(self) -> int:
        """Pods without a node."""
        pods = self._server.kind("pods").objects.values()
        return sum(not pod.spec.node_name for pod in pods)

    @property
    def objects(self) -> Mapping[str, Node]:
        """All nodes by name."""
        nodes = self._server.kind("nodes").objects.values()
        return {node.name: node for node in nodes}

    def requested(self) -> Mapping[str, Resources]:
        """What the pods on each node request."""
        found = dict.fromkeys(self.nodes, NOTHING)
        for pod in self._server.kind("pods").objects.values():
            if pod.spec.node_name in found:
                found[pod.spec.node_name] += pod.requests
        return found

    @property
    def pool(self) -> NodePool:
        """The pool as it is now."""
        (found,) = self._server.kind("NodePool").objects.values()
        return cast("NodePool", found)

    def waits(self) -> list[tuple[float, float]]:
        """When each pod was created, and how long it waited for its node, or is still waiting."""
        return [(at, self.now - at if wait is None else wait) for at, wait in self._pods.values()]

    def _pod_changed(self, event: StoredChange) -> None:
        made, wait = self._pods.get(event.key.name, (self.now, None))
        is_over = event.new is None or event.new.spec.node_name
        self._pods[event.key.name] = (made, self.now - made if wait is None and is_over else wait)

    def _known_requests(self) -> list[NodeRequest]:
        return list(self._server.kind("NodeRequest").objects.values())

    def _node_changed(self, event: StoredChange) -> None:
        if event.old is None or event.new is None:
            self.changes.append(self.now)

    def _request_changed(self, event: StoredChange) -> None:
        if event.new is not None:
            self.prices[event.new.name] = float(event.new.spec.price)

    def _evicting(self, asked: Evict) -> EvictionRefusal | None:
        refused = self._evict(asked)
        if refused is None:
            self.moved += 1
            self.changes.append(self.now)
        return refused


def _owner(deployment: dict[str, Any]) -> SimulatedWorkload:
    name, template = deployment["metadata"]["name"], deployment["spec"]["template"]
    pod = msgspec.convert({**template, "status": {"phase": "Pending"}}, Pod)
    return SimulatedWorkload(
        name=name, uid=f"owner-{name}", namespace=_NAMESPACE, template=pod, pods={}
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The duration; the other options are those of the drop."""
    parser.add_argument(
        "--minutes", type=float, default=30.0, metavar="M", help="virtual minutes of steady load"
    )
    parser.add_argument(
        "--without-extender",
        action="store_true",
        help="no extender ranks nodes in the simulated world",
    )


def measure(arguments: argparse.Namespace) -> None:
    """Buy, drop, settle, and stay settled."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    wanted = list(
        manifests.deployments(pods=arguments.pods, count=arguments.deployments, seed=arguments.seed)
    )
    _, node_class, pool = scaledown_stage.offered(arguments, **disruption(arguments))
    fewer = kept(scaledown_stage.replicas_of(wanted))
    plan, bound = plan_of([node_class, pool, *smaller(wanted, fewer)])
    began, before = time.process_time(), load()
    world = Virtual(
        node_class,
        pool,
        ranks=not arguments.without_extender,
        deletion_cost=arguments.pod_deletion_cost,
    )
    world.begin(wanted)
    print(
        f"{arguments.pods} pods on {len(world.nodes)} nodes at {world.cost:.4f} an hour drop to"
        f" {sum(fewer.values())}; the plan from scratch is {plan:.4f}, its bound {bound:.4f}"
    )
    since, moved = world.now, world.moved
    for each in wanted:
        world.want(each, fewer[each["metadata"]["name"]])
    print(f"  over virtual time: {', '.join(_course(world, plan))}", flush=True)
    last = max([since, *world.changes]) - since
    left, moved = sum(fewer.values()), world.moved - moved
    print(
        f"  {len(world.nodes)} nodes, cost / plan from scratch {world.cost / plan:.3f} x"
        f" (goal <= 1.10), / bound {world.cost / bound:.3f} x, last change after {last:.0f} s\n"
        f"  {moved} evictions, {moved / left:.2f} per remaining pod (goal <= 0.4);"
        f" {world.waiting} pods wait",
        flush=True,
    )
    changes = len(world.changes)
    world.passes(arguments.minutes * 60)
    print(
        f"  {arguments.minutes:.0f} minutes of steady load: {len(world.changes) - changes} changes"
        f" (goal 0); {time.process_time() - began:.0f} CPU seconds, load {before} to {load()}\n",
        flush=True,
    )


def _course(world: Virtual, plan: float) -> Iterator[str]:
    begun = world.now
    for seconds in _LOOKS:
        world.passes(begun + seconds - world.now)
        yield f"{seconds} s {world.cost / plan:.2f} x"
