"""docs/reference/commands.md and settings.md, made from the parsers and the settings themselves.

python -m growth.cli.reference commands > docs/reference/commands.md
python -m growth.cli.reference settings > docs/reference/settings.md
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any, Final

from growth.api.descriptions import descriptions
from growth.cli.__main__ import COMMANDS
from growth.cli.completion.spoken import spoken
from growth.service.settings import declared_settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from growth.cli.completion.spoken import Flag, SpokenCommand

PROCESSES: Final = ("webhooks", "extender", "reconciler")
EVERYWHERE: Final = frozenset({"--help", "--kubeconfig", "--context"})
"""Flags that mean the same wherever they are."""
_OF_COMMANDS: Final = """\
# Commands

Made from the code: `make crds`. Each is found by kubectl too: `kubectl growth ...`.

Those that ask a cluster take `--kubeconfig FILE` (default: `$KUBECONFIG`, `~/.kube/config`, else
the pod's own service account) and `--context NAME`. Those that answer take `-o json`, for programs;
colour is only used on a terminal that wants it (`NO_COLOR`). Exit codes: 0 done; 1 the answer is
no, or the cluster can't be reached; 2 what was asked for is wrong, and one line says how to mend
it; 130 interrupted, 143 terminated. How to use them: [seeing](../guides/seeing.md),
[the doctor](../guides/doctor.md), [installing](../guides/install.md), [plans](../guides/plan.md).
"""
_OF_SETTINGS: Final = """\
# Settings of the processes

Made from the code: `make crds`. A flag wins over its variable, a variable over the file
(`--config FILE`, YAML, whose keys are the names of the flags), the file over the default.
`--print-settings` shows what would count and where each value comes from; a setting that nobody
knows is a mistake.
"""


def commands_page() -> Iterator[str]:
    """The page of commands."""
    yield _OF_COMMANDS
    for name, command in spoken(COMMANDS).items():
        yield f"## growth {name}\n"
        yield f"{_sentence(command.purpose)}\n"
        yield from _said(command)
        for action, one in command.actions.items():
            yield f"### growth {name} {action}\n"
            yield from _said(one)


def _said(command: SpokenCommand) -> Iterator[str]:
    if command.words:
        yield f"What is said first: {', '.join(f'`{word}`' for word in command.words)}.\n"
    own = [flag for flag in command.flags if not _is_everywhere(flag)]
    if own:
        yield _table(("Flag", "Meaning"), (_flag(flag) for flag in own))


def _is_everywhere(flag: Flag) -> bool:
    ordinary = flag.spellings == ("-o", "--output") and flag.choices == ("text", "json")
    return ordinary or not EVERYWHERE.isdisjoint(flag.spellings)


def _flag(flag: Flag) -> tuple[str, str]:
    choices = f" ({', '.join(f'`{choice}`' for choice in flag.choices)})" if flag.choices else ""
    return ", ".join(f"`{each}`" for each in flag.spellings), f"{flag.help}{choices}"


def settings_page() -> Iterator[str]:
    """The page of settings."""
    yield _OF_SETTINGS
    for name in PROCESSES:
        process: Any = importlib.import_module(f"{name}.__main__").PROCESS
        meanings = descriptions(process.settings)
        yield f"## {process.name}\n"
        yield f"{_sentence(process.purpose)}\n"
        rows = (
            (
                f"`{one.flag} {one.listed.value}`",
                f"`{one.variable}`",
                _default(one.information),
                meanings[one.field],
            )
            for one in sorted(declared_settings(process.settings), key=lambda one: one.flag)
        )
        yield _table(("Flag", "Variable", "Default", "Meaning"), rows)


def _default(information: Any) -> str:
    if information.is_required():
        return "*required*"
    return "" if information.default is None else f"`{information.default}`"


def _table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [heads, tuple("---" for _ in heads), *rows]
    return "".join(f"| {' | '.join(map(_cell, line))} |\n" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."


if __name__ == "__main__":
    pages = {"commands": commands_page, "settings": settings_page}
    sys.stdout.write("\n".join(pages[sys.argv[1]]()))
