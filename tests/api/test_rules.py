"""Each rule is one value with two halves; here the halves are held against each other offline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from growth.api.crd import definitions
from growth.api.problems import read_strictly
from tests.api.cases import CASES, Case
from tests.api.offline import refusals

if TYPE_CHECKING:
    from collections.abc import Iterator

SCHEMAS = {
    kind: definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    for kind, definition in definitions().items()
}


def texts_of_cel(case: Case) -> set[str]:
    return {text for _, text in refusals(SCHEMAS[case.document["kind"]], case.document)}


def texts_of_the_model(case: Case) -> set[str]:
    problems = read_strictly(case.document)
    return {problem.text for problem in problems} if isinstance(problems, tuple) else set()


def is_about_one_field(text: str) -> bool:
    """Whether the schema says it by itself: the API server then doesn't get to the rules."""
    return text.startswith(
        (
            "a lowercase RFC 1123",
            "should ",
            "may not ",
            "must have at ",
            "must be of type",
            "Required",
            "Unsupported",
        )
    )


WELL_FORMED = [
    case
    for case in CASES
    if not case.model_only
    and not case.server
    and not any(map(is_about_one_field, texts_of_the_model(case)))
]


@pytest.mark.parametrize("case", WELL_FORMED, ids=lambda case: case.name)
def test_cel_and_its_twin_say_the_same_of_a_well_formed_document(case: Case) -> None:
    twins = {text for text in texts_of_the_model(case) if not text.startswith("Duplicate value")}

    assert texts_of_cel(case) == twins


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.model_only], ids=lambda case: case.name
)
def test_what_only_the_model_refuses_passes_the_cel(case: Case) -> None:
    assert texts_of_cel(case) == set()


def test_every_rule_is_broken_by_some_case() -> None:
    broken = {text for case in WELL_FORMED for text in texts_of_cel(case)}
    fixed = {
        rule["message"]
        for rule in all_rules()
        if "messageExpression" not in rule and is_no_change(rule)
    }
    composed = [rule for rule in all_rules() if "messageExpression" in rule]

    assert (
        fixed - broken - {text for text in fixed if text.startswith("must be a duration")} == set()
    )
    assert len({rule["messageExpression"] for rule in composed}) <= len(broken - fixed)


def is_no_change(rule: dict[str, str]) -> bool:
    return "oldSelf" not in rule["rule"]


def all_rules() -> Iterator[dict[str, str]]:
    for schema in SCHEMAS.values():
        yield from rules_in(schema)


def rules_in(node: Any) -> Iterator[dict[str, str]]:
    if isinstance(node, dict):
        yield from node.get("x-kubernetes-validations", [])
        for below in node.values():
            yield from rules_in(below)
