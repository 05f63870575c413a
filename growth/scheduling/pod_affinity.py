"""Affinity and anti-affinity between pods.

The scheduler asks three questions about a node's domains: Is a pod there that this pod's affinity
requires? Is a pod there that its anti-affinity forbids? Is a pod there whose own anti-affinity
forbids this one? For each distinct set of terms, the domains are computed once, as (label key,
value) pairs with a pod in each, and then looked up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.scheduling.verdicts import Rejected, RejectionReason

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from growth.scheduling.affinity_terms import Term
    from growth.scheduling.cluster import Cluster, Placed
    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod

    Found = Mapping[tuple[str, str], Pod]


def concerns(pod: Pod, cluster: Cluster) -> bool:
    """Whether the pod has such terms, or another pod's anti-affinity may concern it."""
    return bool(pod.affinity_terms or pod.anti_affinity_terms or cluster.repelling)


def company_of(pod: Pod, cluster: Cluster) -> Found:
    """The domains, as (label key, value), with a pod that this pod's affinity requires."""
    terms = pod.affinity_terms
    return cluster.remembered(("near", terms), lambda: _where_all_are_meant(terms, cluster))


def rejection(pod: Pod, node: Node, cluster: Cluster) -> Rejected | None:
    """Why other pods keep this one off the node, or None."""
    return (
        _misses_company(pod, node, cluster)
        or _avoids_company(pod, node, cluster)
        or _is_repelled(pod, node, cluster)
    )


def _misses_company(pod: Pod, node: Node, cluster: Cluster) -> Rejected | None:
    terms = pod.affinity_terms
    for term in terms:
        if term.topology_key not in node.labels:
            text = f"has pod affinity by {term.topology_key}, a label that the node doesn't have"
            return Rejected(RejectionReason.POD_AFFINITY, text)
    if not terms:
        return None
    company = company_of(pod, cluster)
    missing = next((term for term in terms if _pair(term, node) not in company), None)
    if missing is None:
        return None
    # The first pod of a group with affinity to itself may go anywhere: there is no other one yet.
    if not company and all(_means(term, pod, cluster) for term in terms):
        return None
    text = f"has pod affinity, and no matching pod is in {_place(missing, node)}"
    return Rejected(RejectionReason.POD_AFFINITY, text)


def _avoids_company(pod: Pod, node: Node, cluster: Cluster) -> Rejected | None:
    terms = pod.anti_affinity_terms
    if not terms:
        return None
    company = cluster.remembered(("away", terms), lambda: _where_any_is_meant(terms, cluster))
    for term in terms:
        other = company.get(_pair(term, node))
        if other is not None:
            text = f"has anti-affinity to {other.name}, which is in {_place(term, node)}"
            return Rejected(RejectionReason.POD_ANTI_AFFINITY, text)
    return None


def _is_repelled(pod: Pod, node: Node, cluster: Cluster) -> Rejected | None:
    who = (pod.metadata.namespace, frozenset(pod.metadata.labels.items()))
    repelled = cluster.remembered(("repelled", who), lambda: _where_repelled(pod, cluster))
    for key, value in node.labels.items() if repelled else ():
        other = repelled.get((key, value))
        if other is not None:
            text = f"{other.name}, which is in {key}={value}, has anti-affinity to it"
            return Rejected(RejectionReason.REPELLED, text)
    return None


def _where_all_are_meant(terms: tuple[Term, ...], cluster: Cluster) -> Found:
    # A single pod must match all terms, as in the scheduler.
    return _by_topology(
        (term, placed)
        for placed in _in_namespaces_of(terms[0], cluster)
        if all(_means(term, placed.pod, cluster) for term in terms)
        for term in terms
    )


def _where_any_is_meant(terms: tuple[Term, ...], cluster: Cluster) -> Found:
    return _by_topology(
        (term, placed)
        for term in terms
        for placed in _in_namespaces_of(term, cluster)
        if _means(term, placed.pod, cluster)
    )


def _where_repelled(pod: Pod, cluster: Cluster) -> Found:
    namespace = cluster.labels_of_namespace(pod.metadata.namespace)
    return _by_topology(
        (term, other)
        for other in cluster.repelling
        for term in other.pod.anti_affinity_terms
        if term.means(pod.metadata, namespace)
    )


def _by_topology(meant: Iterable[tuple[Term, Placed]]) -> Found:
    return {
        (term.topology_key, placed.node.labels[term.topology_key]): placed.pod
        for term, placed in meant
        if term.topology_key in placed.node.labels
    }


def _in_namespaces_of(term: Term, cluster: Cluster) -> Iterator[Placed]:
    for namespace in cluster.namespaces_in_use:
        if _speaks_of(term, namespace, cluster):
            yield from cluster.placed_in(namespace)


def _speaks_of(term: Term, namespace: str, cluster: Cluster) -> bool:
    """Whether a term applies to a namespace.

    A selector with conditions matches only namespaces that are known; an empty one matches all.
    """
    if namespace in term.namespaces or term.namespace_selector.is_everything:
        return True
    # kube-scheduler 1.34.0 to 1.36.3 takes NotIn and DoesNotExist as "all namespaces", contrary to
    # the documentation (kubernetes issue 141526). Later patches are correct again, and so is this.
    known = cluster.namespaces.get(namespace)
    return known is not None and term.namespace_selector.matches(known.metadata.labels)


def _means(term: Term, pod: Pod, cluster: Cluster) -> bool:
    return term.selector.matches(pod.metadata.labels) and _speaks_of(
        term, pod.metadata.namespace, cluster
    )


def _pair(term: Term, node: Node) -> tuple[str, str]:
    # A node without the label is in no domain; this pair is never found, as no key is empty.
    value = node.labels.get(term.topology_key)
    return ("", "") if value is None else (term.topology_key, value)


def _place(term: Term, node: Node) -> str:
    return f"{term.topology_key}={node.labels.get(term.topology_key)}"
