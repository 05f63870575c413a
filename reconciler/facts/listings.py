"""What a cloud's listings prove about a machine.

A machine is gone if two complete listings don't show it, or one that was begun after its delete. If
growth didn't delete it, its node must not contradict that: a kubelet that reports runs somewhere,
whatever a listing shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING

import msgspec

from reconciler.facts.node_classes import node_class_of
from reconciler.providers.port import ClassKey, Listing, Machine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from growth.api.nodepool import NodePool
    from growth.api.noderemovalrequest import NodeRemovalRequest
    from growth.scheduling.node import Node
    from reconciler.core.world import World


class MachineFate(Enum):
    """The fate of a machine."""

    THERE = "there"
    GONE = "gone"
    UNKNOWN = "unknown"


class SightedCloud(msgspec.Struct, frozen=True, kw_only=True):
    """One cloud whose last listing is believed."""

    key: ClassKey
    listing: Listing
    machines: Mapping[str, Machine]
    """Machines by ID, because names can be used again."""
    before: Mapping[str, Machine] | None
    """The machines of the previous listing."""
    began: datetime | None = None
    """When the older of both was asked for."""

    def fate(self, machine_id: str, *, asked_at: datetime | None) -> MachineFate:
        """The fate of a machine whose deletion was last requested at this time."""
        if machine_id in self.machines:
            return MachineFate.THERE
        is_younger = asked_at is not None and self.listing.at.wall > asked_at
        is_out_of_both = self.before is not None and machine_id not in self.before
        return MachineFate.GONE if is_younger or is_out_of_both else MachineFate.UNKNOWN


def clouds(world: World) -> Mapping[ClassKey, SightedCloud]:
    """The clouds whose listings may be used now: none while any source is in doubt."""
    return {cloud.key: cloud for cloud in _believed(world)}


def _believed(world: World) -> Iterator[SightedCloud]:
    brakes = world.ledger.brakes
    for key, sight in sorted(world.clouds.items()):
        if brakes.may_remove and brakes.believes(key) and sight.listing is not None:
            before = None if sight.before is None else sight.before.by_id
            began = None if sight.before is None else sight.before.at.wall
            yield SightedCloud(
                key=key,
                listing=sight.listing,
                machines=sight.listing.by_id,
                before=before,
                began=began,
            )


def cloud_of(
    removal: NodeRemovalRequest, world: World, seen: Mapping[ClassKey, SightedCloud]
) -> SightedCloud | None:
    """The cloud of a machine that is given back; None while nothing may be concluded from it."""
    pool = world.pools.get(removal.spec.pool)
    if pool is not None:
        return seen.get(node_class_of(pool, world))
    showing = (cloud for cloud in seen.values() if removal.spec.node_id in cloud.machines)
    # Without the pool its cloud is unknown: it is gone only if no cloud at all shows it.
    nowhere = next(iter(seen.values()), None) if len(seen) == len(world.clouds) else None
    return next(showing, nowhere)


def listed_machine(
    node: Node, pool: NodePool, world: World, seen: Mapping[ClassKey, SightedCloud]
) -> Machine | None:
    """The machine of a node as the cloud of its pool lists it; only that can be given back."""
    # By name and from the listing: the providerID on a Node is only what its kubelet says.
    cloud = seen.get(node_class_of(pool, world))
    return None if cloud is None else cloud.listing.machines.get(node.name)


def kubelet_reports(node: Node | None) -> bool:
    """Whether a kubelet reports from the machine."""
    return node is not None and node.is_ready
