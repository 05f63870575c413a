"""Conditions as kstatus defines them, so that `kubectl wait`, Helm and Flux understand them.

An object's state is its phase, or the counts in its status. One pure function per kind derives the
conditions from it; nothing else sets them. Three types are enough: Ready for people, Reconciling
(in progress) and Stalled (needs a person) for tools, which look at these two first.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, assert_never

from pydantic import Field

from growth.api.bounds import ListMap, Sentence, Word
from growth.api.model import Model
from growth.api.written import Timestamp

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime


class Truth(StrEnum):
    """The status of a condition."""

    TRUE = "True"
    FALSE = "False"
    UNKNOWN = "Unknown"


class Condition(Model):
    """One aspect of an object's state."""

    type: Word
    """Type of the condition, such as Ready."""
    status: Truth
    """Whether it is true."""
    observed_generation: Annotated[int, Field(ge=0)] = 0
    """The generation of the spec that it describes."""
    last_transition_time: Timestamp
    """When `status` last changed."""
    reason: Word
    """The reason, as one stable word for programs."""
    message: Sentence = ""
    """The reason, for people."""


Conditions = Annotated[tuple[Condition, ...], Field(max_length=16), ListMap("type")]
"""Conditions of an object, one per type."""


class ObjectStanding(StrEnum):
    """The state of an object, as kstatus sees it."""

    CURRENT = "Current"
    IN_PROGRESS = "InProgress"
    FAILED = "Failed"


@dataclass(frozen=True, slots=True)
class ObjectVerdict:
    """The state of an object, with the reason."""

    standing: ObjectStanding
    reason: str
    message: str = ""


def conditions_of(
    verdict: ObjectVerdict, *, generation: int, before: Iterable[Condition], now: datetime
) -> tuple[Condition, ...]:
    """Ready, Reconciling and Stalled. A status that stays keeps its transition time."""
    before = tuple(before)
    return tuple(
        stated(
            before,
            name=name,
            status=status,
            generation=generation,
            reason=verdict.reason,
            message=verdict.message,
            now=now,
        )
        for name, status in statements(verdict.standing)
    )


def condition_of_type(conditions: Iterable[Condition], name: str) -> Condition | None:
    """The condition of this type, if an object has it."""
    return next((each for each in conditions if each.type == name), None)


def stated(
    before: Iterable[Condition],
    *,
    name: str,
    status: Truth,
    generation: int,
    reason: str,
    message: str,
    now: datetime,
) -> Condition:
    """A condition; while its status stays, so does the time of its last change."""
    known = next((each for each in before if (each.type, each.status) == (name, status)), None)
    return Condition.renewed(
        known,
        type=name,
        status=status,
        observed_generation=generation,
        last_transition_time=now if known is None else known.last_transition_time,
        reason=reason,
        message=message,
    )


def joined_conditions(before: Iterable[Condition], *news: Condition) -> tuple[Condition, ...]:
    """All conditions of an object, with these replacing those of the same types."""
    types = {each.type for each in news}
    return (*(each for each in before if each.type not in types), *news)


def statements(standing: ObjectStanding) -> tuple[tuple[str, Truth], ...]:
    """Type and status of each condition of an object in this state."""
    match standing:
        case ObjectStanding.CURRENT:
            ready, reconciling, stalled = Truth.TRUE, Truth.FALSE, Truth.FALSE
        case ObjectStanding.IN_PROGRESS:
            ready, reconciling, stalled = Truth.FALSE, Truth.TRUE, Truth.FALSE
        case ObjectStanding.FAILED:
            ready, reconciling, stalled = Truth.FALSE, Truth.FALSE, Truth.TRUE
        case _:
            assert_never(standing)
    return ("Ready", ready), ("Reconciling", reconciling), ("Stalled", stalled)
