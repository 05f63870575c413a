"""What an observation remembers; its outcome is also in the status of the pool."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Final

import msgspec

from growth.api.noderequest import NodeRequest
from reconciler.buying.offers import Shelf
from reconciler.planning.nominations import Nominated
from reconciler.planning.problem import PlanningProblem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from growth.api.observed import ObservedStatus
    from growth.scheduling.pod import Pod
    from reconciler.facts.requested import Bought

LANE: Final = "observing"


class ShadowMachine(msgspec.Struct, frozen=True, kw_only=True):
    """A machine that growth would have bought."""

    request: NodeRequest
    """The request that it would have. It stays on its way for ever, so that planning counts it and
    its pods like those of any machine that hasn't joined yet."""
    bought_at: datetime
    marked_at: datetime | None = None
    """Since when it would be marked for removal; None while it is needed or its hour is paid."""


class TalliedHour(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of one hour, not rounded yet."""

    at: datetime
    watched: float = 0.0
    bought: int = 0
    given_back: int = 0
    machine_seconds: float = 0.0
    cost: float = 0.0
    joined: int = 0
    left: int = 0
    node_seconds: float = 0.0
    node_cost: float = 0.0
    unpriced_seconds: float = 0.0


class Tally(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of one pool."""

    since: datetime
    hours: tuple[TalliedHour, ...] = ()


class AskedObservation(msgspec.Struct, frozen=True, kw_only=True):
    """The question that the solver is at work on."""

    number: int
    question: PlanningProblem


@dataclass(frozen=True, kw_only=True, slots=True)
class ObservingLedger:
    """The machines that growth would have, and who is on them."""

    machines: Mapping[str, ShadowMachine] = field(default_factory=dict)
    seats: Nominated = field(default_factory=Nominated)
    """The pods of these machines, and pods of others' nodes that would be on common nodes."""
    tallies: Mapping[str, Tally] = field(default_factory=dict)
    """The figures by pool."""
    asked: AskedObservation | None = None
    number: int = 0
    waiting: frozenset[str] = frozenset()
    """Pods that had no seat at the last look."""
    left_out: Mapping[str, float] = field(default_factory=dict)
    """Pods that a plan had no place for, and when they are planned again."""
    bought: Mapping[str, Bought] = field(default_factory=dict)
    """Machines by name, for an hour."""
    shelf: Shelf = field(default_factory=Shelf)
    freed: Mapping[str, tuple[Pod, Pod]] = field(default_factory=dict)
    """Pods on nodes of others, as they are and as they would wait, so that what is derived from
    them is derived once."""
    others: frozenset[str] | None = None
    """The nodes of others at the last look."""
    minima_at: float = 0.0
    """When machines that pools keep without load may be planned again, in monotonic seconds."""
    looked_at: float | None = None
    """When that was, in monotonic seconds; None if there was none since growth could see."""
    written: Mapping[str, ObservedStatus] = field(default_factory=dict)
    """What the status of each pool says."""
    written_at: float | None = None
