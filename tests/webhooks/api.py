"""Requests to the real API server as kubectl would send them, but hundreds in a second."""

from __future__ import annotations

import base64
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

ADMISSION = "/apis/admissionregistration.k8s.io/v1"
TRIES = 40
"""Half a second apart."""


@dataclass(frozen=True)
class Answer:
    """What the API server said."""

    status: int
    body: Any
    warnings: tuple[str, ...]


class Api:
    """One administrator's way to the API server; may be used in several threads."""

    def __init__(self, kubeconfig: Path) -> None:
        file = yaml.safe_load(kubeconfig.read_text())
        cluster, user = file["clusters"][0]["cluster"], file["users"][0]["user"]
        self._place = re.fullmatch(r"https://(.*)", cluster["server"])
        self._tls = ssl.create_default_context(cafile=cluster["certificate-authority"])
        self._tls.load_cert_chain(user["client-certificate"], user["client-key"])
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
            return Answer(response.status, json.loads(response.read()), tuple(texts))

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
            connection.request(method, path, content, {"Content-Type": kind})
            return connection.getresponse()

    def do(self, method: str, path: str, body: object = None) -> Any:
        """One request that works, as soon as the server has the kind that was just defined."""
        answer = self.ask(method, path, body)
        for _ in range(TRIES):
            if answer.status != http.client.TOO_MANY_REQUESTS:
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


def webhook_at(
    configuration: Document, url: str, *, authority: bytes, namespaces: tuple[str, ...]
) -> Document:
    """The shipped configuration, but for a server on loopback and for some namespaces only.

    And patient: on a machine that does much else, two seconds may pass without an answer.
    """
    [webhook] = configuration["webhooks"]
    client = {"url": url, "caBundle": base64.b64encode(authority).decode()}
    selector = only_in(namespaces, webhook["namespaceSelector"])
    changed = {"clientConfig": client, "namespaceSelector": selector, "timeoutSeconds": 30}
    return {**configuration, "webhooks": [{**webhook, **changed}]}


def only_in(namespaces: tuple[str, ...], selector: Document) -> Document:
    """A selector of namespaces, narrowed."""
    here = {
        "key": "kubernetes.io/metadata.name",
        "operator": "In",
        "values": list(namespaces),
    }
    return {"matchExpressions": [*selector["matchExpressions"], here]}
