"""A plan is rehearsed with a scheduler that doesn't know it.

We don't bind pods. A plan that fills every node to the brim is right on paper and wrong in life:
the scheduler takes one pod at a time and gives it the emptiest node, or the fullest one where our
extender ranks them, and whoever comes last may find only crumbs. Such a pod would be demand again,
and what was saved bought anew. So the pods of the old nodes are placed once as the scheduler does
it, and a plan in which one is left over isn't carried out as it is.
"""

from __future__ import annotations

import heapq
from dataclasses import replace
from enum import Enum
from random import Random
from typing import TYPE_CHECKING

import msgspec

from growth.scheduling.resources import CPU, MEMORY
from reconciler.solver import PlannedNode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reconciler.planning.question import Question
    from reconciler.solver import Plan, PodClass

SCORED = (CPU, MEMORY)
"""What the scheduler looks at when it looks for the emptiest node."""


ORDERS = 3
"""Nobody knows in which order pods are made anew: a plan has to bear some of them."""


class Preference(Enum):
    """Which of the nodes that hold it a pod gets; the value is the order of fullness."""

    EMPTIEST = 1
    FULLEST = -1


class Room(msgspec.Struct, kw_only=True):
    """A node with what is left of it."""

    offer: str
    left: list[int]
    whole: list[int]
    """What it has in all, where that is scored; else 0."""

    @property
    def fullness(self) -> float:
        """0 for an empty node, 1 for a full one."""
        shares = [1 - have / all_ for have, all_ in zip(self.left, self.whole, strict=True) if all_]
        return sum(shares) / len(shares) if shares else 0.0

    def holds(self, pod: PodClass) -> bool:
        """Whether the pod fits."""
        return self.offer in pod.offers and all(
            asked <= have for asked, have in zip(pod.requests, self.left, strict=True)
        )

    def take(self, pod: PodClass) -> None:
        """The pod is here from now on."""
        self.left = [have - asked for asked, have in zip(pod.requests, self.left, strict=True)]


def left_over(question: Question, plan: Plan, preference: Preference) -> dict[str, int]:
    """How many pods of each class find no room when nobody follows the plan, at the worst."""
    worst: dict[str, int] = {}
    for order in range(ORDERS):
        for name, count in _once(question, plan, preference, Random(order)).items():  # noqa: S311 - orders, not secrets
            worst[name] = max(count, worst.get(name, 0))
    return worst


def _once(question: Question, plan: Plan, preference: Preference, chance: Random) -> dict[str, int]:
    sign = preference.value
    rooms = [(sign * room.fullness, n, room) for n, room in enumerate(_rooms(question, plan))]
    heapq.heapify(rooms)
    missing: dict[str, int] = {}
    for pod in _queue(question, chance):
        tried = []
        while rooms:
            tried.append(heapq.heappop(rooms))
            _, number, room = tried[-1]
            if room.holds(pod):
                room.take(pod)
                tried[-1] = sign * room.fullness, number, room
                break
        else:
            missing[pod.name] = missing.get(pod.name, 0) + 1
        for each in tried:
            heapq.heappush(rooms, each)
    return missing


def _queue(question: Question, chance: Random) -> list[PodClass]:
    """All pods, the important ones first, else in an order that means nothing."""
    pods = [pod for pod in question.problem.classes for _ in range(pod.count)]
    chance.shuffle(pods)
    return sorted(pods, key=lambda pod: -pod.priority)


def _rooms(question: Question, plan: Plan) -> Iterator[Room]:
    """The nodes that are there, and those that the plan buys."""
    problem = question.problem
    offers = {offer.name: offer for offer in problem.offers}
    bought = [node.offer for node in plan.nodes if node.offer not in question.spots]
    for name in (*question.spots, *bought):
        node = question.spots[name].node if name in question.spots else question.offers[name].node
        if name in offers:
            yield Room(
                offer=name,
                left=list(offers[name].capacity),
                whole=[
                    node.allocatable[resource] if resource in SCORED else 0
                    for resource in problem.resources
                ],
            )


def with_slack(question: Question, plan: Plan, missing: Mapping[str, int]) -> Plan | None:
    """The plan with one more machine, the cheapest that holds all who would be left over."""
    classes = {pod.name: pod for pod in question.problem.classes}
    asked = [
        sum(count * classes[name].requests[place] for name, count in missing.items())
        for place in range(len(question.problem.resources))
    ]
    fitting = (
        offer
        for offer in question.problem.offers
        if not offer.exists
        and all(offer.name in classes[name].offers for name in missing)
        and all(need <= have for need, have in zip(asked, offer.capacity, strict=True))
    )
    best = min(fitting, key=lambda offer: (offer.price, offer.name), default=None)
    if best is None:
        return None
    # Nobody is named for it: who comes there is the scheduler's choice.
    more = PlannedNode(offer=best.name, pods={}, price=best.price)
    return replace(plan, nodes=(*plan.nodes, more), cost=plan.cost + best.price)
