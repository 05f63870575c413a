"""What the policy Utilisation reads of a World, and what it does while it doesn't see all of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec

from growth.api.wellknown import INSTANCE_TYPE_LABEL, MANAGED_BY, MANAGED_BY_LABEL, POOL_LABEL
from reconciler import pools, scaling
from tests.reconciler.build import at, pool, world
from tests.scheduling import build

if TYPE_CHECKING:
    from growth.keeping.size import PoolSize
    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod
    from reconciler.core.world import World


def node(name: str, of: str = "default", **spec: Any) -> Node:
    labels = {POOL_LABEL: of, MANAGED_BY_LABEL: MANAGED_BY, "growth.dev/instance-type": "small"}
    return build.node(name, cpu="4", labels=labels, **spec)


def pod(name: str, cpu: str, *, on: str = "", of: str = "default", **fields: Any) -> Pod:
    return build.pod(name, requests={"cpu": cpu}, nodeSelector={POOL_LABEL: of}, on=on, **fields)


def given(*objects: Any, sees: bool = True, acts: bool = True) -> World:
    found = world(pool(scaling={"policy": "Utilisation"}), *objects)
    brakes = replace(found.ledger.brakes, may_act=acts, may_remove=sees, reason="pods aren't read")
    return found.remembering(replace(found.ledger, brakes=brakes))


def sized(*objects: Any, **fields: bool) -> PoolSize:
    return scaling.decide(given(*objects, **fields), at(0)).section.sizes["default"]


FIVE = tuple(node(f"n{number}") for number in range(5))


def test_an_idle_pool_is_tainted_at_the_fast_rate() -> None:
    assert len(sized(*FIVE).closed) == 5


def test_while_growth_does_not_see_everything_no_node_is_tainted() -> None:
    found = sized(*FIVE, sees=False)
    assert (found.closed, found.surplus) == (frozenset(), frozenset())
    assert [hold.reason for hold in found.holds] == ["Blind"]


def test_before_growth_may_act_nothing_is_decided_and_marked_nodes_stay_marked() -> None:
    taint = {"key": "growth.dev/scale-down", "effect": "NoSchedule", "value": "1700000000"}
    found = sized(*FIVE, node("marked", taints=[taint]), acts=False)
    assert found.closed == frozenset({"marked"})
    assert not found.surplus
    assert found.floors == ()


def test_a_machine_of_a_person_is_not_counted_whatever_was_asked_before() -> None:
    labels = {POOL_LABEL: "default", INSTANCE_TYPE_LABEL: "small"}
    found = given(*FIVE, build.node("own", cpu="4", labels=labels))
    pools.decide(found, at(0))  # It learns from all nodes that bear the pool's label.
    assert dict(scaling.decide(found, at(0)).section.sizes["default"].seen)["untainted"] == 5


def test_pods_of_other_pools_and_of_daemon_sets_do_not_count() -> None:
    owner = {"kind": "DaemonSet", "name": "agent", "uid": "1", "controller": True}
    others = (
        pod("other", "4", on="n0", of="other"),
        pod("agent", "4", on="n1", metadata={"ownerReferences": [owner]}),
    )
    assert dict(sized(*FIVE, *others).seen)["cpuPercent"] == 0


def test_a_pod_without_conditions_counts_where_it_runs() -> None:
    here = build.pod("here", requests={"cpu": "2"}, on="n0")
    elsewhere = build.pod("elsewhere", requests={"cpu": "2"}, on="foreign")
    found = sized(*FIVE, node("foreign", of="other"), here, elsewhere)
    assert dict(found.seen)["cpuPercent"] == 10


def test_an_ordinary_pass_leaves_the_decision_as_it_is() -> None:
    first = given(*FIVE)
    known = scaling.decide(first, at(0)).section
    later = first.remembering(replace(first.ledger, scaling=known))
    assert scaling.decide(later, at(5)).section.sizes["default"].decided_at == 0
    assert scaling.decide(later, at(61)).section.sizes["default"].decided_at == 61


def test_pools_have_their_runs_at_different_moments() -> None:
    pools = [pool(f"p{number}", scaling={"policy": "Utilisation"}) for number in range(20)]
    given = world(*pools)
    brakes = replace(given.ledger.brakes, may_act=True, may_remove=True)
    decided = scaling.decide(given.remembering(replace(given.ledger, brakes=brakes)), at(0))
    known = given.remembering(replace(given.ledger, brakes=brakes, scaling=decided.section))
    sizes = scaling.decide(known, at(1)).section.sizes.values()
    assert len({size.wake_at for size in sizes}) == 20
    assert all(54 <= size.wake_at <= 60 for size in sizes)


def test_a_pool_that_is_deleted_closes_no_node_any_more() -> None:
    taint = {"key": "growth.dev/scale-down", "effect": "NoSchedule", "value": "1700000000"}
    found = given(*FIVE, node("marked", taints=[taint]))
    going = found.pools["default"]
    metadata = going.metadata.model_copy(update={"deletion_timestamp": at(0).wall})
    pools = {"default": going.model_copy(update={"metadata": metadata})}
    sizes = scaling.decide(msgspec.structs.replace(found, pools=pools), at(0)).section.sizes
    assert sizes["default"].closed == frozenset()
    assert sizes["default"].floors == ()
