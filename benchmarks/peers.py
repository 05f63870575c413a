"""growth beside another autoscaler: the same pods, prices and control plane, in turns.

`--with COMMAND` starts the other one; `benchmarks/peer_systems.py` says what the command is told
and has to do. Without it, only growth and the floor (enough empty nodes, no autoscaler) are
measured. Cost is relative to the lowest possible one that `growth plan` proves. Each work runs on
a new cluster, and the order changes with the seed.
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Final, NamedTuple

from benchmarks import grown, manifests
from benchmarks.peer_catalogue import PeerCatalogue
from benchmarks.peer_systems import FLOOR, GROWTH, PEER, empty_nodes, staged
from benchmarks.peer_works import BURSTS, WORKS, PeerFigures, deployments_of, measured
from benchmarks.scaledown_stage import load
from growth.errors import GiveUp, Misconfigured

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from benchmarks.peer_catalogue import Document
    from benchmarks.peer_systems import PeerStage

SETTLE: Final = 10.0


class PeerRun(NamedTuple):
    """One work of one system."""

    figures: PeerFigures
    used: float
    """CPU seconds of the autoscaler, not of the control plane."""
    load: str


Found = dict[tuple[str, str], list[PeerRun]]
"""The runs by work and system."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command of the other autoscaler, the works, and their size."""
    parser.add_argument("--with", dest="command", metavar="COMMAND", help="start the other one")
    parser.add_argument("--name", default=PEER, metavar="NAME", help="what to call the other one")
    parser.add_argument("--works", nargs="+", choices=WORKS, default=list(WORKS))
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3], metavar="N")
    parser.add_argument("--prices", choices=("aws", "hetzner"), default="aws")
    parser.add_argument("--pods", type=int, default=1000, metavar="N", help="pods of W3")
    parser.add_argument(
        "--settle", type=float, default=SETTLE, metavar="S", help="seconds for COMMAND to begin"
    )
    parser.add_argument(
        "--longest", type=float, default=300.0, metavar="S", help="seconds of W5 after the drop"
    )
    parser.add_argument("--churn-seconds", type=float, default=180.0, metavar="S")


def run(arguments: argparse.Namespace) -> int:
    """Measure in turns, and print."""
    if arguments.name in {GROWTH, FLOOR}:
        raise Misconfigured(f"--name: {arguments.name} is the name of another column")
    found: Found = {}
    for work in arguments.works:
        for turn, seed in enumerate(arguments.seeds):
            for system in _order(work, turn, has_peer=arguments.command is not None):
                _note(found, work, system, _run(arguments, work, system, seed), arguments.name)
    print("\n".join(table(found, peer=arguments.name)))
    return 0


def _order(work: str, turn: int, *, has_peer: bool) -> Sequence[str]:
    """The systems in turns. Where pods go and come, no floor says how soon they could be bound."""
    systems = [GROWTH, *([PEER] if has_peer else []), *([FLOOR] if work in BURSTS else [])]
    return systems[::-1] if turn % 2 else systems


def _note(found: Found, work: str, system: str, ran: PeerRun | str, peer: str) -> None:
    name = peer if system == PEER else system
    if isinstance(ran, str):
        print(f"  {work} {name}: {ran}", flush=True)
        return
    found.setdefault((work, system), []).append(ran)
    print(f"  {work} {name}: {told(ran.figures)}; load {ran.load}", flush=True)


def _run(arguments: argparse.Namespace, work: str, system: str, seed: int) -> PeerRun | str:
    """A run, or why there is no figure: an autoscaler that fails one work ends no comparison."""
    catalogue = PeerCatalogue(arguments.prices, seed=seed)
    with tempfile.TemporaryDirectory() as folder:
        catalogue.write(Path(folder))
        command = arguments.command or ""
        with staged(system, command, Path(folder), settle=arguments.settle) as stage:
            before = stage.used()
            figures = _figures(stage, system, work, catalogue, arguments)
            if isinstance(figures, str):
                return f"seed {seed}: {figures}"
            return PeerRun(figures, stage.used() - before, load())


def _figures(
    stage: PeerStage,
    system: str,
    work: str,
    catalogue: PeerCatalogue,
    arguments: argparse.Namespace,
) -> PeerFigures | str:
    problem = ""
    try:
        return asyncio.run(_measured(stage, system, work, catalogue, arguments))
    except* GiveUp as failed:
        problem = _first(failed)
    return problem


async def _measured(
    stage: PeerStage,
    system: str,
    work: str,
    catalogue: PeerCatalogue,
    arguments: argparse.Namespace,
) -> PeerFigures:
    async with grown.connected(stage.cluster) as connection:
        wanted = deployments_of(work, pods=arguments.pods, seed=catalogue.seed)
        await grown.create(connection, _before(system, catalogue, wanted))
        return await measured(connection, work, catalogue, arguments)


def _before(system: str, catalogue: PeerCatalogue, wanted: Sequence[Document]) -> list[Document]:
    """What is there before the pods are."""
    match system:
        case "growth":
            return [manifests.control_plane(), *catalogue.growths()]
        case "floor":
            return [manifests.control_plane(), *empty_nodes(catalogue, wanted)]
        case _:
            return [manifests.control_plane()]


def _first(failed: BaseExceptionGroup[GiveUp]) -> str:
    """The first of several failures; the others follow from it."""
    found: BaseException = failed
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    return str(found)


def told(figures: PeerFigures) -> str:
    """The figures of a run, or their medians."""
    parts = [f"{figures.seconds:.1f} s", f"{figures.cost:.3f} x"]
    if figures.p99 is not None:
        parts = [f"{figures.cost:.3f} x over time", f"p99 {figures.p99:.1f} s"]
    if figures.evictions is not None:
        parts.append(f"{figures.evictions} evictions")
    return ", ".join(parts)


def table(found: Found, *, peer: str) -> Iterator[str]:
    """A row for each work, with the medians of all seeds."""
    names = {GROWTH: GROWTH, PEER: peer, FLOOR: FLOOR}
    systems = [system for system in names if any(system == each for _, each in found)]
    yield f"| work | {' | '.join(names[each] for each in systems)} |"
    yield f"|{'---|' * (len(systems) + 1)}"
    for work in dict.fromkeys(work for work, _ in found):
        cells = (_cell(found.get((work, system), ()), found, work) for system in systems)
        yield f"| {work} | {' | '.join(cells)} |"


def _cell(runs: Sequence[PeerRun], found: Found, work: str) -> str:
    if not runs:
        return ""
    middle = _middle([each.figures for each in runs])
    if runs is found.get((work, FLOOR)):
        return f"{middle.seconds:.1f} s"
    used = median(each.used for each in runs)
    return f"{told(middle)}{_beside(middle, found, work)}; CPU {used:.1f} s"


def _beside(figures: PeerFigures, found: Found, work: str) -> str:
    """Relative to the floor of the same seeds, if there is one."""
    floor = found.get((work, FLOOR))
    if not floor:
        return ""
    return f" ({figures.seconds / _middle([each.figures for each in floor]).seconds:.2f} x floor)"


def _middle(runs: Sequence[PeerFigures]) -> PeerFigures:
    evictions = [each.evictions for each in runs if each.evictions is not None]
    waits = [each.p99 for each in runs if each.p99 is not None]
    return PeerFigures(
        seconds=median(each.seconds for each in runs),
        cost=median(each.cost for each in runs),
        evictions=round(median(evictions)) if evictions else None,
        p99=median(waits) if waits else None,
    )
