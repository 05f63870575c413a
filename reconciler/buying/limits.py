"""Limits as data: what each limits, its pool, and what it leaves.

The solver knows a limit only by its name and answers with that name. The question that was asked
maps the name back to the limit, so that no text has to be parsed.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from reconciler.solver import Limit

if TYPE_CHECKING:
    from collections.abc import Mapping


class LimitKind(StrEnum):
    """The kind of a limit; the value is the reason of the pool's condition."""

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
    """A limit that a person has set and can raise."""

    kind: LimitKind
    what: str
    """The field or setting that sets it."""
    pool: str = ""
    """Empty for a limit of all pools together."""
    currency: str = ""
    """The currency of a cost limit, if it is known."""

    @property
    def name(self) -> str:
        """Unique among the limits of one question."""
        return f"pool {self.pool}: {self.what}" if self.pool else self.what


class Left(NamedTuple):
    """What a limit leaves, in the solver's terms."""

    limit: Limit
    of: SetLimit | None = None
    """None if no person has set it: an offer that is being tested, or a quota of the cloud."""


def left_of_limit(of: SetLimit, amounts: Mapping[str, int], *, most: int) -> Left:
    """What a limit leaves: `most` of the amounts that each offer uses, or nothing."""
    return Left(Limit(name=of.name, amounts=amounts, most=max(0, most)), of)
