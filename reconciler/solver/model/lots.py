"""Classes become lots: rules about domains are settled here, so that packing needs no topology.

A lot is a number of equal units that are packed one by one. A unit is one pod, or the pods of a
group that must share a node. Rules about domains larger than a node are decided here: a class with
a spread is split into one lot per domain, and a group that stays together gets one domain. Rules
about single nodes stay with the lot, as a limit or as tokens, because packing keeps them exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from reconciler.solver.model.domain_stock import DomainStock
from reconciler.solver.model.problem import (
    HOSTNAME,
    Apart,
    Near,
    PodClass,
    Problem,
    SpreadRule,
    Together,
    preferred_offers,
)
from reconciler.solver.model.spreads import NOTHING_ASSUMED, PLAIN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from reconciler.solver.model.problem import Group, Offer
    from reconciler.solver.model.spreads import Assumptions

LARGEST = 2**53
"""Amounts are cut off here: floats hold integers exactly up to this, and no node has as much."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lot:
    """Equal units; `pods` lists the classes of one unit's pods, and how many of each."""

    pods: tuple[tuple[str, int], ...]
    count: int
    requests: tuple[int, ...]
    allowed: NDArray[np.bool_]
    priority: int
    per_node: int | None
    marks: frozenset[str]
    repels: frozenset[str]
    shares: tuple[tuple[str, int], ...] = ()
    """For each group with a limit per node, how many of its pods one unit holds."""
    bonds: tuple[str, ...] = ()
    """The groups whose rule isn't settled yet; a lot that is packed has none."""

    @property
    def key(self) -> tuple[object, ...]:
        """Lots with the same key are equal to all stages except the last, which names pods."""
        own = (self.requests, self.allowed.tobytes(), self.priority, self.per_node)
        return (
            *own,
            tuple(sorted(self.marks)),
            tuple(sorted(self.repels)),
            self.shares,
            self.bonds,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferArrays:
    """The offers as arrays, in the order of their names."""

    offers: tuple[Offer, ...]
    capacity: NDArray[np.float64]
    price: NDArray[np.int64]
    rows: dict[frozenset[str], NDArray[np.bool_]] = field(default_factory=dict)
    tops: dict[frozenset[str], list[tuple[float, int]]] = field(default_factory=dict)

    def allowed_to(self, names: frozenset[str]) -> NDArray[np.bool_]:
        """The named offers as a row of booleans, computed once for each set."""
        if names not in self.rows:
            self.rows[names] = np.array([one.name in names for one in self.offers], dtype=np.bool_)
        return self.rows[names]

    def largest(self, names: frozenset[str]) -> list[tuple[float, int]]:
        """For each resource, the largest amount of the named offers, and the offer that has it."""
        if names not in self.tops:
            allowed = np.flatnonzero(self.allowed_to(names))
            best = (
                [int(allowed[c.argmax()]) for c in self.capacity[allowed].T] if len(allowed) else []
            )
            self.tops[names] = [(float(self.capacity[o, r]), o) for r, o in enumerate(best)]
        return self.tops[names]

    def domains(self, key: str) -> list[str]:
        """The domain of each offer for a topology key; "" if the offer doesn't have that label."""
        if key == HOSTNAME:
            return [offer.name for offer in self.offers]
        return [offer.labels.get(key, "") for offer in self.offers]


def ground_of(problem: Problem) -> OfferArrays:
    """The offers of a problem, sorted, so that the order of the input doesn't matter."""
    offers = preferred_offers(problem.offers)
    # One less than for requests, so that a request that was cut off fits nowhere.
    clipped = [[min(amount, LARGEST - 1) for amount in offer.capacity] for offer in offers]
    capacity = np.array(clipped, dtype=np.float64).reshape(len(offers), len(problem.resources))
    price = np.array([0 if o.exists else o.price for o in offers], dtype=np.int64)
    return OfferArrays(offers=offers, capacity=capacity, price=price)


def plain_lots(problem: Problem, ground: OfferArrays) -> list[Lot]:
    """Each class as one lot, before any rule about domains."""
    return [_lot_of(pod, allowed) for pod, allowed in _allowed_rows(problem, ground)]


def relaxed_lots_of(
    problem: Problem, ground: OfferArrays, *, assumed: Assumptions = NOTHING_ASSUMED
) -> list[Lot]:
    """The same pods without any choice of a domain, so that their bound holds for all plans.

    `assumed` has the most pods that the emptiest node of each spread can have.
    """
    lots = plain_lots(problem, ground)
    for group in sorted(problem.groups, key=together_first):
        # Rules about single nodes are kept exactly by the table. All others become bonds, which
        # only the exact program (bound/prove.py) knows.
        by_node = not isinstance(group, Together | Near) and group.key == HOSTNAME
        if by_node:
            lots = [with_share(lot, group) for lot in lots]
        if not by_node or assumed.get(group.name, PLAIN).lowest:
            lots = [_with_bond(lot, group) for lot in lots]
    return [lot for lot in lots if lot.count]


def together_first(group: Group) -> tuple[int, str]:
    """Together comes first: what it restricts to one domain must be known before lots are split."""
    return (0 if isinstance(group, Together) else 1, group.name)


def _allowed_rows(
    problem: Problem, ground: OfferArrays
) -> list[tuple[PodClass, NDArray[np.bool_]]]:
    rows: dict[tuple[frozenset[str], frozenset[str], frozenset[str]], NDArray[np.bool_]] = {}
    result = []
    for pod in sorted(problem.classes, key=lambda pod: pod.name):
        key = (pod.offers, pod.marks, pod.repels)
        if key not in rows:
            rows[key] = np.array([_admits(offer, pod) for offer in ground.offers], dtype=np.bool_)
        result.append((pod, rows[key]))
    return result


def _admits(offer: Offer, pod: PodClass) -> bool:
    peaceful = not (offer.marks & pod.repels) and not (offer.repels & pod.marks)
    return offer.name in pod.offers and peaceful


def _lot_of(pod: PodClass, allowed: NDArray[np.bool_]) -> Lot:
    # A pod that repels its own mark (a host port, say) is a limit of one per node.
    alone = 1 if pod.marks & pod.repels else pod.per_node
    return Lot(
        pods=((pod.name, 1),),
        count=pod.count,
        requests=tuple(min(amount, LARGEST) for amount in pod.requests),
        allowed=allowed,
        priority=pod.priority,
        per_node=alone if pod.per_node is None or alone is None else min(alone, pod.per_node),
        marks=pod.marks,
        repels=pod.repels,
    )


def is_member(lot: Lot, members: frozenset[str]) -> bool:
    """Whether a unit of the lot holds a pod of these classes."""
    return any(name in members for name, _ in lot.pods)


def _weight(lot: Lot, members: frozenset[str]) -> int:
    """How many pods of a group one unit of a lot holds."""
    return sum(times for name, times in lot.pods if name in members)


def with_share(lot: Lot, group: Group) -> Lot:
    """The lot with the number of pods of the group that one unit holds."""
    weight = _weight(lot, group.members)
    return replace(lot, shares=(*lot.shares, (group.name, weight))) if weight else lot


def _with_bond(lot: Lot, group: Group) -> Lot:
    if is_member(lot, group.members):
        lot = replace(lot, bonds=(*lot.bonds, group.name))
    if isinstance(group, Near) and is_member(lot, group.anchors):
        lot = replace(lot, bonds=(*lot.bonds, anchor_bond(group)))
    return lot


def anchor_bond(group: Near) -> str:
    """The bond of the anchors of a group; the bond of its followers is the group's name."""
    return f"anchor of {group.name}"


def fits(lot: Lot, ground: OfferArrays) -> NDArray[np.bool_]:
    """The allowed offers that have room for one unit when nothing else is there."""
    roomy = np.asarray((ground.capacity >= np.array(lot.requests)).all(axis=1))
    return roomy & lot.allowed


def clash(one: Lot, other: Lot) -> bool:
    """Whether units of two lots may never share a node."""
    return bool(one.marks & other.repels or one.repels & other.marks)


def put_together(lots: Sequence[Lot], group: Together, ground: OfferArrays) -> list[Lot]:
    """The lots, with the members of the group on one node or in one domain."""
    members = [lot for lot in lots if is_member(lot, group.members) and lot.count]
    others = [lot for lot in lots if not is_member(lot, group.members)]
    if not members:
        return others
    if group.key == HOSTNAME:
        return others + _on_one_node(members, ground)
    return others + _in_one_domain(members, group, ground)


def _on_one_node(members: Sequence[Lot], ground: OfferArrays) -> list[Lot]:
    """One unit of all members; the least important pods are left out until it fits on a node."""
    ordered = sorted(members, key=lambda lot: (-lot.priority, lot.pods))
    chosen = [0] * len(ordered)
    for place, lot in enumerate(ordered):
        company = [one for one, n in zip(ordered, chosen, strict=True) if n]
        if not any(clash(lot, one) for one in company):
            chosen[place] = _most_that_fit(ordered, chosen, place=place, ground=ground)
    left = [replace(lot, count=lot.count - n) for lot, n in zip(ordered, chosen, strict=True)]
    # What was left out may not use any offer: it would be on another node than the rest.
    stranded = [replace(lot, allowed=np.zeros_like(lot.allowed)) for lot in left if lot.count]
    return [*stranded, *([composite(ordered, chosen)] if any(chosen) else [])]


def _most_that_fit(
    lots: Sequence[Lot], chosen: Sequence[int], *, place: int, ground: OfferArrays
) -> int:
    # More pods never fit where fewer don't, so the number is found by bisection.
    low, high = 0, min(lots[place].count, lots[place].per_node or lots[place].count)
    while low < high:
        middle = (low + high + 1) // 2
        trial = [*chosen[:place], middle, *chosen[place + 1 :]]
        works = fits(composite(lots, trial), ground).any()
        low, high = (middle, high) if works else (low, middle - 1)
    return low


def composite(lots: Sequence[Lot], chosen: Sequence[int]) -> Lot:
    """A unit of so many units of each lot."""
    parts = [(lot, n) for lot, n in zip(lots, chosen, strict=True) if n]
    total = [sum(lot.requests[r] * n for lot, n in parts) for r in range(len(lots[0].requests))]
    shares: dict[str, int] = {}
    for lot, n in parts:
        for name, weight in lot.shares:
            shares[name] = shares.get(name, 0) + weight * n
    return Lot(
        pods=tuple((name, times * n) for lot, n in parts for name, times in lot.pods),
        count=1,
        requests=tuple(min(amount, LARGEST) for amount in total),
        allowed=np.logical_and.reduce([lot.allowed for lot, _ in parts]),
        # The unit can only be placed as a whole, so it is as important as its most important pod.
        priority=max(lot.priority for lot, _ in parts),
        per_node=None,
        marks=frozenset().union(*(lot.marks for lot, _ in parts)),
        repels=frozenset().union(*(lot.repels for lot, _ in parts)),
        shares=tuple(sorted(shares.items())),
    )


def _in_one_domain(members: Sequence[Lot], group: Together, ground: OfferArrays) -> list[Lot]:
    """All members in the domain that has room for most of them; if several do, in the cheapest."""
    domains = ground.domains(group.key)
    names = sorted({name for name in domains if name})
    if not names:
        return [replace(lot, allowed=np.zeros_like(lot.allowed)) for lot in members]
    masks = {name: np.array([one == name for one in domains]) for name in names}
    # A guess: packing can't compare domains. For small problems the exact program tries them all.
    best = min(names, key=lambda name: (*cost_in(members, masks[name], ground), name))
    return [replace(lot, allowed=lot.allowed & masks[best]) for lot in members]


def cost_in(
    members: Sequence[Lot], mask: NDArray[np.bool_], ground: OfferArrays
) -> tuple[tuple[tuple[int, int], ...], float]:
    """The pods by priority that don't fit in a domain, and roughly what the others cost there.

    Existing nodes are filled first, as they cost nothing; then what can be bought, the cheapest
    first and no more of it than there is.
    """
    left: dict[int, int] = {}
    stock = DomainStock(mask, ground)
    cost = 0.0
    for lot in sorted(members, key=lambda lot: (-lot.priority, lot.pods)):
        missing, paid = stock.take(lot)
        cost += paid
        if missing:
            left[lot.priority] = left.get(lot.priority, 0) + missing
    return tuple(sorted(left.items(), reverse=True)), cost


def unit_price(lot: Lot, ground: OfferArrays, usable: NDArray[np.bool_]) -> float:
    """The lowest cost of one unit, as its share of the node's scarcest resource."""
    request = np.array(lot.requests, dtype=np.float64)
    share = (request / np.maximum(ground.capacity[usable], 1.0)).max(axis=1)
    return float((share * ground.price[usable]).min())


def split(lots: Sequence[Lot], group: SpreadRule | Apart, ground: OfferArrays) -> list[Lot]:
    """Split each member lot into one lot per domain, so that the group as a whole is balanced."""
    domains = ground.domains(group.key)
    names = sorted({name for name in domains if name})
    masks = {name: np.array([one == name for one in domains]) for name in names}
    members = [lot for lot in lots if is_member(lot, group.members)]
    open_to = [name for name in names if any((lot.allowed & masks[name]).any() for lot in members)]
    level = _starting_level(group, open_to)
    result = []
    # Important pods go first: if domains run out of room, the others are left without one.
    for lot in sorted(lots, key=lambda lot: (-lot.priority, lot.pods)):
        if is_member(lot, group.members):
            result += _spread_out(lot, group, level=level, masks=masks, ground=ground)
        else:
            result.append(lot)
    return result


def _starting_level(group: SpreadRule | Apart, names: Sequence[str]) -> dict[str, int]:
    known = set(names) | set(group.running)
    # An empty domain holds a spread down to its skew; it says nothing about how many pods are
    # apart.
    known |= group.domains if isinstance(group, SpreadRule) else set()
    return {name: group.running.get(name, 0) for name in sorted(known)}


def _spread_out(
    lot: Lot,
    group: SpreadRule | Apart,
    *,
    level: dict[str, int],
    masks: Mapping[str, NDArray[np.bool_]],
    ground: OfferArrays,
) -> list[Lot]:
    """Put each unit into the emptiest domain that can take it; on a tie, into the cheapest."""
    weight = _weight(lot, group.members)
    prices = _prices_by_domain(lot, masks, ground)
    taken = dict.fromkeys(prices, 0)
    # `level` is shared by all lots of the group and changed here. So the group is balanced as a
    # whole and not class by class, as Kubernetes counts pods by selector.
    for _ in range(lot.count):
        ready = [name for name in prices if _has_room(group, level, name, weight)]
        if not ready:
            break
        name = min(ready, key=lambda name: (level[name], prices[name], name))
        level[name] += weight
        taken[name] += 1
    stranded = lot.count - sum(taken.values())
    parts = [replace(lot, count=n, allowed=lot.allowed & masks[d]) for d, n in taken.items() if n]
    nowhere = replace(lot, count=stranded, allowed=np.zeros_like(lot.allowed))
    return [*parts, *([nowhere] if stranded else [])]


def _prices_by_domain(
    lot: Lot, masks: Mapping[str, NDArray[np.bool_]], ground: OfferArrays
) -> dict[str, float]:
    usable = fits(lot, ground)
    return {
        name: unit_price(lot, ground, usable & mask)
        for name, mask in masks.items()
        if (usable & mask).any()
    }


def _has_room(group: SpreadRule | Apart, level: Mapping[str, int], name: str, weight: int) -> bool:
    match group:
        case Apart():
            return level[name] + weight <= group.most
        case SpreadRule():
            # The domain itself is one of them: where there is no other, there is no skew.
            others = [n for other, n in level.items() if other != name]
            lowest = min([level[name] + weight, *others])
            return level[name] + weight - lowest <= group.max_skew
