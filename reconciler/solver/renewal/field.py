"""A renewal ready for the search: rules about domains are settled, nodes and pods are arrays.

A pod that is counted by a rule about zones (or another domain larger than a node) stays in its
domain when it moves. Then the rule still holds and the search needs no topology, at the price of a
few possible moves. Pods that must be near each other on a node move as one. Of the pools that a pod
may use, only those of the highest weight sell nodes for it. A node that costs more to disturb than
to keep, or whose pods can't move, is never removed; its free room is capacity like any other.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from reconciler.solver.arrays.coarse import to_pack
from reconciler.solver.arrays.reduce import reduce_offers
from reconciler.solver.arrays.table import Table, whole_table, without_idle_resources
from reconciler.solver.model.lots import ground_of, relaxed_lots_of
from reconciler.solver.model.problem import HOSTNAME, Near, Together
from reconciler.solver.renewal.moving_together import as_one, counted_classes, tied_classes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from reconciler.solver.model.problem import Group, Offer, PodClass, Problem
    from reconciler.solver.model.renewal import RenewableNode, Renewal


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """The renewal with its rules about domains settled; its classes are parts of others."""

    problem: Problem
    standing: tuple[RenewableNode, ...]
    """The nodes whose removal may pay, by name."""
    pods_of: Mapping[str, Mapping[str, int]]
    """The pods of one unit of each class, by their original class."""


def settled(renewal: Renewal) -> Settled:
    """Restrict pods that are counted by domain to it, and keep only nodes whose removal may pay."""
    problem = renewal.problem.in_order()
    settling = _Settling(problem)
    standing = [
        replace(node, holds=settling.held(node))
        for node in sorted(renewal.standing, key=lambda node: node.offer)
        if node.price > node.disturbance and settling.may_go(node)
    ]
    parts = settling.parts()
    kept = [g for g in problem.groups if g.key == HOSTNAME and not isinstance(g, Near)]
    return Settled(
        problem=replace(
            problem,
            classes=(*parts.values(), *settling.units.values()),
            groups=tuple(_of_parts(group, parts) for group in kept),
            minima=(),
        ),
        standing=tuple(standing),
        pods_of={**{pod.name: {part[0]: 1} for part, pod in parts.items()}, **settling.pods_of},
    )


class _Settling:
    """The classes of a renewal while its nodes are looked at one after the other."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.offers = {offer.name: offer for offer in problem.offers}
        self.keys = _keys(problem)
        self.classes = {pod.name: pod for pod in problem.classes}
        self.tied = tied_classes(problem)
        self.counted = counted_classes(problem)
        self.counts: Counter[Part] = Counter()
        self.units: dict[str, PodClass] = {}
        """The pods that move together, by the name of their class."""
        self.pods_of: dict[str, Mapping[str, int]] = {}

    def may_go(self, node: RenewableNode) -> bool:
        """Whether the pods of a node can move."""
        names = {name for name, count in node.holds.items() if count}
        return not _is_bound(self.problem, names) and not (names & self.tied & self.counted)

    def held(self, node: RenewableNode) -> dict[str, int]:
        """What a node holds, by the classes of the settled problem."""
        offer = self.offers[node.offer]
        found = {(n, _domains(offer, self.keys[n])): c for n, c in node.holds.items() if c}
        together = {part: count for part, count in found.items() if part[0] in self.tied}
        alone = {part: count for part, count in found.items() if part not in together}
        self.counts.update(alone)
        holds = {_name(part): count for part, count in alone.items()}
        return holds | ({self._as_one(node, together): 1} if together else {})

    def _as_one(self, node: RenewableNode, together: Mapping[Part, int]) -> str:
        name = f"near each other on {node.offer}"
        self.units[name] = as_one(name, [(self._part(p), n) for p, n in together.items()])
        self.pods_of[name] = {part[0]: count for part, count in together.items()}
        return name

    def parts(self) -> dict[Part, PodClass]:
        """The classes whose pods move one by one."""
        return {
            part: replace(self._part(part), count=count)
            for part, count in sorted(self.counts.items())
        }

    def _part(self, part: Part) -> PodClass:
        return _part(self.classes[part[0]], self.keys, part[1], self.problem)


Part = tuple[str, tuple[str, ...]]
"""A class and the domains that its pods must stay in."""


def _keys(problem: Problem) -> dict[str, list[str]]:
    """The topology keys by which the pods of each class are counted."""
    groups = [group for group in problem.groups if group.key != HOSTNAME]
    return {
        pod.name: sorted({group.key for group in groups if pod.name in _counted(group)})
        for pod in problem.classes
    }


