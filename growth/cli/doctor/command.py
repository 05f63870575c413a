"""`growth doctor`: what is wrong with the installation, each finding with its remedy.

Before an installation it says whether there can be one, afterwards whether it works. Examinations
run one after the other, and one that can't be answered becomes a finding itself, so that the list
is always whole.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from growth.api.wellknown import DEFAULT_POOL
from growth.cli.cluster.connecting import (
    add_connection_arguments,
    add_own_namespace_argument,
    completed,
    connected,
)
from growth.cli.doctor.examination.admission import examine_admission
from growth.cli.doctor.examination.certificates import examine_certificates
from growth.cli.doctor.examination.cluster import examine_cluster
from growth.cli.doctor.examination.definitions import examine_objects
from growth.cli.doctor.examination.finding import ExaminedCluster, Level, fail, warn
from growth.cli.doctor.examination.guards import examine_guards
from growth.cli.doctor.examination.mode import examine_mode
from growth.cli.doctor.examination.pools import examine_node_classes, examine_pools
from growth.cli.doctor.examination.processes import examine_processes
from growth.cli.doctor.examination.records import examine_records
from growth.cli.doctor.examination.rights import examine_rights
from growth.cli.doctor.examination.scheduler import examine_scheduler
from growth.cli.doctor.proof import running
from growth.cli.terminal.logs import log_errors_only
from growth.cli.terminal.output import add_output_argument, coloured, print_answer
from growth.cli.terminal.texts import wrapped
from growth.errors import GrowthError
from growth.kube.errors import Denied, Overloaded

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from growth.cli.doctor.examination.finding import Examination, Finding, Findings

COLOUR_OF: Final = {Level.OK: "green", Level.WARN: "yellow", Level.FAIL: "red"}
INDENT: Final = 24
"""Where a finding's text begins."""
EXAMINATIONS: Final[tuple[Examination, ...]] = (
    examine_mode,
    examine_objects,
    examine_processes,
    examine_rights,
    examine_guards,
    examine_certificates,
    examine_admission,
    examine_scheduler,
    examine_records,
    examine_node_classes,
    examine_pools,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of this command."""
    add_own_namespace_argument(parser)
    _add_proof_arguments(parser)
    add_connection_arguments(parser)
    add_output_argument(parser)
    parser.epilog = "Exit code 0 if no check failed, 1 otherwise."


def _add_proof_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--prove",
        action="store_true",
        help="buy one machine for a small pod, remove it again, and show how long each step took; "
        "shows the price first",
    )
    parser.add_argument(
        "--pool",
        metavar="NAME",
        default=DEFAULT_POOL,
        help="pool to buy from (default: %(default)s)",
    )
    parser.add_argument(
        "--pod-namespace",
        metavar="NAME",
        default="default",
        help="namespace of the pod (default: %(default)s)",
    )
    parser.add_argument("--yes", action="store_true", help="don't ask for confirmation")


def run(arguments: argparse.Namespace) -> int:
    """Print every finding; the exit code tells whether one of them failed."""
    log_errors_only()
    if arguments.prove:
        return running.run_proof(arguments)
    findings = completed(_examine(arguments))
    lines = (line for finding in findings for line in finding_lines(finding))
    print_answer(arguments, [asdict(finding) for finding in findings], lines)
    return int(any(finding.level is Level.FAIL for finding in findings))


def finding_lines(finding: Finding) -> Iterator[str]:
    """A finding for people, in lines that fit a terminal."""
    level = f"{finding.level:5}"
    first, *more = wrapped(f" {level} {finding.subject:16} ", finding.text, indent=INDENT)
    # Coloured after it was wrapped, as what makes the colour has no width.
    yield first.replace(level, coloured(level, COLOUR_OF[finding.level]), 1)
    yield from more
    if finding.hint:
        yield from wrapped(f"{'':{INDENT}}hint: ", finding.hint, indent=INDENT + 6)


async def _examine(arguments: argparse.Namespace) -> list[Finding]:
    async with connected(arguments) as connection:
        return await examine_all(ExaminedCluster(connection, arguments.namespace))


async def examine_all(place: ExaminedCluster) -> list[Finding]:
    """All findings."""
    # Unguarded: without a cluster there is nothing to examine, and waiting more says no more.
    findings = [finding async for finding in examine_cluster(place)]
    for examination in EXAMINATIONS:
        findings += [finding async for finding in _guarded(examination, place)]
    return findings


async def _guarded(examination: Examination, place: ExaminedCluster) -> Findings:
    """One that can't be answered is a finding, not the end of all."""
    try:
        async for finding in examination(place):
            yield finding
    except Overloaded as error:
        # Right after definitions were applied, for one.
        yield warn(_subject(examination), str(error), "try again in a moment")
    except Denied as error:
        hint = "run it as a user with this right, such as a cluster administrator"
        yield fail(_subject(examination), str(error), hint)
    except GrowthError as error:
        yield fail(
            _subject(examination),
            str(error),
            "try again; if the error remains, check the network and proxies in between",
        )


def _subject(examination: Examination) -> str:
    return examination.__name__.removeprefix("examine_").replace("_", " ")
