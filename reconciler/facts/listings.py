"""What can be said of a machine by what its cloud lists, and what can't.

Gone is what two complete listings don't show, or one that was asked for after the delete. A machine
that growth didn't have deleted is gone only if its node doesn't say the opposite: a kubelet that
reports lives somewhere, whatever a listing shows.
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
    """What became of a machine."""

    THERE = "there"
    GONE = "gone"
    UNKNOWN = "unknown"


class SightedCloud(msgspec.Struct, frozen=True, kw_only=True):
    """One cloud whose last listing is believed."""

    key: ClassKey
    listing: Listing
    machines: Mapping[str, Machine]
    """By id, which is what a machine is known by; names can be given again."""
    before: Mapping[str, Machine] | None
    """Those of the listing before."""
    began: datetime | None = None
    """When the older of both was asked for."""

    def fate(self, machine_id: str, *, asked_at: datetime | None) -> MachineFate:
        """What became of a machine whose deletion was last asked for at a moment."""
        if machine_id in self.machines:
            return MachineFate.THERE
        is_younger = asked_at is not None and self.listing.at.wall > asked_at
        is_out_of_both = self.before is not None and machine_id not in self.before
        return MachineFate.GONE if is_younger or is_out_of_both else MachineFate.UNKNOWN


def clouds(world: World) -> Mapping[ClassKey, SightedCloud]:
    """The clouds that may be concluded from now: none while anything is in doubt."""
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
    # Without its pool nobody knows whose it was: only what no cloud shows is nowhere.
    nowhere = next(iter(seen.values()), None) if len(seen) == len(world.clouds) else None
    return next(showing, nowhere)


def listed_machine(
    node: Node, pool: NodePool, world: World, seen: Mapping[ClassKey, SightedCloud]
) -> Machine | None:
    """The machine of a node as the cloud of its pool lists it; only that can be given back."""
    cloud = seen.get(node_class_of(pool, world))
    return None if cloud is None else cloud.listing.machines.get(node.name)


def kubelet_reports(node: Node | None) -> bool:
    """Whether a kubelet reports from the machine."""
    return node is not None and node.is_ready
