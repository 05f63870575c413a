"""The door: answers kube-scheduler's calls directly, without the web server.

A web server's work for a request (a task, a future, header objects) takes several times as long as
the answer, and the scheduler waits for it twice for each pod. But its calls all look the same: a
POST with a known length to a known path, one after another on a kept connection. Such calls are
answered here as soon as their last byte has arrived.

Everything else goes to the web server, with all received bytes, and the connection then stays
there: other clients, chunked bodies, two calls at once, or a call that can't be answered here. So
this module needs to know very little of HTTP, and never guesses
(docs/designs/0008-a-door-for-the-scheduler.md).
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, TypeGuard

from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Answers: TypeAlias = Mapping[bytes, Callable[[bytes], bytes]]
    """The functions that answer, by path. After `Later`, the function is called again in a moment;
    after any other error, the web server answers the call."""

LARGEST_BODY: Final = 16 * 2**20
"""Enough for a pod and the names of 100,000 nodes. A scheduler without nodeCacheCapable sends whole
nodes, of which a thousand fit."""
LARGE: Final = 2**20
"""Bytes of a call that kube-scheduler sends only without nodeCacheCapable."""
MOST_LARGE: Final = 4
"""Large calls that are received at the same time. The web server takes the others."""
MOST_OPEN: Final = 32
"""Connections to the door. For a further one, the one that was idle for the longest time is closed:
a scheduler has two or three, and always gets in."""
MOST_HANDED_OVER: Final = 16
"""Connections to the web server."""
REST: Final = 3600.0
"""Seconds that a connection may be idle. Go's client keeps one for 90 seconds, and doesn't repeat a
POST on a connection that is just being closed; so we must never close it first."""
MOMENT: Final = 0.002
"""Seconds until a delayed call is tried again."""
_END_OF_HEAD: Final = b"\r\n\r\n"
_LENGTH: Final = b"content-length"
_PLAIN: Final = {_LENGTH, b"host", b"user-agent", b"content-type", b"accept", b"accept-encoding"}
"""Headers that don't change how a body is read or answered."""
_ANSWER: Final = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b"
)


class Later(Exception):
    """The call must be answered a moment later."""


class SchedulerQuestion(NamedTuple):
    """A call: its path, and where in the received bytes its body begins and ends."""

    path: bytes
    begin: int
    end: int

    @property
    def is_large(self) -> bool:
        """Whether few of these may be received at the same time."""
        return self.end > LARGE


def question_of(received: bytes | bytearray) -> SchedulerQuestion | None:
    """The call at the start of these bytes, if it has the simple form."""
    head, ended, _ = received.partition(_END_OF_HEAD)
    first, *lines = bytes(head).split(b"\r\n")
    method, _, target = first.partition(b" ")
    path, _, protocol = target.partition(b" ")
    length = _length_in(lines)
    if not ended or length is None or (method, protocol) != (b"POST", b"HTTP/1.1"):
        return None
    begin = len(head) + len(ended)
    return SchedulerQuestion(path, begin, begin + length)


def _length_in(lines: list[bytes]) -> int | None:
    """The length of the body, if there are only simple headers and the length is there once."""
    lengths = []
    for line in lines:
        name, _, value = line.partition(b":")
        if (lowered := name.lower()) not in _PLAIN or b"\n" in value:
            return None
        if lowered == _LENGTH:
            lengths.append(value.strip(b" "))
    # A call with two lengths, or with one that isn't a plain number, is one for the web server to
    # refuse.
    if len(lengths) != 1 or not lengths[0].isdigit() or len(lengths[0]) > len(str(LARGEST_BODY)):
        return None
    length = int(lengths[0])
    return length if length <= LARGEST_BODY else None


