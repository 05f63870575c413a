"""The conditions of an object, from the verdict that its status gives about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from growth.api.conditions import conditions_of

if TYPE_CHECKING:
    from datetime import datetime

    from growth.api.conditions import Condition, ObjectVerdict
    from growth.api.meta import ObjectMeta


class JudgedStatus(Protocol):
    """What the status of each kind has."""

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """As they were written."""

    @property
    def verdict(self) -> ObjectVerdict:
        """Where the object stands."""


class JudgedObject(Protocol):
    """An object of any kind."""

    @property
    def metadata(self) -> ObjectMeta:
        """Its metadata."""

    @property
    def status(self) -> JudgedStatus:
        """Its status."""


def conditions(resource: JudgedObject, now: datetime) -> tuple[Condition, ...]:
    """The conditions that follow from the object's status, for its next status."""
    return conditions_of(
        resource.status.verdict,
        generation=resource.metadata.generation,
        before=resource.status.conditions,
        now=now,
    )
