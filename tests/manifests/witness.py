"""A proxy before the API server that notes what a process asks for, in the words of roles.

It shows the token of the process, so the API server allows what its roles allow and nothing else.
"""

from __future__ import annotations

import ssl
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import yaml
from aiohttp import web
from typing_extensions import override

from growth.installation.rights import Right
from growth.kube.call import Call
from tests.faults.proxy import FaultProxy
from tests.faults.upstream import Upstream

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.live import LiveCluster


class Witness(FaultProxy):
    """It passes everything on."""

    def __init__(self, upstream: Upstream, *, token: str, kubeconfig: Path) -> None:
        super().__init__(upstream, kubeconfig=kubeconfig)
        self._token = token
        self.asked: set[Right] = set()
        self.denied: list[str] = []

    @override
    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        right = asked_for(request.method, request.path, request.query)
        if right is None:
            # Everybody may ask for the version, and only its date is looked at here.
            return web.json_response({})
        self.asked.add(right)
        answer = await super()._handle(request)
        if is_denial(answer.status, str(getattr(answer, "text", ""))):
            self.denied.append(f"{request.method} {request.path_qs}")
        return answer

    @override
    def _headers_of(self, request: web.BaseRequest) -> dict[str, str]:
        # Go's client shows no token where there is no TLS.
        return super()._headers_of(request) | {"Authorization": f"Bearer {self._token}"}


def is_denial(status: int, text: str) -> bool:
    """Whether a role is missing, or a policy refuses what the role allows."""
    by_role = status == 403 and "is forbidden: User" in text
    return by_role or (status == 422 and "ValidatingAdmissionPolicy" in text)


def asked_for(method: str, path: str, query: Any) -> Right | None:
    """The right that a request needs; None for what everybody may ask, such as the version."""
    parts = path.strip("/").split("/")
    if parts[0] not in {"api", "apis"} or len(parts) < 3:
        return None
    call = Call(method=method, path=path, query=tuple(query.items()))
    verb, rest = call.action.split(" ", 1)
    target, _, namespace = rest.partition(" in ")
    resource, _, name = target.partition(" ")
    selected = query.get("fieldSelector", "")
    if not name and selected.startswith("metadata.name="):
        name = selected.removeprefix("metadata.name=")
    group = parts[1] if parts[0] == "apis" else ""
    return Right("", namespace, group, resource, verb, name)


@asynccontextmanager
async def witness(cluster: LiveCluster, token: str, folder: Path) -> AsyncIterator[Witness]:
    """A proxy that shows a token, and a kubeconfig that leads to it."""
    config = yaml.safe_load(cluster.kubeconfig.read_text())["clusters"][0]["cluster"]
    authority = cluster.kubeconfig.parent / config["certificate-authority"]
    # Without the administrator's certificate, which would count before the token.
    upstream = Upstream(config["server"], ssl.create_default_context(cafile=str(authority)))
    proxy = Witness(upstream, token=token, kubeconfig=folder / "witness.kubeconfig")
    await proxy.start()
    try:
        yield proxy
    finally:
        await proxy.stop()
