"""Nodes that are too old for their pool are renewed, one after the other."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth.api.written import Duration
from growth.keeping.expiry import expires_at, share_of_spread, spread
from growth.kube.cache.resource import Key
from reconciler.core.decision import NEVER
from reconciler.replacement.renewing import expired_of_pools, next_expiry, outdated
from tests.reconciler.build import START, at, pool
from tests.removal.build import world
from tests.replacement.renewer import Renewer, running, standing
from tests.replacement.test_sick_and_old import five, names
from tests.scaling.desired.group import GroupTold
from tests.scaling.test_a_pool_by_utilisation import Utilised

if TYPE_CHECKING:
    from growth.api.nodepool import NodePool

HOUR = 3600.0
DAY = {"disruption": {"expireAfter": "24h"}}
MANY = [f"default-{number}" for number in range(200)]
ONE_BY_ONE = {"budgets": [{"nodes": 1}], "consolidation": "Never"}


def due(name: str, **of_pool: Any) -> float:
    """When a node that was created at the beginning expires, in seconds."""
    expires = expires_at(standing(name), pool(**(of_pool or DAY)))
    assert expires is not None
    return (expires - START).total_seconds()


def test_no_node_expires_unless_its_pool_says_so() -> None:
    assert expires_at(standing("default-1"), pool()) is None
    seen = world(standing("default-1"), pool())
    assert (outdated(seen, at(1e8)), next_expiry(seen, at(1e8))) == ({}, NEVER)


def test_a_node_whose_beginning_is_not_known_never_expires() -> None:
    node = standing("default-1")
    metadata = msgspec.structs.replace(node.metadata, creation_timestamp=None)
    assert expires_at(msgspec.structs.replace(node, metadata=metadata), pool(**DAY)) is None


def test_nodes_of_one_hour_expire_over_a_tenth_of_their_age() -> None:
    ends = sorted(due(name) for name in MANY)
    assert 24 * HOUR <= ends[0] < ends[-1] <= 26.4 * HOUR
    assert ends[-1] - ends[0] > 2.3 * HOUR, "the whole spread is used"
    in_an_hour = max(sum(start <= end < start + HOUR for end in ends) for start in ends)
    assert in_an_hour < len(MANY) * 0.55


@given(st.integers(10, 87_600 * 60), st.text(min_size=1))
def test_every_node_expires_within_the_spread_of_its_pool(minutes: int, name: str) -> None:
    age = timedelta(minutes=minutes)
    assert timedelta(0) <= share_of_spread(name) * spread(age) <= spread(age) <= age
    assert spread(age) >= min(timedelta(hours=1), age)
    assert spread(age) <= max(timedelta(hours=1), age / 10)


def test_the_moment_follows_from_the_name_alone() -> None:
    assert due("default-1") == due("default-1")
    assert due("default-1") != due("default-2")
    later = expires_at(standing("default-1", made_at=60.0), pool(**DAY))
    assert later == START + timedelta(seconds=due("default-1") + 60)


def test_a_node_is_renewed_from_that_moment_on_and_the_loop_wakes_for_it() -> None:
    end = due("default-1")
    seen = world(standing("default-1"), pool(**DAY))
    assert not outdated(seen, at(end - 1))
    assert next_expiry(seen, at(end - 1)) == pytest.approx(end)
    assert expired_of_pools(seen, at(end - 1)) == {"default": 0}
    found = outdated(seen, at(end))
    assert found == {"default-1": "it is older than expireAfter of its pool, 24h"}
    assert expired_of_pools(seen, at(end)) == {"default": 1}
    assert next_expiry(seen, at(end)) == NEVER


def test_what_a_node_was_made_from_is_said_before_its_age() -> None:
    types = {"serverTypes": [{"name": "large", "max": 1}]}
    seen = world(standing("default-1"), pool(**DAY, **types))
    assert outdated(seen, at(due("default-1")))["default-1"].endswith("the types of its pool")


def test_an_old_node_goes_by_a_swap_and_its_event_says_why() -> None:
    renewer = Renewer(standing("default-1"), running("web-0", "default-1"), **DAY)
    renewer.now = due("default-1") - 60
    renewer.passes(50)
    assert not renewer.created
    renewer.passes(60)
    assert renewer.gone == ["default-1"]
    (removal,) = renewer.opened
    assert removal.spec.reason == "Drift"
    ((name, word, note),) = renewer.events
    assert (name, word) == ("default-1", "ReplacingDrifted")
    assert note.endswith("it is older than expireAfter of its pool, 24h")


def test_a_swap_is_given_up_if_nodes_may_become_older_meanwhile() -> None:
    renewer = Renewer(standing("default-1"), running("web-0", "default-1"), **DAY)
    renewer.serves_after = 60.0
    renewer.now = due("default-1")
    renewer.passes(30)
    assert renewer.created
    renewer.put(pool(disruption={"expireAfter": "48h", "budgets": [{"nodes": "100%"}]}))
    renewer.passes(600)
    assert renewer.gone == []


def test_a_fleet_of_one_minute_is_renewed_over_an_hour_and_within_its_budget() -> None:
    town = five(disruption={**ONE_BY_ONE, "expireAfter": "2h"})
    before, most = names(town), 0
    seen: dict[str, int] = {}
    for minute in range(3 * 60 + 30):
        town.passes(60)
        most = max(most, len(town.server.kind("NodeRemovalRequest").objects))
        seen |= {name: minute for name in before if name not in names(town) and name not in seen}
    assert set(seen) == set(before)
    assert min(seen.values()) >= 2 * 60 - 10
    assert max(seen.values()) - min(seen.values()) > 10, "not all at once"
    assert most == 1
    assert (town.types, town.waiting) == ({"small": 5}, [])
    assert town.reasons["Drift"] >= 5


def expiring(found: NodePool) -> NodePool:
    """The same pool, whose nodes last half an hour."""
    disruption = found.spec.disruption.model_copy(update={"expire_after": Duration.parse("30m")})
    return found.model_copy(
        update={"spec": found.spec.model_copy(update={"disruption": disruption})}
    )


def test_nodes_of_a_pool_by_utilisation_expire_too() -> None:
    told = Utilised()
    told.server.change("NodePool", Key("", "default"), expiring)
    told.wants(7)
    told.passes(300)
    before = {node.name for node in told.nodes()}
    assert len(before) == 3
    told.passes(70 * 60)
    assert not before & {node.name for node in told.nodes()}
    assert told.waiting() == 0


def test_nodes_of_a_pool_with_a_desired_number_expire_too_and_the_number_stays() -> None:
    told = GroupTold(nodes=3, minNodes=0, maxNodes=8)
    told.server.change("NodePool", Key("", "web"), expiring)
    told.wants(5)
    told.passes(300)
    before, most = set(told.nodes), 0
    assert len(before) == 3
    for _ in range(70):
        told.passes(60)
        most = max(most, len(told.nodes))
    assert not before & set(told.nodes)
    assert (told.status.desired_nodes, told.pending(), most <= 4) == (3, 0, True)


def test_an_age_is_written_as_a_duration_of_at_least_ten_minutes() -> None:
    assert pool(**DAY).spec.disruption.expire_after == Duration.parse("24h")
    with pytest.raises(ValueError, match="from 10m to 87600h"):
        pool(disruption={"expireAfter": "1m"})
