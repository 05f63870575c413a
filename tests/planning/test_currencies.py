"""Prices of two currencies are neither compared nor added up, whatever their numbers say."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

import msgspec
import pytest

from growth.api.wellknown import CURRENCY_ANNOTATION, PRICE_ANNOTATION
from reconciler.buying.limits import LimitKind
from reconciler.buying.market import market
from reconciler.core.actions import CreateNodeRequest, Sequence, machine
from reconciler.core.caps import Caps
from reconciler.invariants.breach import Invariant
from reconciler.invariants.judging import judged
from reconciler.planning.ledger import PlanningLedger
from reconciler.providers.port import ClassKey
from tests.reconciler.build import at, node_class, pool, request, waiting, world
from tests.reconciler.solved import planned
from tests.removal import build as leaving

SMALL: Final = [{"name": "small", "max": 10}]
EUR: Final = node_class("euros", currency="EUR")
USD: Final = node_class("dollars", currency="USD")
ON_THE_WAY: Final = {"phase": "Provisioning"}


def pool_in(made: Any, name: str = "default", **spec: Any) -> Any:
    reference = {"kind": made.kind, "name": made.name}
    return pool(name, nodeClassRef=reference, serverTypes=SMALL, **spec)


def wave(count: int = 6, pool: str = "default") -> list[Any]:
    """Pods of which each fills a machine that costs 1 an hour."""
    selector = {} if pool == "default" else {"growth.dev/pool": pool}
    return [
        waiting(f"{pool}-pod-{number}", requests={"cpu": "1500m"}, nodeSelector=selector)
        for number in range(count)
    ]


def bought(*objects: Any, **changes: Any) -> Counter[tuple[str, str]]:
    """How many machines are bought, by pool and currency."""
    decision = planned(world(*objects, **changes))
    specs = [
        step.request.spec
        for sequence in decision.sequences
        for step in sequence.steps
        if isinstance(step, CreateNodeRequest)
    ]
    return Counter((spec.pool, spec.currency) for spec in specs)


def in_dollars(price: str = "9") -> Any:
    """A machine of the pool from the time when its class sold in dollars."""
    return request(status=ON_THE_WAY, price=Decimal(price), currency="USD")


def before(**annotations: str) -> Any:
    """The same, as a node whose request is gone."""
    return leaving.node("default-1", annotations={PRICE_ANNOTATION: "1", **annotations})


LIMITED: Final = pool_in(EUR, limits={"hourlyCost": "2"})


@pytest.mark.parametrize(
    ("there", "number"),
    [
        ((), 2),
        ((in_dollars(),), 2),
        ((request(status=ON_THE_WAY, currency="EUR"),), 1),
        ((request(status=ON_THE_WAY),), 1),
        ((before(),), 1),
        ((before(**{CURRENCY_ANNOTATION: "USD"}),), 2),
    ],
    ids=["nothing", "dollars", "euros", "not said", "an old node", "an old node of dollars"],
)
def test_a_limit_on_cost_counts_what_is_paid_in_its_offers_currency(
    there: tuple[Any, ...], number: int
) -> None:
    """What no currency was written down for counts as what its pool buys in."""
    found = bought(*wave(), LIMITED, EUR, *there)
    assert found == {("default", "EUR"): number}


@pytest.mark.parametrize("there", [(), (in_dollars(),)], ids=["alone", "with dollars"])
def test_what_a_limit_leaves_is_no_breach(there: tuple[Any, ...]) -> None:
    known = world(LIMITED, EUR, *there)
    asked = [request(f"default-{name}", currency="EUR") for name in "abc"]
    steps = [
        Sequence(subject=machine(each.name), steps=(CreateNodeRequest(request=each),), why="test")
        for each in asked
    ]
    assert judged(steps[:2], known, at(100)).breach is None
    breach = judged(steps, known, at(100)).breach
    assert breach is not None
    assert breach.invariant is Invariant.MAXIMUM_KEPT


def test_a_limit_for_all_pools_holds_in_each_currency_by_itself() -> None:
    pools = pool_in(EUR), pool_in(USD, "other")
    pods = (*wave(3), *wave(3, pool="other"))
    found = bought(*pods, *pools, EUR, USD, caps=Caps(hourly_cost=Decimal(2)))
    assert found == {("default", "EUR"): 2, ("other", "USD"): 2}


def test_a_limit_on_cost_says_its_currency_where_there_are_two() -> None:
    def names(*objects: Any) -> set[str]:
        seen = world(*wave(1), LIMITED, EUR, *objects)
        shelf = planned(seen).section
        assert isinstance(shelf, PlanningLedger)
        seen = seen.remembering(replace(seen.ledger, planning=shelf))
        limits = market(seen, at(100)).limits()
        return {
            each.of.what
            for each in limits
            if each.of is not None and each.of.kind is LimitKind.HOURLY_COST
        }

    assert names() == {"limits.hourlyCost"}
    assert names(in_dollars()) == {"limits.hourlyCost in EUR"}


def test_a_pool_with_offers_in_two_currencies_has_a_limit_in_each() -> None:
    key = ClassKey(EUR.kind, EUR.name)
    seen = world(*wave(), LIMITED, EUR)
    small, large, *_ = seen.offerings[key]
    offers = (small, msgspec.structs.replace(large, currency="USD", price=Decimal("0.1")))
    found = bought(*wave(), LIMITED, EUR, offerings={key: offers})
    assert found == {("default", "EUR"): 2, ("default", "USD"): 4}


def either(count: int = 1) -> list[Any]:
    """Pods that may use both pools, of which each fills a machine."""
    pools = {"key": "growth.dev/pool", "operator": "In", "values": ["a", "b"]}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [pools]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    return [
        waiting(f"web-{number}", requests={"cpu": "1500m"}, affinity=affinity)
        for number in range(count)
    ]


CHEAP: Final = node_class(
    "dollars",
    currency="USD",
    types=[
        {
            "name": "small",
            "resources": {"cpu": "2", "memory": "4Gi", "pods": "110"},
            "offers": [{"location": "here", "price": "0.01"}],
        }
    ],
)


def test_a_lower_number_in_another_currency_is_not_cheaper() -> None:
    assert bought(*either(), pool_in(EUR, "a"), pool_in(CHEAP, "b"), EUR, CHEAP) == {
        ("a", "EUR"): 1
    }


def test_weights_decide_between_currencies() -> None:
    pools = pool_in(EUR, "a"), pool_in(CHEAP, "b", weight=1)
    assert bought(*either(), *pools, EUR, CHEAP) == {("b", "USD"): 1}


def test_what_one_currency_has_no_room_for_is_bought_in_the_other() -> None:
    pools = pool_in(EUR, "a", limits={"nodes": 1}), pool_in(CHEAP, "b")
    assert bought(*either(3), *pools, EUR, CHEAP) == {("a", "EUR"): 1, ("b", "USD"): 2}
