"""Conditions of pools and node classes that become true and false.

They are absent until they are first true.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.api.conditions import Truth, condition_of_type, stated

if TYPE_CHECKING:
    from growth.api.conditions import Condition
    from growth.api.standing import JudgedObject
    from growth.instant import Instant
    from reconciler.facts.condition_words import Words


def begun_or_ended(
    told: JudgedObject, now: Instant, *, name: str, said: Words | None, otherwise: Words
) -> Condition | None:
    """The condition to write; None while the status is right. `said` is None while it is false."""
    known = condition_of_type(told.status.conditions, name)
    truth = Truth.FALSE if said is None else Truth.TRUE
    reason, message = said or otherwise
    if known is None and said is None:
        return None
    if known is not None and (known.status, known.reason) == (truth, reason):
        # Figures in a message change all the time; that alone isn't worth a write.
        return None
    return stated_now(told, now, name=name, truth=truth, reason=reason, message=message)


def stated_now(
    told: JudgedObject, now: Instant, *, name: str, truth: Truth, reason: str, message: str
) -> Condition:
    """A condition of an object; lastTransitionTime changes only with the status."""
    return stated(
        told.status.conditions,
        name=name,
        status=truth,
        generation=told.metadata.generation,
        reason=reason,
        message=message,
        now=now.wall,
    )
