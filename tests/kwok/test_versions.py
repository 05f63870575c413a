from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from growth.errors import Misconfigured
from kwok.versions import (
    GO_MODULE,
    NODE_PROGRAMS,
    PROGRAMS,
    ReleasedVersion,
    ReleaseProject,
    WantedVersions,
    go_version,
    kubernetes_version,
    number_in,
    version_in,
    wanted_versions,
)

if TYPE_CHECKING:
    from pathlib import Path

KUBELIKE = next(program for program in PROGRAMS if program.name == "kube-apiserver")
WANTED = WantedVersions({project: ReleasedVersion(1, 36, 3) for project in ReleaseProject})


@pytest.mark.parametrize(
    ("printed", "version"),
    [
        ("Kubernetes v1.36.3\n", ReleasedVersion(1, 36, 3)),
        (
            "Client Version: v1.32.4-dispatcher\nKustomize Version: v5.5.0\n",
            ReleasedVersion(1, 32, 4),
        ),
        (
            "etcd Version: 3.6.8\nGit SHA: Not provided\nGo Version: go1.26.8\n",
            ReleasedVersion(3, 6, 8),
        ),
        ("kwok version v0.8.0 go1.26.8 (linux/amd64)\n", ReleasedVersion(0, 8, 0)),
        ("Kubernetes v1.37.0-rc.1\n", None),
        ("Kubernetes v1.37.0-alpha.1+3f5c\n", None),
        ("command not found", None),
        ("", None),
    ],
)
def test_a_released_version_is_read_from_what_a_program_prints(
    printed: str, version: ReleasedVersion | None
) -> None:
    assert version_in(printed) == version


def test_a_program_that_a_person_names_may_be_a_candidate() -> None:
    assert number_in("Kubernetes v1.37.0-rc.1") == ReleasedVersion(1, 37, 0)


@pytest.mark.parametrize(
    ("found", "fits"),
    [
        (ReleasedVersion(1, 36, 3), True),
        (ReleasedVersion(1, 36, 0), True),
        (ReleasedVersion(1, 36, 11), True),
        (ReleasedVersion(1, 35, 3), False),
        (ReleasedVersion(1, 37, 3), False),
        (ReleasedVersion(2, 36, 3), False),
    ],
)
def test_another_patch_fits_and_another_minor_does_not(found: ReleasedVersion, fits: bool) -> None:  # noqa: FBT001 - a column of the table
    assert WANTED.fits(KUBELIKE, found) is fits


def test_a_version_that_a_person_asks_for_is_meant_exactly() -> None:
    asked = WANTED.with_kubernetes(ReleasedVersion(1, 35, 1))
    assert asked.fits(KUBELIKE, ReleasedVersion(1, 35, 1))
    assert not asked.fits(KUBELIKE, ReleasedVersion(1, 35, 2))
    assert asked.versions[ReleaseProject.ETCD] == WANTED.versions[ReleaseProject.ETCD]


def test_the_versions_come_from_the_go_module() -> None:
    text = GO_MODULE.read_text("utf-8")
    for project, version in wanted_versions().versions.items():
        assert f"{project.value} v{version} " in text


def test_the_programs_are_the_tools_of_the_go_module() -> None:
    block = re.search(r"^tool \(\n(.*?)^\)", GO_MODULE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert block is not None
    every = (*PROGRAMS, *NODE_PROGRAMS)
    assert {program.package for program in every} == set(block[1].split())


def test_a_go_module_without_a_project_is_named(tmp_path: Path) -> None:
    module = tmp_path / "go.mod"
    module.write_text("module x\ngo 1.26\nrequire k8s.io/kubernetes v1.36.3\n")
    with pytest.raises(Misconfigured, match=r"doesn't require go\.etcd\.io/etcd/server/v3"):
        wanted_versions(module)


@pytest.mark.parametrize(
    ("line", "version"),
    [("go 1.26", ReleasedVersion(1, 26, 0)), ("go 1.26.4", ReleasedVersion(1, 26, 4))],
)
def test_the_oldest_go_comes_from_the_go_module(
    line: str, version: ReleasedVersion, tmp_path: Path
) -> None:
    module = tmp_path / "go.mod"
    module.write_text(f"module x\n\n{line}\n")
    assert go_version(module) == version


@pytest.mark.parametrize("text", ["1.36", "latest", "v1.36.3-rc.0", "1.36.3.1", ""])
def test_a_version_that_is_none_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(Misconfigured, match="write it in full"):
        kubernetes_version(text)


def test_a_version_may_be_written_with_its_letter() -> None:
    assert (
        kubernetes_version("v1.36.3") == kubernetes_version("1.36.3") == ReleasedVersion(1, 36, 3)
    )
