"""Which of the planted mistakes the played cases find.

The scheduler has spoken, and what it saw is kept; so each mistake is judged by the same verdicts,
in no time and without a control plane.
"""

from __future__ import annotations

import collections
import contextlib
from itertools import islice
from typing import TYPE_CHECKING
from unittest import mock

import msgspec

from tests.differential import snapshot
from tests.differential.comparison import Outcome, Played, outcome
from tests.differential.mistakes import MISTAKES, Mistake

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from growth.scheduling.cluster import Cluster

_LINE = "{:<46} {:>9} {:>6}  {}"


class Catch(msgspec.Struct, frozen=True):
    """What the cases made of one mistake."""

    mistake: Mistake
    found: tuple[Played, ...]
    of: int

    @property
    def constraints(self) -> tuple[str, ...]:
        """Those whose cases found it, the most telling first."""
        counts = collections.Counter(each.case.constraints[0] for each in self.found)
        return tuple(name for name, _ in counts.most_common())


def hunted(played: Sequence[Played]) -> Iterator[Catch]:
    """Each mistake, with all cases in which it is wrong about what the scheduler did."""
    for mistake in MISTAKES:
        yield _hunted(mistake, _told(played))


def hunted_briefly(played: Sequence[Played]) -> Iterator[Catch]:
    """Each mistake, with one case: of those that are made for it, or of all."""
    for mistake in MISTAKES:
        own = [each for each in played if mistake.constraint in each.case.constraints]
        catch = _hunted(mistake, _told(own), most=1)
        yield catch if catch.found else _hunted(mistake, _told(played), most=1)


def _told(played: Sequence[Played]) -> list[Played]:
    return [each for each in played if each.outcome is Outcome.AGREED]


def _hunted(mistake: Mistake, told: list[Played], *, most: int | None = None) -> Catch:
    with planted(mistake):
        return Catch(mistake, tuple(islice(_contradicted(told), most)), len(told))


@contextlib.contextmanager
def planted(mistake: Mistake) -> Iterator[None]:
    """The rules with this mistake, as long as the block lasts."""
    with mock.patch.object(mistake.place, mistake.name, mistake.wrong):
        yield


def _contradicted(told: Sequence[Played]) -> Iterator[Played]:
    """The cases of one batch share a cluster; it is decoded anew for each mistake."""
    views: dict[int, Cluster] = {}
    for each in told:
        assert each.seen is not None
        assert each.theirs is not None
        if id(each.seen) not in views:
            views[id(each.seen)] = snapshot.cluster(each.seen)
        ours = snapshot.answer(bytes(each.pod), views[id(each.seen)])
        if outcome(ours, each.theirs) is not Outcome.AGREED:
            yield each


def table(catches: Sequence[Catch]) -> Iterator[str]:
    """A line for each mistake: how many cases find it, one in how many, and which."""
    yield _LINE.format("PLANTED MISTAKE", "FOUND BY", "ONE IN", "MOSTLY IN CASES OF")
    for catch in catches:
        found = len(catch.found)
        rate = str(round(catch.of / found)) if found else "never"
        yield _LINE.format(catch.mistake.belief, found, rate, ", ".join(catch.constraints[:2]))
