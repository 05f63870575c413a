"""Random problems, small enough to be solved by trying everything, with every rule there is."""

from __future__ import annotations

import random
from dataclasses import replace

from reconciler.solver.model.problem import (
    HOSTNAME,
    Apart,
    Group,
    Limit,
    Minimum,
    Near,
    Offer,
    PodClass,
    Problem,
    SpreadRule,
    Together,
)

ZONE = "zone"


def plain(seed: int) -> Problem:
    """Up to eight pods and four offers, with nothing but sizes, prices and allowed offers."""
    chance = random.Random(f"plain {seed}")
    offers = tuple(_offer(chance, number) for number in range(chance.randint(1, 4)))
    return Problem(resources=("cpu", "memory"), offers=offers, classes=_classes(chance, offers))


def ruled(seed: int) -> Problem:
    """The same with limits, counts, nodes that exist, priorities, repulsion and groups."""
    chance = random.Random(f"ruled {seed}")
    offers = tuple(_ruled_offer(chance, number) for number in range(chance.randint(1, 4)))
    classes = tuple(_ruled_class(chance, pod) for pod in _classes(chance, offers))
    names = tuple(pod.name for pod in classes)
    return Problem(
        resources=("cpu", "memory"),
        offers=offers,
        classes=classes,
        limits=_limits(chance, offers),
        minima=_minima(chance, offers),
        groups=tuple(
            _group(chance, number, names, offers) for number in range(chance.choice((0, 0, 1, 2)))
        ),
    )


def near(seed: int) -> Problem:
    """The same where up to three rules tie followers to anchors, in chains and with two anchors."""
    chance = random.Random(f"near {seed}")
    drawn = ruled(seed)
    while len(drawn.classes) < 2:
        drawn = ruled(chance.randint(0, 10**6))
    names = [pod.name for pod in drawn.classes]
    followers = tuple(
        _near(chance, number, names, drawn.offers) for number in range(chance.randint(1, 3))
    )
    return replace(drawn, groups=(*drawn.groups, *followers))


def _near(chance: random.Random, number: int, names: list[str], offers: tuple[Offer, ...]) -> Near:
    # Anchors have lower numbers than their followers, so no class needs itself.
    follower = chance.randint(1, len(names) - 1)
    anchors = chance.sample(names[:follower], chance.randint(1, min(2, follower)))
    key = chance.choice((ZONE, HOSTNAME))
    homes = [offer.name for offer in offers if offer.exists] if key == HOSTNAME else ["a", "b"]
    return Near(
        name=f"near-{number}",
        key=key,
        members=frozenset(names[follower : follower + chance.choice((1, 1, 2))]),
        anchors=frozenset(anchors),
        running=frozenset(home for home in homes if chance.random() < 0.2),
    )


def spread_over_nodes(seed: int) -> Problem:
    """Up to eight pods and three offers, with one or two spreads over nodes."""
    chance = random.Random(f"nodes {seed}")
    offers = tuple(_ruled_offer(chance, number) for number in range(chance.randint(1, 3)))
    classes = _classes(chance, offers)
    names = tuple(pod.name for pod in classes)
    groups = tuple(
        _over_nodes(chance, f"group-{number}", _some(chance, names), offers)
        for number in range(chance.choice((1, 1, 2)))
    )
    return Problem(resources=("cpu", "memory"), offers=offers, classes=classes, groups=groups)


