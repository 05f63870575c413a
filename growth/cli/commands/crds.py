"""`growth crds`: the CustomResourceDefinitions, generated from the models each time."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from growth.api import crd
from growth.errors import Misconfigured

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the words of this command."""
    parser.add_argument(
        "--folder",
        metavar="FOLDER",
        type=Path,
        help="write one file per kind into this folder instead of printing them",
    )
    parser.epilog = "Install them with: growth crds | kubectl apply --server-side -f -"


def run(arguments: argparse.Namespace) -> int:
    """Print the definitions, or write them."""
    definitions = crd.render()
    if arguments.folder is None:
        sys.stdout.write("---\n".join(definitions.values()))
        return 0
    try:
        arguments.folder.mkdir(parents=True, exist_ok=True)
        for name, text in definitions.items():
            (arguments.folder / name).write_text(text)
    except OSError as error:
        raise Misconfigured(f"{error.filename}: {(error.strerror or str(error)).lower()}") from None
    return 0
