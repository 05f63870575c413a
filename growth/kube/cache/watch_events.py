"""The lines of a watch: split from the bytes, and decoded in two steps.

The first step decodes the envelope and leaves the object as bytes; the second one decodes the
object with its kind's decoder. So an object that can't be decoded affects only itself: its name and
version are read separately, and the stream continues. A line that isn't JSON ends the stream,
because it isn't known which event it was.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Generic

import msgspec
import pydantic

from growth.kube.cache.contents import Statement, Unreadable
from growth.kube.cache.resource import Key, T, WatchedResource, key_of
from growth.kube.call import Call
from growth.kube.errors import ApiError, Unreachable, error_of, status_of
from growth.undecodable import UNDECODABLE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from growth.kube.cache.questions import ByteStream

LONGEST_LINE = 2**24
"""The API server accepts objects of at most 3 MiB, so a longer line isn't a watch event."""

INITIAL_EVENTS_END = "k8s.io/initial-events-end"


class Garbled(Unreachable):
    """Bytes that aren't watch events. Something may be lost, so a new list is needed."""


class EventKind(enum.Enum):
    """The type of a line."""

    PUT = "put"
    DELETED = "deleted"
    BOOKMARK = "bookmark"
    INITIAL_EVENTS_END = "initial events end"


class WatchEvent(msgspec.Struct, Generic[T], frozen=True):
    """A decoded line. The object is `Unreadable` if its decoder failed, and None in a bookmark."""

    kind: EventKind
    version: str
    object: T | Unreadable | None = None

    @property
    def key(self) -> Key:
        """The key of the object."""
        match self.object:
            case None:
                return Key("", "")
            case Unreadable(key=key):
                return key
            case obj:
                return key_of(obj)


class _Envelope(msgspec.Struct, frozen=True, gc=False):
    type: str
    object: msgspec.Raw


