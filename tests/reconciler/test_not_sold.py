"""A pool names types that it can buy nowhere, and says so until that is mended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from reconciler.buying.offers import Shelf, shelf
from reconciler.ledger import Ledger
from reconciler.planning.ledger import PlanningLedger
from reconciler.pools import not_sold
from tests.reconciler.build import RELEASED, at, node_class, pool, world

if TYPE_CHECKING:
    from growth.api.nodepool import NodePool
    from reconciler.core.world import World

NOWHERE = [{"region": "nowhere"}]


def listing(*types: str, **spec: Any) -> NodePool:
    return pool(serverTypes=[{"name": each, "max": 1} for each in types], **spec)


def seen(*objects: Any) -> World:
    known = world(*objects)
    planning = PlanningLedger(shelf=shelf(known, Shelf()))
    return msgspec.structs.replace(known, ledger=Ledger(brakes=RELEASED, planning=planning))


def said(known: World) -> dict[str, Any] | None:
    """The condition that is written, if one is."""
    found = [not_sold.news(each, known, at(100)) for each in known.pools.values()]
    written = [each.document() for each in found if each is not None]
    assert len(written) <= 1
    return dict(written[0]) if written else None


@pytest.mark.parametrize(
    ("made", "names"),
    [
        (
            listing("small", "retired", "Smal"),
            (
                "retired isn't sold by class default; "
                "Smal isn't sold by class default (did you mean small?). growth"
            ),
        ),
        (
            listing("small", "large", locations=[{"region": "there"}]),
            "large is sold in here, and in none of the pool's locations. growth",
        ),
        (listing("SMALL", locations=NOWHERE), "SMALL is sold in here, there, and in none"),
        (
            listing(*(f"type-{number}" for number in range(12))),
            "type-4 isn't sold by class default; 7 more types are not sold either",
        ),
    ],
    ids=["retired", "elsewhere", "nowhere", "many"],
)
def test_types_that_can_be_bought_nowhere_are_named(made: NodePool, names: str) -> None:
    told = said(seen(made, node_class()))

    assert told is not None
    assert (told["status"], told["reason"]) == ("True", "NotSold")
    assert names in told["message"]


def test_the_message_of_the_longest_names_is_no_longer_than_a_condition_may_be() -> None:
    places = [f"{number}{'p' * 62}" for number in range(9)]
    types = [f"{number}{'t' * 62}" for number in range(9)]
    offers = [{"location": place, "price": "1"} for place in places]
    sold = [
        {"name": each, "resources": {"cpu": "1", "memory": "1Gi"}, "offers": offers}
        for each in types
    ]
    told = said(seen(listing(*types, locations=NOWHERE), node_class(types=sold)))

    assert told is not None
    assert 900 < len(told["message"]) <= 1024


def test_a_pool_whose_types_are_sold_says_nothing() -> None:
    assert said(seen(listing("small", "LARGE"), node_class())) is None


def test_while_the_catalogue_is_not_known_nothing_is_said() -> None:
    assert said(seen(listing("small"))) is None


def test_what_is_said_is_said_once_and_taken_back_when_it_is_mended() -> None:
    made = listing("small", "retired")
    told = said(seen(made, node_class()))
    status = made.status.model_validate({"conditions": [told]})
    after = made.model_copy(update={"status": status})
    assert said(seen(after, node_class())) is None

    mended = listing("small").model_copy(update={"status": status})

    told = said(seen(mended, node_class()))
    assert told is not None
    assert (told["status"], told["reason"]) == ("False", "AllSold")
