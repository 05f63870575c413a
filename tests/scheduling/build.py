"""Objects for tests, made the way the product gets them: from JSON.

Each takes the fields of its spec (or of the object) as Kubernetes writes them, so that a test shows
only what it is about.
"""

from __future__ import annotations

import itertools
import json
from typing import Any

from hypothesis import settings

from growth.scheduling import objects
from growth.scheduling.cluster import Cluster, Object, cluster_of

Json = dict[str, Any]
_numbers = itertools.count(1)

patient = settings(deadline=None)
"""For properties: an example that takes long on a busy machine is no failure."""

ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"


def _bytes(metadata: Json, **parts: Any) -> bytes:
    identity = {"uid": f"uid-{next(_numbers)}", "resourceVersion": "1"}
    return json.dumps({"metadata": identity | metadata, **parts}).encode()


def container(name: str = "main", /, *, requests: Json | None = None, **fields: Any) -> Json:
    return {"name": name, "resources": {"requests": requests or {}}, **fields}


def sidecar(name: str = "side", /, *, requests: Json | None = None, **fields: Any) -> Json:
    return container(name, requests=requests, restartPolicy="Always", **fields)


def pod(
    name: str = "web-0",
    /,
    *,
    requests: Json | None = None,
    metadata: Json | None = None,
    labels: Json | None = None,
    namespace: str = "shop",
    status: Json | None = None,
    on: str = "",
    **spec: Any,
) -> objects.Pod:
    identity = {"name": name, "namespace": namespace, "labels": labels or {}}
    contents: Json = {"containers": [container(requests=requests)], "nodeName": on} | spec
    return objects.decode_pod(
        _bytes(identity | (metadata or {}), spec=contents, status=status or {})
    )


def node(
    name: str = "one",
    /,
    *,
    cpu: str = "4",
    memory: str = "16Gi",
    pods: str = "110",
    labels: Json | None = None,
    allocatable: Json | None = None,
    **spec: Any,
) -> objects.Node:
    room = {"cpu": cpu, "memory": memory, "pods": pods} | (allocatable or {})
    identity = {"name": name, "labels": {HOSTNAME: name} | (labels or {})}
    return objects.decode_node(_bytes(identity, spec=spec, status={"allocatable": room}))


def namespace(name: str, /, **labels: str) -> objects.Namespace:
    return objects.decode_namespace(_bytes({"name": name, "labels": labels}))


def cluster(*contents: Object) -> Cluster:
    return cluster_of(contents)


def claim(
    name: str = "data",
    /,
    *,
    volume: str = "",
    size: str = "10Gi",
    annotations: Json | None = None,
    metadata: Json | None = None,
    phase: str = "Pending",
    **spec: Any,
) -> objects.PersistentVolumeClaim:
    """A claim; with a volume it is bound to it."""
    bound = {"pv.kubernetes.io/bind-completed": "yes"} if volume else {}
    identity = {"name": name, "namespace": "shop", "annotations": bound | (annotations or {})}
    contents = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": size}},
        "volumeName": volume,
    }
    return objects.decode_claim(
        _bytes(identity | (metadata or {}), spec=contents | spec, status={"phase": phase})
    )


def volume(
    name: str = "disk",
    /,
    *,
    size: str = "10Gi",
    reachable: Json | None = None,
    metadata: Json | None = None,
    phase: str = "Available",
    **spec: Any,
) -> objects.PersistentVolume:
    """A volume; `reachable` are the labels of the nodes that can mount it."""
    expressions = [
        {"key": key, "operator": "In", "values": [value]}
        for key, value in (reachable or {}).items()
    ]
    affinity = {"required": {"nodeSelectorTerms": [{"matchExpressions": expressions}]}}
    contents = {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"]}
    if reachable:
        contents["nodeAffinity"] = affinity
    return objects.decode_volume(
        _bytes({"name": name} | (metadata or {}), spec=contents | spec, status={"phase": phase})
    )


def storage_class(
    name: str = "waiting", /, *, mode: str = "WaitForFirstConsumer", **fields: Any
) -> objects.StorageClass:
    contents = {"provisioner": "csi.example.com", "volumeBindingMode": mode} | fields
    return objects.decode_storage_class(_bytes({"name": name}, **contents))


def csi_node(name: str, /, **limits: int | None) -> objects.CSINode:
    """What drivers say of a node; dots of their names are written as underscores."""
    drivers = [
        {"name": driver.replace("_", "."), "allocatable": {"count": limit}}
        for driver, limit in limits.items()
    ]
    return objects.decode_csi_node(_bytes({"name": name}, spec={"drivers": drivers}))


def mounting(*claims: str, **more: Any) -> Json:
    """The volumes of a pod that mounts these claims."""
    mounts = [{"name": each, "persistentVolumeClaim": {"claimName": each}} for each in claims]
    return {"volumes": mounts} | more
