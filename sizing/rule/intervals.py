"""Intervals in the total of a workload, each with one number of replicas.

A spec gives the maximum of one pod at some numbers of replicas. That gives the maximum total of
each interval. Its minimum total is the maximum of the interval before, less the overlap, so that
adjacent intervals leave no gap. On the way up only the maxima count, and on the way down only the
minima: between the two, a workload keeps the replicas it has.
"""

from __future__ import annotations

import bisect
import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final, NamedTuple

from growth.api.hvpa import Extrapolation
from sizing.rule.amounts import NO_MARGIN, NONE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sizing.rule.amounts import Amounts, Margin, Margins


class IntervalsInvalid(ValueError):
    """Entries that don't come to adjacent intervals."""

    def __init__(self, place: int, text: str) -> None:
        super().__init__(text)
        self.place = place
        """The first entry that is wrong."""
        self.text = text


@dataclass(frozen=True, kw_only=True)
class IntervalEntry:
    """An entry of a spec: up to so many replicas, with at most so much for each pod."""

    max_replicas: int
    max_per_pod: Amounts
    extrapolation: Extrapolation = Extrapolation.SINGLE


@dataclass(frozen=True, kw_only=True)
class EntryDefaults:
    """What an entry gets that leaves something out: the bounds of the HPA and the VPA."""

    max_replicas: int | None = None
    """The HPA's maxReplicas."""
    max_per_pod: Amounts | None = None
    """The VPA's maxAllowed."""

    def completed(
        self,
        max_replicas: int | None,
        max_per_pod: Amounts | None,
        extrapolation: Extrapolation = Extrapolation.SINGLE,
    ) -> IntervalEntry:
        """An entry with both; a ValueError if one is given nowhere."""
        replicas = max_replicas or self.max_replicas
        sizes = max_per_pod or self.max_per_pod
        if replicas is None:
            raise ValueError("set maxReplicas, here or in the HPA's template")
        if sizes is None:
            raise ValueError("set maxResources, or maxAllowed in the VPA's template")
        return IntervalEntry(max_replicas=replicas, max_per_pod=sizes, extrapolation=extrapolation)


@dataclass(frozen=True, kw_only=True)
class EffectiveInterval:
    """A range of totals with one number of replicas."""

    replicas: int
    least: Amounts
    """The total below which a workload on its way down leaves this interval."""
    most: Amounts
    """The total above which a workload on its way up leaves this interval."""
    is_fixed: bool = False
    """Whether a pod always has the maximum: only the number of replicas scales."""

    @property
    def most_per_pod(self) -> Amounts:
        """The maximum of one pod."""
        return {name: total / self.replicas for name, total in self.most.items()}


class CountRange(NamedTuple):
    """The numbers of replicas that suit a total."""

    fewest: int
    """On the way up."""
    highest: int
    """On the way down."""

    def nearest(self, current: int) -> int:
        """The number in the range that is nearest to the current one."""
        return min(max(current, self.fewest), self.highest)


def effective_intervals(
    entries: Sequence[IntervalEntry], *, overlap: Margins, floor: Amounts
) -> tuple[EffectiveInterval, ...]:
    """All intervals of a spec. A pod never has less than the floor, so the first begins there."""
    found: list[EffectiveInterval] = []
    for entry, replicas, most in _maxima(entries):
        before = found[-1].most if found else None
        least = {
            name: floor.get(name, NONE) * replicas
            if before is None
            else least_total(before[name], overlap.get(name, NO_MARGIN))
            for name in most
        }
        is_fixed = entry.extrapolation is Extrapolation.HORIZONTAL_ONLY
        found.append(
            EffectiveInterval(replicas=replicas, least=least, most=most, is_fixed=is_fixed)
        )
    return tuple(found)


def refuse_gaps(entries: Sequence[IntervalEntry]) -> None:
    """Raise an IntervalsInvalid if replicas or totals don't rise from interval to interval."""
    for place, (before, entry) in enumerate(itertools.pairwise(entries), start=1):
        if entry.max_replicas <= before.max_replicas:
            raise IntervalsInvalid(place, "maxReplicas must rise from interval to interval")
        if entry.max_per_pod.keys() != before.max_per_pod.keys():
            raise IntervalsInvalid(place, "each interval needs the same resources")
    found = [(entries.index(entry), count, most) for entry, count, most in _maxima(entries)]
    for (_, fewer, less), (place, count, most) in itertools.pairwise(found):
        for name in most:
            if most[name] <= less[name]:
                text = (
                    f"the total of {count} replicas isn't above that of {fewer} in {name}: raise "
                    "maxResources"
                )
                raise IntervalsInvalid(place, text)


def least_total(boundary: Fraction, overlap: Margin) -> Fraction:
    """The minimum total of the interval above a boundary."""
    return max(boundary - overlap.of(boundary), NONE)


def count_range(
    intervals: Sequence[EffectiveInterval], resource: str, total: Fraction
) -> CountRange | None:
    """The numbers of replicas for a total; None if the intervals don't know the resource.

    Bounds belong to their interval. A total above the last interval gets its replicas, and one
    below the first gets those of the first.
    """
    if resource not in intervals[0].most:
        return None
    # Bounds rise from interval to interval, so they can be searched.
    above = bisect.bisect_left(intervals, total, key=lambda each: each.most[resource])
    reached = bisect.bisect_right(intervals, total, key=lambda each: each.least[resource])
    fewest = intervals[min(above, len(intervals) - 1)]
    return CountRange(fewest.replicas, intervals[max(reached - 1, 0)].replicas)


def _maxima(entries: Sequence[IntervalEntry]) -> Iterator[tuple[IntervalEntry, int, Amounts]]:
    """The replicas of each interval and its maximum total."""
    replicas, total = 0, _NOTHING
    for entry in entries:
        end = total_of(entry.max_per_pod, entry.max_replicas)
        for count in _counts(entry, after=replicas):
            yield entry, count, _maximum(entry, count, after=(replicas, total), end=end)
        replicas, total = entry.max_replicas, end


def total_of(per_pod: Amounts, replicas: int) -> dict[str, Fraction]:
    """The total of so many pods."""
    return {name: amount * replicas for name, amount in per_pod.items()}


def _counts(entry: IntervalEntry, *, after: int) -> range:
    is_one = entry.extrapolation is Extrapolation.SINGLE
    return range(entry.max_replicas if is_one else after + 1, entry.max_replicas + 1)


def _maximum(
    entry: IntervalEntry, count: int, *, after: tuple[int, Amounts], end: Amounts
) -> Amounts:
    if entry.extrapolation is Extrapolation.HORIZONTAL_ONLY:
        return total_of(entry.max_per_pod, count)
    replicas, start = after
    part = Fraction(count - replicas, entry.max_replicas - replicas)
    return {
        name: start.get(name, NONE) + (most - start.get(name, NONE)) * part
        for name, most in end.items()
    }


_NOTHING: Final[Mapping[str, Fraction]] = {}
