"""What nodes cost, which pods use them, and how much is unused.

A pod uses the larger one of its shares of CPU and memory of its node. Where those shares come to
more than the whole node (one pod full of CPU beside one full of memory), they are scaled down to
it: a node is paid once. What is left is idle.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Final

import msgspec

from growth.api.wellknown import CURRENCY_ANNOTATION, PRICE_ANNOTATION
from growth.keeping.marks import pool_of_node
from growth.scheduling.resources import CPU, MEMORY

if TYPE_CHECKING:
    from growth.cli.cluster.survey import Survey
    from growth.scheduling.node import Node
    from growth.scheduling.occupancy import Occupancy
    from growth.scheduling.pod import Pod

NOTHING: Final = Decimal(0)


class Expense(msgspec.Struct, frozen=True, kw_only=True):
    """One node's price, and which pods use it."""

    price: Decimal
    """Per hour; zero if unknown."""
    shares: Mapping[str, float]
    """Of the node, by the uid of the pod; together at most 1."""

    @property
    def used(self) -> float:
        """How much of the node is used."""
        return min(1.0, sum(self.shares.values()))

    @property
    def idle(self) -> Decimal:
        """Cost of the unused part per hour."""
        return self.price * (1 - _exactly(self.used))

    def cost_of(self, pod: Pod) -> Decimal:
        """What an hour of the pod's share costs."""
        return self.price * _exactly(self.shares[pod.metadata.uid])


def expense(node: Node, held: Occupancy) -> Expense:
    """What a node costs, and which pods use it."""
    shares = {pod.metadata.uid: _share(pod, node) for pod in held.pods}
    whole = max(1.0, sum(shares.values()))
    return Expense(
        price=price_when_bought(node),
        shares={uid: share / whole for uid, share in shares.items()},
    )


def price_when_bought(node: Node) -> Decimal:
    """What an hour cost when it was bought; zero where that isn't written or can't be read."""
    try:
        price = Decimal(node.metadata.annotations.get(PRICE_ANNOTATION, "0"))
    except InvalidOperation:
        return NOTHING
    return price if price.is_finite() else NOTHING


def currency_when_bought(node: Node, seen: Survey) -> str:
    """What that is in: as it was bought, else what its pool buys in, if anybody has written it."""
    pool = seen.pools.get(pool_of_node(node))
    own = "" if pool is None else pool.status.currency
    return node.metadata.annotations.get(CURRENCY_ANNOTATION) or own or seen.currency


def filled(node: Node, held: Occupancy, resource: str) -> float:
    """Which part of a resource is requested."""
    room = node.allocatable[resource]
    return held.requested[resource] / room if room else 0.0


def _exactly(part: float) -> Decimal:
    """A part as a decimal, without the tail of its binary form."""
    return Decimal(str(round(part, 9)))


def _share(pod: Pod, node: Node) -> float:
    room = node.allocatable
    return max((pod.requests[name] / room[name] for name in (CPU, MEMORY) if room[name]), default=0)