class _Metadata(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    annotations: dict[str, str] | None = None


class _Bare(msgspec.Struct, frozen=True, gc=False):
    metadata: _Metadata = _Metadata()


class _Generation(msgspec.Struct, frozen=True, gc=False):
    generation: int = 0


class _Status(msgspec.Struct, frozen=True, gc=False):
    conditions: tuple[Statement, ...] = ()


class _Stated(msgspec.Struct, frozen=True, gc=False):
    metadata: _Generation = _Generation()
    status: _Status = _Status()


_envelope = msgspec.json.Decoder(_Envelope).decode
_stated = msgspec.json.Decoder(_Stated).decode
_bare = msgspec.json.Decoder(_Bare).decode
_BEGINNINGS = (
    (b'{"type":"ADDED","object":', EventKind.PUT),
    (b'{"type":"MODIFIED","object":', EventKind.PUT),
    (b'{"type":"DELETED","object":', EventKind.DELETED),
)
_KINDS = {"ADDED": EventKind.PUT, "MODIFIED": EventKind.PUT, "DELETED": EventKind.DELETED}


class Lines:
    """Splits a stream of bytes into lines."""

    def __init__(self) -> None:
        self._begun: list[bytes] = []
        self._length = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """Add a piece; returns the lines that it completes."""
        *ended, rest = chunk.split(b"\n")
        if ended and self._begun:
            ended[0] = b"".join([*self._begun, ended[0]])
            self._begun, self._length = [], 0
        if rest:
            self._begun.append(rest)
            self._length += len(rest)
        if self._length > LONGEST_LINE:
            raise Garbled(f"a watch sent {self._length} bytes without a line end")
        return [line for line in ended if line]


def decoded_events(lines: list[bytes], *, resource: WatchedResource[T]) -> Iterator[WatchEvent[T]]:
    """The events in these lines. An ERROR event is raised only after the events before it."""
    for line in lines:
        if event := _quickly(line, resource=resource):
            yield event
            continue
        try:
            envelope = _envelope(line)
        except UNDECODABLE:
            raise Garbled(
                f"watch {resource.name}: a line of {len(line)} bytes isn't an event"
            ) from None
        match envelope.type:
            case "ADDED" | "MODIFIED" | "DELETED" as kind:
                obj = read_object(bytes(envelope.object), resource=resource)
                yield WatchEvent(_KINDS[kind], _version(obj), obj)
            case "BOOKMARK":
                yield _bookmark(envelope.object)
            case "ERROR":
                raise _error(bytes(envelope.object), resource=resource)
            case _:
                # A type of a later Kubernetes; like bookmarks, it would have to be opt-in.
                continue


def _quickly(line: bytes, *, resource: WatchedResource[T]) -> WatchEvent[T] | None:
    """Decode an event without parsing its envelope, or None if that isn't possible.

    The API server writes all envelopes in the same way, so a comparison of bytes saves a third of
    the time. Everything else is parsed in two steps.
    """
    for beginning, kind in _BEGINNINGS:
        if line.startswith(beginning):
            try:
                # Without the brace that ends the envelope.
                obj = resource.decode(line[len(beginning) : -1])
            except Exception:  # noqa: BLE001 - any decoder, any failure: see `read_object`
                return None
            return WatchEvent(kind, obj.metadata.resource_version, obj)
    return None


def read_object(raw: bytes, *, resource: WatchedResource[T]) -> T | Unreadable:
    """Decode one object; returns `Unreadable` if its decoder fails."""
    try:
        return resource.decode(raw)
    except Exception as error:  # noqa: BLE001 - any decoder, any failure: the other objects go on
        return _unreadable(raw, problem=error)


def _version(obj: T | Unreadable) -> str:
    return obj.version if isinstance(obj, Unreadable) else obj.metadata.resource_version


def _unreadable(raw: bytes, *, problem: Exception) -> Unreadable:
    metadata = _metadata_of(raw)
    stated = _as_far_as_it_says(raw)
    return Unreadable(
        key=Key(metadata.namespace, metadata.name),
        uid=metadata.uid,
        version=metadata.resource_version,
        problem=_without_values(problem),
        generation=stated.metadata.generation,
        conditions=stated.status.conditions,
        content=raw,
    )


def _metadata_of(raw: bytes | msgspec.Raw) -> _Metadata:
    try:
        return _bare(raw).metadata
    except UNDECODABLE:
        raise Garbled("an object without readable metadata") from None


def _as_far_as_it_says(raw: bytes) -> _Stated:
    try:
        return _stated(raw)
    except UNDECODABLE:
        return _Stated()


def _without_values(problem: Exception) -> str:
    """The error without values, because the object may contain a secret."""
    match problem:
        case pydantic.ValidationError():
            mistakes = problem.errors(include_url=False, include_input=False)
            places = (".".join(map(str, each["loc"])) for each in mistakes)
            return "; ".join(
                f"{place}: {each['msg']}" for place, each in zip(places, mistakes, strict=True)
            )[:300]
        case msgspec.MsgspecError():
            return str(problem)[:300]
        case _:
            return type(problem).__name__


def _bookmark(raw: msgspec.Raw) -> WatchEvent[T]:
    metadata = _metadata_of(raw)
    is_end = (metadata.annotations or {}).get(INITIAL_EVENTS_END) == "true"
    kind = EventKind.INITIAL_EVENTS_END if is_end else EventKind.BOOKMARK
    return WatchEvent(kind, metadata.resource_version)


def _error(raw: bytes, *, resource: WatchedResource[T]) -> ApiError:
    said = status_of(raw)
    call = Call(method="GET", path=resource.path, query=(("watch", "true"),))
    return error_of(call, code=said.code or 500, said=said, headers={})


class EventStream(Generic[T]):
    """The events of one watch, in batches as they are received."""

    def __init__(self, stream: ByteStream, *, resource: WatchedResource[T]) -> None:
        self._stream = stream
        self._resource = resource
        self._lines = Lines()

    async def next(self) -> Iterator[WatchEvent[T]] | None:
        """The next events, decoded one by one on iteration; None at the end of the stream."""
        # An incomplete last line is dropped: the next watch continues from the event before it.
        chunk = await self._stream.content.readany()
        if not chunk:
            return None
        return decoded_events(self._lines.feed(chunk), resource=self._resource)
