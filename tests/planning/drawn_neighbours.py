"""Small clusters whose pods must be near each other, and the best plan there is for each.

The best plan is found by trying everything, by the rules that pods are scheduled by and nothing
else: pods without affinity come first, and then each pod that the scheduler would bind.
"""

from __future__ import annotations

import random
from collections import Counter
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from growth.scheduling.cluster import Placed
from growth.scheduling.fits import FITS, verdict
from growth.scheduling.node import Node
from growth.scheduling.pod import Pod
from tests.planning.test_all_at_once import serving
from tests.reconciler.build import waiting
from tests.scheduling import build
from tests.scheduling.build import HOSTNAME, ZONE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from growth.scheduling.cluster import Cluster

APPS = ("a", "b", "c", "d")
TYPES = (("small", "2", 1, "here"), ("small", "2", 2, "there"), ("large", "8", 3, "here"))
"""The types of the node class that tests of planning use: their CPU, price and place."""
COPIES = 2


class DrawnCluster(NamedTuple):
    """What there is, and what waits."""

    there: tuple[Node | Pod, ...]
    waiting: tuple[Pod, ...]


def drawn(seed: int) -> DrawnCluster:
    """Up to five pods, most of which look at others, and perhaps a node that runs one."""
    chance = random.Random(f"neighbours {seed}")
    pods = tuple(_pod(chance, number) for number in range(chance.randint(2, 5)))
    there: list[Node | Pod] = []
    if chance.random() < 0.5:
        there.append(serving("old", cpu="2", labels={ZONE: chance.choice(("here", "there"))}))
        app = {"app": chance.choice(APPS)}
        there.append(build.pod("runs", labels=app, requests={"cpu": "500m"}, on="old"))
    return DrawnCluster(tuple(there), pods)


def _pod(chance: random.Random, number: int) -> Pod:
    affinity: dict[str, Any] = {}
    if chance.random() < 0.6:
        terms = [_term(chance) for _ in range(chance.choice((1, 1, 1, 2)))]
        affinity["podAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": terms}
    if chance.random() < 0.2:
        # Anti-affinity by more than the node is planned in rounds, which isn't the subject here.
        term = {**_term(chance), "topologyKey": HOSTNAME}
        affinity["podAntiAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    cpu = chance.choice(("500m", "1", "1500m", "2"))
    labels = {"app": chance.choice(APPS)}
    return waiting(f"pod-{number}", labels=labels, requests={"cpu": cpu}, affinity=affinity)


def _term(chance: random.Random) -> dict[str, Any]:
    selector = {"matchLabels": {"app": chance.choice(APPS)}}
    return {"topologyKey": chance.choice((HOSTNAME, HOSTNAME, ZONE)), "labelSelector": selector}


def new_node(name: str, server_type: str, zone: str) -> Node:
    """A machine of the node class as the node that it becomes."""
    cpu = next(size for kind, size, _, _ in TYPES if kind == server_type)
    labels = {ZONE: zone, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
    node: Node = serving(name, cpu=cpu, memory="4Gi", labels=labels)
    return node


def can_be_bound(drawing: DrawnCluster, order: Sequence[Placed]) -> bool:
    """Whether the scheduler can bind each pod to its node, in an order that it may take."""
    nodes = {each.name: each for each in drawing.there if isinstance(each, Node)}
    nodes |= {node.name: node for _, node in order}
    running = [each for each in drawing.there if isinstance(each, Pod)]

    def with_bound(bound: frozenset[int]) -> Cluster:
        more = (_on(*order[n]) for n in bound)
        return build.cluster(*nodes.values(), *running, *more)

    @cache
    def ends_well(bound: frozenset[int]) -> bool:
        left = [n for n in range(len(order)) if n not in bound]
        # A pod that needs nobody doesn't wait, so it is there before the others.
        simple = [n for n in left if not order[n].pod.affinity_terms]
        cluster = with_bound(bound)
        return not left or any(
            verdict(*order[n], cluster) == FITS and ends_well(bound | {n})
            for n in (simple[:1] or left)
        )

    return ends_well(frozenset())


def _on(pod: Pod, node: Node) -> Pod:
    return msgspec.structs.replace(
        pod, spec=msgspec.structs.replace(pod.spec, node_name=node.name), status=type(pod.status)()
    )


def best(drawing: DrawnCluster) -> tuple[int, int]:
    """How many pods every plan leaves out at least, and what such a plan costs at least."""
    ranked = sorted(_ranked(drawing), key=lambda one: one[0])
    return next(rank for rank, places in ranked if can_be_bound(drawing, places))


def _ranked(drawing: DrawnCluster) -> Iterator[tuple[tuple[int, int], list[Placed]]]:
    old = [each for each in drawing.there if isinstance(each, Node)]
    news = [
        (new_node(f"{kind}-{zone}-{number}", kind, zone), price, kind)
        for kind, _, price, zone in TYPES
        for number in range(COPIES)
    ]
    nodes = [None, *old, *(node for node, _, _ in news)]
    price = {node.name: price for node, price, _ in news}
    kinds = {node.name: kind for node, _, kind in news}
    taken = Counter({node.name: 500 for node in old})
    for choice in product(nodes, repeat=len(drawing.waiting)):
        places = [
            Placed(p, n) for p, n in zip(drawing.waiting, choice, strict=True) if n is not None
        ]
        used = {node.name for _, node in places}
        bought = Counter(kinds[name] for name in used if name in kinds)
        is_within = max(bought.values(), default=0) <= COPIES
        if is_within and _in_turn(used) and _has_room(places, taken):
            cost = sum(price.get(name, 0) for name in used)
            yield (len(drawing.waiting) - len(places), cost), places


def _has_room(order: Sequence[Placed], taken: Counter[str]) -> bool:
    used = Counter(taken)
    nodes = {node.name: node for _, node in order}
    for pod, node in order:
        used[node.name] += pod.requests["cpu"]
    return all(used[name] <= node.allocatable["cpu"] for name, node in nodes.items())


def _in_turn(used: set[str]) -> bool:
    """Whether the first of equal nodes is used first, as the others would only be repetitions."""
    return all(not name.endswith("-1") or f"{name.removesuffix('-1')}-0" in used for name in used)


def shares(places: Mapping[str, Sequence[Pod]], nodes: Mapping[str, Node]) -> list[Placed]:
    """Each pod with its node."""
    return [Placed(pod, nodes[name]) for name, pods in places.items() for pod in pods]
