"""The input of provisioning's rules in one pass: world, time, memory, and derived values."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from growth.api.noderequest import COMING, FAILED
from growth.api.wellknown import POOL_LABEL
from growth.keeping.marks import is_unregistered
from reconciler.buying.market import market
from reconciler.facts.fleet import nodes_of_pools
from reconciler.facts.nodes import node_of
from reconciler.planning.awaited import Awaiting
from reconciler.provisioning.duplicates import duplicates
from reconciler.provisioning.holding import holds_seats
from reconciler.provisioning.together import ComingMachine, ComingTogether, companies

if TYPE_CHECKING:
    # At run time this would be a cycle: the type of the World includes this room's ledger.
    from collections.abc import Mapping, Sequence

    from growth.api.noderequest import NodeRequest
    from growth.instant import Instant
    from growth.scheduling.node import Node
    from reconciler.buying.offers import Purchasable
    from reconciler.core.world import World
    from reconciler.facts.sighted_clock import SightedClock
    from reconciler.provisioning.ledger import ProvisioningLedger


@dataclass(frozen=True, kw_only=True)
class ProvisioningLook:
    """The input of every rule here; derived values are computed once, when they are needed."""

    world: World
    now: Instant
    memory: ProvisioningLedger
    clock: SightedClock
    """The clock, which stops while growth is blind."""

    @cached_property
    def duplicates(self) -> frozenset[str]:
        """Requests whose pods all have an older one."""
        return duplicates(self.world.requests.values())

    @cached_property
    def awaiting(self) -> Awaiting:
        """All pods and workloads that may wait for a machine."""
        return Awaiting(world=self.world, now=self.now, waiting=self.world.pending)

    @cached_property
    def companies(self) -> Mapping[int, ComingTogether]:
        """Machines on their way, by the second in which they were asked for."""
        requests = self.world.requests.values()
        coming = (each for each in requests if each.status.phase in COMING)
        ready = self.memory.ready
        return companies(
            ComingMachine(each, node_of(each, self.world), ready.get(each.name, self.now.monotonic))
            for each in coming
        )

    @cached_property
    def buyable(self) -> tuple[Purchasable, ...]:
        """The offers of which another machine is sold, and allowed by all limits."""
        found = market(self.world, self.now)
        limits = [left.limit for left in found.limits()]
        used_up = {
            name
            for limit in limits
            for name, amount in limit.amounts.items()
            if amount > limit.most
        }
        return tuple(item for item in found.items if item.name not in used_up)

    @cached_property
    def holding(self) -> Mapping[str, Sequence[NodeRequest]]:
        """Machines on their way that hold seats when they open, by pool."""
        found: defaultdict[str, list[NodeRequest]] = defaultdict(list)
        for name, request in sorted(self.world.requests.items()):
            node = self.world.cluster.nodes.get(name)
            is_shut = node is None or is_unregistered(node)
            if request.status.phase in COMING and is_shut and holds_seats(request, self):
                found[request.spec.pool].append(request)
        return found

    @cached_property
    def promised(self) -> Mapping[str, Sequence[str]]:
        """The pods that have a place on each machine, by uid."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        for uid, place in self.world.ledger.planning.nominated.places.items():
            found[place.machine].append(uid)
        return found

    @cached_property
    def failed(self) -> Mapping[str, Sequence[NodeRequest]]:
        """Failed requests, by pool."""
        found: defaultdict[str, list[NodeRequest]] = defaultdict(list)
        for request in self.world.requests.values():
            if request.status.phase in FAILED:
                found[request.spec.pool].append(request)
        return found

    @cached_property
    def nodes(self) -> Mapping[str, Sequence[Node]]:
        """Nodes that say which pool they are of, by pool."""
        return self.world.cluster.remembered("nodes by pool", self._nodes_by_pool)

    def _nodes_by_pool(self) -> Mapping[str, Sequence[Node]]:
        found: defaultdict[str, list[Node]] = defaultdict(list)
        for name in nodes_of_pools(self.world):
            node = self.world.cluster.nodes[name]
            found[node.labels[POOL_LABEL]].append(node)
        return found
