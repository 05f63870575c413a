"""How kube-scheduler's questions come in: straight to the verbs, past the web server.

What a web server does for a request (a task, a future, its headers as objects) costs several times
what the answer costs, and the scheduler waits for it twice for each pod. But its questions look all
alike: a POST of known length to a known path, one after the other on a connection that it keeps.
Those are answered here in the moment in which their last byte comes.

Everything else, be it another client, a body in chunks, two questions at once or one that has no
good answer, goes to the web server with all that was received, and the connection then stays there.
So little has to be known of HTTP here, and nothing is guessed
(docs/designs/0008-a-door-for-the-scheduler.md).
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, TypeGuard

from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Answers: TypeAlias = Mapping[bytes, Callable[[bytes], bytes]]
    """By path. One that raises `Later` is asked again in a moment; one that raises anything else
    leaves the question to the web server."""

LARGEST_BODY: Final = 256 * 2**20
"""5,000 whole nodes, as a scheduler sends them that was configured without nodeCacheCapable."""
REST: Final = 3600.0
"""Seconds that a connection may be quiet. Go's client keeps one for 90 seconds, and doesn't repeat
a POST that meets a connection which is just being closed; so we must never be the first."""
MOMENT: Final = 0.002
"""Seconds until a question is asked again that was to be answered later."""
_END_OF_HEAD: Final = b"\r\n\r\n"
_LENGTH: Final = b"content-length"
_PLAIN: Final = {_LENGTH, b"host", b"user-agent", b"content-type", b"accept", b"accept-encoding"}
"""Headers that change nothing in how a body is read or answered."""
_ANSWER: Final = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b"
)


class Later(Exception):
    """Whoever asks has to wait a moment for the answer."""


class SchedulerQuestion(NamedTuple):
    """The path that is asked, and where in the bytes its body begins and ends."""

    path: bytes
    begin: int
    end: int


def question_of(received: bytes | bytearray) -> SchedulerQuestion | None:
    """What these bytes begin to ask, if it is asked in the plain way."""
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
    """The length of the body, if nothing but plain headers is there and it is said once."""
    lengths = []
    for line in lines:
        name, _, value = line.partition(b":")
        if (lowered := name.lower()) not in _PLAIN or b"\n" in value:
            return None
        if lowered == _LENGTH:
            lengths.append(value.strip(b" "))
    if len(lengths) != 1 or not lengths[0].isdigit() or len(lengths[0]) > len(str(LARGEST_BODY)):
        return None
    length = int(lengths[0])
    return length if length <= LARGEST_BODY else None


class Entrance:
    """Makes a door for each connection, and closes those that are still there at the end."""

    def __init__(self, answers: Answers, *, server: Callable[[], asyncio.Protocol]) -> None:
        """The server is whoever answers what the doors don't."""
        self.answers = answers
        self.server = server
        self.open: set[SchedulerConnection] = set()

    def __call__(self) -> SchedulerConnection:
        """Somebody has connected."""
        return SchedulerConnection(self)

    def close(self) -> None:
        """Hardly ever an answer is under way: most are given in the moment of their question."""
        for door in tuple(self.open):
            door.transport.close()


class SchedulerConnection(asyncio.Protocol):
    """One connection, until it ends or the web server gets it."""

    transport: asyncio.Transport

    def __init__(self, entrance: Entrance) -> None:
        self._entrance = entrance
        self._received = bytearray()
        self._question: SchedulerQuestion | None = None
        self._loop = asyncio.get_running_loop()
        self._last_heard = self._loop.time()
        self._rest: asyncio.TimerHandle | None = None
        self._again: asyncio.TimerHandle | None = None
        """When the question is asked again that waits for its answer."""

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - tells mypy what TCP is
        self.transport = transport
        self._entrance.open.add(self)
        # Not before: after a TLS handshake that fails nobody says that the connection is lost.
        self._rest = self._loop.call_later(REST, self._look)

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._leave()

    @override
    def pause_writing(self) -> None:
        # Who doesn't take its answers can't ask either.
        self.transport.pause_reading()

    @override
    def resume_writing(self) -> None:
        self.transport.resume_reading()

    @override
    def data_received(self, data: bytes) -> None:
        self._last_heard = self._loop.time()
        self._received += data
        self._put_off(None)
        self._question = self._question or question_of(self._received)
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
        except Exception:  # noqa: BLE001 - the web server asks again, and tells what is wrong
            return None

    def _hand_over(self) -> None:
        self._leave()
        server = self._entrance.server()
        self.transport.set_protocol(server)
        server.connection_made(self.transport)
        server.data_received(bytes(self._received))
        self._received.clear()

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
        end = self._last_heard + REST
        if end <= self._loop.time():
            self.transport.close()
        else:
            self._rest = self._loop.call_at(end, self._look)
