"""The few requests that a start needs, with only the standard library.

Importing a client library would take longer than the API server takes to answer. The ports of the
other programs are checked here too: each serves its health with a certificate that it created
itself.
"""

from __future__ import annotations

import http.client
import json
import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from kwok.clusters import LocalCluster

_TIMEOUT: Final = 5.0
_TRYING: Final = (OSError, http.client.HTTPException)


@dataclass(frozen=True, slots=True)
class ApiServerAnswer:
    """An answer: the status, or 0 if there was no answer, and the body if it is JSON."""

    status: int
    body: Any = None


def ask_api_server(
    cluster: LocalCluster, path: str, *, method: str = "GET", content: object = None
) -> ApiServerAnswer:
    """Send one request to the API server, as its administrator."""
    certificates = cluster.work / "pki"
    # Unlike the default context, this one doesn't load all CAs of the system first.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context.load_verify_locations(certificates / "ca.crt")
        context.load_cert_chain(certificates / "admin.crt", certificates / "admin.key")
        return _request(cluster.ports["kube-apiserver"], context, method, path, content)
    except _TRYING:
        return ApiServerAnswer(0)


# Only the scheduler distinguishes being ready, with its caches filled, from being alive.
_HEALTH: Final = {"kube-scheduler": "/readyz", "kube-controller-manager": "/healthz"}


def component_is_healthy(cluster: LocalCluster, component: str) -> bool:
    """Whether a component reports that it is healthy."""
    if component == "kube-apiserver":
        return ask_api_server(cluster, "/readyz").status == 200
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    port, path = cluster.ports[component], _HEALTH[component]
    try:
        return _request(port, context, "GET", path, None).status == 200
    except _TRYING:
        return False


def _request(
    port: int, context: ssl.SSLContext, method: str, path: str, content: object
) -> ApiServerAnswer:
    connection = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=_TIMEOUT)
    try:
        body = None if content is None else json.dumps(content)
        connection.request(method, path, body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        return ApiServerAnswer(response.status, _decoded(response.read()))
    finally:
        connection.close()


def _decoded(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return None
