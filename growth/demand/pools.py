"""Which pools a pod may use: those that it names, else the pool called `default`.

A pod names pools by its nodeSelector or its required node affinity on `growth.dev/pool`; an
affinity can name several, or all but some, so the answer is a set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.api.wellknown import DEFAULT_POOL, POOL_LABEL

if TYPE_CHECKING:
    from collections.abc import Iterable

    from growth.scheduling.node_affinity import NodeSelectorTerm
    from growth.scheduling.pod import Pod


def pools_of(pod: Pod, pools: Iterable[str]) -> frozenset[str]:
    """The existing pools that the pod may use; none, if what it names isn't there."""
    existing = frozenset(pools)
    if not names_a_pool(pod):
        return existing & {DEFAULT_POOL}
    selected = pod.spec.node_selector.get(POOL_LABEL)
    allowed = existing if selected is None else existing & {selected}
    affinity = pod.wanted_nodes.affinity
    if affinity is None:
        return allowed
    terms = affinity.node_selector_terms or ()
    return frozenset(pool for pool in allowed if any(_admits(term, pool) for term in terms))


def names_a_pool(pod: Pod) -> bool:
    """Whether the pod says anything about pools."""
    affinity = pod.wanted_nodes.affinity
    return POOL_LABEL in pod.spec.node_selector or (
        affinity is not None
        and any(
            requirement.key == POOL_LABEL
            for term in affinity.node_selector_terms or ()
            for requirement in term.match_expressions or ()
        )
    )


def _admits(term: NodeSelectorTerm, pool: str) -> bool:
    """Whether this alternative, as far as it is about pools, means the pool."""
    labels = {POOL_LABEL: pool}
    return all(
        requirement.matches(labels)
        for requirement in term.match_expressions or ()
        if requirement.key == POOL_LABEL
    )
