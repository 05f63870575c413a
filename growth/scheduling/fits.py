"""Where a pod fits: the scheduler's filters, in its order, as one pure function.

The scheduler first checks what holds for the pod on all nodes (gates, claims). Then it filters node
by node and stops at the first objection, so the reason given here is the one that it would give.
There is no scoring here, and no preemption.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.scheduling import (
    attach_limits,
    claims,
    pod_affinity,
    ports,
    spread,
    volume_binding,
    volume_conflicts,
    volume_zones,
)
from growth.scheduling.node_affinity import ANY_NODE
from growth.scheduling.resources import shortages
from growth.scheduling.taints import UNSCHEDULABLE, untolerated
from growth.scheduling.unsupported import unsupported
from growth.scheduling.verdicts import FITS, Fits, Rejected, RejectionReason, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from growth.scheduling.cluster import Cluster
    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod

    Filter = Callable[[Pod, Node, Cluster], Rejected | None]


def verdict(pod: Pod, node: Node, cluster: Cluster) -> Verdict:
    """Whether the scheduler could bind the pod to the node in this cluster, or why not.

    The node doesn't have to be in the cluster: a template is checked as an empty node that has just
    joined. It isn't counted as a domain, so all templates can share one snapshot.
    """
    others = cluster.without_pod(pod)
    nowhere = _nowhere(pod, others)
    return nowhere or _rejection(pod, node, others, filters=_that_concern(pod, others)) or FITS


def feasible_nodes(pod: Pod, cluster: Cluster) -> list[Node]:
    """The nodes of the cluster that the pod fits on, in the cluster's order."""
    others = cluster.without_pod(pod)
    if _nowhere(pod, others) is not None:
        return []
    filters = _that_concern(pod, others)
    return [
        node
        for node in others.nodes.values()
        if _rejection(pod, node, others, filters=filters) is None
    ]


def _that_concern(pod: Pod, cluster: Cluster) -> tuple[Filter, ...]:
    return tuple(objection for objection, concerns in _FILTERS if concerns(pod, cluster))


def _rejection(
    pod: Pod, node: Node, cluster: Cluster, *, filters: tuple[Filter, ...]
) -> Rejected | None:
    for objection in filters:
        rejected = objection(pod, node, cluster)
        if rejected is not None:
            return rejected
    return None


def _nowhere(pod: Pod, cluster: Cluster) -> Rejected | None:
    return _gated(pod) or claims.rejection(pod, cluster)


def _gated(pod: Pod) -> Rejected | None:
    if not pod.spec.scheduling_gates:
        return None
    gates = ", ".join(gate.name for gate in pod.spec.scheduling_gates)
    return Rejected(RejectionReason.GATED, f"waits for its scheduling gates: {gates}")


def _cordoned(pod: Pod, node: Node, _: Cluster) -> Rejected | None:
    if not node.spec.unschedulable:
        return None
    if untolerated((UNSCHEDULABLE,), pod.spec.tolerations) is None:
        return None
    return Rejected(RejectionReason.NODE_UNSCHEDULABLE, "the node is cordoned")


def _other_node(pod: Pod, node: Node, _: Cluster) -> Rejected | None:
    if pod.spec.node_name == node.name:
        return None
    return Rejected(RejectionReason.OTHER_NODE, f"requires the node {pod.spec.node_name}")


def _tainted(pod: Pod, node: Node, _: Cluster) -> Rejected | None:
    taint = untolerated(node.spec.taints, pod.spec.tolerations)
    if taint is None:
        return None
    return Rejected(RejectionReason.TAINT, f"doesn't tolerate the taint {taint.text}")


def _unwanted(pod: Pod, node: Node, _: Cluster) -> Rejected | None:
    if pod.wanted_nodes.matches(node.name, node.labels):
        return None
    return Rejected(RejectionReason.NODE_AFFINITY, pod.wanted_nodes.unmet(node.labels))


def _port_taken(pod: Pod, node: Node, cluster: Cluster) -> Rejected | None:
    port = ports.taken(pod.host_ports, cluster.occupancy(node.name).host_ports)
    if port is None:
        return None
    return Rejected(RejectionReason.HOST_PORT, f"needs the host port {port.text}, which is in use")


def _too_large(pod: Pod, node: Node, cluster: Cluster) -> Rejected | None:
    taken = cluster.occupancy(node.name).requested
    lacking = shortages(pod.requests, have=node.allocatable, taken=taken)
    if not lacking:
        return None
    return Rejected(RejectionReason.RESOURCES, "; ".join(shortage.text for shortage in lacking))


# In the scheduler's order. A filter is skipped for pods that it doesn't concern: each pod is
# compared with each node, and most pods have no claims and no host ports.
_FILTERS: Final[tuple[tuple[Filter, Callable[[Pod, Cluster], object]], ...]] = (
    (_cordoned, lambda _pod, _cluster: True),
    (_other_node, lambda pod, _: pod.spec.node_name),
    (_tainted, lambda _pod, _cluster: True),
    (_unwanted, lambda pod, _: pod.wanted_nodes != ANY_NODE),
    (_port_taken, lambda pod, _: pod.host_ports),
    (_too_large, lambda _pod, _cluster: True),
    (volume_conflicts.rejection, lambda pod, _: pod.claims or pod.iscsi_disks),
    (attach_limits.rejection, lambda pod, _: pod.claims),
    (volume_binding.rejection, lambda pod, _: pod.claims),
    (volume_zones.rejection, lambda pod, _: pod.claims),
    (spread.rejection, lambda pod, _: pod.spread_constraints),
    (pod_affinity.rejection, pod_affinity.concerns),
)

__all__ = [
    "FITS",
    "Fits",
    "Rejected",
    "RejectionReason",
    "Verdict",
    "feasible_nodes",
    "unsupported",
    "verdict",
]
