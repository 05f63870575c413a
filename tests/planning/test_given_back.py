"""What was given back makes room under every limit, though its request is kept for a while."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from growth.api.wellknown import INSTANCE_TYPE_LABEL, POOL_LABEL
from reconciler.brakes.trust import Trust
from reconciler.core.actions import CreateNodeRequest
from reconciler.facts.fleet import fleet
from reconciler.invariants.buying import overbought
from reconciler.invariants.ledger import InvariantsLedger
from reconciler.ledger import Ledger
from reconciler.providers.port import Sight
from tests.reconciler.build import RELEASED, START, node_class, pool, request, waiting, world
from tests.reconciler.solved import planned
from tests.removal.build import CLOUD, listing, machine
from tests.scheduling import build

NAME = "default-1"
ONE = [{"name": "small", "max": 1}]
SERVED = {"phase": "Ready", "nodeName": NAME, "readyAt": START + timedelta(seconds=50)}
EMPTY = Sight(listing=listing(seconds=60.0))
BELIEVED = replace(RELEASED, clouds={CLOUD: Trust(judged=60.0)})
NODE = build.node(NAME, labels={POOL_LABEL: "default", INSTANCE_TYPE_LABEL: "small"})


def seen(*objects: Any, sight: Sight = EMPTY, brakes: Any = BELIEVED, status: Any = SERVED) -> Any:
    """A pool that may have one machine, and the request of one that has served."""
    objects = (*objects, pool(serverTypes=ONE), node_class())
    made = request(NAME, serverType="small", status=status)
    return world(*objects, made, clouds={CLOUD: sight}, ledger=Ledger(brakes=brakes))


def count(known: Any) -> int:
    return len(fleet(known, known.requests.values()).machines)


def test_neither_node_nor_machine_is_there() -> None:
    assert count(seen()) == 0


@pytest.mark.parametrize(
    "known",
    [
        seen(NODE),
        seen(sight=Sight(listing=listing(machine(NAME), seconds=60.0))),
        seen(sight=Sight(listing=listing(seconds=40.0))),
        seen(sight=Sight()),
        seen(brakes=RELEASED),
        seen(status={"phase": "Provisioning"}),
        seen(status={"phase": "Deprovisioning"}),
    ],
    ids=[
        "its node is there",
        "its cloud lists it",
        "the listing is older than its node",
        "nothing was listed",
        "the listing isn't believed",
        "it is coming",
        "it is going",
    ],
)
def test_it_counts_while_its_machine_may_be_there(known: Any) -> None:
    assert count(known) == 1


def test_another_one_may_be_bought_in_its_place() -> None:
    known = seen(waiting(requests={"cpu": "1500m"}))
    steps = [step for sequence in planned(known).sequences for step in sequence.steps]
    bought = {
        step.request.name: step.request for step in steps if isinstance(step, CreateNodeRequest)
    }
    assert len(bought) == 1
    assert not list(overbought(bought, InvariantsLedger(), known)), "and no brake holds it"
