"""What DaemonSets will put on a node, above all on one that doesn't exist yet.

The daemon controller's own rule decides, not the scheduler's: it looks at the node's name, the
pod's node affinity and the taints, and lets its pods tolerate what troubles a node in its first
and last minutes. So a new node is as full as it will be, before it is bought.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from growth.scheduling import resources
from growth.scheduling.metadata import OwnerReference
from growth.scheduling.taints import NO_EXECUTE, NO_SCHEDULE, Toleration, untolerated
from growth.scheduling.templates import pod_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod
    from growth.scheduling.pod_spec import PodSpec
    from growth.scheduling.resources import Resources
    from growth.scheduling.workloads import DaemonSet


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


def overhead(node: Node, daemon_sets: Iterable[DaemonSet]) -> Resources:
    """What the node loses to DaemonSets, whether their pods are there already or not."""
    return resources.total(pod.requests for pod in daemon_pods(node, daemon_sets))


def daemon_pods(node: Node, daemon_sets: Iterable[DaemonSet]) -> tuple[Pod, ...]:
    """The pods that the daemon controller wants on the node."""
    return tuple(_daemon_pod(each, node) for each in daemon_sets if runs_on(each, node))


def runs_on(daemon_set: DaemonSet, node: Node) -> bool:
    """Whether the daemon controller would make a pod for the node."""
    pod = _daemon_pod(daemon_set, node)
    if daemon_set.spec.template.spec.node_name not in {"", node.name}:
        return False
    if not pod.wanted_nodes.matches(node.name, node.labels):
        return False
    return untolerated(node.spec.taints, pod.spec.tolerations) is None


def _daemon_pod(daemon_set: DaemonSet, node: Node) -> Pod:
    owner = OwnerReference(
        kind="DaemonSet",
        name=daemon_set.metadata.name,
        uid=daemon_set.metadata.uid,
        api_version="apps/v1",
        controller=True,
    )
    pod = pod_of(
        daemon_set.spec.template,
        name=f"{daemon_set.metadata.name}-{node.name}",
        namespace=daemon_set.metadata.namespace,
        owner=owner,
    )
    return msgspec.structs.replace(pod, spec=_on_node(pod.spec, node))


def _on_node(spec: PodSpec, node: Node) -> PodSpec:
    on_host_network = _TOLERATED_ON_HOST_NETWORK if spec.host_network else ()
    tolerations = (*spec.tolerations, *_TOLERATED, *on_host_network)
    return msgspec.structs.replace(spec, node_name=node.name, tolerations=tolerations)
