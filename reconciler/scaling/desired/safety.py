"""The checks that hold a node back, each with its reason.

In this order: cooldown, minimum, protection, local storage, system pods, affinity, room for the
pods elsewhere, budgets. A node that is held back is passed over, the reason is said, and the next
candidate is checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Final

import msgspec

from growth.keeping.marks import protection
from growth.scheduling import budgets
from growth.scheduling.emptiness import keepers
from growth.scheduling.fits import Fits, verdict
from growth.scheduling.moving import SYSTEM, counting
from growth.scheduling.node import Node
from growth.scheduling.pod_volumes import sources
from growth.scheduling.resources import CPU, MEMORY, Resources, total
from reconciler.scaling.desired.cooldowns import is_cooling_down
from reconciler.scaling.desired.telling import ScalingEvent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from growth.scheduling.affinity_terms import Term
    from growth.scheduling.cluster import Cluster
    from growth.scheduling.pod import Pod
    from reconciler.scaling.desired.counting import SizeCounts

HOSTNAME: Final = "kubernetes.io/hostname"
SYSTEM_CRITICAL: Final = 2_000_000_000
"""The priority from which Kubernetes calls a pod critical: that of system-cluster-critical."""
CONTROL_PLANE: Final = (
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "cloud-controller-manager",
    "etcd",
)
"""Pods that a cluster has one of, or one on each machine of its control plane."""
MARGIN: Final = Fraction(6, 5)
"""What must be free elsewhere, as a multiple of what the pods request."""


SAFE: Final = "safe to remove"
"""What is said of a node that no check holds back."""


class ScaleDownCheck(StrEnum):
    """Why a node stays, as one word for events and metrics."""

    COOLDOWN = "cooldown"
    MIN_NODES = "min_nodes"
    PROTECTED_NODE = "protected_node"
    LOCAL_STORAGE = "local_storage"
    SYSTEM_PODS = "system_pods"
    AFFINITY = "affinity"
    CAPACITY = "capacity"
    PDB = "pdb"
    POLICY = "policy_constraint"
    METRICS = "metrics"


class Blocked(msgspec.Struct, frozen=True, kw_only=True):
    """Why a node, or any node of a pool, may not go now."""

    reason: ScaleDownCheck
    why: str
    """For people."""
    event: ScalingEvent = ScalingEvent.SCALE_DOWN_BLOCKED


def pool_block(counts: SizeCounts, *, cooldown: float, elapsed: float | None) -> Blocked | None:
    """Why no node of the pool may go."""
    if is_cooling_down(cooldown, elapsed=elapsed):
        return Blocked(reason=ScaleDownCheck.COOLDOWN, why="within cooldown period")
    if not counts.may_shrink:
        return Blocked(reason=ScaleDownCheck.MIN_NODES, why="at minimum nodes")
    return None


class Refuge(msgspec.Struct, frozen=True, kw_only=True):
    """The nodes that pods could move to, and what is free on all of them together."""

    nodes: Mapping[str, Node]
    free: Resources
    gone: frozenset[str] = frozenset()
    """Nodes among them that go."""

    def without(self, names: Iterable[str], cluster: Cluster) -> Refuge:
        """The same without some nodes."""
        gone = self.gone | (self.nodes.keys() & frozenset(names))
        left = self.free - free_on((self.nodes[name] for name in gone - self.gone), cluster)
        return Refuge(nodes=self.nodes, free=left, gone=gone)

    @property
    def size(self) -> int:
        """The number of nodes."""
        return len(self.nodes) - len(self.gone)

    @property
    def staying(self) -> Iterator[Node]:
        """The nodes."""
        return (node for name, node in self.nodes.items() if name not in self.gone)


def free_on(nodes: Iterable[Node], cluster: Cluster) -> Resources:
    """What the pods of these nodes leave of them, together."""
    nodes = tuple(nodes)
    taken = total(cluster.occupancy(node.name).requested for node in nodes)
    return total(node.allocatable for node in nodes) - taken


def refuge_of(nodes: Iterable[Node], cluster: Cluster) -> Refuge:
    """A refuge of nodes."""
    by_name = {node.name: node for node in nodes}
    return Refuge(nodes=by_name, free=free_on(by_name.values(), cluster))


def node_block(node: Node, cluster: Cluster, *, refuge: Refuge) -> Blocked | None:
    """Why this node may not go; it isn't in the refuge of its own pods."""
    checks: tuple[Callable[[], Blocked | None], ...] = (
        lambda: _protected(node),
        lambda: _with_local_storage(node, cluster),
        lambda: _with_system_pods(node, cluster),
        lambda: _kept_apart(node, cluster, remaining=refuge.size),
        lambda: _without_room(node, cluster, refuge),
        lambda: _within_budgets(node, cluster),
    )
    return next((found for check in checks if (found := check()) is not None), None)


