"""Each reason for a removal has one meaning, and the schema and the documentation tell the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from growth.api.descriptions import descriptions
from growth.api.disruption import DisruptionReason
from growth.api.noderemovalrequest import NodeRemovalRequestSpec
from growth.api.removal_reason import MEANINGS, REMOVAL_REASONS, RemovalReason

PAGE = Path(__file__).parents[2] / "docs/concepts/removal.md"
DRAINED = {reason.value for reason in RemovalReason if reason.meaning.drains}
CANCELLED = {reason.value for reason in RemovalReason if not reason.meaning.drains}


def _reasons_in(text: str) -> set[str]:
    return set(re.findall(r"\w+", text)) & {reason.value for reason in RemovalReason}


def test_each_reason_has_a_meaning() -> None:
    assert set(MEANINGS) == set(RemovalReason)


def test_each_replacement_ends_in_a_removal_that_drains_and_is_counted_as_itself() -> None:
    assert set(REMOVAL_REASONS) == set(DisruptionReason)
    for replaced, removed in REMOVAL_REASONS.items():
        assert removed.meaning.drains
        assert removed.meaning.disruption is replaced


def test_what_pods_may_have_back_isnt_drained_and_could_stay() -> None:
    for reason in (each for each in RemovalReason if each.meaning.is_reusable):
        assert not reason.meaning.drains
        assert reason.meaning.is_optional


def test_the_schema_tells_which_reasons_pods_cancel() -> None:
    told = descriptions(NodeRemovalRequestSpec)["reason"]
    cancelled, drained = told.split(";")
    assert (_reasons_in(cancelled), _reasons_in(drained)) == (CANCELLED, DRAINED)


@pytest.mark.parametrize(
    ("words", "reasons"),
    [("the removal is cancelled", CANCELLED), ("they are drained first", DRAINED)],
)
def test_the_page_tells_what_becomes_of_the_pods(words: str, reasons: set[str]) -> None:
    rows = [line for line in PAGE.read_text().splitlines() if line.endswith(f"| {words} |")]
    assert {each for row in rows for each in _reasons_in(row.split("|")[1])} == reasons
