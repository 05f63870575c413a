"""Recognises machines that another growth has bought under this cluster's id.

A cluster that was restored from a backup, and the one that the backup is of, have the same id and
see each other's machines. To each of them, those of the other are orphans. Such an orphan is
younger than the last moment at which a process of this cluster led before the present one, and the
present one has seen no request for it. A single one proves that there is another writer, so then no
orphan of that cloud is touched any more: any of them may be in use.

The condition on the node class and its pools is the memory of this: after a restart of growth, the
same machines are older than the process. It stands until the cloud has no orphans, also while
listings are doubted.

Where machines tell which installation bought them, that decides, and already at the start.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from growth.api.conditions import Truth, condition_of_type
from growth.api.nodeclass import ANOTHER_WRITER
from reconciler.facts.node_classes import node_class_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from growth.api.nodepool import NodePool
    from growth.instant import Instant
    from reconciler.core.installation import Installation
    from reconciler.core.world import World
    from reconciler.providers.port import ClassKey, Machine

HELD: Final = "RemovalHeld"
"""The condition of pools that says so."""
MARGIN: Final = timedelta(seconds=60)
"""What the clocks of the cloud and of growth may differ by; also the longest a call may be under
way after its process has lost the lead."""
MOST_REQUESTS: Final = 20_000
"""The number of requests that are remembered. A machine of an older one, if it becomes an orphan,
is held back and not deleted."""


def began_at(world: World, now: Instant) -> datetime:
    """The last moment before this memory at which, as far as is known, some process led."""
    before = world.ledger.removal
    if before.began is not None:
        return before.began
    return now.wall - timedelta(seconds=before.unseen)


def requested_since(world: World) -> Mapping[str, None]:
    """The uids of all requests that were seen, the oldest first; a set that keeps its order."""
    before = world.ledger.removal.requested
    seen = (request.metadata.uid for request in world.requests.values())
    new = dict.fromkeys(uid for uid in seen if uid not in before)
    if not new:
        return before
    both = {**before, **new}
    return dict.fromkeys(list(both)[-MOST_REQUESTS:])


def of_another_writer(
    found: Iterable[Machine], key: ClassKey, world: World, now: Instant
) -> tuple[str, ...]:
    """The orphans that show that somebody else buys; all of them if that was told before."""
    known = tuple(found)
    younger_than = began_at(world, now) + MARGIN
    names = tuple(each.name for each in known if _is_foreign(each, younger_than, world))
    if names or not _was_told(key, world):
        return names
    return tuple(each.name for each in known)


def _is_foreign(orphan: Machine, younger_than: datetime, world: World) -> bool:
    if orphan.installation and world.installation is not None:
        return _is_of_another_installation(orphan, world.installation)
    return (
        orphan.created_at is not None
        and orphan.created_at > younger_than
        and orphan.request_uid not in world.ledger.removal.requested
    )


def _is_of_another_installation(orphan: Machine, own: Installation) -> bool:
    if orphan.installation == own.id:
        return False
    ended = own.ended_at(orphan.installation)
    # Bought under a former id after it ended here: this cluster, or that one, is from a backup.
    return ended is None or (orphan.created_at is not None and orphan.created_at > ended + MARGIN)


def words_of_others(names: tuple[str, ...]) -> str:
    """What people are told of these machines."""
    several = f"{names[0]} and {len(names) - 1} more machines" if names[1:] else names[0]
    return (
        f"Another growth buys machines with the id of this cluster: no NodeRequest here was for "
        f"{several}. Machines without a NodeRequest and a Node may be in use there, so none of "
        "them is deleted. Give one of the clusters another --cluster-id."
    )


def tells_of_another_writer(pool: NodePool) -> bool:
    """Whether the pool's condition says that another growth buys."""
    said = condition_of_type(pool.status.conditions, HELD)
    return said is not None and (said.status, said.reason) == (Truth.TRUE, ANOTHER_WRITER)


def _was_told(key: ClassKey, world: World) -> bool:
    """Whether the node class says so, or one of its pools."""
    node_class = world.node_classes.get(key)
    known = () if node_class is None else node_class.status.conditions
    said = condition_of_type(known, ANOTHER_WRITER)
    if said is not None and said.status is Truth.TRUE:
        return True
    pools = (pool for pool in world.pools.values() if node_class_of(pool, world) == key)
    return any(tells_of_another_writer(pool) for pool in pools)
