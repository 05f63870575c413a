"""What `growth convert --from` makes of an object of another program, and what it says of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from growth.api.wellknown import GROUP_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from growth.api.yaml_text import Path

Json = dict[str, Any]
UNBOUNDED_MAX: Final = 10
"""The maximum of a type where the old group has none: enough to begin with."""


class Remark(NamedTuple):
    """Something that a person should look at."""

    path: Path
    """Where it is in the old document; its line is told."""
    text: str


class ConvertedObject(NamedTuple):
    """One object of growth, or why there is none."""

    title: str
    """The old object, for messages."""
    path: Path
    """Where it is in the old document."""
    document: Json
    remarks: tuple[Remark, ...] = ()
    problems: tuple[str, ...] = ()
    """What is wrong with the old object; then there is no document."""


def part_of(parent: Mapping[str, Any], name: str) -> Json:
    """A part of an old document, or nothing if it isn't there."""
    found = parent.get(name)
    return found if isinstance(found, dict) else {}


def pool_document(name: str, *, types: Sequence[str], most: int, fields: Mapping[str, Any]) -> Json:
    """A NodePool in which each type may have all nodes; fields that are empty are left out."""
    server_types = [{"name": each, "max": most} for each in types]
    spec = {"serverTypes": server_types, **fields}
    return {
        "apiVersion": GROUP_VERSION,
        "kind": "NodePool",
        "metadata": {"name": name},
        "spec": {key: value for key, value in spec.items() if value not in ({}, [], None)},
    }


def left_out(
    old: Mapping[str, Any], told: Mapping[str, str], known: Iterable[str], *, at: Path
) -> Iterable[Remark]:
    """A remark for each field that has no counterpart, in the order of the old document."""
    taken = frozenset(known)
    for name in old:
        if name in told:
            yield Remark((*at, name), f"{name}: {told[name]}")
        elif name not in taken:
            yield Remark((*at, name), f"{name}: growth doesn't know this field; it was left out")
