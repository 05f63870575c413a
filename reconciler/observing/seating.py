"""Who has a seat on which machine, and which machines have been idle for long enough."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import msgspec

from growth.api.nodepool import PaidHour
from growth.keeping.paid_hours import seconds_until_marked
from growth.scheduling.resources import total
from reconciler.core.decision import NEVER
from reconciler.facts.paid_hours import paid_hour_in_world
from reconciler.facts.sizes import size_of_pool
from reconciler.planning.nominations import Nominated

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from growth.api.nodepool import NodePool
    from growth.instant import Instant
    from reconciler.core.world import World
    from reconciler.observing.ledger import ShadowMachine
    from reconciler.planning.nominations import Nomination


def still_seated(seats: Nominated, shadow: World) -> Nominated:
    """The seats of pods that still exist unchanged, on machines that still have the room."""
    kept = {
        uid: place
        for uid, place in seats.places.items()
        if (pod := shadow.pending.get(uid)) is not None
        and pod.shape == place.shape
        and (place.machine in shadow.requests or place.machine in shadow.cluster.nodes)
    }
    crowded = frozenset(_crowded(kept, shadow))
    return Nominated(
        places={uid: place for uid, place in kept.items() if place.machine not in crowded}
    )


def _crowded(places: Mapping[str, Nomination], shadow: World) -> Iterator[str]:
    """Nodes that exist and on which other pods have taken the room of these."""
    guests: defaultdict[str, list[str]] = defaultdict(list)
    for uid, place in places.items():
        if place.machine in shadow.cluster.nodes:
            guests[place.machine].append(uid)
    for name, uids in guests.items():
        wanted = total(shadow.pending[uid].requests for uid in uids)
        free = shadow.cluster.nodes[name].allocatable - shadow.cluster.occupancy(name).requested
        if not free.covers(wanted):
            yield name


def marked_when_idle(
    machines: Mapping[str, ShadowMachine], seats: Nominated, shadow: World, now: Instant
) -> Mapping[str, ShadowMachine]:
    """The machines with the time since when each would be marked for removal."""
    used = {place.machine for place in seats.places.values()}
    return {
        name: msgspec.structs.replace(
            each,
            marked_at=None
            if name in used or each.request.spec.pool not in shadow.pools
            else each.marked_at or _marked(each, shadow, now),
        )
        for name, each in machines.items()
    }


def due_for_return(
    machines: Mapping[str, ShadowMachine], shadow: World, now: Instant
) -> frozenset[str]:
    """The machines whose wait is over, without those that a minimum of their pool keeps."""
    going: set[str] = set()
    for name, pool in shadow.pools.items():
        own = {n: each for n, each in machines.items() if each.request.spec.pool == name}
        due = [n for n, each in own.items() if _is_over(each, pool, now)]
        for each in sorted(due, key=lambda one: (own[one].bought_at, one)):
            left = {n: m for n, m in own.items() if n not in going}
            if _may_lose(left[each], left, pool, shadow):
                going.add(each)
    return frozenset(going)


def next_return(machines: Mapping[str, ShadowMachine], shadow: World, now: Instant) -> float:
    """When the wait of the next idle machine is over, in monotonic seconds."""
    waits = (
        shadow.pools[each.request.spec.pool].spec.scale_down.idle_after.seconds
        - now.seconds_since(each.marked_at)
        for each in machines.values()
        if each.marked_at is not None
    )
    # A machine that is overdue is kept by a minimum, which doesn't change by time.
    return min((now.monotonic + wait for wait in waits if wait > 0), default=NEVER)


def _marked(each: ShadowMachine, shadow: World, now: Instant) -> datetime | None:
    """Now, unless the hour that is paid for isn't over yet."""
    pool = shadow.pools[each.request.spec.pool]
    if paid_hour_in_world(pool, shadow) is PaidHour.IGNORE:
        return now.wall
    return None if seconds_until_marked(each.bought_at, pool, now.wall) > 0 else now.wall


def _is_over(each: ShadowMachine, pool: NodePool, now: Instant) -> bool:
    marked = each.marked_at
    return marked is not None and (
        now.seconds_since(marked) >= pool.spec.scale_down.idle_after.seconds
    )


def _may_lose(
    machine: ShadowMachine, own: Mapping[str, ShadowMachine], pool: NodePool, shadow: World
) -> bool:
    server_type = machine.request.spec.server_type
    return all(
        sum(each.request.spec.server_type in floor.types for each in own.values()) > floor.count
        for floor in size_of_pool(pool, shadow).floors
        if server_type in floor.types
    )
