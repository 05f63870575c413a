"""Rules between pods in the form that the solver knows: groups, and marks that repel each other.

Rules with pods that run already (or have a promised place) have narrowed the offers of a class
before. This module handles the rules between pods that are planned together. If a rule can't be
expressed this way, its pods wait for the next round: then the others have places and count like
running pods.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import msgspec

from growth.scheduling.pod import Pod
from growth.scheduling.pod_affinity import company_of
from growth.scheduling.spread import is_domain, judged_by, like_by_domain
from growth.scheduling.spread_constraints import compiled_constraints
from reconciler.solver import HOSTNAME, Apart, Group, Near, SpreadRule, Together

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from growth.scheduling.affinity_terms import Term
    from growth.scheduling.cluster import Cluster
    from growth.scheduling.node import Node
    from growth.scheduling.resources import Resources
    from growth.scheduling.spread_constraints import SpreadConstraint
    from reconciler.planning.followers import FollowerRules


NEAR: Final = "near"
"""What the names of rules about affinity begin with."""


class Kin(msgspec.Struct, frozen=True, kw_only=True):
    """One class as rules between pods see it: any of its pods, and the offers it may use."""

    name: str
    pod: Pod
    offers: frozenset[str]


class PodRules(msgspec.Struct, frozen=True, kw_only=True):
    """All rules between the pods of a plan."""

    groups: tuple[Group, ...] = ()
    marks: Mapping[str, frozenset[str]] = {}
    repels: Mapping[str, frozenset[str]] = {}
    waiting: Mapping[str, str] = {}
    """Classes that wait until others have their places, with the reason."""


def company(
    kin: Sequence[Kin],
    cluster: Cluster,
    nodes: Mapping[str, Node],
    *,
    rooms: Mapping[str, Resources],
    followers: FollowerRules,
) -> PodRules:
    """The rules between the classes of a plan; of each offer, `nodes` and `rooms` have its own."""
    waiting = _waiting_with_followers(kin, cluster, followers)
    planned = [one for one in kin if one.name not in waiting]
    marks, repels = _tokens(planned, cluster)
    return PodRules(
        groups=(
            *_together(planned, followers),
            *_near(planned, cluster, nodes, followers=followers),
            *_apart(planned, cluster),
            *_spreads(planned, cluster, nodes, rooms),
        ),
        marks=marks,
        repels=repels,
        waiting=waiting,
    )


def without_spread(pod: Pod) -> Pod:
    """The pod without the constraints that become groups of the plan."""
    if not any(_is_own(pod, constraint) for constraint in pod.spread_constraints):
        return pod
    # Judged against the pods of now, a spread would allow the emptiest domain only, though the plan
    # itself fills the others.
    others = tuple(
        written
        for written in pod.spec.topology_spread_constraints
        for constraint in compiled_constraints((written,), pod.metadata.labels)
        if not _is_own(pod, constraint)
    )
    spec = msgspec.structs.replace(pod.spec, topology_spread_constraints=others)
    return msgspec.structs.replace(pod, spec=spec)


def spread_keys(pod: Pod) -> frozenset[str]:
    """The labels that a node must have for the pod's spread to be judged at all."""
    return frozenset(each.topology_key for each in pod.spread_constraints)


def _is_own(pod: Pod, constraint: SpreadConstraint) -> bool:
    """Whether the pod counts itself, as nearly every pod does."""
    return constraint.selector.matches(pod.metadata.labels)


def _means(term: Term, pod: Pod, cluster: Cluster) -> bool:
    namespace = pod.metadata.namespace
    return term.means(pod.metadata, cluster.labels_of_namespace(namespace))


def _waiting_with_followers(
    kin: Sequence[Kin], cluster: Cluster, followers: FollowerRules
) -> dict[str, str]:
    """The same, with those that must be near pods that wait themselves."""
    waiting = dict(_waiting(kin, cluster))
    by_name = {one.name: one for one in kin}
    tied = [one for one in kin if one.pod.affinity_terms and one.name not in waiting]
    while more := {
        one.name: _told(by_name[first].pod)
        for one in tied
        if one.name not in waiting
        if (first := _awaited(one, [by_name[name] for name in waiting], cluster, followers))
    }:
        waiting |= more
    return waiting


def _awaited(
    one: Kin, waiting: Sequence[Kin], cluster: Cluster, followers: FollowerRules
) -> str | None:
    """A class that waits and without which this one has no place in this plan."""
    anchors = followers.anchors.get(one.name)
    if anchors is None:
        meant = (each.name for each in waiting if not one.offers and _is_meant(one, each, cluster))
        return next(meant, None)
    if company_of(one.pod, cluster) or not anchors <= {each.name for each in waiting}:
        return None
    return min(anchors)


