"""Carries out actions at the API server. Each write names the version that it was decided on.

Replicas and sizes are applied without force. What the API server refuses is written down in the
status, so that it isn't tried again for a while.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, assert_never

from growth.api.hvpa import Hvpa
from growth.api.hvpa_status import RefusedWrite
from growth.errors import DecideAgain, GiveUp, Misconfigured
from growth.kube.cache.resource import Key
from growth.kube.errors import Denied, NotFound, OwnedByOthers
from growth.kube.writes import FIELD_MANAGER, Decided, Writes
from sizing.core.actions import TakeStep, TellStatus
from sizing.refusals import handed_over
from sizing.remembering import written_amount
from sizing.rule.applying import EvictForSize, ResizePod, SetReplicas, StepReason
from sizing.seeing.sources import HVPAS, PODS, WORKLOADS

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from growth.errors import GrowthError
    from growth.kube.transport import Connection
    from sizing.core.actions import SizingAction
    from sizing.rule.sizing import Rounded, WorkloadSize
    from sizing.seeing.objects import PodOfWorkload
    from sizing.seeing.sources import SizingSources

NO_ROOM: Final = "allocatable"
"""In the API server's words for a size that is larger than the node."""


class OwnedPod(GiveUp):
    """Somebody else has resized a pod."""

    def __init__(self, pod: str, owners: tuple[str, ...]) -> None:
        super().__init__(f"{', '.join(owners)} has resized pod {pod}")
        self.owners = owners


class SizingHands:
    """Writes the status of Hvpas, the replicas of workloads and the sizes of pods."""

    def __init__(
        self,
        connection: Connection,
        *,
        sources: SizingSources,
        now: Callable[[], datetime],
        may_write: Callable[[], None],
    ) -> None:
        self._sources = sources
        self._now = now
        self._may_write = may_write
        self._hvpas = self._writes(connection, HVPAS, Hvpa.collection())
        self._pods = self._writes(connection, PODS, "/api/v1/pods")
        self._workloads = {
            kind: self._writes(connection, plural, f"/apis/apps/v1/{plural}")
            for kind, plural in WORKLOADS.items()
        }
        self._told: dict[str, Decided] = {}
        """Hvpas by uid, as they are after our last write."""

    def _writes(self, connection: Connection, name: str, path: str) -> Writes:
        return Writes(connection, path=path, noted=self._sources.store(name).own)

    async def do(self, action: SizingAction) -> None:
        """Carry out one action."""
        self._may_write()
        match action:
            case TellStatus(hvpa=hvpa, status=status):
                await self._tell(hvpa, "/status", status.document())
            case TakeStep():
                try:
                    await self._take(action)
                except (GiveUp, Misconfigured) as error:
                    await self._refused(action.hvpa, error)
                    raise
            case _:
                assert_never(action)

    async def _tell(self, hvpa: Hvpa, path: str, value: Any) -> None:
        # A merge would keep what the new status doesn't have any more.
        change = {"op": "add", "path": path, "value": value}
        decided = Decided.on(hvpa)
        known = self._told.get(hvpa.metadata.uid, decided)
        newest = max(decided, known, key=lambda each: int(each.version or 0))
        told = await self._hvpas.json_patch(newest, [change], subresource="status")
        self._told[hvpa.metadata.uid] = told

    async def _refused(self, hvpa: Hvpa, error: GrowthError) -> None:
        if isinstance(error, NotFound):
            return
        owners = error.owners if isinstance(error, OwnedByOthers | OwnedPod) else ()
        refused = RefusedWrite(
            at=self._now().replace(microsecond=0),
            reason=_reason(error),
            by=tuple(each[:128] for each in owners[:16]),
            message=str(error)[:1024],
        )
        await self._tell(hvpa, "/status/refused", refused.document())

    async def _take(self, action: TakeStep) -> None:
        namespace = action.hvpa.metadata.namespace
        match action.step:
            case SetReplicas(count=count):
                await self._set_replicas(action.hvpa, count)
            case ResizePod(name=name):
                await self._resize(action.hvpa, Key(namespace, name), action.size)
            case EvictForSize():
                raise AssertionError("without a webhook for sizes, no pod is evicted for its own")
            case _:
                assert_never(action.step)

    async def _set_replicas(self, hvpa: Hvpa, count: int) -> None:
        reference, namespace = hvpa.spec.target_ref, hvpa.metadata.namespace
        store = self._sources.store(WORKLOADS[reference.kind])
        workload = store.get(reference.name, namespace=namespace)
        if workload is None:
            raise DecideAgain(f"{reference.kind} {reference.name} is gone")
        body = {
            "apiVersion": "autoscaling/v1",
            "kind": "Scale",
            "metadata": {"name": reference.name, "namespace": namespace},
            "spec": {"replicas": count},
        }
        writes, decided = self._workloads[reference.kind], Decided.on(workload)
        try:
            await writes.apply_unowned(decided, body, subresource="scale")
        except OwnedByOthers as owned:
            if not handed_over(hvpa).issuperset(owned.owners):
                raise
            await writes.apply(decided, body, subresource="scale")

    async def _resize(self, hvpa: Hvpa, key: Key, size: WorkloadSize) -> None:
        pod = self._sources.store(PODS).get(key.name, namespace=key.namespace)
        if pod is None:
            raise DecideAgain(f"pod {key.name} is gone")
        others = _resizers(pod) - handed_over(hvpa)
        if others:
            raise OwnedPod(key.name, tuple(sorted(others)))
        # With force, because the controller that has created the pod owns its first size.
        await self._pods.apply(Decided.on(pod), resize_body(pod, size), subresource="resize")


def _resizers(pod: PodOfWorkload) -> set[str]:
    """Who has resized a pod, besides growth."""
    fields = pod.metadata.managed_fields
    return {each.manager for each in fields if each.subresource == "resize"} - {FIELD_MANAGER}


def _reason(error: GrowthError) -> str:
    if isinstance(error, OwnedByOthers | OwnedPod):
        return StepReason.OWNED_BY_OTHER.value
    if isinstance(error, Denied) and NO_ROOM in error.message:
        return StepReason.RESIZE_INFEASIBLE.value
    return StepReason.WRITE_REFUSED.value


def resize_body(pod: PodOfWorkload, size: WorkloadSize) -> dict[str, Any]:
    """A pod with its new requests and limits; nothing may be left out that it has."""
    containers = [
        {
            "name": each.name,
            "resources": {
                "requests": _written(each.name, {**pod.requests, **size.requests}, pod.requests),
                "limits": _written(each.name, {**pod.limits, **size.limits}, pod.limits),
            },
        }
        for each in pod.spec.containers
    ]
    metadata = {"name": pod.metadata.name, "namespace": pod.metadata.namespace}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": containers},
    }


def _written(container: str, wanted: Rounded, present: Rounded) -> dict[str, str]:
    """The amounts of a container, of what it has already: nothing is added."""
    return {
        part.resource: written_amount(part.resource, wanted[part])
        for part in sorted(present)
        if part.container == container
    }
