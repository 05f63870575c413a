"""The scheduler's preemption: which pods have to make room for one of a higher priority.

On each node, all pods of a lower priority are taken away; if the pod fits then, they are put back
one by one while it still does, the most important first. What remains are the victims there. The
node is chosen whose victims matter least: by the highest priority among them, by the sum of
priorities, and by their number. Budgets aren't looked at: the real scheduler prefers to keep them,
but may violate them. Pods of DaemonSets stay, as the important ones do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from growth.scheduling.fits import verdict
from growth.scheduling.verdicts import Fits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from growth.scheduling.cluster import Cluster
    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod


class Preemption(NamedTuple):
    """A node, and the pods that have to leave it."""

    node: str
    victims: tuple[Pod, ...]


def preemption(pod: Pod, cluster: Cluster) -> Preemption | None:
    """The best node with room for the pod after a preemption, or None."""
    return min(_possible(pod, cluster), key=_rank, default=None)


def is_making_room(pod: Pod, cluster: Cluster) -> bool:
    """Whether an earlier victim of this pod is still ending on its nominated node."""
    held = cluster.occupancy(pod.status.nominated_node_name).pods
    return any(each.is_terminating and each.spec.priority < pod.spec.priority for each in held)


def _possible(pod: Pod, cluster: Cluster) -> Iterator[Preemption]:
    for node in cluster.ordered_nodes:
        lower = [
            each
            for each in cluster.occupancy(node.name).pods
            if each.spec.priority < pod.spec.priority and not each.is_of_daemon_set
        ]
        if lower:
            victims = _victims(pod, node, cluster, lower)
            if victims:
                yield Preemption(node.name, victims)


def _victims(pod: Pod, node: Node, cluster: Cluster, lower: list[Pod]) -> tuple[Pod, ...]:
    """Who has to go; nobody if the pod doesn't fit even then."""
    emptied = cluster
    for each in lower:
        emptied = emptied.without_pod(each)
    if not _fits(pod, node, emptied):
        return ()
    victims = []
    for each in sorted(lower, key=lambda one: (-one.spec.priority, one.name)):
        fuller = emptied.with_node(node, pods=(each,))
        if _fits(pod, node, fuller):
            emptied = fuller
        else:
            victims.append(each)
    return tuple(victims)


def _fits(pod: Pod, node: Node, cluster: Cluster) -> bool:
    return isinstance(verdict(pod, node, cluster), Fits)


def _rank(found: Preemption) -> tuple[int, int, int, str]:
    priorities = [each.spec.priority for each in found.victims]
    return max(priorities), sum(priorities), len(priorities), found.node
