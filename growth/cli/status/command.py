"""`growth status`: pools, their cost, machines on their way, and problems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.api.written import write_time
from growth.cli.cluster import trouble
from growth.cli.cluster.connecting import add_connection_arguments, completed
from growth.cli.cluster.lists import reading_lists
from growth.cli.cluster.names import ALONE
from growth.cli.cluster.survey import surveyed
from growth.cli.status.overview import overview
from growth.cli.status.watched import watched_in
from growth.cli.terminal.money import hourly, hourly_each
from growth.cli.terminal.output import add_output_argument, coloured, print_answer
from growth.cli.terminal.tables import aligned
from growth.cli.terminal.texts import counted, short_span, wrapped
from growth.keeping.wanting import KeepingReason

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from growth.cli.cluster.names import ShortNames
    from growth.cli.status.overview import KeptNodes, OnItsWay, Overview, PoolLine

COLUMNS: Final = ("POOL", "NODES", "READY", "COMING", "GOING", "PER HOUR", "STATE")
FIGURES: Final = frozenset({"NODES", "READY", "COMING", "GOING", "PER HOUR"})
OBSERVES: Final = (
    "growth only observes: it buys and removes nothing (growth observe report shows what it would "
    "do)"
)
SHOWN: Final = 10
"""The most lines of each list; the others are counted."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of this command."""
    add_connection_arguments(parser)
    add_output_argument(parser)
    parser.epilog = "Exit code 0 if nothing needs attention, 1 otherwise."


def run(arguments: argparse.Namespace) -> int:
    """Print how growth is doing."""
    found, names = completed(_look(arguments))
    print_answer(arguments, found, overview_lines(found, names))
    return int(not found.is_well)


async def _look(arguments: argparse.Namespace) -> tuple[Overview, ShortNames]:
    async with reading_lists(arguments) as lists:
        seen = await surveyed(lists)
        return overview(watched_in(seen), seen.now.wall, seen.kept), seen.names


def overview_lines(found: Overview, names: ShortNames = ALONE) -> Iterator[str]:
    """The overview as text."""
    yield from trouble.trouble_line(found.growth)
    if found.observes:
        yield coloured(OBSERVES, "yellow")
    yield from _pools(found)
    yield ""
    yield _demand(found)
    yield from _listed("on their way", [names.in_text(_coming(each)) for each in found.coming])
    yield from _listed("being removed", [names.in_text(_going(each)) for each in found.going])
    yield from _listed(
        "sold out",
        [
            f"{each.offer}, pool {each.pool}: retry in {short_span(each.seconds)} "
            f"({counted(each.failures, 'refusal')})"
            for each in found.sold_out
        ],
    )
    yield from _listed(
        "pods without a place", [f"{each.pod}   {each.reason}" for each in found.without_place]
    )
    if found.kept:
        kept = ", ".join(map(_kept, found.kept))
        yield from wrapped("nodes: ", kept, indent=2)
    for line in found.needs_a_person:
        for part in wrapped("needs attention: ", names.in_text(line), indent=2):
            yield coloured(part, "red")


def _kept(each: KeptNodes) -> str:
    nodes = f"{each.nodes} {each.reason}"
    if each.until is None or each.seconds is None:
        return nodes
    match each.reason:
        case KeepingReason.IDLE:
            return f"{nodes} (the next leaves in {short_span(each.seconds)})"
        case KeepingReason.PAUSED:
            return f"{nodes} until {write_time(each.until)}"
        case _:
            return f"{nodes} (the first for {short_span(each.seconds)} more)"


def _pools(found: Overview) -> Iterator[str]:
    if not found.pools:
        yield "No NodePool yet, so nothing is bought."
        return
    yield from aligned(
        [COLUMNS, *(_row(pool, found) for pool in found.pools)],
        to_the_right=FIGURES,
    )


def _row(pool: PoolLine, found: Overview) -> tuple[str, ...]:
    figures = (pool.nodes, pool.ready, pool.coming, pool.going)
    cost = hourly_each(pool.costs) if len(found.costs) > 1 else hourly(pool.hourly_cost)
    return (pool.name, *(str(figure) for figure in figures), cost, pool.state)


def _demand(found: Overview) -> str:
    cost = f"Everything costs {hourly_each(found.costs, found.currency)} per hour."
    if not found.pending:
        return f"No pod is waiting for a node. {cost}"
    pods = "1 pod is" if found.pending == 1 else f"{found.pending} pods are"
    return f"{pods} waiting for a node, the oldest for {short_span(found.longest_wait)}. {cost}"


def _coming(each: OnItsWay) -> str:
    return f"{each.name}   {each.what}   {_wanted_for(each)}, {_in_phase(each)}"


def _wanted_for(each: OnItsWay) -> str:
    if each.pods:
        return f"for {counted(each.pods, 'pod')}"
    return "replaces another node" if each.replaces else "for its pool's minimum"


def _in_phase(each: OnItsWay) -> str:
    return f"{each.phase} for {short_span(each.seconds)}" if each.seconds else f"just {each.phase}"


def _going(each: OnItsWay) -> str:
    return f"{each.name}   {each.what}   {_in_phase(each)}"


def _listed(what: str, lines: list[str]) -> Iterator[str]:
    if not lines:
        return
    yield f"{what}:"
    for line in lines[:SHOWN]:
        yield from wrapped("  ", line, indent=6)
    if len(lines) > SHOWN:
        yield f"  and {len(lines) - SHOWN} more"
