"""Solves small problems exactly: an integer program for the pods of each class on each node.

It has all rules, including those that packing decides in advance by a guess (the domain of a group,
the shape of a spread). So its optimum is the optimum of the problem, if it has enough places, which
are slots for one node each. A plan that costs no more than the best known one has only so many
nodes. The relaxation gives that number, which is why the answer is a proof.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from reconciler.solver.arrays.draft import Draft, draft_of
from reconciler.solver.arrays.table import room_alone
from reconciler.solver.bound.bound import lower_bound
from reconciler.solver.bound.integer import Ending, IntegerProgram
from reconciler.solver.bound.relax import relax
from reconciler.solver.model.lots import anchor_bond
from reconciler.solver.model.problem import HOSTNAME, Apart, Group, Near, SpreadRule, Together
from reconciler.solver.model.spreads import node_spreads

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from reconciler.solver.arrays.table import Table
    from reconciler.solver.model.budget import Budget
    from reconciler.solver.model.problem import Problem
    from reconciler.solver.model.spreads import NodeSpread

PODS = 60
NODES = 10
"""With more pods or nodes than this, the program isn't started, as it wouldn't end in time."""
PLACES = 16
"""The same for places that the relaxation allows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """A better draft over the relaxed table, if there is one, and whether it is proven optimal."""

    draft: Draft | None
    optimal: bool
    bound: int


def prove(
    problem: Problem,
    table: Table,
    *,
    cost: int,
    left: Mapping[int, int],
    nodes: int,
    budget: Budget,
) -> Proof | None:
    """The best plan for a small problem, or None if the budget ended before one was found."""
    complete = not any(left.values())
    pods = int(table.demand.sum())
    # If pods are left out, a plan that places more of them may cost more, so the cost doesn't limit
    # the number of nodes.
    places = places_needed(table, cost=cost, nodes=nodes, budget=budget) if complete else pods
    if places is None or budget.over:
        return None
    model = _Model(problem, table, places=min(places, pods + int(table.minima.sum())))
    # The best known cost itself is allowed: then there is always a solution, and its optimum is a
    # proof. Unplaced pods are minimised first, from the highest priority down; each of these
    # minima must be exact, or the following ones would mean nothing.
    if complete:
        model.place_all()
        model.program.hold(model.cost, high=cost)
    else:
        for priority in sorted(set(table.priority.tolist()), reverse=True):
            if model.least_left_out(priority, budget) is None:
                return None
    model.program.minimise(model.cost)
    found = model.program.solve(budget.left, budget.seconds_left)
    budget.spend(found.ticks)
    if not found.values:
        return None
    optimal = found.ending is Ending.OPTIMAL
    bound = found.objective if optimal else max(0, round(found.bound))
    return Proof(draft=model.draft(found.values), optimal=optimal, bound=bound)


def places_needed(table: Table, *, cost: int, nodes: int, budget: Budget) -> int | None:
    """The most new nodes that a plan can have without costing more than the best known one.

    None if there are too many for the program. More nodes cost more, so the number is found by
    bisection.
    """
    ceiling = int(table.demand.sum()) + int(table.minima.sum())
    low, high = nodes, min(ceiling, max(nodes, PLACES))
    if high < ceiling and _may_have(table, high + 1, cost=cost, budget=budget):
        return None
    while low < high:
        middle = (low + high) // 2
        if _may_have(table, middle + 1, cost=cost, budget=budget):
            low = middle + 1
        else:
            high = middle
    return high


def _may_have(table: Table, nodes: int, *, cost: int, budget: Budget) -> bool:
    """Whether a plan with this many new nodes may cost `cost` or less, as far as is proven."""
    # The number of new nodes is one more minimum.
    one_more = replace(
        table,
        minimum_of=np.vstack([table.minimum_of, ~table.standing[None, :]]),
        minima=np.append(table.minima, nodes),
    )
    answer = relax(one_more, budget)
    return answer is None or lower_bound(one_more, answer.values, {}) <= cost


