"""The nodes of a pool as this policy sees them: four classes, and their order by age."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from growth.foreign_text import time_or_none
from growth.scheduling.resources import NOTHING, Resources, total

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

_NO_TIME: Final = ("", "")


class GroupNode(msgspec.Struct, frozen=True, kw_only=True):
    """One node."""

    name: str
    created: str = ""
    """When it was created, in RFC 3339."""
    capacity: Resources = NOTHING
    """What it has for pods."""
    free: Resources = NOTHING
    """What its pods leave of that."""
    is_ready: bool = False
    is_empty: bool = True
    is_cordoned: bool = False
    """A person has cordoned it; then nothing else counts."""
    is_tainted: bool = False
    tainted_at: datetime | None = None
    """By the taint's own value; None if it has none that can be read."""
    is_forced: bool = False
    """Somebody wants it gone as soon as it is empty."""
    is_protected: bool = False
    """Somebody wants it never deleted."""

    def age(self, now: datetime) -> timedelta:
        """Its age; none if it isn't known."""
        created = time_or_none(self.created)
        return timedelta(0) if created is None else now - created


class NodeClasses(NamedTuple):
    """Each node is in one of them."""

    untainted: tuple[GroupNode, ...]
    tainted: tuple[GroupNode, ...]
    forced: tuple[GroupNode, ...]
    cordoned: tuple[GroupNode, ...]

    @property
    def capacity(self) -> Resources:
        """What can be used: only untainted nodes count."""
        return total(node.capacity for node in self.untainted)


class RememberedMarks(NamedTuple):
    """What a pool that only observes would have tainted: no node shows it."""

    tainted: Collection[str] = ()
    forced: Collection[str] = ()


def node_classes_of(
    nodes: Iterable[GroupNode], remembered: RememberedMarks | None = None
) -> NodeClasses:
    """The nodes by class: by what is on them, or by what is remembered."""
    found: dict[str, list[GroupNode]] = {name: [] for name in NodeClasses._fields}
    for node in nodes:
        found[_class_of(node, remembered)].append(node)
    return NodeClasses(**{name: tuple(members) for name, members in found.items()})


def _class_of(node: GroupNode, remembered: RememberedMarks | None) -> str:
    if node.is_cordoned:
        return "cordoned"
    is_forced = node.is_forced if remembered is None else node.name in remembered.forced
    if is_forced:
        return "forced"
    is_tainted = node.is_tainted if remembered is None else node.name in remembered.tainted
    return "tainted" if is_tainted else "untainted"


def oldest_first(nodes: Iterable[GroupNode]) -> list[GroupNode]:
    """The order in which nodes are tainted; a total one."""
    return sorted(nodes, key=lambda node: (_created(node), node.name))


def newest_first(nodes: Iterable[GroupNode]) -> list[GroupNode]:
    """The order in which nodes are untainted, and that of the health check."""
    return oldest_first(nodes)[::-1]


def _created(node: GroupNode) -> tuple[str, str]:
    """Seconds, and their fraction to any number of digits: a datetime would cut it off."""
    created = time_or_none(node.created)
    if created is None:
        return _NO_TIME
    _, _, after = node.created.partition(".")
    digits = after[: len(after) - len(after.lstrip("0123456789"))]
    return created.replace(microsecond=0).isoformat(), digits.rstrip("0")
