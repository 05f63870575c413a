"""A pool of the policy `Utilisation` in the World of a pass, as one run decides on it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final

import msgspec

from growth.api.scaling_utilisation import UtilisationScaling
from growth.foreign_text import time_or_none
from growth.keeping.marks import is_cordoned_by_a_person
from growth.keeping.size import Floor, PoolSize, size_in_status
from growth.scheduling.resources import NOTHING, Resources, total
from reconciler.scaling.scene import scaling_scene
from reconciler.scaling.utilisation.bought import size_of_offer
from reconciler.scaling.utilisation.grace import GracePeriods
from reconciler.scaling.utilisation.group import Group, GroupOptions, PodDemand
from reconciler.scaling.utilisation.health import HealthCheck
from reconciler.scaling.utilisation.lock import Arrivals, LockTimes, ScaleLock
from reconciler.scaling.utilisation.marks import MARKS_READ, group_node
from reconciler.scaling.utilisation.nodes import RememberedMarks
from reconciler.scaling.utilisation.percent import Thresholds
from reconciler.scaling.utilisation.pods import counted_pools, demand_of_pods, pods_by_pool

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from growth.api.nodepool import NodePool
    from growth.api.noderequest import NodeRequest
    from growth.api.written import ServerTypeName
    from growth.instant import Instant
    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod
    from reconciler.core.world import World
    from reconciler.facts.fleet import CountedMachine

LOCK: Final = "Lock"
"""The hold of a closed scale lock."""
GIVEN_UP: Final = timedelta(seconds=60)
"""After this, machines that nothing is on its way for any more don't come."""


@dataclass(frozen=True, kw_only=True)
class PoolLook:
    """The pool, what was decided about it last, and what there is of it."""

    pool: NodePool
    world: World
    now: Instant
    fields: UtilisationScaling
    before: PoolSize | None
    nodes: tuple[Node, ...]
    """All of its nodes but those that are being removed."""
    machines: Mapping[str, CountedMachine]
    """All of its machines, also those on their way, but those that are being removed."""
    coming: tuple[NodeRequest, ...]
    waiting: tuple[Pod, ...]
    """Its pods that have no node."""

    @cached_property
    def demanded(self) -> PodDemand:
        """What its pods ask for, also those on nodes that take no more."""
        name, waiting = self.pool.name, demand_of_pods(self.waiting)
        everything = scaling_scene(self.world).nodes.get(name, ())
        placed = [_placed(name, node.name, self.world) for node in everything]
        return PodDemand(
            pods=waiting.pods + sum(each.pods for each in placed),
            requests=total((waiting.requests, *(each.requests for each in placed))),
            largest_pending=waiting.largest_pending,
        )

    @cached_property
    def cordoned(self) -> frozenset[str]:
        """The nodes that people have cordoned."""
        return frozenset(node.name for node in self.nodes if is_cordoned_by_a_person(node))

    @property
    def only_observes(self) -> bool:
        """Whether nothing is done for the pool (Escalator's dry mode)."""
        return self.world.only_observes(self.pool.name)


def look_at(pool: NodePool, world: World, now: Instant) -> PoolLook:
    """The pool at this moment."""
    scene, name = scaling_scene(world), pool.name
    everything = scene.nodes.get(name, ())
    waiting = scene.remembered("counted pods", partial(pods_by_pool, scene.pending))
    return PoolLook(
        pool=pool,
        world=world,
        now=now,
        fields=pool.spec.scaling.utilisation or UtilisationScaling(),
        before=world.ledger.scaling.sizes.get(name) or _in_status(pool),
        nodes=tuple(node for node in everything if node.name not in world.removals),
        machines={
            each: machine
            for each, machine in scene.machines.get(name, {}).items()
            if each not in world.removals
        },
        coming=scene.coming.get(name, ()),
        waiting=waiting.get(name, ()),
    )


def _in_status(pool: NodePool) -> PoolSize | None:
    """After a restart, what the status says, if this policy wrote it."""
    status = pool.status.scaling
    return size_in_status(pool) if status and status.policy == pool.spec.scaling.policy else None


def _placed(pool: str, node: str, world: World) -> PodDemand:
    found = world.cluster.occupancies.get(node)
    if found is None:
        return PodDemand()
    # Of a pod that is moved off a node, the one that comes in its place counts already.
    moves = node in world.removals
    return found.remembered(
        ("counted for", pool, moves),
        lambda: demand_of_pods(
            pod
            for pod in found.pods
            if pool in counted_pools(pod) and not (moves and pod.is_terminating)
        ),
    )


def group_looked_at(look: PoolLook, *, by_marks: bool) -> Group:
    """What a run decides on; by the marks on the nodes, or by what was decided last."""
    keys = MARKS_READ[look.fields.escalator_marks]
    cluster, before = look.world.cluster, look.before
    remembered = None
    if before is not None and (look.only_observes or not by_marks):
        forced = {n.name for n in look.nodes if not n.taint_keys.isdisjoint(keys.forces)}
        remembered = RememberedMarks(tainted=before.closed - forced, forced=forced)
    options = group_options(look.pool, look.fields)
    lock = None if look.only_observes else lock_before(look, options.lock_times)
    return Group(
        options=options,
        nodes=tuple(group_node(node, cluster, keys) for node in look.nodes),
        demanded=look.demanded,
        machines=len(look.machines),
        most=options.max_nodes,
        known_size=known_size(look),
        lock=lock,
        arrivals=arrivals(look, lock_floors(look), timeout=options.lock_times.timeout),
        remembered=remembered,
        now=look.now.wall,
    )


