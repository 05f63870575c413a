"""`growth convert -f`: convert manifests of the old API group; all others are unchanged.

With `--from`, objects of another program are converted into growth's, too: what has no counterpart
is told on standard error, with its line.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from growth.api import files
from growth.api.problems import read_strictly
from growth.api.yaml_text import BrokenText, YamlDocument, documents
from growth.cli.converted import ConvertedObject, Json, Remark
from growth.cli.hvpa_of_old import convert_old_hvpa, is_old_hvpa
from growth.cli.pools_of_escalator import pools_of_escalator
from growth.cli.pools_of_vpsie import pools_of_vpsie
from growth.cli.terminal import inputs
from growth.cli.terminal.output import add_output_argument, print_json
from growth.errors import Misconfigured
from growth.readable_yaml import readable_documents

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Sequence

    _Convert = Callable[[YamlDocument, Sequence[str]], tuple[ConvertedObject, ...] | None]


def _hvpas(document: YamlDocument, _types: Sequence[str]) -> tuple[ConvertedObject, ...] | None:
    if not is_old_hvpa(document.data):
        return None
    hvpa, remarks = convert_old_hvpa(document.data)
    title = f'Hvpa "{hvpa["metadata"].get("name", "")}"'
    return (ConvertedObject(title, (), hvpa, tuple(Remark((), each) for each in remarks)),)


ORIGINS: Final[dict[str, _Convert]] = {
    "hvpa": _hvpas,
    "escalator": pools_of_escalator,
    "vpsie": pools_of_vpsie,
}
_WITHOUT_TYPES: Final = frozenset({"hvpa"})


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of this command."""
    inputs.add_files_argument(parser)
    add_output_argument(parser)
    parser.add_argument(
        "--from",
        dest="origin",
        choices=tuple(ORIGINS),
        help="also convert objects of another program: each Hvpa of Gardener's hvpa-controller "
        "(v1alpha1), Escalator's file of node groups, or each NodeGroup of the VPSie autoscaler",
    )
    parser.add_argument(
        "--server-types",
        metavar="TYPE",
        nargs="+",
        action="extend",
        default=[],
        help="for --from escalator and vpsie: the server types that the pools may buy",
    )
    parser.epilog = "For example: growth convert -f pools/ | kubectl apply -f -"


def run(arguments: argparse.Namespace) -> int:
    """Print the converted manifests; all files are checked first, so nothing partial is printed."""
    texts = list(inputs.manifest_texts(arguments.files))
    if arguments.origin:
        _require_types(arguments)
        texts = [(name, _all_of_growth(name, text, arguments)) for name, text in texts]
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


def _require_types(arguments: argparse.Namespace) -> None:
    if arguments.origin not in _WITHOUT_TYPES and not arguments.server_types:
        raise Misconfigured(
            f"--from {arguments.origin} needs --server-types: name the types that the pools may "
            "buy, such as --server-types cx33 cx43"
        )


def _all_of_growth(name: str, text: str, arguments: argparse.Namespace) -> str:
    """The text with each object of the other program converted; as it is if there is none."""
    try:
        found = list(documents(text))
    except BrokenText:
        return text  # Reading the inputs says what is wrong with it.
    convert = ORIGINS[arguments.origin]
    made = [(each, convert(each, arguments.server_types)) for each in found]
    if all(converted is None for _, converted in made):
        return text
    return readable_documents(
        each for document, converted in made for each in _told(name, document, converted)
    )


def _told(
    name: str, document: YamlDocument, converted: tuple[ConvertedObject, ...] | None
) -> Iterator[object]:
    """The objects, after what they lack has been told."""
    if converted is None:
        yield document.data
    for each in converted or ():
        if problems := each.problems or _problems(each.document):
            title = f"{name}:{document.line_of(each.path)}: {each.title}"
            raise Misconfigured("\n".join(f"{title}: {problem}" for problem in problems))
        for remark in sorted(each.remarks, key=lambda one: document.line_of(one.path)):
            line = document.line_of(remark.path)
            print(f"{name}:{line}: {each.title}: {remark.text}", file=sys.stderr)
        yield each.document


def _problems(document: Json) -> tuple[str, ...]:
    read = read_strictly(document)
    return tuple(map(str, read)) if isinstance(read, tuple) else ()
