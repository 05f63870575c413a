"""Machines that are paid for and that nobody knows.

A machine of ours has a NodeRequest while it comes, a Node while it serves, and a NodeRemovalRequest
while it goes. One that has none of them is an orphan: its process died at the wrong moment, or
somebody deleted what belonged to it. It gets a removal as soon as another listing confirms it, for
everybody to see, and goes when it is old enough and is still listed; if anything turns up that
knows it, the removal ends.

Many orphans at once mean that it is us who are wrong, about the cluster or about the time: then
none of them is touched. At once are those that have no removal yet, and those whose removal is
younger than an orphan has to be. An older one was believed when it turned up; it may stand for long
(its provider refuses to delete it, or we were blind for a while), and it mustn't keep the next ones
from being found. So what turns up in a crowd is never touched, and of what turns up one by one no
more goes in ten minutes than may turn up at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import msgspec

from growth.api.removal_reason import RemovalReason
from growth.kube.events.event import Severity
from reconciler.core.actions import OpenRemoval, Sequence, machine
from reconciler.facts.node_classes import node_class_of
from reconciler.facts.nodes import machine_id_of
from reconciler.facts.opening import removal_of
from reconciler.providers.port import Machine, MachineState
from reconciler.removal import writing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from growth.api.nodepool import NodePool
    from growth.api.noderemovalrequest import NodeRemovalRequest
    from growth.instant import Instant
    from reconciler.core.world import World
    from reconciler.facts.listings import SightedCloud
    from reconciler.facts.sighted_clock import SightedClock
    from reconciler.providers.port import ClassKey

Ages = Mapping[str, float]
"""Since when orphans are known as such, by name."""
FEW: Final = 2
SHARE: Final = 0.1
"""Of a cloud's machines; more orphans than that, and more than a few, are not believed."""


class Orphans(msgspec.Struct, frozen=True, kw_only=True):
    """The machines of one cloud that nobody knows."""

    found: Mapping[str, Machine]
    """By name."""
    sudden: int
    """How many of them have turned up of late."""
    are_too_many: bool
    """Whether so many at once are not believed."""

    @property
    def goers(self) -> Mapping[str, Machine]:
        """Those that may be given back, in time."""
        return {} if self.are_too_many else self.found


def orphans(cloud: SightedCloud, world: World, now: Instant) -> Orphans:
    """What a believed listing shows that nothing in the cluster explains."""
    listed = cloud.listing.machines
    # Nearly all of them have a Node, which is seen at a glance.
    without = listed.keys() - world.cluster.nodes.keys()
    unknown = sorted(name for name in without if not is_known(listed[name], world))
    nodes = world.cluster.nodes.values() if unknown else ()
    ids = frozenset(machine_id_of(node, cloud.key) for node in nodes)
    several = (listed[name] for name in unknown)
    found = {each.name: each for each in several if each.machine_id not in ids}
    sudden = sum(_is_sudden(each, world, now) for each in found.values())
    most = max(FEW, SHARE * len(cloud.listing.machines))
    return Orphans(found=found, sudden=sudden, are_too_many=sudden > most)


def _is_sudden(listed: Machine, world: World, now: Instant) -> bool:
    """Whether people haven't been told of it for long enough."""
    told_at = _told_at(listed, world)
    return told_at is None or now.seconds_since(told_at) < world.timing.orphan_age


def _told_at(listed: Machine, world: World) -> datetime | None:
    """When its removal was written; one of the same name may be about a machine that was before."""
    removal = world.removals.get(listed.name)
    is_its_own = removal is not None and removal.spec.node_id == listed.machine_id
    return removal.metadata.creation_timestamp if removal is not None and is_its_own else None


def is_known(listed: Machine, world: World) -> bool:
    """Whether a request, a Node, pods or the removal that it has already explain a machine.

    A removal for being an orphan explains nothing: it stands only as long as nothing else does.
    """
    if listed.name in world.cluster.nodes or listed.state is MachineState.DELETING:
        return True
    if world.cluster.occupancy(listed.name).keepers:
        # Of a Node that is gone: whoever collects them comes first.
        return True
    request = world.requests.get(listed.name)
    if request is not None and request.metadata.uid == listed.request_uid:
        return True
    removal = world.removals.get(listed.name)
    return removal is not None and not is_for_orphan(removal)


def is_for_orphan(removal: NodeRemovalRequest) -> bool:
    """Whether a removal is there because nobody knew its machine."""
    return removal.spec.reason is RemovalReason.ORPHAN


def removals_of_orphans(
    found: Orphans, cloud: SightedCloud, world: World, clock: SightedClock
) -> Iterator[Sequence]:
    """A removal for each of them that has none and that a later listing shows again.

    The listing that is there when a node goes may be older than the end of its machine.
    """
    since = world.ledger.removal.orphans
    for name, each in found.goers.items():
        pool = _owner(each, cloud.key, world)
        is_confirmed = clock.wake_at(since[name]) <= cloud.listing.at.monotonic
        is_due = is_confirmed and name not in world.removals and world.is_free(machine(name))
        if is_due and pool is not None:
            removal = removal_of(each, pool=pool, reason=RemovalReason.ORPHAN)
            said = writing.said_of(
                removal,
                reason="OrphanFound",
                note=f"Machine {each.machine_id} has no NodeRequest and no Node. It is deleted "
                "unless one of them turns up; to keep it, take growth's labels off it.",
                severity=Severity.WARNING,
            )
            steps = (OpenRemoval(removal=removal), said)
            yield Sequence(subject=machine(name), steps=steps, why="nobody knows this machine")


def _owner(listed: Machine, key: ClassKey, world: World) -> NodePool | None:
    """The pool that a machine names, else the first of the cloud: a removal has to have one."""
    named = world.pools.get(listed.pool)
    if named is not None:
        return named
    of_cloud = (
        pool for _, pool in sorted(world.pools.items()) if node_class_of(pool, world) == key
    )
    return next(of_cloud, None)


def ages(world: World, lost: Orphans, *, now: Instant, clock: SightedClock) -> Ages:
    """Since when each of them is known as an orphan, in seconds of sight.

    The time of one that is held back with many others begins when they are few: until then people
    have been told of a crowd, and not of this machine.
    """
    before = world.ledger.removal.orphans
    return {
        name: before[name]
        if name in before and not (lost.are_too_many and name not in world.removals)
        else clock.now - _age(each, world, now)
        for name, each in lost.found.items()
    }


def _age(listed: Machine, world: World, now: Instant) -> float:
    """What its removal tells after a restart, which nobody has to wait for once more."""
    made = _told_at(listed, world)
    if made is None:
        return 0.0
    seen_for = now.seconds_since(made) - world.ledger.removal.unseen
    return min(max(seen_for, 0.0), world.timing.orphan_age)
