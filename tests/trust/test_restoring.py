"""Growth's labels on a machine's Node are written back, and nobody is fought over them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from growth.api.wellknown import POOL_LABEL, UNREGISTERED_TAINT
from growth.keeping.believing import recorded_annotations, recorded_labels
from reconciler import records
from reconciler.core.actions import EmitEvent, SetNode
from reconciler.core.actions import machine as subject_of
from reconciler.records.ledger import WrittenBack
from tests.provisioning.build import settled
from tests.reconciler.build import at, pool, request
from tests.removal.build import node, removal
from tests.trust.build import NOW, bought, listed, name_of, read, with_uid, with_words

if TYPE_CHECKING:
    from growth.scheduling.node import Node
    from reconciler.core.decision import Decision
    from reconciler.core.world import World
    from reconciler.records.ledger import RecordsLedger

NAME = name_of(1)
PLAIN = with_uid(node(NAME, ready=True))
RECORD = bought(PLAIN)
OWN = with_words(
    PLAIN, labels=dict(recorded_labels(RECORD)), annotations=dict(recorded_annotations(RECORD))
)
MOVED = with_words(OWN, labels={POOL_LABEL: "another"})
CLOSED = [{"key": UNREGISTERED_TAINT, "effect": "NoSchedule"}]


def lacking(key: str) -> Node:
    labels = {name: value for name, value in OWN.labels.items() if name != key}
    return msgspec.structs.replace(
        OWN, metadata=msgspec.structs.replace(OWN.metadata, labels=labels)
    )


def closed(*, ready: bool) -> Node:
    return with_words(
        with_uid(node(NAME, ready=ready, taints=CLOSED)),
        labels=OWN.labels,
        annotations=OWN.metadata.annotations,
    )


def seen(*objects: Any, **changes: Any) -> World:
    return read(settled(), RECORD, *objects, shown=listed(OWN), **changes)


def decided(world: World, seconds: float = NOW) -> Decision[RecordsLedger]:
    return records.decide(world, at(seconds))


def change(world: World) -> SetNode | None:
    """What is written to the Node."""
    steps = [step for each in decided(world).sequences for step in each.steps]
    return next((step for step in steps if isinstance(step, SetNode)), None)


@pytest.mark.parametrize("key", sorted(recorded_labels(RECORD)))
def test_a_label_of_growth_that_is_gone_is_written_back(key: str) -> None:
    written = change(seen(lacking(key)))
    assert written is not None
    assert written.labels == {key: recorded_labels(RECORD)[key]}
    assert (written.annotations, written.taints, written.unschedulable) == ({}, None, None)


def test_a_label_that_was_changed_is_written_back_and_told_of_on_the_record() -> None:
    world = seen(MOVED)
    written = change(world)
    assert written is not None
    assert written.labels == {POOL_LABEL: "default"}
    told = decided(world).sequences[0].steps[-1]
    assert isinstance(told, EmitEvent)
    assert (told.event.regarding.kind, told.event.reason) == ("NodeRecord", "NodeWrittenBack")
    assert POOL_LABEL in told.event.note


def test_a_node_that_is_as_growth_left_it_is_not_written() -> None:
    assert change(seen(OWN)) is None
    assert change(seen(with_words(OWN, labels={"team": "a", "growth.dev/of-others": "b"}))) is None


def test_a_start_up_taint_on_a_node_that_has_served_is_taken_off_when_it_is_ready() -> None:
    written = change(seen(closed(ready=True)))
    assert written is not None
    assert written.taints == ()
    assert change(seen(closed(ready=False))) is None


@pytest.mark.parametrize("phase", ["Provisioning", "Deprovisioning"])
def test_a_node_that_comes_is_left_to_its_request(phase: str) -> None:
    coming = request(NAME, status={"phase": phase})
    assert change(seen(closed(ready=True), coming)) is None
    assert change(seen(MOVED, request(NAME, status={"phase": "Ready"}))) is not None


def test_a_node_that_goes_or_is_another_or_is_worked_on_is_left_alone() -> None:
    assert change(seen(MOVED, removal(NAME))) is None
    assert change(seen(with_uid(MOVED, "another"))) is None
    assert change(seen(MOVED, busy=frozenset({subject_of(NAME)}))) is None


def test_nothing_is_written_for_a_pool_that_is_gone_or_goes() -> None:
    going = pool()
    metadata = going.metadata.model_copy(update={"deletion_timestamp": at(0).wall})
    assert change(seen(MOVED, going.model_copy(update={"metadata": metadata}))) is None
    assert change(seen(MOVED, pools={})) is None


def test_a_stranger_is_never_written() -> None:
    assert change(read(settled(), MOVED, shown=listed(OWN))) is None


def test_who_changes_it_again_and_again_is_waited_for_longer_each_time() -> None:
    world, waits, seconds = seen(MOVED), [], NOW
    for _ in range(12):
        decision = decided(world, seconds)
        assert decision.sequences
        world = remembering(world, decision.section)
        again = decided(world, seconds)
        assert not again.sequences
        waits.append(again.wake_at - seconds)
        seconds = again.wake_at
    assert waits[:4] == [10.0, 20.0, 40.0, 80.0]
    assert waits[-1] == waits[-2] == 3600.0


def test_after_a_long_peace_a_change_is_the_first_one_again() -> None:
    fought = replace(seen(OWN).ledger.records, written_back={NAME: WrittenBack(9, NOW)})
    world = remembering(seen(OWN), fought)
    assert NAME in decided(world, NOW + 3600.0).section.written_back
    assert decided(world, NOW + 7200.0).section.written_back == {}


def remembering(world: World, section: RecordsLedger) -> World:
    return world.remembering(replace(world.ledger, records=section))
