"""Explains a plan: why a pod has no place, and what the next best type of a node would cost."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from reconciler.solver.model.hopeless import why_hopeless
from reconciler.solver.model.plan import (
    NextBest,
    PlannedNode,
    Unplaced,
    UnplacedCause,
    UnplacedReason,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from reconciler.solver.model.draft_node import DraftNode
    from reconciler.solver.model.lots import OfferArrays
    from reconciler.solver.model.problem import Limit, Offer, PodClass, Problem


NAMED: Final = 5
"""The number of limits that one text names."""


def unplaced_classes(
    problem: Problem, ground: OfferArrays, nodes: Sequence[DraftNode]
) -> tuple[Unplaced, ...]:
    """The classes with unplaced pods and the reason for each, the highest priority first."""
    placed: Counter[str] = Counter()
    for node in nodes:
        placed.update(node.pods)
    left = {pod.name: pod.count - placed[pod.name] for pod in problem.classes}
    if not any(left.values()):
        return ()
    market = _without_nodes(problem)
    result = []
    for pod in sorted(market.classes, key=lambda pod: (-pod.priority, pod.name)):
        if count := left[pod.name]:
            reason = why_hopeless(market, ground, pod) or _crowded_out(market, pod, nodes)
            result.append(
                Unplaced(pod_class=pod.name, count=count, priority=pod.priority, reason=reason)
            )
    return tuple(result)


def _without_nodes(problem: Problem) -> Problem:
    """The problem with only what can be bought: a full node doesn't explain an unplaced pod."""
    offers = tuple(offer for offer in problem.offers if not offer.exists)
    names = frozenset(offer.name for offer in offers)
    # Many classes share one set of offers, and intersecting large sets is slow.
    allowed = {each: each & names for each in {pod.offers for pod in problem.classes}}
    classes = tuple(replace(pod, offers=allowed[pod.offers]) for pod in problem.classes)
    return replace(problem, offers=offers, classes=classes)


def _crowded_out(problem: Problem, pod: PodClass, nodes: Sequence[DraftNode]) -> UnplacedReason:
    """Why a pod has no place although some offer is large enough for it."""
    # From the most certain cause to the vaguest: one that is used up, one limit that rules out all,
    # then a group, and only then limits that do so together.
    used = _used(problem.limits, nodes)
    counts = Counter(node.offer.name for node in nodes)
    fitting = [
        offer
        for offer in problem.offers
        if offer.name in pod.offers
        and all(amount <= room for amount, room in zip(pod.requests, offer.capacity, strict=True))
    ]
    free = [o for o in fitting if o.most is None or counts[o.name] < o.most]
    if not free:
        return _used_up(pod, fitting)
    for limit in problem.limits:
        if all(_is_beyond(limit, offer, used) for offer in free):
            least = min(limit.amounts[offer.name] for offer in free)
            return _limited(limit, used=used[limit.name], least=least)
    return _grouped(problem, pod) or _together(problem.limits, used, free)


def _is_beyond(limit: Limit, offer: Offer, used: Mapping[str, int]) -> bool:
    return limit.amounts.get(offer.name, 0) > limit.most - used[limit.name]


def _used(limits: Sequence[Limit], nodes: Sequence[DraftNode]) -> dict[str, int]:
    new = Counter(node.offer.name for node in nodes if not node.offer.exists)
    return {
        limit.name: sum(limit.amounts.get(name, 0) * times for name, times in new.items())
        for limit in limits
    }


def _used_up(pod: PodClass, fitting: Sequence[Offer]) -> UnplacedReason:
    offers = "the only offer" if len(fitting) == 1 else f"any of the {len(fitting)} offers"
    text = f"no more can be bought of {offers} that it fits on"
    names = tuple(offer.name for offer in fitting)
    return UnplacedReason(
        cause=UnplacedCause.COUNT, text=text, needed=pod.count, available=len(fitting), offers=names
    )


def _limited(limit: Limit, *, used: int, least: int) -> UnplacedReason:
    text = f"limit {limit.name} allows {limit.most}, {used} used; the smallest node needs {least}"
    available = max(0, limit.most - used)
    return UnplacedReason(
        cause=UnplacedCause.LIMIT, text=text, rule=limit.name, needed=least, available=available
    )


def _grouped(problem: Problem, pod: PodClass) -> UnplacedReason | None:
    names = sorted(group.name for group in problem.groups if pod.name in group.members)
    if not names:
        return None
    text = f"no place satisfies the rules of its group: {', '.join(names)}"
    return UnplacedReason(cause=UnplacedCause.GROUP, text=text, rule=names[0])


def _together(
    limits: Sequence[Limit], used: Mapping[str, int], free: Sequence[Offer]
) -> UnplacedReason:
    """No single limit rules out all suitable nodes, but each of them is ruled out by one."""
    reached = [limit for limit in limits if any(_is_beyond(limit, each, used) for each in free)]
    if all(any(_is_beyond(limit, each, used) for limit in reached) for each in free):
        names = "; ".join(limit.name for limit in reached[:NAMED])
        more = f" and {len(reached) - NAMED} more" if len(reached) > NAMED else ""
        text = f"limits rule out every node that fits: {names}{more}"
        return UnplacedReason(cause=UnplacedCause.LIMIT, text=text)
    return UnplacedReason(
        cause=UnplacedCause.LIMIT, text="no plan within the limits has room for it"
    )


def explained_nodes(
    problem: Problem, ground: OfferArrays, nodes: Sequence[DraftNode]
) -> tuple[PlannedNode, ...]:
    """The nodes in a stable order, each bought one with the price of the next best type."""
    classes = {pod.name: pod for pod in problem.classes}
    known: dict[tuple[object, ...], NextBest | None] = {}
    result = []
    for node in nodes:
        pods = dict(sorted(node.pods.items()))
        key = (node.offer.name, tuple(pods.items()))
        if key not in known:
            known[key] = None if node.offer.exists else _next_best(ground, classes, node)
        price = 0 if node.offer.exists else node.offer.price
        planned = PlannedNode(offer=node.offer.name, pods=pods, price=price, next_best=known[key])
        result.append(planned)
    return tuple(sorted(result, key=lambda node: (node.offer, tuple(node.pods.items()))))


def _next_best(
    ground: OfferArrays, classes: Mapping[str, PodClass], node: DraftNode
) -> NextBest | None:
    """The cheapest new node of another type that has room for the same pods."""
    total = np.zeros(ground.capacity.shape[1])
    for name, count in node.pods.items():
        total += count * np.array(classes[name].requests, dtype=np.float64)
    fits: NDArray[np.intp] = np.flatnonzero((ground.capacity >= total).all(axis=1))
    own = node.offer.type or node.offer.name
    best: NextBest | None = None
    for o in fits[np.argsort(ground.price[fits], kind="stable")].tolist():
        offer = ground.offers[o]
        is_comparable = not offer.exists and offer.currency == node.offer.currency
        other = is_comparable and (offer.type or offer.name) != own
        if other and all(offer.name in classes[name].offers for name in node.pods):
            best = NextBest(offer=offer.name, type=offer.type or offer.name, price=offer.price)
            break
    return best
