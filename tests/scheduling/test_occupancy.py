"""The pods of a node follow each change, and so does what is derived from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from hypothesis import given
from hypothesis import strategies as st

from growth.scheduling.emptiness import keepers
from growth.scheduling.occupancy import EMPTY, Occupancy
from tests.scheduling import build

if TYPE_CHECKING:
    from growth.scheduling.pod import Pod

DAEMON: Final = {"ownerReferences": [{"kind": "DaemonSet", "name": "d", "controller": True}]}
GOING: Final = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
FORMS: Final[dict[str, tuple[dict[str, Any], str]]] = {
    "running": ({}, "Running"),
    "daemon": (DAEMON, "Running"),
    "finished": ({}, "Succeeded"),
    "ending": (GOING, "Failed"),
    "going": (GOING, "Running"),
}


def pod(number: int, form: str) -> Pod:
    metadata, phase = FORMS[form]
    identity = {"uid": f"uid-{number}"} | metadata
    return build.pod(f"web-{number}", on="a", metadata=identity, status={"phase": phase})


changes = st.lists(st.tuples(st.integers(0, 4), st.sampled_from([*FORMS, "gone"])), max_size=12)


def after(told: list[tuple[int, str]]) -> Occupancy:
    """The pods of a node after these changes."""
    held = EMPTY
    for number, form in told:
        change = held.lacking if form == "gone" else held.having
        held = change(pod(number, "running" if form == "gone" else form))
    return held


@given(changes)
def test_what_keeps_a_node_is_carried_on_with_each_change(told: list[tuple[int, str]]) -> None:
    held = after(told)
    assert held.keepers == keepers(held.pods)
    assert held.is_any_terminating == any(each.is_terminating for each in held.keepers)


@given(changes)
def test_each_pod_is_there_as_it_was_seen_last(told: list[tuple[int, str]]) -> None:
    held, last = after(told), dict(told)
    there = {name for name, form in last.items() if form in {"running", "daemon", "going"}}
    assert {each.name for each in held.pods} == {f"shop/web-{number}" for number in there}
    ending = {name for name, form in last.items() if form == "ending"}
    assert {each.name for each in held.ending} == {f"shop/web-{number}" for number in ending}
