"""The staircase of a workload: its replicas and sizes while its load rises, and while it falls.

It shows where a load leads if nothing makes a change wait: update modes, windows, stabilisation and
least changes aren't part of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from sizing.rule.amounts import Sized
from sizing.rule.blocking import Occasion, ScaleRules
from sizing.rule.sizing import PresentSize, Recommendation, SizeSource, size_of_workload

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sizing.rule.amounts import Amounts
    from sizing.rule.intervals import EffectiveInterval
    from sizing.rule.sizing import SizingRules, WorkloadSize

GRAIN: Final = 1200
"""Steps of the load from its lowest to its highest: hundredths of a core from 0 to 12."""
ANY_TIME: Final = Occasion(now=datetime(2026, 1, 1, tzinfo=UTC))
AT_ONCE: Final = ScaleRules(min_change={})


@dataclass(frozen=True, kw_only=True)
class LoadRange:
    """The load of one container: the totals of its resources, which rise and fall together."""

    container: str
    lowest: Amounts
    highest: Amounts

    def at(self, step: int) -> dict[str, Fraction]:
        """The load after so many steps."""
        return {
            name: low + (self.highest[name] - low) * Fraction(step, GRAIN)
            for name, low in self.lowest.items()
        }


@dataclass(frozen=True, kw_only=True)
class SizeAtLoad:
    """What a workload has at a load."""

    load: Amounts
    size: WorkloadSize


@dataclass(frozen=True, kw_only=True)
class Stair:
    """A range of loads with one number of replicas."""

    first: SizeAtLoad
    last: SizeAtLoad

    @property
    def replicas(self) -> int:
        """Its replicas."""
        return self.last.size.replicas

    @property
    def largest(self) -> SizeAtLoad:
        """Its end with more load."""
        return max(self.first, self.last, key=lambda each: sorted(each.load.items()))


@dataclass(frozen=True, kw_only=True)
class Staircase:
    """All stairs, on the way up and then on the way down."""

    intervals: tuple[EffectiveInterval, ...]
    up: tuple[Stair, ...]
    down: tuple[Stair, ...]


def staircase(rules: SizingRules, present: PresentSize, load: LoadRange) -> Staircase:
    """What a workload has while its load rises from the lowest to the highest and falls again."""
    unhindered = replace(rules, scale_up=AT_ONCE, scale_down=AT_ONCE)
    rising = list(_walk(unhindered, present, load, range(GRAIN + 1)))
    top = replace(present, replicas=rising[-1].size.replicas, requests=_exactly(rising[-1].size))
    falling = _walk(unhindered, top, load, range(GRAIN, -1, -1))
    return Staircase(
        intervals=rules.intervals, up=tuple(_stairs(rising)), down=tuple(_stairs(falling))
    )


def _walk(
    rules: SizingRules, present: PresentSize, load: LoadRange, steps: Iterable[int]
) -> Iterator[SizeAtLoad]:
    for step in steps:
        totals = load.at(step)
        said = Recommendation(
            source=SizeSource.VPA,
            totals={Sized(load.container, name): total for name, total in totals.items()},
        )
        found = size_of_workload(rules, present, [said], ANY_TIME)
        limits = {part: Fraction(amount) for part, amount in found.size.limits.items()}
        present = replace(
            present,
            replicas=found.size.replicas,
            requests=_exactly(found.size),
            limits=limits,
            held=found.held,
        )
        yield SizeAtLoad(load=totals, size=found.size)


def _exactly(size: WorkloadSize) -> dict[Sized, Fraction]:
    return {part: Fraction(amount) for part, amount in size.requests.items()}


def _stairs(standings: Iterable[SizeAtLoad]) -> Iterator[Stair]:
    first = last = None
    for each in standings:
        if first is not None and last is not None and each.size.replicas != last.size.replicas:
            yield Stair(first=first, last=last)
            first = None
        first, last = first or each, each
    if first is not None and last is not None:
        yield Stair(first=first, last=last)
