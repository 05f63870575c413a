"""Which pods count for a pool: those that select it, and for `default` those that select nothing.

This is narrower than the question which pods may use the pool: a pod that only happens to run on
its nodes isn't why they are there. Whether a node is empty doesn't depend on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.api.wellknown import DEFAULT_POOL, POOL_LABEL
from growth.scheduling.resources import NOTHING, larger, total
from reconciler.scaling.utilisation.group import PodDemand

if TYPE_CHECKING:
    from collections.abc import Iterable

    from growth.scheduling.pod import Pod

CONFIG_SOURCE = "kubernetes.io/config.source"
"""On a static pod: `file`."""


def counts_for_pool(pod: Pod, pool: str) -> bool:
    """Whether its requests are the pool's utilisation."""
    if pod.is_finished:
        return False
    is_default = pool == DEFAULT_POOL and selects_nothing(pod)
    return is_default or selects_value(pod, key=POOL_LABEL, value=pool)


def selects_value(pod: Pod, *, key: str, value: str) -> bool:
    """Whether the pod selects nodes with this label; pods of DaemonSets don't count."""
    if pod.is_of_daemon_set:
        return False
    wanted = pod.wanted_nodes
    if (key, value) in wanted.labels:
        return True
    terms = (wanted.affinity.node_selector_terms or ()) if wanted.affinity else ()
    return any(
        each.key == key and each.operator == "In" and value in (each.values or ())
        for term in terms
        for each in term.match_expressions or ()
    )


def selects_nothing(pod: Pod) -> bool:
    """Whether the pod has no condition on nodes; pods of DaemonSets and static pods don't count."""
    is_static = pod.is_static or pod.metadata.annotations.get(CONFIG_SOURCE) == "file"
    wanted = pod.wanted_nodes
    return not (pod.is_of_daemon_set or is_static or wanted.labels or wanted.affinity)


def demand_of_pods(pods: Iterable[Pod]) -> PodDemand:
    """What these pods ask for together, and the largest of those that have no node."""
    counted = tuple(pods)
    largest = NOTHING
    for pod in counted:
        if not pod.spec.node_name:
            largest = larger(largest, pod.requests)
    requests = total(pod.requests for pod in counted)
    return PodDemand(pods=len(counted), requests=requests, largest_pending=largest)
