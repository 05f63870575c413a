"""`growth install`: install growth in a cluster, and wait until it works.

It applies `manifests/` with the same values file as Helm. Running it again applies only what has
changed, so it is also the upgrade.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from growth.api.installed import WEBHOOKS
from growth.api.nodepool import PoolMode
from growth.api.written import Duration
from growth.cli.cluster.connecting import (
    add_connection_arguments,
    add_own_namespace_argument,
    completed,
    connected,
)
from growth.cli.terminal.output import add_output_argument, print_steps
from growth.errors import GiveUp, Misconfigured
from growth.installation.applying import apply, rehearse
from growth.installation.awaiting import missing_of, until_nothing_is_missing
from growth.installation.definitions import apply_definitions, compared, refuse_narrower
from growth.installation.rendering import rendered
from growth.installation.resources import title_of
from growth.installation.values import (
    Admission,
    CertificatesChoice,
    InstallationValues,
    ProviderChoice,
)
from growth.kube.reads import Reads

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncIterator

    from growth.installation.applying import ApplyOutcome
    from growth.installation.shipped import Object
    from growth.kube.transport import Connection

ADMITS: Final = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/{}"
HINT: Final = "hint: kubectl --namespace {} get pods; run the same command again to continue"


NEXT: Final = "hint: check it with growth doctor; next, create a NodePool: docs/guides/install.md"
OBSERVES: Final = (
    "it only observes: it buys and removes nothing\n"
    "hint: create a NodePool, and read growth observe report after a while: docs/guides/observe.md"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of this command."""
    parser.add_argument(
        "--for",
        dest="provider",
        choices=[provider.value for provider in ProviderChoice],
        help="the provider; overrides the values file (default: hetzner)",
    )
    parser.add_argument(
        "--values", type=Path, metavar="FILE", help="values file, the same as for Helm"
    )
    add_own_namespace_argument(parser)
    parser.add_argument(
        "--observe",
        action="store_true",
        help="only observe: buy and remove nothing, and show what growth would do with growth "
        "observe report",
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="only let the API server check the objects, and list them",
    )
    parser.add_argument(
        "--wait",
        metavar="DURATION",
        default="3m",
        help="how long to wait until growth is ready (default: 3m; 0s: don't wait)",
    )
    add_connection_arguments(parser)
    add_output_argument(parser)
    parser.epilog = "Run it again to upgrade. growth uninstall removes growth."


def run(arguments: argparse.Namespace) -> int:
    """Install growth, or do a dry run."""
    values = _observing(_values(arguments.values, arguments.provider), wanted=arguments.observe)
    seconds = _seconds(arguments.wait)
    if arguments.dry_run:
        completed(print_steps(_rehearsal(arguments, values), arguments, _rehearsed))
        return 0
    completed(print_steps(_installation(arguments, values, seconds=seconds), arguments, _counted))
    if seconds and arguments.output == "text":
        print("growth is ready: all processes run, one reconciler leads")
        print(OBSERVES if values.mode is PoolMode.OBSERVE else NEXT)
    return 0


def _values(path: Path | None, provider: str | None) -> InstallationValues:
    values = (
        InstallationValues()
        if path is None
        else InstallationValues.parse(_content(path), place=str(path))
    )
    if provider is None:
        return values
    chosen = {**values.document(), "provider": provider}
    # Read again, because a value may not be allowed with every provider.
    return InstallationValues.parse(json.dumps(chosen), place=f"--for {provider}")


def _observing(values: InstallationValues, *, wanted: bool) -> InstallationValues:
    """With what an installation that observes needs."""
    if wanted:
        return values.model_copy(update={"mode": PoolMode.OBSERVE, "admission": Admission.NONE})
    if values.mode is PoolMode.OBSERVE and values.admission is not Admission.NONE:
        raise Misconfigured(
            "admission: must be None where mode is Observe, because pods must stay as they are; "
            "--observe sets both"
        )
    return values


def _content(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except OSError as error:
        reason = (error.strerror or "not readable").lower()
        raise Misconfigured(f"--values {path}: {reason}") from None
    except UnicodeDecodeError:
        raise Misconfigured(f"--values {path}: not UTF-8 text") from None


def _seconds(written: str) -> float:
    try:
        return Duration.parse(written).seconds
    except ValueError as mistake:
        raise Misconfigured(f'--wait: "{written}" {mistake}') from None


async def _rehearsal(
    arguments: argparse.Namespace, values: InstallationValues
) -> AsyncIterator[tuple[str, ApplyOutcome]]:
    async with connected(arguments) as connection:
        if values.mode is PoolMode.OBSERVE:
            await _refuse_beside_webhook(connection)
        definitions = await compared(connection)
        refuse_narrower(definitions)
        items = [each.wanted for each in definitions]
        for item in [*items, *rendered(values, namespace=arguments.namespace)]:
            yield title_of(item), await rehearse(connection, item)


async def _installation(
    arguments: argparse.Namespace, values: InstallationValues, *, seconds: float
) -> AsyncIterator[tuple[str, Counter[ApplyOutcome]]]:
    namespace = arguments.namespace
    items = rendered(values, namespace=namespace)
    async with connected(arguments) as connection:
        if values.mode is PoolMode.OBSERVE:
            await _refuse_beside_webhook(connection)
        outcomes = await apply_definitions(connection, await compared(connection))
        yield "definitions", Counter(outcomes)
        yield "objects", Counter([await apply(connection, item) for item in items])
        if seconds:
            await _wait(connection, _awaited(items, values), namespace=namespace, seconds=seconds)


async def _refuse_beside_webhook(connection: Connection) -> None:
    """An installation that acts admits pods, and would go on doing so."""
    if await Reads(connection).found(ADMITS.format(WEBHOOKS)) is not None:
        raise Misconfigured(
            "growth already acts in this cluster: set spec.mode: Observe in its NodePools, or "
            "remove it first with growth uninstall"
        )


def _awaited(items: list[Object], values: InstallationValues) -> list[Object]:
    """The objects to wait for; with external certificates, others make the webhook trusted."""
    ours = (
        values.certificates is CertificatesChoice.MANAGED and values.admission is Admission.WEBHOOK
    )
    return [item for item in items if ours or item["kind"] != "MutatingWebhookConfiguration"]


async def _wait(
    connection: Connection, items: list[Object], *, namespace: str, seconds: float
) -> None:
    try:
        await until_nothing_is_missing(
            partial(missing_of, connection, items, namespace=namespace), seconds=seconds
        )
    except GiveUp as missing:
        raise GiveUp(f"{missing}\n{HINT.format(namespace)}") from None


def _rehearsed(title: str, outcome: ApplyOutcome) -> str:
    return f"{outcome:9}  {title}"


def _counted(what: str, outcomes: Counter[ApplyOutcome]) -> str:
    counted = ", ".join(f"{number} {outcome}" for outcome, number in sorted(outcomes.items()))
    return f"{what:12} {counted}"
