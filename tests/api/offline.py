"""The CEL of our definitions without an API server: defaults filled in, then each rule evaluated.

It does what the API server does with `x-kubernetes-validations`, except for costs and for rules
about changes. Kubernetes adds functions to CEL; those that our rules use are added here.
"""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import cel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from growth.api.rules import Path

Schema = dict[str, Any]


def refusals(schema: Schema, document: Any) -> Iterator[tuple[Path, str]]:
    """Where a rule doesn't hold, and what it says about it."""
    yield from _refusals(schema, with_defaults(schema, document), path=())


def with_defaults(schema: Schema, value: Any) -> Any:
    """The document as the API server stores it."""
    match value:
        case dict() if "properties" in schema:
            below = schema["properties"]
            given = {
                name: deepcopy(each["default"]) for name, each in below.items() if "default" in each
            }
            return {
                name: with_defaults(below.get(name, {}), each)
                for name, each in (given | value).items()
            }
        case list():
            return [with_defaults(schema.get("items", {}), each) for each in value]
        case _:
            return value


def _refusals(schema: Schema, value: Any, *, path: Path) -> Iterator[tuple[Path, str]]:
    for rule in schema.get("x-kubernetes-validations", []):
        if "oldSelf" not in rule["rule"] and not _evaluate(rule["rule"], value):
            composed = rule.get("messageExpression")
            yield path, _evaluate(composed, value) if composed else rule["message"]
    for step, below, each in _children(schema, value):
        yield from _refusals(below, each, path=(*path, step))


def _children(schema: Schema, value: Any) -> Iterator[tuple[str | int, Schema, Any]]:
    match value:
        case dict():
            known, free = schema.get("properties", {}), schema.get("additionalProperties", {})
            yield from ((name, known.get(name, free), each) for name, each in value.items())
        case list():
            items = schema.get("items", {})
            yield from ((place, items, each) for place, each in enumerate(value))
        case _:
            return


def _evaluate(expression: str, value: Any) -> Any:
    context = cel.Context()
    context.add_variable("self", value)
    context.add_function("lowerAscii", str.lower)
    context.add_function("sum", sum)
    context.add_function("indexOf", list.index)
    context.add_function("lastIndexOf", _last)
    context.add_function("isSorted", lambda entries: entries == sorted(entries))
    context.add_function("format", _format)
    return cel.evaluate(expression, context)


def _last(entries: list[Any], one: Any) -> int:
    return len(entries) - 1 - entries[::-1].index(one)


def _format(template: str, words: list[Any]) -> str:
    shown = (
        "[" + ", ".join(json.dumps(each) for each in word) + "]"
        if isinstance(word, list)
        else str(word)
        for word in words
    )
    return template % tuple(shown)
