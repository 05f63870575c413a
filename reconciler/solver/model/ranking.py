"""How answers are compared: by unplaced pods of each priority, then by cost, then by nodes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reconciler.solver.model.draft_node import DraftNode
    from reconciler.solver.model.problem import Problem

Rank = tuple[tuple[tuple[int, int], ...], int, int]


def rank_of(problem: Problem, nodes: Sequence[DraftNode]) -> Rank:
    """How answers are compared: by unplaced pods, then by cost, then by the number of nodes."""
    placed: Counter[str] = Counter()
    for node in nodes:
        placed.update(node.pods)
    left: Counter[int] = Counter()
    for pod in problem.classes:
        left[pod.priority] += pod.count - placed[pod.name]
    missing = tuple(sorted(((p, n) for p, n in left.items() if n), reverse=True))
    return missing, cost_of_new_nodes(nodes), len(nodes)


def is_better(problem: Problem, one: Sequence[DraftNode], other: Sequence[DraftNode]) -> bool:
    """Whether one answer is better, where nothing of two currencies is weighed against each other.

    With equally many pods placed it costs less in one currency and no more in any other.
    """
    ranks = rank_of(problem, one), rank_of(problem, other)
    paid, instead = _costs(one), _costs(other)
    if ranks[0][0] != ranks[1][0] or len(paid.keys() | instead.keys()) <= 1:
        return ranks[0] < ranks[1]
    return paid != instead and all(paid[name] <= instead[name] for name in (*paid, *instead))


def _costs(nodes: Sequence[DraftNode]) -> Counter[str]:
    found: Counter[str] = Counter()
    for node in nodes:
        if not node.offer.exists:
            found[node.offer.currency] += node.offer.price
    return found


def cost_of_new_nodes(nodes: Sequence[DraftNode]) -> int:
    """The cost of the new nodes per hour."""
    return sum(0 if node.offer.exists else node.offer.price for node in nodes)
