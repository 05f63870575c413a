"""What is left of a problem after some nodes are decided, as a new problem.

Pools of a lower weight see only what the higher ones left: the pods without a place, the planned
nodes (which now exist, with the room left on them), and what remains of the limits.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from reconciler.solver.model.problem import (
    HOSTNAME,
    Apart,
    Group,
    Minimum,
    Near,
    Offer,
    SpreadRule,
    Together,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reconciler.solver.model.draft_node import DraftNode
    from reconciler.solver.model.problem import PodClass, Problem


def remainder(problem: Problem, nodes: Sequence[DraftNode], names: Sequence[str]) -> Problem:
    """The problem without the pods on these nodes, which now exist under the given names."""
    placed: Counter[str] = Counter()
    for node in nodes:
        placed.update(node.pods)
    bought = Counter(node.offer.name for node in nodes)
    settled = list(zip(names, nodes, strict=True))
    classes = {pod.name: pod for pod in problem.classes}
    new = [_still_offered(o, bought[o.name]) for o in problem.offers]
    offers = [*(o for o in new if o is not None), *_existing(settled, classes)]
    left = [_left(pod, placed[pod.name], settled) for pod in problem.classes]
    return replace(
        problem,
        classes=tuple(_bound(pod, problem.groups, settled=settled, offers=offers) for pod in left),
        offers=tuple(offers),
        limits=tuple(
            replace(limit, most=limit.most - _used(limit.amounts, nodes))
            for limit in problem.limits
        ),
        minima=tuple(
            replace(minimum, count=_missing(minimum, bought)) for minimum in problem.minima
        ),
        groups=(*(_running(g, settled) for g in problem.groups), *_per_node(classes, settled)),
    )


def _used(amounts: Mapping[str, int], nodes: Sequence[DraftNode]) -> int:
    return sum(amounts.get(node.offer.name, 0) for node in nodes if not node.offer.exists)


def _missing(minimum: Minimum, bought: Counter[str]) -> int:
    return max(0, minimum.count - sum(bought[name] for name in minimum.offers))


def _still_offered(offer: Offer, bought: int) -> Offer | None:
    if offer.exists:
        # A used node comes back with the room that is left on it, among the settled ones.
        return None if bought else offer
    return replace(offer, most=None if offer.most is None else offer.most - bought)


def _left(pod: PodClass, placed: int, settled: Sequence[tuple[str, DraftNode]]) -> PodClass:
    also = frozenset(name for name, node in settled if node.offer.name in pod.offers)
    return replace(pod, count=pod.count - placed, offers=pod.offers | also)


def _existing(
    settled: Sequence[tuple[str, DraftNode]], classes: Mapping[str, PodClass]
) -> list[Offer]:
    result = []
    for name, node in settled:
        pods = [(classes[one], count) for one, count in node.pods.items()]
        room = [
            amount - sum(pod.requests[r] * count for pod, count in pods)
            for r, amount in enumerate(node.offer.capacity)
        ]
        # The planned pods repel later ones just as running pods do.
        marks = frozenset().union(node.offer.marks, *(pod.marks for pod, _ in pods))
        repels = frozenset().union(node.offer.repels, *(pod.repels for pod, _ in pods))
        result.append(
            replace(
                node.offer,
                name=name,
                capacity=tuple(room),
                exists=True,
                marks=marks,
                repels=repels,
            )
        )
    return result


def _running(group: Group, settled: Sequence[tuple[str, DraftNode]]) -> Group:
    if isinstance(group, Together):
        return group
    if isinstance(group, Near):
        return replace(group, running=group.running | _anchored(group, settled))
    running = Counter(dict(group.running))
    for name, node in settled:
        domain = name if group.key == HOSTNAME else node.offer.labels.get(group.key, "")
        # A node that existed before this step gets a new name here, and the pods that ran on it
        # move with it to that name.
        before = group.running.get(node.offer.name, 0) if group.key == HOSTNAME else 0
        running[domain] += before + sum(node.pods[member] for member in group.members)
    # A domain without pods still counts as one if it was listed.
    counted = {name: n for name, n in running.items() if n or name in group.running}
    if not isinstance(group, SpreadRule) or group.key != HOSTNAME:
        return replace(group, running=counted)
    return _renamed(replace(group, running=counted), settled)


def _renamed(group: SpreadRule, settled: Sequence[tuple[str, DraftNode]]) -> SpreadRule:
    """A spread over nodes in which the settled nodes have their new names."""
    before = {node.offer.name for _, node in settled if node.offer.exists}
    running = {name: n for name, n in group.running.items() if name not in before}
    listed = group.domains | group.counted
    after = {name for name, node in settled if node.offer.name in listed}
    return replace(group, running=running, domains=(group.domains - before) | after)


def _anchored(group: Near, settled: Sequence[tuple[str, DraftNode]]) -> set[str]:
    """The domains that are open to followers by what is decided; a node has a new name there."""
    by_node = group.key == HOSTNAME
    return {
        name if by_node else node.offer.labels.get(group.key, "")
        for name, node in settled
        if any(node.pods[anchor] for anchor in group.anchors)
        or (by_node and node.offer.name in group.running)
    } - {""}


def _per_node(
    classes: Mapping[str, PodClass], settled: Sequence[tuple[str, DraftNode]]
) -> list[Apart]:
    """The per-node limit of a class as a group, because a group counts the pods already there."""
    return [
        Apart(
            name=f"per node {pod.name}",
            key=HOSTNAME,
            members=frozenset([pod.name]),
            most=pod.per_node,
            running={name: node.pods[pod.name] for name, node in settled if node.pods[pod.name]},
        )
        for pod in classes.values()
        if pod.per_node is not None
    ]


def _bound(
    pod: PodClass,
    groups: Sequence[Group],
    *,
    settled: Sequence[tuple[str, DraftNode]],
    offers: Sequence[Offer],
) -> PodClass:
    """A class whose group stays together may use only the domains of the members already placed."""
    for group in groups:
        if not isinstance(group, Together) or pod.name not in group.members:
            continue
        homes = [(n, node) for n, node in settled if any(node.pods[m] for m in group.members)]
        if not homes:
            continue
        if group.key == HOSTNAME:
            return replace(pod, offers=pod.offers & {name for name, _ in homes})
        near = {node.offer.labels.get(group.key, "") for _, node in homes}
        inside = {o.name for o in offers if o.labels.get(group.key, "") in near}
        pod = replace(pod, offers=pod.offers & inside)
    return pod
