"""`growth validate -f`: the mistakes of a set of manifests, before any cluster sees them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from growth.api import references
from growth.api.files import Mistakes
from growth.cli import inputs

if TYPE_CHECKING:
    import argparse

    from growth.api.files import Manifests


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the words of this command."""
    inputs.add_files_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Say what the files hold, or all that is wrong with them."""
    manifests = inputs.read(inputs.texts(arguments.files))
    mistakes = list(references.missing_node_classes(manifests))
    if mistakes:
        raise inputs.refusal(Mistakes(mistakes))
    print(_summary(manifests))
    return 0


def _summary(manifests: Manifests) -> str:
    counts = Counter(found.kind for found, _ in manifests.resources)
    counted = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
    others = len(manifests.others)
    beside = f"; {others} of other kinds, not looked at" if others else ""
    return f"valid: {counted or 'no object of growth'}{beside}"
