"""A proof as a command runs it: a person's word, every step as it is done, and the way out.

It is prepared and carried out over two connections, as a person may think about it for a while.
"""

from __future__ import annotations

import asyncio
import sys
import time
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Final

import msgspec

from growth.cli.connecting import completed
from growth.cli.lists import reading
from growth.cli.output import coloured, print_json
from growth.cli.proof.attempt import Attempt, prepared
from growth.cli.proof.proving import Done, Proof, Unproved
from growth.cli.proof.sight import seen
from growth.cli.story import wrapped
from growth.errors import GrowthError, Misconfigured
from growth.kube.errors import NotFound

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

    from growth.kube.transport import Connection

YES: Final = frozenset({"y", "yes"})
INDENT: Final = 17
"""Where the text of a failure begins."""
WIDTH: Final = 64
"""Columns of a step before its seconds."""
OVERWRITE: Final = "\r\x1b[2K"
"""What is written next replaces this line of a terminal."""


class Report(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What came of it."""

    pool: str
    pod: str
    machine: str
    steps: tuple[Done, ...]
    proved: bool
    failure: str = ""
    hint: str = ""
    """What to look at."""


def run(arguments: argparse.Namespace) -> int:
    """Ask, prove and report; 1 where a step failed, or where a person has said no."""
    attempt = completed(_prepared(arguments))
    if not _agreed(attempt, arguments):
        return 1
    report = completed(_proved(attempt, arguments))
    if arguments.output == "json":
        print_json(report)
    else:
        for line in _told(report):
            print(line)
    return int(not report.proved)


async def _prepared(arguments: argparse.Namespace) -> Attempt:
    async with reading(arguments) as lists:
        return await prepared(lists, pool=arguments.pool, namespace=arguments.pod_namespace)


def _agreed(attempt: Attempt, arguments: argparse.Namespace) -> bool:
    """Money is spent only when somebody has said so."""
    stream = sys.stderr if arguments.output == "json" else sys.stdout
    offer = f"pool {attempt.pool} buys {attempt.machine} for the pod {attempt.pod_name}"
    print(f"{offer}; both are gone at the end", file=stream, flush=True)
    if arguments.yes:
        return True
    if not sys.stdin.isatty():
        raise Misconfigured("--prove buys a machine: add --yes to agree to that")
    print("Go on? [y/N] ", end="", file=stream, flush=True)
    return sys.stdin.readline().strip().lower() in YES


async def _proved(attempt: Attempt, arguments: argparse.Namespace) -> Report:
    done: list[Done] = []
    async with reading(arguments) as lists, _pod_of(attempt, lists.connection) as (uid, delete):
        path = f"{attempt.pods}/{attempt.pod['metadata']['name']}"
        proof = Proof(
            pod=attempt.pod_name,
            look=lambda machine: seen(lists, pod=path, uid=uid, pool=attempt.pool, machine=machine),
            delete=delete,
            clock=time.monotonic,
            pause=asyncio.sleep,
            tell=_tell,
        )
        report = partial(Report, pool=attempt.pool, pod=attempt.pod_name)
        try:
            async for each in proof.run(attempt.steps):
                done.append(each)
                if arguments.output == "text":
                    print(_line(each), flush=True)
        except Unproved as failed:
            return report(
                machine=proof.machine,
                steps=tuple(done),
                proved=False,
                failure=str(failed),
                hint=failed.hint,
            )
        except (asyncio.CancelledError, GrowthError):
            print(_left(proof.machine), file=sys.stderr)
            raise
        finally:
            _tell("")
        return report(machine=proof.machine, steps=tuple(done), proved=True)


@asynccontextmanager
async def _pod_of(
    attempt: Attempt, connection: Connection
) -> AsyncIterator[tuple[str, Callable[[], Awaitable[None]]]]:
    """The pod, which is gone afterwards, however that comes."""
    path = f"{attempt.pods}/{attempt.pod['metadata']['name']}"

    async def delete() -> None:
        with suppress(NotFound):
            await connection.request("DELETE", path, query={"gracePeriodSeconds": "0"})

    try:
        # Within, as a pod may be there whose answer was lost.
        answer = await connection.request("POST", attempt.pods, body=attempt.pod)
        yield answer.json()["metadata"]["uid"], delete
    finally:
        try:
            await delete()
        except GrowthError as error:
            print(f"delete pod {attempt.pod_name} yourself: {error}", file=sys.stderr)


def _tell(text: str) -> None:
    """One line on a terminal that is written over."""
    if sys.stderr.isatty():
        print(f"{OVERWRITE}{text}", end="", file=sys.stderr, flush=True)


def _line(done: Done) -> str:
    text = f" ok    {done.step:10}{done.text}"
    # Coloured after it was aligned, as what makes the colour has no width.
    return f"{text:{WIDTH}}{done.seconds:7.1f} s".replace("ok", coloured("ok", "green"), 1)


def _told(report: Report) -> Iterator[str]:
    seconds = sum(each.seconds for each in report.steps)
    if report.proved:
        yield f"proved in {seconds:.0f} s: a machine came for a pod, and went without it"
        return
    step, _, text = report.failure.partition(": ")
    first, *more = wrapped(f" FAIL  {step:10}", text, indent=INDENT)
    yield first.replace("FAIL", coloured("FAIL", "red"), 1)
    yield from more
    yield from wrapped(f"{'':{INDENT}}hint: ", report.hint, indent=INDENT + 6)
    yield _left(report.machine)


def _left(machine: str) -> str:
    """What a proof leaves that ends early."""
    if not machine:
        return "the pod is deleted again, and no machine was requested"
    return f"the pod is deleted again; {machine} may still run, and goes when it is idle"
