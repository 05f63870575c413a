"""The lines of a watch: cut out of the bytes as they come, and decoded in two steps.

First the envelope, with the object left as the bytes it is; then the object by the kind's own
decoder. So an object that can't be decoded spoils nothing but itself: name and version are read
from it apart, and the stream goes on. A line that isn't JSON at all is another matter, since nobody
knows which event it was: then the stream is given up.
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

    from growth.kube.cache.server import ByteStream

LONGEST_LINE = 2**24
"""The API server takes objects of 3 MiB at most; far beyond, it is a stream without line ends."""

INITIAL_EVENTS_END = "k8s.io/initial-events-end"


class Garbled(Unreachable):
    """Bytes that are no watch events: something may be lost, so a new list is needed."""


class EventKind(enum.Enum):
    """What a line says."""

    PUT = "put"
    DELETED = "deleted"
    BOOKMARK = "bookmark"
    INITIAL_EVENTS_END = "initial events end"


class WatchEvent(msgspec.Struct, Generic[T], frozen=True):
    """One line, decoded; what couldn't be is an `Unreadable`, and bookmarks have no object."""

    kind: EventKind
    version: str
    object: T | Unreadable | None = None

    @property
    def key(self) -> Key:
        """The object that it is about."""
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
    """Cuts a stream of bytes into lines, whatever the pieces are that it comes in."""

    def __init__(self) -> None:
        self._begun: list[bytes] = []
        self._length = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that end in this piece; what follows the last end waits for the next piece."""
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
    """The events in these lines. An ERROR event is raised when its turn comes, not before."""
    for line in lines:
        if event := _quickly(line, resource=resource):
            yield event
            continue
        try:
            envelope = _envelope(line)
        except UNDECODABLE:
            raise Garbled(
                f"watch {resource.name}: a line of {len(line)} bytes is no event"
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
                # What a later Kubernetes may invent for those who ask for it, as bookmarks were.
                continue


def _quickly(line: bytes, *, resource: WatchedResource[T]) -> WatchEvent[T] | None:
    """The API server begins all events alike, so their envelope needs no parser: a third less time.

    What doesn't decode in this way takes the long one, and is judged there.
    """
    for beginning, kind in _BEGINNINGS:
        if line.startswith(beginning):
            try:
                obj = resource.decode(line[len(beginning) : -1])
            except Exception:  # noqa: BLE001 - any decoder, any failure: see `read_object`
                return None
            return WatchEvent(kind, obj.metadata.resource_version, obj)
    return None


def read_object(raw: bytes, *, resource: WatchedResource[T]) -> T | Unreadable:
    """One object; what its decoder can't take is told instead of raised."""
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
        problem=_told(problem),
        generation=stated.metadata.generation,
        conditions=stated.status.conditions,
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


def _told(problem: Exception) -> str:
    """What is wrong and where, but no value: the object may hold a secret."""
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
    """The events of one watch, in the batches that the network makes of them."""

    def __init__(self, stream: ByteStream, *, resource: WatchedResource[T]) -> None:
        self._stream = stream
        self._resource = resource
        self._lines = Lines()

    async def next(self) -> Iterator[WatchEvent[T]] | None:
        """The next events, decoded one by one as they are taken; None when the server has ended it.

        A last line without its end is not an event: the watch goes on from the one before.
        """
        chunk = await self._stream.content.readany()
        if not chunk:
            return None
        return decoded_events(self._lines.feed(chunk), resource=self._resource)
