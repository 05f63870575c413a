"""`growth certs`: show, renew and export the certificates of growth's processes.

The leading reconciler manages them by itself. These commands are for looking, exporting, early
renewal, and for clusters in which no reconciler runs.
"""

from __future__ import annotations

import json
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from certs.files import files_of, write_files
from certs.objects import Objects
from certs.reading import BUNDLE
from certs.showing import Row, rows
from certs.state import AuthoritySecret
from certs.steps import subject_of
from certs.tending import tend
from certs.wanted import OWN, POLICY, WANTED, Rotation
from growth.cli.cluster.connecting import (
    add_connection_arguments,
    add_own_namespace_argument,
    completed,
    connected,
)
from growth.cli.terminal.output import add_output_argument, coloured, print_answer, print_json
from growth.errors import GiveUp

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncIterator, Iterator
    from datetime import datetime

    from certs.objects import CertificatesFound
    from certs.state import LeafSecret
    from certs.steps import Write
    from certs.tending import RoundDone

AUTHORITIES: Final = tuple(authority.name for authority in WANTED)
LEAVES: Final = tuple(leaf.name for authority in WANTED for leaf in authority.leaves)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of this command."""
    actions = parser.add_subparsers(metavar="ACTION", required=True, parser_class=type(parser))
    show = actions.add_parser(
        "show", help="list them, and what happens next; exit code 1 if one is bad"
    )
    rotate = actions.add_parser("rotate", help="request a new one, without interruption")
    rotate.add_argument(
        "name",
        nargs="?",
        default=OWN.name,
        choices=AUTHORITIES + LEAVES,
        metavar="SECRET",
        help=f"default: {OWN.name}, together with everything that it has signed",
    )
    export = actions.add_parser(
        "export", help="print the CA certificates to trust, or write the files"
    )
    export.add_argument("name", choices=AUTHORITIES + LEAVES, metavar="SECRET")
    export.add_argument(
        "--folder",
        type=Path,
        metavar="FOLDER",
        help="write tls.crt, tls.key and ca.crt to this folder",
    )
    once = actions.add_parser("run-once", help="do once what the reconciler does every minute")
    for action, run in ((show, _show), (rotate, _rotate), (export, _export), (once, _run_once)):
        add_connection_arguments(action)
        add_output_argument(action)
        add_own_namespace_argument(action)
        action.set_defaults(act=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the action."""
    code: int = completed(arguments.act(arguments))
    return code


async def _show(arguments: argparse.Namespace) -> int:
    async with _objects(arguments) as objects:
        found = await objects.read()
    listed = rows(found.state, policy=POLICY, now=found.now)
    if arguments.output == "json":
        print(json.dumps(msgspec.to_builtins(listed), indent=2))
    else:
        for row in listed:
            print(_line(row, now=found.now))
        if not any(row.until for row in listed):
            print(
                f"hint: no certificates in namespace {arguments.namespace}; use -n for another "
                f"namespace"
            )
    return int(any(not row.good for row in listed))


async def _rotate(arguments: argparse.Namespace) -> int:
    async with _objects(arguments) as objects:
        found = await objects.read()
        secret = _ours(found, arguments.name)
        _check_idle(secret)
        assert secret.decided is not None  # noqa: S101 - it is there
        await objects.ask_for_rotation(secret.decided, now=found.now)
    told = [*_next_steps(secret)]
    print_answer(arguments, {"secret": arguments.name, "next": " ".join(told)}, told)
    return 0


async def _export(arguments: argparse.Namespace) -> int:
    async with _objects(arguments) as objects:
        secret = _there(await objects.read(), arguments.name)
    if arguments.folder is None and arguments.output == "json":
        print_json({BUNDLE: secret.bundle.decode()})
    elif arguments.folder is None:
        sys.stdout.write(secret.bundle.decode())
    else:
        _write(secret, arguments)
    return 0


