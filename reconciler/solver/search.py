"""The search for the best nodes of one step: each stage begins with the best that is known."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reconciler.solver.assemble import Node, assemble
from reconciler.solver.bound import Values, lower_bound
from reconciler.solver.finish import right_sized
from reconciler.solver.first_fit import first_fit
from reconciler.solver.pack import pack
from reconciler.solver.plan import Stop
from reconciler.solver.prove import NODES, PODS, prove
from reconciler.solver.relax import relax

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reconciler.solver.budget import Budget
    from reconciler.solver.draft import Draft
    from reconciler.solver.problem import Problem
    from reconciler.solver.setting import Setting
    from reconciler.solver.table import Table

Rank = tuple[tuple[tuple[int, int], ...], int, int]


def rank_of(problem: Problem, nodes: Sequence[Node]) -> Rank:
    """What answers are compared by: who is left out, the cost, the number of nodes."""
    placed: Counter[str] = Counter()
    for node in nodes:
        placed.update(node.pods)
    left: Counter[int] = Counter()
    for pod in problem.classes:
        left[pod.priority] += pod.count - placed[pod.name]
    missing = tuple(sorted(((p, n) for p, n in left.items() if n), reverse=True))
    return missing, cost_of(nodes), len(nodes)


def cost_of(nodes: Sequence[Node]) -> int:
    """What the new nodes cost per hour."""
    return sum(0 if node.offer.exists else node.offer.price for node in nodes)


@dataclass(slots=True)
class Search:
    """The best nodes so far, the bounds so far, and what both were bought with."""

    setting: Setting
    budget: Budget
    watch: Callable[[Search], None]
    first: list[Node] = field(default_factory=list)
    best: list[Node] = field(default_factory=list)
    values: list[Values] = field(default_factory=list)
    proven: int = 0
    stop: Stop = Stop.DRY

    def run(self) -> None:
        """All stages, until one proves that nothing better exists or the budget is spent."""
        setting = self.setting
        self.first = self.best = assemble(
            setting.problem, setting.table, first_fit(setting.table, self.budget)
        )
        if not setting.relaxed.classes or not setting.relaxed.offers:
            self.stop = Stop.NOTHING_TO_DO
            return
        self._pack()
        if self._small():
            self._prove()

    def bound(self) -> int:
        """The best lower bound on what a plan costs that leaves out no more than the best does."""
        left = self.setting.left_out(self.best)
        found = (lower_bound(self.setting.relaxed, values, left) for values in self.values)
        return max(self.proven, *found, 0)

    def offer(self, table: Table, draft: Draft) -> None:
        """Take a draft as the best when it is."""
        problem = self.setting.problem
        nodes = assemble(problem, table, draft)
        if rank_of(problem, nodes) < rank_of(problem, self.best):
            self.best = nodes
        self.watch(self)

    def _pack(self) -> None:
        setting = self.setting
        relaxation = relax(setting.relaxed, self.budget)
        if relaxation is None:
            return
        self.values.append(relaxation.values)
        if setting.table is not setting.relaxed:
            relaxation = relax(setting.table, self.budget)
        if relaxation is not None:
            draft = pack(setting.table, relaxation, self.budget)
            self.offer(setting.table, right_sized(setting.table, draft))

    def _small(self) -> bool:
        pods = int(self.setting.relaxed.demand.sum())
        return pods <= PODS and len(self.best) <= NODES

    def _prove(self) -> None:
        setting = self.setting
        proof = prove(
            setting.problem,
            setting.relaxed,
            cost=cost_of(self.best),
            left=setting.left_out(self.best),
            nodes=sum(not node.offer.exists for node in self.best),
            budget=self.budget,
        )
        if proof is None:
            return
        self.offer(setting.relaxed, proof.draft)
        self.proven = proof.bound
        if proof.optimal:
            self.stop = Stop.PROVEN
