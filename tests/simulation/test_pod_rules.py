"""Simulated pods with rules live as in Kubernetes, and wrong plans for them are noticed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from growth.api.wellknown import MANAGED_BY, MANAGED_BY_LABEL, POOL_LABEL
from growth.kube.cache.resource import Key
from reconciler.simulation.cloud import SimulatedJoining, with_ready
from reconciler.simulation.faults import SimulatedFault
from reconciler.simulation.living import Living
from reconciler.simulation.plan_auditor import APART, KNOWN_WITHIN, NEAR
from reconciler.simulation.pod_traits import HOST, ZONE, Company, PodTraits, with_traits
from reconciler.simulation.replicas import SimulatedWorkload
from reconciler.simulation.story import Story
from reconciler.simulation.volumes import CLAIMS, VOLUMES
from tests.reconciler.build import pool, request, small_order
from tests.scheduling import build

if TYPE_CHECKING:
    from growth.scheduling.pod import Pod

STORY = Story(
    seed=1,
    minutes=60.0,
    faults=(SimulatedFault.PRIORITY, SimulatedFault.VOLUMES),
    workloads=0,
)


@pytest.fixture
def living() -> Living:
    """Two nodes in one zone and one in another, without growth."""
    made = Living(STORY, SimulatedJoining.AT_ONCE)
    made.server.create("NodePool", pool())
    for name, zone in (("a", "here"), ("b", "here"), ("c", "there")):
        labels = {HOST: name, ZONE: zone, POOL_LABEL: "default", MANAGED_BY_LABEL: MANAGED_BY}
        amounts = {"cpu": "2", "memory": "8Gi", "pods": "110"}
        node = build.node(name, allocatable=amounts, labels=labels)
        made.server.create("nodes", with_ready(node))
    return made


def owner(name: str, *, cpu: str = "500m", **traits: Any) -> SimulatedWorkload:
    template = build.pod(
        name, requests={"cpu": cpu}, metadata={"namespace": "default"}, status={"phase": "Pending"}
    )
    said = with_traits(template, PodTraits(**traits), name=name, before="other")
    return SimulatedWorkload(name=name, uid=name, namespace="default", template=said, pods={})


def passes(living: Living, seconds: float = 60.0) -> None:
    living.timeline.run(living.timeline.now + seconds)


def pods(living: Living, name: str) -> dict[str, Pod]:
    found = living.server.kind("pods").objects
    return {key.name: pod for key, pod in sorted(found.items()) if key.name.startswith(name)}


def places(living: Living, name: str) -> list[str]:
    return sorted(pod.spec.node_name for pod in pods(living, name).values())


def breached(living: Living) -> str:
    return "" if living.auditor.found is None else living.auditor.found.rule


def test_pods_that_stay_apart_have_a_node_each(living: Living) -> None:
    living.replicas.want(owner("web", company=Company.APART), 4)
    passes(living)
    assert places(living, "web") == ["", "a", "b", "c"]


def test_pods_that_stay_together_have_one_zone(living: Living) -> None:
    living.replicas.want(owner("web", cpu="1", company=Company.TOGETHER), 6)
    passes(living)
    assert places(living, "web") in (["", "", "a", "a", "b", "b"], ["", "", "", "", "c", "c"])


def test_pods_that_are_spread_over_zones_wait_for_the_emptier_one(living: Living) -> None:
    # Each node has room for two; the zone of c is full when it has two, and the other may have one
    # more.
    living.replicas.want(owner("web", cpu="1", spreads=((ZONE, 1, "DoNotSchedule"),)), 6)
    passes(living)
    assert places(living, "web").count("c") == 2
    assert places(living, "web").count("") == 1


def test_an_important_pod_takes_the_place_of_another(living: Living) -> None:
    living.replicas.want(owner("low", cpu="1500m"), 3)
    passes(living)
    living.replicas.want(owner("high", cpu="1500m", priority=100), 1)
    passes(living)
    assert "" not in places(living, "high")
    assert places(living, "low").count("") == 1
    assert not breached(living)


def test_an_equally_important_pod_takes_no_place(living: Living) -> None:
    living.replicas.want(owner("low", cpu="1500m"), 3)
    passes(living)
    living.replicas.want(owner("more", cpu="1500m"), 1)
    passes(living)
    assert places(living, "more") == [""]


def test_a_pod_with_a_number_comes_back_to_the_zone_of_its_volume(living: Living) -> None:
    data = owner("data", cpu="1500m")
    living.stateful.want(data, 3)
    passes(living)
    before = {name: pod.spec.node_name for name, pod in pods(living, "data").items()}
    assert sorted(before.values()) == ["a", "b", "c"]
    living.stateful.want(data, 0)
    passes(living)
    assert places(living, "data") == []
    assert len(living.server.kind(CLAIMS).objects) == 3
    living.stateful.want(data, 3)
    passes(living)
    there = next(name for name, place in before.items() if place == "c")
    assert pods(living, "data")[there].spec.node_name == "c"


def test_a_volume_is_made_elsewhere_if_the_node_disappears_first(living: Living) -> None:
    living.stateful.want(owner("data", cpu="1500m"), 1)
    passes(living, 0.5)
    place = pods(living, "data")["data-0"].status.nominated_node_name
    living.server.delete("nodes", Key("", place))
    passes(living)
    assert places(living, "data") not in ([""], [place])


def ask(living: Living, *waiting: Pod, location: str = "here") -> None:
    """Buy a machine for these pods."""
    made = living.server.create("NodeRequest", request("default-1", pods=waiting))
    living.cloud.made_for[made.metadata.uid] = 1
    order = small_order("default-1", request_uid=made.metadata.uid)
    living.cloud.made(msgspec.structs.replace(order, location=location))


def test_pods_that_avoid_each_other_must_not_be_planned_together(living: Living) -> None:
    living.replicas.want(owner("web", company=Company.APART), 5)
    passes(living)
    ask(living, *(pod for pod in pods(living, "web").values() if not pod.spec.node_name))
    assert breached(living) == APART


@pytest.mark.parametrize(("location", "rule"), [("there", ""), ("here", NEAR)])
def test_a_machine_must_be_where_the_volumes_are(living: Living, location: str, rule: str) -> None:
    data = owner("data", cpu="1500m")
    living.stateful.want(data, 3)
    passes(living, KNOWN_WITHIN + 60.0)
    (stays,) = [name for name, pod in pods(living, "data").items() if pod.spec.node_name == "c"]
    living.server.delete("nodes", Key("", "c"))
    passes(living)
    assert len(living.server.kind(VOLUMES).objects) == 3
    ask(living, pods(living, "data")[stays], location=location)
    assert breached(living) == rule
