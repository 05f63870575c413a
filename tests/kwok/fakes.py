"""Stand-ins for what `python -m kwok` starts and asks: programs, Go, and the release pages."""

from __future__ import annotations

import contextlib
import hashlib
import http.server
import io
import json
import tarfile
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from kwok.store import ARCHITECTURE
from kwok.versions import PROGRAMS, Program, ReleaseProject, WantedVersions

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def program(name: str) -> Program:
    """The program of that name."""
    return next(each for each in PROGRAMS if each.name == name)


def script(path: Path, text: str) -> Path:
    """A program that is a shell script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def fake_program(path: Path, version: str) -> Path:
    """A program that does nothing but say its version."""
    return script(path, f"echo 'Fake v{version}'")


# It lists three packages and makes a file for each program that it is told to build, as Go does.
FAKE_GO = """
case "$1" in
version) echo "go version go1.26.9 linux/amd64" ;;
list)
  echo "go: downloading example.test/module v1.0.0" >&2
  printf 'a\\nb\\nc\\n' ;;
build)
  echo a >&2; echo b >&2
  {during}
  while [ $# -gt 0 ]; do
    case "$1" in
    */v3) part=${{1%/v3}}; echo "built $1" > "out/${{part##*/}}" ;;
    */*) case "$1" in out/) ;; *) echo "built $1" > "out/${{1##*/}}" ;; esac ;;
    esac
    shift
  done ;;
esac
"""


def fake_go(path: Path, *, during: str = ":") -> Path:
    """A Go that builds in no time, and does something in the middle of it."""
    return script(path, FAKE_GO.format(during=during))


@dataclass
class ReleasePages:
    """The official pages, on loopback: what they publish, and what was asked."""

    address: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    cut: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)

    def publish_kubernetes(self, name: str, version: str, content: bytes) -> str:
        """A program and its checksum, as dl.k8s.io does."""
        path = f"/release/v{version}/bin/linux/{ARCHITECTURE}/{name}"
        self.files[path] = content
        self.files[f"{path}.sha256"] = hashlib.sha256(content).hexdigest().encode()
        return path

    def publish_on_github(self, repository: str, version: str, contents: dict[str, bytes]) -> None:
        """Files of a release, and the release's page with their digests."""
        assets = []
        for name, content in contents.items():
            self.files[f"/{repository}/releases/download/v{version}/{name}"] = content
            digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
            assets.append({"name": name, "digest": digest})
        page = f"/repos/{repository}/releases/tags/v{version}"
        self.files[page] = json.dumps({"assets": assets}).encode()

    def publish_all(self, wanted: WantedVersions) -> None:
        """Everything that a control plane needs."""
        versions = {project: str(version) for project, version in wanted.versions.items()}
        kwok: dict[str, bytes] = {}
        for each in PROGRAMS:
            content = f"published {each.name}".encode()
            if each.project is ReleaseProject.KUBERNETES:
                self.publish_kubernetes(each.name, versions[each.project], content)
            elif each.project is ReleaseProject.KWOK:
                kwok[f"{each.name}-linux-{ARCHITECTURE}"] = content
        self.publish_on_github("kubernetes-sigs/kwok", versions[ReleaseProject.KWOK], kwok)
        archive = f"etcd-v{versions[ReleaseProject.ETCD]}-linux-{ARCHITECTURE}"
        contents = {f"{archive}.tar.gz": archive_of(archive, b"published etcd")}
        self.publish_on_github("etcd-io/etcd", versions[ReleaseProject.ETCD], contents)


def archive_of(folder: str, content: bytes) -> bytes:
    """An archive as etcd publishes it: documentation first, programs beside each other."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, data in (("README.md", b"read"), ("etcdctl", b"other"), ("etcd", content)):
            member = tarfile.TarInfo(f"{folder}/{name}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return packed.getvalue()


@contextlib.contextmanager
def serving(pages: ReleasePages) -> Iterator[ReleasePages]:
    """Serve the pages on loopback while the body runs."""

    class Answers(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            pages.asked.append(self.path)
            content = pages.files.get(self.path)
            self.send_response(404 if content is None else 200)
            self.send_header("Content-Length", str(len(content or b"")))
            self.end_headers()
            if content is not None:
                half = len(content) // 2 if self.path in pages.cut else len(content)
                self.wfile.write(content[:half])

        @override
        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            pages.address = f"http://127.0.0.1:{server.server_port}"
            yield pages
        finally:
            server.shutdown()
            thread.join()
