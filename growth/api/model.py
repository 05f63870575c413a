"""The base of all objects: frozen, camelCase in documents, snake_case in Python, with rules.

One mechanism serves two kinds of readers. Processes read from the API server and must not fail on a
field that a newer version has added, so unknown fields are ignored by default. People write files,
and an unknown field there is a typing mistake: `growth.api.problems` validates with
`extra="forbid"`, which pydantic applies to every nested object.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self, get_args

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema, core_schema
from typing_extensions import override

from growth.api.descriptions import descriptions, one_line
from growth.api.rules import AnyRule, ModelRule, refuse_breaches

if TYPE_CHECKING:
    from pydantic.json_schema import JsonSchemaValue


class Model(BaseModel):
    """An immutable part of an object."""

    model_config = ConfigDict(
        frozen=True,
        alias_generator=to_camel,
        validate_by_alias=True,
        validate_by_name=True,
        serialize_by_alias=True,
        extra="ignore",
    )

    rules: ClassVar[tuple[AnyRule, ...]] = ()
    """The rules between the fields of this part."""

    @classmethod
    def renewed(cls, before: Self | None, **fields: Any) -> Self:
        """An object with these fields; the previous one, if it already has them.

        Creating one costs more than comparing many, and unchanged values stay the same object.
        """
        if before is not None and all(getattr(before, name) == fields[name] for name in fields):
            return before
        return cls(**fields)

    def field(self, written: str) -> Any:
        """The value of a field by its name in YAML."""
        return getattr(self, self.field_names()[written])

    @classmethod
    def field_names(cls) -> dict[str, str]:
        """Name in YAML -> name in Python, for every field."""
        return {(info.alias or name): name for name, info in cls.model_fields.items()}

    def document(self) -> dict[str, Any]:
        """As plain JSON values for the API server, without unset fields."""
        return self.model_dump(mode="json", exclude_none=True)

    @override
    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        if not cls.rules:
            return schema
        return core_schema.no_info_after_validator_function(_obeying, schema)

    @override
    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        written = handler(schema)
        whole = handler.resolve_ref_schema(written)
        whole["description"] = one_line(cls.__doc__ or "")
        for name, text in descriptions(cls).items():
            alias = cls.model_fields[name].alias or name
            whole["properties"][alias]["description"] = text
        for rule in cls.rules:
            if isinstance(rule, ModelRule):
                continue
            place = whole["properties"][rule.at] if rule.at else whole
            validations = place.setdefault("x-kubernetes-validations", [])
            if rule.as_schema() not in validations:  # pydantic may ask more than once
                validations.append(rule.as_schema())
        return written


def _obeying(value: Model) -> Model:
    refuse_breaches(value, value.rules)
    return value


def model_within(annotation: Any) -> type[BaseModel] | None:
    """The model in a field's type, possibly within a list, map or optional."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(model_within, get_args(annotation))), None)
