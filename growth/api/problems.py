"""What is wrong with a document: a path and a message, in the API server's own words.

Files are read strictly: unknown fields are refused at every level, and only the names used in YAML
count. The messages follow the API server's (`Required value`, `Unsupported value`), so that people
recognise them. Where the API server can only repeat a pattern or a type, ours say what to write
instead.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel, ValidationError
from typing_extensions import override

from growth.api.bounds import SUBDOMAIN
from growth.api.kinds import FILE_KINDS
from growth.api.model import model_within
from growth.api.wellknown import GROUP, GROUP_VERSION
from growth.spelling import did_you_mean

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from growth.api.meta import CustomResource
    from growth.api.rules import Path

# Kubernetes has more metadata than growth reads; none of it is a mistake.
_UNREAD_METADATA: Final = frozenset(
    {"generateName", "namespace", "selfLink", "managedFields", "deletionGracePeriodSeconds"}
)
IN_QUOTES: Final = "put it in quotes"
"""Without the value, because the parsed value differs from the text, for example for 1.10, 012,
0x10 and yes."""
FEW: Final = 8
"""How many fields are listed if none is similar."""
_SUBDOMAIN_IN_WORDS: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentProblem:
    """One mistake in a document."""

    path: Path
    """The path, such as ("spec", "serverTypes", 2)."""
    text: str
    """The message: what is wrong, and what to write instead."""
    related: Path | None = None
    """The other half of a contradiction, such as the first of two entries with one name."""

    @override
    def __str__(self) -> str:
        return f"{written_path(self.path)}: {self.text}" if self.path else self.text


def written_path(path: Path) -> str:
    """A path as the API server writes it: spec.serverTypes[2].name."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(steps).removeprefix(".")


def read_strictly(document: Mapping[str, Any]) -> CustomResource | tuple[DocumentProblem, ...]:
    """The object that a document of our group describes, or everything that is wrong with it."""
    model = FILE_KINDS.get(str(document.get("kind")))
    if model is None:
        return (_unknown_kind(document.get("kind")),)
    if document.get("apiVersion") != GROUP_VERSION:
        return (DocumentProblem(path=("apiVersion",), text=f"must be {GROUP_VERSION}"),)
    try:
        resource = model.model_validate(_as_stored(document), extra="forbid", by_name=False)
    except ValidationError as error:
        return problems_of(error, model)
    wrong_name = _wrong_name(resource.name)
    return resource if wrong_name is None else (wrong_name,)


def problems_of(error: ValidationError, model: type[BaseModel]) -> tuple[DocumentProblem, ...]:
    """Pydantic's errors in our words."""
    errors = error.errors(include_url=False)
    return tuple(
        _problem(each, model) for each in errors if not _follows_from_another(each, errors)
    )


def _wrong_name(name: str) -> DocumentProblem | None:
    """The API server's rules for all names, which definitions don't repeat."""
    if not name:
        return DocumentProblem(path=("metadata", "name"), text="Required value")
    if len(name) > 253 or not re.fullmatch(SUBDOMAIN, name):
        return DocumentProblem(path=("metadata", "name"), text=_SUBDOMAIN_IN_WORDS)
    return None


def _unknown_kind(kind: object) -> DocumentProblem:
    if not isinstance(kind, str) or not kind:
        return DocumentProblem(path=("kind",), text="Required value")
    known = did_you_mean(kind, FILE_KINDS) or f"it has {', '.join(FILE_KINDS)}"
    return DocumentProblem(path=("kind",), text=f'group {GROUP} has no kind "{kind}": {known}')


def _as_stored(document: Mapping[str, Any]) -> dict[str, Any]:
    """Without what the API server drops: unset fields, and metadata that growth doesn't read."""
    stored: dict[str, Any] = _without_null(document)
    metadata = stored.get("metadata")
    if isinstance(metadata, dict):
        stored["metadata"] = {
            key: value for key, value in metadata.items() if key not in _UNREAD_METADATA
        }
    return stored


def _without_null(node: Any) -> Any:
    match node:
        case Mapping():
            return {key: _without_null(below) for key, below in node.items() if below is not None}
        case list():
            return [_without_null(below) for below in node]
        case _:
            return node


