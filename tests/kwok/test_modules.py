"""Another version of Kubernetes is built in a module of its own, which its own go.sum pins."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest

from growth.errors import Misconfigured
from kwok.building import Build
from kwok.finding import ProgramSearch
from kwok.modules import go_module_of
from kwok.progress import Progress
from kwok.store import ProgramStore
from kwok.toolchain import Go
from kwok.versions import PROGRAMS, ReleasedVersion, ReleaseProject, wanted_versions
from tests.kwok.fakes import program, script

if TYPE_CHECKING:
    from pathlib import Path

WANTED = wanted_versions()
OLDER = ReleasedVersion(1, 33, 7)
OWN = """
module k8s.io/kubernetes

go 1.24.0

require (
\texample.org/other v1.2.3
\tk8s.io/api v0.0.0
)

replace (
\tk8s.io/api => ./staging/src/k8s.io/api
\tk8s.io/client-go => ./staging/src/k8s.io/client-go
)
"""

# It says where the source is, and copies what it is to build in.
GO = """
echo "$@" >> ../asked
case "$1 $2" in
"list -m") echo {source} ;;
list*) cp go.mod ../built-in.mod; cp go.sum ../built-in.sum; echo a ;;
build*) mkdir -p out; for name in kube-apiserver kubectl etcd; do echo x > out/$name; done ;;
esac
"""


def build(tmp_path: Path) -> Build:
    source = tmp_path / "source"
    source.mkdir()
    (source / "go.mod").write_text(OWN)
    (source / "go.sum").write_text("example.org/other v1.2.3 h1:pinned\n")
    go = Go(script(tmp_path / "go", GO.format(source=source)), ReleasedVersion(1, 26, 0), {})
    wanted = WANTED.with_kubernetes(OLDER)
    return Build(go, wanted, tmp_path / "workshop", Progress(io.StringIO()))


def test_its_parts_have_the_versions_that_they_were_released_with() -> None:
    assert go_module_of(OLDER, OWN).splitlines() == [
        "module growth.dev/kwok",
        "",
        "go 1.24.0",
        "",
        "require k8s.io/kubernetes v1.33.7",
        "",
        "replace k8s.io/api => k8s.io/api v0.33.7",
        "replace k8s.io/client-go => k8s.io/client-go v0.33.7",
    ]


@pytest.mark.parametrize("own", ["", "go 1.24.0\n", OWN.replace("go 1.24.0", "")])
def test_a_module_of_another_form_is_not_guessed_at(own: str) -> None:
    with pytest.raises(Misconfigured, match=r"1\.33\.7 isn't understood"):
        go_module_of(OLDER, own)


def test_it_is_built_with_what_its_own_source_pins(tmp_path: Path) -> None:
    build(tmp_path).make([program("kube-apiserver"), program("kubectl")])
    assert (tmp_path / "built-in.mod").read_text() == go_module_of(OLDER, OWN)
    assert (tmp_path / "built-in.sum").read_text() == "example.org/other v1.2.3 h1:pinned\n"
    asked = (tmp_path / "asked").read_text().splitlines()
    assert asked[0] == "mod download k8s.io/kubernetes@v1.33.7"
    assert asked[2].startswith("list -mod=mod -deps ")


def test_the_pinned_programs_are_built_as_they_are_pinned(tmp_path: Path) -> None:
    build(tmp_path).make([program("etcd")])
    asked = (tmp_path / "asked").read_text().splitlines()
    assert asked[0].startswith("list -mod=readonly -deps ")
    assert "k8s.io/kubernetes v1.36" in (tmp_path / "built-in.mod").read_text()


def test_what_is_pinned_and_what_is_not_are_built_one_after_the_other(tmp_path: Path) -> None:
    store, progress = ProgramStore(tmp_path), Progress(io.StringIO())
    search = ProgramSearch(WANTED.with_kubernetes(OLDER), {}, store, progress)
    pinned, other = search.by_module(PROGRAMS)
    assert {each.project for each in other} == {ReleaseProject.KUBERNETES}
    assert ReleaseProject.KUBERNETES not in {each.project for each in pinned}
    assert [list(PROGRAMS)] == list(ProgramSearch(WANTED, {}, store, progress).by_module(PROGRAMS))
