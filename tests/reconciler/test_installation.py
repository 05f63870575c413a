"""Each installation has an id, and a copy of a cluster goes on under one of its own."""

from __future__ import annotations

from datetime import timedelta

import pytest

from reconciler.core.installation import (
    FormerInstallation,
    Installation,
    continued,
    installation_from,
    installation_text,
)
from tests.reconciler.build import START, at

OWN = Installation(id="a1")
DAY = 86_400.0


def test_the_first_leader_draws_an_id() -> None:
    assert continued(None, at(0), vacant_for=0.0, drawn="b2") == Installation(id="b2")


@pytest.mark.parametrize("vacant_for", [0.0, 15.0, 299.0])
def test_the_next_leader_keeps_it(vacant_for: float) -> None:
    assert continued(OWN, at(0), vacant_for=vacant_for, drawn="b2") == OWN


def test_in_a_cluster_from_a_backup_it_ends_when_the_backup_was_made() -> None:
    copy = continued(OWN, at(DAY), vacant_for=DAY, drawn="b2")
    assert copy.id == "b2"
    assert copy.ended_at("a1") == START
    assert copy.ended_at("b2") is None


def test_former_ids_are_remembered_and_not_without_end() -> None:
    kept: Installation | None = None
    for number in range(60):
        kept = continued(kept, at(number * DAY), vacant_for=DAY / 2, drawn=f"{number:x}")
    assert kept is not None
    assert len(kept.former) == 50
    assert kept.ended_at(f"{58:x}") == START + timedelta(seconds=58.5 * DAY)


def test_what_is_kept_is_read_back() -> None:
    kept = Installation(id="b2", former=(FormerInstallation("a1", "2026-01-01T00:00:00Z"),))
    assert installation_from(installation_text(kept)) == kept


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "{",
        "[]",
        '{"id": 1}',
        '{"id": "not an id"}',
        '{"id": "a1", "former": [{"id": "b2", "ended": "the year 1"}]}',
    ],
)
def test_what_can_not_be_read_is_as_if_it_were_not_there(text: str | None) -> None:
    assert installation_from(text) is None