def group_options(pool: NodePool, fields: UtilisationScaling) -> GroupOptions:
    """The settings; the tightest of several limits counts."""
    least, most = bounds_of_pool(pool, fields)
    grace = fields.unhealthy_node_grace_period
    return GroupOptions(
        min_nodes=min(max(fields.min_nodes, least), most),
        max_nodes=most,
        least=least,
        thresholds=Thresholds(
            fields.taint_lower_capacity_threshold_percent,
            fields.taint_upper_capacity_threshold_percent,
            fields.scale_up_threshold_percent,
        ),
        slow_rate=fields.slow_node_removal_rate,
        fast_rate=fields.fast_node_removal_rate,
        lock_times=LockTimes(
            period=fields.scale_up_cool_down_period.timedelta,
            timeout=fields.scale_up_cool_down_timeout.timedelta,
        ),
        grace=GracePeriods(
            soft=fields.soft_delete_grace_period.timedelta,
            hard=fields.hard_delete_grace_period.timedelta,
        ),
        max_age=None if fields.max_node_age is None else fields.max_node_age.timedelta,
        health=None
        if grace is None
        else HealthCheck(
            grace=grace.timedelta,
            newest_percent=fields.health_check_newest_nodes_percent or 100,
            most_unhealthy_percent=fields.max_unhealthy_nodes_percent,
        ),
        scales_on_starve=fields.scale_on_starve,
    )


def bounds_of_pool(pool: NodePool, fields: UtilisationScaling) -> tuple[int, int]:
    """The minimum that the pool has besides this policy, and the tightest of its maximums."""
    types = pool.spec.server_types
    mosts = (sum(entry.max for entry in types), pool.spec.limits.nodes, fields.max_nodes or None)
    return sum(entry.min for entry in types), min(each for each in mosts if each is not None)


def known_size(look: PoolLook) -> Resources | None:
    """What a node of the pool has for pods: one that is there, or else one that is sold."""
    for node in look.nodes:
        if node.allocatable != NOTHING:
            return node.allocatable
    return size_of_offer(look.pool, look.world)


# The lock, which the size of before and the status tell of


def lock_before(look: PoolLook, times: LockTimes) -> ScaleLock | None:
    """The lock that was closed, or that a purchase closes which somebody else began."""
    own = _own_lock(look, times)
    if own is not None:
        return own
    began = [each.metadata.creation_timestamp for each in look.coming]
    since = min(filter(None, began), default=None)
    if since is None:
        return None
    return ScaleLock(since=since, requested=len(look.coming))


def _own_lock(look: PoolLook, times: LockTimes) -> ScaleLock | None:
    before = look.before
    if before is None or before.scaled_up_at is None:
        return None
    hold = next((each for each in before.holds if each.reason == LOCK), None)
    if hold is None:
        return None
    lock = ScaleLock(
        since=before.scaled_up_at,
        requested=max(0, before.change),
        target=sum(each.count for each in lock_floors(look)),
    )
    early = lock.since + times.period
    # Nothing is on its way any more: the purchase has ended, with machines or without.
    is_over = not look.coming and look.now.wall - lock.since > GIVEN_UP
    is_confirmed = is_over or (hold.until is not None and hold.until <= early)
    return msgspec.structs.replace(lock, is_confirmed=is_confirmed)


def lock_floors(look: PoolLook) -> tuple[Floor, ...]:
    """What the lock waits for: floors of single types, from when it was closed."""
    before = look.before
    if before is None or not any(each.reason == LOCK for each in before.holds):
        return ()
    return tuple(each for each in before.floors if len(each.types) == 1)


def locked_counts(look: PoolLook) -> Mapping[ServerTypeName, int]:
    """The same as machines of each type."""
    found: dict[ServerTypeName, int] = {}
    for each in lock_floors(look):
        (name,) = each.types
        found[name] = max(found.get(name, 0), each.count)
    return found


def arrivals(look: PoolLook, floors: Iterable[Floor], *, timeout: timedelta) -> Arrivals:
    """What there is of it. Nodes that are apart never were what was asked for."""
    apart = look.before.apart if look.before is not None else frozenset()
    ready = {node.name for node in look.nodes if node.is_ready}
    there = [each for name, each in look.machines.items() if name not in apart]
    serve = [each for name, each in look.machines.items() if name in ready - apart]
    late = look.now.wall - timeout
    waits = [node for node in look.nodes if node.name not in ready | apart]
    starting = sum(not _is_older(node, late) for node in waits)
    wanted = tuple(floors)
    return Arrivals(
        machines=_met(wanted, (each.server_type for each in there)),
        ready=_met(wanted, (each.server_type for each in serve)),
        starting=len(look.coming) + starting,
    )


def _met(floors: Iterable[Floor], types: Iterable[ServerTypeName]) -> int:
    have = list(types)
    return sum(min(each.count, sum(t in each.types for t in have)) for each in floors)


def _is_older(node: Node, late: datetime) -> bool:
    created = time_or_none(node.metadata.creation_timestamp)
    return created is not None and created < late
