"""Chooses how full the emptiest node of each spread over nodes is assumed to be.

The more nodes a plan has, the fewer pods are left for the emptiest of them. So the choice starts
with the most that any plan can reach. The nodes that this needs give the next assumption, and so
on, until it no longer changes. The assumption whose levelled draft is the best one is used; that no
pod is on the emptiest node is one of them, because it is true in any plan.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reconciler.solver.arrays.draft import Stock, rank
from reconciler.solver.arrays.setting import Setting, packed_as
from reconciler.solver.bound.relax import relax
from reconciler.solver.model.assemble import assemble
from reconciler.solver.model.ranking import rank_of
from reconciler.solver.model.spreads import Assumed, node_spreads
from reconciler.solver.packing.finish import right_sized
from reconciler.solver.packing.first_fit import first_fit
from reconciler.solver.packing.pack import pack
from reconciler.solver.packing.topping_up import best_setting, topped_up

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reconciler.solver.arrays.draft import Draft
    from reconciler.solver.arrays.table import Table
    from reconciler.solver.model.budget import Budget
    from reconciler.solver.model.draft_node import DraftNode
    from reconciler.solver.model.problem import Problem
    from reconciler.solver.model.spreads import Assumptions, NodeSpread

TRIES = 4
"""The most assumptions of one chain."""
SHARE = 0.4
"""The share of the effort after which no further assumption is packed."""
TICKS_EACH = 0.06
"""The ticks for each pair of offers: offers are compared when a table is made."""


@dataclass(slots=True)
class Levels:
    """A problem under different assumptions about its spreads over nodes."""

    problem: Problem
    budget: Budget
    plain: Setting = field(init=False)
    spreads: list[NodeSpread] = field(init=False)
    _settings: dict[tuple[tuple[str, Assumed], ...], Setting] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.plain = best_setting(self.problem, self.budget)
        self.spreads = [each for each in node_spreads(self.problem) if each.highest()]

    def by_first_fit(self) -> list[DraftNode]:
        """The best nodes of first-fit."""
        return self._best(lambda table: first_fit(table, self.budget), float("inf"))[1]

    def packed(self) -> tuple[Setting, list[DraftNode]]:
        """The setting whose first draft is the best one, and its nodes."""
        return self._best(self._first_draft, self.budget.ticks * SHARE)

    def _best(
        self, draft: Callable[[Table], Draft], most: float
    ) -> tuple[Setting, list[DraftNode]]:
        """The best of a chain of assumptions; `draft` packs each of them."""
        nodes = self._nodes(self.plain, draft)
        best = rank_of(self.problem, nodes), self.plain, nodes
        assumed: Assumptions = {each.rule.name: Assumed(each.highest()) for each in self.spreads}
        known: list[Assumptions] = [{}]
        while assumed not in known and len(known) < TRIES and self.budget.spent <= most:
            known.append(assumed)
            setting = self._setting(assumed)
            nodes = self._nodes(setting, draft)
            found = rank_of(self.problem, nodes), setting, nodes
            best = min(best, found, key=lambda one: one[0])
            assumed = {each.rule.name: _following(each, nodes) for each in self.spreads}
        return best[1:]

    def _nodes(self, setting: Setting, draft: Callable[[Table], Draft]) -> list[DraftNode]:
        nodes = assemble(setting.problem, setting.table, draft(setting.table))
        return topped_up(setting.problem, nodes, self.budget)

    def _setting(self, assumed: Assumptions) -> Setting:
        key = tuple(sorted(assumed.items()))
        if key not in self._settings:
            self._settings[key] = packed_as(self.plain, assumed)
            self.budget.spend(TICKS_EACH * len(self.plain.ground.offers) ** 2)
        return self._settings[key]

    def _first_draft(self, table: Table) -> Draft:
        relaxation = relax(table, self.budget) if table.classes and table.offers else None
        if relaxation is None:
            return first_fit(table, self.budget)
        found = pack(table, relaxation, self.budget)
        found = right_sized(table, found, Stock.of(table, found))
        return min(found, first_fit(table, self.budget), key=lambda one: rank(table, one))


def _following(spread: NodeSpread, nodes: Sequence[DraftNode]) -> Assumed:
    """The most that the emptiest node can have with as many new nodes as these."""
    new = sum(not node.offer.exists and spread.counts(node.offer) for node in nodes)
    return Assumed(spread.highest(new), new)
