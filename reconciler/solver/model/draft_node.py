"""A node of an unfinished plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections import Counter

    from reconciler.solver.model.problem import Offer


@dataclass(slots=True)
class DraftNode:
    """One node of an unfinished plan."""

    offer: Offer
    pods: Counter[str]
    kept: bool
    """Whether it stays in the plan without pods, because a minimum requires it."""

    @property
    def is_there(self) -> bool:
        """Whether it is a node in the end: it exists, or it is bought."""
        return self.offer.exists or self.kept or bool(+self.pods)
