"""The lives of simulated nodes and pods, chosen by annotation."""

from __future__ import annotations

import json
import secrets
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.live import LiveCluster, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.cluster


@pytest.fixture
def node_name(cluster: LiveCluster) -> Iterator[str]:
    """The name of a node that is gone after the test."""
    name = f"node-{secrets.token_hex(4)}"
    yield name
    cluster.try_kubectl("delete", "node", name, "--wait=false")


other_name = node_name
"""Of another one."""


def node(name: str, **annotations: str) -> dict[str, Any]:
    keys = {f"growth.dev/kwok-{key.replace('_', '-')}": text for key, text in annotations.items()}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "annotations": keys}}


def pod(name: str, on: str, *, grace: int = 30, **annotations: str) -> dict[str, Any]:
    keys = {f"growth.dev/kwok-{key.replace('_', '-')}": text for key, text in annotations.items()}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "annotations": keys},
        "spec": {
            "nodeName": on,
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": grace,
            "containers": [{"name": "main", "image": "none"}],
        },
    }


def gated(name: str, on: str) -> dict[str, Any]:
    made = pod(name, on)
    gates = {"readinessGates": [{"conditionType": "example.com/open"}]}
    return made | {"spec": made["spec"] | gates}


def ready_condition(cluster: LiveCluster, *named: str) -> dict[str, Any]:
    conditions = cluster.get(*named)["status"].get("conditions", [])
    return next((each for each in conditions if each["type"] == "Ready"), {})


def is_ready(cluster: LiveCluster, name: str) -> bool:
    return ready_condition(cluster, "node", name).get("status") == "True"


def ready_since(cluster: LiveCluster, name: str) -> datetime:
    return datetime.fromisoformat(ready_condition(cluster, "node", name)["lastTransitionTime"])


def appeared_at(cluster: LiveCluster, name: str) -> datetime:
    annotations = cluster.get("node", name)["metadata"]["annotations"]
    return datetime.fromisoformat(annotations["growth.dev/kwok-appeared-at"])


def not_ready_taints(cluster: LiveCluster, name: str) -> set[str]:
    taints = cluster.get("node", name)["spec"].get("taints", [])
    return {each["effect"] for each in taints if each["key"] == "node.kubernetes.io/not-ready"}


def test_a_node_is_ready_at_once_and_has_what_kubelets_tell(
    cluster: LiveCluster, node_name: str
) -> None:
    cluster.create(node(node_name))
    wait_until(lambda: is_ready(cluster, node_name), "a Ready node")
    status = cluster.get("node", node_name)["status"]
    assert {each["type"] for each in status["conditions"]} > {"Ready", "MemoryPressure"}
    assert status["addresses"] == [{"type": "Hostname", "address": node_name}]
    assert status["nodeInfo"]["operatingSystem"] == "linux"
    wait_until(lambda: not not_ready_taints(cluster, node_name), "no taint")


def test_a_node_keeps_the_resources_and_the_architecture_that_it_was_made_with(
    cluster: LiveCluster, node_name: str
) -> None:
    resources = {"cpu": "2", "memory": "4Gi", "pods": "110"}
    made = node(node_name)
    made["metadata"]["labels"] = {"kubernetes.io/arch": "arm64"}
    made["status"] = {"capacity": resources, "allocatable": resources}
    cluster.create(made)
    wait_until(lambda: is_ready(cluster, node_name), "a Ready node")
    status = cluster.get("node", node_name)["status"]
    assert status["allocatable"] == resources
    assert status["nodeInfo"]["architecture"] == "arm64"


def test_a_node_is_ready_after_its_delay_though_it_is_changed_meanwhile(
    cluster: LiveCluster, node_name: str, other_name: str
) -> None:
    # given two nodes that take six seconds
    cluster.create(node(node_name, ready_after="6s"), node(other_name, ready_after="6s"))
    wait_until(lambda: ready_condition(cluster, "node", node_name), "an answer of the kubelet")
    # then it says that it isn't Ready, and gets no pods
    assert ready_condition(cluster, "node", node_name)["status"] == "False"
    wait_until(lambda: "NoSchedule" in not_ready_taints(cluster, node_name), "the taint")
    # and a change shortly before its time doesn't begin the delay anew
    appeared = appeared_at(cluster, node_name)
    wait_until(lambda: datetime.now(UTC) - appeared > timedelta(seconds=5), "nearly its time")
    cluster.kubectl("label", "node", node_name, "changed=yes")
    for name in (node_name, other_name):
        wait_until(lambda: is_ready(cluster, name), "a Ready node")  # noqa: B023 - called at once
    since = ready_since(cluster, node_name)
    # Conditions know whole seconds only, so up to one is missing.
    assert (since - appeared).total_seconds() >= 5
    # Begun anew, it would take five seconds longer than the one that wasn't changed.
    assert (since - ready_since(cluster, other_name)).total_seconds() < 4
    wait_until(lambda: not not_ready_taints(cluster, node_name), "no taint")


