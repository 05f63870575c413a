"""The workload of a pod: the object that a person created, such as a Deployment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from typing_extensions import override

if TYPE_CHECKING:
    from growth.scheduling.metadata import Metadata
    from growth.scheduling.pod import Pod

TEMPLATE_HASH: Final = "pod-template-hash"
"""The label that a Deployment sets on the pods of each ReplicaSet; its name ends with the value."""


class Owner(NamedTuple):
    """A workload."""

    kind: str
    namespace: str
    name: str

    @override
    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


def owner_of(pod: Pod) -> Owner | None:
    """The workload of a pod, or None if the pod has no controller."""
    return manager(pod.metadata)


def manager(metadata: Metadata) -> Owner | None:
    """The same, from the metadata of a pod."""
    controller = metadata.controller
    if controller is None:
        return None
    template = metadata.labels.get(TEMPLATE_HASH)
    if controller.kind == "ReplicaSet" and template:
        return Owner("Deployment", metadata.namespace, controller.name.removesuffix(f"-{template}"))
    return Owner(controller.kind, metadata.namespace, controller.name)


def workload_of(pod: Pod) -> Owner:
    """The workload of a pod; a pod without a controller is its own workload."""
    return owner_of(pod) or Owner("Pod", pod.metadata.namespace, pod.metadata.name)
