"""What a pool's pods cost at the very least, whatever machines they were on.

Proven, and cheap enough for each scrape: of any resource, no machine of the catalogue sells a unit
for less than the cheapest one does. The dearest resource alone gives the bound; that the others
come with it for nothing is what makes it lower than a plan's.
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
"""What every machine has."""


class KeptPods:
    """The sums of what must be somewhere: DaemonSets' pods aren't, as they come with each node.

    A node's sum is kept for as long as its pods are the same, since a cluster has many.
    """

    def __init__(self) -> None:
        self._sums: dict[str, tuple[Occupancy, Resources]] = {}

    def of(self, nodes: Iterable[str], cluster: Cluster) -> Resources:
        """What the pods on these nodes ask for."""
        return total(self._of(name, cluster) for name in nodes)

    def keep_only(self, nodes: Mapping[str, object]) -> None:
        """Forget nodes that are gone."""
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
    """Millionths an hour that no choice among these offers undercuts; 0 where nothing is known."""
    offers = [each for each in items if each.price > 0]
    return max((_of_one(name, wanted[name], offers) for name in SOLD), default=0.0)


def _of_one(name: str, amount: int, offers: Iterable[Purchasable]) -> float:
    rooms = ((each.price, each.node.allocatable[name]) for each in offers)
    cheapest = min((price / room for price, room in rooms if room > 0), default=0.0)
    return cheapest * amount
