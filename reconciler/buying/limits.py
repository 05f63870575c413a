"""The limits that people set, as data: what each one is, whose it is, and what it leaves.

The solver knows a limit by its name alone and answers with that name. What a name stands for is
looked up in the question that was asked, so no text is ever taken apart again.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from reconciler.solver import Limit

if TYPE_CHECKING:
    from collections.abc import Mapping


class LimitKind(StrEnum):
    """What is limited, in the word that a pool's condition has as its reason."""

    TYPE_MAXIMUM = "TypeMaximum"
    NODES = "Nodes"
    NODES_PER_HOUR = "NodesPerHour"
    CPU = "Cpu"
    MEMORY = "Memory"
    HOURLY_COST = "HourlyCost"
    POLICY = "ScalingPolicy"
    TOTAL_NODES = "TotalNodes"
    TOTAL_NODES_PER_HOUR = "TotalNodesPerHour"
    TOTAL_HOURLY_COST = "TotalHourlyCost"


class SetLimit(NamedTuple):
    """A limit that somebody has set, and can raise."""

    kind: LimitKind
    what: str
    """The field or the setting that says it."""
    pool: str = ""
    """Empty for what holds for all pools together."""
    currency: str = ""
    """Of a limit on cost, if it is known."""

    @property
    def name(self) -> str:
        """Unlike that of every other limit of one question."""
        return f"of pool {self.pool}: {self.what}" if self.pool else self.what


class Left(NamedTuple):
    """What a limit leaves, as the solver is told."""

    limit: Limit
    of: SetLimit | None = None
    """None for a limit that nobody has set: an offer that is tried, a quota of the cloud."""


def left_of_limit(of: SetLimit, amounts: Mapping[str, int], *, most: int) -> Left:
    """What a limit that is set leaves: `most` of the amounts that each offer uses, or nothing."""
    return Left(Limit(name=of.name, amounts=amounts, most=max(0, most)), of)
