"""A Node that claims a machine which isn't its own is told of, once, and ignored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from growth.api.noderecord import CONTESTED, NodeRecord
from growth.keeping.believing import believed
from reconciler import records
from reconciler.core.actions import EmitEvent, PatchStatus
from reconciler.core.actions import machine as subject_of
from reconciler.facts.recording import patched_record
from reconciler.seeing.nodes import BelievedNodes
from tests.provisioning.build import settled
from tests.reconciler.build import at
from tests.removal.build import node
from tests.scheduling import build
from tests.trust.build import NOW, bought, listed, name_of, read, steps, with_uid

if TYPE_CHECKING:
    from growth.scheduling.node import Node
    from reconciler.core.actions import Action
    from reconciler.core.world import World

NAME = name_of(1)
OWN = with_uid(node(NAME))
RECORD = bought(OWN)


def claiming(name: str = "foreign", provider_id: str = OWN.spec.provider_id) -> Node:
    return with_uid(build.node(name, providerID=provider_id))


def seen(*objects: Any, **changes: Any) -> World:
    return read(settled(), *objects, shown=listed(OWN), **changes)


def done(world: World) -> list[Action]:
    return steps(records.decide(world, at(NOW)))  # type: ignore[arg-type]


def after(made: NodeRecord, patch: Action) -> NodeRecord:
    """The record as the API server has it after the patch."""
    assert isinstance(patch, PatchStatus)
    document = made.document()
    document["status"] = {**document["status"], **patch.status}
    return NodeRecord.model_validate(document)


def said(made: NodeRecord) -> str:
    return "".join(each.message for each in made.status.conditions if each.type == CONTESTED)


def test_a_second_node_with_the_providerid_of_a_machine_is_told_of_on_its_record() -> None:
    patch, told = done(seen(OWN, RECORD, claiming()))
    assert "Node foreign has the providerID of this machine" in said(after(RECORD, patch))
    assert isinstance(told, EmitEvent)
    assert (told.event.regarding.kind, told.event.regarding.name) == ("NodeRecord", NAME)
    assert told.event.reason == CONTESTED
    assert "Node foreign has" in told.event.note


def test_it_is_told_once() -> None:
    patch, _ = done(seen(OWN, RECORD, claiming()))
    assert done(seen(OWN, after(RECORD, patch), claiming())) == []


def test_the_condition_goes_when_the_claim_ends() -> None:
    patch, _ = done(seen(OWN, RECORD, claiming()))
    contested = after(RECORD, patch)
    (ended,) = done(seen(OWN, contested))
    assert said(after(contested, ended)) == ""
    assert done(seen(OWN, after(contested, ended))) == []


def test_a_node_under_the_name_of_a_machine_with_the_id_of_another_is_told_of() -> None:
    fresh = RECORD.model_copy(update={"status": type(RECORD.status)()})
    patch, told = done(seen(claiming(NAME, "hcloud://666"), fresh))
    assert "has this name, but its providerID hcloud://666" in said(after(fresh, patch))
    assert isinstance(told, EmitEvent)


def test_of_many_claimants_a_few_are_named_and_the_others_counted() -> None:
    many = [claiming(f"foreign-{number}-{'x' * 240}") for number in range(9)]
    patch, told = done(seen(OWN, RECORD, *many))
    assert "foreign-2" in said(after(RECORD, patch))
    assert "foreign-3" not in said(after(RECORD, patch))
    assert isinstance(told, EmitEvent)


def test_a_node_with_an_id_of_its_own_or_with_none_is_no_claimant() -> None:
    others = claiming("a", "hcloud://7"), claiming("b", ""), claiming("c", f"other-{NAME}")
    assert done(seen(OWN, RECORD, *others)) == []


def test_a_machine_that_is_worked_on_is_told_of_later() -> None:
    assert done(seen(OWN, RECORD, claiming(), busy=frozenset({subject_of(NAME)}))) == []


def test_what_else_is_written_about_a_record_leaves_the_condition_there() -> None:
    patch, _ = done(seen(OWN, RECORD, claiming()))
    contested = after(RECORD, patch)
    joined = patched_record(contested, at(NOW), node=None)
    assert said(after(contested, joined)) == said(contested)


def test_claimants_follow_each_change_of_nodes_and_records() -> None:
    nodes = BelievedNodes(believed)
    found = nodes.claimants.found
    nodes.node_changed("foreign", claiming())
    nodes.node_changed(NAME, OWN)
    assert found == {}
    nodes.record_changed(NAME, RECORD)
    assert [each.name for each in found[NAME]] == ["foreign"]
    nodes.node_changed("foreign", claiming(provider_id="hcloud://7"))
    assert found == {}
    nodes.node_changed("foreign", claiming())
    assert list(found) == [NAME]
    nodes.node_changed("foreign", None)
    assert found == {}
    nodes.node_changed("foreign", claiming())
    nodes.record_changed(NAME, None)
    assert found == {}


def test_the_id_of_a_machine_is_found_in_every_form_of_a_providerid() -> None:
    numbered = RECORD.model_copy(
        update={"spec": RECORD.spec.model_copy(update={"node_id": "4711"})}
    )
    other = msgspec.structs.replace(OWN, spec=msgspec.structs.replace(OWN.spec, provider_id=""))
    found = read(settled(), other, numbered, claiming(provider_id="hcloud://4711")).claimants
    assert [each.name for each in found[NAME]] == ["foreign"]
