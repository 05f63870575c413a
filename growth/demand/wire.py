"""The wire format of the book: lines of JSON in the form of a Kubernetes watch.

A reader without a position gets all entries as ADDED and then a BOOKMARK, which ends the snapshot.
After that come the changes, each batch followed by a BOOKMARK. If nothing changes, a BOOKMARK is
sent from time to time, so that silence means a dead connection. With the position of a BOOKMARK, a
reader continues after a disconnect. If the book doesn't know the position, it answers with an ERROR
of code 410, as Kubernetes does, and the reader starts again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

import msgspec

from growth.demand.entry import DemandEntry
from growth.demand.history import EntryChange, EntryChangeKind
from growth.errors import RetryLater
from growth.undecodable import UNDECODABLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

PATH: Final = "/v1/demand"
CONTENT_TYPE: Final = "application/json"
BOOKMARK_SECONDS: Final = 5.0
"""The longest silence of a server."""
SILENCE_SECONDS: Final = 15.0
"""After this much silence, a reader treats the connection as dead."""
_GONE: Final = 410


class ToldBook(Protocol):
    """What a server needs to know of a book: that of its own process, or a copy."""

    @property
    def entries(self) -> Mapping[str, DemandEntry]:
        """All entries by uid."""
        ...

    @property
    def position(self) -> str:
        """The current position; each change moves it."""
        ...

    def after(self, position: str) -> tuple[EntryChange, ...] | None:
        """The changes since a position; None if it isn't known."""
        ...


class Bookmark(msgspec.Struct, frozen=True, gc=False):
    """All changes up to this position have been sent."""

    position: str


class PositionExpired(msgspec.Struct, frozen=True, gc=False):
    """The reader must start again, without a position."""


class Rubbish(RetryLater):
    """The stream can't be read, and nothing after this point can be trusted."""


class _Line(msgspec.Struct):
    type: str
    object: msgspec.Raw


class _Position(msgspec.Struct, rename="camel"):
    resource_version: str


class _Status(msgspec.Struct):
    code: int = 0
    reason: str = ""
    message: str = ""


class _List(msgspec.Struct, kw_only=True):
    kind: str = "DemandList"
    metadata: _Position
    items: tuple[DemandEntry, ...]


_encode = msgspec.json.Encoder().encode
_line = msgspec.json.Decoder(_Line).decode
_entry = msgspec.json.Decoder(DemandEntry).decode
_position = msgspec.json.Decoder(_Position).decode
_status = msgspec.json.Decoder(_Status).decode


def opening(book: ToldBook) -> list[bytes]:
    """The lines for a reader without a position: the whole book."""
    added = (EntryChange(EntryChangeKind.ADDED, entry) for entry in book.entries.values())
    return [*map(_change_line, added), bookmark(book)]


def following(book: ToldBook, position: str) -> list[bytes]:
    """The lines that bring a reader from its position to the end of the book.

    If the position isn't known, a single line says so, and the connection ends after it.
    """
    changes = book.after(position)
    if changes is None:
        return [_encode({"type": "ERROR", "object": _expired()}) + b"\n"]
    return [*map(_change_line, changes), bookmark(book)]


def bookmark(book: ToldBook) -> bytes:
    """The line with the current position of the book."""
    return _encode({"type": "BOOKMARK", "object": _Position(book.position)}) + b"\n"


def snapshot(book: ToldBook) -> bytes:
    """The whole book as one JSON document."""
    items = tuple(book.entries.values())
    return _encode(_List(metadata=_Position(book.position), items=items))


def read_line(line: bytes) -> EntryChange | Bookmark | PositionExpired | None:
    """The content of a line; None if it is of a type that only later versions know."""
    try:
        envelope = _line(line)
        return _read(envelope.type, envelope.object)
    except UNDECODABLE as error:
        message = f"a line of {len(line)} bytes in the demand stream can't be read: {error}"
        raise Rubbish(message) from None


def read_lines(lines: Iterable[bytes]) -> Iterator[EntryChange | Bookmark | PositionExpired]:
    """The content of these lines; `PositionExpired` is always the last one."""
    for line in lines:
        said = read_line(line) if line else None
        if said is not None:
            yield said
        if isinstance(said, PositionExpired):
            return


def _read(kind: str, told: msgspec.Raw) -> EntryChange | Bookmark | PositionExpired | None:
    match kind:
        case "ADDED" | "MODIFIED" | "DELETED":
            return EntryChange(EntryChangeKind(kind), _entry(told))
        case "BOOKMARK":
            return Bookmark(_position(told).resource_version)
        case "ERROR":
            return _error(_status(told))
        case _:
            return None


def _error(said: _Status) -> PositionExpired:
    if said.code == _GONE:
        return PositionExpired()
    raise Rubbish(f"the demand stream ends with an error: {said.code} {said.message[:200]}")


def _expired() -> _Status:
    message = "the position is too old: read the whole book again, without resourceVersion"
    return _Status(code=_GONE, reason="Expired", message=message)


def _change_line(change: EntryChange) -> bytes:
    return _encode({"type": change.kind, "object": change.entry}) + b"\n"
