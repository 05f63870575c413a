"""Texts, numbers and documents that nobody should write, and the keys under which growth reads.

Keys and fields are taken from the product: a new one is tried as soon as it is there.
"""

from __future__ import annotations

import collections.abc
import enum
import importlib
import pkgutil
import re
import types
import typing
from datetime import datetime
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Union, get_args, get_origin

import msgspec
from hypothesis import strategies as st
from pydantic import BaseModel

import growth
import reconciler
from growth.api.written import Duration, Portion, ServerTypeName

if TYPE_CHECKING:
    from collections.abc import Iterator

KEY: Final = re.compile(r"(?:[a-z0-9-]+\.)+[a-z]+/[A-Za-z0-9._-]+")
NOT_LOADED: Final = ("__main__", ".hetzner.", ".solver", ".cli.", ".simulation", ".process")

TEXTS: Final = (
    "",
    " ",
    "1e999999",
    "1e999990",
    "-1",
    "-1000",
    "0x10",
    "NaN",
    "Infinity",
    "-inf",
    "1E",
    "1E9E9",
    "9" * 400,
    "9" * 5000,
    "0." + "0" * 5000 + "1",
    "\u0663\u0664",
    "\u00b2",
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59-14:00",
    "2016-12-31T23:59:60Z",
    "2026-01-01T00:00:00",
    "999999999h999999999h999999999h",
    "true",
    "false",
    "null",
    "{}",
    "[]",
    '{"nodes":["default-1"],"of":1e400,"reason":"Unhealthy"}',
    '{"nodes":["default-1","default-1"],"of":-1,"reason":"Consolidation"}',
    '{"nodes":[],"of":99999999999999999999,"reason":"Drift"}',
    '{"a":NaN,"b":Infinity}',
    "[" * 20_000,
    '{"a":' * 20_000,
    "x" * 250_000,
    "a\x00b",
    "\x1b[2J",
    "\u202e",
    "100%",
    "1e999999%",
    "../../..",
    "$(growth.name)",
)
CATASTROPHIC: Final = (
    "a" * 50_000 + "!",
    "a-" * 25_000 + "!",
    "a." * 25_000 + "!",
    "k8s.io/" * 7_000,
    "1" * 50_000 + "x",
    "1." * 25_000,
    "1h" * 25_000 + "!",
    "0" * 50_000 + "e999999",
    "1e999999Ki",
    " " * 50_000 + "x",
    "\n" * 50_000,
    '{"a":' * 900 + "1" + "}" * 900,
    "[" * 900 + "]" * 900,
    '{"nodes":[' + ",".join(['"default-1"'] * 5_000) + '],"of":5000,"reason":"Drift"}',
    '{"' + "a" * 50_000 + '":1}',
    "- &a [x]\n" + "- [*a, *a, *a, *a]\n" * 500,
)
"""Texts that are slow to read for a pattern that tries again, an endless sum or a recursion."""
NUMBERS: Final = (0, -1, 1, 2**31, 2**63 - 1, -(2**63), 2**64, 1e308, -0.0, 5e-324)

