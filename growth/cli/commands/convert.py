"""`growth convert -f`: the seed's group rewritten, everything else as its author left it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from growth.api import files
from growth.cli import inputs

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the words of this command."""
    inputs.add_files_argument(parser)
    parser.epilog = "For example: growth convert -f pools/ | kubectl apply -f -"


def run(arguments: argparse.Namespace) -> int:
    """Check all files first, so that nothing half right is ever printed."""
    texts = list(inputs.texts(arguments.files))
    inputs.read(texts)
    rewritten = [files.rewrite_group(text) for _, text in texts]
    sys.stdout.write(
        "---\n".join(text if text.endswith("\n") else text + "\n" for text in rewritten)
    )
    return 0
