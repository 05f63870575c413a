"""`growth observe report`: what growth would have done, beside what others did.

Everything that it says is in the status of the pools, so it needs no right but to read these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from growth.api.nodepool import NodePool
from growth.api.written import Duration, write_time
from growth.cli.cluster.connecting import add_connection_arguments, completed
from growth.cli.cluster.lists import reading_lists, tell_left_out
from growth.cli.observe.reporting import observation_report
from growth.cli.terminal.money import monthly
from growth.cli.terminal.output import print_json
from growth.cli.terminal.tables import aligned
from growth.cli.terminal.texts import counted, wrapped
from growth.clocks import wall_clock
from growth.errors import Misconfigured
from growth.readable_yaml import readable_yaml

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from datetime import timedelta

    from growth.cli.observe.reporting import ObservationReport, ObservedSide, PoolObservation

COLUMNS: Final = ("", "CAME", "WENT", "HOURS", "COST", "UNPRICED HOURS")
NOTHING: Final = (
    "No pool is or was observed: install with growth install --observe, or set spec.mode: Observe."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of this command."""
    actions = parser.add_subparsers(metavar="ACTION", required=True, parser_class=type(parser))
    report = actions.add_parser(
        "report", help="show what growth would have bought, given back and paid"
    )
    report.add_argument(
        "--since",
        metavar="DURATION",
        help="only this time until now, in whole hours, such as 24h or 168h (default: all that is "
        "known, at most eight days)",
    )
    add_connection_arguments(report)
    report.add_argument(
        "-o",
        "--output",
        choices=("text", "json", "yaml"),
        default="text",
        help="output format: text (default), json or yaml",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the report."""
    report = completed(_report(arguments, _span(arguments.since)))
    match arguments.output:
        case "json":
            print_json(report)
        case "yaml":
            print(readable_yaml(msgspec.to_builtins(report, str_keys=True)), end="")
        case _:
            for line in report_lines(report):
                print(line)
    return 0


def report_lines(report: ObservationReport) -> Iterator[str]:
    """The report as text."""
    if not report.pools:
        yield NOTHING
        return
    for each in report.pools:
        yield from _of_pool(each)
        yield ""
    for note in report.notes:
        yield from wrapped("note: ", note, indent=2)


def _of_pool(each: PoolObservation) -> Iterator[str]:
    yield (
        f"pool {each.pool}, {write_time(each.since)} to {write_time(each.until)}: "
        f"{each.watched_hours} hours watched"
    )
    rows = (_row("growth would", each.growth, each), _row("others did", each.others, each))
    yield from aligned([COLUMNS, *rows], to_the_right=frozenset(COLUMNS[1:]))
    pods = f", and no place for {counted(each.unplaced, 'pod')}" if each.unplaced else ""
    yield f"growth would have {counted(each.machines, 'machine')} now{pods}"


def _row(title: str, side: ObservedSide, each: PoolObservation) -> tuple[str, ...]:
    cost = monthly(side.cost, each.currency)
    return (title, str(side.came), str(side.went), str(side.hours), cost, str(side.unpriced_hours))


async def _report(arguments: argparse.Namespace, span: timedelta | None) -> ObservationReport:
    async with reading_lists(arguments) as lists:
        pools = await lists.ours(NodePool)
        tell_left_out(lists.unreadable)
        return observation_report(pools, span=span, now=wall_clock())


def _span(written: str | None) -> timedelta | None:
    if written is None:
        return None
    try:
        return Duration.parse(written).timedelta
    except ValueError as mistake:
        raise Misconfigured(f'--since: "{written}" {mistake}') from None
