"""Topology spread constraints: the pods of a workload must be spread over domains.

A domain is a value of the constraint's topology key. Only nodes that have the labels of all the
pod's constraints form domains, and only those that the constraint's policies include. A domain
without pods counts as zero. So an empty node that no pod can use may block a whole workload.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.scheduling.taints import untolerated
from growth.scheduling.verdicts import Rejected, RejectionReason

if TYPE_CHECKING:
    from collections.abc import Mapping

    from growth.scheduling.cluster import Cluster
    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod
    from growth.scheduling.spread_constraints import SpreadConstraint


def rejection(pod: Pod, node: Node, cluster: Cluster) -> Rejected | None:
    """Why the pod would exceed the skew in the node's domain, or None."""
    for constraint in pod.spread_constraints:
        domain = node.labels.get(constraint.topology_key)
        if domain is None:
            text = f"has a spread by {constraint.topology_key}, a label that the node doesn't have"
            return Rejected(RejectionReason.TOPOLOGY_SPREAD, text)
        counts = like_by_domain(pod, constraint, cluster)
        crowded = _crowd(pod, constraint, counts=counts, domain=domain)
        if crowded is not None:
            return crowded
    return None


def _crowd(
    pod: Pod, constraint: SpreadConstraint, *, counts: Mapping[str, int], domain: str
) -> Rejected | None:
    # With fewer domains than minDomains, the emptiest one counts as zero, so that new domains are
    # needed before any of the others may have more than maxSkew.
    has_enough_domains = len(counts) >= constraint.min_domains
    least = min(counts.values()) if has_enough_domains else 0
    # A pod that its own constraint doesn't select adds nothing, but must still keep the skew.
    is_counted = constraint.selector.matches(pod.metadata.labels)
    there = counts.get(domain, 0) + is_counted
    if there - least <= constraint.max_skew:
        return None
    return Rejected(
        RejectionReason.TOPOLOGY_SPREAD,
        f"{constraint.topology_key}={domain} would have {there} matching pods, {there - least} "
        f"more than the emptiest domain; maxSkew is {constraint.max_skew}",
    )


def like_by_domain(pod: Pod, constraint: SpreadConstraint, cluster: Cluster) -> Mapping[str, int]:
    """The number of matching pods in each domain."""
    return cluster.remembered(
        ("spread", *judged_by(pod, constraint)), lambda: _counted(pod, constraint, cluster)
    )


def judged_by(pod: Pod, constraint: SpreadConstraint) -> tuple[object, ...]:
    """All that the counts depend on, so that the pods of a workload share them."""
    return (
        pod.metadata.namespace,
        constraint,
        tuple(each.topology_key for each in pod.spread_constraints),
        pod.wanted_nodes if constraint.honors_affinity else None,
        pod.spec.tolerations if constraint.honors_taints else None,
    )


def is_domain(pod: Pod, constraint: SpreadConstraint, node: Node) -> bool:
    """Whether a node counts, with or without matching pods."""
    return _has_all_labels(pod, node) and _counts_as_domain(pod, constraint, node)


def _counted(pod: Pod, constraint: SpreadConstraint, cluster: Cluster) -> Mapping[str, int]:
    key = constraint.topology_key
    nodes = {name: node for name, node in cluster.nodes.items() if is_domain(pod, constraint, node)}
    counts = {node.labels[key]: 0 for node in nodes.values()}
    # The scheduler counts no pods for an empty selector, although it selects all of them.
    if constraint.selector.is_everything:
        return counts
    for other, node in cluster.placed_in(pod.metadata.namespace):
        if node.name in nodes and _is_counted(other, constraint):
            counts[node.labels[key]] += 1
    return counts


def _has_all_labels(pod: Pod, node: Node) -> bool:
    return all(each.topology_key in node.labels for each in pod.spread_constraints)


def _counts_as_domain(pod: Pod, constraint: SpreadConstraint, node: Node) -> bool:
    if constraint.honors_affinity and not pod.wanted_nodes.matches(node.name, node.labels):
        return False
    if not constraint.honors_taints:
        return True
    return untolerated(node.spec.taints, pod.spec.tolerations) is None


def _is_counted(other: Pod, constraint: SpreadConstraint) -> bool:
    return not other.is_terminating and constraint.selector.matches(other.metadata.labels)
