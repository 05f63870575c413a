"""`growth bundle`: everything that a bug report needs, without secrets, in one file.

Its contents are a list of fields by name; all other fields are left out. The parts are listed
before anything is written. The recipient can repeat the plan.
"""

from __future__ import annotations

import platform
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from growth import __version__
from growth.api.installed import NAMESPACE
from growth.api.kinds import KINDS
from growth.cli.cluster.connecting import add_connection_arguments, completed
from growth.cli.cluster.events import events_of_growth
from growth.cli.cluster.lists import reading_lists, tell_left_out
from growth.cli.cluster.survey import surveyed
from growth.cli.doctor.command import examine_all
from growth.cli.doctor.examination.finding import ExaminedCluster, fail
from growth.cli.support import OBJECT_VERSION, not_installed
from growth.cli.terminal.logs import log_errors_only
from growth.cli.terminal.output import add_output_argument, print_json
from growth.cli.terminal.texts import wrapped
from growth.clocks import wall_clock
from growth.errors import GiveUp, GrowthError
from growth.keeping.marks import pool_of_node

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from datetime import datetime

    from growth.cli.bundle.bundling import BundlePart
    from growth.cli.cluster.events import ObjectEvent
    from growth.cli.cluster.survey import Survey
    from growth.cli.doctor.examination.finding import Finding
    from growth.cli.plan.cluster import SeenCluster
    from growth.cli.plan.input import Input
    from growth.kube.transport import Connection

LEFT_OUT: Final = (
    "not included: Secrets, ConfigMaps, logs, environment, arguments and images of pods, user "
    "data, addresses, labels of growth's objects, annotations that growth doesn't read"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of this command."""
    parser.add_argument(
        "--file",
        type=Path,
        metavar="FILE",
        help="file to write (default: growth-bundle-TIME.tar.gz in the current folder)",
    )
    parser.add_argument(
        "--hash-names",
        action="store_true",
        help="replace names of pods, workloads, namespaces and volumes, and label values, by "
        "hashes",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="list what it would contain, without writing it"
    )
    add_connection_arguments(parser)
    add_output_argument(parser)
    parser.epilog = (
        "For example: growth bundle --hash-names. The plan can be repeated from it: growth plan "
        "--from-bundle FILE."
    )


def run(arguments: argparse.Namespace) -> int:
    """List what is in the bundle, and write it."""
    at = wall_clock().replace(microsecond=0)
    path = arguments.file or Path(f"growth-bundle-{at:%Y%m%dT%H%M%SZ}.tar.gz")
    log_errors_only()
    parts = _parts(arguments, at)
    if arguments.output == "text":
        for line in _listed(parts):
            print(line)
    size = None if arguments.dry_run else _written(path, parts, at)
    if arguments.output == "json":
        told = [{"name": each.name, "bytes": each.size, "what": each.what} for each in parts]
        print_json({"file": None if size is None else str(path), "bytes": size, "parts": told})
    elif size is not None:
        print(f"{path}: {size:,} bytes")
        print(f"hint: check its content before you share it: tar -xzf {path.name}")
    return 0


def _parts(arguments: argparse.Namespace, at: datetime) -> list[BundlePart]:
    try:
        from growth.cli.bundle import bundling  # noqa: PLC0415 - with the rest of planning
        from growth.cli.plan.input import input_of  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise not_installed(error, command="bundle") from None
    found = completed(_look(arguments))
    tell_left_out(found.seen.unreadable)
    survey, given = found.survey, input_of(found.seen, at)
    told = frozenset(KINDS)
    if arguments.hash_names:
        given, told = _hashed(given, survey), frozenset()
    return [
        bundling.part("versions.json", "versions", _versions(found.version)),
        bundling.part("doctor.json", "what growth doctor says", _doctor(arguments, found)),
        bundling.input_part(given),
        bundling.removals_part(survey),
        bundling.kept_part(survey.kept),
        bundling.events_part(found.events, is_told=told),
    ]


@dataclass(frozen=True, kw_only=True)
class _Found:
    """What was read from the cluster."""

    seen: SeenCluster
    survey: Survey
    events: dict[str, list[ObjectEvent]]
    findings: list[Finding]
    version: str
    server: str


async def _look(arguments: argparse.Namespace) -> _Found:
    from growth.cli.plan.cluster import seen_by  # noqa: PLC0415 - see above

    async with reading_lists(arguments) as lists:
        return _Found(
            survey=await surveyed(lists),
            seen=await seen_by(lists),
            events=await events_of_growth(lists),
            findings=await _findings(lists.connection),
            version=lists.version,
            server=lists.connection.server,
        )


def _hashed(given: Input, survey: Survey) -> Input:
    from growth.cli.bundle.hashing import Hashing  # noqa: PLC0415 - see above

    nodes = survey.scene.cluster.nodes.values()
    machines = {node.name for node in nodes if pool_of_node(node)} | set(survey.scene.requests)
    kept = frozenset(machines | survey.records.keys())
    return Hashing(secrets.token_bytes(32), kept=kept).of(given)


def _versions(kubernetes: str) -> dict[str, str]:
    return {
        "growth": __version__,
        "objects": OBJECT_VERSION,
        "kubernetes": kubernetes,
        "python": platform.python_version(),
    }


async def _findings(connection: Connection) -> list[Finding]:
    """The doctor's findings; if the examination fails, the bundle is made without them."""
    try:
        return await examine_all(ExaminedCluster(connection, NAMESPACE))
    except GrowthError as error:
        return [fail("cluster", str(error), "run growth doctor for details")]


def _doctor(arguments: argparse.Namespace, found: _Found) -> list[dict[str, str]]:
    """The findings without the cluster's address; with hashed names, only the failures."""
    findings = [asdict(finding) for finding in found.findings]
    if arguments.hash_names:
        return [{key: each[key] for key in ("level", "subject")} for each in findings]
    return [
        {key: text.replace(found.server, "the API server") for key, text in each.items()}
        for each in findings
    ]


def _listed(parts: list[BundlePart]) -> Iterator[str]:
    from growth.cli.bundle.bundling import bundle_lines  # noqa: PLC0415 - see above

    yield "the bundle contains:"
    yield from bundle_lines(parts)
    yield from wrapped("", LEFT_OUT, indent=2)


def _written(path: Path, parts: list[BundlePart], at: datetime) -> int:
    from growth.cli.bundle.bundling import pack_bundle  # noqa: PLC0415 - see above

    try:
        return pack_bundle(path, parts, at=at)
    except OSError as error:
        raise GiveUp(f"{path}: {(error.strerror or 'not writable').lower()}") from None
