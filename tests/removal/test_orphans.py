"""Machines that nobody knows: found at once, given back late, and never many."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from reconciler import removal as removing
from reconciler.core.actions import DeleteMachine, EmitEvent, OpenRemoval
from reconciler.facts.listings import clouds
from reconciler.providers.port import ClassKey, MachineState, Sight
from reconciler.removal.ledger import RemovalLedger
from reconciler.removal.orphans import orphans
from tests.reconciler.build import at, node_class, pool, request
from tests.removal.build import (
    CLOUD,
    NAME,
    attempted,
    kinds,
    listing,
    machine,
    node,
    removal,
    steps,
    world,
)
from tests.scheduling import build

if TYPE_CHECKING:
    from growth.api.noderemovalrequest import NodeRemovalRequest
    from reconciler.core.world import World

KNOWN_BY = {
    "its request": (request(),),
    "its node": (node(),),
    "a node of another name with its id": (node("renamed", providerID="kwok://default-1"),),
    "its removal": (removal(status=attempted()),),
}


@pytest.mark.parametrize("objects", KNOWN_BY.values(), ids=KNOWN_BY.keys())
def test_a_machine_is_known_by(objects: tuple[Any, ...]) -> None:
    assert "OpenRemoval" not in kinds(lost(world(*objects, shown=(machine(),))))


def test_a_node_of_another_cloud_with_the_same_id_explains_no_machine() -> None:
    theirs = node("renamed", providerID="aws:///here/default-1")
    assert "OpenRemoval" in kinds(lost(world(theirs, shown=(machine(),))))


def test_a_machine_that_nobody_knows_gets_a_removal_at_once_and_people_are_told() -> None:
    opening, said = steps(lost(world(shown=(machine(),))))
    assert isinstance(opening, OpenRemoval)
    spec = opening.removal.spec
    assert (spec.reason, spec.node_id, spec.request_uid) == (
        "Orphan",
        "kwok://default-1",
        "uid-default-1",
    )
    assert opening.removal.metadata.owner_references[0].uid == "uid-default"
    assert isinstance(said, EmitEvent)
    assert said.event.reason == "OrphanFound"


def test_a_machine_of_another_incarnation_of_its_request_is_an_orphan() -> None:
    assert kinds(lost(world(request(), shown=(machine(request_uid="uid-older"),)))) == [
        "OpenRemoval"
    ]


@pytest.mark.parametrize("named", ["gone", ""])
def test_a_machine_whose_pool_is_gone_is_owned_by_another_pool_of_its_cloud(named: str) -> None:
    opening, _ = steps(lost(world(pool("batch"), shown=(machine(pool=named),))))
    assert isinstance(opening, OpenRemoval)
    assert opening.removal.spec.pool == "batch"


@pytest.mark.parametrize(("is_shown", "owners"), [(True, ["batch"]), (False, ["default"])])
def test_of_two_classes_that_list_an_orphan_its_pools_own_one_opens_the_removal(
    owners: list[str], *, is_shown: bool
) -> None:
    """They share a project. Otherwise an older listing would open what a newer one ends."""
    other = ClassKey("KwokNodeClass", "other")
    listed = machine(pool="batch")
    batch = pool("batch", nodeClassRef={"kind": other.kind, "name": other.name})
    given = world(pool(), batch, shown=(listed,))
    shown = listing(*(listed,) if is_shown else (), seconds=90.0)
    brakes = given.ledger.brakes
    trusted = replace(brakes, clouds={**brakes.clouds, other: brakes.clouds[CLOUD]})
    given = msgspec.structs.replace(
        given.remembering(replace(given.ledger, brakes=trusted)),
        clouds={**given.clouds, other: Sight(listing=shown, before=shown)},
        node_classes={**given.node_classes, other: node_class("other")},
    )
    opened = [step for step in steps(lost(given)) if isinstance(step, OpenRemoval)]
    assert [step.removal.spec.pool for step in opened] == owners


def test_what_the_provider_deletes_already_is_no_orphan() -> None:
    assert kinds(lost(world(shown=(machine(state=MachineState.DELETING),)))) == []


def lost(given: World) -> World:
    """The same a moment later, the machines known as orphans before the listing was made."""
    decision = removing.decide(given, at(80))
    assert isinstance(decision.section, RemovalLedger)
    return given.remembering(replace(given.ledger, removal=decision.section))


def waits(given: World, *moments: float, listed: bool = True) -> list[list[str]]:
    """What is done at each moment, with a listing a second before it."""
    return _lived(given, *moments, listed=listed)[1]


def _lived(given: World, *moments: float, listed: bool = True) -> tuple[World, list[list[str]]]:
    """The world with what is remembered in the end, and what was done at each moment."""
    done = []
    for moment in moments:
        if listed:
            (key,) = given.clouds
            sight = given.clouds[key]
            assert sight.listing is not None
            fresh = msgspec.structs.replace(sight.listing, at=at(moment - 0.5))
            clouds = {key: msgspec.structs.replace(sight, listing=fresh)}
            given = msgspec.structs.replace(given, clouds=clouds)
        decision = removing.decide(given, at(moment))
        done.append([type(step).__name__ for each in decision.sequences for step in each.steps])
        assert isinstance(decision.section, RemovalLedger)
        given = given.remembering(replace(given.ledger, removal=decision.section))
    return given, done


def orphaned() -> NodeRemovalRequest:
    return removal(reason="Orphan", made_at=100)


def test_an_orphan_is_given_back_after_ten_minutes_and_another_listing() -> None:
    given = world(orphaned(), shown=(machine(),))
    assert waits(given, 100, 400, 699, 701) == [[], [], [], [DeleteMachine.__name__]]
    assert waits(given, 100, 701, listed=False) == [[], []]


def test_the_loop_is_woken_when_an_orphan_is_old_enough() -> None:
    decision = removing.decide(world(orphaned(), shown=(machine(),)), at(100))
    assert decision.wake_at == pytest.approx(700)


def test_a_restart_makes_nobody_wait_once_more() -> None:
    """Nothing is remembered then, but the removal says when it was written."""
    decision = removing.decide(world(orphaned(), shown=(machine(),)), at(400))
    assert decision.wake_at == pytest.approx(700)


def test_an_hour_in_which_nobody_led_makes_no_orphan_older() -> None:
    given = world(orphaned(), shown=(machine(),))
    given = given.remembering(replace(given.ledger, removal=RemovalLedger(unseen=3600.0)))
    assert removing.decide(given, at(4000)).wake_at == pytest.approx(4300)


def test_an_hour_in_which_nothing_was_seen_makes_no_orphan_older() -> None:
    given = world(orphaned(), shown=(machine(),))
    known = removing.decide(given, at(100)).section
    assert isinstance(known, RemovalLedger)
    brakes = replace(given.ledger.brakes, may_remove=False)
    blind = given.remembering(replace(given.ledger, removal=known, brakes=brakes))
    known = removing.decide(blind, at(200)).section
    assert isinstance(known, RemovalLedger)
    assert waits(given.remembering(replace(given.ledger, removal=known)), 3800, 4399, 4501) == [
        [],
        [],
        [DeleteMachine.__name__],
    ]


@pytest.mark.parametrize("objects", [KNOWN_BY["its request"], KNOWN_BY["its node"]])
def test_an_orphan_that_is_known_after_all_stays(objects: tuple[Any, ...]) -> None:
    assert kinds(world(orphaned(), *objects, shown=(machine(),))) == ["Delete NodeRemovalRequest"]


def test_an_orphan_that_somebody_else_removed_is_let_go() -> None:
    assert kinds(world(orphaned())) == ["Delete NodeRemovalRequest"]


def test_the_listing_that_was_there_when_its_node_went_makes_no_orphan() -> None:
    assert kinds(world(shown=(machine(),))) == []


@pytest.mark.parametrize("objects", [(), (orphaned(),)], ids=["not opened", "cancelled"])
def test_a_machine_whose_pods_are_not_collected_yet_is_no_orphan(objects: tuple[Any, ...]) -> None:
    """Without this a removal is opened and cancelled for as long as the pods are there."""
    given = world(*objects, build.pod("web-0", on=NAME), shown=(machine(),))
    assert "OpenRemoval" not in kinds(lost(given))
    assert ("Delete NodeRemovalRequest" in kinds(lost(given))) is bool(objects)


def several(orphans: int, known: int) -> tuple[Any, ...]:
    lost = tuple(machine(f"default-lost{number}") for number in range(orphans))
    fine = tuple(machine(f"default-fine{number}") for number in range(known))
    return (*lost, *fine)


@pytest.mark.parametrize(
    ("orphans", "known", "goes"),
    [(2, 0, True), (3, 0, False), (3, 27, True), (4, 27, False), (10, 90, True), (11, 90, False)],
)
def test_many_orphans_at_once_are_not_believed(
    orphans: int,
    known: int,
    goes: bool,  # noqa: FBT001 - a column of the table
) -> None:
    machines = several(orphans, known)
    nodes = tuple(node(each.name) for each in machines if "fine" in each.name)
    assert ("OpenRemoval" in kinds(lost(world(*nodes, shown=machines)))) is goes


@pytest.mark.parametrize(("others", "goes"), [(2, True), (3, False)])
def test_many_orphans_at_once_hold_back_one_that_was_believed_before(
    others: int,
    goes: bool,  # noqa: FBT001 - a column of the table
) -> None:
    *_, done = waits(world(orphaned(), shown=(machine(), *several(others, 0))), 100, 701)
    assert ("DeleteMachine" in done) is goes


def test_the_time_of_one_of_a_crowd_begins_when_people_are_told_of_it() -> None:
    crowd, _ = _lived(world(shown=(machine(), *several(3, 0))), 10, 300, 590)
    alone = world(removal(reason="Orphan", made_at=600), shown=(machine(),))
    alone = alone.remembering(replace(alone.ledger, removal=crowd.ledger.removal))
    *early, late = waits(alone, 601, 800, 1190, 1202)
    assert not any("DeleteMachine" in done for done in early)
    assert "DeleteMachine" in late


STUCK = {
    "its provider refuses to delete them": {"phase": "RemovalFailed"},
    "they waited while nothing was seen": {},
}


@pytest.mark.parametrize("status", STUCK.values(), ids=STUCK.keys())
def test_orphans_of_long_ago_do_not_keep_the_next_one_from_being_found(status: Any) -> None:
    old = [removal(f"default-old{n}", reason="Orphan", status=status) for n in range(2)]
    shown = (machine(), *(machine(each.name) for each in old))
    assert "OpenRemoval" not in waits(world(*old, shown=shown), 580, 590)[-1], "three at once"
    assert "OpenRemoval" in waits(world(*old, shown=shown), 600, 610)[-1]


def test_old_removals_of_other_machines_with_the_same_names_tell_nothing_of_a_crowd() -> None:
    old = [
        removal(f"default-old{n}", reason="Orphan", nodeID=f"kwok://before{n}") for n in range(3)
    ]
    given = world(*old, shown=tuple(machine(each.name) for each in old))
    decision = removing.decide(given, at(2000))
    assert isinstance(decision.section, RemovalLedger)
    assert set(decision.section.orphans.values()) == {decision.section.seen}
    assert orphans(clouds(given)[CLOUD], given, at(2000)).are_too_many


def test_a_cluster_that_shrinks_makes_no_crowd_of_orphans_that_were_believed() -> None:
    """Three of thirty are believed; when one of them is old enough, there are twenty."""
    opened = [removal(f"default-lost{n}", reason="Orphan", made_at=100 * n) for n in range(3)]
    machines = several(3, 17)
    nodes = tuple(node(each.name) for each in machines if "fine" in each.name)
    given = world(*nodes, *opened, shown=machines)
    assert "DeleteMachine" in waits(given, 200, 601)[-1]


def test_an_orphan_that_was_asked_for_is_asked_for_again_whatever_its_age() -> None:
    given = world(removal(reason="Orphan", status=attempted()), shown=(machine(),))
    assert kinds(given, 111) == ["DeleteMachine"]
