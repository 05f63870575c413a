"""What pools say while nothing of a cloud is given back because its listings can't be right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.api.conditions import Condition, Truth, joined, stated
from reconciler.actions import PatchStatus, Sequence, Subject, SubjectKind, version_of
from reconciler.planning.offers import node_class_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from growth.api.nodepool import NodePool
    from growth.instant import Instant
    from reconciler.providers.port import ClassKey
    from reconciler.removal.orphans import Orphans
    from reconciler.world import World

CONDITION: Final = "RemovalHeld"
RELEASED: Final = ("Released", "What the cloud lists is believed.")


def notices(world: World, found: Mapping[ClassKey, Orphans], now: Instant) -> Iterator[Sequence]:
    """The condition of each pool for which it has begun, changed or ended."""
    for name, pool in sorted(world.pools.items()):
        subject = Subject(SubjectKind.POOL, name)
        said = _doubt(pool, world, found)
        condition = _changed(pool, said, now)
        if condition is not None and world.is_free(subject):
            stands = joined(pool.status.conditions, condition)
            status = {"conditions": [each.document() for each in stands]}
            patch = PatchStatus(kind="NodePool", version=version_of(pool), status=status)
            yield Sequence(subject=subject, steps=(patch,), why=condition.message)


def _doubt(
    pool: NodePool, world: World, found: Mapping[ClassKey, Orphans]
) -> tuple[str, str] | None:
    """Reason and message; None while nothing is held."""
    key = node_class_of(pool, world)
    trust = world.ledger.brakes.clouds.get(key)
    if trust is not None and trust.suspected_at is not None and trust.doubt:
        return "ListingDoubted", f"{trust.doubt}; nothing is given back until another one agrees."
    orphans = found.get(key)
    if orphans is not None and orphans.are_too_many:
        return "TooManyOrphans", (
            f"{len(orphans.found)} machines have no NodeRequest and no Node, too many to be "
            "believed: was this cluster restored from a backup, or does another one bear its id? "
            "None of them is deleted."
        )
    return None


def _changed(pool: NodePool, said: tuple[str, str] | None, now: Instant) -> Condition | None:
    """What is to be written; None while what is told is right."""
    told = next((each for each in pool.status.conditions if each.type == CONDITION), None)
    truth = Truth.FALSE if said is None else Truth.TRUE
    reason, message = said or RELEASED
    if told is None and said is None:
        return None
    if told is not None and (told.status, told.reason) == (truth, reason):
        # How many there are changes all the time, and isn't worth a write.
        return None
    wanted = Condition(
        type=CONDITION,
        status=truth,
        observed_generation=pool.metadata.generation,
        last_transition_time=now.wall,
        reason=reason,
        message=message,
    )
    return stated(pool.status.conditions, wanted)
