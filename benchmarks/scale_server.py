"""An API server on loopback that makes its objects from templates, for processes under measurement.

`python -m benchmarks.scale_server NODES PODS HEARTBEAT` prints its address. It lists, in pages or
as a stream, watches, and takes creates and merge patches. It is as small as growth's questions
allow: no schema, no conflict, no deletion. Each kubelet writes its Node's status once in HEARTBEAT
seconds, as real ones do. `GET /counted` answers how often each question was asked, and how many
bytes the answers had.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, Final

from aiohttp import web

from benchmarks.scale_objects import VERSION, as_listed, large_cluster

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from benchmarks.scale_objects import Templated

BATCH: Final = 200
"""Objects in one piece of a stream."""
BOOKMARK_EVERY: Final = 60.0
END: Final = {"k8s.io/initial-events-end": "true"}
COLLECTION: Final = re.compile(
    r"/(?:api/v1|apis/[^/]+/[^/]+)(?:/namespaces/(?P<namespace>[^/]+))?/(?P<plural>[a-z]+)"
)
COUNTED: Final = "/counted"


class LargeCluster:
    """What is stored, and who watches."""

    def __init__(self, known: Mapping[str, Templated]) -> None:
        self._known = known
        self.version = 1000
        self._written: dict[str, dict[str, Any]] = {}
        """Objects that were written, by their path; those of templates replace the template."""
        self._numbers = {
            plural: {of.name(number): number for number in range(of.count)}
            for plural, of in known.items()
        }
        self._watches: defaultdict[str, set[asyncio.Queue[bytes]]] = defaultdict(set)
        self.asked: Counter[str] = Counter()
        self.bytes: Counter[str] = Counter()

    def pieces(self, plural: str) -> Iterable[str]:
        """All objects of a kind as JSON."""
        of = self._known.get(plural)
        if of is None:
            return
        for name, number in self._numbers[plural].items():
            written = self._written.get(f"{plural}/{name}")
            yield of.document(number) if written is None else json.dumps(written)

    def count(self, plural: str) -> int:
        """How many objects of a kind there are."""
        return len(self._numbers.get(plural, ()))

    def find(self, plural: str, name: str) -> dict[str, Any] | None:
        """One object."""
        written = self._written.get(f"{plural}/{name}")
        number = self._numbers.get(plural, {}).get(name)
        if written is not None or number is None:
            return written
        found: dict[str, Any] = json.loads(self._known[plural].document(number))
        return found

    def write(self, plural: str, document: dict[str, Any]) -> dict[str, Any]:
        """Store an object and tell who watches."""
        self.version += 1
        metadata = document["metadata"]
        name = metadata["name"]
        is_new = self.find(plural, name) is None
        metadata.setdefault("uid", f"uid-{plural}-{name}")
        metadata["resourceVersion"] = str(self.version)
        self._written[f"{plural}/{name}"] = document
        if is_new and plural in self._known:
            self._numbers[plural][name] = 0
        self.tell(plural, "ADDED" if is_new else "MODIFIED", json.dumps(document))
        return document

    def beat(self, number: int) -> None:
        """A kubelet writes the status of its Node."""
        self.version += 1
        text = self._known["nodes"].document(number, str(self.version))
        self.tell("nodes", "MODIFIED", text)

    def tell(self, plural: str, kind: str, text: str) -> None:
        """Send an event to everyone who watches a kind."""
        line = event(kind, text)
        for watch in self._watches[plural]:
            watch.put_nowait(line)

    def watch(self, plural: str) -> asyncio.Queue[bytes]:
        """The events of a kind from now on."""
        queue: asyncio.Queue[bytes] = asyncio.Queue()
        self._watches[plural].add(queue)
        return queue

    def forget(self, plural: str, queue: asyncio.Queue[bytes]) -> None:
        """A watch has ended."""
        self._watches[plural].discard(queue)

    def bookmark(self, annotations: Mapping[str, str] | None = None, *, at: int = 0) -> bytes:
        """A line that says how far a watch has come."""
        metadata = {"resourceVersion": str(at or self.version), "annotations": annotations or {}}
        return event("BOOKMARK", json.dumps({"metadata": metadata}))


def event(kind: str, text: str) -> bytes:
    """A line of a watch, written as the API server writes it."""
    return f'{{"type":"{kind}","object":{text}}}\n'.encode()


class ScaleServer:
    """The HTTP side of it."""

    def __init__(self, cluster: LargeCluster) -> None:
        self._cluster = cluster

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """Any question."""
        if request.path == COUNTED:
            return web.json_response({"asked": self._cluster.asked, "bytes": self._cluster.bytes})
        if request.path == "/version":
            return web.json_response({"major": "1", "minor": "36", "gitVersion": "v1.36.3"})
        found = COLLECTION.fullmatch(request.path)
        if request.method == "GET" and found is not None:
            return await self._collection(request, found["plural"])
        return await self._object(request)

    async def _collection(self, request: web.BaseRequest, plural: str) -> web.StreamResponse:
        query = request.query
        if query.get("watch") == "true":
            return await self._stream(request, plural)
        if "growth.dev/managed-by" in query.get("labelSelector", ""):
            # The simulated provider's list of its machines. A real provider has an API of its own.
            count = self._cluster.count("nodes") if plural == "nodes" else 0
            machines = json.dumps([as_listed(number) for number in range(count)])
            return self._listed("list machines", machines.replace(VERSION, "1000"))
        limit, first = int(query.get("limit", "0")), int(query.get("continue") or "0")
        items = list(self._cluster.pieces(plural)) if "fieldSelector" not in query else []
        page = items[first : first + limit] if limit else items
        rest = first + limit if limit and first + limit < len(items) else 0
        return self._listed(f"list {plural}", f"[{','.join(page)}]", rest=rest)

    def _listed(self, question: str, items: str, *, rest: int = 0) -> web.Response:
        metadata = {"resourceVersion": str(self._cluster.version), "continue": str(rest or "")}
        return self._said(question, f'{{"metadata":{json.dumps(metadata)},"items":{items}}}')

    async def _stream(self, request: web.BaseRequest, plural: str) -> web.StreamResponse:
        question = f"watch {plural}"
        self._cluster.asked[question] += 1
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        queue = self._cluster.watch(plural)
        try:
            if request.query.get("sendInitialEvents") == "true":
                # A single object that is asked for by name is the ConfigMap of a pause: none.
                pieces = self._cluster.pieces(plural)
                await self._all(
                    response, () if "fieldSelector" in request.query else pieces, question
                )
            await self._follow(response, queue, question)
        except ConnectionError:
            pass
        finally:
            self._cluster.forget(plural, queue)
        return response

    async def _all(
        self, response: web.StreamResponse, pieces: Iterable[str], question: str
    ) -> None:
        # Events that come meanwhile are sent afterwards, and are newer.
        since = self._cluster.version
        batch: list[bytes] = []
        for text in pieces:
            batch.append(event("ADDED", text))
            if len(batch) == BATCH:
                await self._send(response, b"".join(batch), question)
                batch.clear()
        await self._send(
            response, b"".join(batch) + self._cluster.bookmark(END, at=since), question
        )

    async def _follow(
        self, response: web.StreamResponse, queue: asyncio.Queue[bytes], question: str
    ) -> None:
        while True:
            try:
                async with asyncio.timeout(BOOKMARK_EVERY):
                    line = await queue.get()
            except TimeoutError:
                line = self._cluster.bookmark()
            await self._send(response, line, question)

    async def _send(self, response: web.StreamResponse, data: bytes, question: str) -> None:
        self._cluster.bytes[question] += len(data)
        await response.write(data)

    async def _object(self, request: web.BaseRequest) -> web.Response:
        if request.method == "POST":
            document = await request.json()
            if "name" not in document.get("metadata", {}):
                document.setdefault("metadata", {})["name"] = document["metadata"]["generateName"]
            plural = request.path.rpartition("/")[2]
            made = self._cluster.write(plural, document)
            return self._said(f"create {plural}", json.dumps(made), status=201)
        _, plural, name = request.path.removesuffix("/status").rsplit("/", 2)
        known = self._cluster.find(plural, name)
        if known is None:
            return self._missing(plural, name)
        if request.method == "GET":
            return self._said(f"get {plural}", json.dumps(known))
        patched = self._cluster.write(plural, merged(known, await request.json()))
        return self._said(f"patch {plural}", json.dumps(patched))

    def _missing(self, plural: str, name: str) -> web.Response:
        status = {"kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404}
        text = json.dumps({**status, "message": f'{plural} "{name}" not found'})
        return self._said(f"get {plural}", text, status=404)

    def _said(self, question: str, text: str, *, status: int = 200) -> web.Response:
        body = text.encode()
        self._cluster.asked[question] += 1
        self._cluster.bytes[question] += len(body)
        return web.Response(body=body, status=status, content_type="application/json")


def merged(known: Any, patch: Any) -> Any:
    """A JSON merge patch (RFC 7386)."""
    if not isinstance(patch, dict):
        return patch
    result = dict(known) if isinstance(known, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


async def _beat(cluster: LargeCluster, *, nodes: int, heartbeat: float) -> None:
    number = 0
    while heartbeat:
        await asyncio.sleep(heartbeat / nodes)
        cluster.beat(number % nodes)
        number += 1


async def _serve(*, nodes: int, pods: int, heartbeat: float) -> None:
    cluster = LargeCluster(large_cluster(nodes=nodes, pods=pods))
    runner = web.ServerRunner(web.Server(ScaleServer(cluster).answer))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0]
    print(f"http://{host}:{port}", flush=True)
    await _beat(cluster, nodes=nodes, heartbeat=heartbeat)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve(nodes=int(sys.argv[1]), pods=int(sys.argv[2]), heartbeat=float(sys.argv[3])))
