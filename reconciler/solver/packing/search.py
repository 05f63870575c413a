"""The search for the best nodes of one step: each stage starts with the best result so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reconciler.solver.arrays.draft import Stock, rank
from reconciler.solver.arrays.pattern import Patterns
from reconciler.solver.bound.bound import (
    DualValues,
    dearest_single,
    least_for_minima,
    lower_bound,
)
from reconciler.solver.bound.columns import generate, pricing_of
from reconciler.solver.bound.exact import tighten
from reconciler.solver.bound.master import Master
from reconciler.solver.bound.prove import NODES, PODS, prove
from reconciler.solver.bound.relax import relax
from reconciler.solver.model.assemble import assemble
from reconciler.solver.model.plan import Stop
from reconciler.solver.model.problem import CLOSE
from reconciler.solver.model.ranking import cost_of_new_nodes, rank_of
from reconciler.solver.packing.cover import cover
from reconciler.solver.packing.dive import Dive
from reconciler.solver.packing.finish import right_sized, with_real_sizes
from reconciler.solver.packing.first_fit import first_fit
from reconciler.solver.packing.improve import improve, mend
from reconciler.solver.packing.pack import pack
from reconciler.solver.packing.topping_up import topped_up

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from reconciler.solver.arrays.draft import Draft
    from reconciler.solver.arrays.setting import Setting
    from reconciler.solver.arrays.table import Table
    from reconciler.solver.bound.columns import ColumnPricing
    from reconciler.solver.bound.prove import Proof
    from reconciler.solver.model.budget import Budget
    from reconciler.solver.model.draft_node import DraftNode

MOST_CLASSES = 400
"""With more classes than this, a dive for the whole problem costs more than it gains."""
SHARE_OF_COLUMNS = 0.35
SHARE_OF_PROOF = 0.5
ROUNDS = 400
AGAIN = 3
AS_GOOD = 0.002
"""A plan this close to its linear program can improve only with more columns."""
SEEDED = 4
"""The number of seeded rounds in a row that may find nothing."""
FEW = 8
"""With more units than this on a node, seeds hardly change its content."""
EXACT = 40
"""The most offers whose best content is computed exactly when greedy filling finds no more."""
NEARLY = 0.02
"""Patterns that waste at most this share of their cost are kept for the dive."""
PATIENCE = 40
"""The search ends after this many tries in a row without an improvement."""


@dataclass(slots=True)
class Search:
    """The best nodes and bounds so far, and what later stages reuse of the earlier ones."""

    setting: Setting
    budget: Budget
    watch: Callable[[Search], None]
    content: float = CLOSE
    first: Sequence[DraftNode] = ()
    best: Sequence[DraftNode] = ()
    values: list[DualValues] = field(default_factory=list)
    exact: list[tuple[DualValues, NDArray[np.float64]]] = field(default_factory=list)
    patterns: Patterns = field(default_factory=Patterns)
    prices: DualValues | None = None
    draft: Draft | None = None
    master: Master | None = None
    proven: int = 0
    optimal: bool = False
    stop: Stop = Stop.DRY
    _bounds: dict[tuple[tuple[int, int], ...], int] = field(default_factory=dict)

    def begin(self, nodes: Sequence[DraftNode], first: Sequence[DraftNode]) -> None:
        """Begin with known nodes and those of first-fit."""
        self.first = first
        self.best = min(first, nodes, key=lambda one: rank_of(self.setting.problem, one))

    def run(self) -> None:
        """Run all stages until the best is good enough or the budget is spent."""
        setting = self.setting
        if not self.first:
            draft = first_fit(setting.table, self.budget)
            nodes = assemble(setting.problem, setting.table, draft)
            self.first = self.best = topped_up(setting.problem, nodes, self.budget)
        if not setting.relaxed.classes or not setting.relaxed.offers:
            self.stop = Stop.NOTHING_TO_DO
            return
        for begin in (self._pack, self._mend):
            begin()
            if self._enough():
                return
        so_far = self.budget.spent
        self._prove()
        if self._enough():
            return
        # The next stages cost more than everything before, and half of them alone gain nothing.
        if self.budget.left < so_far:
            self._improve()
            if not self._enough():
                self.stop = Stop.EFFORT
            return
        stages: tuple[Callable[[], object], ...]
        stages = (self._columns, self._dive, self._cover, self._more_columns, self._improve)
        for stage in stages:
            stage()
            if self._enough():
                return
        self.stop = Stop.EFFORT if self.budget.over else Stop.DRY

    def _enough(self) -> bool:
        """Whether the search can end here; sets `stop` to the reason."""
        cost, bound = cost_of_new_nodes(self.best), self.bound()
        complete = self._complete()
        if self._is_proven():
            self.stop = Stop.PROVEN
        elif complete and cost <= bound * (1 + self.content):
            self.stop = Stop.GAP
        elif self.budget.over:
            self.stop = Stop.EFFORT
        else:
            return False
        return True

    def _complete(self) -> bool:
        """Whether all pods that can have a place have one."""
        return not any(self.setting.left_out(self.best).values())

    def bound(self) -> int:
        """The highest bound on the cost of plans that leave out no more pods than the best one."""
        # The bound depends on what the best plan leaves out, so it is computed again for a new best
        # plan and for new values.
        left = self.setting.left_out(self.best)
        key = (*sorted(left.items()), (len(self.values), len(self.exact)))
        if key not in self._bounds:
            self._bounds[key] = self._bound(left)
        return max(self.proven, self._bounds[key])

    def _bound(self, left: Mapping[int, int]) -> int:
        relaxed = self.setting.relaxed
        # Values get better with each round of columns, so of these only the last two are tried.
        found = (lower_bound(relaxed, values, left) for values in self.values)
        exact = (lower_bound(relaxed, values, left, held) for values, held in self.exact[-2:])
        alone = (dearest_single(relaxed, left), least_for_minima(relaxed))
        return max(*alone, *found, *exact, 0)

    def offer(self, table: Table, draft: Draft) -> None:
        """Keep a draft if it is the best so far."""
        problem = self.setting.problem
        nodes = topped_up(problem, assemble(problem, table, draft), self.budget)
        # The ranks compare assembled nodes: only these have real sizes and balanced spreads.
        if not self.setting.is_exact:
            nodes = with_real_sizes(problem, self.setting.ground, nodes)
        if rank_of(problem, nodes) < rank_of(problem, self.best):
            self.best = nodes
        self.watch(self)

    def _pack(self) -> None:
        """Compute the relaxation, and the first draft from it."""
        setting = self.setting
        relaxation = relax(setting.relaxed, self.budget)
        if relaxation is None:
            return
        self.values.append(relaxation.values)
        # The relaxed table gives the bound. A draft must follow the table that is packed.
        if setting.table is not setting.relaxed:
            relaxation = relax(setting.table, self.budget)
        if relaxation is not None:
            self.prices = relaxation.values
            self._consider(pack(setting.table, relaxation, self.budget))

    def _mend(self) -> None:
        """Pack the wasteful nodes of the draft again."""
        if self.prices is None or self.draft is None:
            return
        if self.setting.table.classes > MOST_CLASSES:
            return
        self._consider(
            mend(self.setting.table, self.draft, self.prices, self.patterns, budget=self.budget)
        )

    def _columns(self) -> None:
        """Generate columns, which improve the bound and are the patterns for the dive."""
        table = self.setting.table
        if self.prices is None or table.classes > MOST_CLASSES:
            return
        budget = self.budget.part(SHARE_OF_COLUMNS)
        # The program is kept from call to call, but each call has a budget of its own.
        master = self.master or Master(table, budget)
        self.master, master.budget = master, budget
        for offer, counts in zip(self.patterns.offers, self.patterns.counts, strict=True):
            master.add(offer, counts)
        pricing = pricing_of(master, self.prices, seeded=SEEDED if self._few_on_a_node() else 0)
        self._generate(master, pricing, self.prices)
        if master.solve():
            for p in master.useful(NEARLY):
                self.patterns.add(master.patterns.offers[p], master.patterns.counts[p])

    def _few_on_a_node(self) -> bool:
        units = int(self.setting.table.demand.sum())
        return self.draft is not None and units <= FEW * self.draft.nodes()

    def _generate(self, master: Master, pricing: ColumnPricing, prices: DualValues) -> None:
        budget = master.budget
        while generate(master, pricing, budget, ROUNDS) and not budget.over and master.solve():
            values = master.values(prices)
            joined, held = tighten(master, values, budget, EXACT)
            # Values of the packed table prove nothing if packing has already chosen domains.
            if master.table is self.setting.relaxed:
                self.exact.append((values, held))
            if not joined:
                break

    def _more_columns(self) -> None:
        """Repeat columns and dive, if the plan is as good as the known columns allow."""
        for _ in range(AGAIN):
            if self.master is None or self._enough():
                return
            if cost_of_new_nodes(self.best) > self.master.objective * (1 + AS_GOOD):
                return
            before = self.master.objective
            self._columns()
            if self.master.objective > before * (1 - CLOSE):
                return
            self._dive()

    def _dive(self) -> None:
        """Dive from the known patterns to whole nodes."""
        table = self.setting.table
        if self.prices is None or table.classes > MOST_CLASSES:
            return
        dive = Dive(table, self.prices, self.patterns, self.budget)
        self._consider(dive.run(Stock.of(table), table.demand.copy()))

    def _improve(self) -> None:
        """Pack some nodes of the best draft again, many times."""
        if self.prices is None or self.draft is None:
            return
        draft = improve(
            self.setting.table,
            self.draft,
            self.prices,
            self.patterns,
            budget=self.budget,
            patience=PATIENCE,
        )
        self._consider(draft)

    def _consider(self, draft: Draft) -> None:
        """Finish a draft over the packed table, and keep it if it is the best."""
        table = self.setting.table
        draft = right_sized(table, draft, Stock.of(table, draft))
        self.patterns.add_draft(draft)
        if self.draft is None or rank(table, draft) < rank(table, self.draft):
            self.draft = draft
            self.offer(table, draft)

    def _prove(self) -> None:
        """Solve a small problem exactly: by cover if there are few contents, or else by places."""
        setting = self.setting
        # Cover goes first: its program has no equal places that could be exchanged, so where
        # contents are few it ends in a fraction of the time. Neither may take more than
        # `SHARE_OF_PROOF`: a proof that didn't end left quick plans half packed, at 1.3 times the
        # price and more.
        if self._cover() or int(setting.relaxed.demand.sum()) > PODS or len(self.best) > NODES:
            return
        proof = prove(
            setting.problem,
            setting.relaxed,
            cost=cost_of_new_nodes(self.best),
            left=setting.left_out(self.best),
            nodes=sum(not node.offer.exists for node in self.best),
            budget=self.budget.part(SHARE_OF_PROOF),
        )
        if proof is not None:
            self._believe(proof)

    def _cover(self) -> bool:
        """Solve the problem by cover; returns whether that was possible."""
        if not self.values or not self._complete():
            return False
        proof = cover(
            self.setting.relaxed,
            self.values[0],
            cost=cost_of_new_nodes(self.best),
            budget=self.budget.part(SHARE_OF_PROOF),
        )
        if proof is not None:
            self._believe(proof)
        return proof is not None

    def _is_proven(self) -> bool:
        return self.optimal or (self._complete() and cost_of_new_nodes(self.best) <= self.bound())

    def _believe(self, proof: Proof) -> None:
        if proof.draft is not None:
            self.offer(self.setting.relaxed, proof.draft)
        self.proven, self.optimal = max(self.proven, proof.bound), proof.optimal
