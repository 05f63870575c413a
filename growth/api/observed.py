"""What a pool that only observes has seen and would have done: part of a NodePool's status.

It is the only memory of an observation that survives a restart, and it is bounded: the machines
that growth would have now, and one entry for each hour.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Final

from pydantic import Field

from growth.api.bounds import Atomic, Count, Currency, Identifier, Labels
from growth.api.model import Model
from growth.api.written import Money, Quantity, ServerType, Timestamp

MOST_MACHINES: Final = 256
"""Machines that a status names."""
MOST_HOURS: Final = 192
"""Hours that a status holds: eight days."""
Seconds = Annotated[int, Field(ge=0, le=1_000_000_000)]
"""An amount of time, added up over machines."""


class ObservedMachine(Model):
    """A machine that growth would have bought and would still have."""

    name: Identifier
    """The name that its NodeRequest would have."""
    offering: Annotated[str, Field(max_length=127)]
    """What would have been bought, such as hetzner-cax11."""
    server_type: ServerType
    """Its server type."""
    location: Annotated[str, Field(max_length=63)]
    """Its location."""
    labels: Labels = Field(default_factory=dict)
    """Labels that distinguish the offer from others of its type in its location."""
    price: Money
    """Its price per hour."""
    currency: Currency = ""
    """The currency of the price. Empty if its provider doesn't name one."""
    resources: Annotated[Mapping[str, Quantity], Field(max_length=32)] = {}
    """Its resources for pods."""
    bought_at: Timestamp
    """When it would have been bought."""
    marked_at: Timestamp | None = None
    """When it would have been marked for removal, because it was idle."""


class ObservedHour(Model):
    """What growth would have done within an hour, and what others did."""

    at: Timestamp
    """The beginning of the hour."""
    watched: Seconds = 0
    """Seconds in which growth was watching. All other figures are about this time alone."""
    bought: Count = 0
    """Machines that growth would have bought."""
    given_back: Count = 0
    """Machines that growth would have given back."""
    machine_seconds: Seconds = 0
    """Seconds of all machines that growth would have had."""
    cost: Money = Decimal(0)
    """What they would have cost, in the pool's currency."""
    joined: Count = 0
    """Nodes of others that joined."""
    left: Count = 0
    """Nodes of others that left."""
    node_seconds: Seconds = 0
    """Seconds of all nodes of others that joined since the observation began."""
    node_cost: Money = Decimal(0)
    """What they cost by the prices of the pool's provider, as far as these are known."""
    unpriced_seconds: Seconds = 0
    """Seconds of those nodes whose price isn't known."""


class ObservedStatus(Model):
    """What growth would have done for the pool since it only observes."""

    since: Timestamp
    """When the observation began. Nodes that were there before are common to both sides."""
    until: Timestamp
    """When the figures were last updated."""
    currency: Currency = ""
    """The currency of all costs."""
    unplaced: Count = 0
    """Pods for which growth would have had no machine."""
    machines: Annotated[tuple[ObservedMachine, ...], Field(max_length=MOST_MACHINES), Atomic()] = ()
    """The machines that growth would have now."""
    hours: Annotated[tuple[ObservedHour, ...], Field(max_length=MOST_HOURS), Atomic()] = ()
    """The figures of each hour, the oldest first."""
