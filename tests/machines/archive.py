"""Images of containers, made by hand: one program, one layer, two names.

The format is that of `docker save`, which `ctr images import` reads.
"""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from typing import TYPE_CHECKING, Any, Final

from kwok.store import ARCHITECTURE

if TYPE_CHECKING:
    from pathlib import Path

TINY: Final = "growth.test/tiny:1"
"""An image with a shell and what busybox has; alone, it does nothing until it is ended."""
_APPLETS: Final = ("sh", "sleep", "cat", "wget", "nc", "echo", "id", "ls", "true", "test", "trap")


def archive_of(busybox: Path, archive: Path) -> None:
    """Write the archive of all images."""
    layer = _tar(_layer_entries(busybox.read_bytes()))
    configuration = {
        "architecture": ARCHITECTURE,
        "os": "linux",
        "config": {"Cmd": ["/bin/sleep", "2147483647"], "Env": ["PATH=/bin"]},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
    }
    manifest = [{"Config": "config.json", "RepoTags": [TINY], "Layers": ["layer.tar"]}]
    files = {
        "config.json": _json(configuration),
        "layer.tar": layer,
        "manifest.json": _json(manifest),
    }
    entries = [(_file(name, len(content)), content) for name, content in files.items()]
    archive.write_bytes(_tar(entries))


def _layer_entries(busybox: bytes) -> list[tuple[tarfile.TarInfo, bytes]]:
    entries = [(_folder("bin"), b""), (_folder("tmp"), b"")]
    entries.append((_file("bin/busybox", len(busybox), mode=0o755), busybox))
    for name in _APPLETS:
        link = tarfile.TarInfo(f"bin/{name}")
        link.type, link.linkname = tarfile.SYMTYPE, "busybox"
        entries.append((link, b""))
    return entries


def _folder(name: str) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode = tarfile.DIRTYPE, 0o755
    return entry


def _file(name: str, size: int, *, mode: int = 0o644) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = size, mode
    return entry


def _tar(entries: list[tuple[tarfile.TarInfo, bytes]]) -> bytes:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as tar:
        for entry, content in entries:
            tar.addfile(entry, io.BytesIO(content))
    return written.getvalue()


def _json(content: Any) -> bytes:
    return json.dumps(content).encode()
