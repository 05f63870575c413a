"""A condition that begins and ends on a pool, and is silent where it has never been."""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.api.conditions import Condition, Truth, joined_conditions, stated
from reconciler.core.actions import PatchStatus, Sequence, Subject, SubjectKind, version_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from growth.api.nodepool import NodePool
    from growth.instant import Instant
    from reconciler.core.world import World

Words = tuple[str, str]
"""Reason and message."""


def notice(
    pool: NodePool,
    world: World,
    now: Instant,
    *,
    condition: str,
    said: Words | None,
    otherwise: Words,
) -> Iterator[Sequence]:
    """The write that the condition needs now, if it needs one; said is None while it isn't so."""
    wanted = _changed(pool, now, condition=condition, said=said, otherwise=otherwise)
    if wanted is None:
        return
    subject = Subject(SubjectKind.POOL, pool.name)
    if world.is_free(subject):
        yield Sequence(subject=subject, steps=(patched_with(pool, wanted),), why=wanted.message)


def _changed(
    pool: NodePool, now: Instant, *, condition: str, said: Words | None, otherwise: Words
) -> Condition | None:
    """What is to be written; None while what is told is right."""
    told = next((each for each in pool.status.conditions if each.type == condition), None)
    truth = Truth.FALSE if said is None else Truth.TRUE
    reason, message = said or otherwise
    if told is None and said is None:
        return None
    if told is not None and (told.status, told.reason) == (truth, reason):
        # Figures in the message change all the time, and aren't worth a write.
        return None
    return pool_condition(
        pool, now, condition=condition, truth=truth, reason=reason, message=message
    )


def patched_with(pool: NodePool, wanted: Condition) -> PatchStatus:
    """The write of one condition; the others stay as they are."""
    stands = joined_conditions(pool.status.conditions, wanted)
    status = {"conditions": [each.document() for each in stands]}
    return PatchStatus(kind="NodePool", version=version_of(pool), status=status)


def pool_condition(
    pool: NodePool, now: Instant, *, condition: str, truth: Truth, reason: str, message: str
) -> Condition:
    """What a pool says from now on; while the status stays, so does the time of its change."""
    wanted = Condition(
        type=condition,
        status=truth,
        observed_generation=pool.metadata.generation,
        last_transition_time=now.wall,
        reason=reason,
        message=message,
    )
    return stated(pool.status.conditions, wanted)
