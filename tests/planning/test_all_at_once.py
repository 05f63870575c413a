"""All demand is planned together, on what is there, what is coming and what may be bought."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from growth.api.wellknown import UNREGISTERED_TAINT
from growth.keeping.believing import believed
from growth.scheduling import objects
from reconciler.buying.blueprints import read_blueprint
from tests.planning.driver import Planner, bought
from tests.reconciler.build import node_class, pool, request, waiting
from tests.scheduling import build

if TYPE_CHECKING:
    from growth.api.nodepool import NodePool

READY = {"conditions": [{"type": "Ready", "status": "True"}]}
ONE = {"cpu": "1"}


def serving(name: str = "there", **fields: Any) -> Any:
    node = build.node(name, **fields)
    return objects.decode_node(_with_status(node))


def _with_status(node: Any) -> bytes:
    document = msgspec.to_builtins(node)
    document["status"]["conditions"] = READY["conditions"]
    return msgspec.json.encode(document)


def placed(pod: Any, node: str) -> Any:
    return msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, node_name=node))


def many(count: int, /, **fields: Any) -> list[Any]:
    return [waiting(f"web-{number}", **({"requests": ONE} | fields)) for number in range(count)]


def test_pods_share_the_machine_that_is_cheapest_for_all_of_them() -> None:
    # Eight would need four small ones at 1 an hour, one large one costs 3.
    assert bought(Planner(*many(8), pool(), node_class()).soon()) == [("large", 8)]
    assert bought(Planner(*many(2), pool(), node_class()).soon()) == [("small", 2)]


def test_a_wave_of_pods_is_planned_once_when_it_is_complete() -> None:
    planner = Planner(*many(3), pool(), node_class())
    planner.until(100.02)
    assert planner.problems == []
    planner.put(waiting("late", requests=ONE))
    planner.until(100.5)
    assert [sum(each.count for each in one.classes) for one in planner.problems] == [4]


def test_nobody_waits_longer_than_a_second_for_others_who_keep_coming() -> None:
    planner = Planner(*many(1), pool(), node_class())
    for number in range(100):
        planner.until(100.0 + number * 0.02)
        planner.put(waiting(f"more-{number}", requests={"cpu": "10m"}))
        if planner.problems:
            break
    assert planner.now == pytest.approx(101.0, abs=0.03)


def test_a_pod_that_fits_on_a_machine_that_is_coming_buys_nothing() -> None:
    first, second = many(2)
    coming = request(pods=(first,), status={"phase": "Provisioning"})
    planner = Planner(first, second, pool(), node_class(), coming)
    assert planner.soon() == []
    assert planner.memory.nominated.places[second.metadata.uid].machine == coming.name


def test_a_pod_that_fits_on_a_machine_whose_node_comes_before_its_record_buys_nothing() -> None:
    first, second = many(2)
    coming = request(pods=(first,), status={"phase": "Pending"})
    taints = [{"key": UNREGISTERED_TAINT, "effect": "NoSchedule"}]
    stranger = believed(serving(coming.name, cpu="2", taints=taints), None)
    planner = Planner(first, second, pool(), node_class(), coming, stranger)
    assert planner.soon() == []
    assert planner.memory.nominated.places[second.metadata.uid].machine == coming.name


def test_a_pod_that_fits_on_a_node_that_serves_waits_for_the_scheduler_and_then_buys() -> None:
    (pod,) = many(1)
    planner = Planner(pod, serving(cpu="4"), pool(), node_class())
    assert planner.until(114.9) == []
    # The scheduler has had its time; that node is not counted on for such pods again.
    assert bought(planner.until(116.5)) == [("small", 1)]


def test_a_node_that_is_full_or_cordoned_is_not_counted_on() -> None:
    full = serving("full", cpu="4")
    running = build.pod("running", requests={"cpu": "4"}, on="full")
    closed = serving("closed", unschedulable=True)
    planner = Planner(*many(1), full, running, closed, pool(), node_class())
    assert bought(planner.soon()) == [("small", 1)]


def test_an_idle_node_that_is_marked_is_taken_before_anything_is_bought() -> None:
    mark = [{"key": "growth.dev/scale-down", "effect": "NoSchedule", "value": "1767225600"}]
    planner = Planner(*many(1), serving("idle", taints=mark), pool(), node_class())
    assert bought(planner.soon()) == []
    assert [place.machine for place in planner.memory.nominated.places.values()] == ["idle"]


def test_a_marked_node_that_was_promised_is_seen_to_at_once() -> None:
    mark = [{"key": "growth.dev/scale-down", "effect": "NoSchedule", "value": "1767225600"}]
    planner = Planner(*many(1), serving("idle", taints=mark), pool(), node_class())
    while not planner.memory.nominated.places:
        planner.until(planner.now + 0.01)
    # The room that takes marks off has to be asked again; no change in the cluster would.
    assert planner.wakes_at < planner.now


def test_a_plan_goes_on_without_a_pod_that_has_gone_meanwhile() -> None:
    pods = many(8)
    planner = Planner(*pods, pool(), node_class())
    planner.until(100.03)
    assert planner.problems
    planner.remove(*pods[2:])
    # The large machine was planned for eight; two need a small one only.
    assert bought(planner.soon()) == [("small", 2)]


def test_a_request_that_is_tried_again_is_for_those_who_still_wait() -> None:
    pods = many(8)
    planner = Planner(*pods, pool(), node_class())
    planner.creates_fail = True
    assert planner.soon() == []
    # The effect looks up who was bought for before, and refuses what is for somebody with a node.
    planner.put(serving(cpu="4"), *(placed(pod, "there") for pod in pods[:3]))
    planner.creates_fail = False
    (request,) = planner.soon()
    assert [pod.uid for pod in request.spec.pods] == [pod.metadata.uid for pod in pods[3:]]


def test_a_node_that_nobody_is_left_for_is_not_bought() -> None:
    pods = many(1)
    planner = Planner(*pods, pool(), node_class())
    planner.until(100.03)
    assert planner.problems
    planner.remove(*pods)
    assert planner.soon() == []


@pytest.mark.parametrize(
    ("spec", "machines"),
    [
        ({"limits": {"nodes": 1}}, 1),
        ({"limits": {"cpu": "4"}}, 2),
        ({"limits": {"memory": "13Gi"}}, 3),
        ({"limits": {"hourlyCost": "2.5"}}, 2),
        ({"limits": {"nodesPerHour": 3}}, 3),
        ({"serverTypes": [{"name": "small", "max": 2}]}, 2),
        ({}, 5),
    ],
)
def test_no_limit_of_a_pool_is_exceeded(spec: dict[str, Any], machines: int) -> None:
    types = {"serverTypes": [{"name": "small", "max": 99}]}
    planner = Planner(*many(5, requests={"cpu": "2"}), pool(**types | spec), node_class())
    assert len(planner.until(130)) == machines


def test_a_limit_that_binds_leaves_out_the_least_important() -> None:
    low = waiting("low", requests={"cpu": "2"}, priority=1)
    high = waiting("high", requests={"cpu": "2"}, priority=9)
    tight = pool(serverTypes=[{"name": "small", "max": 1}])
    (made,) = Planner(low, high, tight, node_class()).until(105)
    assert [pod.name for pod in made.spec.pods] == ["high"]


def test_machines_of_an_hour_ago_don_t_count_for_the_hour() -> None:
    spec = {"serverTypes": [{"name": "small", "max": 9}], "limits": {"nodesPerHour": 1}}
    planner = Planner(*many(2, requests={"cpu": "2"}), pool(**spec), node_class())
    assert len(planner.until(3600)) == 1
    assert len(planner.until(4400)) == 1


def test_a_minimum_is_bought_without_any_load_and_only_once() -> None:
    warm = pool(serverTypes=[{"name": "small", "min": 2, "max": 5}])
    planner = Planner(warm, node_class())
    assert bought(planner.until(110)) == [("small", 0), ("small", 0)]


def test_the_pool_with_the_higher_weight_is_bought_from_first() -> None:
    term = {"key": "growth.dev/pool", "operator": "Exists"}
    affinity = {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [term]}]
            }
        }
    }
    cheap, dear = pool("cheap"), pool("dear", weight=10, locations=[{"region": "there"}])
    (made,) = Planner(*many(1, affinity=affinity), cheap, dear, node_class()).soon()
    assert made.spec.pool == "dear"


def learnt(cpu: str) -> NodePool:
    smallest = {"serverType": "small", "resources": {"cpu": cpu, "memory": "4Gi", "pods": "110"}}
    made = pool()
    status = made.status.model_validate({"learntAllocatable": [smallest]})
    return made.model_copy(update={"status": status})


def test_what_nodes_have_shown_to_offer_counts_and_not_the_catalogue() -> None:
    pods = many(1, requests={"cpu": "1900m"})
    assert bought(Planner(*pods, learnt("2"), node_class()).soon()) == [("small", 1)]
    assert bought(Planner(*pods, learnt("1800m"), node_class()).soon()) == [("large", 1)]


def test_a_request_says_why_its_type_was_chosen() -> None:
    (made,) = Planner(*many(1), pool(), node_class()).soon()
    assert made.metadata.annotations["growth.dev/plan"] == (
        '{"offer":"default/small/here","price":"1","pods":1,'
        '"next":{"type":"large","price":"3.000000"}}'
    )


def test_a_request_says_what_its_machine_is_made_from() -> None:
    asking = pool(labels={"team": "shop"})
    (made,) = Planner(*many(1), asking, node_class()).soon()
    told = read_blueprint(made.metadata.annotations["growth.dev/template"])
    assert told is not None
    assert (told.location, told.labels) == ("here", {"team": "shop"})
    assert told.parts is not None
    assert sorted(told.parts) == ["architecture", "resources"]
