"""The smallest manifests that the API server and the scheduler take, to be changed by constraints.

Everything is generous, so that a verdict is decided by the constraint that a case is about.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.differential.cases import HOST, RACK, ZONE

if TYPE_CHECKING:
    from tests.differential.cases import Manifest

NAMESPACES = ("red-@", "blue-@", "plain-@")
"""Three for each place: with label team=red, with team=blue, and with no label of ours."""
PRIORITY_CLASS = "differential-never-preempts"
ALLOCATABLE = {"cpu": "64", "memory": "256Gi", "ephemeral-storage": "500Gi", "pods": "110"}


def node(index: int, *, zone: str, rack: str) -> Manifest:
    name = f"n{index}-~"
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {HOST: name, ZONE: zone, RACK: rack}},
        "spec": {"taints": []},
        "status": {
            "allocatable": dict(ALLOCATABLE),
            "capacity": dict(ALLOCATABLE),
            "conditions": [
                {"type": "Ready", "status": "True", "reason": "Differential", "message": ""}
            ],
        },
    }


def container(name: str, requests: dict[str, str]) -> Manifest:
    return {"name": name, "image": "none.test/none", "resources": {"requests": requests}}


def pod(name: str, *, namespace: str, labels: dict[str, str]) -> Manifest:
    """A pod that asks for nearly nothing, goes anywhere and never preempts."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {
            "priorityClassName": PRIORITY_CLASS,
            "automountServiceAccountToken": False,
            "terminationGracePeriodSeconds": 30,
            "containers": [container("main", {"cpu": "10m", "memory": "16Mi"})],
            "tolerations": [],
            "volumes": [],
        },
    }


def placed(pod: Manifest, on: str) -> Manifest:
    """The same pod on a node. No eviction by taints: what is there, stays there."""
    tolerations = [{"operator": "Exists", "effect": "NoExecute"}]
    spec = {
        **pod["spec"],
        "nodeName": on,
        "tolerations": tolerations,
        "schedulerName": "nobody",
    }
    return {**pod, "spec": spec}
