"""Random clusters, small enough to ask about every set of their nodes, and what each set gains."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import chain, combinations, permutations
from typing import TYPE_CHECKING

from reconciler.solver import (
    HOSTNAME,
    Apart,
    Effort,
    Limit,
    Near,
    Offer,
    PodClass,
    Problem,
    RenewableNode,
    Renewal,
    SpreadRule,
)
from reconciler.solver.packing.solving import solve

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence

    from reconciler.solver import Group

ZONE = "zone"
FEW = 6
"""Nodes at most: so few sets that each one is solved by itself."""


def cluster(chance: random.Random, *, grouped: bool) -> Renewal:
    """A few nodes with pods on them, each of an offer that is still sold, with every rule."""
    offers = tuple(_offer(chance, number) for number in range(chance.randint(1, 3)))
    classes = [_pod(chance, number, offers) for number in range(chance.randint(1, 4))]
    nodes = [_filled(chance, classes, offers, n) for n in range(chance.randint(1, FEW))]
    rooms = tuple(_room(name, offer, held, classes) for name, offer, held in nodes)
    extra = chance.choice((0, 0, 1))
    usable = {pod.name: _usable(pod, rooms) for pod in classes}
    counts = Counter[str]()
    for _, _, held in nodes[extra:]:
        counts.update(held)
    return Renewal(
        problem=Problem(
            resources=("cpu", "memory"),
            offers=(*offers, *rooms),
            classes=tuple(
                replace(pod, count=counts[pod.name], offers=usable[pod.name]) for pod in classes
            ),
            limits=_limits(chance, offers),
            groups=_groups(chance, classes, nodes) if grouped else (),
        ),
        standing=tuple(
            RenewableNode(
                offer=name,
                price=round(offer.price * chance.choice((1.0, 1.0, 1.5))),
                holds=dict(held),
                disturbance=held.total() * chance.choice((0, 500, 4000)),
                group=chance.choice("pq"),
            )
            for name, offer, held in nodes[extra:]
        ),
        most=chance.choice(({}, {}, {"p": 1, "q": 0}, {"p": 2})),
    )


def followed(chance: random.Random) -> Renewal:
    """The same where pods of one class must be near those of another, if they are already."""
    renewal = cluster(chance, grouped=chance.random() < 0.5)
    holds = [node.holds for node in renewal.standing]
    pairs = [
        (one.name, other.name)
        for one, other in permutations(renewal.problem.classes, 2)
        if all(held.get(other.name) for held in holds if held.get(one.name))
    ]
    if not pairs:
        return renewal
    follower, anchor = chance.choice(pairs)
    near = Near(
        name="near",
        key=HOSTNAME,
        members=frozenset({follower}),
        anchors=frozenset({anchor}),
        running=frozenset(node.offer for node in renewal.standing if node.holds.get(anchor)),
    )
    problem = replace(renewal.problem, groups=(*renewal.problem.groups, near))
    return replace(renewal, problem=problem)


Node = tuple[str, Offer, Counter[str]]


def _offer(chance: random.Random, number: int) -> Offer:
    size = chance.choice((4, 8, 12, 16))
    return Offer(
        name=f"offer-{number}",
        capacity=(size, size + chance.randint(-3, 3)),
        price=round(size * 1000 * chance.uniform(0.6, 1.6)),
        labels={ZONE: chance.choice("ab")},
        most=chance.choice((None, None, None, 2)),
    )


def _pod(chance: random.Random, number: int, offers: tuple[Offer, ...]) -> PodClass:
    allowed = chance.sample(offers, chance.randint(1, len(offers)))
    own = f"own-{number}"
    alone = chance.random() < 0.2
    return PodClass(
        name=f"class-{number}",
        requests=(chance.randint(1, 4), chance.randint(0, 4)),
        count=0,
        offers=frozenset(offer.name for offer in allowed),
        per_node=chance.choice((None, None, None, 2)),
        marks=frozenset({own, *chance.sample("xy", chance.choice((0, 0, 1)))}),
        repels=frozenset({own} if alone else chance.sample("xy", chance.choice((0, 0, 0, 1)))),
    )


def _filled(
    chance: random.Random, classes: list[PodClass], offers: tuple[Offer, ...], number: int
) -> Node:
    """A node with whatever of a random order of pods it takes."""
    offer = chance.choice(offers)
    held = Counter[str]()
    for pod in chance.choices(classes, k=chance.randint(0, 4)):
        more = held + Counter({pod.name: 1})
        if offer.name in pod.offers and _is_peaceful(pod, held, classes):
            free = _room("", offer, more, classes).capacity
            held = more if min(free) >= 0 else held
    return f"node-{number}", offer, held


def _is_peaceful(pod: PodClass, held: Counter[str], classes: list[PodClass]) -> bool:
    here = [one for one in classes if held[one.name]]
    return not any(pod.marks & one.repels or pod.repels & one.marks for one in here)


def _room(name: str, offer: Offer, held: Counter[str], classes: list[PodClass]) -> Offer:
    here = [pod for pod in classes if held[pod.name]]
    used = [sum(pod.requests[r] * held[pod.name] for pod in here) for r in range(2)]
    return Offer(
        name=name,
        type=offer.name,
        capacity=(offer.capacity[0] - used[0], offer.capacity[1] - used[1]),
        labels=offer.labels,
        exists=True,
        marks=frozenset().union(*(pod.marks for pod in here)),
        repels=frozenset().union(*(pod.repels for pod in here)),
    )


def _usable(pod: PodClass, rooms: tuple[Offer, ...]) -> frozenset[str]:
    return pod.offers | {room.name for room in rooms if room.type in pod.offers}


def _limits(chance: random.Random, offers: tuple[Offer, ...]) -> tuple[Limit, ...]:
    if chance.random() < 0.7:
        return ()
    amounts = {offer.name: 1 for offer in offers}
    return (Limit(name="nodes", amounts=amounts, most=chance.randint(0, 2)),)


def _groups(chance: random.Random, classes: list[PodClass], nodes: list[Node]) -> tuple[Group, ...]:
    """Rules that hold already, whatever the nodes came to hold."""
    members = frozenset(pod.name for pod in chance.sample(classes, min(2, len(classes))))
    zones, hosts = Counter[str](), Counter[str]()
    for name, offer, held in nodes:
        here = sum(held[member] for member in members)
        zones[offer.labels[ZONE]] += here
        hosts[name] += here
    skew = max(1, abs(zones["a"] - zones["b"]))
    spread = SpreadRule(name="level", key=ZONE, members=members, max_skew=skew, running=dict(zones))
    most = max(1, *hosts.values())
    apart = Apart(name="apart", key=HOSTNAME, members=members, most=most, running=dict(hosts))
    return tuple(chance.sample((spread, apart), chance.randint(1, 2)))


def moving(renewal: Renewal, goes: Sequence[str]) -> Problem:
    """The pods of nodes that go, and all that is left of the cluster, as a problem."""
    gone, counts = set(goes), Counter[str]()
    problem = renewal.problem
    for node in renewal.standing:
        counts.update(node.holds if node.offer in gone else {})
    return replace(
        problem,
        classes=tuple(replace(pod, count=counts[pod.name]) for pod in problem.classes),
        offers=tuple(offer for offer in problem.offers if offer.name not in gone),
        groups=tuple(_without(renewal, group, gone) for group in problem.groups),
    )


def _without(renewal: Renewal, group: Group, gone: set[str]) -> Group:
    if isinstance(group, Near):
        return replace(group, running=group.running - gone)
    if not isinstance(group, (SpreadRule, Apart)):
        return group
    domains = {
        offer.name: offer.name if group.key == HOSTNAME else offer.labels.get(group.key, "")
        for offer in renewal.problem.offers
    }
    running = Counter(group.running)
    for node in renewal.standing:
        if node.offer in gone:
            running[domains[node.offer]] -= sum(node.holds.get(name, 0) for name in group.members)
    return replace(group, running=dict(running))


def allowed_sets(renewal: Renewal) -> Iterator[tuple[RenewableNode, ...]]:
    """Every set of nodes that the ceilings let go."""
    nodes = renewal.standing
    for some in chain.from_iterable(combinations(nodes, n) for n in range(len(nodes) + 1)):
        going = Counter(node.group for node in some)
        if all(count <= renewal.most.get(group, count) for group, count in going.items()):
            yield some


def best_gain(renewal: Renewal) -> int:
    """The most that any set gains: each one solved by itself."""
    best = 0
    for some in allowed_sets(renewal):
        paid = sum(node.price - node.disturbance for node in some)
        if paid > best:
            plan = solve(moving(renewal, [node.offer for node in some]), Effort.THOROUGH)
            best = best if plan.unplaced else max(best, paid - plan.cost)
    return best
