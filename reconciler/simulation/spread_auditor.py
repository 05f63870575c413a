"""Checks each plan when it is read: could the scheduler bind its pods without exceeding a skew?

A plan is judged in the world that it was asked in, with every promise of that moment kept:
nominated pods are on their machines, and machines on their way have joined. There its pods are
bound one after another, in any order in which the scheduler accepts each of them. A pod that is
left over was planned against its spread. Pods may only be bound elsewhere later, so this is checked
before. Promises made since don't count: while the solver works, a pod of the question may get a
place of its own, and would count twice.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from growth.scheduling.spread import is_domain, judged_by, like_by_domain
from reconciler.facts.requested import all_requests
from reconciler.planning.asking import LANE
from reconciler.planning.capacity import ground
from reconciler.planning.demand import announced
from reconciler.planning.seats import kept_seats
from reconciler.simulation.pod_traits import HOST
from reconciler.solver import Plan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from growth.instant import Instant
    from growth.scheduling.cluster import Cluster
    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod
    from growth.scheduling.spread_constraints import SpreadConstraint
    from reconciler.core.world import World
    from reconciler.planning.ledger import AskedProblem, PlanningLedger
    from reconciler.planning.problem import PlanningProblem

SPREAD: Final = "a plan keeps the spread of its pods"
PROCESSES: Final = 2
"""As many live at the same time: one that leads, and one that doesn't know that it doesn't."""


class _Moment(NamedTuple):
    """A pass, before anything was decided."""

    world: World
    now: Instant


class _Asked(NamedTuple):
    """A question, and the pass that asked it."""

    number: int
    at: _Moment
    planning: PlanningLedger
    """What that pass left behind: it may have promised places before it asked."""


@dataclass
class _Process:
    """What is known of one process."""

    last: _Moment | None = None
    asked: _Asked | None = None
    judged: int = 0
    """The number of the last plan that was judged."""


@dataclass
class SpreadAuditor:
    """Looks at each pass of each process before it decides."""

    breach: Callable[[str, str], None]
    _processes: dict[str, _Process] = field(default_factory=dict)

    def decides(self, process: str, world: World, now: Instant) -> None:
        """Judge the plan that has come, if there is one."""
        known = self._processes.setdefault(process, _Process())
        asked = world.ledger.planning.asked
        if asked is not None:
            self._follow(known, asked, world)
        known.last = _Moment(world, now)
        if len(self._processes) > PROCESSES:
            del self._processes[next(iter(self._processes))]

    def _follow(self, known: _Process, asked: AskedProblem, world: World) -> None:
        # The question was asked in the last pass, so that is the world that the plan is for.
        if known.last is not None and (known.asked is None or known.asked.number != asked.number):
            known.asked = _Asked(asked.number, known.last, world.ledger.planning)
        solved = world.plans.get(LANE)
        is_answered = solved is not None and solved.number == asked.number
        if solved is None or not is_answered or known.asked is None:
            return
        if isinstance(solved.plan, Plan) and known.judged != asked.number:
            known.judged = asked.number
            self._judge(asked.question, solved.plan, known.asked)

    def _judge(self, question: PlanningProblem, plan: Plan, asked: _Asked) -> None:
        places = list(_places(question, plan, asked.at.world))
        if any(pod.spread_constraints for pod, _ in places):
            for pod, node in against_spread(places, _promised(asked)):
                self.breach(SPREAD, f"{pod.name} on {node.name}")


class Place(NamedTuple):
    """A pod and the node that a plan has for it."""

    pod: Pod
    node: Node


def against_spread(places: list[Place], cluster: Cluster) -> list[Place]:
    """The places that are left when the others are bound in any order that the scheduler allows."""
    nodes = {**cluster.nodes, **{place.node.name: place.node for place in places}}
    counts = _Counts(msgspec.structs.replace(cluster, nodes=nodes))
    # The others may be bound at any time, and could only be in the way of these.
    left = deque(sorted(places, key=lambda place: not place.pod.spread_constraints))
    refused = 0
    while left and refused < len(left):
        place = left.popleft()
        if counts.allow(place):
            counts.bind(place)
            refused = 0
        else:
            left.append(place)
            refused += 1
    return list(left)


class _Counts:
    """The matching pods in each domain of each constraint, while pods are bound."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._known: dict[tuple[object, ...], tuple[Pod, SpreadConstraint, dict[str, int]]] = {}
        self._bound: list[Place] = []

    def allow(self, place: Place) -> bool:
        """Whether the scheduler would bind this pod next."""
        return all(self._keeps(place, each) for each in place.pod.spread_constraints)

    def bind(self, place: Place) -> None:
        """The pod is there from now on."""
        self._bound.append(place)
        for like, constraint, counts in self._known.values():
            _count(place, like, constraint, counts)

    def _keeps(self, place: Place, constraint: SpreadConstraint) -> bool:
        counts = self._of(place.pod, constraint)
        domain = place.node.labels.get(constraint.topology_key)
        if domain is None:
            return False
        least = min(counts.values()) if len(counts) >= constraint.min_domains else 0
        own = constraint.selector.matches(place.pod.metadata.labels)
        return counts.get(domain, 0) + own - least <= constraint.max_skew

    def _of(self, pod: Pod, constraint: SpreadConstraint) -> dict[str, int]:
        key = judged_by(pod, constraint)
        if key not in self._known:
            counts = dict(like_by_domain(pod, constraint, self._cluster))
            for place in self._bound:
                _count(place, pod, constraint, counts)
            self._known[key] = pod, constraint, counts
        return self._known[key][2]


def _count(place: Place, like: Pod, constraint: SpreadConstraint, counts: dict[str, int]) -> None:
    is_near = place.pod.metadata.namespace == like.metadata.namespace
    is_meant = constraint.selector.matches(place.pod.metadata.labels)
    if is_near and is_meant and is_domain(like, constraint, place.node):
        counts[place.node.labels[constraint.topology_key]] += 1


def _promised(asked: _Asked) -> Cluster:
    """The cluster at that moment, when everything promised has come true."""
    (world, now), planning = asked.at, asked.planning
    world = world.remembering(replace(world.ledger, planning=planning))
    requests, nominated = all_requests(world), planning.nominated
    coming = announced(world, nominated, now)
    seats = kept_seats(coming, world, requests, nominated, now)
    return ground(world, requests, nominated, planning.shelf.items, held=seats.held).cluster


def _places(question: PlanningProblem, plan: Plan, world: World) -> Iterator[Place]:
    queues = {
        name: deque(pod for uid in uids if (pod := world.pending.get(uid)) is not None)
        for name, uids in question.pods.items()
    }
    for name, coming in question.announced.items():
        alike = queues.setdefault(name, deque())
        for each in coming:
            alike.extend([each.like] * each.number)
    for number, planned in enumerate(plan.nodes):
        spot = question.spots.get(planned.offer)
        node = _bought(question, planned.offer, number) if spot is None else spot.node
        for name, count in planned.pods.items():
            queue = queues.get(name, deque())
            for _ in range(min(count, len(queue))):
                yield Place(queue.popleft(), node)


def _bought(question: PlanningProblem, offer: str, number: int) -> Node:
    node, name = question.offers[offer].node, f"bought-{number}"
    metadata = msgspec.structs.replace(node.metadata, name=name, labels={**node.labels, HOST: name})
    return msgspec.structs.replace(node, metadata=metadata)
