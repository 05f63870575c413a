"""Missing capacity as machines of several types, at the least cost.

What is missing is a vector: so much CPU and so much memory. Any mix of the types that has both will
do. The best one is searched exactly, by depth first with a bound, and the search ends after a
counted effort with the best mix so far. With one type, the answer is the seed's number of nodes.

If much is missing and there are many types, that effort is soon used up. So the search begins with
good mixes: if machines could be divided, the best mix would have no more types than there are
resources, that is two. Whole machines of such a pair come first, and only the rest is searched.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from math import ceil, inf
from typing import TYPE_CHECKING, Final

import msgspec

from growth.scheduling.resources import CPU, MEMORY, Resources

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

EFFORT: Final = 20_000
"""Mixes that are looked at: some hundredths of a second."""
PAIRS: Final = 4
"""Pairs with which it begins."""
EFFORT_OF_PAIR: Final = 2_000
WEIGHTS: Final = tuple(step / 16 for step in range(17))
"""Of both resources in a bound. Each gives a valid one, and the best of them counts."""
A_HAIR: Final = 1e-9


class SoldType(msgspec.Struct, frozen=True, kw_only=True):
    """A type that can be bought."""

    name: str
    room: Resources
    cost: int
    most: int
    """Machines of it that may be bought."""


Mix = dict[str, int]
"""Machines by type."""


def cheapest_mix(missing: Resources, types: Iterable[SoldType], *, most: int) -> Mix | None:
    """The cheapest mix of at most so many machines that has what is missing; None without one."""
    needs = (max(0, missing[CPU]), max(0, missing[MEMORY]))
    useful = [each for each in types if each.most > 0 and _helps(each, needs)]
    useful.sort(key=lambda each: (_rate(each, needs), each.name))
    if not any(needs):
        return {}
    search = _Search(useful, needs)
    search.each_alone(most=most)
    for pair in best_pairs(useful, needs)[:PAIRS]:
        search.fill_up(pair, most=most)
    search.from_nothing(most=most)
    if search.best is None:
        return None
    counted = zip(_names(useful), search.best, strict=True)
    return {name: count for name, count in counted if count}


def cheapest_alone(types: Iterable[SoldType], fits: Callable[[Resources], bool]) -> str | None:
    """The cheapest type of which one machine is enough."""
    able = [each for each in types if each.most > 0 and fits(each.room)]
    return min(able, key=lambda each: (each.cost, each.name)).name if able else None


def largest_mix(types: Iterable[SoldType], missing: Resources, *, most: int) -> Mix:
    """As much of it as so many machines can have, if no mix has all of it."""
    needs = (max(1, missing[CPU]), max(1, missing[MEMORY]))
    ranked = sorted(types, key=lambda each: (-_least_share(each, needs), each.cost, each.name))
    chosen: Mix = {}
    for each in ranked:
        number = min(each.most, most - sum(chosen.values()))
        if number > 0:
            chosen[each.name] = number
    return chosen


def _rest(missing: tuple[int, int], each: SoldType, number: int) -> tuple[int, int]:
    """What is still missing with so many machines of a type."""
    cpu, memory = missing
    return (
        max(0, cpu - number * each.room[CPU]),
        max(0, memory - number * each.room[MEMORY]),
    )


def _names(types: Iterable[SoldType]) -> list[str]:
    return [each.name for each in types]


def _helps(each: SoldType, needs: tuple[int, int]) -> bool:
    return any(need and each.room[name] for need, name in zip(needs, (CPU, MEMORY), strict=True))


def _shares(each: SoldType, needs: tuple[int, int]) -> tuple[float, float]:
    cpu, memory = needs
    return (
        each.room[CPU] / cpu if cpu else 0.0,
        each.room[MEMORY] / memory if memory else 0.0,
    )


def _least_share(each: SoldType, needs: tuple[int, int]) -> float:
    return min(_shares(each, needs))


def _rate(each: SoldType, needs: tuple[int, int]) -> float:
    """What the larger of its shares costs."""
    return each.cost / max(_shares(each, needs))


class TypePair(msgspec.Struct, frozen=True, order=True):
    """Two types, or one twice, that have together exactly what is missing."""

    cost: float
    """If machines could be divided."""
    places: tuple[int, int]
    """Where they are in the list of types."""
    counts: tuple[float, float]


def best_pairs(types: Sequence[SoldType], needs: tuple[int, int]) -> list[TypePair]:
    """The cheapest ones first."""
    worthy = [place for place, each in enumerate(types) if not _is_dominated(each, types)]
    found = (
        _paired(types, first, second, needs)
        for first, second in combinations_with_replacement(worthy, 2)
    )
    return sorted(pair for pair in found if pair is not None)


def _is_dominated(each: SoldType, types: Iterable[SoldType]) -> bool:
    """Whether another type has more of both resources for the same money."""
    return any(
        other.room[CPU] * each.cost > each.room[CPU] * other.cost
        and other.room[MEMORY] * each.cost > each.room[MEMORY] * other.cost
        for other in types
    )


def _paired(
    types: Sequence[SoldType], first: int, second: int, needs: tuple[int, int]
) -> TypePair | None:
    one, two = types[first], types[second]
    if first == second:
        shares = _shares(one, needs)
        wanted = zip(shares, needs, strict=True)
        count = max(1 / share if share else inf for share, need in wanted if need)
        counts = (count, 0.0)
    else:
        crossed = one.room[CPU] * two.room[MEMORY] - two.room[CPU] * one.room[MEMORY]
        if not crossed:
            return None
        counts = (
            (needs[0] * two.room[MEMORY] - needs[1] * two.room[CPU]) / crossed,
            (needs[1] * one.room[CPU] - needs[0] * one.room[MEMORY]) / crossed,
        )
    if not 0 <= min(counts) <= max(counts) < inf:
        return None
    return TypePair(counts[0] * one.cost + counts[1] * two.cost, (first, second), counts)


class _Search:
    """Depth first over the types, each from many machines to none."""

    def __init__(self, types: Sequence[SoldType], needs: tuple[int, int]) -> None:
        self._types = types
        self._needs = needs
        self._effort = 0
        self._base = [0] * len(types)
        """Machines that are in every mix that is searched now."""
        self._rates = [self._rates_from(place) for place in range(len(types) + 1)]
        self.best: list[int] | None = None
        self._key: tuple[float, float] = (inf, inf)

    def each_alone(self, *, most: int) -> None:
        """Take the best mix of one type."""
        for place, each in enumerate(self._types):
            number = self._enough(each, self._needs)
            missing = _rest(self._needs, each, number)
            if number <= min(each.most, most) and not any(missing):
                self._take(number * each.cost, [0] * place + [number])

    def from_nothing(self, *, most: int) -> None:
        """Search all mixes."""
        self._effort, self._base = EFFORT, [0] * len(self._types)
        self._descend(0, self._needs, spent=0, left=most, chosen=[])

    def fill_up(self, pair: TypePair, *, most: int) -> None:
        """Search the mixes that have the whole machines of this pair."""
        self._effort, self._base = EFFORT_OF_PAIR, [0] * len(self._types)
        left, needs, spent = most, self._needs, 0
        for place, count in zip(pair.places, pair.counts, strict=True):
            each = self._types[place]
            number = min(int(count), each.most - self._base[place], left)
            self._base[place] += number
            left -= number
            spent += number * each.cost
            needs = _rest(needs, each, number)
        self._descend(0, needs, spent=spent, left=left, chosen=[])

    def _rates_from(self, place: int) -> Mapping[float, float]:
        """For each weight, the least cost of a whole share with the types from this one on."""
        return {
            weight: min(
                (
                    each.cost / worth
                    for each in self._types[place:]
                    if (worth := self._worth(each, weight)) > 0
                ),
                default=inf,
            )
            for weight in WEIGHTS
        }

    def _worth(self, each: SoldType, weight: float) -> float:
        cpu, memory = _shares(each, self._needs)
        return weight * cpu + (1 - weight) * memory

    def _bound(self, place: int, left: tuple[int, int]) -> float:
        """Less than this, the rest can't cost."""
        cpu, memory = (
            each / need if need else 0.0 for each, need in zip(left, self._needs, strict=True)
        )
        shares = ((w * cpu + (1 - w) * memory, rate) for w, rate in self._rates[place].items())
        return max((share * rate for share, rate in shares if share > 0), default=0.0)

    def _descend(
        self, place: int, missing: tuple[int, int], *, spent: int, left: int, chosen: list[int]
    ) -> None:
        """Try all numbers of this type, the largest useful one first."""
        self._effort -= 1
        if not any(missing):
            self._take(spent, chosen)
            return
        if place == len(self._types) or left <= 0 or self._effort < 0:
            return
        if spent + self._bound(place, missing) * (1 - A_HAIR) > self._key[0]:
            return
        each = self._types[place]
        most = min(self._enough(each, missing), each.most - self._base[place], left)
        for number in range(most, -1, -1):
            self._descend(
                place + 1,
                _rest(missing, each, number),
                spent=spent + number * each.cost,
                left=left - number,
                chosen=[*chosen, number],
            )

    def _take(self, spent: int, chosen: list[int]) -> None:
        """Of mixes with the same cost, that with the fewest machines."""
        chosen = chosen + [0] * (len(self._base) - len(chosen))
        mix = [some + more for some, more in zip(self._base, chosen, strict=True)]
        key = (spent, sum(mix))
        if key < self._key:
            self._key, self.best = key, mix

    def _enough(self, each: SoldType, missing: tuple[int, int]) -> int:
        """As many as cover what is missing of both, as far as they have of it."""
        rooms = (each.room[CPU], each.room[MEMORY])
        wanted = (ceil(need / room) for need, room in zip(missing, rooms, strict=True) if room)
        return max(wanted, default=0)
