"""A lower bound of the cost of a pool's pods, for any choice of machines.

It is proven, and cheap enough for each scrape: for each resource there is a machine in the
catalogue with the lowest price per unit, and no other can be cheaper. The most expensive resource
alone gives the bound. It is lower than that of a plan, because the other resources cost nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.scheduling.resources import CPU, MEMORY, NOTHING, PODS, Resources, total

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from growth.scheduling.cluster import Cluster
    from growth.scheduling.occupancy import Occupancy
    from reconciler.buying.offers import Purchasable

SOLD: Final = (CPU, MEMORY, PODS)
"""The resources that all machines have."""


class KeptPods:
    """Sums of the pods that need a node; DaemonSet pods don't count, as each node has them.

    The sum of a node is cached while its pods stay the same, because a cluster has many nodes.
    """

    def __init__(self) -> None:
        self._sums: dict[str, tuple[Occupancy, Resources]] = {}

    def of(self, nodes: Iterable[str], cluster: Cluster) -> Resources:
        """The total requests of the pods on these nodes."""
        return total(self._of(name, cluster) for name in nodes)

    def keep_only(self, nodes: Mapping[str, object]) -> None:
        """Forget all other nodes."""
        for name in self._sums.keys() - nodes.keys():
            del self._sums[name]

    def _of(self, name: str, cluster: Cluster) -> Resources:
        occupancy = cluster.occupancies.get(name)
        if occupancy is None:
            return NOTHING
        before = self._sums.get(name)
        if before is None or before[0] is not occupancy:
            kept = total(pod.requests for pod in occupancy.keepers)
            before = self._sums[name] = (occupancy, kept)
        return before[1]


def least_cost(wanted: Resources, items: Iterable[Purchasable]) -> float:
    """A lower bound of the cost with these offers, in millionths per hour; 0 without offers."""
    offers = [each for each in items if each.price > 0]
    return max((_of_one(name, wanted[name], offers) for name in SOLD), default=0.0)


def _of_one(name: str, amount: int, offers: Iterable[Purchasable]) -> float:
    rooms = ((each.price, each.node.allocatable[name]) for each in offers)
    cheapest = min((price / room for price, room in rooms if room > 0), default=0.0)
    return cheapest * amount
