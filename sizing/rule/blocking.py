"""Reasons why a change that is wanted isn't made now.

They are asked in a fixed order, and the first that holds is reported. A reason that ends by itself
says when.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from growth.api.hvpa import Combine, UpdateMode
from sizing.rule.amounts import NO_MARGIN
from sizing.rule.windows import TimeOfDay

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from fractions import Fraction

    from sizing.rule.amounts import Margins, Sized, Sizes
    from sizing.rule.windows import MaintenanceWindow


class BlockReason(enum.Enum):
    """Why nothing is changed, or not all of what is wanted."""

    UPDATE_POLICY = "UpdatePolicy"
    STABILIZATION_WINDOW = "StabilizationWindow"
    MAINTENANCE_WINDOW = "MaintenanceWindow"
    MIN_CHANGE = "MinChange"
    PARADOXICAL_SCALING = "ParadoxicalScaling"
    SOURCE_UNAVAILABLE = "SourceUnavailable"
    REPLICAS_ZERO = "ReplicasZero"


@dataclass(frozen=True, kw_only=True)
class ScaleRules:
    """What holds for one direction, up or down. All amounts are totals."""

    mode: UpdateMode = UpdateMode.AUTO
    min_change: Margins
    combine: Combine = Combine.MAX
    stabilisation: timedelta = timedelta()


@dataclass(frozen=True, kw_only=True)
class Occasion:
    """When something is decided, and what has happened before."""

    now: datetime
    last_scaled: datetime | None = None
    has_run_out: bool = False
    """Whether a pod ran out of memory since the last change: it was killed, or evicted."""
    throttled: frozenset[Sized] = frozenset()
    """What uses 90 % of its request or more."""


@dataclass(frozen=True, kw_only=True)
class Block:
    """One reason, and when it ends by itself."""

    reason: BlockReason
    until: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class TotalsChange:
    """A change of totals that is wanted."""

    before: Sizes
    after: Sizes
    """Of what the sources speak about."""

    @property
    def is_up(self) -> bool:
        """A change is down only if no total rises."""
        return any(total > self.before[part] for part, total in self.after.items())

    def rises(self, part: Sized) -> bool:
        """Whether the total of one part rises."""
        return self.after[part] > self.before[part]

    def falls(self, part: Sized) -> bool:
        """Whether the total of one part falls."""
        return self.after[part] < self.before[part]


def block_of(
    change: TotalsChange,
    rules: ScaleRules,
    *,
    window: MaintenanceWindow | None,
    at: Occasion,
) -> Block | None:
    """The first reason to wait with a change in this direction."""
    return next(_blocks(change, rules, window=window, at=at), None)


def _blocks(
    change: TotalsChange, rules: ScaleRules, *, window: MaintenanceWindow | None, at: Occasion
) -> Iterator[Block]:
    is_urgent = change.is_up and at.has_run_out
    if rules.mode is UpdateMode.OFF:
        yield Block(reason=BlockReason.UPDATE_POLICY)
    if not is_urgent and (until := _stable_until(rules, at)) is not None:
        yield Block(reason=BlockReason.STABILIZATION_WINDOW, until=until)
    if rules.mode is UpdateMode.MAINTENANCE_WINDOW:
        yield from _outside(window, at)
    if not is_urgent and is_too_small(change, rules, throttled=at.throttled):
        yield Block(reason=BlockReason.MIN_CHANGE)


def _stable_until(rules: ScaleRules, at: Occasion) -> datetime | None:
    if at.last_scaled is None or at.last_scaled > at.now:
        return None
    until = at.last_scaled + rules.stabilisation
    return until if until > at.now else None


def _outside(window: MaintenanceWindow | None, at: Occasion) -> Iterator[Block]:
    """Without a window there is no time at which anything may change."""
    if window is None:
        yield Block(reason=BlockReason.MAINTENANCE_WINDOW)
    elif not window.contains(TimeOfDay.at(at.now)):
        until = window.next_opening(at.now)
        yield Block(reason=BlockReason.MAINTENANCE_WINDOW, until=until)


def is_too_small(
    change: TotalsChange, rules: ScaleRules, *, throttled: frozenset[Sized] = frozenset()
) -> bool:
    """Whether every total stays within the least change.

    The least change doesn't hold back what uses up its request: its use can't show how much it
    needs, so its recommendation may never get further.
    """
    changed = {
        part: abs(total - change.before[part])
        for part, total in change.after.items()
        if total != change.before[part]
    }
    if not changed:
        return any(_least_change(part, change, rules) for part in change.after)
    return all(
        size < _least_change(part, change, rules) and not (change.rises(part) and part in throttled)
        for part, size in changed.items()
    )


def _least_change(part: Sized, change: TotalsChange, rules: ScaleRules) -> Fraction:
    margin = rules.min_change.get(part.resource, NO_MARGIN)
    return margin.of(change.before[part], combine=rules.combine)
