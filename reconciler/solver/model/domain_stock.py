"""What a domain has for pods that must all go there, as a rough estimate before packing.

Rules between pods are ignored. Prices are those of the scarcest resource.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reconciler.solver.model.lots import Lot, OfferArrays


class DomainStock:
    """The room of a domain's nodes, and what can be bought there, while lots are put there."""

    def __init__(self, mask: NDArray[np.bool_], ground: OfferArrays) -> None:
        self.mask = mask
        self.ground = ground
        self.there = np.array([offer.exists for offer in ground.offers], dtype=np.bool_)
        self.room = ground.capacity.copy()
        most = [np.inf if offer.most is None else offer.most for offer in ground.offers]
        self.copies = np.array(most, dtype=np.float64)

    def take(self, lot: Lot) -> tuple[int, float]:
        """How many units find no place, and what the others cost."""
        size = np.array(lot.requests, dtype=np.float64)
        usable = lot.allowed & self.mask & (self.ground.capacity >= size).all(axis=1)
        waiting = self._in_room(lot, np.flatnonzero(usable & self.there))
        return self._bought(lot, np.flatnonzero(usable & ~self.there), waiting)

    def _in_room(self, lot: Lot, nodes: NDArray[np.intp]) -> int:
        """Fill existing nodes; returns how many units are left."""
        if not len(nodes):
            return lot.count
        held = self._held(self.room[nodes], lot)
        taken = np.clip(lot.count - (np.cumsum(held) - held), 0, held)
        self.room[nodes] -= taken[:, None] * np.array(lot.requests, dtype=np.float64)
        return lot.count - int(taken.sum())

    def _bought(self, lot: Lot, offers: NDArray[np.intp], waiting: int) -> tuple[int, float]:
        """Buy nodes for the rest; returns how many units are still left, and the cost."""
        each = self._held(self.ground.capacity[offers], lot)
        share = np.array(lot.requests) / np.maximum(self.ground.capacity[offers], 1.0)
        prices = share.max(axis=1, initial=0.0) * self.ground.price[offers]
        cost = 0.0
        for place in np.argsort(prices, kind="stable").tolist():
            o = int(offers[place])
            number = int(min(waiting, self.copies[o] * each[place]))
            if number:
                self.copies[o] -= number / each[place]
                waiting -= number
                cost += number * float(prices[place])
            if not waiting:
                break
        return waiting, cost

    def _held(self, room: NDArray[np.float64], lot: Lot) -> NDArray[np.float64]:
        """The units of a lot in the room of each node."""
        size = np.array(lot.requests, dtype=np.float64)
        most = float(lot.count if lot.per_node is None else min(lot.count, lot.per_node))
        asked = size > 0
        held = np.floor(room[:, asked] / size[asked])
        return np.asarray(held.min(axis=1, initial=most))