@dataclass(slots=True)
class _Place:
    """A slot for one node: a variable for each offer that it may be, and one for each class."""

    kinds: dict[int, int]
    units: dict[int, int] = field(default_factory=dict)


class _Model:
    """The program of a problem with a number of places for new nodes."""

    def __init__(self, problem: Problem, table: Table, *, places: int) -> None:
        self.problem = problem
        self.table = table
        self.program = IntegerProgram()
        self.room = room_alone(table)
        self.offers = {offer.name: offer for offer in problem.offers}
        self.places = self._places(places)
        self.cost = [
            (kind, int(table.price[o])) for place in self.places for o, kind in place.kinds.items()
        ]
        self.missing = [self.program.variable(0, int(n)) for n in table.demand]
        for k, n in enumerate(table.demand.tolist()):
            placed = [(place.units[k], 1) for place in self.places if k in place.units]
            self.program.hold([*placed, (self.missing[k], 1)], n, n)
        self._hold_counts()
        if table.clashes is not None:
            self._hold_clashes(table.clashes)
        for group in sorted(problem.groups, key=lambda group: group.name):
            self._hold_group(group)

    def _places(self, new: int) -> list[_Place]:
        table = self.table
        standing = np.repeat(
            np.flatnonzero(table.standing), table.most_there[table.standing]
        ).tolist()
        fresh = np.flatnonzero(~table.standing).tolist()
        places = [self._place([o]) for o in standing]
        before: _Place | None = None
        for _ in range(new):
            place = self._place(fresh)
            if before is not None:
                self._ordered(before, place)
            places.append(place)
            before = place
        return places

    def _ordered(self, before: _Place, place: _Place) -> None:
        """Sort the places of new nodes by offer, so that equal plans aren't searched twice."""
        entries = [(kind, o + 1) for o, kind in before.kinds.items()]
        entries += [(kind, -o - 1) for o, kind in place.kinds.items()]
        self.program.hold(entries, low=0)

    def _place(self, offers: list[int]) -> _Place:
        table, program = self.table, self.program
        place = _Place({o: program.variable(0, 1) for o in offers})
        program.hold([(kind, 1) for kind in place.kinds.values()], high=1)
        for k in range(table.classes):
            room = {kind: int(self.room[k, o]) for o, kind in place.kinds.items()}
            most = max(room.values(), default=0)
            # The row ties units to a node that may hold them. Resources alone would allow units
            # without requests in an empty place.
            if most:
                unit = place.units[k] = program.variable(0, most)
                program.hold([(unit, 1), *((kind, -n) for kind, n in room.items())], high=0)
        for r in range(table.size.shape[1]):
            used = [(unit, int(table.size[k, r])) for k, unit in place.units.items()]
            has = [(kind, -int(table.capacity[o, r])) for o, kind in place.kinds.items()]
            program.hold([*used, *has], high=0)
        return place

    def _hold_counts(self) -> None:
        table = self.table
        kinds = [(o, kind) for place in self.places for o, kind in place.kinds.items()]
        for o in np.flatnonzero(table.most < len(self.places)).tolist():
            own = [(kind, 1) for one, kind in kinds if one == o]
            self.program.hold(own, high=int(table.most[o]))
        for row, most in zip(table.amounts, table.limits.tolist(), strict=True):
            self.program.hold([(kind, int(row[o])) for o, kind in kinds], high=int(most))
        for row, least in zip(table.minimum_of, table.minima.tolist(), strict=True):
            self.program.hold([(kind, int(row[o])) for o, kind in kinds], low=int(least))

    def _present(self, place: _Place, k: int) -> int:
        """A variable that is 1 if a place holds units of a class."""
        present = self.program.variable(0, 1)
        self.program.hold([(place.units[k], 1), (present, -int(self.table.demand[k]))], high=0)
        return present

    def _hold_clashes(self, clashes: NDArray[np.bool_]) -> None:
        for place in self.places:
            present = {k: self._present(place, k) for k in place.units if clashes[k].any()}
            for k, other in zip(*np.nonzero(np.triu(clashes)), strict=True):
                if k in present and other in present:
                    self.program.hold([(present[int(k)], 1), (present[int(other)], 1)], high=1)

    def _hold_group(self, group: Group) -> None:
        members = [k for k, lots in enumerate(self.table.lots) if group.name in lots[0].bonds]
        if not members:
            return
        match group:
            case Together() if group.key == HOSTNAME:
                self._hold_in_one([self._holds_any(place, members) for place in self.places])
            case Together():
                self._hold_in_one([taken for _, taken in self._domains(group, members).values()])
            case Apart():
                for name, (level, taken) in self._domains(group, members).items():
                    most = group.most - group.running.get(name, 0)
                    self.program.hold(level, high=most, given=(taken,))
            case SpreadRule() if group.key == HOSTNAME:
                self._hold_spread_over_nodes(group, members)
            case SpreadRule():
                self._hold_spread(group, members)
            case Near():
                self._hold_near(group, members)

    def _hold_in_one(self, taken: list[int]) -> None:
        self.program.hold([(one, 1) for one in taken], high=1)

    def _hold_near(self, group: Near, members: list[int]) -> None:
        bond = anchor_bond(group)
        anchors = [k for k, lots in enumerate(self.table.lots) if bond in lots[0].bonds]
        if group.key == HOSTNAME:
            for place in self.places:
                if not {self.table.names[o][0][0] for o in place.kinds} & group.running:
                    units = [(place.units[k], 1) for k in anchors if k in place.units]
                    taken = self._holds_any(place, members)
                    self.program.hold([*units, (taken, -1)], low=0)
            return
        near = self._domains(group, anchors, is_bound=False)
        for name, (_, taken) in self._domains(group, members).items():
            if name not in group.running:
                level = near[name][0] if name in near else []
                self.program.hold([*level, (taken, -1)], low=0)

    def _holds_any(self, place: _Place, members: list[int]) -> int:
        taken = self.program.variable(0, 1)
        units = [(place.units[k], 1) for k in members if k in place.units]
        total = int(self.table.demand[members].sum())
        self.program.hold([*units, (taken, -total)], high=0)
        return taken

    def _domains(
        self, group: Group, members: list[int], *, is_bound: bool = True
    ) -> dict[str, tuple[list[tuple[int, int]], int]]:
        """For each domain, the sum of the group's units there, and a variable for "any at all".

        Units that aren't bound by the rule may also be in no domain.
        """
        total = int(self.table.demand[members].sum())
        levels: dict[str, list[tuple[int, int]]] = {}
        for place in self.places:
            units = [(place.units[k], 1) for k in members if k in place.units]
            shares = []
            for name, kinds in self._kinds_by_domain(group, place).items():
                # An offer without the label is in no domain, so the group may not use it.
                share = self.program.variable(0, total if name or not is_bound else 0)
                entries = [(share, 1), *((kind, -total) for kind in kinds)]
                self.program.hold(entries, high=0)
                levels.setdefault(name, []).append((share, 1))
                shares.append((share, -1))
            self.program.hold([*units, *shares], 0, 0)
        return {name: (level, self._taken(level, total)) for name, level in levels.items()}

    def _taken(self, level: list[tuple[int, int]], total: int) -> int:
        taken = self.program.variable(0, 1)
        self.program.hold([*level, (taken, -total)], high=0)
        return taken

    def _kinds_by_domain(self, group: Group, place: _Place) -> dict[str, list[int]]:
        labels = {offer.name: offer.labels.get(group.key, "") for offer in self.problem.offers}
        result: dict[str, list[int]] = {}
        for o, kind in place.kinds.items():
            result.setdefault(labels[self.table.names[o][0][0]], []).append(kind)
        return result

    def _hold_spread(self, group: SpreadRule, members: list[int]) -> None:
        domains = self._domains(group, members)
        running = group.running
        names = (self._open_to(group) | group.domains | set(running)) - {""}
        high = int(self.table.demand[members].sum()) + max(running.values(), default=0)
        lowest = self.program.variable(0, high)
        for name in sorted(names):
            level = domains[name][0] if name in domains else []
            least = [*level, (lowest, -1)]
            self.program.hold(least, low=-running.get(name, 0))
            # Only a domain that gets a pod must keep the skew: running pods may already break it.
            if name in domains:
                most = group.max_skew - running.get(name, 0)
                self.program.hold(least, high=most, given=(domains[name][1],))

    def _hold_spread_over_nodes(self, group: SpreadRule, members: list[int]) -> None:
        """Each place is a domain once it is a node; an existing node is one in any case."""
        spread = next(s for s in node_spreads(self.problem) if s.rule.name == group.name)
        high = spread.highest()
        lowest = self.program.variable(0, high)
        counted = []
        for place in self.places:
            counted += self._hold_level(place, spread, members, lowest)
        spare = self._in_no_place(spread)
        if spare:
            self.program.hold([(lowest, 1)], high=min(spare))
        missing = group.min_domains - len(spread.standing)
        if missing > 0:
            enough = self.program.variable(0, 1)
            self.program.hold([(lowest, 1), (enough, -high)], high=0)
            self.program.hold([(kind, 1) for kind in counted], low=missing, given=(enough,))

    def _hold_level(
        self, place: _Place, spread: NodeSpread, members: list[int], lowest: int
    ) -> list[int]:
        """Keep the skew in one place; returns the kinds that add a domain there."""
        level = [(place.units[k], 1) for k in members if k in place.units]
        least = [*level, (lowest, -1)]
        kinds = {kind: self.offers[self.table.names[o][0][0]] for o, kind in place.kinds.items()}
        new = [kind for kind, offer in kinds.items() if not offer.exists and spread.counts(offer)]
        there = [offer.name for offer in kinds.values() if offer.exists]
        running = sum(spread.standing.get(name, 0) for name in there)
        if spread.standing.keys() & set(there):
            self.program.hold(least, low=-running)
        for kind in new:
            self.program.hold(least, low=0, given=(kind,))
        if level:
            taken = self._taken(level, int(self.table.demand[members].sum()))
            self.program.hold(least, high=spread.rule.max_skew - running, given=(taken,))
        return new

    def _in_no_place(self, spread: NodeSpread) -> list[int]:
        """The pods on existing nodes that get none: no pod can use them, or others are equal."""
        left = dict(spread.standing)
        places = Counter(o for place in self.places for o in place.kinds)
        for o in np.flatnonzero(self.table.standing).tolist():
            for name, _ in self.table.names[o][: places[o]]:
                left.pop(name, None)
        return list(left.values())

    def _open_to(self, group: SpreadRule) -> set[str]:
        allowed = [pod.offers for pod in self.problem.classes if pod.name in group.members]
        names = frozenset().union(*allowed)
        return {o.labels.get(group.key, "") for o in self.problem.offers if o.name in names}

    def place_all(self) -> None:
        """Require a place for all pods."""
        for missing in self.missing:
            self.program.hold([(missing, 1)], 0, 0)

    def least_left_out(self, priority: int, budget: Budget) -> int | None:
        """Find the fewest unplaced pods of a priority, and require that number from now on."""
        own = np.flatnonzero(self.table.priority == priority).tolist()
        entries = [(self.missing[k], self.table.pods_in(k)) for k in own]
        self.program.minimise(entries)
        found = self.program.solve(budget.left, budget.seconds_left)
        budget.spend(found.ticks)
        if found.ending is not Ending.OPTIMAL:
            return None
        self.program.hold(entries, high=found.objective)
        return found.objective

    def draft(self, values: list[int]) -> Draft:
        """The nodes of a solution."""
        rows: Counter[tuple[int, tuple[int, ...]]] = Counter()
        for place in self.places:
            units = {k: values[unit] for k, unit in place.units.items()}
            counts = tuple(units.get(k, 0) for k in range(self.table.classes))
            for o, kind in place.kinds.items():
                if values[kind]:
                    rows[o, counts] += 1
        found = [(o, np.array(c, dtype=np.int64), n) for (o, c), n in sorted(rows.items())]
        return draft_of(self.table, found)
