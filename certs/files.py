"""Writes certificates to files, for programs that don't run in a pod."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from certs.reading import BUNDLE, CERTIFICATE, KEY
from growth.errors import GiveUp, Misconfigured

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from certs.state import LeafSecret

FOR_THE_OWNER: Final = 0o600


def files_of(leaf: LeafSecret) -> Mapping[str, bytes]:
    """The files that a server or a client needs, with the names in a mounted Secret."""
    if leaf.pair is None:
        raise GiveUp(f"Secret {leaf.wanted.name}: it has no certificate with its key")
    return {
        BUNDLE: leaf.bundle,
        CERTIFICATE: leaf.pair.certificate.pem,
        KEY: leaf.pair.key.reveal(),
    }


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write each file atomically, readable only by its owner."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            _write(folder / name, content)
    except OSError as error:
        reason = (error.strerror or "not writable").lower()
        raise Misconfigured(f"{folder}: {reason}; choose a writable folder") from None


def _write(path: Path, content: bytes) -> None:
    fresh = path.with_name(f".{path.name}.new")
    fresh.unlink(missing_ok=True)
    # The mode is set at creation, so that others can't read the key for a moment.
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FOR_THE_OWNER)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    fresh.replace(path)
