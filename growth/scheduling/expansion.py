"""Turns manifests into pods: those that they contain, and those that their owners will create.

Deployments, ReplicaSets and StatefulSets give their replicas, Jobs the pods that run in parallel,
CronJobs the pods of one Job. A DaemonSet creates pods per node, so it is passed on as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import msgspec

from growth.scheduling.csi import CSIDriver, CSINode
from growth.scheduling.daemonsets import DaemonSet
from growth.scheduling.metadata import Metadata, OwnerReference
from growth.scheduling.node import Node
from growth.scheduling.pod import Pod
from growth.scheduling.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from growth.scheduling.templates import defaulted, pod_of
from growth.scheduling.workloads import JobSpec, Namespace, PodTemplate, WorkloadSpec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from growth.scheduling.cluster import Object

AS_THEY_ARE: Final[Mapping[str, type[Object]]] = {
    "Node": Node,
    "Namespace": Namespace,
    "DaemonSet": DaemonSet,
    "PersistentVolumeClaim": PersistentVolumeClaim,
    "PersistentVolume": PersistentVolume,
    "StorageClass": StorageClass,
    "CSINode": CSINode,
    "CSIDriver": CSIDriver,
}
WITH_REPLICAS: Final = frozenset({"Deployment", "ReplicaSet", "StatefulSet"})


class _Owner(msgspec.Struct, frozen=True):
    """The field that all owners of pods have."""

    template: PodTemplate = PodTemplate()


class _Schedule(msgspec.Struct, frozen=True, rename="camel"):
    """The Job that a CronJob creates each time."""

    job_template: Mapping[str, Any] = {}


def expanded(document: Mapping[str, Any]) -> tuple[Object, ...]:
    """The objects of a document that matter for scheduling; none if its kind doesn't."""
    kind = str(document.get("kind", ""))
    if kind in AS_THEY_ARE:
        return (msgspec.convert(_placed(document), AS_THEY_ARE[kind]),)
    if kind == "Pod":
        return (_stored(msgspec.convert(_placed(document), Pod)),)
    return tuple(_made(kind, _placed(document)))


def _made(kind: str, document: Mapping[str, Any]) -> Iterator[Pod]:
    spec = document.get("spec") or {}
    metadata = msgspec.convert(document.get("metadata") or {}, Metadata)
    if kind == "CronJob":
        job = msgspec.convert(spec, _Schedule).job_template
        yield from _made("Job", {**job, "metadata": document.get("metadata") or {}})
        return
    if kind in WITH_REPLICAS:
        count = msgspec.convert(spec, WorkloadSpec).wanted
    elif kind == "Job":
        job_spec = msgspec.convert(spec, JobSpec)
        parallel = 1 if job_spec.parallelism is None else job_spec.parallelism
        # Without completions it is a work queue, and all of its workers start.
        wanted = parallel if job_spec.completions is None else job_spec.completions
        count = min(parallel, wanted)
    else:
        return
    template = msgspec.convert(spec, _Owner).template
    owner = OwnerReference(
        kind=kind,
        name=metadata.name,
        uid=f"{kind}/{metadata.namespace}/{metadata.name}",
        controller=True,
    )
    for number in range(count):
        yield pod_of(
            template, name=f"{metadata.name}-{number}", namespace=metadata.namespace, owner=owner
        )


def _placed(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """The document with the namespace that kubectl would use."""
    metadata = dict(document.get("metadata") or {})
    if document.get("kind") not in {"Node", "Namespace", "PersistentVolume", "StorageClass"}:
        metadata.setdefault("namespace", "default")
    return {**document, "metadata": metadata}


def _stored(pod: Pod) -> Pod:
    """The pod as the API server would store it; its name is its uid if it doesn't have one."""
    metadata = pod.metadata
    if not metadata.uid:
        metadata = msgspec.structs.replace(metadata, uid=f"Pod/{pod.name}")
    return msgspec.structs.replace(pod, metadata=metadata, spec=defaulted(pod.spec))
