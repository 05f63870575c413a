"""The API server in memory behind HTTP, for whole commands."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from typing_extensions import override

from growth.kube.errors import ApiError, NotFound
from tests.faults.upstream import kubeconfig_to

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from tests.cli.installed import Cluster

COLLECTION = re.compile(r"/api(s/[^/]+)?/[^/]+(/namespaces/[^/]+)?/[^/]+")
EMPTY = b'{"metadata": {}, "items": []}'


@contextmanager
def served(
    cluster: Cluster, folder: Path, *, headers: Mapping[str, str] = MappingProxyType({})
) -> Iterator[str]:
    """The path of a kubeconfig that leads to it; each answer bears these headers, too."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.answer_with(None)

        def do_POST(self) -> None:
            self.answer_with(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def answer_with(self, body: Any) -> None:
            asked = urlsplit(self.path)
            query = parse_qsl(asked.query)
            try:
                answer = cluster.request(self.command, asked.path, query=query, body=body)
                self.say(200, asyncio.run(answer).body)
            except NotFound:
                is_empty = self.command == "GET" and COLLECTION.fullmatch(asked.path)
                self.say(200 if is_empty else 404, EMPTY)
            except ApiError as error:
                status = {"kind": "Status", "code": error.status, "message": str(error)}
                self.say(error.status, json.dumps(status).encode())

        def say(self, code: int, body: bytes) -> None:
            self.send_response(code)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        @override
        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        path = folder / "kubeconfig.yaml"
        path.write_text(kubeconfig_to(f"http://127.0.0.1:{server.server_port}"))
        yield str(path)
        server.shutdown()