def _follows_from_another(error: ErrorDetails, errors: list[ErrorDetails]) -> bool:
    # Pydantic counts only valid entries, so it considers a list with an invalid one too short.
    place = error["loc"]
    return error["type"] == "too_short" and any(
        other["loc"][: len(place)] == place for other in errors if other is not error
    )


def _problem(error: ErrorDetails, model: type[BaseModel]) -> DocumentProblem:
    context = error.get("ctx", {})
    path: Path = tuple(step for step in error["loc"] if step != "[key]")
    related = context.get("related")
    if related is not None:
        related = path[: len(path) - context["depth"]] + related
    return DocumentProblem(path=path, text=_text(error, path, model), related=related)


def _text(error: ErrorDetails, path: Path, model: type[BaseModel]) -> str:
    if error["type"] == "extra_forbidden":
        return _unknown_field(path, model)
    return _TEXTS.get(error["type"], _as_pydantic)(error)


def _as_pydantic(error: ErrorDetails) -> str:
    return error["msg"]


def _unknown_field(path: Path, model: type[BaseModel]) -> str:
    known = _fields_at(model, path[:-1])
    hint = did_you_mean(str(path[-1]), known, alike=0.7)
    if not hint and len(known) <= FEW:
        hint = f"known: {', '.join(known)}"
    return f"unknown field{hint and f'; {hint}'}"


def _fields_at(model: type[BaseModel], path: Path) -> list[str]:
    for step in path:
        if isinstance(step, str):
            names = {(info.alias or name): info for name, info in model.model_fields.items()}
            field = names.get(step)
            model = (field and model_within(field.annotation)) or model
    return [info.alias or name for name, info in model.model_fields.items()]


def _wrong_type(error: ErrorDetails) -> str:
    wanted, found = _TYPES.get(error["type"]) or error["ctx"]["wanted"], error["input"]
    if _lacks_quotes(error):
        return IN_QUOTES
    match found:
        case str() if wanted == "boolean":
            return "write true or false, without quotes"
        case str() if wanted == "integer" and found.isdecimal():
            return f"remove the quotes: {found}"
        case _:
            return f'must be of type {wanted}: "{_json_type(found)}"'


def _lacks_quotes(error: ErrorDetails) -> bool:
    if error["type"] == "wrong_type":
        lacks_quotes: bool = error["ctx"]["lacks_quotes"]
        return lacks_quotes
    return error["type"] == "string_type" and isinstance(error["input"], bool | int | float)


def _json_type(value: object) -> str:
    # In this order, because True is an int too.
    known = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array"}
    name = next((name for kind, name in known.items() if isinstance(value, kind)), None)
    return name or ("object" if isinstance(value, Mapping) else "null")


def _not_supported(error: ErrorDetails) -> str:
    known = error["ctx"]["expected"].replace(" or ", ", ").replace("'", '"')
    return (
        f"Unsupported value: {json.dumps(error['input'], default=str)}: supported values: {known}"
    )


_TYPES: Final = {
    "string_type": "string",
    "int_type": "integer",
    "bool_type": "boolean",
    "tuple_type": "array",
    "dict_type": "object",
    "mapping_type": "object",
    "model_type": "object",
    "model_attributes_type": "object",
}

_TEXTS: Final[dict[str, Callable[[ErrorDetails], str]]] = {
    "missing": lambda _: "Required value",
    "rule": lambda error: error["ctx"]["text"],
    "written": lambda error: error["ctx"]["text"],
    "wrong_type": _wrong_type,
    **dict.fromkeys(_TYPES, _wrong_type),
    "enum": _not_supported,
    "literal_error": _not_supported,
    "greater_than_equal": lambda error: f"should be greater than or equal to {error['ctx']['ge']}",
    "less_than_equal": lambda error: f"should be less than or equal to {error['ctx']['le']}",
    "string_pattern_mismatch": lambda error: f"should match '{error['ctx']['pattern']}'",
    "string_too_long": lambda error: f"may not be more than {error['ctx']['max_length']} bytes",
    "string_too_short": lambda error: f"should be at least {error['ctx']['min_length']} chars long",
    "too_long": lambda error: f"must have at most {error['ctx']['max_length']} items",
    "too_short": lambda error: f"should have at least {error['ctx']['min_length']} items",
}
