"""`growth validate -f`: find mistakes in manifests without a cluster."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from growth.api import references
from growth.api.files import Mistakes
from growth.cli.terminal import inputs
from growth.cli.terminal.output import add_output_argument, print_answer

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of this command."""
    inputs.add_files_argument(parser)
    add_output_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print what the files contain, or all mistakes in them."""
    manifests = inputs.read_inputs(inputs.manifest_texts(arguments.files))
    mistakes = [
        *references.missing_node_classes(manifests),
        *references.types_not_sold(manifests),
    ]
    if mistakes:
        raise inputs.mistakes_of_inputs(Mistakes(mistakes))
    counts = Counter(found.kind for found, _ in manifests.resources)
    others = len(manifests.others)
    print_answer(arguments, {"valid": counts, "others": others}, [_summary(counts, others)])
    return 0


def _summary(counts: Counter[str], others: int) -> str:
    counted = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
    beside = f"; {others} of other kinds, not checked" if others else ""
    return f"valid: {counted or 'no objects of growth'}{beside}"