def _protected(node: Node) -> Blocked | None:
    if not (said := protection(node)):
        return None
    return Blocked(reason=ScaleDownCheck.PROTECTED_NODE, why=f"it has the {said}")


def has_local_storage(pod: Pod) -> bool:
    """Whether data of the pod is lost with its node: any emptyDir or hostPath, also in memory."""
    return any(kind in {"emptyDir", "hostPath"} for _, kind, _ in sources(pod.spec.volumes))


def _with_local_storage(node: Node, cluster: Cluster) -> Blocked | None:
    for pod in cluster.occupancy(node.name).keepers:
        if has_local_storage(pod):
            return Blocked(
                reason=ScaleDownCheck.LOCAL_STORAGE, why=f"pod {pod.name} has local storage"
            )
    return None


def is_system_critical(pod: Pod) -> bool:
    """Whether Kubernetes itself depends on the pod, by its priority."""
    return pod.spec.priority >= SYSTEM_CRITICAL


def is_control_plane_pod(pod: Pod) -> bool:
    """Whether it is a part of the control plane, by its namespace and name."""
    of_system = pod.metadata.namespace == SYSTEM
    return of_system and pod.metadata.name.startswith(CONTROL_PLANE)


def _with_system_pods(node: Node, cluster: Cluster) -> Blocked | None:
    """A critical pod with a budget may be moved: the budget says when."""
    for pod in cluster.occupancy(node.name).pods:
        is_held = is_system_critical(pod) and pod in keepers((pod,))
        has_budget = bool(budgets.of_pod(pod, counting(pod, cluster)))
        if is_control_plane_pod(pod) or (is_held and not has_budget):
            return Blocked(
                reason=ScaleDownCheck.SYSTEM_PODS, why=f"pod {pod.name} belongs to the system"
            )
    return None


def anti_affinity_objection(matching: int, *, remaining: int, topology: str) -> str:
    """Why pods that must be on different nodes need this one, too; empty if they don't."""
    if topology != HOSTNAME or matching <= remaining:
        return ""
    return f"anti-affinity keeps {matching} pods apart, and only {remaining} nodes would remain"


def pods_meant_by(term: Term, cluster: Cluster) -> int:
    """The number of pods on nodes that a term selects."""
    return sum(
        term.means(placed.pod.metadata, cluster.labels_of_namespace(namespace))
        for namespace in cluster.namespaces_in_use
        for placed in cluster.placed_in(namespace)
    )


def _kept_apart(node: Node, cluster: Cluster, *, remaining: int) -> Blocked | None:
    for pod in cluster.occupancy(node.name).keepers:
        for term in pod.anti_affinity_terms:
            matching = cluster.remembered(("meant", term), partial(pods_meant_by, term, cluster))
            why = anti_affinity_objection(matching, remaining=remaining, topology=term.topology_key)
            if why:
                return Blocked(reason=ScaleDownCheck.AFFINITY, why=f"pod {pod.name}: {why}")
    return None


def _without_room(node: Node, cluster: Cluster, refuge: Refuge) -> Blocked | None:
    """Each pod gets a place of its own, and some room must be left over on the whole."""
    pods = cluster.occupancy(node.name).keepers
    if not _has_margin(pods, refuge):
        return Blocked(
            reason=ScaleDownCheck.CAPACITY, why="its pods have too little room on other nodes"
        )
    left = cluster
    for pod in pods:
        freed = _freed(pod)
        fitting = (n for n in refuge.staying if isinstance(verdict(freed, n, left), Fits))
        place = next(fitting, None)
        if place is None:
            return Blocked(
                reason=ScaleDownCheck.CAPACITY, why=f"pod {pod.name} fits on no other node"
            )
        left = left.without_pod(pod).with_node(place, pods=(freed,))
    return None


def _has_margin(pods: Iterable[Pod], refuge: Refuge) -> bool:
    wanted = total(pod.requests for pod in pods)
    return all(refuge.free[name] >= MARGIN * wanted[name] for name in (CPU, MEMORY) if wanted[name])


def _freed(pod: Pod) -> Pod:
    """The pod as it waits for a new node."""
    return msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, node_name=""))


def _within_budgets(node: Node, cluster: Cluster) -> Blocked | None:
    for pod in cluster.occupancy(node.name).keepers:
        if why := budgets.budget_objection(pod, counting(pod, cluster)):
            return Blocked(reason=ScaleDownCheck.PDB, why=why)
    return None
