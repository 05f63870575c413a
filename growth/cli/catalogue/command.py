"""`growth catalogue save`: the provider's current prices as a file that `growth plan` can use."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from growth.cli.cluster.connecting import add_connection_arguments, completed
from growth.cli.support import not_installed
from growth.errors import Misconfigured

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Coroutine

    from growth.cli.catalogue.saving import Saved


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of this command."""
    actions = parser.add_subparsers(metavar="ACTION", dest="action", required=True)
    save = actions.add_parser("save", help="write the current prices, read from Hetzner's API")
    save.add_argument(
        "-o", "--output", metavar="FILE", type=Path, help="file to write (default: standard output)"
    )
    save.add_argument(
        "--node-class",
        metavar="NAME",
        help="use the token of this HetznerNodeClass in the cluster (default: HCLOUD_TOKEN)",
    )
    add_connection_arguments(save)
    save.epilog = (
        "It needs a token with read access, makes three API calls, and doesn't store the token. "
        "Then: growth plan --catalogue FILE -f my-app/"
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the price list; implausible prices in the API's answer are reported and left out."""
    found = completed(_saver()(arguments))
    for doubt in found.doubts:
        print(f"ignored an implausible price: {doubt}", file=sys.stderr)
    if arguments.output is None:
        sys.stdout.write(found.prices.text)
        return 0
    try:
        arguments.output.write_text(found.prices.text, "utf-8")
    except OSError as error:
        reason = (error.strerror or "not writable").lower()
        raise Misconfigured(f"{arguments.output}: {reason}") from None
    print(_summary(found, arguments.output))
    return 0


def _saver() -> Callable[[argparse.Namespace], Coroutine[object, object, Saved]]:
    """Return the function that saves; imported only here, because servers lack the client."""
    try:
        from growth.cli.catalogue.saving import saved  # noqa: PLC0415 - see above
    except ModuleNotFoundError as error:
        raise not_installed(error, command="catalogue") from None
    return saved


def _summary(found: Saved, file: Path) -> str:
    prices = found.prices
    offers = sum(len(each.offers) for each in prices.server_types)
    types = len(prices.server_types)
    return (
        f"{file}: {types} types, {offers} prices in {prices.currency}, of {prices.date}\n"
        f"hint: plan with them: growth plan --catalogue {file} -f FILES"
    )
