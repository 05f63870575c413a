"""`growth convert -f`: convert manifests of the old API group; all others are unchanged.

With `--from hvpa`, objects of Gardener's hvpa-controller are converted into growth's Hvpa, too.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from growth.api import files
from growth.api.problems import read_strictly
from growth.api.yaml_text import YamlDocument, documents
from growth.cli.hvpa_of_old import convert_old_hvpa, is_old_hvpa
from growth.cli.terminal import inputs
from growth.cli.terminal.output import add_output_argument, print_json
from growth.errors import Misconfigured
from growth.readable_yaml import readable_documents

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of this command."""
    inputs.add_files_argument(parser)
    add_output_argument(parser)
    parser.add_argument(
        "--from",
        dest="origin",
        choices=("hvpa",),
        help="hvpa: also convert each Hvpa of Gardener's hvpa-controller (v1alpha1)",
    )
    parser.epilog = "For example: growth convert -f pools/ | kubectl apply -f -"


def run(arguments: argparse.Namespace) -> int:
    """Print the converted manifests; all files are checked first, so nothing partial is printed."""
    texts = list(inputs.manifest_texts(arguments.files))
    inputs.read_inputs(texts)
    if arguments.origin == "hvpa":
        texts = [(name, _without_old_hvpas(name, text)) for name, text in texts]
    rewritten = [files.rewrite_group(text) for _, text in texts]
    if arguments.output == "json":
        items = [each.data for text in rewritten for each in documents(text)]
        print_json({"apiVersion": "v1", "kind": "List", "items": items})
        return 0
    sys.stdout.write(
        "---\n".join(text if text.endswith("\n") else text + "\n" for text in rewritten)
    )
    return 0


def _without_old_hvpas(name: str, text: str) -> str:
    """The text with each old Hvpa converted; as it is if there is none."""
    found = list(documents(text))
    if not any(is_old_hvpa(each.data) for each in found):
        return text
    return readable_documents([_converted(name, each) for each in found])


def _converted(name: str, document: YamlDocument) -> object:
    if not is_old_hvpa(document.data):
        return document.data
    hvpa, remarks = convert_old_hvpa(document.data)
    read = read_strictly(hvpa)
    title = f'{name}:{document.line_of(())}: Hvpa "{hvpa["metadata"].get("name", "")}"'
    if isinstance(read, tuple):
        raise Misconfigured("\n".join(f"{title}: {each}" for each in read))
    for remark in remarks:
        print(f"{title}: {remark}", file=sys.stderr)
    return hvpa
