"""The kinds that growth reads from the API server, each with its decoder.

`decode_pod(bytes)` and the others decode the JSON of one object; for parsed YAML, use
`msgspec.convert(parsed, Pod)`. Decoders are created once, because compiling the type takes longer
than decoding an object. Unknown fields are ignored; a field of the wrong type raises
`msgspec.ValidationError` with its path.
"""

from __future__ import annotations

import msgspec

from growth.scheduling.budgets import PodDisruptionBudget
from growth.scheduling.csi import CSIDriver, CSINode, VolumeAttachment
from growth.scheduling.daemonsets import DaemonSet
from growth.scheduling.metadata import Metadata, OwnerReference
from growth.scheduling.node import Node
from growth.scheduling.pod import Pod
from growth.scheduling.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from growth.scheduling.workloads import (
    Deployment,
    DeviceClass,
    Job,
    Namespace,
    ReplicaSet,
    Workload,
)

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

decode_pod = msgspec.json.Decoder(Pod).decode
decode_node = msgspec.json.Decoder(Node).decode
decode_namespace = msgspec.json.Decoder(Namespace).decode
decode_claim = msgspec.json.Decoder(PersistentVolumeClaim).decode
decode_volume = msgspec.json.Decoder(PersistentVolume).decode
decode_storage_class = msgspec.json.Decoder(StorageClass).decode
decode_csi_node = msgspec.json.Decoder(CSINode).decode
decode_csi_driver = msgspec.json.Decoder(CSIDriver).decode
decode_volume_attachment = msgspec.json.Decoder(VolumeAttachment).decode
decode_disruption_budget = msgspec.json.Decoder(PodDisruptionBudget).decode
decode_daemon_set = msgspec.json.Decoder(DaemonSet).decode
decode_deployment = msgspec.json.Decoder(Deployment).decode
decode_replica_set = msgspec.json.Decoder(ReplicaSet).decode
decode_workload = msgspec.json.Decoder(Workload).decode
decode_job = msgspec.json.Decoder(Job).decode
decode_device_class = msgspec.json.Decoder(DeviceClass).decode
