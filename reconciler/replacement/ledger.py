"""What replacement remembers between two passes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from growth.api.disruption import DisruptionReason
from growth.scheduling.occupancy import Occupancy
from reconciler.core.decision import NEVER
from reconciler.planning.problem import PlanningProblem
from reconciler.replacement.health import SickNodes
from reconciler.replacement.horizon import Regret

if TYPE_CHECKING:
    from growth.api.noderequest import NodeRequest
    from reconciler.facts.requested import Bought


class Still(msgspec.Struct, frozen=True, kw_only=True):
    """Since when the same pods are on a node."""

    occupancy: Occupancy
    since: float
    """The time in monotonic seconds. Pods that belong to the node itself don't count."""


class PendingSearch(msgspec.Struct, frozen=True, kw_only=True):
    """Which nodes could go is being looked for."""

    number: int


class PendingProof(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the pods of exactly these nodes find a place is being asked."""

    number: int
    nodes: Mapping[str, frozenset[str]]
    """The nodes that go, with the pods that were there."""
    reason: DisruptionReason
    why: str
    """The text for people."""
    question: PlanningProblem


class Confirmation(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the pods of the old nodes still find a place, now that the new ones serve."""

    number: int
    swap: str
    nodes: frozenset[str]
    """The nodes whose pods it is about; with one more node that may go, it is another question."""
    question: PlanningProblem


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplacementLedger:
    """Memory that is rebuilt from objects after a restart."""

    number: int = 0
    """The number of the last question."""
    asked: PendingSearch | PendingProof | Confirmation | None = None
    still: Mapping[str, Still] = field(default_factory=dict)
    """How long nodes have been quiet, by node."""
    seen: tuple[object, ...] = ()
    """Everything that the last search depended on; while it is the same, so is the answer."""
    searched_in: frozenset[str] = frozenset()
    """The currencies that were searched in since then: each is a question of its own."""
    searched_at: float | None = None
    opens_at: float = NEVER
    """When a pod that may not be moved may be, without any change that could be seen."""
    confirmed_at: float | None = None
    unconfirmed: Mapping[str, NodeRequest] = field(default_factory=dict)
    """Requests that were decided on and that the cache doesn't show yet, by name."""
    bought: Mapping[str, Bought] = field(default_factory=dict)
    """Machines by the name of the request, for an hour."""
    opening: Mapping[str, DisruptionReason] = field(default_factory=dict)
    """Old nodes whose removals are being opened."""
    going: Mapping[str, DisruptionReason] = field(default_factory=dict)
    """The nodes whose removals are in progress, with the reason."""
    swaps: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The nodes that are replaced by each swap that was under way, by its words."""
    lacking: Mapping[str, float] = field(default_factory=dict)
    """Since when swaps lack a machine, by their words."""
    given_up: frozenset[str] = frozenset()
    """The words of swaps that came to nothing."""
    resting: Mapping[str, float] = field(default_factory=dict)
    """Nodes that aren't chosen, and until when."""
    left_over: Mapping[str, int] = field(default_factory=dict)
    """How often in a row the pods of a node would have been left over."""
    health: SickNodes = field(default_factory=SickNodes)
    regret: Regret = field(default_factory=Regret)
