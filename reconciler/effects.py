"""Carries out what was decided, and nothing else.

Each sequence is a task; its steps go one after the other and the first failure ends it, since what
comes next was decided on a world that has turned out to be another. A subject is busy from the
moment its sequence starts until it has ended and the cache has seen what it wrote. Before a call
that costs money the leadership is asked for.

Every effect has a number and a name and is announced before and after it happens, which is where
tests kill the process.
"""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, assert_never

import structlog

from growth.api.kinds import KINDS
from growth.errors import DecideAgain, GrowthError
from growth.kube.call import MERGE_PATCH
from growth.kube.errors import AlreadyExists, NotFound
from growth.kube.own_writes import Deleted, Written
from growth.kube.resource import Key
from reconciler.actions import (
    Action,
    CreateMachine,
    CreateNodeRequest,
    Delete,
    PatchStatus,
    SetFinalizers,
    SetNode,
    Version,
)
from reconciler.providers.port import Answered, Failed, FailureClass
from reconciler.sources import path_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from growth.api.meta import Resource
    from growth.instant import Instant
    from growth.kube.election import Leadership
    from growth.kube.transport import Connection
    from reconciler.actions import Sequence, Subject
    from reconciler.providers.port import ClassKey, Provider
    from reconciler.sources import Sources

_log = structlog.get_logger(__name__)

NODES = "nodes"


class Side(StrEnum):
    """When an effect is announced."""

    BEFORE = "before"
    AFTER = "after"


@dataclass(frozen=True, kw_only=True)
class Point:
    """One side of one effect: where a process can be killed."""

    number: int
    step: str
    """What is done: the action's name."""
    subject: str
    side: Side


class Effects:
    """The only writer of this process."""

    def __init__(
        self,
        connection: Connection,
        *,
        sources: Sources,
        provider_of: Callable[[ClassKey], Provider | None],
        leadership: Leadership,
        now: Callable[[], Instant],
        ended: Callable[[], None],
        announce: Callable[[Point], None] = lambda _: None,
    ) -> None:
        self.answers: dict[str, Answered] = {}
        """What providers said, by the name of the request, until its status shows it."""
        self._connection = connection
        self._sources = sources
        self._provider_of = provider_of
        self._leadership = leadership
        self._now = now
        self._ended = ended
        self._announce = announce
        self._numbers = itertools.count(1)
        self._running: dict[Subject, asyncio.Task[None]] = {}

    @property
    def subjects(self) -> frozenset[Subject]:
        """What is being worked on."""
        return frozenset(self._running)

    def start(self, sequence: Sequence) -> None:
        """Begin a sequence; whoever decided made sure that its subject is free."""
        if sequence.subject in self._running:
            raise RuntimeError(f"{sequence.subject} is being worked on already")
        task = asyncio.create_task(self._guarded(sequence), name=f"effects on {sequence.subject}")
        self._running[sequence.subject] = task

    async def close(self) -> None:
        """End what runs: every step is one call, and a call that was cut is decided on again."""
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _guarded(self, sequence: Sequence) -> None:
        try:
            for step in sequence.steps:
                await self._announced(step, sequence)
        except DecideAgain as changed:
            _log.debug("decided on an older state", subject=sequence.subject.name, why=str(changed))
        except GrowthError as error:
            _log.warning("a step failed", subject=sequence.subject.name, error=str(error))
        finally:
            del self._running[sequence.subject]
            self._ended()

    async def _announced(self, action: Action, sequence: Sequence) -> None:
        number = next(self._numbers)
        step = type(action).__name__
        name = sequence.subject.name
        self._announce(Point(number=number, step=step, subject=name, side=Side.BEFORE))
        await self._carry_out(action)
        self._announce(Point(number=number, step=step, subject=name, side=Side.AFTER))

    async def _carry_out(self, action: Action) -> None:
        match action:
            case CreateNodeRequest(request=request):
                await self._create(request)
            case CreateMachine():
                await self._create_machine(action)
            case SetNode():
                await self._set_node(action)
            case PatchStatus():
                await self._patch_status(action)
            case SetFinalizers():
                await self._set_finalizers(action)
            case Delete():
                await self._delete(action)
            case _:
                assert_never(action)

    async def _create(self, resource: Resource) -> None:
        kind = type(resource).__name__
        try:
            answer = await self._connection.request(
                "POST", path_of(KINDS[kind]), body=resource.document()
            )
        except AlreadyExists:
            # Our own try whose answer was lost: names are ours alone, so it is what we wanted.
            return
        self._wrote(kind, answer.json())

    async def _create_machine(self, action: CreateMachine) -> None:
        order = action.order
        provider = self._provider_of(order.node_class)
        if provider is None:
            return
        self._leadership.check()
        try:
            answer = await provider.create(order)
        except GrowthError as error:
            answer = Failed(failure=FailureClass.TRANSIENT, reason=str(error))
        self.answers[order.name] = Answered(at=self._now().monotonic, answer=answer)

    async def _set_node(self, action: SetNode) -> None:
        metadata = _held(action.node)
        if action.labels:
            metadata["labels"] = dict(action.labels)
        if action.annotations:
            metadata["annotations"] = dict(action.annotations)
        spec: dict[str, Any] = {}
        if action.taints is not None:
            spec["taints"] = [
                {"key": taint.key, "value": taint.value, "effect": taint.effect}
                for taint in action.taints
            ] or None
        if action.unschedulable is not None:
            spec["unschedulable"] = action.unschedulable or None
        await self._patch(NODES, f"/api/v1/nodes/{action.node.name}", metadata, {"spec": spec})

    async def _patch_status(self, action: PatchStatus) -> None:
        path = f"{path_of(KINDS[action.kind])}/{action.version.name}/status"
        status = {"status": action.status}
        await self._patch(action.kind, path, _held(action.version), status)
        self.answers.pop(action.version.name, None)

    async def _set_finalizers(self, action: SetFinalizers) -> None:
        path = f"{path_of(KINDS[action.kind])}/{action.version.name}"
        metadata = _held(action.version) | {"finalizers": list(action.finalizers)}
        await self._patch(action.kind, path, metadata, {})

    async def _patch(
        self, kind: str, path: str, metadata: dict[str, Any], change: Mapping[str, Any]
    ) -> None:
        body = {"metadata": metadata, **change}
        answer = await self._connection.request("PATCH", path, body=body, content_type=MERGE_PATCH)
        self._wrote(kind, answer.json())

    async def _delete(self, action: Delete) -> None:
        version = action.version
        preconditions = {"uid": version.uid, "resourceVersion": version.resource_version}
        path = f"{path_of(KINDS[action.kind])}/{version.name}"
        try:
            await self._connection.request("DELETE", path, body={"preconditions": preconditions})
        except NotFound:
            return
        store = self._sources.store(action.kind)
        store.own.note(
            Key("", version.name), Deleted(uid=version.uid, version=version.resource_version)
        )

    def _wrote(self, kind: str, document: dict[str, Any]) -> None:
        metadata = document["metadata"]
        written = Written(uid=metadata["uid"], version=metadata["resourceVersion"])
        self._sources.store(kind).own.note(Key("", metadata["name"]), written)


def _held(version: Version) -> dict[str, Any]:
    """Metadata that makes the API server refuse a change of anything but what was decided on."""
    return {"uid": version.uid, "resourceVersion": version.resource_version}
