"""Machines that another growth has bought under the id of this cluster stay untouched."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from growth.api.conditions import condition_of_type, joined_conditions
from growth.api.written import write_time
from reconciler import pools
from reconciler import removal as removing
from reconciler.brakes.trust import Trust
from reconciler.core.actions import EmitEvent, OpenRemoval
from reconciler.core.installation import FormerInstallation, Installation
from reconciler.ledger import Ledger
from reconciler.pools import removal_held
from reconciler.pools.node_classes import node_class_status
from reconciler.providers.port import Checked
from reconciler.removal import another_writer
from reconciler.removal.ledger import RemovalLedger
from tests.reconciler.build import RELEASED, START, at, pool, request, said_by
from tests.removal.build import CLOUD, kinds, machine, removal, world

if TYPE_CHECKING:
    from reconciler.core.world import World
    from reconciler.providers.port import Machine

LED_SINCE = 0.0
"""The first pass of the process under test."""
YOUNG = 70.0
"""A moment after its start that no difference between two clocks explains."""


def bought(seconds: float, name: str = "default-theirs") -> Machine:
    """An orphan that was created at this second."""
    return machine(name, created_at=START + timedelta(seconds=seconds))


def lived(
    *objects: Any, shown: tuple[Machine, ...], unseen: float = 0.0, of_class: Any = None
) -> World:
    """A world in which a process has led since the beginning, and has seen the orphans twice."""
    before, after = world(*objects), world(*objects, shown=shown)
    if of_class is not None:
        before, after = (with_class_told(each, of_class) for each in (before, after))
    led = passed(before, LED_SINCE, memory=RemovalLedger(unseen=unseen))
    return passed(after, 100, memory=led.ledger.removal)


def passed(given: World, seconds: float, *, memory: RemovalLedger | None = None) -> World:
    """The world after a pass, with what is remembered then."""
    if memory is not None:
        given = given.remembering(replace(given.ledger, removal=memory))
    section = removing.decide(given, at(seconds)).section
    assert isinstance(section, RemovalLedger)
    return given.remembering(replace(given.ledger, removal=section))


def opened(given: World, seconds: float = 200.0) -> list[str]:
    """The machines whose removal is opened."""
    sequences = removing.decide(later(given, seconds), at(seconds)).sequences
    steps = (step for each in sequences for step in each.steps)
    return [step.removal.name for step in steps if isinstance(step, OpenRemoval)]


def later(given: World, seconds: float) -> World:
    """The same world with a listing of just before this second."""
    (sight,) = given.clouds.values()
    assert sight.listing is not None
    shown = tuple(sight.listing.machines.values())
    fresh = world(*given.pools.values(), shown=shown, listed_at=seconds - 0.5)
    fresh = msgspec.structs.replace(fresh, node_classes=given.node_classes)
    return fresh.remembering(replace(fresh.ledger, removal=given.ledger.removal))


def test_an_orphan_that_is_older_than_this_process_is_given_back() -> None:
    assert opened(lived(shown=(bought(-500.0),))) == ["default-theirs"]


def test_an_orphan_that_is_younger_and_was_never_requested_here_is_left_alone() -> None:
    assert opened(lived(shown=(bought(YOUNG),))) == []


def test_while_somebody_else_buys_no_other_orphan_is_touched_either() -> None:
    """It may be in use there as well: its time says nothing of who bought it."""
    assert opened(lived(shown=(bought(YOUNG), bought(-500.0, "default-old")))) == []


def test_an_orphan_whose_request_was_seen_is_our_own() -> None:
    """Somebody deleted the request before the machine was listed."""
    own = machine(request_uid="uid-own", created_at=START + timedelta(seconds=YOUNG))
    ordered = passed(
        world(request("default-1").model_copy(update={"metadata": _uid("uid-own")})), 0.0
    )
    given = passed(world(shown=(own,)), 100, memory=ordered.ledger.removal)
    assert opened(given) == ["default-1"]


def _uid(uid: str) -> Any:
    return request("default-1").metadata.model_copy(update={"uid": uid})


def test_what_was_bought_while_nobody_led_here_was_bought_by_somebody_else() -> None:
    """A cluster from yesterday's backup: its Lease was last renewed yesterday."""
    day = 86_400.0
    assert opened(lived(shown=(bought(-day / 2),), unseen=day)) == []
    assert opened(lived(shown=(bought(-2 * day),), unseen=day)) == ["default-theirs"]


def test_clocks_that_differ_by_seconds_make_no_stranger_of_an_orphan() -> None:
    assert opened(lived(shown=(bought(50.0),))) == ["default-theirs"]


def test_an_orphan_without_a_time_of_creation_is_judged_as_before() -> None:
    assert opened(lived(shown=(machine("default-theirs"),))) == ["default-theirs"]


def test_a_removal_that_was_opened_before_waits() -> None:
    opened_before = removal("default-old", reason="Orphan", made_at=-3600.0)
    shown = (bought(-7200.0, "default-old"), bought(YOUNG))
    given = lived(opened_before, shown=shown)
    given = passed(
        world(opened_before, shown=shown, listed_at=899), 900, memory=given.ledger.removal
    )
    given = passed(
        world(opened_before, shown=shown, listed_at=999), 1000, memory=given.ledger.removal
    )
    assert "DeleteMachine" not in kinds(given, 1100)
    alone = world(opened_before, shown=shown[:1], listed_at=1099)
    assert "DeleteMachine" in kinds(
        alone.remembering(replace(alone.ledger, removal=given.ledger.removal)), 1100
    )


