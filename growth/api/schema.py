"""Convert a pydantic model to a structural schema, the JSON Schema that definitions may use.

pydantic writes general JSON Schema. The API server accepts much less: no references, no null, no
constants, no closed objects; every node has a type, and everything that a CEL rule may iterate over
has a bound. The generator below writes as much as possible in the right form, and `_rewritten`
converts the rest. If something has no structural form, it is refused with the field's path, so that
a mistake in a model is found when the definitions are generated and not by the first cluster.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from typing_extensions import override

from growth.api.model import Model

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic_core import core_schema

# Keywords of JSON Schema without a counterpart, and what a model should use instead.
_FOREIGN: Final = {
    "prefixItems": "a tuple of fixed length has no structural form: use a model or tuple[X, ...]",
    "anyOf": "a union has no structural form: use one type, or a marker with int-or-string",
    "oneOf": "a union has no structural form: use one type",
    "allOf": "an intersection has no structural form: use one type",
    "multipleOf": "multiples are counted in floating point by the API server: use a rule",
    "patternProperties": "keys have no schema: check them by growth.api.bounds.Keys",
    "propertyNames": "keys have no schema: check them by growth.api.bounds.Keys",
}
_NOISE: Final = ("title", "examples", "discriminator", "contentMediaType")
_UNBOUNDED: Final = {"string": "maxLength", "array": "maxItems", "object": "maxProperties"}
# Look-around and back-references work in Python and Rust, but not in Go's RE2.
_NOT_RE2: Final = re.compile(r"\(\?(?!:|P<|[a-zA-Z]+\))|\\[1-9]")


class NotStructural(TypeError):
    """A field of a model can't be expressed in a structural schema."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path}: {problem}")


def structural_schema(
    model: type[BaseModel], *, given: Mapping[str, dict[str, Any]] = MappingProxyType({})
) -> dict[str, Any]:
    """The schema of a model with everything it contains; schemas of fields may be given."""
    general = model.model_json_schema(schema_generator=_Generator)
    definitions = general.pop("$defs", {})
    for name in given:
        del general["properties"][name]
    inlined = _inlined(general, definitions, path=model.__name__, within=())
    schema = _rewritten(inlined, path=model.__name__)
    return schema | {"properties": {**given, **schema["properties"]}}


class _Generator(GenerateJsonSchema):
    """What can be written correctly at once: no titles, no nulls, defaults as JSON."""

    @override
    def field_title_should_be_set(self, schema: object) -> bool:
        return False

    @override
    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        # Unset fields are left out of documents, so null never has a meaning of its own.
        return self.generate_inner(schema["schema"])

    @override
    def encode_default(self, dft: Any) -> Any:
        return _as_json(dft)

    @override
    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        written = super().default_schema(schema)
        if written.get("default", ...) in (None, []):
            written.pop("default")
        return written


def _as_json(value: Any) -> Any:
    match value:
        case Model():
            return _as_json(value.model_dump(mode="json", exclude_none=True))
        case Enum():
            return value.value
        case tuple() | list():
            return [_as_json(entry) for entry in value]
        case Mapping():
            return {key: _as_json(entry) for key, entry in value.items() if entry != []}
        case None | bool() | int() | str():
            return value
        case _:
            return str(value)


def _inlined(
    node: Any, definitions: Mapping[str, Any], *, path: str, within: tuple[str, ...]
) -> Any:
    if isinstance(node, list):
        return [_inlined(each, definitions, path=path, within=within) for each in node]
    if not isinstance(node, dict):
        return node
    if "$ref" not in node:
        return {
            key: _inlined(value, definitions, path=f"{path}.{key}", within=within)
            for key, value in node.items()
        }
    name = node["$ref"].rsplit("/", 1)[-1]
    if name in within:
        raise NotStructural(path, f"{name} contains itself, which has no structural form")
    target = _inlined(definitions[name], definitions, path=path, within=(*within, name))
    beside = {key: value for key, value in node.items() if key != "$ref"}
    return _merged(target, beside)


def _merged(target: dict[str, Any], beside: dict[str, Any]) -> dict[str, Any]:
    rules = target.get("x-kubernetes-validations", []) + beside.get("x-kubernetes-validations", [])
    return target | beside | ({"x-kubernetes-validations": rules} if rules else {})


def _rewritten(node: dict[str, Any], *, path: str) -> dict[str, Any]:
    node = {key: value for key, value in node.items() if key not in _NOISE}
    if node.get("x-kubernetes-int-or-string") or "x-kubernetes-preserve-unknown-fields" in node:
        return node
    _refuse_foreign(node, path)
    _rewrite_words(node)
    _rewrite_below(node, path)
    _refuse_unbounded(node, path)
    return node


def _refuse_foreign(node: dict[str, Any], path: str) -> None:
    for word, instead in _FOREIGN.items():
        if word in node:
            raise NotStructural(path, instead)
    if node.get("format") == "duration":
        raise NotStructural(path, "ISO durations mean nothing to Kubernetes: use Duration")
    if node.get("type") == "number":
        raise NotStructural(
            path, "floating point doesn't survive JSON exactly: use Money or an int"
        )
    if "type" not in node and "const" not in node:
        raise NotStructural(path, "Any has no type: name one, or preserve unknown fields")
    if _NOT_RE2.search(node.get("pattern", "")):
        raise NotStructural(path, f"pattern {node['pattern']} isn't RE2, which Go understands")


def _rewrite_words(node: dict[str, Any]) -> None:
    if "const" in node:
        node.setdefault("type", "string")
        node["enum"] = [node.pop("const")]
    if node.pop("uniqueItems", False):
        node["x-kubernetes-list-type"] = "set"
    for bound, word in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if word in node:
            node[bound], node[word] = node[word], True


def _rewrite_below(node: dict[str, Any], path: str) -> None:
    if "properties" in node:
        if node.pop("additionalProperties", False):
            raise NotStructural(path, "named fields and free ones exclude each other: use a map")
        node["properties"] = {
            name: _rewritten(below, path=f"{path}.{name}")
            for name, below in node["properties"].items()
        }
    for word, suffix in (("items", "[]"), ("additionalProperties", "{}")):
        below = node.get(word)
        if isinstance(below, dict):
            node[word] = _rewritten(below, path=path + suffix)
        elif below is not None:
            raise NotStructural(path, "Any has no type: name one, or preserve unknown fields")


def _refuse_unbounded(node: dict[str, Any], path: str) -> None:
    bound = _UNBOUNDED.get(node["type"])
    closed = "enum" in node or "properties" in node or "format" in node
    if bound and bound not in node and not closed:
        raise NotStructural(path, f"without {bound} no rule over it can be costed")
    of_objects = node["type"] == "array" and node["items"].get("type") == "object"
    if of_objects and "x-kubernetes-list-type" not in node:
        raise NotStructural(path, "a list of objects says how it is merged: ListMap or Atomic")
