"""Whose pods they are: the workload that a person has written, not the object in between."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from typing_extensions import override

if TYPE_CHECKING:
    from growth.scheduling.metadata import Metadata
    from growth.scheduling.pod import Pod

TEMPLATE_HASH: Final = "pod-template-hash"
"""The label by which a Deployment tells its ReplicaSets apart; their names end with it."""


class Owner(NamedTuple):
    """A workload."""

    kind: str
    namespace: str
    name: str

    @override
    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


def owner_of(pod: Pod) -> Owner | None:
    """The workload that makes a pod; None for one that nobody manages."""
    return manager(pod.metadata)


def manager(metadata: Metadata) -> Owner | None:
    """The same, where only the metadata of a pod is known."""
    controller = metadata.controller
    if controller is None:
        return None
    template = metadata.labels.get(TEMPLATE_HASH)
    if controller.kind == "ReplicaSet" and template:
        return Owner("Deployment", metadata.namespace, controller.name.removesuffix(f"-{template}"))
    return Owner(controller.kind, metadata.namespace, controller.name)


def workload_of(pod: Pod) -> Owner:
    """The same, where a pod that nobody manages is a workload of its own."""
    return owner_of(pod) or Owner("Pod", pod.metadata.namespace, pod.metadata.name)
