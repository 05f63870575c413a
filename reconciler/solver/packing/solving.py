"""From a Problem to a Plan: a complete answer early, and better ones while effort is left.

Each pool weight is a separate step, and each currency in it. First-fit is always computed too, and
the better plan is used.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from reconciler.solver.arrays.setting import setting_of
from reconciler.solver.bound.bound import lower_bound
from reconciler.solver.bound.relax import relax
from reconciler.solver.model.budget import Budget
from reconciler.solver.model.explain import explained_nodes, unplaced_classes
from reconciler.solver.model.levelling import keeps_spread
from reconciler.solver.model.lots import ground_of
from reconciler.solver.model.plan import Plan, Stop, WeightStep
from reconciler.solver.model.problem import CLOSE, Effort, Problem
from reconciler.solver.model.ranking import cost_of_new_nodes, is_better, rank_of
from reconciler.solver.model.spreads import node_spreads
from reconciler.solver.model.steps import StepAnswer, in_steps, turns_of
from reconciler.solver.packing.levels import Levels
from reconciler.solver.packing.search import Search

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reconciler.solver.model.draft_node import DraftNode


def solve(
    problem: Problem,
    effort: Effort = Effort.NORMAL,
    *,
    seconds: float = 60.0,
    watch: Callable[[Plan], None] | None = None,
) -> Plan:
    """The best plan that the effort finds, with a proven bound.

    `watch` is called with each complete plan on the way; `seconds` is only a safety net.
    """
    return solve_counted(
        problem, effort.value, content=effort.content, seconds=seconds, watch=watch
    )


def solve_counted(
    problem: Problem,
    ticks: int,
    *,
    content: float = CLOSE,
    seconds: float = 60.0,
    watch: Callable[[Plan], None] | None = None,
) -> Plan:
    """The same with any number of ticks, and any gap at which the search ends."""
    start = time.perf_counter()
    budget = Budget(ticks, time.monotonic() + seconds)
    return _Solve(problem, budget, start, watch, content=content).run()


def solve_by_first_fit(problem: Problem) -> Plan:
    """The plan of first-fit, without a bound; used when the optimiser can't answer."""
    work = _Solve(problem, Budget(0, time.monotonic()), time.perf_counter(), None)
    nodes, steps = in_steps(problem, work.by_first_fit)
    return work.plan(nodes, steps, first=nodes, stop=Stop.EFFORT)


class _Solve:
    """One solve: its problem, its budget and its watcher."""

    def __init__(
        self,
        problem: Problem,
        budget: Budget,
        start: float,
        watch: Callable[[Plan], None] | None,
        *,
        content: float = CLOSE,
    ) -> None:
        self.problem = problem.in_order()
        self.content = content
        self.budget = budget
        self.start = start
        self.watch = watch
        self.stops: list[Stop] = []
        self.first: Sequence[DraftNode] = ()

    def run(self) -> Plan:
        """Solve all steps by search; use first-fit for all of them if that is better."""
        # Nodes of a later step may be emptier than an earlier one can know. So with several steps,
        # the limits are those that hold whatever is bought later.
        if len(turns_of(self.problem)) > 1:
            self.problem = self.problem.limited_by_node()
        nodes, steps = in_steps(self.problem, self.by_search)
        first = self.first
        # With one step, the search has already compared its result with first-fit.
        if len(steps) > 1:
            first, first_steps = in_steps(self.problem, self.by_first_fit)
            if self._keeps_spreads(first) and is_better(self.problem, first, nodes):
                nodes, steps = first, first_steps
        return self.plan(nodes, steps, first=first, stop=self._stop())

    def _keeps_spreads(self, nodes: Sequence[DraftNode]) -> bool:
        return all(keeps_spread(spread, nodes) for spread in node_spreads(self.problem))

    def by_search(self, problem: Problem) -> StepAnswer:
        """Solve one step with all stages."""
        levels = Levels(problem, self.budget)
        if levels.spreads:
            setting, nodes = levels.packed()
            search = Search(setting, self.budget, self._tell, self.content)
            search.begin(nodes, levels.by_first_fit())
        else:
            search = Search(levels.plain, self.budget, self._tell, self.content)
        search.run()
        self.stops.append(search.stop)
        self.first = search.first
        return StepAnswer(nodes=search.best, bound=search.bound())

    def by_first_fit(self, problem: Problem) -> StepAnswer:
        """Solve one step by first-fit alone, which proves nothing."""
        return StepAnswer(nodes=Levels(problem, self.budget).by_first_fit(), bound=0)

    def plan(
        self,
        nodes: Sequence[DraftNode],
        steps: tuple[WeightStep, ...],
        *,
        first: Sequence[DraftNode],
        stop: Stop,
    ) -> Plan:
        """The Plan for an answer, with its explanations."""
        problem, ground = self.problem, ground_of(self.problem)
        without = rank_of(problem, first)[0]
        return Plan(
            nodes=explained_nodes(problem, ground, nodes),
            unplaced=unplaced_classes(problem, ground, nodes),
            cost=cost_of_new_nodes(nodes),
            bound=max(sum(step.bound for step in steps), self._bound_of_all(nodes, steps)),
            first_fit_cost=cost_of_new_nodes(first),
            first_fit_unplaced=sum(count for _, count in without),
            stop=stop,
            effort=self.budget.spent,
            steps=steps,
            seconds=time.perf_counter() - self.start,
        )

    def _bound_of_all(self, nodes: Sequence[DraftNode], steps: tuple[WeightStep, ...]) -> int:
        """A bound on the cost of all steps together, whatever their weights are.

        The bound of a step says little where pods could use nodes that exist, and wait for a later
        step. Quick plans leave this one out, because it takes a linear program of its own.
        """
        is_quick = self.budget.ticks <= Effort.QUICK.value
        if is_quick or len(steps) < 2 or len({step.currency for step in steps}) > 1:
            return 0
        setting = setting_of(self.problem)
        relaxation = relax(setting.relaxed, self.budget)
        if relaxation is None:
            return 0
        return lower_bound(setting.relaxed, relaxation.values, setting.left_out(nodes))

    def _tell(self, search: Search) -> None:
        """Pass a plan to the watcher; with several steps there is no complete plan yet."""
        if self.watch is None or len(turns := turns_of(self.problem)) > 1:
            return
        cost, bound = cost_of_new_nodes(search.best), search.bound()
        currency = turns[0].currency if turns else ""
        step = WeightStep(weight=0, cost=cost, bound=bound, currency=currency)
        self.watch(self.plan(search.best, (step,), first=search.first, stop=search.stop))

    def _stop(self) -> Stop:
        """The weakest reason of all steps: a plan is proven only if all of its steps are."""
        if self.budget.clock_fired:
            return Stop.CLOCK
        order = (Stop.EFFORT, Stop.DRY, Stop.GAP, Stop.PROVEN, Stop.NOTHING_TO_DO)
        return min(self.stops, key=order.index)
