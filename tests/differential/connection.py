"""Plain requests to an API server with the client certificate of a kubeconfig.

Not `growth.kube`: what is tested here are the rules, and a fault of our own transport must not be
able to look like the scheduler's verdict. Only the way to hang up is taken from there.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import ssl
import tempfile
import types
import urllib.parse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiohttp
import msgspec
import yaml

from growth.kube.hanging_up import AbruptResponse

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from tests.differential.cases import Manifest

    Query = Mapping[str, str]

IN_FLIGHT = 48
NO_QUERY: Query = types.MappingProxyType({})
_MERGE_PATCH = "application/merge-patch+json"


class Refused(Exception):
    """The API server did not take a request."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(f"{status}: {text}")
        self.status = status


class Connection:
    """Creates, patches, deletes, lists and watches; many at the same time."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session
        self._gate = asyncio.Semaphore(IN_FLIGHT)

    async def create(self, path: str, manifest: Manifest) -> bytes:
        return await self._ask("POST", path, manifest)

    async def replace(self, path: str, manifest: Manifest) -> bytes:
        return await self._ask("PUT", path, manifest)

    async def patch(self, path: str, changes: Manifest) -> bytes:
        return await self._ask("PATCH", path, changes, content_type=_MERGE_PATCH)

    async def delete(self, path: str, options: Manifest) -> None:
        """Gone is gone: what was not there is no mistake."""
        try:
            await self._ask("DELETE", path, options)
        except Refused as refusal:
            if refusal.status != 404:
                raise

    async def items(self, path: str, query: Query = NO_QUERY) -> tuple[list[bytes], str]:
        """All objects under a path, each as the bytes it came in, and the list's version."""
        listed = await self._ask("GET", f"{path}?{urllib.parse.urlencode(query)}")
        answer = msgspec.json.decode(listed, type=_List)
        return [bytes(item) for item in answer.items], answer.metadata.resource_version

    async def watch(
        self, path: str, version: str, query: Query = NO_QUERY
    ) -> AsyncIterator[tuple[str, Any]]:
        """Every change since a version: its type and the object. It may end at any time."""
        query = {**query, "watch": "1", "resourceVersion": version}
        forever = aiohttp.ClientTimeout(total=None, sock_read=None)
        async with self._session.get(path, params=query, timeout=forever) as answer:
            async for line in _lines(answer.content):
                event = msgspec.json.decode(line)
                yield event["type"], event["object"]

    async def _ask(
        self, method: str, path: str, body: Manifest | None = None, *, content_type: str = ""
    ) -> bytes:
        headers = {"Content-Type": content_type or "application/json"}
        content = msgspec.json.encode(body) if body is not None else None
        async with (
            self._gate,
            self._session.request(method, path, data=content, headers=headers) as answer,
        ):
            text = await answer.read()
            if answer.status >= 400:
                raise Refused(answer.status, text.decode())
            return text


class _Metadata(msgspec.Struct, rename="camel"):
    resource_version: str


class _List(msgspec.Struct):
    metadata: _Metadata
    items: list[msgspec.Raw]


async def _lines(content: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    """Whole lines of any length; the reader's own would break at its buffer's size."""
    kept = b""
    async for chunk in content.iter_any():
        *lines, kept = (kept + chunk).split(b"\n")
        for line in lines:
            yield line


@contextlib.asynccontextmanager
async def connected(kubeconfig: Path) -> AsyncIterator[Connection]:
    """A connection to the cluster of a kubeconfig with a client certificate."""
    cluster, user = await asyncio.to_thread(_sections, kubeconfig)
    connector = aiohttp.TCPConnector(limit=0, ssl=await asyncio.to_thread(_tls, cluster, user))
    async with aiohttp.ClientSession(
        cluster["server"], connector=connector, response_class=AbruptResponse
    ) as session:
        yield Connection(session)


def _sections(kubeconfig: Path) -> tuple[Manifest, Manifest]:
    config = yaml.safe_load(kubeconfig.read_text(encoding="utf-8"))
    return config["clusters"][0]["cluster"], config["users"][0]["user"]


def _tls(cluster: Manifest, user: Manifest) -> ssl.SSLContext:
    with tempfile.TemporaryDirectory() as folder:
        context = ssl.create_default_context(cafile=_file(cluster, "certificate-authority", folder))
        context.load_cert_chain(
            _file(user, "client-certificate", folder), _file(user, "client-key", folder)
        )
        return context


def _file(section: Manifest, name: str, folder: str) -> str:
    """The path that the kubeconfig names, or a file made of the data that it holds."""
    if name in section:
        path: str = section[name]
        return path
    made = Path(folder) / name
    made.write_bytes(base64.b64decode(section[f"{name}-data"]))
    return str(made)
