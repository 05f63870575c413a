"""`growth convert -f`: convert manifests of the old API group; all others are unchanged."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from growth.api import files
from growth.api.yaml_text import documents
from growth.cli.terminal import inputs
from growth.cli.terminal.output import add_output_argument, print_json

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of this command."""
    inputs.add_files_argument(parser)
    add_output_argument(parser)
    parser.epilog = "For example: growth convert -f pools/ | kubectl apply -f -"


def run(arguments: argparse.Namespace) -> int:
    """Print the converted manifests; all files are checked first, so nothing partial is printed."""
    texts = list(inputs.manifest_texts(arguments.files))
    inputs.read_inputs(texts)
    rewritten = [files.rewrite_group(text) for _, text in texts]
    if arguments.output == "json":
        items = [each.data for text in rewritten for each in documents(text)]
        print_json({"apiVersion": "v1", "kind": "List", "items": items})
        return 0
    sys.stdout.write(
        "---\n".join(text if text.endswith("\n") else text + "\n" for text in rewritten)
    )
    return 0
