"""The differences between two schemas, and whether valid objects could become invalid.

A definition that accepts less than the one before does harm that no rollback repairs: stored
objects can't be updated any more, not even their finalizers, so they can't be deleted either. So
each change that isn't known to be harmless counts as narrower.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

Schema = dict[str, Any]

_SPOKEN: Final = frozenset({"description", "title", "example", "default"})
"""Words of a schema that don't restrict objects."""
_UPPER: Final = frozenset({"maximum", "maxLength", "maxItems", "maxProperties"})
_LOWER: Final = frozenset({"minimum", "minLength", "minItems", "minProperties"})
_SETS: Final = frozenset({"required", "enum", "properties", "x-kubernetes-validations"})
_RULES: Final = "x-kubernetes-validations"


@dataclass(frozen=True)
class Difference:
    """A difference between two schemas."""

    path: str
    text: str
    narrows: bool


def schema_differences(before: Schema, after: Schema, path: str = "") -> Iterator[Difference]:
    """All differences, from the outside to the inside."""
    yield from _bounds(before, after, path)
    yield from _required(before, after, path)
    yield from _enumerated(before, after, path)
    yield from _rules(before, after, path)
    yield from _words(before, after, path)
    yield from _properties(before, after, path)
    for key, mark in (("items", "[]"), ("additionalProperties", "{}")):
        if isinstance(before.get(key), dict) and isinstance(after.get(key), dict):
            yield from schema_differences(before[key], after[key], f"{path}{mark}")


def _bounds(before: Schema, after: Schema, path: str) -> Iterator[Difference]:
    for key in sorted((_UPPER | _LOWER) & (before.keys() | after.keys())):
        old, new = before.get(key), after.get(key)
        if old == new:
            continue
        tighter = new is not None and (old is None or (new < old if key in _UPPER else new > old))
        yield Difference(path, f"{key} {_word(old)} -> {_word(new)}", tighter)


def _required(before: Schema, after: Schema, path: str) -> Iterator[Difference]:
    old, new = set(before.get("required", ())), set(after.get("required", ()))
    for name in sorted(new - old):
        yield Difference(_below(path, name), "is required now", narrows=True)
    for name in sorted(old - new):
        yield Difference(_below(path, name), "is no longer required", narrows=False)


def _enumerated(before: Schema, after: Schema, path: str) -> Iterator[Difference]:
    if "enum" not in after and "enum" not in before:
        return
    if "enum" not in after:
        yield Difference(path, "any value is allowed now", narrows=False)
        return
    old, new = before.get("enum", ()), after["enum"]
    if "enum" not in before:
        yield Difference(path, f"only {', '.join(map(str, new))} are allowed now", narrows=True)
        return
    for value in (each for each in old if each not in new):
        yield Difference(path, f"{value} is no longer allowed", narrows=True)
    for value in (each for each in new if each not in old):
        yield Difference(path, f"{value} is allowed now", narrows=False)


def _rules(before: Schema, after: Schema, path: str) -> Iterator[Difference]:
    old = {each["rule"] for each in before.get(_RULES, ())}
    new = {each["rule"] for each in after.get(_RULES, ())}
    for rule in sorted(new - old):
        yield Difference(path, f"has the new rule: {rule}", narrows=True)
    for rule in sorted(old - new):
        yield Difference(path, f"no longer has the rule: {rule}", narrows=False)


def _words(before: Schema, after: Schema, path: str) -> Iterator[Difference]:
    """Differences of types, patterns, formats and list kinds; any change may be narrower."""
    known = _SPOKEN | _UPPER | _LOWER | _SETS | {"items", "additionalProperties"}
    for key in sorted((before.keys() | after.keys()) - known):
        old, new = before.get(key), after.get(key)
        if old == new:
            continue
        freed = new is None and key in {"pattern", "format"}
        allowed = new is True and key in {"nullable", "x-kubernetes-preserve-unknown-fields"}
        yield Difference(path, f"{key} {_word(old)} -> {_word(new)}", not (freed or allowed))


def _properties(before: Schema, after: Schema, path: str) -> Iterator[Difference]:
    old, new = before.get("properties", {}), after.get("properties", {})
    for name in sorted(old.keys() - new.keys()):
        yield Difference(_below(path, name), "is removed, with its stored values", narrows=True)
    for name in sorted(new.keys() - old.keys()):
        yield Difference(_below(path, name), "is new", narrows=False)
    for name in sorted(old.keys() & new.keys()):
        yield from schema_differences(old[name], new[name], _below(path, name))


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _word(value: object) -> str:
    return "none" if value is None else str(value)