class Entrance:
    """Creates a door for each connection, and closes the remaining ones at the end."""

    def __init__(self, answers: Answers, *, server: Callable[[], asyncio.Protocol]) -> None:
        """`server` creates a web server connection for what the doors don't answer."""
        self.answers = answers
        self.server = server
        self.open: set[SchedulerConnection] = set()
        self._handed_over: set[asyncio.Transport] = set()

    def __call__(self) -> SchedulerConnection:
        """Create the protocol of a new connection."""
        return SchedulerConnection(self)

    def enter(self, door: SchedulerConnection) -> None:
        """Note a new connection."""
        self.open.add(door)
        if len(self.open) > MOST_OPEN:
            min(self.open - {door}, key=lambda each: each.last_heard).dismiss()

    def hand_over(self, transport: asyncio.Transport) -> asyncio.Protocol | None:
        """The web server's protocol for a connection, unless the web server has too many."""
        # The web server doesn't tell when a connection ends.
        self._handed_over = {each for each in self._handed_over if not each.is_closing()}
        if len(self._handed_over) >= MOST_HANDED_OVER:
            return None
        self._handed_over.add(transport)
        return self.server()

    def admit(self, question: SchedulerQuestion | None) -> SchedulerQuestion | None:
        """The call, unless it is large and too many large ones are being received."""
        if question is None or not question.is_large:
            return question
        return question if sum(door.is_in_large_call for door in self.open) < MOST_LARGE else None

    def close(self) -> None:
        """Close all connections."""
        # Almost no answer is pending then: most of them are sent right after their call.
        for door in tuple(self.open):
            door.transport.close()


class SchedulerConnection(asyncio.Protocol):
    """A connection, until it ends or is handed over to the web server."""

    transport: asyncio.Transport

    def __init__(self, entrance: Entrance) -> None:
        self._entrance = entrance
        self._received = bytearray()
        self._question: SchedulerQuestion | None = None
        self._loop = asyncio.get_running_loop()
        self.last_heard = self._loop.time()
        self._rest: asyncio.TimerHandle | None = None
        self._again: asyncio.TimerHandle | None = None
        """The timer of a delayed call."""

    @property
    def is_in_large_call(self) -> bool:
        """Whether a large call is being received here."""
        return self._question is not None and self._question.is_large

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - tells mypy what TCP is
        self.transport = transport
        self._entrance.enter(self)
        # Not earlier: after a failed TLS handshake, `connection_lost` isn't called.
        self._rest = self._loop.call_later(REST, self._look)

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._leave()

    @override
    def pause_writing(self) -> None:
        # A client that doesn't read its answers can't send more calls.
        self.transport.pause_reading()

    @override
    def resume_writing(self) -> None:
        self.transport.resume_reading()

    @override
    def data_received(self, data: bytes) -> None:
        self.last_heard = self._loop.time()
        self._received += data
        self._put_off(None)
        self._question = self._question or self._entrance.admit(question_of(self._received))
        if not self._is_for_us(self._question):
            self._hand_over()
        elif len(self._received) == self._question.end:
            self._answer(self._question)

    def _is_for_us(self, question: SchedulerQuestion | None) -> TypeGuard[SchedulerQuestion]:
        return (
            question is not None
            and question.path in self._entrance.answers
            and len(self._received) <= question.end
        )

    def _answer(self, question: SchedulerQuestion) -> None:
        try:
            answer = self._found(question)
        except Later:
            self._put_off(self._loop.call_later(MOMENT, self._answer, question))
            return
        if answer is None:
            self._hand_over()
            return
        self._received.clear()
        self._question = None
        self.transport.write(_ANSWER % (len(answer), answer))

    def _found(self, question: SchedulerQuestion) -> bytes | None:
        body = bytes(memoryview(self._received)[question.begin :])
        try:
            return self._entrance.answers[question.path](body)
        except Later:
            raise
        except Exception:  # noqa: BLE001 - the web server tries again, and reports the error
            return None

    def _hand_over(self) -> None:
        self._leave()
        server = self._entrance.hand_over(self.transport)
        if server is None:
            self.dismiss()
            return
        self.transport.set_protocol(server)
        server.connection_made(self.transport)
        server.data_received(bytes(self._received))
        self._received.clear()

    def dismiss(self) -> None:
        """End the connection at once."""
        self._leave()
        # A close waits for the other side, and the connection would keep a scheduler's place
        # meanwhile.
        self.transport.abort()

    def _leave(self) -> None:
        self._entrance.open.discard(self)
        self._put_off(None)
        if self._rest is not None:
            self._rest.cancel()

    def _put_off(self, again: asyncio.TimerHandle | None) -> None:
        if self._again is not None:
            self._again.cancel()
        self._again = again

    def _look(self) -> None:
        end = self.last_heard + REST
        if end <= self._loop.time():
            self.transport.close()
        else:
            self._rest = self._loop.call_at(end, self._look)
