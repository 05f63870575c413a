"""The true optimum of a tiny problem, by trying everything. Shares no code with the solver."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import product
from typing import TYPE_CHECKING

from reconciler.solver.model.problem import HOSTNAME, Apart, Near
from tests.solver.checker import counted_by, domain_of, group_complaints, near_complaints

if TYPE_CHECKING:
    from reconciler.solver.model.problem import Group, Offer, Problem

Rank = tuple[tuple[int, ...], int]
"""Pods left out by priority, the most important first; then the cost."""


def optimum(problem: Problem) -> Rank | None:
    """The best rank that any valid plan has; nothing when no plan keeps all rules."""
    return _Search(problem).best()


class _Search:
    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.classes = sorted(problem.classes, key=lambda pod: pod.name)
        self.offers = sorted(problem.offers, key=lambda offer: offer.name)
        self.priorities = sorted({pod.priority for pod in self.classes}, reverse=True)
        self.contents = [self._contents(offer) for offer in self.offers]
        self.visit = cache(self._visit)

    def best(self) -> Rank | None:
        demand = tuple(pod.count for pod in self.classes)
        limits = tuple(limit.most for limit in self.problem.limits)
        minima = tuple(minimum.count for minimum in self.problem.minima)
        return self.visit(0, 0, 0, demand, limits, minima, ())

    def _contents(self, offer: Offer) -> list[tuple[int, ...]]:
        ranges = [range(pod.count + 1) for pod in self.classes]
        return [counts for counts in product(*ranges) if self._holds(offer, counts)]

    def _holds(self, offer: Offer, counts: tuple[int, ...]) -> bool:
        present = [(pod, n) for pod, n in zip(self.classes, counts, strict=True) if n]
        for r, room in enumerate(offer.capacity):
            if sum(pod.requests[r] * n for pod, n in present) > room:
                return False
        for pod, n in present:
            if offer.name not in pod.offers or n > (pod.per_node or n):
                return False
            if offer.marks & pod.repels or offer.repels & pod.marks:
                return False
            for other, m in present:
                if (pod is not other or m > 1) and pod.repels & other.marks:
                    return False
        return all(self._keeps(group_index, offer, counts) for group_index in self._by_node())

    def _by_node(self) -> list[int]:
        return [i for i, group in enumerate(self.problem.groups) if _is_by_node(group)]

    def _keeps(self, index: int, offer: Offer, counts: tuple[int, ...]) -> bool:
        group = self.problem.groups[index]
        count = self._members(index, counts)
        domain = domain_of(group, offer, 0)
        if isinstance(group, Near):
            anchors = {domain} if self._anchors(group, counts) else set()
            return not count or not near_complaints(group, members={domain}, anchors=anchors)
        return not count or not group_complaints(group, self.problem, Counter({domain: count}))

    def _members(self, index: int, counts: tuple[int, ...]) -> int:
        return self._of(self.problem.groups[index].members, counts)

    def _anchors(self, group: Near, counts: tuple[int, ...]) -> int:
        return self._of(group.anchors, counts)

    def _of(self, names: frozenset[str], counts: tuple[int, ...]) -> int:
        return sum(n for pod, n in zip(self.classes, counts, strict=True) if pod.name in names)

    def _visit(
        self,
        o: int,
        first: int,
        copies: int,
        left: tuple[int, ...],
        limits: tuple[int, ...],
        minima: tuple[int, ...],
        levels: tuple[tuple[int, str, int], ...],
    ) -> Rank | None:
        if o == len(self.offers):
            return self._end(left, minima, levels)
        options = [self.visit(o + 1, 0, 0, left, limits, minima, levels)]
        offer = self.offers[o]
        most = 1 if offer.exists else offer.most
        if most is None or copies < most:
            options += [
                self._with_node(o, place, copies, left, limits, minima, levels)
                for place in range(first, len(self.contents[o]))
            ]
        found = [option for option in options if option is not None]
        return min(found, default=None)

    def _with_node(
        self,
        o: int,
        place: int,
        copies: int,
        left: tuple[int, ...],
        limits: tuple[int, ...],
        minima: tuple[int, ...],
        levels: tuple[tuple[int, str, int], ...],
    ) -> Rank | None:
        offer, counts = self.offers[o], self.contents[o][place]
        rest = tuple(n - m for n, m in zip(left, counts, strict=True))
        needed = any(
            n > 0 and offer.name in minimum.offers
            for n, minimum in zip(minima, self.problem.minima, strict=True)
        )
        if min(rest, default=0) < 0 or (not any(counts) and not needed):
            return None
        used = tuple(
            n - (0 if offer.exists else limit.amounts.get(offer.name, 0))
            for n, limit in zip(limits, self.problem.limits, strict=True)
        )
        if min(used, default=0) < 0:
            return None
        due = tuple(
            max(0, n - (offer.name in minimum.offers))
            for n, minimum in zip(minima, self.problem.minima, strict=True)
        )
        raised = self._raised(levels, offer, counts, copies)
        best = self.visit(o, place, copies + 1, rest, used, due, raised)
        price = 0 if offer.exists else offer.price
        return None if best is None else (best[0], best[1] + price)

    def _raised(
        self,
        levels: tuple[tuple[int, str, int], ...],
        offer: Offer,
        counts: tuple[int, ...],
        copies: int,
    ) -> tuple[tuple[int, str, int], ...]:
        """The pods of each group by domain, only where that is decided over several nodes."""
        after = Counter({(index, domain): n for index, domain, n in levels})
        for index, group in enumerate(self.problem.groups):
            count = self._members(index, counts)
            if isinstance(group, Near) and not _is_by_node(group):
                # Only whether there are any matters, of followers and of anchors.
                zone = domain_of(group, offer, copies)
                for which, any_there in ((index, count), (~index, self._anchors(group, counts))):
                    if any_there:
                        after[which, zone] = 1
            elif not _is_by_node(group) and (
                count or offer.name in counted_by(group, self.problem)
            ):
                after[index, domain_of(group, offer, copies)] += count
        return tuple(sorted((index, domain, n) for (index, domain), n in after.items()))

    def _end(
        self,
        left: tuple[int, ...],
        minima: tuple[int, ...],
        levels: tuple[tuple[int, str, int], ...],
    ) -> Rank | None:
        if any(minima):
            return None
        for index, group in enumerate(self.problem.groups):
            added = Counter({domain: n for i, domain, n in levels if i == index})
            if isinstance(group, Near):
                anchors = {domain for i, domain, _ in levels if i == ~index}
                if near_complaints(group, members=set(added), anchors=anchors - {""}):
                    return None
            elif added and group_complaints(group, self.problem, added):
                return None
        unplaced = dict.fromkeys(self.priorities, 0)
        for pod, n in zip(self.classes, left, strict=True):
            unplaced[pod.priority] += n
        return tuple(unplaced[priority] for priority in self.priorities), 0


def _is_by_node(group: Group) -> bool:
    """Whether each node by itself shows if the rule is kept."""
    return isinstance(group, Apart | Near) and group.key == HOSTNAME
