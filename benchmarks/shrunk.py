"""Clusters of which most pods have ended: bought at the best price, and now too large."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from benchmarks.workloads import catalogue, workload
from reconciler.solver import Effort, Offer, PodClass, Problem, RenewableNode, Renewal
from reconciler.solver.packing.solving import solve

if TYPE_CHECKING:
    from reconciler.solver import Plan

SAMPLE = 1500
"""Pods of a first plan, to see how many of them a node holds."""


def shrunk(
    *, prices: str, pods: str, count: int, left: float, eviction: float, seed: int
) -> Renewal:
    """A cluster that was bought for this many pods, of which a share is left, with what may go.

    `eviction` is the cost of moving a pod, in shares of what a pod cost on average before.
    """
    problem, plan = _bought(prices, pods, count, seed)
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
            RenewableNode(
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


def pods_for(nodes: int, *, prices: str, pods: str, seed: int) -> int:
    """How many pods make a cluster of about this many nodes."""
    per_node = SAMPLE / len(_bought(prices, pods, SAMPLE, seed)[1].nodes)
    guess = max(60, round(per_node * nodes))
    return max(60, guess * nodes // len(_bought(prices, pods, guess, seed)[1].nodes))


def _bought(prices: str, pods: str, count: int, seed: int) -> tuple[Problem, Plan]:
    """A workload, and the nodes that a quick plan buys for it."""
    problem = workload(
        offers=catalogue(prices, seed),
        pods=pods,
        constraints="on",
        classes=min(60, count),
        count=count,
        seed=seed,
    )
    return problem, solve(problem, Effort.QUICK)


def _room(name: str, offer: Offer, held: Counter[str], classes: dict[str, PodClass]) -> Offer:
    """A node as its free room; its type is the offer that it was bought from."""
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
