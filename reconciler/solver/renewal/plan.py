"""Turns a trial back into names: a Plan with a place for each pod of the removed nodes.

The trial itself is already an answer. Its purchases were packed quickly, so the engine that plans
all demand solves the same pods once more. It also gets the existing places if there aren't too
many. The cheaper answer is used.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from reconciler.solver.model.draft_node import DraftNode
from reconciler.solver.model.explain import explained_nodes
from reconciler.solver.model.lots import ground_of
from reconciler.solver.model.plan import Plan, Stop
from reconciler.solver.packing.solving import solve_counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reconciler.solver.model.budget import Budget
    from reconciler.solver.model.problem import Problem
    from reconciler.solver.renewal.field import Settled
    from reconciler.solver.renewal.trial import RenewalTrial

CELLS = 4000
"""With more places times classes than this, the engine gets only the pods on bought nodes."""

NOTHING = Plan(
    nodes=(),
    unplaced=(),
    cost=0,
    bound=0,
    first_fit_cost=0,
    first_fit_unplaced=0,
    stop=Stop.NOTHING_TO_DO,
    effort=0,
)


def cheaper_plan(trial: RenewalTrial, budget: Budget) -> Plan:
    """The cheaper plan of the trial's own and the engine's."""
    own = _own(trial)
    if not own.cost or budget.over:
        return in_words(own, trial.field.settled)
    whole = moving(trial.field.settled, gone_of(trial))
    # The engine's work grows with places times classes; most of the gain is in what is bought.
    if len(whole.classes) * int(trial.is_open.sum()) <= CELLS:
        found = engine(whole, budget)
    else:
        found = _beside(own, engine(_bought_only(whole, own), budget), whole)
    # The engine may leave out pods when its effort ends; the trial has a place for each of them.
    better = not found.unplaced and found.cost < own.cost
    return in_words(found if better else own, trial.field.settled)


def gone_of(trial: RenewalTrial) -> tuple[str, ...]:
    """The names of the nodes that a trial removes."""
    field = trial.field
    return tuple(field.places[field.first + i] for i in np.flatnonzero(trial.gone).tolist())


def moving(settled: Settled, goes: Sequence[str]) -> Problem:
    """The problem of placing the pods of removed nodes on everything else."""
    gone, counts = set(goes), Counter[str]()
    for node in settled.standing:
        if node.offer in gone:
            counts.update(node.holds)
    problem = settled.problem
    return replace(
        problem,
        classes=tuple(replace(p, count=counts[p.name]) for p in problem.classes if counts[p.name]),
        offers=tuple(offer for offer in problem.offers if offer.name not in gone),
    )


def _own(trial: RenewalTrial) -> Plan:
    """The trial's own places as a plan."""
    field, problem = trial.field, trial.field.settled.problem
    offers = {offer.name: offer for offer in problem.offers}
    units = [_pods(trial, k) for k in range(field.goods.classes)]
    copies = [_copies(names) for names in field.goods.names]
    nodes = []
    for column in np.flatnonzero(trial.came.any(axis=0)).tolist():
        o = int(trial.bought[column])
        name = next(copies[o]) if o >= 0 else field.places[column]
        here = np.flatnonzero(trial.came[:, column]).tolist()
        pods = Counter(next(units[k]) for k in here for _ in range(int(trial.came[k, column])))
        nodes.append(DraftNode(offers[name], pods, kept=False))
    cost = sum(node.offer.price for node in nodes if not node.offer.exists)
    told = explained_nodes(problem, ground_of(problem), nodes)
    return replace(NOTHING, nodes=told, cost=cost, first_fit_cost=cost, stop=Stop.DRY)


def _pods(trial: RenewalTrial, k: int) -> Iterator[str]:
    """The class of each pod of a merged class, pod by pod."""
    names = sorted(lot.pods[0][0] for lot in trial.field.goods.lots[k])
    for i in np.flatnonzero(trial.gone).tolist():
        holds = trial.field.settled.standing[i].holds
        for name in names:
            yield from [name] * holds.get(name, 0)


def _copies(names: Sequence[tuple[str, int]]) -> Iterator[str]:
    """The names of equal offers, each as often as it can be bought."""
    for name, most in names:
        for _ in range(most):
            yield name


def _bought_only(whole: Problem, own: Plan) -> Problem:
    """The problem of the pods on bought nodes, without any existing node."""
    exists = {offer.name for offer in whole.offers if offer.exists}
    counts = Counter[str]()
    for node in own.nodes:
        counts.update({} if node.offer in exists else node.pods)
    return replace(
        whole,
        classes=tuple(replace(p, count=counts[p.name]) for p in whole.classes if counts[p.name]),
        offers=tuple(offer for offer in whole.offers if not offer.exists),
    )


def _beside(own: Plan, found: Plan, whole: Problem) -> Plan:
    """The engine's plan for the bought nodes, together with the moves to existing places."""
    exists = {offer.name for offer in whole.offers if offer.exists}
    stays = tuple(node for node in own.nodes if node.offer in exists)
    nodes = sorted((*found.nodes, *stays), key=lambda node: (node.offer, tuple(node.pods.items())))
    # The engine's bound holds for these purchases, not for the whole problem, which may need none.
    return replace(found, nodes=tuple(nodes), bound=0, steps=())


def engine(problem: Problem, budget: Budget, *, ticks: int | None = None) -> Plan:
    """The engine's plan; its work counts in this budget."""
    most = budget.left if ticks is None else min(ticks, budget.left)
    plan = solve_counted(problem, most, seconds=budget.seconds_left)
    budget.spend(plan.effort)
    return plan


def in_words(plan: Plan, settled: Settled) -> Plan:
    """The plan with the original classes."""
    nodes = tuple(replace(n, pods=_joined(n.pods, settled.pods_of)) for n in plan.nodes)
    return replace(plan, nodes=nodes)


def _joined(pods: Mapping[str, int], pods_of: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    counts = Counter[str]()
    for name, count in pods.items():
        counts.update({own: each * count for own, each in pods_of[name].items()})
    return dict(sorted(counts.items()))