def _told(other: Pod) -> str:
    return f"it is planned once {other.name} has a place"


def _waiting(kin: Sequence[Kin], cluster: Cluster) -> Iterator[tuple[str, str]]:
    """Classes that can only be judged when others have their places, with the reason."""
    before: list[Kin] = []
    choosy: list[Kin] = []
    # Of two that can't be planned together, the less important one waits.
    for one in sorted(kin, key=lambda each: (-each.pod.spec.priority, each.name)):
        # Few classes are choosy. Comparing the others only with these keeps ten thousand different
        # pods from being compared with each other.
        rivals = before if _is_choosy(one) else choosy
        other = next((each for each in rivals if _must_follow(one, each, cluster)), None)
        if other is None:
            before.append(one)
            choosy += [one] if _is_choosy(one) else []
        else:
            yield one.name, _told(other.pod)


def _is_choosy(one: Kin) -> bool:
    """Whether it keeps away from others by more than the node."""
    return any(term.topology_key != HOSTNAME for term in one.pod.anti_affinity_terms)


def _must_follow(one: Kin, other: Kin, cluster: Cluster) -> bool:
    """Whether one keeps away from the other by more than the node, and they aren't one group."""
    ours, theirs = one.pod.anti_affinity_terms, other.pod.anti_affinity_terms
    return any(
        term.topology_key != HOSTNAME and term not in theirs and _means(term, other.pod, cluster)
        for term in ours
    ) or any(
        term.topology_key != HOSTNAME and term not in ours and _means(term, one.pod, cluster)
        for term in theirs
    )


def _is_meant(one: Kin, other: Kin, cluster: Cluster) -> bool:
    """Whether this class must be near the other."""
    return all(_means(term, other.pod, cluster) for term in one.pod.affinity_terms)


def _tokens(
    kin: Sequence[Kin], cluster: Cluster
) -> tuple[Mapping[str, frozenset[str]], Mapping[str, frozenset[str]]]:
    """Classes that may not share a node, because of hostname anti-affinity or host ports."""
    marks: defaultdict[str, set[str]] = defaultdict(set)
    repels: defaultdict[str, set[str]] = defaultdict(set)
    terms = _distinct(
        term for one in kin for term in one.pod.anti_affinity_terms if term.topology_key == HOSTNAME
    )
    for number, term in enumerate(terms):
        for one in kin:
            if term in one.pod.anti_affinity_terms:
                repels[one.name].add(f"away {number}")
            if _means(term, one.pod, cluster):
                marks[one.name].add(f"away {number}")
    ports = sorted({port for one in kin for port in one.pod.host_ports})
    for one in kin:
        for port in one.pod.host_ports:
            marks[one.name].add(f"port {port.text}")
            # Not by equality: the same port on two addresses is no conflict, but one on all
            # addresses is with each of them.
            repels[one.name].update(f"port {other.text}" for other in ports if port.overlaps(other))
    return _frozen(marks), _frozen(repels)


def _frozen(sets: Mapping[str, set[str]]) -> Mapping[str, frozenset[str]]:
    return {name: frozenset(each) for name, each in sets.items()}


def _distinct(terms: Iterable[Term]) -> list[Term]:
    return list(dict.fromkeys(terms))


def _together(kin: Sequence[Kin], followers: FollowerRules) -> Iterator[Together]:
    """Groups whose pods must be near each other, none of which is anywhere yet."""
    planned = frozenset(one.name for one in kin)
    for number, (terms, names) in enumerate(followers.groups):
        for key in sorted({term.topology_key for term in terms}) if names & planned else ():
            yield Together(
                name=f"{NEAR} by {key} {number}",
                key=key,
                members=names & planned,
            )


def _near(
    kin: Sequence[Kin],
    cluster: Cluster,
    nodes: Mapping[str, Node],
    *,
    followers: FollowerRules,
) -> Iterator[Near]:
    """Groups of followers, with the pods that they may follow and those that run already."""
    planned = frozenset(one.name for one in kin)
    alike: defaultdict[tuple[tuple[Term, ...], frozenset[str]], list[Kin]] = defaultdict(list)
    for one in kin:
        if one.name in followers.anchors:
            alike[one.pod.affinity_terms, followers.anchors[one.name] & planned].append(one)
    for number, ((terms, anchors), members) in enumerate(alike.items()):
        found = company_of(members[0].pod, cluster)
        for key in sorted({term.topology_key for term in terms}):
            running = frozenset(value for own, value in found if own == key)
            yield Near(
                name=f"{NEAR} others by {key} {number}",
                key=key,
                members=frozenset(one.name for one in members),
                anchors=anchors,
                running=_offers_that_are(running, nodes) if key == HOSTNAME else running,
            )


