"""The commands and flags of `growth`, read from the parsers themselves.

Shells complete from these, so no command or flag is written down twice.
"""

from __future__ import annotations

import argparse
import enum
import importlib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from growth.cli import module_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class Takes(enum.Enum):
    """What the value of a flag or argument is."""

    NOTHING = enum.auto()
    CHOICE = enum.auto()
    FILE = enum.auto()
    TEXT = enum.auto()


class Flag(NamedTuple):
    """A flag with all of its spellings."""

    spellings: tuple[str, ...]
    help: str
    takes: Takes
    choices: tuple[str, ...] = ()


class CommandGrammar(NamedTuple):
    """A command, or an action of a command."""

    purpose: str
    flags: tuple[Flag, ...]
    words: tuple[str, ...]
    """The choices of its first argument, if it has any."""
    actions: Mapping[str, CommandGrammar]
    names: str = ""
    """The kind that its last argument names: pool, or `kind` if the argument before says it."""


def command_grammar(purposes: Mapping[str, str]) -> Mapping[str, CommandGrammar]:
    """All commands."""
    return {name: _command(name, purpose) for name, purpose in purposes.items()}


def _command(name: str, purpose: str) -> CommandGrammar:
    parser = argparse.ArgumentParser(prog=name)
    module = importlib.import_module(module_of(name))
    module.add_arguments(parser)
    return _of(parser, purpose)


def _of(parser: argparse.ArgumentParser, purpose: str) -> CommandGrammar:
    actions: dict[str, CommandGrammar] = {}
    words: tuple[str, ...] = ()
    places: list[str] = []
    for each in _arguments(parser):
        if isinstance(each, argparse._SubParsersAction):  # noqa: SLF001 - it has no public name
            actions = {name: _of(one, "") for name, one in each.choices.items()}
        elif not each.option_strings:
            words = words or tuple(map(str, each.choices or ()))
            places.append(each.dest)
    return CommandGrammar(purpose, tuple(_flags(parser)), words, actions, _named(places))


def _named(places: list[str]) -> str:
    match places:
        case ["pool"]:
            return "pool"
        case ["kind", "name"]:
            return "kind"
        case _:
            return ""


def _flags(parser: argparse.ArgumentParser) -> Iterator[Flag]:
    for each in _arguments(parser):
        if each.option_strings:
            text = (each.help or "").replace("%(default)s", str(each.default))
            choices = tuple(map(str, each.choices or ()))
            yield Flag(tuple(each.option_strings), text, _takes(each), choices)


def _takes(each: argparse.Action) -> Takes:
    if each.nargs == 0:
        return Takes.NOTHING
    if each.choices:
        return Takes.CHOICE
    return Takes.FILE if each.type is Path or each.metavar in {"FILE", "FOLDER"} else Takes.TEXT


def _arguments(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return parser._actions  # noqa: SLF001 - argparse has no public way to ask
