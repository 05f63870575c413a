"""Whether a machine that was asked for is still awaited by anyone.

It was asked for on behalf of pods that the request names, and of pods of its workloads that were
only announced then. So it isn't enough to look for the named ones: it is awaited as long as one of
them waits, or another pod has been promised a place on it, or a workload with seats on it has pods
without a place or still to come. A request that names no pod isn't judged by pods at all: its
machine is a pool's minimum, or takes the place of a node on which its pods still run.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from growth.scheduling.owners import workload_of
from reconciler.facts.seats import seats_of
from reconciler.planning.demand import announced, is_seeing

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from growth.api.noderequest import NodeRequest
    from growth.instant import Instant
    from growth.scheduling.owners import Owner
    from reconciler.core.world import World


@dataclass(frozen=True, kw_only=True)
class Awaiting:
    """Everyone who may await a machine at one moment."""

    world: World
    now: Instant
    waiting: Collection[str]
    """The pods that count as waiting, by uid."""

    def awaits(self, request: NodeRequest) -> bool:
        """Whether anyone awaits the machine of a request."""
        named = request.spec.pods
        if not named or any(pod.uid in self.waiting for pod in named):
            return True
        return request.name in self._promised or self._awaits_a_seat(request)

    def _awaits_a_seat(self, request: NodeRequest) -> bool:
        """While owners can't be seen as they are, one of them may lack pods."""
        owners = seats_of(request).keys()
        return bool(owners) and (not is_seeing(self.world) or bool(owners & self._lacking))

    @cached_property
    def _promised(self) -> frozenset[str]:
        """Machines on which a pod that waits has been promised a place."""
        places = self.world.ledger.planning.nominated.places
        return frozenset(place.machine for uid, place in places.items() if uid in self.waiting)

    @cached_property
    def _lacking(self) -> frozenset[Owner]:
        """Workloads with pods that have no place, or that are about to be made."""
        coming = announced(self.world, self.world.ledger.planning.nominated, self.now)
        return frozenset((*self._without_place(), *(each.workload for each in coming)))

    def _without_place(self) -> Iterator[Owner]:
        places, demand = self.world.ledger.planning.nominated.places, self.world.demand
        for uid, pod in self.world.pending.items():
            if uid not in places and demand.is_demand(uid):
                yield workload_of(pod)
