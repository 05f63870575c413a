"""Pods that must be near others of the same plan get their place together with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.planning.driver import Planner
from tests.planning.test_all_at_once import serving
from tests.reconciler.build import node_class, pool, waiting
from tests.scheduling import build
from tests.scheduling.build import HOSTNAME, ZONE

if TYPE_CHECKING:
    from growth.api.noderequest import NodeRequest
    from growth.scheduling.pod import Pod


def near(*others: str, key: str = HOSTNAME) -> dict[str, Any]:
    terms = [
        {"topologyKey": key, "labelSelector": {"matchLabels": {"app": other}}} for other in others
    ]
    return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


def apart(other: str, key: str = HOSTNAME) -> dict[str, Any]:
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": other}}}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def pods(app: str, count: int = 1, /, *, cpu: str = "500m", **fields: Any) -> list[Pod]:
    fields = {"requests": {"cpu": cpu}, "labels": {"app": app}} | fields
    return [waiting(f"{app}-{number}", **fields) for number in range(count)]


def together(made: list[NodeRequest]) -> list[list[str]]:
    """The workloads on each machine, one letter for each pod."""
    return sorted(sorted(pod.name.split("-")[0] for pod in each.spec.pods) for each in made)


def zones(made: list[NodeRequest]) -> set[str]:
    return {each.spec.location for each in made}


def test_a_pod_shares_the_machine_of_the_pod_that_it_must_be_near() -> None:
    planner = Planner(
        *pods("anchor"),
        *pods("follower", cpu="1", affinity=near("anchor")),
        *pods("other", cpu="1500m"),
        pool(),
        node_class(),
    )
    assert together(planner.soon()) == [["anchor", "follower"], ["other"]]


def test_each_pod_finds_one_of_few_anchors_on_its_machine() -> None:
    small = pool(serverTypes=[{"name": "small", "max": 9}])
    web = pods("web", 4, affinity=near("cache"))
    made = Planner(*pods("cache", 2), *web, *pods("job", 3, cpu="2"), small, node_class()).soon()
    assert sum(len(each.spec.pods) for each in made) == 9
    assert all("cache" in each for each in together(made) if "web" in each)


def test_a_chain_of_pods_ends_up_on_one_machine() -> None:
    chain = (
        *pods("first", affinity=near("second")),
        *pods("second", affinity=near("third")),
        *pods("third"),
    )
    assert together(Planner(*chain, pool(), node_class()).soon()) == [["first", "second", "third"]]


def test_a_pod_that_must_be_near_two_others_shares_a_machine_with_both() -> None:
    meant = {"tier": "back"}
    backs = [
        waiting(name, requests={"cpu": "1500m"}, labels={"app": name, **meant})
        for name in ("cache", "store")
    ]
    web = pods("web", affinity=near("cache", key=HOSTNAME))
    both = {
        "podAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": ZONE, "labelSelector": {"matchLabels": meant}},
                {"topologyKey": HOSTNAME, "labelSelector": {"matchLabels": {"app": "store"}}},
            ]
        }
    }
    other = pods("other", affinity=both)
    made = Planner(*backs, *web, *other, pool(), node_class()).soon()
    assert together(made) == [["cache", "web"], ["other", "store"]]


def test_pods_that_wait_for_each_other_have_no_place() -> None:
    circle = (*pods("hen", affinity=near("egg")), *pods("egg", affinity=near("hen")))
    planner = Planner(*circle, pool(), node_class())
    assert planner.until(103) == []
    assert {reason for _, reason, _ in planner.events} == {"NoPlace"}


def test_a_circle_that_another_pod_opens_has_a_place() -> None:
    circle = (*pods("hen", affinity=near("egg")), *pods("egg", affinity=near("hen")))
    first = waiting("hen-0-like", requests={"cpu": "500m"}, labels={"app": "hen"})
    made = Planner(*circle, first, pool(), node_class()).soon()
    assert together(made) == [["egg", "hen", "hen"]]


def test_pods_that_are_near_themselves_and_others_go_where_the_others_are() -> None:
    labels = {"app": "web"}
    alone = waiting("alone", requests={"cpu": "500m"}, labels=labels, nodeSelector={ZONE: "there"})
    made = Planner(*pods("web", 3, affinity=near("web")), alone, pool(), node_class()).soon()
    assert together(made) == [["alone", "web", "web", "web"]]
    assert zones(made) == {"there"}


def test_pods_near_one_that_runs_and_one_that_is_planned_use_both() -> None:
    runs = build.pod("cache-old", labels={"app": "cache"}, requests={"cpu": "1"}, on="old")
    web = pods("web", 2, cpu="1", affinity=near("cache"))
    planner = Planner(*pods("cache"), *web, runs, serving("old", cpu="2"), pool(), node_class())
    assert together(planner.soon()) == [["cache", "web"]]
    assert len(planner.memory.nominated.places) == 3


def test_followers_by_zone_go_to_a_zone_where_an_anchor_and_all_of_them_find_room() -> None:
    small = pool(serverTypes=[{"name": "small", "max": 9}])
    store = pods("store", nodeSelector={ZONE: "there"})
    web = pods("web", 4, cpu="2", affinity=near("store", key=ZONE))
    made = Planner(*store, *web, small, node_class()).soon()
    assert zones(made) == {"there"}
    assert sum(len(each.spec.pods) for each in made) == 5


def test_anchors_that_keep_apart_have_their_followers_with_them() -> None:
    cache = pods("cache", 3, affinity=apart("cache"))
    web = pods("web", 3, affinity={**near("cache"), **apart("web")})
    made = Planner(*cache, *web, pool(), node_class()).soon()
    assert together(made) == [["cache", "web"]] * 3


def test_a_follower_is_planned_again_if_its_anchor_is_gone_before_the_machine_is_bought() -> None:
    cache, web = pods("cache"), pods("web", affinity=near("cache"))
    planner = Planner(*cache, *web, pool(), node_class())
    planner.until(100.03)
    assert planner.problems
    planner.remove(*cache)
    assert planner.until(103) == []


def test_a_plan_waits_for_no_anchor_that_has_no_place_itself() -> None:
    labels = {"app": "web"}
    huge = waiting("huge", requests={"cpu": "64"}, labels=labels)
    planner = Planner(*pods("web", 2, affinity=near("web")), huge, pool(), node_class())
    assert together(planner.soon()) == [["web", "web"]]


def test_a_pod_that_has_waited_long_for_its_anchor_is_planned_with_it() -> None:
    web = pods("web", cpu="1500m", affinity=near("store"))
    planner = Planner(*web, pool(), node_class())
    assert planner.until(150) == []
    planner.put(*pods("store", cpu="1"))
    assert together(planner.soon()) == [["store", "web"]]
