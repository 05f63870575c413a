"""Which change of a schema makes wrong what was right."""

from __future__ import annotations

from typing import Any

import pytest

from growth.api import crd
from growth.installation.narrowing import schema_differences

TEXT = {"type": "string"}
RULE = {"rule": "self.min <= self.max", "message": "min is above max"}

TABLE: dict[str, tuple[dict[str, Any], dict[str, Any], set[tuple[str, bool]]]] = {
    "nothing": (TEXT, TEXT, set()),
    "another description": ({**TEXT, "description": "a"}, {**TEXT, "description": "b"}, set()),
    "another default": ({**TEXT, "default": "a"}, {**TEXT, "default": "b"}, set()),
    "a longer text": (
        {**TEXT, "maxLength": 10},
        {**TEXT, "maxLength": 20},
        {("maxLength 10 -> 20", False)},
    ),
    "a shorter text": (
        {**TEXT, "maxLength": 20},
        {**TEXT, "maxLength": 10},
        {("maxLength 20 -> 10", True)},
    ),
    "a first bound": (TEXT, {**TEXT, "maxLength": 10}, {("maxLength none -> 10", True)}),
    "no bound any more": ({**TEXT, "maxLength": 10}, TEXT, {("maxLength 10 -> none", False)}),
    "a higher minimum": ({"minimum": 0}, {"minimum": 1}, {("minimum 0 -> 1", True)}),
    "a lower minimum": ({"minimum": 1}, {"minimum": 0}, {("minimum 1 -> 0", False)}),
    "a pattern": (TEXT, {**TEXT, "pattern": "a"}, {("pattern none -> a", True)}),
    "another pattern": (
        {**TEXT, "pattern": "a"},
        {**TEXT, "pattern": "b"},
        {("pattern a -> b", True)},
    ),
    "no pattern any more": ({**TEXT, "pattern": "a"}, TEXT, {("pattern a -> none", False)}),
    "another type": (TEXT, {"type": "integer"}, {("type string -> integer", True)}),
    "may be null": (TEXT, {**TEXT, "nullable": True}, {("nullable none -> True", False)}),
    "may not be null": ({**TEXT, "nullable": True}, TEXT, {("nullable True -> none", True)}),
    "a word less": (
        {"enum": ["A", "B"]},
        {"enum": ["A", "C"]},
        {("B is no longer allowed", True), ("C is allowed now", False)},
    ),
    "only words": (TEXT, {**TEXT, "enum": ["A"]}, {("only A are allowed now", True)}),
    "any words": ({**TEXT, "enum": ["A"]}, TEXT, {("any value is allowed now", False)}),
    "a rule": (
        {},
        {"x-kubernetes-validations": [RULE]},
        {(f"has the new rule: {RULE['rule']}", True)},
    ),
    "a rule less": (
        {"x-kubernetes-validations": [RULE]},
        {},
        {(f"no longer has the rule: {RULE['rule']}", False)},
    ),
    "a field": ({}, {"properties": {"a": TEXT}}, {("is new", False)}),
    "a field less": (
        {"properties": {"a": TEXT}},
        {},
        {("is removed, with its stored values", True)},
    ),
    "a needed field": ({}, {"required": ["a"]}, {("is required now", True)}),
    "a field of choice": ({"required": ["a"]}, {}, {("is no longer required", False)}),
}


@pytest.mark.parametrize("name", TABLE)
def test_a_change_is_told_with_what_it_means(name: str) -> None:
    before, after, expected = TABLE[name]

    assert {(each.text, each.narrows) for each in schema_differences(before, after)} == expected


@pytest.mark.parametrize(
    ("within", "path"),
    [
        (lambda schema: {"properties": {"spec": schema}}, "spec"),
        (lambda schema: {"items": schema}, "[]"),
        (lambda schema: {"additionalProperties": schema}, "{}"),
        (lambda schema: {"properties": {"a": {"items": {"properties": {"b": schema}}}}}, "a[].b"),
    ],
)
def test_a_change_is_found_wherever_it_is(within: Any, path: str) -> None:
    [found] = schema_differences(within({"maximum": 2}), within({"maximum": 1}))

    assert (found.path, found.narrows) == (path, True)


def test_our_own_definitions_do_not_differ_from_themselves() -> None:
    for definition in crd.definitions().values():
        [version] = definition["spec"]["versions"]
        schema = version["schema"]["openAPIV3Schema"]
        assert list(schema_differences(schema, schema)) == []
