"""What nodes cost, which pods use them, and how much is unused.

A pod uses its share of the node's CPU or memory, whichever is larger. If the shares add up to more
than the node (one pod uses most of the CPU, another most of the memory), they are scaled down,
because a node is paid for only once. The rest is idle.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Final

import msgspec

from growth.keeping.marks import currency_on, pool_of_node, price_on
from growth.scheduling.resources import CPU, MEMORY

if TYPE_CHECKING:
    from growth.cli.cluster.survey import Survey
    from growth.scheduling.node import Node
    from growth.scheduling.occupancy import Occupancy
    from growth.scheduling.pod import Pod

NOTHING: Final = Decimal(0)


class Expense(msgspec.Struct, frozen=True, kw_only=True):
    """The price of a node, and the pods that use it."""

    price: Decimal
    """Per hour; zero if unknown."""
    shares: Mapping[str, float]
    """Shares of the node by the UID of the pod; together at most 1."""

    @property
    def used(self) -> float:
        """The used share of the node."""
        return min(1.0, sum(self.shares.values()))

    @property
    def idle(self) -> Decimal:
        """Cost of the unused part per hour."""
        return self.price * (1 - _exactly(self.used))

    def cost_of(self, pod: Pod) -> Decimal:
        """The cost of the pod's share per hour."""
        return self.price * _exactly(self.shares[pod.metadata.uid])


def expense(node: Node, held: Occupancy) -> Expense:
    """The expense of a node."""
    shares = {pod.metadata.uid: _share(pod, node) for pod in held.pods}
    whole = max(1.0, sum(shares.values()))
    return Expense(
        price=price_when_bought(node),
        shares={uid: share / whole for uid, share in shares.items()},
    )


def price_when_bought(node: Node) -> Decimal:
    """The price per hour when it was bought; zero if it is missing or unreadable."""
    return price_on(node)


def currency_when_bought(node: Node, seen: Survey) -> str:
    """The currency recorded at the purchase, or else that of the pool; empty if unknown."""
    pool = seen.pools.get(pool_of_node(node))
    own = "" if pool is None else pool.status.currency
    return currency_on(node) or own or seen.currency


def filled(node: Node, held: Occupancy, resource: str) -> float:
    """The requested share of a resource."""
    room = node.allocatable[resource]
    return held.requested[resource] / room if room else 0.0


def _exactly(part: float) -> Decimal:
    """A share as a decimal, without the digits of its binary form."""
    return Decimal(str(round(part, 9)))


def _share(pod: Pod, node: Node) -> float:
    room = node.allocatable
    return max((pod.requests[name] / room[name] for name in (CPU, MEMORY) if room[name]), default=0)
