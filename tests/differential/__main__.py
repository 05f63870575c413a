"""`python -m tests.differential`: our rules of scheduling against the real kube-scheduler."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.differential import hunt, report
from tests.differential.cases import Isolation, loaded
from tests.differential.comparison import Outcome, opened
from tests.differential.generator import CONSTRAINTS, generated
from tests.differential.reduction import reduced

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.differential.cases import Case
    from tests.differential.comparison import Played, Theatre

_CLUSTER = "differential"
_REDUCED_AT_MOST = 3
"""Differences that are cut down, half a minute each: more of them mostly have the same cause."""


def main() -> int:
    """Exit code 1 when anything differs or was not played."""
    given = _parser().parse_args()
    if given.replay:
        cases = [loaded(path) for path in given.replay]
    else:
        names = tuple(given.constraint or CONSTRAINTS)
        cases = generated(count=given.cases, number=given.seed, constraints=names)
    with _kubeconfig(given.kubeconfig) as kubeconfig:
        played = asyncio.run(_run(cases, kubeconfig))
    if given.mistakes:
        print("\n".join(hunt.table(list(hunt.hunted(played)))))
    print(report.total(played))
    return int(any(each.outcome is not Outcome.AGREED for each in played))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=__doc__)
    parser.add_argument("--cases", type=int, default=500, help="how many (default: 500)")
    parser.add_argument("--seed", type=int, default=1, help="which ones (default: 1)")
    parser.add_argument("--constraint", action="append", choices=CONSTRAINTS, help="only these")
    parser.add_argument("--replay", type=Path, nargs="+", metavar="FILE", help="kept cases")
    parser.add_argument(
        "--mistakes", action="store_true", help="also tell which planted mistakes they find"
    )
    parser.add_argument(
        "--kubeconfig", type=Path, help="a cluster that runs (default: one is started)"
    )
    return parser


async def _run(cases: Sequence[Case], kubeconfig: Path) -> list[Played]:
    async with opened(kubeconfig) as theatre:
        played = await theatre.play(cases)
        for line in (*report.table(played), *report.others(played)):
            print(line)
        differing = [each for each in played if each.outcome is Outcome.DIFFERED]
        differing.sort(key=_effort)
        for each in differing[:_REDUCED_AT_MOST]:
            print(report.difference(await _smallest(each, theatre)), flush=True)
        for each in differing[_REDUCED_AT_MOST:]:
            print(report.difference(each))
    return played


def _effort(played: Played) -> tuple[bool, int]:
    """Cases that play alone can't be cut down many at a time."""
    return played.case.isolation is Isolation.ALONE, len(played.case.objects)


async def _smallest(played: Played, theatre: Theatre) -> Played:
    """Cut down at one look for each step, so the outcome is confirmed by all looks at the end."""
    smallest = await reduced(played.case, theatre.differ)
    confirmed = (await theatre.play([smallest]))[0]
    return confirmed if confirmed.outcome is Outcome.DIFFERED else played


@contextlib.contextmanager
def _kubeconfig(given: Path | None) -> Iterator[Path]:
    """The given cluster's, or that of a cluster that lives as long as this run."""
    if given is not None:
        yield given
        return
    kwok = (sys.executable, "-m", "kwok")
    name = ("--name", f"{_CLUSTER}-{os.getpid()}")
    started = subprocess.run([*kwok, "up", *name], check=True, stdout=subprocess.PIPE, text=True)
    try:
        yield Path(started.stdout.strip().removeprefix("KUBECONFIG="))
    finally:
        subprocess.run([*kwok, "down", *name], check=True)


if __name__ == "__main__":
    sys.exit(main())
