"""Missing capacity as machines of several types, at the least cost.

What is missing is a vector: so much CPU and so much memory. Any mix of the types that has both will
do. The best one is searched exactly, by depth first with a bound, and the search ends after a
counted effort with the best mix so far. With one type, the answer is the seed's number of nodes.
"""

from __future__ import annotations

from math import ceil, inf
from typing import TYPE_CHECKING, Final

import msgspec

from growth.scheduling.resources import CPU, MEMORY, Resources

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

EFFORT: Final = 20_000
"""Mixes that are looked at: some hundredths of a second."""
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
    search.descend(0, needs, spent=0, left=most, chosen=[])
    return None if search.best is None else dict(zip(_names(useful), search.best, strict=False))


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


class _Search:
    """Depth first over the types, each from many machines to none."""

    def __init__(self, types: Sequence[SoldType], needs: tuple[int, int]) -> None:
        self._types = types
        self._needs = needs
        self._effort = EFFORT
        self._rates = [self._rates_from(place) for place in range(len(types) + 1)]
        self.best: list[int] | None = None
        self._key: tuple[float, float] = (inf, inf)

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

    def descend(
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
        for number in range(min(self._enough(each, missing), each.most, left), -1, -1):
            rest = (
                max(0, missing[0] - number * each.room[CPU]),
                max(0, missing[1] - number * each.room[MEMORY]),
            )
            self.descend(
                place + 1,
                rest,
                spent=spent + number * each.cost,
                left=left - number,
                chosen=[*chosen, number],
            )

    def _take(self, spent: int, chosen: list[int]) -> None:
        """Of mixes with the same cost, that with the fewest machines."""
        key = (spent, sum(chosen))
        if key < self._key:
            self._key, self.best = key, chosen

    def _enough(self, each: SoldType, missing: tuple[int, int]) -> int:
        """As many as cover what is missing of both, as far as they have of it."""
        rooms = (each.room[CPU], each.room[MEMORY])
        wanted = (ceil(need / room) for need, room in zip(missing, rooms, strict=True) if room)
        return max(wanted, default=0)
