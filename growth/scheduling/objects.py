"""The kinds that growth reads from the API server, each with its decoder.

`decode_pod(bytes)` and the others decode the JSON of one object; for parsed YAML, use
`msgspec.convert(parsed, Pod)`. Decoders are created once, because compiling the type takes longer
than decoding an object. Unknown fields are ignored; a field of the wrong type raises
`msgspec.ValidationError` with its path. An amount that can't be read raises a ValueError here, and
not in the rule that first adds it up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import msgspec

from growth.scheduling.budgets import PodDisruptionBudget
from growth.scheduling.csi import CSIDriver, CSINode, VolumeAttachment
from growth.scheduling.daemonsets import DaemonSet
from growth.scheduling.metadata import Metadata, OwnerReference
from growth.scheduling.node import Node
from growth.scheduling.pod import Pod
from growth.scheduling.requests import requests_when_pending
from growth.scheduling.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from growth.scheduling.workloads import (
    Deployment,
    DeviceClass,
    Job,
    Namespace,
    ReplicaSet,
    Workload,
)

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "CSIDriver",
    "CSINode",
    "DaemonSet",
    "Deployment",
    "DeviceClass",
    "Job",
    "Metadata",
    "Namespace",
    "Node",
    "OwnerReference",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Pod",
    "PodDisruptionBudget",
    "ReplicaSet",
    "StorageClass",
    "VolumeAttachment",
    "Workload",
    "decode_claim",
    "decode_csi_driver",
    "decode_csi_node",
    "decode_daemon_set",
    "decode_deployment",
    "decode_device_class",
    "decode_disruption_budget",
    "decode_job",
    "decode_namespace",
    "decode_node",
    "decode_pod",
    "decode_replica_set",
    "decode_storage_class",
    "decode_volume",
    "decode_volume_attachment",
    "decode_workload",
]

_Found = TypeVar("_Found")


def _adding_up(
    decode: Callable[[bytes], _Found], amount: Callable[[_Found], object]
) -> Callable[[bytes], _Found]:
    """The decoder, which also refuses an object whose amounts can't be read."""

    def decoded(raw: bytes) -> _Found:
        found = decode(raw)
        amount(found)
        return found

    return decoded


def _of_template(owner: DaemonSet | Deployment | ReplicaSet) -> object:
    return requests_when_pending(owner.spec.template.spec)


decode_pod = _adding_up(msgspec.json.Decoder(Pod).decode, lambda pod: pod.requests)
decode_node = msgspec.json.Decoder(Node).decode
decode_namespace = msgspec.json.Decoder(Namespace).decode
decode_claim = _adding_up(
    msgspec.json.Decoder(PersistentVolumeClaim).decode, lambda claim: claim.size
)
decode_volume = _adding_up(
    msgspec.json.Decoder(PersistentVolume).decode, lambda volume: volume.size
)
decode_storage_class = msgspec.json.Decoder(StorageClass).decode
decode_csi_node = msgspec.json.Decoder(CSINode).decode
decode_csi_driver = msgspec.json.Decoder(CSIDriver).decode
decode_volume_attachment = msgspec.json.Decoder(VolumeAttachment).decode
decode_disruption_budget = msgspec.json.Decoder(PodDisruptionBudget).decode
decode_daemon_set = _adding_up(msgspec.json.Decoder(DaemonSet).decode, _of_template)
decode_deployment = _adding_up(msgspec.json.Decoder(Deployment).decode, _of_template)
decode_replica_set = _adding_up(msgspec.json.Decoder(ReplicaSet).decode, _of_template)
decode_workload = msgspec.json.Decoder(Workload).decode
decode_job = msgspec.json.Decoder(Job).decode
decode_device_class = msgspec.json.Decoder(DeviceClass).decode
