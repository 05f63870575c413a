"""What holds for every command alike: JSON for programs, one line for a mistake, an early end.

The commands are read from the parsers, so a new one is asked for here without being named.
"""

from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING, Final

import pytest

from growth.cli.__main__ import COMMANDS, main
from growth.cli.cluster import connecting
from growth.cli.completion.grammar import command_grammar
from tests.cli.test_commands import POOL, refused
from tests.faults.upstream import kubeconfig_to

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from growth.cli.completion.grammar import CommandGrammar

NO_JSON: Final = {
    "run": "it answers nothing; its processes' logs are JSON",
    "catalogue save": "its answer is JSON, and -o names the file",
}
NEEDED: Final = {
    "explain": ("pod", "shop/web-0"),
    "plan": ("--from-cluster",),
    "uninstall": ("--machines", "keep"),
    "crds": ("check",),
    "validate": ("-f", "pool.yaml"),
    "convert": ("-f", "pool.yaml"),
    "completion": ("bash",),
    "scheduler-config": ("--for", "k3s"),
    "certs export": ("growth-ca",),
    "catalogue save": ("--node-class", "default"),
}
"""What a command can't do without."""
AT_THEIR_BEST: Final = {
    "crds": ("crds",),
    "version": ("version",),
    "completion": ("completion", "bash"),
    "scheduler-config": ("scheduler-config", "--for", "k3s"),
    "validate": ("validate", "-f", "pool.yaml"),
    "convert": ("convert", "-f", "pool.yaml"),
    "plan": ("plan", "-f", "docs/examples/kwok", "docs/examples/shop", "--effort", "quick"),
}
"""What needs no cluster, and its words."""


def every() -> Iterator[tuple[str, CommandGrammar]]:
    """Each command, or each of its actions, as a person says it."""
    for name, command in command_grammar(COMMANDS).items():
        if not command.actions:
            yield name, command
        for action, one in command.actions.items():
            yield f"{name} {action}", one


def spellings(command: CommandGrammar) -> set[str]:
    return {spelling for flag in command.flags for spelling in flag.spellings}


EVERY: Final[Mapping[str, CommandGrammar]] = dict(every())
CONNECTED: Final = [name for name, each in EVERY.items() if "--kubeconfig" in spellings(each)]
WORDS: Final = {name: (*name.split(), *NEEDED.get(name, ())) for name in EVERY}


@pytest.mark.parametrize("name", [name for name in EVERY if name not in NO_JSON])
def test_a_command_answers_programs_in_json(name: str) -> None:
    [output] = [flag for flag in EVERY[name].flags if "-o" in flag.spellings]
    assert "json" in output.choices


@pytest.mark.parametrize("name", AT_THEIR_BEST)
def test_what_it_answers_is_one_document(
    name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "pool.yaml").write_text(POOL)
    words = [each.replace("pool.yaml", str(tmp_path / "pool.yaml")) for each in AT_THEIR_BEST[name]]

    assert main([*words, "-o", "json"]) in {0, 1}

    assert json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("name", EVERY)
def test_a_word_that_nobody_knows_is_one_line(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "--frobnicate" in refused(capsys, *WORDS[name], "--frobnicate")


@pytest.mark.parametrize("name", CONNECTED)
def test_a_kubeconfig_that_is_none_is_one_line(
    name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    missing = tmp_path / "missing.yaml"
    assert str(missing) in refused(capsys, *WORDS[name], "--kubeconfig", str(missing))


@pytest.mark.parametrize("name", CONNECTED)
def test_where_nobody_listens_one_line_says_so(
    name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        said = gone(name, taken, capsys, tmp_path)
    assert "Connect call failed" in said


@pytest.mark.parametrize("name", CONNECTED)
def test_a_cluster_that_never_answers_is_given_up(
    name: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Python's start has the rest of the five seconds that a person is told to wait at most.
    assert connecting.PATIENCE <= 3
    monkeypatch.setattr(connecting, "PATIENCE", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        said = gone(name, silent, capsys, tmp_path)
    assert "no answer within 0.1 s" in said


def gone(name: str, server: socket.socket, capsys: pytest.CaptureFixture[str], folder: Path) -> str:
    """The one line in which a command says that this is no cluster."""
    address = f"http://127.0.0.1:{server.getsockname()[1]}"
    kubeconfig = folder / "kubeconfig"
    kubeconfig.write_text(kubeconfig_to(address))

    assert main([*WORDS[name], "--kubeconfig", str(kubeconfig)]) == 1

    [line] = capsys.readouterr().err.splitlines()
    assert address in line
    return line
