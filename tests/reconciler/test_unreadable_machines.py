"""What can't be read and stands for a machine counts, and nothing is decided on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from growth.api.noderequest import NodeRequest, RequestPhase
from growth.kube.cache.contents import Change, ChangeKind, Unreadable
from growth.kube.cache.resource import Key, WatchedResource
from growth.kube.cache.watch_events import read_object
from reconciler import loop
from reconciler.buying.blocking import may_buy
from reconciler.core.actions import Solve, machine
from reconciler.facts.fleet import fleet
from reconciler.seeing.indexes import Views
from reconciler.seeing.unreadable import with_unreadable
from tests.reconciler.build import at, node_class, pool, request, waiting, world

if TYPE_CHECKING:
    from reconciler.core.world import World

NAME = "default-11111111-2222-3333-4444-555555555555"
REQUESTS = WatchedResource(
    path="/apis/growth.dev/v1alpha1/noderequests", decode=NodeRequest.model_validate_json
)


def spoilt(**changes: Any) -> Unreadable:
    """A request that a later version has written."""
    whole = request(NAME).model_dump(mode="json", by_alias=True) | changes
    found = read_object(msgspec.json.encode(whole), resource=REQUESTS)
    assert isinstance(found, Unreadable)
    return found


LATER = {"status": {"phase": "Chartered"}}


def seeing(found: Unreadable, *objects: Any) -> World:
    return with_unreadable(world(*objects), {"NodeRequest": (found,)})


def is_planned(given: World) -> bool:
    """Whether a machine is sought for a pod that waits."""
    for second in range(100, 104):
        outcome = loop.decide(given, at(second))
        given = given.remembering(outcome.ledger)
        if any(isinstance(step, Solve) for each in outcome.sequences for step in each.steps):
            return True
    return False


def test_a_request_that_can_not_be_read_counts_as_a_machine_on_its_way() -> None:
    given = seeing(spoilt(**LATER))
    assert fleet(given, given.requests.values()).machines[NAME].pool == "default"
    assert given.requests[NAME].status.phase is RequestPhase.PROVISIONING


def test_nothing_is_decided_on_it_but_that_it_says_so() -> None:
    outcome = loop.decide(seeing(spoilt(**LATER)), at(100))
    ours = [each for each in outcome.sequences if each.subject == machine(NAME)]
    assert [each.why for each in ours] == ["NodeRequest can't be read"]
    assert outcome.breach is None


def test_the_last_that_was_read_stays_until_it_is_gone() -> None:
    views, known, key = Views(), request(NAME), Key("", NAME)
    views.take("NodeRequest", [Change(ChangeKind.ADDED, key, None, known)])
    views.take("NodeRequest", [Change(ChangeKind.UNREADABLE, key, known, None)])
    assert views._objects["NodeRequest"] == {NAME: known}
    views.take("NodeRequest", [Change(ChangeKind.DELETED, key, None, None)])
    assert views._objects["NodeRequest"] == {}


@pytest.mark.parametrize("spec", [None, 5, [], {"price": "1e999999"}])
def test_a_pool_with_a_purchase_of_which_only_the_name_is_known_buys_nothing(spec: Any) -> None:
    cluster = (pool(), node_class(), waiting())
    assert is_planned(world(*cluster))
    given = seeing(spoilt(spec=spec), *cluster)
    assert given.requests[NAME].spec.pool == "default"
    assert not may_buy(given.pools["default"], given)
    assert not is_planned(given)
