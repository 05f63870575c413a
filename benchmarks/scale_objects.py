"""Objects of a large cluster, made from templates: as large as real ones, and never all in memory.

All machines are full and nothing is pending, so growth is at rest once it has started.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PER_DEPLOYMENT: Final = 50
BOUGHT_AT: Final = "2026-01-01T00:00:00Z"
AMOUNTS: Final = {"cpu": "8", "memory": "16Gi", "pods": "110", "ephemeral-storage": "80Gi"}
NUMBER: Final = "@@NUMBER@@"
"""Stands in templates for the number of the object."""
OWNER: Final = "@@OWNER@@"
MACHINE: Final = "@@MACHINE@@"
VERSION: Final = "@@VERSION@@"


@dataclass(frozen=True, kw_only=True)
class Templated:
    """All objects of one kind."""

    count: int
    name: Callable[[int], str]
    text: str
    owner: Callable[[int], str] = str
    machine: Callable[[int], str] = str

    def document(self, number: int, version: str = "1000") -> str:
        """One object as JSON."""
        words = {NUMBER: str(number), OWNER: self.owner(number), MACHINE: self.machine(number)}
        text = self.text.replace(VERSION, version)
        for word, value in words.items():
            text = text.replace(word, value)
        return text


def machine_name(number: int) -> str:
    """The name of a machine, which is that of its node and record too."""
    return f"default-{number:08x}-4c5e-4f52-8f0c-b2d7f3a1{number:04x}"


def large_cluster(*, nodes: int, pods: int) -> Mapping[str, Templated]:
    """Everything in the cluster, by the plural of its kind."""
    deployments = max(1, pods // PER_DEPLOYMENT)

    def its_machine(number: int) -> str:
        return machine_name(number % nodes)

    def its_deployment(number: int) -> str:
        return str(number % deployments)

    return {
        "nodes": _templated(_NODE, nodes, machine_name),
        "noderecords": _templated(_RECORD, nodes, machine_name),
        "pods": Templated(
            count=pods,
            name=lambda number: f"web-{number}",
            text=_text(_POD),
            owner=its_deployment,
            machine=its_machine,
        ),
        "replicasets": _templated(_REPLICA_SET, deployments, lambda number: f"web-{number}"),
        "deployments": _templated(_DEPLOYMENT, deployments, lambda number: f"web-{number}"),
        "poddisruptionbudgets": _templated(_BUDGET, deployments, lambda number: f"web-{number}"),
        "namespaces": _templated(_NAMESPACE, 1, lambda _: "shop"),
        "nodepools": _templated(_POOL, 1, lambda _: "default"),
        "kwoknodeclasses": _templated(_NODE_CLASS, 1, lambda _: "default"),
        "leases": _templated(_LEASE, 1, lambda _: "growth-reconciler"),
    }


def as_listed(number: int) -> dict[str, Any]:
    """A node as the simulated provider lists its machines."""
    node: dict[str, Any] = json.loads(
        _templated(_NODE, 1, machine_name).document(number).replace(MACHINE, machine_name(number))
    )
    return {"metadata": node["metadata"]}


def _templated(document: Any, count: int, name: Callable[[int], str]) -> Templated:
    return Templated(count=count, name=name, text=_text(document), machine=name)


def _text(document: Any) -> str:
    return json.dumps(document, separators=(",", ":"))


def _metadata(name: str, **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "uid": f"uid-of-{name}-4c5e-4f52-8f0c",
        "resourceVersion": VERSION,
        "generation": 1,
        "creationTimestamp": BOUGHT_AT,
        "managedFields": [
            {
                "manager": "kube-controller-manager",
                "operation": "Update",
                "apiVersion": "v1",
                "time": BOUGHT_AT,
                "fieldsType": "FieldsV1",
                "fieldsV1": {f"f:field-{each}": {".": {}, "f:value": {}} for each in range(20)},
            }
        ],
        **more,
    }


def _owned(kind: str, name: str) -> list[dict[str, Any]]:
    uid = f"uid-of-{name}-4c5e-4f52-8f0c"
    return [{"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": uid, "controller": True}]


_LABELS: Final = {"app": f"web-{OWNER}", "pod-template-hash": "5d9c7b8f6", "release": "r1"}
_CONTAINER: Final = {
    "name": "main",
    "image": "registry.example.org/shop/web:1.7",
    "env": [{"name": f"SETTING_{n:02}", "value": f"value-{n}-of-main"} for n in range(16)],
    "resources": {
        "requests": {"cpu": "266m", "memory": "500Mi"},
        "limits": {"memory": "1Gi"},
    },
    "readinessProbe": {"httpGet": {"path": "/ready", "port": 8080}, "periodSeconds": 5},
    "volumeMounts": [{"name": "token", "mountPath": "/var/run/secrets"}],
}
_POD: Final = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": _metadata(
        f"web-{NUMBER}",
        namespace="shop",
        labels=_LABELS,
        annotations={"example.org/note": "x" * 200},
        ownerReferences=_owned("ReplicaSet", f"web-{OWNER}"),
    ),
    "spec": {
        "nodeName": MACHINE,
        "schedulerName": "default-scheduler",
        "serviceAccountName": "default",
        "priority": 0,
        "containers": [_CONTAINER],
        "tolerations": [
            {"key": f"node.kubernetes.io/{each}", "operator": "Exists", "effect": "NoExecute"}
            for each in ("not-ready", "unreachable")
        ],
        "volumes": [{"name": "token", "projected": {"sources": []}}],
    },
    "status": {
        "phase": "Running",
        "podIP": "10.0.0.1",
        "startTime": BOUGHT_AT,
        "conditions": [
            {"type": each, "status": "True", "lastTransitionTime": BOUGHT_AT}
            for each in ("PodScheduled", "Initialized", "ContainersReady", "Ready")
        ],
        "containerStatuses": [
            {
                "name": "main",
                "ready": True,
                "started": True,
                "restartCount": 0,
                "image": "registry.example.org/shop/web:1.7",
                "imageID": f"registry.example.org/shop/web@sha256:{'0' * 64}",
                "containerID": f"containerd://{'0' * 64}",
                "state": {"running": {"startedAt": BOUGHT_AT}},
            }
        ],
    },
}
_NODE: Final = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": _metadata(
        MACHINE,
        labels={
            "kubernetes.io/hostname": MACHINE,
            "kubernetes.io/arch": "amd64",
            "kubernetes.io/os": "linux",
            "node.kubernetes.io/instance-type": "large",
            "topology.kubernetes.io/region": "here",
            "topology.kubernetes.io/zone": "here",
            "growth.dev/pool": "default",
            "growth.dev/managed-by": "growth",
            "growth.dev/node-request": MACHINE,
            "growth.dev/instance-type": "large",
        },
        annotations={
            "growth.dev/kwok-request-uid": f"request-{MACHINE}",
            "growth.dev/price": "0.034",
            "growth.dev/bought-at": BOUGHT_AT,
            "growth.dev/server-id": f"kwok://{MACHINE}",
            "volumes.kubernetes.io/controller-managed-attach-detach": "true",
        },
    ),
    "spec": {"providerID": f"kwok://{MACHINE}", "podCIDR": "10.0.0.0/24"},
    "status": {
        "capacity": AMOUNTS,
        "allocatable": AMOUNTS,
        "conditions": [
            {
                "type": each,
                "status": "True" if each == "Ready" else "False",
                "lastHeartbeatTime": BOUGHT_AT,
                "lastTransitionTime": BOUGHT_AT,
                "reason": "Kubelet",
                "message": "kubelet is posting its status",
            }
            for each in ("MemoryPressure", "DiskPressure", "PIDPressure", "Ready")
        ],
        "images": [
            {
                "names": [
                    f"registry.example.org/team/image-{each}@sha256:{'0' * 64}",
                    f"registry.example.org/team/image-{each}:1.0",
                ],
                "sizeBytes": 100_000_000 + each,
            }
            for each in range(40)
        ],
        "nodeInfo": {"kubeletVersion": "v1.36.3", "architecture": "amd64"},
    },
}
_RECORD: Final = {
    "apiVersion": "growth.dev/v1alpha1",
    "kind": "NodeRecord",
    "metadata": _metadata(MACHINE),
    "spec": {
        "pool": "default",
        "nodeClassRef": {"kind": "KwokNodeClass", "name": "default"},
        "serverType": "large",
        "location": "here",
        "price": "0.034",
        "nodeID": f"kwok://{MACHINE}",
        "requestUID": f"request-{MACHINE}",
        "boughtAt": BOUGHT_AT,
    },
    "status": {
        "node": {"name": MACHINE, "uid": f"uid-of-{MACHINE}-4c5e-4f52-8f0c"},
        "joinedAt": BOUGHT_AT,
        "kept": "Occupied",
    },
}
_SELECTOR: Final = {"matchLabels": {"app": f"web-{NUMBER}"}}
_TEMPLATE: Final = {"metadata": {"labels": _LABELS}, "spec": {"containers": [_CONTAINER]}}
_REPLICA_SET: Final = {
    "apiVersion": "apps/v1",
    "kind": "ReplicaSet",
    "metadata": _metadata(
        f"web-{NUMBER}",
        namespace="shop",
        ownerReferences=_owned("Deployment", f"web-{NUMBER}"),
    ),
    "spec": {"replicas": PER_DEPLOYMENT, "selector": _SELECTOR, "template": _TEMPLATE},
    "status": {"replicas": PER_DEPLOYMENT, "observedGeneration": 1},
}
_DEPLOYMENT: Final = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": _metadata(f"web-{NUMBER}", namespace="shop"),
    "spec": {"replicas": PER_DEPLOYMENT, "selector": _SELECTOR, "template": _TEMPLATE},
    "status": {"replicas": PER_DEPLOYMENT, "observedGeneration": 1},
}
_BUDGET: Final = {
    "apiVersion": "policy/v1",
    "kind": "PodDisruptionBudget",
    "metadata": _metadata(f"web-{NUMBER}", namespace="shop"),
    "spec": {"maxUnavailable": 1, "selector": _SELECTOR},
    "status": {
        "disruptionsAllowed": 1,
        "currentHealthy": PER_DEPLOYMENT,
        "desiredHealthy": PER_DEPLOYMENT - 1,
        "expectedPods": PER_DEPLOYMENT,
        "observedGeneration": 1,
    },
}
_NAMESPACE: Final = {"apiVersion": "v1", "kind": "Namespace", "metadata": _metadata("shop")}
_POOL: Final = {
    "apiVersion": "growth.dev/v1alpha1",
    "kind": "NodePool",
    "metadata": _metadata("default"),
    "spec": {"serverTypes": [{"name": "large", "max": 9000}]},
}
_NODE_CLASS: Final = {
    "apiVersion": "growth.dev/v1alpha1",
    "kind": "KwokNodeClass",
    "metadata": _metadata("default"),
    "spec": {
        "types": [
            {
                "name": "large",
                "resources": AMOUNTS,
                "offers": [{"location": "here", "price": "0.034"}],
            }
        ]
    },
}
_LEASE: Final = {
    "apiVersion": "coordination.k8s.io/v1",
    "kind": "Lease",
    "metadata": _metadata("growth-reconciler", namespace="kube-system"),
    "spec": {},
}
