"""The record of a machine says why its node is kept; it is written seldom."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec

from growth.api.nodepool_status import MOST_KEPT
from growth.cli.cluster.survey import survey
from reconciler import pools
from reconciler.core.actions import PatchStatus, machine
from tests.provisioning.build import settled
from tests.reconciler.build import at, node_class, record
from tests.removal.build import node, world
from tests.scheduling import build

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reconciler.core.world import World

FLEET = [f"default-{number:02}" for number in range(12)]


def of_nodes(*nodes: Any, others: Iterable[Any] = (), **changes: Any) -> World:
    """Nodes with their records, in a pool whose status is still empty."""
    records = [record(each.name) for each in nodes]
    return world(settled(), *nodes, *records, *others, **changes)


def after(seen: World, seconds: float, *, is_pruned: bool = False) -> tuple[World, dict[str, Any]]:
    """A pass, and the records that it writes; an older definition prunes what it doesn't know."""
    decision = pools.decide(seen, at(seconds))
    assert decision.section is not None
    written = {
        step.version.name: step.status["kept"]
        for sequence in decision.sequences
        for step in sequence.steps
        if isinstance(step, PatchStatus) and step.kind == "NodeRecord"
    }
    records = dict(seen.records)
    for name, reason in {} if is_pruned else written.items():
        told = records[name].status.model_copy(update={"kept": reason})
        records[name] = records[name].model_copy(update={"status": told})
    seen = msgspec.structs.replace(seen, records=records)
    return seen.remembering(replace(seen.ledger, pools=decision.section)), written


def written_in(seen: World, seconds: Iterable[float], **how: Any) -> list[tuple[float, Any]]:
    found = []
    for each in seconds:
        seen, written = after(seen, each, **how)
        found += [(each, written)] if written else []
    return found


def test_the_reason_is_in_the_record_once_it_has_lasted_for_ten_seconds() -> None:
    passes = written_in(of_nodes(node("default-1")), range(100, 200))
    assert passes == [(110, {"default-1": "Idle"})]


def test_pods_that_come_and_go_write_nothing() -> None:
    idle = of_nodes(node("default-1"))
    used = of_nodes(node("default-1"), others=[build.pod("web-0", on="default-1")])
    seen = idle
    for second in range(100, 200):
        cluster = (used if second // 9 % 2 else idle).cluster
        seen, written = after(msgspec.structs.replace(seen, cluster=cluster), second)
        assert not written


def test_of_a_whole_fleet_five_records_are_written_in_a_second() -> None:
    seen = of_nodes(*map(node, FLEET))
    passes = written_in(seen, [100, *(110 + tenth / 10 for tenth in range(60))])
    assert [(moment, len(written)) for moment, written in passes] == [(110, 5), (111, 5), (112, 2)]
    assert {name for _, written in passes for name in written} == set(FLEET)


def test_what_is_pruned_is_written_less_and_less_often() -> None:
    seen = of_nodes(node("default-1"))
    day = written_in(seen, range(100, 86_500, 5), is_pruned=True)
    assert [int(moment) for moment, _ in day][:5] == [110, 120, 140, 180, 260]
    assert len(day) < 40


def test_a_record_without_a_node_says_nothing_of_it() -> None:
    seen = world(settled(), record("default-1", status={"kept": "Idle"}))
    assert written_in(seen, range(100, 150)) == [(110, {"default-1": None})]


def test_a_machine_that_growth_works_on_is_not_written() -> None:
    seen = of_nodes(node("default-1"), busy=frozenset({machine("default-1")}))
    assert written_in(seen, range(100, 150)) == []


def test_the_loop_wakes_to_write_and_then_sleeps() -> None:
    seen = of_nodes(node("default-1"))
    wakes = [pools.decide(seen, at(100)).wake_at]
    for second in (100, 110, 111):
        seen, _ = after(seen, second)
    wakes.append(pools.decide(seen, at(112)).wake_at)
    assert wakes == [110.0, float("inf")]


def test_the_record_and_the_command_say_the_same() -> None:
    nodes = [
        node("default-idle"),
        node("default-used"),
        node("default-cordoned", unschedulable=True),
        node("default-wanted", annotations={"growth.dev/do-not-disrupt": "true"}),
    ]
    web = build.pod("web-0", on="default-used")
    seen = of_nodes(*nodes, others=[web])
    for second in (100, 110):
        seen, _ = after(seen, second)
    commands = survey([settled(), node_class()], [*nodes, web], now=at(110).wall).kept
    said = {name: each.status.kept for name, each in seen.records.items()}
    assert said == {name: each.reason.value for name, each in commands.items()}
    assert len(set(said.values())) == 4


def test_commands_read_from_records_what_a_pool_has_no_room_for() -> None:
    lines = [{"node": f"x{number}", "reason": "Held", "owner": "Pod a/b"} for number in range(100)]
    assert len(lines) == MOST_KEPT
    promised = record("default-1", status={"kept": "Promised"})
    waits = build.pod("web-0", status={"phase": "Pending"})
    for kept, reason in ((lines, "Promised"), (lines[1:], "Idle")):
        pool = settled(status={"kept": kept})
        found = survey([pool, node_class(), promised], [node("default-1"), waits], now=at(100).wall)
        assert found.kept["default-1"].reason == reason
