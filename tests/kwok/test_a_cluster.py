"""What the control plane is like that all other tests use."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from growth.kube.transport import connect
from kwok.clusters import find_cluster
from tests.cluster_wide import acting
from tests.live import LiveCluster, wait_until

pytestmark = pytest.mark.cluster


def pod(name: str, **spec: Any) -> dict[str, Any]:
    containers = [{"name": "main", "image": "none"}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"containers": containers, **spec},
    }


def test_the_only_node_is_a_tainted_control_plane(cluster: LiveCluster) -> None:
    node = cluster.get("node", f"{cluster.name}-control-plane")
    taint = {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}
    assert node["spec"]["taints"] == [taint]
    assert "node-role.kubernetes.io/control-plane" in node["metadata"]["labels"]


def test_no_program_ends_because_it_lost_its_lease(cluster: LiveCluster) -> None:
    leases = cluster.get("leases", "--namespace", "kube-system")["items"]
    held = {each["metadata"]["name"] for each in leases}
    assert not held & {"kube-scheduler", "kube-controller-manager"}


def test_nothing_but_loopback_is_served(cluster: LiveCluster) -> None:
    found = find_cluster(cluster.name)
    assert found is not None
    lines = [line.split() for line in Path("/proc/net/tcp").read_text("utf-8").splitlines()[1:]]
    listening = [line[1].split(":") for line in lines if line[3] == "0A"]
    served = {address for address, port in listening if int(port, 16) in found.ports.values()}
    assert served == {"0100007F"}


def test_who_has_no_rights_gets_nothing(cluster: LiveCluster, namespace: str) -> None:
    account = f"system:serviceaccount:{namespace}:default"
    answer = cluster.try_kubectl("get", "nodes", "--as", account)
    assert "Forbidden" in answer.stderr


def test_admission_gives_every_pod_its_account_and_tolerations(
    cluster: LiveCluster, namespace: str
) -> None:
    cluster.create(pod("plain"), namespace=namespace)
    spec = cluster.get("pod", "plain", "--namespace", namespace)["spec"]
    assert spec["serviceAccountName"] == "default"
    tolerated = {each["key"] for each in spec["tolerations"]}
    assert tolerated == {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}


def test_a_mutating_admission_policy_changes_pods(cluster: LiveCluster, namespace: str) -> None:
    # given a policy for this namespace that labels pods
    name = f"label-{namespace}"
    expression = 'Object{metadata: Object.metadata{labels: {"labelled": "yes"}}}'
    selector = {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["pods"],
    }
    api = {"apiVersion": "admissionregistration.k8s.io/v1", "metadata": {"name": name}}
    policy = {
        **api,
        "kind": "MutatingAdmissionPolicy",
        "spec": {
            "matchConstraints": {"namespaceSelector": selector, "resourceRules": [rule]},
            "failurePolicy": "Fail",
            "reinvocationPolicy": "Never",
            "mutations": [
                {
                    "patchType": "ApplyConfiguration",
                    "applyConfiguration": {"expression": expression},
                }
            ],
        },
    }
    binding = {**api, "kind": "MutatingAdmissionPolicyBinding", "spec": {"policyName": name}}
    dry = ("--namespace", namespace, "create", "-f", "-", "--dry-run=server", "-o", "json")

    def is_labelled() -> bool:
        made = json.loads(cluster.kubectl(*dry, input=json.dumps(pod("dry"))))
        return bool(made["metadata"].get("labels") == {"labelled": "yes"})

    # then it comes into force, and goes with its policy
    with acting(cluster, policy, binding, acts=is_labelled):
        assert is_labelled()


def test_a_watch_can_begin_with_a_list(cluster: LiveCluster) -> None:
    path = (
        "/api/v1/namespaces?watch=true&sendInitialEvents=true&allowWatchBookmarks=true"
        "&resourceVersionMatch=NotOlderThan&timeoutSeconds=1"
    )
    events = [json.loads(line) for line in cluster.kubectl("get", "--raw", path).splitlines()]
    assert events[0]["type"] == "ADDED"
    ends = [each for each in events if each["type"] == "BOOKMARK"]
    assert ends[0]["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"] == "true"


async def seconds_for_a_pod(
    cluster: LiveCluster, namespace: str, template: dict[str, Any]
) -> float:
    """What it takes to create a pod when one client creates one after the other."""
    path, pods = f"/api/v1/namespaces/{namespace}/pods", 100
    async with await connect(kubeconfig=cluster.kubeconfig, process="test") as connection:
        began = time.monotonic()
        for number in range(pods):
            pod = {**template, "metadata": {"name": f"one-{number}"}}
            await connection.request("POST", path, body=pod)
        return (time.monotonic() - began) / pods


async def test_no_limit_holds_up_a_thousand_pods_of_a_replica_set(
    cluster: LiveCluster, namespace: str, capsys: pytest.CaptureFixture[str]
) -> None:
    labels = {"app": "many"}
    template: dict[str, Any] = {
        "metadata": {"labels": labels},
        # No node is asked for, so that this measures the controller manager alone.
        "spec": {
            "nodeSelector": {"growth.dev/test": "nowhere"},
            "schedulerName": "nobody",
            "containers": [{"name": "main", "image": "none"}],
        },
    }
    each = await seconds_for_a_pod(cluster, namespace, template)
    many = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "many"},
        "spec": {"replicas": 1000, "selector": {"matchLabels": labels}, "template": template},
    }
    cluster.create(many, namespace=namespace)

    def created() -> bool:
        found = cluster.get("replicaset", "many", "--namespace", namespace)
        return bool(found["status"].get("replicas") == 1000)

    seconds = wait_until(created, "1,000 pods", within=120)
    with capsys.disabled():
        sys.stdout.write(
            f" [1,000 pods of a ReplicaSet in {seconds:.1f} s, {1000 * each:.1f} s by one client] "
        )
    # At the default limit of 20 requests a second each takes 50 ms, where one client takes two.
    assert seconds < 10 * 1000 * each
