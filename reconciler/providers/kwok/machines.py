"""A simulated machine as a Node object, from its creation to the listing.

An annotation says how long it takes to become Ready; kwok's stages read it. The time follows from
the name, so the same machine always takes equally long.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from growth.api.noderequest import UnmetScope
from growth.api.wellknown import INSTANCE_TYPE_LABEL, POOL_LABEL
from growth.api.written import Duration
from growth.foreign_text import parse_time
from growth.scheduling.resources import CPU, Resources
from reconciler.providers.port import Machine, MachineState

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from growth.api.kwoknodeclass import BootDelay
    from reconciler.providers.port import Order

FAKE_NODE_ANNOTATION = "kwok.x-k8s.io/node"
READY_AFTER_ANNOTATION = "growth.dev/kwok-ready-after"
APPEARED_AT_ANNOTATION = "growth.dev/kwok-appeared-at"
NEVER_READY_ANNOTATION = "growth.dev/kwok-never-ready"
FAILED_ANNOTATION = "growth.dev/kwok-failed"
"""Why its boot failed, as listings show it."""
REQUEST_UID_ANNOTATION = "growth.dev/kwok-request-uid"
SCHEME = "kwok://"
REGION = "topology.kubernetes.io/region"
STARTING = {
    "type": "Ready",
    "status": "False",
    "reason": "KubeletNotReady",
    "message": "the node is starting",
}


def node_manifest(order: Order, *, allocatable: Resources, ready_after: Duration) -> dict[str, Any]:
    """The Node object of a machine."""
    amounts = {
        name: f"{amount}m" if name == CPU else str(amount)
        for name, amount in allocatable.amounts.items()
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": order.name,
            "labels": dict(order.labels),
            "annotations": {
                **order.annotations,
                FAKE_NODE_ANNOTATION: "fake",
                READY_AFTER_ANNOTATION: str(ready_after),
                REQUEST_UID_ANNOTATION: order.request_uid,
            },
        },
        "spec": {
            "providerID": machine_id(order.name),
            "taints": [
                {"key": taint.key, "value": taint.value, "effect": taint.effect}
                for taint in order.taints
            ],
        },
        "status": {"capacity": amounts, "allocatable": amounts},
    }


def starting(node: dict[str, Any], *, at: datetime) -> dict[str, Any]:
    """The Node with the condition Ready=False, as a kubelet registers it.

    Setting it at creation saves kwok two writes for each node.
    """
    status = {**node["status"], "conditions": [STARTING]}
    return _annotated({**node, "status": status}, {APPEARED_AT_ANNOTATION: at.isoformat()})


def never_ready(node: dict[str, Any]) -> dict[str, Any]:
    """A machine whose kubelet never reports Ready."""
    return _annotated(node, {NEVER_READY_ANNOTATION: "true"})


def failed_machine(node: dict[str, Any], *, reason: str) -> dict[str, Any]:
    """A machine that the cloud reports as failed after it has accepted it."""
    return _annotated(never_ready(node), {FAILED_ANNOTATION: reason})


def _annotated(node: dict[str, Any], more: Mapping[str, str]) -> dict[str, Any]:
    metadata = node["metadata"]
    return {**node, "metadata": {**metadata, "annotations": {**metadata["annotations"], **more}}}


def machine_id(name: str) -> str:
    """The id of a machine; also its node's providerID."""
    return f"{SCHEME}{name}"


def boot_time(name: str, delay: BootDelay) -> Duration:
    """Spread evenly over the span of the class, and always the same for the same machine."""
    digest = hashlib.sha256(name.encode()).digest()
    span = delay.max.nanoseconds - delay.min.nanoseconds
    return Duration(delay.min.nanoseconds + span * int.from_bytes(digest[:4], "big") // 2**32)


def request_uid(node: dict[str, Any]) -> str:
    """The uid of the request that a Node was created for; empty if growth didn't create it."""
    uid: str = node["metadata"].get("annotations", {}).get(REQUEST_UID_ANNOTATION, "")
    return uid


def machine_of_node(node: dict[str, Any]) -> Machine:
    """The machine that a Node object represents."""
    metadata = node["metadata"]
    reason = metadata.get("annotations", {}).get(FAILED_ANNOTATION, "")
    return Machine(
        machine_id=machine_id(metadata["name"]),
        name=metadata["name"],
        request_uid=request_uid(node),
        pool=metadata.get("labels", {}).get(POOL_LABEL, ""),
        state=_state(metadata),
        reason=reason,
        # Like a provider that accepts a machine and then has no host for it.
        scope=UnmetScope.OFFER,
        created_at=parse_time(metadata["creationTimestamp"]),
        server_type=metadata["labels"].get(INSTANCE_TYPE_LABEL, ""),
        location=metadata["labels"].get(REGION, ""),
    )


def _state(metadata: dict[str, Any]) -> MachineState:
    if "deletionTimestamp" in metadata:
        return MachineState.DELETING
    is_failed = FAILED_ANNOTATION in metadata.get("annotations", {})
    return MachineState.FAILED if is_failed else MachineState.RUNNING
