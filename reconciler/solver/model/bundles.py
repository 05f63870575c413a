"""Followers that must share a node with an anchor become one unit with it: a bundle.

The followers are dealt out evenly over their anchors, as small bundles are the easiest to pack. An
anchor that isn't needed stays a unit of its own. Followers that find no room beside an anchor of
this plan may only use the nodes where one runs. So every packing of these units keeps the rule; a
plan with other shares may be cheaper, and that only the exact program (bound/prove.py) finds out.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from reconciler.solver.model.lots import clash, composite, fits, is_member
from reconciler.solver.model.nearness import anchors_first, nears, needs_of
from reconciler.solver.model.problem import HOSTNAME, Apart, SpreadRule

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from reconciler.solver.model.lots import Lot, OfferArrays
    from reconciler.solver.model.nearness import NearGuess
    from reconciler.solver.model.problem import Near, Problem

Content = tuple[tuple[int, int], ...]
"""The lots of a bundle, and how many units of each."""


def bundled(
    lots: Sequence[Lot], problem: Problem, ground: OfferArrays, guess: NearGuess
) -> list[Lot]:
    """The lots, with each follower in a bundle or restricted to nodes with a running anchor."""
    groups = [group for group in nears(problem) if group.key == HOSTNAME]
    return _Bundling(lots, groups, problem, ground, guess).run() if groups else list(lots)


class _Bundling:
    """Bundles in the making: how often there is each content."""

    def __init__(
        self,
        lots: Sequence[Lot],
        groups: Sequence[Near],
        problem: Problem,
        ground: OfferArrays,
        guess: NearGuess,
    ) -> None:
        self.lots = list(lots)
        self.groups = groups
        self.ground = ground
        self.guess = guess
        self.caps = [
            (group.members, group.most if isinstance(group, Apart) else group.max_skew)
            for group in problem.groups
            if isinstance(group, Apart | SpreadRule) and group.key == HOSTNAME
        ]
        self.hosts: Counter[Content] = Counter()
        self.room = ground.capacity.copy()
        """What running anchors' nodes have left, by a rough count."""

    def run(self) -> list[Lot]:
        """Deal out all followers, anchors before those that follow them."""
        for n in anchors_first(self.lots, self.groups):
            needs = needs_of(self.lots[n], self.groups)
            if needs:
                self._follow(n, needs)
            else:
                self.hosts[(n, 1),] += self.lots[n].count
        return [self._lot(content, count) for content, count in sorted(self.hosts.items()) if count]

    def _lot(self, content: Content, count: int) -> Lot:
        ((first, times), *others) = content
        if times == 1 and not others:
            return replace(self.lots[first], count=count)
        return replace(self._unit(dict(content)), count=count)

    def _follow(self, n: int, needs: Sequence[Near]) -> None:
        lot = self.lots[n]
        beside = lot.allowed & self._runs_beside(needs)
        there = self._there(lot, beside) if self.guess.is_reusing else 0
        left = self._joined(n, needs, lot.count - there) + there
        self.lots.append(replace(lot, count=left, allowed=beside))
        self.hosts[(len(self.lots) - 1, 1),] += left

    def _runs_beside(self, needs: Sequence[Near]) -> NDArray[np.bool_]:
        rows = [self.ground.allowed_to(group.running) for group in needs]
        return np.asarray(np.logical_and.reduce(rows))

    def _there(self, lot: Lot, beside: NDArray[np.bool_]) -> int:
        """How many units fit on nodes with a running anchor, which are then counted as taken."""
        needs, placed = np.array(lot.requests, dtype=np.float64), 0
        for o in np.flatnonzero(beside).tolist():
            most = (self.room[o] // np.maximum(needs, 1e-9)).min(initial=lot.count)
            here = int(min(most, lot.per_node or lot.count, lot.count - placed))
            self.room[o] -= here * needs
            placed += here
        return placed

    def _joined(self, n: int, needs: Sequence[Near], wanted: int) -> int:
        """Add followers to the units that hold all their anchors; returns how many are left."""
        left = self._dealt(n, needs, wanted)
        while left and self._merge_hosts(n, needs):
            left = self._dealt(n, needs, left)
        return left

    def _dealt(self, n: int, needs: Sequence[Near], wanted: int) -> int:
        """Deal out followers evenly over units with room for more; returns how many are left."""
        room = {
            content: self._most(n, content)
            for content, count in sorted(self.hosts.items(), key=lambda one: (-len(one[0]), one[0]))
            if count and all(self._brings(content, group) for group in needs)
        }
        while wanted and any(room.values()):
            open_to = [content for content, most in room.items() if most]
            hosts = sum(self.hosts[content] for content in open_to)
            each = min(max(1, wanted // hosts), *(room[content] for content in open_to))
            for content in open_to:
                times = min(self.hosts[content], wanted // each)
                if times:
                    wanted -= each * times
                    room[self._grown(content, {n: each}, times)] = room[content] - each
                    if not self.hosts[content]:
                        del room[content]
        return wanted

    def _grown(self, content: Content, more: Mapping[int, int], times: int) -> Content:
        """Add these units to some of the units of this content."""
        grown = tuple(sorted((Counter(dict(content)) + Counter(more)).items()))
        self.hosts[content] -= times
        self.hosts[grown] += times
        return grown

    def _brings(self, content: Content, group: Near) -> bool:
        return any(is_member(self.lots[n], group.anchors) for n, _ in content)

    def _merge_hosts(self, n: int, needs: Sequence[Near]) -> bool:
        """Join two kinds of units so that a follower finds more of its anchors in one place."""
        known = [content for content, count in sorted(self.hosts.items()) if count]
        for one in known:
            missing = [group for group in needs if not self._brings(one, group)]
            if not missing or len(missing) == len(needs):
                continue
            for other in known:
                both = tuple(sorted((Counter(dict(one)) + Counter(dict(other))).items()))
                if other != one and self._brings(other, missing[0]) and self._most(n, both):
                    times = min(self.hosts[one], self.hosts[other])
                    self._grown(one, dict(other), times)
                    self.hosts[other] -= times
                    return True
        return False

    def _most(self, n: int, content: Content) -> int:
        """The most units of a lot that one unit of this content can take in."""
        chosen = dict(content)
        low, high = 0, self.lots[n].per_node or self.lots[n].count
        if any(clash(self.lots[n], self.lots[m]) for m in chosen):
            return 0
        while low < high:
            middle = (low + high + 1) // 2
            works = self._works(chosen | {n: chosen.get(n, 0) + middle})
            low, high = (middle, high) if works else (low, middle - 1)
        return low

    def _works(self, chosen: Mapping[int, int]) -> bool:
        unit = self._unit(chosen)
        within = all(
            sum(times for name, times in unit.pods if name in members) <= most
            for members, most in self.caps
        )
        return within and bool(fits(unit, self.ground).any())

    def _unit(self, chosen: Mapping[int, int]) -> Lot:
        order = sorted(chosen)
        unit = composite([self.lots[n] for n in order], [chosen[n] for n in order])
        limits = [most // chosen[n] for n in order if (most := self.lots[n].per_node) is not None]
        return replace(unit, pods=_together(unit.pods), per_node=min(limits, default=None))


def _together(pods: Sequence[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    counts: Counter[str] = Counter()
    for name, times in pods:
        counts[name] += times
    return tuple(sorted(counts.items()))
