"""Objects for tests, made the way the product gets them: from JSON.

Each takes the fields of its spec (or of the object) as Kubernetes writes them, so that a test shows
only what it is about.
"""

from __future__ import annotations

import itertools
import json
from typing import Any

from growth.scheduling import objects
from growth.scheduling.cluster import Cluster, Object, cluster_of

Json = dict[str, Any]
_numbers = itertools.count(1)

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
