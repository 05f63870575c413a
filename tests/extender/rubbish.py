"""What may sit at the extender's address instead of the extender."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Final, NamedTuple

from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Iterator


class Answer(NamedTuple):
    """What everybody gets to hear."""

    status: int
    body: bytes
    late: float = 0.0
    """Seconds before the first byte comes."""


ANSWERS: Final = {
    "garbage": Answer(200, b"\x00\xffgarbage"),
    "an error": Answer(500, b"Server got itself in trouble"),
    "half of an answer": Answer(200, b'{"NodeNames":["a'),
    "an error inside": Answer(200, b'{"Error":"no idea"}'),
    "a node that is not there": Answer(200, b'{"NodeNames":["nowhere"]}'),
    "the wrong form": Answer(200, b'[{"Host":5,"Score":"high"}]'),
    "no node, but too late": Answer(200, b'{"NodeNames":[]}', late=5.0),
}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    answer = Answer(200, b"")
    asked = 0

    def __init__(self, place: tuple[str, int]) -> None:
        super().__init__(place, _Rubbish)
        self.ending = threading.Event()

    @override
    def handle_error(self, request: object, client_address: object) -> None:
        """Who doesn't wait for an answer has ended its connection."""


class _Rubbish(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        self.server.asked += 1
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        status, body, late = self.server.answer
        self.server.ending.wait(late)
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    @override
    def log_message(self, format: str, *args: object) -> None:
        """Nobody wants to know."""


@contextmanager
def talking_rubbish(place: str) -> Iterator[_Server]:
    """Somebody who answers rubbish at this place: set its `answer`."""
    host, _, port = place.rpartition(":")
    with _Server((host, int(port))) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server
        finally:
            server.ending.set()
            server.shutdown()
            thread.join()
