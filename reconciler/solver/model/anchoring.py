"""Followers get a domain, such as a zone, and an anchor that opens it.

One anchor for each domain is restricted to it; all other anchors stay free. Which domain is best
depends on all the other pods, so it is guessed, and the search compares several guesses.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from reconciler.solver.model.lots import cost_in, fits, is_member
from reconciler.solver.model.nearness import anchors_first, joined, nears, needs_of
from reconciler.solver.model.problem import HOSTNAME

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from reconciler.solver.model.lots import Lot, OfferArrays
    from reconciler.solver.model.nearness import NearGuess
    from reconciler.solver.model.problem import Near, Problem

    Masks = Mapping[str, NDArray[np.bool_]]


def anchored(
    lots: Sequence[Lot], problem: Problem, ground: OfferArrays, guess: NearGuess
) -> list[Lot]:
    """The lots, with each follower in domains in which an anchor runs or is planned."""
    found = list(lots)
    for key in sorted({group.key for group in nears(problem)} - {HOSTNAME}):
        groups = [group for group in nears(problem) if group.key == key]
        parts = _parts(found, groups)
        tied = {n for part in parts for n in part}
        settled = [
            _settled([found[n] for n in part], groups, key=key, ground=ground, guess=guess)
            for part in parts
        ]
        found = [lot for n, lot in enumerate(found) if n not in tied]
        found += [lot for part in settled for lot in part]
    return found


def _parts(lots: Sequence[Lot], groups: Sequence[Near]) -> list[list[int]]:
    """The lots that are followers or anchors of each other, directly or by way of others."""
    bonds = (
        frozenset(n for n, lot in enumerate(lots) if is_member(lot, group.members | group.anchors))
        for group in groups
    )
    return [sorted(part) for part in joined(bonds) if part]


def _settled(
    lots: Sequence[Lot],
    groups: Sequence[Near],
    *,
    key: str,
    ground: OfferArrays,
    guess: NearGuess,
) -> list[Lot]:
    """The lots of one part, settled."""
    domains = ground.domains(key)
    masks = {
        name: np.array([one == name for one in domains]) for name in sorted(set(domains) - {""})
    }
    ranked = sorted(masks, key=lambda name: (*cost_in(lots, masks[name], ground), name))
    chosen = ranked if guess.is_wide else ranked[guess.domain % max(1, len(ranked)) :][:1]
    return _Anchoring(lots, groups, masks, ground).run(chosen)


class _Anchoring:
    """One part in the making."""

    def __init__(
        self, lots: Sequence[Lot], groups: Sequence[Near], masks: Masks, ground: OfferArrays
    ) -> None:
        self.lots = list(lots)
        self.groups = groups
        self.masks = masks
        self.ground = ground
        self.opened = {group.name: set(group.running & masks.keys()) for group in groups}

    def run(self, chosen: Sequence[str]) -> list[Lot]:
        """Anchors open the chosen domains, as far as they can; followers go where one did."""
        result: list[Lot] = []
        for n in anchors_first(self.lots, self.groups):
            lot = self.lots[n]
            needs = needs_of(lot, self.groups)
            if needs:
                usable = set.intersection(*(self.opened[group.name] for group in needs))
                lot = replace(lot, allowed=lot.allowed & self._mask(usable))
            result += self._opening(lot, chosen)
        return result

    def _mask(self, names: set[str]) -> NDArray[np.bool_]:
        none = np.zeros(len(self.ground.price), dtype=np.bool_)
        return np.asarray(np.logical_or.reduce([none, *(self.masks[name] for name in names)]))

    def _opening(self, lot: Lot, chosen: Sequence[str]) -> list[Lot]:
        """One unit in each domain that isn't open yet to those that follow it, and the rest."""
        groups = [group for group in self.groups if is_member(lot, group.anchors)]
        rest, found = lot.count, []
        usable = fits(lot, self.ground)
        for name in chosen:
            closed = [group for group in groups if name not in self.opened[group.name]]
            if closed and rest and (usable & self.masks[name]).any():
                found.append(replace(lot, count=1, allowed=lot.allowed & self.masks[name]))
                rest -= 1
                for group in closed:
                    self.opened[group.name].add(name)
        return [*found, replace(lot, count=rest)] if rest else found
