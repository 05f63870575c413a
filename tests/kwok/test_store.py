from __future__ import annotations

from typing import TYPE_CHECKING

from kwok.store import ProgramStore
from kwok.versions import PROGRAMS, ReleasedVersion, ReleaseProject

if TYPE_CHECKING:
    from pathlib import Path

VERSION = ReleasedVersion(1, 36, 3)
SERVER = next(program for program in PROGRAMS if program.name == "kube-apiserver")


def made(folder: Path, content: str = "program") -> Path:
    file = folder / "made"
    file.write_text(content)
    return file


def test_a_kept_program_can_be_run_and_lies_under_its_version(tmp_path: Path) -> None:
    store = ProgramStore(tmp_path)
    kept = store.keep(made(tmp_path), SERVER, VERSION)
    assert kept == store.path_of(SERVER, VERSION)
    assert "kubernetes-1.36.3" in kept.parts
    assert kept.stat().st_mode & 0o777 == 0o755
    assert kept.read_text() == "program"


def test_keeping_again_replaces_in_one_step(tmp_path: Path) -> None:
    store = ProgramStore(tmp_path)
    store.keep(made(tmp_path, "old"), SERVER, VERSION)
    with store.path_of(SERVER, VERSION).open() as running:
        kept = store.keep(made(tmp_path, "new"), SERVER, VERSION)
        assert (running.read(), kept.read_text()) == ("old", "new")


def test_a_version_counts_when_all_its_programs_are_there(tmp_path: Path) -> None:
    store = ProgramStore(tmp_path)
    older = ReleasedVersion(1, 35, 0)
    for program in PROGRAMS:
        if program.project is ReleaseProject.KUBERNETES:
            store.keep(made(tmp_path), program, VERSION)
    store.keep(made(tmp_path), SERVER, older)
    assert store.kubernetes_versions() == [VERSION]
