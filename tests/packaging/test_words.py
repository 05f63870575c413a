"""One word, one meaning: a public class or function has a name that no other one has.

So a search for a name finds what is meant by it, and all of its users. What may have the name of
another one is an interface: several modules that are called in the same way.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from tests.live import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

GLOSSARY: Final = ROOT / "docs/concepts/words.md"
PRODUCT: Final = (
    "growth",
    "extender",
    "webhooks",
    "certs",
    "reconciler",
    "fleet",
    "sizing",
    "kwok",
)
INTERFACES: Final = {
    "main": "a program's entry point: `python -m`, and what pyproject.toml starts",
    "run": "a command of growth or of kwok does what it is asked for",
    "add_arguments": "a command of growth or of kwok declares its words",
    "decide": "a room of the loop, or of admission, answers with a Decision",
    "news": "each condition of a pool: how it has to be written now",
    "open_clients": "a kind of provider makes the clients that talk to its cloud",
    "rejection": "a scheduling rule says why a pod doesn't fit a node",
    "steps": "a way of joining writes its part of the user data",
}
"""Functions that several modules have, and what all of them do."""
RUNNERS: Final = ("growth/cli/", "kwok/")
"""Where `run` is the interface; anywhere else it needs a name of its own."""


def definitions() -> Iterator[tuple[str, str]]:
    """Name and file of all public classes and functions of modules."""
    for package in PRODUCT:
        for path in sorted((ROOT / package).rglob("*.py")):
            tree = ast.parse(path.read_text("utf-8"))
            for node in tree.body:
                if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                    yield node.name, str(path.relative_to(ROOT))


def test_each_public_name_means_one_thing() -> None:
    places: dict[str, set[str]] = defaultdict(set)
    for name, path in definitions():
        if not name.startswith("_") and name not in INTERFACES:
            places[name].add(path)
    twice = {name: sorted(paths) for name, paths in places.items() if len(paths) > 1}
    assert twice == {}, "give one of them a name of its own (docs/concepts/words.md)"


def test_each_interface_is_one() -> None:
    found: dict[str, set[str]] = defaultdict(set)
    for name, path in definitions():
        found[name].add(path)
    assert [name for name in INTERFACES if len(found[name]) < 2] == []


def test_the_glossary_names_places_that_are_there() -> None:
    rows = [line.split("|") for line in GLOSSARY.read_text("utf-8").splitlines()]
    places = [row[3].strip() for row in rows if len(row) == 5][2:]
    named = {place for each in places for place in each.split(", ") if "/" in place}
    assert len(named) > 40
    assert sorted(place for place in named if not (ROOT / place).exists()) == []


def test_run_is_the_interface_of_commands_only() -> None:
    runners = [path for name, path in definitions() if name == "run"]
    assert [path for path in runners if not path.startswith(RUNNERS)] == []
