"""Which pods count for a pool: those that select it, and for `default` those that select nothing.

This is narrower than the question which pods may use the pool: a pod that only happens to run on
its nodes isn't why they are there. Whether a node is empty doesn't depend on it.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from growth.api.wellknown import DEFAULT_POOL, POOL_LABEL
from growth.scheduling.resources import NOTHING, larger, total
from reconciler.scaling.utilisation.group import PodDemand

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from growth.scheduling.pod import Pod


def counted_pools(pod: Pod) -> frozenset[str]:
    """The pools whose utilisation its requests are."""
    if pod.is_finished:
        return frozenset()
    selected = selected_values(pod, key=POOL_LABEL)
    return selected | {DEFAULT_POOL} if selects_nothing(pod) else selected


def pods_by_pool(pods: Iterable[Pod]) -> Mapping[str, tuple[Pod, ...]]:
    """The pods that count for each pool."""
    found: defaultdict[str, list[Pod]] = defaultdict(list)
    for pod in pods:
        for pool in counted_pools(pod):
            found[pool].append(pod)
    return {name: tuple(counted) for name, counted in found.items()}


def selected_values(pod: Pod, *, key: str) -> frozenset[str]:
    """The values of this label that the pod selects nodes by; pods of DaemonSets don't count."""
    if pod.is_of_daemon_set:
        return frozenset()
    wanted = pod.wanted_nodes
    named = {value for name, value in wanted.labels if name == key}
    terms = (wanted.affinity.node_selector_terms or ()) if wanted.affinity else ()
    return frozenset(named).union(
        value
        for term in terms
        for each in term.match_expressions or ()
        if each.key == key and each.operator == "In"
        for value in each.values or ()
    )


def selects_nothing(pod: Pod) -> bool:
    """Whether the pod has no condition on nodes; pods of DaemonSets and static pods don't count."""
    wanted = pod.wanted_nodes
    return not (pod.is_of_daemon_set or pod.is_static or wanted.labels or wanted.affinity)


def demand_of_pods(pods: Iterable[Pod]) -> PodDemand:
    """What these pods ask for together, and the largest of those that have no node."""
    counted = tuple(pods)
    largest = NOTHING
    for pod in counted:
        if not pod.spec.node_name:
            largest = larger(largest, pod.requests)
    requests = total(pod.requests for pod in counted)
    return PodDemand(pods=len(counted), requests=requests, largest_pending=largest)
