"""Conditions as kstatus reads them: what kubectl, Helm and Flux conclude of each state."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from growth.api.kinds import KINDS
from growth.api.model import Model
from growth.api.standing import conditions
from tests.api.cases import HETZNER, KWOK, POOL, RECORD, REMOVAL, REQUEST, Document

if TYPE_CHECKING:
    from growth.api.standing import JudgedObject

NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)
BLOCKED = {"reason": "NodeClassNotFound", "message": "there is no node class: create one"}


def kstatus(document: Document) -> str:
    """The rules of cli-utils' kstatus for any object, in its order."""
    metadata, status = document["metadata"], document["status"]
    if "deletionTimestamp" in metadata:
        return "Terminating"
    if status["observedGeneration"] != metadata["generation"]:
        return "InProgress"
    stated = {each["type"]: each["status"] for each in status["conditions"]}
    if stated.get("Reconciling") == "True":
        return "InProgress"
    if stated.get("Stalled") == "True":
        return "Failed"
    return "Current" if stated.get("Ready", "True") == "True" else "InProgress"


def written(base: Document, status: dict[str, Any], **metadata: Any) -> Document:
    """The object as it is after its conditions were written."""
    document = base | {
        "metadata": base["metadata"] | {"generation": 3} | metadata,
        "status": status | {"observedGeneration": 3},
    }
    resource: JudgedObject = KINDS[base["kind"]].model_validate(document)  # type: ignore[assignment]
    derived = [each.document() for each in conditions(resource, NOON)]
    return document | {"status": document["status"] | {"conditions": derived}}


STATES = [
    (REQUEST, {}, "InProgress", "Pending"),
    (REQUEST, {"phase": "Provisioning"}, "InProgress", "Provisioning"),
    (REQUEST, {"phase": "Ready"}, "Current", "NodeReady"),
    (REQUEST, {"phase": "Unmet"}, "Failed", "Unmet"),
    (REQUEST, {"phase": "Deprovisioning"}, "InProgress", "Deprovisioning"),
    (RECORD, {}, "InProgress", "NotJoined"),
    (RECORD, {"node": {"name": "default-1", "uid": "4f2c"}}, "Current", "Joined"),
    (REMOVAL, {}, "InProgress", "Pending"),
    (REMOVAL, {"phase": "Deprovisioning"}, "InProgress", "Deprovisioning"),
    (REMOVAL, {"phase": "RemovalFailed"}, "Failed", "RemovalFailed"),
    (REMOVAL, {"phase": "CouldNotRemove"}, "Failed", "RemovalFailed"),
    (POOL, {"ready": 1, "wanted": 3}, "InProgress", "Provisioning"),
    (POOL, {"ready": 3, "wanted": 3}, "Current", "AllServe"),
    (POOL, {}, "Current", "AllServe"),
    (POOL, {"ready": 3, "wanted": 3, "blocked": BLOCKED}, "Failed", "NodeClassNotFound"),
    (HETZNER, {}, "Current", "Usable"),
    (HETZNER, {"blocked": BLOCKED}, "Failed", "NodeClassNotFound"),
    (KWOK, {}, "Current", "Usable"),
    (KWOK, {"blocked": BLOCKED}, "Failed", "NodeClassNotFound"),
]


@pytest.mark.parametrize(("base", "status", "expected", "reason"), STATES)
def test_kstatus_sees_each_state_as_it_is(
    base: Document, status: dict[str, Any], expected: str, reason: str
) -> None:
    document = written(base, status)

    assert kstatus(document) == expected
    assert {each["reason"] for each in document["status"]["conditions"]} == {reason}


def test_an_object_that_is_deleted_is_terminating() -> None:
    document = written(REQUEST, {"phase": "Ready"}, deletionTimestamp="2026-11-18T12:00:00Z")

    assert kstatus(document) == "Terminating"


def test_a_spec_that_was_not_seen_yet_is_in_progress() -> None:
    document = written(POOL, {})

    newer = document | {"metadata": document["metadata"] | {"generation": 4}}

    assert kstatus(newer) == "InProgress"


def test_only_what_changes_gets_a_new_time() -> None:
    pending = written(REQUEST, {})
    provisioning = pending | {"status": pending["status"] | {"phase": "Provisioning"}}
    ready = pending | {"status": pending["status"] | {"phase": "Ready"}}
    later = NOON + timedelta(minutes=1)

    unchanged = conditions(resource(provisioning), later)
    changed = conditions(resource(ready), later)

    assert {each.last_transition_time for each in unchanged} == {NOON}
    times = {each.type: each.last_transition_time for each in changed}
    assert times == {"Ready": later, "Reconciling": later, "Stalled": NOON}


def test_conditions_tell_which_generation_they_are_about() -> None:
    document = written(POOL, {})

    assert {each["observedGeneration"] for each in document["status"]["conditions"]} == {3}


def resource(document: Document) -> JudgedObject:
    found: JudgedObject = KINDS[document["kind"]].model_validate(document)  # type: ignore[assignment]
    assert isinstance(found, Model)
    return found
