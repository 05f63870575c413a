from __future__ import annotations

import json
from typing import Any

import pytest

from growth.scheduling.daemonsets import daemon_pods, overhead, runs_on
from growth.scheduling.emptiness import keepers
from growth.scheduling.objects import DaemonSet, decode_daemon_set
from tests.scheduling.build import Json, cluster, container, node, pod


def daemon_set(name: str = "logs", /, *, labels: Json | None = None, **spec: Any) -> DaemonSet:
    contents = {"containers": [container(requests={"cpu": "100m"})]} | spec
    template = {"metadata": {"labels": labels or {}, "creationTimestamp": None}, "spec": contents}
    identity = {"name": name, "namespace": "kube-system", "uid": f"uid-{name}"}
    return decode_daemon_set(
        json.dumps({"metadata": identity, "spec": {"template": template}}).encode()
    )


def taint(key: str, effect: str = "NoSchedule") -> Json:
    return {"taints": [{"key": key, "effect": effect}]}


EVERYTHING = [{"operator": "Exists"}]
TABLE: list[tuple[str, Json, Json, bool]] = [
    ("a plain node", {}, {}, True),
    ("a tainted node", taint("team"), {}, False),
    ("a tainted node it tolerates", taint("team"), {"tolerations": EVERYTHING}, True),
    ("a taint that is only a wish", taint("team", "PreferNoSchedule"), {}, True),
    (
        "a cordoned node",
        {"unschedulable": True, **taint("node.kubernetes.io/unschedulable")},
        {},
        True,
    ),
    ("a node not ready yet", taint("node.kubernetes.io/not-ready", "NoExecute"), {}, True),
    (
        "a node that nothing may be scheduled to yet",
        taint("node.kubernetes.io/not-ready"),
        {},
        False,
    ),
    ("a node short of memory", taint("node.kubernetes.io/memory-pressure"), {}, True),
    ("a node without network", taint("node.kubernetes.io/network-unavailable"), {}, False),
    (
        "a node without network, on the host's network",
        taint("node.kubernetes.io/network-unavailable"),
        {"hostNetwork": True},
        True,
    ),
    ("a node it selects", {"labels": {"disk": "ssd"}}, {"nodeSelector": {"disk": "ssd"}}, True),
    ("a node it doesn't select", {}, {"nodeSelector": {"disk": "ssd"}}, False),
    ("a node it doesn't name", {}, {"nodeName": "two"}, False),
]


@pytest.mark.parametrize(
    ("of_node", "spec", "runs"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE]
)
def test_where_a_daemon_set_runs(of_node: Json, spec: Json, *, runs: bool) -> None:
    assert runs_on(daemon_set(**spec), node("one", **of_node)) is runs


def test_overhead_is_what_all_that_run_there_take() -> None:
    new = node()
    sets = [daemon_set("one"), daemon_set("two"), daemon_set("gpu", nodeSelector={"gpu": "yes"})]
    assert overhead(new, sets).amounts == {"cpu": 200, "pods": 2}


def test_a_limit_without_a_request_is_a_request_in_the_pod() -> None:
    limited = {"name": "main", "resources": {"limits": {"cpu": "1"}, "requests": {"memory": "1Gi"}}}
    taken = overhead(node(), [daemon_set(containers=[limited])])
    assert (taken["cpu"], taken["memory"]) == (1000, 1 << 30)


def test_a_limit_of_the_whole_pod_is_a_request_where_no_container_asks() -> None:
    whole = {"limits": {"cpu": "1", "memory": "1Gi"}}
    taken = overhead(node(), [daemon_set(resources=whole)])
    assert (taken["cpu"], taken["memory"]) == (100, 1 << 30)


def test_ports_of_a_pod_on_the_hosts_network_are_host_ports() -> None:
    listening = daemon_set(
        hostNetwork=True, containers=[container(ports=[{"containerPort": 9100}])]
    )
    (made,) = daemon_pods(node(), [listening])
    assert [port.port for port in made.host_ports] == [9100]


def test_the_pods_have_what_other_rules_ask_for() -> None:
    (made,) = daemon_pods(node("one"), [daemon_set(labels={"app": "logs"})])
    assert made.is_of_daemon_set
    assert (made.name, made.place) == ("kube-system/logs-one", "one")
    assert made.metadata.labels == {"app": "logs"}


def test_a_new_node_with_its_daemon_pods_is_less_than_it_was() -> None:
    new = node("new", cpu="1")
    world = cluster().with_node(new, pods=daemon_pods(new, [daemon_set()]))
    assert world.occupancy("new").requested["cpu"] == 100
    assert keepers(world.occupancy("new").pods) == ()


def owned_by(kind: str) -> Json:
    return {"ownerReferences": [{"kind": kind, "name": "x", "uid": "x", "controller": True}]}


@pytest.mark.parametrize(
    ("fields", "keeps"),
    [
        pytest.param({}, True, id="a pod of nobody"),
        pytest.param({"metadata": owned_by("ReplicaSet")}, True, id="of a ReplicaSet"),
        pytest.param({"metadata": owned_by("DaemonSet")}, False, id="of a DaemonSet"),
        pytest.param({"metadata": owned_by("Node")}, False, id="of a kubelet"),
        pytest.param(
            {"metadata": {"annotations": {"kubernetes.io/config.mirror": "x"}}},
            False,
            id="a mirror",
        ),
        pytest.param({"status": {"phase": "Succeeded"}}, False, id="succeeded"),
        pytest.param({"status": {"phase": "Failed"}}, False, id="failed"),
        pytest.param({"status": {"phase": "Pending"}}, True, id="starting"),
        pytest.param(
            {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}, True, id="being deleted"
        ),
        pytest.param({"namespace": "kube-system"}, True, id="of the system"),
    ],
)
def test_which_pods_keep_their_node(fields: Json, *, keeps: bool) -> None:
    made = pod(**fields)
    assert keepers([made]) == ((made,) if keeps else ())


def test_a_daemon_set_that_is_not_the_controller_does_not_count() -> None:
    owner = {"kind": "DaemonSet", "name": "x", "uid": "x", "controller": False}
    made = pod(metadata={"ownerReferences": [owner]})
    assert keepers([made]) == (made,)
