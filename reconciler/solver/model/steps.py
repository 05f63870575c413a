"""Solves pools of the highest weight first: each weight is a step that sees what is left.

A step may also use the offers of earlier steps, because a rule such as a spread over zones may need
offers of both. The nodes that earlier steps bought exist in later ones.

Offers of one weight in two currencies are steps of their own, in the order of the currencies'
names: no step compares prices of two currencies. What the first one can place is bought there.

Anchors wait for a step in which their followers have offers, too: elsewhere they could be alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from reconciler.solver.model.nearness import tied_together
from reconciler.solver.model.plan import WeightStep
from reconciler.solver.model.remainder import remainder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reconciler.solver.model.draft_node import DraftNode
    from reconciler.solver.model.problem import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class StepAnswer:
    """The nodes that one step chose, and the bound on its cost."""

    nodes: Sequence[DraftNode]
    bound: int


class StepTurn(NamedTuple):
    """Which offers a step is about."""

    weight: int
    currency: str


def turns_of(problem: Problem) -> list[StepTurn]:
    """The steps that the offers that can be bought are solved in: the highest weight first."""
    found = {StepTurn(each.weight, each.currency) for each in problem.offers if not each.exists}
    return sorted(found, key=lambda turn: (-turn.weight, turn.currency))


def in_steps(
    problem: Problem, answer: Callable[[Problem], StepAnswer]
) -> tuple[list[DraftNode], tuple[WeightStep, ...]]:
    """Solve the problem step by step; `answer` solves each of them."""
    settled: list[DraftNode] = []
    steps = []
    current = problem
    turns = turns_of(problem) or [StepTurn(0, "")]
    for number, turn in enumerate(turns):
        found = answer(_in_turn(_without_early(current, turns, number), turn))
        names = {_settled_name(number): node for number, node in enumerate(settled)}
        cost = sum(0 if node.offer.exists else node.offer.price for node in found.nodes)
        for node in found.nodes:
            if node.offer.name in names:
                names[node.offer.name].pods.update(node.pods)
            else:
                settled.append(node)
        step = WeightStep(weight=turn.weight, cost=cost, bound=found.bound, currency=turn.currency)
        steps.append(step)
        if turn == turns[-1]:
            break
        current = remainder(
            problem, settled, [_settled_name(number) for number in range(len(settled))]
        )
        if _finished(current):
            break
    return settled, tuple(steps)


def _settled_name(number: int) -> str:
    return f"settled node {number:06}"


def _without_early(problem: Problem, turns: Sequence[StepTurn], number: int) -> Problem:
    """The problem without the pods that a later step can place with all that are tied to them."""
    early: set[str] = set()
    for part in tied_together(problem):
        able = [_have_offers(problem, turn, part) for turn in turns]
        if any(able[number + 1 :]) and not able[number]:
            early |= part
    classes = (replace(pod, count=0) if pod.name in early else pod for pod in problem.classes)
    return replace(problem, classes=tuple(classes)) if early else problem


def _have_offers(problem: Problem, turn: StepTurn, names: frozenset[str]) -> bool:
    """Whether a step has an offer for each of these classes."""
    offers = {offer.name for offer in _in_turn(problem, turn).offers}
    return all(pod.offers & offers for pod in problem.classes if pod.name in names and pod.count)


def _in_turn(problem: Problem, turn: StepTurn) -> Problem:
    """The problem of one step: existing nodes, and its currency's offers of its weight or more."""
    offers = tuple(
        offer
        for offer in problem.offers
        if offer.exists or (offer.weight >= turn.weight and offer.currency == turn.currency)
    )
    names = {offer.name for offer in offers}
    # A minimum of pools whose turn comes later can't be met now, and must not make this step fail.
    minima = tuple(minimum for minimum in problem.minima if minimum.offers & names)
    return replace(problem, offers=offers, minima=minima)


def _finished(problem: Problem) -> bool:
    """Whether all pods have a place and all minima are bought."""
    return not any(pod.count for pod in problem.classes) and not any(
        minimum.count for minimum in problem.minima
    )
