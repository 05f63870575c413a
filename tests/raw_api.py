"""Requests to the real API server as kubectl would send them, but hundreds in a second.

Tests look at a cluster again and again while they wait. Each start of kubectl costs a tenth of a
second of the processor that the control plane needs, too.
"""

from __future__ import annotations

import http.client
import json
import re
import ssl
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from pathlib import Path

Document = dict[str, Any]

TRIES = 400
"""Half a second apart."""
LATE = ("could not find the requested resource", "error looking up service account")
"""What a kind says that was just defined, and a namespace that was just made."""


@dataclass(frozen=True)
class Answer:
    """What the API server said."""

    status: int
    body: Any
    warnings: tuple[str, ...]

    @property
    def is_too_early(self) -> bool:
        """Whether the same request will work soon."""
        text = self.body.get("message", "") if self.status >= http.client.BAD_REQUEST else ""
        is_late = any(each in text for each in LATE)
        return is_late or self.status == http.client.TOO_MANY_REQUESTS


class Api:
    """One administrator's way to the API server; may be used in several threads."""

    def __init__(self, kubeconfig: Path) -> None:
        file = yaml.safe_load(kubeconfig.read_text())
        cluster, user = file["clusters"][0]["cluster"], file["users"][0]["user"]
        self._place = re.fullmatch(r"https://(.*)", cluster["server"])
        # A path is relative to its file.
        beside = kubeconfig.parent
        self._tls = ssl.create_default_context(cafile=beside / cluster["certificate-authority"])
        self._tls.load_cert_chain(beside / user["client-certificate"], beside / user["client-key"])
        self._local = threading.local()
        self._open: list[http.client.HTTPSConnection] = []

    def close(self) -> None:
        """Close the connections of all threads."""
        for connection in self._open:
            connection.close()

    def ask(self, method: str, path: str, body: object = None) -> Answer:
        """One request, whatever comes of it."""
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        content = None if body is None else json.dumps(body)
        with self._sent(method, path, content, kind) as response:
            texts = [
                re.sub(r"\\(.)", r"\1", text)
                for header in response.headers.get_all("Warning", ())
                for text in re.findall(r'\d{3} \S+ "((?:[^"\\]|\\.)*)"', header)
            ]
            return Answer(response.status, _body(response.read()), tuple(texts))

    def _sent(
        self, method: str, path: str, content: str | None, kind: str
    ) -> http.client.HTTPResponse:
        """The answer; over a new connection, where the server has closed one that was idle."""
        connection = self._connection()
        try:
            connection.request(method, path, content, {"Content-Type": kind})
            return connection.getresponse()
        except (ConnectionError, ssl.SSLEOFError):
            connection.close()
        try:
            connection.request(method, path, content, {"Content-Type": kind})
            return connection.getresponse()
        except BaseException:
            connection.close()
            raise

    def do(self, method: str, path: str, body: object = None) -> Any:
        """One request that works, as soon as the server is ready for it."""
        answer = self.ask(method, path, body)
        for _ in range(TRIES):
            if not answer.is_too_early:
                break
            time.sleep(0.5)
            answer = self.ask(method, path, body)
        assert answer.status < 300, f"{method} {path}: {answer.body}"
        return answer.body

    def create_pod(self, pod: Document, *, namespace: str, query: str = "") -> Answer:
        """Create a pod, and expect it to come in."""
        document = {"apiVersion": "v1", "kind": "Pod", **pod}
        answer = self.ask("POST", f"/api/v1/namespaces/{namespace}/pods{query}", document)
        assert answer.status == 201, answer.body
        return answer

    def _connection(self) -> http.client.HTTPSConnection:
        if not hasattr(self._local, "connection"):
            assert self._place is not None
            self._local.connection = http.client.HTTPSConnection(
                self._place[1], context=self._tls, timeout=40
            )
            self._open.append(self._local.connection)
        connection: http.client.HTTPSConnection = self._local.connection
        return connection


def _body(content: bytes) -> Any:
    """What an answer says; that there is no such path is said in plain text."""
    try:
        return json.loads(content)
    except ValueError:
        return {"message": content.decode(errors="replace")}
