"""What a run has found, for people: a table by constraint, each difference, the sum."""

from __future__ import annotations

import collections
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.differential.cases import saved
from tests.differential.comparison import Outcome
from tests.differential.generator import CONSTRAINTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.differential.comparison import Played

_COLUMNS = "{:<30} {:>6} {:>6} {:>7} {:>9} {:>6}"


def table(played: Sequence[Played]) -> Iterator[str]:
    """A line for each constraint; a mixed case counts for each of its constraints."""
    yield _COLUMNS.format("CONSTRAINT", "CASES", "FITS", "AGREED", "DIFFERED", "OTHER")
    for name in CONSTRAINTS:
        if about := [each for each in played if name in each.case.constraints]:
            yield _line(name, about)
    yield _line("all", played)


def _line(name: str, about: Sequence[Played]) -> str:
    counts = collections.Counter(each.outcome for each in about)
    agreed, differed = counts[Outcome.AGREED], counts[Outcome.DIFFERED]
    fits = sum(each.theirs is not None and each.theirs.node is not None for each in about)
    share = f"{100 * fits // max(1, len(about))} %"
    other = len(about) - agreed - differed
    return _COLUMNS.format(name, len(about), share, agreed, differed, other or "")


def others(played: Sequence[Played]) -> Iterator[str]:
    """What is neither: each is a gap in the test or a limit that we name."""
    for each in played:
        if each.outcome not in {Outcome.AGREED, Outcome.DIFFERED}:
            names = ", ".join(each.ours.unsupported) if each.ours else each.reason
            yield f"{' + '.join(each.case.constraints)}: {each.outcome.value} {names}".rstrip()


def difference(each: Played) -> str:
    """What both said, and where the case is kept."""
    theirs = each.theirs and (each.theirs.node or each.theirs.message)
    ours = each.ours and (", ".join(each.ours.nodes) or "nowhere")
    return (
        f"differs: {' + '.join(each.case.constraints)}\n"
        f"  the scheduler   {theirs}\n"
        f"  growth          {ours}\n"
        f"  replay          python -m tests.differential --replay {_kept(each)}"
    )


def _kept(each: Played) -> Path:
    with tempfile.NamedTemporaryFile(
        "w", prefix="differential-", suffix=".json", delete=False, encoding="utf-8"
    ) as file:
        file.write(saved(each.case))
    return Path(file.name)


def failures(played: Sequence[Played]) -> str:
    """All that a test's failure should say: the verdicts, and the cases to replay."""
    bad = [each for each in played if each.outcome is not Outcome.AGREED]
    told = [difference(each) for each in bad if each.outcome is Outcome.DIFFERED]
    texts = [saved(each.case) for each in bad]
    return "\n".join((total(played), *told, *others(bad), *texts))


def total(played: Sequence[Played]) -> str:
    """The last line."""
    counts = collections.Counter(each.outcome for each in played)
    return f"{counts[Outcome.AGREED]} agreed, {counts[Outcome.DIFFERED]} differed"
