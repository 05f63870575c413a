"""Which classes of a plan must be near which others, and who of them can be placed first.

A pod with required affinity is bound near a pod that is there already. So a plan needs an order: a
follower comes after an anchor, and the first pod of a group that is near itself may go anywhere.
Classes that all wait for each other have no place, as with the scheduler itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from growth.scheduling.pod_affinity import company_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from growth.scheduling.affinity_terms import Term
    from growth.scheduling.cluster import Cluster
    from growth.scheduling.pod import Pod

    Names = frozenset[str]


class FollowerRules(NamedTuple):
    """The order in which affinity lets classes be placed."""

    anchors: Mapping[str, Names]
    """For each class that follows others of the plan, which ones."""
    groups: Sequence[tuple[tuple[Term, ...], Names]]
    """Classes that are near themselves and of which none runs, by their terms."""


def followers_of(
    pods: Mapping[str, Pod], cluster: Cluster, *, is_possible: Callable[[str], bool]
) -> FollowerRules:
    """Who follows whom among these classes; `is_possible` tells if one has a place by itself."""
    meant = _meant(pods, cluster)
    if not meant:
        return FollowerRules({}, ())
    tied = {name for each in meant.values() for name in each} | meant.keys()
    level = {
        name: 0
        for name in pods
        if name in tied
        if (not pods[name].affinity_terms or company_of(pods[name], cluster)) and is_possible(name)
    }
    groups = []
    while left := [name for name in meant if name not in level]:
        ready = [name for name in left if meant[name] & level.keys()]
        if not ready:
            ready = _first_group(left, meant, pods)
            groups += [(pods[name].affinity_terms, frozenset(ready)) for name in ready[:1]]
        if not ready:
            break
        level |= dict.fromkeys(ready, max(level.values(), default=0) + 1)
    own = {name for _, names in groups for name in names}
    anchors = {
        name: found
        for name in meant
        if name in level and name not in own
        if (found := _anchors(name, meant, level))
    }
    return FollowerRules(anchors, groups)


def returning_followers(
    pods: Mapping[str, Pod], waiting: Mapping[str, Pod], cluster: Cluster
) -> dict[str, Pod]:
    """The waiting pods that have to be near one of the pods to be planned, by uid.

    They don't wait for their next try: a machine that is bought without them may have no room.
    """
    known: dict[tuple[Term, ...], bool] = {}
    found = {}
    for uid, pod in waiting.items():
        terms = pod.affinity_terms
        if uid not in pods and terms:
            if terms not in known:
                known[terms] = any(_is_meant(terms, other, cluster) for other in pods.values())
            if known[terms]:
                found[uid] = pod
    return found


def without_affinity(pod: Pod) -> Pod:
    """The pod without the required affinity that becomes a rule of the plan."""
    if pod.spec.affinity is None or not pod.affinity_terms:
        return pod
    affinity = msgspec.structs.replace(pod.spec.affinity, pod_affinity=None)
    spec = msgspec.structs.replace(pod.spec, affinity=affinity)
    return msgspec.structs.replace(pod, spec=spec)


def _meant(pods: Mapping[str, Pod], cluster: Cluster) -> dict[str, Names]:
    """For each class with affinity the classes of which any pod is one that it must be near."""
    by_terms: dict[tuple[Term, ...], Names] = {}
    ordered = sorted(pods, key=lambda name: (-pods[name].spec.priority, name))
    for name in ordered:
        terms = pods[name].affinity_terms
        if terms and terms not in by_terms:
            by_terms[terms] = frozenset(
                other for other, pod in pods.items() if _is_meant(terms, pod, cluster)
            )
    return {name: by_terms[terms] for name in ordered if (terms := pods[name].affinity_terms)}


def _is_meant(terms: Sequence[Term], pod: Pod, cluster: Cluster) -> bool:
    labels = cluster.labels_of_namespace(pod.metadata.namespace)
    return all(term.means(pod.metadata, labels) for term in terms)


def _first_group(
    left: Sequence[str], meant: Mapping[str, Names], pods: Mapping[str, Pod]
) -> list[str]:
    """The most important class that is near itself, with those that have the same terms."""
    first = next((name for name in left if name in meant[name]), None)
    if first is None:
        return []
    terms = pods[first].affinity_terms
    return [name for name in left if pods[name].affinity_terms == terms and name in meant[name]]


def _anchors(name: str, meant: Mapping[str, Names], level: Mapping[str, int]) -> Names:
    """Whom a class may follow: nobody who needs the class itself, unless placed before it."""
    return frozenset(
        other
        for other in meant[name]
        if other in level
        and other != name
        and (level[other] < level[name] or name not in _needed(other, meant))
    )


def _needed(name: str, meant: Mapping[str, Names]) -> Names:
    """All classes that one may have to be near, directly or by way of others."""
    found: set[str] = set()
    ahead = [name]
    while ahead:
        more = meant.get(ahead.pop(), frozenset()) - found
        found |= more
        ahead += more
    return frozenset(found)
