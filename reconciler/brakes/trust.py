"""Which clouds are believed: a listing that lacks machines which must exist proves nothing yet.

growth gives up machines and deletes Nodes because of listings. A token of another project, a broken
page or a short outage of the provider can produce an empty listing that claims to be complete. So a
listing with less than half of the machines that nodes and requests imply isn't believed until
another one, a stable interval later, agrees. A cloud that returns no complete listing isn't
believed either, because the last one is old.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from growth.api.noderemovalrequest import RemovalPhase
from growth.api.noderequest import RequestPhase
from reconciler.facts.node_classes import node_class_of
from reconciler.facts.ownership import pool_of_node
from reconciler.facts.unrecorded import claimed_pool

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reconciler.core.world import World
    from reconciler.providers.port import ClassKey, Listing, Sight


class Trust(msgspec.Struct, frozen=True, kw_only=True):
    """How far one cloud is believed."""

    judged: float | None = None
    """The time of the listing that was judged."""
    suspected_at: float | None = None
    """The time of the first listing in a row that lacks too many machines."""
    doubt: str = ""
    """Why the cloud isn't believed now; empty if it is."""


def trusts(world: World, before: Mapping[ClassKey, Trust]) -> Mapping[ClassKey, Trust]:
    """How far each cloud is believed now; empty while growth's own caches are incomplete."""
    if not all(health.is_complete for health in world.sources.values()):
        return {}
    return {
        key: _trust(key, sight, world, before.get(key, Trust()))
        for key, sight in sorted(world.clouds.items())
    }


def _trust(key: ClassKey, sight: Sight, world: World, before: Trust) -> Trust:
    listing = sight.listing
    if listing is None:
        return Trust(doubt=f"there is no complete listing yet: {sight.problem}")
    if before.judged == listing.at.monotonic:
        judged = before
    else:
        judged = _judged(listing, _implied(key, world), world, before)
    if sight.blind_since is None:
        return judged
    doubt = f"its machines can't be listed: {sight.problem}"
    # Not judged: when the cloud answers again, its listing is looked at anew and this doubt ends.
    return msgspec.structs.replace(judged, judged=None, doubt=doubt)


def _judged(listing: Listing, implied: frozenset[str], world: World, before: Trust) -> Trust:
    at, found = listing.at.monotonic, len(implied & listing.machines.keys())
    # Not all of them: machines die, and one that was made a moment ago may be missing.
    if 2 * found >= len(implied):
        return Trust(judged=at)
    since = at if before.suspected_at is None else before.suspected_at
    if at >= since + world.timing.stable_interval:
        return Trust(judged=at, suspected_at=since)
    doubt = f"a listing shows only {found} of the {len(implied)} machines that must exist"
    return Trust(judged=at, suspected_at=since, doubt=doubt)


def _implied(key: ClassKey, world: World) -> frozenset[str]:
    """The machines that must exist by nodes and requests, without those being deleted."""
    given_back = {
        name
        for name, removal in world.removals.items()
        if removal.status.phase is not RemovalPhase.PENDING
    }
    pools = {name for name, pool in world.pools.items() if node_class_of(pool, world) == key}
    return frozenset(name for name in _known(world, pools) if name not in given_back)


def _known(world: World, pools: set[str]) -> Iterator[str]:
    for name, node in world.cluster.nodes.items():
        if pool_of_node(node) in pools:
            yield name
    for name, node in world.strangers.items():
        # Of machines that have no record yet. Nodes that lie here delay only the first listing.
        if claimed_pool(node) in pools:
            yield name
    for name, request in world.requests.items():
        if request.status.phase is RequestPhase.PROVISIONING and request.spec.pool in pools:
            yield name
