"""What an apply is said to have changed is what it has changed."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

import msgspec

from growth.installation.applying import Outcome, apply
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


def outcome(before: dict[str, Any], after: dict[str, Any]) -> Outcome:
    server = cast("Connection", Server(before=before, after=after))
    return asyncio.run(apply(server, after))


def test_a_rollout_that_goes_on_meanwhile_is_no_change() -> None:
    before, after = deployment(version="7", ready=0), deployment(version="8", ready=1)
    assert outcome(before, after) is Outcome.SAME


def test_another_image_is_a_change() -> None:
    before = deployment(version="7", ready=1)
    assert outcome(before, deployment(version="8", ready=1, image="growth:2")) is Outcome.CHANGED
