"""Programs from their official releases, if those can be reached.

All pages are requested once, at the same time, and must answer within two seconds, so that a
machine without access doesn't wait. The request is for the published checksum, so an answer already
says what the program must be. GitHub knows the checksum of every file of a release; dl.k8s.io
publishes one for every program.
"""

from __future__ import annotations

import functools
import hashlib
import http.client
import json
import os
import queue
import shutil
import tarfile
import threading
import time
import urllib.request
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, assert_never

from kwok.store import ARCHITECTURE
from kwok.versions import Program, ReleasedVersion, ReleaseProject

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from kwok.progress import Progress

ANSWER_WITHIN: Final = 2.0
STALLED_AFTER: Final = 30.0
OTHER_ADDRESS: Final = "GROWTH_KWOK_DOWNLOADS"
_FAILURES: Final = (OSError, http.client.HTTPException, tarfile.TarError, ValueError)


@dataclass(frozen=True, slots=True)
class Release:
    """The URL of a program of a version, and of its checksum."""

    program: Program
    url: str
    checksum_url: str

    @property
    def file(self) -> str:
        """The name of the published file."""
        return self.url.rpartition("/")[2]


class WrongDownload(Exception):
    """A downloaded file is not what was published; the text says why."""


def release_of(
    program: Program, version: ReleasedVersion, environment: Mapping[str, str] = os.environ
) -> Release:
    """The URL of a program. One address in the environment replaces all hosts."""
    other = environment.get(OTHER_ADDRESS, "").rstrip("/")
    match program.project:
        case ReleaseProject.KUBERNETES:
            folder = f"{other or 'https://dl.k8s.io'}/release/v{version}/bin/linux/{ARCHITECTURE}"
            return Release(program, f"{folder}/{program.name}", f"{folder}/{program.name}.sha256")
        case ReleaseProject.KWOK:
            file = f"{program.name}-linux-{ARCHITECTURE}"
            return _on_github(program, "kubernetes-sigs/kwok", version, file=file, other=other)
        case ReleaseProject.ETCD:
            file = f"etcd-v{version}-linux-{ARCHITECTURE}.tar.gz"
            return _on_github(program, "etcd-io/etcd", version, file=file, other=other)
        case _:
            assert_never(program.project)


def _on_github(
    program: Program, repository: str, version: ReleasedVersion, *, file: str, other: str
) -> Release:
    pages = other or "https://github.com"
    interface = other or "https://api.github.com"
    return Release(
        program,
        f"{pages}/{repository}/releases/download/v{version}/{file}",
        f"{interface}/repos/{repository}/releases/tags/v{version}",
    )


def checksums(releases: Iterable[Release]) -> dict[Release, str]:
    """The published checksums of the releases whose pages answer in time."""
    wanted = list(releases)
    answers = _ask({release.checksum_url for release in wanted})
    found = ((each, _checksum(each, answers.get(each.checksum_url))) for each in wanted)
    return {release: checksum for release, checksum in found if checksum is not None}


def _ask(urls: set[str]) -> dict[str, str]:
    """The answers of these pages, as far as they arrive in time."""
    answers: queue.SimpleQueue[tuple[str, str | None]] = queue.SimpleQueue()
    for url in urls:
        # Resolving a name has no time limit and may hang; a daemon thread hangs alone.
        threading.Thread(target=lambda url=url: answers.put((url, _read(url))), daemon=True).start()
    deadline = time.monotonic() + ANSWER_WITHIN
    texts: dict[str, str] = {}
    for _ in urls:
        try:
            url, text = answers.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            break
        if text is not None:
            texts[url] = text
    return texts


def _read(url: str) -> str | None:
    try:
        with urllib.request.urlopen(url, timeout=ANSWER_WITHIN) as answer:  # noqa: S310 - our own addresses
            return str(answer.read().decode())
    except _FAILURES:
        return None


def _checksum(release: Release, text: str | None) -> str | None:
    """The SHA-256 in an answer: plain, or as the digest of one file of a release."""
    if text is None:
        return None
    if release.checksum_url.endswith(".sha256"):
        return text.split()[0] if text.split() else None
    try:
        assets = json.loads(text)["assets"]
        digests = {asset["name"]: asset["digest"] for asset in assets}
        return str(digests[release.file]).removeprefix("sha256:")
    except (KeyError, TypeError, ValueError):
        return None


def download(release: Release, checksum: str, *, folder: Path, progress: Progress) -> Path:
    """Download a program into the folder; raises WrongDownload if it isn't what was published."""
    fetched = folder / release.file
    try:
        _fetch(release, checksum, fetched, progress=progress)
        return _unpacked(fetched, release.program)
    except _FAILURES as failure:
        raise WrongDownload(f"{release.file}: {failure}") from None


def _fetch(release: Release, checksum: str, to: Path, *, progress: Progress) -> None:
    digest = hashlib.sha256()
    with (
        urllib.request.urlopen(release.url, timeout=STALLED_AFTER) as answer,  # noqa: S310 - our own addresses
        to.open("wb") as output,
    ):
        length = int(answer.headers.get("Content-Length") or 0)
        for block in iter(functools.partial(answer.read, 1 << 18), b""):
            output.write(block)
            digest.update(block)
            progress.show(f"downloading {release.file}: {_share(output.tell(), length)}")
        if length and output.tell() != length:
            raise WrongDownload(f"{release.file} ended after {output.tell()} of {length} bytes")
    if digest.hexdigest() != checksum:
        raise WrongDownload(f"{release.file} has a wrong checksum")


def _share(done: int, length: int) -> str:
    megabytes = f"{done / 1e6:.0f}"
    return f"{megabytes} of {length / 1e6:.0f} MB" if length else f"{megabytes} MB"


def _unpacked(fetched: Path, program: Program) -> Path:
    """The program itself; etcd comes in an archive with its documentation."""
    if not fetched.name.endswith(".tar.gz"):
        return fetched
    with tarfile.open(fetched) as archive:
        for member in archive:
            content = archive.extractfile(member)
            if content is not None and member.name.endswith(f"/{program.name}"):
                unpacked = fetched.with_name(program.name)
                with unpacked.open("wb") as output:
                    shutil.copyfileobj(content, output)
                return unpacked
    raise WrongDownload(f"{fetched.name} doesn't contain {program.name}")
