"""An API server in memory, for one writer at a time: names, versions, preconditions, lost answers.

Like the real one it refuses what was decided on another state. What it holds reaches the caches
only when a test says so, because that is what the tests of effects are about.
"""

from __future__ import annotations

import copy
import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import msgspec

from growth.api.kinds import KINDS
from growth.kube.cache.resource import key_of
from growth.kube.call import MERGE_PATCH, Call
from growth.kube.errors import ApiError, Status, Unreachable, error_of
from growth.kube.transport import Response
from reconciler.seeing.sources import BUILT_IN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reconciler.seeing.sources import ReconcilerSources

Object = dict[str, Any]
PATHS: Mapping[str, str] = {name: path for name, (path, _) in BUILT_IN.items()} | {
    name: kind.collection() for name, kind in KINDS.items()
}


class Api:
    """What is stored, by path, and every write that was asked for."""

    def __init__(self) -> None:
        self.objects: dict[str, Object] = {}
        self.writes: list[str] = []
        self.refusals: defaultdict[str, list[ApiError]] = defaultdict(list)
        """Answers to the next writes of a kind of call, such as `PATCH nodes`."""
        self.lost: set[str] = set()
        """Calls that work, but whose next answer doesn't come."""
        self.version = 100

    def put(self, path: str, document: Object) -> Object:
        """Somebody writes."""
        self.version += 1
        stored = copy.deepcopy(document)
        metadata = stored.setdefault("metadata", {})
        metadata.setdefault("uid", f"uid-{metadata['name']}")
        metadata["resourceVersion"] = str(self.version)
        self.objects[f"{path}/{metadata['name']}"] = stored
        return stored

    def show(self, sources: ReconcilerSources, kind: str) -> None:
        """The cache of a kind sees everything that there is by now."""
        store = sources.store(kind)
        found = [
            store.resource.decode(json.dumps(each).encode())
            for path, each in self.objects.items()
            if path.rsplit("/", 1)[0] == PATHS[kind]
        ]
        for key in set(store.objects) - {key_of(each) for each in found}:
            store.drop(key)
        for each in found:
            store.put(key_of(each), each)
        store.position = str(self.version)
        store.own.review()

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | Sequence[tuple[str, str]] = (),
        body: Any = None,
        content_type: str = "application/json",
        timeout: float = 10.0,  # noqa: ASYNC109 - as the transport has it
    ) -> Response:
        call = Call(method=method, path=path, content_type=content_type)
        if method == "GET" and query:
            return self._answer(call, {"items": self._selected(path, **dict(query))})
        if method == "GET":
            return self._answer(call, self.objects.get(path))
        what = f"{method} {_kind(method, path)}"
        self.writes.append(what)
        if self.refusals[what]:
            raise self.refusals[what].pop(0)
        answer = self._answer(call, self._write(call, body))
        if what in self.lost:
            self.lost.discard(what)
            raise Unreachable("no answer came")
        return answer

    def _selected(self, path: str, *, fieldSelector: str) -> list[Object]:  # noqa: N803 - the API's
        field, _, wanted = fieldSelector.partition("=")
        return self._pods_on(wanted) if field == "spec.nodeName" else self._named(path, wanted)

    def _named(self, path: str, name: str) -> list[Object]:
        return [each for key, each in self.objects.items() if key == f"{path}/{name}"]

    def _pods_on(self, node: str) -> list[Object]:
        pods = (each for path, each in self.objects.items() if "/pods/" in path)
        return [each for each in pods if each["spec"].get("nodeName") == node]

    def _write(self, call: Call, body: Any) -> Object | None:
        match call.method:
            case "POST" if call.path.endswith("/eviction"):
                return self._evict(call, body)
            case "POST":
                path = f"{call.path}/{body['metadata']['name']}"
                if path in self.objects:
                    raise _error(call, 409, "AlreadyExists")
                return self.put(call.path, body)
            case "PATCH":
                assert call.content_type == MERGE_PATCH
                return self._merge(call, body)
            case _:
                return self._delete(call, body)

    def _evict(self, call: Call, body: Object) -> Object | None:
        path = call.path.removesuffix("/eviction")
        found = self.objects.get(path)
        if found is not None:
            wanted = body["deleteOptions"]["preconditions"]["uid"]
            if wanted != found["metadata"]["uid"]:
                raise _error(call, 409, "Conflict")
            del self.objects[path]
        return found

    def _merge(self, call: Call, body: Object) -> Object | None:
        path = call.path.removesuffix("/status")
        found = self.objects.get(path)
        if found is None:
            return None
        self._check(call, found, body["metadata"])
        return self.put(path.rsplit("/", 1)[0], _merged(found, body))

    def _delete(self, call: Call, body: Object) -> Object | None:
        found = self.objects.get(call.path)
        if found is not None:
            if body is not None:
                self._check(call, found, body["preconditions"])
            del self.objects[call.path]
            self.version += 1
        return found

    def _check(self, call: Call, found: Object, expected: Object) -> None:
        # Of a pod the reconciler writes only a nomination, on whatever version of exactly this pod.
        for name in ("uid",) if "/pods/" in call.path else ("uid", "resourceVersion"):
            if expected[name] != found["metadata"][name]:
                raise _error(call, 409, "Conflict")

    def _answer(self, call: Call, found: Object | None) -> Response:
        if found is None:
            raise _error(call, 404, "NotFound")
        return Response(status=200, headers={}, body=msgspec.json.encode(found))


def _kind(method: str, path: str) -> str:
    words = path.removesuffix("/status").split("/")
    return words[-1] if method == "POST" else words[-2]


def _error(call: Call, code: int, reason: str) -> ApiError:
    return error_of(call, code=code, said=Status(code=code, reason=reason), headers={})


def _merged(old: Object, patch: Object) -> Object:
    merged = dict(old)
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        elif isinstance(value, dict):
            merged[name] = _merged(merged.get(name) or {}, value)
        else:
            merged[name] = value
    return merged
