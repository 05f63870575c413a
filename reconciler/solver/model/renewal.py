"""What a cluster could give back: nodes that stand, what each holds, and which of them go.

The counterpart of Problem and Plan for the other direction. Pods of nodes that go are placed anew,
on the free room of those that stay or on new nodes; pods of nodes that stay never move. So an
answer is a set of nodes and a Plan for exactly their pods, worth what it saves in each hour less
what moving costs. An empty set is always an answer: nothing here is done for its own sake.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reconciler.solver.model.plan import Plan
    from reconciler.solver.model.problem import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class RenewableNode:
    """A node that may go, if all that it `holds` finds another place.

    `offer` names an offer of the problem that exists and whose capacity is the node's free room;
    its marks and repels are those of the pods that are there, which count for as long as it stays.
    """

    offer: str
    price: int
    holds: Mapping[str, int] = field(default_factory=dict)
    """Pods by class: all that must find another place when it goes."""
    disturbance: int = 0
    """What its end costs those who run there, in the money of prices."""
    group: str = ""
    """Those that share a ceiling on how many may go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Renewal:
    """The nodes that may go, and the problem that has all their pods and all other capacity.

    Each class counts the pods of all that stand. What runs on a node that goes may be counted in
    the `running` of the problem's groups: it is taken off there. Minima are no concern of a
    renewal; a node that a minimum needs doesn't stand here.
    """

    problem: Problem
    standing: tuple[RenewableNode, ...]
    most: Mapping[str, int] = field(default_factory=dict)
    """How many nodes of a group may go at most; a group that isn't named has no ceiling."""
    near: float = 1.0
    """Within so many times the bound the cluster is cheap enough not to disturb much any more."""
    reluctance: float = 1.0
    """So many times as much a disturbance counts there."""

    def __post_init__(self) -> None:
        exists = {offer.name for offer in self.problem.offers if offer.exists}
        held = dict.fromkeys((pod.name for pod in self.problem.classes), 0)
        seen: set[str] = set()
        for node in self.standing:
            if node.offer not in exists or node.offer in seen:
                raise ValueError(f"node {node.offer!r} stands twice or isn't an offer that exists")
            seen.add(node.offer)
            for name, count in node.holds.items():
                if name not in held:
                    raise ValueError(f"node {node.offer!r} holds pods of no class: {name!r}")
                held[name] += count
        for pod in self.problem.classes:
            if held[pod.name] != pod.count:
                raise ValueError(
                    f"class {pod.name!r} counts {pod.count}, its nodes hold {held[pod.name]}"
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class Renewed:
    """Which nodes go, and where their pods would be. Seconds are told, but are not part of it."""

    goes: tuple[str, ...]
    """Offers of the nodes that go, by name."""
    plan: Plan
    """For the pods of those that go, and nobody else."""
    saving: int
    """What those that go cost each hour, less what the plan buys."""
    disturbance: int
    cost: int
    """What all that stand cost each hour now."""
    bound: int
    """What their pods would cost each hour at least, were all of them bought for anew."""
    effort: int
    seconds: float = field(default=0.0, compare=False)

    @property
    def gain(self) -> int:
        """What is left of the saving when all that is disturbed has been paid."""
        return self.saving - self.disturbance
