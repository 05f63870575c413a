"""Those who live in a simulated cluster beside our process do as the real ones do."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
import pytest

from growth.kube.cache.resource import Key
from growth.scheduling.objects import DaemonSet, Node, Pod
from reconciler.simulation.cloud import SimulatedJoining, with_ready
from reconciler.simulation.kubelets import COMPLETES_AFTER_ANNOTATION
from reconciler.simulation.living import Living
from reconciler.simulation.replicas import BATCH_TAKES, SimulatedWorkload
from reconciler.simulation.story import Story
from tests.scheduling import build

CALM = Story(seed=1, minutes=60.0, faults=(), workloads=0)
MINUTE = 60.0


@pytest.fixture
def living() -> Living:
    """A cluster in which growth doesn't run."""
    return Living(CALM, SimulatedJoining.AT_ONCE)


def add_node(living: Living, name: str, /, *, cpu: str, **spec: Any) -> None:
    amounts = {"cpu": cpu, "memory": "8Gi", "pods": "110"}
    living.server.create("nodes", with_ready(build.node(name, allocatable=amounts, **spec)))


def asking(name: str, cpu: str, **metadata: Any) -> Pod:
    own = {"namespace": "default"} | metadata
    return build.pod(name, requests={"cpu": cpu}, metadata=own, status={"phase": "Pending"})


def add_pod(living: Living, name: str, /, *, cpu: str, **metadata: Any) -> None:
    living.server.create("pods", asking(name, cpu, **metadata))


def add_agent(living: Living) -> None:
    container = build.container(requests={"cpu": "500m"})
    document = {
        "metadata": {"name": "agent", "namespace": "default", "uid": "agent"},
        "spec": {"template": {"spec": {"containers": [container]}}},
    }
    living.server.create("daemon_sets", msgspec.convert(document, DaemonSet))


def owner(living: Living, name: str, *, wanted: int, cpu: str) -> SimulatedWorkload:
    template = asking(name, cpu)
    made = SimulatedWorkload(name=name, uid=name, namespace="default", template=template, pods={})
    living.replicas.want(made, wanted)
    return made


def passes(living: Living, seconds: float = MINUTE) -> None:
    living.timeline.run(living.timeline.now + seconds)


def pod(living: Living, name: str) -> Pod:
    found: Pod = living.server.kind("pods").objects[Key("default", name)]
    return found


def places(living: Living) -> dict[str, str]:
    pods = living.server.kind("pods").objects.values()
    return {each.metadata.name: each.spec.node_name for each in pods}


def test_the_emptier_of_two_nodes_is_taken(living: Living) -> None:
    add_node(living, "a", cpu="4")
    add_node(living, "b", cpu="8")
    add_pod(living, "one", cpu="1")
    passes(living)
    assert places(living) == {"one": "b"}


def test_pods_of_one_owner_are_kept_apart(living: Living) -> None:
    add_node(living, "a", cpu="8")
    add_node(living, "b", cpu="8")
    add_node(living, "c", cpu="6")
    owner(living, "web", wanted=3, cpu="500m")
    passes(living)
    assert sorted(places(living).values()) == ["a", "b", "c"]


def test_what_has_no_node_and_what_is_crowded_goes_first(living: Living) -> None:
    add_node(living, "a", cpu="2")
    add_node(living, "b", cpu="1")
    web = owner(living, "web", wanted=4, cpu="1")
    passes(living)
    assert Counter(places(living).values()) == {"a": 2, "b": 1, "": 1}
    living.replicas.want(web, 3)
    passes(living)
    assert Counter(places(living).values()) == {"a": 2, "b": 1}
    living.replicas.want(web, 2)
    passes(living)
    assert Counter(places(living).values()) == {"a": 1, "b": 1}


def test_pods_of_an_owner_come_in_batches_that_double(living: Living) -> None:
    web = owner(living, "web", wanted=6, cpu="1")
    counts = []
    for _ in range(4):
        counts.append(len(places(living)))
        passes(living, BATCH_TAKES)
    assert counts == [1, 3, 6, 6]
    living.replicas.want(web, 9)
    living.replicas.want(web, 2)
    passes(living)
    assert len(places(living)) == 2


def test_a_pod_that_is_deleted_by_hand_is_made_again_by_its_owner(living: Living) -> None:
    add_node(living, "a", cpu="2")
    owner(living, "web", wanted=1, cpu="1")
    passes(living)
    living.kubelets.end(Key("default", "web-1"))
    passes(living)
    assert places(living) == {"web-2": "a"}


def test_a_pod_works_as_long_as_its_annotation_says(living: Living) -> None:
    add_node(living, "a", cpu="2")
    add_pod(living, "job", cpu="1", annotations={COMPLETES_AFTER_ANNOTATION: "90s"})
    passes(living, 80.0)
    assert pod(living, "job").status.phase == "Running"
    passes(living, 20.0)
    assert pod(living, "job").is_finished


def test_a_daemon_pod_waits_for_room_on_its_own_node(living: Living) -> None:
    add_node(living, "full", cpu="1")
    add_pod(living, "early", cpu="1")
    passes(living)
    add_node(living, "roomy", cpu="1")
    add_agent(living)
    passes(living)
    assert places(living) == {"early": "full", "agent-full": "", "agent-roomy": "roomy"}


def test_a_daemon_pod_comes_when_its_taint_goes(living: Living) -> None:
    add_node(living, "a", cpu="1", taints=[{"key": "late", "effect": "NoSchedule"}])
    add_agent(living)
    passes(living)
    assert places(living) == {}
    living.server.change("nodes", Key("", "a"), _untainted)
    passes(living)
    assert places(living) == {"agent-a": "a"}


def _untainted(node: Node) -> Node:
    return msgspec.structs.replace(node, spec=msgspec.structs.replace(node.spec, taints=()))


def test_the_pods_of_a_node_that_is_gone_are_collected(living: Living) -> None:
    add_node(living, "a", cpu="1")
    add_pod(living, "one", cpu="1")
    passes(living)
    living.server.delete("nodes", Key("", "a"))
    passes(living)
    assert places(living) == {}
