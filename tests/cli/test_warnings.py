"""What a command is told beside the answer never gets into what it prints for programs."""

from __future__ import annotations

import json
import tarfile
from io import StringIO
from typing import TYPE_CHECKING, Any

import pytest
from typing_extensions import override

from growth.cli.__main__ import main
from growth.kube.errors import Denied
from tests.cli.installed import installed
from tests.cli.serving import served

if TYPE_CHECKING:
    from pathlib import Path

WARNED = {"Warning": '299 - "would violate PodSecurity \\"restricted:latest\\""'}


@pytest.mark.parametrize("command", ["status", "cost", "top"])
def test_what_the_api_server_warns_of_goes_to_standard_error(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str
) -> None:
    with served(installed(), tmp_path, headers=WARNED) as kubeconfig:
        main([command, "--kubeconfig", kubeconfig, "-o", "json"])

    printed = capsys.readouterr()
    assert json.loads(printed.out)
    assert 'would violate PodSecurity "restricted:latest"' in printed.err


@pytest.mark.parametrize(("wish", "is_coloured"), [("", True), ("1", False)])
def test_warnings_on_a_terminal_are_in_colours_unless_a_person_wants_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, wish: str, *, is_coloured: bool
) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("NO_COLOR", wish)
    with served(installed(), tmp_path, headers=WARNED) as kubeconfig:
        main(["status", "--kubeconfig", kubeconfig])
    assert "would violate PodSecurity" in terminal.getvalue()
    assert ("\x1b[" in terminal.getvalue()) == is_coloured


class Terminal(StringIO):
    @override
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("command", ["doctor", "bundle"])
def test_commands_that_provoke_warnings_say_nothing_of_them(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str
) -> None:
    words = ["--file", str(tmp_path / "b.tar.gz")] if command == "bundle" else []
    with served(installed(), tmp_path, headers=WARNED) as kubeconfig:
        main([command, "--kubeconfig", kubeconfig, "-o", "json", *words])

    printed = capsys.readouterr()
    assert json.loads(printed.out)
    assert "PodSecurity" not in printed.err


def test_a_bundle_holds_what_doctor_finds_also_where_rights_may_not_be_asked_about(
    tmp_path: Path,
) -> None:
    cluster, path = installed(), tmp_path / "bundle.tar.gz"
    cluster.reviews_end_in = Denied
    with served(cluster, tmp_path, headers=WARNED) as kubeconfig:
        assert main(["bundle", "--kubeconfig", kubeconfig, "--file", str(path)]) == 0
        main(["doctor", "--kubeconfig", kubeconfig, "-o", "json"])

    found = {each["subject"]: each for each in doctor_of(path)}
    assert found["rights"]["level"] == "FAIL"
    assert found["pool default"]["level"] == "ok"
    assert found["cluster"]["text"].endswith("at the API server (tested: 1.31 to 1.36)")


def doctor_of(path: Path) -> list[dict[str, Any]]:
    with tarfile.open(path) as bundle:
        (name,) = (name for name in bundle.getnames() if name.endswith("doctor.json"))
        file = bundle.extractfile(name)
        assert file is not None
        found: list[dict[str, Any]] = json.load(file)
        return found
