"""The parts of a bundle, and its archive.

Order, times and owners in the archive are always the same, so that it reveals nothing about the
machine on which it was made.
"""

from __future__ import annotations

import gzip
import io
import tarfile
from typing import TYPE_CHECKING, Any

import msgspec

from growth.cli.plan.input import INPUT
from growth.cli.plan.input_fields import fields_of_ours
from growth.cli.terminal.texts import wrapped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime
    from pathlib import Path

    from growth.cli.cluster.events import ObjectEvent
    from growth.cli.cluster.survey import Survey
    from growth.cli.plan.input import Input
    from growth.keeping.wanting import Keeping


class BundlePart(msgspec.Struct, frozen=True, kw_only=True):
    """One file of a bundle."""

    name: str
    what: str
    """A description for people."""
    content: bytes

    @property
    def size(self) -> int:
        """Its uncompressed size in bytes."""
        return len(self.content)


def part(name: str, what: str, value: object) -> BundlePart:
    """A part as readable JSON."""
    return BundlePart(name=name, what=what, content=msgspec.json.format(msgspec.json.encode(value)))


def input_part(given: Input) -> BundlePart:
    """The part with everything that a plan depends on."""
    kinds = {**given.objects, **given.resources}
    told = ", ".join(f"{len(several)} {kind}" for kind, several in sorted(kinds.items()))
    what = f"what a plan depends on: {told or 'nothing'}"
    return BundlePart(name=INPUT, what=what, content=msgspec.json.encode(given))


def removals_part(seen: Survey) -> BundlePart:
    """The part with machines that are being removed."""
    removals = [fields_of_ours(each) for _, each in sorted(seen.scene.removals.items())]
    return part("removals.json", f"{len(removals)} NodeRemovalRequest", removals)


def kept_part(kept: Mapping[str, Keeping]) -> BundlePart:
    """The part with the reason why each node is kept, without the names of pods."""
    told = {
        name: {"reason": each.reason, "until": each.until} for name, each in sorted(kept.items())
    }
    return part("kept.json", f"why {len(told)} nodes are kept: reason and end", told)


def events_part(
    events: Mapping[str, Iterable[ObjectEvent]], *, is_told: frozenset[str]
) -> BundlePart:
    """The part with growth's events; those on objects of others have no text."""
    found: list[dict[str, Any]] = [
        {"on": kind, "at": each.at, "reason": each.reason}
        | ({"note": each.note} if kind in is_told else {})
        for kind, several in sorted(events.items())
        for each in several
    ]
    return part("events.json", f"{len(found)} events of growth", found)


def bundle_lines(parts: Iterable[BundlePart]) -> Iterator[str]:
    """The table of contents, which is printed before the bundle is written."""
    for each in parts:
        start = f"  {each.name:16} {each.size:9,} bytes  "
        yield from wrapped(start, each.what, indent=len(start))


def pack_bundle(path: Path, parts: Iterable[BundlePart], *, at: datetime) -> int:
    """Pack the parts; returns the size of the archive."""
    packed = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=packed, mode="wb", mtime=at.timestamp()) as zipped,
        tarfile.open(fileobj=zipped, mode="w") as bundle,
    ):
        for each in parts:
            entry = tarfile.TarInfo(f"growth-bundle/{each.name}")
            entry.size, entry.mtime, entry.mode = each.size, int(at.timestamp()), 0o644
            bundle.addfile(entry, io.BytesIO(each.content))
    path.write_bytes(packed.getvalue())
    return len(packed.getvalue())
