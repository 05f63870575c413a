"""What may sit at the extender's address instead of the extender."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Final

from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Iterator

ANSWERS: Final = {
    "garbage": (200, b"\x00\xffgarbage"),
    "an error": (500, b"Server got itself in trouble"),
    "half of an answer": (200, b'{"NodeNames":["a'),
    "an error inside": (200, b'{"Error":"no idea"}'),
    "a node that is not there": (200, b'{"NodeNames":["nowhere"]}'),
    "the wrong form": (200, b'[{"Host":5,"Score":"high"}]'),
}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    answer: tuple[int, bytes] = (200, b"")
    asked = 0


class _Rubbish(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        self.server.asked += 1
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        status, body = self.server.answer
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
    with _Server((host, int(port)), _Rubbish) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
