"""`growth uninstall`: remove growth from a cluster, with or without its machines.

You have to choose what happens to the machines: they cost money, and pods run on them. Keeping them
needs nothing else. Removing them is the reconciler's work, so it must be complete before the parts
that the reconciler needs are removed.
"""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Final

from growth.api.written import Duration
from growth.cli.cluster.connecting import (
    add_connection_arguments,
    add_own_namespace_argument,
    completed,
    connected,
)
from growth.cli.terminal.output import add_output_argument, print_steps
from growth.errors import GiveUp, Misconfigured
from growth.installation import draining, removing
from growth.installation.awaiting import lease_holder, until_nothing_is_missing
from growth.installation.draining import DrainingWay

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncIterator

    from growth.installation.shipped import Object
    from growth.kube.transport import Connection

LEASE_RUNS_OUT: Final = 60.0
"""Seconds to wait: the longest sensible Lease, and the termination of a pod."""


class MachinesChoice(StrEnum):
    """What happens to the machines."""

    KEEP = "keep"
    DRAIN = "drain"
    DESTROY = "destroy"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of this command."""
    parser.add_argument(
        "--machines",
        choices=[each.value for each in MachinesChoice],
        required=True,
        help="keep: nodes stay, unmanaged. drain: evict their pods as budgets allow, then delete "
        "the machines. destroy: delete pods and machines at once",
    )
    add_own_namespace_argument(parser)
    parser.add_argument(
        "--wait",
        metavar="DURATION",
        default="15m",
        help="how long to wait until the machines are deleted (default: 15m)",
    )
    add_connection_arguments(parser)
    add_output_argument(parser)
    parser.epilog = "It can be run again: it continues where it stopped."


def run(arguments: argparse.Namespace) -> int:
    """Remove growth."""
    try:
        seconds = Duration.parse(arguments.wait).seconds
    except ValueError as mistake:
        raise Misconfigured(f'--wait: "{arguments.wait}" {mistake}') from None
    steps = _removal(arguments, MachinesChoice(arguments.machines), seconds=seconds)
    completed(print_steps(steps, arguments, lambda what, number: f"{what:15} {number}"))
    if arguments.output == "text":
        print(
            "growth is removed; kube-scheduler works without it, even if the extender is still in "
            "its configuration"
        )
    return 0


async def _removal(
    arguments: argparse.Namespace, machines: MachinesChoice, *, seconds: float
) -> AsyncIterator[tuple[str, int]]:
    namespace = arguments.namespace
    items = removing.everything(namespace)
    async with connected(arguments) as connection:
        if machines is not MachinesChoice.KEEP:
            await _give_back(connection, machines, namespace=namespace, seconds=seconds)
        yield "admission", len(await removing.remove(connection, _of(items, removing.ASKING)))
        yield "processes", len(await removing.remove(connection, _of(items, removing.WORKING)))
        await _nobody_leads(connection, namespace)
        yield "nodes released", len(await removing.release_nodes(connection))
        yield "our objects", await removing.remove_objects(connection)
        await removing.remove_definitions(connection)
        yield "all the rest", len(await removing.remove(connection, items))
        yield "certificates", len(await removing.remove_contents(connection, namespace))
        yield "namespaces", int(await removing.remove_namespace(connection, namespace))


def _of(items: list[Object], kinds: frozenset[str]) -> list[Object]:
    return [item for item in items if item["kind"] in kinds]


async def _nobody_leads(connection: Connection, namespace: str) -> None:
    """Wait until no reconciler leads, because it would write removed objects again."""
    await until_nothing_is_missing(partial(_leaders, connection, namespace), seconds=LEASE_RUNS_OUT)


async def _leaders(connection: Connection, namespace: str) -> list[str]:
    who = await lease_holder(connection, namespace)
    hint = "stop it (does it run outside the cluster?), or delete the Lease if it no longer runs"
    return [f"{who} still leads: {hint}"] if who else []


async def _give_back(
    connection: Connection, machines: MachinesChoice, *, namespace: str, seconds: float
) -> None:
    if not await draining.is_anything_left(connection):
        return
    if not await lease_holder(connection, namespace):
        raise GiveUp(
            "no reconciler leads, so machines can't be removed: start one (growth install), or "
            "keep them: --machines {MachinesChoice.KEEP}"
        )
    await draining.close(connection)
    way = DrainingWay.EVICT if machines is MachinesChoice.DRAIN else DrainingWay.DELETE
    await until_nothing_is_missing(partial(draining.still_there, connection, way), seconds=seconds)
