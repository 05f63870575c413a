"""Strings, lists and maps with their bounds, which are needed to estimate the cost of CEL rules.

The list markers also say how server-side apply merges (`x-kubernetes-list-type`), and check in
Python what the API server then checks itself: that no key occurs twice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler, Strict
from pydantic_core import CoreSchema, ValidationError, core_schema

from growth.api.rules import Path, repeated, rule_refusal

if TYPE_CHECKING:
    from pydantic.json_schema import JsonSchemaValue

DNS_LABEL: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
SUBDOMAIN: Final = rf"^{DNS_LABEL}(\.{DNS_LABEL})*$"
QUALIFIED_NAME: Final = (
    rf"^({DNS_LABEL}(\.{DNS_LABEL})*/)?[A-Za-z0-9]([A-Za-z0-9._-]{{0,61}}[A-Za-z0-9])?$"
)

PoolName = Annotated[str, Field(max_length=26, pattern=f"^{DNS_LABEL}$")]
"""A DNS label, short enough that `{pool}-{uuid}` still is one."""
ObjectName = Annotated[str, Field(max_length=253, pattern=SUBDOMAIN)]
"""What Kubernetes allows as the name of an object."""
NamespaceName = Annotated[str, Field(min_length=1, max_length=63, pattern=f"^{DNS_LABEL}$")]
"""A DNS label, which is what Kubernetes allows as the name of a namespace."""
Key = Annotated[str, Field(max_length=253, pattern=r"^[-._a-zA-Z0-9]+$")]
"""A key in the data of a Secret or ConfigMap."""
LabelValue = Annotated[
    str, Field(max_length=63, pattern="^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$")
]
"""What Kubernetes allows as the value of a label."""
LabelKey = Annotated[str, Field(max_length=317, pattern=QUALIFIED_NAME)]
"""What Kubernetes allows as the key of a label."""
Word = Annotated[str, Field(max_length=64, pattern="^[A-Z][A-Za-z]*$")]
"""A reason for programs: one CamelCase word that stays the same across versions."""
Sentence = Annotated[str, Field(max_length=1024)]
"""A text for people."""
Identifier = Annotated[str, Field(min_length=1, max_length=253)]
"""An ID or name given by another system."""
CURRENCY_PATTERN: Final = "^([A-Z]{3})?$"
Currency = Annotated[str, Field(max_length=3, pattern=CURRENCY_PATTERN)]
"""A currency as an ISO 4217 code; empty if unknown."""
Place = Annotated[str, Field(max_length=63, pattern="^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$")]
"""A region, location or zone; it becomes the value of a label."""
MOST: Final = 100_000
"""The maximum of anything that is counted."""
Count = Annotated[int, Strict(), Field(ge=0, le=MOST)]
"""A number of things."""
Flag = Annotated[bool, Strict()]
"""true or false, and no other spelling."""


@dataclass(frozen=True, slots=True)
class ListSet:
    """A list without duplicates."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_after_validator_function(_distinct, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return handler(schema) | {"x-kubernetes-list-type": "set"}


@dataclass(frozen=True, slots=True, init=False)
class MergedBy:
    """A list of objects that server-side apply merges by these keys; a rule keeps them unique."""

    keys: tuple[str, ...]

    def __init__(self, *keys: str) -> None:
        object.__setattr__(self, "keys", keys)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return handler(schema) | {
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": list(self.keys),
        }


class ListMap(MergedBy):
    """A list of objects in which each combination of these fields is unique."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        def distinct(entries: tuple[Any, ...]) -> tuple[Any, ...]:
            return _distinct(entries, keys=self.keys)

        return core_schema.no_info_after_validator_function(distinct, handler(source))


@dataclass(frozen=True, slots=True)
class Atomic:
    """A list that is always replaced as a whole; server-side apply never merges it."""

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return handler(schema) | {"x-kubernetes-list-type": "atomic"}


@dataclass(frozen=True, slots=True)
class Keys:
    """The form of a map's keys.

    Structural schemas can't express it, so only the model checks it.
    """

    pattern: str
    words: str

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        pattern = re.compile(self.pattern)

        def check(entries: dict[str, Any]) -> dict[str, Any]:
            wrong = [key for key in entries if len(key) > 317 or not pattern.fullmatch(key)]
            _refuse(entries, [((key,), f"must be {self.words}", None) for key in wrong])
            return entries

        return core_schema.no_info_after_validator_function(check, handler(source))


def _distinct(entries: tuple[Any, ...], *, keys: tuple[str, ...] = ()) -> tuple[Any, ...]:
    def key(entry: Any) -> str:
        value = {name: entry.field(name) for name in keys} if keys else entry
        return json.dumps(value, default=str, sort_keys=True, separators=(",", ":"))

    twice = repeated(entries, key=key)
    _refuse(
        entries,
        [((place,), f"Duplicate value: {key(entries[place])}", (first,)) for place, first in twice],
    )
    return entries


def _refuse(value: Any, mistakes: Iterable[tuple[Path, str, Path | None]]) -> None:
    errors = [
        rule_refusal(text, value=value, at=at, related=related) for at, text, related in mistakes
    ]
    if errors:
        raise ValidationError.from_exception_data("list", errors)


Labels = Annotated[
    Mapping[str, LabelValue],
    Field(max_length=64),
    Keys(QUALIFIED_NAME, "a label's key, such as team or example.org/team"),
]
"""Labels, as in Kubernetes."""
