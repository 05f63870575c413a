"""Turns demand into a Problem: classes of pods, offers of nodes, and the rules between them.

Pods of one shape are one class. The scheduler's own rules decide which offers a class may use, by
the node that an offer would become. How many pods fit is the solver's question, so for these rules
the node has unlimited resources. The constraints that narrowed the offers are recorded: if no offer
is left, they are the reason that people see.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from growth.scheduling import ports
from growth.scheduling.fits import verdict
from growth.scheduling.resources import Resources
from growth.scheduling.unsupported import unsupported
from growth.scheduling.verdicts import Fits, Rejected, RejectionReason
from reconciler.buying.limits import SetLimit
from reconciler.buying.offers import Purchasable
from reconciler.planning.capacity import Spot
from reconciler.planning.demand import ComingPods
from reconciler.planning.followers import followers_of, without_affinity
from reconciler.planning.pod_rules import Kin, company, spread_keys, without_spread
from reconciler.planning.problem_offers import bought_offer, standing_offer, vector_of
from reconciler.solver import HOSTNAME, PodClass, Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from growth.scheduling.cluster import Cluster
    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod
    from reconciler.buying.market import Market
    from reconciler.planning.capacity import PromisedCluster
    from reconciler.planning.nominations import Nominated
    from reconciler.planning.pod_rules import PodRules
    from reconciler.solver import Limit

LAST: Final = -(2**31)
"""The lowest priority of a pod."""
PLENTY = str(2**60)
"""More of any resource than a pod asks for."""

NARROWED_BY: Mapping[RejectionReason, str] = {
    RejectionReason.TAINT: "untolerated taints",
    RejectionReason.NODE_AFFINITY: "node selector or node affinity",
    RejectionReason.HOST_PORT: "host ports",
    RejectionReason.POD_AFFINITY: "pod affinity",
    RejectionReason.POD_ANTI_AFFINITY: "pod anti-affinity",
    RejectionReason.REPELLED: "anti-affinity of other pods",
    RejectionReason.TOPOLOGY_SPREAD: "topology spread",
}


class PlanningProblem(msgspec.Struct, frozen=True, kw_only=True):
    """A Problem, and what its names stand for."""

    problem: Problem
    pods: Mapping[str, tuple[str, ...]]
    """The uids of each class, in the order in which they get their places."""
    offers: Mapping[str, Purchasable]
    spots: Mapping[str, Spot]
    left_out: Mapping[str, str]
    """Pods that no problem can hold, by uid, with the reason."""
    waiting: Mapping[str, str]
    """Pods that wait for others to be planned first, by uid, with the reason."""
    announced: Mapping[str, tuple[ComingPods, ...]] = {}
    """The announced pods of each class."""
    limits: Mapping[str, SetLimit] = {}
    """Limits that a person has set, by their name in the Problem."""


class AlikePods(NamedTuple):
    """A class before it is planned: pods of one shape."""

    name: str
    like: Pod
    number: int
    pools: frozenset[str]
    uids: tuple[str, ...] = ()
    """Pods that exist, as far as the answer has to name them."""
    coming: tuple[ComingPods, ...] = ()
    """Announced pods."""

    @property
    def priority(self) -> int:
        """Announced pods come last, so that they take nothing from pods that exist."""
        return LAST if self.coming else self.like.spec.priority


class _Asked(NamedTuple):
    """One class before there are groups."""

    pods: AlikePods
    offers: frozenset[str]
    narrowed: tuple[tuple[str, int], ...]

    @property
    def name(self) -> str:
        return self.pods.name


def planning_problem(
    demand: Iterable[Pod],
    ground: PromisedCluster,
    market: Market,
    *,
    pools_of: Mapping[str, frozenset[str]],
    nominated: Nominated,
    announced: Iterable[ComingPods] = (),
) -> PlanningProblem:
    """The Problem of a demand; `pools_of` tells the pools of each pod by its uid.

    Announced pods take part only as far as no existing pod loses its place by it.
    """
    left_out: dict[str, str] = {}
    by_shape: defaultdict[str, list[Pod]] = defaultdict(list)
    for pod in sorted(demand, key=lambda pod: (pod.name, pod.metadata.uid)):
        names = unsupported(pod, ground.cluster)
        if names:
            left_out[pod.metadata.uid] = (
                f"uses features that growth doesn't support: {', '.join(names)}"
            )
        else:
            by_shape[pod.shape].append(pod)
    classes = [
        *(_present(pods, pools_of) for _, pods in sorted(by_shape.items())),
        *_announced(each for each in announced if not unsupported(each.like, ground.cluster)),
    ]
    asked = problem_of_classes(classes, ground, market, nominated=nominated)
    return msgspec.structs.replace(asked, left_out=left_out)


def problem_of_classes(
    classes: Sequence[AlikePods],
    ground: PromisedCluster,
    market: Market,
    *,
    nominated: Nominated,
) -> PlanningProblem:
    """The Problem of these classes; none of their pods uses unsupported features."""
    resources = _wanted(each.like for each in classes)
    ground = _with_room(ground, [each.like.requests for each in classes], resources)
    judge = _Judge(ground, market.items, nominated=nominated, resources=resources)
    followers = followers_of(
        {each.name: each.like for each in classes},
        ground.cluster,
        is_possible=judge.has_room({each.name: each for each in classes}),
    )
    asked = [
        judge.without_small_ones(judge.asked(each, is_follower=each.name in followers.anchors))
        for each in classes
    ]
    kin = [judge.kin(each) for each in asked]
    rules = company(kin, ground.cluster, judge.nodes, rooms=judge.rooms, followers=followers)
    planned = [each for each in asked if each.name not in rules.waiting]
    limits = market.limits()
    return PlanningProblem(
        problem=_problem(planned, rules, ground, market, [each.limit for each in limits]),
        pods={each.name: each.pods.uids for each in planned if each.pods.uids},
        offers={item.name: item for item in market.items},
        spots={spot.name: spot for spot in ground.spots},
        left_out={},
        waiting={
            uid: rules.waiting[each.name]
            for each in asked
            if each.name in rules.waiting
            for uid in each.pods.uids
        },
        announced={each.name: each.pods.coming for each in planned if each.pods.coming},
        limits={each.limit.name: each.of for each in limits if each.of is not None},
    )


def _present(pods: Sequence[Pod], pools_of: Mapping[str, frozenset[str]]) -> AlikePods:
    uids = tuple(pod.metadata.uid for pod in pods)
    # The selector is part of a shape, so pods of one shape have the same pools.
    return AlikePods(pods[0].shape, pods[0], len(uids), pools_of[uids[0]], uids)


def _announced(coming: Iterable[ComingPods]) -> Iterator[AlikePods]:
    by_shape: defaultdict[str, list[ComingPods]] = defaultdict(list)
    for each in coming:
        by_shape[each.like.shape].append(each)
    for shape, alike in sorted(by_shape.items()):
        first, number = alike[0], sum(each.number for each in alike)
        name = f"{shape} announced"
        yield AlikePods(name, first.like, number, first.pools, coming=tuple(alike))


def _with_room(
    ground: PromisedCluster, wanted: Sequence[Resources], resources: Sequence[str]
) -> PromisedCluster:
    """Without the spots that are too full for any of the pods: most nodes of a cluster."""
    least = Resources({name: min((one[name] for one in wanted), default=0) for name in resources})
    spots = tuple(spot for spot in ground.spots if spot.room.covers(least))
    return msgspec.structs.replace(ground, spots=spots)


class _Judge:
    """Which offers a pod may use, asked once for all pods that are alike in what decides it."""

    def __init__(
        self,
        ground: PromisedCluster,
        items: Sequence[Purchasable],
        *,
        nominated: Nominated,
        resources: tuple[str, ...],
    ) -> None:
        self._cluster: Cluster = ground.cluster
        self._nominated = nominated
        self._items = items
        self._spots = ground.spots
        self.rooms: Mapping[str, Resources] = {
            **{item.name: item.room for item in items},
            **{spot.name: spot.room for spot in ground.spots},
        }
        self.nodes: Mapping[str, Node] = {
            **{item.name: _roomy_item(item, resources) for item in items},
            **{spot.name: _roomy(spot.node, resources) for spot in ground.spots},
        }
        self._known: dict[tuple[object, ...], tuple[frozenset[str], tuple[tuple[str, int], ...]]]
        self._known = {}

    def kin(self, asked: _Asked) -> Kin:
        """What rules between pods are told of a class."""
        return Kin(name=asked.name, pod=asked.pods.like, offers=asked.offers)

    def without_small_ones(self, asked: _Asked) -> _Asked:
        """The same without offers that are too small, if it matters where the others are.

        Each zone in which a pod may get a node counts for its spread. If nothing is large enough
        for it in one of them, that zone would stay empty and keep it out of the others.
        """
        keys = spread_keys(asked.pods.like) - {HOSTNAME}
        roomy = self._roomy_of(asked) if keys else frozenset[str]()
        return asked._replace(offers=roomy) if roomy else asked

    def _roomy_of(self, asked: _Asked) -> frozenset[str]:
        needs = asked.pods.like.requests
        return frozenset(name for name in asked.offers if self.rooms[name].covers(needs))

    def has_room(self, classes: Mapping[str, AlikePods]) -> Callable[[str], bool]:
        """Whether any pod of a class has a place by itself, by the name of the class."""

        def is_possible(of: str) -> bool:
            needs, offers = classes[of].like.requests, self.asked(classes[of]).offers
            return any(name in offers and room.covers(needs) for name, room in rooms.items())

        rooms = self.rooms
        return is_possible

    def asked(self, pods: AlikePods, *, is_follower: bool = False) -> _Asked:
        """A class with the offers that it may use; where followers may be, the Problem tells."""
        pod = pods.like
        key = (*self._key(pod, pods.pools), is_follower)
        if key not in self._known:
            keys = spread_keys(pod)
            if is_follower:
                keys |= {term.topology_key for term in pod.affinity_terms}
                pod = without_affinity(pod)
            self._known[key] = self._allowed(pod, pods.pools, keys=keys)
        pod = pods.like
        allowed, narrowed = self._known[key]
        is_in_vain, declined = self._nominated.is_in_vain(pod.shape), self._nominated.declined
        vain = frozenset(
            item.name for item in self._items if is_in_vain(item.offering.name)
        ) | frozenset(name for name, shape in declined if shape == pod.shape)
        if vain & allowed:
            allowed -= vain
            left = sum(item.name in allowed for item in self._items)
            narrowed = (*narrowed, ("nodes that similar pods couldn't use", left))
        return _Asked(pods, allowed, narrowed)

    def _key(self, pod: Pod, pools: frozenset[str]) -> tuple[object, ...]:
        # Only what decides which nodes will do: thousands of pods of different sizes share a few
        # answers. Pods that look at other pods, or that running pods may repel, share one within a
        # shape only.
        own = (pod.wanted_nodes, frozenset(pod.spec.tolerations), pools, pod.host_ports)
        if not pod.looks_at_others and not pod.iscsi_disks and not self._cluster.repelling:
            return own
        return (*own, pod.shape)

    def _allowed(
        self, pod: Pod, pools: frozenset[str], *, keys: frozenset[str]
    ) -> tuple[frozenset[str], tuple[tuple[str, int], ...]]:
        bare = without_spread(pod)
        own = [item for item in self._items if item.pool.name in pools]
        bought = {item.name: self._of_item(bare, item) for item in own}
        there = {
            spot.name: verdict(bare, self.nodes[spot.name], self._cluster) for spot in self._spots
        }
        fitting, nodes = self._fitting(bought, keys), self._fitting(there, keys)
        known = sum(isinstance(each, Fits) for each in bought.values())
        # Only a purchase helps the pod, so the reason is why offers don't fit, not nodes.
        narrowed = _narrowing(bought.values(), pools, spread_apart=known - len(fitting))
        return fitting | nodes, narrowed

    def _fitting(
        self, verdicts: Mapping[str, Fits | Rejected], keys: frozenset[str]
    ) -> frozenset[str]:
        # A spread doesn't count nodes without its topology key, and the scheduler puts no such pod
        # there.
        return frozenset(
            name
            for name, answer in verdicts.items()
            if isinstance(answer, Fits) and keys <= self.nodes[name].labels.keys()
        )

    def _of_item(self, pod: Pod, item: Purchasable) -> Fits | Rejected:
        # The pods of DaemonSets aren't on a node that doesn't exist, so the rules can't see their
        # ports.
        in_use = [port for daemon in item.daemons for port in daemon.host_ports]
        taken = ports.taken(pod.host_ports, in_use)
        if taken is not None:
            return Rejected(
                RejectionReason.HOST_PORT, f"a DaemonSet takes the host port {taken.text}"
            )
        return verdict(pod, self.nodes[item.name], self._cluster)


def _narrowing(
    verdicts: Iterable[Fits | Rejected], pools: frozenset[str], *, spread_apart: int
) -> tuple[tuple[str, int], ...]:
    """Each constraint with the number of offers that it left, in the scheduler's order."""
    answers = list(verdicts)
    refusals = Counter(each.reason for each in answers if isinstance(each, Rejected))
    refusals[RejectionReason.TOPOLOGY_SPREAD] += spread_apart
    left = len(answers)
    names = ", ".join(sorted(pools))
    steps = [(f"pool {names}" if pools else "no pool", left)]
    for reason in RejectionReason:
        if refusals[reason]:
            left -= refusals[reason]
            steps.append((NARROWED_BY.get(reason, reason.value), left))
    return tuple(steps)


