"""The programs of a control plane and of nodes, their versions, and which others are acceptable.

Versions are written only in go.mod, because Go builds from it if there is no other source. Programs
found elsewhere are accepted if major and minor version match, because Kubernetes keeps its
behaviour within a minor version.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Final

from typing_extensions import override

from growth.errors import Misconfigured

GO_MODULE: Final = Path(__file__).with_name("go.mod")


class ReleaseProject(Enum):
    """The project that releases a program; the value is the Go module that it is built from."""

    ETCD = "go.etcd.io/etcd/server/v3"
    KUBERNETES = "k8s.io/kubernetes"
    KWOK = "sigs.k8s.io/kwok"


@dataclass(frozen=True, slots=True)
class Program:
    """One program: its file name and its Go package."""

    name: str
    project: ReleaseProject
    package: str


def _programs(project: ReleaseProject, folder: str, *names: str) -> tuple[Program, ...]:
    return tuple(Program(name, project, f"{project.value}{folder}{name}") for name in names)


PROGRAMS: Final = (
    Program("etcd", ReleaseProject.ETCD, ReleaseProject.ETCD.value),
    *_programs(
        ReleaseProject.KUBERNETES,
        "/cmd/",
        "kube-apiserver",
        "kube-controller-manager",
        "kube-scheduler",
        "kubectl",
    ),
    *_programs(ReleaseProject.KWOK, "/cmd/", "kwok", "kwokctl"),
)
"""Those of a control plane."""
NODE_PROGRAMS: Final = _programs(ReleaseProject.KUBERNETES, "/cmd/", "kubelet", "kubeadm")
"""Those of a node that isn't simulated."""


@dataclass(frozen=True, slots=True, order=True)
class ReleasedVersion:
    """A released version; candidates and alphas don't count."""

    major: int
    minor: int
    patch: int

    @override
    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"


@dataclass(frozen=True, slots=True)
class WantedVersions:
    """The wanted versions, and whether another patch version of Kubernetes is accepted."""

    versions: dict[ReleaseProject, ReleasedVersion]
    exactly: frozenset[ReleaseProject] = frozenset()

    def fits(self, program: Program, found: ReleasedVersion) -> bool:
        """Whether a program that was found is acceptable."""
        wanted = self.versions[program.project]
        if program.project in self.exactly:
            return found == wanted
        return (found.major, found.minor) == (wanted.major, wanted.minor)

    def is_pinned(self, program: Program) -> bool:
        """Whether the program is wanted in the version of go.mod."""
        return self.versions[program.project] == wanted_versions().versions[program.project]

    def with_kubernetes(self, version: ReleasedVersion) -> WantedVersions:
        """The same, with the Kubernetes version that the user asked for."""
        versions = {**self.versions, ReleaseProject.KUBERNETES: version}
        return replace(self, versions=versions, exactly=frozenset({ReleaseProject.KUBERNETES}))


_NUMBER: Final = r"\bv?(\d+)\.(\d+)\.(\d+)"
_CANDIDATE: Final = r"[\w.-]*(?:alpha|beta|rc)"


def version_in(text: str) -> ReleasedVersion | None:
    """The first released version in what a program prints about itself."""
    match = re.search(rf"{_NUMBER}(?!{_CANDIDATE})", text)
    return ReleasedVersion(*map(int, match.groups())) if match else None


def number_in(text: str) -> ReleasedVersion | None:
    """The first version of any kind, for programs that the user names."""
    match = re.search(_NUMBER, text)
    return ReleasedVersion(*map(int, match.groups())) if match else None


def kubernetes_version(text: str) -> ReleasedVersion:
    """The version in --kube-version."""
    match = re.fullmatch(r"v?(\d+)\.(\d+)\.(\d+)", text)
    if match is None:
        raise Misconfigured(
            f'--kube-version "{text}": not a released version; write it in full, such as 1.36.3'
        )
    return ReleasedVersion(*map(int, match.groups()))


def wanted_versions(go_module: Path = GO_MODULE) -> WantedVersions:
    """The versions that go.mod requires."""
    text = go_module.read_text(encoding="utf-8")
    return WantedVersions({project: _required(text, project.value) for project in ReleaseProject})


def go_version(go_module: Path = GO_MODULE) -> ReleasedVersion:
    """The oldest Go version that can build them."""
    match = re.search(r"^go (\d+)\.(\d+)(?:\.(\d+))?$", go_module.read_text("utf-8"), re.MULTILINE)
    if match is None:
        raise Misconfigured(f"{go_module} has no Go version; restore it from the repository")
    return ReleasedVersion(int(match[1]), int(match[2]), int(match[3] or 0))


def _required(text: str, module: str) -> ReleasedVersion:
    pattern = rf"^\s*(?:require )?{re.escape(module)} v(\S+)"
    match = re.search(pattern, text, re.MULTILINE)
    version = version_in(match[1]) if match else None
    if version is None:
        raise Misconfigured(f"go.mod doesn't require {module}; restore it from the repository")
    return version
