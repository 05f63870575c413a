"""Offers that cost the same: which of them is bought first, and what they share."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

import pytest

from growth.api.written import ServerTypeName
from growth.scheduling.resources import parse_resources
from reconciler.core.actions import CreateNodeRequest
from reconciler.providers.port import (
    ClassKey,
    Listing,
    Machine,
    MachineState,
    Offering,
    SharedNetwork,
    Sight,
)
from tests.reconciler.build import at, pool, request, waiting, world
from tests.reconciler.solved import planned
from tests.scheduling import build

if TYPE_CHECKING:
    from growth.api.noderequest import NodeRequest

KEY: Final = ClassKey("HetznerNodeClass", "default")
PLACES: Final = ("fsn1", "hel1", "nbg1")
STRANGERS: Final = frozenset({"900001", "900002"})


def offering(place: str, **more: Any) -> Offering:
    usual: dict[str, Any] = {
        "provider": "hetzner",
        "server_type": ServerTypeName("cx23"),
        "location": place,
        "price": Decimal("0.01"),
        "allocatable": parse_resources({"cpu": "2", "memory": "4Gi", "pods": "110"}),
    }
    return Offering(**usual | more)


def bought(*objects: Any, sold: tuple[Offering, ...], pods: int, **seen: Any) -> list[NodeRequest]:
    """What is bought for so many pods, of which each fills a machine."""
    buyer = pool(
        serverTypes=[{"name": "cx23", "max": 100}, {"name": "cx33", "max": 100}],
        nodeClassRef={"kind": KEY.kind, "name": KEY.name},
    )
    wanted = (waiting(f"web-{number}", requests={"cpu": "1500m"}) for number in range(pods))
    known = world(*objects, *wanted, buyer, offerings={KEY: sold}, **seen)
    steps = (step for sequence in planned(known).sequences for step in sequence.steps)
    return [step.request for step in steps if isinstance(step, CreateNodeRequest)]


def places(requests: list[NodeRequest]) -> Counter[str]:
    return Counter(each.spec.location for each in requests)


@pytest.mark.parametrize("best", PLACES)
def test_of_equal_offers_the_one_with_the_fewest_doubts_is_bought(best: str) -> None:
    sold = tuple(offering(place, doubts=int(place != best)) for place in PLACES)

    assert places(bought(sold=sold, pods=3)) == {best: 3}


def test_a_doubt_is_not_worth_a_cent() -> None:
    dearer = offering("nbg1", price=Decimal("0.010001"))

    assert places(bought(sold=(offering("fsn1", doubts=2), dearer), pods=1)) == {"fsn1": 1}


@pytest.mark.parametrize("there", ["as a request", "as a node", "not listed yet"])
def test_offers_that_share_a_network_are_bought_together_up_to_its_end(there: str) -> None:
    """One of ours is among those that the provider saw in it, one has come since."""
    room = SharedNetwork(name="network cluster (41)", most=7, taken=STRANGERS | {"1001"})
    sold = (
        *(offering(place, rooms=(room,)) for place in PLACES),
        offering("nbg1", server_type=ServerTypeName("cx33"), rooms=(room,)),
    )
    coming: dict[str, Any] = {"phase": "Provisioning"}
    labels = {"growth.dev/pool": "default", "growth.dev/instance-type": "cx23"}
    seen = "default-1", "default-2"
    listed = Listing(
        at=at(99),
        is_complete=True,
        machines={name: machine(name, number) for number, name in enumerate(seen, 1001)},
    )
    known: dict[str, list[Any]] = {
        "as a request": [
            request(name, status=coming | {"nodeID": str(number)}, serverType="cx23")
            for number, name in enumerate(seen, 1001)
        ],
        "as a node": [build.node(name, cpu="0", labels=labels) for name in seen],
        "not listed yet": [request(name, status=coming, serverType="cx23") for name in seen[1:]],
    }

    made = bought(*known[there], sold=sold, pods=9, clouds={KEY: Sight(listing=listed)})

    # Seven places, less two strangers and our two.
    assert len(made) == 3


def machine(name: str, number: int) -> Machine:
    return Machine(
        machine_id=str(number),
        name=name,
        request_uid=f"uid-{name}",
        pool="default",
        state=MachineState.RUNNING,
    )
