"""The base of all objects: frozen, camelCase outside, snake_case inside, rules attached.

One mechanism serves two kinds of readers. Processes read what the API server holds and must not
fall over a field that a newer version added: unknown fields are ignored, which is the default
here. Files are written by people and a field that isn't known is a typing mistake:
`growth.api.problems` validates with `extra="forbid"`, which pydantic carries down to every nested
object.
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
    """What holds between the fields of this part."""

    @classmethod
    def renewed(cls, before: Self | None, **fields: Any) -> Self:
        """One with these fields; the one before, if it has them already.

        To make one costs more than to compare many, and what hasn't changed is the same object.
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
        """As plain JSON values for the API server, without what is unset."""
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
    """The model that a field's type is, or is a list or map or optional of."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(model_within, get_args(annotation))), None)
