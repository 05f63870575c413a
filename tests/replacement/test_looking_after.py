"""What the room does in every pass, whatever else it has begun."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import pytest

from reconciler import replacement
from reconciler.core.actions import SetNode, machine
from reconciler.facts.requested import UNCONFIRMED, Bought
from reconciler.ledger import Ledger
from reconciler.pools import many_sick
from reconciler.replacement.ledger import ReplacementLedger
from reconciler.replacement.remembering import swaps_looked_after
from tests.reconciler.build import at, request, said_by
from tests.replacement.build import having, made_in, node_class, pool
from tests.replacement.test_health import TEN, ill, of

if TYPE_CHECKING:
    from reconciler.core.actions import Action
    from reconciler.core.world import World


def steps(given: World) -> list[Action]:
    found = replacement.decide(given, at(100)).sequences
    return [step for sequence in found for step in sequence.steps]


def test_labels_of_a_pool_reach_its_nodes() -> None:
    before = having(pool(), node_class())
    given = having(pool(labels={"team": "shop"}), node_class(), made_in(before))
    (step,) = steps(given)
    assert isinstance(step, SetNode)
    assert step.labels == {"team": "shop"}


@pytest.mark.parametrize(("seconds", "is_tried"), [(100.0, True), (100.1, False)])
def test_a_create_is_tried_until_its_time_is_exceeded(
    seconds: float,
    is_tried: bool,  # noqa: FBT001 - a column of the table
) -> None:
    decided = ReplacementLedger(
        unconfirmed={"default-9": request("default-9")},
        bought={"default-9": Bought(pool="default", at=100.0 - UNCONFIRMED)},
    )
    given = having(pool(), node_class()).remembering(Ledger(replacement=decided))
    assert ("default-9" in swaps_looked_after(given, at(seconds)).unconfirmed) is is_tried


def test_a_create_that_the_cache_has_not_shown_yet_counts_however_long_that_takes() -> None:
    decided = ReplacementLedger(
        unconfirmed={"default-9": request("default-9")},
        bought={"default-9": Bought(pool="default", at=100.0)},
    )
    given = having(pool(), node_class()).remembering(Ledger(replacement=decided))
    given = msgspec.structs.replace(given, busy=frozenset({machine("default-9")}))
    assert "default-9" in swaps_looked_after(given, at(100.0 + 10 * UNCONFIRMED)).unconfirmed


def test_a_pool_says_when_too_many_of_its_nodes_are_sick() -> None:
    given = of(TEN, *(ill(name) for name in TEN[:3]))
    known = replacement.decide(given, at(100)).section
    given = given.remembering(replace(given.ledger, replacement=known))
    _, reason, _ = said_by(many_sick, given, at(100)) or ("", "", "")
    assert reason == "TooManySick"
