"""The commands as a person runs them: what is printed, where, and with which exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from growth import __version__
from growth.cli import version
from growth.cli.__main__ import COMMANDS, main
from growth.errors import GrowthError, Misconfigured, RetryLater

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

POOL = """\
apiVersion: growth.dev/v1alpha1
kind: NodePool
metadata:
  name: default
spec:
  serverTypes:
    - name: cx33
      max: 3
"""


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Run a command that must be refused: exit code 2, one line on stderr, nothing on stdout."""
    try:
        code = main(words)
    except SystemExit as exit_:
        code = exit_.code  # type: ignore[assignment] # argparse's own way out
    printed = capsys.readouterr()
    assert code == 2
    assert printed.out == ""
    (line,) = printed.err.splitlines()
    return line


def file_of(folder: Path, text: str) -> str:
    path = folder / "pool.yaml"
    path.write_text(dedent(text))
    return str(path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("max: 3", "max: 3\n      maxx: 4"), '9: NodePool "default": spec.serverTypes[0].maxx: '),
        (
            ("serverTypes:", "readinessWait: ten minutes\n  serverTypes:"),
            '6: NodePool "default": spec.readinessWait: ',
        ),
        (("max: 3", "max: -3"), '8: NodePool "default": spec.serverTypes[0].max: '),
        (
            ("max: 3", "max: 3\n    - name: CX33\n      max: 1"),
            'NodePool "default": spec.serverTypes',
        ),
        (
            ("serverTypes:", "nodeClassRef: {kind: KwokNodeClass, name: gone}\n  serverTypes:"),
            '6: NodePool "default": spec.nodeClassRef.name: no KwokNodeClass "gone"',
        ),
        (("kind: NodePool", "kind: NodePul"), "NodePul"),
        (("spec:", "spec: ["), "not valid YAML"),
        (("  name: default", "  name: default\n  name: other"), "name is given twice"),
    ],
)
def test_a_mistake_in_a_file_is_one_line_that_says_what_and_where(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, change: tuple[str, str], said: str
) -> None:
    path = file_of(tmp_path, POOL.replace(*change))
    line = refused(capsys, "validate", "-f", path)
    assert line.startswith(f"{path}:")
    assert said in line


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["validate"], "-f"),
        (["validate", "-f", "missing.yaml"], "missing.yaml: no such file or directory"),
        (["frobnicate"], 'unknown value "frobnicate"; choose from plan, catalogue, status, '),
        (["exlpain", "pod", "web"], 'unknown value "exlpain"; did you mean explain?'),
        (["explain", "pol", "default"], 'unknown value "pol"; did you mean pool?'),
        (["cost", "--effort", "through"], 'unknown value "through"; did you mean thorough?'),
        (
            ["version", "--colour"],
            "growth version: unknown flag --colour; see growth version --help",
        ),
        (["plan", "--form-cluster"], "unknown flag --form-cluster; did you mean --from-cluster?"),
        (["cost", "--katalogue=x.json"], "unknown flag --katalogue; did you mean --catalogue?"),
        (["version", "-o", "xml"], "xml"),
        (["crds", "--folder", "/dev/null/x"], "/dev/null/x"),
    ],
)
def test_a_wrong_command_is_one_line(
    capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert said in refused(capsys, *words)


def test_a_file_that_is_no_text_is_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "image.yaml").write_bytes(b"ok: 1\n\xff\xfe")
    said = refused(capsys, "validate", "-f", str(tmp_path))
    assert said == f"{tmp_path}/image.yaml:2: not UTF-8 text"


def test_a_folder_without_manifests_is_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert "no manifests in this folder" in refused(capsys, "validate", "-f", str(tmp_path))


def test_validate_tells_what_the_files_hold(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = file_of(tmp_path, f"{POOL}---\napiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\n")
    assert main(["validate", "-f", path]) == 0
    assert capsys.readouterr().out == "valid: 1 NodePool; 1 of other kinds, not checked\n"


def test_convert_prints_all_files_or_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    good = file_of(tmp_path, POOL.replace("growth.dev/", "growth/"))
    assert main(["convert", "-f", good, good.replace("pool", "pool")]) == 2
    assert "already defined at" in capsys.readouterr().err
    assert main(["convert", "-f", good]) == 0
    assert capsys.readouterr().out == POOL


def test_version_names_itself_for_people_and_for_programs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["version"]) == 0
    assert capsys.readouterr().out.startswith(f"growth {__version__}\nobjects growth.dev/v1alpha1")
    assert main(["version", "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["growth"] == __version__


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    spoken = capsys.readouterr().out
    assert all(command in spoken for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_its_own_help(capsys: pytest.CaptureFixture[str], command: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    assert f"growth {command}" in capsys.readouterr().out


def raising(error: Exception) -> Callable[[object], int]:
    def run(_: object) -> int:
        raise error

    return run


@pytest.mark.parametrize(("verdict", "code"), [(Misconfigured, 2), (RetryLater, 1)])
def test_a_verdict_of_one_of_several_tasks_is_one_line(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    verdict: type[GrowthError],
    code: int,
) -> None:
    tasks = ExceptionGroup("tasks", [ExceptionGroup("more tasks", [verdict("mend it")])])
    monkeypatch.setattr(version, "run", raising(tasks))

    assert main(["version"]) == code

    assert capsys.readouterr().err == "mend it\n"


def test_a_bug_of_one_of_several_tasks_is_not_hidden_by_a_verdict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tasks = ExceptionGroup("tasks", [RetryLater("busy"), ZeroDivisionError()])
    monkeypatch.setattr(version, "run", raising(tasks))

    with pytest.raises(ExceptionGroup, match="tasks"):
        main(["version"])


@pytest.mark.parametrize(
    ("command", "module"),
    [
        (("plan", "-f", "-"), "plan.reading"),
        (("plan", "--consolidate", "--from-cluster"), "plan.reading"),
        (("bundle",), "plan.input"),
        (("catalogue", "save"), "catalogue.saving"),
    ],
)
def test_a_command_that_needs_the_reconciler_says_how_to_install_it(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    command: tuple[str, ...],
    module: str,
) -> None:
    monkeypatch.setitem(sys.modules, f"growth.cli.{module}", None)
    line = refused(capsys, *command)
    assert line.startswith(f"growth {command[0]} needs ")
    assert line.endswith("pip install 'growth-autoscaler[reconciler]'")


def test_standard_input_is_a_file_like_any_other() -> None:
    growth = [sys.executable, "-m", "growth.cli", "validate", "-f", "-"]
    bad = subprocess.run(growth, input="a: [", capture_output=True, text=True, check=False)
    assert (bad.returncode, bad.stdout) == (2, "")
    assert bad.stderr.startswith("standard input:2: not valid YAML")
    good = subprocess.run(growth, input=POOL, capture_output=True, text=True, check=False)
    assert (good.returncode, good.stdout) == (0, "valid: 1 NodePool\n")


def test_a_reader_that_has_enough_is_no_failure() -> None:
    growth = f"{sys.executable} -m growth.cli crds"
    piped = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {growth} | head -1"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert (piped.returncode, piped.stderr) == (0, "")


@pytest.mark.parametrize(
    "command", [("install",), ("uninstall", "--machines", "keep"), ("doctor",)]
)
def test_a_word_that_is_no_namespace_is_refused_before_anything_is_asked(
    capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*command, "-n", "Growth_System"])
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert '"Growth_System" is not a valid namespace: use at most 63 lowercase letters' in line
