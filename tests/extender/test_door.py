"""The door takes the plain questions; with all else the web server gets every byte that came."""

from __future__ import annotations

import asyncio
import gc
import weakref
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import override

from extender.door import (
    LARGEST_BODY,
    MOST_HANDED_OVER,
    MOST_LARGE,
    MOST_OPEN,
    REST,
    Entrance,
    Later,
    SchedulerConnection,
    SchedulerQuestion,
    question_of,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from extender.door import Answers

SCHEDULER = (
    b"POST /filter HTTP/1.1\r\nHost: 127.0.0.1:10284\r\nUser-Agent: Go-http-client/1.1\r\n"
    b"Content-Length: %d\r\nContent-Type: application/json\r\nAccept-Encoding: gzip\r\n\r\n"
)
BODY = b'{"NodeNames":["a"]}'
PLAIN = SCHEDULER % len(BODY) + BODY
ELSEWHERE = b"the web server"


def with_header(line: bytes) -> bytes:
    return PLAIN.replace(b"Accept-Encoding: gzip", line)


def asked_as(first: bytes) -> bytes:
    return PLAIN.replace(b"POST /filter HTTP/1.1", first)


def of_length(length: bytes) -> bytes:
    return PLAIN.replace(b"Content-Length: %d" % len(BODY), b"Content-Length: " + length)


NOT_PLAIN = {
    "nothing that is HTTP": b"\x16\x03\x01\x02\x00\x01",
    "half of a head": PLAIN[:40],
    "another method": asked_as(b"PUT /filter HTTP/1.1"),
    "an older protocol": asked_as(b"POST /filter HTTP/1.0"),
    "no protocol": asked_as(b"POST /filter"),
    "a body in chunks": with_header(b"Transfer-Encoding: chunked"),
    "a packed body": with_header(b"Content-Encoding: gzip"),
    "a wish to be asked for the body": with_header(b"Expect: 100-continue"),
    "a wish to end": with_header(b"Connection: close"),
    "two lengths": with_header(b"content-length: 3"),
    "a header over two lines": with_header(b"Accept: x\r\n Transfer-Encoding: chunked"),
    "a header that hides another": with_header(b"Accept: x\nTransfer-Encoding: chunked"),
    "a name with a space": with_header(b"Transfer-Encoding : chunked"),
    "no length": PLAIN.replace(b"Content-Length", b"Accept"),
    "a length that is none": of_length(b"ten"),
    "a negative length": of_length(b"-1"),
    "a length with a sign": of_length(b"+19"),
    "a length in other digits": of_length("٣".encode()),
    "more than is read": of_length(b"%d" % (LARGEST_BODY + 1)),
    "a length without end": of_length(b"9" * 5000),
}


@pytest.mark.parametrize("received", NOT_PLAIN.values(), ids=NOT_PLAIN.keys())
def test_nothing_is_guessed_of_what_is_not_plain(received: bytes) -> None:
    assert question_of(received) is None


def test_a_plain_question_tells_its_path_and_where_its_body_ends() -> None:
    begin = len(PLAIN) - len(BODY)

    assert question_of(PLAIN) == SchedulerQuestion(b"/filter", begin, len(PLAIN))
    assert question_of(PLAIN[:begin]) == SchedulerQuestion(b"/filter", begin, len(PLAIN))


@given(st.binary())
def test_no_bytes_at_all_are_a_failure(received: bytes) -> None:
    question_of(received)
    question_of(PLAIN[:22] + received + b"\r\n\r\n")


class _Elsewhere(asyncio.Protocol):
    """In the web server's place: says of itself who it is, and what it was told."""

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(ELSEWHERE)

    @override
    def data_received(self, data: bytes) -> None:
        self._transport.write(data)


class Caller:
    """One connection, and what came back on it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def answer(self) -> bytes:
        """The body of the next answer of the door."""
        async with asyncio.timeout(10):
            head = await self.reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200 OK\r\n")
            length = head.partition(b"Content-Length: ")[2].partition(b"\r\n")[0]
            return await self.reader.readexactly(int(length))

    async def read(self, count: int) -> bytes:
        async with asyncio.timeout(10):
            return await self.reader.readexactly(count)


class Port:
    """An entrance that listens."""

    def __init__(self, entrance: Entrance, place: tuple[str, int]) -> None:
        self.entrance = entrance
        self._place = place

    @asynccontextmanager
    async def caller(self) -> AsyncIterator[Caller]:
        reader, writer = await asyncio.open_connection(*self._place)
        try:
            yield Caller(reader, writer)
        finally:
            writer.close()


def echo(body: bytes) -> bytes:
    return b"heard " + body


def unanswerable(body: bytes) -> bytes:
    raise KeyError(body)


@asynccontextmanager
async def listening(answers: Answers | None = None) -> AsyncIterator[Port]:
    entrance = Entrance(answers or {b"/filter": echo}, server=_Elsewhere)
    server = await asyncio.get_running_loop().create_server(entrance, "127.0.0.1", 0)
    async with server:
        yield Port(entrance, server.sockets[0].getsockname())
        entrance.close()


async def test_one_question_after_the_other_is_answered_on_one_connection() -> None:
    async with listening() as port, port.caller() as caller:
        for body in (BODY, BODY * 1000, b"", BODY):
            caller.writer.write(SCHEDULER % len(body) + body)
            assert await caller.answer() == echo(body)


async def test_an_answer_is_given_in_the_turn_in_which_the_last_byte_came() -> None:
    door, wire = a_door()

    door.data_received(PLAIN[:-1])
    assert wire.written == b""
    door.data_received(PLAIN[-1:])

    assert wire.written.endswith(echo(BODY))
    door.connection_lost(None)


@settings(max_examples=30)
@given(cuts=st.sets(st.integers(PLAIN.index(BODY), len(PLAIN) - 1), max_size=4))
def test_a_body_may_come_in_any_pieces(cuts: set[int]) -> None:
    async def answered() -> bytes:
        door, wire = a_door()
        places = [0, *sorted(cuts), len(PLAIN)]
        for begin, end in pairwise(places):
            door.data_received(PLAIN[begin:end])
        door.connection_lost(None)
        return bytes(wire.written)

    assert asyncio.run(answered()).endswith(b"\r\n\r\n" + echo(BODY))


@pytest.mark.parametrize(
    "received",
    [
        *(pytest.param(each, id=name) for name, each in NOT_PLAIN.items()),
        pytest.param(PLAIN + PLAIN, id="two at once"),
        pytest.param(asked_as(b"POST /else HTTP/1.1"), id="another path"),
        pytest.param(PLAIN[:-9].replace(b"/filter", b"/else"), id="half of it to another path"),
    ],
)
async def test_all_else_goes_to_the_web_server_which_then_has_the_connection(
    received: bytes,
) -> None:
    async with listening() as port, port.caller() as caller:
        caller.writer.write(received)
        assert await caller.read(len(ELSEWHERE + received)) == ELSEWHERE + received

        caller.writer.write(PLAIN)
        assert await caller.read(len(PLAIN)) == PLAIN
        assert not port.entrance.open


async def test_only_some_large_calls_are_received_at_the_same_time() -> None:
    large = SCHEDULER % LARGEST_BODY
    async with listening() as port, AsyncExitStack() as callers:
        many = [await callers.enter_async_context(port.caller()) for _ in range(MOST_LARGE)]
        for caller in many:
            caller.writer.write(large)
        await until(lambda: sum(door.is_in_large_call for door in port.entrance.open) == MOST_LARGE)

        one_more = await callers.enter_async_context(port.caller())
        one_more.writer.write(large)
        assert await one_more.read(len(ELSEWHERE + large)) == ELSEWHERE + large
        small = await callers.enter_async_context(port.caller())
        small.writer.write(PLAIN)
        assert await small.answer() == echo(BODY)

        many[0].writer.write(b" " * LARGEST_BODY)
        assert await many[0].answer() == echo(b" " * LARGEST_BODY)
        many[0].writer.write(large)
        await until(lambda: sum(door.is_in_large_call for door in port.entrance.open) == MOST_LARGE)


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not true():  # noqa: ASYNC110 - a door tells nobody what it receives
            await asyncio.sleep(0.001)


async def test_a_newcomer_gets_the_place_of_whoever_was_quiet_for_longest() -> None:
    async with listening() as port, AsyncExitStack() as callers:
        many = [await callers.enter_async_context(port.caller()) for _ in range(MOST_OPEN)]
        for caller in many:
            caller.writer.write(PLAIN)
            await caller.answer()
        many[0].writer.write(PLAIN)
        await many[0].answer()

        newcomer = await callers.enter_async_context(port.caller())
        newcomer.writer.write(PLAIN)
        assert await newcomer.answer() == echo(BODY)
        with pytest.raises((asyncio.IncompleteReadError, ConnectionResetError)):
            await many[1].read(1)
        for caller in (many[0], *many[2:]):
            caller.writer.write(PLAIN)
            assert await caller.answer() == echo(BODY)


async def test_the_web_server_gets_only_so_many_connections_and_the_scheduler_its_answer() -> None:
    async with listening() as port, AsyncExitStack() as callers:
        for _ in range(MOST_HANDED_OVER):
            caller = await callers.enter_async_context(port.caller())
            caller.writer.write(b"GET /")
            await caller.read(len(ELSEWHERE))
        one_more = await callers.enter_async_context(port.caller())
        one_more.writer.write(b"GET /")
        with pytest.raises((asyncio.IncompleteReadError, ConnectionResetError)):
            await one_more.read(1)
        scheduler = await callers.enter_async_context(port.caller())
        scheduler.writer.write(PLAIN)
        assert await scheduler.answer() == echo(BODY)


async def test_a_question_without_a_good_answer_is_the_web_servers() -> None:
    answers = {b"/filter": unanswerable, b"/echo": echo}
    well = asked_as(b"POST /echo HTTP/1.1")
    async with listening(answers) as port, port.caller() as caller:
        caller.writer.write(well)
        assert await caller.answer() == echo(BODY)

        caller.writer.write(PLAIN)
        assert await caller.read(len(ELSEWHERE + PLAIN)) == ELSEWHERE + PLAIN


def later(times: int) -> Callable[[bytes], bytes]:
    """Answers when it has been asked so often before."""
    left = iter(range(times))

    def answer(body: bytes) -> bytes:
        if next(left, None) is None:
            return echo(body)
        raise Later

    return answer


async def test_an_answer_that_is_to_come_later_comes_later() -> None:
    answers = {b"/filter": later(20), b"/echo": echo}
    async with listening(answers) as port, port.caller() as caller, port.caller() as other:
        caller.writer.write(PLAIN)
        other.writer.write(asked_as(b"POST /echo HTTP/1.1"))
        assert await other.answer() == echo(BODY), "nobody else waits for it"
        assert await caller.answer() == echo(BODY)
        caller.writer.write(PLAIN)
        assert await caller.answer() == echo(BODY)


async def test_who_asks_twice_instead_of_waiting_is_the_web_servers() -> None:
    async with listening({b"/filter": later(1000)}) as port, port.caller() as caller:
        caller.writer.write(PLAIN)
        await asyncio.sleep(0.01)
        caller.writer.write(PLAIN)
        assert await caller.read(len(ELSEWHERE + PLAIN + PLAIN)) == ELSEWHERE + PLAIN + PLAIN


@pytest.mark.looptime
async def test_who_goes_while_waiting_is_not_answered() -> None:
    wire = _Wire()
    door = Entrance({b"/filter": later(3)}, server=_Elsewhere)()
    door.connection_made(wire)
    door.data_received(PLAIN)
    door.connection_lost(None)
    await asyncio.sleep(1)
    assert wire.written == b""


async def test_who_takes_no_answers_is_not_read_any_more() -> None:
    asked: list[bytes] = []

    def large(body: bytes) -> bytes:
        asked.append(body)
        return b"x" * 2**24

    answers = {b"/filter": large, b"/echo": echo}
    async with listening(answers) as port, port.caller() as caller, port.caller() as other:
        caller.writer.write(PLAIN)
        await caller.reader.readuntil(b"\r\n\r\n")
        # given that the first answer has not been taken
        caller.writer.write(PLAIN)
        for _ in range(20):
            other.writer.write(asked_as(b"POST /echo HTTP/1.1"))
            await other.answer()
        assert len(asked) == 1

        await caller.read(2**24)
        assert len(await caller.answer()) == 2**24


async def test_connections_that_are_open_at_the_end_are_closed() -> None:
    async with listening() as port, port.caller() as caller:
        caller.writer.write(PLAIN)
        await caller.answer()
        port.entrance.close()

        async with asyncio.timeout(10):
            assert await caller.reader.read() == b""
        assert not port.entrance.open


class _Wire(asyncio.Transport):
    """A connection whose other end is the test."""

    def __init__(self) -> None:
        super().__init__()
        self.written = bytearray()
        self.closed = False

    @override
    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += data

    @override
    def close(self) -> None:
        self.closed = True


def a_door() -> tuple[SchedulerConnection, _Wire]:
    wire = _Wire()
    door = Entrance({b"/filter": echo}, server=_Elsewhere)()
    door.connection_made(wire)
    return door, wire


@pytest.mark.looptime
async def test_a_connection_may_rest_for_an_hour_and_no_longer() -> None:
    door, wire = a_door()
    await asyncio.sleep(REST - 1)
    door.data_received(PLAIN)
    await asyncio.sleep(REST - 1)
    assert not wire.closed

    await asyncio.sleep(2)
    assert wire.closed


@pytest.mark.looptime
async def test_a_connection_that_is_gone_is_forgotten() -> None:
    door, wire = a_door()
    door.connection_lost(None)

    await asyncio.sleep(2 * REST)
    assert not wire.closed


async def test_nothing_is_kept_of_a_connection_that_failed_before_it_began() -> None:
    # as asyncio makes a protocol before the TLS handshake, and drops it without a word
    door = weakref.ref(Entrance({b"/filter": echo}, server=_Elsewhere)())

    gc.collect()
    assert door() is None
