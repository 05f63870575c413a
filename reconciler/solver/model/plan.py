"""The solver's answer: nodes with their pods, unplaced pods with reasons, and a proven bound."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class Stop(Enum):
    """Why the search ended."""

    NOTHING_TO_DO = "nothing to do"
    PROVEN = "proven optimal"
    GAP = "gap small enough"
    DRY = "nothing more was found"
    EFFORT = "counted effort spent"
    CLOCK = "safety clock"


class UnplacedCause(Enum):
    """The kinds of reasons why a pod has no place."""

    NO_OFFERS = "no offers at all"
    CONSTRAINT = "a constraint leaves no offer"
    TOO_LARGE = "no allowed offer is large enough"
    LIMIT = "a limit binds"
    COUNT = "the allowed offers are used up"
    GROUP = "its group leaves no domain"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnplacedReason:
    """Why pods of a class have no place: a text, and the numbers in that text as fields."""

    cause: UnplacedCause
    text: str
    resource: str = ""
    needed: int = 0
    available: int = 0
    offer: str = ""
    offers: tuple[str, ...] = ()
    """The offers that the pod fits on and that are used up."""
    rule: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unplaced:
    """The number of pods of a class that the plan has no node for."""

    pod_class: str
    count: int
    priority: int
    reason: UnplacedReason


@dataclass(frozen=True, slots=True, kw_only=True)
class NextBest:
    """The cheapest other type with room for the same pods."""

    offer: str
    type: str
    price: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedNode:
    """A node to buy, or one that exists, with the number of pods of each class to run there."""

    offer: str
    pods: Mapping[str, int]
    price: int
    next_best: NextBest | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightStep:
    """The part of the plan for one pool weight and one currency: its cost, and the bound for it."""

    weight: int
    cost: int
    bound: int
    currency: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """An answer that keeps all rules of its Problem; `seconds` is informative and not compared."""

    nodes: tuple[PlannedNode, ...]
    unplaced: tuple[Unplaced, ...]
    cost: int
    bound: int
    first_fit_cost: int
    first_fit_unplaced: int
    stop: Stop
    effort: int
    steps: tuple[WeightStep, ...] = ()
    seconds: float = field(default=0.0, compare=False)

    @property
    def is_in_one_currency(self) -> bool:
        """Whether cost and bound are amounts of anything: sums over currencies are not."""
        # Steps of several weights in one currency can be added up.
        return len({step.currency for step in self.steps}) <= 1

    @property
    def gap(self) -> float:
        """How far the cost is above the proven bound, as a fraction (0.01 is one percent)."""
        return self.cost / self.bound - 1 if self.bound else float(self.cost > 0)

    @property
    def rank(self) -> tuple[tuple[tuple[int, int], ...], int]:
        """How plans are compared: by unplaced pods, highest priority first, then by cost."""
        left: dict[int, int] = {}
        for one in self.unplaced:
            left[one.priority] = left.get(one.priority, 0) + one.count
        return tuple(sorted(left.items(), reverse=True)), self.cost
