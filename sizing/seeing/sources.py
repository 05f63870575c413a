"""The caches of the process that sizes workloads.

VerticalPodAutoscalers are optional: a cluster may have none of their definitions. Their caches are
empty then, and what they would say isn't believed; they fill as soon as the definitions are there.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import msgspec

from growth.api.hvpa import Hvpa
from growth.kube.cache.caches import Caches
from growth.kube.cache.reflector import Reflector
from growth.kube.cache.resource import Index, Key, WatchedResource
from sizing.seeing.objects import PodOfWorkload, ScaledWorkload

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
    from random import Random

    from growth.kube.cache.metrics import CacheMetrics
    from growth.kube.cache.questions import ApiServer
    from growth.kube.cache.store import Store

HVPAS: Final = "hvpas"
PODS: Final = "pods"
HPAS: Final = "horizontalpodautoscalers"
VPAS: Final = "verticalpodautoscalers"
CHECKPOINTS: Final = "verticalpodautoscalercheckpoints"
WORKLOADS: Final[Mapping[str, str]] = {
    "Deployment": "deployments",
    "ReplicaSet": "replicasets",
    "StatefulSet": "statefulsets",
}
"""Kind -> the name of its cache. All of them are in apps/v1."""
AUTOSCALING: Final = "/apis/autoscaling.k8s.io/v1"
LONGEST_BLINDNESS: Final = 60.0
"""Seconds without a connection after which nothing is decided on a cache."""


class AdviserMetadata(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """Name and version of a watcher."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""


class Adviser(msgspec.Struct, frozen=True):
    """An HPA, a VPA or a checkpoint: its metadata, and all of it."""

    metadata: AdviserMetadata
    document: dict[str, Any]
    """All of it."""


def read_adviser(body: bytes) -> Adviser:
    """Decode one, which has more fields than can be declared."""
    document: dict[str, Any] = msgspec.json.decode(body)
    return Adviser(msgspec.convert(document.get("metadata") or {}, AdviserMetadata), document)


def _labelled(pod: PodOfWorkload) -> Iterator[Hashable]:
    namespace = pod.metadata.namespace
    yield (namespace,)
    for label in pod.metadata.labels.items():
        yield (namespace, *label)


def _watched(field: str) -> Callable[[Adviser], Iterable[Hashable]]:
    def place(watcher: Adviser) -> Iterator[Hashable]:
        reference = (watcher.document.get("spec") or {}).get(field) or {}
        yield watcher.metadata.namespace, reference.get("kind"), reference.get("name")

    return place


def _of_vpa(checkpoint: Adviser) -> Iterator[Hashable]:
    spec = checkpoint.document.get("spec") or {}
    yield checkpoint.metadata.namespace, spec.get("vpaObjectName")


PODS_BY_LABEL: Final = Index[PodOfWorkload]("label", _labelled)
HPAS_BY_TARGET: Final = Index[Adviser]("target", _watched("scaleTargetRef"))
VPAS_BY_TARGET: Final = Index[Adviser]("target", _watched("targetRef"))
CHECKPOINTS_BY_VPA: Final = Index[Adviser]("vpa", _of_vpa)


def sizing_resources() -> dict[str, WatchedResource[Any]]:
    """What every cluster has."""
    workload = msgspec.json.Decoder(ScaledWorkload).decode
    return {
        HVPAS: WatchedResource(path=Hvpa.collection(), decode=Hvpa.model_validate_json),
        PODS: WatchedResource(
            path="/api/v1/pods",
            decode=msgspec.json.Decoder(PodOfWorkload).decode,
            indexes=(PODS_BY_LABEL,),
        ),
        **{
            plural: WatchedResource(path=f"/apis/apps/v1/{plural}", decode=workload)
            for plural in WORKLOADS.values()
        },
        HPAS: WatchedResource(
            path=f"/apis/autoscaling/v2/{HPAS}", decode=read_adviser, indexes=(HPAS_BY_TARGET,)
        ),
    }


def vpa_resources() -> dict[str, WatchedResource[Any]]:
    """What is there only where VerticalPodAutoscalers are."""
    return {
        VPAS: WatchedResource(
            path=f"{AUTOSCALING}/{VPAS}", decode=read_adviser, indexes=(VPAS_BY_TARGET,)
        ),
        CHECKPOINTS: WatchedResource(
            path=f"{AUTOSCALING}/{CHECKPOINTS}", decode=read_adviser, indexes=(CHECKPOINTS_BY_VPA,)
        ),
    }


class SizingSources(Caches):
    """Reflectors of everything that sizes are decided on; `optional` may have no definition."""

    def __init__(
        self,
        server: ApiServer,
        *,
        metrics: CacheMetrics,
        chance: Random,
        changed: Callable[[], None],
    ) -> None:
        make = partial(Reflector[Any], server=server, metrics=metrics, chance=chance)

        def reflectors(resources: Mapping[str, WatchedResource[Any]]) -> dict[str, Reflector[Any]]:
            return {
                name: make(resource=resource, changed=lambda _: changed())
                for name, resource in resources.items()
            }

        super().__init__(reflectors(sizing_resources()))
        self.optional = Caches(reflectors(vpa_resources()))

    async def run_all(self) -> None:
        """Keep every cache current until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.run(), name="caches")
            tasks.create_task(self.optional.run(), name="optional caches")

    def store(self, name: str) -> Store[Any]:
        """The cache of a kind."""
        reflectors = self.reflectors if name in self.reflectors else self.optional.reflectors
        return reflectors[name].store

    def objects(self, name: str) -> Mapping[Key, Any]:
        """All objects of a kind."""
        return self.store(name).objects

    def why_not(self) -> str:
        """Why nothing may be decided on these caches now; "" if it may."""
        if self.incomplete:
            return f"no complete list yet: {', '.join(self.incomplete)}"
        for name, reflector in self.reflectors.items():
            if reflector.health.suspicion is not None:
                return f"the list of {name} is suspicious"
            if _is_blind(reflector):
                return f"the watch of {name} is lost"
        return ""

    def why_no_vpas(self) -> str:
        """Why nothing is known of VPAs; "" if all of them are."""
        for name, reflector in self.optional.reflectors.items():
            if not reflector.health.is_complete:
                return f"{name} can't be read: {reflector.health.problem or 'not yet'}"
            if _is_blind(reflector):
                return f"the watch of {name} is lost"
        return ""


def _is_blind(reflector: Reflector[Any]) -> bool:
    since = reflector.health.blind_since
    return since is not None and asyncio.get_running_loop().time() - since > LONGEST_BLINDNESS
