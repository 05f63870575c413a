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

    Of two that place equally many pods, the better one places more on the offers of higher weights,
    or else pays less for these: in one currency, and no more in any other.
    """
    ranks = rank_of(problem, one), rank_of(problem, other)
    if ranks[0][0] != ranks[1][0]:
        return ranks[0] < ranks[1]
    for weight in sorted({o.weight for o in problem.offers if not o.exists}, reverse=True):
        ours, theirs = _down_to(weight, one), _down_to(weight, other)
        missing = rank_of(problem, ours)[0], rank_of(problem, theirs)[0]
        if missing[0] != missing[1]:
            return missing[0] < missing[1]
        paid, instead = _costs(ours), _costs(theirs)
        if paid != instead:
            return all(paid[name] <= instead[name] for name in (*paid, *instead))
    return ranks[0] < ranks[1]


def _down_to(weight: int, nodes: Sequence[DraftNode]) -> list[DraftNode]:
    return [node for node in nodes if node.offer.exists or node.offer.weight >= weight]


def _costs(nodes: Sequence[DraftNode]) -> Counter[str]:
    found: Counter[str] = Counter()
    for node in nodes:
        if not node.offer.exists:
            found[node.offer.currency] += node.offer.price
    return found


def cost_of_new_nodes(nodes: Sequence[DraftNode]) -> int:
    """The cost of the new nodes per hour."""
    return sum(0 if node.offer.exists else node.offer.price for node in nodes)