def test_a_node_that_never_becomes_ready_stays_tainted(
    cluster: LiveCluster, node_name: str
) -> None:
    cluster.create(node(node_name, never_ready="true"))
    wait_until(lambda: ready_condition(cluster, "node", node_name), "an answer of the kubelet")
    wait_until(lambda: "NoSchedule" in not_ready_taints(cluster, node_name), "the taint")
    assert not is_ready(cluster, node_name)


def test_a_ready_node_renews_its_lease(cluster: LiveCluster, node_name: str) -> None:
    cluster.create(node(node_name))
    lease = ("lease", node_name, "--namespace", "kube-node-lease")
    wait_until(lambda: cluster.try_kubectl("get", *lease).returncode == 0, "the lease of the node")
    assert cluster.get(*lease)["spec"]["leaseDurationSeconds"] == 200


def test_a_pod_runs_at_once_and_ends_at_once(
    cluster: LiveCluster, namespace: str, node_name: str
) -> None:
    cluster.create(node(node_name))
    cluster.create(pod("plain", node_name, grace=3600), namespace=namespace)
    here = ("pod", "plain", "--namespace", namespace)
    wait_until(lambda: cluster.get(*here)["status"]["phase"] == "Running", "a running pod")
    assert ready_condition(cluster, *here)["status"] == "True"
    assert cluster.get(*here)["status"]["podIP"]
    cluster.kubectl("delete", *here, "--wait=false")
    # Far less than the hour that it would be given to end.
    wait_until(lambda: cluster.try_kubectl("get", *here).returncode, "its end")


def set_condition(cluster: LiveCluster, pod: tuple[str, ...], kind: str, status: str) -> None:
    told = {"status": {"conditions": [{"type": kind, "status": status}]}}
    patch = ("--subresource=status", "--type=strategic", "--patch", json.dumps(told))
    cluster.kubectl("patch", *pod, *patch)


def test_a_pod_that_the_control_plane_takes_for_unready_serves_again(
    cluster: LiveCluster, namespace: str, node_name: str
) -> None:
    # given a pod that serves
    cluster.create(node(node_name))
    cluster.create(pod("plain", node_name), gated("gated", node_name), namespace=namespace)
    plain, closed = (("pod", name, "--namespace", namespace) for name in ("plain", "gated"))

    def serves(pod: tuple[str, ...]) -> bool:
        return ready_condition(cluster, *pod).get("status") == "True"

    wait_until(lambda: serves(plain) and serves(closed), "two pods that serve")
    # when the control plane says that it doesn't, as for pods on a node that it doesn't trust
    set_condition(cluster, closed, "example.com/open", "False")
    for each in (closed, plain):
        set_condition(cluster, each, "Ready", "False")
    # then it serves again, unless a readiness gate keeps it from that
    wait_until(lambda: serves(plain), "the pod serves again")
    assert not serves(closed)
    set_condition(cluster, closed, "example.com/open", "True")
    wait_until(lambda: serves(closed), "the gate is open")


def test_a_pod_that_takes_long_to_end_does_so_until_its_grace_period_is_over(
    cluster: LiveCluster, namespace: str, node_name: str
) -> None:
    cluster.create(node(node_name))
    cluster.create(
        pod("slow", node_name, terminates_after="6s"),
        pod("killed", node_name, grace=1, terminates_after="1h"),
        namespace=namespace,
    )
    slow, killed = (("pod", each, "--namespace", namespace) for each in ("slow", "killed"))
    for each in (slow, killed):
        wait_until(lambda: cluster.get(*each)["status"]["phase"] == "Running", "a running pod")  # noqa: B023 - called at once
    started = time.monotonic()
    cluster.kubectl("delete", "pod", "slow", "killed", "--namespace", namespace, "--wait=false")
    assert "deletionTimestamp" in cluster.get(*slow)["metadata"]
    wait_until(lambda: cluster.try_kubectl("get", *killed).returncode, "the end of the killed one")
    gone = "the end of the slow one"
    wait_until(lambda: cluster.try_kubectl("get", *slow).returncode, gone)
    assert time.monotonic() - started > 3


def test_a_pod_that_completes_has_succeeded_and_its_job_with_it(
    cluster: LiveCluster, namespace: str, node_name: str
) -> None:
    cluster.create(node(node_name))
    template = pod("ignored", node_name, completes_after="1500ms")
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "work"},
        "spec": {"template": {"metadata": template["metadata"], "spec": template["spec"]}},
    }
    cluster.create(job, namespace=namespace)
    here = ("job", "work", "--namespace", namespace)
    wait_until(lambda: cluster.get(*here)["status"].get("succeeded") == 1, "the completion")
    done = cluster.get("pods", "--namespace", namespace)["items"][0]["status"]
    ended = done["containerStatuses"][0]["state"]["terminated"]
    assert done["phase"] == "Succeeded"
    worked = datetime.fromisoformat(ended["finishedAt"]) - datetime.fromisoformat(
        ended["startedAt"]
    )
    # The moments know whole seconds only.
    assert worked.total_seconds() >= 1
