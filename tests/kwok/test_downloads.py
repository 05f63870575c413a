from __future__ import annotations

import io
import socket
from typing import TYPE_CHECKING

import pytest

from kwok.downloads import WrongDownload, checksums, download, release_of
from kwok.progress import Progress
from kwok.store import ARCHITECTURE
from kwok.versions import PROGRAMS, ReleasedVersion, ReleaseProject, wanted_versions
from tests.kwok.fakes import ReleasePages, program, serving
from tests.quickest import takes_at_most

if TYPE_CHECKING:
    from pathlib import Path

WANTED = wanted_versions()
VERSION = WANTED.versions[ReleaseProject.KUBERNETES]
KUBECTL = program("kubectl")


def fetch(pages: ReleasePages, folder: Path) -> Path:
    release = release_of(KUBECTL, VERSION, {"GROWTH_KWOK_DOWNLOADS": pages.address})
    (found, checksum), *_ = checksums([release]).items()
    return download(found, checksum, folder=folder, progress=Progress(io.StringIO()))


def test_what_was_published_is_what_is_fetched(tmp_path: Path) -> None:
    with serving(ReleasePages()) as pages:
        pages.publish_kubernetes("kubectl", str(VERSION), b"program" * 100_000)
        assert fetch(pages, tmp_path).read_bytes() == b"program" * 100_000


def test_another_content_is_refused(tmp_path: Path) -> None:
    with serving(ReleasePages()) as pages:
        path = pages.publish_kubernetes("kubectl", str(VERSION), b"program")
        pages.files[path] = b"PROGRAM"
        with pytest.raises(WrongDownload, match="has a wrong checksum"):
            fetch(pages, tmp_path)


def test_half_a_body_is_refused(tmp_path: Path) -> None:
    with serving(ReleasePages()) as pages:
        path = pages.publish_kubernetes("kubectl", str(VERSION), b"x" * 1000)
        pages.cut.add(path)
        with pytest.raises(WrongDownload, match="ended after 500 of 1000 bytes"):
            fetch(pages, tmp_path)


def test_an_archive_without_the_program_is_refused(tmp_path: Path) -> None:
    version = WANTED.versions[ReleaseProject.ETCD]
    name = f"etcd-v{version}-linux-{ARCHITECTURE}.tar.gz"
    with serving(ReleasePages()) as pages:
        pages.publish_on_github("etcd-io/etcd", str(version), {name: b"no archive"})
        release = release_of(program("etcd"), version, {"GROWTH_KWOK_DOWNLOADS": pages.address})
        (checksum,) = checksums([release]).values()
        with pytest.raises(WrongDownload, match="etcd-v"):
            download(release, checksum, folder=tmp_path, progress=Progress(io.StringIO()))


def test_a_release_without_checksums_is_not_used() -> None:
    version = WANTED.versions[ReleaseProject.KWOK]
    with serving(ReleasePages()) as pages:
        pages.files[f"/repos/kubernetes-sigs/kwok/releases/tags/v{version}"] = b'{"assets": []}'
        release = release_of(program("kwok"), version, {"GROWTH_KWOK_DOWNLOADS": pages.address})
        assert checksums([release]) == {}


def test_every_page_is_asked_once() -> None:
    with serving(ReleasePages()) as pages:
        environment = {"GROWTH_KWOK_DOWNLOADS": pages.address}
        releases = [
            release_of(each, WANTED.versions[each.project], environment) for each in PROGRAMS
        ]
        assert checksums(releases) == {}
    assert len(pages.asked) == len(set(pages.asked)) == 6


def test_a_page_that_does_not_answer_is_left_after_two_seconds() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        releases = [
            release_of(each, WANTED.versions[each.project], {"GROWTH_KWOK_DOWNLOADS": address})
            for each in PROGRAMS
        ]

        def ask() -> None:
            assert checksums(releases) == {}

        assert takes_at_most(4, ask)


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("kubectl", "https://dl.k8s.io/release/v1.2.3/bin/linux/"),
        ("kwok", "https://github.com/kubernetes-sigs/kwok/releases/download/v1.2.3/kwok-linux-"),
        ("etcd", "https://github.com/etcd-io/etcd/releases/download/v1.2.3/etcd-v1.2.3-linux-"),
    ],
)
def test_the_official_pages_are_asked_by_default(name: str, url: str) -> None:
    assert release_of(program(name), ReleasedVersion(1, 2, 3), {}).url.startswith(url)
