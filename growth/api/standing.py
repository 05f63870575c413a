"""The conditions of an object, from the verdict of its status."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from growth.api.conditions import conditions_of

if TYPE_CHECKING:
    from datetime import datetime

    from growth.api.conditions import Condition, ObjectVerdict
    from growth.api.meta import ObjectMeta


class JudgedStatus(Protocol):
    """The common part of every kind's status."""

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions as written."""

    @property
    def verdict(self) -> ObjectVerdict:
        """The object's state."""


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
