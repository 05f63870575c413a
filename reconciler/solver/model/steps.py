"""Pools of the highest weight first: each weight is a step that sees what the ones before left.

A step may also use the offers of the steps before it, so that a rule that needs both (a spread over
places, say) is not broken for good by the order. What earlier steps bought exists in later ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from reconciler.solver.model.plan import WeightStep
from reconciler.solver.model.remainder import remainder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reconciler.solver.model.assemble import DraftNode
    from reconciler.solver.model.problem import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class StepAnswer:
    """The nodes that one step chose, and the bound of its cost."""

    nodes: Sequence[DraftNode]
    bound: int


def weights_of(problem: Problem) -> list[int]:
    """The weights of what can be bought, the highest first."""
    return sorted({offer.weight for offer in problem.offers if not offer.exists}, reverse=True)


def in_steps(
    problem: Problem, answer: Callable[[Problem], StepAnswer]
) -> tuple[list[DraftNode], tuple[WeightStep, ...]]:
    """Settle the problem weight by weight; every step is answered by the same function."""
    settled: list[DraftNode] = []
    steps = []
    current = problem
    weights = weights_of(problem) or [0]
    for weight in weights:
        found = answer(_at_weight(current, weight))
        names = {_settled_name(number): node for number, node in enumerate(settled)}
        cost = sum(0 if node.offer.exists else node.offer.price for node in found.nodes)
        for node in found.nodes:
            if node.offer.name in names:
                names[node.offer.name].pods.update(node.pods)
            else:
                settled.append(node)
        steps.append(WeightStep(weight=weight, cost=cost, bound=found.bound))
        if weight == weights[-1]:
            break
        current = remainder(
            problem, settled, [_settled_name(number) for number in range(len(settled))]
        )
        if _finished(current):
            break
    return settled, tuple(steps)


def _settled_name(number: int) -> str:
    return f"settled node {number:06}"


def _at_weight(problem: Problem, weight: int) -> Problem:
    """What a step sees: nodes that exist, and offers of its weight or a higher one."""
    offers = tuple(offer for offer in problem.offers if offer.exists or offer.weight >= weight)
    names = {offer.name for offer in offers}
    minima = tuple(minimum for minimum in problem.minima if minimum.offers & names)
    return replace(problem, offers=offers, minima=minima)


def _finished(problem: Problem) -> bool:
    """Nobody is without a place, and no minimum is still to be bought."""
    return not any(pod.count for pod in problem.classes) and not any(
        minimum.count for minimum in problem.minima
    )
