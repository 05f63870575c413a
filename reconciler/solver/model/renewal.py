"""Which nodes a cluster could give back: the question (Renewal) and the answer (Renewed).

They are the counterpart of Problem and Plan. The pods of removed nodes get a new place, in the free
room of the nodes that stay or on new nodes; the pods of nodes that stay never move. An answer is a
set of nodes and a Plan for exactly their pods. Its gain is what it saves per hour minus what moving
costs. The empty set is always a valid answer.
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
    """A node that may be removed if all the pods that it `holds` find another place.

    `offer` names an existing offer of the problem. That offer's capacity is the node's free room,
    and its marks and repels are those of the pods on the node, which count while the node stays.
    """

    offer: str
    price: int
    holds: Mapping[str, int] = field(default_factory=dict)
    """The pods by class that need another place when the node is removed."""
    disturbance: int = 0
    """What the removal costs the pods on the node, in the same money as prices."""
    group: str = ""
    """Nodes of one group share a limit on how many may be removed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Renewal:
    """The nodes that may be removed, and the problem with their pods and all other capacity.

    Each class counts its pods on all `standing` nodes. The `running` counts of the problem's groups
    may include pods of removed nodes, which then no longer count. A renewal ignores minima: a node
    that a minimum requires isn't in `standing`.
    """

    problem: Problem
    standing: tuple[RenewableNode, ...]
    most: Mapping[str, int] = field(default_factory=dict)
    """The most nodes of each group that may be removed; a group that isn't listed has no limit."""
    near: float = 1.0
    """A cost below this multiple of the bound is cheap enough to avoid further disturbances."""
    reluctance: float = 1.0
    """Below that cost, a disturbance counts this many times."""

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
        # A search over wrong counts would move pods that aren't there, and nothing later would
        # notice.
        for pod in self.problem.classes:
            if held[pod.name] != pod.count:
                raise ValueError(
                    f"class {pod.name!r} counts {pod.count}, its nodes hold {held[pod.name]}"
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class Renewed:
    """The nodes to remove and a plan for their pods; `seconds` is informative and not compared."""

    goes: tuple[str, ...]
    """The names of the offers of the removed nodes."""
    plan: Plan
    """A place for the pods of the removed nodes, and for no others."""
    saving: int
    """What the removed nodes cost per hour, minus what the plan buys."""
    disturbance: int
    cost: int
    """What all standing nodes cost per hour now."""
    bound: int
    """The lowest cost per hour if nodes for all their pods were bought from scratch."""
    effort: int
    seconds: float = field(default=0.0, compare=False)

    @property
    def gain(self) -> int:
        """The saving minus the cost of all disturbances."""
        return self.saving - self.disturbance
