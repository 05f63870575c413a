"""Followers and their anchors: which lots need which, and the guesses by which that is settled."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from reconciler.solver.model.lots import is_member
from reconciler.solver.model.problem import HOSTNAME, Apart, Near

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from reconciler.solver.model.lots import Lot
    from reconciler.solver.model.problem import Problem

T = TypeVar("T")


class NearGuess(NamedTuple):
    """What the search can't know before it has packed; several guesses are tried."""

    domain: int = 0
    """Which domain followers get: the best one by a rough estimate, or the next ones."""
    is_wide: bool = False
    """Whether followers may use all domains that their anchors can open."""
    is_reusing: bool = True
    """Whether followers go to running anchors first, as far as there seems to be room."""


NO_GUESS = NearGuess()
GUESSES = (
    NO_GUESS,
    NearGuess(is_wide=True),
    NearGuess(domain=1),
    NearGuess(domain=2),
    NearGuess(is_reusing=False),
    NearGuess(domain=1, is_reusing=False),
)


def with_limits_as_groups(problem: Problem) -> Problem:
    """The problem with each limit per node as a group if there are followers.

    The pods of a class are in several lots then, and a group counts them all.
    """
    if not any(True for _ in nears(problem)):
        return problem
    known = {group.name for group in problem.groups}
    limits = (
        Apart(
            name=f"per node {pod.name}",
            key=HOSTNAME,
            members=frozenset([pod.name]),
            most=pod.per_node,
        )
        for pod in problem.classes
        if pod.per_node is not None
    )
    more = tuple(limit for limit in limits if limit.name not in known)
    classes = tuple(replace(pod, per_node=None) for pod in problem.classes)
    return replace(problem, classes=classes, groups=(*problem.groups, *more))


def tied_together(problem: Problem) -> Iterator[frozenset[str]]:
    """The classes that are followers or anchors of each other, directly or by way of others."""
    yield from joined(group.members | group.anchors for group in nears(problem))


def joined(bonds: Iterable[frozenset[T]]) -> Iterator[frozenset[T]]:
    """Sets that have something in common become one."""
    left = list(bonds)
    while left:
        part = left.pop(0)
        while touching := [bond for bond in left if bond & part]:
            part = part.union(*touching)
            left = [bond for bond in left if bond not in touching]
        yield part


def needs_of(lot: Lot, groups: Sequence[Near]) -> list[Near]:
    """The groups by which a unit needs anchors that it doesn't bring along."""
    return [g for g in groups if is_member(lot, g.members) and not is_member(lot, g.anchors)]


def nears(problem: Problem) -> Iterator[Near]:
    """The groups of followers and anchors, by name."""
    for group in sorted(problem.groups, key=lambda group: group.name):
        if isinstance(group, Near):
            yield group


def anchors_first(lots: Sequence[Lot], groups: Sequence[Near]) -> list[int]:
    """The lots in an order in which anchors come before their followers, important ones first."""
    ordered: list[int] = []
    left = sorted(range(len(lots)), key=lambda n: (-lots[n].priority, lots[n].pods))
    while left:
        ready = [n for n in left if not _waits_for(lots, n, left, groups)]
        # Two lots can need each other though no two classes do: one unit can hold many classes.
        first = ready or left[:1]
        ordered += first
        left = [n for n in left if n not in first]
    return ordered


def _waits_for(lots: Sequence[Lot], n: int, left: Sequence[int], groups: Sequence[Near]) -> bool:
    needs = needs_of(lots[n], groups)
    return any(m != n and is_member(lots[m], g.anchors) for g in needs for m in left)
