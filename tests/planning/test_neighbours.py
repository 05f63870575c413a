"""Rules between pods that are planned together hold in the plan."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.planning.driver import Planner, bought
from tests.reconciler.build import node_class, pool, request, waiting
from tests.scheduling import build
from tests.scheduling.build import HOSTNAME, ZONE

LABELS = {"app": "web"}
LIKE = {"matchLabels": LABELS}
TINY = {"cpu": "100m"}


def web(count: int, /, name: str = "web", **fields: Any) -> list[Any]:
    fields = {"requests": TINY, "labels": LABELS} | fields
    return [waiting(f"{name}-{number}", **fields) for number in range(count)]


def required(kind: str, key: str, selector: dict[str, Any] = LIKE) -> dict[str, Any]:
    term = {"topologyKey": key, "labelSelector": selector}
    return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def spread(key: str, **fields: Any) -> list[dict[str, Any]]:
    constraint = {"topologyKey": key, "maxSkew": 1, "labelSelector": LIKE}
    return [constraint | {"whenUnsatisfiable": "DoNotSchedule"} | fields]


def places(requests: list[Any]) -> list[tuple[str, int]]:
    return sorted((each.spec.location, len(each.spec.pods)) for each in requests)


def test_pods_that_keep_apart_by_node_get_a_machine_each() -> None:
    pods = web(3, affinity=required("podAntiAffinity", HOSTNAME))
    assert bought(Planner(*pods, pool(), node_class()).soon()) == [("small", 1)] * 3


def test_pods_that_keep_apart_by_zone_get_a_zone_each_and_the_third_of_two_none() -> None:
    pods = web(3, affinity=required("podAntiAffinity", ZONE))
    planner = Planner(*pods, pool(), node_class())
    assert places(planner.until(103)) == [("here", 1), ("there", 1)]
    assert {reason for _, reason, _ in planner.events} == {"NoPlace"}


def test_pods_that_take_the_same_host_port_get_a_machine_each() -> None:
    ports = [{"containerPort": 80, "hostPort": 80}]
    containers = [{"name": "main", "resources": {"requests": TINY}, "ports": ports}]
    pods = web(2, containers=containers)
    assert bought(Planner(*pods, pool(), node_class()).soon()) == [("small", 1)] * 2


def test_a_pod_that_keeps_away_from_others_is_planned_beside_those_who_don_t_mind() -> None:
    away = web(1, "shy", labels={"app": "shy"}, affinity=required("podAntiAffinity", HOSTNAME))
    made = Planner(*away, *web(2), pool(), node_class()).soon()
    assert bought(made) == [("small", 1), ("small", 2)]


def test_pods_that_belong_together_share_a_node_or_a_zone() -> None:
    near = web(4, requests={"cpu": "1"}, affinity=required("podAffinity", HOSTNAME))
    assert bought(Planner(*near, pool(), node_class()).soon()) == [("large", 4)]
    small = pool(serverTypes=[{"name": "small", "max": 9}])
    near = web(4, requests={"cpu": "1"}, affinity=required("podAffinity", ZONE))
    assert places(Planner(*near, small, node_class()).soon()) == [("here", 2), ("here", 2)]


def test_a_machine_that_fewer_pods_are_left_for_stays_in_the_zone_of_their_group() -> None:
    near = {"requests": {"cpu": "1"}, "affinity": required("podAffinity", ZONE)}
    bound = web(2, "bound", nodeSelector={ZONE: "there"}, **near)
    free = web(2, "free", **near)
    small = pool(serverTypes=[{"name": "small", "max": 9}])
    planner = Planner(*bound, *free, small, node_class())
    planner.until(100.03)
    assert planner.problems
    planner.remove(free[0])
    # Alone it would be cheaper here, where the others are not.
    assert places(planner.soon()) == [("there", 1), ("there", 2)]


def test_a_pod_is_bought_a_machine_where_its_volume_lies() -> None:
    (pod,) = web(1, **build.mounting("data"))
    disk = build.volume("disk", reachable={ZONE: "there"}, phase="Bound")
    data = build.claim("data", volume="disk", phase="Bound")
    assert places(Planner(pod, data, disk, pool(), node_class()).soon()) == [("there", 1)]


def test_a_pod_that_must_be_near_others_is_planned_when_they_have_their_place() -> None:
    others = web(1, "db", labels={"app": "db"}, nodeSelector={ZONE: "there"})
    near_db = required("podAffinity", ZONE, {"matchLabels": {"app": "db"}})
    follower = web(1, requests={"cpu": "2"}, affinity=near_db)
    made = Planner(*others, *follower, pool(), node_class()).soon()
    assert places(made) == [("there", 1), ("there", 1)]


def test_pods_that_keep_another_workload_out_of_their_zone_come_first_and_it_goes_elsewhere() -> (
    None
):
    shy = required("podAntiAffinity", ZONE, {"matchLabels": {"app": "loud"}})
    quiet = web(1, "quiet", labels={"app": "quiet"}, affinity=shy, priority=5)
    loud = web(1, "loud", labels={"app": "loud"})
    made = Planner(*quiet, *loud, pool(), node_class()).soon()
    assert places(made) == [("here", 1), ("there", 1)]


@pytest.mark.parametrize(
    ("pods", "constraint", "most"),
    [
        (4, spread(ZONE), 2),
        (5, spread(ZONE), 3),
        (5, spread(ZONE, maxSkew=3), 4),
    ],
)
def test_a_spread_holds_over_all_zones_that_can_be_bought_in(
    pods: int, constraint: list[Any], most: int
) -> None:
    small = pool(serverTypes=[{"name": "small", "max": 9}])
    planner = Planner(*web(pods, topologySpreadConstraints=constraint), small, node_class())
    made = places(planner.soon())
    by_zone = Counter(zone for zone, count in made for _ in range(count))
    assert by_zone.total() == pods
    assert max(by_zone.values()) <= most


def test_a_zone_in_which_nothing_is_large_enough_is_no_domain() -> None:
    large = web(3, requests={"cpu": "5"}, topologySpreadConstraints=spread(ZONE))
    assert places(Planner(*large, pool(), node_class()).until(103)) == [("here", 1)] * 3


def test_a_zone_in_which_others_may_get_a_machine_is_a_domain() -> None:
    """An empty node there would keep all but the first of these pods off the other zone."""
    there = {"nodeSelector": {ZONE: "there"}}
    large = web(3, requests={"cpu": "5"}, topologySpreadConstraints=spread(ZONE))
    others = web(1, "other", labels={"app": "other"}, **there)
    made = Planner(*large, *others, pool(), node_class()).soon()
    assert places(made) == [("here", 1), ("there", 1)]


def test_with_fewer_zones_than_a_spread_demands_none_holds_more_than_its_skew() -> None:
    constraint = spread(ZONE, minDomains=3)
    planner = Planner(*web(4, topologySpreadConstraints=constraint), pool(), node_class())
    assert places(planner.until(103)) == [("here", 1), ("there", 1)]


def test_a_node_without_room_and_without_their_like_holds_pods_that_are_spread_by_node_apart() -> (
    None
):
    full = build.node("full", cpu="0")
    pods = web(3, topologySpreadConstraints=spread(HOSTNAME))
    planner = Planner(*pods, full, pool(), node_class())
    assert bought(planner.soon()) == [("small", 1)] * 3


def five_beside_full_nodes() -> Planner:
    """Five nodes that run four pods each and have no room for the five that wait."""
    constraint = spread(HOSTNAME)
    full = [build.node(f"full-{number}", cpu="400m") for number in range(5)]
    running = [
        build.pod(f"runs-{node.name}-{number}", requests=TINY, labels=LABELS, on=node.name)
        for node in full
        for number in range(4)
    ]
    pods = web(5, topologySpreadConstraints=constraint)
    return Planner(*pods, *full, *running, pool(), node_class())


def test_pods_that_are_spread_over_full_nodes_all_get_a_place() -> None:
    assert sum(count for _, count in bought(five_beside_full_nodes().soon())) == 5


def test_pods_that_are_spread_over_full_nodes_share_one_machine() -> None:
    assert len(bought(five_beside_full_nodes().soon())) == 1


def four_to_a_machine(count: int, constraint: list[dict[str, Any]], *objects: Any) -> list[int]:
    """How many pods each new machine gets, if four fit on one."""
    small = pool(serverTypes=[{"name": "small", "max": 30}])
    pods = web(count, requests={"cpu": "480m"}, topologySpreadConstraints=constraint)
    return [pods for _, pods in bought(Planner(*pods, small, node_class(), *objects).soon())]


def with_four(number: int, **fields: Any) -> list[Any]:
    """Nodes without room for more, each with four pods of the workload."""
    nodes = [build.node(f"full-{each}", cpu="400m", **fields) for each in range(number)]
    running = [
        build.pod(f"runs-{node.name}-{each}", requests=TINY, labels=LABELS, on=node.name)
        for node in nodes
        for each in range(4)
    ]
    return [*nodes, *running]


def test_pods_that_are_spread_by_hostname_fill_their_machines_evenly() -> None:
    assert four_to_a_machine(20, spread(HOSTNAME)) == [4] * 5


def test_more_pods_fill_new_machines_up_to_the_level_of_the_others() -> None:
    assert sorted(four_to_a_machine(5, spread(HOSTNAME), *with_four(5))) == [2, 3]


def test_with_fewer_nodes_than_a_spread_demands_each_holds_its_skew_at_most() -> None:
    assert four_to_a_machine(6, spread(HOSTNAME, minDomains=3)) == [2] * 3
    assert four_to_a_machine(2, spread(HOSTNAME, minDomains=7), *with_four(5)) == [1] * 2


@pytest.mark.parametrize(
    ("policy", "machines"), [({}, [1] * 4), ({"nodeTaintsPolicy": "Honor"}, [4])]
)
def test_a_node_whose_taints_keep_the_pods_out_counts_unless_the_spread_honors_taints(
    policy: dict[str, str], machines: list[int]
) -> None:
    taint = {"key": "only", "value": "others", "effect": "NoSchedule"}
    closed = build.node("closed", taints=[taint])
    assert four_to_a_machine(4, spread(HOSTNAME, **policy), closed) == machines


def test_pods_with_other_labels_for_a_key_of_the_spread_don_t_count() -> None:
    constraint = spread(HOSTNAME, matchLabelKeys=["revision"])
    small = pool(serverTypes=[{"name": "small", "max": 30}])
    fields = {"requests": {"cpu": "480m"}, "topologySpreadConstraints": constraint}
    old, new = ({**LABELS, "revision": each} for each in ("old", "new"))
    pods = [*web(4, "old", labels=old, **fields), *web(4, "new", labels=new, **fields)]
    assert [n for _, n in bought(Planner(*pods, small, node_class()).soon())] == [4, 4]


def test_a_spread_by_hostname_and_one_by_zone_hold_together() -> None:
    constraints = [*spread(HOSTNAME), *spread(ZONE)]
    small = pool(serverTypes=[{"name": "small", "max": 30}])
    pods = web(8, requests={"cpu": "480m"}, topologySpreadConstraints=constraints)
    made = Planner(*pods, small, node_class()).soon()
    assert places(made) == [("here", 4), ("there", 4)]


def test_a_spread_counts_who_was_planned_before() -> None:
    first = web(1, topologySpreadConstraints=spread(ZONE))
    coming = request(pods=tuple(first), status={"phase": "Provisioning"})
    second = web(1, "late", topologySpreadConstraints=spread(ZONE), requests={"cpu": "2"})
    made = Planner(*first, *second, pool(), node_class(), coming).soon()
    assert places(made) == [("there", 1)]


def test_what_growth_can_t_judge_is_said_and_nothing_is_bought_on_a_guess() -> None:
    odd = waiting("odd", requests=TINY, resourceClaims=[{"name": "gpu", "resourceClaimName": "g"}])
    planner = Planner(odd, pool(), node_class())
    assert planner.until(103) == []
    (_, reason, note) = planner.events[0]
    assert reason == "NoPlace"
    assert "resource claim gpu" in note
