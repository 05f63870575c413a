"""From a growth that wrote no records: with machines running, nothing is bought or given back."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from reconciler.brakes.rule import decide as brake
from reconciler.core.actions import (
    CreateMachine,
    CreateNodeRecord,
    CreateNodeRequest,
    Delete,
    DeleteMachine,
    Evict,
    OpenRemoval,
    SetNode,
)
from reconciler.providers.port import Sight
from tests.provisioning.build import settled
from tests.reconciler.build import at, waiting
from tests.removal.build import CLOUD, marked, node, removal
from tests.scheduling import build
from tests.trust.build import NOW, bought, listed, name_of, passed, read, steps, with_uid

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reconciler.core.actions import Action
    from reconciler.core.world import World
    from reconciler.providers.port import Machine

DEEDS = (CreateMachine, CreateNodeRequest, Delete, DeleteMachine, Evict, OpenRemoval, SetNode)
BUSY = with_uid(node(name_of(1)))
IDLE = with_uid(node(name_of(2)))
MARKED = with_uid(marked(name_of(3), until=10.0))
NODES = (BUSY, IDLE, MARKED)


def before(*more: object, shown: Iterable[Machine] = ()) -> World:
    """As the version before left it: labelled Nodes, one of them in use, one of them marked."""
    pod = build.pod("web-0", on=BUSY.name, requests={"cpu": "1"})
    return read(settled(), *NODES, pod, waiting("web-1"), *more, shown=shown)


def unlisted(seen: World) -> World:
    """The first moments of a process, before any listing has come."""
    return msgspec.structs.replace(seen, clouds={CLOUD: Sight()})


def deeds(seen: World) -> list[Action]:
    return [step for step in steps(passed(seen)) if isinstance(step, DEEDS)]


def test_nothing_is_bought_or_given_back_before_the_first_listing() -> None:
    assert deeds(unlisted(before())) == []


def test_the_first_listing_brings_the_records_and_nothing_else() -> None:
    seen = before(shown=listed(*NODES))
    done = steps(passed(seen))
    assert {step.record.name for step in done if isinstance(step, CreateNodeRecord)} == {
        each.name for each in NODES
    }
    assert deeds(seen) == []


def test_a_pool_waits_until_each_of_its_machines_has_a_record() -> None:
    records = [bought(each) for each in NODES]
    assert set(held(before(*records[:2], shown=listed(*NODES)))) == {"default"}
    assert held(before(*records, shown=listed(*NODES))) == {}


def test_then_life_goes_on() -> None:
    records = [bought(each) for each in NODES]
    done = steps(passed(before(*records, shown=listed(*NODES))))
    assert [step for step in done if isinstance(step, SetNode)]


def test_a_node_that_lies_delays_its_pool_only_until_the_first_listing() -> None:
    honest = [bought(each) for each in NODES]
    liar = with_uid(node(name_of(9), providerID="hcloud://666"))
    assert held(unlisted(before(*honest, liar)))
    assert held(before(*honest, liar, shown=listed(*NODES))) == {}


def test_a_drain_that_had_begun_goes_on_with_its_own_cordon() -> None:
    draining = with_uid(
        node(name_of(4), annotations={"growth.dev/cordoned": "Drift"}, unschedulable=True)
    )
    going = removal(name_of(4), reason="Drift")
    fresh = bought(draining).model_copy(update={"status": type(bought(draining).status)()})
    seen = read(settled(), draining, going, fresh, shown=listed(draining))
    said = [step.status for step in steps(passed(seen)) if hasattr(step, "status")]
    assert "Drift" in [each.get("cordoned") for each in said]


def held(seen: World) -> dict[str, str]:
    """Pools that wait, and for which Node."""
    decision = brake(seen, at(NOW))
    assert decision.section is not None
    return {pool: pause.message for pool, pause in decision.section.pauses.items()}


def test_a_pool_that_waits_says_for_what() -> None:
    (message,) = held(unlisted(before())).values()
    assert f"Node {NODES[0].name} has no NodeRecord" in message


def test_labels_that_claim_machines_make_an_empty_first_listing_doubtful() -> None:
    seen = before()
    empty = msgspec.structs.replace(
        seen, ledger=replace(seen.ledger, brakes=replace(seen.ledger.brakes, clouds={}))
    )
    decision = brake(empty, at(NOW))
    assert decision.section is not None
    assert not decision.section.believes(CLOUD)