texts = st.sampled_from(TEXTS) | st.text(max_size=40)
numbers = st.sampled_from([each for each in NUMBERS if isinstance(each, int)])
anything = st.recursive(
    texts | st.sampled_from(NUMBERS) | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
labels = st.from_regex(r"(?:[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?", fullmatch=True)
"""What the API server lets through as the value of a label."""


@cache
def known_keys() -> tuple[str, ...]:
    """Every key of an annotation, label or taint that the product names in a constant."""
    found = {
        value
        for package in (growth, reconciler)
        for each in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
        if not any(part in f"{each.name}." for part in NOT_LOADED)
        for value in vars(importlib.import_module(each.name)).values()
        if isinstance(value, str) and KEY.fullmatch(value)
    }
    return tuple(sorted(found))


keys = st.deferred(lambda: st.sampled_from(known_keys()) | texts)


class Leaf(NamedTuple):
    """A place in an object where a text, a number or a choice is read."""

    path: tuple[str | int, ...]
    """ANY_KEY stands for a key of a map."""
    kind: Any


ANY_KEY: Final = "*"


@cache
def leaves_of(kind: Any) -> tuple[Leaf, ...]:
    """All of a kind of object, by its types."""
    return tuple(_leaves(kind, (), ()))


def _leaves(kind: Any, path: tuple[str | int, ...], above: tuple[Any, ...]) -> Iterator[Leaf]:
    if kind in above:
        return
    origin, arguments = get_origin(kind), get_args(kind)
    if fields := _fields(kind):
        for name, (of, _) in fields.items():
            yield from _leaves(of, (*path, name), (*above, kind))
    elif origin in {Union, types.UnionType}:
        for each in arguments:
            yield from _leaves(each, path, above)
    elif origin is typing.Annotated:
        yield from _leaves(arguments[0], path, above)
    elif origin in {tuple, list, frozenset, collections.abc.Sequence}:
        yield from _leaves(arguments[0], (*path, 0), above)
    elif origin in {dict, collections.abc.Mapping}:
        yield from _leaves(arguments[1], (*path, ANY_KEY), above)
    elif kind is not types.NoneType:
        yield Leaf(path, kind)


def _fields(kind: Any) -> dict[str, tuple[Any, bool]]:
    """The fields of an object as they are written, with their types and whether they must be."""
    if not isinstance(kind, type):
        return {}
    if issubclass(kind, msgspec.Struct):
        return {
            each.encode_name: (each.type, each.required) for each in msgspec.structs.fields(kind)
        }
    if issubclass(kind, BaseModel):
        found = kind.model_fields.items()
        return {each.alias or name: (each.annotation, each.is_required()) for name, each in found}
    return {}


_SOUND: Final[dict[Any, Any]] = {
    int: 1,
    bool: True,
    Decimal: "0.5",
    datetime: "2026-01-01T00:00:00Z",
    Duration: "10m",
    ServerTypeName: "small",
    Portion: 1,
}


def _least(kind: Any) -> Any:
    """The least document of a kind that can be read."""
    origin, arguments = get_origin(kind), get_args(kind)
    if fields := _fields(kind):
        return {name: _least(of) for name, (of, needed) in fields.items() if needed}
    if origin in {Union, types.UnionType, typing.Annotated, Literal}:
        return arguments[0] if origin is Literal else _least(arguments[0])
    if origin in {tuple, list, frozenset, collections.abc.Sequence}:
        return []
    if origin in {dict, collections.abc.Mapping}:
        return {}
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return next(iter(kind)).value
    return _SOUND.get(kind, "default")


def written_at(document: Any, kind: Any, path: tuple[str | int, ...], value: Any, key: str) -> Any:
    """The document with a value in one place; what is missing on the way there is added."""
    if not path:
        return value
    step, *rest = path
    kind = _leading_to(kind, path)
    fields = _fields(kind)
    if fields:
        assert isinstance(step, str)
        held = document if isinstance(document, dict) else _least(kind)
        inner, _ = fields[step]
        return {**held, step: written_at(held.get(step), inner, tuple(rest), value, key)}
    arguments = get_args(kind)
    if step == 0:
        many = document if isinstance(document, list) else []
        first = many[0] if many else None
        return [written_at(first, arguments[0], tuple(rest), value, key), *many[1:]]
    held = document if isinstance(document, dict) else {}
    return {**held, key: written_at(held.get(key), arguments[1], tuple(rest), value, key)}


def _leading_to(kind: Any, path: tuple[str | int, ...]) -> Any:
    """The alternative of a type that has this place."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is typing.Annotated:
        return _leading_to(arguments[0], path)
    if origin in {Union, types.UnionType}:
        found = (each for each in arguments if any(leaf.path == path for leaf in leaves_of(each)))
        return _leading_to(next(found), path)
    return kind


@st.composite
def spoilt(draw: st.DrawFn, document: Any, kind: Any) -> Any:
    """A document in which one to three places say something that nobody should write."""
    for _ in range(draw(st.integers(1, 3))):
        leaf = draw(st.sampled_from(leaves_of(kind)))
        # Of the right type most times: what has another is refused before anything reads it.
        sort = {int: numbers, bool: st.booleans()}.get(leaf.kind, texts)
        value = draw(sort if draw(st.integers(0, 9)) else anything)
        document = written_at(document, kind, leaf.path, value, draw(keys))
    return document
