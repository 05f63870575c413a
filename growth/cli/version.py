"""`growth version`: the versions of growth, Python, growth's objects, and supported Kubernetes."""

from __future__ import annotations

import json
import platform
from typing import TYPE_CHECKING

from growth import __version__
from growth.cli.support import OBJECT_VERSION, SUPPORTED_KUBERNETES, version_range
from growth.cli.terminal.output import add_output_argument

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of this command."""
    add_output_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the versions."""
    versions = {
        "growth": __version__,
        "objects": OBJECT_VERSION,
        "kubernetes": version_range(SUPPORTED_KUBERNETES),
        "python": platform.python_version(),
    }
    if arguments.output == "json":
        print(json.dumps(versions))
    else:
        print(f"growth {versions['growth']}")
        print(f"objects {versions['objects']}, Kubernetes {versions['kubernetes']}, ", end="")
        print(f"Python {versions['python']}")
    return 0
