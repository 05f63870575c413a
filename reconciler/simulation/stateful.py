"""The StatefulSet controller: pods with numbers, each with a claim that outlives it.

All pods are created at once (`podManagementPolicy: Parallel`), and the highest numbers go first. A
pod is created again under its name when the former one is gone. Its claim keeps it in the zone of
its volume.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from growth.kube.cache.resource import Key
from growth.scheduling.metadata import OwnerReference
from growth.scheduling.pod_volumes import CLAIM, VolumeSource
from reconciler.simulation.volumes import CLAIMS, claim_of

if TYPE_CHECKING:
    from growth.scheduling.pod import Pod
    from reconciler.simulation.kubelets import Kubelets
    from reconciler.simulation.replicas import SimulatedWorkload
    from reconciler.simulation.server import StoredChange
    from reconciler.simulation.surroundings import Surroundings

MADE_AGAIN_AFTER: Final = 0.5


class StatefulSets:
    """The controller of all StatefulSets."""

    def __init__(self, around: Surroundings, kubelets: Kubelets) -> None:
        self._server = around.server
        self._timeline = around.timeline
        self._kubelets = kubelets
        self._owners: dict[str, SimulatedWorkload] = {}
        around.server.kind("pods").heard_by.append(self._pod_changed)

    def want(self, owner: SimulatedWorkload, number: int) -> None:
        """Set the number of pods."""
        owner.wanted = number
        self._owners[owner.uid] = owner
        self._level(owner)

    def _level(self, owner: SimulatedWorkload) -> None:
        pods = self._server.kind("pods").objects
        for number in range(owner.wanted or 0):
            pod = _pod(owner, number)
            key = Key(owner.namespace, pod.metadata.name)
            if key not in pods:
                self._make(pod, key)
        # It never had more than this.
        for number in range(owner.wanted or 0, owner.made):
            key = Key(owner.namespace, f"{owner.name}-{number}")
            if key in pods:
                self._kubelets.end(key)
        owner.made = max(owner.made, owner.wanted or 0)

    def _make(self, pod: Pod, key: Key) -> None:
        name = pod.claims[0].name
        if Key(key.namespace, name) not in self._server.kind(CLAIMS).objects:
            self._server.create(CLAIMS, claim_of(name, namespace=key.namespace))
        self._server.create("pods", pod)

    def _pod_changed(self, event: StoredChange) -> None:
        if event.new is not None:
            return
        controller = event.old.metadata.controller
        owner = self._owners.get(controller.uid) if controller is not None else None
        if owner is not None:
            self._timeline.after(MADE_AGAIN_AFTER, self._level, owner)


def _pod(owner: SimulatedWorkload, number: int) -> Pod:
    reference = OwnerReference(
        kind="StatefulSet", name=owner.name, uid=owner.uid, api_version="apps/v1", controller=True
    )
    name = f"{owner.name}-{number}"
    metadata = msgspec.structs.replace(
        owner.template.metadata,
        name=name,
        namespace=owner.namespace,
        uid="",
        owner_references=(reference,),
    )
    data = {"name": "data", CLAIM: VolumeSource(claim_name=f"data-{name}")}
    spec = msgspec.structs.replace(owner.template.spec, volumes=(data,))
    return msgspec.structs.replace(owner.template, metadata=metadata, spec=spec)
