"""An API server in memory, as far as certificates need one: versions, conflicts, and its clock."""

from __future__ import annotations

import base64
import copy
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import TYPE_CHECKING, Any

import msgspec

from growth.kube import call as call_module
from growth.kube.call import Call
from growth.kube.errors import ApiError, Status, error_of
from growth.kube.transport import Response

if TYPE_CHECKING:
    from collections.abc import Mapping

START = datetime(2026, 1, 1, tzinfo=UTC)
NAMESPACE = "growth-system"
WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/growth-webhooks"

Object = dict[str, Any]


class Killed(Exception):
    """The process has been killed here."""


@dataclass
class Api:
    """What is stored, and everything that ever was."""

    now: datetime = START
    objects: dict[str, Object] = field(default_factory=dict)
    history: list[tuple[datetime, str, Object | None]] = field(default_factory=list)
    skew: timedelta = timedelta()
    """How far ahead the clock is that the next answers are dated by."""
    forbidden: set[str] = field(default_factory=set)
    """Ends of paths that may not be read."""
    read_only: set[str] = field(default_factory=set)
    """Ends of paths that may not be written."""
    killed_before: int = -1
    killed_after: int = -1
    writes: int = 0
    version: int = 0

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: object = (),
        body: Any = None,
        content_type: str = "application/json",
        timeout: float = 10.0,  # noqa: ASYNC109 - as the transport has it
    ) -> Response:
        call = Call(method=method, path=path, content_type=content_type)
        closed = self.forbidden if method == "GET" else self.read_only | self.forbidden
        if any(path.endswith(name) for name in closed):
            raise _refusal(call, 403, "Forbidden")
        if method == "GET":
            return self._answer(call, self._read(path))
        number, self.writes = self.writes, self.writes + 1
        if number == self.killed_before:
            raise Killed
        answer = self._answer(call, self._write(call, body))
        if number == self.killed_after:
            raise Killed
        return answer

    def secret(self, name: str) -> Object:
        return self.objects[secret_path(name)]

    def content(self, name: str) -> dict[str, bytes]:
        """The data of a Secret."""
        return {key: base64.b64decode(text) for key, text in self.secret(name)["data"].items()}

    def put(self, path: str, found: Object) -> None:
        """Somebody else writes."""
        found = copy.deepcopy(found)
        self.version += 1
        found["metadata"]["resourceVersion"] = str(self.version)
        found["metadata"].setdefault("uid", f"uid-{self.version}")
        self.objects[path] = found
        self.history.append((self.now, path, found))

    def change(self, name: str, **data: bytes) -> None:
        """Somebody else writes into a Secret."""
        found = copy.deepcopy(self.secret(name))
        found["data"] |= {key: base64.b64encode(content).decode() for key, content in data.items()}
        self.put(secret_path(name), found)

    def ask_for_rotation(self, name: str) -> None:
        found = copy.deepcopy(self.secret(name))
        found["metadata"].setdefault("annotations", {})["growth.dev/rotate"] = "now"
        self.put(secret_path(name), found)

    def remove(self, name: str) -> None:
        del self.objects[secret_path(name)]
        self.history.append((self.now, secret_path(name), None))

    def install_webhooks(self) -> None:
        """Our configuration, as its manifest has it: with no bundle."""
        service = {"namespace": NAMESPACE, "name": "growth-webhooks", "path": "/mutate-pods"}
        webhook = {"name": "pods.growth.dev", "clientConfig": {"service": service}}
        self.put(WEBHOOKS, {"metadata": {"name": "growth-webhooks"}, "webhooks": [webhook]})

    @property
    def bundle(self) -> bytes:
        """Whom the API server trusts when it calls the webhook."""
        return bundle_of(self.objects[WEBHOOKS])

    def pass_time(self, span: timedelta) -> None:
        self.now += span

    def _read(self, path: str) -> Object | None:
        return {} if path == "/version" else self.objects.get(path)

    def _answer(self, call: Call, found: Object | None) -> Response:
        if found is None:
            raise _refusal(call, 404, "NotFound")
        date = format_datetime(self.now + self.skew, usegmt=True)
        return Response(status=200, headers={"Date": date}, body=msgspec.json.encode(found))

    def _write(self, call: Call, body: Any) -> Object | None:
        match call.method, call.content_type:
            case "POST", _:
                return self._create(call, body)
            case "PATCH", call_module.JSON_PATCH:
                return self._patch(call, body)
            case "PATCH", call_module.MERGE_PATCH:
                return self._merge(call, body)
            case _:
                raise NotImplementedError(call)

    def _create(self, call: Call, body: Object) -> Object:
        path = f"{call.path}/{body['metadata']['name']}"
        if path in self.objects:
            raise _refusal(call, 409, "AlreadyExists")
        self.put(path, body)
        return self.objects[path]

    def _merge(self, call: Call, body: Object) -> Object | None:
        found = self.objects.get(call.path)
        if found is None:
            return None
        wanted = body["metadata"].pop("resourceVersion"), body["metadata"].pop("uid")
        if wanted != (found["metadata"]["resourceVersion"], found["metadata"]["uid"]):
            raise _refusal(call, 409, "Conflict")
        self.put(call.path, _merged(found, body))
        return self.objects[call.path]

    def _patch(self, call: Call, operations: list[dict[str, Any]]) -> Object | None:
        found = copy.deepcopy(self.objects.get(call.path))
        if found is None:
            return None
        test, *rest = operations
        if test["value"] != found["metadata"]["resourceVersion"]:
            raise _refusal(call, 422, "Invalid")
        for operation in rest:
            _, kind, index, *keys, last = operation["path"].split("/")
            place = found[kind][int(index)]
            for key in keys:
                place = place[key]
            place[last] = operation["value"]
        self.put(call.path, found)
        return self.objects[call.path]


def secret_path(name: str) -> str:
    return f"/api/v1/namespaces/{NAMESPACE}/secrets/{name}"


def bundle_of(configuration: Object) -> bytes:
    return base64.b64decode(configuration["webhooks"][0]["clientConfig"].get("caBundle", ""))


def _merged(found: Mapping[str, Any], patch: Mapping[str, Any]) -> Object:
    result = dict(found)
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict):
            result[key] = _merged(result.get(key) or {}, value)
        else:
            result[key] = value
    return result


def _refusal(call: Call, code: int, reason: str) -> ApiError:
    said = Status(code=code, reason=reason, message=reason)
    return error_of(call, code=code, said=said, headers={})