def test_the_pools_say_so_and_people_get_an_event() -> None:
    given = lived(shown=(bought(YOUNG),))
    found = said_by(removal_held, given, at(200))
    assert found is not None
    assert found[:2] == ("True", "AnotherWriter")
    assert "default-theirs" in found[2]
    decision = pools.decide(_with_finalizer(given), at(200))
    events = [
        step.event
        for each in decision.sequences
        for step in each.steps
        if isinstance(step, EmitEvent)
    ]
    assert [each.reason for each in events] == ["AnotherWriter"]


def _with_finalizer(given: World) -> World:
    held = pool()
    metadata = held.metadata.model_copy(update={"finalizers": ("growth.dev/provider-cleanup",)})
    again = world(held.model_copy(update={"metadata": metadata}))
    return again.remembering(given.ledger)


def telling() -> Any:
    """The pool after that was written."""
    condition = {
        "type": "RemovalHeld",
        "status": "True",
        "reason": "AnotherWriter",
        "lastTransitionTime": write_time(START),
    }
    told = pool()
    conditions = type(told.status).model_validate({"conditions": [condition]}).conditions
    return told.model_copy(
        update={"status": told.status.model_copy(update={"conditions": conditions})}
    )


def class_status(given: World, seconds: float = 200.0) -> Any:
    checked = Checked(at=0.0, generation=0)
    known = msgspec.structs.replace(given, checks={CLOUD: checked})
    return node_class_status(CLOUD, known, at(seconds))


def told_of_class(given: World) -> tuple[str, str, str] | None:
    found = condition_of_type(class_status(given).conditions, "AnotherWriter")
    return None if found is None else (found.status.value, found.reason, found.message)


def with_class_told(given: World, told: Any) -> World:
    """The world after a status of the class was written."""
    after = given.node_classes[CLOUD].model_copy(update={"status": told})
    return msgspec.structs.replace(given, node_classes={CLOUD: after})


def test_the_node_class_says_so_from_the_first_time_on() -> None:
    assert told_of_class(lived(shown=())) is None
    given = lived(shown=(bought(YOUNG),))
    found = told_of_class(given)
    assert found is not None
    assert found[:2] == ("True", "MachinesOfAnother")
    assert "default-theirs" in found[2]


def test_the_node_class_is_not_written_again_when_others_buy_more() -> None:
    given = lived(shown=(bought(YOUNG),))
    more = lived(shown=(bought(YOUNG), bought(YOUNG, "default-more")))
    told = class_status(given)
    assert class_status(with_class_told(more, told), 300.0) == told


def test_the_node_class_says_nothing_new_without_a_listing() -> None:
    told = class_status(lived(shown=(bought(YOUNG),)))
    blind = lived(shown=())
    blind = blind.remembering(replace(blind.ledger, removal=RemovalLedger()))
    assert class_status(with_class_told(blind, told), 300.0) == told


def test_a_restart_is_survived_by_the_class_too_and_it_ends_with_the_last_orphan() -> None:
    """A class may have no pool any more that remembers."""
    told = class_status(lived(shown=(bought(YOUNG),)))
    again = lived(shown=(bought(-100.0),), of_class=told)
    assert opened(again) == []
    found = told_of_class(lived(shown=(), of_class=told))
    assert found is not None
    assert found[:2] == ("False", "NoneSeen")


def test_a_restart_makes_nothing_of_it_deletable() -> None:
    """To the new process the machine is older than itself; the pool remembers."""
    assert opened(lived(telling(), shown=(bought(-100.0),))) == []


def test_a_listing_that_is_doubted_meanwhile_makes_nothing_of_it_deletable() -> None:
    """The pool's condition is the memory of it, so the doubt doesn't take its place."""
    (told,) = lived(telling(), shown=()).pools.values()
    doubt = Trust(judged=90.0, suspected_at=90.0, doubt="a listing shows 0 of the 4 machines")
    brakes = replace(RELEASED, clouds={CLOUD: doubt})
    doubting = passed(world(told, ledger=Ledger(brakes=brakes)), 100)
    news = removal_held.news(told, doubting, at(100))
    conditions = joined_conditions(told.status.conditions, *(() if news is None else (news,)))
    status = told.status.model_copy(update={"conditions": conditions})
    after = told.model_copy(update={"status": status})
    assert opened(lived(after, shown=(bought(-100.0),))) == []


def test_it_ends_when_the_cloud_has_no_orphan_any_more() -> None:
    found = said_by(removal_held, lived(telling(), shown=()), at(200))
    assert found is not None
    assert found[:2] == ("False", "Released")


HERE = Installation(id="a1", former=(FormerInstallation("b2", write_time(START)),))
"""An installation that goes on under another id since the beginning of the test."""


@pytest.mark.parametrize(
    ("installation", "seconds", "is_theirs"),
    [
        ("a1", YOUNG, False),
        ("b2", -500.0, False),
        ("b2", YOUNG, True),
        ("c3", -500.0, True),
        ("", -500.0, False),
        ("", YOUNG, True),
    ],
    ids=[
        "by this installation",
        "under its former id",
        "under its former id, by a copy of the cluster",
        "by another installation, long before this one began",
        "before there were labels",
        "by an older growth elsewhere",
    ],
)
def test_a_label_says_who_has_bought_a_machine(
    installation: str,
    seconds: float,
    is_theirs: bool,  # noqa: FBT001 - a column of the table
) -> None:
    orphan = msgspec.structs.replace(bought(seconds), installation=installation)
    given = msgspec.structs.replace(lived(shown=(orphan,)), installation=HERE)
    assert bool(passed(given, 150).ledger.removal.others[CLOUD]) is is_theirs


def test_no_number_of_requests_fills_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(another_writer, "MOST_REQUESTS", 3)
    given = world(*(request(f"default-{number}") for number in range(5)))
    remembered = passed(given, 0.0).ledger.removal.requested
    assert list(remembered) == ["uid-default-2", "uid-default-3", "uid-default-4"]
