"""Commands in the pages can be given as they stand: their words and flags are known."""

from __future__ import annotations

import argparse
import importlib.util
import re
from functools import cache
from typing import TYPE_CHECKING, Final

import pytest

from growth.cli.__main__ import COMMANDS, _parser
from growth.cli.completion.grammar import command_grammar
from tests.docs.pages import inline, name_of, pages, said_to_a_shell
from tests.live import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PAGES: Final = [pytest.param(page, id=name_of(page)) for page in pages()]
TARGETS: Final = set(re.findall(r"(?m)^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8")))
OURS: Final = ("docs/", "manifests/", "benchmarks/")


@pytest.mark.parametrize("page", PAGES)
def test_growth_understands_what_the_page_says_to_it(page: Path) -> None:
    said = [words for words in said_to_a_shell(page) if words[0] == "growth"]

    assert [mistake for words in said for mistake in mistakes_in(words[1:])] == []


def mistakes_in(words: list[str]) -> Iterator[str]:
    """What the parser says; nothing is run."""
    try:
        _parser(words).parse_args(words)
    except SystemExit as ended:
        if ended.code:
            yield " ".join(words)


@pytest.mark.parametrize("page", PAGES)
def test_commands_inside_of_sentences_are_known(page: Path) -> None:
    said = [code.split() for code in inline(page) if re.match(r"growth [a-z]", code)]

    assert [words for words in said if words[1] not in COMMANDS] == []
    unknown = [
        flag
        for _, command, *rest in said
        for flag in re.findall(r"(?<!\S)--?[a-z][a-z-]*", " ".join(rest))
        if flag not in flags_of(command)
    ]
    assert unknown == []


@cache
def flags_of(name: str) -> frozenset[str]:
    """All spellings of all flags of a command and its actions."""
    command = command_grammar(COMMANDS)[name]
    return frozenset(
        spelling
        for each in (command, *command.actions.values())
        for flag in each.flags
        for spelling in flag.spellings
    )


@pytest.mark.parametrize("page", PAGES)
def test_what_is_made_or_run_is_there(page: Path) -> None:
    said = [*said_to_a_shell(page), *(code.split() for code in inline(page))]
    made = {words[1] for words in said if words[0] == "make" and len(words) > 1}
    run = {words[2] for words in said if words[:2] == ["python", "-m"] and len(words) > 2}

    assert {name for name in made if re.fullmatch("[a-z-]+", name)} <= TARGETS
    assert {name for name in run if importlib.util.find_spec(name) is None} == set()


@pytest.mark.parametrize("page", PAGES)
def test_files_of_ours_that_commands_name_are_there(page: Path) -> None:
    named = {word for words in said_to_a_shell(page) for word in words if word.startswith(OURS)}

    assert {word for word in named if not (ROOT / word).exists()} == set()


def test_the_parser_tells_right_from_wrong() -> None:
    assert list(mistakes_in(["explain", "node", "default-7b0c"])) == []
    assert list(mistakes_in(["explain", "knot", "x"])) == ["explain knot x"]
    assert isinstance(_parser([]), argparse.ArgumentParser)