def _counted(group: Group) -> frozenset[str]:
    return group.members | (group.anchors if isinstance(group, Near) else frozenset())


def _domains(offer: Offer, keys: list[str]) -> tuple[str, ...]:
    return tuple(offer.labels.get(key, "") for key in keys)


def _is_bound(problem: Problem, names: set[str]) -> bool:
    """Whether these pods must share their node with others, and so can't move."""
    bonds = [g for g in problem.groups if isinstance(g, Together) and g.key == HOSTNAME]
    return any(names & group.members for group in bonds)


def _name(part: Part) -> str:
    return "@".join((part[0], *part[1]))


def _part(
    pod: PodClass, keys: Mapping[str, list[str]], domains: tuple[str, ...], problem: Problem
) -> PodClass:
    """The class of the pods in some domains, with the offers that they may use there."""
    there = [o for o in problem.offers if o.name in pod.offers]
    there = [offer for offer in there if _domains(offer, keys[pod.name]) == domains]
    selling = [o for o in there if not o.exists and _holds(o, pod)]
    # A demand with several weights is solved in steps, but a renewal is one search. A plan for the
    # highest weight is also one for the whole problem.
    top = max((offer.weight for offer in selling), default=0)
    usable = frozenset(o.name for o in there if o.exists or o.weight == top)
    return replace(pod, name=_name((pod.name, domains)), offers=usable)


def _holds(offer: Offer, pod: PodClass) -> bool:
    return all(need <= room for need, room in zip(pod.requests, offer.capacity, strict=True))


def _of_parts(group: Group, parts: Mapping[Part, PodClass]) -> Group:
    members = frozenset(pod.name for part, pod in parts.items() if part[0] in group.members)
    return replace(group, members=members)


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """The existing places, the nodes among them that may be removed, and the offers, as arrays.

    Places are rows: first the nodes that always stay, then those that may be removed, in the order
    of `standing`. Classes are those of `goods`, the table of what can be bought.
    """

    settled: Settled
    goods: Table
    capacity: NDArray[np.float64]
    """The free room of each place."""
    admits: NDArray[np.bool_]
    """The classes that each place may take."""
    places: tuple[str, ...]
    """The name of each place's offer."""
    holds: NDArray[np.int64]
    """The units of each class on each node that may be removed."""
    worth_going: NDArray[np.float64]
    """The cost of each node minus its disturbance: the gain of its removal."""
    group: NDArray[np.int64]
    most: NDArray[np.int64]
    """The most nodes of each group that may be removed."""

    @property
    def first(self) -> int:
        """The row of the first node that may be removed."""
        return len(self.places) - len(self.holds)


def field_of(renewal: Renewal) -> Field:
    """The arrays of a renewal; equal classes are merged, and what can't matter is left out."""
    ready = settled(renewal)
    ground = ground_of(ready.problem)
    # Sizes may be rounded up but not down: what a trial moves must really fit.
    lots = to_pack(relaxed_lots_of(ready.problem, ground), ground)
    table = without_idle_resources(whole_table(ready.problem, lots, ground))
    rows = {offer.name: o for o, offer in enumerate(ground.offers)}
    going = [node.offer for node in ready.standing]
    staying = [o.name for o in ground.offers if o.exists and o.name not in set(going)]
    places = (*(name for name in staying if table.allowed[:, rows[name]].any()), *going)
    order = np.array([rows[name] for name in places], dtype=np.intp)
    groups = sorted({node.group for node in ready.standing})
    return Field(
        settled=ready,
        goods=reduce_offers(table.with_offers(np.flatnonzero(~table.standing))),
        capacity=table.capacity[order],
        admits=np.ascontiguousarray(table.allowed[:, order].T),
        places=places,
        holds=_holdings(ready, table),
        worth_going=np.array([n.price - n.disturbance for n in ready.standing], dtype=np.float64),
        group=np.array([groups.index(node.group) for node in ready.standing], dtype=np.int64),
        most=np.array(
            [max(0, renewal.most.get(name, len(ready.standing))) for name in groups],
            dtype=np.int64,
        ),
    )


def _holdings(ready: Settled, table: Table) -> NDArray[np.int64]:
    number = {lot.pods[0][0]: k for k, lots in enumerate(table.lots) for lot in lots}
    holds = np.zeros((len(ready.standing), table.classes), dtype=np.int64)
    for row, node in zip(holds, ready.standing, strict=True):
        for name, count in node.holds.items():
            row[number[name]] += count
    return holds
