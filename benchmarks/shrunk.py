"""Clusters of which most pods have gone: bought at the best price once, too large by now."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from benchmarks.workloads import catalogue, workload
from reconciler.solver import Effort, Offer, PodClass, Problem, Renewal, Standing
from reconciler.solver.solving import solve

if TYPE_CHECKING:
    from reconciler.solver import Plan

SAMPLE = 1500
"""Pods that a first plan is made for, to see how many of them a node holds."""


def shrunk(
    *, prices: str, pods: str, nodes: int, left: float, eviction: float, seed: int
) -> Renewal:
    """About so many nodes, of whose pods a share is left, and what may be done with them.

    `eviction` is what moving a pod costs, in shares of what a pod costs on average beforehand.
    """
    problem, plan = _bought(prices, pods, nodes, seed)
    chance = random.Random(f"shrunk {seed}")
    price = round(plan.cost / sum(pod.count for pod in problem.classes) * eviction)
    offers = {offer.name: offer for offer in problem.offers}
    classes = {pod.name: pod for pod in problem.classes}
    standing, rooms, counts = [], [], Counter[str]()
    for number, node in enumerate(plan.nodes):
        held = Counter(
            name for name, n in node.pods.items() for _ in range(n) if chance.random() < left
        )
        offer = offers[node.offer]
        name = f"node-{number:05}"
        rooms.append(_room(name, offer, held, classes))
        standing.append(
            Standing(
                offer=name,
                price=offer.price,
                holds=dict(held),
                disturbance=price * held.total(),
                group="default",
            )
        )
        counts.update(held)
    return Renewal(
        problem=replace(
            problem,
            offers=(*problem.offers, *rooms),
            classes=tuple(
                replace(
                    pod,
                    count=counts[pod.name],
                    offers=pod.offers | {room.name for room in rooms if room.type in pod.offers},
                )
                for pod in problem.classes
                if counts[pod.name]
            ),
        ),
        standing=tuple(standing),
    )


def _bought(prices: str, pods: str, nodes: int, seed: int) -> tuple[Problem, Plan]:
    """A workload for which about so many nodes are the cheapest, with that plan."""
    offers = catalogue(prices, seed)

    def solved(count: int) -> tuple[Problem, Plan]:
        problem = workload(
            offers=offers, pods=pods, constraints="on", classes=60, count=count, seed=seed
        )
        return problem, solve(problem, Effort.QUICK)

    per_node = SAMPLE / len(solved(SAMPLE)[1].nodes)
    guess = max(60, round(per_node * nodes))
    return solved(max(60, guess * nodes // len(solved(guess)[1].nodes)))


def _room(name: str, offer: Offer, held: Counter[str], classes: dict[str, PodClass]) -> Offer:
    """A node as what is free on it; its type is the offer that it was bought as."""
    used = [
        sum(classes[each].requests[r] * n for each, n in held.items())
        for r in range(len(offer.capacity))
    ]
    return Offer(
        name=name,
        type=offer.name,
        location=offer.location,
        labels=offer.labels,
        capacity=tuple(whole - part for whole, part in zip(offer.capacity, used, strict=True)),
        exists=True,
    )
