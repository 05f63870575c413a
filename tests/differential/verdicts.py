"""What the scheduler says about the offered pods, read from watches as it says it.

A pod fits when it is bound, when the scheduler has nominated its node while it waits for volumes,
or when it has written that node on a claim (the way of servers before 1.35). It fits nowhere when
`PodScheduled` is False; the reason `SchedulerError` counts too, as the pod isn't placed either.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from tests.differential.cases import Manifest
    from tests.differential.connection import Connection

_PODS, _CLAIMS = "/api/v1/pods", "/api/v1/persistentvolumeclaims"
_OF_THE_SCHEDULER = {_PODS: {"fieldSelector": "spec.schedulerName=default-scheduler"}, _CLAIMS: {}}
"""Pods that are put in place name another scheduler: they need not be heard of."""
_SELECTED_NODE = "volume.kubernetes.io/selected-node"


class Verdict(msgspec.Struct, frozen=True):
    """The node the scheduler chose, or its reason why there is none."""

    node: str | None
    message: str = ""


class Verdicts:
    """Waits for the first verdict on each pod that is asked for."""

    def __init__(self) -> None:
        self._awaited: dict[str, asyncio.Future[Verdict]] = {}
        self._claims: dict[str, str] = {}

    async def on(self, pod: Manifest, *, within: float) -> Verdict | None:
        """The verdict, or None when none came in time."""
        key = _key(pod)
        try:
            async with asyncio.timeout(within):
                return await self._awaited[key]
        except TimeoutError:
            return None
        finally:
            del self._awaited[key]

    def expect(self, pod: Manifest, claims: set[str]) -> None:
        """Told before the pod is created; the claims are those that bear no node yet."""
        self._awaited[_key(pod)] = asyncio.get_running_loop().create_future()
        namespace = pod["metadata"]["namespace"]
        for volume in pod["spec"].get("volumes", ()):
            name = volume.get("persistentVolumeClaim", {}).get("claimName")
            if name in claims:
                self._claims[f"{namespace}/{name}"] = _key(pod)

    def see_pod(self, pod: Manifest) -> None:
        spec, status = pod["spec"], pod.get("status", {})
        if node := spec.get("nodeName") or status.get("nominatedNodeName"):
            self._settle(_key(pod), Verdict(node))
        for condition in status.get("conditions", ()):
            if condition["type"] == "PodScheduled" and condition["status"] == "False":
                text = f"{condition.get('reason')}: {condition.get('message')}"
                self._settle(_key(pod), Verdict(None, text))

    def see_claim(self, claim: Manifest) -> None:
        node = claim["metadata"].get("annotations", {}).get(_SELECTED_NODE)
        if node and (pod := self._claims.pop(_key(claim), None)):
            self._settle(pod, Verdict(node))

    def _settle(self, key: str, verdict: Verdict) -> None:
        future = self._awaited.get(key)
        if future is not None and not future.done():
            future.set_result(verdict)


@contextlib.asynccontextmanager
async def watched(connection: Connection) -> AsyncIterator[Verdicts]:
    """Verdicts from now on, as long as the block lasts."""
    verdicts = Verdicts()
    async with asyncio.TaskGroup() as group:  # a watch that fails ends the whole run
        watches = [
            group.create_task(_follow(connection, path, see))
            for path, see in ((_PODS, verdicts.see_pod), (_CLAIMS, verdicts.see_claim))
        ]
        yield verdicts
        for watch in watches:
            watch.cancel()


async def _follow(connection: Connection, path: str, see: Callable[[Manifest], None]) -> None:
    """Lists and watches for ever: the API server closes watches that fall behind."""
    while True:
        listed, version = await connection.items(path, _OF_THE_SCHEDULER[path])
        for item in listed:
            see(msgspec.json.decode(item))
        async for kind, found in connection.watch(path, version, _OF_THE_SCHEDULER[path]):
            if kind in {"ADDED", "MODIFIED"}:
                see(found)


def _key(manifest: Manifest) -> str:
    return f"{manifest['metadata']['namespace']}/{manifest['metadata']['name']}"