def _roomy_item(item: Purchasable, resources: tuple[str, ...]) -> Node:
    key = (_roomy, resources)
    found: Node | None = item.forms.get(key)
    if found is None:
        found = item.forms[key] = _roomy(item.node, resources)
    return found


def _roomy(node: Node, resources: Iterable[str]) -> Node:
    """The node with plenty of everything: how much fits isn't asked of the rules."""
    plenty = {**node.status.allocatable, **dict.fromkeys(resources, PLENTY)}
    status = msgspec.structs.replace(node.status, allocatable=plenty)
    return msgspec.structs.replace(node, status=status)


def _problem(
    asked: Sequence[_Asked],
    rules: PodRules,
    ground: PromisedCluster,
    market: Market,
    limits: Iterable[Limit],
) -> Problem:
    resources = _wanted(each.pods.like for each in asked)
    return Problem(
        resources=resources,
        classes=tuple(_class(each, rules, resources) for each in asked),
        offers=(
            *(bought_offer(item, resources) for item in market.items),
            *(standing_offer(spot, resources) for spot in ground.spots),
        ),
        limits=tuple(limits),
        minima=market.minima(),
        groups=rules.groups,
    )


def _wanted(pods: Iterable[Pod]) -> tuple[str, ...]:
    """The resources that any pod requests."""
    amounts = (pod.requests.amounts.items() for pod in pods)
    return tuple(sorted({name for each in amounts for name, amount in each if amount > 0}))


def _class(asked: _Asked, rules: PodRules, resources: Sequence[str]) -> PodClass:
    return PodClass(
        name=asked.name,
        requests=vector_of(asked.pods.like.requests, resources),
        count=asked.pods.number,
        offers=asked.offers,
        priority=asked.pods.priority,
        marks=rules.marks.get(asked.name, frozenset()),
        repels=rules.repels.get(asked.name, frozenset()),
        narrowed=asked.narrowed,
    )
