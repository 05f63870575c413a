"""Machines that are bought for pods that had one are told apart from the others."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from growth.api.noderequest import UnmetScope
from growth.api.wellknown import REPLACES_ANNOTATION
from reconciler.simulation.purchases import FEW, SECOND, Purchases
from tests.reconciler.build import request, waiting

if TYPE_CHECKING:
    from growth.scheduling.objects import Pod

WEB = waiting("web")
OTHER = waiting("other")


class Market:
    """A cloud in which each request is served at once."""

    def __init__(self) -> None:
        self.cloud = SimpleNamespace(machines={}, bought=0, lost=0, failed=0)
        self.purchases = Purchases(cast("Any", self.cloud))

    def buy(self, *pods: Pod, replaces: str = "") -> str:
        """A machine for these pods."""
        name = f"default-{self.cloud.bought}"
        wanted = request(name, pods=pods)
        if replaces:
            annotated = {"annotations": {REPLACES_ANNOTATION: replaces}}
            metadata = wanted.metadata.model_copy(update=annotated)
            wanted = wanted.model_copy(update={"metadata": metadata})
        self.purchases.intended(wanted)
        self.cloud.machines[name] = SimpleNamespace(failed=None)
        self.cloud.bought += 1
        self.purchases.made(wanted)
        return name

    def lose(self, name: str) -> None:
        """A machine is no longer there."""
        del self.cloud.machines[name]

    def fail(self, name: str) -> None:
        """A machine fails after it was accepted, and is still there."""
        self.cloud.machines[name].failed = UnmetScope.OFFER
        self.cloud.failed += 1


@pytest.fixture
def market() -> Market:
    return Market()


def test_a_machine_for_a_pod_that_has_one_is_a_second_one(market: Market) -> None:
    market.buy(WEB)
    market.buy(WEB)

    assert market.purchases.second == 1


def test_a_machine_that_a_new_pod_needs_too_is_no_second_one(market: Market) -> None:
    market.buy(WEB)
    market.buy(WEB, OTHER)

    assert market.purchases.second == 0


def test_a_machine_in_place_of_one_that_was_lost_is_no_second_one(market: Market) -> None:
    market.lose(market.buy(WEB))
    market.buy(WEB)

    assert market.purchases.second == 0


def test_a_machine_in_place_of_one_that_has_failed_is_no_second_one(market: Market) -> None:
    first = market.buy(WEB)
    market.fail(first)
    market.buy(WEB)
    assert not market.purchases.second


def test_what_replaces_a_node_or_keeps_a_minimum_is_no_second_one(market: Market) -> None:
    market.buy(WEB)
    market.buy(WEB, replaces="default-0")
    market.buy()

    assert market.purchases.second == 0


def test_many_second_machines_are_complained_of_and_few_are_not(market: Market) -> None:
    for _ in range(10):
        market.buy(waiting())
    market.buy(WEB)
    allowed = int(SECOND * 11 + FEW)
    for _ in range(allowed):
        market.buy(WEB)
    assert market.purchases.complaint(waited=11) == ""

    market.buy(WEB)

    assert market.purchases.complaint(waited=11) == (
        f"{allowed + 1} of {allowed + 12} bought for pods that had a machine"
    )


def test_more_machines_than_pods_that_waited_are_complained_of(market: Market) -> None:
    for _ in range(FEW + 2):
        market.buy(waiting())
    assert market.purchases.complaint(waited=2) == ""

    assert market.purchases.complaint(waited=1) == f"{FEW + 2} bought, and 1 pods waited for one"


def test_machines_that_replace_nodes_need_no_pods_that_waited(market: Market) -> None:
    for _ in range(FEW + 2):
        market.buy(replaces="default-0")
    assert market.purchases.complaint(waited=1) == ""
