"""The second stage: a real control plane, on which all stories are told at the same time."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, assert_never

from growth.kube.call import MERGE_PATCH
from growth.kube.errors import AlreadyExists
from tests.stories.ending import Seen, kind_of
from tests.stories.objects import Node
from tests.stories.simulated import happens
from tests.stories.story import (
    Await,
    Cordon,
    Make,
    Remove,
    Replace,
    Restart,
    Scale,
    Ungate,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Sequence

    from growth.kube.transport import Connection
    from growth.scheduling import objects as kinds
    from tests.stories.ending import Ending
    from tests.stories.objects import Document, Object
    from tests.stories.process import Reconciler
    from tests.stories.story import Step, Story
    from tests.stories.view import View

OURS = "/apis/growth.dev/v1alpha1"
PATHS: dict[str, Callable[[str], str]] = {
    "KwokNodeClass": lambda _: f"{OURS}/kwoknodeclasses",
    "NodePool": lambda _: f"{OURS}/nodepools",
    "Node": lambda _: "/api/v1/nodes",
    "Pod": lambda namespace: f"/api/v1/namespaces/{namespace}/pods",
    "Deployment": lambda namespace: f"/apis/apps/v1/namespaces/{namespace}/deployments",
    "DaemonSet": lambda namespace: f"/apis/apps/v1/namespaces/{namespace}/daemonsets",
}


class Stage:
    """One story, told in real time."""

    def __init__(
        self, story: Story, *, connection: Connection, view: View, reconciler: Reconciler
    ) -> None:
        self._story = story
        self._connection = connection
        self._corner = view.corners[story.name]
        self._reconciler = reconciler

    @property
    def seen(self) -> Seen:
        """Everything as it is now."""
        return self._corner.seen

    async def tell(self, simulated: Sequence[Ending]) -> AsyncIterator[Seen]:
        """What is there at the end of each chapter, until one doesn't come to the same."""
        await self._furnish()
        for chapter, expected in zip(self._story.chapters, simulated, strict=True):
            for step in chapter:
                await self._play(step)
            is_quiet = await self._until(lambda: _is_quiet(self.seen, expected))  # noqa: B023 - awaited here
            yield self.seen
            if not is_quiet:
                break

    async def _furnish(self) -> None:
        name = self._story.name
        await self._post("/api/v1/namespaces", {"metadata": {"name": name}})
        # No pod can be made before this account is there, and its controller takes its time.
        accounts = f"/api/v1/namespaces/{name}/serviceaccounts"
        with suppress(AlreadyExists):
            await self._post(accounts, {"metadata": {"name": "default"}})
        for each in self._story.given:
            await self._make(each)
        nodes = sum(isinstance(each, Node) for each in self._story.given)
        assert await self._until(lambda: sum(map(_serves, self.seen.nodes)) == nodes), name

    async def _play(self, step: Step) -> None:
        match step:
            case Make(objects=made):
                for each in made:
                    await self._make(each)
            case Restart():
                await self._reconciler.kill()
                await self._reconciler.start()
            case Await(happening=happening):
                comes = await self._until(lambda: happens(happening, self.seen))
                assert comes, f"{self._story.name}: {happening} never came"
            case Remove(pod=name):
                await self._connection.request("DELETE", self._path("Pod", name))
            case Scale() | Ungate() | Cordon() | Replace():
                for path, spec in self._changes(step):
                    await self._patch(path, {"spec": spec})
            case _:
                assert_never(step)

    def _changes(self, step: Scale | Ungate | Cordon | Replace) -> Iterable[tuple[str, Document]]:
        """Whose spec changes in what."""
        match step:
            case Scale(deployment=name, replicas=replicas):
                yield self._path("Deployment", name), {"replicas": replicas}
            case Ungate(pod=name):
                yield self._path("Pod", name), {"schedulingGates": None}
            case Cordon():
                for node in self.seen.nodes:
                    if kind_of(node) is not None:
                        yield self._path("Node", node.name), {"unschedulable": True}
            case Replace(by=by):
                new = by.document(self._story.name)
                yield self._path(new["kind"], new["metadata"]["name"]), new["spec"]
            case _:
                assert_never(step)

    async def _until(self, done: Callable[[], bool]) -> bool:
        """Whether it is so as soon as the story grants."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._story.within):
                while not done():
                    self._corner.changed.clear()
                    await self._corner.changed.wait()
        return done()

    async def _make(self, made: Object) -> None:
        document = made.document(self._story.name)
        await self._post(PATHS[document["kind"]](self._story.name), document)

    async def _post(self, path: str, document: Document) -> None:
        await self._connection.request("POST", path, body=document, timeout=30)

    async def _patch(self, path: str, patch: Document) -> None:
        await self._connection.request(
            "PATCH", path, body=patch, content_type=MERGE_PATCH, timeout=30
        )

    def _path(self, kind: str, name: str) -> str:
        return f"{PATHS[kind](self._story.name)}/{name}"


def _is_quiet(seen: Seen, expected: Ending) -> bool:
    return not seen.unrest and seen.ending == expected


def _serves(node: kinds.Node) -> bool:
    return node.is_ready and not node.spec.taints
