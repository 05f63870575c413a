"""The patterns that the search has found so far, each of them once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reconciler.solver.arrays.draft import Draft


@dataclass(slots=True)
class Patterns:
    """A growing list of (offer, units of each class)."""

    offers: list[int] = field(default_factory=list)
    counts: list[NDArray[np.int64]] = field(default_factory=list)
    _known: set[tuple[int, bytes]] = field(default_factory=set)

    def add(self, offer: int, counts: NDArray[np.int64]) -> bool:
        """Add a pattern; returns whether it is new."""
        key = (offer, counts.tobytes())
        if key in self._known or not counts.any():
            return False
        self._known.add(key)
        self.offers.append(offer)
        self.counts.append(counts)
        return True

    def add_draft(self, draft: Draft) -> None:
        """Add the contents of all nodes of a draft."""
        for offer, counts in zip(draft.offers.tolist(), draft.counts, strict=True):
            self.add(offer, np.ascontiguousarray(counts))

    def __len__(self) -> int:
        return len(self.offers)
