"""docs/reference/objects.md, generated from the models.

The page is generated from the definitions for the API server and from the rules of the models, so
it always agrees with them.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from generators.markdown import markdown_table
from growth.api import wellknown
from growth.api.conditions import statements
from growth.api.crd import columns_of, definition
from growth.api.descriptions import constants
from growth.api.kinds import FILE_KINDS
from growth.api.meta import Blockage
from growth.api.model import Model, model_within
from growth.api.rules import ModelRule, with_places
from growth.api.written import (
    DURATION_PATTERN,
    PERCENT_PATTERN,
    QUANTITY_PATTERN,
)
from growth.foreign_text import MONEY_PATTERN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from growth.api.meta import CustomResource

Schema = dict[str, Any]

_PREFACE: Final = """\
# Objects

Generated from the models in `growth/api` by `make crds`; don't edit it by hand.

All kinds have the API version `growth.dev/v1alpha1`; `kubectl get growth` lists them. Hvpas are
in namespaces, all others are cluster-scoped. Files may also use `growth/v1alpha1`; `growth convert`
converts them. The case of server types doesn't matter. Durations are written like `90s`, `10m` or
`1h30m`, quantities like `500m`, `4` or `8Gi`, and money as text, like `"0.0136"`. Fields that are
neither *required* nor have a default are optional. ClusterFleet and ClusterRecord belong to
[fleets](../concepts/fleet.md) and are installed with them, as Hvpa with
[sizes of workloads](../concepts/sizing.md).
"""

# The bounds of a schema, as shown in a table.
_BOUNDS: Final = (
    ("minimum", "≥ {}"),
    ("maximum", "≤ {}"),
    ("minLength", "≥ {} characters"),
    ("maxLength", "≤ {} characters"),
    ("minItems", "≥ {} entries"),
    ("maxItems", "≤ {} entries"),
    ("maxProperties", "≤ {} keys"),
    ("pattern", "`{}`"),
)

_BLOCKED: Final = Blockage(reason="NodeClassNotFound", message="What is wrong and how to fix it.")
_WORDS_OF_PATTERNS: Final = {
    DURATION_PATTERN: "duration",
    QUANTITY_PATTERN: "quantity",
    MONEY_PATTERN: "money",
    PERCENT_PATTERN: "number or percentage",
}
_DURATION: Final = re.compile(r"must be a duration (from \S+ to [^,]+)")


def objects_page() -> str:
    """The whole page."""
    kinds = [text for model in FILE_KINDS.values() for text in _kind(model)]
    return "\n".join([_PREFACE, *kinds, *_names()]).rstrip() + "\n"


def _kind(model: type[CustomResource]) -> Iterator[str]:
    version = definition(model)["spec"]["versions"][0]
    schema = version["schema"]["openAPIV3Schema"]
    yield f"## {model.__name__} (`{model.kind_names[2]}`)\n"
    yield f"{schema['description']}\n"
    columns = ", ".join(each.heading for each in columns_of(model))
    yield f"`kubectl get {model.kind_names[2]}` shows {columns}.\n"
    yield from _rules("metadata", model.rules, schema)
    for part in ("spec", "status"):
        yield from _object(part, schema["properties"][part], _model_of(model, part))
    if "conditions" in schema["properties"]["status"]["properties"]:
        yield from _conditions(model)


def _model_of(model: type[Model], written: str) -> type[Model] | None:
    name = model.field_names().get(written)
    found = model_within(model.model_fields[name].annotation) if name else None
    return found if found is not None and issubclass(found, Model) else None


def _object(path: str, schema: Schema, model: type[Model] | None) -> Iterator[str]:
    yield f"### {path}\n"
    yield f"{schema['description']}\n"
    required = schema.get("required", [])
    rows = [
        (f"`{name}`", _type(each), _default(each, name in required), _bounds(each), _meaning(each))
        for name, each in schema["properties"].items()
    ]
    yield markdown_table(("Field", "Type", "Default", "Bounds", "Meaning"), rows)
    yield from _rules(path, model.rules if model else (), schema)
    for name, each in schema["properties"].items():
        yield from _below(f"{path}.{name}", each, _model_of(model, name) if model else None)


def _below(path: str, schema: Schema, model: type[Model] | None) -> Iterator[str]:
    if "properties" in schema:
        yield from _object(path, schema, model)
    elif "properties" in schema.get("items", {}):
        items = {"description": schema["description"]} | schema["items"]
        yield from _object(f"{path}[]", items, model)


def _type(schema: Schema) -> str:
    match schema:
        case {"pattern": pattern} if pattern in _WORDS_OF_PATTERNS:
            return _WORDS_OF_PATTERNS[pattern]
        case {"type": "array", "items": items}:
            return f"list of {_type(items)}"
        case {"type": "object", "additionalProperties": values}:
            return f"map of {_type(values)}"
        case _:
            return str(schema.get("format", schema["type"]))


def _default(schema: Schema, required: object) -> str:
    if required:
        return "*required*"
    return f"`{json.dumps(schema['default'], ensure_ascii=False)}`" if "default" in schema else ""


def _bounds(schema: Schema) -> str:
    below = schema.get("items") or schema.get("additionalProperties") or {}
    choices = schema.get("enum") or below.get("enum")
    told = [f"`{choice}`" for choice in choices or ()]
    plain = schema.get("pattern") not in _WORDS_OF_PATTERNS
    limits = [text.format(schema[word]) for word, text in _BOUNDS if plain and word in schema]
    told += [found[1] for text in _messages(schema) if (found := _DURATION.match(text))]
    return _cell(", ".join(told + limits))


def _messages(schema: Schema) -> list[str]:
    return [rule["message"] for rule in schema.get("x-kubernetes-validations", ())]


def _meaning(schema: Schema) -> str:
    return _cell(schema.get("description", ""))


def _cell(text: str) -> str:
    return text.replace("<", "\\<")


def _rules(path: str, rules: Iterable[object], schema: Schema) -> Iterator[str]:
    told = _messages(schema) + _of_fields(schema)
    told += [
        f"{rule.at}: {with_places(rule.text)} (not checked by the API server: {rule.because})"
        for rule in rules
        if isinstance(rule, ModelRule)
    ]
    if told:
        yield f"Refused in `{path}`:\n"
        yield "".join(f"- {_cell(text)}\n" for text in told)


def _of_fields(schema: Schema) -> list[str]:
    """Rules on lists and maps; those of objects are below their own table."""
    return [
        f"{name}: {text}"
        for name, each in schema.get("properties", {}).items()
        if "properties" not in each
        for text in _messages(each)
        if not _DURATION.match(text)
    ]


def _conditions(model: type[CustomResource]) -> Iterator[str]:
    yield f"### Conditions of a {model.__name__}\n"
    told = [status.verdict for status in _samples(model)]
    rows = [
        (each.reason, *(status for _, status in statements(each.standing)), each.message)
        for each in told
    ]
    yield markdown_table(("Reason", "Ready", "Reconciling", "Stalled", "Message"), rows)


def _samples(model: type[CustomResource]) -> list[Any]:
    """A status for each set of conditions of a kind."""
    status = model.model_fields["status"].default
    if hasattr(status, "examples"):
        return list(status.examples())
    if hasattr(status, "phase"):
        return [status.model_copy(update={"phase": phase}) for phase in type(status.phase)]
    counts = [{"ready": 1, "wanted": 3}, {"ready": 3, "wanted": 3}]
    stages = counts if hasattr(status, "wanted") else [{}]
    return [status.model_copy(update=each) for each in (*stages, {"blocked": _BLOCKED})]


def _names() -> Iterator[str]:
    yield "## Names on nodes, pods and objects\n"
    for heading, suffix in (
        ("Label", "_LABEL"),
        ("Annotation", "_ANNOTATION"),
        ("Taint", "_TAINT"),
        ("Finalizer", "_FINALIZER"),
    ):
        rows = [
            (f"`{getattr(wellknown, name)}`", text)
            for name, text in constants(wellknown).items()
            if name.endswith(suffix)
        ]
        yield markdown_table((heading, "Meaning"), rows)
