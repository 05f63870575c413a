"""The pitfalls between pydantic's schemas and structural ones, each met or refused by name."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from growth.api.bounds import Atomic, ListMap
from growth.api.model import Model
from growth.api.rules import Rule
from growth.api.schema import NotStructural, structural_schema
from growth.api.written import Duration, Quantity, between

KEEP = "x-kubernetes-preserve-unknown-fields"
Text = Annotated[str, Field(max_length=10)]


class Leaf(Model):
    """A part."""

    name: Text = "x"
    """Its name."""


def properties(model: type[BaseModel]) -> dict[str, Any]:
    found: dict[str, Any] = structural_schema(model)["properties"]
    return found


def test_1_nested_models_are_inlined_and_keep_the_words_of_the_field() -> None:
    class Outer(Model):
        """The whole."""

        leaf: Leaf
        other: Leaf = Leaf()

    found = properties(Outer)

    assert found["leaf"]["properties"] == found["other"]["properties"]
    assert "$ref" not in str(found)
    assert found["other"]["default"] == {"name": "x"}


class Tree(Model):
    """A part that contains its like."""

    branches: Annotated[tuple[Tree, ...], Field(max_length=2), Atomic()] = ()


def test_1_a_model_that_contains_itself_is_refused() -> None:
    with pytest.raises(NotStructural, match=r"branches.*: Tree contains itself"):
        structural_schema(Tree)


def test_2_optional_fields_are_left_out_and_never_null() -> None:
    class Outer(Model):
        """The whole."""

        name: Text | None = None

    schema = structural_schema(Outer)

    assert schema["properties"] == {"name": {"type": "string", "maxLength": 10}}
    assert "required" not in schema


def test_3_a_quantity_is_a_number_or_a_text() -> None:
    class Outer(Model):
        """The whole."""

        cpu: Quantity

    found = properties(Outer)["cpu"]

    assert found["x-kubernetes-int-or-string"] is True
    assert "type" not in found


def test_3_any_other_union_is_refused() -> None:
    class Outer(Model):
        """The whole."""

        either: int | Text

    with pytest.raises(NotStructural, match=r"Outer\.either: a union"):
        structural_schema(Outer)


def test_4_exclusive_bounds_become_flags() -> None:
    class Outer(Model):
        """The whole."""

        share: Annotated[int, Field(gt=0, lt=100)]

    assert properties(Outer)["share"] == {
        "type": "integer",
        "minimum": 0,
        "exclusiveMinimum": True,
        "maximum": 100,
        "exclusiveMaximum": True,
    }


def test_5_a_single_choice_is_an_enum() -> None:
    class Outer(Model):
        """The whole."""

        policy: Literal["demand"]

    assert properties(Outer)["policy"] == {"type": "string", "enum": ["demand"]}


def test_6_a_tuple_of_fixed_length_is_refused() -> None:
    class Outer(Model):
        """The whole."""

        pair: tuple[int, int]

    with pytest.raises(NotStructural, match=r"Outer\.pair: a tuple of fixed length"):
        structural_schema(Outer)


def test_7_a_set_is_a_list_of_type_set() -> None:
    class Outer(Model):
        """The whole."""

        names: Annotated[frozenset[Text], Field(max_length=3)]

    found = properties(Outer)["names"]

    assert found["x-kubernetes-list-type"] == "set"
    assert "uniqueItems" not in found


def test_8_a_closed_model_is_not_said_to_be_closed() -> None:
    class Outer(BaseModel):
        """The whole."""

        model_config = ConfigDict(extra="forbid")
        name: Text

    assert "additionalProperties" not in structural_schema(Outer)


def test_8_named_fields_beside_free_ones_are_refused() -> None:
    class Outer(BaseModel):
        """The whole."""

        model_config = ConfigDict(extra="allow")
        name: Text

    with pytest.raises(NotStructural, match="exclude each other"):
        structural_schema(Outer)


@pytest.mark.parametrize("kind", [Any, dict[str, Any]], ids=["any", "map of any"])
def test_9_anything_at_all_is_refused(kind: Any) -> None:
    class Outer(BaseModel):
        """The whole."""

        thing: Annotated[kind, Field(max_length=3)] if kind is not Any else Any  # type: ignore[valid-type]

    with pytest.raises(NotStructural, match=r"Outer\.thing: Any has no type"):
        structural_schema(Outer)


def test_9_what_is_kept_unknown_on_purpose_passes() -> None:
    class Outer(BaseModel):
        """The whole."""

        thing: Annotated[Any, Field(json_schema_extra={KEEP: True})]

    assert properties(Outer)["thing"] == {KEEP: True}


def test_10_defaults_of_nested_models_hold_no_null_and_nothing_empty() -> None:
    class Middle(Model):
        """A part."""

        maybe: Text | None = None
        many: Annotated[tuple[Text, ...], Field(max_length=2)] = ()
        wait: Annotated[Duration, between("0s", "1h")] = Duration.parse("90s")

    class Outer(Model):
        """The whole."""

        middle: Middle = Middle()

    assert properties(Outer)["middle"]["default"] == {"wait": "1m30s"}


def test_11_a_duration_is_a_text_in_go_s_syntax() -> None:
    class Outer(Model):
        """The whole."""

        wait: Annotated[Duration, between("1s", "1h")]

    found = properties(Outer)["wait"]

    assert found["type"] == "string"
    assert "format" not in found
    assert found["x-kubernetes-validations"][0]["message"].startswith("must be a duration from 1s")


def test_11_a_timedelta_is_refused() -> None:
    class Outer(Model):
        """The whole."""

        wait: timedelta

    with pytest.raises(NotStructural, match=r"Outer\.wait: ISO durations"):
        structural_schema(Outer)


@pytest.mark.parametrize(
    "pattern", ["^(?!a)b$", "^(?<=a)b$", r"^(a)\1$"], ids=["look ahead", "look behind", "reference"]
)
def test_12_patterns_that_go_does_not_know_are_refused(pattern: str) -> None:
    class Outer(BaseModel):
        """The whole."""

        model_config = ConfigDict(regex_engine="python-re")
        name: Annotated[str, Field(max_length=3, pattern=pattern)]

    with pytest.raises(NotStructural, match=r"Outer\.name: pattern .* isn't RE2"):
        structural_schema(Outer)


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (float, "floating point"),
        (Annotated[int, Field(multiple_of=2)], "multiples"),
        (Decimal, "a union"),
    ],
    ids=["float", "multiple", "decimal without its marker"],
)
def test_12_numbers_that_json_does_not_keep_exactly_are_refused(kind: Any, reason: str) -> None:
    class Outer(Model):
        """The whole."""

        number: kind

    with pytest.raises(NotStructural, match=rf"Outer\.number: {reason}"):
        structural_schema(Outer)


def test_13_titles_go_and_texts_below_fields_stay() -> None:
    class Outer(Model):
        """The whole."""

        title: Text
        leaf: Leaf

    schema = structural_schema(Outer)

    assert set(schema["properties"]) == {"title", "leaf"}
    assert "title" not in schema
    assert schema["properties"]["leaf"]["properties"]["name"]["description"] == "Its name."
    assert schema["description"] == "The whole."


@pytest.mark.parametrize(
    ("kind", "bound"),
    [
        (str, "maxLength"),
        (Annotated[tuple[Text, ...], Atomic()], "maxItems"),
        (dict[str, Text], "maxProperties"),
        (Annotated[tuple[str, ...], Field(max_length=1)], "maxLength"),
    ],
    ids=["text", "list", "map", "text in a list"],
)
def test_14_what_has_no_bound_is_refused(kind: Any, bound: str) -> None:
    class Outer(Model):
        """The whole."""

        thing: kind

    with pytest.raises(NotStructural, match=rf"Outer\.thing.*: without {bound}"):
        structural_schema(Outer)


def test_14_a_list_of_objects_says_how_it_is_merged() -> None:
    class Silent(Model):
        """The whole."""

        leaves: Annotated[tuple[Leaf, ...], Field(max_length=2)]

    class Telling(Model):
        """The whole."""

        leaves: Annotated[tuple[Leaf, ...], Field(max_length=2), ListMap("name")]

    with pytest.raises(NotStructural, match=r"Silent\.leaves: a list of objects"):
        structural_schema(Silent)
    assert properties(Telling)["leaves"]["x-kubernetes-list-map-keys"] == ["name"]


def test_14_rules_stand_once_where_they_are_attached() -> None:
    class Ruled(Model):
        """A part."""

        rules = (Rule(at="name", cel="self != ''", text="name is empty", breaches=lambda _: ()),)
        name: Text

    class Outer(Model):
        """The whole."""

        first: Ruled
        second: Ruled

    found = properties(Outer)

    expected = [{"rule": "self != ''", "message": "name is empty"}]
    assert found["first"]["properties"]["name"]["x-kubernetes-validations"] == expected
    assert found["second"]["properties"]["name"]["x-kubernetes-validations"] == expected
