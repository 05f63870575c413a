from __future__ import annotations

import json

import msgspec
import pytest

from growth.scheduling import objects
from growth.scheduling.fits import FITS, verdict
from growth.scheduling.templates import pod_of
from tests.scheduling.build import cluster, csi_node, node

SERVED = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "web-0",
        "namespace": "shop",
        "uid": "6f0e",
        "resourceVersion": "4711",
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "labels": {"app": "web"},
        "annotations": {"note": "x"},
        "ownerReferences": [
            {
                "apiVersion": "apps/v1",
                "kind": "ReplicaSet",
                "name": "web-7d9",
                "uid": "1b",
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ],
        "managedFields": [{"manager": "kubectl", "fieldsV1": {"f:spec": {"f:containers": {}}}}],
    },
    "spec": {
        "nodeName": "one",
        "priority": 1000,
        "schedulerName": "default-scheduler",
        "hostUsers": False,
        "containers": [
            {
                "name": "main",
                "image": "web:1",
                "env": [{"name": "A", "value": "b"}],
                "resources": {
                    "requests": {"cpu": "250m", "memory": "64Mi"},
                    "limits": {"cpu": "1"},
                },
                "ports": [{"containerPort": 80, "hostPort": 80, "hostIP": "10.0.0.1"}],
            }
        ],
        "volumes": [
            {"name": "kube-api-access", "projected": {"sources": [{"configMap": {"name": "ca"}}]}},
            {"name": "data", "persistentVolumeClaim": {"claimName": "data-web-0"}},
        ],
        "tolerations": [
            {
                "key": "node.kubernetes.io/not-ready",
                "operator": "Exists",
                "effect": "NoExecute",
                "tolerationSeconds": 300,
            }
        ],
    },
    "status": {
        "phase": "Running",
        "conditions": [
            {
                "type": "PodScheduled",
                "status": "True",
                "lastProbeTime": None,
                "lastTransitionTime": "2026-01-01T00:00:00Z",
            }
        ],
        "containerStatuses": [
            {
                "name": "main",
                "ready": True,
                "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}},
                "resources": {"requests": {"cpu": "250m", "memory": "64Mi"}},
                "allocatedResources": {"cpu": "250m", "memory": "64Mi"},
            }
        ],
        "podIP": "10.1.0.7",
    },
}


def test_a_pod_as_the_api_server_serves_it() -> None:
    pod = objects.decode_pod(json.dumps(SERVED).encode())
    controller = pod.metadata.controller
    assert (pod.name, pod.place, pod.metadata.resource_version) == ("shop/web-0", "one", "4711")
    assert controller is not None
    assert (controller.kind, controller.uid) == ("ReplicaSet", "1b")
    assert pod.requests.amounts == {"cpu": 250, "memory": 64 << 20, "pods": 1}
    assert [port.text for port in pod.host_ports] == ["10.0.0.1:80/TCP"]
    assert [claim.name for claim in pod.claims] == ["data-web-0"]
    assert pod.status.conditions[0].type == "PodScheduled"


def test_the_same_pod_from_a_parsed_file() -> None:
    from_json = objects.decode_pod(json.dumps(SERVED).encode())
    assert msgspec.convert(SERVED, objects.Pod) == from_json


def test_what_is_derived_is_worked_out_once() -> None:
    pod = objects.decode_pod(json.dumps(SERVED).encode())
    assert pod.requests is pod.requests
    assert pod.wanted_nodes is pod.wanted_nodes


def test_nulls_that_the_api_server_writes_are_absent_values() -> None:
    selector = {"nodeSelectorTerms": None}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": selector}
    wish = {"spec": {"affinity": {"nodeAffinity": required}}}
    assert objects.decode_pod(json.dumps(wish).encode()).wanted_nodes.labels == ()
    drivers = objects.decode_csi_node(b'{"metadata":{"name":"one"},"spec":{"drivers":null}}')
    assert drivers.drivers == ()
    assert csi_node("one").limits == {}


def test_a_field_of_the_wrong_type_is_named_with_its_path() -> None:
    with pytest.raises(msgspec.ValidationError, match=r"\$\.spec\.priority"):
        objects.decode_pod(b'{"spec":{"priority":"high"}}')


def test_a_workload_wants_one_replica_unless_it_says_otherwise() -> None:
    assert objects.decode_workload(b'{"spec":{}}').spec.wanted == 1
    assert objects.decode_workload(b'{"spec":{"replicas":0}}').spec.wanted == 0


def test_a_template_of_a_workload_becomes_a_pod() -> None:
    daemon_set = objects.decode_daemon_set(
        b'{"metadata":{"name":"x"},"spec":{"template":{"metadata":{"creationTimestamp":null},'
        b'"spec":{"containers":[{"resources":{"limits":{"cpu":"3"}}}]}}}}'
    )
    made = pod_of(
        daemon_set.spec.template,
        name="x-1",
        namespace="shop",
        owner=objects.OwnerReference(kind="ReplicaSet", name="x", uid="7"),
    )
    small, large = node("small", cpu="2"), node("large", cpu="4")
    assert verdict(made, small, cluster(small)) != FITS
    assert verdict(made, large, cluster(large)) == FITS


def test_a_node_says_whether_it_is_ready() -> None:
    ready = b'{"status":{"conditions":[{"type":"Ready","status":"%s"}]}}'
    assert objects.decode_node(ready % b"True").is_ready
    assert not objects.decode_node(ready % b"Unknown").is_ready
    assert not objects.decode_node(b"{}").is_ready
