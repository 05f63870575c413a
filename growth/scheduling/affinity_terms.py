"""Required affinity and anti-affinity between pods, compiled.

A term depends on its pod: its namespaces default to the pod's own, and its label keys take the
values of the pod's labels. So it is compiled once with the pod, and then matched with other pods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from growth.scheduling import selectors
from growth.scheduling.node_affinity import NodeAffinity
from growth.scheduling.selectors import LabelSelector, Selector

if TYPE_CHECKING:
    from collections.abc import Mapping

    from growth.scheduling.metadata import Metadata


class PodAffinityTerm(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A term as written in the pod."""

    topology_key: str = ""
    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] | None = None
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] | None = None
    mismatch_label_keys: tuple[str, ...] | None = None


class PodAffinity(msgspec.Struct, frozen=True, gc=False):
    """The required terms; preferences don't decide where a pod fits."""

    required: tuple[PodAffinityTerm, ...] | None = msgspec.field(
        default=None, name="requiredDuringSchedulingIgnoredDuringExecution"
    )


class Affinity(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """The three kinds of affinity of a pod."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class Term(msgspec.Struct, frozen=True, gc=False):
    """A compiled term; hashable."""

    topology_key: str
    selector: Selector
    namespaces: frozenset[str]
    namespace_selector: Selector

    def means(self, pod: Metadata, namespace_labels: Mapping[str, str]) -> bool:
        """Whether the term selects this pod."""
        if not self.selector.matches(pod.labels):
            return False
        return pod.namespace in self.namespaces or self.namespace_selector.matches(namespace_labels)


NO_TERMS: Final[tuple[Term, ...]] = ()


def compiled_terms(affinity: PodAffinity | None, pod: Metadata) -> tuple[Term, ...]:
    """The required terms of a pod."""
    if affinity is None:
        return NO_TERMS
    return tuple(_compiled_term(term, pod) for term in affinity.required or ())


def _compiled_term(term: PodAffinityTerm, pod: Metadata) -> Term:
    own = frozenset({pod.namespace})
    is_own_only = not term.namespaces and term.namespace_selector is None
    return Term(
        topology_key=term.topology_key,
        selector=_selector_with_keys(term, pod.labels),
        namespaces=own if is_own_only else frozenset(term.namespaces or ()),
        namespace_selector=selectors.compiled_selector(term.namespace_selector),
    )


def _selector_with_keys(term: PodAffinityTerm, labels: Mapping[str, str]) -> Selector:
    """The selector of a term, with the conditions that its label keys add.

    The API server adds them when the pod is created; a manifest still has only the keys. What the
    API server has written isn't changed, even if the labels of the pod have changed since.
    """
    selector = selectors.compiled_selector(term.label_selector)
    written = {(each.key, each.operator) for each in selector.requirements or ()}
    more = (
        *selectors.from_keys(term.match_label_keys, labels, operator="In"),
        *selectors.from_keys(term.mismatch_label_keys, labels, operator="NotIn"),
    )
    return selector.and_also(*(each for each in more if (each.key, each.operator) not in written))
