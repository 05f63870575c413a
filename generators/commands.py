"""docs/reference/commands.md, generated from the parsers of the commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from generators.markdown import as_sentence, markdown_table
from growth.cli.__main__ import COMMANDS
from growth.cli.completion.grammar import command_grammar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from growth.cli.completion.grammar import CommandGrammar, Flag

EVERYWHERE: Final = frozenset({"--help", "--kubeconfig", "--context"})
"""Flags that mean the same in all commands."""
_OF_COMMANDS: Final = """\
# Commands

Generated from the code by `make crds`. Each command is also a kubectl plugin: `kubectl growth ...`.

Commands that contact a cluster accept `--kubeconfig FILE` (default: `$KUBECONFIG`,
`~/.kube/config`, or the pod's service account) and `--context NAME`. Commands that print an answer
accept `-o json` for scripts. Colour is used only on a terminal (and not with `NO_COLOR`). Exit
codes: 0 success; 1 the answer is no, or the cluster can't be reached; 2 a mistake in the command or
a file, with one line that says how to fix it; 130 interrupted, 143 terminated. The guides show how
to use them: [see what growth does](../guides/seeing.md), [diagnose](../guides/doctor.md),
[install](../guides/install.md), [plan](../guides/plan.md).
"""


def commands_page() -> str:
    """The page of commands."""
    return "\n".join(_parts())


def _parts() -> Iterator[str]:
    yield _OF_COMMANDS
    for name, command in command_grammar(COMMANDS).items():
        yield f"## growth {name}\n"
        yield f"{as_sentence(command.purpose)}\n"
        yield from _said(command)
        for action, one in command.actions.items():
            yield f"### growth {name} {action}\n"
            yield from _said(one)


def _said(command: CommandGrammar) -> Iterator[str]:
    if command.words:
        yield f"First argument: {', '.join(f'`{word}`' for word in command.words)}.\n"
    own = [flag for flag in command.flags if not _is_everywhere(flag)]
    if own:
        yield markdown_table(("Flag", "Meaning"), (_flag(flag) for flag in own))


def _is_everywhere(flag: Flag) -> bool:
    ordinary = flag.spellings == ("-o", "--output") and flag.choices == ("text", "json")
    return ordinary or not EVERYWHERE.isdisjoint(flag.spellings)


def _flag(flag: Flag) -> tuple[str, str]:
    choices = f" ({', '.join(f'`{choice}`' for choice in flag.choices)})" if flag.choices else ""
    return ", ".join(f"`{each}`" for each in flag.spellings), f"{flag.help}{choices}"
