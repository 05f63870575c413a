"""What DaemonSets will put on a node, above all on one that doesn't exist yet.

The daemon controller's own rule decides, not the scheduler's: it looks at the node's name, the
pod's node affinity and the taints, and lets its pods tolerate what troubles a node in its first
and last minutes. So a new node is as full as it will be, before it is bought.
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


# The daemon controller writes these into each of its pods, after the template's own.
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
    """One pod for each node that suits."""

    template: PodTemplate = PodTemplate()


class DaemonSet(msgspec.Struct, frozen=True, dict=True):
    """An owner that follows the nodes."""

    metadata: Metadata = Metadata()
    spec: DaemonSetSpec = DaemonSetSpec()

    @cached_property
    def prototype(self) -> Pod:
        """Its pod, but for the node: every template of a new node is asked about it."""
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
    """What the node loses to DaemonSets, whether their pods are there already or not."""
    running = (each.prototype for each in daemon_sets if runs_on(each, node))
    return resources.total(pod.requests for pod in running)


def daemon_pods(node: Node, daemon_sets: Iterable[DaemonSet]) -> tuple[Pod, ...]:
    """The pods that the daemon controller wants on the node."""
    return tuple(_on(node, each.prototype) for each in daemon_sets if runs_on(each, node))


def runs_on(daemon_set: DaemonSet, node: Node) -> bool:
    """Whether the daemon controller would make a pod for the node."""
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
