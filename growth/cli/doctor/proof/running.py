"""A proof as a command: confirmation, each step as it completes, and cleanup.

It uses two connections, because a person may take a while to confirm.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from functools import partial
from typing import TYPE_CHECKING, Final

import msgspec

from growth.cli.cluster.connecting import completed
from growth.cli.cluster.lists import reading_lists
from growth.cli.doctor.proof.attempt import Attempt, prepared
from growth.cli.doctor.proof.proving import ProofRun, StepDone, Unproved
from growth.cli.doctor.proof.sight import see_proof
from growth.cli.doctor.proof.trial import TrialPod, cancelled_by_sigterm
from growth.cli.terminal.escaping import OVERWRITE, write_control
from growth.cli.terminal.output import coloured, print_answer
from growth.cli.terminal.texts import wrapped
from growth.errors import Misconfigured

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

TERMINATED: Final = 128 + signal.SIGTERM
"""The exit code after SIGTERM, as in shells."""
YES: Final = frozenset({"y", "yes"})
INDENT: Final = 17
"""The column at which the text of a failure begins."""
WIDTH: Final = 64
"""The width of a step before its seconds."""


class Report(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The outcome of a proof."""

    pool: str
    pod: str
    machine: str
    steps: tuple[StepDone, ...]
    proved: bool
    failure: str = ""
    hint: str = ""
    """Where to look."""
    left: str = ""
    """What may be left behind."""


def run_proof(arguments: argparse.Namespace) -> int:
    """Ask, prove and report; the exit code is 1 if a step failed or the user declined."""
    attempt = completed(_prepared(arguments))
    if not _agreed(attempt, arguments):
        return 1
    try:
        report = completed(_proved(attempt, arguments))
    except asyncio.CancelledError:
        return TERMINATED
    print_answer(arguments, report, _report_lines(report))
    return int(not report.proved)


async def _prepared(arguments: argparse.Namespace) -> Attempt:
    async with reading_lists(arguments) as lists:
        return await prepared(lists, pool=arguments.pool, namespace=arguments.pod_namespace)


def _agreed(attempt: Attempt, arguments: argparse.Namespace) -> bool:
    """Ask for confirmation before money is spent."""
    stream = sys.stderr if arguments.output == "json" else sys.stdout
    offer = f"pool {attempt.pool} buys {attempt.machine} for the pod {attempt.pod_name}"
    print(f"{offer}; both are removed at the end", file=stream, flush=True)
    if arguments.yes:
        return True
    if not sys.stdin.isatty():
        raise Misconfigured("--prove buys a machine: add --yes to confirm")
    print("Continue? [y/N] ", end="", file=stream, flush=True)
    return sys.stdin.readline().strip().lower() in YES


async def _proved(attempt: Attempt, arguments: argparse.Namespace) -> Report:
    done: list[StepDone] = []
    async with reading_lists(arguments) as lists:
        trial = TrialPod(attempt, lists)
        proof = ProofRun(
            pod=attempt.pod_name,
            look=lambda machine: see_proof(
                lists, pod=trial.path, uid=trial.uid, pool=attempt.pool, machine=machine
            ),
            delete=trial.delete,
            clock=time.monotonic,
            pause=asyncio.sleep,
            tell=_tell,
        )
        report = partial(Report, pool=attempt.pool, pod=attempt.pod_name)
        try:
            with cancelled_by_sigterm():
                async with trial:
                    await _go_on(proof, attempt, done, arguments)
        except Unproved as failed:
            return report(
                machine=proof.machine,
                steps=tuple(done),
                proved=False,
                failure=str(failed),
                hint=failed.hint,
                left=trial.left,
            )
        except BaseException:
            if trial.left:
                print(trial.left, file=sys.stderr)
            raise
        return report(machine=proof.machine, steps=tuple(done), proved=True)


async def _go_on(
    proof: ProofRun, attempt: Attempt, done: list[StepDone], arguments: argparse.Namespace
) -> None:
    """Run all steps, and print each when it is done."""
    try:
        async for each in proof.run(attempt.steps):
            done.append(each)
            if arguments.output == "text":
                print(_line(each), flush=True)
    finally:
        _tell("")


def _tell(text: str) -> None:
    """A line on the terminal that is replaced by the next one."""
    if sys.stderr.isatty():
        write_control(OVERWRITE, sys.stderr)
        print(text, end="", file=sys.stderr, flush=True)


def _line(done: StepDone) -> str:
    text = f" ok    {done.step:10}{done.text}"
    # Coloured after it was aligned, as what makes the colour has no width.
    return f"{text:{WIDTH}}{done.seconds:7.1f} s".replace("ok", coloured("ok", "green"), 1)


def _report_lines(report: Report) -> Iterator[str]:
    seconds = sum(each.seconds for each in report.steps)
    if report.proved:
        yield f"proved in {seconds:.0f} s: a machine was bought for a pod, and removed after it"
        return
    step, _, text = report.failure.partition(": ")
    first, *more = wrapped(f" FAIL  {step:10}", text, indent=INDENT)
    yield first.replace("FAIL", coloured("FAIL", "red"), 1)
    yield from more
    yield from wrapped(f"{'':{INDENT}}hint: ", report.hint, indent=INDENT + 6)
    yield report.left
