"""Whether pods still wait for a requested machine.

A machine is for the pods that its request names, and for pods of its workloads that were only
announced at that time. So a machine is awaited while one of the named pods waits, while another pod
has a promised place on it, or while a workload with seats on it has pods that have no place or
don't exist yet. A request without pods isn't judged by pods: its machine is part of a pool's
minimum, or replaces a node on which the pods still run.
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
    """All pods and workloads that may wait for a machine now."""

    world: World
    now: Instant
    waiting: Collection[str]
    """The pods that count as waiting, by uid."""

    def awaits(self, request: NodeRequest) -> bool:
        """Whether pods still wait for the machine of a request."""
        named = request.spec.pods
        if not named or any(pod.uid in self.waiting for pod in named):
            return True
        return request.name in self._promised or self._awaits_a_seat(request)

    def _awaits_a_seat(self, request: NodeRequest) -> bool:
        """Whether a workload needs its seats; assumed while the caches aren't current."""
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