def _write(secret: AuthoritySecret | LeafSecret, arguments: argparse.Namespace) -> None:
    # An authority's key has no business outside of its Secret.
    files = {BUNDLE: secret.bundle} if isinstance(secret, AuthoritySecret) else files_of(secret)
    write_files(arguments.folder, files)
    if arguments.output == "json":
        print_json({"folder": str(arguments.folder), "files": [*files]})


async def _run_once(arguments: argparse.Namespace) -> int:
    async with _objects(arguments) as objects:
        done = await tend(objects, may_write=lambda: None)
    (_print_done if arguments.output == "text" else _document_done)(done)
    return int(bool(done.problems))


def _print_done(done: RoundDone) -> None:
    for write in done.written:
        print(f"{_verb(write):10} {subject_of(write)}")
    if not done.written and not done.problems:
        print("nothing to do")
    for line in done.problems + done.advice:
        print(line, file=sys.stderr)


def _document_done(done: RoundDone) -> None:
    written = [{"did": _verb(write), "to": subject_of(write)} for write in done.written]
    print_json({"written": written, "problems": done.problems, "advice": done.advice})


def _verb(write: Write) -> str:
    return type(write).__name__.lower()


@asynccontextmanager
async def _objects(arguments: argparse.Namespace) -> AsyncIterator[Objects]:
    async with connected(arguments) as connection:
        yield Objects(connection, namespace=arguments.namespace, wanted=WANTED, policy=POLICY)


def _there(found: CertificatesFound, name: str) -> AuthoritySecret | LeafSecret:
    secret = next(each for each in _secrets(found) if each.wanted.name == name)
    if secret.decided is None:
        raise GiveUp(
            f"Secret {name}: not found; the reconciler or `growth certs run-once` creates it; use "
            f"-n for another namespace"
        )
    return secret


def _ours(found: CertificatesFound, name: str) -> AuthoritySecret | LeafSecret:
    secret = _there(found, name)
    if not secret.ours:
        raise GiveUp(f"Secret {name}: it isn't managed by growth; renew it where it is managed")
    return secret


def _check_idle(secret: AuthoritySecret | LeafSecret) -> None:
    if not isinstance(secret, AuthoritySecret):
        return
    by_itself = secret.wanted.rotation is Rotation.BY_ITSELF
    if secret.previous is not None or (by_itself and secret.next is not None):
        raise GiveUp(
            f"Secret {secret.wanted.name}: a rotation is in progress; see growth certs show"
        )


def _secrets(found: CertificatesFound) -> Iterator[AuthoritySecret | LeafSecret]:
    for kept in found.state:
        yield kept.authority
        yield from kept.leaves


def _next_steps(secret: AuthoritySecret | LeafSecret) -> Iterator[str]:
    name, overlap = secret.wanted.name, f"{POLICY.overlap.total_seconds() / 3600:g} h"
    if not isinstance(secret, AuthoritySecret):
        yield f"{name}: a new certificate comes within a minute"
    elif secret.wanted.rotation is Rotation.BY_ITSELF:
        yield f"{name}: the next CA is trusted within a minute, signs after {overlap},"
        yield f"and the old one is removed {overlap} later. To follow it: growth certs show"
    elif secret.next is None:
        yield f"{name}: the next CA is created within a minute. Give both to the scheduler"
        yield f"(growth certs export {name}), then: growth certs rotate {name}"
    else:
        yield f"{name}: the next CA is trusted first, and signs after {overlap}"


def _line(row: Row, *, now: datetime) -> str:
    mark = coloured(" ok  ", "green") if row.good else coloured(" bad ", "red")
    until = f"until {row.until:%Y-%m-%d}" if row.until else ""
    renewal = f"renewed in {_days(row.renewal, now)}" if row.renewal else ""
    told = ", ".join(filter(None, (renewal, row.standing)))
    return f"{mark} {row.name:26} {row.purpose:32} {until:16} {told}".rstrip()


def _days(moment: datetime, now: datetime) -> str:
    days = max(0, (moment - now).days)
    return f"{days} d" if days else "less than a day"
