"""Machines that are paid for but belong to no object in the cluster.

A machine of growth has a NodeRequest while it comes, a Node while it serves, and a
NodeRemovalRequest while it goes. A machine with none of them is an orphan: a process died at the
wrong moment, or someone deleted its objects. As soon as a second listing confirms it, it gets a
removal, so that it is visible. It is deleted when it is old enough and still listed. If one of its
objects appears, the removal ends.

Many orphans at once mean that growth itself is wrong about the cluster or the time. Then none of
them is touched. "At once" counts orphans without a removal, and those whose removal is younger than
the age at which an orphan is deleted. Older removals don't count: they were believed when they were
created, and may stay open for long (the provider refuses to delete the machine, or growth was blind
for a while) without blocking later orphans. So many orphans at once are never touched, and of those
that appear one by one no more are deleted in ten minutes than may appear at once.

If another growth buys under the same id (another_writer.py), no orphan is touched either.
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
from reconciler.removal.another_writer import of_another_writer

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
"""A share of a cloud's machines: more orphans than this, and more than a few, aren't believed."""


class Orphans(msgspec.Struct, frozen=True, kw_only=True):
    """The machines of one cloud that belong to no object."""

    found: Mapping[str, Machine]
    """The orphans by name."""
    sudden: int
    """How many of them are new."""
    are_too_many: bool
    """Whether so many at once can't be believed."""
    others: tuple[str, ...] = ()
    """Those by which another writer is known."""

    @property
    def are_held(self) -> bool:
        """Whether none of them may be touched now."""
        return self.are_too_many or bool(self.others)

    @property
    def goers(self) -> Mapping[str, Machine]:
        """Orphans that may be deleted once they are old enough."""
        return {} if self.are_held else self.found


def orphans(cloud: SightedCloud, world: World, now: Instant) -> Orphans:
    """The machines in a believed listing that no object in the cluster explains."""
    listed = cloud.listing.machines
    # Nearly all machines have a Node, so this cheap check comes first.
    without = listed.keys() - world.cluster.nodes.keys()
    unknown = sorted(name for name in without if not is_known(listed[name], world))
    nodes = world.cluster.nodes.values() if unknown else ()
    ids = frozenset(machine_id_of(node, cloud.key) for node in nodes)
    several = (listed[name] for name in unknown)
    found = {each.name: each for each in several if each.machine_id not in ids}
    sudden = sum(_is_sudden(each, world, now) for each in found.values())
    # A cluster that was restored from a backup, or one that shares another's id, sees machines in
    # use as orphans.
    most = max(FEW, SHARE * len(cloud.listing.machines))
    others = of_another_writer(found.values(), cloud.key, world, now) if found else ()
    return Orphans(found=found, sudden=sudden, are_too_many=sudden > most, others=others)


def _is_sudden(listed: Machine, world: World, now: Instant) -> bool:
    """Whether its removal is missing, or younger than the age at which orphans are deleted."""
    told_at = _told_at(listed, world)
    return told_at is None or now.seconds_since(told_at) < world.timing.orphan_age


def _told_at(listed: Machine, world: World) -> datetime | None:
    """When its removal was created; a removal of that name may be about an earlier machine."""
    removal = world.removals.get(listed.name)
    is_its_own = removal is not None and removal.spec.node_id == listed.machine_id
    return removal.metadata.creation_timestamp if removal is not None and is_its_own else None


def is_known(listed: Machine, world: World) -> bool:
    """Whether a request, a Node, pods or a removal explain a machine.

    A removal with the reason Orphan explains nothing: it only exists because nothing else does.
    """
    if listed.name in world.cluster.nodes or listed.state is MachineState.DELETING:
        return True
    if world.cluster.occupancy(listed.name).keepers:
        # Pods of a Node that is gone: Kubernetes' garbage collection comes first.
        return True
    request = world.requests.get(listed.name)
    if request is not None and request.metadata.uid == listed.request_uid:
        return True
    removal = world.removals.get(listed.name)
    return removal is not None and not is_for_orphan(removal)


def is_for_orphan(removal: NodeRemovalRequest) -> bool:
    """Whether a removal was opened because its machine is an orphan."""
    return removal.spec.reason is RemovalReason.ORPHAN


def removals_of_orphans(
    found: Orphans, cloud: SightedCloud, world: World, clock: SightedClock
) -> Iterator[Sequence]:
    """A removal for each orphan that has none and that a later listing shows again.

    One listing isn't enough: when a Node disappears, the latest listing may be older than the
    deletion of its machine.
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
                "unless one of them appears; to keep it, remove growth's labels from it.",
                severity=Severity.WARNING,
            )
            steps = (OpenRemoval(removal=removal), said)
            yield Sequence(subject=machine(name), steps=steps, why="the machine is an orphan")


def _owner(listed: Machine, key: ClassKey, world: World) -> NodePool | None:
    """The pool that a machine names, or the first of its cloud: a removal needs an owner.

    Node classes may share a project, and each lists its machines. The listing of the pool's own
    class counts: another one, which is older, may show a machine that is gone there already, and
    its removal would be opened and end again and again.
    """
    named = world.pools.get(listed.pool)
    own = None if named is None else node_class_of(named, world)
    if own == key:
        return named
    if own is not None and _is_listed(listed, own, world):
        return None
    of_cloud = (
        pool for _, pool in sorted(world.pools.items()) if node_class_of(pool, world) == key
    )
    return next(of_cloud, None)


def _is_listed(listed: Machine, key: ClassKey, world: World) -> bool:
    sight = world.clouds.get(key)
    return sight is not None and sight.listing is not None and listed.name in sight.listing.machines


def ages(world: World, lost: Orphans, *, now: Instant, clock: SightedClock) -> Ages:
    """Since when each machine is known as an orphan, on the clock that runs while growth sees all.

    For one that is held back with others, the time begins when they aren't held any more: until
    then only their number was reported, not this machine.
    """
    before = world.ledger.removal.orphans
    return {
        name: before[name]
        if name in before and not (lost.are_held and name not in world.removals)
        else clock.now - _age(each, world, now)
        for name, each in lost.found.items()
    }


def _age(listed: Machine, world: World, now: Instant) -> float:
    """The age by its removal's creation time, so that a restart doesn't begin the wait again."""
    made = _told_at(listed, world)
    if made is None:
        return 0.0
    seen_for = now.seconds_since(made) - world.ledger.removal.unseen
    return min(max(seen_for, 0.0), world.timing.orphan_age)
