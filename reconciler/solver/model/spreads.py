"""Spreads over single nodes: how full the emptiest node is decides how full the others may be.

Each node is a domain, and each new node is one more. So the limit on a node isn't known before all
nodes are. Packing works with an assumption: the number of pods that the emptiest node will have. It
makes the spread a plain limit on each node. What was packed is levelled afterwards (levelling.py).
The bound assumes as much as any plan can reach.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from reconciler.solver.model.problem import HOSTNAME, SpreadRule

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reconciler.solver.model.problem import Offer, PodClass, Problem


class Assumed(NamedTuple):
    """What packing assumes of a spread over nodes."""

    lowest: int = 0
    """The pods on the emptiest node."""
    new: int = 0
    """How many new nodes there are, each of which needs as many pods; 0 if that is open."""


Assumptions = Mapping[str, Assumed]
"""What is assumed of each spread over nodes, by name."""

NOTHING_ASSUMED: Assumptions = MappingProxyType({})
"""The emptiest node of each spread may have no pods, which holds in any plan."""
PLAIN = Assumed()


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSpread:
    """A spread over nodes, with the nodes that it counts."""

    rule: SpreadRule
    pods: int
    """The pods of the group that need a place."""
    open_to: frozenset[str]
    """The offers that a member may use."""
    standing: Mapping[str, int]
    """The pods of the group on each existing node."""
    fixed: int | None
    """The fewest pods on a node that can't get more of them; None if there is no such node."""

    def counts(self, offer: Offer) -> bool:
        """Whether a node of an offer is a domain."""
        if offer.exists:
            return offer.name in self.standing
        return offer.name in self.open_to or offer.name in self.rule.counted

    def highest(self, new: int = 0) -> int:
        """The most pods that the emptiest node can have in any plan with so many new nodes."""
        new = max(new, self.rule.min_domains - len(self.standing))
        low, high = 0, max(self.pods + max(self.standing.values(), default=0), 0)
        high = high if self.fixed is None else min(high, self.fixed)
        # Without any node, the first new one holds what it gets.
        each = new if self.standing else max(1, new)
        while low < high:
            middle = (low + high + 1) // 2
            needed = sum(max(0, middle - n) for n in self.standing.values()) + middle * each
            low, high = (middle, high) if needed <= self.pods else (low, middle - 1)
        return low

    def shortfalls(self, assumed: Assumed) -> list[int]:
        """How many pods each node needs at least, if it is to have as many as is assumed."""
        there = (assumed.lowest - n for n in self.standing.values())
        return [n for n in (*there, *([assumed.lowest] * assumed.new)) if n > 0]

    def lowest(self, levels: Iterable[int]) -> int:
        """What the emptiest of these nodes counts."""
        found = list(levels)
        return min(found, default=0) if len(found) >= self.rule.min_domains else 0


def node_spreads(problem: Problem) -> list[NodeSpread]:
    """The spreads over nodes, with what each of them counts."""
    rules = [g for g in problem.groups if isinstance(g, SpreadRule) and g.key == HOSTNAME]
    return [_counted(problem, rule) for rule in sorted(rules, key=lambda rule: rule.name)]


def _counted(problem: Problem, rule: SpreadRule) -> NodeSpread:
    members = [pod for pod in problem.classes if pod.name in rule.members]
    open_to = frozenset[str]().union(*(pod.offers for pod in members))
    there = {offer.name: offer for offer in problem.offers if offer.exists}
    names = {*(open_to & there.keys()), *rule.domains, *rule.running}
    standing = {name: rule.running.get(name, 0) for name in sorted(names)}
    waiting = [pod for pod in members if pod.count]
    full = [n for name, n in standing.items() if not _can_take(there.get(name), waiting)]
    return NodeSpread(
        rule=rule,
        pods=sum(pod.count for pod in members),
        open_to=open_to,
        standing=standing,
        fixed=min(full, default=None),
    )


def _can_take(offer: Offer | None, pods: Iterable[PodClass]) -> bool:
    return offer is not None and any(
        offer.name in pod.offers
        and all(need <= room for need, room in zip(pod.requests, offer.capacity, strict=True))
        for pod in pods
    )


def reachable(problem: Problem) -> Assumptions:
    """For each spread over nodes, the most pods that the emptiest node can have in any plan."""
    return {each.rule.name: Assumed(each.highest()) for each in node_spreads(problem)}
