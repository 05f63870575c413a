"""What an apply is said to have changed is what it has changed."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

import msgspec
import pytest
from typing_extensions import override

from growth.api import crd
from growth.errors import GiveUp
from growth.installation.applying import ApplyOutcome, apply
from growth.installation.definitions import Definition, apply_definitions
from growth.kube.call import Call
from growth.kube.errors import Overloaded, Status, error_of
from growth.kube.transport import Response

if TYPE_CHECKING:
    from growth.kube.transport import Connection


def deployment(*, version: str, ready: int, image: str = "growth:1") -> dict[str, Any]:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "growth-webhooks", "resourceVersion": version},
        "spec": {"image": image},
        "status": {"readyReplicas": ready},
    }


class Server:
    """It is asked what there is, and then to apply something."""

    def __init__(self, *, before: dict[str, Any], after: dict[str, Any]) -> None:
        self._answers = {"GET": before, "PATCH": after}

    async def request(self, method: str, path: str, **_: Any) -> Response:
        assert path.endswith("/deployments/growth-webhooks")
        return Response(status=200, headers={}, body=msgspec.json.encode(self._answers[method]))


def outcome(before: dict[str, Any], after: dict[str, Any]) -> ApplyOutcome:
    server = cast("Connection", Server(before=before, after=after))
    return asyncio.run(apply(server, after))


def test_a_rollout_that_goes_on_meanwhile_is_no_change() -> None:
    before, after = deployment(version="7", ready=0), deployment(version="8", ready=1)
    assert outcome(before, after) is ApplyOutcome.SAME


class BusyServer:
    """It has a kind at once, and answers questions about its objects only after a moment."""

    def __init__(self, *, silent_for: int) -> None:
        self.silent_for = silent_for
        self.asked = 0

    async def request(self, method: str, path: str, **_: Any) -> Response:
        if "/apis/growth.dev/" in path:
            self.asked += 1
            if self.asked <= self.silent_for:
                raise Overloaded("list nodepools: storage is (re)initializing (429)")
            return Response(status=200, headers={}, body=b'{"items": []}')
        established = {"conditions": [{"type": "Established", "status": "True"}]}
        name = path.rpartition("/")[2]
        there = {"metadata": {"name": name}, "status": established}
        return Response(status=200, headers={}, body=msgspec.json.encode(there))


@pytest.mark.looptime
async def test_definitions_are_applied_when_objects_of_them_can_be_asked_for() -> None:
    server = BusyServer(silent_for=3)
    kinds = [Definition(wanted=crd.definitions()["NodePool"], installed=None)]
    await apply_definitions(cast("Connection", server), kinds)
    assert server.asked == 4


def test_what_the_api_server_refuses_is_named_with_its_words() -> None:
    class Refusing(Server):
        @override
        async def request(self, method: str, path: str, **words: Any) -> Response:
            if method == "PATCH":
                call = Call(method=method, path=path)
                said = Status(message="spec.selector: field is immutable")
                raise error_of(call, code=422, said=said, headers={})
            return await super().request(method, path, **words)

    before = deployment(version="7", ready=1)
    server = cast("Connection", Refusing(before=before, after=before))
    with pytest.raises(GiveUp) as raised:
        asyncio.run(apply(server, before))
    words = "the API server rejects it: spec.selector: field is immutable"
    assert str(raised.value) == f"Deployment growth-webhooks: {words}"


def test_another_image_is_a_change() -> None:
    before = deployment(version="7", ready=1)
    assert (
        outcome(before, deployment(version="8", ready=1, image="growth:2")) is ApplyOutcome.CHANGED
    )
