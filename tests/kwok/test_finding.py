from __future__ import annotations

import contextlib
import io
import os
from pathlib import Path

import pytest

from growth.errors import Misconfigured
from kwok.finding import ProgramSearch
from kwok.locks import locked
from kwok.named import named_programs
from kwok.progress import Progress
from kwok.store import ProgramStore
from kwok.versions import PROGRAMS, ReleasedVersion, ReleaseProject, wanted_versions
from tests.kwok.fakes import ReleasePages, fake_go, fake_program, program, script, serving

WANTED = wanted_versions()
KUBERNETES = WANTED.versions[ReleaseProject.KUBERNETES]
NOWHERE = "http://127.0.0.1:9"


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with nothing but a PATH of its own; no page can be reached."""
    path = tmp_path / "bin"
    path.mkdir()
    monkeypatch.setenv("PATH", f"{path}{os.pathsep}/usr/bin{os.pathsep}/bin")
    monkeypatch.setenv("GROWTH_KWOK_DOWNLOADS", NOWHERE)
    for each in PROGRAMS:
        # What this machine has must not be found.
        script(path / each.name, "exit 1")
    script(path / "go", "exit 1")
    return path


@pytest.fixture
def store(tmp_path: Path) -> ProgramStore:
    return ProgramStore(tmp_path / "cache")


def fill(store: ProgramStore, *, but: str = "") -> None:
    for each in PROGRAMS:
        if each.name != but:
            path = store.path_of(each, WANTED.versions[each.project])
            fake_program(path, str(WANTED.versions[each.project]))


def search(store: ProgramStore, named: dict[str, Path] | None = None) -> dict[str, str]:
    progress = Progress(io.StringIO())
    found = ProgramSearch(WANTED, named or {}, store, progress).run()
    return {name: each.origin for name, each in found.items()}


def test_what_a_person_names_comes_first(
    machine: Path, store: ProgramStore, tmp_path: Path
) -> None:
    fill(store)
    fake_program(machine / "etcd", str(WANTED.versions[ReleaseProject.ETCD]))
    named = {"etcd": fake_program(tmp_path / "my-etcd", "9.9.9")}
    assert search(store, named)["etcd"] == "named"


def test_path_comes_before_the_cache_if_the_version_fits(
    machine: Path, store: ProgramStore
) -> None:
    fill(store)
    fake_program(machine / "kubectl", f"{KUBERNETES.major}.{KUBERNETES.minor}.0")
    fake_program(machine / "kube-scheduler", f"{KUBERNETES.major}.{KUBERNETES.minor - 1}.0")
    origins = search(store)
    assert origins["kubectl"] == "found on PATH"
    assert origins["kube-scheduler"] == "found in cache"


def test_releases_come_before_sources(
    machine: Path, store: ProgramStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_go(machine / "go")
    with serving(ReleasePages()) as pages:
        pages.publish_all(WANTED)
        monkeypatch.setenv("GROWTH_KWOK_DOWNLOADS", pages.address)
        origins = search(store)
    assert set(origins.values()) == {"downloaded"}
    assert store.path_of(program("etcd"), WANTED.versions[ReleaseProject.ETCD]).read_text() == (
        "published etcd"
    )
    assert not store.workshop.exists()


def test_sources_come_last_and_only_for_what_is_missing(machine: Path, store: ProgramStore) -> None:
    fill(store, but="etcd")
    fake_go(machine / "go")
    origins = search(store)
    assert origins.pop("etcd") == "built"
    assert set(origins.values()) == {"found in cache"}


def test_what_was_built_is_found_the_next_time(machine: Path, store: ProgramStore) -> None:
    fake_go(machine / "go")
    assert set(search(store).values()) == {"built"}
    script(machine / "go", "exit 1")
    assert set(search(store).values()) == {"found in cache"}


def test_one_release_page_may_be_out_of_reach(
    machine: Path, store: ProgramStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_go(machine / "go")
    with serving(ReleasePages()) as pages:
        pages.publish_kubernetes("kubectl", str(KUBERNETES), b"published")
        monkeypatch.setenv("GROWTH_KWOK_DOWNLOADS", pages.address)
        origins = search(store)
    assert origins.pop("kubectl") == "downloaded"
    assert set(origins.values()) == {"built"}


def test_a_refused_download_is_said_and_built_instead(
    machine: Path, store: ProgramStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store, but="kubectl")
    fake_go(machine / "go")
    said = io.StringIO()
    with serving(ReleasePages()) as pages:
        path = pages.publish_kubernetes("kubectl", str(KUBERNETES), b"published")
        pages.files[path] = b"something else"
        monkeypatch.setenv("GROWTH_KWOK_DOWNLOADS", pages.address)
        found = ProgramSearch(WANTED, {}, store, Progress(said)).run()
    assert found["kubectl"].origin == "built"
    assert "not downloaded: kubectl has a wrong checksum" in said.getvalue()


def test_who_waited_for_another_builder_builds_nothing(
    machine: Path, store: ProgramStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = io.StringIO()
    progress = Progress(said)
    # given another builder, who is done as soon as we have said that we wait
    with contextlib.ExitStack() as other:
        other.enter_context(locked(store.lock, waiting=lambda: None))

        def say(text: str) -> None:
            said.write(text)
            fill(store)
            other.close()

        monkeypatch.setattr(progress, "say", say)
        found = ProgramSearch(WANTED, {}, store, progress).run()
    assert {each.origin for each in found.values()} == {"found in cache"}
    assert "waiting for it" in said.getvalue()


def test_a_version_that_growth_does_not_work_with_is_not_built(
    machine: Path, store: ProgramStore
) -> None:
    fill(store)
    asked = WANTED.with_kubernetes(ReleasedVersion(1, 30, 0))
    with pytest.raises(
        Misconfigured, match=r"Kubernetes 1\.30\.0 .* works with .* 1\.31 to 1\.\d+$"
    ):
        ProgramSearch(asked, {}, store, Progress(io.StringIO())).run()


def test_a_version_in_the_cache_can_be_asked_for(machine: Path, store: ProgramStore) -> None:
    older = ReleasedVersion(1, 35, 2)
    fill(store)
    for each in PROGRAMS:
        if each.project is ReleaseProject.KUBERNETES:
            fake_program(store.path_of(each, older), str(older))
    found = ProgramSearch(WANTED.with_kubernetes(older), {}, store, Progress(io.StringIO())).run()
    assert found["kube-apiserver"].version == older
    assert found["etcd"].version == WANTED.versions[ReleaseProject.ETCD]


def test_a_named_program_of_another_version_than_asked_for_is_refused(
    machine: Path, store: ProgramStore, tmp_path: Path
) -> None:
    fill(store)
    named = {"kubectl": fake_program(tmp_path / "kubectl", "1.34.0")}
    asked = WANTED.with_kubernetes(KUBERNETES)
    with pytest.raises(Misconfigured, match="but --kube-version asks for"):
        ProgramSearch(asked, named, store, Progress(io.StringIO())).run()


@pytest.mark.parametrize("text", ["echo no version here", "exit 1"])
def test_a_named_program_that_says_no_version_is_refused(
    text: str, machine: Path, store: ProgramStore, tmp_path: Path
) -> None:
    named = {"etcd": script(tmp_path / "mine", text)}
    with pytest.raises(Misconfigured, match="isn't a working etcd"):
        search(store, named)


def test_a_named_program_that_is_not_there_is_refused(machine: Path, store: ProgramStore) -> None:
    with pytest.raises(Misconfigured, match="isn't a working etcd"):
        search(store, {"etcd": Path("/nowhere/etcd")})


def test_a_flag_wins_over_a_variable_for_one_program_and_that_over_one_for_a_folder(
    tmp_path: Path,
) -> None:
    flag, folder = tmp_path / "flag", tmp_path / "folder"
    for place in (flag, folder):
        fake_program(place / "etcd", "3.6.8")
    environment = {"GROWTH_ETCD": str(tmp_path / "one"), "GROWTH_KWOK_PROGRAMS": str(folder)}
    assert named_programs(flag, environment)["etcd"] == flag / "etcd"
    assert named_programs(None, environment)["etcd"] == tmp_path / "one"
    del environment["GROWTH_ETCD"]
    assert named_programs(None, environment) == {"etcd": folder / "etcd"}


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="isn't a folder with programs"):
        named_programs(tmp_path / "nothing", {})
