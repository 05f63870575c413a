"""A small cluster for the commands that show: a pool, a request, nodes and pods, at one moment."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from growth.api.nodepool import NodePool
from growth.api.noderecord import NodeRecord
from growth.api.noderemovalrequest import NodeRemovalRequest
from growth.api.noderequest import NodeRequest
from growth.cli.cluster.survey import Survey, survey
from growth.scheduling.metadata import ObservedCondition
from tests.scheduling import build

if TYPE_CHECKING:
    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
PLAN = {"offer": "hetzner-cx33", "pods": 3, "next": {"type": "cpx32", "price": "0.057000"}}


def moment(*, ago: float) -> str:
    """So many seconds before now; negative ones are to come."""
    return (NOW - timedelta(seconds=ago)).isoformat().replace("+00:00", "Z")


def pool(name: str = "default", /, *, status: Any = None, **spec: Any) -> NodePool:
    types = [{"name": "cx33", "max": 9}]
    return NodePool.model_validate(
        {
            "metadata": {"name": name, "uid": f"uid-{name}"},
            "spec": {"serverTypes": types} | spec,
            "status": status or {},
        }
    )


def request(name: str, phase: str, *, pods: tuple[Pod, ...] = (), **status: Any) -> NodeRequest:
    references = [
        {"namespace": each.metadata.namespace, "name": each.metadata.name, "uid": each.metadata.uid}
        for each in pods
    ]
    return NodeRequest.model_validate(
        {
            "metadata": {"name": name, "creationTimestamp": moment(ago=12)},
            "spec": {
                "pool": "default",
                "targetOffering": "hetzner-cx33",
                "serverType": "cx33",
                "location": "nbg1",
                "price": "0.0136",
                "pods": references,
            },
            "status": {"phase": phase, "lastTransitionTime": moment(ago=8)} | status,
        }
    )


def removal(name: str, phase: str = "Pending", **status: Any) -> NodeRemovalRequest:
    return NodeRemovalRequest.model_validate(
        {
            "metadata": {"name": name},
            "spec": {
                "pool": "default",
                "nodeName": name,
                "nodeID": "hcloud://1",
                "requestUID": "uid",
                "reason": "Idle",
            },
            "status": {"phase": phase, "lastTransitionTime": moment(ago=8)} | status,
        }
    )


def record(name: str = "default-1", /, **fields: Any) -> NodeRecord:
    """The record of a machine that was bought three hours ago."""
    return NodeRecord.model_validate(
        {
            "metadata": {"name": name},
            "spec": {
                "pool": "default",
                "nodeClassRef": {"kind": "HetznerNodeClass", "name": "default"},
                "serverType": "cx33",
                "location": "nbg1",
                "price": "0.0136",
                "nodeID": "1",
                "requestUID": "uid",
                "boughtAt": moment(ago=3 * 3600),
            },
            **fields,
        }
    )


def node(
    name: str = "default-1",
    /,
    *,
    price: str = "0.0136",
    plan: Any = PLAN,
    annotations: dict[str, str] | None = None,
    **fields: Any,
) -> Node:
    """A node of 4 CPU and 16Gi that was bought three hours ago."""
    labels = {
        "growth.dev/pool": "default",
        "growth.dev/managed-by": "growth",
        "growth.dev/instance-type": "cx33",
        "topology.kubernetes.io/region": "nbg1",
    }
    made = build.node(name, labels=labels, **fields)
    told = {
        "growth.dev/price": price,
        "growth.dev/plan": json.dumps(plan),
        "growth.dev/bought-at": moment(ago=3 * 3600),
    }
    return msgspec.structs.replace(
        made,
        metadata=msgspec.structs.replace(made.metadata, annotations=told | (annotations or {})),
        status=msgspec.structs.replace(
            made.status, conditions=(ObservedCondition(type="Ready", status="True"),)
        ),
    )


def owned(kind: str, name: str) -> dict[str, Any]:
    owner = {"kind": kind, "name": name, "uid": f"uid-{name}", "apiVersion": "apps/v1"}
    return {"ownerReferences": [owner | {"controller": True}]}


def pod(name: str, /, *, on: str = "default-1", of: str = "web", **fields: Any) -> Pod:
    """A pod of a StatefulSet, which runs."""
    fields.setdefault("requests", {"cpu": "1", "memory": "2Gi"})
    metadata = owned("StatefulSet", of) | {"creationTimestamp": moment(ago=240)}
    status = {"phase": "Running"}
    return build.pod(name, on=on, **({"metadata": metadata, "status": status} | fields))


def waiting(name: str, /, **fields: Any) -> Pod:
    """A pod that the scheduler has given up on."""
    verdict = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "0/1 nodes are available: 1 Insufficient memory.",
        "lastTransitionTime": moment(ago=239),
    }
    return pod(name, on="", status={"phase": "Pending", "conditions": [verdict]}, **fields)


def seen(*contents: Any) -> Survey:
    ours = (NodePool, NodeRequest, NodeRecord, NodeRemovalRequest)
    resources = [each for each in contents if isinstance(each, ours)]
    objects = [each for each in contents if not isinstance(each, ours)]
    return survey(resources, objects, now=NOW)