def _some(chance: random.Random, names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(chance.sample(names, chance.randint(1, min(2, len(names)))))


def _over_nodes(
    chance: random.Random, name: str, members: frozenset[str], offers: tuple[Offer, ...]
) -> SpreadRule:
    """A spread over nodes, with nodes that are full, and some that count for it alone."""
    full = [f"full-{number}" for number in range(chance.choice((0, 0, 1, 2)))]
    there = [offer.name for offer in offers if offer.exists]
    new = [offer.name for offer in offers if not offer.exists]
    least = chance.randint(0, 3)
    return SpreadRule(
        name=name,
        key=HOSTNAME,
        members=members,
        max_skew=chance.randint(1, 2),
        running={node: least + chance.randint(0, 1) for node in (*full, *there)},
        domains=frozenset(full),
        counted=frozenset(each for each in new if chance.random() < 0.2),
        min_domains=chance.choice((1, 1, 1, 2, 3)),
    )


def _offer(chance: random.Random, number: int) -> Offer:
    cpu, memory = chance.randint(2, 12), chance.randint(2, 12)
    price = round((cpu * 3 + memory * 2) * chance.uniform(0.6, 1.6) * 1000)
    zone = chance.choice("ab")
    return Offer(
        name=f"offer-{number}",
        type=f"type-{number}",
        capacity=(cpu, memory),
        price=price,
        labels={ZONE: zone},
    )


def _ruled_offer(chance: random.Random, number: int) -> Offer:
    plain_offer = _offer(chance, number)
    most = chance.choice((None, None, 1, 2))
    return Offer(
        name=plain_offer.name,
        type=plain_offer.type,
        capacity=plain_offer.capacity,
        price=plain_offer.price,
        labels=plain_offer.labels if chance.random() < 0.9 else {},
        most=most,
        exists=chance.random() < 0.25,
        marks=frozenset(chance.sample("xy", chance.choice((0, 0, 0, 1)))),
    )


def _classes(chance: random.Random, offers: tuple[Offer, ...]) -> tuple[PodClass, ...]:
    left = chance.randint(1, 8)
    classes: list[PodClass] = []
    while left:
        count = chance.randint(1, left)
        allowed = chance.sample(offers, chance.randint(1, len(offers)))
        classes.append(
            PodClass(
                name=f"class-{len(classes)}",
                requests=(chance.randint(0, 6), chance.randint(0, 6)),
                count=count,
                offers=frozenset(offer.name for offer in allowed),
            )
        )
        left -= count
    return tuple(classes)


def _ruled_class(chance: random.Random, pod: PodClass) -> PodClass:
    return PodClass(
        name=pod.name,
        requests=pod.requests,
        count=pod.count,
        offers=pod.offers,
        priority=chance.choice((0, 0, 5)),
        per_node=chance.choice((None, None, None, 1, 2)),
        marks=frozenset(chance.sample("xyz", chance.choice((0, 0, 1)))),
        repels=frozenset(chance.sample("xyz", chance.choice((0, 0, 0, 1)))),
    )


def _limits(chance: random.Random, offers: tuple[Offer, ...]) -> tuple[Limit, ...]:
    if chance.random() < 0.6:
        return ()
    nodes = Limit(
        name="nodes", amounts={offer.name: 1 for offer in offers}, most=chance.randint(0, 3)
    )
    cost = Limit(
        name="cost",
        amounts={offer.name: offer.price for offer in offers},
        most=chance.randint(10_000, 120_000),
    )
    return tuple(chance.sample((nodes, cost), chance.randint(1, 2)))


def _minima(chance: random.Random, offers: tuple[Offer, ...]) -> tuple[Minimum, ...]:
    new = [offer for offer in offers if not offer.exists]
    if chance.random() < 0.8 or not new:
        return ()
    some = frozenset(offer.name for offer in chance.sample(new, chance.randint(1, len(new))))
    return (Minimum(name="warm", offers=some, count=1),)


def _group(
    chance: random.Random, number: int, names: tuple[str, ...], offers: tuple[Offer, ...]
) -> Group:
    members = frozenset(chance.sample(names, chance.randint(1, min(2, len(names)))))
    key = chance.choice((ZONE, HOSTNAME))
    name = f"group-{number}"
    zones = chance.choice(("", "a", "ab"))
    homes = [offer.name for offer in offers if offer.exists] if key == HOSTNAME else zones
    running = {home: chance.randint(0, 2) for home in homes}
    match chance.choice(("spread", "apart", "together")):
        case "spread" if key == HOSTNAME and chance.random() < 0.5:
            return _over_nodes(chance, name, members, offers)
        case "spread":
            return SpreadRule(
                name=name,
                key=key,
                members=members,
                max_skew=chance.randint(1, 2),
                running=running,
            )
        case "apart":
            return Apart(
                name=name, key=key, members=members, most=chance.randint(1, 2), running=running
            )
        case _:
            return Together(name=name, key=key, members=members)
