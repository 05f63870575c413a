"""What planning remembers between two passes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from reconciler.buying.offers import Shelf
from reconciler.buying.refusals import Probe, Refusals
from reconciler.core.decision import NEVER
from reconciler.planning.nominations import Nominated
from reconciler.planning.problem import PlanningProblem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from growth.api.noderequest import NodeRequest
    from reconciler.facts.condition_words import Words
    from reconciler.facts.requested import Bought
    from reconciler.planning.commit import WaveWindow
    from reconciler.planning.tries import Try


class AskedProblem(msgspec.Struct, frozen=True, kw_only=True):
    """A question that the solver is at work on."""

    number: int
    question: PlanningProblem
    probe: Probe | None = None
    """The purpose of the probe, if a single pod in back-off was planned for one."""


class LimitCounts(msgspec.Struct, frozen=True, kw_only=True):
    """What limits count, by name."""

    machines: frozenset[str] = frozenset()
    of_the_hour: frozenset[str] = frozenset()
    """Machines that were bought within the last hour, by any room."""

    def __le__(self, later: LimitCounts) -> bool:
        """Whether all of it counts still, so that no limit leaves more room than before."""
        return self.machines <= later.machines and self.of_the_hour <= later.of_the_hour


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanningLedger:
    """Memory that is rebuilt from NodeRequests after a restart."""

    unconfirmed: Mapping[str, NodeRequest] = field(default_factory=dict)
    """Requests that were decided on and that the cache doesn't show yet, by name. They count as
    if they were there, so that the same demand seen twice buys once."""
    nominated: Nominated = field(default_factory=Nominated)
    tries: Mapping[str, Try] = field(default_factory=dict)
    """Pods that plans left out, by uid."""
    binding: Mapping[str, Words] = field(default_factory=dict)
    """The limits that keep some of them from a machine, by pool: which it is and what to do."""
    told: Mapping[str, str] = field(default_factory=dict)
    """The reason that was last said of a pod, by uid: what repeats isn't said again."""
    window: WaveWindow | None = None
    """The wave of pods that the next plan is for."""
    asked: AskedProblem | None = None
    number: int = 0
    """The number of the last question."""
    asked_at: float = -NEVER
    """When that was, in monotonic seconds."""
    refusals: Refusals = field(default_factory=Refusals)
    bought: Mapping[str, Bought] = field(default_factory=dict)
    """Machines by the name of the request, for an hour."""
    counted: LimitCounts = field(default_factory=LimitCounts)
    """What limits counted while a pod had no place."""
    prewarmed_at: float | None = None
    """When the pools' minima were last asked for."""
    shelf: Shelf = field(default_factory=Shelf)
    surroundings: tuple[object, ...] = ()
    """Everything besides pods and nodes that plans depend on; a change ends back-off."""
