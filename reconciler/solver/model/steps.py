"""Solves pools of the highest weight first: each weight is a step that sees what is left.

A step may also use the offers of earlier steps, because a rule such as a spread over zones may need
offers of both. The nodes that earlier steps bought exist in later ones.
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
    """The nodes that one step chose, and the bound on its cost."""

    nodes: Sequence[DraftNode]
    bound: int


def weights_of(problem: Problem) -> list[int]:
    """The weights of the offers that can be bought, the highest first."""
    return sorted({offer.weight for offer in problem.offers if not offer.exists}, reverse=True)


def in_steps(
    problem: Problem, answer: Callable[[Problem], StepAnswer]
) -> tuple[list[DraftNode], tuple[WeightStep, ...]]:
    """Solve the problem weight by weight; `answer` solves each step."""
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
    """The problem of one step: existing nodes, and offers of its weight or a higher one."""
    offers = tuple(offer for offer in problem.offers if offer.exists or offer.weight >= weight)
    names = {offer.name for offer in offers}
    minima = tuple(minimum for minimum in problem.minima if minimum.offers & names)
    return replace(problem, offers=offers, minima=minima)


def _finished(problem: Problem) -> bool:
    """Whether all pods have a place and all minima are bought."""
    return not any(pod.count for pod in problem.classes) and not any(
        minimum.count for minimum in problem.minima
    )
