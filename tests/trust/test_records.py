"""A record lives as long as its machine, and each change of a Node is in it first."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import msgspec
import pytest

from growth.api.wellknown import (
    CORDONED_ANNOTATION,
    REPLACES_ANNOTATION,
    SCALE_DOWN_AT_ANNOTATION,
    TEMPLATE_ANNOTATION,
)
from reconciler import records
from reconciler.core.actions import (
    CreateNodeRecord,
    Delete,
    PatchStatus,
    Sequence,
    SetNode,
    machine,
    version_of,
)
from reconciler.providers.port import MachineState
from reconciler.records.before_deeds import recorded_first
from tests.provisioning.build import settled
from tests.reconciler.build import START, WHOLE, at, record, request
from tests.removal.build import node, removal
from tests.scheduling import build
from tests.trust.build import NOW, bought, listed, name_of, read, steps, with_uid

if TYPE_CHECKING:
    from growth.api.noderecord import NodeRecord
    from growth.scheduling.node import Node
    from reconciler.core.actions import Action
    from reconciler.core.world import World

NAME = name_of(1)


def joined(**fields: object) -> Node:
    return with_uid(node(NAME, **fields))  # type: ignore[arg-type]


def done(seen: World) -> list[Action]:
    return steps(records.decide(seen, at(NOW)))  # type: ignore[arg-type]


def old(made: NodeRecord, seconds: float = 0.0) -> NodeRecord:
    """Created at a second."""
    stamp = {"creation_timestamp": START + timedelta(seconds=seconds)}
    return made.model_copy(update={"metadata": made.metadata.model_copy(update=stamp)})


def test_a_machine_without_a_record_gets_one_from_its_listing_and_not_from_its_node() -> None:
    lies = joined(server_type="large", annotations={"growth.dev/price": "-1000"})
    (made,) = done(read(settled(), lies, shown=listed(lies, created_at=START)))
    assert isinstance(made, CreateNodeRecord)
    spec = made.record.spec
    assert (str(spec.server_type), spec.location, str(spec.price)) == ("small", "here", "1")
    assert (spec.node_id, spec.request_uid) == (f"kwok://{NAME}", f"uid-{NAME}")
    assert spec.bought_at == START
    assert made.record.metadata.owner_references == (), "a foreground deletion would take it away"


def test_a_machine_whose_request_is_there_is_recorded_as_it_was_asked_for() -> None:
    asked = request(NAME, status={"phase": "Ready", "acceptedAt": START}, price="7")
    (made,) = done(read(settled(), asked, joined(), shown=listed(joined())))
    assert isinstance(made, CreateNodeRecord)
    assert str(made.record.spec.price) == "7"


@pytest.mark.parametrize("fields", [{"state": MachineState.DELETING}, {"server_type": ""}])
def test_a_machine_that_goes_or_is_not_described_gets_no_record(fields: dict[str, object]) -> None:
    assert done(read(settled(), joined(), shown=listed(joined(), **fields))) == []


def test_a_machine_that_no_object_tells_of_gets_no_record() -> None:
    assert done(read(settled(), shown=listed(joined()))) == []


def test_nothing_is_recorded_from_a_node_that_no_listing_shows() -> None:
    assert done(read(settled(), joined())) == []


def test_a_record_notes_which_node_has_joined() -> None:
    made = record(NAME)
    (patch,) = done(read(settled(), made, joined(), shown=listed(joined())))
    assert isinstance(patch, PatchStatus)
    assert patch.status["node"] == {"name": NAME, "uid": f"uid-node-{NAME}"}
    assert {each["type"]: each["status"] for each in patch.status["conditions"]}["Ready"] == "True"


def test_a_node_that_comes_back_is_noted_anew() -> None:
    before = bought(joined())
    again = with_uid(node(NAME), "another")
    (patch,) = done(read(settled(), before, again, shown=listed(again)))
    assert isinstance(patch, PatchStatus)
    assert patch.status["node"]["uid"] == "another"


def test_a_record_goes_when_two_listings_do_not_show_its_machine() -> None:
    (gone,) = done(read(settled(), old(record(NAME))))
    assert isinstance(gone, Delete)
    assert (gone.kind, gone.version.name) == ("NodeRecord", NAME)


def test_a_record_stays_while_a_listing_its_request_or_its_node_tells_of_the_machine() -> None:
    made = old(record(NAME))
    coming = request(NAME, status={"phase": "Provisioning"})
    assert done(read(settled(), made, shown=listed(joined()))) == []
    assert done(read(settled(), made, shown=(), before=listed(joined()))) == []
    assert done(read(settled(), made, coming)) == []
    assert done(read(settled(), old(bought(joined())), joined())) == []


@pytest.mark.parametrize("phase", ["Pending", "Provisioning", "Unmet", "Ready", "Deprovisioning"])
def test_a_record_stays_while_its_request_does_as_its_node_may_still_come(phase: str) -> None:
    told = request(NAME, status={"phase": phase})
    assert done(read(settled(), old(record(NAME)), told)) == []


def test_a_record_goes_with_a_machine_whose_node_has_come_and_gone() -> None:
    told = request(NAME, status={"phase": "Ready"})
    (gone,) = done(read(settled(), old(bought(joined())), told))
    assert isinstance(gone, Delete)


def test_a_record_goes_with_its_pool_though_its_machine_stays() -> None:
    there = joined()
    seen = read(settled(), old(bought(there)), there, shown=listed(there))
    assert done(seen) == []
    (gone,) = done(msgspec.structs.replace(seen, pools={}))
    assert isinstance(gone, Delete)
    assert (gone.kind, gone.version.name) == ("NodeRecord", NAME)


def test_a_record_stays_while_its_pool_may_exist_unseen_or_a_removal_is_under_way() -> None:
    there = joined()
    seen = read(settled(), old(bought(there)), there, removal(NAME), shown=listed(there))
    assert done(msgspec.structs.replace(seen, pools={})) == []
    unseen = read(settled(), old(bought(there)), there, shown=listed(there))
    blind = msgspec.structs.replace(WHOLE, blind_since=1.0)
    sources = {**unseen.sources, "NodePool": blind}
    assert done(msgspec.structs.replace(unseen, pools={}, sources=sources)) == []


@pytest.mark.parametrize(("phase", "stays"), [("Deprovisioning", True), ("RemovalFailed", False)])
def test_a_removal_that_has_failed_keeps_no_record_of_a_machine_that_is_gone(
    phase: str, *, stays: bool
) -> None:
    left = removal(NAME, status={"phase": phase})
    assert bool(done(read(settled(), old(record(NAME)), left))) is not stays


def test_a_record_stays_that_is_younger_than_the_listings() -> None:
    assert done(read(settled(), old(record(NAME), seconds=89.5))) == []


def written(step: SetNode, made: NodeRecord) -> tuple[Action, ...]:
    sequence = Sequence(subject=machine(NAME), steps=(step,), why="a test")
    (first,) = recorded_first((sequence,), read(settled(), made, joined()), at(NOW))
    return first.steps


def change(**annotations: str | None) -> SetNode:
    return SetNode(node=version_of(joined()), annotations=annotations)


def test_a_mark_is_in_the_record_before_it_is_on_the_node() -> None:
    step = change(**{SCALE_DOWN_AT_ANNOTATION: "2026-01-01T00:05:00Z"})
    patch, deed = written(step, bought(joined()))
    assert deed is step
    assert isinstance(patch, PatchStatus)
    assert patch.status["goesAt"] == "2026-01-01T00:05:00Z"


def test_a_mark_is_off_the_node_before_the_record_loses_it() -> None:
    marked = bought(joined())
    status = marked.status.model_copy(update={"goes_at": START, "cordoned": "Drift"})
    marked = marked.model_copy(update={"status": status})
    step = change(**{SCALE_DOWN_AT_ANNOTATION: None, CORDONED_ANNOTATION: None})
    deed, patch = written(step, marked)
    assert deed is step
    assert isinstance(patch, PatchStatus)
    assert (patch.status["goesAt"], patch.status["cordoned"]) == (None, None)


def test_a_template_that_was_mended_is_in_the_record_and_what_it_replaces_no_longer() -> None:
    made = bought(joined(), template="{}", replaces="[]")
    mended, _ = written(change(**{TEMPLATE_ANNOTATION: '{"form":1}'}), made)
    _, ended = written(change(**{REPLACES_ANNOTATION: None}), made)
    assert isinstance(mended, PatchStatus)
    assert isinstance(ended, PatchStatus)
    assert mended.status["template"] == '{"form":1}'
    assert ended.status["swapEnded"] is True


def test_what_the_record_says_already_is_not_written_again() -> None:
    made = bought(joined(), template="{}", replaces="[]")
    same = change(**{TEMPLATE_ANNOTATION: "{}", REPLACES_ANNOTATION: "[]"})
    assert written(same, made) == (same,)


def test_a_node_without_a_record_is_written_as_it_was_decided() -> None:
    foreign = build.node("foreign")
    step = SetNode(node=version_of(foreign), annotations={CORDONED_ANNOTATION: "Drift"})
    sequence = Sequence(subject=machine("foreign"), steps=(step,), why="a test")
    assert recorded_first((sequence,), read(settled(), foreign), at(NOW)) == (sequence,)


def test_nothing_is_done_to_a_machine_that_is_being_worked_on() -> None:
    seen = read(settled(), old(record(NAME)))
    assert done(msgspec.structs.replace(seen, busy=frozenset({machine(NAME)}))) == []
