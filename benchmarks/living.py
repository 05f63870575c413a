"""Clusters that live: the pods of a workload wait in a cluster that has nodes, pods and rules.

`with_nodes` adds existing nodes, from empty to full. `with_rules` adds what a cluster has besides:
several pools of different weights, limits, a minimum, and groups of which some pods run already.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

from reconciler.solver.model.problem import (
    HOSTNAME,
    Apart,
    Group,
    Limit,
    Minimum,
    Offer,
    PodClass,
    Problem,
    SpreadRule,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

PODS_FOR_A_NODE = 30
"""There is one existing node for so many waiting pods."""
LARGEST = 16_000
"""The most CPU of an existing node, so that about half of the pods need a new one."""
GROUPED = 8
"""Every so many classes, one has to be spread."""
ONLY_OTHERS = 0.1
"""The share of nodes on which a class may not run, for whatever reason."""


def with_nodes(problem: Problem, seed: int) -> Problem:
    """The problem with existing nodes of every fill, one for every thirty pods."""
    chance = random.Random(f"nodes {seed}")
    count = sum(pod.count for pod in problem.classes) // PODS_FOR_A_NODE
    usual = [offer for offer in problem.offers if offer.capacity[0] <= LARGEST]
    kinds = {f"there-{number:04}": chance.choice(usual) for number in range(count)}
    nodes = tuple(_node(name, kind, chance) for name, kind in kinds.items())
    return replace(
        problem,
        offers=(*problem.offers, *nodes),
        classes=tuple(_also_on(pod, kinds.items(), chance) for pod in problem.classes),
    )


def _node(name: str, kind: Offer, chance: random.Random) -> Offer:
    fill = chance.choice((0.0, chance.random(), chance.random(), 0.98))
    left = tuple(int(amount * (1 - fill * chance.uniform(0.7, 1.0))) for amount in kind.capacity)
    return replace(kind, name=name, capacity=left, price=0, most=1, exists=True)


def _also_on(pod: PodClass, kinds: Iterable[tuple[str, Offer]], chance: random.Random) -> PodClass:
    also = {
        name for name, kind in kinds if kind.name in pod.offers and chance.random() >= ONLY_OTHERS
    }
    return replace(pod, offers=pod.offers | also)


def with_rules(problem: Problem, seed: int) -> Problem:
    """The problem with two pools, limits, a minimum and groups."""
    chance = random.Random(f"rules {seed}")
    new = [offer for offer in problem.offers if not offer.exists]
    first = {offer.name for offer in new if offer.labels["arch"] == "arm64"}
    pods = sum(pod.count for pod in problem.classes)
    return replace(
        problem,
        offers=tuple(
            replace(offer, weight=10) if offer.name in first else offer for offer in problem.offers
        ),
        # The limits are far enough away to place all pods: a bound says little about the others.
        limits=(
            Limit(name="first", amounts=dict.fromkeys(sorted(first), 1), most=pods // 10),
            Limit(name="nodes", amounts={offer.name: 1 for offer in new}, most=pods),
        ),
        minima=(Minimum(name="warm", offers=frozenset(offer.name for offer in new), count=3),),
        groups=tuple(_groups(problem, chance)),
    )


def _groups(problem: Problem, chance: random.Random) -> Iterable[Group]:
    there = [offer for offer in problem.offers if offer.exists]
    zones = sorted({offer.labels["zone"] for offer in problem.offers})
    for number, pod in enumerate(problem.classes):
        members = frozenset({pod.name})
        running = {offer.name: chance.randint(0, 2) for offer in there if offer.name in pod.offers}
        rule = number % (GROUPED * 3)
        if rule == 0:
            by_zone = {zone: pod.count // len(zones) for zone in zones}
            yield SpreadRule(
                name=pod.name, key="zone", members=members, max_skew=1, running=by_zone
            )
        elif rule == GROUPED:
            yield SpreadRule(
                name=pod.name, key=HOSTNAME, members=members, max_skew=2, running=running
            )
        elif rule == 2 * GROUPED:
            yield Apart(name=pod.name, key=HOSTNAME, members=members, most=3, running=running)