def _offers_that_are(hosts: frozenset[str], nodes: Mapping[str, Node]) -> frozenset[str]:
    return frozenset(name for name, node in nodes.items() if node.labels.get(HOSTNAME) in hosts)


def _apart(kin: Sequence[Kin], cluster: Cluster) -> Iterator[Apart]:
    """Groups of which a domain holds one pod. Where one runs, its domain has been narrowed out."""
    terms = _distinct(term for one in kin for term in one.pod.anti_affinity_terms)
    for number, term in enumerate(terms):
        members = frozenset(
            one.name
            for one in kin
            if term in one.pod.anti_affinity_terms and _means(term, one.pod, cluster)
        )
        if members and term.topology_key != HOSTNAME:
            name = f"apart by {term.topology_key} {number}"
            yield Apart(name=name, key=term.topology_key, members=members, most=1)


def _spreads(
    kin: Sequence[Kin],
    cluster: Cluster,
    nodes: Mapping[str, Node],
    rooms: Mapping[str, Resources],
) -> Iterator[SpreadRule | Apart]:
    # Pods with the same constraint may count different nodes, for example those of their selector.
    groups: defaultdict[tuple[object, ...], list[Kin]] = defaultdict(list)
    constraints: dict[tuple[object, ...], SpreadConstraint] = {}
    for one in kin:
        for constraint in one.pod.spread_constraints:
            if _is_own(one.pod, constraint):
                key = judged_by(one.pod, constraint)
                constraints[key] = constraint
                groups[key].append(one)
    # What any pod of the plan may buy becomes a domain, also for those that it has no room for.
    sold = _roomy(kin, rooms) if groups else ()
    templates = {name: nodes[name] for name in sorted(sold)}
    for number, (key, members) in enumerate(groups.items()):
        yield _spread(
            number, constraints[key], members, cluster=cluster, nodes=nodes, templates=templates
        )


def _roomy(kin: Iterable[Kin], rooms: Mapping[str, Resources]) -> frozenset[str]:
    """The offers that are large enough for a pod of any class that may use them."""
    # Thousands of classes share a few sets of offers, and most offers do for the first class.
    alike: defaultdict[frozenset[str], list[Resources]] = defaultdict(list)
    for one in kin:
        alike[one.offers].append(one.pod.requests)
    return frozenset(
        name
        for offers, wanted in alike.items()
        for name in offers
        if any(rooms[name].covers(needs) for needs in wanted)
    )


def _spread(
    number: int,
    constraint: SpreadConstraint,
    members: Sequence[Kin],
    *,
    cluster: Cluster,
    nodes: Mapping[str, Node],
    templates: Mapping[str, Node],
) -> SpreadRule | Apart:
    key = constraint.topology_key
    name = f"spread by {key} {number}"
    names = frozenset(one.name for one in members)
    running = like_by_domain(members[0].pod, constraint, cluster)
    # A node to be bought is an empty domain, so the skew is all that any node may hold.
    if key == HOSTNAME:
        return _over_nodes(name, constraint, members, running=running, nodes=nodes)
    reachable = {
        node.labels.get(key, "")
        for node in templates.values()
        if is_domain(members[0].pod, constraint, node)
    }
    known = frozenset((*running, *reachable)) - {""}
    if len(known) < constraint.min_domains:
        # With too few domains the emptiest counts as having none.
        return Apart(name=name, key=key, members=names, most=constraint.max_skew, running=running)
    return SpreadRule(
        name=name,
        key=key,
        members=names,
        max_skew=constraint.max_skew,
        running=running,
        domains=known,
    )


def _over_nodes(
    name: str,
    constraint: SpreadConstraint,
    members: Sequence[Kin],
    *,
    running: Mapping[str, int],
    nodes: Mapping[str, Node],
) -> SpreadRule:
    """A spread over nodes; each node that is no offer only matters if it is the emptiest."""
    pod = members[0].pod
    hosts = {node.labels.get(HOSTNAME, ""): offer for offer, node in nodes.items()}
    here = {offer: running[host] for host, offer in hosts.items() if host in running}
    others = sorted((count, host) for host, count in running.items() if host not in hosts)
    emptiest = {f"node {host}": count for count, host in others[:1]}
    return SpreadRule(
        name=name,
        key=HOSTNAME,
        members=frozenset(one.name for one in members),
        max_skew=constraint.max_skew,
        running={offer: count for offer, count in {**here, **emptiest}.items() if count},
        domains=frozenset((*here, *emptiest)),
        counted=frozenset(
            offer
            for offer, node in nodes.items()
            if offer not in here and is_domain(pod, constraint, node)
        ),
        min_domains=max(1, constraint.min_domains - max(0, len(others) - 1)),
    )
