"""`growth doctor`: what is wrong with the installation, each finding with its remedy.

Every check is a function from the connection to findings. They run one after the other and one that
can't be answered becomes a finding itself, so that the list is always whole.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from growth.api import crd
from growth.api.hetznernodeclass import HetznerNodeClass
from growth.api.kwoknodeclass import KwokNodeClass
from growth.api.wellknown import GROUP_VERSION
from growth.cli.connecting import add_connection_arguments, completed, connected
from growth.cli.output import add_output_argument, coloured
from growth.cli.support import OBJECT_VERSION, SUPPORTED_KUBERNETES, spoken_range
from growth.errors import GrowthError, RetryLater
from growth.kube.transport import NotFound

if TYPE_CHECKING:
    import argparse

    from growth.kube.transport import Connection


class Level(StrEnum):
    """How much a finding matters."""

    OK = "ok"
    WARN = "warn"
    FAIL = "FAIL"


COLOUR_OF = {Level.OK: "green", Level.WARN: "yellow", Level.FAIL: "red"}


@dataclass(frozen=True)
class Finding:
    """One line of the answer."""

    level: Level
    subject: str
    text: str
    hint: str = ""
    """How to mend it."""


Check = Callable[["Connection"], AsyncIterator[Finding]]

PATIENCE = 4.0
"""Seconds to wait for an answer: a person is told within five that nobody is there."""

INSTALL_HINT = "growth crds | kubectl apply --server-side -f -"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the words of this command."""
    add_connection_arguments(parser)
    add_output_argument(parser)
    parser.epilog = "Exit code 0 when nothing failed, 1 otherwise."


def run(arguments: argparse.Namespace) -> int:
    """Print every finding; the exit code tells whether one of them failed."""
    findings = completed(_examine(arguments))
    if arguments.output == "json":
        print(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        for finding in findings:
            _print(finding)
    return int(any(finding.level is Level.FAIL for finding in findings))


def _print(finding: Finding) -> None:
    level = coloured(f"{finding.level:5}", COLOUR_OF[finding.level])
    print(f" {level} {finding.subject:16} {finding.text}")
    if finding.hint:
        print(f"{'':24}hint: {finding.hint}")


async def _examine(arguments: argparse.Namespace) -> list[Finding]:
    async with connected(arguments) as connection:
        # Unguarded: without a cluster there is nothing to examine, and waiting more says no more.
        findings = [finding async for finding in check_cluster(connection)]
        for check in CHECKS:
            findings += [finding async for finding in _guarded(check, connection)]
        return findings


async def _guarded(check: Check, connection: Connection) -> AsyncIterator[Finding]:
    """A check that can't be answered is a finding, not the end of the examination."""
    try:
        async for finding in check(connection):
            yield finding
    except GrowthError as error:
        subject = check.__name__.removeprefix("check_").replace("_", " ")
        yield Finding(Level.FAIL, subject, str(error))


async def check_cluster(connection: Connection) -> AsyncIterator[Finding]:
    """Is it reachable, and of a version that we know?"""
    answer = (await connection.request("GET", "/version", timeout=PATIENCE)).json()
    version = str(answer["gitVersion"]).removeprefix("v")
    minor = (int(answer["major"]), int(answer["minor"].rstrip("+")))
    oldest, newest = SUPPORTED_KUBERNETES
    known = spoken_range(SUPPORTED_KUBERNETES)
    text = f"Kubernetes {version} at {connection.server}"
    if minor < oldest:
        hint = f"upgrade the cluster; growth is tested with {known}"
        yield Finding(Level.FAIL, "cluster", f"{text} is too old", hint)
    elif minor > newest:
        hint = f"growth is tested with {known}; look for a newer growth"
        yield Finding(Level.WARN, "cluster", f"{text} is newer than this growth knows", hint)
    else:
        yield Finding(Level.OK, "cluster", f"{text} (tested: {known})")


async def check_objects(connection: Connection) -> AsyncIterator[Finding]:
    """Are our definitions installed, established, and those of this version?"""
    wrong = 0
    wanted = crd.definitions().values()
    for definition in wanted:
        text = await _difference(connection, definition)
        if text:
            wrong += 1
            yield Finding(Level.FAIL, "objects", text, INSTALL_HINT)
    if not wrong:
        version = OBJECT_VERSION.split("/")[1]
        yield Finding(Level.OK, "objects", f"{len(wanted)} kinds, {version}")


async def _difference(connection: Connection, wanted: dict[str, Any]) -> str:
    name = wanted["metadata"]["name"]
    path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}"
    try:
        installed = (await connection.request("GET", path, timeout=PATIENCE)).json()
    except NotFound:
        return f"{name} is not installed"
    # A definition that came a moment ago has none yet, written as null.
    conditions = installed.get("status", {}).get("conditions") or []
    if {"type": "Established", "status": "True"}.items() not in [
        {key: condition[key] for key in ("type", "status")}.items() for condition in conditions
    ]:
        return f"{name} is installed, but the API server doesn't serve it"
    if _schemas(installed) != _schemas(wanted):
        return f"{name} is of another version of growth"
    return ""


def _schemas(definition: dict[str, Any]) -> dict[str, Any]:
    return {version["name"]: version["schema"] for version in definition["spec"]["versions"]}


async def check_node_classes(connection: Connection) -> AsyncIterator[Finding]:
    """Can machines be made with each of them, as the cloud has said?"""
    for kind in (HetznerNodeClass, KwokNodeClass):
        path = f"/apis/{GROUP_VERSION}/{kind.kind_names[0]}"
        with suppress(NotFound):
            try:
                answer = await connection.request("GET", path, timeout=PATIENCE)
            except RetryLater as error:
                # Right after the definitions were applied, for one.
                yield Finding(Level.WARN, "node classes", str(error), "ask again in a moment")
                continue
            for document in answer.json()["items"]:
                yield _of_class(document)


def _of_class(document: dict[str, Any]) -> Finding:
    subject, status = f"class {document['metadata']['name']}", document.get("status", {})
    if "observedGeneration" not in status:
        hint = "see whether the reconciler runs and leads"
        return Finding(Level.WARN, subject, "nobody has asked its cloud yet", hint)
    if blocked := status.get("blocked"):
        hint = "growth asks again by itself; nothing has to be restarted"
        return Finding(Level.FAIL, subject, str(blocked["message"]), hint)
    doubts = [each for each in status.get("conditions", ()) if each["reason"] == "Implausible"]
    if doubts:
        hint = "the last good prices hold; if the change is real, restart the reconciler"
        return Finding(Level.WARN, subject, str(doubts[0]["message"]), hint)
    return Finding(Level.OK, subject, "machines can be made with it")


CHECKS: tuple[Check, ...] = (check_objects, check_node_classes)
