"""`growth completion`: what bash really offers, and scripts that the other shells can read."""

from __future__ import annotations

import json
import os
import select
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from growth.cli.__main__ import COMMANDS, main
from growth.cli.completion.grammar import Takes, command_grammar
from growth.cli.completion.scripts import bash, fish, kubectl_plugin, zsh
from tests.children import child_on_a_terminal
from tests.thread.growing import pool_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from growth.cli.completion.grammar import CommandGrammar
    from tests.live import LiveCluster

PROGRAMS = Path(sys.executable).parent


@pytest.fixture(scope="module")
def commands() -> Mapping[str, CommandGrammar]:
    return command_grammar(COMMANDS)


@pytest.fixture(scope="module")
def script(
    commands: Mapping[str, CommandGrammar], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    path = tmp_path_factory.mktemp("completion") / "growth.bash"
    path.write_text(bash(commands))
    return path


def offered(script: Path, *words: str, environment: Mapping[str, str] | None = None) -> list[str]:
    """What bash offers for the last of the words."""
    asked = " ".join(map(shlex.quote, words))
    program = (
        f"source {script}; COMP_WORDS=({asked}); COMP_CWORD={len(words) - 1}; _growth; "
        "printf '%s\\n' \"${COMPREPLY[@]}\""
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **(environment or {})},
    )
    assert not done.stderr
    return done.stdout.split()


OFFERED: dict[tuple[str, ...], list[str]] = {
    ("growth", "st"): ["status"],
    ("growth", "co"): ["cost", "convert", "completion"],
    ("growth", "plan", "--eff"): ["--effort"],
    ("growth", "plan", "--effort", "q"): ["quick"],
    ("growth", "top", "-o", ""): ["text", "json"],
    ("growth", "explain", "p"): ["pod", "pool"],
    ("growth", "completion", "z"): ["zsh"],
    ("growth", "certs", "e"): ["export"],
    ("growth", "certs", "export", "--fol"): ["--folder"],
    # Files are bash's own to offer.
    ("growth", "plan", "-f", ""): [],
    ("growth", "frobnicate", ""): [],
}


@pytest.mark.parametrize(("words", "answer"), OFFERED.items(), ids=map(" ".join, OFFERED))
def test_bash_offers(script: Path, words: tuple[str, ...], answer: list[str]) -> None:
    assert offered(script, *words) == answer


def test_a_tab_in_a_real_bash_completes_the_word(script: Path) -> None:
    command = ["bash", "--norc", "--noprofile", "-i"]
    environment = {"PATH": os.environ["PATH"], "PS1": "> ", "TERM": "dumb"}
    with child_on_a_terminal(command, environment=environment) as (shell, ours):
        # The words that come back are those of the completion: what is typed has no `tus`.
        os.write(ours, f"source {script}\ngrowth sta\t".encode())
        assert heard(ours, b"growth status "), "bash has not completed the word"
        os.write(ours, b"\x15exit\n")
        assert shell.wait(timeout=100) == 0


def heard(terminal: int, text: bytes) -> bool:
    said, deadline = b"", time.monotonic() + 180
    while text not in said and time.monotonic() < deadline:
        if select.select([terminal], [], [], 0.1)[0]:
            said += os.read(terminal, 4096)
    return text in said


def test_every_command_and_flag_is_known_to_every_shell(
    commands: Mapping[str, CommandGrammar],
) -> None:
    assert set(commands) == set(COMMANDS)
    long = {
        spelling
        for command in commands.values()
        for flag in command.flags
        for spelling in flag.spellings
        if spelling.startswith("--")
    }
    for written in (bash(commands), zsh(commands), kubectl_plugin(commands)):
        assert all(name in written for name in (*COMMANDS, *long))
    assert all(f"-l {each[2:]}" in fish(commands) for each in long)


def test_flags_know_what_they_take(commands: Mapping[str, CommandGrammar]) -> None:
    flags = {flag.spellings[-1]: flag for flag in commands["plan"].flags}
    assert flags["--from-cluster"].takes is Takes.NOTHING
    assert (flags["--effort"].takes, flags["--effort"].choices[0]) == (Takes.CHOICE, "quick")
    assert flags["--kubeconfig"].takes is Takes.FILE
    assert flags["--context"].takes is Takes.TEXT


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "kubectl"])
def test_a_script_can_be_read_by_its_shell(
    shell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["completion", shell]) == 0
    path = tmp_path / "script"
    path.write_text(written := capsys.readouterr().out)
    program = shutil.which("bash" if shell == "kubectl" else shell)
    if program is None:
        # Not here: at least each line closes its quotes, which texts of help could have broken.
        for line in written.splitlines():
            shlex.split(line.removesuffix("\\"), comments=True)
        return
    subprocess.run([program, "-n", str(path)], check=True)


def test_for_programs_it_is_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "fish", "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["script"].startswith("complete -c growth")


def test_an_unknown_shell_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["completion", "tcsh"])
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "tcsh" in line


@pytest.mark.cluster
def test_kubectl_finds_growth_completes_it_and_names_come_from_the_cluster(
    defined: LiveCluster, namespace: str, commands: Mapping[str, CommandGrammar], script: Path
) -> None:
    helper = script.with_name("kubectl_complete-growth")
    helper.write_text(kubectl_plugin(commands))
    helper.chmod(0o755)
    (script.with_name("kubectl-growth")).symlink_to(PROGRAMS / "kubectl-growth")
    (script.with_name("kubectl")).symlink_to(defined.kubectl_program)
    found = {
        "PATH": f"{script.parent}:{os.environ['PATH']}",
        "KUBECONFIG": str(defined.kubeconfig),
    }

    def said(*words: str) -> str:
        command = [str(script.with_name("kubectl")), *words]
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, env={**os.environ, **found}
        )
        return done.stdout

    assert said("growth", "version", "--help").startswith("usage: kubectl growth version")
    assert said("__complete", "growth", "st").startswith("status\n")
    name = f"k-{namespace}"
    defined.create(pool_of(name))
    try:
        assert offered(script, "growth", "pause", name[:-1], environment=found) == [name]
    finally:
        defined.kubectl("delete", "nodepool", name, "--wait=false")
