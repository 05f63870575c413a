"""Events are said on objects that are our business, and on no others."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from growth.kube.cache.metrics import CacheMetrics
from growth.kube.cache.timing import CacheTiming
from growth.kube.events import ObjectReference
from reconciler.process.speaking import concerns_us
from reconciler.seeing.sources import ReconcilerSources
from tests.reconciler.api import PATHS, Api
from tests.reconciler.build import request

OURS = {"growth.dev/managed-by": "growth"}
PODS = "/api/v1/pods"


@pytest.fixture
async def sources() -> ReconcilerSources:
    """Our node and a stranger's; a pod that waits, one on each node; a request whose node comes."""
    api: Any = Api()
    sources = ReconcilerSources(
        api,
        namespace="home",
        metrics=CacheMetrics(CollectorRegistry()),
        chance=Random(1),
        changed=lambda: None,
        timing=CacheTiming(),
    )
    api.put(PATHS["nodes"], {"metadata": {"name": "ours", "labels": OURS}})
    api.put(PATHS["nodes"], {"metadata": {"name": "theirs"}})
    api.put(PATHS["NodeRequest"], request("default-1").document())
    for name, node in (("waits", ""), ("on-ours", "ours"), ("on-theirs", "theirs")):
        metadata = {"name": name, "namespace": "shop"}
        api.put(PODS, {"metadata": metadata, "spec": {"nodeName": node}})
    for kind in ("nodes", "pods", "NodeRequest"):
        api.show(sources, kind)
    return sources


def of(kind: str, name: str, *, group: str = "v1", uid: str = "") -> ObjectReference:
    namespace = "shop" if kind == "Pod" else ""
    return ObjectReference(api_version=group, kind=kind, name=name, namespace=namespace, uid=uid)


@pytest.mark.parametrize(
    "regarding",
    [
        of("NodePool", "default", group="growth.dev/v1alpha1"),
        of("Node", "ours"),
        of("Node", "default-1"),
        of("Pod", "waits"),
        of("Pod", "waits", uid="uid-waits"),
        of("Pod", "on-ours"),
    ],
    ids=str,
)
async def test_we_speak_of_what_is_ours_and_of_who_waits(
    regarding: ObjectReference, sources: ReconcilerSources
) -> None:
    assert concerns_us(regarding, sources)


@pytest.mark.parametrize(
    "regarding",
    [
        of("Node", "theirs"),
        of("Node", "unknown"),
        of("Pod", "on-theirs"),
        of("Pod", "unknown"),
        of("Pod", "waits", uid="uid-of-an-earlier-one"),
        of("Deployment", "web", group="apps/v1"),
    ],
    ids=str,
)
async def test_we_never_speak_of_what_is_no_business_of_ours(
    regarding: ObjectReference, sources: ReconcilerSources
) -> None:
    assert not concerns_us(regarding, sources)
