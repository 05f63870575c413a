"""Tests a plan by placing its pods the way a scheduler would that doesn't know the plan.

growth doesn't bind pods. A plan that fills every node completely may not work in practice: the
scheduler takes one pod at a time and picks the emptiest node, or the fullest one if growth's
extender ranks them, and the last pod may find no room. It would be demand again, and growth would
buy back what it saved. So the pods of the old nodes are placed as the scheduler does it, and a plan
that leaves one over isn't carried out unchanged.
"""

from __future__ import annotations

import heapq
from dataclasses import replace
from enum import Enum
from random import Random
from typing import TYPE_CHECKING, assert_never

import msgspec

from growth.scheduling.resources import CPU, MEMORY
from reconciler.solver import HOSTNAME, Near, PlannedNode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reconciler.planning.problem import PlanningProblem
    from reconciler.solver import Offer, Plan, PodClass, Problem

SCORED = (CPU, MEMORY)
"""The resources by which the scheduler finds the emptiest node."""


ORDERS = 3
"""How many random orders a plan has to pass, as pods are recreated in an unknown order."""


class Preference(Enum):
    """Which of the nodes that hold it a pod gets."""

    EMPTIEST = "the emptiest"
    FULLEST = "the fullest"


class NodeRoom(msgspec.Struct, kw_only=True):
    """A node with what is left of it."""

    offer: str
    left: list[int]
    whole: list[int]
    """Its total of each scored resource; 0 for the others."""

    def rank(self, preference: Preference) -> float:
        """The node with the lowest rank gets the pod.

        The scheduler prefers the emptiest node by all scored resources, growth's extender the
        fullest by the scarcest one.
        """
        shares = [1 - have / all_ for have, all_ in zip(self.left, self.whole, strict=True) if all_]
        match preference:
            case Preference.EMPTIEST:
                return sum(shares) / max(1, len(shares))
            case Preference.FULLEST:
                return -max(shares, default=0.0)
            case _:
                assert_never(preference)

    def holds(self, pod: PodClass) -> bool:
        """Whether the pod fits."""
        return self.offer in pod.offers and all(
            asked <= have for asked, have in zip(pod.requests, self.left, strict=True)
        )

    def take(self, pod: PodClass) -> None:
        """Places the pod here."""
        self.left = [have - asked for asked, have in zip(pod.requests, self.left, strict=True)]


def left_over(question: PlanningProblem, plan: Plan, preference: Preference) -> dict[str, int]:
    """The pods of each class that find no room in the worst order, if the plan isn't followed."""
    worst: dict[str, int] = {}
    # Fixed seeds: the same world has to be judged the same way each time.
    for order in range(ORDERS):
        for name, count in _once(question, plan, preference, Random(order)).items():  # noqa: S311 - orders, not secrets
            worst[name] = max(count, worst.get(name, 0))
    return worst


def _once(
    question: PlanningProblem, plan: Plan, preference: Preference, chance: Random
) -> dict[str, int]:
    rooms = _Rooms(question, plan, preference)
    # A follower is bound once an anchor is, so those without one are tried again after the others.
    waiting = _queue(question, chance)
    missing: dict[str, int] = {}
    while waiting:
        left = [pod for pod in waiting if not rooms.placed(pod)]
        is_over = len(left) == len(waiting)
        waiting = [] if is_over else [pod for pod in left if rooms.company.needs(pod)]
        for pod in left if is_over else (pod for pod in left if not rooms.company.needs(pod)):
            missing[pod.name] = missing.get(pod.name, 0) + 1
    return missing


class _Rooms:
    """All nodes with room, the preferred one first."""

    def __init__(self, question: PlanningProblem, plan: Plan, preference: Preference) -> None:
        self._preference = preference
        known = list(_rooms(question, plan))
        self._heap = [(room.rank(preference), n, room) for n, room in enumerate(known)]
        heapq.heapify(self._heap)
        self._least = [min(amounts) for amounts in zip(*_requests(question), strict=True)]
        self.company = _PlacedAnchors(question.problem)

    def placed(self, pod: PodClass) -> bool:
        """Place a pod on the first node that takes it, if there is one."""
        tried = []
        found = False
        while self._heap and not found:
            _, number, room = heapq.heappop(self._heap)
            found = room.holds(pod) and self.company.admits(pod, room, number)
            if found:
                room.take(pod)
                self.company.note(pod, room, number)
            tried.append((room.rank(self._preference), number, room))
        for each in tried:
            # A node that is full even for the smallest pod isn't looked at again.
            if all(need <= have for need, have in zip(self._least, each[2].left, strict=True)):
                heapq.heappush(self._heap, each)
        return found


