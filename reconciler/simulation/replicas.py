"""The ReplicaSet controller and its workloads."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Final

import msgspec

from growth.kube.cache.resource import Key
from growth.scheduling.metadata import Metadata, OwnerReference
from growth.scheduling.objects import Pod, ReplicaSet
from growth.scheduling.workloads import PodTemplate, ReplicaSetSpec
from reconciler.seeing.indexes import REPLICA_SETS
from reconciler.simulation.deletion_cost import deletion_cost_of

if TYPE_CHECKING:
    from reconciler.simulation.kubelets import Kubelets
    from reconciler.simulation.server import StoredChange
    from reconciler.simulation.surroundings import Surroundings

MADE_AGAIN_AFTER = 0.5
BATCH_TAKES = 0.01
"""Real controllers create one pod, then two, then four, so that a bad template costs little. So a
plan may see the first pod of a workload before the others exist."""
PHASES: Final = ("Pending", "Unknown", "Running")


class SimulatedWorkload(msgspec.Struct, kw_only=True):
    """A workload that wants a number of pods of one template, like a ReplicaSet."""

    name: str
    uid: str
    namespace: str
    template: Pod
    """The pod without its name and owner."""
    wanted: int | None = None
    """None if its pods complete and aren't replaced."""
    made: int = 0
    coming: int = 0
    """Pods that are about to be created."""
    pods: dict[Key, None] = {}
    """The existing pods, the oldest first."""

    def next_pod(self) -> Pod:
        """A new pod of this workload."""
        self.made += 1
        reference = OwnerReference(
            kind="ReplicaSet", name=self.name, uid=self.uid, api_version="apps/v1", controller=True
        )
        metadata = msgspec.structs.replace(
            self.template.metadata,
            name=f"{self.name}-{self.made}",
            namespace=self.namespace,
            uid="",
            owner_references=(reference,),
        )
        return msgspec.structs.replace(self.template, metadata=metadata)


class ReplicaController:
    """The controller of all workloads."""

    def __init__(self, around: Surroundings, kubelets: Kubelets) -> None:
        self._server = server = around.server
        self._timeline = around.timeline
        self._kubelets = kubelets
        self._owners: dict[str, SimulatedWorkload] = {}
        server.kind("pods").heard_by.append(self._pod_changed)

    def want(self, owner: SimulatedWorkload, number: int) -> None:
        """Set the number of pods that a workload wants."""
        owner.wanted = number
        self._write(owner, number)
        self._level(owner)

    def _write(self, owner: SimulatedWorkload, number: int) -> None:
        """Write the ReplicaSet with this number."""
        template = PodTemplate(owner.template.metadata, owner.template.spec)
        spec = ReplicaSetSpec(replicas=number, template=template)
        key = Key(owner.namespace, owner.name)
        if key in self._server.kind(REPLICA_SETS).objects:
            self._server.change(
                REPLICA_SETS, key, lambda old: msgspec.structs.replace(old, spec=spec)
            )
        else:
            metadata = Metadata(name=owner.name, namespace=owner.namespace, uid=owner.uid)
            self._server.create(REPLICA_SETS, ReplicaSet(metadata=metadata, spec=spec))

    def add(self, owner: SimulatedWorkload, number: int) -> None:
        """Create more pods."""
        self._owners[owner.uid] = owner
        if number > 0:
            owner.coming += number
            self._make(owner, number, batch=1)

    def _make(self, owner: SimulatedWorkload, number: int, *, batch: int) -> None:
        for _ in range(min(batch, number)):
            pod = owner.next_pod()
            owner.coming -= 1
            owner.pods[Key(owner.namespace, pod.metadata.name)] = None
            self._server.create("pods", pod)
        if number > batch:
            rest = partial(self._make, owner, number - batch, batch=2 * batch)
            self._timeline.after(BATCH_TAKES, rest)
        else:
            self._level(owner)

    def _level(self, owner: SimulatedWorkload) -> None:
        if owner.wanted is None or owner.coming:
            return
        self.add(owner, owner.wanted - len(owner.pods))
        for key in self._first_to_go(owner)[: max(0, len(owner.pods) - owner.wanted)]:
            # It no longer counts from now on, however long it takes to end.
            del owner.pods[key]
            self._kubelets.end(key)

    def _first_to_go(self, owner: SimulatedWorkload) -> list[Key]:
        """As in Kubernetes: without a node, not running, of little cost, crowded, young."""
        pods: dict[Key, Pod] = {key: self._server.kind("pods").objects[key] for key in owner.pods}
        crowd = Counter(pod.spec.node_name for pod in pods.values())
        age = {key: -number for number, key in enumerate(pods)}

        # Among pods of similar age, the real controller chooses randomly.
        def rank(key: Key) -> tuple[bool, int, int, int, int]:
            node, phase = pods[key].spec.node_name, pods[key].status.phase
            cost = deletion_cost_of(pods[key])
            return bool(node), PHASES.index(phase), cost, -crowd[node], age[key]

        return sorted(pods, key=rank)

    def _pod_changed(self, event: StoredChange) -> None:
        pod: Pod = event.new or event.old
        controller = pod.metadata.controller
        owner = self._owners.get(controller.uid) if controller is not None else None
        if owner is None or not _counts_no_more(event.new):
            return
        if owner.pods.pop(event.key, event.key) is None and owner.wanted is not None:
            self._timeline.after(MADE_AGAIN_AFTER, self._level, owner)


def _counts_no_more(pod: Pod | None) -> bool:
    return pod is None or pod.is_finished or pod.is_terminating
