"""Followers and anchors on one node move as one: as a class of their own with a single unit.

They shared a node before, so wherever the unit finds room, each follower still has its anchor. That
allows fewer moves than the rule, and spares the search the rule.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reconciler.solver.model.problem import HOSTNAME, Apart, Near, SpreadRule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reconciler.solver.model.problem import PodClass, Problem


def tied_classes(problem: Problem) -> frozenset[str]:
    """The classes that may share a node because one must be near the other."""
    groups = [g for g in problem.groups if isinstance(g, Near) and g.key == HOSTNAME]
    return frozenset().union(*(group.members | group.anchors for group in groups))


def counted_classes(problem: Problem) -> frozenset[str]:
    """The classes that a rule counts on each node: one unit can't stand for several of them."""
    groups = [g for g in problem.groups if isinstance(g, Apart | SpreadRule) and g.key == HOSTNAME]
    limited = (pod.name for pod in problem.classes if pod.per_node is not None)
    return frozenset(limited).union(*(group.members for group in groups))


def as_one(name: str, pods: Sequence[tuple[PodClass, int]]) -> PodClass:
    """All these pods as one class with one unit."""
    classes = [pod for pod, _ in pods]
    return replace(
        classes[0],
        name=name,
        count=1,
        requests=tuple(
            sum(pod.requests[r] * count for pod, count in pods)
            for r in range(len(classes[0].requests))
        ),
        offers=frozenset.intersection(*(pod.offers for pod in classes)),
        priority=max(pod.priority for pod in classes),
        marks=frozenset().union(*(pod.marks for pod in classes)),
        repels=frozenset().union(*(pod.repels for pod in classes)),
    )