class _PlacedAnchors:
    """Where the anchors of followers are."""

    def __init__(self, problem: Problem) -> None:
        self._groups = [group for group in problem.groups if isinstance(group, Near)]
        self._labels = {offer.name: offer.labels for offer in problem.offers}
        self._open = {group.name: set(group.running) for group in self._groups}

    def needs(self, pod: PodClass) -> bool:
        """Whether the pod must be near another one."""
        return any(pod.name in group.members for group in self._groups)

    def admits(self, pod: PodClass, room: NodeRoom, number: int) -> bool:
        """Whether the pod finds an anchor on the node, or in its domain."""
        return all(
            self._domain(group, room, number) in self._open[group.name]
            for group in self._groups
            if pod.name in group.members
        )

    def note(self, pod: PodClass, room: NodeRoom, number: int) -> None:
        """Remember a pod that was placed."""
        for group in self._groups:
            if pod.name in group.anchors:
                self._open[group.name].add(self._domain(group, room, number))

    def _domain(self, group: Near, room: NodeRoom, number: int) -> str:
        if group.key == HOSTNAME:
            return room.offer if room.offer in group.running else f"node {number}"
        return self._labels[room.offer].get(group.key, "")


def _requests(question: PlanningProblem) -> list[tuple[int, ...]]:
    return [pod.requests for pod in question.problem.classes]


def _queue(question: PlanningProblem, chance: Random) -> list[PodClass]:
    """All pods by priority, and in random order within a priority."""
    pods = [pod for pod in question.problem.classes for _ in range(pod.count)]
    chance.shuffle(pods)
    return sorted(pods, key=lambda pod: -pod.priority)


def _rooms(question: PlanningProblem, plan: Plan) -> Iterator[NodeRoom]:
    """The existing nodes, and those that the plan buys."""
    problem = question.problem
    offers = {offer.name: offer for offer in problem.offers}
    bought = [node.offer for node in plan.nodes if node.offer not in question.spots]
    for name in (*question.spots, *bought):
        node = question.spots[name].node if name in question.spots else question.offers[name].node
        if name in offers:
            yield NodeRoom(
                offer=name,
                left=list(offers[name].capacity),
                whole=[
                    node.allocatable[resource] if resource in SCORED else 0
                    for resource in problem.resources
                ],
            )


def with_slack(question: PlanningProblem, plan: Plan, preference: Preference) -> Plan | None:
    """The plan with one more machine, approximately the cheapest that is enough.

    What a cheaper machine can do, a more expensive one usually can too, so this is a binary search.
    """
    known = _by_price(question, left_over(question, plan, preference))
    found, first, last = None, 0, len(known) - 1
    while first <= last:
        middle = (first + last) // 2
        more = _with(plan, known[middle])
        if left_over(question, more, preference):
            first = middle + 1
        else:
            found, last = more, middle - 1
    return found


def _by_price(question: PlanningProblem, missing: Mapping[str, int]) -> list[Offer]:
    """Offers that hold the largest pod left over, without those that cost more for less room."""
    classes = [pod for pod in question.problem.classes if pod.name in missing]
    best: dict[tuple[int, ...], Offer] = {}
    for offer in sorted(question.problem.offers, key=lambda offer: (offer.price, offer.name)):
        fits = not offer.exists and all(
            offer.name in pod.offers
            and all(need <= have for need, have in zip(pod.requests, offer.capacity, strict=True))
            for pod in classes
        )
        if fits and not any(_covers(size, offer.capacity) for size in best):
            best[offer.capacity] = offer
    return list(best.values())


def _covers(size: tuple[int, ...], other: tuple[int, ...]) -> bool:
    return all(have >= asked for have, asked in zip(size, other, strict=True))


def _with(plan: Plan, offer: Offer) -> Plan:
    # No pods are assigned to it: the scheduler decides which pods run there.
    more = PlannedNode(offer=offer.name, pods={}, price=offer.price)
    return replace(plan, nodes=(*plan.nodes, more), cost=plan.cost + offer.price)
