"""Which DaemonSet pods a node will have, especially a node that doesn't exist yet.

The rule is that of the DaemonSet controller, not the scheduler's. It looks at the node's name, the
pod's node affinity and the taints, and adds tolerations for the taints of new and failing nodes. So
the room that DaemonSets take on a new node is known before the node is bought.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

import msgspec

from growth.scheduling import resources
from growth.scheduling.metadata import Metadata, OwnerReference
from growth.scheduling.taints import NO_EXECUTE, NO_SCHEDULE, Toleration, untolerated
from growth.scheduling.templates import pod_of
from growth.scheduling.workloads import PodTemplate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod
    from growth.scheduling.pod_spec import PodSpec
    from growth.scheduling.resources import Resources


def _always(key: str, effect: str) -> Toleration:
    return Toleration(key=f"node.kubernetes.io/{key}", operator="Exists", effect=effect)


# The DaemonSet controller adds these to each of its pods, after those of the template.
_TOLERATED: Final = (
    _always("not-ready", NO_EXECUTE),
    _always("unreachable", NO_EXECUTE),
    _always("disk-pressure", NO_SCHEDULE),
    _always("memory-pressure", NO_SCHEDULE),
    _always("pid-pressure", NO_SCHEDULE),
    _always("unschedulable", NO_SCHEDULE),
)
_TOLERATED_ON_HOST_NETWORK: Final = (_always("network-unavailable", NO_SCHEDULE),)


class DaemonSetSpec(msgspec.Struct, frozen=True, gc=False):
    """The template for one pod on each eligible node."""

    template: PodTemplate = PodTemplate()


class DaemonSet(msgspec.Struct, frozen=True, dict=True):
    """A DaemonSet, with its pod."""

    metadata: Metadata = Metadata()
    spec: DaemonSetSpec = DaemonSetSpec()

    @cached_property
    def prototype(self) -> Pod:
        """Its pod without a node; cached, because each kind of new node is checked with it."""
        owner = OwnerReference(
            kind="DaemonSet",
            name=self.metadata.name,
            uid=self.metadata.uid,
            api_version="apps/v1",
            controller=True,
        )
        pod = pod_of(
            self.spec.template,
            name=self.metadata.name,
            namespace=self.metadata.namespace,
            owner=owner,
        )
        return msgspec.structs.replace(pod, spec=_tolerant(pod.spec))


def _tolerant(spec: PodSpec) -> PodSpec:
    on_host_network = _TOLERATED_ON_HOST_NETWORK if spec.host_network else ()
    tolerations = (*spec.tolerations, *_TOLERATED, *on_host_network)
    return msgspec.structs.replace(spec, tolerations=tolerations)


def overhead(node: Node, daemon_sets: Iterable[DaemonSet]) -> Resources:
    """The requests of all DaemonSet pods for the node, whether they exist yet or not."""
    running = (each.prototype for each in daemon_sets if runs_on(each, node))
    return resources.total(pod.requests for pod in running)


def daemon_pods(node: Node, daemon_sets: Iterable[DaemonSet]) -> tuple[Pod, ...]:
    """The pods that the DaemonSet controller creates for the node."""
    return tuple(_on(node, each.prototype) for each in daemon_sets if runs_on(each, node))


def runs_on(daemon_set: DaemonSet, node: Node) -> bool:
    """Whether the DaemonSet controller creates a pod for the node."""
    pod = daemon_set.prototype
    if pod.spec.node_name not in {"", node.name}:
        return False
    if not pod.wanted_nodes.matches(node.name, node.labels):
        return False
    return untolerated(node.spec.taints, pod.spec.tolerations) is None


def _on(node: Node, prototype: Pod) -> Pod:
    own = prototype.metadata
    name, uid = f"{own.name}-{node.name}", f"{own.uid}/{node.name}"
    return msgspec.structs.replace(
        prototype,
        metadata=msgspec.structs.replace(own, name=name, uid=uid),
        spec=msgspec.structs.replace(prototype.spec, node_name=node.name),
    )
